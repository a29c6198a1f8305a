//! Mirror symmetry of a model: pairs of left and right components, found by name and checked by the kinematics.

use crate::musculoskeletal::ModelProblem;
use crate::problem::PointVariable;
use soleus_dynamics::{State, Workspace};
use soleus_math::{Random, Vec3, vec3};
use soleus_model::force::ForceKind;
use soleus_model::joint::MotionType;

/// Step of a coordinate from which its sign is found, rad or m: large enough that rounding of poses (1e-16) does not count.
const STEP: f64 = 1e-3;

/// Poses at which the images are compared.
const POSES: usize = 3;

/// Part of its size by which a length, a mass or a place may differ from its image before it is told: models whose sides were
/// digitised apart differ by less.
const ALIKE: f64 = 1e-3;

/// Mirror images of states and controls, with their signs.
///
/// The mirror plane is the x-y plane, as in OpenSim's models: x forward, y up. The image of a coordinate, muscle or
/// body has the same name with left and right exchanged; components without a side are their own images.
#[derive(Clone, Debug, PartialEq)]
pub struct Mirror {
    /// Image of each state, and its sign, 1 or −1.
    pub states: Vec<(usize, f64)>,
    /// Image of each control, and its sign, 1 or −1.
    pub controls: Vec<(usize, f64)>,
    /// The state of the forward position.
    pub forward: usize,
    /// Components of one side without a counterpart; they are their own images.
    pub one_sided: Vec<String>,
    /// Descriptions of components that differ from their image; largest difference first.
    pub exceptions: Vec<String>,
}

/// Why a model has no mirror symmetry.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoMirror {
    /// Coordinates that move the model in a way that no mirror image does.
    #[error("coordinates without a mirror image: {}", .0.join(", "))]
    NoImage(Vec<String>),
    /// No coordinate moves the model along x.
    #[error("no coordinate moves the whole model forward (along x)")]
    NoForward,
}

/// Name of the other side: `_r` and `_l`, `_right` and `_left`, as prefix or suffix, in any part of a path. `None`
/// without a side.
pub fn other_side(name: &str) -> Option<String> {
    let mut has_side = false;
    let parts: Vec<String> = name
        .split('/')
        .map(|part| {
            let words: Vec<String> = part
                .split('_')
                .map(|w| {
                    let other = match w {
                        "r" => "l",
                        "l" => "r",
                        "R" => "L",
                        "L" => "R",
                        "right" => "left",
                        "left" => "right",
                        "Right" => "Left",
                        "Left" => "Right",
                        same => same,
                    };
                    has_side |= other != w;
                    other.to_string()
                })
                .collect();
            // `contactHeelRight` has no underscore before its side.
            let joined = words.join("_");
            if joined != part {
                return joined;
            }
            match [("Right", "Left"), ("Left", "Right")].iter().find(|(a, _)| part.contains(a)) {
                Some((a, b)) => {
                    has_side = true;
                    part.replace(a, b)
                }
                None => joined,
            }
        })
        .collect();
    has_side.then(|| parts.join("/"))
}

/// For each name the place of its image; names of one side alone are put into `lonely`.
fn images(names: &[String], lonely: &mut Vec<String>) -> Vec<usize> {
    let place = |(i, name): (usize, &String)| match other_side(name) {
        None => i,
        Some(other) => names.iter().position(|n| *n == other).unwrap_or_else(|| {
            lonely.push(name.clone());
            i
        }),
    };
    names.iter().enumerate().map(place).collect()
}

/// Where everything is: mass centres of bodies, m.
fn places(base: &ModelProblem, x: &State<f64>, ws: &mut Workspace<f64>) -> Vec<Vec3<f64>> {
    base.system.compute_kinematics(x, ws);
    let node = &base.system.tree.node_of_body;
    let bodies = base.model.bodies.iter().enumerate().skip(1);
    bodies.map(|(i, b)| ws.kin.X_GB[node[i]] * b.mass_center).collect()
}

fn mirrored(p: Vec3<f64>) -> Vec3<f64> {
    vec3(p.x, p.y, -p.z)
}

