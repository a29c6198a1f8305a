//! A path defined by its length as a function of coordinates.

use super::{PathError, PathState};
use crate::kinematics::{Kinematics, Loads, Resolve};
use soleus_math::{Function, Real};
use soleus_model::path::FunctionBasedPath;

/// A length function l(q) with its moment arms.
///
///   r_i = −∂l/∂q_i   or given functions      (1)
///   l̇ = −Σ r_i u_i   or a given function of (q, u)      (2)
///   τ_i = T r_i      for a tension T          (3), none for coordinates without torque
///
/// Source: OpenSim 4.6, `FunctionBasedPath`. The speeds u are used for q̇ here: coordinates whose q̇ is not u (ball and
/// free joints) cannot be used in a function-based path.
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledFunctionPath {
    mobilities: Vec<usize>,
    length: Function,
    moment_arms: Vec<Function>,
    speed: Option<Function>,
    /// Whether each variable feels a torque.
    pulls: Vec<bool>,
}

impl CompiledFunctionPath {
    /// Whether a mobility that it depends on feels a torque.
    pub(crate) fn pulls(&self, mobility: usize) -> bool {
        self.mobilities.iter().zip(&self.pulls).any(|(&m, &pulls)| pulls && m == mobility)
    }

    /// Mobilities it depends on.
    pub(super) fn coordinates(&self) -> &[usize] {
        &self.mobilities
    }

    /// Mobilities of the length function's variables.
    pub fn mobilities(&self) -> &[usize] {
        &self.mobilities
    }

    /// Gradient and Hessian of the length by its variables; `q` gives the coordinate of a mobility, `x` is room for them.
    pub(crate) fn compute_hessian<T: Real>(
        &self,
        q: impl Fn(usize) -> T,
        x: &mut [T],
        gradient: &mut [T],
        hessian: &mut [T],
    ) {
        for (x, &m) in x.iter_mut().zip(&self.mobilities) {
            *x = q(m);
        }
        self.length.eval_n(x, gradient, hessian);
    }

    /// Whether arms and speed come from the length.
    pub(super) fn is_consistent(&self) -> bool {
        self.moment_arms.is_empty() && self.speed.is_none()
    }

    /// Checks and compiles a path.
    pub fn compile(path: &FunctionBasedPath, resolve: &dyn Resolve) -> Result<Self, PathError> {
        let n = path.coordinates.len();
        let arms = path.moment_arms.len();
        if n == 0 || (arms != 0 && arms != n) {
            return Err(PathError::BadMomentArms { coordinates: n, moment_arms: arms });
        }
        let check = |f: &Function, expected: usize, what: &str| match f.arity() {
            0 => Ok(()),
            found if found == expected => Ok(()),
            found => Err(PathError::BadFunction { what: what.to_string(), expected, found }),
        };
        check(&path.length, n, "the length function")?;
        for (i, f) in path.moment_arms.iter().enumerate() {
            check(f, n, &format!("moment-arm function {i}"))?;
        }
        if let Some(f) = &path.speed {
            check(f, 2 * n, "the lengthening-speed function")?;
        }
        Ok(CompiledFunctionPath {
            mobilities: path.coordinates.iter().map(|&c| resolve.mobility(c)).collect(),
            length: path.length.clone(),
            moment_arms: path.moment_arms.clone(),
            speed: path.speed.clone(),
            pulls: path.coordinates.iter().map(|c| !path.without_torque.contains(c)).collect(),
        })
    }

    /// Number of coordinates.
    pub fn num_coordinates(&self) -> usize {
        self.mobilities.len()
    }

    /// Length and moment arms.
    pub fn compute_position<T: Real>(&self, kin: &Kinematics<T>, st: &mut PathState<T>) {
        let n = self.mobilities.len();
        for (x, &m) in st.x.iter_mut().zip(&self.mobilities) {
            *x = kin.q[m];
        }
        let q = &st.x[..n];
        if self.moment_arms.is_empty() {
            st.length = self.length.gradient(q, &mut st.arms);
            for arm in &mut st.arms {
                *arm = -*arm; // (1)
            }
        } else {
            st.length = self.length.value(q);
            for (arm, f) in st.arms.iter_mut().zip(&self.moment_arms) {
                *arm = f.value(q);
            }
        }
    }

    /// Lengthening speed (2).
    pub fn compute_speed<T: Real>(&self, kin: &Kinematics<T>, st: &mut PathState<T>) {
        let n = self.mobilities.len();
        st.speed = match &self.speed {
            Some(f) => {
                for (x, &m) in st.x[n..].iter_mut().zip(&self.mobilities) {
                    *x = kin.u[m];
                }
                f.value(&st.x)
            }
            None => {
                let mut sum = T::zero();
                for (arm, &m) in st.arms.iter().zip(&self.mobilities) {
                    sum -= *arm * kin.u[m];
                }
                sum
            }
        };
    }

    /// Generalized forces (3).
    pub fn apply_tension<T: Real>(&self, st: &PathState<T>, tension: T, loads: &mut Loads<T>) {
        for ((arm, &m), &pulls) in st.arms.iter().zip(&self.mobilities).zip(&self.pulls) {
            if pulls {
                loads.mobility[m] += *arm * tension;
            }
        }
    }
}
