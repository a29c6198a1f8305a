//! Reference models and states for whole-model tests.

use soleus_dynamics::force::ForceError;
use soleus_dynamics::system::SystemError;
use soleus_dynamics::{State, System};
use soleus_math::Random;
use soleus_math::function::MultivariatePolynomial;
use soleus_math::norm::largest;
use soleus_model::Model;
use soleus_model::force::ForceKind;
use soleus_model::id::CoordinateId;
use soleus_model::muscle::{DeGroote2016, MuscleKind};
use soleus_model::path::{FunctionBasedPath, Path as ModelPath};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The folder of reference results.
pub fn reference() -> PathBuf {
    PathBuf::from(soleus_testing::shared!("reference"))
}

/// A state and its controls.
type Point = (State<f64>, Vec<f64>);

/// A model with states to look at it in; the first is its default state.
pub struct Subject {
    pub name: String,
    pub system: System,
    pub states: Vec<Point>,
}

/// Reads and compiles; `None` for a model that needs a contact mesh which does not come with it.
pub fn compiled(file: &Path) -> Option<(Model, System)> {
    let bytes = std::fs::read(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let (model, diagnostics) = soleus_io::osim::read_model(&bytes, file.to_str().unwrap());
    let model = model.unwrap_or_else(|| panic!("{}: {:?}", file.display(), diagnostics.list));
    match System::compile(&model) {
        Ok(system) => Some((model, system)),
        Err(SystemError::Force { source: ForceError::MeshNotRead { .. }, .. }) => None,
        Err(e) => panic!("{}: {e}", file.display()),
    }
}

/// Files of a folder that end so, in order of their names; there are some.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == extension));
    files.sort();
    assert!(!files.is_empty(), "no .{extension} in {}", folder.display());
    files
}

/// The models that ship, each in its default state and three others, with muscles in equilibrium.
pub fn shipped() -> Vec<Subject> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models"));
    let subjects: Vec<Subject> = files(folder, "osim").iter().map(|f| shipped_model(f)).collect();
    assert!(subjects.len() >= 5, "{} models ship", subjects.len());
    subjects
}

/// An arm with forces by formulas: on a coordinate that another one changes, on a point, behind a lag, and states alone.
pub fn with_formulas() -> Vec<Subject> {
    let file = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/reach.osim"));
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{e}"));
    let set = text.find("<ForceSet").unwrap_or(0);
    let at = set + text[set..].find("<objects>").unwrap_or(0) + "<objects>".len();
    let text = format!("{}{FORMULAS}{}", &text[..at], &text[at..]);
    let (model, diagnostics) = soleus_io::osim::read_model(text.as_bytes(), "formulas.osim");
    let model = model.unwrap_or_else(|| panic!("{:?}", diagnostics.list));
    let system = System::compile(&model).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((system.num_controls, system.num_aux), (4, 4));
    vec![subject("formulas".into(), system)]
}

/// A leg whose muscles are De Groote's, with the rate of activation as control, on paths that are polynomials of the coordinates; those over the
/// knee exert no torque on it.
pub fn with_tendon_force_states() -> Vec<Subject> {
    let file = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/leg_swing.osim"));
    let (mut model, _) = compiled(file).expect("what ships is complete");
    let coordinates: Vec<CoordinateId> = (0..model.coordinates.len()).map(CoordinateId).collect();
    let n = coordinates.len();
    let terms = MultivariatePolynomial::term_count(n, 3).expect("few coordinates");
    for (k, f) in model.forces.iter_mut().enumerate() {
        let ForceKind::Muscle(m) = &mut f.kind else { continue };
        m.kind = MuscleKind::DeGroote2016(DeGroote2016::default());
        m.pennation_angle_at_optimal = 0.2;
        // Near the length at which fibers are at their optimum.
        let mut coefficients = direction(700 + k as u64, terms, 0.02);
        coefficients[0] = m.tendon_slack_length + 0.95 * m.optimal_fiber_length;
        let length = MultivariatePolynomial::new(n, 3, coefficients).expect("as many as needed");
        f.line_of_action = Some(ModelPath::FunctionBased(FunctionBasedPath {
            coordinates: coordinates.clone(),
            length: length.into(),
            moment_arms: Vec::new(),
            speed: None,
            without_torque: vec![coordinates[1]],
        }));
    }
    let system = System::compile(&model).unwrap_or_else(|e| panic!("{e}"));
    vec![subject("tendon force states".into(), system)]
}

