//! The planar gait model that ships, against the solutions that its authors stored, and the structure of its equations.

use soleus_dynamics::implicit::ImplicitSystem;
use soleus_dynamics::{State, System};
use soleus_math::norm::largest_size;
use soleus_model::Model;
use soleus_testing::{reference_test, shared};

fn gait2d() -> (Model, System) {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/gait2d.osim");
    let (model, diagnostics) = soleus_io::osim::read_model(&std::fs::read(file).unwrap(), file);
    assert!(diagnostics.list.is_empty(), "{:?}", diagnostics.list);
    let model = model.unwrap();
    let system = System::compile(&model).unwrap();
    (model, system)
}

/// Coordinates in the order of the authors.
const COORDINATES: [&str; 9] = [
    "trunk_x",
    "trunk_y",
    "trunk_angle",
    "hip_angle_r",
    "knee_angle_r",
    "ankle_angle_r",
    "hip_angle_l",
    "knee_angle_l",
    "ankle_angle_l",
];

/// A stored solution: duration (s), speed (m/s), the norm of constraints that its solver reached, and nodes of states and
/// controls in our order.
struct Stored {
    norm: f64,
    duration: f64,
    speed: f64,
    nodes: Vec<(State<f64>, Vec<f64>)>,
}

/// Reads a solution.
fn stored(model: &Model, system: &System, name: &str) -> Stored {
    let file = format!("{}/optim2d_2011_{name}.csv", shared!("data/gait2d/derived"));
    let text = std::fs::read_to_string(file).unwrap();
    let mut lines = text.lines();
    let head = lines.next().unwrap();
    let of = |key: &str| -> f64 {
        head.split_whitespace().find_map(|w| w.strip_prefix(key)).unwrap().parse().unwrap()
    };
    lines.next();
    let mobility = COORDINATES.map(|c| system.tree.mobility_of_coordinate[model.coordinate(c).unwrap().0]);
    let nodes = lines
        .map(|line| {
            let v: Vec<f64> = line.split(',').skip(1).map(|w| w.parse().unwrap()).collect();
            let mut x = system.default_state.clone();
            for (i, &m) in mobility.iter().enumerate() {
                (x.q[m], x.u[m]) = (v[i], v[9 + i]);
            }
            // Fiber lengths, then activations; four states and two controls of a prosthesis are left out.
            for k in 0..16 {
                (x.z[2 * k + 1], x.z[2 * k]) = (v[18 + k], v[34 + k]);
            }
            (x, v[54..70].to_vec())
        })
        .collect();
    Stored { norm: of("constraint_norm="), duration: of("duration_s="), speed: of("speed_m_s="), nodes }
}

/// Solutions that the authors stored solve our equations, at all nodes: an able walk and one with a prosthesis below the
/// right knee, whose ankle is a spring of 450 N m/rad in the place of three muscles and the stops.
///
/// The bound is the norm of all constraints that the authors' solver reached and the files state; they divide forces by
/// 500. Largest residuals found in the able walk: forces 2.5e-5 N m, force balances of muscles 4e-7 F₀, rates of activations
/// 8e-9 1/s, speeds 3e-10.
#[reference_test("data/gait2d")]
fn val_stored_walks_of_2011() {
    let (model, system) = gait2d();
    for name in ["able", "bka"] {
        let s = stored(&model, &system, name);
        let implicit = ImplicitSystem::new(&system);
        let mut ws = system.workspace();
        let mobility = |c: &str| system.tree.mobility_of_coordinate[model.coordinate(c).unwrap().0];
        let (x_of, ankle) = (mobility("trunk_x"), mobility("ankle_angle_r"));
        let n = s.nodes.len();
        let h = s.duration / n as f64;
        let vector = |x: &State<f64>| [&x.q[..], &x.u, &x.z].concat();
        let mut largest = [0.0f64; 4];
        for i in 0..n {
            // Backward Euler around the cycle.
            let mut before = vector(&s.nodes[(i + n - 1) % n].0);
            if i == 0 {
                before[x_of] -= s.speed * s.duration;
            }
            let (x, u) = &s.nodes[i];
            let xdot: Vec<f64> = vector(x).iter().zip(&before).map(|(a, b)| (a - b) / h).collect();
            let mut r = vec![0.0; implicit.num_residuals()];
            implicit.compute_residual(x, &xdot, u, &[], &mut ws, &mut r);
            if name == "bka" {
                // Muscles 5, 6 and 7 and the stops of the ankle do nothing there; the spring does.
                let arms = [(5, "knee_angle_r", -0.02), (5, "ankle_angle_r", -0.053)];
                for (k, c, arm) in
                    [(6, "ankle_angle_r", -0.053), (7, "ankle_angle_r", 0.037)].into_iter().chain(arms)
                {
                    r[9 + mobility(c)] += arm * ws.tension[k];
                }
                let stop = |z: f64| 2500.0 * (z + z.hypot(2f64.to_radians()));
                let (q, end) = (x.q[ankle], 60f64.to_radians());
                r[9 + ankle] += stop(-end - q) - stop(q - end) + 450.0 * q;
            }
            for (k, r) in r.iter().enumerate() {
                let group = match k {
                    0..9 => 0,
                    9..18 => 1,
                    _ => 2 + k % 2,
                };
                largest[group] = largest_size([&largest[group], r]);
            }
        }
        println!("{name}: {largest:?}");
        for (found, scale) in largest.iter().zip([1.0, 500.0, 1.0, 1.0]) {
            assert!(*found < scale * s.norm, "{name}: {largest:?}");
        }
    }
}

