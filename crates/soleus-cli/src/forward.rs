//! The forward simulations of `soleus run`: setup files of OpenSim's `ForwardTool`.

use crate::failure::Failure;
use crate::simulate::job::{Method, Plan};
use crate::simulate::{drive, job, results, start};
use crate::tool_model::{self, parent};
use crate::{analyze, load, setup};
use soleus_dynamics::Options;
use soleus_dynamics::system::{State, System};
use soleus_io::setup::{ForwardSetup, ToolSetup};
use soleus_math::Table;
use soleus_model::controller::{Controller, ControllerKind};
use soleus_model::force::{ControlRange, CoordinateActuator};
use soleus_model::id::CoordinateId;
use soleus_model::joint::MotionType;
use soleus_model::{Force, ForceKind, Model};
use soleus_simulation::system::{ControlNodes, Correction, control_labels, state_column};
use soleus_simulation::{ModelControls, StepOptions};
use std::path::Path;

/// Runs the tool of a setup file.
pub fn run_setup(path: &Path, s: &ForwardSetup, opensim_faults: bool) -> Result<(), Failure> {
    let tool = &s.tool;
    let model_path = setup::required(path, "model_file", tool.model_file.as_deref())?;
    let model = model(path, &model_path, tool)?;
    let system = load::compile(&model_path, &model, &Options { opensim_faults })?;
    let states = match &s.states_file {
        Some(file) => Some(start::read_states(&setup::beside(path, file))?),
        None => None,
    };
    let folders = [parent(path), parent(&model_path)];
    let mut controls = drive::controllers(&model, &system, &folders)?;
    add_corrections(path, &model, &system, states.as_ref(), &mut controls)?;

    let x = initial_state(path, s, &model, &system, states.as_ref(), &controls)?;
    if !(tool.final_time > x.time) || !tool.final_time.is_finite() {
        let message = format!("`final_time` {} s is not after the start, {} s", tool.final_time, x.time);
        return Err(Failure::content(path, 0, "", message, ""));
    }
    let folder = setup::beside(path, &tool.results_directory);
    setup::make_folder(&folder)?;
    let options = StepOptions {
        accuracy: tool.error_tolerance,
        min_step: tool.minimum_step,
        max_step: tool.maximum_step,
        force_min_step: true,
        ..StepOptions::default()
    };
    let plan = Plan {
        method: Method::Rkm,
        options,
        step: tool.maximum_step,
        t_end: tool.final_time,
        interval: None,
        deadline: None,
    };
    let motion = job::simulate(&system, &controls, &x, &plan);

    let file = |ending: &str| folder.join(format!("{}_{ending}", tool.name));
    let states = results::states(&model, &system, &motion.rows).map(|t| named(t, &tool.name));
    let states = states.map_err(|e| Failure::content(path, 0, "", e.to_string(), ""))?;
    results::write(&file("states_degrees.mot"), Ok(in_degrees(&model, &states)))?;
    results::write(&file("states.sto"), Ok(states.clone()))?;
    // OpenSim labels controls by name, not by path.
    let labels = control_labels(&model, &system);
    let names = labels.iter().map(|l| l.rsplit('/').next().unwrap_or(l).to_string()).collect();
    let table = results::controls(&model, &system, &controls, &motion.rows, names);
    results::write(&file("controls.sto"), table.map(|t| named(t, "controls")))?;
    let analysed = match motion.rows.len() {
        0 => Ok(()),
        _ => {
            let (asked, both) = ((path, folder.as_path(), tool.name.as_str()), (&model, &system));
            analyze::run_motion(asked, &s.analyses, both, &states, &mut controls, opensim_faults)
        }
    };
    // Why a simulation ended early matters more than what could not be made of it.
    motion.close(&model, &system, &folder).and(analysed)
}

fn named(mut table: Table, name: &str) -> Table {
    table.name = name.to_string();
    table
}

/// The model with what the setup adds, and actuators for corrections.
fn model(path: &Path, model_path: &Path, tool: &ToolSetup) -> Result<Model, Failure> {
    let mut model = tool_model::model(path, model_path, tool, load::Warnings::Tell)?;
    let enabled = |c: &&Controller| c.enabled;
    for c in model.controllers.iter().filter(enabled) {
        if let ControllerKind::Other = c.kind {
            let message = format!("controller `{}` is a `{}`, which cannot be run", c.name, c.class);
            let hint = "disable it, or take it out of the setup";
            return Err(Failure::content(path, 0, &c.path, message, hint));
        }
    }
    // Each coordinate gets an actuator that the correction works through, unless it has one by that name.
    let corrects = |c: &&Controller| matches!(c.kind, ControllerKind::Correction { .. });
    if let Some(c) = model.controllers.iter().filter(enabled).find(corrects) {
        let owner = c.path.clone();
        for (i, c) in model.coordinates.iter().enumerate() {
            let name = corrector(&c.name);
            if !model.forces.iter().any(|f| f.name == name) {
                model.forces.push(Force {
                    path: format!("{owner}/{name}"),
                    name,
                    class: "CoordinateActuator".to_string(),
                    enabled: true,
                    line_of_action: None,
                    kind: ForceKind::CoordinateActuator(CoordinateActuator {
                        control: ControlRange::default(),
                        coordinate: CoordinateId(i),
                        optimal_force: 1.0,
                    }),
                });
            }
        }
    }
    Ok(model)
}

