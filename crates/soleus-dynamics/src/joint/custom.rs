//! The `CustomJoint`: three rotations and three translations given by functions.

use super::JointMotion;
use soleus_math::{Function, Over, Real, Rotation, SpatialVec, Transform, Vec3};

/// A compiled custom joint.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomJoint<P: Real = f64> {
    /// Number of coordinates, and of speeds.
    pub num_coordinates: usize,
    /// Three rotations in body-fixed order, then three translations in F.
    pub axes: [Axis<P>; 6],
    /// Whether to reproduce Simbody's bias acceleration, which is only correct if coordinate i drives rotation i alone;
    /// see `simbody_bias`.
    pub as_simbody: bool,
}

/// One axis of a custom joint.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis<P: Real = f64> {
    /// Unit vector.
    pub axis: Vec3<P>,
    /// Angle or distance along it.
    pub motion: AxisMotion,
    /// Its derivative with respect to a number of the model: a function of the same coordinates, and the change, whose
    /// value is zero.
    pub change: Option<Box<(AxisMotion, P)>>,
}

/// The angle (rad) or distance (m) along an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum AxisMotion {
    /// Constant.
    Fixed(f64),
    /// A coordinate itself, by index.
    Direct(usize),
    /// A function of one coordinate.
    One(usize, Function),
    /// A function of several coordinates.
    Many(Vec<usize>, Function),
}

/// Value x, slopes ∂x/∂q, rate ẋ and bias of the second rate Σ x″ u u of one axis.
struct AxisState<T> {
    x: T,
    rate: T,
    bias: T,
}

/// Most coordinates a joint can have.
const MAX: usize = 6;

impl<P: Real> Axis<P> {
    /// Evaluates the axis; hands each nonzero slope to `slope(coordinate, dx/dq)`.
    #[inline(always)]
    fn compute<T: Over<P>>(&self, q: &[T], u: &[T], mut slope: impl FnMut(usize, T)) -> AxisState<T> {
        let mut a = self.motion.compute(q, u, &mut slope);
        if P::ORDER > 0
            && let Some((motion, by)) = self.change.as_deref()
        {
            let by = T::lift(*by);
            let b = motion.compute(q, u, &mut |k, d| slope(k, d * by));
            (a.x, a.rate, a.bias) = (a.x + b.x * by, a.rate + b.rate * by, a.bias + b.bias * by);
        }
        a
    }

    fn is_still(&self) -> bool {
        matches!(self.motion, AxisMotion::Fixed(_))
            && self.change.as_ref().is_none_or(|c| matches!(c.0, AxisMotion::Fixed(_)))
    }

    /// Whether it stays where it would be without it.
    fn is_nothing(&self) -> bool {
        matches!(self.motion, AxisMotion::Fixed(0.0)) && self.change.is_none()
    }
}

impl AxisMotion {
    /// A function of some of a joint's coordinates, with constants and bare coordinates recognised.
    pub fn new(f: &Function, arguments: &[usize]) -> AxisMotion {
        match (f, arguments) {
            (Function::Constant(c), _) => AxisMotion::Fixed(*c),
            (f, [k]) => match f.as_line() {
                Some((1.0, 0.0)) => AxisMotion::Direct(*k),
                _ => AxisMotion::One(*k, f.clone()),
            },
            (f, []) => AxisMotion::Fixed(f.value(&[0.0])),
            (f, args) => AxisMotion::Many(args.to_vec(), f.clone()),
        }
    }

    /// See [`Axis::compute`].
    #[inline(always)]
    fn compute<T: Real>(&self, q: &[T], u: &[T], slope: &mut impl FnMut(usize, T)) -> AxisState<T> {
        match self {
            AxisMotion::Fixed(c) => AxisState { x: T::cst(*c), rate: T::zero(), bias: T::zero() },
            AxisMotion::Direct(k) => {
                slope(*k, T::one());
                AxisState { x: q[*k], rate: u[*k], bias: T::zero() }
            }
            AxisMotion::One(k, f) => {
                let [x, d1, d2] = f.eval1(q[*k]);
                slope(*k, d1);
                AxisState { x, rate: d1 * u[*k], bias: d2 * u[*k] * u[*k] }
            }
            AxisMotion::Many(args, f) => {
                let n = args.len().min(MAX);
                let mut x = [T::zero(); MAX];
                for (xi, &k) in x.iter_mut().zip(args) {
                    *xi = q[k];
                }
                let (mut g, mut h) = ([T::zero(); MAX], [T::zero(); MAX * MAX]);
                let value = f.eval_n(&x[..n], &mut g[..n], &mut h[..n * n]);
                let (mut rate, mut bias) = (T::zero(), T::zero());
                for (i, &ki) in args.iter().enumerate().take(n) {
                    slope(ki, g[i]);
                    rate += g[i] * u[ki];
                    for (j, &kj) in args.iter().enumerate().take(n) {
                        bias += h[i * n + j] * u[ki] * u[kj];
                    }
                }
                AxisState { x: value, rate, bias }
            }
        }
    }

    /// The coordinates it follows.
    fn coordinates(&self) -> &[usize] {
        match self {
            AxisMotion::Fixed(_) => &[],
            AxisMotion::Direct(k) | AxisMotion::One(k, _) => std::slice::from_ref(k),
            AxisMotion::Many(list, _) => list,
        }
    }
}

