use super::*;
use soleus_math::Random;
use soleus_math::norm::largest;

/// A program with a solution inside: sparse columns, loads within what the unknowns can do.
fn program(noise: &mut Random, m: usize, n: usize, exponent: f64) -> PowerProgram {
    let mut p = PowerProgram::new(m, n + m, exponent).unwrap();
    let mut column = vec![0.0; m];
    for i in 0..n {
        column.fill(0.0);
        for _ in 0..3 {
            let r = ((noise.signed() + 1.0) * 0.5 * m as f64) as usize % m;
            column[r] = 50.0 * noise.signed();
        }
        p.push_column(&column);
        (p.lower[i], p.upper[i]) = (0.01, 1.0);
        p.x[i] = 0.01 + 0.99 * 0.5 * (noise.signed() + 1.0);
    }
    // Weak helpers of either sign, without bounds.
    for r in 0..m {
        column.fill(0.0);
        column[r] = 1.0;
        p.push_column(&column);
        (p.lower[n + r], p.upper[n + r]) = (f64::NEG_INFINITY, f64::INFINITY);
        p.x[n + r] = 0.0;
    }
    p.compute_missing();
    for r in 0..m {
        p.rhs[r] = -p.missing[r];
    }
    p
}

/// How far x and λ are from satisfying p |x|ᵖ⁻¹ sgn x = aᵀλ between bounds, with the right sign at them; told in x or in the
/// gradient, whichever is less: below p = 2 the gradient is steep at zero, above it x is.
fn optimality(p: &PowerProgram, lambda: &[f64]) -> f64 {
    let e = p.exponent;
    largest((0..p.n).map(|i| {
        let x = p.x[i];
        let y = p.columns.dot(i, lambda);
        let g = e * x.abs().powf(e - 1.0) * x.signum() - y;
        let asked = (y.abs() / e).powf(1.0 / (e - 1.0)) * y.signum();
        let at = |bound: f64| (x - bound).abs() < 1e-6;
        // NaN where the gradient is NaN: `max` and `min` would drop it.
        if g.is_nan() {
            g
        } else if at(p.lower[i]) {
            (-g).max(0.0)
        } else if at(p.upper[i]) {
            g.max(0.0)
        } else {
            g.abs().min((x - asked).abs())
        }
    }))
}

#[test]
fn analytic_two_share_a_load_by_their_strength() {
    // min x² + y², 3 x + 4 y = 5: x = 3/5, y = 4/5.
    let mut p = PowerProgram::new(1, 2, 2.0).unwrap();
    p.push_column(&[3.0]);
    p.push_column(&[4.0]);
    p.rhs[0] = 5.0;
    let s = p.solve().unwrap();
    assert!((p.x[0] - 0.6).abs() < 1e-14 && (p.x[1] - 0.8).abs() < 1e-14, "{:?}", p.x);
    assert!(s.feasible && (s.cost - 1.0).abs() < 1e-14);
    // min xᵖ + yᵖ with the same strengths: xᵖ⁻¹/3 = yᵖ⁻¹/4.
    for exponent in [2.5, 3.0, 10.0, 100.0] {
        let mut p = PowerProgram::new(1, 2, exponent).unwrap();
        p.push_column(&[3.0]);
        p.push_column(&[4.0]);
        p.rhs[0] = 5.0;
        p.solve().unwrap();
        let ratio = (3.0_f64 / 4.0).powf(1.0 / (exponent - 1.0));
        let y = 5.0 / (3.0 * ratio + 4.0);
        assert!((p.x[0] - ratio * y).abs() < 1e-9 && (p.x[1] - y).abs() < 1e-9, "p = {exponent}: {:?}", p.x);
    }
}

#[test]
fn analytic_too_weak_tells_what_is_missing() {
    for exponent in [2.0, 3.0] {
        let mut p = PowerProgram::new(2, 2, exponent).unwrap();
        p.push_column(&[10.0, 0.0]);
        p.push_column(&[0.0, 5.0]);
        p.rhs.copy_from_slice(&[4.0, 8.0]);
        let s = p.solve().unwrap();
        assert!(!s.feasible);
        assert!((p.x[0] - 0.4).abs() < 1e-6 && (p.x[1] - 1.0).abs() < 1e-6, "{exponent}: {:?}", p.x);
        assert!(p.missing[0].abs() < 1e-6 && (p.missing[1] - 3.0).abs() < 1e-6, "{:?}", p.missing);
    }
}

