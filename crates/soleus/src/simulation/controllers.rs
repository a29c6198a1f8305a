//! Controllers of a simulation, and the tables and nodes they use.

use crate::context::Context;
use crate::error::Error;
use crate::inputs::paths::{has_ending, native};
use crate::inputs::table::read_numbers;
use soleus_dynamics::system::System;
use soleus_io::setup::{ControlCourse, read_control_set};
use soleus_math::Function;
use soleus_math::function::{GcvSpline, PiecewiseConstant, PiecewiseLinear};
use soleus_math::table::Table;
use soleus_model::Model;
use soleus_simulation::ModelControls;
use soleus_simulation::system::{ControlNodes, control_labels};
use std::path::{Path, PathBuf};

/// The model's controllers, with their data files. Files are searched in `folders`, in order; `path` is the model file,
/// for messages.
pub fn controllers(
    cx: &Context,
    path: &Path,
    (model, system): (&Model, &System),
    folders: &[&Path],
) -> Result<ModelControls, Error> {
    let mut controls = ModelControls::new(model, system);
    if let Some((controller, why)) = controls.problems.first() {
        return Err(Error::content(path, 0, controller, why.clone(), ""));
    }
    let labels = control_labels(model, system);
    for p in std::mem::take(&mut controls.pending) {
        let Some(file) = p.file else {
            let message = format!("controller {} has no controls_file and no effect", p.controller);
            cx.warn(path, message, "");
            continue;
        };
        let path = find(cx, &file, folders);
        if p.is_control_set {
            add_control_set(cx, &mut controls, &labels, &path)?;
        } else {
            // OpenSim joins samples by straight lines unless told otherwise.
            let method = p.interpolation_method.unwrap_or(1);
            let table = read_numbers(cx, &path.as_path().into())?;
            add_table(cx, &mut controls, &labels, (&path, &table), method, &|c| p.controls.contains(&c))?;
        }
    }
    Ok(controls)
}

/// The first of the folders in which a file is; if in none, the first, for the message.
fn find(cx: &Context, file: &str, folders: &[&Path]) -> PathBuf {
    let file = native(file);
    let found = folders.iter().map(|f| f.join(&file)).find(|p| cx.files.is_file(p));
    found.unwrap_or_else(|| folders.first().unwrap_or(&Path::new("")).join(&file))
}

/// The control of an actuator, by its path or name.
fn control_of(labels: &[String], name: &str) -> Option<usize> {
    labels.iter().position(|l| l == name || l.rsplit('/').next() == Some(name))
}

/// Adds the controls of a `ControlSetController`'s file: a `ControlSet` as XML, or a table joined by straight lines.
fn add_control_set(
    cx: &Context,
    controls: &mut ModelControls,
    labels: &[String],
    path: &Path,
) -> Result<(), Error> {
    let list = match !has_ending(path, "sto") {
        true => {
            let (set, log) = read_control_set(&cx.read(path)?, &path.display().to_string());
            cx.settle(path, set, log)?.into_iter().map(|c| (c.name, c.line, c.course)).collect::<Vec<_>>()
        }
        false => {
            let table = read_numbers(cx, &path.into())?;
            let course = |values: &Vec<f64>| ControlCourse::Nodes {
                times: table.times().to_vec(),
                values: values.clone(),
                use_steps: false,
                extrapolate: true,
            };
            let name = |l: &String| l.strip_suffix(".excitation").unwrap_or(l).to_string();
            table.labels().iter().zip(table.columns()).map(|(l, c)| (name(l), 0, course(c))).collect()
        }
    };
    for (name, line, course) in list {
        let Some(control) = control_of(labels, &name) else {
            let hint = "remove it, or add the actuator to the model: force_set_files";
            let message = format!("control `{name}` is not an actuator of the model");
            return Err(Error::content(path, line, "", message, hint));
        };
        match course {
            ControlCourse::Constant(c) => controls.add_function(control, Function::Constant(c)),
            ControlCourse::Nodes { times, values, use_steps, extrapolate } => {
                match ControlNodes::new(times, values, use_steps, extrapolate) {
                    Some(nodes) => controls.add_nodes(control, nodes),
                    None => {
                        let message = format!("control `{name}`: the times do not increase, or are missing");
                        return Err(Error::content(path, line, "", message, ""));
                    }
                }
            }
        }
    }
    Ok(())
}

/// Adds the columns of a table that are named after the given controls, interpolated by `method`: 0 constant, 1 linear,
/// 3 and 5 splines of that degree.
pub fn add_table(
    cx: &Context,
    controls: &mut ModelControls,
    labels: &[String],
    (path, table): (&Path, &Table),
    method: i64,
    wanted: &dyn Fn(usize) -> bool,
) -> Result<(), Error> {
    for (label, values) in table.labels().iter().zip(table.columns()) {
        let name = label.strip_suffix(".excitation").unwrap_or(label);
        let Some(control) = control_of(labels, name) else {
            cx.warn(path, format!("column `{label}` is not an actuator of the model"), "");
            continue;
        };
        if !wanted(control) {
            continue;
        }
        let times = table.times().to_vec();
        let f = match (values.as_slice(), method) {
            ([only], _) => Ok(Function::Constant(*only)),
            (_, 0) => PiecewiseConstant::new(times, values.clone()).map(Function::from),
            (_, 3 | 5 | 7) => GcvSpline::interpolate(method as usize, times, values).map(Function::from),
            _ => PiecewiseLinear::new(times, values.clone()).map(Function::from),
        };
        let f = f.map_err(|e| Error::content(path, 0, "", format!("column `{label}`: {e}"), ""))?;
        controls.add_function(control, f);
    }
    Ok(())
}
