//! Closed forms, identities, invariants and derivatives of paths.

#![allow(non_snake_case)]

use soleus_dynamics::path::wrap::{Attempt, Cylinder, Ellipsoid, Side, Sphere, Surface, Torus};
use soleus_dynamics::path::{CompiledPath, PathError, PathState, PointOrigin};
use soleus_dynamics::{BodyFrame, Kinematics, Loads, Resolve};
use soleus_math::Random;
use soleus_math::{Dual, Function, Real, Rotation, SpatialVec, Transform, Vec3, vec3};
use soleus_model::id::{CoordinateId, FrameId, WrapId};
use soleus_model::path::*;
use std::f64::consts::PI;

struct Frames;
impl Resolve for Frames {
    fn frame(&self, id: FrameId) -> BodyFrame {
        BodyFrame { body: id.0, X_BF: Transform::identity() }
    }
    fn mobility(&self, id: CoordinateId) -> usize {
        id.0
    }
}

/// Numbers in [−1, 1) from a seed.
struct Seeded(Random);
impl Seeded {
    fn new(seed: u64) -> Self {
        Seeded(Random::new(seed))
    }
    fn next(&mut self) -> f64 {
        self.0.signed()
    }
    fn vec(&mut self, scale: f64) -> Vec3<f64> {
        vec3(self.next() * scale, self.next() * scale, self.next() * scale)
    }
}

fn fixed(body: usize, p: Vec3<f64>) -> PathPoint {
    PathPoint { name: format!("on {body}"), frame: FrameId(body), kind: PathPointKind::Fixed(p) }
}

fn surface(body: usize, shape: WrapShape, pose: Transform<f64>, quadrant: Quadrant) -> WrapObject {
    WrapObject {
        name: "surface".into(),
        path: String::new(),
        frame: FrameId(body),
        pose,
        active: true,
        quadrant,
        shape,
    }
}

fn compile(points: Vec<PathPoint>, objects: &[WrapObject]) -> CompiledPath {
    let wraps = (0..objects.len())
        .map(|i| PathWrap { wrap: WrapId(i), method: WrapMethod::Hybrid, range: [-1, -1] })
        .collect();
    CompiledPath::compile(&Path::Geometry(GeometryPath { points, wraps }), objects, &[], &Frames)
        .expect("a path")
}

/// A pose carried along its velocity for a time t.
fn moved<T: Real>(X: &Transform<f64>, V: &SpatialVec<f64>, t: T) -> Transform<T> {
    let rate = V.w.norm();
    let turn = if rate > 0.0 { Rotation::about(V.w * (1.0 / rate), t * rate) } else { Rotation::identity() };
    Transform::new(turn * Rotation::cst(X.R), Vec3::cst(X.p) + Vec3::cst(V.v) * t)
}

/// The path of a muscle over a knee: a moving point, a conditional point, two bodies and a surface on one.
fn knee(shapes: &[WrapShape]) -> CompiledPath {
    let slope = |slope: f64, intercept: f64| MovingComponent {
        function: Function::Linear { slope, intercept },
        coordinate: Some(CoordinateId(0)),
    };
    let moving = PathPointKind::Moving {
        x: slope(0.02, 0.06),
        y: slope(-0.01, 0.03),
        z: slope(0.004, 0.0),
        range: [-1.0, 1.0],
    };
    let conditional = PathPointKind::Conditional {
        location: vec3(0.08, 0.06, 0.01),
        coordinate: CoordinateId(0),
        range: [0.2, 2.0],
    };
    let points = vec![
        fixed(1, vec3(0.05, 0.3, 0.02)),
        PathPoint { name: "conditional".into(), frame: FrameId(2), kind: conditional },
        PathPoint { name: "moving".into(), frame: FrameId(2), kind: moving },
        fixed(2, vec3(0.03, -0.1, 0.0)),
    ];
    let objects: Vec<_> = shapes
        .iter()
        .map(|s| {
            surface(1, *s, Transform::from_offset(vec3(0.0, -0.05, 0.03), vec3(0.1, 0.2, 0.3)), Quadrant::All)
        })
        .collect();
    compile(points, &objects)
}

