//! Paths over obstacles: closed forms, identities, invariants and derivatives.

#![allow(non_snake_case)]

use soleus_dynamics::path::{CompiledPath, PathError, PathState, PointOrigin};
use soleus_dynamics::{BodyFrame, Kinematics, Loads, Resolve};
use soleus_math::{Dual, Jet, Random, Real, Rotation, SpatialVec, Transform, Vec3, vec3};
use soleus_model::id::{CoordinateId, FrameId, GeometryId};
use soleus_model::path::{Path, PathObstacle, PathPoint, PathPointKind, Scholz2015Element, Scholz2015Path};
use soleus_model::{ContactGeometry, ContactShape, Severity};

struct Frames;
impl Resolve for Frames {
    fn frame(&self, id: FrameId) -> BodyFrame {
        BodyFrame { body: id.0, X_BF: Transform::identity() }
    }
    fn mobility(&self, id: CoordinateId) -> usize {
        id.0
    }
}

/// A path of points `p0`, `p1`, … on bodies 0, 1, … with obstacles between them, of which the first is on body 0.
enum Part {
    Point(usize, Vec3<f64>),
    Obstacle(usize, ContactShape, Transform<f64>, Option<Vec3<f64>>),
}
use Part::{Obstacle, Point};

fn try_compile(parts: &[Part]) -> Result<CompiledPath, PathError> {
    let mut geometries = Vec::new();
    let mut elements = Vec::new();
    for part in parts {
        elements.push(match part {
            Point(body, p) => Scholz2015Element::Point(PathPoint {
                name: format!("on {body}"),
                frame: FrameId(*body),
                kind: PathPointKind::Fixed(*p),
            }),
            Obstacle(body, shape, X, contact_hint) => {
                geometries.push(ContactGeometry {
                    name: "surface".into(),
                    path: String::new(),
                    frame: FrameId(*body),
                    location: X.p,
                    orientation: X.R.to_body_fixed_xyz(),
                    shape: shape.clone(),
                });
                Scholz2015Element::Obstacle(PathObstacle {
                    name: String::new(),
                    geometry: GeometryId(geometries.len() - 1),
                    contact_hint: *contact_hint,
                })
            }
        });
    }
    CompiledPath::compile(&Path::Scholz2015(Scholz2015Path { elements }), &[], &geometries, &Frames)
}

fn compile(parts: &[Part]) -> CompiledPath {
    try_compile(parts).expect("a path")
}

fn state<T: Real>(path: &CompiledPath, X: &[Transform<T>]) -> PathState<T> {
    let V = vec![SpatialVec::zero(); X.len()];
    let kin = Kinematics { time: T::zero(), X_GB: X, V_GB: &V, q: &[], u: &[] };
    let mut st = PathState::new(path);
    path.compute_position(&kin, &mut st);
    st
}

fn at(x: f64, y: f64, z: f64) -> Transform<f64> {
    Transform::new(Rotation::identity(), vec3(x, y, z))
}

fn still(count: usize) -> Vec<Transform<f64>> {
    vec![Transform::identity(); count]
}

const SPHERE: ContactShape = ContactShape::Sphere { radius: 0.1 };

/// Length of a string around a circle of radius r between points of the plane, on the side of positive angles from a to b.
fn around_circle(r: f64, a: [f64; 2], b: [f64; 2]) -> f64 {
    let (da, db) = (a[0].hypot(a[1]), b[0].hypot(b[1]));
    let angle = (b[1].atan2(b[0]) - a[1].atan2(a[0])).rem_euclid(std::f64::consts::TAU);
    let arc = angle - (r / da).acos() - (r / db).acos();
    (da * da - r * r).sqrt() + (db * db - r * r).sqrt() + r * arc
}

#[test]
fn analytic_sphere() {
    // In the plane of both points and the centre.
    let (a, b) = (vec3(0.3, 0.05, 0.0), vec3(-0.25, 0.04, 0.0));
    let R = Rotation::body_fixed_xyz(vec3(0.4, -0.7, 1.1));
    let centre = vec3(0.2, -0.4, 0.3);
    let path = compile(&[
        Point(0, centre + R * a),
        Obstacle(0, SPHERE, at(0.2, -0.4, 0.3), Some(R * vec3(0.01, 0.1, 0.005))),
        Point(0, centre + R * b),
    ]);
    let wanted = around_circle(0.1, [a.x, a.y], [b.x, b.y]);
    let length = state(&path, &still(1)).length();
    assert!((length - wanted).abs() < 1e-13, "{length} {wanted}");
}

