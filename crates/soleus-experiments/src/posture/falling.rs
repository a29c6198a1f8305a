//! What a push of the platform does: how long until the subject has fallen.

use super::standing::Standing;
use super::subject::{Joints, Push, perturbed};
use crate::desk;
use soleus::Error;
use soleus_dynamics::{State, System, Workspace};
use soleus_model::Model;
use soleus_simulation::system::Constant;
use soleus_simulation::{Direction, End, Event, ExplicitRungeKutta, StepOptions, SystemOde, integrate};
use soleus_tools::analysis::mass_center_motion;
use std::ops::ControlFlow;
use std::path::Path;

/// A subject has fallen when the mass centre is below this part of its height in standing; the paper does not say.
const FALLEN: f64 = 0.6;
/// Who has not fallen after this time does not fall, s. Whoever falls with locked joints does so within three.
const LONG_ENOUGH: f64 = 6.0;

/// A subject in a posture, to be pushed.
pub struct Subject<'a> {
    /// Of the model, for messages.
    pub path: &'a Path,
    /// On the platform.
    pub model: &'a Model,
    /// The posture.
    pub standing: &'a Standing,
}

impl Subject<'_> {
    /// Time until the fall; none if there is no fall.
    pub fn time_to_fall(&self, held: Joints, push: Push) -> Result<Option<f64>, Error> {
        let model = perturbed(self.model, &self.standing.posture, held, push);
        let system = desk::compile(self.path, &model, &Default::default())?;
        let controls = match held {
            Joints::Free => self.standing.torques.clone(),
            Joints::Locked => vec![0.0; system.num_controls],
        };
        let mut ode = SystemOde::new(&system, Constant(controls));
        let options = StepOptions { accuracy: 1e-5, ..StepOptions::default() };
        let mut integrator = ExplicitRungeKutta::merson(ode.error_norm(), options);
        let start = SystemOde::<Constant>::vector(&system.default_state);
        let (limit, mut watch) = (FALLEN * self.standing.height, Height::new(&system));
        let fall = Event::terminal(|_, x| watch.above(x, limit)).in_direction(Direction::Falling);
        let end = integrate(&mut integrator, &mut ode, (0.0, &start), LONG_ENOUGH, &mut [fall], &mut |_| {
            ControlFlow::Continue(())
        });
        match end.end {
            End::Event { .. } => Ok(Some(end.time)),
            End::Stopped(stop) => Err(Error::NotFinished {
                message: format!(
                    "the fall after a push of {} m could not be simulated beyond {} s: {stop}",
                    push.shift, end.time
                ),
                blame: None,
                saved: None,
            }),
            _ => Ok(None),
        }
    }

    /// The largest push (m) without a fall in the direction of `sign`, with locked joints, by bisection to 0.1 mm.
    ///
    /// There is none at all where the smallest push ends in a fall.
    pub fn largest_push(&self, sign: f64, most: f64, duration: f64) -> Result<f64, Error> {
        let push = |shift: f64| Push { shift: sign * shift, duration };
        let stands = |shift: f64| Ok::<_, Error>(self.time_to_fall(Joints::Locked, push(shift))?.is_none());
        let (mut safe, mut unsafe_) = (0.0, most);
        if stands(most)? {
            return Ok(sign * most);
        }
        while unsafe_ - safe > 1e-4 {
            let middle = 0.5 * (safe + unsafe_);
            *(if stands(middle)? { &mut safe } else { &mut unsafe_ }) = middle;
        }
        Ok(sign * safe)
    }
}

/// 1 − e^(−T²) of the time until the fall (s); 1 without a fall (Fig. 12).
pub fn stability_index(time: Option<f64>) -> f64 {
    time.map_or(1.0, |t| 1.0 - (-t * t).exp())
}

/// Height of the mass centre of a state.
struct Height<'a> {
    system: &'a System,
    state: State<f64>,
    ws: Workspace<f64>,
}

impl<'a> Height<'a> {
    fn new(system: &'a System) -> Self {
        Height { system, state: system.default_state.clone(), ws: system.workspace() }
    }

    /// Height less `limit`, m.
    fn above(&mut self, x: &[f64], limit: f64) -> f64 {
        let n = self.state.q.len();
        self.state.q.copy_from_slice(&x[..n]);
        self.system.compute_kinematics(&self.state, &mut self.ws);
        mass_center_motion(&self.ws)[0].y - limit
    }
}
