//! A path through points and over wrap surfaces.

use super::wrap::{Attempt, Surface, SurfaceCurve};
use super::{CurrentPoint, PathError, PathState, PointOrigin};
use crate::kinematics::{BodyFrame, Kinematics, Loads, Resolve};
use soleus_math::{Function, Real, Transform, Vec3, vec3};
use soleus_model::path::{GeometryPath, PathPoint, PathPointKind, WrapObject};

/// A conditional point is active this far outside its range, rad or m (OpenSim 4.6).
const CONDITION_SLACK: f64 = 1e-5;
/// Several wrap objects are gone through until the length changes by less than this, m (OpenSim 4.6).
const SETTLED_M: f64 = 0.0005;
/// Most rounds over several wrap objects (OpenSim 4.6).
const MAX_ROUNDS: usize = 8;
/// Points closer than this, m, have no direction between them that could carry a force.
pub(crate) const COINCIDENT_M: f64 = 2e-14;

/// A point of the path, in its body.
#[derive(Clone, Debug, PartialEq)]
enum Point {
    Fixed(Vec3<f64>),
    Conditional { p_B: Vec3<f64>, mobility: usize, low: f64, high: f64 },
    Moving(Box<Moving>),
}

/// A point whose place in a frame of the body is a function of one coordinate.
#[derive(Clone, Debug, PartialEq)]
struct Moving {
    X_BF: Transform<f64>,
    f: [Function; 3],
    mobility: Option<usize>,
    low: f64,
    high: f64,
}

/// A surface on its body, and the points between which it is tried.
#[derive(Clone, Debug, PartialEq)]
struct Wrap {
    /// Number of the wrap object, to tell surfaces apart.
    object: usize,
    active: bool,
    body: usize,
    X_BW: Transform<f64>,
    surface: Surface,
    /// First and last path point, from 0.
    first: usize,
    last: usize,
    /// By the number of its first point, the outcome of a segment between two points that are fixed to the body of the
    /// surface and get no curve: it is the same in every pose.
    settled: Vec<Option<Attempt<f64>>>,
}

/// A change of a path, which carries derivatives.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change<T: Real> {
    /// None.
    None,
    /// A path point is carried along by a small rigid motion in its body, about and of the body's origin.
    Point {
        /// Number of the point.
        point: usize,
        /// Small angles about the axes of the body.
        turn: Vec3<T>,
        /// Of the body's origin.
        shift: Vec3<T>,
    },
    /// The wrap object of that number has another pose: turned by small angles and shifted, in its body. Its value is the
    /// same.
    Pose {
        /// Number of the wrap object in the model.
        object: usize,
        /// Small angles about the axes of the body.
        turn: Vec3<T>,
        /// Of its origin.
        shift: Vec3<T>,
    },
    /// An obstacle of a path over obstacles has another pose: turned by small angles and shifted, in its body. Its value is the
    /// same.
    Obstacle {
        /// Number of the obstacle in the path.
        obstacle: usize,
        /// Small angles about the axes of the body.
        turn: Vec3<T>,
        /// Of its origin.
        shift: Vec3<T>,
    },
    /// The sphere or cylinder of that number is that many times as large.
    Size(usize, T),
    /// One of the sizes of an ellipsoid or a torus is another; to first order.
    Dimension {
        /// Number of the wrap object in the model.
        object: usize,
        /// Which: a semi-axis, or the tube (0) or circle (1) of a torus.
        which: usize,
        /// By how much, m.
        by: T,
    },
}