#[test]
fn analytic_cylinder() {
    // Unrolled, the path is a straight line: as long as that around the circle, and along the axis.
    let (a, b) = (vec3(0.3, 0.05, -0.2), vec3(-0.25, 0.04, 0.35));
    let X = Transform::new(Rotation::body_fixed_xyz(vec3(0.4, -0.7, 1.1)), vec3(0.2, -0.4, 0.3));
    let shape = ContactShape::Cylinder { radius: 0.1 };
    for (hint, wanted) in [
        (vec3(0.0, 0.1, 0.0), around_circle(0.1, [a.x, a.y], [b.x, b.y])),
        (vec3(0.0, -0.1, 0.0), around_circle(0.1, [b.x, b.y], [a.x, a.y])),
    ] {
        let path = compile(&[Point(0, X * a), Obstacle(0, shape.clone(), X, Some(hint)), Point(0, X * b)]);
        let wanted = wanted.hypot(a.z - b.z);
        let length = state(&path, &still(1)).length();
        assert!((length - wanted).abs() < 1e-13, "{length} {wanted}");
    }
}

#[test]
fn analytic_torus() {
    // Around its outer equator, and through its hole along the inner half of a section.
    let shape = ContactShape::Torus { torus_radius: 0.1, tube_radius: 0.03 };
    let X = Transform::new(Rotation::body_fixed_xyz(vec3(0.4, -0.7, 1.1)), vec3(0.2, -0.4, 0.3));
    let (a, b) = (vec3(0.3, 0.02, 0.0), vec3(-0.25, 0.02, 0.0));
    let hint = Some(vec3(0.0, 0.13, 0.0));
    let path = compile(&[Point(0, X * a), Obstacle(0, shape.clone(), X, hint), Point(0, X * b)]);
    let wanted = around_circle(0.13, [a.x, a.y], [b.x, b.y]);
    let length = state(&path, &still(1)).length();
    assert!((length - wanted).abs() < 1e-12, "equator: {length} {wanted}");

    let (a, b) = (vec3(0.15, 0.0, 0.2), vec3(0.12, 0.0, -0.25));
    let hint = Some(vec3(0.07, 0.0, 0.0));
    let path = compile(&[Point(0, X * a), Obstacle(0, shape, X, hint), Point(0, X * b)]);
    let wanted = around_circle(0.03, [a.x - 0.1, a.z], [b.x - 0.1, b.z]);
    let length = state(&path, &still(1)).length();
    assert!((length - wanted).abs() < 1e-12, "section: {length} {wanted}");
}

#[test]
fn analytic_clear_of_obstacles() {
    // Where a straight line misses the obstacle the path is that line, with a hint or without.
    for hint in [None, Some(vec3(0.0, 0.1, 0.0))] {
        let path = compile(&[
            Point(0, vec3(0.3, 0.12, 0.0)),
            Obstacle(0, SPHERE, Transform::identity(), hint),
            Point(0, vec3(-0.3, 0.12, 0.0)),
        ]);
        let st = state(&path, &still(1));
        assert_eq!((st.points().len(), st.length()), (2, 0.6));
    }
    // Without a hint it touches down where the line goes through.
    let path = compile(&[
        Point(0, vec3(0.3, 0.05, 0.0)),
        Obstacle(0, SPHERE, Transform::identity(), None),
        Point(0, vec3(-0.3, 0.05, 0.0)),
    ]);
    let wanted = around_circle(0.1, [0.3, 0.05], [-0.3, 0.05]);
    assert!((state(&path, &still(1)).length() - wanted).abs() < 1e-13);
}

