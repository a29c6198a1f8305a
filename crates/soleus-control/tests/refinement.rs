//! Meshes that get finer, on a problem with boundary layers and a known answer.

use crate::common::solved_program;
use soleus_control::problem::{Point, Term};
use soleus_control::solution::Columns;
use soleus_control::transcription::{MeshError, refined_mesh};
use soleus_control::{
    Bounds, Collocation, CustomDynamics, Dynamics, Goal, PointVariable, Problem, Scheme, Settings,
    SmoothFunction, Trajectory, Variable,
};
use soleus_math::Real;
use soleus_math::norm::largest;
use soleus_optimization::NonlinearProgram;
use soleus_optimization::nlp::{self, Options};
use std::ops::ControlFlow;

/// ẋ = −x³ + u.
struct Hypersensitive;

impl CustomDynamics for Hypersensitive {
    fn sizes(&self) -> (usize, usize, usize) {
        (1, 1, 0)
    }
    fn residual<T: Real>(&self, p: Point<'_, T>, r: &mut [T]) {
        let x = p.states[0];
        r[0] = p.rates[0] + x * x * x - p.controls[0];
    }
}

/// ½ (x² + u²).
struct Half;

impl SmoothFunction for Half {
    type Scratch<T: Real> = ();
    fn num_inputs(&self) -> usize {
        2
    }
    fn scratch<T: Real>(&self) {}
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        values[0] = (z[0].sq() + z[1].sq()) * 0.5;
    }
}

const DURATION: f64 = 40.0;
const BEGIN: f64 = 1.5;
const END: f64 = 1.0;

/// From 1.5 to 1 in 40 s (Rao & Mease 1999, with other numbers): x falls to nothing, waits, and rises at the end.
fn problem() -> Problem {
    let mut p = Problem::new(Dynamics::of(Hypersensitive), 1, 1);
    p.final_time = Bounds::fixed(DURATION);
    p.states[0] =
        Variable::new("x", Bounds::new(-5.0, 5.0)).starting(Bounds::fixed(BEGIN)).ending(Bounds::fixed(END));
    p.controls[0] = Variable::new("u", Bounds::new(-50.0, 50.0));
    let inputs = vec![PointVariable::State(0), PointVariable::Control(0)];
    p.goals.push(Goal::integral("cost", 1.0, vec![Term::new(inputs, Half)]));
    p
}

/// The Hamiltonian is zero, up to e^−40: ẋ = ∓x √(x⁴ + 1) in the two layers, so 1/x² = sinh(asinh(1/x₀²) + 2 t).
fn exact(t: f64) -> f64 {
    let layer = |x0: f64, t: f64| ((1.0 / (x0 * x0)).asinh() + 2.0 * t).sinh().sqrt().recip();
    layer(BEGIN, t) + layer(END, DURATION - t)
}

/// ∫ p dx of both layers, p = −x³ ± √(x⁶ + x²).
fn exact_cost() -> f64 {
    let part = |x: f64| 0.25 * (x * x * (x.powi(4) + 1.0).sqrt() + (x * x).asinh());
    part(BEGIN) - BEGIN.powi(4) / 4.0 + part(END) + END.powi(4) / 4.0
}

/// How far the states are from a simulation under the controls, which are lines between the points.
fn simulated_error(t: &Trajectory) -> f64 {
    let (mut x, mut worst) = (BEGIN, 0.0f64);
    let rate = |x: f64, u: f64| -x * x * x + u;
    const STEPS: usize = 40;
    for k in 1..t.times.len() {
        let h = (t.times[k] - t.times[k - 1]) / STEPS as f64;
        let (from, to) = (t.controls.rows[k - 1][0], t.controls.rows[k][0]);
        for i in 0..STEPS {
            let u = |s: f64| from + (to - from) * (i as f64 + s) / STEPS as f64;
            // Runge and Kutta's fourth order, whose error is far below.
            let k1 = rate(x, u(0.0));
            let k2 = rate(x + 0.5 * h * k1, u(0.5));
            let k3 = rate(x + 0.5 * h * k2, u(0.5));
            let k4 = rate(x + h * k3, u(1.0));
            x += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        }
        worst = largest([worst, (x - t.states.rows[k][0]).abs()]);
    }
    worst
}

