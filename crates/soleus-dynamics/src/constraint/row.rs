//! Rows of each kind of constraint.

use crate::joint::angles_rate;
use crate::kinematics::BodyFrame;
use crate::multibody::{Tree, TreeKinematics};
use soleus_math::{Dual, Function, Over, Real, SpatialVec, Transform, Vec3, vec3};

/// A compiled constraint.
#[derive(Clone, Debug, PartialEq)]
pub enum CompiledConstraint<P: Real = f64> {
    /// q − value = 0: a locked coordinate.
    Locked {
        /// Mobility of the coordinate.
        mobility: usize,
        /// Fixed value.
        value: f64,
    },
    /// q − f(t) = 0: a prescribed coordinate.
    Prescribed {
        /// Mobility of the coordinate.
        mobility: usize,
        /// Function of time.
        function: Function,
    },
    /// scale · f(q…) − q_dependent = 0.
    Coupler {
        /// Mobilities of the independent coordinates.
        independent: Vec<usize>,
        /// Mobility of the dependent coordinate.
        dependent: usize,
        /// The function.
        function: Function,
        /// Its factor.
        scale: P,
    },
    /// A point of body 2 coincides with a point of body 1.
    Point {
        /// Point on body 1.
        first: Station<P>,
        /// Point on body 2.
        second: Station<P>,
        /// Nearest common ancestor body; the equations are written in its axes.
        ancestor: usize,
    },
    /// Frame 2 coincides with frame 1.
    Weld {
        /// Frame on body 1.
        first: BodyFrame<P>,
        /// Frame on body 2.
        second: BodyFrame<P>,
        /// Nearest common ancestor body.
        ancestor: usize,
    },
    /// Constant distance of two points.
    Distance {
        /// Point on body 1.
        first: Station<P>,
        /// Point on body 2.
        second: Station<P>,
        /// Distance, m.
        distance: f64,
    },
    /// A point of the follower on a line of the first body.
    PointOnLine {
        /// Point on the line, and the body that carries the line.
        line: Station<P>,
        /// Two directions perpendicular to the line, in that body.
        across: [Vec3<P>; 2],
        /// Point on the follower.
        follower: Station<P>,
    },
    /// A body rolls on a plane of another body without slip.
    Rolling(Rolling<P>),
}

/// A body that rolls on a plane without slip (Hamner, Seth, Steele, Delp 2013): its point p_R stays at the height of
/// the plane, its axis perpendicular to the x axis of the surface, and at p_S it has the velocity of the surface along
/// x and z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rolling<P: Real = f64> {
    /// The rolling body.
    pub roller: usize,
    /// The body with the plane.
    pub surface: usize,
    /// Normal of the plane, in that body.
    pub normal: Vec3<P>,
    /// Height of the plane along the normal, m.
    pub height: f64,
    /// Point that stays on the plane, in the roller. OpenSim: its origin, except in induced accelerations.
    pub p_R: Vec3<P>,
    /// Axis that does not rotate about the normal, in the roller. OpenSim: its z axis, except in induced accelerations.
    pub axis_R: Vec3<P>,
    /// Point without slip, in the surface. OpenSim: its origin, except in induced accelerations.
    pub p_S: Vec3<P>,
    /// Active equations: on the plane, no twist, no slip along x, no slip along z.
    pub active: [bool; 4],
}

/// A point fixed to a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Station<P: Real = f64> {
    /// Node of the body.
    pub body: usize,
    /// Location in the body.
    pub p_BS: Vec3<P>,
}

/// Equations of a constraint.
#[derive(Debug)]
pub struct Rows<'a, T> {
    /// Number of mobilities.
    pub n: usize,
    /// Position errors.
    pub error: &'a mut [T],
    /// Speed errors.
    pub rate: &'a mut [T],
    /// Rows of G.
    pub G: &'a mut [T],
    /// Acceleration errors at u̇ = 0.
    pub bias: &'a mut [T],
}

