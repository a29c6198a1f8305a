//! Muscles run the same lines with dual numbers: values bit for bit, derivatives as differences say.
#![allow(non_snake_case)]

use soleus_dynamics::Options;
use soleus_dynamics::muscle::CompiledMuscle;
use soleus_math::{Dual, Real};
use soleus_model::muscle::*;

fn kinds() -> Vec<MuscleKind> {
    let undamped = Millard2012Equilibrium { fiber_damping: 0.0, ..Default::default() };
    vec![
        MuscleKind::Thelen2003(Thelen2003::default()),
        MuscleKind::Millard2012Equilibrium(Box::default()),
        MuscleKind::Millard2012Equilibrium(Box::new(undamped)),
        MuscleKind::DeGrooteFregly2016(DeGrooteFregly2016 { fiber_damping: 0.02, ..Default::default() }),
        MuscleKind::Schutte1993(Box::default()),
        MuscleKind::Delp1990(Box::default()),
        MuscleKind::Thelen2003Deprecated(Thelen2003Deprecated::default()),
        MuscleKind::RigidTendon(Box::default()),
        MuscleKind::Bogert2011(Bogert2011::default()),
        MuscleKind::Chadwick2009(Chadwick2009::default()),
        MuscleKind::DeGroote2016(DeGroote2016::default()),
    ]
}

/// All muscles there are, also with rigid tendons and without activation dynamics where they may be.
fn muscles() -> Vec<CompiledMuscle> {
    let mut out = Vec::new();
    for kind in kinds() {
        let name = kind.class_name();
        let flags = ["Millard2012EquilibriumMuscle", "DeGrooteFregly2016Muscle"].contains(&name);
        for (rigid, no_activation) in [(false, false), (true, false), (false, true), (true, true)] {
            if (rigid || no_activation) && !flags {
                continue;
            }
            let mut m = Muscle::new(kind.clone());
            m.pennation_angle_at_optimal = 0.3;
            m.ignore_tendon_compliance = rigid;
            m.ignore_activation_dynamics = no_activation;
            out.push(CompiledMuscle::compile(&m, &Options::default()).unwrap());
        }
    }
    out
}

/// Tension, rates and a few reported quantities, of the inputs (L, L̇, e, states…).
fn outputs<T: Real>(m: &CompiledMuscle, z: &[T]) -> Vec<T> {
    let mut rates = vec![T::cst(f64::NAN); z.len() - 3];
    let tension = m.dynamics(z[0], z[1], z[2], &z[3..], &mut rates);
    let info = m.info(z[0], z[1], z[2], &z[3..]);
    // Two routes to the tension; they may round differently.
    let (one, other) = (tension.value(), info.tendon_force.value());
    assert!((one - other).abs() <= 1e-12 * (1.0 + one.abs()), "{one} {other}");
    rates.push(tension);
    rates.extend([info.active_fiber_force, info.passive_fiber_force, info.fiber_length, info.fiber_velocity]);
    rates
}

/// States near the equilibrium, at several lengths, speeds and activations; seeded by arithmetic.
#[test]
fn deriv_dynamics_of_every_class() {
    type D = Dual<f64, 6>;
    for m in muscles() {
        let names = m.state_names();
        let (mut checked, mut all) = (0, 0);
        for k in 0..12 {
            let t = f64::from(k);
            let L = 0.26 + 0.009 * t + 0.001 * (7.0 * t).sin();
            let Ldot = 0.3 * (3.0 * t + 0.5).sin();
            let (e, a) = (0.5 + 0.4 * (5.0 * t).cos(), 0.4 + 0.3 * (2.0 * t + 1.0).sin());
            let mut states = vec![0.0; names.len()];
            m.solve_equilibrium(L, Ldot, a, &mut states).unwrap();
            for (s, name) in states.iter_mut().zip(names) {
                match *name {
                    "activation" => *s = a,
                    "fiber_velocity" => *s = 0.1 * (t + 1.0).sin(),
                    _ => *s *= 1.0 + 0.004 * (4.0 * t + 0.3).sin(),
                }
            }
            let mut z = vec![L, Ldot, e];
            z.extend(&states);
            let duals: Vec<D> = z.iter().enumerate().map(|(i, v)| D::variable(*v, i)).collect();
            let (dual, plain) = (outputs(&m, &duals), outputs(&m, &z));
            for (d, p) in dual.iter().zip(&plain) {
                assert_eq!(d.v.to_bits(), p.to_bits(), "{names:?}: {} {p}", d.v);
            }
            for i in 0..z.len() {
                // Two step sizes: where they disagree a corner of a curve lies between, and no slope exists.
                let difference = |h: f64| -> Vec<f64> {
                    let (mut hi, mut lo) = (z.clone(), z.clone());
                    hi[i] += h;
                    lo[i] -= h;
                    let (hi, lo) = (outputs(&m, &hi), outputs(&m, &lo));
                    hi.iter().zip(&lo).map(|(a, b)| (a - b) / (2.0 * h)).collect()
                };
                let (coarse, fine) = (difference(2e-7), difference(1e-7));
                for j in 0..plain.len() {
                    let (fd, ad) = (fine[j], dual[j].d[i]);
                    all += 1;
                    // Roundoff 1e-15 |f|/1e-7 and truncation 1e-14 f‴: estimated by the two step sizes.
                    let noise = 1e-7 * plain[j].abs() + 1e-5 * fd.abs() + 1e-7;
                    if (coarse[j] - fd).abs() > noise {
                        continue;
                    }
                    checked += 1;
                    assert!(
                        (ad - fd).abs() <= 3.0 * noise,
                        "{names:?} d{j}/d{i} at {z:?}: dual {ad}, differences {fd}"
                    );
                }
            }
        }
        assert!(10 * checked > 9 * all, "{names:?}: only {checked} of {all} derivatives exist");
    }
}

