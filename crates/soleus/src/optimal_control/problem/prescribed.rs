//! Motions that a study prescribes.

use super::references::{absolute_names, radians};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::table::{Take, read_rows};
use crate::source::Source;
use soleus_control::Problem;
use soleus_control::musculoskeletal::{ModelProblem, PrescribedDynamics};
use soleus_control::problem::PrescribedState;
use soleus_io::setup::moco::PrescribedCoordinate;
use soleus_math::function::GcvSpline;
use soleus_math::{Function, Table};
use std::path::Path;
use std::sync::Arc;

/// Degree of the splines through coordinates, as in Moco.
const DEGREE: usize = 5;

/// Motions from a table of coordinates, by name or path.
pub fn read(
    cx: &Context,
    source: &Source<Table>,
    base: &ModelProblem,
) -> Result<Vec<PrescribedCoordinate>, Error> {
    let table = read_rows(cx, source, Take::Markers)?;
    let table = absolute_names(radians(table, &base.model), &base.model);
    let motion = |state: &String| {
        let path = state.strip_suffix("/value")?.to_string();
        let y = table.column(state)?.to_vec();
        Some(PrescribedCoordinate { path, degree: DEGREE, x: table.times().to_vec(), y })
    };
    Ok(base.states[..base.num_coordinates()].iter().filter_map(motion).collect())
}

/// Lets coordinates and speeds follow the splines of a study.
pub fn apply(
    path: &Path,
    motions: &[PrescribedCoordinate],
    base: &ModelProblem,
    p: &mut Problem,
) -> Result<(), Error> {
    let n = base.num_coordinates();
    for c in motions {
        let refuse = |message: String| Error::content(path, 0, &c.path, message, "");
        let name = format!("{}/value", c.path);
        let i = base.states.iter().position(|s| *s == name);
        let i =
            i.ok_or_else(|| refuse("a motion is given for a coordinate that there is not".to_string()))?;
        let spline =
            GcvSpline::interpolate(c.degree, c.x.clone(), &c.y).map_err(|e| refuse(e.to_string()))?;
        let spline = Arc::new(Function::from(spline));
        let same = spline.clone();
        p.prescribed.push(PrescribedState {
            state: i,
            motion: Arc::new(move |t| {
                let [q, u, _] = spline.eval1(t);
                [q, u]
            }),
        });
        p.prescribed.push(PrescribedState {
            state: n + i,
            motion: Arc::new(move |t| {
                let [_, u, udot] = same.eval1(t);
                [u, udot]
            }),
        });
    }
    if !motions.is_empty() && motions.len() != n {
        let given = motions.len();
        let message = format!("the study prescribes {given} of {n} coordinates; all or none is supported");
        return Err(Error::content(path, 0, "", message, ""));
    }
    // What follows from the motion is computed once, not in every iteration.
    if !motions.is_empty() && p.parameters.is_empty() {
        p.dynamics.function = Arc::new(PrescribedDynamics::new(base.system.clone()));
    }
    Ok(())
}
