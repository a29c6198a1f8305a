//! Predicted walking in three dimensions, after Falisse et al. (2019, 2022): the published solution put into the equations of Soleus.
//!
//! The files are those of github.com/KULeuvenNeuromechanics/PredSim: the model, and the result that its tests compare with. Skeleton,
//! contact and paths are those of the model file; muscles, energy and passive torques are the variants that the authors use.

mod family;
mod gait;
mod problem;
mod published;
mod solve;

use crate::desk;
use crate::report::Report;
use crate::sheet::Folder;
use clap::Args;
use published::{ARMS, COORDINATES, INTERVALS, MUSCLES, POINTS, Published, STRIDE};
use soleus::Error;
use soleus_dynamics::implicit::ImplicitSystem;
use soleus_dynamics::metabolics::MuscleAtWork;
use soleus_dynamics::moment_arm::MomentArms;
use soleus_dynamics::{Options, System};
use soleus_math::norm::largest;
use soleus_model::Model;
use soleus_model::force::ForceKind;
use std::path::{Path, PathBuf};

/// What to put into the equations.
#[derive(Args)]
pub struct Arguments {
    /// Folder of PredSim, with Subjects and Tests in it
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Solve the problem from this initial guess
    #[arg(long, value_enum)]
    solve: Option<solve::Start>,
    /// Number of mesh intervals
    #[arg(long, default_value_t = INTERVALS)]
    intervals: usize,
    /// Speed, m/s
    #[arg(long, default_value_t = 1.33)]
    speed: f64,
    /// Slope of the ground, percent; positive is uphill
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    slope: f64,
    /// Then the same at these speeds, m/s, each from the solution at the nearest speed
    #[arg(long, value_delimiter = ',', value_name = "V,...", requires = "solve")]
    speeds: Vec<f64>,
    /// Then the same on these slopes, percent, each from the solution on the nearest slope
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "S,...",
        requires = "solve",
        allow_negative_numbers = true
    )]
    slopes: Vec<f64>,
    /// Successive stages: intervals, penalty on residual forces (0: no such forces), initial barrier, tolerance, iterations, and
    /// optionally the number of steps at the start that only reduce the violation of constraints
    #[arg(long, value_name = "N,P,B,T,I[,F]")]
    stage: Vec<solve::Stage>,
    /// Perturb the initial guess randomly
    #[arg(long)]
    seed: Option<u64>,
    /// Solve from this many initial guesses with random perturbations, the first of which has --seed [default: 1], and print a line for each
    #[arg(long, value_name = "N", requires = "solve", conflicts_with_all = ["speeds", "slopes"])]
    starts: Option<u64>,
    /// Folder for tables and pictures of --speeds and --slopes
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Threads
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

/// The file of the model.
fn model_file(data: &Path) -> PathBuf {
    data.join("Subjects/Falisse_et_al_2022/Falisse_et_al_2022.osim")
}

/// Raasch's time constants of activation and deactivation, s; of the arms.
const ACTIVATION: f64 = 0.015;
const DEACTIVATION: f64 = 0.060;
const ARM_TIME: f64 = 0.035;
/// N m at full activation.
const ARM_TORQUE: f64 = 150.0;
/// Torques and balances that the authors' solver left: `constr_viol_tol` of its log.
const TOLERANCE: f64 = 1e-6;
/// Weights of the cost: metabolic, activations, arms, accelerations, limit torques.
const WEIGHTS: [f64; 5] = [500.0, 2000.0, 1e6, 50_000.0, 1000.0];
const LIMITS: f64 = 17.0;
const WITHOUT_ARMS: usize = COORDINATES - ARMS;