/// A path through points and over wrap surfaces.
///
///   l = Σ |p_{i+1} − p_i|, over a surface the length of the curve on it       (1)
///   l̇ = Σ (v_i − v_{i+1})·(p_i − p_{i+1})/|p_i − p_{i+1}|                     (2)
///   T (p_{i+1} − p_i)/|…| on p_i and its opposite on p_{i+1}                   (3)
///
/// In (2) and (3) wrap points are treated as fixed to the body of the surface; if a curve is not a geodesic, l̇
/// therefore differs slightly from the time derivative of (1). A moving point adds its motion on the body to (2) and
/// the power of (3) on it as a generalized force.
///
/// Source: OpenSim 4.6, `GeometryPath`; Delp and Loan (1995).
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledGeometryPath {
    points: Vec<(usize, Point)>,
    wraps: Vec<Wrap>,
    /// Whether one of the points moves on its body.
    has_moving: bool,
}

/// Scratch memory of a geometry path.
#[derive(Clone, Debug)]
pub struct Scratch<T: Real> {
    /// Pose of each wrap object in ground.
    X_GW: Vec<Transform<T>>,
    /// The order in which surfaces are tried.
    order: Vec<usize>,
    /// Where the two points of each path wrap were in ground when they first came into the path.
    first_G: Vec<Option<[Vec3<T>; 2]>>,
    /// What each path wrap came to in this evaluation, so that it is not tried again in vain.
    last: Vec<Last<T>>,
}

/// The last attempt of one path wrap. Attempts are counted from 1 in each evaluation.
#[derive(Clone, Copy, Debug)]
struct Last<T> {
    /// Number of the attempt; 0 before the first.
    tried: usize,
    /// Number of the last attempt that put other points into the path than the one before.
    changed: usize,
    /// The point before the curve, the ends of the curve in ground and its length; nothing without a curve.
    curve: Option<(PointOrigin, [Vec3<T>; 2], T)>,
}

impl<T> Last<T> {
    const NEVER: Last<T> = Last { tried: 0, changed: 0, curve: None };
}

impl<T: Real> Scratch<T> {
    pub(super) fn new(wraps: usize) -> Self {
        Scratch {
            X_GW: vec![Transform::identity(); wraps],
            order: (0..wraps).collect(),
            first_G: vec![None; wraps],
            last: vec![Last::NEVER; wraps],
        }
    }
}

impl CompiledGeometryPath {
    /// Checks and compiles a path.
    pub fn compile(
        path: &GeometryPath,
        objects: &[WrapObject],
        resolve: &dyn Resolve,
    ) -> Result<Self, PathError> {
        let count = path.points.len();
        if count < 2 {
            return Err(PathError::TooFewPoints { count });
        }
        let points: Vec<_> =
            path.points.iter().map(|p| compile_point(p, resolve)).collect::<Result<_, _>>()?;
        let mut wraps = Vec::with_capacity(path.wraps.len());
        for w in &path.wraps {
            let index = w.wrap.0;
            let object =
                objects.get(index).ok_or(PathError::NoSuchWrapObject { index, count: objects.len() })?;
            let surface = Surface::new(&object.shape, object.quadrant, w.method)
                .ok_or_else(|| PathError::BadWrapSize { name: object.name.clone() })?;
            let [first, last] = w.range;
            let index = |i: i32, default: usize| if i < 1 { default } else { i as usize - 1 };
            let range = (index(first, 0), index(last, count - 1));
            if range.0 >= count || range.1 >= count {
                return Err(PathError::BadWrapRange { name: object.name.clone(), first, last, count });
            }
            let BodyFrame { body, X_BF } = resolve.frame(object.frame);
            let X_BW = X_BF * object.pose;
            let alone = path.wraps.len() == 1;
            let settled = points.windows(2).map(|pair| {
                let [p1, p2] = [0, 1].map(|i| pair[i].1.place_on(pair[i].0 == body));
                let outcome = surface.wrap(X_BW.inverse_mul(p1?), X_BW.inverse_mul(p2?), alone);
                outcome.curve().is_none().then_some(outcome)
            });
            wraps.push(Wrap {
                object: w.wrap.0,
                active: object.active,
                body,
                X_BW,
                settled: settled.collect(),
                surface,
                first: range.0,
                last: range.1,
            });
        }
        let has_moving = points.iter().any(|(_, p)| matches!(p, Point::Moving(_)));
        Ok(CompiledGeometryPath { points, wraps, has_moving })
    }

