//! One muscle in a testing machine: claims of Millard, Uchida, Seth and Delp (2013) about their three models.

use soleus_dynamics::Options;
use soleus_dynamics::muscle::CompiledMuscle;
use soleus_model::muscle::{Millard2012Equilibrium, Muscle, MuscleKind};
use soleus_simulation::{
    ExplicitOde, ExplicitRungeKutta, ImplicitOde, Integrator, MuscleInput, MuscleOde, RadauIIA5, StepOptions,
};
use std::f64::consts::TAU;

const L0: f64 = 0.02;
const F0: f64 = 100.0;
const VMAX: f64 = 10.0;

/// A muscle with l₀ = 2 cm, α₀ = 30° and the given tendon (m), damping and rigidity.
fn muscle(ls: f64, damping: f64, rigid: bool) -> CompiledMuscle {
    let mut m = Muscle::new(MuscleKind::Millard2012Equilibrium(Box::new(Millard2012Equilibrium {
        fiber_damping: damping,
        minimum_activation: if damping > 0.0 { 0.0 } else { 0.01 },
        ..Millard2012Equilibrium::default()
    })));
    m.max_isometric_force = F0;
    m.optimal_fiber_length = L0;
    m.tendon_slack_length = ls;
    m.pennation_angle_at_optimal = 30f64.to_radians();
    m.max_contraction_velocity = VMAX;
    m.ignore_tendon_compliance = rigid;
    CompiledMuscle::compile(&m, &Options::default()).unwrap()
}

/// l_s + l₀ cos α₀ + A sin 2πt.
fn sine(ls: f64, amplitude: f64, activation: f64) -> impl Fn(f64) -> MuscleInput + Copy {
    move |t: f64| MuscleInput {
        length: ls + L0 * 30f64.to_radians().cos() + amplitude * (TAU * t).sin(),
        speed: amplitude * TAU * (TAU * t).cos(),
        excitation: activation,
    }
}

/// Fiber length at the start of a movement, by appendix A of the paper.
fn start(m: &CompiledMuscle, input: impl Fn(f64) -> MuscleInput) -> f64 {
    let CompiledMuscle::Millard2012Equilibrium(m) = m else { panic!("another class") };
    let (i, mut z) = (input(0.0), [0.0; 2]);
    m.solve_moving_equilibrium(i.length, i.speed, i.excitation, &mut z).unwrap();
    z[1]
}

/// Fiber lengths every `dt` s from fiber length `l`, at high accuracy.
fn simulate(
    m: &CompiledMuscle,
    input: impl Fn(f64) -> MuscleInput,
    l: f64,
    dt: f64,
    samples: usize,
) -> Vec<f64> {
    let mut ode = MuscleOde::at_activation(m, &input);
    let mut method = ExplicitRungeKutta::merson(ode.error_norm(&[L0]), StepOptions::with_accuracy(1e-10));
    method.start(&mut ode, 0.0, &[l]).unwrap();
    let method: &mut dyn Integrator<_> = &mut method;
    let mut out = vec![l];
    for k in 1..samples {
        while method.span().1 < k as f64 * dt {
            method.step(&mut ode, k as f64 * dt).unwrap();
        }
        out.push(method.state()[0]);
    }
    out
}

/// Work done on a muscle is stored in tendon and passive fiber or taken by the contractile element and the damper:
///
///   ∫ F L̇ dt = ΔE + ∫ (F_active + F_damping) l̇ dt
///
/// for the elastic models and the rigid one, with Simpson's rule over 2 000 samples: error h⁴/180 f⁗ ~ 1e-9 of the work, and
/// 1e-10 l₀ from the integration. The movement stays off the shortest fiber, where the model is held by a stop.
#[test]
fn conserves_energy() {
    let (ls, dt, samples) = (0.2, 0.5e-3, 2001);
    for (name, damping, rigid, a) in [
        ("damped", 0.1, false, 0.5),
        ("damped, passive", 0.1, false, 0.0),
        ("equilibrium", 0.0, false, 0.5),
        ("rigid", 0.1, true, 0.5),
    ] {
        let m = muscle(ls, damping, rigid);
        let input = sine(ls, 0.3 * L0, a);
        let fiber = if rigid { Vec::new() } else { simulate(&m, input, start(&m, input), dt, samples) };
        let info = |k: usize| {
            let i = input(k as f64 * dt);
            let z = [a, fiber.get(k).copied().unwrap_or(0.0)];
            m.info(i.length, i.speed, a, &z[..if rigid { 1 } else { 2 }])
        };
        let (mut work, mut taken) = (0.0, 0.0);
        for k in 0..samples {
            let weight = dt / 3.0
                * match k {
                    0 => 1.0,
                    k if k == samples - 1 => 1.0,
                    k if k % 2 == 1 => 4.0,
                    _ => 2.0,
                };
            let i = info(k);
            assert!(!i.fiber_clamped, "{name} {k}");
            work += weight * i.tendon_force * i.lengthening_speed;
            taken += weight * (i.active_fiber_force + i.passive_fiber_damping_force) * i.fiber_velocity;
        }
        let stored = info(samples - 1).muscle_potential_energy - info(0).muscle_potential_energy;
        let scale = F0 * L0;
        let left = work - stored - taken;
        println!("{name}: work {work:.3e} J, stored {stored:.3e}, taken {taken:.3e}, left {left:.1e}");
        assert!(left.abs() < 1e-7 * scale, "{name}: {left:e} of {scale}");
        assert!(taken.abs() > 1e-4 * scale, "{name}: nothing was at stake");
    }
}

