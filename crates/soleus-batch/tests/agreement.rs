//! What is recorded is what the engine computes, on whole ranges of states.

use soleus_batch::{Evaluation, ImplicitEvaluation};
use soleus_dynamics::System;
use soleus_dynamics::implicit::ImplicitSystem;
use soleus_graph::Structured;
use soleus_graph::lanes::{Lanes, Width};
use soleus_math::Dual;
use soleus_math::norm::{largest, largest_difference, largest_size};
use soleus_model::Model;
use soleus_model::force::ForceKind;
use soleus_model::muscle::MuscleKind;
use soleus_testing::{reference_test, shared};
use soleus_tools::fit_paths::{FitOptions, fit_paths};

pub fn read(file: &str) -> Model {
    let bytes = std::fs::read(file).unwrap_or_else(|e| panic!("{file}: {e}"));
    soleus_io::osim::read_model(&bytes, file).0.expect("a model")
}

fn fitted(mut model: Model) -> Model {
    let system = System::compile(&model).unwrap();
    let options = FitOptions { max_order: 4, only_branching: true, ..FitOptions::default() };
    for f in fit_paths(&model, &system, &options, &mut |_, _| true) {
        model.forces[f.force].line_of_action = Some(soleus_model::path::Path::FunctionBased(f.path));
    }
    model
}

fn run(lanes: &Lanes, states: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = states.len();
    let x: Vec<f64> = (0..lanes.inputs()).flat_map(|i| states.iter().map(move |s| s[i])).collect();
    let mut y = vec![f64::NAN; lanes.outputs() * n];
    lanes.run(&x, &mut y, n, 2);
    (0..n).map(|k| (0..lanes.outputs()).map(|i| y[i * n + k]).collect()).collect()
}

fn check(what: &str, model: &Model) {
    let system = System::compile(model).unwrap();
    let evaluation = Evaluation::record(model, &system).unwrap_or_else(|e| panic!("{what}: {e}"));
    let program = evaluation.program();
    let agreement =
        evaluation.check_reference(model, &system, &program).unwrap_or_else(|e| panic!("{what}: {e}"));
    println!(
        "{what}: {} asked, {} operations, {} costly, norm error {:.1e}, left out {}",
        evaluation.graph.asked,
        program.operations(),
        program.costly(),
        agreement.norm_error,
        agreement.left_out
    );
    assert!(agreement.left_out < 8, "{what}: {agreement:?}");
    // Rounding of some 1e4 operations, and of mass matrices with condition numbers to 1e3.
    assert!(agreement.norm_error < 1e-12, "{what}: {agreement:?}");

    // Lanes, in f64 and f32: the same numbers to their rounding.
    for (single, tolerance) in [(false, 1e-12), (true, 1e-4)] {
        let lanes = Lanes::new(program.clone(), single);
        let result = evaluation.check(model, &system, tolerance, &mut |states| run(&lanes, states));
        let agreement = result.unwrap_or_else(|e| panic!("{what}, {}: {e}", lanes.backend()));
        println!(
            "{what}, {}: norm error {:.1e}, median {:.1e}",
            lanes.backend(),
            agreement.norm_error,
            agreement.median_error
        );
    }

    // Lanes of another width compute the same bits.
    let states = Evaluation::random_states(model, &system, 13, 2);
    for single in [false, true] {
        let widest = run(&Lanes::new(program.clone(), single), &states);
        let narrow = Lanes::of_width(program.clone(), single, Width::Avx2);
        if narrow.backend().starts_with("AVX2") {
            let narrow = run(&narrow, &states);
            let bits = |list: &[Vec<f64>]| list.iter().flatten().map(|x| x.to_bits()).collect::<Vec<u64>>();
            assert!(bits(&narrow) == bits(&widest), "{what}: AVX2 differs");
        }
    }

    // The implicit equations: nothing is singular there.
    let implicit = ImplicitEvaluation::record(model, &system).unwrap_or_else(|e| panic!("{what}: {e}"));
    let form = ImplicitSystem::new(&system);
    let inputs = implicit.random_inputs(model, &system, 32, 5);
    let mut ws = system.workspace::<f64>();
    let residuals: Vec<Vec<f64>> = inputs.iter().map(|x| implicit.residual(&form, x, &mut ws)).collect();
    let program = implicit.program();
    let norm_error = |y: &[f64], w: &[f64]| {
        let norm = |list: &mut dyn Iterator<Item = f64>| list.map(|x| x * x).sum::<f64>().sqrt();
        norm(&mut y.iter().zip(w).map(|(y, w)| y - w)) / norm(&mut w.iter().copied()).max(1e-9)
    };
    for (single, tolerance) in [(false, 1e-12), (true, 1e-4)] {
        let found = run(&Lanes::new(program.clone(), single), &inputs);
        let worst = largest(found.iter().zip(&residuals).map(|(y, w)| norm_error(y, w)));
        assert!(worst <= tolerance, "{what}: residuals are off by {worst:.1e}");
    }
    let weights: Vec<f64> =
        (0..implicit.residuals.len()).map(|i| f64::from((i as f64).cos() as f32)).collect();
    let gradient = implicit.gradient_program();
    for x in &inputs[..4] {
        let wanted = implicit.engine_gradient(&system, x, &weights).unwrap();
        let with_weights: Vec<f64> = x.iter().chain(&weights).copied().collect();
        for (single, tolerance) in [(false, 1e-12), (true, 1e-4)] {
            let found =
                run(&Lanes::new(gradient.clone(), single), std::slice::from_ref(&with_weights)).remove(0);
            let error = norm_error(&found, &wanted);
            assert!(error <= tolerance, "{what}: the gradient of residuals is off by {error:.1e}");
        }
        // Templates compute the same bits.
        for (program, x) in [(&program, x), (&gradient, &with_weights)] {
            let structured = Structured::new(&program.recomputed(900));
            for (a, b) in structured.evaluate(x).iter().zip(program.evaluate(x)) {
                assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()), "{what}: {a} {b}");
            }
        }
    }

    // The gradient against dual numbers, along a direction.
    let gradient = evaluation.gradient_program();
    let layout = &evaluation.layout;
    for x in Evaluation::random_states(model, &system, 4, 3) {
        let weights: Vec<f64> = (0..layout.outputs()).map(|i| (1.0 + i as f64).sin()).collect();
        let input: Vec<f64> = x.iter().chain(&weights).copied().collect();
        let found = gradient.evaluate(&input);
        let by_lanes = run(&Lanes::new(gradient.clone(), false), std::slice::from_ref(&input)).remove(0);
        let size = largest_size(&found);
        let off = largest_difference(&found, &by_lanes);
        assert!(off <= 1e-10 * size, "{what}: gradient by lanes is off by {off} of {size}");
        let along: Vec<f64> = (0..x.len()).map(|i| (2.0 + i as f64).cos()).collect();
        let dual: Vec<Dual<f64, 1>> = x.iter().zip(&along).map(|(x, d)| Dual::new(*x, [*d])).collect();
        let (s, e) = layout.state(&dual);
        let mut ws = system.workspace();
        if system.compute_motion(&s, &e, &mut ws).is_err() {
            continue;
        }
        let outputs = || ws.udot.iter().chain(&ws.zdot);
        let wanted: f64 = outputs().zip(&weights).map(|(y, w)| y.d[0] * w).sum();
        let terms = found.iter().zip(&along).map(|(g, d)| g * d);
        let (sum, size): (f64, f64) = (terms.clone().sum(), terms.map(f64::abs).sum());
        // A sum of terms that cancel rounds as the largest of them.
        assert!((sum - wanted).abs() <= 1e-10 * size.max(1e-6), "{what}: {sum} {wanted} of {size}");
    }
}

