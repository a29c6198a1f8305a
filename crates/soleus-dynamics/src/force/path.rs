//! Tensions along paths, as functions of the length and speed of the path.
//!
//! These laws are independent of the path. The system computes length and lengthening speed, evaluates the tension, and
//! applies it along the path.

use super::coordinate_limit::quintic_step;
use soleus_math::formula::Formula;
use soleus_math::function::Expression;
use soleus_math::{Function, Over, Real};

/// A compiled path-based force.
#[derive(Clone, Debug, PartialEq)]
pub enum PathForce<P = f64> {
    /// F₀ x.
    Actuator {
        /// Optimal force F₀, N.
        optimal_force: P,
    },
    /// k s (1 + c l̇) with the stretch s = max(0, l − l₀).
    Spring {
        /// Resting length l₀, m.
        resting_length: P,
        /// k, N/m.
        stiffness: P,
        /// c, s/m.
        dissipation: P,
    },
    /// F curve(l/l₀) for l > l₀, else 0.
    Ligament {
        /// Resting length l₀, m.
        resting_length: P,
        /// F, N.
        pcsa_force: P,
        /// Normalized force of normalized length.
        curve: Box<Function>,
    },
    /// Blankevoort and Huiskes (1991).
    Blankevoort1991(Blankevoort1991<P>),
    /// A formula of the stretch s = l − l₀ (m) and the lengthening speed (m/s).
    Expression {
        /// Resting length l₀, m.
        resting_length: P,
        /// Whether s is 0 for l < l₀.
        clamp_stretch: bool,
        /// Tension, N.
        expression: Expression,
    },
    /// Spring with a clutch; state: stretch.
    ClutchedSpring {
        /// k, N/m.
        stiffness: P,
        /// c, s/m.
        dissipation: P,
        /// Time constant of the released spring, s.
        relaxation: P,
        /// Stretch of the default state, m.
        initial_stretch: f64,
    },
    /// Pneumatic muscle, Chou and Hannaford (1996): p (3 (l − l_c)² − b²)/(4π n²).
    McKibben {
        /// 1/(4π n²), n the number of turns.
        factor: P,
        /// b², the thread length squared, m².
        thread_length_sq: P,
        /// l_c, m.
        cord_length: P,
    },
    /// Formulas of length, speed, control and additional states.
    Formula(Box<PathFormula>),
}

/// Most states of one force, and most numbers that the evaluation of its formulas holds at a time: arrays of these sizes are its memory.
pub(crate) const MAX_STATES: usize = 3;
pub(crate) const MAX_STACK: usize = 64;

/// T(l, l̇, e, z) and ż(l, l̇, e, z) as formulas of these numbers, in this order.
#[derive(Clone, Debug, PartialEq)]
pub struct PathFormula {
    pub(crate) tension: Formula,
    /// Names, values in the default state, and rates.
    pub(crate) states: Vec<(String, f64, Formula)>,
    pub(crate) has_control: bool,
}

impl PathFormula {
    fn numbers<T: Real>(length: T, speed: T, control: T, states: &[T]) -> [T; 3 + MAX_STATES] {
        let mut x = [T::zero(); 3 + MAX_STATES];
        (x[0], x[1], x[2]) = (length, speed, control);
        x[3..].iter_mut().zip(states).for_each(|(x, z)| *x = *z);
        x
    }

    fn tension<T: Real>(&self, length: T, speed: T, control: T, states: &[T]) -> T {
        let x = PathFormula::numbers(length, speed, control, states);
        self.tension.value(&x, &mut [T::zero(); MAX_STACK])
    }

    fn states_dot<T: Real>(&self, length: T, speed: T, control: T, states: &[T], out: &mut [T]) {
        let x = PathFormula::numbers(length, speed, control, states);
        for (rate, (_, _, formula)) in out.iter_mut().zip(&self.states) {
            *rate = formula.value(&x, &mut [T::zero(); MAX_STACK]);
        }
    }
}

/// A ligament with a quadratic toe region.
///
///   ε = l/l₀ − 1                                                    (1)
///   spring: 0 for ε ≤ 0;  k ε²/(2 ε_t) for ε < ε_t;  k (ε − ε_t/2) above   (2)
///   damper: c ε̇ S(ε/0.01) while ε > 0 and ε̇ > 0, S the quintic step        (3)
///
/// Source: Blankevoort and Huiskes (1991) for (2); OpenSim's Blankevoort1991Ligament for (3).
#[derive(Clone, Debug, PartialEq)]
pub struct Blankevoort1991<P = f64> {
    /// k, N per unit strain.
    pub linear_stiffness: P,
    /// ε_t.
    pub transition_strain: P,
    /// c, N·s per unit strain.
    pub damping_coefficient: P,
    /// l₀, m; above zero.
    pub slack_length: P,
}

// Strain over which the damper of (3) fades in, from OpenSim.
const DAMPING_FADE_STRAIN: f64 = 0.01;

impl<P: Real> Blankevoort1991<P> {
    /// Strain and strain rate, (1).
    #[inline]
    fn strain<T: Over<P>>(&self, length: T, speed: T) -> (T, T) {
        (length / self.slack_length - 1.0, speed / self.slack_length)
    }
    /// Spring force (2), N.
    #[inline]
    pub fn spring_force<T: Over<P>>(&self, strain: T) -> T {
        let (e, et) = (strain, self.transition_strain);
        let foot = || e.sq() * (self.linear_stiffness * 0.5 / et);
        let line = || (e - et * 0.5) * self.linear_stiffness;
        e.where_at_most(T::zero(), T::zero, || e.where_below(T::lift(et), foot, line))
    }
    /// Damping force (3), N.
    #[inline]
    pub fn damping_force<T: Over<P>>(&self, strain: T, rate: T) -> T {
        let force = || rate * self.damping_coefficient * quintic_step(strain / DAMPING_FADE_STRAIN);
        T::zero().where_below(strain, || T::zero().where_below(rate, force, T::zero), T::zero)
    }
}