const FORMULAS: &str = r#"
<FormulaForce name="spring">
  <coordinate>elbow_flexion</coordinate>
  <formula>-k * softplus(q - rest, 5) * (1 + 0.3 * sin(shoulder_flexion)) - 0.2 * u * u[shoulder_flexion] ^ 2</formula>
  <constants><k>20</k><rest>0.3</rest></constants>
</FormulaForce>
<FormulaForce name="wind">
  <frame>forearm</frame>
  <point>0.1 -0.2 0.05</point>
  <formula>3 * cross(angular_velocity[upper_arm], y_axis[forearm]) - 0.5 * (velocity[wrist] - [2, z, 0]) * norm(velocity[wrist] - [2, z, 0.1])</formula>
  <states><z><rate>(control - z) / 0.1 + 0.2 * position[wrist].x * q[elbow_flexion]</rate><default_value>0.4</default_value></z></states>
</FormulaForce>
<FormulaForce name="motor">
  <coordinate>shoulder_flexion</coordinate>
  <formula>50 * tanh(a) + where(b > 0, b ^ 2, 0)</formula>
  <states>
    <a><rate>(control - a) / tau; tau = where(control > a, 0.02, 0.05)</rate></a>
    <b><rate>a * u[elbow_flexion] - b</rate><default_value>0.2</default_value></b>
  </states>
  <min_control>0</min_control><max_control>1</max_control>
</FormulaForce>
<FormulaForce name="counter"><states><work><rate>shoulder_flexion * u[elbow_flexion]</rate></work></states></FormulaForce>
"#;

fn shipped_model(file: &Path) -> Subject {
    let (_, system) = compiled(file).expect("what ships is complete");
    subject(file.file_stem().unwrap().to_string_lossy().into_owned(), system)
}

/// A model in its default state and three others, with muscles in equilibrium.
fn subject(name: String, system: System) -> Subject {
    let mut states = vec![(system.default_state.clone(), vec![0.0; system.num_controls])];
    for seed in 1..=3 {
        let (mut x, n) = (system.default_state.clone(), system.tree.num_mobilities);
        x.time = 0.1 * seed as f64;
        x.q.iter_mut().zip(direction(100 * seed, n, 0.2)).for_each(|(q, d)| *q += d);
        x.u.iter_mut().zip(direction(100 * seed + 1, n, 2.0)).for_each(|(u, d)| *u += d);
        let controls: Vec<f64> =
            direction(100 * seed + 2, system.num_controls, 0.4).iter().map(|d| 0.5 + d).collect();
        system.solve_equilibrium(&mut x, &controls, &mut system.workspace());
        states.push((x, controls));
    }
    Subject { name, system, states }
}

