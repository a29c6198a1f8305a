//! Paths whose lengths are known.

use super::*;
use soleus_math::elementary;

/// Lengths and moment arms of a polynomial at points of its region, which fill it evenly.
fn samples_of(length: &MultivariatePolynomial, count: usize) -> Vec<Sample> {
    let sample = |i| {
        let q = vec![-1.0 + 3.0 * halton(1 + i, 2), -0.9 + 1.4 * halton(1 + i, 3)];
        let mut g = [0.0; 2];
        let l = length.gradient(&q, &mut g);
        Sample { q, length: l, arms: vec![-g[0], -g[1]] }
    };
    (0..count).map(sample).collect()
}

/// The leg that ships: every path within a tenth of a millimetre, and a polynomial of the true order for a
/// path that is one.
#[test]
fn identity_fitted_paths_follow_the_leg() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/leg_swing.osim");
    let (model, _) = soleus_io::osim::read_model(&std::fs::read(file).unwrap(), file);
    let model = model.unwrap();
    let system = System::compile(&model).unwrap();
    let options =
        FitOptions { max_order: 8, length_tolerance: 2e-4, moment_arm_tolerance: 1e-3, ..Default::default() };
    let fitted = fit_paths(&model, &system, &options, &mut |_, _| true);
    assert_eq!(fitted.len(), 8);
    for f in &fitted {
        println!(
            "{} order {} {:?} {:?}",
            model.forces[f.force].name, f.order, f.length_error, f.moment_arm_error
        );
        assert!(f.length_error[1] < 2e-3, "{}", model.forces[f.force].name);
    }
}

/// A path of a model with hundreds of constraints took minutes before anybody was asked. Half a path is none.
#[test]
fn issue_16_a_fit_can_be_stopped_between_poses() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/leg_swing.osim");
    let model = soleus_io::osim::read_model(&std::fs::read(file).unwrap(), file).0.unwrap();
    let system = System::compile(&model).unwrap();
    let mut calls = 0;
    let fitted = fit_paths(&model, &system, &FitOptions::default(), &mut |_, _| {
        calls += 1;
        calls < 70 // the first look takes 64 poses
    });
    assert!(fitted.is_empty(), "{}", fitted.len());
}

#[test]
fn analytic_exponents() {
    assert_eq!(exponents(2, 2), [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [2, 0]]);
}

/// T₂ = 2y² − 1 and T₃ = 4y³ − 3y at y = (q − 1)/2.
#[test]
fn analytic_powers_of_chebyshev() {
    let list = chebyshev_powers(3, 1.0, 2.0);
    assert_eq!(list[2], [-0.5, -1.0, 0.5]);
    assert_eq!(list[3], [1.0, 0.0, -1.5, 0.5]);
}

/// A polynomial of order 3 in two variables is found from its values and slopes, by every order from 3 on, and so are
/// moment arms that are no slope of it by separate polynomials.
#[test]
fn analytic_a_polynomial_is_found() {
    let scale = vec![[0.5, 1.5], [-0.2, 0.7]];
    let mut terms = exponents(2, 5);
    terms.sort_by_key(|e| e.iter().sum::<usize>());
    let basis = Basis { dim: 2, scale, terms, order: 5 };
    let wanted: Vec<f64> = (0..10).map(|k| elementary::cos(f64::from(k) + 1.0)).collect();
    let length = MultivariatePolynomial::new(2, 3, wanted).unwrap();
    let samples = samples_of(&length, 80);
    let together = basis.equations(&samples, Rows::Together);
    for order in 3..=5 {
        let found = basis.polynomial(&together.solve(basis.terms(order), 0), order).unwrap();
        for s in &samples {
            // Normal equations of condition 1e4 and terms of size 10.
            assert!((found.value(&s.q) - s.length).abs() < 1e-10, "{order}");
        }
    }
    let apart: Vec<Sample> = samples
        .iter()
        .map(|s| Sample { q: s.q.clone(), length: s.length, arms: vec![s.arms[0] + 0.01, 2.0 * s.arms[1]] })
        .collect();
    let options = FitOptions { length_tolerance: 1e-9, moment_arm_tolerance: 1e-9, ..FitOptions::default() };
    let both = [CoordinateId(0), CoordinateId(1)];
    let found = separately(&basis, &options, 0, &both, &apart, &apart, 2..=5).unwrap();
    assert!(found.converged && found.order == 3, "{found:?}");
    assert_eq!(found.path.moment_arms.len(), 2);
    // A length of 10 terms and two moment arms of order 2 with 6 each.
    assert_eq!(found.terms, 22);
}

