//! A joint whose frame glides on an ellipsoid (section 2.1.1): three coordinates, against six with three constraints that leave the same
//! freedom, and against a ball joint.

use crate::desk;
use crate::report::Report;
use soleus::Error;
use soleus_dynamics::{State, System};
use soleus_math::function::Expression;
use soleus_math::{Function, Vec3, vec3};
use soleus_model::Model;
use soleus_model::constraint::{Constraint, ConstraintKind};
use soleus_simulation::system::Constant;
use soleus_simulation::{ExplicitRungeKutta, StepOptions, SystemOde, integrate};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// s.
const DURATION: f64 = 2.0;
/// Of each step, in the integrator's norm.
const ACCURACY: f64 = 1e-8;
/// How often a duration is taken; the shortest counts.
const TURNS: usize = 7;
/// Semi-axes of the ellipsoid, m: of a rib cage.
const RADII: [f64; 3] = [0.07, 0.15, 0.07];
/// Angles at the start, rad; the body falls from rest.
const START: [f64; 3] = [0.5, 0.4, 0.2];

/// A scapula of 0.7 kg, held by a joint.
fn model(joint: &str, rest: &str) -> Option<Model> {
    let text = format!(
        r#"<OpenSimDocument Version="40600"><Model name="scapula"><Ground name="ground" />
<BodySet name="bodyset"><objects><Body name="scapula"><mass>0.7</mass><mass_center>-0.05 -0.04 0.03</mass_center>
<inertia>0.0012 0.0011 0.0005 0.0001 0.0002 -0.0001</inertia></Body></objects></BodySet>
<JointSet name="jointset"><objects><{joint} name="joint"><socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>/bodyset/scapula</socket_child_frame>{rest}</{joint}></objects></JointSet></Model></OpenSimDocument>"#
    );
    soleus_io::osim::read_model(text.as_bytes(), "scapula.osim").0
}

