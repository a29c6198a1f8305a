//! Motions in the layout of a MocoTrajectory.

use super::problem::bounds::implicit_states;
use crate::context::Context;
use crate::error::Error;
use crate::inputs::table::{Take, read_rows};
use crate::source::Source;
use soleus_control::Trajectory;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::solution::Columns;
use soleus_io::setup::moco::MocoStudySetup;
use soleus_math::Table;
use soleus_optimization::nlp::Solution;
use std::borrow::Cow;
use std::fmt::Write;

/// Reads a motion; columns are known by their names.
pub fn read(cx: &Context, source: &Source<Table>, base: &ModelProblem) -> Result<Trajectory, Error> {
    let table = read_rows(cx, source, Take::Markers)?;
    let columns = |names: &[String], column_of: &dyn Fn(&str) -> String| {
        let found: Vec<(&String, &[f64])> =
            names.iter().filter_map(|n| Some((n, table.column(&column_of(n))?))).collect();
        Columns {
            names: found.iter().map(|f| f.0.clone()).collect(),
            rows: (0..table.rows()).map(|r| found.iter().map(|f| f.1[r]).collect()).collect(),
        }
    };
    let same = |n: &str| n.to_string();
    Ok(Trajectory {
        times: table.times().to_vec(),
        states: columns(&base.states, &same),
        rates: columns(&base.states, &|n| rate_name(n)),
        controls: columns(&base.controls, &same),
        multipliers: columns(&base.multipliers, &same),
        parameters: Vec::new(),
    })
}

/// Moco's name of the rate of a state.
fn rate_name(state: &str) -> String {
    match state.strip_suffix("/speed") {
        Some(path) => format!("{path}/accel"),
        None => match state.rsplit_once('/') {
            Some((path, name)) => format!("{path}/implicitderiv_{name}"),
            None => format!("implicitderiv_{state}"),
        },
    }
}

/// A name as a header or a label can hold it: a study may call a goal anything, but a line ends at the first newline and a label at the
/// first tab.
fn on_one_line(name: &str) -> Cow<'_, str> {
    match name.contains(char::is_control) {
        true => Cow::Owned(name.replace(char::is_control, "_")),
        false => Cow::Borrowed(name),
    }
}

/// The solution as text, version 3 of the format, with Moco's header.
pub fn write(
    t: &Trajectory,
    base: &ModelProblem,
    s: &MocoStudySetup,
    solution: &Solution,
    goals: &[(String, f64)],
    seconds: f64,
) -> String {
    let n = base.num_coordinates();
    // The rates that Moco has as variables: accelerations in implicit mode, and those of implicit states.
    let mut rates: Vec<usize> = if s.solver.implicit { (n..2 * n).collect() } else { Vec::new() };
    rates.extend(implicit_states(base));
    let mut out = String::new();
    // Writing to a `String` cannot fail.
    let mut line = |key: &str, value: String| {
        let _ = writeln!(out, "{key}={value}");
    };
    line("inDegrees", "no".into());
    line("num_controls", t.controls.names.len().to_string());
    line("num_derivatives", rates.len().to_string());
    line("num_input_controls", "0".into());
    line("num_iterations", solution.counts.iterations.to_string());
    line("num_multipliers", t.multipliers.names.len().to_string());
    line("num_parameters", t.parameters.len().to_string());
    line("num_slacks", "0".into());
    line("num_states", t.states.names.len().to_string());
    line("objective", format!("{:.9e}", solution.objective));
    for (name, value) in goals.iter().filter(|g| g.1 != 0.0) {
        line(&format!("objective_{}", on_one_line(name)), format!("{value:.9e}"));
    }
    line("solver_duration", format!("{seconds:.6}"));
    line("status", solution.status.describe().into());
    line("success", solution.status.is_solved().to_string());
    line("DataType", "double".into());
    line("version", "3".into());
    out.push_str("endheader\ntime");
    let rate_names: Vec<String> = rates.iter().map(|&i| rate_name(&t.states.names[i])).collect();
    let names = t.states.names.iter().chain(&t.controls.names).chain(&t.multipliers.names).chain(&rate_names);
    for name in names.chain(t.parameters.iter().map(|p| &p.0)) {
        out.push('\t');
        out.push_str(&on_one_line(name));
    }
    out.push('\n');
    for (r, time) in t.times.iter().enumerate() {
        let _ = write!(out, "{time}");
        let own = rates.iter().map(|&i| &t.rates.rows[r][i]);
        let all = t.states.rows[r].iter().chain(&t.controls.rows[r]).chain(&t.multipliers.rows[r]).chain(own);
        for x in all {
            let _ = write!(out, "\t{x}");
        }
        // Parameters do not change: the first row has them.
        for (_, value) in &t.parameters {
            let _ = if r == 0 { write!(out, "\t{value}") } else { write!(out, "\tnan") };
        }
        out.push('\n');
    }
    out
}
