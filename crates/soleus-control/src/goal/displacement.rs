//! Displacement of the center of mass, and goals per distance, duration or mass.

use super::kinematic::Motion;
use crate::function::SmoothFunction;
use crate::problem::{Bounds, EndpointFunction, EndpointVariable, Goal, PointVariable};
use soleus_dynamics::System;
use soleus_math::{Real, Vec3};
use std::sync::Arc;

/// Center of mass in ground, m, times the total mass, kg.
fn moment<T: Real>(system: &System, motion: &mut Motion<T>, q: &[T]) -> (Vec3<T>, T) {
    motion.q.copy_from_slice(q);
    motion.compute(system);
    let (mut sum, mut mass) = (Vec3::zero(), T::zero());
    for (X, i) in motion.kin.X_GB.iter().zip(&motion.kin.inertia) {
        // The first moment is about the body's origin, expressed in ground.
        sum += X.p * i.mass + i.moment;
        mass += i.mass;
    }
    (sum, mass)
}

/// What is made of integral, displacement and duration.
enum Kind {
    /// integral / (displacement and/or duration) / mass.
    Ratio { displacement: bool, duration: bool, mass: f64 },
    /// displacement / duration − desired speed, m/s.
    Speed(f64),
}

/// Inputs: t₀, t_f, [integral], initial q, final q.
struct OfMotion {
    system: Arc<System>,
    kind: Kind,
}

impl OfMotion {
    fn has_integral(&self) -> bool {
        matches!(self.kind, Kind::Ratio { .. })
    }
}

impl SmoothFunction for OfMotion {
    type Scratch<T: Real> = Motion<T>;

    fn num_inputs(&self) -> usize {
        2 + usize::from(self.has_integral()) + 2 * self.system.tree.num_mobilities
    }

    fn scratch<T: Real>(&self) -> Motion<T> {
        Motion::new(&self.system)
    }

    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], motion: &mut Motion<T>) {
        let duration = z[1] - z[0];
        let n = self.system.tree.num_mobilities;
        let q = &z[2 + usize::from(self.has_integral())..];
        let mut displacement = || {
            let (a, mass) = moment(&self.system, motion, &q[..n]);
            let (b, _) = moment(&self.system, motion, &q[n..]);
            let d = b - a;
            d.dot(d).sqrt() / mass
        };
        values[0] = match self.kind {
            Kind::Speed(wanted) => displacement() / duration - wanted,
            Kind::Ratio { displacement: by_displacement, duration: by_duration, mass } => {
                let mut v = z[2] / mass;
                if by_displacement {
                    v /= displacement();
                }
                if by_duration {
                    v /= duration;
                }
                v
            }
        };
    }
}

fn of_motion(system: &Arc<System>, kind: Kind) -> EndpointFunction {
    let f = OfMotion { system: system.clone(), kind };
    let n = system.tree.num_mobilities;
    let mut inputs =
        vec![EndpointVariable::Initial(PointVariable::Time), EndpointVariable::Last(PointVariable::Time)];
    if f.has_integral() {
        inputs.push(EndpointVariable::Integral(0));
    }
    inputs.extend((0..n).map(|i| EndpointVariable::Initial(PointVariable::State(i))));
    inputs.extend((0..n).map(|i| EndpointVariable::Last(PointVariable::State(i))));
    EndpointFunction::of_model(inputs, f)
}

/// Mean speed of the center of mass from start to end equals `speed`, m/s.
pub fn average_speed(name: &str, system: &Arc<System>, speed: f64) -> Goal {
    Goal::endpoint_constraint(name, vec![Bounds::fixed(0.0)], of_motion(system, Kind::Speed(speed)))
}

/// An integral goal, divided by any of the displacement of the center of mass, the duration and the mass.
pub fn divided(
    goal: Goal,
    system: &Arc<System>,
    displacement: bool,
    duration: bool,
    mass: Option<f64>,
) -> Goal {
    if goal.endpoint.is_some() || !(displacement || duration || mass.is_some()) {
        return goal;
    }
    let kind = Kind::Ratio { displacement, duration, mass: mass.unwrap_or(1.0) };
    Goal { endpoint: Some(of_motion(system, kind)), ..goal }
}
