//! `soleus fit-paths`: polynomials in place of paths.

use crate::failure::Failure;
use crate::load;
use crate::simulate::drive;
use clap::Args;
use soleus_dynamics::Options;
use soleus_io::osim::{read_document, upgrade, write_document};
use soleus_model::document::Element;
use soleus_model::joint::MotionType;
use soleus_model::{Force, Model};
use soleus_simulation::system::state_column;
use soleus_tools::fit_paths::{FitOptions, FittedPath, fit_paths};
use std::path::{Path, PathBuf};

/// What to fit, and how well.
#[derive(Args)]
#[command(after_help = "Example:\n  soleus fit-paths rajagopal.osim --out rajagopal_polynomial.osim\n\n\
    Every path becomes a FunctionBasedPath, which OpenSim 4.6 reads too. Coordinates are sampled in\n\
    their ranges, or around the poses of a motion: --coordinates walk.mot. The table\n\
    on stderr shows the errors on poses that were not fitted.")]
pub struct Arguments {
    /// Model file (.osim, any version)
    model: PathBuf,
    /// Model file to write; `-` for stdout
    #[arg(long, value_name = "NEW.osim")]
    out: PathBuf,
    /// Motion to fit around (.mot, .sto): the paths are then good near its poses, not over the whole ranges
    #[arg(long, value_name = "MOTION")]
    coordinates: Option<PathBuf>,
    /// How far around the poses of the motion, in degrees; translations a centimeter
    #[arg(long, value_name = "DEG", default_value_t = 10.0, requires = "coordinates")]
    margin_deg: f64,
    /// Highest order of the polynomials
    #[arg(long, default_value_t = FitOptions::default().max_order)]
    max_order: usize,
    /// Root mean square error of the length to reach, in m
    #[arg(long, value_name = "M", default_value_t = FitOptions::default().length_tolerance)]
    length_tolerance: f64,
    /// Root mean square error of the moment arms to reach, in m
    #[arg(long, value_name = "M", default_value_t = FitOptions::default().moment_arm_tolerance)]
    moment_arm_tolerance: f64,
}

/// Fits, reports, and writes the model whole.
pub fn run(a: &Arguments) -> Result<(), Failure> {
    let (model, system) = load::system(&a.model, &Options::default())?;
    let options = FitOptions {
        max_order: a.max_order,
        length_tolerance: a.length_tolerance,
        moment_arm_tolerance: a.moment_arm_tolerance,
        poses: match &a.coordinates {
            Some(path) => poses(&model, path)?,
            None => Vec::new(),
        },
        margin: [a.margin_deg.to_radians(), FitOptions::default().margin[1]],
        ..FitOptions::default()
    };
    let mut shown = usize::MAX;
    let fitted = fit_paths(&model, &system, &options, &mut |done, all| {
        let percent = 100 * done / all.max(1);
        if percent / 10 != shown {
            shown = percent / 10;
            eprintln!("fitting paths: {percent} %");
        }
        true
    });
    report(&model, &fitted);

    let bytes = std::fs::read(&a.model).map_err(|e| Failure::read(&a.model, e))?;
    let (doc, mut diagnostics) = read_document(&bytes, &a.model.display().to_string());
    let Some(mut doc) = doc else { return Err(load::errors(&a.model, &diagnostics)) };
    upgrade(&mut doc, &mut diagnostics);
    for f in &fitted {
        let force = &model.forces[f.force];
        if !replace(&mut doc.root, force, &element(&model, f)) {
            let message = format!("the path of `{}` is not a GeometryPath, and was not replaced", force.name);
            return Err(Failure::content(&a.model, model.line_of(&force.path), &force.path, message, ""));
        }
    }
    load::write_whole(&a.out, &write_document(&doc))
}

