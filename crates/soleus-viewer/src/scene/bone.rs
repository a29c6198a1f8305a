//! Bones for bodies without geometry: generic shapes from joint centres, contacts and the mass centre of a body.
//!
//! They show the orientation of a segment and its joints and are not anatomical: proportions are roughly those of an
//! adult. The shape depends on the name of the body (femur, thigh, torso, calcn, …); directions are those of OpenSim's
//! models, whose segments have y up and x forward in the default pose.

use super::Solid;
use soleus_math::{Vec3, vec3};
use std::f64::consts::TAU;

/// What is known of a body, in its own frame, m.
pub(super) struct Segment<'a> {
    /// Its name.
    pub name: &'a str,
    /// Centre of the joint that carries it.
    pub joint: Vec3<f64>,
    /// Centres of the joints that it carries, and the names of the bodies behind them.
    pub others: Vec<(Vec3<f64>, &'a str)>,
    /// Points that touch the ground.
    pub contacts: Vec<Vec3<f64>>,
    /// Mass centre.
    pub center: Vec3<f64>,
    /// Upwards in the default pose.
    pub up: Vec3<f64>,
    /// Whether other bodies of the model are a head, and a pelvis.
    pub has_head: bool,
    /// See there.
    pub has_pelvis: bool,
    /// Whether the model has muscles: bodies with unknown names are bones then.
    pub has_muscles: bool,
}

/// Sides of a shaft, and of what is thin.
const SIDES: usize = 10;
const FEW_SIDES: usize = 6;
/// A bone shorter than this is not drawn, m.
const SHORTEST: f64 = 0.02;
/// Mass centres of segments lie at this part of their length, from the upper joint on (Winter 2009, thigh and shank).
const CENTER_AT: f64 = 0.43;

/// What a body is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Pelvis,
    Trunk,
    Head,
    Thigh,
    Shank,
    UpperArm,
    Ulna,
    Radius,
    Forearm,
    Hand,
    Foot,
    Toes,
    Nut,
}

/// Words in names, in the order in which they are looked for.
const WORDS: [(Part, &[&str]); 13] = [
    (Part::Toes, &["toe"]),
    (Part::Nut, &["patella", "talus"]),
    (Part::Foot, &["foot", "calcn", "calcan", "heel"]),
    (Part::Hand, &["hand", "palm", "fist"]),
    (Part::Pelvis, &["pelvis", "pelv"]),
    (Part::Head, &["head", "skull", "cranium"]),
    (Part::Trunk, &["torso", "trunk", "thorax", "chest", "ribcage", "lumbar", "back", "hat"]),
    (Part::Thigh, &["femur", "thigh", "upperleg", "upper_leg"]),
    (Part::Shank, &["tibia", "shank", "shin", "lowerleg", "lower_leg", "calf"]),
    (Part::Forearm, &["radius_ulna", "ulna_radius", "forearm", "lowerarm", "lower_arm"]),
    (Part::UpperArm, &["humerus", "upperarm", "upper_arm"]),
    (Part::Ulna, &["ulna"]),
    (Part::Radius, &["radius"]),
];

/// What a body is; `None` where the name does not say.
pub(super) fn part(name: &str) -> Option<Part> {
    let name = name.to_lowercase();
    // `r_ulna_radius_hand` is a forearm first.
    if name.contains("ulna_radius") {
        return Some(Part::Forearm);
    }
    let is = |word: &&str| name.split('_').any(|w| w == *word) || (word.len() > 4 && name.contains(*word));
    WORDS
        .iter()
        .find(|(_, words)| words.iter().any(|w| is(w) || (w.contains("toe") && name.contains("toe"))))
        .map(|w| w.0)
}

/// 1 for a right body, −1 for a left one, 0 where the name does not say.
fn side(name: &str) -> f64 {
    let name = name.to_lowercase();
    let has = |words: [&str; 2], letter: char| {
        name.ends_with(words[0])
            || name.starts_with(words[1])
            || name.contains(if letter == 'r' { "right" } else { "left" })
    };
    match (has(["_r", "r_"], 'r'), has(["_l", "l_"], 'l')) {
        (true, false) => 1.0,
        (false, true) => -1.0,
        _ => 0.0,
    }
}

