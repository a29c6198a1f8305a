//! A custom force: an exoskeleton that holds an arm with springs and dampers, simulated.
//!
//! usage: cargo run -p soleus --example custom_force
//!
//! Moments that depend on the state are controls of the model's actuators at its coordinates; if it has none,
//! `operator::ModelOperator::AddReserves` adds them.

use soleus::engine::dynamics::{State, System};
use soleus::engine::simulation::system::Feedback;
use soleus::engine::simulation::{End, ExplicitRungeKutta, StepOptions, SystemOde, integrate};
use soleus::{Context, Memory};
use std::ops::ControlFlow;

/// Largest moments of the model's actuators at shoulder and elbow, N m: a control of 1.
const LARGEST: [f64; 2] = [60.0, 40.0];

/// A spring and a damper at a joint.
#[derive(Clone, Copy)]
struct Brace {
    /// N m/rad.
    stiffness: f64,
    /// N m s/rad.
    damping: f64,
    /// Angle at which the spring rests, rad.
    rest: f64,
}

impl Brace {
    /// Moment, N m.
    fn moment(&self, q: f64, u: f64) -> f64 {
        -self.stiffness * (q - self.rest) - self.damping * u
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = Memory::new().with("reach.osim", include_bytes!("../../models/reach.osim"));
    let model = soleus::inputs::model::read(&Context::new(&files), &"reach.osim".into())?;
    let system = System::compile(&model)?;

    for (name, braces) in [
        ("without", [Brace { stiffness: 0.0, damping: 0.0, rest: 0.0 }; 2]),
        (
            "with braces",
            [
                Brace { stiffness: 30.0, damping: 4.0, rest: 0.8 },
                Brace { stiffness: 15.0, damping: 1.5, rest: 1.2 },
            ],
        ),
    ] {
        // Called at every evaluation; the same state must give the same moments.
        let exoskeleton = Feedback(move |_: f64, x: &State<f64>, controls: &mut [f64]| {
            for (i, brace) in braces.iter().enumerate() {
                controls[i] = brace.moment(x.q[i], x.u[i]) / LARGEST[i];
            }
        });
        let mut ode = SystemOde::new(&system, exoskeleton);
        let norm = ode.error_norm();
        let mut method = ExplicitRungeKutta::dormand_prince(norm, StepOptions::with_accuracy(1e-8));
        // q, u and the states of muscles, of which there are none.
        let start = [0.8, 1.2, 0.0, 0.0];
        let end =
            integrate(&mut method, &mut ode, (0.0, &start), 3.0, &mut [], &mut |_| ControlFlow::Continue(()));
        if end.end != End::Reached {
            return Err(format!("stopped at {} s: {:?}", end.time, end.end).into());
        }
        let [shoulder, elbow] = [end.state[0], end.state[1]].map(f64::to_degrees);
        println!(
            "{name:<12} after 3 s: shoulder {shoulder:7.2}°, elbow {elbow:7.2}°, {} steps",
            end.statistics.steps
        );
    }
    Ok(())
}