fn knee_pose() -> ([Transform<f64>; 3], [SpatialVec<f64>; 3]) {
    let X = [
        Transform::identity(),
        Transform::from_offset(vec3(0.1, 0.9, 0.0), vec3(0.1, -0.2, 0.3)),
        Transform::from_offset(vec3(0.15, 0.5, 0.02), vec3(-0.2, 0.1, -0.6)),
    ];
    let V = [
        SpatialVec::default(),
        SpatialVec::new(vec3(0.3, -1.1, 2.0), vec3(1.0, 0.2, -0.4)),
        SpatialVec::new(vec3(-0.5, 0.7, -3.0), vec3(0.8, -0.3, 0.1)),
    ];
    (X, V)
}

#[test]
fn analytic_straight_path() {
    let path = compile(vec![fixed(1, vec3(3.0, 0.0, 0.0)), fixed(2, vec3(0.0, 4.0, 0.0))], &[]);
    let X = [Transform::identity(); 3];
    let mut V = [SpatialVec::default(); 3];
    V[2].v = vec3(0.0, 10.0, 0.0);
    let kin = Kinematics { time: 0.0, X_GB: &X, V_GB: &V, q: &[], u: &[] };
    let mut st = PathState::new(&path);
    path.compute_position(&kin, &mut st);
    path.compute_speed(&kin, &mut st);
    assert_eq!((st.length(), st.speed()), (5.0, 8.0));

    let (mut body, mut mobility) = ([SpatialVec::default(); 3], [0.0; 0]);
    path.apply_tension(&kin, &st, 10.0, &mut Loads { body: &mut body, mobility: &mut mobility });
    assert_eq!(body[1].v, vec3(-6.0, 8.0, 0.0));
    assert_eq!(body[2].v, vec3(6.0, -8.0, 0.0));
    assert_eq!(body[1].w, vec3(3.0, 0.0, 0.0).cross(vec3(-6.0, 8.0, 0.0)));
}

/// A great circle: both tangents √(d² − R²) and R times the angle that is left.
#[test]
fn analytic_sphere() {
    let R = 0.1;
    let (p1, p2) = (vec3(-0.3, 0.01, 0.02), vec3(0.25, 0.03, -0.04));
    let Attempt::Optional(c) = Sphere::new(R, None).wrap(p1, p2) else { panic!("does not wrap") };
    let (d1, d2) = (p1.norm(), p2.norm());
    let angle = (p1.dot(p2) / (d1 * d2)).acos() - (R / d1).acos() - (R / d2).acos();
    assert!((c.length - R * angle).abs() < 1e-15);
    assert!(((c.r1 - p1).norm() - (d1 * d1 - R * R).sqrt()).abs() < 1e-15);
    assert!(((c.r2 - p2).norm() - (d2 * d2 - R * R).sqrt()).abs() < 1e-15);
}

/// Through the very centre, where OpenSim 4.6 has no number, the length is that of the limit.
#[test]
fn analytic_sphere_through_the_centre() {
    let sphere = Sphere::new(0.1, None);
    let Attempt::Optional(c) = sphere.wrap(vec3(-0.2, 0.0, 0.0), vec3(0.2, 0.0, 0.0)) else {
        panic!("does not wrap")
    };
    assert!((c.length - 0.1 * PI / 3.0).abs() < 1e-15);
}

/// Across the axis a cylinder is a circle, and so are an ellipsoid of equal axes and a sphere.
#[test]
fn analytic_round_bodies_agree_in_a_plane() {
    let R = 0.1;
    let (p1, p2) = (vec3(-0.3, 0.01, 0.0), vec3(0.25, 0.03, 0.0));
    let (d1, d2) = (p1.norm(), p2.norm());
    let want = R * ((p1.dot(p2) / (d1 * d2)).acos() - (R / d1).acos() - (R / d2).acos());
    let c = *Cylinder::new(R, 1.0, None).wrap(p1, p2, true).curve().expect("a curve");
    assert!((c.length - want).abs() < 1e-15);
    let ball = Ellipsoid::new(vec3(R, R, R), None, WrapMethod::Hybrid);
    let c = *ball.wrap(p1, p2).curve().expect("a curve");
    let whole = c.length + (c.r1 - p1).norm() + (c.r2 - p2).norm();
    let straight = want + (d1 * d1 - R * R).sqrt() + (d2 * d2 - R * R).sqrt();
    // Chords of 1 mm are short of the arc by R θ (h/R)²/24, here 4e-7 m; the tangent points are good
    // to 1e-4 of R, which enters squared.
    assert!((whole - straight).abs() < 1e-6, "{whole} {straight}");
}