    /// Maximum number of points of the current path.
    pub fn max_points(&self) -> usize {
        self.points.len() + 2 * self.wraps.len()
    }

    /// Bodies of its points and surfaces.
    pub(super) fn bodies(&self) -> Vec<usize> {
        let mut list: Vec<usize> = self.points.iter().map(|p| p.0).collect();
        list.extend(self.wraps.iter().map(|w| w.body));
        list.sort_unstable();
        list.dedup();
        list
    }

    /// Mobilities that its points depend on.
    pub(super) fn coordinates(&self) -> Vec<usize> {
        self.points
            .iter()
            .filter_map(|(_, p)| match p {
                Point::Fixed(_) => None,
                Point::Conditional { mobility, .. } => Some(*mobility),
                Point::Moving(m) => m.mobility,
            })
            .collect()
    }

    /// Whether it runs straight between points fixed to bodies.
    pub(super) fn is_straight(&self) -> bool {
        self.wraps.is_empty() && !self.has_moving
    }

    /// Whether one of its points moves on its body.
    pub(crate) fn has_moving(&self) -> bool {
        self.has_moving
    }

    /// Number of path wraps.
    pub fn num_wraps(&self) -> usize {
        self.wraps.len()
    }

    /// Points and length (1).
    pub fn compute_position<T: Real>(&self, kin: &Kinematics<T>, st: &mut PathState<T>) {
        self.compute_position_changed(kin, st, &Change::None);
    }

    /// The same with a change of the path.
    #[inline]
    pub(crate) fn compute_position_changed<T: Real>(
        &self,
        kin: &Kinematics<T>,
        st: &mut PathState<T>,
        change: &Change<T>,
    ) {
        st.points.clear();
        for (i, (body, point)) in self.points.iter().enumerate() {
            let X_GB = &kin.X_GB[*body];
            // A small motion that the change makes the point take part in.
            let nudge = match change {
                Change::Point { point, turn, shift } if *point == i => Some((*turn, *shift)),
                _ => None,
            };
            let mut p_B;
            let mut dp_dq_G = Vec3::zero();
            match point {
                Point::Fixed(p) => p_B = Vec3::cst(*p),
                Point::Conditional { p_B: p, mobility, low, high } => {
                    let q = kin.q[*mobility].value();
                    if !(q >= *low && q <= *high) {
                        continue;
                    }
                    p_B = Vec3::cst(*p);
                }
                Point::Moving(m) => {
                    let mut dp_dq_B;
                    (p_B, dp_dq_B) = m.place(kin);
                    if let Some((turn, _)) = nudge {
                        dp_dq_B += turn.cross(dp_dq_B);
                    }
                    dp_dq_G = X_GB.R * dp_dq_B;
                }
            }
            if let Some((turn, shift)) = nudge {
                p_B += turn.cross(p_B) + shift;
            }
            let p_G = *X_GB * p_B;
            st.points.push(CurrentPoint {
                p_G,
                held_G: p_G,
                body: *body,
                origin: PointOrigin::Point(i),
                to_next: T::zero(),
                dp_dq_G,
            });
        }
        if !self.wraps.is_empty() {
            self.wrap(kin, st, change);
        }
        self.compute_length(st);
    }

    /// Lengths of the straight parts, and the sum (1).
    fn compute_length<T: Real>(&self, st: &mut PathState<T>) {
        let mut length = T::zero();
        for i in 1..st.points.len() {
            let (a, b) = (&st.points[i - 1], &st.points[i]);
            if !self.on_one_surface(a.origin, b.origin) {
                let d = super::wrap::sqrt_flat((b.p_G - a.p_G).norm_sq());
                st.points[i - 1].to_next = d;
            }
            length += st.points[i - 1].to_next;
        }
        if let Some(end) = st.points.last_mut() {
            end.to_next = T::zero();
        }
        st.length = length;
    }

