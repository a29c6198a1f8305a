//! A subject in space, made in code: a pelvis on a free root, two legs, ten muscles, sixteen markers, two force plates, and a walk.

#![allow(non_snake_case)] // R is a rotation, as in the literature.

use soleus::Model;
use soleus::engine::dynamics::System;
use soleus::engine::io::table::sto;
use soleus::engine::math::table::Element;
use soleus::engine::math::{Rotation, Table, Vec3, vec3};
use std::f64::consts::PI;
use std::fmt::Write as _;

/// How the pelvis moves in ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// Tilt about z, list about x, rotation about y, as in many gait models; the speeds are the rates of these.
    Custom,
    /// A free joint: body-fixed angles about x, y, z; the speeds are an angular velocity.
    Free,
}

/// Coordinates of the root, which come first.
pub const ROOT: [&str; 6] =
    ["pelvis_tilt", "pelvis_list", "pelvis_rotation", "pelvis_tx", "pelvis_ty", "pelvis_tz"];

/// Coordinates of the joints.
pub const JOINTS: [&str; 8] = [
    "hip_flexion_r",
    "hip_adduction_r",
    "hip_rotation_r",
    "knee_angle_r",
    "hip_flexion_l",
    "hip_adduction_l",
    "hip_rotation_l",
    "knee_angle_l",
];

/// Markers of the pelvis and of the right leg; those of the left leg are their images.
const PELVIS_MARKERS: [(&str, [f64; 3]); 4] = [
    ("R.ASIS", [0.02, 0.03, 0.12]),
    ("L.ASIS", [0.02, 0.03, -0.12]),
    ("R.PSIS", [-0.15, 0.04, 0.05]),
    ("L.PSIS", [-0.15, 0.04, -0.05]),
];
const LEG_MARKERS: [(&str, &str, [f64; 3]); 6] = [
    ("thigh", "Thigh.Front", [0.07, -0.20, 0.03]),
    ("thigh", "Thigh.Side", [0.0, -0.25, 0.09]),
    ("thigh", "Knee", [0.0, -0.40, 0.06]),
    ("shank", "Shank.Front", [0.05, -0.15, 0.01]),
    ("shank", "Shank.Side", [-0.01, -0.22, 0.06]),
    ("shank", "Ankle", [0.0, -0.41, 0.04]),
];

/// Muscles of the right leg: name, bodies and places of both ends, maximum isometric force, optimal fiber length, slack length.
type Muscle = (&'static str, [&'static str; 2], [[f64; 3]; 2], [f64; 3]);
const MUSCLES: [Muscle; 5] = [
    ("flexor", ["pelvis", "thigh"], [[0.04, 0.02, 0.08], [0.03, -0.10, 0.0]], [2500.0, 0.10, 0.09]),
    ("extensor", ["pelvis", "thigh"], [[-0.13, 0.02, 0.06], [-0.04, -0.15, 0.01]], [3000.0, 0.15, 0.08]),
    ("abductor", ["pelvis", "thigh"], [[-0.05, 0.06, 0.10], [0.0, -0.02, 0.07]], [2500.0, 0.08, 0.05]),
    ("vasti", ["thigh", "shank"], [[0.04, -0.20, 0.0], [0.05, -0.06, 0.0]], [5000.0, 0.12, 0.14]),
    ("hamstrings", ["pelvis", "shank"], [[-0.12, -0.10, 0.07], [-0.04, -0.05, 0.01]], [2500.0, 0.11, 0.31]),
];

fn join(p: [f64; 3]) -> String {
    p.map(|x| x.to_string()).join(" ")
}

/// What is on one side: the right as given, the left its image.
fn on_side(side: &str, [x, y, z]: [f64; 3]) -> [f64; 3] {
    [x, y, if side == "l" { -z } else { z }]
}