/// Mirror images of the ends have the mirror image of the curve.
///
/// Held to a side this is not so: which tangent points a quadrant picks depends on their order.
#[test]
fn conserves_mirror_symmetry() {
    let mut seeded = Seeded::new(5);
    let mirror = |p: Vec3<f64>| vec3(p.x, -p.y, p.z);
    let mut wrapped = 0;
    for _ in 0..300 {
        let (p1, p2) = (seeded.vec(0.3), seeded.vec(0.3));
        let cylinder = Cylinder::new(0.1, 0.5, None);
        let (a, b) = (cylinder.wrap(p1, p2, true), cylinder.wrap(mirror(p1), mirror(p2), true));
        let (Some(a), Some(b)) = (a.curve(), b.curve()) else { continue };
        assert!((mirror(a.r1) - b.r1).norm() < 1e-12 && (a.length - b.length).abs() < 1e-12);
        wrapped += 1;
    }
    assert!(wrapped > 20, "{wrapped}");
}

/// One rigid motion of everything leaves every length as it is.
#[test]
fn conserves_length_in_rigid_motion() {
    let path = knee(&[WrapShape::Cylinder { radius: 0.05, length: 0.5 }]);
    let (X, _) = knee_pose();
    let (w, v) = (vec3(0.4, -2.0, 1.0), vec3(3.0, 1.0, -2.0));
    let V = X.map(|x| SpatialVec::new(w, v + w.cross(x.p)));
    let kin = Kinematics { time: 0.0, X_GB: &X, V_GB: &V, q: &[0.5], u: &[0.0] };
    let mut st = PathState::new(&path);
    path.compute_position(&kin, &mut st);
    path.compute_speed(&kin, &mut st);
    assert!(st.points().iter().any(|p| p.origin == PointOrigin::WrapEnd(0)), "does not wrap");
    assert!(st.speed().abs() < 1e-14, "{}", st.speed());
}

/// The power of a tension is minus the tension times the lengthening speed.
#[test]
fn identity_tension_power() {
    let path = knee(&[WrapShape::Cylinder { radius: 0.05, length: 0.5 }]);
    let (X, V) = knee_pose();
    for q in [0.1, 0.5] {
        let kin = Kinematics { time: 0.0, X_GB: &X, V_GB: &V, q: &[q], u: &[1.7] };
        let mut st = PathState::new(&path);
        path.compute_position(&kin, &mut st);
        path.compute_speed(&kin, &mut st);
        let (mut body, mut mobility) = ([SpatialVec::default(); 3], [0.0]);
        path.apply_tension(&kin, &st, 100.0, &mut Loads { body: &mut body, mobility: &mut mobility });
        let mut power: f64 = mobility[0] * 1.7;
        for (f, v) in body.iter().zip(&V) {
            power += f.dot(*v);
        }
        // Points of one body exchange no force; what a moving point does there is missing from the power.
        let mut inside = 0.0;
        for pair in st.points().windows(2) {
            let moving = |p: &soleus_dynamics::path::CurrentPoint<f64>| match p.origin {
                PointOrigin::Point(2) => X[2].R * vec3(0.02, -0.01, 0.004) * 1.7,
                _ => Vec3::zero(),
            };
            if pair[0].body == pair[1].body {
                inside += (moving(&pair[0]) - moving(&pair[1])).dot((pair[0].p_G - pair[1].p_G).normalized());
            }
        }
        assert!((power + 100.0 * (st.speed() - inside)).abs() < 1e-11, "{power} {}", st.speed());
    }
}