/// The bone of a body; `None` where nothing is known of what it looks like.
pub(super) fn bone(s: &Segment) -> Option<Solid> {
    let mut m = Mesh::default();
    match part(s.name) {
        Some(Part::Pelvis) => pelvis(s, &mut m)?,
        Some(Part::Trunk) => trunk(s, &mut m)?,
        Some(Part::Head) => {
            let size = 0.24;
            skull(s.joint + s.up * (0.35 * size), s.forward(), s.up, size, &mut m);
        }
        Some(Part::Thigh) => thigh(s, &s.axis()?, &mut m),
        Some(Part::Shank) => shank(s, &s.axis()?, &mut m),
        Some(Part::UpperArm) => m.shaft(&s.axis()?, &UPPER_ARM, SIDES),
        Some(Part::Ulna) => m.shaft(&s.axis()?, &ULNA, SIDES),
        Some(Part::Radius) => m.shaft(&s.axis()?, &RADIUS, SIDES),
        Some(Part::Forearm) => forearm(s, &s.axis()?, &mut m),
        Some(Part::Hand) => hand(s, &s.axis()?, &mut m),
        Some(Part::Foot) => foot(s, &mut m)?,
        Some(Part::Toes) => toes(s, &mut m),
        Some(Part::Nut) => m.ball(s.joint, [s.forward() * 0.022, s.up * 0.02, s.across() * 0.02], FEW_SIDES),
        // What moves between two joints, in a model with muscles, is taken for a bone.
        None if s.has_muscles && s.others.len() == 1 => m.shaft(&s.axis()?, &LONG, SIDES),
        None => return None,
    }
    Some(Solid::Mesh { vertices: m.vertices, faces: m.faces })
}

impl Segment<'_> {
    fn forward(&self) -> Vec3<f64> {
        // x, unless that is up.
        let x = vec3(1.0, 0.0, 0.0);
        let flat = x - self.up * x.dot(self.up);
        if flat.norm() > 0.5 { flat.normalized() } else { vec3(0.0, 1.0, 0.0) }
    }

    /// To the right.
    fn across(&self) -> Vec3<f64> {
        self.forward().cross(self.up)
    }

    /// From the upper joint to the next one, or to where the mass centre says that the segment ends.
    fn axis(&self) -> Option<Axis> {
        let far = self
            .others
            .iter()
            .map(|o| o.0)
            .max_by(|a, b| (*a - self.joint).norm().total_cmp(&(*b - self.joint).norm()));
        let by_mass = self.joint + (self.center - self.joint) * (1.0 / CENTER_AT);
        let to = far.filter(|p| (*p - self.joint).norm() > SHORTEST).unwrap_or(by_mass);
        let length = (to - self.joint).norm();
        if !(length > SHORTEST && length.is_finite()) {
            return None;
        }
        let along = (to - self.joint) * (1.0 / length);
        let lateral = self.across() - along * self.across().dot(along);
        // A segment that lies across, as the arms of a T do, has its width upwards.
        let lateral =
            if lateral.norm() > 0.3 { lateral.normalized() } else { self.up.cross(along).normalized() };
        Some(Axis { from: self.joint, along, lateral, front: lateral.cross(along) * -1.0, length })
    }
}

/// The line of a long bone.
struct Axis {
    from: Vec3<f64>,
    along: Vec3<f64>,
    /// To the right.
    lateral: Vec3<f64>,
    front: Vec3<f64>,
    length: f64,
}

impl Axis {
    /// A point, by parts of the length.
    fn at(&self, t: f64, lateral: f64, front: f64) -> Vec3<f64> {
        self.from + (self.along * t + self.lateral * lateral + self.front * front) * self.length
    }
}

/// Of a long bone: how far along it, half widths to the side and to the front, all as parts of its length.
type Profile = [[f64; 3]];