/// The model file. All names of markers begin with `prefix`.
pub fn model_file(root: Root, prefix: &str) -> String {
    let coordinate = |c: &&str| {
        format!("<Coordinate name=\"{c}\"><range>-3 3</range><clamped>false</clamped></Coordinate>")
    };
    let joint = |class: &str,
                 name: &str,
                 [parent, child]: [&str; 2],
                 place: [f64; 3],
                 coordinates: &[&str]| {
        let list: String = coordinates.iter().map(coordinate).collect();
        let mut axes = String::new();
        if class == "CustomJoint" {
            let along = ["0 0 1", "1 0 0", "0 1 0", "1 0 0", "0 1 0", "0 0 1"];
            for (k, axis) in along.iter().enumerate() {
                let part = format!("{}{}", if k < 3 { "rotation" } else { "translation" }, k % 3 + 1);
                let of = coordinates.get(k).copied().unwrap_or("");
                let function = match of {
                    "" => "<Constant><value>0</value></Constant>",
                    _ => "<LinearFunction><coefficients>1 0</coefficients></LinearFunction>",
                };
                let _ = write!(
                    axes,
                    "<TransformAxis name=\"{part}\"><coordinates>{of}</coordinates><axis>{axis}</axis>{function}</TransformAxis>"
                );
            }
            axes = format!("<SpatialTransform>{axes}</SpatialTransform>");
        }
        format!(
            "<{class} name=\"{name}\"><socket_parent_frame>f</socket_parent_frame>\
             <socket_child_frame>/bodyset/{child}</socket_child_frame><coordinates>{list}</coordinates><frames>\
             <PhysicalOffsetFrame name=\"f\"><socket_parent>{parent}</socket_parent><translation>{}</translation>\
             <orientation>0 0 0</orientation></PhysicalOffsetFrame></frames>{axes}</{class}>\n",
            join(place)
        )
    };
    let body = |name: &str, mass: f64, center: [f64; 3], inertia: [f64; 3]| {
        format!(
            "<Body name=\"{name}\"><mass>{mass}</mass><mass_center>{}</mass_center><inertia>{} 0 0 0</inertia></Body>\n",
            join(center),
            join(inertia)
        )
    };
    let marker = |body: &str, name: &str, p: [f64; 3]| {
        format!(
            "<Marker name=\"{prefix}{name}\"><socket_parent_frame>/bodyset/{body}</socket_parent_frame>\
             <location>{}</location></Marker>\n",
            join(p)
        )
    };
    let class = if root == Root::Free { "FreeJoint" } else { "CustomJoint" };
    let mut joints = joint(class, "ground_pelvis", ["/ground", "pelvis"], [0.0; 3], &ROOT);
    let mut bodies = body("pelvis", 35.0, [-0.05, 0.2, 0.0], [1.5, 0.6, 1.4]);
    let mut markers: String = PELVIS_MARKERS.iter().map(|(name, p)| marker("pelvis", name, *p)).collect();
    let mut forces = String::new();
    for (k, s) in ["r", "l"].into_iter().enumerate() {
        let (thigh, shank) = (format!("thigh_{s}"), format!("shank_{s}"));
        bodies += &body(&thigh, 8.0, on_side(s, [0.01, -0.18, 0.005]), [0.13, 0.03, 0.14]);
        bodies += &body(&shank, 4.0, on_side(s, [0.02, -0.22, 0.002]), [0.07, 0.01, 0.08]);
        let hip = &JOINTS[4 * k..4 * k + 3];
        let place = on_side(s, [-0.06, -0.07, 0.08]);
        joints += &joint("CustomJoint", &format!("hip_{s}"), ["/bodyset/pelvis", &thigh], place, hip);
        let thigh = format!("/bodyset/{thigh}");
        let knee = &JOINTS[4 * k + 3..4 * k + 4];
        joints += &joint("PinJoint", &format!("knee_{s}"), [&thigh, &shank], [0.0, -0.4, 0.0], knee);
        let own = |b: &str| if b == "pelvis" { b.to_string() } else { format!("{b}_{s}") };
        for (b, name, p) in LEG_MARKERS {
            markers += &marker(&own(b), &format!("{}.{name}", s.to_uppercase()), on_side(s, p));
        }
        for (name, ends, places, [force, fiber, slack]) in MUSCLES {
            let point = |i: usize| {
                format!(
                    "<PathPoint name=\"p{i}\"><socket_parent_frame>/bodyset/{}</socket_parent_frame><location>{}</location></PathPoint>",
                    own(ends[i]),
                    join(on_side(s, places[i]))
                )
            };
            let _ = writeln!(
                forces,
                "<Millard2012EquilibriumMuscle name=\"{name}_{s}\"><path><GeometryPath name=\"path\"><PathPointSet name=\"pathpointset\">\
                 <objects>{}{}</objects></PathPointSet></GeometryPath></path><min_control>0.01</min_control><max_control>1</max_control>\
                 <max_isometric_force>{force}</max_isometric_force><optimal_fiber_length>{fiber}</optimal_fiber_length>\
                 <tendon_slack_length>{slack}</tendon_slack_length><pennation_angle_at_optimal>0.1</pennation_angle_at_optimal>\
                 <max_contraction_velocity>10</max_contraction_velocity></Millard2012EquilibriumMuscle>",
                point(0),
                point(1)
            );
        }
    }
    format!(
        "<?xml version=\"1.0\"?>\n<OpenSimDocument Version=\"40600\"><Model name=\"subject\"><gravity>0 -9.80665 0</gravity><Ground name=\"ground\"/>\n\
         <BodySet name=\"bodyset\"><objects>{bodies}</objects></BodySet>\n<JointSet name=\"jointset\"><objects>{joints}</objects></JointSet>\n\
         <ForceSet name=\"forceset\"><objects>{forces}</objects></ForceSet>\n\
         <MarkerSet name=\"markerset\"><objects>{markers}</objects></MarkerSet></Model></OpenSimDocument>\n"
    )
}

