//! Problems of several phases with known answers.

use crate::common::{check_derivatives, near_start, solved_program};
use soleus_control::goal::{control_effort, final_time};
use soleus_control::problem::{Link, LinkVariable, Phases, Point, ProblemError};
use soleus_control::{
    Bounds, Collocation, CustomDynamics, Dynamics, PointVariable, Problem, Scheme, Settings, SmoothFunction,
    Variable,
};
use soleus_math::Real;

/// m v̇ = f − m g along a line.
struct Mass {
    mass: f64,
    gravity: f64,
}

impl CustomDynamics for Mass {
    fn sizes(&self) -> (usize, usize, usize) {
        (2, 1, 0)
    }
    fn residual<T: Real>(&self, p: Point<'_, T>, r: &mut [T]) {
        r[0] = p.rates[0] - p.states[1];
        r[1] = (p.rates[1] + self.gravity) * self.mass - p.controls[0];
    }
}

/// A mass within wide bounds, its force within ±`force`.
fn mass(mass: f64, gravity: f64, force: f64) -> Problem {
    let mut p = Problem::new(Dynamics::of(Mass { mass, gravity }), 2, 1);
    p.dynamics.chain[0] = Some(1);
    p.states[0] = Variable::new("x", Bounds::new(-10.0, 10.0));
    p.states[1] = Variable::new("v", Bounds::new(-50.0, 50.0));
    p.controls[0] = Variable::new("f", Bounds::new(-force, force));
    p
}

fn starting(p: &mut Problem, x: f64, v: f64) {
    p.states[0].initial = Bounds::fixed(x);
    p.states[1].initial = Bounds::fixed(v);
}

fn ending(p: &mut Problem, x: f64, v: f64) {
    p.states[0].last = Bounds::fixed(x);
    p.states[1].last = Bounds::fixed(v);
}

fn transcribed(phases: Vec<Problem>, links: Vec<Link>, settings: &[Settings]) -> Collocation {
    Collocation::of_phases(Phases { phases, links }, settings).unwrap_or_else(|e| panic!("{e:?}"))
}

/// A rocket of two stages on rails: 2 kg up to 0.5 m, then 1 kg to rest at 1 m, with at most 50 N. Full thrust gives v = 5 m/s after
/// 0.2 s; then v² rises to 37.5 m²/s² and falls again, 2 √37.5/50 − 5/50 s more.
#[test]
fn analytic_two_stage_rocket() {
    let exact = 0.2 + (2.0 * 37.5f64.sqrt() - 5.0) / 50.0;
    for scheme in [Scheme::Trapezoidal, Scheme::HermiteSimpson, Scheme::LegendreGaussRadau(3)] {
        let (mut first, mut second) = (mass(2.0, 0.0, 50.0), mass(1.0, 0.0, 50.0));
        first.final_time = Bounds::new(0.05, 2.0);
        starting(&mut first, 0.0, 0.0);
        first.states[0].last = Bounds::fixed(0.5);
        second.initial_time = Bounds::new(0.05, 2.0);
        second.final_time = Bounds::new(0.1, 4.0);
        ending(&mut second, 1.0, 0.0);
        second.goals.push(final_time("time", 1.0));
        let settings = [Settings::uniform(scheme, 20), Settings::uniform(scheme, 60)];
        let links = vec![Link::continuous(0, &[(0, 0), (1, 1)])];
        let (mut c, s) = solved_program(transcribed(vec![first, second], links, &settings), 1e-9);
        let t = c.trajectories(&s.x);
        println!("{:<26} {:.8} s, {exact:.8} s exactly", scheme.name(), s.objective);
        // Lines of controls take an interval to switch: h² of phase two, (0.145/60)² f/m over v.
        assert!((s.objective - exact).abs() < 1e-4, "{scheme:?}: {} s", s.objective);
        let switch = t[0].times[t[0].times.len() - 1];
        assert!((switch - 0.2).abs() < 1e-4 && (t[1].times[0] - switch).abs() < 1e-9, "{switch} s");
        let fast = t[1].states.rows[0][1];
        assert!((fast - 5.0).abs() < 1e-3, "{fast} m/s at the change");
        // The first stage never brakes.
        assert!(t[0].controls.rows.iter().all(|e| (e[0] - 50.0).abs() < 1e-2), "{:?}", t[0].controls.rows);
    }
}