impl Mirror {
    /// Finds the mirror symmetry of a model.
    pub fn new(base: &ModelProblem) -> Result<Mirror, NoMirror> {
        let n = base.num_coordinates();
        let mut lonely = Vec::new();
        let of_states = images(&base.states, &mut lonely);
        let of_controls = images(&base.controls, &mut lonely);
        let bodies: Vec<String> = base.model.bodies.iter().skip(1).map(|b| b.path.clone()).collect();
        let of_bodies = images(&bodies, &mut lonely);
        lonely.sort();
        lonely.dedup();

        // At a pose that is its own image, a step of a coordinate moves the bodies as the step of its image moves theirs, mirrored.
        let mut ws = base.system.workspace();
        let x0 = own_image(base, &of_states);
        let before = places(base, &x0, &mut ws);
        let moved = |i: usize, ws: &mut Workspace<f64>| {
            let mut x = x0.clone();
            x.q[i] += STEP;
            let after = places(base, &x, ws);
            after.iter().zip(&before).map(|(a, b)| *a - *b).collect::<Vec<_>>()
        };
        let steps: Vec<Vec<Vec3<f64>>> = (0..n).map(|i| moved(i, &mut ws)).collect();
        let (mut signs, mut strange) = (vec![1.0; n], Vec::new());
        for i in 0..n {
            let image = &steps[of_states[i]];
            let distance = |sign: f64| {
                let each =
                    (0..bodies.len()).map(|b| (steps[i][b] * sign - mirrored(image[of_bodies[b]])).norm());
                soleus_math::norm::largest(each)
            };
            let size = soleus_math::norm::largest(steps[i].iter().map(|d| d.norm()));
            let (same, opposite) = (distance(1.0), distance(-1.0));
            signs[i] = if opposite < same { -1.0 } else { 1.0 };
            // The second order of a step is a thousandth of the first.
            if same.min(opposite) > 0.1 * size {
                strange.push(base.states[i].trim_end_matches("/value").to_string());
            }
        }
        if !strange.is_empty() {
            return Err(NoMirror::NoImage(strange));
        }
        let forward = forward(&steps).ok_or(NoMirror::NoForward)?;

        // An actuator of a coordinate pushes the way its coordinate goes.
        let (own, of_actuators) = actuator_signs(base, &signs);
        let sign = |i: usize| if i < 2 * n { signs[i % n] } else { own[i - 2 * n] };
        let states: Vec<(usize, f64)> = (0..base.states.len()).map(|i| (of_states[i], sign(i))).collect();
        let controls = of_controls.into_iter().zip(of_actuators).collect();
        let mut mirror = Mirror { states, controls, forward, one_sided: lonely, exceptions: Vec::new() };
        mirror.exceptions = mirror.differences(base, &of_bodies, &mut ws);
        Ok(mirror)
    }

    /// The image of a state of the model.
    pub fn image(&self, x: &State<f64>) -> State<f64> {
        let n = x.q.len();
        let mut image = x.clone();
        for i in 0..n {
            let (from, sign) = self.states[i];
            image.q[i] = sign * x.q[from];
            image.u[i] = sign * x.u[from];
        }
        for i in 0..x.z.len() {
            let (from, sign) = self.states[2 * n + i];
            image.z[i] = sign * x.z[from - 2 * n];
        }
        image
    }

    /// Pairs of initial and final values for periodicity: with `half`, each final value is the image of the initial
    /// one; otherwise it equals the initial one. `true`: with the opposite sign.
    pub fn pairs(&self, half: bool) -> Vec<(PointVariable, PointVariable, bool)> {
        let image = |i: usize, of: (usize, f64)| if half { (of.0, of.1 < 0.0) } else { (i, false) };
        let states = self.states.iter().enumerate().filter(|(i, _)| *i != self.forward).map(|(i, &of)| {
            let (from, negate) = image(i, of);
            (PointVariable::State(from), PointVariable::State(i), negate)
        });
        let controls = self.controls.iter().enumerate().map(|(i, &of)| {
            let (from, negate) = image(i, of);
            (PointVariable::Control(from), PointVariable::Control(i), negate)
        });
        states.chain(controls).collect()
    }