/// How far they are from the optimal ones.
fn distance_from_optimum(t: &Trajectory) -> f64 {
    largest(t.times.iter().zip(&t.states.rows).map(|(&t, x)| (x[0] - exact(t)).abs()))
}

/// The solution on a mesh, from that on another if given.
fn on_mesh(scheme: Scheme, mesh: Vec<f64>, guess: Option<&Trajectory>) -> (Vec<f64>, f64, Trajectory, usize) {
    let settings = Settings { mesh, ..Settings::uniform(scheme, 1) };
    let mut c = Collocation::new(problem(), &settings).unwrap_or_else(|e| panic!("{e:?}"));
    guess.into_iter().for_each(|g| c.set_guess(g));
    let (mut c, s) = solved_program(c, 1e-10);
    let t = c.trajectory(&s.x);
    let error = c.mesh_error(&s.x).unwrap_or_else(|e| panic!("{e}"));
    assert!((s.objective - exact_cost()).abs() < 0.5, "{}", s.objective);
    (error.of_interval, s.objective, t, s.counts.iterations)
}

/// A motion that is not a number has no rates, and its error is not zero.
#[test]
fn analytic_error_of_no_number_is_no_number() {
    let mut c = Collocation::new(problem(), &Settings::uniform(Scheme::HermiteSimpson, 4)).unwrap();
    let x = vec![f64::NAN; c.num_variables()];
    assert!(c.mesh_error(&x).is_err());
    let error = MeshError { of_interval: vec![1e-9, f64::NAN, 1e-3], worst: String::new() };
    assert!(error.largest().is_nan());
}

/// Refinement reaches the tolerance with far fewer intervals than a uniform mesh needs, and a simulation says so too.
#[test]
fn analytic_refined_mesh_beats_uniform() {
    let tolerance = 1e-6;
    for scheme in [Scheme::HermiteSimpson, Scheme::LegendreGaussRadau(3)] {
        let tell = |what: &str, errors: &[f64], cost: f64, t: &Trajectory, iterations: usize| {
            let worst = largest(errors.iter().copied());
            println!(
                "{:<23} {:>4} {what}: estimate {worst:.1e}, simulated {:.1e}, optimum off by {:.1e}, cost by {:+.1e}, {iterations} iterations",
                scheme.name(),
                errors.len(),
                simulated_error(t),
                distance_from_optimum(t),
                cost - exact_cost()
            );
            worst
        };
        let mut mesh = Settings::uniform_mesh(20);
        let mut last: Option<Trajectory> = None;
        let (intervals, found) = loop {
            let (errors, cost, t, iterations) = on_mesh(scheme, mesh.clone(), last.as_ref());
            if tell("intervals", &errors, cost, &t, iterations) <= tolerance {
                break (errors.len(), t);
            }
            assert!(errors.len() < 1000, "the mesh does not converge");
            mesh = refined_mesh(&mesh, &errors, scheme.error_exponent(), tolerance, 2000);
            last = Some(t);
        };
        // The equation forgets: what is left of errors is about those of a few intervals.
        let error = simulated_error(&found);
        assert!(error < 5.0 * tolerance, "{scheme:?}: {error}");
        // Three times as many equal intervals do not do it.
        let (errors, cost, t, iterations) = on_mesh(scheme, Settings::uniform_mesh(3 * intervals), None);
        let worst = tell("equal ones", &errors, cost, &t, iterations);
        assert!(worst > tolerance && simulated_error(&t) > error, "{scheme:?}: {worst}");
        // Lines of controls on the refined mesh are near to the best of all controls.
        assert!(distance_from_optimum(&found) < 1e-2, "{scheme:?}");
    }
}