const LONG: [[f64; 3]; 9] = [
    [-0.04, 0.03, 0.03],
    [0.0, 0.062, 0.06],
    [0.06, 0.066, 0.06],
    [0.17, 0.036, 0.036],
    [0.5, 0.03, 0.03],
    [0.83, 0.036, 0.036],
    [0.94, 0.066, 0.06],
    [1.0, 0.062, 0.06],
    [1.04, 0.03, 0.03],
];
const FEMUR: [[f64; 3]; 9] = [
    [-0.02, 0.02, 0.02],
    [0.02, 0.04, 0.042],
    [0.12, 0.046, 0.045],
    [0.25, 0.036, 0.036],
    [0.6, 0.031, 0.033],
    [0.82, 0.042, 0.04],
    [0.93, 0.08, 0.062],
    [1.0, 0.088, 0.07],
    [1.05, 0.05, 0.04],
];
const TIBIA: [[f64; 3]; 8] = [
    [0.005, 0.085, 0.055],
    [0.04, 0.092, 0.062],
    [0.13, 0.055, 0.052],
    [0.27, 0.035, 0.038],
    [0.6, 0.029, 0.03],
    [0.88, 0.03, 0.03],
    [0.97, 0.05, 0.042],
    [1.03, 0.03, 0.03],
];
const FIBULA: [[f64; 3]; 6] = [
    [0.07, 0.012, 0.012],
    [0.1, 0.022, 0.022],
    [0.2, 0.012, 0.012],
    [0.85, 0.012, 0.012],
    [1.0, 0.022, 0.022],
    [1.05, 0.01, 0.01],
];
const UPPER_ARM: [[f64; 3]; 9] = [
    [-0.05, 0.04, 0.04],
    [0.0, 0.078, 0.078],
    [0.07, 0.075, 0.075],
    [0.2, 0.042, 0.042],
    [0.5, 0.036, 0.036],
    [0.8, 0.042, 0.032],
    [0.93, 0.085, 0.036],
    [1.0, 0.095, 0.045],
    [1.04, 0.05, 0.03],
];
const ULNA: [[f64; 3]; 6] = [
    [-0.06, 0.03, 0.04],
    [0.02, 0.045, 0.05],
    [0.15, 0.03, 0.032],
    [0.6, 0.021, 0.021],
    [0.94, 0.024, 0.024],
    [1.0, 0.012, 0.012],
];
const RADIUS: [[f64; 3]; 6] = [
    [0.0, 0.03, 0.03],
    [0.04, 0.036, 0.036],
    [0.12, 0.024, 0.024],
    [0.6, 0.026, 0.026],
    [0.93, 0.045, 0.034],
    [1.0, 0.04, 0.03],
];

fn thigh(s: &Segment, a: &Axis, m: &mut Mesh) {
    let k = side(s.name);
    // The shaft lies beside the joint and comes to the middle of the knee.
    let aside = |t: f64| k * 0.1 * (1.0 - t).clamp(0.0, 1.0).powf(1.3);
    m.shaft_aside(a, &FEMUR, SIDES, aside);
    m.ball(a.from, [a.along, a.lateral, a.front].map(|d| d * (0.056 * a.length)), SIDES);
    if k != 0.0 {
        let neck = [
            (a.at(0.0, 0.0, 0.0), 0.04),
            (a.at(0.03, 0.05 * k, 0.0), 0.028),
            (a.at(0.07, 0.1 * k, 0.0), 0.038),
        ];
        m.tube(&neck.map(|(p, r)| (p, r * a.length)), FEW_SIDES);
    }
}

fn shank(s: &Segment, a: &Axis, m: &mut Mesh) {
    m.shaft(a, &TIBIA, SIDES);
    let k = if side(s.name) == 0.0 { 1.0 } else { side(s.name) };
    let beside = Axis { from: a.at(0.0, 0.085 * k, -0.03), ..*a };
    // It nears the tibia at the ankle.
    m.shaft_aside(&beside, &FIBULA, FEW_SIDES, |t| -0.02 * k * t);
}

fn forearm(s: &Segment, a: &Axis, m: &mut Mesh) {
    let k = if side(s.name) == 0.0 { 1.0 } else { side(s.name) };
    // Without a hand of its own the mass centre tells of both: two thirds are forearm.
    let part = if s.others.is_empty() && s.name.to_lowercase().contains("hand") { 0.62 } else { 1.0 };
    let own = Axis { length: a.length * part, ..*a };
    m.shaft_aside(&own, &ULNA, FEW_SIDES, |_| -0.03 * k);
    m.shaft_aside(&own, &RADIUS, FEW_SIDES, |_| 0.055 * k);
    if part < 1.0 {
        let rest = Axis { from: own.at(1.0, 0.0, 0.0), length: a.length * (1.0 - part), ..*a };
        palm(&rest, m);
    }
}

fn hand(s: &Segment, a: &Axis, m: &mut Mesh) {
    // Seen from the mass centre a hand is twice as long.
    let length = ((s.center - s.joint).norm() * 2.0).clamp(0.08, 0.2);
    palm(&Axis { length, ..*a }, m);
}

/// A palm and four fingers.
fn palm(a: &Axis, m: &mut Mesh) {
    let rows = [[0.0, 0.14, 0.07], [0.2, 0.2, 0.08], [0.5, 0.25, 0.07], [0.56, 0.2, 0.05]];
    m.shaft(a, &rows, FEW_SIDES);
    for k in [-1.5, -0.5, 0.5, 1.5] {
        let z = 0.115 * k;
        let tip = 0.97 - 0.05 * f64::abs(k);
        let line =
            [(a.at(0.53, z, 0.0), 0.05), (a.at(0.75, 1.05 * z, 0.0), 0.042), (a.at(tip, 1.1 * z, 0.0), 0.03)];
        m.tube(&line.map(|(p, r)| (p, r * a.length)), FEW_SIDES);
    }
}

