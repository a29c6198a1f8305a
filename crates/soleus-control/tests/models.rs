//! Problems with models whose answers are known.

use crate::common::{model_of, shipped, solved};
use soleus_control::goal::{Reference, control_effort, tracking};
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::transcription::ConstraintMethod;
use soleus_control::{Bounds, Collocation, PointVariable, Problem, Scheme, Settings, Trajectory, Variable};
use soleus_math::function::{Function, GcvSpline, PiecewiseLinear};
use soleus_math::norm::largest;
use soleus_math::norm::largest_size;
use soleus_simulation::{End, ExplicitRungeKutta, ModelControls, StepOptions, SystemOde, integrate};
use std::ops::ControlFlow;

const GRAVITY: f64 = 9.80665;

/// A model of bodies on sliders: (name, mass, direction `x` or `y`, parent), with other parts of the file.
fn sliders(bodies: &[(&str, f64, char, &str)], rest: &str) -> ModelProblem {
    let mut set = String::new();
    let mut joints = String::new();
    for (name, mass, along, parent) in bodies {
        set.push_str(&format!(
            "<Body name=\"{name}\"><mass>{mass}</mass><mass_center>0 0 0</mass_center><inertia>1 1 1 0 0 0</inertia></Body>"
        ));
        // A slider moves along the x axis of its frames.
        let turn = if *along == 'x' { "0 0 0" } else { "0 0 1.5707963267948966" };
        let frame = |frame: &str, of: &str| {
            format!(
                "<PhysicalOffsetFrame name=\"{frame}\"><socket_parent>{of}</socket_parent>\
                 <translation>0 0 0</translation><orientation>{turn}</orientation></PhysicalOffsetFrame>"
            )
        };
        joints.push_str(&format!(
            "<SliderJoint name=\"j_{name}\"><socket_parent_frame>{name}_p</socket_parent_frame>\
             <socket_child_frame>{name}_c</socket_child_frame><coordinates><Coordinate name=\"q_{name}\">\
             <range>-10 10</range></Coordinate></coordinates><frames>{}{}</frames></SliderJoint>",
            frame(&format!("{name}_p"), parent),
            frame(&format!("{name}_c"), &format!("/bodyset/{name}")),
        ));
    }
    let text = format!(
        "<OpenSimDocument Version=\"40600\"><Model name=\"sliders\"><gravity>0 -{GRAVITY} 0</gravity>\
         <BodySet><objects>{set}</objects></BodySet><JointSet><objects>{joints}</objects></JointSet>{rest}\
         </Model></OpenSimDocument>"
    );
    model_of(text.as_bytes(), "sliders")
}

/// A ball that lies on the floor sinks in until the contact carries its weight. The force at that depth is computed here from the
/// published formula.
#[test]
fn analytic_contact_at_rest_carries_the_weight() {
    let (mass, radius, stiffness) = (3.0, 0.05, 1e6f64);
    let rest = format!(
        "<ContactGeometrySet><objects>\
         <ContactSphere name=\"sphere\"><socket_frame>/bodyset/ball</socket_frame><radius>{radius}</radius>\
         <location>0 0 0</location></ContactSphere>\
         <ContactHalfSpace name=\"floor\"><socket_frame>/ground</socket_frame>\
         <orientation>0 0 -1.5707963267948966</orientation></ContactHalfSpace></objects></ContactGeometrySet>\
         <ForceSet><objects><SmoothSphereHalfSpaceForce name=\"contact\">\
         <socket_sphere>/contactgeometryset/sphere</socket_sphere>\
         <socket_half_space>/contactgeometryset/floor</socket_half_space>\
         <stiffness>{stiffness}</stiffness><dissipation>2</dissipation></SmoothSphereHalfSpaceForce></objects></ForceSet>"
    );
    let base = sliders(&[("ball", mass, 'y', "/ground")], &rest);
    let mut p = base.problem(Bounds::fixed(0.0), &[]);
    p.states[0] = Variable::new(p.states[0].name.clone(), Bounds::new(0.03, 0.06));
    let (_, _, t) = solved(p, &Settings::uniform(Scheme::HermiteSimpson, 5), 1e-10);
    // f = 4/3 k √(r k) (d² + ε)^(3/4) (½ + ½ tanh(b_d d)) (½ + ½ tanh(b_v 2/(3c))), k = ½ E^(2/3); ε = 1e-5, b_d = 300, b_v = 50.
    let k = 0.5 * stiffness.powf(2.0 / 3.0);
    for row in &t.states.rows {
        let d: f64 = radius - row[0];
        let hertz = 4.0 / 3.0 * k * (radius * k).sqrt() * (d * d + 1e-5).powf(0.75);
        let force =
            hertz * (0.5 + 0.5 * (300.0 * d).tanh()) * (0.5 + 0.5 * (50.0f64 * 2.0 / (3.0 * 2.0)).tanh());
        // The solver's tolerance is 1e-10 of the scaled equations.
        assert!((force - mass * GRAVITY).abs() < 1e-6, "{force} N at a depth of {d} m");
    }
    println!("depth {:.9} m", radius - t.states.rows[0][0]);
}

