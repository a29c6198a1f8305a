//! Values of Moco's goals on a stored trajectory against OpenSim 4.6.
//!
//! `data/goal_values.omoco` was posed in OpenSim with the trajectory of the 2-D walk (walk2d_track of the reference set) as
//! guess, accelerations from `generateAccelerationsFromSpeeds`, and no iterations: the terms of the objective are then the
//! goals' values. All bounds are wide, so that neither solver moves the guess.

use crate::common::{Folder, shared};
use soleus_io::table::sto::{Digits, write};
use soleus_math::Table;
use soleus_math::function::GcvSpline;
use soleus_math::table::Element;
use soleus_testing::reference_test;
use std::path::PathBuf;

fn reference() -> PathBuf {
    shared("reference/moco")
}

/// The walk with accelerations: slopes of splines of degree 5 through the speeds.
fn with_accelerations(t: &Table) -> Table {
    let (mut labels, mut columns) = (t.labels().to_vec(), t.columns().to_vec());
    for (label, column) in t.labels().iter().zip(t.columns()) {
        let Some(path) = label.strip_suffix("/speed") else { continue };
        let spline = GcvSpline::interpolate(5, t.times().to_vec(), column).unwrap();
        let spline = soleus_math::Function::from(spline);
        labels.push(format!("{path}/accel"));
        columns.push(t.times().iter().map(|&t| spline.eval1(t)[1]).collect());
    }
    Table::new(Element::Scalar, labels, t.times().to_vec(), columns).unwrap()
}

/// All muscles of the model in a metabolic probe.
fn with_metabolics(model: &str) -> String {
    let mut list = String::new();
    for piece in model.split("<DeGrooteFregly2016Muscle name=\"").skip(1) {
        let name = piece.split('"').next().unwrap();
        list.push_str(&format!(
            "<Bhargava2004SmoothedMuscleMetabolics_MuscleParameters name=\"{name}\"><socket_muscle>/{name}</socket_muscle>\
             <use_provided_muscle_mass>false</use_provided_muscle_mass></Bhargava2004SmoothedMuscleMetabolics_MuscleParameters>"
        ));
    }
    let probe = format!(
        "<Bhargava2004SmoothedMuscleMetabolics name=\"metabolics\"><muscle_parameters>{list}</muscle_parameters>\
         <use_smoothing>true</use_smoothing></Bhargava2004SmoothedMuscleMetabolics></components>"
    );
    model.replacen("</components>", &probe, 1)
}

#[reference_test]
fn opensim_val_goals_of_a_walk() {
    let folder = reference();
    let f = Folder::new("goal_values");
    let bytes = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let table = |t: &Table, name: &str| f.file(name, write(t, Digits::Shortest));
    for name in ["referenceGRF.xml", "referenceGRF.sto"] {
        f.file(name, bytes(&format!("data/{name}")));
    }
    f.file("gait_met.osim", with_metabolics(&String::from_utf8(bytes("models/2D_gait.osim")).unwrap()));
    f.file("values.omoco", include_str!("data/goal_values.omoco"));
    let walk = soleus_io::table::read(&bytes("solutions/walk2d_track_solution.sto"), "walk").0.unwrap();
    table(&with_accelerations(&walk), "guess.sto");
    let mut shifted = walk.clone();
    for i in 0..walk.labels().len() {
        let by = match walk.labels()[i].rsplit('/').next() {
            Some("value") => 0.05,
            Some("speed") => 0.1,
            _ => 0.0,
        };
        shifted.column_at_mut(i).unwrap().iter_mut().for_each(|x| *x += by);
    }
    table(&shifted, "shifted.sto");
    let names = ["hip_flexion_r_moment", "knee_angle_l_moment"].map(String::from).to_vec();
    let ten = vec![vec![10.0; walk.rows()]; 2];
    table(&Table::new(Element::Scalar, names, walk.times().to_vec(), ten).unwrap(), "moments.sto");

    let run = f.soleus(&["solve", "values.omoco", "--max-iterations", "0", "--out", "solution.sto"]);
    assert_eq!(run.code, Some(1), "not solved in no iterations: {}", run.stderr);
    let text = std::fs::read_to_string(f.0.join("solution.sto")).unwrap();
    let value = |name: &str| -> f64 {
        let line = text.lines().find_map(|l| l.strip_prefix(&format!("objective_{name}=")));
        line.and_then(|l| l.parse().ok()).unwrap_or(f64::NAN)
    };
    // Both evaluate the same formulas at the same points; what remains are splines, written digits and, for reactions,
    // accelerations that cancel.
    for (name, opensim, tolerance) in [
        ("reaction", 1495.5360630760658, 1e-5),
        ("reaction_parent", 441.8252730694772, 1e-5),
        ("metabolic", 4.016324444785531, 1e-5),
        ("com", 2.736512513202323, 1e-5),
        ("speed_norm", 0.49016778700805813, 1e-6),
        ("difference", 51.721816723127965, 1e-6),
        ("initial", 1.011666378102221, 1e-6),
        ("final", 0.5526163565450783, 1e-6),
        ("extremum", 0.7013483560272147, 1e-6),
        ("followed", 0.41273605149095116, 1e-6),
        ("periodic", 0.41708436373741586, 1e-6),
        ("orientation", 0.032906229999999995, 1e-6),
        ("impulse", 0.00018317642435342383, 1e-4),
        ("contact", 0.24835444689463082, 1e-5),
        ("step_time", 116.97960194000248, 1e-5),
        ("step_length", 26.577815743470186, 1e-6),
        ("moments", 788.0549101568616, 1e-5),
    ] {
        let ours = value(name);
        assert!((ours / opensim - 1.0).abs() < tolerance, "{name}: {ours}, OpenSim {opensim}");
    }
}