/// Width of a pelvis without hips to measure it by, from joint to joint, m.
const HIP_WIDTH: f64 = 0.17;

/// Wings, sacrum, pubis and ischia about the centres of the hips.
fn pelvis(s: &Segment, m: &mut Mesh) -> Option<()> {
    let hips: Vec<Vec3<f64>> =
        s.others.iter().filter(|(_, name)| part(name) == Some(Part::Thigh)).map(|o| o.0).collect();
    let (x, y, z) = (s.forward(), s.up, s.across());
    let middle = match hips.as_slice() {
        [] => return None,
        list => list.iter().fold(Vec3::zero(), |a, p| a + *p) * (1.0 / list.len() as f64),
    };
    // One hip of a single leg is on its own side, the right one where it does not say.
    let is_left = s.others.iter().any(|o| side(o.1) < 0.0);
    let half = hips.iter().map(|p| (*p - middle).dot(z).abs()).fold(0.0, f64::max);
    let (middle, w) = match (hips.len(), half > 0.02) {
        (1, _) => (middle - z * (0.5 * HIP_WIDTH * if is_left { -1.0 } else { 1.0 }), HIP_WIDTH),
        (_, true) => (middle, 2.0 * half),
        (_, false) => (middle, HIP_WIDTH),
    };
    let at = |px: f64, py: f64, pz: f64| middle + (x * px + y * py + z * pz) * w;
    for k in [1.0, -1.0] {
        // Where it is, and half of its depth and of its thickness.
        let wing = [
            (at(-0.02, -0.1, 0.47 * k), 0.13, 0.1),
            (at(-0.02, 0.12, 0.5 * k), 0.22, 0.13),
            (at(-0.06, 0.32, 0.5 * k), 0.26, 0.075),
            (at(-0.08, 0.55, 0.62 * k), 0.42, 0.05),
            (at(-0.06, 0.74, 0.72 * k), 0.46, 0.04),
            (at(-0.04, 0.86, 0.74 * k), 0.3, 0.035),
        ];
        let rings = wing.map(|(p, depth, thick)| Ring { center: p, a: z * (thick * w), b: x * (depth * w) });
        m.loft(&rings, SIDES);
        let below = [
            (at(-0.08, -0.05, 0.46 * k), 0.1),
            (at(-0.22, -0.35, 0.42 * k), 0.1),
            (at(-0.1, -0.48, 0.32 * k), 0.085),
            (at(0.16, -0.32, 0.1 * k), 0.06),
        ];
        m.tube(&below.map(|(p, r)| (p, r * w)), FEW_SIDES);
        let pubis = [
            (at(0.05, 0.02, 0.42 * k), 0.1),
            (at(0.22, -0.12, 0.22 * k), 0.07),
            (at(0.24, -0.2, 0.0), 0.085),
        ];
        m.tube(&pubis.map(|(p, r)| (p, r * w)), FEW_SIDES);
    }
    let sacrum = [
        (at(-0.36, 0.62, 0.0), 0.34, 0.13),
        (at(-0.46, 0.42, 0.0), 0.3, 0.14),
        (at(-0.54, 0.15, 0.0), 0.17, 0.09),
        (at(-0.5, -0.08, 0.0), 0.06, 0.04),
    ];
    let rings = sacrum.map(|(p, wide, deep)| Ring { center: p, a: x * (deep * w), b: z * (wide * w) });
    m.loft(&rings, SIDES);
    Some(())
}

