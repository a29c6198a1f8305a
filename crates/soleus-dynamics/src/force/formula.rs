//! Forces defined by formulas, with additional states.

use crate::{BodyFrame, Kinematics, Loads};
use soleus_math::formula::Formula;
use soleus_math::{Real, Vec3, vec3};

/// Most numbers that the formulas of one force see, and most that their evaluation holds at a time: arrays of these sizes are its memory,
/// so that nothing allocates.
pub(crate) const MAX_NUMBERS: usize = 32;
pub(crate) const MAX_STACK: usize = 48;
/// Most states of one force; what the implicit equations foresee.
pub(crate) const MAX_STATES: usize = 3;

/// Something that formulas see: one number, or three.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Seen {
    Time,
    /// Value and speed of a mobility.
    Value(usize),
    Speed(usize),
    /// The force's own control, and its own states.
    Control,
    State(usize),
    /// Place and velocity in ground of a point of a body.
    Position(usize, Vec3<f64>),
    Velocity(usize, Vec3<f64>),
    AngularVelocity(usize),
    /// An axis of a frame in ground.
    Axis(BodyFrame, usize),
}

/// What the formula is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    /// The generalized force on a mobility.
    Mobility(usize),
    /// The force on a point of a body, in ground.
    Point(usize, Vec3<f64>),
}

/// τ, or F at a point, and ż as formulas of time, coordinates, speeds, points, control e and states z.
#[derive(Clone, Debug, PartialEq)]
pub struct FormulaForce {
    pub(crate) seen: Vec<Seen>,
    pub(crate) target: Option<(Target, Formula)>,
    pub(crate) states: Vec<(String, f64, Formula)>,
    pub(crate) has_control: bool,
}

impl FormulaForce {
    /// All that the formulas see.
    fn numbers<T: Real>(&self, kin: &Kinematics<T>, control: T, states: &[T]) -> [T; MAX_NUMBERS] {
        let mut x = [T::zero(); MAX_NUMBERS];
        let mut at = 0;
        for s in &self.seen {
            let v = match *s {
                Seen::Time => Err(kin.time),
                Seen::Value(m) => Err(kin.q[m]),
                Seen::Speed(m) => Err(kin.u[m]),
                Seen::Control => Err(control),
                Seen::State(k) => Err(states[k]),
                Seen::Position(b, p) => Ok(kin.point(b, p)),
                Seen::Velocity(b, p) => Ok(kin.velocity_at(b, kin.point(b, p))),
                Seen::AngularVelocity(b) => Ok(kin.V_GB[b].w),
                Seen::Axis(f, i) => Ok(kin.pose(&f).R.axis(i)),
            };
            match v {
                Err(number) => {
                    x[at] = number;
                    at += 1;
                }
                Ok(v) => {
                    x[at..at + 3].copy_from_slice(&v.to_array());
                    at += 3;
                }
            }
        }
        x
    }

    /// The force: one number on a coordinate, three on a point.
    pub fn value<T: Real>(&self, kin: &Kinematics<T>, controls: &[T], states: &[T]) -> Option<[T; 3]> {
        let (_, formula) = self.target.as_ref()?;
        let control = controls.first().copied().unwrap_or(T::zero());
        let (x, mut stack) = (self.numbers(kin, control, states), [T::zero(); MAX_STACK]);
        let mut out = [T::zero(); 3];
        formula.evaluate(&x, &mut stack, &mut out[..formula.width()]);
        Some(out)
    }

    /// The mobility on which it acts, if it acts on a coordinate.
    pub fn mobility(&self) -> Option<usize> {
        match self.target {
            Some((Target::Mobility(m), _)) => Some(m),
            _ => None,
        }
    }

    /// Adds the force to `loads` and writes the rates of the states.
    pub(crate) fn apply<T: Real>(
        &self,
        kin: &Kinematics<T>,
        controls: &[T],
        states: &[T],
        states_dot: &mut [T],
        loads: &mut Loads<T>,
    ) {
        let control = controls.first().copied().unwrap_or(T::zero());
        let (x, mut stack) = (self.numbers(kin, control, states), [T::zero(); MAX_STACK]);
        for (rate, (_, _, formula)) in states_dot.iter_mut().zip(&self.states) {
            *rate = formula.value(&x, &mut stack);
        }
        let mut out = [T::zero(); 3];
        match &self.target {
            None => {}
            Some((Target::Mobility(m), formula)) => loads.mobility[*m] += formula.value(&x, &mut stack),
            Some((Target::Point(b, p), formula)) => {
                formula.evaluate(&x, &mut stack, &mut out);
                loads.add_force_at(kin, *b, kin.point(*b, *p), vec3(out[0], out[1], out[2]));
            }
        }
    }

    /// Bodies and mobilities that it reads or acts on.
    pub(crate) fn touches(&self) -> (Vec<usize>, Vec<usize>) {
        let (mut bodies, mut mobilities) = (Vec::new(), Vec::new());
        for s in &self.seen {
            match *s {
                Seen::Value(m) | Seen::Speed(m) => mobilities.push(m),
                Seen::Position(b, _) | Seen::Velocity(b, _) | Seen::AngularVelocity(b) => bodies.push(b),
                Seen::Axis(f, _) => bodies.push(f.body),
                Seen::Time | Seen::Control | Seen::State(_) => {}
            }
        }
        match self.target {
            Some((Target::Mobility(m), _)) => mobilities.push(m),
            Some((Target::Point(b, _), _)) => bodies.push(b),
            None => {}
        }
        for list in [&mut bodies, &mut mobilities] {
            list.sort_unstable();
            list.dedup();
        }
        (bodies, mobilities)
    }
}