#[test]
fn identity_ellipsoid_with_equal_axes_is_a_sphere() {
    // Geodesics on an ellipsoid are integrated, those on a sphere are known.
    let radii = vec3(0.1, 0.1, 0.1);
    let mut r = Random::new(3);
    for _ in 0..20 {
        let (a, b) =
            (vec3(0.25, 0.1 * r.signed(), 0.1 * r.signed()), vec3(-0.3, 0.1 * r.signed(), 0.1 * r.signed()));
        let hint = Some(vec3(0.0, 0.1, 0.0));
        let [sphere, ellipsoid] = [SPHERE, ContactShape::Ellipsoid { radii }].map(|shape| {
            let parts = [Point(0, a), Obstacle(0, shape, Transform::identity(), hint), Point(0, b)];
            state(&compile(&parts), &still(1)).length()
        });
        assert!((sphere - ellipsoid).abs() < 1e-12, "{sphere} {ellipsoid}");
    }
}

#[test]
fn identity_unfindable_path_is_not_a_number() {
    let path = compile(&[
        Point(0, vec3(0.05, 0.01, 0.0)),
        Obstacle(0, SPHERE, Transform::identity(), Some(vec3(0.0, 0.1, 0.0))),
        Point(1, vec3(-0.3, 0.05, 0.0)),
    ]);
    let X = still(2);
    let V = [SpatialVec::zero(); 2];
    let kin = Kinematics { time: 0.0, X_GB: &X, V_GB: &V, q: &[], u: &[] };
    let mut st = state(&path, &X);
    path.compute_speed(&kin, &mut st);
    assert!(st.length().is_nan() && st.speed().is_nan());
    let (mut body, mut mobility) = ([SpatialVec::zero(); 2], []);
    path.apply_tension(&kin, &st, 1.0, &mut Loads { body: &mut body, mobility: &mut mobility });
    assert!(body[1].v.x.is_nan());
}

#[test]
fn identity_refused_paths() {
    let p = || Point(0, vec3(0.3, 0.05, 0.0));
    let o = |shape, hint| Obstacle(0, shape, Transform::identity(), hint);
    let error = |parts: &[Part]| try_compile(parts).unwrap_err();
    assert_eq!(error(&[p()]), PathError::TooFewPoints { count: 1 });
    assert_eq!(error(&[o(SPHERE, None), p(), p()]), PathError::ObstacleAtEnd);
    assert!(matches!(error(&[p(), o(ContactShape::HalfSpace, None), p()]), PathError::BadObstacle { .. }));
    let spindle = ContactShape::Torus { torus_radius: 0.1, tube_radius: 0.2 };
    assert!(matches!(error(&[p(), o(spindle, None), p()]), PathError::BadObstacle { .. }));
    let centre = Some(Vec3::zero());
    assert!(matches!(error(&[p(), o(SPHERE, centre), p()]), PathError::BadContactHint { .. }));
}

/// Four obstacles and a point between them, each on a body of its own.
fn long_path() -> CompiledPath {
    let X = |x: f64, y: f64| Transform::from_offset(vec3(x, y, 0.01), vec3(0.2, -0.1, 0.3));
    compile(&[
        Point(1, vec3(0.5, -0.1, 0.03)),
        Obstacle(2, SPHERE, X(0.3, 0.0), Some(vec3(0.0, 0.1, 0.0))),
        Obstacle(
            3,
            ContactShape::Ellipsoid { radii: vec3(0.07, 0.05, 0.09) },
            X(0.05, 0.06),
            Some(vec3(0.0, 0.05, 0.0)),
        ),
        Point(2, vec3(-0.12, 0.0, 0.02)),
        Obstacle(0, ContactShape::Cylinder { radius: 0.05 }, X(-0.25, -0.01), Some(vec3(0.0, 0.05, 0.0))),
        Obstacle(
            1,
            ContactShape::Torus { torus_radius: 0.06, tube_radius: 0.02 },
            Transform::from_offset(vec3(-0.4, 0.025, 0.0), vec3(0.1, 1.4, 0.1)),
            Some(vec3(0.0, -0.04, 0.0)),
        ),
        Point(3, vec3(-0.55, -0.1, 0.01)),
    ])
}

/// Bodies near where they belong.
fn poses(seed: u64) -> Vec<Transform<f64>> {
    let mut r = Random::new(seed);
    let mut v = |s: f64| vec3(s * r.signed(), s * r.signed(), s * r.signed());
    let mut X = still(4);
    for X in &mut X[1..] {
        *X = Transform::from_offset(v(0.01), v(0.05));
    }
    X
}