/// Spine, rib cage, shoulders; a head and a pelvis where no other body is one.
fn trunk(s: &Segment, m: &mut Mesh) -> Option<()> {
    let (x, y, z) = (s.forward(), s.up, s.across());
    let arms: Vec<Vec3<f64>> = (s.others.iter())
        .filter(|(_, name)| {
            let name = name.to_lowercase();
            part(&name) == Some(Part::UpperArm)
                || ["clav", "scap", "shoulder"].iter().any(|w| name.contains(w))
        })
        .map(|o| o.0)
        .collect();
    // To the shoulders: their height where there are arms, else from the mass centre, which is at six tenths (Winter 2009).
    let above = |p: Vec3<f64>| (p - s.joint).dot(y);
    let by_arms = arms.iter().map(|&p| above(p)).fold(f64::NAN, f64::max);
    let height = if by_arms > 0.1 { by_arms } else { above(s.center) / 0.62 };
    if !(height > 0.1 && height.is_finite()) {
        return None;
    }
    let h = height.min(0.75);
    // Where the arms are is the middle of the shoulders, from front to back.
    let lean = if arms.is_empty() {
        0.0
    } else {
        arms.iter().map(|p| (*p - s.joint).dot(x)).sum::<f64>() / arms.len() as f64
    };
    let base = s.joint;
    let at = |px: f64, py: f64, pz: f64| {
        base + x * (px * h + lean * py.clamp(0.0, 1.0)) + y * (py * h) + z * (pz * h)
    };
    let low = if s.has_pelvis { -0.1 } else { 0.16 };
    let spine = [
        (at(-0.04, low, 0.0), 0.055),
        (at(-0.02, 0.3, 0.0), 0.05),
        (at(-0.12, 0.6, 0.0), 0.042),
        (at(-0.14, 0.8, 0.0), 0.038),
        (at(-0.06, 1.02, 0.0), 0.034),
        (at(-0.03, 1.16, 0.0), 0.032),
    ];
    m.tube(&spine.map(|(p, r)| (p, r * h)), FEW_SIDES);
    // Ribs hang down to the front; half of their width and depth.
    for (k, (wide, deep)) in [(0.28, 0.17), (0.3, 0.2), (0.31, 0.21), (0.29, 0.2), (0.24, 0.17), (0.15, 0.12)]
        .into_iter()
        .enumerate()
    {
        let py = 0.42 + 0.102 * k as f64;
        let middle = at(0.02 - 0.02 * k as f64 / 5.0, py, 0.0);
        m.hoop(middle, z * (wide * h), (x * 0.94 - y * 0.34) * (deep * h), 0.019 * h);
    }
    let sternum = [
        (at(0.19, 0.46, 0.0), 0.03),
        (at(0.2, 0.62, 0.0), 0.05),
        (at(0.16, 0.8, 0.0), 0.045),
        (at(0.11, 0.9, 0.0), 0.06),
    ];
    let rings = sternum.map(|(p, wide)| Ring { center: p, a: x * (0.018 * h), b: z * (wide * h) });
    m.loft(&rings, FEW_SIDES);
    for k in [1.0, -1.0] {
        let own = arms.iter().copied().find(|p| (*p - base).dot(z) * k > 0.02);
        let tip = own.unwrap_or_else(|| at(-0.02, 0.98, 0.36 * k)) + y * (0.05 * h);
        let collar = [(at(0.11, 0.93, 0.05 * k), 0.024), (at(0.07, 0.99, 0.2 * k), 0.018), (tip, 0.026)];
        m.tube(&collar.map(|(p, r)| (p, r * h)), FEW_SIDES);
        // The shoulder blade.
        let blade = [
            (at(-0.17, 0.55, 0.2 * k), 0.02),
            (at(-0.17, 0.72, 0.21 * k), 0.08),
            (at(-0.14, 0.9, 0.24 * k), 0.1),
        ];
        let rings = blade.map(|(p, wide)| Ring { center: p, a: x * (0.014 * h), b: z * (wide * h) });
        m.loft(&rings, FEW_SIDES);
        m.tube(&[(at(-0.13, 0.9, 0.25 * k), 0.022 * h), (tip, 0.022 * h)], FEW_SIDES);
    }
    if !s.has_head {
        skull(at(0.0, 1.29, 0.0), x, y, 0.44 * h, m);
    }
    if !s.has_pelvis {
        pelvis(s, m);
    }
    Some(())
}

/// A brain case and a jaw, of a height from chin to crown.
fn skull(center: Vec3<f64>, x: Vec3<f64>, y: Vec3<f64>, size: f64, m: &mut Mesh) {
    let z = x.cross(y);
    let at = |px: f64, py: f64| center + (x * px + y * py) * size;
    // Height, middle from front to back, half depth, half width.
    let case = [
        (-0.2, -0.02, 0.16, 0.16),
        (-0.1, -0.03, 0.33, 0.26),
        (0.05, -0.04, 0.4, 0.31),
        (0.2, -0.05, 0.41, 0.32),
        (0.36, -0.06, 0.33, 0.27),
        (0.47, -0.07, 0.15, 0.13),
    ];
    let rings = case.map(|(py, px, deep, wide)| Ring {
        center: at(px, py),
        a: z * (wide * size),
        b: x * (deep * size),
    });
    m.loft(&rings, SIDES);
    let face = [
        (-0.46, 0.2, 0.08, 0.11),
        (-0.36, 0.13, 0.16, 0.17),
        (-0.18, 0.12, 0.19, 0.21),
        (0.0, 0.15, 0.19, 0.22),
    ];
    let rings = face.map(|(py, px, deep, wide)| Ring {
        center: at(px, py),
        a: z * (wide * size),
        b: x * (deep * size),
    });
    m.loft(&rings, SIDES);
}