#[test]
fn identity_optimality_of_random_programs() {
    let mut noise = Random::new(7);
    for (m, n) in [(1, 4), (5, 20), (10, 18), (30, 80)] {
        for exponent in [1.2, 1.5, 2.0] {
            for _ in 0..20 {
                let mut p = program(&mut noise, m, n, exponent);
                let s = p.solve().unwrap_or_else(|e| panic!("{m}×{n}, p = {exponent}: {e}"));
                assert!(s.feasible, "{m}×{n}, p = {exponent}: violation {}", s.violation);
                let lambda =
                    p.interior.as_ref().map_or_else(|| p.multipliers.clone(), |i| i.lambda().to_vec());
                let off = optimality(&p, &lambda);
                // The interior method asks for 1e-8 in the gradients, and x within 1e-6 of a bound counts as there.
                assert!(off < 1e-5, "{m}×{n}, p = {exponent}: {off} after {} steps", s.iterations);
                assert!(p.x.iter().zip(&p.lower).all(|(x, l)| x >= l));
                assert!(p.x.iter().zip(&p.upper).all(|(x, u)| x <= u));
            }
        }
    }
}

/// Off the bounds x is what the multipliers ask for, digit by digit; at them they ask for more. Some equations have nobody but
/// a weak helper, who is then at 40 to 400, as residual actuators are; one asks for more than the strong can do.
#[test]
fn identity_optimality_at_large_exponents() {
    let mut noise = Random::new(5);
    for (m, n) in [(1, 4), (5, 20), (10, 18), (30, 80)] {
        for exponent in [2.5, 3.0, 4.0, 6.0, 10.0, 20.0, 50.0, 100.0] {
            for round in 0..20 {
                let drawn = program(&mut noise, m, n, exponent);
                let mut p = PowerProgram::new(m, n + m, exponent).unwrap();
                (p.lower, p.upper, p.rhs) = (drawn.lower.clone(), drawn.upper.clone(), drawn.rhs.clone());
                let forced = m / 5;
                for i in 0..p.n {
                    let mut column = vec![0.0; m];
                    drawn.columns.entries(i).for_each(|(r, a)| column[r] = a);
                    if i < n {
                        column[..forced].fill(0.0);
                    }
                    p.push_column(&column);
                }
                for r in 0..forced {
                    p.rhs[r] = 40.0 + 360.0 * noise.signed().abs();
                }
                if forced > 0 && round % 2 == 0 {
                    p.rhs[forced] += 60.0;
                }
                let s = p.solve().unwrap_or_else(|e| panic!("{m}×{n}, p = {exponent}, round {round}: {e}"));
                assert!(s.feasible, "{m}×{n}, p = {exponent}: violation {}", s.violation);
                let asked = p.active_set.as_ref().unwrap().asked();
                for i in 0..p.n {
                    let (x, asked) = (p.x[i], asked[i].max(p.lower[i]).min(p.upper[i]));
                    // Steps end at 2e-6 of 1 + |x|.
                    let off = (x - asked).abs() / x.abs().max(asked.abs()).max(0.1);
                    assert!(
                        off < 1e-4,
                        "{m}×{n}, p = {exponent}, round {round}: unknown {i} is {x}, asked for {asked}"
                    );
                }
            }
        }
    }
}

/// Unknowns at 15, 0.5 and 0.08 that share equations: at p = 100 their costs are 1e226 apart. The same program was solved by Newton's method
/// in 900 digits (Python's mpmath), with the signs of the multipliers at the bounds checked.
#[test]
fn identity_as_in_900_digits() {
    let columns: [&[(usize, f64)]; 8] = [
        &[(0, 30.0), (1, -20.0)],
        &[(0, 25.0)],
        &[(0, 20.0), (1, 15.0)],
        &[(1, -30.0), (2, 10.0)],
        &[(1, 12.0), (2, 20.0)],
        &[(2, 15.0), (3, 5.0)],
        &[(2, -8.0), (3, 20.0)],
        &[(3, -10.0)],
    ];
    let known = [
        (
            20.0,
            [0.490334425115138, 0.0844787961721892, 0.0554127149662114],
            [-0.409967246545859, 0.0727755259954719, 0.0693517198148267],
        ),
        (
            100.0,
            [0.488273871727992, 0.0848323787376239, 0.0547079284217539],
            [-0.471783848160247, 0.0824390290297548, 0.0816795378768029],
        ),
    ];
    for (exponent, [d, f, g], [second, third, fourth]) in known {
        let mut p = PowerProgram::new(4, 12, exponent).unwrap();
        for (i, entries) in columns.iter().enumerate() {
            let mut column = [0.0; 4];
            entries.iter().for_each(|(r, a)| column[*r] = *a);
            p.push_column(&column);
            p.lower[i] = 0.01;
        }
        for r in 0..4 {
            p.push_column(&std::array::from_fn::<f64, 4, _>(|k| f64::from(u8::from(k == r))));
            (p.lower[8 + r], p.upper[8 + r]) = (f64::NEG_INFINITY, f64::INFINITY);
        }
        p.rhs.copy_from_slice(&[90.0, -20.0, 6.0, 1.5]);
        p.solve().unwrap();
        let x = [1.0, 1.0, 1.0, d, 0.01, f, g, 0.01, 15.0, second, third, fourth];
        for (i, (a, b)) in p.x.iter().zip(x).enumerate() {
            assert!((a - b).abs() < 1e-10, "p = {exponent}, unknown {i}: {a} and {b}");
        }
    }
}

