//! A walker in space with 23 coordinates and 26 markers, and its markers in a synthetic walk.

use soleus_dynamics::System;
use soleus_math::table::{Element, Table};
use soleus_math::{Random, Vec3, vec3};
use soleus_model::Model;
use std::fmt::Write as _;

/// How the pelvis moves in ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Root {
    /// Tilt about z, list about x, rotation about y, clamped to a little more than a quarter turn, as in many gait models.
    Custom,
    /// A free joint.
    Free,
}

/// Coordinates of the root: they come first.
pub const ROOT_COORDINATES: usize = 6;

/// Markers: body, name, place.
const MARKERS: [(&str, &str, [f64; 3]); 26] = [
    ("pelvis", "R.ASIS", [0.02, 0.03, 0.12]),
    ("pelvis", "L.ASIS", [0.02, 0.03, -0.12]),
    ("pelvis", "R.PSIS", [-0.15, 0.04, 0.05]),
    ("pelvis", "L.PSIS", [-0.15, 0.04, -0.05]),
    ("torso", "Sternum", [0.10, 0.30, 0.0]),
    ("torso", "C7", [-0.08, 0.45, 0.0]),
    ("torso", "R.Acromium", [0.0, 0.42, 0.18]),
    ("torso", "L.Acromium", [0.0, 0.42, -0.18]),
    ("thigh_r", "R.Thigh.Front", [0.07, -0.20, 0.03]),
    ("thigh_r", "R.Thigh.Side", [0.0, -0.25, 0.09]),
    ("thigh_r", "R.Knee", [0.0, -0.40, 0.06]),
    ("shank_r", "R.Shank.Front", [0.05, -0.15, 0.01]),
    ("shank_r", "R.Shank.Side", [-0.01, -0.22, 0.06]),
    ("shank_r", "R.Ankle", [0.0, -0.41, 0.04]),
    ("foot_r", "R.Heel", [-0.06, -0.03, 0.0]),
    ("foot_r", "R.Toe", [0.15, -0.02, 0.03]),
    ("foot_r", "R.Midfoot", [0.08, 0.01, 0.05]),
    ("thigh_l", "L.Thigh.Front", [0.07, -0.20, -0.03]),
    ("thigh_l", "L.Thigh.Side", [0.0, -0.25, -0.09]),
    ("thigh_l", "L.Knee", [0.0, -0.40, -0.06]),
    ("shank_l", "L.Shank.Front", [0.05, -0.15, -0.01]),
    ("shank_l", "L.Shank.Side", [-0.01, -0.22, -0.06]),
    ("shank_l", "L.Ankle", [0.0, -0.41, -0.04]),
    ("foot_l", "L.Heel", [-0.06, -0.03, 0.0]),
    ("foot_l", "L.Toe", [0.15, -0.02, -0.03]),
    ("foot_l", "L.Midfoot", [0.08, 0.01, -0.05]),
];

/// Coordinates of a joint that turns about z, x and y, with their ranges.
fn turning(names: [&str; 3], range: f64) -> Vec<(String, f64, bool)> {
    names.iter().map(|n| (n.to_string(), range, false)).collect()
}