impl<P: Real> CustomJoint<P> {
    /// Whether M can accelerate in F at zero u̇; see [`super::JointKernel::has_bias`].
    pub(super) fn has_bias(&self) -> bool {
        let linear = |a: &Axis<P>| {
            matches!(
                a.motion,
                AxisMotion::Fixed(_) | AxisMotion::Direct(_) | AxisMotion::One(_, Function::Linear { .. })
            )
        };
        let rotations = self.axes[..3].iter().filter(|a| !a.is_still()).count();
        rotations > 1 || !self.axes.iter().all(linear)
    }

    /// Pose, motion subspace, velocity and bias of M in F.
    ///
    ///   R = R₁ R₂ R₃,   w₁ = a₁, w₂ = R₁ a₂, w₃ = R₁ R₂ a₃                (1)
    ///   p = Σ d_i b_i                                                     (2)
    ///   H_k = (Σ ∂θ_i/∂q_k w_i, Σ ∂d_i/∂q_k b_i)                          (3)
    ///   Ḣ u = (Σ θ̈_i w_i + θ̇_i Ω_i × w_i, Σ d̈_i b_i),  Ω_i = Σ_{j<i} θ̇_j w_j  (4)
    ///
    /// where θ̈, d̈ are the second rates at constant speeds.
    pub fn compute<T: Over<P>>(&self, q: &[T], u: &[T], m: &mut JointMotion<T>) {
        for h in &mut m.H[..self.num_coordinates] {
            *h = SpatialVec::zero();
        }
        let mut R = Rotation::identity();
        let mut at_identity = true;
        let (mut w, mut alpha) = (Vec3::zero(), Vec3::zero());
        for axis in &self.axes[..3] {
            if axis.is_nothing() {
                continue;
            }
            let e = Vec3::lift(axis.axis);
            let wi = if at_identity { e } else { R * e }; // (1)
            let H = &mut m.H;
            let a = axis.compute(q, u, |k, d| H[k].w += wi * d); // (3)
            if !axis.is_still() {
                alpha += wi * a.bias + w.cross(wi) * a.rate; // (4)
                w += wi * a.rate;
            }
            R = if at_identity { Rotation::about(axis.axis, a.x) } else { R.then_about(axis.axis, a.x) };
            at_identity = false;
        }
        let (mut p, mut v, mut acc) = (Vec3::zero(), Vec3::zero(), Vec3::zero());
        for axis in &self.axes[3..] {
            if axis.is_nothing() {
                continue;
            }
            let b = Vec3::lift(axis.axis);
            let H = &mut m.H;
            let a = axis.compute(q, u, |k, d| H[k].v += b * d);
            p += b * a.x; // (2)
            if !axis.is_still() {
                v += b * a.rate;
                acc += b * a.bias;
            }
        }
        if self.as_simbody {
            alpha = self.simbody_bias(q, u, m);
        }
        m.X_FM = Transform::new(R, p);
        m.V = SpatialVec::new(w, v);
        m.A = SpatialVec::new(alpha, acc);
    }

    /// Whether `simbody_bias` is another vector than that of (4).
    ///
    /// It is not if Simbody's Ω × w of each moving rotation is the right one: if coordinate 0 alone drives the first rotation
    /// and not the third, as far as the second moves, and if coordinate 2 drives neither of the first two, as far as the third
    /// moves. What an axis adds to its own Ω is along w and does not count.
    pub(crate) fn simbody_bias_differs(&self) -> bool {
        let [first, second, third] = [0, 1, 2].map(|i| self.axes[i].motion.coordinates());
        let at_second = first.iter().any(|&k| k != 0) || third.contains(&0);
        let at_third = first.contains(&2) || second.contains(&2);
        (!second.is_empty() && at_second) || (!third.is_empty() && at_third)
    }

    /// The angular bias as Simbody computes it (version in OpenSim 4.6, `MobilizedBody::FunctionBased`).
    ///
    /// In (4) it takes for Ω₂ the angular velocity of coordinate 0 alone and for Ω₃ that of all
    /// coordinates but number 2, instead of that of the earlier axes. The two agree when each rotation
    /// has a coordinate of its own, in order (`simbody_bias_differs`); they differ, for instance, for a knee whose three
    /// rotations all follow the flexion angle.
    fn simbody_bias<T: Over<P>>(&self, q: &[T], u: &[T], m: &JointMotion<T>) -> Vec3<T> {
        let first = m.H[0].w * u[0];
        let mut second = Vec3::zero();
        for k in (0..self.num_coordinates).filter(|&k| k != 2) {
            second += m.H[k].w * u[k];
        }
        let mut R = Rotation::identity();
        let mut alpha = Vec3::zero();
        for (axis, omega) in self.axes[..3].iter().zip([Vec3::zero(), first, second]) {
            let wi = R * Vec3::lift(axis.axis);
            let a = axis.compute(q, u, |_, _| {});
            alpha += wi * a.bias + omega.cross(wi) * a.rate;
            R = R * Rotation::about(axis.axis, a.x);
        }
        alpha
    }
}