/// A ball falls from 1 m and bounces three times with restitution 0.8: heights e² h, e⁴ h, e⁶ h; times √(2h/g) (1 + 2e + 2e² + e³).
#[test]
fn analytic_bouncing_ball() {
    let (g, h, e) = (9.80665, 1.0, 0.8f64);
    let mut phases = Vec::new();
    let mut links = Vec::new();
    for k in 0..4 {
        let mut p = mass(1.0, g, 0.0);
        p.initial_time = if k == 0 { Bounds::fixed(0.0) } else { Bounds::new(0.1, 5.0) };
        p.final_time = Bounds::new(0.2, 5.0);
        p.states[0].initial = Bounds::fixed(if k == 0 { h } else { 0.0 });
        p.states[0].last = if k == 3 { Bounds::new(0.0, 2.0) } else { Bounds::fixed(0.0) };
        if k == 0 {
            p.states[1].initial = Bounds::fixed(0.0);
        } else {
            // Upwards after an impact.
            p.states[1].initial = Bounds::new(0.1, 20.0);
        }
        if k == 3 {
            p.states[1].last = Bounds::fixed(0.0);
        } else {
            p.states[1].last = Bounds::new(-20.0, -0.1);
            // The height stays, the speed turns.
            let (x, v) = (PointVariable::State(0), PointVariable::State(1));
            links.push(Link::proportional(k, &[(x, x, 1.0), (v, v, -e)]));
        }
        phases.push(p);
    }
    // Positions fixed on both sides of a change need no link; the diagnosis tells, and the solver takes it.
    let settings = vec![Settings::uniform(Scheme::HermiteSimpson, 3); 4];
    let (mut c, s) = solved_program(transcribed(phases, links, &settings), 1e-10);
    let t = c.trajectories(&s.x);
    let last = &t[3];
    let (end, height) = (last.times[last.times.len() - 1], last.states.rows[last.states.rows.len() - 1][0]);
    let exact = (2.0 * h / g).sqrt() * (1.0 + 2.0 * e + 2.0 * e * e + e.powi(3));
    println!("top at {end:.10} s, {exact:.10} s exactly; height {height:.10} m, {:.10} m", e.powi(6) * h);
    // Parabolas are met exactly by cubics; what is left is the solver's tolerance.
    assert!((end - exact).abs() < 1e-7 && (height - e.powi(6) * h).abs() < 1e-7, "{end} s, {height} m");
}

/// ½ ∫ u² from rest to rest over 1 m in 2 s costs 6/8, cut in two or not; costs of phases add up.
#[test]
fn identity_phases_that_continue_are_one() {
    let effort = |p: &mut Problem| p.goals.push(control_effort("effort", 0.5, &[(0, 1.0)], 2.0));
    let (mut first, mut second) = (mass(1.0, 0.0, 50.0), mass(1.0, 0.0, 50.0));
    starting(&mut first, 0.0, 0.0);
    first.final_time = Bounds::fixed(0.7);
    second.initial_time = Bounds::fixed(0.7);
    second.final_time = Bounds::fixed(2.0);
    ending(&mut second, 1.0, 0.0);
    [&mut first, &mut second].into_iter().for_each(effort);
    let settings =
        [Settings::uniform(Scheme::HermiteSimpson, 7), Settings::uniform(Scheme::LegendreGauss(3), 4)];
    let links = vec![Link::continuous(0, &[(0, 0), (1, 1)])];
    let (mut c, s) = solved_program(transcribed(vec![first, second], links, &settings), 1e-10);
    // The optimal control is a line, which both schemes hold exactly.
    assert!((s.objective - 0.75).abs() < 1e-8, "{}", s.objective);
    let goals = c.objective_by_goal(&s.x);
    let sum: f64 = goals.iter().map(|g| g.1).sum();
    assert_eq!(goals.len(), 4);
    assert!((sum - s.objective).abs() < 1e-12 && goals[0].1 > 0.1 && goals[2].1 > 0.1, "{goals:?}");
}

/// A link of one's own: b + f a².
struct Odd(f64);

impl SmoothFunction for Odd {
    type Scratch<T: Real> = ();
    fn num_inputs(&self) -> usize {
        2
    }
    fn scratch<T: Real>(&self) {}
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        values[0] = z[1] + z[0].sq() * self.0;
    }
}

/// All derivatives of a program with free times in every phase.
#[test]
fn deriv_phases() {
    let (mut first, mut second) = (mass(2.0, 1.0, 50.0), mass(1.0, 0.3, 50.0));
    for p in [&mut first, &mut second] {
        p.initial_time = Bounds::new(0.0, 1.0);
        p.final_time = Bounds::new(1.2, 3.0);
        p.goals = vec![control_effort("effort", 0.5, &[(0, 1.0)], 2.0), final_time("time", 0.3)];
    }
    let settings =
        [Settings::uniform(Scheme::HermiteSimpson, 3), Settings::uniform(Scheme::LegendreGaussRadau(2), 2)];
    let mut links = vec![Link::continuous(0, &[(0, 0), (1, 1)])];
    let speeds =
        vec![LinkVariable::Last(PointVariable::State(1)), LinkVariable::Initial(PointVariable::Control(0))];
    links.push(Link::zero("odd", 0, speeds, Odd(0.4)));
    let mut c = transcribed(vec![first, second], links, &settings);
    let x = near_start(&c, 5, 0.1);
    check_derivatives(&mut c, &x, 1e-6);
}

/// Links that lead nowhere are refused by name.
#[test]
fn identity_wrong_links_are_named() {
    let link = Link::continuous(0, &[(0, 0)]);
    let alone = Phases { phases: vec![mass(1.0, 0.0, 1.0)], links: vec![link.clone()] };
    assert!(matches!(&alone.errors()[..], [ProblemError::NoPhase { phase: 1, .. }]), "{:?}", alone.errors());
    let strange = Link::continuous(0, &[(0, 7)]);
    let two = Phases { phases: vec![mass(1.0, 0.0, 1.0); 2], links: vec![strange] };
    assert!(two.errors().iter().any(|e| e.to_string().contains("State(7)")), "{:?}", two.errors());
}