/// A path of order 9 in one angle and 1 in another has 20 terms; all of order 10 would be 66.
#[test]
fn issue_22_terms_are_those_that_matter() {
    let scale = vec![[0.5, 1.5], [-0.2, 0.7]];
    let mut terms = exponents(2, 14);
    terms.sort_by_key(|e| e.iter().sum::<usize>());
    let basis = Basis { dim: 2, scale, terms, order: 14 };
    let list = exponents(2, 10);
    let chosen = |e: &Vec<usize>| e[0] <= 9 && e[1] <= 1;
    let wanted = (0..).zip(&list).map(|(k, e)| match chosen(e) {
        true => elementary::cos(f64::from(k) + 1.0) / 3f64.powi(e[0] as i32),
        false => 0.0,
    });
    let length = MultivariatePolynomial::new(2, 10, wanted.collect()).unwrap();
    let samples = samples_of(&length, 160);
    let mut growth = Growth::new(&basis, basis.sums(&samples, Rows::Together), 2);
    while growth.chosen.len() < 24 && growth.grow(24) {}
    let found = basis.polynomial(&growth.solve(), growth.order()).unwrap();
    // Order 2 has one term that the path has not, and three more were allowed.
    assert!((0..basis.terms.len()).filter(|&i| chosen(&basis.terms[i])).all(|i| growth.is_chosen[i]));
    for s in &samples {
        // Normal equations of condition 1e5 and terms of size 10.
        assert!((found.value(&s.q) - s.length).abs() < 1e-9, "{}", found.value(&s.q) - s.length);
    }
    // With each term there are all below it.
    for &i in &growth.chosen {
        assert!(growth.below[i].iter().all(|&b| growth.is_chosen[b]));
    }
}

fn leg() -> Model {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/leg_swing.osim");
    soleus_io::osim::read_model(&std::fs::read(file).unwrap(), file).0.unwrap()
}

/// Paths without surfaces and conditional points can be left as they are.
#[test]
fn issue_22_only_paths_that_branch_are_fitted() {
    let model = leg();
    let system = System::compile(&model).unwrap();
    let options = FitOptions { only_branching: true, max_order: 2, ..FitOptions::default() };
    let fitted = fit_paths(&model, &system, &options, &mut |_, _| true);
    let wraps = |f: &soleus_model::Force| match &f.line_of_action {
        Some(Path::Geometry(g)) => !g.wraps.is_empty(),
        _ => false,
    };
    let wanted: Vec<usize> = (0..model.forces.len()).filter(|&i| wraps(&model.forces[i])).collect();
    assert!(!wanted.is_empty() && wanted.len() < model.forces.len());
    assert_eq!(fitted.iter().map(|f| f.force).collect::<Vec<_>>(), wanted);
}

/// A path of two points, with a third that is part of it only while the knee is bent less than 0.5 rad: a fit cannot
/// follow, and the place and the size of the jump are told.
#[test]
fn issue_22_a_jump_is_named() {
    let mut model = leg();
    let knee = CoordinateId(model.coordinates.iter().position(|c| c.name == "knee_angle").unwrap());
    let vasti = model.forces.iter().position(|f| f.name == "vasti").unwrap();
    model.forces = vec![model.forces[vasti].clone()];
    let Some(Path::Geometry(g)) = &mut model.forces[0].line_of_action else { panic!("points") };
    g.wraps.clear();
    let (first, last) = (g.points[0].clone(), g.points[g.points.len() - 1].clone());
    let PathPointKind::Fixed(at) = first.kind else { panic!("a fixed point") };
    let mut between = first.clone();
    between.kind = PathPointKind::Conditional {
        location: at + soleus_math::vec3(0.03, -0.05, 0.0),
        coordinate: knee,
        range: [-0.5, 1.0],
    };
    g.points = vec![first, between, last];
    let system = System::compile(&model).unwrap();
    let options = FitOptions { max_order: 6, ..FitOptions::default() };
    let fitted = fit_paths(&model, &system, &options, &mut |_, _| true);
    let [path] = &fitted[..] else { panic!("one path") };
    assert!(!path.converged);
    let Some(Misfit::Jump { coordinate, at, length, share, .. }) = path.misfit else {
        panic!("{:?}", path.misfit)
    };
    // A point stays in the path up to 1e-5 rad beyond its range (OpenSim 4.6); halving 24 times a fortieth of the range leaves 1e-8 rad.
    assert!(coordinate == knee && (at + 0.50001).abs() < 1e-7, "{at}");
    let mut poser = Poser::new(&model, &system, 0, &[knee]);
    let mut length_at = |q: f64| poser.sample(&[q]).unwrap().length;
    let jump = (length_at(-0.50001 + 1e-9) - length_at(-0.50001 - 1e-9)).abs();
    assert!((length - jump).abs() < 1e-8 && jump > 1e-3, "{length} {jump}");
    assert_eq!(share, 1.0);
    let words = path.misfit.as_ref().unwrap().describe(&model, 0);
    assert!(words.contains("knee_angle = -0.5000") && words.contains("a point"), "{words}");
}

/// The first numbers in base 2: ½, ¼, ¾.
#[test]
fn analytic_halton() {
    assert_eq!([1, 2, 3].map(|i| halton(i, 2)), [0.5, 0.25, 0.75]);
}