/// A moving point stops with its coordinate's range; a conditional one comes and goes.
#[test]
fn analytic_moving_and_conditional_points() {
    let path = knee(&[]);
    let (X, V) = knee_pose();
    let at = |q: f64| {
        let kin = Kinematics { time: 0.0, X_GB: &X, V_GB: &V, q: &[q], u: &[0.0] };
        let mut st = PathState::new(&path);
        path.compute_position(&kin, &mut st);
        (st.points().len(), st.points()[st.points().len() - 2].p_G)
    };
    assert_eq!(at(0.1).0, 3);
    assert_eq!(at(0.2 - 0.9e-5).0, 4);
    assert_eq!(at(0.2 - 1.1e-5).0, 3);
    assert_eq!(at(1.0), at(1.5));
    assert!((at(0.5).1 - X[2] * vec3(0.07, 0.025, 0.002)).norm() < 1e-15);
}

/// dl/dt along a motion: dual numbers against central differences, for every surface.
#[test]
fn deriv_wrap_kernels() {
    let side = Some(Side { axis: 1, sign: -1.0 });
    let half = Surface::Cylinder(Cylinder::new(0.1, 0.6, side));
    let ellipsoid = |side, method| Surface::Ellipsoid(Ellipsoid::new(vec3(0.08, 0.12, 0.16), side, method));
    let surfaces = [
        (Surface::Cylinder(Cylinder::new(0.1, 0.6, None)), 1e-8),
        (half, 1e-7),
        (Surface::Sphere(Sphere::new(0.1, None)), 1e-8),
        (Surface::Sphere(Sphere::new(0.1, side)), 1e-7),
        // Where an iteration takes one step more or less, values jump by its tolerance: see `near`.
        (ellipsoid(None, WrapMethod::Hybrid), 1e-6),
        (ellipsoid(side, WrapMethod::Hybrid), 1e-6),
        (ellipsoid(None, WrapMethod::Midpoint), 1e-6),
        (ellipsoid(None, WrapMethod::Axial), 1e-6),
        (Surface::Torus(Torus::new(0.03, 0.12, None)), 1e-6),
    ];
    for (number, (surface, tolerance)) in surfaces.iter().enumerate() {
        let mut seeded = Seeded::new(42);
        let (mut wrapped, mut near) = (0, 0);
        for _ in 0..600 {
            let (p1, p2, v1, v2) = (seeded.vec(0.3), seeded.vec(0.3), seeded.vec(1.0), seeded.vec(1.0));
            let length = |t: f64| {
                let (a, b) = (p1 + v1 * t, p2 + v2 * t);
                surface.wrap(a, b, true).curve().map(|c| (c.r1 - a).norm() + c.length + (c.r2 - b).norm())
            };
            type D = Dual<f64, 1>;
            let t = D::variable(0.0, 0);
            let (a, b) = (Vec3::cst(p1) + Vec3::cst(v1) * t, Vec3::cst(p2) + Vec3::cst(v2) * t);
            let Some(c) = surface.wrap(a, b, true).curve().copied() else { continue };
            let l = (c.r1 - a).norm() + c.length + (c.r2 - b).norm();
            // h = ε^⅓ balances truncation and roundoff near 1e-10. The fan of an ellipsoid changes within
            // 1e-5 where one of its points crosses a plane of symmetry, and asks for a smaller step.
            let h = if number < 4 { 6e-6 } else { 1e-7 };
            let (Some(low), Some(mid), Some(high)) = (length(-h), length(0.0), length(h)) else { continue };
            assert_eq!(mid.to_bits(), l.v.to_bits(), "value of surface {number}");
            let fd = (high - low) / (2.0 * h);
            wrapped += 1;
            if (l.d[0] - fd).abs() < tolerance * (1.0 + fd.abs()) {
                near += 1;
            }
        }
        assert!(wrapped >= 50, "surface {number} wraps {wrapped} times");
        // The rest straddle a branch: a quadrant, another number of 1 mm pieces, an iteration more.
        assert!(20 * near >= 19 * wrapped, "surface {number}: {near} of {wrapped}");
    }
}