/// Name of the actuator that corrects a coordinate.
fn corrector(coordinate: &str) -> String {
    format!("{coordinate}_corrector")
}

/// Controls of the correction controllers, which follow the states file.
fn add_corrections(
    path: &Path,
    model: &Model,
    system: &System,
    states: Option<&Table>,
    controls: &mut ModelControls,
) -> Result<(), Failure> {
    for c in model.controllers.iter().filter(|c| c.enabled) {
        let ControllerKind::Correction { kp, kv } = c.kind else { continue };
        let Some(states) = states else {
            let message =
                format!("controller `{}` follows the states of `states_file`, which is not given", c.name);
            return Err(Failure::content(path, 0, &c.path, message, ""));
        };
        for (i, coordinate) in model.coordinates.iter().enumerate() {
            let mobility = system.tree.mobility_of_coordinate[i];
            // What constraints hold needs no correction.
            if mobility == usize::MAX || is_held(model, i) {
                continue;
            }
            let name = corrector(&coordinate.name);
            let Some(k) = model.forces.iter().position(|f| f.name == name) else { continue };
            let ForceKind::CoordinateActuator(actuator) = &model.forces[k].kind else { continue };
            let nodes = |what: &str| {
                let label = format!("{}/{what}", coordinate.path);
                let column = state_column(states.labels(), &label)?;
                ControlNodes::new(states.times().to_vec(), states.columns()[column].clone(), false, true)
            };
            let (Some(value), Some(speed)) = (nodes("value"), nodes("speed")) else {
                let message = format!("the states file has no motion of `{}` to follow", coordinate.name);
                return Err(Failure::content(path, 0, &c.path, message, ""));
            };
            let optimal_force = actuator.optimal_force;
            let correction = Correction { mobility, kp, kv, optimal_force, value, speed };
            controls.add_correction(system.forces[k].controls.start, correction);
        }
    }
    Ok(())
}

/// Whether a coordinate is locked, prescribed or dependent.
fn is_held(model: &Model, coordinate: usize) -> bool {
    use soleus_model::constraint::ConstraintKind;
    let c = &model.coordinates[coordinate];
    c.locked
        || c.prescribed
        || model.constraints.iter().any(|k| {
            matches!(&k.kind, ConstraintKind::CoordinateCoupler { dependent, .. } if dependent.0 == coordinate)
        })
}

/// The state to start from: a row of the states file, or the model's default.
fn initial_state(
    path: &Path,
    s: &ForwardSetup,
    model: &Model,
    system: &System,
    states: Option<&Table>,
    controls: &ModelControls,
) -> Result<State<f64>, Failure> {
    let mut x = system.default_state.clone();
    let mut ws = system.workspace();
    x.time = s.tool.initial_time;
    if let Some(table) = states {
        // The last row that is not after the time asked for; no interpolation, as in OpenSim.
        let wanted = s.tool.initial_time;
        let row = table.times().partition_point(|&t| t <= wanted).saturating_sub(1);
        start::set_from_row(model, system, table, row, &mut x);
        if x.time != wanted {
            eprintln!("note: starts at {} s, the row of the states file nearest before {wanted} s", x.time);
        }
    }
    start::assemble(path, model, system, &mut x, &mut ws)?;
    if s.tool.solve_for_equilibrium {
        start::equilibrate(model, system, controls, &mut x, &mut ws);
    }
    Ok(x)
}

/// States with angles in degrees, and the header that SIMM reads.
fn in_degrees(model: &Model, states: &Table) -> Table {
    let mut table = states.clone();
    for c in model.coordinates.iter().filter(|c| c.motion_type == MotionType::Rotational) {
        for what in ["value", "speed"] {
            if let Some(i) = table.index_of(&format!("{}/{what}", c.path))
                && let Some(column) = table.column_at_mut(i)
            {
                column.iter_mut().for_each(|x| *x = x.to_degrees());
            }
        }
    }
    table.in_degrees = Some(true);
    let (rows, columns) = (table.rows(), table.labels().len() + 1);
    let (first, last) = (table.times().first().copied(), table.times().last().copied());
    table.description = format!(
        "\n# SIMM Motion File Header:\nname {}\ndatacolumns {columns}\ndatarows {rows}\notherdata 1\nrange {:.6} {:.6}\n",
        table.name,
        first.unwrap_or(0.0),
        last.unwrap_or(0.0)
    );
    table
}
