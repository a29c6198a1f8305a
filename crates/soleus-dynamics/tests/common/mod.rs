//! Reference models and states for whole-model tests.

use soleus_dynamics::force::ForceError;
use soleus_dynamics::system::SystemError;
use soleus_dynamics::{State, System};
use soleus_model::Model;
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
fn compiled(file: &Path) -> Option<(Model, System)> {
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

fn shipped_model(file: &Path) -> Subject {
    let (_, system) = compiled(file).expect("what ships is complete");
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
    Subject { name: file.file_stem().unwrap().to_string_lossy().into_owned(), system, states }
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
    let mut s = seed;
    (0..n)
        .map(|_| {
            s = s.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            scale * ((s >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
        })
        .collect()
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
