//! Problems with known solutions, posed without any model.

use crate::common::solved;
use soleus_control::goal::{control_effort, final_time};
use soleus_control::problem::{EndpointFunction, EndpointVariable, Point};
use soleus_control::{
    Bounds, Collocation, CustomDynamics, Dynamics, Goal, PointVariable, Problem, Scheme, Settings,
    SmoothFunction, Variable,
};
use soleus_math::Real;
use soleus_math::norm::largest;
use soleus_optimization::NonlinearProgram;

/// ẋ = v, v̇ = u + v.
struct Kirk;

impl CustomDynamics for Kirk {
    fn sizes(&self) -> (usize, usize, usize) {
        (2, 1, 0)
    }
    fn residual<T: Real>(&self, p: Point<'_, T>, r: &mut [T]) {
        r[0] = p.rates[0] - p.states[1];
        r[1] = p.rates[1] - p.controls[0] - p.states[1];
    }
}

/// Kirk (2004), example 5.1-1: minimize ½ ∫ u² dt from rest at 0 to x = 5, v = 2 in 2 s.
fn kirk() -> Problem {
    let mut p = Problem::new(Dynamics::of(Kirk), 2, 1);
    p.final_time = Bounds::fixed(2.0);
    let bounds = Bounds::new(-10.0, 10.0);
    p.states[0] = Variable::new("x", bounds).starting(Bounds::fixed(0.0)).ending(Bounds::fixed(5.0));
    p.states[1] = Variable::new("v", bounds).starting(Bounds::fixed(0.0)).ending(Bounds::fixed(2.0));
    p.controls[0] = Variable::new("u", Bounds::new(-50.0, 50.0));
    p.goals.push(control_effort("effort", 0.5, &[(0, 1.0)], 2.0));
    p
}

/// x and v of Kirk's solution.
fn kirk_exact(t: f64) -> [f64; 2] {
    let (a, b) = ((-t).exp() / 2.0, t.exp() / 2.0);
    let basis = |a: f64, b: f64, t: f64| [[-t - a + b, -1.0 + a + b], [1.0 - a - b, a - b]];
    let [[p, q], [r, s]] = basis((-2f64).exp() / 2.0, 2f64.exp() / 2.0, 2.0);
    // c₂ p + c₃ r = 5, c₂ q + c₃ s = 2.
    let det = p * s - r * q;
    let (c2, c3) = ((5.0 * s - 2.0 * r) / det, (2.0 * p - 5.0 * q) / det);
    let [one, two] = basis(a, b, t);
    [c2 * one[0] + c3 * two[0], c2 * one[1] + c3 * two[1]]
}

#[test]
fn analytic_kirk_5_1_1() {
    // With 50 intervals. The trapezoidal rule errs by h²/12 v‴, about 1e-2; controls that are lines between
    // mesh points limit the others to h⁴, some 1e-6 here. J* = 12.7507234.
    let cases = [
        (Scheme::Trapezoidal, 2e-2, 2e-2),
        (Scheme::HermiteSimpson, 1e-5, 1e-5),
        (Scheme::HermiteSimpsonCompressed, 1e-5, 1e-5),
        (Scheme::LegendreGauss(3), 1e-5, 1e-5),
        (Scheme::LegendreGaussRadau(3), 1e-5, 1e-5),
        (Scheme::LegendreGauss(7), 1e-5, 1e-5),
    ];
    for (scheme, bound, cost) in cases {
        let (_, s, t) = solved(kirk(), &Settings::uniform(scheme, 50), 1e-10);
        let error = largest(t.times.iter().zip(&t.states.rows).flat_map(|(&t, x)| {
            let exact = kirk_exact(t);
            [(x[0] - exact[0]).abs(), (x[1] - exact[1]).abs()]
        }));
        println!(
            "{:<26} error {error:.2e}, cost {:.9}, {} iterations",
            scheme.name(),
            s.objective,
            s.counts.iterations
        );
        assert!(error < bound, "{scheme:?}: {error}");
        assert!((s.objective - 12.7507234).abs() < cost, "{scheme:?}: {}", s.objective);
        // Linear constraints, quadratic cost: a few steps.
        assert!(s.counts.iterations < 15, "{scheme:?}: {} iterations", s.counts.iterations);
    }
}

/// Unit mass, thrust acceleration 5 at the angle θ.
struct Steering;

