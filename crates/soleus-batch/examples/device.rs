//! Batches on a CUDA device: `device compile MODEL FOLDER [LIBNVRTC]` writes kernels and points, `device run FOLDER` measures them. The two may
//! run on two machines: the first needs NVRTC, the second a driver.

use soleus_batch::cuda::{Device, compile};
use soleus_batch::{Evaluation, Step};
use soleus_dynamics::System;
use soleus_graph::{Program, source};
use soleus_model::operator::ModelOperator;
use soleus_model::path::Path as ModelPath;
use soleus_tools::fit_paths::{FitOptions, fit_paths};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// Outputs beyond this have no digits to compare.
const ENDLESS: f64 = 1e6;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["compile", model, folder] => prepare(model, folder, "libnvrtc.so.12"),
        ["compile", model, folder, library] => prepare(model, folder, library),
        ["run", folder] => measure(folder),
        _ => Err("usage: device compile MODEL FOLDER [LIBNVRTC] | device run FOLDER".into()),
    }
}

/// Copies that the reference was computed for.
const POINTS: usize = 64;

fn prepare(file: &str, folder: &str, library: &str) -> Result<(), Box<dyn Error>> {
    let folder = Path::new(folder);
    std::fs::create_dir_all(folder)?;
    let (model, _) = soleus_io::osim::read_model(&std::fs::read(file)?, file);
    let mut model = model.ok_or("not a model")?;
    // Elastic tendons with closed forms, whatever the file has.
    if let Err(e) = ModelOperator::ReplaceMusclesWithDeGrooteFregly2016.change(&mut model) {
        println!("muscles as they are: {e}");
    }
    let system = System::compile(&model)?;
    let geometric = |m: &soleus_model::Model| {
        m.forces.iter().any(|f| matches!(f.line_of_action, Some(ModelPath::Geometry(_))))
    };
    if geometric(&model) {
        let options = FitOptions { max_order: 5, ..FitOptions::default() };
        let fitted = fit_paths(&model, &system, &options, &mut |_, _| true);
        println!(
            "{} paths fitted, {} within tolerance",
            fitted.len(),
            fitted.iter().filter(|f| f.converged).count()
        );
        for f in fitted {
            model.forces[f.force].line_of_action = Some(ModelPath::FunctionBased(f.path));
        }
    }
    let system = System::compile(&model)?;
    let start = Instant::now();
    let evaluation = Evaluation::record(&model, &system)?;
    println!("recorded in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    let program = evaluation.program();
    let agreement = evaluation.check_reference(&model, &system, &program)?;
    println!("{} operations; norm error of the graph {:.1e}", program.operations(), agreement.norm_error);
    let states = Evaluation::random_states(&model, &system, POINTS, 5);
    let step = evaluation.step_program(&system, Step::LinearlyImplicit);
    let with_h: Vec<Vec<f64>> = states.iter().map(|x| x.iter().copied().chain([0.002]).collect()).collect();
    let gradient = evaluation.gradient_program();
    let outputs = evaluation.layout.outputs();
    let weighted: Vec<Vec<f64>> = states
        .iter()
        .map(|x| x.iter().copied().chain((0..outputs).map(|i| (i as f64).cos())).collect())
        .collect();
    let mut list = String::new();
    for (real, single) in [("f32", true), ("f64", false)] {
        for (what, program, inputs) in
            [("evaluate", &program, &states), ("step", &step, &with_h), ("gradient", &gradient, &weighted)]
        {
            write_points(&folder.join(format!("{what}.points")), program, inputs)?;
            let text = source::write(program, what, source::Language::Cuda, single);
            let name = format!("{what}_{real}");
            let (source, binary_file) =
                (folder.join(format!("{name}.cu")), folder.join(format!("{name}.cubin")));
            if binary_file.exists() && std::fs::read_to_string(&source).is_ok_and(|old| old == text) {
                println!("{name}: as it was");
                continue;
            }
            std::fs::write(source, &text)?;
            let start = Instant::now();
            let binary = compile(library, &text, "sm_90", single)?;
            let line = format!(
                "{name}: {} operations, {:.2} MB of source, compiled in {:.1} s, {:.2} MB",
                program.operations(),
                text.len() as f64 / 1e6,
                start.elapsed().as_secs_f64(),
                binary.len() as f64 / 1e6
            );
            println!("{line}");
            list += &line;
            list.push('\n');
            std::fs::write(folder.join("compile.txt"), &list)?;
            std::fs::write(binary_file, binary)?;
        }
    }
    Ok(())
}

fn write_points(file: &Path, p: &Program, inputs: &[Vec<f64>]) -> Result<(), Box<dyn Error>> {
    let mut numbers = vec![p.inputs as f64, p.outputs.len() as f64];
    for x in inputs {
        let mut full = x.clone();
        full.resize(p.inputs, 0.0);
        numbers.extend(&full);
        numbers.extend(p.evaluate(&full));
    }
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    Ok(std::fs::write(file, bytes)?)
}

fn measure(folder: &str) -> Result<(), Box<dyn Error>> {
    let device = Device::first()?;
    println!("{}", device.name()?);
    if let Ok(text) = std::fs::read_to_string(Path::new(folder).join("compile.txt")) {
        print!("{text}");
    }
    for what in ["evaluate", "step", "gradient"] {
        for real in ["f32", "f64"] {
            if let Err(e) = one(&device, Path::new(folder), what, real) {
                println!("{what} {real}: {e}");
            }
        }
    }
    Ok(())
}

fn one(device: &Device, folder: &Path, what: &str, real: &str) -> Result<(), Box<dyn Error>> {
    let bytes = std::fs::read(folder.join(format!("{what}.points")))?;
    let numbers: Vec<f64> =
        bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap_or_default())).collect();
    let (inputs, outputs) = (numbers[0] as usize, numbers[1] as usize);
    let points: Vec<&[f64]> = numbers[2..].chunks_exact(inputs + outputs).collect();
    let binary = std::fs::read(folder.join(format!("{what}_{real}.cubin")))?;
    let kernel = device.load(&binary, what)?;
    for copies in [8192usize, 131_072] {
        let value = |i: usize, k: usize| points[k % points.len()][i];
        let x: Vec<f64> = (0..inputs).flat_map(|i| (0..copies).map(move |k| value(i, k))).collect();
        let size = if real == "f32" { 4 } else { 8 };
        let (dx, dy) = (device.allocate(x.len() * size)?, device.allocate(outputs * copies * size)?);
        let y: Vec<f64> = if real == "f32" {
            device.write(dx, &x.iter().map(|x| *x as f32).collect::<Vec<f32>>())?;
            device.launch(kernel, dx, dy, copies)?;
            device.wait()?;
            let mut found = vec![0f32; outputs * copies];
            device.read(dy, &mut found)?;
            found.into_iter().map(f64::from).collect()
        } else {
            device.write(dx, &x)?;
            device.launch(kernel, dx, dy, copies)?;
            device.wait()?;
            let mut found = vec![0f64; outputs * copies];
            device.read(dy, &mut found)?;
            found
        };
        // Muscles at the singularity of their explicit form have rates without end: the engine has no number there either.
        let counted: Vec<usize> =
            (0..points.len()).filter(|&k| points[k][inputs..].iter().all(|w| w.abs() < ENDLESS)).collect();
        let mut errors: Vec<f64> = counted
            .iter()
            .map(|&k| {
                let wanted = &points[k][inputs..];
                let difference: f64 = (0..outputs).map(|i| (y[i * copies + k] - wanted[i]).powi(2)).sum();
                (difference / wanted.iter().map(|w| w * w).sum::<f64>()).sqrt()
            })
            .collect();
        errors.sort_by(f64::total_cmp);
        let mut best = f64::INFINITY;
        for _ in 0..10 {
            let start = Instant::now();
            device.launch(kernel, dx, dy, copies)?;
            device.wait()?;
            best = best.min(start.elapsed().as_secs_f64());
        }
        println!(
            "{what} {real}: {copies} copies, {:.3} ms, {:.2} M/s; norm error of {} of {} points: median {:.1e}, worst {:.1e}",
            best * 1e3,
            copies as f64 / best / 1e6,
            errors.len(),
            points.len(),
            errors.get(errors.len() / 2).unwrap_or(&f64::NAN),
            errors.last().unwrap_or(&f64::NAN)
        );
        device.free(dx)?;
        device.free(dy)?;
    }
    Ok(())
}