/// By how much solution a costs more than b, in parts of what the unknowns cost in which they differ: others would outweigh them.
fn dearer(a: &[f64], b: &[f64], exponent: f64) -> f64 {
    let differ = a.iter().zip(b).filter(|(a, b)| (*a - *b).abs() > 1e-9 * (1.0 + a.abs()));
    let costs = differ.map(|(a, b)| (a.abs().powf(exponent), b.abs().powf(exponent)));
    let (more, all) = costs.fold((0.0, 0.0), |(more, all), (a, b)| (more + a - b, all + a + b));
    if all > 0.0 { more / all } else { 0.0 }
}

/// At its own exponent a solution costs no more than the solutions of others, which meet the same equations.
#[test]
fn identity_own_exponent_costs_least() {
    let mut noise = Random::new(11);
    for (m, n) in [(5, 20), (10, 18), (23, 54)] {
        for round in 0..20 {
            let drawn = program(&mut noise, m, n, 2.0);
            let solutions = [4.0, 6.0, 10.0, 20.0, 50.0, 100.0].map(|exponent| {
                let mut p = PowerProgram::new(m, drawn.n, exponent).unwrap();
                (p.lower, p.upper, p.rhs) = (drawn.lower.clone(), drawn.upper.clone(), drawn.rhs.clone());
                p.columns = drawn.columns.clone();
                let s = p.solve().unwrap_or_else(|e| panic!("{m}×{n}, p = {exponent}, round {round}: {e}"));
                assert!(s.feasible, "{m}×{n}, p = {exponent}, round {round}: {} is missing", s.violation);
                (exponent, p.x)
            });
            for (e, own) in &solutions {
                for (other, x) in &solutions {
                    let more = dearer(own, x, *e);
                    assert!(
                        more <= 1e-9,
                        "{m}×{n}, round {round}: at {e} the solution of {other} is cheaper by {more}"
                    );
                }
            }
        }
    }
}

/// Weak helpers with much to carry beside saturated strong ones, started from the multipliers of another load: nothing is missing.
#[test]
fn identity_helpers_leave_nothing_missing() {
    let mut noise = Random::new(19);
    for (m, n) in [(5, 20), (10, 18), (23, 54)] {
        let mut p = program(&mut noise, m, n, 2.0);
        for round in 0..200 {
            p.rhs.iter_mut().for_each(|b| *b = 400.0 * noise.signed().powi(3));
            let s = p.solve().unwrap_or_else(|e| panic!("{m}×{n}, round {round}: {e}"));
            assert!(s.feasible, "{m}×{n}, round {round}: {} is missing", s.violation);
        }
    }
}

/// A start from the last solution takes fewer steps and ends at the same x.
#[test]
fn identity_warm_start_changes_nothing_but_the_work() {
    let mut noise = Random::new(3);
    let mut p = program(&mut noise, 10, 18, 2.0);
    let cold = p.solve().unwrap();
    let x = p.x.clone();
    p.rhs.iter_mut().for_each(|b| *b *= 1.01);
    p.solve().unwrap();
    p.rhs.iter_mut().for_each(|b| *b /= 1.01);
    let warm = p.solve().unwrap();
    assert!(warm.iterations <= cold.iterations, "{} and {}", warm.iterations, cold.iterations);
    assert!(p.x.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-12));
}

#[test]
fn analytic_bad_data_are_refused() {
    assert!(matches!(PowerProgram::new(1, 1, 0.5), Err(SharingError::Exponent { .. })));
    assert!(matches!(PowerProgram::new(1, 1, f64::NAN), Err(SharingError::Exponent { .. })));
    assert!(matches!(PowerProgram::new(1, 1, f64::INFINITY), Err(SharingError::ExponentTooLarge { .. })));
    let mut p = PowerProgram::new(1, 1, 2.0).unwrap();
    p.push_column(&[f64::NAN]);
    assert_eq!(p.solve(), Err(SharingError::NotFinite));
    p.clear_columns();
    p.push_column(&[1.0]);
    p.lower[0] = 2.0;
    assert!(matches!(p.solve(), Err(SharingError::Bounds { .. })));
}

