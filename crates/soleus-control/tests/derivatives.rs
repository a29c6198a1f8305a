//! The programs' derivatives against central differences, for every scheme and every kind of term.

use crate::common::{check_derivatives, near_start};
use soleus_control::problem::{EndpointFunction, EndpointVariable, Mode, Point, Term};
use soleus_control::{
    Bounds, Collocation, CustomDynamics, Dynamics, Goal, PathConstraint, PointVariable, Problem, Scheme,
    Settings, SmoothFunction, Variable,
};
use soleus_math::Real;

/// Nonlinear in everything, with time and a parameter.
struct Pendulum;

impl CustomDynamics for Pendulum {
    fn sizes(&self) -> (usize, usize, usize) {
        (2, 2, 1)
    }
    fn residual<T: Real>(&self, p: Point<'_, T>, r: &mut [T]) {
        let (q, u, length) = (p.states[0], p.states[1], p.parameters[0]);
        r[0] = p.rates[0] - u;
        r[1] = p.rates[1] * length.sq() + q.sin() * length * 9.81
            - p.controls[0] * q.cos()
            - p.controls[1].sq() * p.time.sin();
    }
}

/// Some function of all its inputs.
struct Mixed {
    inputs: usize,
    outputs: usize,
}

impl SmoothFunction for Mixed {
    type Scratch<T: Real> = ();
    fn num_inputs(&self) -> usize {
        self.inputs
    }
    fn num_outputs(&self) -> usize {
        self.outputs
    }
    fn scratch<T: Real>(&self) {}
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        for (o, v) in values.iter_mut().enumerate() {
            let sum: T = z.iter().enumerate().map(|(i, &z)| z * (1.0 + (i + o) as f64 * 0.3)).sum();
            *v = sum.sin() + z[0] * z[self.inputs - 1];
        }
    }
}

fn problem(bounds: Bounds) -> Problem {
    let mut p = Problem::new(Dynamics::of(Pendulum), 2, 2);
    p.initial_time = Bounds::new(0.0, 0.3);
    p.final_time = bounds;
    p.states[0] = Variable::new("q", Bounds::new(-3.0, 3.0)).starting(Bounds::fixed(0.2));
    p.parameters = vec![Variable::new("length", Bounds::new(0.5, 2.0))];
    use PointVariable::{Control, Parameter, Rate, State, Time};
    let inputs = vec![Time, State(0), Rate(1), Control(0), Parameter(0)];
    let term = || Term::new(inputs.clone(), Mixed { inputs: 5, outputs: 1 });
    p.goals.push(Goal::integral(
        "integral",
        2.0,
        vec![term(), Term::new(vec![Control(1)], Mixed { inputs: 1, outputs: 2 })],
    ));
    use EndpointVariable::{Initial, Integral, Last};
    let ends = vec![Initial(Time), Initial(State(1)), Last(State(0)), Last(Rate(1)), Last(Time), Integral(0)];
    let of_ends = |outputs| EndpointFunction::new(ends.clone(), Mixed { inputs: 6, outputs });
    p.goals.push(Goal { integrals: vec![vec![term()]], ..Goal::endpoint("ratio", 0.5, of_ends(2)) });
    p.goals.push(Goal {
        integrals: vec![vec![term()]],
        ..Goal::endpoint_constraint("held", vec![Bounds::new(-1.0, 1.0); 3], of_ends(3))
    });
    p.goals.push(Goal {
        mode: Mode::Constraint { bounds: vec![Bounds::new(0.0, 5.0)] },
        ..Goal::integral("work", 1.0, vec![term()])
    });
    p.path_constraints.push(PathConstraint {
        name: "path".into(),
        term: Term::new(inputs.clone(), Mixed { inputs: 5, outputs: 2 }),
        bounds: vec![Bounds::new(-1.0, 2.0); 2],
    });
    p
}

#[test]
fn deriv_all_terms_all_schemes() {
    let mut schemes =
        vec![Scheme::Trapezoidal, Scheme::HermiteSimpson, Scheme::Midpoint, Scheme::BackwardEuler];
    schemes.extend([Scheme::LegendreGauss(3), Scheme::LegendreGaussRadau(2), Scheme::LegendreGaussRadau(5)]);
    for scheme in schemes {
        for (bounds, interior) in [(Bounds::new(0.5, 2.0), false), (Bounds::fixed(1.5), true)] {
            let settings = Settings {
                mesh: vec![0.0, 0.2, 0.5, 1.0],
                constrain_interior: interior,
                interpolate_controls: !interior,
                ..Settings::uniform(scheme, 3)
            };
            let mut c = Collocation::new(problem(bounds), &settings).unwrap_or_else(|e| panic!("{e:?}"));
            let x = near_start(&c, 3, 0.3);
            // Differences lose to rounding about 1e-10 of the largest entry, some 1e2 times the compared ones.
            check_derivatives(&mut c, &x, 1e-8);
        }
    }
}

/// Stages say the truth: what meets is at most one stage apart or in the border.
#[test]
fn identity_stages_cover_all_places() {
    use soleus_optimization::{NonlinearProgram, Stages};
    for scheme in [Scheme::HermiteSimpson, Scheme::LegendreGauss(2)] {
        let c = Collocation::new(problem(Bounds::new(0.5, 2.0)), &Settings::uniform(scheme, 5))
            .unwrap_or_else(|e| panic!("{e:?}"));
        let s = c.stages().unwrap();
        let near = |a: u32, b: u32| a == Stages::BORDER || b == Stages::BORDER || a.abs_diff(b) <= 1;
        for (r, v) in c.jacobian_pattern().places() {
            let (row, variable) = (s.of_constraint[r], s.of_variable[v]);
            assert!(
                variable == Stages::BORDER || variable == row || variable == row + 1,
                "row {r}, variable {v}"
            );
        }
        for (a, b) in c.hessian_pattern().places() {
            assert!(near(s.of_variable[a], s.of_variable[b]), "{a} meets {b}");
        }
    }
}

/// A problem that cannot be is refused, with what is wrong.
#[test]
fn identity_mistakes_are_named() {
    let mut p = problem(Bounds::fixed(-1.0));
    p.states[1].bounds = Bounds::new(1.0, 0.0);
    p.states[1].name = "speed".into();
    p.goals.push(Goal::integral(
        "odd",
        1.0,
        vec![Term::new(vec![PointVariable::State(7)], Mixed { inputs: 1, outputs: 1 })],
    ));
    let settings = Settings { mesh: vec![0.0, 0.6, 0.5, 1.0], ..Settings::default() };
    let Err(errors) = Collocation::new(p, &settings) else { panic!("accepted") };
    let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
    for wanted in ["speed", "but the initial time is at least", "odd uses State(7)", "point 2 is 0.5"] {
        assert!(text.iter().any(|t| t.contains(wanted)), "{wanted} not in {text:?}");
    }
}