/// Reads it.
pub fn model(root: Root) -> Model {
    let (model, log) = soleus::engine::io::osim::read_model(model_file(root, "").as_bytes(), "subject.osim");
    model.unwrap_or_else(|| panic!("{log:?}"))
}

/// What is done to the laboratory and to the trial in it.
#[derive(Clone, Copy, Debug)]
pub struct Laboratory {
    /// Turn about the vertical, degrees.
    pub heading_deg: f64,
    /// Time on the clock when the trial begins, s.
    pub clock: f64,
    /// How far the pelvis leans to the right, rad: at π/2 the subject lies on the side, and the middle angle of a custom root is singular.
    pub lean: f64,
    /// Seen in a mirror.
    pub mirrored: bool,
}

pub const PLAIN: Laboratory = Laboratory { heading_deg: 0.0, clock: 0.0, lean: 0.0, mirrored: false };

impl Laboratory {
    /// The turn.
    pub fn turn(&self) -> Rotation<f64> {
        Rotation::about_y(self.heading_deg.to_radians())
    }

    /// Where a place is.
    pub fn place(&self, p: Vec3<f64>) -> Vec3<f64> {
        self.turn() * if self.mirrored { vec3(p.x, p.y, -p.z) } else { p }
    }

    /// An axial vector, such as a moment or an angular velocity.
    pub fn axial(&self, w: Vec3<f64>) -> Vec3<f64> {
        self.turn() * if self.mirrored { vec3(-w.x, -w.y, w.z) } else { w }
    }
}

/// Hz.
const RATE: f64 = 100.0;

/// Angles of the pelvis about z, x, y and its place; angles of the joints in the order of [`JOINTS`].
fn pose(t: f64, lab: &Laboratory) -> ([f64; 3], Vec3<f64>, [f64; 8]) {
    let w = 2.0 * PI * t / 1.1;
    let leg = |s: f64| {
        [0.2 + 0.45 * (w + s).sin(), 0.07 * (w + s).cos(), 0.05 * (w + s).sin(), -0.45 - 0.4 * (w + s).cos()]
    };
    let (r, l) = (leg(0.3), leg(0.3 + PI));
    let mut angles = [-0.1 + 0.03 * (2.0 * w).sin(), lab.lean + 0.06 * w.sin(), 0.1 + 0.1 * w.sin()];
    let mut place = vec3(1.3 * t, 0.95 + 0.02 * (2.0 * w).cos(), 0.1 + 0.03 * w.sin());
    // The second leg turns about x and y the other way, as its image does.
    let image = |l: [f64; 4]| [l[0], -l[1], -l[2], l[3]];
    let (mut r, mut l) = (r, image(l));
    if lab.mirrored {
        angles = [angles[0], -angles[1], -angles[2]];
        place.z = -place.z;
        (r, l) = (image(l), image(r));
    }
    (angles, place, [r[0], r[1], r[2], r[3], l[0], l[1], l[2], l[3]])
}

/// Coordinates of the trial in a laboratory, rad: angles of the root are what arcus functions give, and so may jump by a turn from one
/// row to the next.
pub fn motion(root: Root, lab: &Laboratory, rows: usize) -> Table {
    let times: Vec<f64> = (0..rows).map(|i| i as f64 / RATE).collect();
    let mut columns = vec![Vec::new(); 14];
    for &t in &times {
        let ([a, b, c], p, joints) = pose(t, lab);
        let R = lab.turn() * Rotation::about_z(a) * Rotation::about_x(b) * Rotation::about_y(c);
        let (x, y, z) = (R.axis(0), R.axis(1), R.axis(2));
        let angles = match root {
            // R = Rz Rx Ry has −sin a cos b, cos a cos b, sin b in its second column, −cos b sin c and cos b cos c below the others.
            Root::Custom => [(-y.x).atan2(y.y), y.z.asin(), (-x.z).atan2(z.z)],
            Root::Free => R.to_body_fixed_xyz().to_array(),
        };
        let p = (lab.turn() * p).to_array();
        for (column, q) in columns.iter_mut().zip(angles.into_iter().chain(p).chain(joints)) {
            column.push(q);
        }
    }
    let labels = ROOT.iter().chain(&JOINTS).map(|l| l.to_string()).collect();
    let times = times.iter().map(|t| t + lab.clock).collect();
    let mut t = Table::new(Element::Scalar, labels, times, columns).unwrap();
    t.in_degrees = Some(false);
    t
}

