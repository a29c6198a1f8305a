//! DAS3 at rest: residual, equilibrium, forces, time constants.

use super::super::report::{Report, largest_difference, list};
use super::{Das3, muscles, states};
use soleus_dynamics::implicit::ImplicitSystem;
use soleus_dynamics::system::{Actor, State};
use soleus_simulation::implicit::{EquilibriumOptions, FoundEquilibrium, solve_equilibrium};
use soleus_simulation::linear::{Complex, DenseLu, LinearSolver, Pattern, SparseLu, solve_eigenvalues};
use soleus_simulation::system::Constant;
use soleus_simulation::{ImplicitOde, ImplicitSystemOde, RadauIIA5, StepOptions};

// Published by the authors' test of release 2 (2015), MATLAB R2014b.
const ANGLES_DEG: [f64; 11] =
    [-21.246, 7.551, 12.761, 35.555, -24.940, -17.947, 24.878, 28.549, 15.642, 37.638, 81.441];
const MOMENTS: [f64; 11] =
    [4.043, -12.569, 26.385, -12.303, 40.659, 18.458, -0.044, 1.374, -0.219, 0.651, 0.040];
const CONTACT: [[f64; 3]; 2] = [[83.2593, 123.6619, 217.9835], [42.9447, 28.3786, 211.3670]];
const SURFACE: [f64; 2] = [-0.0231, -0.0132];
const MUSCLES: [(&str, f64, f64); 4] = [
    ("trapscap1", 1.224, 19.122),
    ("trapscap9", 1.270, 28.915),
    ("serrant4", 1.479, 81.191),
    ("deltclav1", 1.350, 51.119),
];
const SLOWEST: [f64; 5] = [-1.0838, -1.1769, -1.3227, -1.3227, -1.9228];
const TIME_CONSTANTS_US: [f64; 5] = [1.8509, 1.9748, 2.3240, 3.2712, 3.4194];

/// The largest residuals at rest: of the equations of motion (N·m) and of the force balances (F₀).
pub fn residuals(d: &Das3, x: &State<f64>) -> (f64, f64) {
    let implicit = ImplicitSystem::new(&d.system);
    let (nx, n) = (states(d), d.system.tree.num_mobilities);
    let mut r = vec![0.0; nx];
    let controls = vec![0.0; d.system.num_controls];
    let mut ws = d.system.workspace();
    implicit.compute_residual(x, &vec![0.0; nx], &controls, &[], &mut ws, &mut r);
    let largest = |r: &[f64]| r.iter().fold(0.0_f64, |m, r| m.max(r.abs()));
    (largest(&r[..2 * n]), largest(&r[2 * n..]))
}

/// What acts at rest.
pub struct AtRest {
    /// Muscle and passive moment of each coordinate, N·m.
    pub moments: Vec<f64>,
    /// Force of the thorax on the shoulder blade at TS and AI, N.
    pub contact: [Vec<f64>; 2],
    /// Tension of the conoid, N.
    pub conoid: f64,
    /// Normalized fiber length along the tendon and tension (N) of each muscle.
    pub muscles: Vec<(f64, f64)>,
}

/// Forces at a state of rest.
pub fn forces(d: &Das3, x: &State<f64>) -> AtRest {
    let implicit = ImplicitSystem::new(&d.system);
    let nx = states(d);
    let (mut r, mut ws) = (vec![0.0; nx], d.system.workspace());
    let controls = vec![0.0; d.system.num_controls];
    implicit.compute_residual(x, &vec![0.0; nx], &controls, &[], &mut ws, &mut r);
    let kin = ws.kin.view(x.time);
    let record = |i: usize| {
        let mut out = Vec::new();
        if let Actor::Force(c) = &d.system.forces[i].actor {
            c.record(&kin, &[], &[], &mut out);
        }
        out
    };
    let conoid = record(d.others.conoid).iter().take(3).map(|f| f * f).sum::<f64>().sqrt();
    let mut info = Vec::new();
    for i in 0..muscles(d) {
        if let Actor::Muscle(m) = &d.system.forces[i].actor {
            let st = &ws.paths[i];
            let m = m.info(st.length(), st.speed(), 0.0, &x.z[d.system.forces[i].states.clone()]);
            info.push((m.normalized_fiber_length * m.cos_pennation_angle, m.tendon_force));
        }
    }
    let contact = d.others.contact.map(record);
    AtRest { moments: ws.mobility_load.clone(), contact, conoid, muscles: info }
}

/// A rest that is found from the middle of all ranges with every muscle balanced there.
pub fn find(d: &Das3) -> Result<(State<f64>, FoundEquilibrium), String> {
    let mut start = d.system.default_state.clone();
    let mut ws = d.system.workspace();
    let controls = vec![0.0; d.system.num_controls];
    for a in start.z.iter_mut().step_by(2) {
        *a = 0.0;
    }
    d.system.solve_equilibrium(&mut start, &controls, &mut ws);
    let mut ode = ImplicitSystemOde::new(&d.system, Constant(controls));
    let mut x = ode.vector(&start);
    let mut lu = SparseLu::new(x.len());
    let solvers = (SparseLu::new(x.len()), SparseLu::new(x.len()));
    let accuracy = StepOptions::with_accuracy(1e-4);
    let mut radau = RadauIIA5::with_solvers(ode.error_norm(), accuracy, solvers.0, solvers.1);
    let options = EquilibriumOptions { tolerance: 1e-10, ..EquilibriumOptions::default() };
    let found =
        solve_equilibrium(&mut ode, &mut radau, &mut lu, &mut x, &options).map_err(|e| e.to_string())?;
    let n = start.q.len();
    let state = State { time: 0.0, q: x[..n].to_vec(), u: x[n..2 * n].to_vec(), z: x[2 * n..].to_vec() };
    Ok((state, found))
}