    /// Whether two points are wrap points of one object, with its surface between them.
    fn on_one_surface(&self, a: PointOrigin, b: PointOrigin) -> bool {
        match (wrap_of(a), wrap_of(b)) {
            (Some(a), Some(b)) if !self.wraps.is_empty() => self.wraps[a].object == self.wraps[b].object,
            _ => false,
        }
    }

    /// Bends the path around its surfaces.
    ///
    /// One surface is tried once. Several are gone through in order, each with the curves of the others
    /// in place, until the length settles; when an end is inside the second surface and the first was
    /// not met, these two change places after the first round.
    fn wrap<T: Real>(&self, kin: &Kinematics<T>, st: &mut PathState<T>, change: &Change<T>) {
        for (X, w) in st.geometry.X_GW.iter_mut().zip(&self.wraps) {
            if w.active {
                let mut X_BW = Transform::cst(w.X_BW);
                if let Change::Pose { object, turn, shift } = change
                    && *object == w.object
                {
                    X_BW = X_BW.nudged(*turn, *shift);
                }
                *X = kin.X_GB[w.body] * X_BW;
            }
        }
        let count = self.wraps.len();
        st.geometry.first_G.fill(None);
        if count == 1 {
            self.wrap_around(0, st, change);
            return;
        }
        for last in &mut st.geometry.last {
            (last.tried, last.changed, last.curve) = (0, 0, None);
        }
        for (i, o) in st.geometry.order.iter_mut().enumerate() {
            *o = i;
        }
        let mut last_length = f64::INFINITY;
        let mut attempt = 0;
        for round in 0..MAX_ROUNDS {
            let (mut first_clear, mut second_inside) = (false, false);
            let before = attempt;
            for i in 0..count {
                let w = st.geometry.order[i];
                // With the other curves as they were at the last attempt, the outcome is known.
                let Last { tried, curve, .. } = st.geometry.last[w];
                let others_changed =
                    st.geometry.last.iter().enumerate().any(|(j, o)| j != w && o.changed > tried);
                if tried > 0 && !others_changed {
                    continue;
                }
                attempt += 1;
                if curve.is_some() {
                    remove(w, &mut st.points);
                }
                let outcome = self.wrap_around(w, st, change);
                // A path wrap without active points in its range ends the search, as in OpenSim 4.6.
                let Some(outcome) = outcome else {
                    return;
                };
                let last = &mut st.geometry.last[w];
                last.tried = attempt;
                last.curve = curve_of(w, &st.points);
                if last.curve != curve {
                    last.changed = attempt;
                }
                first_clear |= i == 0 && matches!(outcome, Attempt::Clear);
                second_inside |= i == 1 && matches!(outcome, Attempt::Inside);
            }
            if attempt == before {
                return;
            }
            self.compute_length(st);
            let length = st.length.value();
            if (length - last_length).abs() < SETTLED_M {
                return;
            }
            last_length = length;
            if round == 0 && first_clear && second_inside {
                st.geometry.order.swap(0, 1);
                remove(0, &mut st.points);
                attempt += 1;
                st.geometry.last[0] = Last { tried: 0, changed: attempt, curve: None };
            }
        }
    }