/// The model.
pub fn walker(root: Root) -> Model {
    let mut joints = String::new();
    let mut pelvis = turning(["pelvis_tilt", "pelvis_list", "pelvis_rotation"], 1.6);
    pelvis.iter_mut().for_each(|c| c.2 = root == Root::Custom);
    pelvis.extend(["pelvis_tx", "pelvis_ty", "pelvis_tz"].map(|n| (n.to_string(), 5.0, false)));
    let class = if root == Root::Free { "FreeJoint" } else { "CustomJoint" };
    push_joint(&mut joints, class, "ground_pelvis", ["/ground", "pelvis"], [0.0; 3], &pelvis);
    let back = turning(["lumbar_extension", "lumbar_bending", "lumbar_rotation"], 1.6);
    push_joint(&mut joints, "CustomJoint", "back", ["/bodyset/pelvis", "torso"], [-0.08, 0.08, 0.0], &back);
    for (s, z) in [("r", 0.08), ("l", -0.08)] {
        let name = |n: &str| format!("{n}_{s}");
        let hip = [name("hip_flexion"), name("hip_adduction"), name("hip_rotation")];
        let hip = turning([&hip[0], &hip[1], &hip[2]], 2.0944);
        let (thigh, shank, foot) = (name("thigh"), name("shank"), name("foot"));
        let up = |b: &str| format!("/bodyset/{b}");
        push_joint(
            &mut joints,
            "CustomJoint",
            &name("hip"),
            ["/bodyset/pelvis", &thigh],
            [-0.06, -0.07, z],
            &hip,
        );
        let one = |n: String| [(n, 2.0944, false)];
        let (knee, ankle) = (one(name("knee_angle")), one(name("ankle_angle")));
        push_joint(&mut joints, "PinJoint", &name("knee"), [&up(&thigh), &shank], [0.0, -0.4, 0.0], &knee);
        push_joint(&mut joints, "PinJoint", &name("ankle"), [&up(&shank), &foot], [0.0, -0.42, 0.0], &ankle);
    }
    let mut bodies = String::new();
    for b in ["pelvis", "torso", "thigh_r", "shank_r", "foot_r", "thigh_l", "shank_l", "foot_l"] {
        let _ = write!(
            bodies,
            "<Body name=\"{b}\"><mass>5</mass><mass_center>0 0 0</mass_center><inertia>0.1 0.1 0.1 0 0 0</inertia></Body>"
        );
    }
    let mut markers = String::new();
    for (body, name, [x, y, z]) in MARKERS {
        let _ = write!(
            markers,
            "<Marker name=\"{name}\"><socket_parent_frame>/bodyset/{body}</socket_parent_frame><location>{x} {y} {z}</location></Marker>"
        );
    }
    let text = format!(
        "<OpenSimDocument Version=\"40600\"><Model name=\"walker\"><gravity>0 -9.80665 0</gravity><Ground name=\"ground\"/>\
         <BodySet name=\"bodyset\"><objects>{bodies}</objects></BodySet>\
         <JointSet name=\"jointset\"><objects>{joints}</objects></JointSet>\
         <MarkerSet name=\"markerset\"><objects>{markers}</objects></MarkerSet></Model></OpenSimDocument>"
    );
    let (model, log) = soleus_io::osim::read_model(text.as_bytes(), "walker.osim");
    model.unwrap_or_else(|| panic!("{log:?}"))
}

fn push_joint(
    xml: &mut String,
    class: &str,
    name: &str,
    [parent, child]: [&str; 2],
    [x, y, z]: [f64; 3],
    coordinates: &[(String, f64, bool)],
) {
    let mut list = String::new();
    for (c, range, clamped) in coordinates {
        let _ = write!(
            list,
            "<Coordinate name=\"{c}\"><default_value>0</default_value><range>-{range} {range}</range><clamped>{clamped}</clamped></Coordinate>"
        );
    }
    let mut axes = String::new();
    if class == "CustomJoint" {
        let along = ["0 0 1", "1 0 0", "0 1 0", "1 0 0", "0 1 0", "0 0 1"];
        for (k, axis) in along.iter().enumerate() {
            let part = if k < 3 { format!("rotation{}", k + 1) } else { format!("translation{}", k - 2) };
            let (of, function) = match coordinates.get(k) {
                Some((c, _, _)) => (
                    c.as_str(),
                    "<LinearFunction name=\"function\"><coefficients>1 0</coefficients></LinearFunction>",
                ),
                None => ("", "<Constant name=\"function\"><value>0</value></Constant>"),
            };
            let _ = write!(
                axes,
                "<TransformAxis name=\"{part}\"><coordinates>{of}</coordinates><axis>{axis}</axis>{function}</TransformAxis>"
            );
        }
        axes = format!("<SpatialTransform>{axes}</SpatialTransform>");
    }
    let _ = write!(
        xml,
        "<{class} name=\"{name}\"><socket_parent_frame>f</socket_parent_frame><socket_child_frame>/bodyset/{child}</socket_child_frame>\
         <coordinates>{list}</coordinates><frames><PhysicalOffsetFrame name=\"f\"><socket_parent>{parent}</socket_parent>\
         <translation>{x} {y} {z}</translation><orientation>0 0 0</orientation></PhysicalOffsetFrame></frames>{axes}</{class}>"
    );
}