/// Markers of the trial, each a centimeter or so from where the model has it. A mirror exchanges their names.
pub fn markers(lab: &Laboratory, rows: usize, still: bool) -> Table {
    let model = model(Root::Free);
    let system = System::compile(&model).unwrap();
    // What a mirror shows is the image of this.
    let plain = Laboratory { mirrored: false, heading_deg: 0.0, ..*lab };
    let q = motion(Root::Free, &plain, rows);
    let mut x = system.default_state.clone();
    let mut ws = system.workspace();
    let mut columns = vec![Vec::new(); 3 * model.markers.len()];
    for row in 0..rows {
        for (c, &m) in system.tree.mobility_of_coordinate.iter().enumerate() {
            x.q[m] = q.columns()[c][if still { 0 } else { row }];
        }
        system.compute_kinematics(&x, &mut ws);
        for (i, m) in system.markers.iter().enumerate() {
            let k = i as f64;
            let off = vec3((7.0 * k).sin(), (11.0 * k).sin(), (13.0 * k).sin()) * 0.01;
            let p = lab.place(ws.kin.X_GB[m.body] * (m.p_BS + off)).to_array();
            for (k, p) in p.into_iter().enumerate() {
                columns[3 * i + k].push(p);
            }
        }
    }
    let name = |n: &str| match (lab.mirrored, n.split_once('.')) {
        (true, Some(("R", rest))) => format!("L.{rest}"),
        (true, Some(("L", rest))) => format!("R.{rest}"),
        _ => n.to_string(),
    };
    let labels = model.markers.iter().map(|m| name(&m.name)).collect();
    Table::new(Element::Vec(3), labels, q.times().to_vec(), columns).unwrap()
}

/// Forces, points and free moments of both plates, at twice the rate of the cameras. A mirror exchanges the plates.
pub fn plates(lab: &Laboratory, rows: usize) -> Table {
    let n = 2 * (rows - 1) + 1;
    let times: Vec<f64> = (0..n).map(|i| i as f64 / (2.0 * RATE)).collect();
    let mut columns = vec![Vec::new(); 18];
    for &t in &times {
        let w = 2.0 * PI * t / 1.1;
        let plate = |phase: f64, z: f64| {
            let force = vec3(60.0 * (w + phase).cos(), 330.0 + 150.0 * (w + phase).sin(), 15.0 * z.signum());
            let point = vec3(0.1 + 0.3 * t + 0.1 * phase, 0.0, z);
            [lab.place(force), lab.place(point), lab.axial(vec3(0.5, 4.0 * (w + phase).sin(), -0.3))]
        };
        let (right, left) = (plate(0.0, 0.2), plate(1.5, -0.05));
        let both = if lab.mirrored { [left, right] } else { [right, left] };
        let numbers = both.into_iter().flatten().flat_map(Vec3::to_array);
        columns.iter_mut().zip(numbers).for_each(|(c, x)| c.push(x));
    }
    let mut labels = Vec::new();
    for plate in ["right", "left"] {
        for what in ["force_v", "force_p", "moment_"] {
            labels.extend(["x", "y", "z"].map(|x| format!("{plate}_{what}{x}")));
        }
    }
    let times = times.iter().map(|t| t + lab.clock).collect();
    Table::new(Element::Scalar, labels, times, columns).unwrap()
}

/// The file that applies them.
pub fn loads_file() -> String {
    let force = |name: &str, body: &str| {
        format!(
            "<ExternalForce name=\"{name}_foot\"><applied_to_body>{body}</applied_to_body><force_expressed_in_body>ground</force_expressed_in_body>\
             <point_expressed_in_body>ground</point_expressed_in_body><force_identifier>{name}_force_v</force_identifier>\
             <point_identifier>{name}_force_p</point_identifier><torque_identifier>{name}_moment_</torque_identifier></ExternalForce>"
        )
    };
    format!(
        "<OpenSimDocument Version=\"40600\"><ExternalLoads name=\"loads\"><objects>{}{}</objects><datafile>plates.sto</datafile></ExternalLoads></OpenSimDocument>",
        force("right", "shank_r"),
        force("left", "shank_l")
    )
}

/// Model, plates and the loads they are, in memory.
pub fn bare_files(root: Root, lab: &Laboratory, rows: usize) -> soleus::Memory {
    soleus::Memory::new()
        .with("subject.osim", model_file(root, ""))
        .with("loads.xml", loads_file())
        .with("plates.sto", sto::write(&plates(lab, rows), sto::Digits::Shortest))
}

/// The same and markers of the trial and of a static one.
pub fn files(root: Root, lab: &Laboratory, rows: usize) -> soleus::Memory {
    bare_files(root, lab, rows)
        .with("walk.sto", sto::write_typed(&markers(lab, rows, false)))
        .with("static.sto", sto::write_typed(&markers(lab, 4, true)))
}