/// A mass on a frictionless slope of 45 degrees, y = −x: it falls with g/2 along both axes, and the multiplier is m g/2.
#[test]
fn analytic_slope_with_multipliers() {
    let mass = 2.0;
    let rest = "<ConstraintSet><objects><CoordinateCouplerConstraint name=\"slope\">\
        <coupled_coordinates_function><LinearFunction><coefficients>-1 0</coefficients></LinearFunction>\
        </coupled_coordinates_function><independent_coordinate_names>q_cart</independent_coordinate_names>\
        <dependent_coordinate_name>q_block</dependent_coordinate_name></CoordinateCouplerConstraint></objects>\
        </ConstraintSet>";
    // The cart that carries the slider has next to no mass.
    let base = sliders(&[("cart", 1e-9, 'x', "/ground"), ("block", mass, 'y', "/bodyset/cart")], rest);
    let cases = [
        (Scheme::HermiteSimpson, ConstraintMethod::Posa2016),
        (Scheme::HermiteSimpson, ConstraintMethod::Bordalba2023),
        (Scheme::Trapezoidal, ConstraintMethod::Bordalba2023),
        (Scheme::LegendreGaussRadau(3), ConstraintMethod::Bordalba2023),
    ];
    for (scheme, constraint_method) in cases {
        let mut p = base.problem(Bounds::new(-50.0, 50.0), &[]);
        for i in 0..p.states.len() {
            p.states[i].initial = Bounds::fixed(0.0);
        }
        let settings = Settings { constraint_method, ..Settings::uniform(scheme, 10) };
        let (_, _, t) = solved(p, &settings, 1e-10);
        let (mut fall, mut off, mut multiplier) = (0.0f64, 0.0f64, 0.0f64);
        for ((&time, x), lambda) in t.times.iter().zip(&t.states.rows).zip(&t.multipliers.rows) {
            fall = fall.max((x[0] - 0.25 * GRAVITY * time * time).abs());
            off = off.max((x[0] + x[1]).abs());
            multiplier = multiplier.max((lambda[0].abs() - 0.5 * mass * GRAVITY).abs());
        }
        println!(
            "{} {constraint_method:?}: fall {fall:.1e}, off the slope {off:.1e}, multiplier {multiplier:.1e}",
            scheme.name()
        );
        // All schemes meet a parabola exactly; the rest is the solver's tolerance and the mass of the cart.
        assert!(fall < 1e-6 && off < 1e-8 && multiplier < 1e-5, "{scheme:?}");
    }
}

/// The arm that ships, from hanging to bent, at rest at both ends, with the least effort.
fn reach(base: &ModelProblem) -> Problem {
    let mut p = base.problem(Bounds::new(-20.0, 20.0), &[]);
    p.final_time = Bounds::fixed(0.6);
    for (i, [from, to]) in [[0.0, 1.0], [0.1, 1.4], [0.0, 0.0], [0.0, 0.0]].into_iter().enumerate() {
        p.states[i].initial = Bounds::fixed(from);
        p.states[i].last = Bounds::fixed(to);
    }
    p.goals.push(control_effort("effort", 1.0, &[(0, 1.0), (1, 1.0)], 2.0));
    p
}

/// Largest difference between rows of two motions on the same points.
fn difference(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    assert_eq!(a.len(), b.len());
    largest(a.iter().flatten().zip(b.iter().flatten()).map(|(x, y)| (x - y).abs()))
}

/// Rates are variables in both modes; bounds on them that nothing presses change nothing.
#[test]
fn identity_explicit_equals_implicit() {
    let base = shipped("reach");
    let settings = Settings::uniform(Scheme::HermiteSimpson, 20);
    let (_, explicit, t) = solved(reach(&base), &settings, 1e-10);
    let mut p = reach(&base);
    p.dynamics.rate_bounds[2..4].fill(Bounds::new(-1000.0, 1000.0));
    let (_, implicit, u) = solved(p, &settings, 1e-10);
    let (cost, states) =
        (explicit.objective - implicit.objective, difference(&t.states.rows, &u.states.rows));
    println!(
        "cost differs by {cost:.1e}, states by {states:.1e}, controls by {:.1e}",
        difference(&t.controls.rows, &u.controls.rows)
    );
    // The barrier of the wide bounds is all that differs: μ/1000 at the end.
    assert!(cost.abs() < 1e-8 && states < 1e-6, "cost {cost}, states {states}");
}