/// Puts it in.
pub fn run(a: &Arguments) -> Result<(), Error> {
    let model = model_file(&a.data);
    let result = a.data.join("Tests/ReferenceResults/Falisse_et_al_2022/Falisse_et_al_2022_paper.mat");
    let p = Published::read(&result)?;
    let mut report = Report::default();
    if let Some(start) = a.solve {
        let stages = if a.stage.is_empty() { solve::stages(start, a.intervals) } else { a.stage.clone() };
        let request = solve::Request { start, stages, threads: a.threads };
        let clock = std::time::Instant::now();
        let subject = problem::Subject::new(&a.data, &p)?;
        eprintln!("model and polynomials: {:.1} s", clock.elapsed().as_secs_f64());
        let walk = problem::Walk::new(&subject, &p, a.speed, a.slope)?;
        if let Some(starts) = a.starts {
            return family::starts(&a.data, &walk, &p, &request, a.seed.unwrap_or(1), starts, &mut report);
        }
        let guess = walk.start(&a.data, &p, start, a.seed)?;
        let first = solve::run(&walk, &p, &guess, &request, &mut report)?;
        let folder = Folder::create(a.out.as_ref())?;
        let family = family::Family { subject: &subject, p: &p, threads: a.threads, folder: &folder };
        let here = [a.speed, a.slope];
        let mut first = (here, first);
        if !a.speeds.is_empty() {
            first = family.follow(family::Along::Speed, &a.speeds, first, &mut report)?;
        }
        if !a.slopes.is_empty() {
            family.follow(family::Along::Slope, &a.slopes, first, &mut report)?;
        }
        return Ok(());
    }
    check(&model, &p, &mut report)?;
    report.close();
    Ok(())
}

/// Weights of Radau's three points, and the derivatives of the polynomial through 0 and these at these.
fn radau() -> ([f64; 4], [[f64; 4]; 3], [f64; 3]) {
    let root = 6f64.sqrt();
    let tau = [0.0, (4.0 - root) / 10.0, (4.0 + root) / 10.0, 1.0];
    let slope = |at: f64, i: usize| -> f64 {
        (0..4)
            .filter(|&k| k != i)
            .map(|k| {
                let others = (0..4).filter(|&r| r != i && r != k);
                others.map(|r| (at - tau[r]) / (tau[i] - tau[r])).product::<f64>() / (tau[i] - tau[k])
            })
            .sum()
    };
    let slopes = [1, 2, 3].map(|j| [0, 1, 2, 3].map(|i| slope(tau[j], i)));
    (tau, slopes, [(16.0 - root) / 36.0, (16.0 + root) / 36.0, 1.0 / 9.0])
}

/// Hermite's cubic between two values with rates, a part `t` of the way through `h` seconds: value and rate.
fn between(from: [f64; 2], to: [f64; 2], t: f64, h: f64) -> [f64; 2] {
    let (change, a, b) = (to[0] - from[0], h * from[1], h * to[1]);
    let (c2, c3) = (3.0 * change - 2.0 * a - b, a + b - 2.0 * change);
    [from[0] + t * (a + t * (c2 + t * c3)), (a + t * (2.0 * c2 + 3.0 * t * c3)) / h]
}

/// A model with some of its forces, and for each of the authors' coordinates the mobility.
fn part(path: &Path, keep: impl Fn(&ForceKind) -> bool) -> Result<(Model, System), Error> {
    let mut model = desk::model(path)?;
    model.forces.retain(|f| keep(&f.kind));
    model.controllers.clear();
    model.probes.clear();
    let system = desk::compile(path, &model, &Options::default())?;
    Ok((model, system))
}