/// `Coordinate` elements with the start of the angles.
fn coordinates(names: &[&str]) -> String {
    let one = |(i, name): (usize, &&str)| {
        let value = START.get(i).copied().unwrap_or_else(|| on_ellipsoid(START).to_array()[i - 3]);
        format!(r#"<Coordinate name="{name}"><default_value>{value}</default_value></Coordinate>"#)
    };
    let list: String = names.iter().enumerate().map(one).collect();
    format!("<coordinates>{list}</coordinates>")
}

/// Where the frame is for body-fixed angles about x and y: p = r ∘ n, with its z axis n square to the surface of the unit sphere.
fn on_ellipsoid([x, y, _]: [f64; 3]) -> Vec3<f64> {
    let [a, b, c] = RADII;
    vec3(a * y.sin(), -b * x.sin() * y.cos(), c * x.cos() * y.cos())
}

/// Six coordinates, of which three constraints leave three.
fn constrained() -> Option<Model> {
    let names = ["rx", "ry", "rz", "tx", "ty", "tz"];
    let axis = |kind: &str, k: usize, name: &str| {
        let unit = ["1 0 0", "0 1 0", "0 0 1"][k];
        format!(
            r#"<TransformAxis name="{kind}{}"><coordinates>{name}</coordinates><axis>{unit}</axis><LinearFunction name="function">
<coefficients>1 0</coefficients></LinearFunction></TransformAxis>"#,
            k + 1
        )
    };
    let axes: String =
        (0..6).map(|i| axis(if i < 3 { "rotation" } else { "translation" }, i % 3, names[i])).collect();
    let rest = format!("{}<SpatialTransform>{axes}</SpatialTransform>", coordinates(&names));
    let mut model = model("CustomJoint", &rest)?;
    let [a, b, c] = RADII;
    let surface = [format!("{a}*sin(y)"), format!("-{b}*sin(x)*cos(y)"), format!("{c}*cos(x)*cos(y)")];
    let [x, y] = ["rx", "ry"].map(|n| model.coordinate(n));
    for (name, text) in ["tx", "ty", "tz"].iter().zip(surface) {
        let kind = ConstraintKind::CoordinateCoupler {
            independent: vec![x?, y?],
            dependent: model.coordinate(name)?,
            function: Function::Expression(Expression::new(&text, &["x", "y"]).ok()?),
            scale: 1.0,
        };
        let path = format!("/constraintset/{name}");
        model.constraints.push(Constraint { name: (*name).to_string(), path, enforced: true, kind });
    }
    Some(model)
}

/// A simulation: where the mass centre of the scapula was every 10 ms, the shortest time that it took (s), and evaluations of the equations.
fn simulate(system: &System) -> (Vec<Vec3<f64>>, f64, usize) {
    let mut places = Vec::new();
    let (mut shortest, mut evaluations) = (f64::INFINITY, 0);
    for _ in 0..TURNS {
        places.clear();
        let mut ode = SystemOde::new(system, Constant(Vec::new()));
        let options = StepOptions { accuracy: ACCURACY, ..StepOptions::default() };
        let mut integrator = ExplicitRungeKutta::merson(ode.error_norm(), options);
        let start = SystemOde::<Constant>::vector(&system.default_state);
        let mut rows: Vec<Vec<f64>> = Vec::new();
        let clock = Instant::now();
        let mut x = start.clone();
        let outcome = integrate(&mut integrator, &mut ode, (0.0, &start), DURATION, &mut [], &mut |view| {
            while rows.len() as f64 * 0.01 <= view.t1 {
                view.interpolate(rows.len() as f64 * 0.01, &mut x);
                rows.push(x.clone());
            }
            ControlFlow::Continue(())
        });
        shortest = shortest.min(clock.elapsed().as_secs_f64());
        evaluations = outcome.statistics.evaluations;
        let (mut ws, n) = (system.workspace::<f64>(), system.tree.num_mobilities);
        for row in &rows {
            let state = State { time: 0.0, q: row[..n].to_vec(), u: row[n..2 * n].to_vec(), z: Vec::new() };
            system.compute_kinematics(&state, &mut ws);
            let (X, body) = (&ws.kin.X_GB[1], &ws.kin.inertia[1]);
            places.push(X.p + body.moment / body.mass);
        }
    }
    (places, shortest, evaluations)
}

/// Compares motions and times.
pub fn run(report: &mut Report) -> Result<(), Error> {
    report.heading(
        "A scapula on an ellipsoid: a joint of three coordinates, and six with three constraints (Fig. 2a)",
    );
    let path = Path::new("scapula.osim");
    let radii = RADII.map(|r| r.to_string()).join(" ");
    let angles = coordinates(&["rx", "ry", "rz"]);
    let joint = format!("{angles}<radii_x_y_z>{radii}</radii_x_y_z>");
    let models = [model("EllipsoidJoint", &joint), constrained(), model("BallJoint", &angles)];
    let mut results = Vec::new();
    for m in models {
        let m =
            m.ok_or_else(|| Error::content(path, 0, "", "the model of the scapula cannot be read", ""))?;
        results.push(simulate(&desk::compile(path, &m, &Default::default())?));
    }
    let [(ellipsoid, t, n), (six, t6, _), (_, t_ball, n_ball)] = &results[..] else { return Ok(()) };
    let apart = ellipsoid.iter().zip(six).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max);
    let travelled: f64 = ellipsoid.windows(2).map(|w| (w[1] - w[0]).norm()).sum();
    let same = ellipsoid.len() == six.len() && apart < 1e-5;
    report.row(
        &format!("mass centre, largest difference over {DURATION} s and {travelled:.2} m of travel (m)"),
        &format!("{apart:.1e}"),
        "identical motion",
        same,
    );
    let (slower, ball) = (t6 / t, (t / *n as f64) / (t_ball / *n_ball as f64));
    report.row("time with constraints relative to the joint", &format!("{slower:.1}"), "10", slower >= 10.0);
    report.row(
        "time of an evaluation relative to a ball joint",
        &format!("{ball:.2}"),
        "comparable",
        ball < 1.5,
    );
    Ok(())
}