/// A heel, an instep and, where no other body is the toes, those.
fn foot(s: &Segment, m: &mut Mesh) -> Option<()> {
    let (x, y) = (s.forward(), s.up);
    let lowest = |p: &Vec3<f64>| p.dot(y);
    let toes = s.others.iter().find(|(_, name)| part(name) == Some(Part::Toes)).map(|o| o.0);
    let ends = |list: &[Vec3<f64>]| {
        let back = list.iter().copied().min_by(|a, b| a.dot(x).total_cmp(&b.dot(x)))?;
        let front = list.iter().copied().max_by(|a, b| a.dot(x).total_cmp(&b.dot(x)))?;
        ((front - back).dot(x) > 0.1).then_some((back, front))
    };
    // The sole from heel to the ball of the foot, and the part in front of it.
    let (heel, ball, tip) = match (toes, ends(&s.contacts)) {
        // OpenSim's calcn begins at the heel.
        (Some(ball), _) => {
            let sole = s.joint.dot(y).min(ball.dot(y)) - 0.012;
            let on = |p: Vec3<f64>| p + y * (sole - p.dot(y));
            (on(s.joint + x * 0.015), on(ball), None)
        }
        (None, Some((heel, front))) => {
            let sole = s.contacts.iter().map(lowest).fold(f64::INFINITY, f64::min);
            let on = |p: Vec3<f64>| p + y * (sole - p.dot(y));
            let (heel, front) = (on(heel), on(front));
            (heel, heel + (front - heel) * 0.88, Some(front + (front - heel) * 0.2))
        }
        // From ankle and mass centre: a foot is 0.25 m long and 0.07 m high.
        _ => {
            let drop = ((s.joint - s.center).dot(y) * 2.0).clamp(0.05, 0.1);
            let ahead = (s.center - s.joint).dot(x).max(0.04);
            let heel = s.joint - y * drop - x * (0.55 * ahead);
            (heel, heel + x * (2.6 * ahead), Some(heel + x * (3.4 * ahead)))
        }
    };
    let along = ball - heel;
    let f = along.norm();
    if !(f > SHORTEST) {
        return None;
    }
    let d = along * (1.0 / f);
    let z = d.cross(y).normalized();
    // How far along, height of the middle, half width, half height.
    let rows = [
        (-0.16, 0.13, 0.06, 0.08),
        (-0.08, 0.17, 0.13, 0.16),
        (0.08, 0.22, 0.15, 0.21),
        (0.26, 0.27, 0.14, 0.24),
        (0.45, 0.24, 0.15, 0.18),
        (0.7, 0.16, 0.2, 0.12),
        (0.95, 0.09, 0.24, 0.085),
        (1.03, 0.08, 0.2, 0.06),
    ];
    let ring = |(t, up, wide, high): (f64, f64, f64, f64)| Ring {
        center: heel + (d * t + y * up) * f,
        a: y * (high * f),
        b: z * (wide * f),
    };
    m.loft(&rows.map(ring), SIDES);
    if let Some(tip) = tip {
        digits(ball, tip - ball, y, 0.24 * f, m);
    }
    Some(())
}

/// Toes, from the joint with the foot forwards.
fn toes(s: &Segment, m: &mut Mesh) {
    let x = s.forward();
    let length = (2.0 * (s.center - s.joint).dot(x)).clamp(0.05, 0.09);
    digits(s.joint - s.up * 0.012, x * length, s.up, 0.042, m);
}

/// Five toes, the first the thickest; which side that is on cannot be told here.
fn digits(from: Vec3<f64>, to: Vec3<f64>, y: Vec3<f64>, half_width: f64, m: &mut Mesh) {
    let z = to.cross(y).normalized();
    let r = 0.19 * half_width;
    for k in -2..=2 {
        let k = f64::from(k);
        let root = from + z * (0.42 * k * half_width) + y * r * 1.2;
        let reach = 0.92 - 0.07 * k * k;
        let line = [
            (root, r * 1.1),
            (root + to * (0.55 * reach) + y * (0.2 * r), r),
            (root + to * reach - y * (0.2 * r), 0.7 * r),
        ];
        m.tube(&line, FEW_SIDES);
    }
}