/// Many directions at once, through the Jacobian, give what one at a time gives.
#[test]
fn identity_wide_and_narrow_derivatives() {
    let surfaces = [
        Surface::Cylinder(Cylinder::new(0.1, 0.6, None)),
        Surface::Ellipsoid(Ellipsoid::new(vec3(0.08, 0.12, 0.16), None, WrapMethod::Hybrid)),
    ];
    let mut seeded = Seeded::new(9);
    for surface in surfaces {
        let mut wrapped = 0;
        for _ in 0..300 {
            let (p1, p2, v1, v2) = (seeded.vec(0.3), seeded.vec(0.3), seeded.vec(1.0), seeded.vec(1.0));
            let narrow = |p: Vec3<f64>, v: Vec3<f64>| {
                Vec3::<Dual<f64, 1>>::cst(p) + Vec3::cst(v) * Dual::variable(0.0, 0)
            };
            let wide = |p: Vec3<f64>, v: Vec3<f64>| {
                Vec3::<Dual<f64, 9>>::cst(p) + Vec3::cst(v) * Dual::variable(0.0, 7)
            };
            let a = surface.wrap_with_derivatives(narrow(p1, v1), narrow(p2, v2), true);
            let b = surface.wrap_with_derivatives(wide(p1, v1), wide(p2, v2), true);
            let (Some(a), Some(b)) = (a.curve(), b.curve()) else { continue };
            assert_eq!(a.length.v.to_bits(), b.length.v.to_bits());
            let off = (a.length.d[0] - b.length.d[7]).abs() + (a.r1.x.d[0] - b.r1.x.d[7]).abs();
            // Two orders of the same sums; iterations amplify rounding.
            assert!(off < 1e-9 * (1.0 + a.length.d[0].abs()), "{off}");
            wrapped += 1;
        }
        assert!(wrapped > 20, "{wrapped}");
    }
}

/// Second derivatives through nested dual numbers against differences of first ones.
#[test]
fn deriv_second_order() {
    type D = Dual<f64, 1>;
    type DD = Dual<D, 1>;
    let (p1, p2, v) = (vec3(-0.2, 0.03, 0.1), vec3(0.24, 0.01, -0.07), vec3(0.4, 0.7, -0.3));
    for surface in [
        Surface::Cylinder(Cylinder::new(0.1, 0.6, None)),
        Surface::Sphere(Sphere::new(0.1, None)),
        Surface::Ellipsoid(Ellipsoid::new(vec3(0.08, 0.12, 0.1), None, WrapMethod::Hybrid)),
    ] {
        let first = |t: f64| {
            let t = D::variable(t, 0);
            surface
                .wrap(Vec3::cst(p1) + Vec3::cst(v) * t, Vec3::cst(p2), true)
                .curve()
                .expect("a curve")
                .length
                .d[0]
        };
        let t = DD::new(D::variable(0.0, 0), [D::cst(1.0)]);
        let c =
            *surface.wrap(Vec3::cst(p1) + Vec3::cst(v) * t, Vec3::cst(p2), true).curve().expect("a curve");
        let h = 6e-6;
        let fd = (first(h) - first(-h)) / (2.0 * h);
        let second = c.length.d[0].d[0];
        assert!((second - fd).abs() < 1e-5 * (1.0 + fd.abs()), "{second} vs {fd}");
    }
}