/// The reference models in the states that OpenSim was asked for.
pub fn references() -> Vec<Subject> {
    let dir = reference();
    let mut out = Vec::new();
    let mut without_mesh = Vec::new();
    for points in files(&dir.join("points"), "json") {
        let json: serde_json::Value = serde_json::from_slice(&std::fs::read(&points).unwrap()).unwrap();
        let name = points.file_stem().unwrap().to_string_lossy().into_owned();
        let Some((model, system)) = compiled(&dir.join(json["model"]["path"].as_str().unwrap())) else {
            without_mesh.push(name);
            continue;
        };
        let number = |v: &serde_json::Value| v.as_f64().unwrap_or(f64::NAN);
        let mut states = Vec::new();
        for s in json["states"].as_array().unwrap() {
            let mut x = system.default_state.clone();
            x.time = number(&s["time"]);
            for (name, v) in s["coordinates"].as_object().unwrap() {
                let id = model.coordinate(name).unwrap();
                let m = system.tree.mobility_of_coordinate[id.0];
                x.q[m] = number(&v[0]);
                x.u[m] = number(&v[1]);
            }
            for (name, v) in s["aux_states"].as_object().unwrap() {
                let i = system.aux_names.iter().position(|n| n == name).unwrap_or_else(|| panic!("{name}"));
                x.z[i] = number(v);
            }
            let controls = match s["controls"].as_array() {
                Some(c) => c.iter().map(number).collect(),
                None => vec![0.0; system.num_controls],
            };
            states.push((x, controls));
        }
        assert!(!states.is_empty(), "{name} has no state");
        out.push(Subject { name, system, states });
    }
    assert!(without_mesh.len() <= 1, "these need a mesh: {without_mesh:?}");
    out
}

/// A direction with entries of order `scale`, the same every time.
pub fn direction(seed: u64, n: usize, scale: f64) -> Vec<f64> {
    Random::new(seed).vector(n, scale)
}

/// What errors are compared with: the largest size, at least 1. An infinite one would excuse everything.
pub fn scale(sizes: impl IntoIterator<Item = f64>) -> f64 {
    let scale = largest(sizes.into_iter().map(f64::abs)).max(1.0);
    assert!(scale.is_finite());
    scale
}

/// The state a little off, by 1e-3 and in fibers by 1 %.
pub fn moved(x: &State<f64>, seed: u64) -> State<f64> {
    let mut y = x.clone();
    let n = x.q.len();
    let add = |x: &mut [f64], d: Vec<f64>| x.iter_mut().zip(d).for_each(|(x, d)| *x += d);
    add(&mut y.q, direction(10 * seed, n, 1e-3));
    add(&mut y.u, direction(10 * seed + 1, n, 1e-3));
    for (z, d) in y.z.iter_mut().zip(direction(10 * seed + 2, x.z.len(), 2e-3)) {
        *z = *z * (1.01 + d) + 1e-4;
    }
    y
}

pub fn shifted(controls: &[f64], seed: u64) -> Vec<f64> {
    let d = direction(10 * seed + 3, controls.len(), 1e-3);
    controls.iter().zip(d).map(|(c, d)| c + 5e-3 + d).collect()
}

/// Why states are left out.
pub const SINGULAR: &str = "the mass matrix is singular";
pub const NOT_FINITE: &str = "not finite";

/// A muscle that hangs in its default state from the very point where it ends: its length is zero.
pub const NOT_DEFINED: &[(&str, &str)] = &[("core_v40600_hanging_muscle", NOT_FINITE)];

/// Which states of which models were compared, and which were not for a reason.
#[derive(Default)]
pub struct Tally {
    compared: BTreeMap<String, usize>,
    left_out: BTreeSet<(String, &'static str)>,
}

impl Tally {
    /// A state was compared.
    pub fn compared(&mut self, model: &str) {
        *self.compared.entry(model.to_string()).or_default() += 1;
    }

    /// A state was not.
    pub fn left_out(&mut self, model: &str, reason: &'static str) {
        self.compared.entry(model.to_string()).or_default();
        self.left_out.insert((model.to_string(), reason));
    }

    /// Nothing was left out but what is `known` to be, and of every other model some state was compared.
    pub fn finish(&self, known: &[(&str, &str)]) {
        let found: Vec<(&str, &str)> = self.left_out.iter().map(|(m, r)| (m.as_str(), *r)).collect();
        assert_eq!(found, known, "left out, and what may be");
        let none: Vec<&String> = self.compared.iter().filter(|(_, n)| **n == 0).map(|(m, _)| m).collect();
        assert!(none.iter().all(|m| known.iter().any(|(k, _)| k == m)), "nothing compared of {none:?}");
        assert!(self.compared.values().sum::<usize>() > 0, "nothing compared");
        println!("{:?}", self.compared);
    }
}