    /// Masses, places and lengths of paths that are not those of their images, at seeded poses.
    fn differences(&self, base: &ModelProblem, of_bodies: &[usize], ws: &mut Workspace<f64>) -> Vec<String> {
        let (model, system) = (&base.model, &base.system);
        let mut found: Vec<(f64, String)> = Vec::new();
        let mut note = |off: f64, what: String| {
            if off > ALIKE && !found.iter().any(|f| f.1 == what) {
                found.push((off, what));
            }
        };
        for (i, &j) in of_bodies.iter().enumerate() {
            let (a, b) = (&model.bodies[i + 1], &model.bodies[j + 1]);
            note((a.mass - b.mass).abs() / (a.mass + b.mass).max(1e-9), format!("mass of {}", a.name));
        }
        let paths: Vec<String> = model.forces.iter().map(|f| f.path.clone()).collect();
        let of_paths = images(&paths, &mut Vec::new());
        let mut random = Random::new(20);
        for _ in 0..POSES {
            let mut x = system.default_state.clone();
            for (c, &m) in model.coordinates.iter().zip(&system.tree.mobility_of_coordinate) {
                let [a, b] = c.range;
                if m < x.q.len() && a.is_finite() && b.is_finite() && a <= b {
                    // The middle of a range is where joints are made for; ends may tear paths off their surfaces.
                    x.q[m] = (x.q[m] + 0.2 * random.signed() * (b - a).min(2.0)).clamp(a, b);
                }
            }
            let image = self.image(&x);
            let here = places(base, &x, ws);
            system.compute_paths(&x, ws);
            let lengths: Vec<f64> = ws.paths.iter().map(|p| p.length()).collect();
            let there = places(base, &image, ws);
            system.compute_paths(&image, ws);
            let lengths_there: Vec<f64> = ws.paths.iter().map(|p| p.length()).collect();
            for (i, &j) in of_bodies.iter().enumerate() {
                note((there[i] - mirrored(here[j])).norm(), format!("place of {}", model.bodies[i + 1].name));
            }
            for (i, &j) in of_paths.iter().enumerate().filter(|(i, _)| system.forces[*i].path.is_some()) {
                let (a, b) = (lengths_there[i], lengths[j]);
                note((a - b).abs() / a.max(1e-3), format!("length of {}", model.forces[i].name));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.into_iter().map(|(off, what)| format!("{what} ({:.1} %)", 100.0 * off)).collect()
    }
}

/// A pose that is its own image, near the default: what has a side takes the value of the right one, turns of the whole are zero.
fn own_image(base: &ModelProblem, of_states: &[usize]) -> State<f64> {
    let tree = &base.system.tree;
    let mut x = base.system.default_state.clone();
    let n = x.q.len();
    for i in 0..n {
        let translates = tree.coordinate_of_mobility[i]
            .is_some_and(|c| base.model.coordinates[c.0].motion_type == MotionType::Translational);
        if !translates {
            x.q[i] = 0.0;
        } else if of_states[i] > i {
            x.q[i] = x.q[of_states[i]];
        }
    }
    x.u.fill(0.0);
    x
}

/// The coordinate whose step moves all bodies alike along x.
fn forward(steps: &[Vec<Vec3<f64>>]) -> Option<usize> {
    let along = |d: &Vec3<f64>| (*d - vec3(STEP, 0.0, 0.0)).norm() < 1e-6 * STEP;
    steps.iter().position(|s| !s.is_empty() && s.iter().all(along))
}

/// Signs of auxiliary states and of controls: those of the coordinates that their actuators push; 1 for all else.
fn actuator_signs(base: &ModelProblem, signs: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (mut states, mut controls) = (vec![1.0; base.system.num_aux], vec![1.0; base.controls.len()]);
    for (f, s) in base.model.forces.iter().zip(&base.system.forces) {
        let coordinate = match &f.kind {
            ForceKind::CoordinateActuator(a) => Some(a.coordinate),
            ForceKind::ActivationCoordinateActuator(a) => Some(a.coordinate),
            _ => None,
        };
        let m = coordinate.map(|c| base.system.tree.mobility_of_coordinate[c.0]);
        if let Some(&sign) = m.and_then(|m| signs.get(m)) {
            states[s.states.clone()].fill(sign);
            controls[s.controls.clone()].fill(sign);
        }
    }
    (states, controls)
}