/// Length and speed of a whole path: dual numbers against central differences; values bit for bit.
#[test]
fn deriv_whole_path() {
    let shapes = [WrapShape::Cylinder { radius: 0.05, length: 0.5 }, WrapShape::Sphere { radius: 0.02 }];
    for path in [knee(&shapes[..1]), knee(&shapes)] {
        let (X, V) = knee_pose();
        type D = Dual<f64, 1>;
        let t = D::variable(0.0, 0);
        let (u, q) = (1.7, 0.5);
        let Xd = [0, 1, 2].map(|i| moved(&X[i], &V[i], t));
        let Vd = V.map(|v| SpatialVec::new(Vec3::cst(v.w), Vec3::cst(v.v)));
        let (qd, ud) = ([t * u + q], [D::cst(u)]);
        let kin = Kinematics { time: t, X_GB: &Xd, V_GB: &Vd, q: &qd, u: &ud };
        let mut st = PathState::new(&path);
        path.compute_position(&kin, &mut st);
        path.compute_speed(&kin, &mut st);

        let at = |t: f64| {
            let X = [0, 1, 2].map(|i| moved(&X[i], &V[i], t));
            let (q, u) = ([t * u + q], [u]);
            let kin = Kinematics { time: t, X_GB: &X, V_GB: &V, q: &q, u: &u };
            let mut st = PathState::new(&path);
            path.compute_position(&kin, &mut st);
            path.compute_speed(&kin, &mut st);
            (st.length(), st.speed())
        };
        assert_eq!(
            (st.length().v.to_bits(), st.speed().v.to_bits()),
            (at(0.0).0.to_bits(), at(0.0).1.to_bits())
        );
        let h = 6e-6;
        let fd = [(at(h).0 - at(-h).0) / (2.0 * h), (at(h).1 - at(-h).1) / (2.0 * h)];
        assert!((st.length().d[0] - fd[0]).abs() < 1e-8, "{} {}", st.length().d[0], fd[0]);
        assert!(
            (st.speed().d[0] - fd[1]).abs() < 1e-7 * (1.0 + fd[1].abs()),
            "{} {}",
            st.speed().d[0],
            fd[1]
        );
        // A helix close to a geodesic: the speed of the points and the rate of the length nearly agree.
        assert!((st.speed().v - st.length().d[0]).abs() < 0.05 * st.speed().v.abs());
    }
}

/// What was computed before does not matter.
#[test]
fn conserves_nothing_from_the_pose_before() {
    let shapes = [
        WrapShape::Cylinder { radius: 0.05, length: 0.5 },
        WrapShape::Ellipsoid { dimensions: vec3(0.03, 0.02, 0.04) },
    ];
    let path = knee(&shapes);
    let (X, V) = knee_pose();
    let mut used = PathState::new(&path);
    let mut seeded = Seeded::new(1);
    let room = path_room(&used);
    for _ in 0..50 {
        let mut Y = X;
        Y[2].p += seeded.vec(0.2);
        let q = [seeded.next()];
        let kin = Kinematics { time: 0.0, X_GB: &Y, V_GB: &V, q: &q, u: &[0.3] };
        let mut fresh = PathState::new(&path);
        for st in [&mut used, &mut fresh] {
            path.compute_position(&kin, st);
            path.compute_speed(&kin, st);
        }
        assert_eq!(used.length().to_bits(), fresh.length().to_bits());
        assert_eq!(used.speed().to_bits(), fresh.speed().to_bits());
    }
    assert_eq!(path_room(&used), room, "the list of points was moved, so it grew");
}

/// Where the list of points lives.
fn path_room(st: &PathState<f64>) -> *const soleus_dynamics::path::CurrentPoint<f64> {
    st.points().as_ptr()
}

#[test]
fn identity_function_based_path() {
    let length = Function::linear(&[-0.03, 0.05, 0.4]).expect("a function");
    let path = FunctionBasedPath {
        coordinates: vec![CoordinateId(2), CoordinateId(0)],
        length,
        moment_arms: vec![],
        speed: None,
        without_torque: Vec::new(),
    };
    let compiled = CompiledPath::compile(&Path::FunctionBased(path), &[], &[], &Frames).expect("a path");
    let (q, u) = ([0.2, 9.0, -0.7], [1.5, 9.0, 2.0]);
    let kin = Kinematics { time: 0.0, X_GB: &[], V_GB: &[], q: &q, u: &u };
    let mut st = PathState::new(&compiled);
    compiled.compute_position(&kin, &mut st);
    compiled.compute_speed(&kin, &mut st);
    assert!((st.length() - (0.03 * 0.7 + 0.05 * 0.2 + 0.4)).abs() < 1e-15);
    let mut mobility = [0.0; 3];
    compiled.apply_tension(&kin, &st, 10.0, &mut Loads { body: &mut [], mobility: &mut mobility });
    assert!((mobility[2] - 0.3).abs() < 1e-15 && (mobility[0] + 0.5).abs() < 1e-15 && mobility[1] == 0.0);
    let power: f64 = mobility.iter().zip(u).map(|(t, u)| t * u).sum();
    assert!((power + 10.0 * st.speed()).abs() < 1e-14);
}