    /// Bends the path around one surface, where that costs least; what the last segment tried met, or
    /// nothing when no point of the range is active.
    fn wrap_around<T: Real>(
        &self,
        w: usize,
        st: &mut PathState<T>,
        change: &Change<T>,
    ) -> Option<Attempt<f64>> {
        let wrap = &self.wraps[w];
        if !wrap.active {
            return Some(Attempt::Clear);
        }
        // The active points of the range, in the current list.
        let in_range = |p: &CurrentPoint<T>| match p.origin {
            PointOrigin::Point(i) => i >= wrap.first && i <= wrap.last,
            _ => false,
        };
        let start = st.points.iter().position(in_range)?;
        let end = st.points.iter().rposition(in_range)?;

        let X_GW = st.geometry.X_GW[w];
        let X = value(&X_GW);
        let alone = self.wraps.len() == 1;
        let mut best: Option<(usize, SurfaceCurve<f64>)> = None;
        let mut least = f64::INFINITY;
        let mut outcome = Attempt::Clear;
        for i in start..end {
            let (from, to) = (&st.points[i], &st.points[i + 1]);
            if let Some(known) = wrap.outcome_between(from.origin, to.origin) {
                outcome = known;
            } else if !self.on_one_surface(from.origin, to.origin) {
                let [p1, p2] = [from, to].map(|p| X.inverse_mul(p.held_G.value()));
                outcome = wrap.surface.wrap(p1, p2, alone);
                match outcome {
                    Attempt::Mandatory(c) => {
                        best = Some((i, c));
                        break;
                    }
                    Attempt::Optional(c) => {
                        let (a, b) = (from.p_G.value(), to.p_G.value());
                        let around = (a - X * c.r1).norm() + c.length + (b - X * c.r2).norm();
                        let detour = around - (a - b).norm();
                        if detour < least {
                            (best, least) = (Some((i, c)), detour);
                        }
                    }
                    _ => {}
                }
            }
        }
        if let Some((i, c)) = best {
            self.insert(w, i, c, st, change);
        }
        Some(outcome)
    }

    /// Puts the two ends of a curve into the path after point `i`.
    fn insert<T: Real>(
        &self,
        w: usize,
        i: usize,
        curve: SurfaceCurve<f64>,
        st: &mut PathState<T>,
        change: &Change<T>,
    ) {
        let wrap = &self.wraps[w];
        let X_GW = st.geometry.X_GW[w];
        let curve = if T::ORDER == 0 {
            SurfaceCurve { r1: Vec3::cst(curve.r1), r2: Vec3::cst(curve.r2), length: T::cst(curve.length) }
        } else {
            // The segment is known; once more, now with derivatives.
            let local = |p: &CurrentPoint<T>| X_GW.inverse_mul(p.held_G);
            let (p1, p2) = (local(&st.points[i]), local(&st.points[i + 1]));
            // With everything twice as large the curve is too: a larger surface is one of its own size seen from nearer.
            let times = match *change {
                Change::Size(object, times) if object == wrap.object => Some(times),
                _ => None,
            };
            let (p1, p2) = times.map_or((p1, p2), |times| (p1 / times, p2 / times));
            let alone = self.wraps.len() == 1;
            let attempt = wrap.surface.wrap_with_derivatives(p1, p2, alone);
            let Some(mut curve) = attempt.curve().map(|&c| times.map_or(c, |times| c.times(times))) else {
                return;
            };
            if let Change::Dimension { object, which, by } = *change
                && object == wrap.object
                && let Some(slope) = wrap.surface.slope_by_size(which, p1.value(), p2.value(), alone)
            {
                curve.r1 += Vec3::cst(slope.r1) * by;
                curve.r2 += Vec3::cst(slope.r2) * by;
                curve.length += by * slope.length;
            }
            curve
        };
        let held_G = [X_GW * curve.r1, X_GW * curve.r2];
        let p_G = *st.geometry.first_G[w].get_or_insert(held_G);
        let point = |end: usize, origin: PointOrigin, to_next: T| CurrentPoint {
            p_G: p_G[end],
            held_G: held_G[end],
            body: wrap.body,
            origin,
            to_next,
            dp_dq_G: Vec3::zero(),
        };
        st.points.insert(i + 1, point(0, PointOrigin::WrapStart(w), curve.length));
        st.points.insert(i + 2, point(1, PointOrigin::WrapEnd(w), T::zero()));
    }

