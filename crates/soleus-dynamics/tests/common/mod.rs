//! Reference models and states for whole-model tests.

#![allow(dead_code)] // Each test file uses its share.

use soleus_dynamics::force::ForceError;
use soleus_dynamics::system::SystemError;
use soleus_dynamics::{State, System};
use std::path::PathBuf;

/// The reference folder, or a word that the test was skipped.
pub fn reference() -> Option<PathBuf> {
    let dir = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/reference"));
    if dir.is_dir() {
        return Some(dir);
    }
    println!("skipped: ../shared not found");
    None
}

/// A state and its controls.
type Point = (State<f64>, Vec<f64>);

/// Every point file with its system and states.
pub fn systems() -> Vec<(String, System, Vec<Point>)> {
    let Some(dir) = reference() else { return Vec::new() };
    let mut names: Vec<PathBuf> =
        std::fs::read_dir(dir.join("points")).unwrap().map(|e| e.unwrap().path()).collect();
    names.sort();
    let mut out = Vec::new();
    for points in names {
        let json: serde_json::Value = serde_json::from_slice(&std::fs::read(&points).unwrap()).unwrap();
        let file = dir.join(json["model"]["path"].as_str().unwrap());
        let (model, diagnostics) =
            soleus_io::osim::read_model(&std::fs::read(&file).unwrap(), file.to_str().unwrap());
        let model = model.unwrap_or_else(|| panic!("{}: {:?}", file.display(), diagnostics.list));
        let system = match System::compile(&model) {
            Ok(s) => s,
            // One reference model needs a contact mesh that does not come with it.
            Err(SystemError::Force { source: ForceError::MeshNotRead { file, .. }, .. }) => {
                println!("skipped: {} needs {file}", points.display());
                continue;
            }
            Err(e) => panic!("{}: {e}", points.display()),
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
        out.push((points.file_stem().unwrap().to_string_lossy().into_owned(), system, states));
    }
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