/// The estimate falls as h^p with the exponent that refinement counts on.
#[test]
fn order_of_the_estimate() {
    let schemes = [
        Scheme::Trapezoidal,
        Scheme::HermiteSimpson,
        Scheme::LegendreGauss(2),
        Scheme::LegendreGaussRadau(3),
        Scheme::Midpoint,
    ];
    for scheme in schemes {
        let worst = |n: usize| {
            let (errors, ..) = on_mesh(scheme, Settings::uniform_mesh(n), None);
            largest(errors)
        };
        let (coarse, fine) = (worst(1000), worst(2000));
        let order = (coarse / fine).log2();
        println!(
            "{:<26} {order:.2} of {} ({coarse:.1e}, {fine:.1e})",
            scheme.name(),
            scheme.error_exponent()
        );
        assert!((order - scheme.error_exponent() as f64).abs() < 0.4, "{scheme:?}: {order}");
    }
}

#[test]
fn analytic_refined_meshes() {
    let mesh = [0.0, 0.5, 1.0];
    // 2 ε/tolerance = 16: two parts at order 4.
    assert_eq!(refined_mesh(&mesh, &[8.0, 0.5], 4, 1.0, 100), [0.0, 0.25, 0.5, 1.0]);
    assert_eq!(refined_mesh(&mesh, &[1e9, 0.5], 4, 1.0, 100).len(), 7);
    // No more than allowed, the worst first.
    assert_eq!(refined_mesh(&mesh, &[8.0, 1e9], 4, 1.0, 4), [0.0, 0.5, 2.0 / 3.0, 0.5 + 1.0 / 3.0, 1.0]);
    assert_eq!(refined_mesh(&mesh, &[8.0, 8.0], 4, 1.0, 2), mesh);
}

/// The program on a mesh of equal intervals.
fn uniform(intervals: usize) -> Collocation {
    let settings = Settings::uniform(Scheme::HermiteSimpson, intervals);
    Collocation::new(problem(), &settings).unwrap_or_else(|e| panic!("{e:?}"))
}

/// A start from a neighbour: on the same mesh the multipliers are those of the solution; on a finer one they take
/// no more iterations than those that are fitted to the motion.
#[test]
fn identity_warm_start_carries_multipliers() {
    let (mut coarse, solution) = solved_program(uniform(60), 1e-10);
    let mut same = uniform(60);
    let warm = same.warm_start(&mut coarse, &solution.warm_start());
    let pairs = [
        (&warm.x, &solution.x),
        (&warm.multipliers, &solution.multipliers),
        (&warm.lower_multipliers, &solution.lower_multipliers),
    ];
    for (i, (a, b)) in pairs.into_iter().enumerate() {
        let worst = largest(a.iter().zip(b).map(|(a, b)| (a - b).abs() / (1.0 + b.abs())));
        // Only divisions and products by the same number lie between the two.
        assert!(a.len() == b.len() && worst < 1e-13, "list {i}: {worst:e}");
    }

    let options = Options {
        tolerance: 1e-8,
        initial_barrier: 1e-6,
        warm_start_push: 1e-6,
        bound_push: 1e-6,
        bound_fraction: 1e-6,
        ..Options::default()
    };
    let run = |with: bool| {
        let mut fine = uniform(120);
        let warm = fine.warm_start(&mut uniform(60), &solution.warm_start());
        let warm = with.then_some(&warm);
        let s = nlp::solve(&mut fine, &options, warm, &mut |_| ControlFlow::Continue(()));
        let s = s.unwrap_or_else(|e| panic!("{e}"));
        assert!(s.status.is_solved(), "{:?}", s.status);
        (s.counts.iterations, s.objective)
    };
    let ((warm, a), (cold, b)) = (run(true), run(false));
    println!("{warm} iterations with multipliers, {cold} without");
    assert!((a - b).abs() < 1e-7 * b && warm <= cold, "{warm} and {cold} iterations, {a} and {b}");
}

/// A ball of 1 kg above the ground, with a thrust u: ḣ = v, v̇ = −g + u + k δ, δ = ½(√(h² + ε²) − h). A spring of 1e3 N/m whose corner
/// is rounded over 1 mm: contact lasts about π √(m/k) = 0.1 s.
struct Ball;

impl CustomDynamics for Ball {
    fn sizes(&self) -> (usize, usize, usize) {
        (2, 1, 0)
    }
    fn residual<T: Real>(&self, p: Point<'_, T>, r: &mut [T]) {
        let (h, v) = (p.states[0], p.states[1]);
        let depth = ((h.sq() + 1e-6).sqrt() - h) * 0.5;
        r[0] = p.rates[0] - v;
        r[1] = p.rates[1] + 9.81 - p.controls[0] - depth * 1e3;
    }
}