    /// Lengthening speed (2).
    pub fn compute_speed<T: Real>(&self, kin: &Kinematics<T>, st: &mut PathState<T>) {
        let mut speed = T::zero();
        for pair in st.points.windows(2) {
            let (a, b) = (&pair[0], &pair[1]);
            let (moves_a, moves_b) = (self.moves(a), self.moves(b));
            // Points fixed to one body keep their distance, unless they are reported where they are not.
            let fixed = a.body == b.body && moves_a.is_none() && moves_b.is_none();
            if fixed && (self.wraps.len() < 2 || (!displaced(a) && !displaced(b))) {
                continue;
            }
            let velocity = |p: &CurrentPoint<T>, moves: Option<usize>| {
                let v = kin.velocity_at(p.body, p.held_G);
                match moves {
                    Some(m) => v + p.dp_dq_G * kin.u[m],
                    None => v,
                }
            };
            let v = velocity(a, moves_a) - velocity(b, moves_b);
            let d = match fixed {
                true => super::wrap::sqrt_flat((a.p_G - b.p_G).norm_sq()),
                false => a.to_next,
            };
            speed += d.where_below(
                T::cst(f64::EPSILON),
                || super::wrap::sqrt_flat(v.norm_sq()),
                || v.dot(a.p_G - b.p_G) / d,
            );
        }
        st.speed = speed;
    }

    /// Loads (3) of a tension.
    ///
    /// As in OpenSim 4.6, points of the same body exchange no force even if one of them moves on it.
    pub fn apply_tension<T: Real>(
        &self,
        kin: &Kinematics<T>,
        st: &PathState<T>,
        tension: T,
        loads: &mut Loads<T>,
    ) {
        for pair in st.points.windows(2) {
            let (a, b) = (&pair[0], &pair[1]);
            // What records divides by a length that is never so small between points of two bodies, or says so.
            if a.body == b.body || a.to_next.usually_below(T::cst(COINCIDENT_M)) {
                continue;
            }
            let f = (b.p_G - a.p_G) * (tension / a.to_next);
            loads.add_force_at(kin, a.body, a.held_G, f);
            loads.add_force_at(kin, b.body, b.held_G, -f);
            if let Some(m) = self.moves(a) {
                loads.mobility[m] += a.dp_dq_G.dot(f);
            }
            if let Some(m) = self.moves(b) {
                loads.mobility[m] -= b.dp_dq_G.dot(f);
            }
        }
    }

    /// The mobility that moves a point on its body.
    #[inline]
    fn moves<T>(&self, p: &CurrentPoint<T>) -> Option<usize> {
        match p.origin {
            PointOrigin::Point(i) if self.has_moving => match &self.points[i].1 {
                Point::Moving(m) => m.mobility,
                _ => None,
            },
            _ => None,
        }
    }
}

impl Wrap {
    /// The outcome of the segment between two points of the current path, if it is the same in every pose.
    #[inline]
    fn outcome_between(&self, from: PointOrigin, to: PointOrigin) -> Option<Attempt<f64>> {
        match (from, to) {
            (PointOrigin::Point(i), PointOrigin::Point(j)) if j == i + 1 => self.settled[i],
            _ => None,
        }
    }
}

impl Point {
    /// Its place, if it is fixed to its body and that is the body meant.
    fn place_on(&self, is_the_body: bool) -> Option<Vec3<f64>> {
        match self {
            Point::Fixed(p_B) | Point::Conditional { p_B, .. } => is_the_body.then_some(*p_B),
            Point::Moving(_) => None,
        }
    }
}