impl Blankevoort1991 {
    /// Energy stored by (2), J.
    #[inline]
    pub fn potential_energy<T: Real>(&self, length: T) -> T {
        let (e, et) = (length / self.slack_length - 1.0, self.transition_strain);
        let kl = self.linear_stiffness * self.slack_length;
        if e.value() <= 0.0 {
            T::zero()
        } else if e.value() < et {
            e * e * e * (kl / (6.0 * et))
        } else {
            e * (e - et) * (0.5 * kl) + kl * et * et / 6.0
        }
    }
}

impl<P: Real> PathForce<P> {
    /// Number of controls: 1 for actuators, 0 for passive forces.
    pub fn num_controls(&self) -> usize {
        match self {
            PathForce::Actuator { .. } | PathForce::ClutchedSpring { .. } | PathForce::McKibben { .. } => 1,
            PathForce::Formula(f) => usize::from(f.has_control),
            _ => 0,
        }
    }

    /// The labels of [`record`](PathForce::record).
    pub fn labels(&self, name: &str) -> Vec<String> {
        match self {
            PathForce::Spring { .. } | PathForce::Expression { .. } => vec![format!("{name}_tension")],
            PathForce::Blankevoort1991(_) => [
                "force_spring",
                "force_damping",
                "force_total",
                "length",
                "lengthening_speed",
                "strain",
                "strain_rate",
            ]
            .iter()
            .map(|what| format!("{name}.{what}"))
            .collect(),
            _ => vec![name.to_string()],
        }
    }

    /// Tension, N, at path length `length` (m) and lengthening speed `speed` (m/s). `control` is used by actuators
    /// only, `states` by forces with states.
    #[inline]
    pub fn tension<T: Over<P>>(&self, length: T, speed: T, control: T, states: &[T]) -> T {
        match self {
            PathForce::Actuator { optimal_force } => control * *optimal_force,
            PathForce::Spring { resting_length, stiffness, dissipation } => {
                let force = || (length - *resting_length) * *stiffness * (speed * *dissipation + 1.0);
                T::lift(*resting_length).where_below(length, force, T::zero)
            }
            PathForce::Ligament { resting_length, pcsa_force, curve } => {
                let force = || curve.value(&[length / *resting_length]) * *pcsa_force;
                T::lift(*resting_length).where_below(length, force, T::zero)
            }
            PathForce::Blankevoort1991(b) => {
                let (e, edot) = b.strain(length, speed);
                (b.damping_force(e, edot) + b.spring_force(e)).max(T::zero())
            }
            PathForce::Expression { resting_length, clamp_stretch, expression } => {
                let stretch = || length - *resting_length;
                let s = match clamp_stretch {
                    true => length.where_below(T::lift(*resting_length), T::zero, stretch),
                    false => stretch(),
                };
                expression.value(&[s, speed])
            }
            PathForce::ClutchedSpring { stiffness, dissipation, .. } => {
                control.clamp(0.0, 1.0) * (states[0] * *stiffness * (speed * *dissipation + 1.0))
            }
            PathForce::McKibben { factor, thread_length_sq, cord_length } => {
                let l = length - *cord_length;
                control * *factor * (l.sq() * 3.0 - *thread_length_sq)
            }
            PathForce::Formula(f) => f.tension(length, speed, control, states),
        }
    }

    /// Rates of the states. The clutch holds the spring while the control exceeds 2e-14 (Simbody's SignificantReal);
    /// when released, the stretch decays.
    #[inline]
    pub fn states_dot<T: Over<P>>(
        &self,
        length: T,
        speed: T,
        control: T,
        states: &[T],
        states_dot: &mut [T],
    ) {
        match self {
            PathForce::ClutchedSpring { relaxation, .. } => {
                states_dot[0] = T::cst(2e-14).where_below(control, || speed, || -states[0] / *relaxation);
            }
            PathForce::Formula(f) => f.states_dot(length, speed, control, states, states_dot),
            _ => {}
        }
    }
}

impl PathForce {
    /// Stored energy, J, if the class defines it.
    #[inline]
    pub fn potential_energy<T: Real>(&self, length: T) -> T {
        match self {
            PathForce::Blankevoort1991(b) => b.potential_energy(length),
            PathForce::Spring { resting_length, stiffness, .. } if length.value() > *resting_length => {
                (length - *resting_length).sq() * (0.5 * *stiffness)
            }
            _ => T::zero(),
        }
    }

    /// Values of OpenSim's ForceReporter, in the order of the labels.
    pub fn record<T: Real>(&self, length: T, speed: T, control: T, states: &[T], out: &mut Vec<T>) {
        if let PathForce::Blankevoort1991(b) = self {
            let (e, edot) = b.strain(length, speed);
            out.extend([b.spring_force(e), b.damping_force(e, edot)]);
            out.push(self.tension(length, speed, control, states));
            out.extend([length, speed, e, edot]);
        } else {
            out.push(self.tension(length, speed, control, states));
        }
    }
}