/// Adds to a row of G the generalized force of a wrench on one body (about its origin).
fn add_wrench<T: Real>(
    tree: &Tree,
    k: &TreeKinematics<T>,
    row: &mut [T],
    body: usize,
    wrench: SpatialVec<T>,
) {
    let (mut b, mut f) = (body, wrench);
    while b != 0 {
        let node = &tree.nodes[b];
        for j in node.u0..node.u0 + node.nu {
            row[j] += k.H[j].dot(f);
        }
        f = f.wrench_shifted(k.p_PB[b]);
        b = node.parent;
    }
}

/// A force along `d` at ground place `p` on `body`, and the opposite on `base`.
fn add_force_pair<T: Real>(
    tree: &Tree,
    k: &TreeKinematics<T>,
    row: &mut [T],
    (body, base): (usize, usize),
    p: Vec3<T>,
    d: Vec3<T>,
) {
    let r = p - k.X_GB[body].p;
    add_wrench(tree, k, row, body, SpatialVec::new(r.cross(d), d));
    let r = p - k.X_GB[base].p;
    add_wrench(tree, k, row, base, SpatialVec::new(-r.cross(d), -d));
}

fn velocity_at<T: Real>(k: &TreeKinematics<T>, body: usize, p: Vec3<T>) -> Vec3<T> {
    let V = k.V_GB[body];
    V.v + V.w.cross(p - k.X_GB[body].p)
}

fn acceleration_at<T: Real>(k: &TreeKinematics<T>, A: &[SpatialVec<T>], body: usize, p: Vec3<T>) -> Vec3<T> {
    let r = p - k.X_GB[body].p;
    let w = k.V_GB[body].w;
    A[body].v + A[body].w.cross(r) + w.cross(w.cross(r))
}

/// Acceleration of the follower's point at `p` as seen from `base`, in ground axes:
/// a_S − a_C − 2 ω × (v_S − v_C), where C is the point of the base at `p` now.
fn relative_acceleration<T: Real>(
    k: &TreeKinematics<T>,
    A: &[SpatialVec<T>],
    (body, base): (usize, usize),
    p: Vec3<T>,
) -> Vec3<T> {
    let v = velocity_at(k, body, p) - velocity_at(k, base, p);
    let w = k.V_GB[base].w;
    acceleration_at(k, A, body, p) - acceleration_at(k, A, base, p) - (w.cross(v)) * T::cst(2.0)
}

impl<P: Real> CompiledConstraint<P> {
    /// Holonomic equations.
    pub fn num_position(&self) -> usize {
        match self {
            CompiledConstraint::Locked { .. }
            | CompiledConstraint::Prescribed { .. }
            | CompiledConstraint::Coupler { .. }
            | CompiledConstraint::Distance { .. } => 1,
            CompiledConstraint::PointOnLine { .. } => 2,
            CompiledConstraint::Rolling(c) => usize::from(c.active[0]) + usize::from(c.active[1]),
            CompiledConstraint::Point { .. } => 3,
            CompiledConstraint::Weld { .. } => 6,
        }
    }

    /// Number of velocity equations.
    pub fn num_speed(&self) -> usize {
        match self {
            CompiledConstraint::Rolling(c) => usize::from(c.active[2]) + usize::from(c.active[3]),
            _ => 0,
        }
    }

    /// Whether it depends on coordinates only, and not on poses of bodies.
    pub fn is_on_coordinates(&self) -> bool {
        matches!(
            self,
            CompiledConstraint::Locked { .. }
                | CompiledConstraint::Prescribed { .. }
                | CompiledConstraint::Coupler { .. }
        )
    }

    /// Whether its row of G is constant, and its bias depends on time only.
    pub fn is_constant(&self, tree: &Tree) -> bool {
        let plain = |m: usize| tree.angular[m].is_none();
        match self {
            CompiledConstraint::Locked { mobility, .. } | CompiledConstraint::Prescribed { mobility, .. } => {
                plain(*mobility)
            }
            CompiledConstraint::Coupler { independent, dependent, function, .. } => {
                function.as_line().is_some() && independent.iter().chain([dependent]).all(|&m| plain(m))
            }
            _ => false,
        }
    }

