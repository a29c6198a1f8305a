//! Motions that a study prescribes.

use crate::failure::Failure;
use soleus_control::Problem;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::problem::PrescribedState;
use soleus_io::setup::moco::MocoStudySetup;
use soleus_math::Function;
use soleus_math::function::GcvSpline;
use std::path::Path;
use std::sync::Arc;

/// Lets coordinates and speeds follow the splines of the study.
pub fn apply(path: &Path, s: &MocoStudySetup, base: &ModelProblem, p: &mut Problem) -> Result<(), Failure> {
    let n = base.num_coordinates();
    for c in &s.prescribed {
        let refuse = |message: String| Failure::content(path, 0, &c.path, message, "");
        let name = format!("{}/value", c.path);
        let i = base.states.iter().position(|s| *s == name);
        let i = i.ok_or_else(|| refuse("a motion is given for a coordinate that there is not".into()))?;
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
    if !s.prescribed.is_empty() && s.prescribed.len() != n {
        let given = s.prescribed.len();
        let message = format!("the study prescribes {given} of {n} coordinates; all or none is supported");
        return Err(Failure::content(path, 0, "", message, ""));
    }
    Ok(())
}
