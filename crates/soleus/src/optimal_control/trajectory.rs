//! Motions in the layout of a MocoTrajectory.

use super::problem::bounds::implicit_states;
use crate::context::Context;
use crate::error::Error;
use crate::inputs::table::{Take, read_rows};
use crate::source::Source;
use soleus_control::Trajectory;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::solution::Columns;
use soleus_io::solution::{self, ColumnGroup, SolutionTable, rate_label};
use soleus_io::study;
use soleus_math::Table;
use soleus_optimization::nlp::Solution;

/// Reads a motion; columns are identified by name.
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
        rates: columns(&base.states, &|n| rate_label(n)),
        controls: columns(&base.controls, &same),
        multipliers: columns(&base.multipliers, &same),
        parameters: Vec::new(),
    })
}

/// The solution as text, with Moco's header.
pub fn write(
    t: &Trajectory,
    base: &ModelProblem,
    s: &study::Problem,
    solution: &Solution,
    goals: &[(String, f64)],
    seconds: f64,
) -> String {
    let n = base.num_coordinates();
    // The rates that Moco has as variables: accelerations in implicit mode, and those of implicit states.
    let mut rates: Vec<usize> = if s.solver.implicit { (n..2 * n).collect() } else { Vec::new() };
    rates.extend(implicit_states(base));
    let derivatives = ColumnGroup {
        names: rates.iter().map(|&i| rate_label(&t.states.names[i])).collect(),
        rows: t.rates.rows.iter().map(|row| rates.iter().map(|&i| row[i]).collect()).collect(),
    };
    solution::write(&SolutionTable {
        times: (&t.times).into(),
        states: group(&t.states),
        controls: group(&t.controls),
        multipliers: group(&t.multipliers),
        derivatives,
        parameters: (&t.parameters).into(),
        iterations: solution.counts.iterations,
        objective: solution.objective,
        goals: goals.into(),
        seconds,
        status: solution.status.describe().into(),
        success: solution.status.is_solved(),
    })
}

fn group(columns: &Columns) -> ColumnGroup<'_> {
    ColumnGroup { names: (&columns.names).into(), rows: (&columns.rows).into() }
}