fn check(path: &Path, p: &Published, report: &mut Report) -> Result<(), Error> {
    let (model, skeleton) = part(path, |f| matches!(f, ForceKind::SmoothSphereHalfSpaceForce(_)))?;
    let (muscle_model, muscled) = part(path, |f| matches!(f, ForceKind::Muscle(_)))?;
    let place = |name: &String| model.coordinates.iter().position(|c| c.name == *name);
    let mobility: Vec<usize> =
        p.coordinates.iter().filter_map(place).map(|c| skeleton.tree.mobility_of_coordinate[c]).collect();
    let muscle: Vec<usize> = p
        .muscles
        .iter()
        .filter_map(|name| muscle_model.forces.iter().position(|f| f.name == *name))
        .collect();
    assert!(
        mobility.len() == COORDINATES && muscle.len() == MUSCLES,
        "names of the model and of the solution"
    );
    let implicit = ImplicitSystem::new(&skeleton);
    let mut ws = skeleton.workspace::<f64>();
    let mut muscle_ws = muscled.workspace::<f64>();
    let mut x = skeleton.default_state.clone();
    let mut y = muscled.default_state.clone();
    let mut r = vec![0.0; implicit.num_residuals()];
    let num = skeleton.tree.num_mobilities;
    let (tau, slopes, weights) = radau();
    let h = p.duration / INTERVALS as f64;
    let is_toe = |i: usize| p.coordinates[i].starts_with("mtp");

    // How far the authors' polynomials are from our paths at mesh points, where they published them: lengths and speeds.
    let rows: Vec<Option<usize>> = (0..=INTERVALS).map(|k| p.stride_row(k)).collect();
    let mut apart = Vec::with_capacity(INTERVALS + 1);
    for (k, row) in rows.iter().enumerate() {
        for i in 0..COORDINATES {
            (y.q[mobility[i]], y.u[mobility[i]]) = (p.q.mesh.at(k)[i], p.u.mesh.at(k)[i]);
        }
        muscled.compute_kinematics(&y, &mut muscle_ws);
        muscled.compute_paths(&y, &mut muscle_ws);
        let difference = |m: usize| {
            let (ours, place) = (&muscle_ws.paths[muscle[m]], m * STRIDE + row.unwrap_or(0));
            [p.stride_length[place] - ours.length(), p.stride_speed[place] - ours.speed()]
        };
        apart.push((0..MUSCLES).map(difference).collect::<Vec<[f64; 2]>>());
    }

    let mut terms = [0.0f64; 5];
    let (mut defect, mut free, mut rates) = (0.0f64, [0.0f64; 3], 0.0f64);
    let (mut own_balance, mut own_torque, mut own_metabolic) = (0.0f64, 0.0f64, 0.0f64);
    let mut balance = 0.0f64;
    let (mut exact_balance, mut exact_torque) = (0.0f64, 0.0f64);
    let (mut length_error, mut arm_error) = (0.0f64, 0.0f64);
    let mut met = 0;
    for k in 0..INTERVALS {
        for j in 0..POINTS {
            let t = POINTS * k + j;
            let (a, f, q, u) =
                (p.activation.inside.at(t), p.force.inside.at(t), p.q.inside.at(t), p.u.inside.at(t));
            let (arm, acc) = (p.arm.inside.at(t), p.acceleration.at(t));
            let (adot, fdot, e) = (p.activation_rate.at(k), p.force_rate.at(t), p.arm_excitation.at(k));

            // Equations of the scheme, as changes over an interval.
            let change = |v: [f64; 4]| (0..4).map(|i| slopes[j][i] * v[i]).sum::<f64>();
            for m in 0..MUSCLES {
                let (da, df) = (h * adot[m], h * fdot[m]);
                defect = largest([defect, (da - change(p.activation.interval(k, m))).abs()]);
                defect = largest([defect, (df - change(p.force.interval(k, m))).abs() / 5.0]);
                rates = largest([rates, -(adot[m] + a[m] / DEACTIVATION)]);
                rates = largest([rates, adot[m] + a[m] / ACTIVATION - 1.0 / ACTIVATION]);
            }
            for i in 0..COORDINATES {
                defect = largest([defect, (h * u[i] - change(p.q.interval(k, i))).abs()]);
                let scale = p.acceleration_scale[i];
                defect = largest([defect, (h * acc[i] - change(p.u.interval(k, i))).abs() / scale]);
            }
            for i in 0..ARMS {
                let rate = (e[i] - arm[i]) / ARM_TIME;
                defect = largest([defect, (h * rate - change(p.arm.interval(k, i))).abs()]);
            }

            // What joints must do beside contact and gravity.
            let mut xdot = vec![0.0; implicit.num_states()];
            for i in 0..COORDINATES {
                let at = mobility[i];
                (x.q[at], x.u[at], xdot[num + at]) = (q[i], u[i], acc[i]);
                (y.q[at], y.u[at]) = (q[i], u[i]);
            }
            xdot[..num].copy_from_slice(&x.u);
            implicit.compute_residual(
                &x,
                &xdot,
                &[],
                &vec![0.0; implicit.num_multipliers()],
                &mut ws,
                &mut r,
            );
            let needed: Vec<f64> = (0..COORDINATES).map(|i| r[num + mobility[i]]).collect();
            let passive = |i: usize| {
                let s = &p.passive[i];
                s.limit(q[i]) - s.stiffness * q[i] - s.damping * u[i]
            };
            for i in 0..COORDINATES {
                // Pelvis, arms and toes have no muscles in this problem.
                if i < 6 {
                    free[0] = largest([free[0], needed[i].abs()]);
                } else if i >= WITHOUT_ARMS {
                    let torque = ARM_TORQUE * arm[i - WITHOUT_ARMS] + passive(i);
                    free[1] = largest([free[1], (needed[i] - torque).abs()]);
                } else if is_toe(i) {
                    free[2] = largest([free[2], (needed[i] - passive(i)).abs()]);
                }
            }

            // Muscles along the paths of the model.
            muscled.compute_kinematics(&y, &mut muscle_ws);
            muscled.compute_paths(&y, &mut muscle_ws);
            let mut arms = MomentArms::new(&muscled, &muscle_ws);
            let mut torque: Vec<f64> = (0..COORDINATES).map(passive).collect();
            let row = rows[k + 1].unwrap_or(0);
            let published = j + 1 == POINTS && rows[k + 1].is_some();
            met += usize::from(published);
            let mut exact: Vec<f64> = torque.clone();
            let (mut energy, mut own_energy) = (0.0, 0.0);
            for m in 0..MUSCLES {
                let (length, speed) =
                    (muscle_ws.paths[muscle[m]].length(), muscle_ws.paths[muscle[m]].speed());
                let at_work = |length: f64, speed: f64| {
                    let b = p.contraction[m].balance(a[m], f[m], fdot[m], length, speed);
                    let work = MuscleAtWork {
                        excitation: a[m],
                        activation: a[m],
                        active_fiber_force: b.active_force,
                        passive_fiber_force: b.passive_force,
                        fiber_velocity: b.fiber_velocity,
                        normalized_fiber_length: b.normalized_fiber_length,
                        active_force_length_multiplier: b.active_force_length,
                    };
                    (b.residual, p.energy[m].rates(&work).total)
                };
                let (residual, rate) = at_work(length, speed);
                own_balance = largest([own_balance, residual.abs()]);
                own_energy += rate * rate;
                let [dl, dv] = between(apart[k][m], apart[k + 1][m], tau[j + 1], h);
                let (residual, rate) = at_work(length + dl, speed + dv);
                balance = largest([balance, residual.abs()]);
                energy += rate * rate;
                let tension = f[m] * p.contraction[m].max_isometric_force;
                arms.compute_path(&muscled, &muscle_ws, muscle[m]);
                for i in 6..WITHOUT_ARMS {
                    torque[i] += tension * arms.arm(mobility[i]);
                }
                if published {
                    let place = m * STRIDE + row;
                    let (length_there, speed_there) = (p.stride_length[place], p.stride_speed[place]);
                    length_error = largest([length_error, (length_there - length).abs()]);
                    let (residual, _) = at_work(length_there, speed_there);
                    exact_balance = largest([exact_balance, residual.abs()]);
                    for i in 6..WITHOUT_ARMS {
                        let there = p.stride_arm[(i * MUSCLES + m) * STRIDE + row];
                        exact[i] += tension * there;
                        arm_error = largest([arm_error, (there - arms.arm(mobility[i])).abs()]);
                    }
                }
            }
            for i in (6..WITHOUT_ARMS).filter(|&i| !is_toe(i)) {
                own_torque = largest([own_torque, (needed[i] - torque[i]).abs()]);
                if published {
                    exact_torque = largest([exact_torque, (needed[i] - exact[i]).abs()]);
                }
            }

            // The five terms of the cost.
            let sum = |v: &mut dyn Iterator<Item = f64>| v.map(|x| x * x).sum::<f64>();
            let parts = [
                energy / MUSCLES as f64 / p.mass,
                sum(&mut a.iter().copied()) / MUSCLES as f64,
                sum(&mut e.iter().copied()) / ARMS as f64,
                sum(&mut (0..WITHOUT_ARMS).map(|i| acc[i] / p.acceleration_scale[i])) / WITHOUT_ARMS as f64,
                sum(&mut (0..COORDINATES).map(|i| p.passive[i].limit(q[i]))) / LIMITS,
            ];
            for i in 0..5 {
                terms[i] += WEIGHTS[i] * parts[i] * weights[j] * h;
            }
            own_metabolic += WEIGHTS[0] * own_energy / MUSCLES as f64 / p.mass * weights[j] * h;
        }
    }
    let travel = p.q.mesh.at(INTERVALS)[3] - p.q.mesh.at(0)[3];

    report.heading("equations at the published solution, 150 points");
    let bar = |v: f64, tolerance: f64| v < tolerance;
    let unit = "tolerance of the authors' solver 1e-6";
    report.row("equations of the scheme", &format!("{defect:.1e}"), unit, bar(defect, TOLERANCE));
    report.row("activation rates beyond their bounds", &format!("{rates:.1e}"), unit, bar(rates, TOLERANCE));
    for (name, v) in ["pelvis", "arms", "toes"].iter().zip(free) {
        report.row(&format!("{name}: N, N m"), &format!("{v:.1e}"), unit, bar(v, 2.0 * TOLERANCE));
    }
    report.heading(&format!(
        "muscles along the authors' polynomials, {met} mesh points at which these are published"
    ));
    report.row(
        "balance of fiber and tendon, F_max",
        &format!("{exact_balance:.1e}"),
        unit,
        bar(exact_balance, TOLERANCE),
    );
    report.row(
        "torques of joints with muscles, N m",
        &format!("{exact_torque:.1e}"),
        unit,
        bar(exact_torque, 2.0 * TOLERANCE),
    );
    report.note(
        "balance at all 150 points, with polynomials interpolated between mesh points, F_max",
        &format!("{balance:.1e}"),
        "Hermite's cubics",
    );
    report.heading("muscles along the paths of the model, 150 points");
    report.note(
        "balance of fiber and tendon, F_max",
        &format!("{own_balance:.2e}"),
        "paths, not polynomials",
    );
    report.note("torques of joints with muscles, N m", &format!("{own_torque:.2}"), "the same");
    report.note(
        "length of a path from the polynomial, mm",
        &format!("{:.2}", 1e3 * length_error),
        "fitted to 3 (RMS)",
    );
    report.note(
        "moment arm from the polynomial, mm",
        &format!("{:.2}", 1e3 * arm_error),
        "fitted to 3 (RMS)",
    );
    let own = own_metabolic / travel;
    report.note(
        "metabolic term",
        &format!("{own:.4}, {:+.2} %", 100.0 * (own / p.terms[0] - 1.0)),
        "the same",
    );
    report.heading("terms of the cost");
    let names = ["metabolic", "activations", "arm excitations", "accelerations", "limit torques"];
    for i in 0..5 {
        let (ours, theirs) = (terms[i] / travel, p.terms[i]);
        let off = (ours / theirs - 1.0).abs();
        report.row(names[i], &format!("{ours:.4}"), &format!("{theirs:.4}, off by {off:.1e}"), off < 1e-3);
    }
    Ok(())
}