/// A cut through a bone: its middle and two half axes.
#[derive(Clone, Copy)]
struct Ring {
    center: Vec3<f64>,
    a: Vec3<f64>,
    b: Vec3<f64>,
}

#[derive(Default)]
struct Mesh {
    vertices: Vec<Vec3<f64>>,
    faces: Vec<[u32; 3]>,
}

impl Mesh {
    /// The surface over cuts, closed at both ends.
    fn loft(&mut self, rings: &[Ring], sides: usize) {
        let [first, .., last] = rings else { return };
        // Half axes turn so that the faces look outwards.
        let way = last.center - first.center;
        let flip = first.a.cross(first.b).dot(way) < 0.0;
        let start = self.vertices.len() as u32;
        for r in rings {
            for k in 0..sides {
                let (s, c) = (TAU * k as f64 / sides as f64).sin_cos();
                self.vertices.push(r.center + r.a * c + r.b * if flip { -s } else { s });
            }
        }
        let n = sides as u32;
        for i in 0..rings.len() as u32 - 1 {
            for k in 0..n {
                let (a, b) = (start + i * n + k, start + i * n + (k + 1) % n);
                self.faces.extend([[a, b, b + n], [a, b + n, a + n]]);
            }
        }
        let top = start + (rings.len() as u32 - 1) * n;
        for k in 1..n - 1 {
            self.faces.push([start, start + k + 1, start + k]);
            self.faces.push([top, top + k, top + k + 1]);
        }
    }

    fn shaft(&mut self, a: &Axis, profile: &Profile, sides: usize) {
        self.shaft_aside(a, profile, sides, |_| 0.0);
    }

    /// A long bone whose middle lies aside by a part of its length.
    fn shaft_aside(&mut self, a: &Axis, profile: &Profile, sides: usize, aside: impl Fn(f64) -> f64) {
        let ring = |[t, wide, deep]: &[f64; 3]| Ring {
            center: a.at(*t, aside(*t), 0.0),
            a: a.lateral * (wide * a.length),
            b: a.front * (deep * a.length),
        };
        self.loft(&profile.iter().map(ring).collect::<Vec<_>>(), sides);
    }

    /// A round tube through points with radii.
    fn tube(&mut self, line: &[(Vec3<f64>, f64)], sides: usize) {
        let n = line.len();
        let mut side = Vec3::zero();
        let rings: Vec<Ring> = (0..n)
            .map(|i| {
                let d = (line[(i + 1).min(n - 1)].0 - line[i.saturating_sub(1)].0).normalized();
                // The same side all along, so that the tube is not wrung.
                let seed = if side.norm() > 0.0 {
                    side
                } else if d.x.abs() < 0.7 {
                    vec3(1.0, 0.0, 0.0)
                } else {
                    vec3(0.0, 1.0, 0.0)
                };
                side = (seed - d * seed.dot(d)).normalized();
                Ring { center: line[i].0, a: side * line[i].1, b: d.cross(side) * line[i].1 }
            })
            .collect();
        self.loft(&rings, sides);
    }

    /// An ellipsoid with these half axes.
    fn ball(&mut self, center: Vec3<f64>, [p, a, b]: [Vec3<f64>; 3], sides: usize) {
        let ring = |k: i32| {
            let (s, c) = (TAU / 4.0 * f64::from(k) / 3.0).sin_cos();
            let c = c.max(0.05);
            Ring { center: center + p * s, a: a * c, b: b * c }
        };
        self.loft(&(-3..=3).map(ring).collect::<Vec<_>>(), sides);
    }