#[test]
fn conserves_length_when_all_turns() {
    let path = long_path();
    for seed in 0..10 {
        let X = poses(seed);
        let turn = Transform::from_offset(vec3(0.3, -1.2, 0.4), vec3(1.0, -0.4, 2.0));
        // Body 0 turns along: it is not a ground here.
        let turned: Vec<_> = X.iter().map(|X| turn * *X).collect();
        let (a, b) = (state(&path, &X), state(&path, &turned));
        assert_eq!(a.points().len(), 11, "all four obstacles are touched");
        assert!((a.length() - b.length()).abs() < 1e-12, "{} {}", a.length(), b.length());
    }
}

/// Small motions of bodies 1 to 3: three translations and three turns of each.
fn moved<T: Real>(X: &[Transform<f64>], by: &[T; 18]) -> Vec<Transform<T>> {
    let mut out: Vec<_> = X.iter().map(|X| Transform::cst(*X)).collect();
    for b in 1..4 {
        let v = |k: usize| vec3(by[6 * b - 6 + k], by[6 * b - 5 + k], by[6 * b - 4 + k]);
        let X_GB = out[b];
        out[b] = Transform::new(Rotation::body_fixed_xyz(v(3)) * X_GB.R, X_GB.p + v(0));
    }
    out
}

#[test]
fn deriv_length_and_points() {
    let path = long_path();
    type D = Dual<f64, 18>;
    for seed in 0..5 {
        let X = poses(seed);
        let seeds: [D; 18] = std::array::from_fn(|i| D::variable(0.0, i));
        let plain = state(&path, &X);
        let exact = state(&path, &moved(&X, &seeds));
        assert_eq!(exact.length().value(), plain.length(), "the value is that of plain numbers");
        // Differences of fourth order: near poses in which the path is about to slip, third derivatives of the length are about 1e6.
        // Rounding of the path, 1e-13 m, leaves 1e-8.
        let h = 1e-5;
        let slope = |f: [f64; 4]| (8.0 * (f[1] - f[2]) - (f[0] - f[3])) / (12.0 * h);
        for i in 0..18 {
            let around = [2.0, 1.0, -1.0, -2.0].map(|s| {
                let mut by = [0.0; 18];
                by[i] = s * h;
                state(&path, &moved(&X, &by))
            });
            let fd = slope(around.each_ref().map(PathState::length));
            assert!((exact.length().d[i] - fd).abs() < 1e-7, "length by {i}: {} {fd}", exact.length().d[i]);
            for (k, p) in exact.points().iter().enumerate() {
                for axis in 0..3 {
                    let fd = slope(around.each_ref().map(|st| st.points()[k].p_G[axis]));
                    let d = p.p_G[axis].d[i];
                    assert!((d - fd).abs() < 1e-5 * (1.0 + d.abs()), "point {k} by {i}: {d:?} {fd:?}");
                }
            }
        }
    }
}

#[test]
fn deriv_second() {
    let path = long_path();
    type D = Dual<f64, 1>;
    type J = Jet<4, 10>;
    for seed in 0..3 {
        let X = poses(seed);
        // Four of the eighteen motions at a time.
        for first in [0, 4, 8, 12] {
            let jets = std::array::from_fn(|i| match i.checked_sub(first) {
                Some(k) if k < 4 => J::variable(0.0, k),
                _ => J::zero(),
            });
            let exact = state(&path, &moved(&X, &jets));
            let h = 1e-5;
            for i in 0..4 {
                for j in 0..4 {
                    let slope = |s: f64| {
                        let mut by = [D::zero(); 18];
                        by[first + i] = D::variable(0.0, 0);
                        by[first + j] += D::cst(s);
                        state(&path, &moved(&X, &by))
                    };
                    let (up, down) = (slope(h), slope(-h));
                    let fd = (up.length().d[0] - down.length().d[0]) / (2.0 * h);
                    let d = exact.length().second(i, j);
                    assert!((d - fd).abs() < 1e-6 * (1.0 + d.abs()), "length by {i} {j}: {d} {fd}");
                    for (k, p) in exact.points().iter().enumerate() {
                        let fd = (up.points()[k].p_G.x.d[0] - down.points()[k].p_G.x.d[0]) / (2.0 * h);
                        let d = p.p_G.x.second(i, j);
                        assert!((d - fd).abs() < 1e-3 * (1.0 + d.abs()), "point {k} by {i} {j}: {d} {fd}");
                    }
                }
            }
        }
    }
}