/// A state with nothing at rest and both feet in the ground, any rates, and controls.
fn moving(model: &Model, system: &System) -> (State<f64>, Vec<f64>, Vec<f64>) {
    let mut x = system.default_state.clone();
    for (i, (q, u)) in x.q.iter_mut().zip(&mut x.u).enumerate() {
        *q += 0.05 * (i as f64 + 1.0).sin();
        *u = 0.3 * (2.0 * i as f64 + 1.0).cos();
    }
    x.q[system.tree.mobility_of_coordinate[model.coordinate("trunk_y").unwrap().0]] = 0.93;
    for (k, z) in x.z.iter_mut().enumerate() {
        *z = if k % 2 == 0 { 0.2 } else { 0.7 };
    }
    let xdot = (0..50).map(|i| 0.5 * (3.0 * f64::from(i) + 1.0).sin()).collect();
    (x, xdot, vec![0.3; 16])
}

/// Every column of the Jacobians against central differences of the residual.
#[test]
fn deriv_jacobians() {
    let (model, system) = gait2d();
    let implicit = ImplicitSystem::new(&system);
    let (mut ws, mut jw, mut jac) = (system.workspace(), implicit.jacobian_workspace(), implicit.jacobian());
    let (x, xdot, controls) = moving(&model, &system);
    implicit.compute_jacobian(&x, &xdot, &controls, &[], &mut ws, &mut jw, &mut [0.0; 50], &mut jac);
    // Rows reach 1e3 N m with slopes of 2e4 N/m: roundoff 1e-13·1e3/h, truncation h² k/y₀² = 2e10 h².
    let h = 1e-8;
    let mut residual = |v: &[f64]| {
        let mut x = x.clone();
        x.q.copy_from_slice(&v[..9]);
        x.u.copy_from_slice(&v[9..18]);
        x.z.copy_from_slice(&v[18..50]);
        let mut r = [0.0; 50];
        implicit.compute_residual(&x, &v[50..100], &v[100..], &[], &mut ws, &mut r);
        r
    };
    let at = [&x.q[..], &x.u, &x.z, &xdot, &controls].concat();
    for c in 0..at.len() {
        let (mut hi, mut lo) = (at.clone(), at.clone());
        hi[c] += h;
        lo[c] -= h;
        let (hi, lo) = (residual(&hi), residual(&lo));
        for row in 0..50 {
            let fd = (hi[row] - lo[row]) / (2.0 * h);
            let exact = match c {
                0..50 => jac.dx.at(row, c),
                50..100 => jac.dxdot.at(row, c - 50),
                _ => jac.du.at(row, c - 100),
            };
            assert!((exact - fd).abs() < 1e-2 + 1e-6 * fd.abs(), "row {row} column {c}: {exact} {fd}");
        }
    }
}

/// How many entries of a Jacobian differ from zero, and how many the pattern has.
fn count(values: &[f64]) -> (usize, usize) {
    (values.iter().filter(|v| **v != 0.0).count(), values.len())
}

/// The structure of Fig. 3 of van den Bogert, Blana and Heinrich (2011): two legs of three joints that do not meet in
/// the equations of motion, muscles that meet only the joints they cross.
///
/// The stored results state 389, 122 and 16 entries of ∂f/∂x, ∂f/∂ẋ and ∂f/∂u. That is the count of a program which keeps
/// whole blocks of the equations of motion, zeros included, and four states of a prosthesis:
///
///   ∂f/∂x    9 (q̇ = u) + 81 (by q) + 81 (by q̇) + 144 (all muscles on all rows) + 22 (muscles by joints) + 3·16 + 4
///   ∂f/∂ẋ    9 + 81 (mass matrix) + 2·16
///
/// Without the 3 × 3 holes (18 each, three times), the column of the forward place (9), muscles on joints they do not
/// cross (144 − 22) and the prosthesis, 218 and 104 are left. Three of these are zero too: the mass matrix does not couple
/// forward and upward motion, and the force on the trunk upwards does not depend on its forward speed.
#[test]
fn analytic_structure_of_fig_3() {
    assert_eq!(9 + 81 + 81 + 144 + 22 + 3 * 16 + 4, 389);
    assert_eq!(9 + 81 + 2 * 16, 122);
    let (model, system) = gait2d();
    let implicit = ImplicitSystem::new(&system);
    let (mut ws, mut jw, mut jac) = (system.workspace(), implicit.jacobian_workspace(), implicit.jacobian());
    let (x, xdot, controls) = moving(&model, &system);
    implicit.compute_jacobian(&x, &xdot, &controls, &[], &mut ws, &mut jw, &mut [0.0; 50], &mut jac);
    assert_eq!(count(&jac.dx.value).0, 389 - 18 - 18 - 9 - (144 - 22) - 4 - 1);
    assert_eq!(count(&jac.dxdot.value).0, 122 - 18 - 2);
    assert_eq!(count(&jac.du.value).0, 16);

    // No entry couples the legs, in any of the equations of motion.
    let right: Vec<usize> = system.tree.mobility_of_coordinate[3..6].to_vec();
    let left: Vec<usize> = system.tree.mobility_of_coordinate[6..9].to_vec();
    for (a, b) in [(&right, &left), (&left, &right)] {
        for &row in a {
            for &column in b {
                for part in [0, 9] {
                    assert_eq!(jac.dx.position(9 + row, part + column), None);
                }
                assert_eq!(jac.dxdot.position(9 + row, 9 + column), None);
            }
        }
    }
}