    /// Errors, rows of G and bias of the holonomic equations. `A` are the bodies' accelerations at u̇ = 0.
    pub fn compute_position_rows<T: Over<P>>(
        &self,
        tree: &Tree,
        k: &TreeKinematics<T>,
        A: &[SpatialVec<T>],
        time: T,
        out: Rows<T>,
    ) {
        let n = out.n;
        match self {
            CompiledConstraint::Locked { mobility, value } => {
                out.error[0] = k.q[*mobility] - *value;
                coordinate_row(tree, k, *mobility, T::one(), out.G, &mut out.bias[0]);
            }
            CompiledConstraint::Prescribed { mobility, function } => {
                let [f, fd, fdd] = function.eval1(time);
                out.error[0] = k.q[*mobility] - f;
                coordinate_row(tree, k, *mobility, T::one(), out.G, &mut out.bias[0]);
                out.bias[0] -= fdd;
                out.rate[0] = dot(out.G, &k.u) - fd;
                return;
            }
            CompiledConstraint::Coupler { independent, dependent, function, scale } => {
                let mut bias = T::zero();
                if let [i] = independent[..] {
                    let [f, d1, d2] = function.eval1(k.q[i]);
                    out.error[0] = f * *scale - k.q[*dependent];
                    coordinate_row(tree, k, i, d1 * *scale, out.G, &mut bias);
                    let rate = coordinate_rate(tree, k, i);
                    bias += d2 * *scale * rate * rate;
                } else {
                    let m = independent.len().min(MAX_COUPLED);
                    let mut x = [T::zero(); MAX_COUPLED];
                    let mut g = [T::zero(); MAX_COUPLED];
                    let mut h = [T::zero(); MAX_COUPLED * MAX_COUPLED];
                    for (x, &i) in x.iter_mut().zip(independent) {
                        *x = k.q[i];
                    }
                    let f = function.eval_n(&x[..m], &mut g[..m], &mut h[..m * m]);
                    out.error[0] = f * *scale - k.q[*dependent];
                    for (a, &i) in independent.iter().enumerate().take(m) {
                        coordinate_row(tree, k, i, g[a] * *scale, out.G, &mut bias);
                        for (b, &j) in independent.iter().enumerate().take(m) {
                            bias += h[a * m + b]
                                * *scale
                                * coordinate_rate(tree, k, i)
                                * coordinate_rate(tree, k, j);
                        }
                    }
                }
                coordinate_row(tree, k, *dependent, T::cst(-1.0), out.G, &mut bias);
                out.bias[0] = bias;
            }
            CompiledConstraint::Point { first, second, ancestor } => {
                let p1 = k.X_GB[first.body] * Vec3::lift(first.p_BS);
                let p2 = k.X_GB[second.body] * Vec3::lift(second.p_BS);
                let pair = (second.body, first.body);
                let a = relative_acceleration(k, A, pair, p2);
                for i in 0..3 {
                    let d = k.X_GB[*ancestor].R.axis(i);
                    out.error[i] = d.dot(p2 - p1);
                    out.bias[i] = d.dot(a);
                    add_force_pair(tree, k, &mut out.G[i * n..(i + 1) * n], pair, p2, d);
                }
            }
            CompiledConstraint::Weld { first, second, ancestor } => {
                let (X1, X2) = (
                    k.X_GB[first.body] * Transform::lift(first.X_BF),
                    k.X_GB[second.body] * Transform::lift(second.X_BF),
                );
                let pair = (second.body, first.body);
                let (w1, w2) = (k.V_GB[first.body].w, k.V_GB[second.body].w);
                // Angles: x₂·y₁ = y₂·z₁ = z₂·x₁ = 0.
                for i in 0..3 {
                    let (f, b) = (X2.R.axis(i), X1.R.axis((i + 1) % 3));
                    out.error[i] = f.dot(b);
                    let t = f.cross(b);
                    let row = &mut out.G[i * n..(i + 1) * n];
                    add_wrench(tree, k, row, pair.0, SpatialVec::new(t, Vec3::zero()));
                    add_wrench(tree, k, row, pair.1, SpatialVec::new(-t, Vec3::zero()));
                    // d/dt of (ω₂ − ω₁)·(f × b), with ḟ = ω₂ × f, ḃ = ω₁ × b.
                    let tdot = w2.cross(f).cross(b) + f.cross(w1.cross(b));
                    out.bias[i] = (A[pair.0].w - A[pair.1].w).dot(t) + (w2 - w1).dot(tdot);
                }
                let a = relative_acceleration(k, A, pair, X2.p);
                for i in 0..3 {
                    let d = k.X_GB[*ancestor].R.axis(i);
                    out.error[3 + i] = d.dot(X2.p - X1.p);
                    out.bias[3 + i] = d.dot(a);
                    add_force_pair(tree, k, &mut out.G[(3 + i) * n..(4 + i) * n], pair, X2.p, d);
                }
            }
            CompiledConstraint::Distance { first, second, distance } => {
                let p1 = k.X_GB[first.body] * Vec3::lift(first.p_BS);
                let p2 = k.X_GB[second.body] * Vec3::lift(second.p_BS);
                let r = p2 - p1;
                let len = r.norm();
                let d = r / len;
                out.error[0] = len - *distance;
                let v = velocity_at(k, second.body, p2) - velocity_at(k, first.body, p1);
                let a = acceleration_at(k, A, second.body, p2) - acceleration_at(k, A, first.body, p1);
                let vd = v.dot(d);
                out.bias[0] = a.dot(d) + (v.dot(v) - vd * vd) / len;
                let r2 = p2 - k.X_GB[second.body].p;
                add_wrench(tree, k, out.G, second.body, SpatialVec::new(r2.cross(d), d));
                let r1 = p1 - k.X_GB[first.body].p;
                add_wrench(tree, k, out.G, first.body, SpatialVec::new(-r1.cross(d), -d));
            }
            CompiledConstraint::PointOnLine { line, across, follower } => {
                let p = k.X_GB[follower.body] * Vec3::lift(follower.p_BS);
                let p0 = k.X_GB[line.body] * Vec3::lift(line.p_BS);
                let pair = (follower.body, line.body);
                let a = relative_acceleration(k, A, pair, p);
                for i in 0..2 {
                    let d = k.X_GB[line.body].R * Vec3::lift(across[i]);
                    out.error[i] = d.dot(p - p0);
                    out.bias[i] = d.dot(a);
                    add_force_pair(tree, k, &mut out.G[i * n..(i + 1) * n], pair, p, d);
                }
            }
            CompiledConstraint::Rolling(Rolling {
                roller,
                surface,
                normal,
                height,
                p_R,
                axis_R,
                active,
                ..
            }) => {
                // A point of the roller stays at the height of the plane …
                let mut i = 0;
                if active[0] {
                    let p = k.X_GB[*roller] * Vec3::lift(*p_R);
                    let d = k.X_GB[*surface].R * Vec3::lift(*normal);
                    let pair = (*roller, *surface);
                    out.error[i] = d.dot(p - k.X_GB[*surface].p) - *height;
                    out.bias[i] = d.dot(relative_acceleration(k, A, pair, p));
                    add_force_pair(tree, k, &mut out.G[..n], pair, p, d);
                    i += 1;
                }
                // … and its axis stays square to the surface's x axis.
                if active[1] {
                    let (b, f) = (k.X_GB[*surface].R.axis(0), k.X_GB[*roller].R * Vec3::lift(*axis_R));
                    let (w1, w2) = (k.V_GB[*surface].w, k.V_GB[*roller].w);
                    let t = f.cross(b);
                    out.error[i] = f.dot(b);
                    let row = &mut out.G[i * n..(i + 1) * n];
                    add_wrench(tree, k, row, *roller, SpatialVec::new(t, Vec3::zero()));
                    add_wrench(tree, k, row, *surface, SpatialVec::new(-t, Vec3::zero()));
                    let tdot = w2.cross(f).cross(b) + f.cross(w1.cross(b));
                    out.bias[i] = (A[*roller].w - A[*surface].w).dot(t) + (w2 - w1).dot(tdot);
                }
            }
        }
        for (i, rate) in out.rate.iter_mut().enumerate() {
            *rate = dot(&out.G[i * n..(i + 1) * n], &k.u);
        }
    }