#[test]
fn identity_small_models() {
    check("gait2d", &read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/gait2d.osim")));
    check("suspended_mass", &read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/suspended_mass.osim")));
    check("leg_swing", &fitted(read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/leg_swing.osim"))));
}

#[reference_test]
fn identity_reference_models() {
    let at = |name: &str| read(&format!("{}/{name}.osim", shared!("reference/models")));
    check("Tug_of_War", &at("Tug_of_War"));
    check("Tug_of_War_Millard", &at("Tug_of_War_Millard"));
    check("arm26", &fitted(at("arm26")));
    check("2D_gait", &fitted(at("2D_gait")));
    check("gait10dof18musc", &fitted(at("gait10dof18musc")));
}

/// Muscles of Schutte and of Delp in a small model: they record, and agree.
#[test]
fn issue_22_muscles_of_simm_are_recorded() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/suspended_mass.osim");
    for kind in [MuscleKind::Schutte1993(Box::default()), MuscleKind::Delp1990(Box::default())] {
        let mut model = read(file);
        for f in &mut model.forces {
            let ForceKind::Muscle(m) = &mut f.kind else { continue };
            m.kind = kind.clone();
            (m.ignore_tendon_compliance, m.ignore_activation_dynamics) = (false, false);
            (m.tendon_slack_length, m.pennation_angle_at_optimal) = (0.5 * m.optimal_fiber_length, 0.2);
        }
        let class = kind.class_name();
        let system = System::compile(&model).unwrap();
        let evaluation = Evaluation::record(&model, &system).unwrap_or_else(|e| panic!("{class}: {e}"));
        let agreement = evaluation.check_reference(&model, &system, &evaluation.program());
        let agreement = agreement.unwrap_or_else(|e| panic!("{class}: {e}"));
        assert!(agreement.left_out < 8 && agreement.norm_error < 1e-12, "{class}: {agreement:?}");
    }
}

#[reference_test]
fn issue_22_das3_is_recorded() {
    let file = format!("{}/techforparalysis_2025/das3_simplified.osim", shared!("data/das3"));
    let model = fitted(read(&file));
    let system = System::compile(&model).unwrap();
    let evaluation = Evaluation::record(&model, &system).unwrap_or_else(|e| panic!("{e}"));
    let agreement = evaluation.check_reference(&model, &system, &evaluation.program()).unwrap();
    assert!(agreement.left_out == 0 && agreement.norm_error < 1e-12, "{agreement:?}");
}

/// A wrapped path is refused by name, with the line of the look.
#[test]
fn analytic_wrapping_is_refused() {
    let model = read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/leg_swing.osim"));
    let system = System::compile(&model).unwrap();
    let refusal = Evaluation::record(&model, &system).unwrap_err().to_string();
    assert!(refusal.contains("the path of /forceset/") && refusal.contains(".rs:"), "{refusal}");
}