impl CustomDynamics for Steering {
    fn sizes(&self) -> (usize, usize, usize) {
        (4, 1, 0)
    }
    fn residual<T: Real>(&self, p: Point<'_, T>, r: &mut [T]) {
        let (sin, cos) = p.controls[0].sin_cos();
        r[0] = p.rates[0] - p.states[2];
        r[1] = p.rates[1] - p.states[3];
        r[2] = p.rates[2] - cos * 5.0;
        r[3] = p.rates[3] - sin * 5.0;
    }
}

struct Minus;

impl SmoothFunction for Minus {
    type Scratch<T: Real> = ();
    fn num_inputs(&self) -> usize {
        1
    }
    fn scratch<T: Real>(&self) {}
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        values[0] = -z[0];
    }
}

/// Bryson and Ho (1975), section 2.4: greatest speed at height 1 after 1 s, flying level there.
fn steering() -> Problem {
    let mut p = Problem::new(Dynamics::of(Steering), 4, 1);
    let zero = Bounds::fixed(0.0);
    p.states[0] = Variable::new("x", Bounds::new(0.0, 10.0)).starting(zero);
    p.states[1] = Variable::new("y", Bounds::new(0.0, 1.0)).starting(zero).ending(Bounds::fixed(1.0));
    p.states[2] = Variable::new("vx", Bounds::new(0.0, 10.0)).starting(zero);
    p.states[3] = Variable::new("vy", Bounds::new(0.0, 10.0)).starting(zero).ending(zero);
    let right = std::f64::consts::FRAC_PI_2;
    p.controls[0] = Variable::new("theta", Bounds::new(-right, right));
    let last = vec![EndpointVariable::Last(PointVariable::State(2))];
    p.goals.push(Goal::endpoint("speed", 1.0, EndpointFunction::new(last, Minus)));
    p
}

/// Every scheme of the reference problem, on its mesh: objective as Moco 4.6 records it (results.json, IPOPT 3.14.16,
/// tolerance 1e-5, forward differences), or nearer to the exact −3.3763066212.
#[test]
fn opensim_val_linear_tangent_steering() {
    for (scheme, intervals, moco) in [
        (Scheme::HermiteSimpson, 100, -3.3763066174028324),
        (Scheme::LegendreGaussRadau(3), 50, -3.3763065620264783),
        (Scheme::LegendreGaussRadau(7), 50, -3.376306567877176),
        (Scheme::Trapezoidal, 100, -3.375582482484999),
    ] {
        let (_, s, _) = solved(steering(), &Settings::uniform(scheme, intervals), 1e-9);
        println!("{scheme:?}: {:.10}, Moco {moco:.10}, {} iterations", s.objective, s.counts.iterations);
        // Moco's own tolerance.
        assert!((s.objective - moco).abs() < 1e-5, "{scheme:?}: {} {moco}", s.objective);
    }
}

/// Speeds of the solution.
fn steering_exact(t: f64) -> [f64; 2] {
    // tan θ = tan θ₀ − c t, θ₀ = 1.1701770056 (solved from the conditions at the end); by symmetry c = 2 tan θ₀.
    let a = 5.0;
    let tan0 = 1.1701770056f64.tan();
    let c = 2.0 * tan0;
    let (s, s0) = (tan0 - c * t, tan0);
    let (r, r0) = ((1.0 + s * s).sqrt(), (1.0 + s0 * s0).sqrt());
    // ∫ cos θ = (asinh s₀ − asinh s)/c, ∫ sin θ = (r₀ − r)/c.
    [a / c * (s0.asinh() - s.asinh()), a / c * (r0 - r)]
}