    /// Rows of G and bias of the velocity equations.
    pub fn compute_speed_rows<T: Over<P>>(
        &self,
        tree: &Tree,
        k: &TreeKinematics<T>,
        A: &[SpatialVec<T>],
        out: Rows<T>,
    ) {
        let CompiledConstraint::Rolling(Rolling { roller, surface, p_S, active, .. }) = self else { return };
        // No slip along x and z of the surface, at a point of the surface: (v_R − v_S)·d = 0 for the points of both
        // bodies that are there now. On accelerations Simbody asks the same of these two material points,
        //   (a_R − a_S − ω_S × (v_R − v_S))·d = 0,
        // which is the rate of the speed equation only for a contact that travels with the points; so do we.
        let n = out.n;
        let p = k.X_GB[*surface] * Vec3::lift(*p_S);
        let v = velocity_at(k, *roller, p) - velocity_at(k, *surface, p);
        let a = acceleration_at(k, A, *roller, p) - acceleration_at(k, A, *surface, p);
        let along = [(0, active[2]), (2, active[3])].into_iter().filter(|(_, on)| *on);
        for (i, (axis, _)) in along.enumerate() {
            let d = k.X_GB[*surface].R.axis(axis);
            add_force_pair(tree, k, &mut out.G[i * n..(i + 1) * n], (*roller, *surface), p, d);
            out.bias[i] = d.dot(a - k.V_GB[*surface].w.cross(v));
            out.rate[i] = dot(&out.G[i * n..(i + 1) * n], &k.u);
        }
    }
}

