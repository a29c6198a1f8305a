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

/// A state and its controls.
type Point = (State<f64>, Vec<f64>);

/// Every point file with its system and states.
fn systems() -> Vec<(String, System, Vec<Point>)> {
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
            // The default state sits on kinks by construction: excitation equal to activation, fibers at
            // their bound, zero speeds. Two small moves off it, where everything is smooth but for bad luck.
            let mut best = f64::INFINITY;
            for move_off in 1..=2 {
                best = best.min(derivative_error(
                    &name,
                    k,
                    &system,
                    &moved(x, move_off),
                    &shifted(controls, move_off),
                ));
            }
            // Roundoff of differences at accelerations that come out of large cancelling forces.
            assert!(best < 1e-5, "{name} state {k}: derivative off by {best:.1e}");
        }
    }
}

/// The state a little off, by 1e-3 and in fibers by 1 %.
fn moved(x: &State<f64>, seed: u64) -> State<f64> {
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

fn shifted(controls: &[f64], seed: u64) -> Vec<f64> {
    let d = direction(10 * seed + 3, controls.len(), 1e-3);
    controls.iter().zip(d).map(|(c, d)| c + 5e-3 + d).collect()
}

/// Largest difference between dual and central difference, relative to the largest derivative; zero where
/// the mass matrix is singular. Values are compared bit for bit on the way.
fn derivative_error(name: &str, k: usize, system: &System, x: &State<f64>, controls: &[f64]) -> f64 {
    let n = x.q.len();
    let (dq, du) = (direction(1, n, 1.0), direction(2, n, 1.0));
    // Fibers live on a scale of centimetres.
    let (dz, dc) = (direction(3, x.z.len(), 0.01), direction(4, controls.len(), 0.1));
    let lifted =
        State { time: D::cst(x.time), q: along(&x.q, &dq), u: along(&x.u, &du), z: along(&x.z, &dz) };
    let Some(dual) = motion(system, &lifted, &along(controls, &dc)) else { return 0.0 };
    let plain = motion(system, x, controls).unwrap();
    for (i, (a, b)) in dual.iter().zip(&plain).enumerate() {
        assert_eq!(a.v.to_bits(), b.to_bits(), "{name} state {k} entry {i}: {} {b}", a.v);
    }
    let at = |h: f64| {
        let add = |x: &[f64], d: &[f64]| x.iter().zip(d).map(|(x, d)| x + h * d).collect::<Vec<_>>();
        let y = State { time: x.time, q: add(&x.q, &dq), u: add(&x.u, &du), z: add(&x.z, &dz) };
        motion(system, &y, &add(controls, &dc)).unwrap()
    };
    let scale = dual.iter().map(|y| y.d[0].abs()).filter(|y| y.is_finite()).fold(1.0, f64::max);
    let mut best = f64::INFINITY;
    for h in [1e-6, 1e-7] {
        let (hi, lo) = (at(h), at(-h));
        let mut worst: f64 = 0.0;
        for (d, (hi, lo)) in dual.iter().zip(hi.iter().zip(&lo)) {
            let fd = (hi - lo) / (2.0 * h);
            let error = (d.d[0] - fd).abs() / scale;
            let both_are_nan = d.d[0].is_nan() && fd.is_nan();
            let is_covered = error <= worst;
            if !both_are_nan && !is_covered {
                worst = error;
            }
        }
        best = best.min(worst);
    }
    best
}
