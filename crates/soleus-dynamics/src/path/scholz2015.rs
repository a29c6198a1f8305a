//! Shortest path over obstacles: straight between obstacles and a geodesic on each.

mod geodesic;
mod solver;
mod surface;
#[cfg(test)]
mod tests;

use super::geometry_path::{COINCIDENT_M, Change};
use super::wrap::sqrt_flat;
use super::{CurrentPoint, PathError, PathState, PointOrigin};
use crate::kinematics::{BodyFrame, Kinematics, Loads, Resolve};
use geodesic::{Geodesic, shoot};
use soleus_math::{Jet, Real, Transform, Vec3};
use soleus_model::contact::ContactGeometry;
use soleus_model::path::{PathPointKind, Scholz2015Element, Scholz2015Path};
use solver::Contact;
use surface::Obstacle;

/// Ends of a geodesic (place and tangent at its start, then at its end) to second order in its natural variations.
type Series = [Jet<4, 10>; 12];

/// A path over obstacles between points.
///
///   l = Σ |p_{i+1} − p_i| + Σ arc lengths                                      (1)
///   l̇ = Σ (v_{i+1} − v_i)·e over the straight parts                            (2)
///   T e on the first and −T e on the second end of every straight part         (3)
///
/// with e its direction, tangential to the curves at both ends. The path is locally shortest, so that (2) is exactly
/// the rate of (1), and (3) exactly minus its gradient. It depends only on the pose: the search always starts from the
/// contact hints. If no smooth path is found, for example because a point is inside an obstacle, length and speed are
/// NaN.
///
/// Derivatives are computed from the equations of the path, not through the search: geodesics are expanded to second
/// order in their natural variations, and by the implicit function theorem each Newton step on the equations makes one
/// more order exact.
///
/// Source: Scholz, Sherman, Stavness, Delp and Kecskeméthy (2015); OpenSim 4.6, `Scholz2015GeometryPath`.
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledScholz2015Path {
    points: Vec<(usize, Vec3<f64>)>,
    obstacles: Vec<CompiledObstacle>,
    /// Of each part between two points, its first obstacle and the one after its last.
    parts: Vec<[usize; 2]>,
}

/// An obstacle on its body.
#[derive(Clone, Debug, PartialEq)]
struct CompiledObstacle {
    body: usize,
    X_BS: Transform<f64>,
    surface: Obstacle,
    hint: Option<Vec3<f64>>,
}

/// Scratch memory of such a path.
#[derive(Clone, Debug)]
pub struct Scratch<T: Real> {
    contacts: Vec<Contact>,
    solver: solver::Scratch,
    /// Poses of the obstacles in ground.
    X_GS: Vec<Transform<T>>,
    /// Natural variations with derivatives, and the errors of the path.
    y: Vec<T>,
    errors: Vec<T>,
    series: Vec<Series>,
}

impl<T: Real> Scratch<T> {
    pub(super) fn empty() -> Self {
        Scratch {
            contacts: Vec::new(),
            solver: solver::Scratch::new(0),
            X_GS: Vec::new(),
            y: Vec::new(),
            errors: Vec::new(),
            series: Vec::new(),
        }
    }

    pub(super) fn new(path: &CompiledScholz2015Path) -> Self {
        let most = path.parts.iter().map(|[first, end]| end - first).max().unwrap_or(0);
        let lifted = if T::ORDER == 0 { 0 } else { most };
        let series = [Jet::<4, 10>::zero(); 12];
        Scratch {
            contacts: path.obstacles.iter().map(|o| Contact::new(o.surface, o.hint)).collect(),
            solver: solver::Scratch::new(most),
            X_GS: vec![Transform::identity(); path.obstacles.len()],
            y: vec![T::zero(); 4 * lifted],
            errors: vec![T::zero(); 4 * lifted],
            series: vec![series; lifted],
        }
    }
}