/// A coordinate without torque changes length and speed as the others do.
#[test]
fn identity_coordinates_without_torque_change_the_length_alone() {
    let length = Function::linear(&[-0.03, 0.05, 0.4]).expect("a function");
    let loads = |without_torque: Vec<CoordinateId>| {
        let path = FunctionBasedPath {
            coordinates: vec![CoordinateId(2), CoordinateId(0)],
            length: length.clone(),
            moment_arms: vec![],
            speed: None,
            without_torque,
        };
        let compiled = CompiledPath::compile(&Path::FunctionBased(path), &[], &[], &Frames).expect("a path");
        let (q, u) = ([0.2, 9.0, -0.7], [1.5, 9.0, 2.0]);
        let kin = Kinematics { time: 0.0, X_GB: &[], V_GB: &[], q: &q, u: &u };
        let mut st = PathState::new(&compiled);
        compiled.compute_position(&kin, &mut st);
        compiled.compute_speed(&kin, &mut st);
        let mut mobility = [0.0; 3];
        compiled.apply_tension(&kin, &st, 10.0, &mut Loads { body: &mut [], mobility: &mut mobility });
        (st.length(), st.speed(), mobility)
    };
    let (all, without) = (loads(vec![]), loads(vec![CoordinateId(0)]));
    assert_eq!((all.0, all.1), (without.0, without.1));
    assert_eq!(without.2, [0.0, 0.0, all.2[2]]);
    assert_ne!(all.2[0], 0.0);
}

#[test]
fn analytic_bad_paths_are_refused() {
    let wrap = |range| PathWrap { wrap: WrapId(0), method: WrapMethod::Hybrid, range };
    let ball = |radius| [surface(0, WrapShape::Sphere { radius }, Transform::identity(), Quadrant::All)];
    let two = || vec![fixed(0, Vec3::zero()), fixed(1, Vec3::zero())];
    let compile = |points, wraps, objects: &[WrapObject]| {
        CompiledPath::compile(&Path::Geometry(GeometryPath { points, wraps }), objects, &[], &Frames)
            .unwrap_err()
    };
    assert_eq!(compile(vec![], vec![], &[]), PathError::TooFewPoints { count: 0 });
    assert!(matches!(compile(two(), vec![wrap([-1, -1])], &[]), PathError::NoSuchWrapObject { .. }));
    assert!(matches!(compile(two(), vec![wrap([-1, -1])], &ball(-1.0)), PathError::BadWrapSize { .. }));
    assert!(matches!(compile(two(), vec![wrap([-1, -1])], &ball(f64::NAN)), PathError::BadWrapSize { .. }));
    assert!(matches!(compile(two(), vec![wrap([1, 3])], &ball(1.0)), PathError::BadWrapRange { .. }));
}

/// Numbers that are none, or far too large, pass through without a panic and without end.
#[test]
fn conserves_calm_on_hostile_numbers() {
    let shapes = [
        WrapShape::Cylinder { radius: 0.1, length: 0.5 },
        WrapShape::Sphere { radius: 0.1 },
        WrapShape::Ellipsoid { dimensions: vec3(0.1, 0.2, 1e-6) },
        WrapShape::Torus { inner_radius: 0.02, outer_radius: 0.1 },
    ];
    let values = [0.0, -0.0, 1e-300, 0.1, -0.3, 1e9, 1e300, f64::INFINITY, f64::NAN];
    let mut seeded = Seeded::new(3);
    for shape in shapes {
        for quadrant in [Quadrant::All, Quadrant::Half { axis: 1, positive: true }] {
            let surface = Surface::new(&shape, quadrant, WrapMethod::Hybrid).expect("a surface");
            for _ in 0..2000 {
                let mut pick = || values[((seeded.next() + 1.0) * 4.5) as usize % 9];
                let (p1, p2) = (vec3(pick(), pick(), pick()), vec3(pick(), pick(), pick()));
                surface.wrap(p1, p2, false);
            }
        }
    }
}