    /// A ring as ribs are: an ellipse of two half axes, of a round rod.
    fn hoop(&mut self, center: Vec3<f64>, a: Vec3<f64>, b: Vec3<f64>, rod: f64) {
        const AROUND: usize = 16;
        const ROD: usize = 4;
        let normal = a.cross(b).normalized();
        let start = self.vertices.len() as u32;
        for k in 0..AROUND {
            let (s, c) = (TAU * k as f64 / AROUND as f64).sin_cos();
            let out = (a * c + b * s).normalized();
            for j in 0..ROD {
                let (v, u) = (TAU * (j as f64 + 0.5) / ROD as f64).sin_cos();
                self.vertices.push(center + a * c + b * s + (out * u + normal * v) * rod);
            }
        }
        let (n, rods) = (AROUND as u32, ROD as u32);
        for k in 0..n {
            for j in 0..rods {
                let (j1, k1) = ((j + 1) % rods, (k + 1) % n);
                let at = |k: u32, j: u32| start + k * rods + j;
                self.faces.extend([[at(k, j), at(k1, j), at(k1, j1)], [at(k, j), at(k1, j1), at(k, j1)]]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(name: &str) -> Segment<'_> {
        Segment {
            name,
            joint: Vec3::zero(),
            others: Vec::new(),
            contacts: Vec::new(),
            center: vec3(0.0, -0.18, 0.0),
            up: vec3(0.0, 1.0, 0.0),
            has_head: false,
            has_pelvis: true,
            has_muscles: true,
        }
    }

    fn volume(solid: &Solid) -> f64 {
        let Solid::Mesh { vertices: v, faces } = solid else { return 0.0 };
        let part = |f: &[u32; 3]| {
            let [a, b, c] = f.map(|i| v[i as usize]);
            a.dot(b.cross(c)) / 6.0
        };
        faces.iter().map(part).sum()
    }

    /// Every bone is closed and looks outwards: its volume is positive, and each edge belongs to two faces.
    #[test]
    fn identity_bones_are_closed() {
        let hip = vec3(-0.07, -0.066, 0.083);
        let bodies = [
            Segment {
                others: vec![(hip, "femur_r"), (vec3(-0.07, -0.066, -0.083), "femur_l")],
                ..segment("pelvis")
            },
            Segment { center: vec3(-0.03, 0.3, 0.0), ..segment("torso") },
            Segment {
                center: vec3(0.0, 0.3, 0.0),
                has_pelvis: false,
                others: vec![(Vec3::zero(), "thigh_r"), (Vec3::zero(), "thigh_l")],
                ..segment("trunk")
            },
            Segment { center: vec3(0.0, 0.1, 0.0), ..segment("head") },
            Segment { others: vec![(vec3(0.0, -0.41, 0.0), "tibia_r")], ..segment("femur_r") },
            segment("tibia_l"),
            segment("humerus_r"),
            segment("ulna_r"),
            segment("radius_l"),
            segment("r_ulna_radius_hand"),
            Segment { center: vec3(0.0, -0.07, 0.0), ..segment("hand_r") },
            Segment { others: vec![(vec3(0.18, -0.002, 0.0), "toes_r")], ..segment("calcn_r") },
            Segment { contacts: vec![vec3(-0.06, -0.07, 0.0), vec3(0.16, -0.07, 0.0)], ..segment("foot_l") },
            Segment { center: vec3(0.07, -0.035, 0.0), ..segment("foot") },
            Segment { center: vec3(0.035, 0.0, 0.0), ..segment("toes_l") },
            segment("patella_r"),
            Segment { others: vec![(vec3(0.0, -0.3, 0.0), "b")], ..segment("a") },
        ];
        for s in bodies {
            let solid = bone(&s).unwrap_or_else(|| panic!("{}", s.name));
            let v = volume(&solid);
            assert!(v > 1e-6 && v < 1e-2, "{}: {v} m³", s.name);
            let Solid::Mesh { faces, vertices } = &solid else { panic!() };
            assert!(faces.len() < 2500, "{}: {} faces", s.name, faces.len());
            assert!(vertices.iter().all(|p| p.norm() < 1.0), "{}", s.name);
            let mut edges = std::collections::BTreeMap::new();
            for f in faces {
                for (a, b) in [(f[0], f[1]), (f[1], f[2]), (f[2], f[0])] {
                    *edges.entry((a, b)).or_insert(0) += 1;
                }
            }
            assert!(edges.iter().all(|(&(a, b), n)| *n == 1 && edges.get(&(b, a)) == Some(&1)), "{}", s.name);
        }
    }

    #[test]
    fn analytic_what_bodies_are() {
        for (name, wanted) in [
            ("calcn_r", Some(Part::Foot)),
            ("toes_l", Some(Part::Toes)),
            ("r_ulna_radius_hand", Some(Part::Forearm)),
            ("femur_r", Some(Part::Thigh)),
            ("Thorax", Some(Part::Trunk)),
            ("hat", Some(Part::Trunk)),
            ("ski_r", None),
            ("block", None),
            ("background", None),
        ] {
            assert_eq!(part(name), wanted, "{name}");
        }
        // Machines have no bones.
        let rod = Segment { others: vec![(vec3(0.0, -0.3, 0.0), "b")], has_muscles: false, ..segment("rod") };
        assert!(bone(&rod).is_none());
    }
}