impl CompiledScholz2015Path {
    /// Checks and compiles a path.
    pub fn compile(
        path: &Scholz2015Path,
        geometries: &[ContactGeometry],
        resolve: &dyn Resolve,
    ) -> Result<Self, PathError> {
        let count = path.points().count();
        if count < 2 {
            return Err(PathError::TooFewPoints { count });
        }
        let is_point = |e: Option<&Scholz2015Element>| matches!(e, Some(Scholz2015Element::Point(_)));
        if !is_point(path.elements.first()) || !is_point(path.elements.last()) {
            return Err(PathError::ObstacleAtEnd);
        }
        let (mut points, mut obstacles, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = 0;
        for element in &path.elements {
            match element {
                Scholz2015Element::Point(p) => {
                    let PathPointKind::Fixed(p_F) = p.kind else {
                        return Err(PathError::NotFixed { name: p.name.clone() });
                    };
                    let BodyFrame { body, X_BF } = resolve.frame(p.frame);
                    if !points.is_empty() {
                        parts.push([first, obstacles.len()]);
                    }
                    first = obstacles.len();
                    points.push((body, X_BF * p_F));
                }
                Scholz2015Element::Obstacle(o) => {
                    let (index, count) = (o.geometry.0, geometries.len());
                    let geometry =
                        geometries.get(index).ok_or(PathError::NoSuchContactGeometry { index, count })?;
                    let name = || geometry.name.clone();
                    let surface = Obstacle::new(&geometry.shape).ok_or_else(|| PathError::BadObstacle {
                        name: name(),
                        class: geometry.shape.class(),
                    })?;
                    let hint = o.contact_hint;
                    if hint.is_some_and(|h| !surface.project(h).norm().is_finite()) {
                        return Err(PathError::BadContactHint { name: name() });
                    }
                    let BodyFrame { body, X_BF } = resolve.frame(geometry.frame);
                    let X_BS = X_BF * geometry.pose_in_frame();
                    obstacles.push(CompiledObstacle { body, X_BS, surface, hint });
                }
            }
        }
        Ok(CompiledScholz2015Path { points, obstacles, parts })
    }

    /// Maximum number of points of the current path.
    pub fn max_points(&self) -> usize {
        self.points.len() + 2 * self.obstacles.len()
    }

    /// Number of obstacles.
    pub fn num_obstacles(&self) -> usize {
        self.obstacles.len()
    }

    /// Bodies of its points and obstacles.
    pub(super) fn bodies(&self) -> Vec<usize> {
        let mut list: Vec<usize> = self.points.iter().map(|p| p.0).collect();
        list.extend(self.obstacles.iter().map(|o| o.body));
        list.sort_unstable();
        list.dedup();
        list
    }

    /// Points and length (1).
    pub fn compute_position<T: Real>(&self, kin: &Kinematics<T>, st: &mut PathState<T>) {
        self.compute_position_changed(kin, st, &Change::None);
    }

    /// The same with a change of the path.
    pub(crate) fn compute_position_changed<T: Real>(
        &self,
        kin: &Kinematics<T>,
        st: &mut PathState<T>,
        change: &Change<T>,
    ) {
        let PathState { points, scholz2015: s, .. } = st;
        points.clear();
        for (i, o) in self.obstacles.iter().enumerate() {
            let mut X_BS = Transform::cst(o.X_BS);
            if let Change::Obstacle { obstacle, turn, shift } = change
                && *obstacle == i
            {
                X_BS = X_BS.nudged(*turn, *shift);
            }
            s.X_GS[i] = kin.X_GB[o.body] * X_BS;
            s.contacts[i].X_GS = super::geometry_path::value(&s.X_GS[i]);
        }
        let place = |i: usize| {
            let (body, p) = self.points[i];
            let mut p_B = Vec3::cst(p);
            if let Change::Point { point, turn, shift } = change
                && *point == i
            {
                p_B += turn.cross(p_B) + *shift;
            }
            kin.X_GB[body] * p_B
        };
        let current = |p_G: Vec3<T>, body: usize, origin: PointOrigin, to_next: T| CurrentPoint {
            p_G,
            held_G: p_G,
            body,
            origin,
            to_next,
            dp_dq_G: Vec3::zero(),
        };
        let mut from = place(0);
        for (i, &[first, end]) in self.parts.iter().enumerate() {
            let to = place(i + 1);
            let contacts = &mut s.contacts[first..end];
            points.push(current(from, self.points[i].0, PointOrigin::Point(i), T::zero()));
            let found = solver::solve(from.value(), to.value(), contacts, &mut s.solver);
            let start = points.len();
            if found.is_ok() {
                for (k, c) in contacts.iter().enumerate().filter(|(_, c)| c.touches) {
                    let (X_GS, body) = (&s.X_GS[first + k], self.obstacles[first + k].body);
                    let [p, q] = [c.start.p, c.end.p].map(|p| *X_GS * Vec3::cst(p));
                    points.push(current(p, body, PointOrigin::WrapStart(first + k), T::cst(c.length)));
                    points.push(current(q, body, PointOrigin::WrapEnd(first + k), T::zero()));
                }
                if T::ORDER > 0 && points.len() > start {
                    lift(from, to, first, &mut points[start..], s, end);
                }
            }
            // Lengths of the straight parts.
            points.push(current(to, self.points[i + 1].0, PointOrigin::Point(i + 1), T::zero()));
            for k in start - 1..points.len() - 1 {
                if !matches!(points[k].origin, PointOrigin::WrapStart(_)) {
                    points[k].to_next = sqrt_flat((points[k + 1].p_G - points[k].p_G).norm_sq());
                }
            }
            if found.is_err() {
                points[start - 1].to_next = T::cst(f64::NAN);
            }
            points.pop();
            from = to;
        }
        let last = self.points.len() - 1;
        points.push(current(from, self.points[last].0, PointOrigin::Point(last), T::zero()));
        st.length = points.iter().map(|p| p.to_next).sum();
    }

    /// Lengthening speed (2).
    pub fn compute_speed<T: Real>(&self, kin: &Kinematics<T>, st: &mut PathState<T>) {
        let mut speed = T::zero();
        for (a, b) in straight_parts(st) {
            // A straight part between two places of one body does not change, but it may be missing.
            if a.body == b.body {
                speed += a.to_next * 0.0;
                continue;
            }
            let v = kin.velocity_at(b.body, b.p_G) - kin.velocity_at(a.body, a.p_G);
            speed += if a.to_next.value() < COINCIDENT_M {
                sqrt_flat(v.norm_sq())
            } else {
                v.dot(b.p_G - a.p_G) / a.to_next
            };
        }
        st.speed = speed;
    }

    /// Loads (3) of a tension.
    pub fn apply_tension<T: Real>(
        &self,
        kin: &Kinematics<T>,
        st: &PathState<T>,
        tension: T,
        loads: &mut Loads<T>,
    ) {
        for (a, b) in straight_parts(st) {
            if a.body == b.body || a.to_next.value() < COINCIDENT_M {
                continue;
            }
            let f = (b.p_G - a.p_G) * (tension / a.to_next);
            loads.add_force_at(kin, a.body, a.p_G, f);
            loads.add_force_at(kin, b.body, b.p_G, -f);
        }
    }

    /// Appends `count` points on the curve over an obstacle, in ground, to a list; none if the path does not touch it.
    /// After [`compute_position`](Self::compute_position).
    pub fn extend_curve(
        &self,
        st: &PathState<f64>,
        obstacle: usize,
        count: usize,
        line: &mut Vec<Vec3<f64>>,
    ) {
        let Some(c) = st.scholz2015.contacts.get(obstacle).filter(|c| c.touches) else { return };
        for i in 1..=count {
            let share = i as f64 / (count + 1) as f64;
            let geodesic = shoot::<f64, false>(&c.surface, c.start.p, c.start.t, c.length * share);
            line.push(c.X_GS * geodesic.end.p);
        }
    }
}

/// Straight parts of the current path.
fn straight_parts<T: Real>(st: &PathState<T>) -> impl Iterator<Item = (&CurrentPoint<T>, &CurrentPoint<T>)> {
    let pairs = st.points.windows(2).map(|pair| (&pair[0], &pair[1]));
    pairs.filter(|(a, _)| !matches!(a.origin, PointOrigin::WrapStart(_)))
}

/// Gives derivatives to the ends and lengths of the curves of one part, which are in `points` with their values. Obstacles are
/// those from `first` to before `end`.
fn lift<T: Real>(
    from: Vec3<T>,
    to: Vec3<T>,
    first: usize,
    points: &mut [CurrentPoint<T>],
    s: &mut Scratch<T>,
    end: usize,
) {
    const { assert!(T::ORDER <= 2, "paths over obstacles have first and second derivatives only") };
    let Scratch { contacts, solver, X_GS, y, errors, series } = s;
    let contacts = &contacts[first..end];
    let inverse = solver::inverse_jacobian(from.value(), to.value(), contacts, solver);
    let touching = || contacts.iter().zip(&X_GS[first..end]).filter(|(c, _)| c.touches);
    for (series, (c, _)) in series.iter_mut().zip(touching()) {
        *series = expand(c);
    }
    let width = 2 * points.len();
    let (y, errors) = (&mut y[..width], &mut errors[..width]);
    y.fill(T::zero());
    let place = |c: &Contact, series: &Series, y: &[T], points: &mut [CurrentPoint<T>], X: &Transform<T>| {
        points[0].p_G = *X * evaluate(&series[0..3], c.start.p, y);
        points[1].p_G = *X * evaluate(&series[6..9], c.end.p, y);
        points[0].to_next = y[3] + c.length;
    };
    for _ in 0..T::ORDER {
        for (k, (c, X)) in touching().enumerate() {
            place(c, &series[k], &y[4 * k..4 * k + 4], &mut points[2 * k..2 * k + 2], X);
        }
        for (k, (c, X)) in touching().enumerate() {
            let y = &y[4 * k..4 * k + 4];
            let before = if k == 0 { from } else { points[2 * k - 1].p_G };
            let after = points.get(2 * k + 2).map_or(to, |p| p.p_G);
            let lines = [points[2 * k].p_G - before, after - points[2 * k + 1].p_G];
            for (i, (line, at)) in lines.into_iter().zip([&c.start, &c.end]).enumerate() {
                let e = X.R.inverse_mul(line.normalized());
                let p = evaluate(&series[k][6 * i..6 * i + 3], at.p, y);
                let t = evaluate(&series[k][6 * i + 3..6 * i + 6], at.t, y);
                let n = c.surface.normal(p);
                errors[4 * k + 2 * i] = e.dot(n);
                errors[4 * k + 2 * i + 1] = e.dot(t.cross(n));
            }
        }
        for (row, y) in y.iter_mut().enumerate() {
            let step: T = errors.iter().enumerate().map(|(j, e)| *e * inverse[j * width + row]).sum();
            *y = y.refine(step, T::one());
        }
    }
    for (k, (c, X)) in touching().enumerate() {
        place(c, &series[k], &y[4 * k..4 * k + 4], &mut points[2 * k..2 * k + 2], X);
    }
    for p in points {
        p.held_G = p.p_G;
    }
}

/// The ends of a geodesic by its natural variations: along, across, turning, longer.
fn expand(c: &Contact) -> Series {
    let [along, across, turn, longer] = [0, 1, 2, 3].map(|i| Jet::<4, 10>::variable(0.0, i));
    let cst = |v: Vec3<f64>| Vec3::<Jet<4, 10>>::cst(v);
    let (t, b) = (cst(c.start.t), cst(c.start.b()));
    let p = cst(c.start.p) + t * along + b * across;
    let Geodesic { start, end, .. } = shoot::<_, false>(&c.surface, p, t + b * turn, longer + c.length);
    let [p, t, q, u] = [start.p, start.t, end.p, end.t].map(Vec3::to_array);
    let mut out = [Jet::zero(); 12];
    for (to, from) in out.iter_mut().zip(p.into_iter().chain(t).chain(q).chain(u)) {
        *to = from;
    }
    out
}

/// Value, first and second order of a series of three components; y has the value zero.
fn evaluate<T: Real>(series: &[Jet<4, 10>], value: Vec3<f64>, y: &[T]) -> Vec3<T> {
    let mut out = Vec3::cst(value);
    for (k, jet) in series.iter().enumerate() {
        for i in 0..4 {
            let mut slope = T::cst(jet.g[i]);
            if T::ORDER > 1 {
                for j in 0..=i {
                    let share = if i == j { 0.5 } else { 1.0 };
                    slope += y[j] * (share * jet.second(i, j));
                }
            }
            out[k] += y[i] * slope;
        }
    }
    out
}