/// Markers of a walk forward, `frames` at 100 Hz, each up to 2 cm from where the model has it and 3 mm of noise on top.
pub fn walk(model: &Model, system: &System, frames: usize) -> Table {
    let mut x = system.default_state.clone();
    let mut ws = system.workspace();
    let times: Vec<f64> = (0..frames).map(|i| 0.01 * i as f64).collect();
    let mut columns = vec![Vec::new(); 3 * model.markers.len()];
    let wrong = Random::new(1).vector(columns.len(), 1.0);
    for (row, t) in times.iter().enumerate() {
        let phase = 2.0 * std::f64::consts::PI * t / 1.1;
        for (c, &m) in model.coordinates.iter().zip(&system.tree.mobility_of_coordinate) {
            let side = if c.name.ends_with("_l") { std::f64::consts::PI } else { 0.0 };
            let s = (phase + side).sin();
            x.q[m] = match c.name.trim_end_matches("_r").trim_end_matches("_l") {
                "pelvis_tilt" => -0.1 + 0.03 * (2.0 * phase).sin(),
                "pelvis_list" => 0.06 * s,
                "pelvis_rotation" => 0.1 * s,
                "pelvis_tx" => 1.3 * t,
                "pelvis_ty" => 0.95 + 0.02 * (2.0 * phase).cos(),
                "hip_flexion" => 0.2 + 0.45 * s,
                "hip_adduction" => 0.07 * (phase + side).cos(),
                "hip_rotation" => 0.05 * s,
                "knee_angle" => -0.45 - 0.4 * (phase + side).cos(),
                "ankle_angle" => 0.15 * (2.0 * phase + side).sin(),
                "lumbar_extension" => -0.05,
                "lumbar_bending" => -0.05 * s,
                "lumbar_rotation" => -0.12 * s,
                _ => 0.0,
            };
        }
        system.compute_kinematics(&x, &mut ws);
        let noise = Random::new(100 + row as u64).vector(columns.len(), 1.0);
        for (i, m) in system.markers.iter().enumerate() {
            let off = |k: usize| 0.02 * wrong[3 * i + k];
            let p = ws.kin.X_GB[m.body] * (m.p_BS + vec3(off(0), off(1), off(2)));
            for (k, p) in p.to_array().into_iter().enumerate() {
                columns[3 * i + k].push(p + 3e-3 * noise[3 * i + k]);
            }
        }
    }
    let labels = model.markers.iter().map(|m| m.name.clone()).collect();
    Table::new(Element::Vec(3), labels, times, columns).unwrap()
}

/// The same markers, each where `f` of its place, row and number puts it.
pub fn moved(t: &Table, f: impl Fn(Vec3<f64>, usize, usize) -> Vec3<f64>) -> Table {
    let n = t.labels().len();
    let mut columns = vec![Vec::new(); 3 * n];
    for row in 0..t.rows() {
        for i in 0..n {
            for (k, x) in f(t.vec3(row, i), row, i).to_array().into_iter().enumerate() {
                columns[3 * i + k].push(x);
            }
        }
    }
    Table::new(Element::Vec(3), t.labels().to_vec(), t.times().to_vec(), columns).unwrap()
}

/// The markers with labels a and b exchanged in some rows.
pub fn exchanged(t: &Table, [a, b]: [usize; 2], rows: impl Fn(usize) -> bool) -> Table {
    moved(t, |p, row, i| match i {
        i if i == a && rows(row) => t.vec3(row, b),
        i if i == b && rows(row) => t.vec3(row, a),
        _ => p,
    })
}