/// Power in = power stored + power spent, for an elastic tendon: −(active + passive + tendon power) is the
/// power the path puts in.
#[test]
fn conserves_power_between_fiber_and_tendon() {
    for m in muscles() {
        let mut states = vec![0.0; m.state_names().len()];
        let (L, Ldot, a) = (0.3, 0.2, 0.6);
        m.solve_equilibrium(L, Ldot, a, &mut states).unwrap();
        for (s, name) in states.iter_mut().zip(m.state_names()) {
            if *name == "activation" {
                *s = a;
            }
        }
        let i = m.info(L, Ldot, a, &states);
        if i.tendon_power.is_nan() || !m.state_names().contains(&"fiber_length") {
            continue;
        }
        let sum = i.fiber_active_power + i.fiber_passive_power + i.tendon_power;
        assert!(
            (sum - i.muscle_power).abs() < 1e-9 * (1.0 + i.muscle_power.abs()),
            "{sum} {}",
            i.muscle_power
        );
    }
}

/// An equilibrium at rest stays at rest, for classes whose equilibrium is static.
#[test]
fn identity_equilibrium_is_at_rest() {
    for m in muscles() {
        let names = m.state_names();
        if !names.contains(&"fiber_length") {
            continue;
        }
        for (L, a) in [(0.28, 0.3), (0.31, 0.9), (0.33, 0.05), (0.36, 0.5)] {
            let mut states = vec![0.0; names.len()];
            let found = m.solve_equilibrium(L, 0.0, a, &mut states).unwrap();
            let mut rates = vec![0.0; names.len()];
            let tension = m.dynamics(L, 0.0, a, &states, &mut rates);
            // OpenSim's tolerances: 1e-8 F₀, and 0.01 N for the SIMM family.
            assert!((tension - found.tendon_force).abs() < 1e-9 * (1.0 + tension), "{tension} {found:?}");
            if names.len() == 2 {
                assert!(rates.last().unwrap().abs() < 1e-3, "{names:?} at {L}: {rates:?}");
            }
        }
    }
}

/// Bad parameters are refused, and named.
#[test]
fn analytic_bad_parameters_are_errors() {
    for kind in kinds() {
        for bad in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
            let mut m = Muscle::new(kind.clone());
            m.optimal_fiber_length = bad;
            let error = CompiledMuscle::compile(&m, &Options::default()).unwrap_err();
            assert!(error.to_string().contains("optimal_fiber_length"), "{error}");
        }
    }
    let mut m = Muscle::new(MuscleKind::Thelen2003(Thelen2003::default()));
    m.ignore_tendon_compliance = true;
    let error = CompiledMuscle::compile(&m, &Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "Thelen2003Muscle does not implement `ignore_tendon_compliance`");
}

/// No input panics, NaN and infinities included, and an equilibrium is found at any sensible length and activation.
#[test]
fn identity_extreme_inputs_are_survived() {
    // A small multiplicative generator (Lehmer, 1951), seeded.
    let mut seed: u64 = 42;
    let mut random = |lo: f64, hi: f64| {
        seed = seed * 48271 % 0x7fff_ffff;
        lo + (hi - lo) * seed as f64 / 0x7fff_ffff as f64
    };
    for m in muscles() {
        let names = m.state_names();
        for _ in 0..2000 {
            let (L, Ldot, e) = (random(-0.1, 1.0), random(-20.0, 20.0), random(-0.5, 1.5));
            let states: Vec<f64> = names.iter().map(|_| random(-0.1, 0.6)).collect();
            let mut rates = vec![0.0; names.len()];
            m.dynamics(L, Ldot, e, &states, &mut rates);
            m.info(L, Ldot, e, &states);
            let mut found = states.clone();
            let (length, a) = (random(0.15, 0.5), random(0.02, 1.0));
            let equilibrium = m.solve_equilibrium(length, 0.0, a, &mut found);
            assert!(equilibrium.is_ok(), "{names:?} at {length}, {a}: {equilibrium:?}");
            assert!(found.iter().all(|s| s.is_finite()), "{names:?} at {length}, {a}: {found:?}");
        }
        let nan = vec![f64::NAN; names.len()];
        let mut rates = nan.clone();
        m.dynamics(f64::NAN, f64::NAN, f64::NAN, &nan, &mut rates);
        m.info(f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, &nan);
        let _ = m.solve_equilibrium(f64::NAN, f64::NAN, f64::NAN, &mut rates);
    }
}
