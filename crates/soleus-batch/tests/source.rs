//! Source code that is written compiles with the C compiler of this machine, and computes the same; ignored where there is none.

use soleus_batch::Evaluation;
use soleus_dynamics::System;
use soleus_graph::source::{Language, write};
use soleus_math::norm::largest_size;
use soleus_testing::program_test;
use std::fmt::Write as _;
use std::process::Command;

#[program_test("cc")]
fn identity_generated_c() {
    let model = super::agreement::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/gait2d.osim"));
    let system = System::compile(&model).unwrap();
    let evaluation = Evaluation::record(&model, &system).unwrap();
    let (program, gradient) = (evaluation.program(), evaluation.gradient_program());
    let x = Evaluation::random_states(&model, &system, 1, 4).remove(0);
    let weights = (0..evaluation.layout.outputs()).map(|i| (1.0 + i as f64).cos());
    let with_weights: Vec<f64> = x.iter().copied().chain(weights).collect();

    for (name, program, x) in [("evaluate", &program, &x), ("gradient", &gradient, &with_weights)] {
        let mut text = write(program, name, Language::C, false);
        let numbers: Vec<String> = x.iter().map(|x| format!("{x:?}")).collect();
        let _ = write!(
            text,
            "#include <stdio.h>\nint main(void) {{\n  static const double x[] = {{{}}};\n  double y[{}];\n  {name}(x, y, 1, 0);\n  for (int i = 0; i < {}; i++) printf(\"%.17g\\n\", y[i]);\n  return 0;\n}}\n",
            numbers.join(","),
            program.outputs.len(),
            program.outputs.len()
        );
        let folder = std::env::temp_dir().join(format!("soleus-source-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (c, out) = (folder.join("it.c"), folder.join("it"));
        std::fs::write(&c, text).unwrap();
        let compiled =
            Command::new("cc").args(["-std=c99", "-O1", "-o"]).arg(&out).arg(&c).arg("-lm").output().unwrap();
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        let printed = Command::new(&out).output().unwrap().stdout;
        let found: Vec<f64> =
            String::from_utf8(printed).unwrap().lines().map(|l| l.trim().parse().unwrap()).collect();
        let wanted = program.evaluate(x);
        let size = largest_size(&wanted);
        for (f, w) in found.iter().zip(&wanted) {
            // Products may be fused with sums there.
            assert!((f - w).abs() <= 1e-11 * size, "{name}: {f} {w} of {size}");
        }
        assert_eq!(found.len(), wanted.len());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