/// Eigenvalues of the motion near a state of rest: of −(∂f/∂ẋ)⁻¹ ∂f/∂x.
pub fn eigenvalues(d: &Das3, x: &State<f64>) -> Option<Vec<Complex>> {
    let mut ode = ImplicitSystemOde::new(&d.system, Constant(vec![0.0; d.system.num_controls]));
    let y = ode.vector(x);
    let n = y.len();
    let pattern = ode.pattern().clone();
    let (mut J, mut M) = (vec![0.0; pattern.len()], vec![0.0; pattern.len()]);
    ode.jacobians(0.0, &y, &vec![0.0; n], &mut J, &mut M).ok()?;
    let mut lu = DenseLu::new(n);
    lu.factorize(&pattern, &M).ok()?;
    let mut a = vec![0.0; n * n];
    let mut column = vec![0.0; n];
    for c in 0..n {
        column.fill(0.0);
        for (r, k) in entries_of_column(&pattern, c) {
            column[r] = -J[k];
        }
        lu.solve(&mut column);
        for (r, v) in column.iter().enumerate() {
            a[r * n + c] = *v;
        }
    }
    solve_eigenvalues(n, &a)
}

fn entries_of_column(pattern: &Pattern, c: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
    (0..pattern.dim()).filter_map(move |r| Some((r, pattern.position(r, c)?)))
}

/// Prints and judges.
pub fn check(d: &Das3, report: &mut Report) {
    report.heading("Passive equilibrium, f(x, 0, 0) = 0");
    let (motion, balance) = residuals(d, &d.equilibrium);
    report.row(
        "residual at the stored state",
        &format!("{motion:.1e} N m, {balance:.1e} F0"),
        "norm 1.8e-12",
        motion < 1e-5 && balance < 1e-12,
    );
    let state = match find(d) {
        Ok((state, f)) => {
            let off = largest_difference(&state.q, &d.equilibrium.q).to_degrees();
            let ours = format!(
                "{} steps over {:.1} s, {} Newton iterations, residual {:.1e}, {off:.1e} deg from the stored state",
                f.steps, f.time, f.iterations, f.residual
            );
            report.row("found from mid-range", &ours, "the stored state", off < 1e-4);
            state
        }
        Err(e) => {
            report.row("found from mid-range", &e, "the stored state", false);
            d.equilibrium.clone()
        }
    };
    let angles: Vec<f64> = state.q.iter().map(|q| q.to_degrees()).collect();
    // Half of the last printed digit, and a little.
    let near = |a: &[f64], b: &[f64], unit: f64| largest_difference(a, b) <= 0.51 * unit;
    report.row("angles (deg)", &list(&angles, 3), &list(&ANGLES_DEG, 3), near(&angles, &ANGLES_DEG, 1e-3));
    let at = forces(d, &state);
    report.row("moments (N m)", &list(&at.moments, 3), &list(&MOMENTS, 3), near(&at.moments, &MOMENTS, 1e-3));
    for (k, name) in ["contact TS (N)", "contact AI (N)"].iter().enumerate() {
        let pass = near(&at.contact[k], &CONTACT[k], 1e-4);
        report.row(name, &list(&at.contact[k], 4), &list(&CONTACT[k], 4), pass);
    }
    let surface = surface(d, &state);
    report.row("surface function", &list(&surface, 4), &list(&SURFACE, 4), near(&surface, &SURFACE, 1e-4));
    report.row("conoid (N)", &format!("{:.1}", at.conoid), "937.7", (at.conoid - 937.7).abs() <= 0.051);
    for (name, length, tension) in MUSCLES {
        let Some(i) = d.names.iter().position(|n| n == name) else { continue };
        let (l, f) = at.muscles[i];
        let pass = near(&[l, f], &[length, tension], 1e-3);
        report.row(name, &format!("{l:.3}, {f:.3} N"), &format!("{length:.3}, {tension:.3} N"), pass);
    }

    report.heading("Linearised motion about it");
    let Some(mut e) = eigenvalues(d, &state) else {
        report.row("eigenvalues", "none found", "", false);
        return;
    };
    e.sort_by(|a, b| b.re.total_cmp(&a.re));
    let slowest: Vec<f64> = e.iter().take(5).map(|z| z.re).collect();
    report.row(
        "largest real parts (1/s)",
        &list(&slowest, 4),
        &list(&SLOWEST, 4),
        near(&slowest, &SLOWEST, 1e-4),
    );
    let constants: Vec<f64> = e.iter().rev().take(5).map(|z| -1e6 / z.re).collect();
    report.row(
        "smallest time constants (us)",
        &list(&constants, 4),
        &list(&TIME_CONSTANTS_US, 4),
        near(&constants, &TIME_CONSTANTS_US, 1e-4),
    );
    let fastest = e.iter().map(|z| z.im).fold(0.0, f64::max);
    report.row(
        "largest imaginary part (rad/s)",
        &format!("{fastest:.0}"),
        "about 7374",
        (fastest / 7374.0 - 1.0).abs() < 1e-3,
    );
}

/// Surface function of the thorax at TS and AI.
fn surface(d: &Das3, x: &State<f64>) -> [f64; 2] {
    use soleus_dynamics::force::Kernel;
    let mut ws = d.system.workspace();
    d.system.compute_kinematics(x, &mut ws);
    let kin = ws.kin.view(x.time);
    d.others.contact.map(|i| match &d.system.forces[i].actor {
        Actor::Force(c) => match c.kernel() {
            Kernel::Ellipsoid(e) => e.force(&kin).2,
            _ => f64::NAN,
        },
        Actor::Muscle(_) => f64::NAN,
    })
}