#[test]
fn identity_load_is_minus_the_gradient_and_speed_the_rate_of_the_length() {
    let path = long_path();
    for seed in 0..10 {
        let X = poses(seed);
        let seeds: [Dual<f64, 18>; 18] = std::array::from_fn(|i| Dual::variable(0.0, i));
        let gradient = state(&path, &moved(&X, &seeds)).length().d;
        let mut r = Random::new(100 + seed);
        let mut v = || vec3(r.signed(), r.signed(), r.signed());
        let mut V = vec![SpatialVec::zero(); 4];
        V[1..].fill_with(|| SpatialVec::new(v(), v()));
        let kin = Kinematics { time: 0.0, X_GB: &X, V_GB: &V, q: &[], u: &[] };
        let mut st = PathState::new(&path);
        path.compute_position(&kin, &mut st);
        path.compute_speed(&kin, &mut st);
        let (mut body, mut mobility) = (vec![SpatialVec::zero(); 4], []);
        path.apply_tension(&kin, &st, 1.0, &mut Loads { body: &mut body, mobility: &mut mobility });
        let mut rate = 0.0;
        for b in 1..4 {
            let g = |k: usize| {
                let i = 6 * b - 6 + k;
                vec3(gradient[i], gradient[i + 1], gradient[i + 2])
            };
            assert!((body[b].v + g(0)).norm() < 1e-11, "{:?} {:?}", body[b].v, g(0));
            assert!((body[b].w + g(3)).norm() < 1e-11, "{:?} {:?}", body[b].w, g(3));
            rate += g(0).dot(V[b].v) + g(3).dot(V[b].w);
        }
        assert!((st.speed() - rate).abs() < 1e-11);
    }
}

#[test]
fn identity_curve_points_lie_on_the_surface() {
    let path = long_path();
    let st = state(&path, &poses(1));
    let CompiledPath::Scholz2015(p) = &path else { unreachable!() };
    let mut line = Vec::new();
    p.extend_curve(&st, 0, 50, &mut line);
    let points = st.points();
    assert_eq!(points[1].origin, PointOrigin::WrapStart(0));
    line.insert(0, points[1].p_G);
    line.push(points[2].p_G);
    let sum: f64 = line.windows(2).map(|p| (p[1] - p[0]).norm()).sum();
    // Chords of an arc of angle θ in 51 pieces are shorter by θ²/24/51² of it.
    assert!((sum / points[1].to_next - 1.0).abs() < 1e-4, "{sum} {}", points[1].to_next);
}

/// The model that ships, with one piece of text replaced by another: its messages as severity, line and text.
fn messages(from: &str, to: &str) -> Vec<(Severity, u32, String)> {
    let text = include_str!("../../../models/geodesic_paths.osim");
    assert!(from.is_empty() || text.contains(from));
    let text = if from.is_empty() { text.to_string() } else { text.replacen(from, to, 1) };
    let (model, log) = soleus_io::osim::read_model(text.as_bytes(), "model.osim");
    let messages: Vec<_> = log.list.iter().map(|d| (d.severity, d.line, d.message.clone())).collect();
    assert_eq!(model.is_none(), messages.iter().any(|m| m.0 == Severity::Error), "{messages:?}");
    messages
}