/// With every scheme on 100 intervals; seed 002 asks for 1e-3 and a root mean square of 2.7e-5.
#[test]
fn analytic_linear_tangent_steering() {
    let fine = (1e-3, 2.7e-5, 1e-6);
    // Order 2: the third derivative of the speeds is about c² a/r³, up to 110, and the error h²/12 of it, 1e-3. Backward Euler does
    // as well here, since what it errs in on the way up it errs in on the way down.
    let second = (4e-3, 1.5e-3, 2e-3);
    let cases = [
        (Scheme::HermiteSimpson, fine),
        (Scheme::HermiteSimpsonCompressed, fine),
        (Scheme::LegendreGauss(2), fine),
        (Scheme::LegendreGauss(3), fine),
        (Scheme::LegendreGaussRadau(2), fine),
        (Scheme::LegendreGaussRadau(3), fine),
        (Scheme::LegendreGaussRadau(7), fine),
        (Scheme::Trapezoidal, second),
        (Scheme::Midpoint, second),
        (Scheme::LegendreGauss(1), second),
        (Scheme::BackwardEuler, second),
    ];
    for (scheme, (bound, bound_rms, bound_cost)) in cases {
        let mut p = steering();
        // Level flight at the end, at the height that bounds the flight, makes backward Euler be there one interval before:
        // on a bound, where no interior is left.
        if scheme == Scheme::BackwardEuler {
            p.states[1].bounds.upper = 2.0;
        }
        let (_, s, t) = solved(p, &Settings::uniform(scheme, 100), 1e-9);
        let (mut worst, mut sum) = (0.0f64, 0.0);
        for (&time, x) in t.times.iter().zip(&t.states.rows) {
            let [vx, vy] = steering_exact(time);
            for d in [x[2] - vx, x[3] - vy] {
                worst = largest([worst, d.abs()]);
                sum += d * d;
            }
        }
        let rms = (sum / (2.0 * t.times.len() as f64)).sqrt();
        let cost = s.objective + 3.3763066212;
        let (name, iterations) = (scheme.name(), s.counts.iterations);
        println!(
            "{name:<26} worst {worst:.2e}, rms {rms:.2e}, cost off by {cost:.2e}, {iterations} iterations"
        );
        assert!(worst < bound && rms < bound_rms, "{name}: worst {worst}, rms {rms}");
        assert!(cost.abs() < bound_cost, "{name}: {}", s.objective);
    }
}

/// A mass of 2 kg goes 1 m and stops, force at most 50 N: bang-bang, t_f = 2 √(m d/F) = 0.4 s.
struct Slider;

impl CustomDynamics for Slider {
    fn sizes(&self) -> (usize, usize, usize) {
        (2, 1, 0)
    }
    fn residual<T: Real>(&self, p: Point<'_, T>, r: &mut [T]) {
        r[0] = p.rates[0] - p.states[1];
        r[1] = p.rates[1] * 2.0 - p.controls[0];
    }
}

#[test]
fn analytic_minimum_time() {
    let zero = Bounds::fixed(0.0);
    for scheme in [Scheme::Trapezoidal, Scheme::HermiteSimpson, Scheme::LegendreGaussRadau(3)] {
        let mut p = Problem::new(Dynamics::of(Slider), 2, 1);
        p.dynamics.chain[0] = Some(1);
        p.final_time = Bounds::new(0.0, 5.0);
        p.states[0] = Variable::new("x", Bounds::new(-5.0, 5.0)).starting(zero).ending(Bounds::fixed(1.0));
        p.states[1] = Variable::new("v", Bounds::new(-50.0, 50.0)).starting(zero).ending(zero);
        p.controls[0] = Variable::new("f", Bounds::new(-50.0, 50.0));
        p.goals.push(final_time("time", 1.0));
        let (_, s, t) = solved(p, &Settings::uniform(scheme, 100), 1e-8);
        println!("{:<26} {:.10} s, {} iterations", scheme.name(), s.objective, s.counts.iterations);
        // The switch falls on a mesh point, but lines of controls need one interval to cross: h²-ish more time.
        assert!((s.objective - 0.4).abs() < 1e-4, "{scheme:?}: {}", s.objective);
        // Full force forward, full force back; only around the switch it takes two intervals to get from one to the other.
        for (&time, e) in t.times.iter().zip(&t.controls.rows) {
            let wanted = if time < 0.5 * s.objective { 50.0 } else { -50.0 };
            let near = (time / s.objective - 0.5).abs() < 0.021;
            assert!(near || (e[0] - wanted).abs() < 1e-2, "{scheme:?}: {} N at {time} s", e[0]);
        }
    }
}

/// ẋ = x cos t, x(0) = 1: x = exp(sin t).
struct Growth;

impl CustomDynamics for Growth {
    fn sizes(&self) -> (usize, usize, usize) {
        (1, 0, 0)
    }
    fn residual<T: Real>(&self, p: Point<'_, T>, r: &mut [T]) {
        r[0] = p.rates[0] - p.states[0] * p.time.cos();
    }
}