struct Square;

impl SmoothFunction for Square {
    type Scratch<T: Real> = ();
    fn num_inputs(&self) -> usize {
        1
    }
    fn scratch<T: Real>(&self) {}
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        values[0] = z[0].sq();
    }
}

/// The ball left alone, by small steps.
fn bounce(duration: f64) -> Trajectory {
    const STEPS: usize = 6000;
    let dt = duration / STEPS as f64;
    let (mut h, mut v) = (0.3f64, 0.0);
    let names = ["h", "v"].map(String::from).to_vec();
    let mut t = Trajectory { states: Columns { names, rows: Vec::new() }, ..Trajectory::default() };
    for i in 0..=STEPS {
        if i % 100 == 0 {
            t.times.push(i as f64 * dt);
            t.states.rows.push(vec![h, v]);
        }
        v += dt * (1e3 * 0.5 * ((h * h + 1e-6).sqrt() - h) - 9.81);
        h += dt * v;
    }
    t
}

/// A ball that falls 0.3 m, bounces, and is to be at 0.25 m after 0.6 s: the mesh gets fine where it touches the ground, each one started
/// from the one before with its multipliers, and the estimate holds what it promises.
#[test]
fn analytic_refined_mesh_finds_a_contact() {
    let mut p = Problem::new(Dynamics::of(Ball), 2, 1);
    p.final_time = Bounds::fixed(0.6);
    let fixed = Bounds::fixed;
    p.states[0] = Variable::new("h", Bounds::new(-0.5, 1.0)).starting(fixed(0.3)).ending(fixed(0.25));
    p.states[1] = Variable::new("v", Bounds::new(-10.0, 10.0)).starting(fixed(0.0));
    // Too little to hover.
    p.controls[0] = Variable::new("u", Bounds::new(-2.0, 2.0));
    p.goals.push(Goal::integral("thrust", 1.0, vec![Term::new(vec![PointVariable::Control(0)], Square)]));
    let (scheme, tolerance) = (Scheme::HermiteSimpson, 1e-5);
    let mut mesh = Settings::uniform_mesh(10);
    let mut last: Option<(Collocation, nlp::Solution)> = None;
    let motion = loop {
        let settings = Settings { mesh: mesh.clone(), ..Settings::uniform(scheme, 1) };
        let mut c = Collocation::new(p.clone(), &settings).unwrap_or_else(|e| panic!("{e:?}"));
        c.set_guess(&bounce(0.6));
        let warm = last.as_mut().map(|(before, s)| c.warm_start(before, &s.warm_start()));
        let options = Options { initial_barrier: 1e-4, ..Options::with_tolerance(1e-8) };
        let s = nlp::solve(&mut c, &options, warm.as_ref(), &mut |_| ControlFlow::Continue(()))
            .unwrap_or_else(|e| panic!("{e}"));
        assert!(s.status.is_solved(), "{s}");
        let error = c.mesh_error(&s.x).unwrap_or_else(|e| panic!("{e}"));
        println!("{} intervals: {:.1e}, {}; {s}", mesh.len() - 1, error.largest(), error.worst);
        if error.largest() <= tolerance {
            break c.trajectory(&s.x);
        }
        assert!(mesh.len() < 500, "the mesh does not converge");
        mesh = refined_mesh(&mesh, &error.of_interval, scheme.error_exponent(), tolerance, 1000);
        last = Some((c, s));
    };
    // Intervals during contact are far shorter than in flight.
    let column = motion.states.column("h").unwrap_or_default();
    let touches = |i: usize| column[i] < 1e-3;
    let widths = |during: bool| {
        let pairs = (1..column.len()).filter(move |&i| (touches(i) || touches(i - 1)) == during);
        pairs.map(|i| motion.times[i] - motion.times[i - 1])
    };
    let (contact, flight) = (largest(widths(true)), largest(widths(false)));
    println!("longest in contact {contact:.2e} s, in flight {flight:.2e} s");
    assert!(2.0 * contact < flight && contact > 0.0, "{contact} {flight}");
}