/// What is missing is the least that the bounds allow: its gradient by x points out of the bounds.
#[test]
fn identity_missing_part_is_smallest() {
    let mut noise = Random::new(11);
    for (m, n) in [(3, 4), (6, 5), (10, 18), (12, 40)] {
        for round in 0..20 {
            let mut p = PowerProgram::new(m, n, 2.0).unwrap();
            let mut column = vec![0.0; m];
            for _ in 0..n {
                for (r, c) in column.iter_mut().enumerate() {
                    // The last equation has no unknowns every other time.
                    *c = if r + 1 == m && round % 2 == 0 { 0.0 } else { 50.0 * noise.signed() };
                }
                p.push_column(&column);
            }
            p.rhs.iter_mut().for_each(|b| *b = 300.0 * noise.signed());
            let s = p.solve().unwrap_or_else(|e| panic!("{m}×{n}, round {round}: {e}"));
            if s.feasible {
                continue;
            }
            let size = p.missing.iter().map(|x| x * x).sum::<f64>().sqrt();
            for i in 0..n {
                let g = p.columns.dot(i, &p.missing) / (50.0 * size);
                let (x, tolerance) = (p.x[i], 1e-4);
                let ok = g.abs() < tolerance || (g > 0.0 && x > 1.0 - 1e-6) || (g < 0.0 && x < 1e-6);
                assert!(ok, "{m}×{n}, round {round}: unknown {i} at {x}, gradient {g}");
            }
        }
    }
}

/// A window of computed muscle control of gait10dof18musc, at 0.860 s: 18 muscles that can do up to 260 N m, and a weak helper of 1 N m or
/// N for each of ten equations. Newton's steps were halved up to a thousandth, hundreds of them in turn, as they freed muscles and stopped
/// them again; what was left after that, 1e-4 of the load, was called missing.
#[test]
fn issue_17_steps_that_free_and_stop_strong_unknowns_in_turn() {
    let rhs = [-3.5186, -8.2304, -3.0054, -21.22, 26.895, -17.078, 1.0455, 3.2687, 1.3905, 27.675];
    let start = [
        -7.6304,
        -4.4637,
        -8.3895,
        -0.005526,
        0.0045882,
        -0.00056229,
        0.0072447,
        0.00027006,
        0.0059959,
        56.701,
    ];
    // Bounds of each unknown, and equation and value of its entries.
    type Entries = &'static [(usize, f64)];
    let muscles: [(f64, f64, Entries); 18] = [
        (0.18001, 0.23058, &[(3, -117.41), (4, -60.946)]),
        (0.029176, 0.25624, &[(4, -23.434)]),
        (0.11354, 0.29007, &[(3, -42.817)]),
        (0.029713, 0.13349, &[(3, 118.79)]),
        (0.026668, 0.09136, &[(3, 59.96), (4, 63.933)]),
        (0.29614, 0.35473, &[(4, 132.24)]),
        (0.037509, 0.069019, &[(4, -77.112), (5, -149.05)]),
        (0.076832, 0.11162, &[(5, -260.63)]),
        (0.085354, 0.1612, &[(5, 105.47)]),
        (0.1567, 0.21056, &[(6, -83.68), (7, -38.085)]),
        (0.1197, 0.32794, &[(7, -15.83)]),
        (0.057573, 0.29855, &[(6, -48.546)]),
        (0.19389, 0.28599, &[(6, 57.272)]),
        (0.1712, 0.27336, &[(6, 32.033), (7, 29.994)]),
        (0.031253, 0.14229, &[(7, 234.73)]),
        (0.089475, 0.12278, &[(7, -16.348), (8, -44.604)]),
        (0.08299, 0.12749, &[(8, -263.12)]),
        (0.28974, 0.33331, &[(8, 92.396)]),
    ];
    let solve = |start: &[f64]| {
        let mut p = PowerProgram::new(10, 28, 2.0).unwrap();
        p.rhs.copy_from_slice(&rhs);
        p.multipliers.copy_from_slice(start);
        let mut column = [0.0; 10];
        for (i, (lower, upper, entries)) in muscles.iter().enumerate() {
            column.fill(0.0);
            entries.iter().for_each(|(r, a)| column[*r] = *a);
            p.push_column(&column);
            (p.lower[i], p.upper[i]) = (*lower, *upper);
        }
        for r in 0..10 {
            column.fill(0.0);
            column[r] = if r == 1 { 2.0 } else { 1.0 };
            p.push_column(&column);
            (p.lower[18 + r], p.upper[18 + r]) = (-1e4, 1e4);
        }
        let done = p.solve().unwrap();
        assert!(done.feasible && done.violation < 1e-12, "{done:?}");
        assert!(done.iterations < 20, "{done:?}");
        assert!(optimality(&p, &p.multipliers.clone()) < 1e-9);
        p.x
    };
    for (a, b) in solve(&start).iter().zip(solve(&[0.0; 10])) {
        assert!((a - b).abs() < 1e-9, "{a} and {b}");
    }
}
