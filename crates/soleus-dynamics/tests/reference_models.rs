//! Derivatives of whole models: the same lines on `f64` and on dual numbers, for every reference model.

use soleus_dynamics::force::ForceError;
use soleus_dynamics::system::SystemError;
use soleus_dynamics::{State, System};
use soleus_math::{Dual, Real};
use std::path::PathBuf;

type D = Dual<f64, 1>;

/// The reference folder, or a word that the test was skipped.
fn reference() -> Option<PathBuf> {
    let dir = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/reference"));
    if dir.is_dir() {
        return Some(dir);
    }
    println!("skipped: ../shared not found");
    None
}

/// Every point file with its system and states.
fn systems() -> Vec<(String, System, Vec<(State<f64>, Vec<f64>)>)> {
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
fn direction(seed: u64, n: usize, scale: f64) -> Vec<f64> {
    let mut s = seed;
    (0..n)
        .map(|_| {
            s = s.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            scale * ((s >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
        })
        .collect()
}

fn along(x: &[f64], d: &[f64]) -> Vec<D> {
    x.iter().zip(d).map(|(&x, &d)| D::new(x, [d])).collect()
}

/// (u̇, ż) at a state in any scalar; `None` where the mass matrix is singular.
fn motion<T: Real>(system: &System, x: &State<T>, controls: &[T]) -> Option<Vec<T>> {
    let mut ws = system.workspace();
    system.compute_motion(x, controls, &mut ws).ok()?;
    Some(ws.udot.iter().chain(&ws.zdot).copied().collect())
}

/// Value parts on dual numbers equal `f64` bit for bit, and the derivative of (u̇, ż) along a seeded
/// direction of (q, u, z, controls) equals a central difference, at every state of every model.
#[test]
fn deriv_motion_of_every_reference_model() {
    for (name, system, states) in systems() {
        for (k, (x, controls)) in states.iter().enumerate() {
            let n = x.q.len();
            let (dq, du) = (direction(1, n, 1.0), direction(2, n, 1.0));
            // Fibers live on a scale of centimetres.
            let (dz, dc) = (direction(3, x.z.len(), 0.01), direction(4, controls.len(), 0.1));
            let lifted =
                State { time: D::cst(x.time), q: along(&x.q, &dq), u: along(&x.u, &du), z: along(&x.z, &dz) };
            let Some(dual) = motion(&system, &lifted, &along(controls, &dc)) else { continue };
            let plain = motion(&system, x, controls).unwrap();
            for (i, (a, b)) in dual.iter().zip(&plain).enumerate() {
                assert_eq!(a.v.to_bits(), b.to_bits(), "{name} state {k} entry {i}: {} {b}", a.v);
            }

            let shifted = |h: f64| {
                let add = |x: &[f64], d: &[f64]| x.iter().zip(d).map(|(x, d)| x + h * d).collect::<Vec<_>>();
                let y = State { time: x.time, q: add(&x.q, &dq), u: add(&x.u, &du), z: add(&x.z, &dz) };
                motion(&system, &y, &add(controls, &dc)).unwrap()
            };
            // Kinks (wrap lift-off, activation at excitation, end of a toe region) spoil a difference that
            // straddles one, so a step that agrees is enough; roundoff ε·|y|/h is 1e-7 of the scale at h = 1e-7
            // for accelerations that come out of large cancelling forces.
            let scale = dual.iter().map(|y| y.d[0].abs()).filter(|y| y.is_finite()).fold(1.0, f64::max);
            let mut best = f64::INFINITY;
            let mut worst_at = 0;
            for h in [1e-6, 1e-7, 1e-5] {
                let (hi, lo) = (shifted(h), shifted(-h));
                let mut worst: f64 = 0.0;
                let mut at = 0;
                for i in 0..dual.len() {
                    let (d, fd) = (dual[i].d[0], (hi[i] - lo[i]) / (2.0 * h));
                    if d.is_nan() && fd.is_nan() {
                        continue;
                    }
                    let e = (d - fd).abs() / scale;
                    if !(e <= worst) {
                        (worst, at) = (e, i);
                    }
                }
                if worst < best {
                    (best, worst_at) = (worst, at);
                }
            }
            assert!(best < 1e-5, "{name} state {k}: derivative off by {best:.1e} at entry {worst_at}");
        }
    }
}