/// Most independent coordinates of one coupler.
const MAX_COUPLED: usize = 6;

/// q̇ of one coordinate.
fn coordinate_rate<T: Real>(tree: &Tree, k: &TreeKinematics<T>, mobility: usize) -> T {
    match tree.angular[mobility] {
        None => k.u[mobility],
        Some(u0) => {
            let q = vec3(k.q[u0], k.q[u0 + 1], k.q[u0 + 2]);
            let w = vec3(k.u[u0], k.u[u0 + 1], k.u[u0 + 2]);
            angles_rate(q, w)[mobility - u0]
        }
    }
}

/// Adds factor · q̈ of one coordinate: to the row as factors of u̇, to the bias what is left at u̇ = 0.
fn coordinate_row<T: Real>(
    tree: &Tree,
    k: &TreeKinematics<T>,
    mobility: usize,
    factor: T,
    row: &mut [T],
    bias: &mut T,
) {
    let Some(u0) = tree.angular[mobility] else {
        row[mobility] += factor;
        return;
    };
    let i = mobility - u0;
    let q = vec3(k.q[u0], k.q[u0 + 1], k.q[u0 + 2]);
    let w = vec3(k.u[u0], k.u[u0 + 1], k.u[u0 + 2]);
    for j in 0..3 {
        row[u0 + j] += factor * angles_rate(q, Vec3::unit(j))[i];
    }
    // Ṅ ω: the rate of N(q) ω along q̇ at constant ω.
    let qdot = angles_rate(q, w);
    let lift = |a: Vec3<T>, d: Vec3<T>| {
        vec3(Dual::<T, 1>::new(a.x, [d.x]), Dual::new(a.y, [d.y]), Dual::new(a.z, [d.z]))
    };
    let rate = angles_rate(lift(q, qdot), lift(w, Vec3::zero()));
    *bias += factor * rate[i].d[0];
}

fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let mut s = T::zero();
    for (&x, &y) in a.iter().zip(b) {
        s += x * y;
    }
    s
}