#[test]
fn order_of_all_schemes() {
    let mut schemes =
        vec![Scheme::BackwardEuler, Scheme::Trapezoidal, Scheme::Midpoint, Scheme::HermiteSimpson];
    schemes.push(Scheme::HermiteSimpsonCompressed);
    schemes.extend((1..=4).flat_map(|n| [Scheme::LegendreGauss(n), Scheme::LegendreGaussRadau(n)]));
    for scheme in schemes {
        let error = |intervals: usize| {
            let mut p = Problem::new(Dynamics::of(Growth), 1, 0);
            p.final_time = Bounds::fixed(3.0);
            p.states[0] = Variable::new("x", Bounds::FREE).starting(Bounds::fixed(1.0));
            let (_, _, t) = solved(p, &Settings::uniform(scheme, intervals), 1e-13);
            (t.states.rows[t.states.rows.len() - 1][0] - 3f64.sin().exp()).abs()
        };
        // Few enough intervals that rounding (1e-14) does not spoil high orders.
        let n = if scheme.order() > 4 { 3 } else { 16 };
        let (coarse, fine) = (error(n), error(2 * n));
        let order = (coarse / fine).log2();
        println!("{:<26} order {order:.2} of {} ({coarse:.1e}, {fine:.1e})", scheme.name(), scheme.order());
        assert!(order > scheme.order() as f64 - 0.5, "{scheme:?}: {coarse:e} → {fine:e}, order {order}");
    }
}

/// The diagnosis names what cannot hold however the free variables are chosen.
#[test]
fn identity_impossible_start_is_named() {
    let mut p = kirk();
    p.path_constraints.push(soleus_control::PathConstraint {
        name: "far".into(),
        term: soleus_control::problem::Term::new(vec![PointVariable::State(0)], Minus),
        bounds: vec![Bounds::new(-20.0, -1.0)],
    });
    let mut c =
        Collocation::new(p, &Settings::uniform(Scheme::Trapezoidal, 4)).unwrap_or_else(|e| panic!("{e:?}"));
    let list = c.impossible(1e-9);
    assert!(list.len() == 1 && list[0].name.contains("far") && list[0].amount == 1.0, "{list:?}");
}

/// The compressed form has fewer variables and the same solution; its derivatives hold.
#[test]
fn identity_compressed_is_separated() {
    let (a, separated, t) = solved(steering(), &Settings::uniform(Scheme::HermiteSimpson, 20), 1e-10);
    let (mut b, compressed, u) =
        solved(steering(), &Settings::uniform(Scheme::HermiteSimpsonCompressed, 20), 1e-10);
    let states = t.states.rows.iter().flatten().zip(u.states.rows.iter().flatten());
    let worst = largest(states.map(|(x, y)| (x - y).abs()));
    println!(
        "{} and {} variables, objectives differ by {:.1e}, states by {worst:.1e}",
        a.num_variables(),
        b.num_variables(),
        separated.objective - compressed.objective
    );
    assert_eq!(a.num_variables() - b.num_variables(), 4 * 20);
    // Bounds at midpoints, which only one form has, are not active; their barrier is of the size of the tolerance.
    assert!((separated.objective - compressed.objective).abs() < 1e-9 && worst < 1e-6, "{worst}");
    let x = crate::common::near_start(&b, 3, 0.1);
    crate::common::check_derivatives(&mut b, &x, 1e-6);
    // Free times are refused.
    let mut p = steering();
    p.final_time = Bounds::new(0.5, 2.0);
    let refused = Collocation::new(p, &Settings::uniform(Scheme::HermiteSimpsonCompressed, 20)).err();
    assert!(refused.is_some_and(|e| e[0].to_string().contains("fixed times")));
}

/// What is possible but hardly meant is named: unused variables, goals without weight, equations too many.
#[test]
fn identity_diagnosis_names_what_is_odd() {
    let mut p = kirk();
    p.controls.push(Variable::new("idle", Bounds::new(0.0, 1.0)));
    p.dynamics.function = std::sync::Arc::new(soleus_control::Differentiated::new(TwoControls));
    p.goals.push(final_time("nothing", 0.0));
    p.goals.push(final_time("more", -1.0));
    let warnings = p.warnings().join("\n");
    for words in ["nothing depends on `idle`", "`nothing` has weight 0", "`more` has a negative weight"] {
        assert!(warnings.contains(words), "{warnings}");
    }
    // Position fixed at every point in time, and the control with it: more equations than variables.
    let mut p = kirk();
    p.states[0].bounds = Bounds::fixed(0.0);
    p.states[0].last = Bounds::fixed(0.0);
    p.states[1] = Variable::new("v", Bounds::fixed(0.0));
    p.controls[0].bounds = Bounds::fixed(1.0);
    let mut c =
        Collocation::new(p, &Settings::uniform(Scheme::Trapezoidal, 4)).unwrap_or_else(|e| panic!("{e:?}"));
    let dependent = c.dependent();
    assert!(dependent.iter().any(|d| d.contains("of v")), "{dependent:?}");
    assert!(c.impossible(1e-9).is_empty(), "{:?}", c.impossible(1e-9));
    // A state that may begin only where it may not be, and one that would have to move too fast.
    let mut p = kirk();
    p.states[0].initial = Bounds::new(20.0, 30.0);
    p.dynamics.chain[0] = Some(1);
    p.states[1].bounds = Bounds::new(-1.0, 1.0);
    let errors: Vec<String> = p.errors().iter().map(ToString::to_string).collect();
    assert!(
        errors.iter().any(|e| e.contains("x at the initial time") && e.contains("in between")),
        "{errors:?}"
    );
    assert!(errors.iter().any(|e| e.contains("x must change by -15")), "{errors:?}");
}

