//! From a squat to upright, with and without a spring at the knee whose stiffness is part of the problem.

use super::super::report::Report;
use super::super::sheet::{Folder, Series, Sheet};
use super::compare::{Course, mean, root_mean_square};
use super::describe;
use super::solving::{element, find, pose, read};
use soleus::Error;
use soleus::optimal_control::Solution;
use soleus_control::Trajectory;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::solution::Columns;
use soleus_io::study;
use soleus_model::Element;
use std::path::Path;

const SQUAT: &str = include_str!("squat.toml");
/// Stiffness that the search starts from, N·m/rad.
const FIRST_STIFFNESS: f64 = 50.0;
/// Published stiffness, N·m/rad, to the digits that are printed.
const PUBLISHED: f64 = 90.0;
/// Extensors that the article draws.
const MUSCLES: [(&str, &str); 3] =
    [("glut_max2_r", "gluteus maximus"), ("semimem_r", "hamstrings"), ("vas_int_r", "vasti")];

/// Solves both problems.
pub fn run(examples: &Path, report: &mut Report, folder: &Folder) -> Result<(), Error> {
    report.heading("Squat to stand: 4 coordinates, 9 muscles, 50 intervals; effort and time");
    let alone = solve(examples, None)?;
    let helped = solve(examples, Some(FIRST_STIFFNESS))?;
    let solved = |f: &Solution| f.solver.status.is_solved();
    report.row("unassisted: objective", &describe(&alone), "3 min", solved(&alone));
    report.row(
        "with a spring at the knee: objective",
        &describe(&helped),
        "lower than without; 3 min",
        solved(&helped) && helped.solver.objective < alone.solver.objective,
    );
    let stiffness = helped.phases[0].trajectory.parameters.first().map_or(f64::NAN, |p| p.1);
    report.row(
        "stiffness (N m/rad)",
        &format!("{stiffness:.1}"),
        "90, within 10 %",
        (stiffness - PUBLISHED).abs() <= 0.1 * PUBLISHED,
    );
    let last = |f: &Solution| f.phases[0].trajectory.times.last().copied().unwrap_or(f64::NAN);
    let durations = format!("{:.3} {:.3}", last(&alone), last(&helped));
    report.note("duration, unassisted and assisted (s)", &durations, "");
    let [a, b] = [&alone, &helped]
        .map(|f| Course { times: &f.phases[0].trajectory.times, columns: &f.phases[0].trajectory.states });
    let apart = root_mean_square(a, b, |n| n.ends_with("/value") && !n.contains("beta")).to_degrees();
    report.note("joint angles, RMS of the difference (deg)", &format!("{apart:.1}"), "");
    let mut sheet = Sheet::new(&["muscle", "mean activation, unassisted", "assisted"]);
    for (path, name) in MUSCLES {
        let activation =
            |f: &Solution| f.phases[0].trajectory.states.column(&format!("/forceset/{path}/activation"));
        let (Some(a), Some(b)) = (activation(&alone), activation(&helped)) else { continue };
        let means =
            [mean(&alone.phases[0].trajectory.times, &a), mean(&helped.phases[0].trajectory.times, &b)];
        let ours = format!("{:.3} {:.3}", means[0], means[1]);
        let what = format!("{name}: mean activation, unassisted and assisted");
        match path {
            "semimem_r" => report.note(&what, &ours, ""),
            _ => report.row(&what, &ours, "decreases", means[1] < means[0]),
        }
        sheet.row(vec![name.into(), format!("{:.4}", means[0]), format!("{:.4}", means[1])]);
        let lines = [
            Series { name: "unassisted", x: &alone.phases[0].trajectory.times, y: &a },
            Series { name: "assisted", x: &helped.phases[0].trajectory.times, y: &b },
        ];
        folder.picture(&format!("squat_{path}"), [name, "time (s)", "activation"], &lines)?;
    }
    folder.table("squat", "Squat to stand", &sheet)
}

/// The problem, with a spring of a stiffness to be found if a first one is given.
fn solve(examples: &Path, spring: Option<f64>) -> Result<Solution, Error> {
    let path = examples.join("squat.toml");
    let mut study = read("squat.toml", SQUAT)?;
    if let Some(stiffness) = spring {
        let mut model = element(&path, &study)?;
        add_spring(&mut model, stiffness);
        study.setup.model = Some(model);
        study.setup.parameters.push(study::Parameter {
            name: "stiffness".into(),
            component_paths: vec!["/forceset/spring".into()],
            property_name: "stiffness".into(),
            property_element: None,
            bounds: [0.0, 100.0],
            line: 0,
        });
    }
    let mut posed = pose(&path, &study)?;
    posed.inputs.guess = Some(start(&posed.model));
    find(&posed)
}

/// A torsional spring that is at rest when the knee is straight.
fn add_spring(model: &mut Element, stiffness: f64) {
    let mut spring = Element::new("SpringGeneralizedForce", 0);
    spring.set_attribute("name", "spring".to_string());
    let values = [
        ("coordinate", "knee_extension_r".to_string()),
        ("stiffness", stiffness.to_string()),
        ("rest_length", "0".into()),
    ];
    for (tag, text) in values {
        spring.push(Element::with_text(tag, text, 0));
    }
    spring.push(Element::with_text("viscosity", "0".to_string(), 0));
    if let Some(list) = model.child_mut("ForceSet").and_then(|s| s.child_mut("objects")) {
        list.push(spring);
    }
}

/// The article's start: little activity, tendons that pull a little.
fn start(base: &ModelProblem) -> Trajectory {
    const ACTIVITY: f64 = 0.05;
    const TENDON_FORCE: f64 = 0.1;
    let mut states = Columns { names: Vec::new(), rows: vec![Vec::new(); 2] };
    for name in &base.states {
        let value = match name.rsplit('/').next() {
            Some("activation") => ACTIVITY,
            Some("normalized_tendon_force") => TENDON_FORCE,
            _ => continue,
        };
        states.names.push(name.clone());
        states.rows.iter_mut().for_each(|r| r.push(value));
    }
    let controls =
        Columns { names: base.controls.clone(), rows: vec![vec![ACTIVITY; base.controls.len()]; 2] };
    // The middle of the bounds of the final time.
    Trajectory { times: vec![0.0, 1.05], states, controls, ..Trajectory::default() }
}