/// The poses of a motion file, one value for every coordinate of the model.
fn poses(model: &Model, path: &Path) -> Result<Vec<Vec<f64>>, Failure> {
    let table = drive::read_table(path)?;
    let mut columns = Vec::with_capacity(model.coordinates.len());
    let mut missing = Vec::new();
    for c in &model.coordinates {
        let degrees = table.in_degrees == Some(true) && c.motion_type == MotionType::Rotational;
        let unit = if degrees { 1f64.to_radians() } else { 1.0 };
        match state_column(table.labels(), &format!("{}/value", c.path)) {
            Some(i) => columns.push(table.columns()[i].iter().map(|x| unit * x).collect()),
            None => {
                missing.push(c.name.as_str());
                columns.push(vec![c.default_value; table.rows()]);
            }
        }
    }
    if missing.len() == model.coordinates.len() || table.rows() == 0 {
        let message = "the table has no column for any coordinate of the model, or no rows".to_string();
        return Err(Failure::content(path, 0, "", message, "give a motion of this model"));
    }
    if let Some(first) = missing.first() {
        let n = missing.len();
        eprintln!("warning: no column for {n} coordinates, {first} first: they stay near their defaults");
    }
    let pose = |row: usize| columns.iter().map(|c: &Vec<f64>| c[row]).collect::<Vec<f64>>();
    let all = (0..table.rows()).map(pose);
    Ok(all.filter(|p| p.iter().all(|x| x.is_finite())).collect())
}

fn report(model: &Model, fitted: &[FittedPath]) {
    eprintln!(
        "{:<24} {:>5} {:>6} {:>24} {:>24}",
        "path", "order", "terms", "length rms, max (mm)", "arm rms, max (mm)"
    );
    for f in fitted {
        let mm = |e: [f64; 2]| format!("{:.3} {:.3}", e[0] * 1e3, e[1] * 1e3);
        eprintln!(
            "{:<24} {:>5} {:>6} {:>24} {:>24}{}",
            model.forces[f.force].name,
            f.order,
            f.coefficients.len(),
            mm(f.length_error),
            mm(f.moment_arm_error),
            if f.converged { "" } else { "  short of the tolerance" }
        );
    }
    let worst = |e: fn(&FittedPath) -> f64| fitted.iter().map(e).fold(0.0, f64::max) * 1e3;
    let done = fitted.iter().filter(|f| f.converged).count();
    eprintln!(
        "{done} of {} paths within tolerance; worst length {:.3} mm, worst moment arm {:.3} mm",
        fitted.len(),
        worst(|f| f.length_error[1]),
        worst(|f| f.moment_arm_error[1])
    );
}

/// The fitted path as a file says it.
fn element(model: &Model, f: &FittedPath) -> Element {
    let join = |x: &[f64]| x.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
    let mut polynomial = Element::new("MultivariatePolynomialFunction", 0);
    polynomial.push(Element::with_text("coefficients", join(&f.coefficients), 0));
    polynomial.push(Element::with_text("dimension", f.path.coordinates.len().to_string(), 0));
    polynomial.push(Element::with_text("order", f.order.to_string(), 0));
    let mut length = Element::new("length_function", 0);
    length.push(polynomial);
    let names: Vec<&str> = f.path.coordinates.iter().map(|c| model.coordinates[c.0].path.as_str()).collect();
    let mut path = Element::new("FunctionBasedPath", 0);
    path.set_attribute("name", "path");
    path.push(Element::with_text("coordinate_paths", names.join(" "), 0));
    path.push(length);
    path
}

/// Puts `path` in the place of the geometry path of a force, wherever the force is; tells whether it was found.
fn replace(e: &mut Element, force: &Force, path: &Element) -> bool {
    if e.tag == force.class && e.name() == force.name {
        // Directly in the force, or in a property `path` of it.
        return put(e, path) || e.child_mut("path").is_some_and(|p| put(p, path));
    }
    e.children_mut().any(|child| replace(child, force, path))
}

fn put(e: &mut Element, path: &Element) -> bool {
    match e.child_mut("GeometryPath") {
        Some(old) => {
            *old = path.clone();
            true
        }
        None => false,
    }
}
