//! Forces, a muscle and a goal of a lab: each is a function of a few numbers, generic over [`Real`]; a [`registry`] gives them names.
//!
//! A program passes the registry to its context, `Context::new(&files).with_registry(&registry)`; model files can then contain `<StiffeningSpring>`,
//! `<Wind>` and `<PlainMuscle>`, and formulas of studies can use `knee_jerk`. All tools support them like built-in classes, and the same registry makes a
//! wheel for Python (`examples/lab-wheel`).

use soleus::Error;
use soleus::engine::math::Real;
use soleus::extension::{Acts, Description, Goal, Law, Registry};

/// A spring that stiffens, with friction: τ = −k (q − q₀) (1 + b (q − q₀)²) − c u.
pub struct StiffeningSpring;

impl Law for StiffeningSpring {
    fn describe(&self) -> Description {
        Description {
            sees: vec!["q", "u"],
            // Without a default: the element must have it.
            properties: vec![
                ("stiffness", None),
                ("rest", Some(0.0)),
                ("stiffening", Some(2.0)),
                ("friction", Some(0.0)),
            ],
            ..Description::new("StiffeningSpring", Acts::OnCoordinate)
        }
    }

    fn compute<T: Real>(&self, x: &[T], p: &[T], _z: &[T], out: &mut [T]) {
        let [k, rest, b, c] = [p[0], p[1], p[2], p[3]];
        let s = x[0] - rest;
        out[0] = -k * s * (b * s * s + 1.0) - c * x[1];
    }
}

/// Wind on a point: F = c |w| w with w the wind relative to the point, along x.
pub struct Wind;

impl Law for Wind {
    fn describe(&self) -> Description {
        Description {
            // The velocity of the frame given in the element.
            sees: vec!["velocity[{frame}]"],
            properties: vec![("speed", None), ("drag", Some(0.5))],
            ..Description::new("Wind", Acts::OnPoint)
        }
    }

    fn compute<T: Real>(&self, v: &[T], p: &[T], _z: &[T], out: &mut [T]) {
        let w = p[0] - v[0];
        out[0] = p[1] * w.abs() * w;
        (out[1], out[2]) = (T::zero(), T::zero());
    }
}

/// A muscle with a stiff tendon: T = F₀ (a f(l) g(v) + p(l)), with l = (L − L_s)/l₀, v = L̇/(v₀ l₀), and ȧ = (e − a)/τ.
///
///   f = exp(−((l − 1)/0.45)²),   g = 1 + tanh(3 v) where it lengthens (halved), v as such where it shortens      (1)
///   p = ln(1 + exp(20 (l − 1.3)))/20                                                                           (2)
pub struct PlainMuscle;

impl Law for PlainMuscle {
    fn describe(&self) -> Description {
        Description {
            sees: vec!["length", "lengthening_speed", "control"],
            properties: vec![
                ("max_isometric_force", None),
                ("optimal_fiber_length", None),
                ("tendon_slack_length", None),
                ("max_contraction_velocity", Some(10.0)),
                ("activation_time_constant", Some(0.03)),
            ],
            states: vec![("activation", 0.05)],
            control: [0.01, 1.0],
            ..Description::new("PlainMuscle", Acts::AlongPath)
        }
    }

    fn compute<T: Real>(&self, x: &[T], p: &[T], z: &[T], out: &mut [T]) {
        let [f0, l0, slack, v0, tau] = [p[0], p[1], p[2], p[3], p[4]];
        let (l, v) = ((x[0] - slack) / l0, x[1] / (v0 * l0));
        let active = (-((l - 1.0) / 0.45).sq()).exp(); // (1)
        let t = (v * 3.0).tanh();
        // A select instead of a branch on a value.
        let speed = v.where_below(T::zero(), || t + 1.0, || t * 0.5 + 1.0);
        let passive = (((l - 1.3) * 20.0).exp() + 1.0).ln() / 20.0; // (2)
        out[0] = f0 * (z[0] * active * speed + passive);
        out[1] = (x[2] - z[0]) / tau;
    }
}

/// Load on a knee: the square of its acceleration over its speed limit, smooth.
pub struct KneeJerk;

impl Goal for KneeJerk {
    fn name(&self) -> &'static str {
        "knee_jerk"
    }

    fn sees(&self) -> Vec<&'static str> {
        vec!["udot[knee_angle]", "u[knee_angle]"]
    }

    fn compute<T: Real>(&self, x: &[T]) -> T {
        (x[0] / 100.0).sq() / ((x[1] / 10.0).sq() + 1.0)
    }
}

/// All of them, by name.
pub fn registry() -> Result<Registry, Error> {
    let mut registry = Registry::new();
    registry.add_force(&StiffeningSpring)?;
    registry.add_force(&Wind)?;
    registry.add_force(&PlainMuscle)?;
    registry.add_goal(&KneeJerk)?;
    Ok(registry)
}