/// Integrates the model from the start of a solution under its controls, which are lines between the points.
fn simulated(base: &ModelProblem, t: &Trajectory) -> Vec<Vec<f64>> {
    let mut controls = ModelControls::none(&base.system);
    for i in 0..base.controls.len() {
        let values = t.controls.rows.iter().map(|r| r[i]).collect();
        let line = PiecewiseLinear::new(t.times.clone(), values).unwrap_or_else(|e| panic!("{e}"));
        controls.add_function(i, Function::from(line));
    }
    let mut ode = SystemOde::new(&base.system, controls);
    let mut rows = vec![t.states.rows[0].clone()];
    for k in 1..t.times.len() {
        let mut integrator = ExplicitRungeKutta::merson(ode.error_norm(), StepOptions::with_accuracy(1e-10));
        let from = (t.times[k - 1], &rows[k - 1][..]);
        let out = integrate(&mut integrator, &mut ode, from, t.times[k], &mut [], &mut |_| {
            ControlFlow::Continue(())
        });
        assert_eq!(out.end, End::Reached, "at {} s", out.time);
        rows.push(out.state);
    }
    rows
}

/// A simulation under the controls that were found goes where the solution says, the closer the finer the mesh.
#[test]
fn order_solution_is_simulated() {
    let base = shipped("reach");
    for (scheme, order) in [(Scheme::HermiteSimpson, 4.0), (Scheme::Trapezoidal, 2.0)] {
        let error = |intervals: usize| {
            let (mut c, s, t) = solved(reach(&base), &Settings::uniform(scheme, intervals), 1e-10);
            let found = difference(&simulated(&base, &t), &t.states.rows);
            let estimate =
                c.mesh_error(&s.x).unwrap_or_else(|e| panic!("{e}")).of_interval.iter().sum::<f64>();
            println!(
                "{:<18} {intervals} intervals: simulation off by {found:.2e}, estimates sum to {estimate:.2e}",
                scheme.name()
            );
            // Errors of intervals grow on the way, sevenfold where speeds of 10 rad/s turn errors of angles into large ones of speeds.
            assert!(found < 20.0 * estimate, "{found} and {estimate}");
            found
        };
        let (coarse, fine) = (error(20), error(40));
        let found = (coarse / fine).log2();
        assert!(found > order - 0.5, "{scheme:?}: order {found}");
    }
}

/// Following the states of a predicted motion gives back its controls.
#[test]
fn identity_tracking_gives_back_controls() {
    let base = shipped("reach");
    let settings = Settings::uniform(Scheme::HermiteSimpson, 30);
    let (_, _, predicted) = solved(reach(&base), &settings, 1e-10);
    let mut p = reach(&base);
    let references = (0..4)
        .map(|i| {
            let values: Vec<f64> = predicted.states.rows.iter().map(|r| r[i]).collect();
            let spline = GcvSpline::interpolate(5, predicted.times.clone(), &values);
            let function = Function::from(spline.unwrap_or_else(|e| panic!("{e}")));
            Reference { variable: PointVariable::State(i), function, weight: 1.0 }
        })
        .collect();
    p.goals = vec![tracking("states", 100.0, references)];
    let mut c = Collocation::new(p, &settings).unwrap_or_else(|e| panic!("{e:?}"));
    assert!(c.dependent().is_empty() && c.impossible(1e-9).is_empty());
    let (mut c, s) = crate::common::solved_program(c, 1e-12);
    let t = c.trajectory(&s.x);
    let largest = largest_size(predicted.controls.rows.iter().flatten());
    let (states, controls) = (
        difference(&t.states.rows, &predicted.states.rows),
        difference(&t.controls.rows, &predicted.controls.rows),
    );
    println!(
        "tracking error {:.1e}, states off by {states:.1e}, controls by {controls:.1e} of {largest:.2}",
        s.objective
    );
    // States are met at the points; the squares of what is left leave controls free within a thousandth of their size.
    assert!(states < 1e-4 && controls < 1e-2 * largest, "states {states}, controls {controls}");
}