/// A movement that begins at speed begins without a transient: after the start of appendix A the force differs from that of a
/// muscle that has moved like this for a whole cycle by less than after a start at rest.
#[test]
fn analytic_start_without_transient() {
    let (ls, dt) = (0.2, 1e-3);
    for a in [0.3, 1.0] {
        for damping in [0.1, 0.0] {
            let m = muscle(ls, damping, false);
            let input = sine(ls, 0.3 * L0, a);
            let mut rest = [0.0; 2];
            m.solve_equilibrium(input(0.0).length, 0.0, a, &mut rest).unwrap();
            let moving = start(&m, input);
            let settled = simulate(&m, input, moving, dt, 1021)[1000];
            let (ours, at_rest) = ((moving - settled).abs() / L0, (rest[1] - settled).abs() / L0);
            println!("a {a}, damping {damping}: off by {ours:.4} l0, started at rest {at_rest:.4} l0");
            assert!(ours < 0.1 * at_rest, "{ours} {at_rest}");
            // The rate that follows is the one that the start assumes: the balance holds with it.
            let mut rate = [0.0];
            MuscleOde::at_activation(&m, input).rhs(0.0, &[moving], &mut rate).unwrap();
            assert!(rate[0] > 0.0 && rate[0] < input(0.0).speed);
        }
    }
}

/// Damped and rigid models run where the equilibrium model is singular: no activation, no overlap of filaments (fibers
/// beyond 1.81 l₀ and at their shortest), and shortening beyond vmax, where the force–velocity curve is flat.
#[test]
fn analytic_runs_without_singularities() {
    let ls = 0.1;
    // From 2 l₀ down to 0.4 l₀ and back within 0.1 s: up to 50 l₀/s.
    let far = |a: f64| {
        move |t: f64| {
            let (sin, cos) = (10.0 * TAU * t).sin_cos();
            MuscleInput {
                length: ls + 1.2 * L0 + 0.8 * L0 * cos,
                speed: -8.0 * TAU * L0 * sin,
                excitation: a,
            }
        }
    };
    for a in [0.0, 1e-6, 0.5, 1.0] {
        let rigid = muscle(ls, 0.1, true);
        let mut ode = MuscleOde::at_activation(&rigid, far(a));
        assert!((0..1000).all(|k| {
            let f = ode.tension(1e-3 * f64::from(k), &[]);
            f.is_finite() && f >= 0.0
        }));

        let damped = muscle(ls, 0.1, false);
        let l = start(&damped, far(a));
        let explicit = simulate(&damped, far(a), l, 0.01, 51);
        let mut ode = MuscleOde::at_activation(&damped, far(a));
        let mut radau = RadauIIA5::new(ode.error_norm(&[L0]), StepOptions::with_accuracy(1e-8));
        radau.start(&mut ode, 0.0, &[l]).unwrap();
        let radau: &mut dyn Integrator<_> = &mut radau;
        while radau.span().1 < 0.5 {
            radau.step(&mut ode, 0.5).unwrap();
        }
        let (implicit, explicit) = (radau.state()[0], explicit[50]);
        // Both methods within their tolerances, which add up over ten cycles with stops.
        assert!((implicit - explicit).abs() < 1e-5 * L0, "a {a}: {implicit} {explicit}");
    }
}

/// Jacobians of the problem against central differences.
#[test]
fn deriv_muscle_problem() {
    for (damping, dynamics) in [(0.1, false), (0.1, true), (0.0, true)] {
        let m = muscle(0.2, damping, false);
        let input = sine(0.2, 0.3 * L0, 0.6);
        let mut ode = if dynamics { MuscleOde::new(&m, input) } else { MuscleOde::at_activation(&m, input) };
        let (x, v) = ([0.4, 0.019], [1.5, 0.03]);
        let (x, v) = if dynamics { (&x[..], &v[..]) } else { (&x[1..], &v[1..]) };
        let n = x.len();
        let (mut j, mut d) = (vec![0.0; n * n], vec![0.0; n * n]);
        ode.jacobians(0.1, x, v, &mut j, &mut d).unwrap();
        for c in 0..n {
            let h = 1e-7 * x[c].abs();
            let mut at = |part: usize, h: f64| {
                let (mut x, mut v, mut r) = (x.to_vec(), v.to_vec(), vec![0.0; n]);
                if part == 0 {
                    x[c] += h;
                } else {
                    v[c] += h;
                }
                ode.residual(0.1, &x, &v, &mut r).unwrap();
                r
            };
            for (part, exact) in [(0, &j), (1, &d)] {
                let (hi, lo) = (at(part, h), at(part, -h));
                for r in 0..n {
                    let fd = (hi[r] - lo[r]) / (2.0 * h);
                    // Roundoff ε/h ~ 1e-7 of values to 1; curves with third derivatives to 1e7: 1e-8 h² ~ 1e-11.
                    let e = exact[r * n + c];
                    assert!((e - fd).abs() < 1e-5 * (1.0 + fd.abs()), "{part} {r} {c}: {e} {fd}");
                }
            }
        }
    }
}