impl Moving {
    /// Place in the body and its slope over the coordinate.
    ///
    /// The place stops at the ends of the coordinate's range; the slope, as in OpenSim 4.6, does not.
    fn place<T: Real>(&self, kin: &Kinematics<T>) -> (Vec3<T>, Vec3<T>) {
        let q = self.mobility.map_or(T::zero(), |m| kin.q[m]);
        let [x, y, z] = [0, 1, 2].map(|i| self.f[i].eval1(q));
        let slope = match self.mobility {
            Some(_) => vec3(x[1], y[1], z[1]),
            None => Vec3::zero(),
        };
        let inside = || vec3(x[0], y[0], z[0]);
        let at = |end: f64| {
            let [x, y, z] = [0, 1, 2].map(|i| self.f[i].eval1(T::cst(end))[0]);
            vec3(x, y, z)
        };
        let (low, high) = (T::cst(self.low), T::cst(self.high));
        // Simbody's clamp: the low end wins if the range is upside down.
        let p_F = match self.mobility {
            None => inside(),
            Some(_) => low.where_at_most(
                q,
                || q.where_at_most(high, inside, || at(self.high)),
                || q.where_below(low, || at(self.low), || at(self.high)),
            ),
        };
        let X_BF = Transform::cst(self.X_BF);
        (X_BF * p_F, X_BF.R * slope)
    }
}

/// Resolves frames and coordinates of a point.
fn compile_point(point: &PathPoint, resolve: &dyn Resolve) -> Result<(usize, Point), PathError> {
    let BodyFrame { body, X_BF } = resolve.frame(point.frame);
    let compiled = match &point.kind {
        PathPointKind::Fixed(p) => Point::Fixed(X_BF * *p),
        PathPointKind::Conditional { location, coordinate, range } => Point::Conditional {
            p_B: X_BF * *location,
            mobility: resolve.mobility(*coordinate),
            low: range[0] - CONDITION_SLACK,
            high: range[1] + CONDITION_SLACK,
        },
        PathPointKind::Moving { x, y, z, range } => {
            if x.coordinate != y.coordinate || x.coordinate != z.coordinate {
                return Err(PathError::MixedCoordinates { name: point.name.clone() });
            }
            for c in [x, y, z] {
                if c.function.arity() > 1 {
                    return Err(PathError::BadFunction {
                        what: format!("a component of moving path point `{}`", point.name),
                        expected: 1,
                        found: c.function.arity(),
                    });
                }
            }
            Point::Moving(Box::new(Moving {
                X_BF,
                f: [x.function.clone(), y.function.clone(), z.function.clone()],
                mobility: x.coordinate.map(|c| resolve.mobility(c)),
                low: range[0],
                high: range[1],
            }))
        }
    };
    Ok((body, compiled))
}

/// The path wrap a point belongs to.
fn wrap_of(origin: PointOrigin) -> Option<usize> {
    match origin {
        PointOrigin::Point(_) => None,
        PointOrigin::WrapStart(w) | PointOrigin::WrapEnd(w) => Some(w),
    }
}

/// Whether a wrap point has moved since it first became part of the path.
fn displaced<T: Real>(p: &CurrentPoint<T>) -> bool {
    p.p_G.value() != p.held_G.value()
}

/// The curve of a path wrap in the list: the point before it, its ends in ground and its length.
fn curve_of<T: Real>(w: usize, points: &[CurrentPoint<T>]) -> Option<(PointOrigin, [Vec3<T>; 2], T)> {
    let i = points.iter().position(|p| p.origin == PointOrigin::WrapStart(w))?;
    match &points[i.saturating_sub(1)..] {
        [before, start, end, ..] => Some((before.origin, [start.held_G, end.held_G], start.to_next)),
        _ => None,
    }
}

/// Takes the two points of a path wrap out of the list.
fn remove<T>(w: usize, points: &mut Vec<CurrentPoint<T>>) {
    points.retain(|p| wrap_of(p.origin) != Some(w));
}

/// A pose without derivatives.
pub(super) fn value<T: Real>(X: &Transform<T>) -> Transform<f64> {
    let mut out = Transform::identity();
    for (to, from) in out.R.0.col.iter_mut().zip(X.R.0.col) {
        *to = from.value();
    }
    out.p = X.p.value();
    out
}