#[test]
fn identity_faults_of_files_are_told_with_their_line() {
    assert_eq!(messages("", ""), []);
    let check = |from: &str, to: &str, wanted: &str, severity: Severity| {
        let list = messages(from, to);
        let line_of = |text: &str| {
            include_str!("../../../models/geodesic_paths.osim").lines().position(|l| l.contains(text))
        };
        let line = line_of(from.lines().next().unwrap()).unwrap() as u32 + 1;
        let found = list.iter().find(|m| m.2.contains(wanted)).unwrap_or_else(|| panic!("{list:?}"));
        assert_eq!((found.0, found.1), (severity, line), "{found:?}");
    };
    let socket = "<socket_contact_geometry>/contactgeometryset/hip_sphere</socket_contact_geometry>";
    check(socket, &socket.replace("hip_sphere", "no_sphere"), "no_sphere", Severity::Error);
    check(
        "<contact_hint>0.05 0 0</contact_hint>",
        "<contact_hint>0.05 0</contact_hint>",
        "three numbers",
        Severity::Error,
    );
    let part = "<Scholz2015GeometryPathObstacle name=\"obstacle_0\">";
    check(
        part,
        "<Scholz2015GeometryPathObstacle name=\"obstacle_0\"><colour>1</colour>",
        "colour",
        Severity::Warning,
    );
    // A path that is wrong as a whole is told at its own line, which is the second after that of its force.
    let whole = "<Scholz2015GeometryPath name=\"path\">";
    let warm = format!("{whole}<use_warm_start>true</use_warm_start>");
    check(whole, &warm, "use_warm_start", Severity::Warning);
    let list = messages("<tube_radius>0.02</tube_radius>", "<tube_radius>0.2</tube_radius>");
    assert!(list.iter().any(|m| m.0 == Severity::Error && m.2.contains("without a hole")), "{list:?}");
    // Three times NaN is not a hint, as in OpenSim.
    assert_eq!(
        messages("<contact_hint>0.05 0 0</contact_hint>", "<contact_hint>NaN NaN NaN</contact_hint>"),
        []
    );
}

#[test]
fn identity_twice_the_size_twice_the_length() {
    let text = include_bytes!("../../../models/geodesic_paths.osim");
    let (document, mut log) = soleus_io::osim::read_document(text, "model.osim");
    let document = document.unwrap();
    let model = soleus_model::build(&document, &mut log).unwrap();
    let factors = vec![vec3(2.0, 2.0, 2.0); model.bodies.len()];
    let scaled = soleus_model::scale_document(&document, &model, &factors, &Default::default(), &mut log);
    assert_eq!(log.list.len(), 0, "{:?}", log.list);
    let scaled = soleus_model::build(&scaled, &mut log).unwrap();
    let [one, two] = [&model, &scaled].map(|m| {
        let system = soleus_dynamics::System::compile(m).unwrap();
        let mut ws = system.workspace();
        system.compute_kinematics(&system.default_state, &mut ws);
        system.compute_paths(&system.default_state, &mut ws);
        ws.paths.iter().map(PathState::length).collect::<Vec<f64>>()
    });
    for (one, two) in one.iter().zip(&two) {
        assert!((two - 2.0 * one).abs() < 1e-12, "{one} {two}");
    }
}

#[test]
fn identity_odd_surfaces_end() {
    // Very flat, thin, small and large surfaces: a path or none, but in time.
    let e = |x: f64, y: f64, z: f64| ContactShape::Ellipsoid { radii: vec3(x, y, z) };
    let torus = |torus_radius: f64, tube_radius: f64| ContactShape::Torus { torus_radius, tube_radius };
    let shapes = [
        e(0.1, 1e-6, 0.1),
        e(1e-6, 0.1, 1e-6),
        e(1e-9, 1e-9, 1e-9),
        e(1e9, 0.1, 1e9),
        e(1e-200, 0.1, 1e150),
        torus(0.1, 0.0999999),
        torus(1e6, 0.1),
        torus(1e-7, 1e-8),
        ContactShape::Sphere { radius: 1e-12 },
        ContactShape::Cylinder { radius: 1e200 },
    ];
    for shape in shapes {
        for hint in [None, Some(vec3(0.01, 0.1, 0.02))] {
            let obstacle = Obstacle(0, shape.clone(), Transform::identity(), hint);
            let [from, to] = [vec3(0.3, 0.02, 0.01), vec3(-0.25, 0.03, 0.0)].map(|p| Point(0, p));
            // Sizes beyond the range of squares may be refused.
            let Ok(path) = try_compile(&[from, obstacle, to]) else { continue };
            let length = state(&path, &still(1)).length();
            assert!(length.is_nan() || length > 0.5, "{length} over {shape:?}");
        }
    }
}