/// Kirk's mass with a second control that nothing depends on, and that says so.
struct TwoControls;

impl SmoothFunction for TwoControls {
    type Scratch<T: Real> = ();
    fn num_inputs(&self) -> usize {
        7
    }
    fn num_outputs(&self) -> usize {
        2
    }
    fn scratch<T: Real>(&self) {}
    fn evaluate<T: Real>(&self, z: &[T], r: &mut [T], (): &mut ()) {
        // t, x, v, ẋ, v̇, u and the idle one.
        r[0] = z[3] - z[2];
        r[1] = z[4] - z[5] - z[2];
    }
    fn depends(&self, _: usize, input: usize) -> bool {
        input != 6
    }
}

/// ẋ = u, ẏ = x.
struct Pushed;

impl CustomDynamics for Pushed {
    fn sizes(&self) -> (usize, usize, usize) {
        (2, 1, 0)
    }
    fn residual<T: Real>(&self, p: Point<'_, T>, r: &mut [T]) {
        r[0] = p.rates[0] - p.controls[0];
        r[1] = p.rates[1] - p.states[0];
    }
}

/// Least ∫ u² with y = ∫ (1 − t) u dt = 1 after 1 s. A control that keeps one value in each of N intervals with midpoints m is
/// (1 − m)/S, S = Σ (1 − m)²/N, and costs 1/S. A state whose rate is the control needs no rate and no equation of its own.
#[test]
fn analytic_controls_that_are_constant_in_intervals() {
    let n = 4;
    let middle = |k: usize| (k as f64 + 0.5) / n as f64;
    let sum = (0..n).map(|k| (1.0 - middle(k)).powi(2)).sum::<f64>() / n as f64;
    let mut sizes = Vec::new();
    for driven in [false, true] {
        let mut p = Problem::new(Dynamics::of(Pushed), 2, 1);
        if driven {
            p.dynamics.driven[0] = Some(0);
        }
        let bounds = Bounds::new(-10.0, 10.0);
        p.states[0] = Variable::new("x", bounds).starting(Bounds::fixed(0.0));
        p.states[1] = Variable::new("y", bounds).starting(Bounds::fixed(0.0)).ending(Bounds::fixed(1.0));
        p.controls[0] = Variable::new("u", bounds);
        p.goals.push(control_effort("effort", 1.0, &[(0, 1.0)], 2.0));
        let settings = Settings {
            constant_controls: true,
            dynamics_at_start: false,
            ..Settings::uniform(Scheme::LegendreGaussRadau(3), n)
        };
        let mut c = Collocation::new(p, &settings).expect("a problem");
        sizes.push((c.num_variables(), c.num_constraints()));
        let options = soleus_optimization::nlp::Options::default();
        let found = soleus_optimization::nlp::solve(&mut c, &options, None, &mut |_| {
            std::ops::ControlFlow::Continue(())
        })
        .expect("a program");
        assert!(found.status.is_solved());
        // The scheme is exact for these polynomials; what is left is the tolerance of the solver.
        assert!((found.objective - 1.0 / sum).abs() < 1e-7, "{driven}: {} {}", found.objective, 1.0 / sum);
        let t = c.trajectory(&found.x);
        for (k, row) in t.controls.rows.iter().enumerate().skip(1) {
            let exact = (1.0 - middle((k - 1) / 3)) / sum;
            assert!((row[0] - exact).abs() < 1e-6, "point {k}: {} {exact}", row[0]);
        }
    }
    // Twelve points without a rate and its equation.
    assert_eq!((sizes[0].0 - sizes[1].0, sizes[0].1 - sizes[1].1), (12, 12));
}
