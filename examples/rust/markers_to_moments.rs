//! From markers to joint moments: inverse kinematics and inverse dynamics of an arm, in memory.
//!
//! usage: cargo run -p soleus --example markers_to_moments
//!
//! The markers are those of a known motion, which is symmetric in time; so are the moments.

use soleus::engine::dynamics::System;
use soleus::engine::math::table::Element;
use soleus::engine::math::{Table, Vec3};
use soleus::engine::model::Model;
use soleus::{Context, InverseDynamics, InverseKinematics, Memory, Outcome};
use std::f64::consts::TAU;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Files in memory; `Disk::new()` reads those on disk.
    let files = Memory::new().with("reach.osim", include_bytes!("../../models/reach.osim"));
    let context = Context::new(&files);

    // A model is plain data. This one gets a second marker, at the elbow.
    let mut model = soleus::inputs::model::read(&context, &"reach.osim".into())?;
    let mut elbow = model.markers[0].clone();
    (elbow.name, elbow.location) = ("elbow".to_string(), Vec3::zero());
    model.markers.push(elbow);

    // Synthetic recording: one second at 100 Hz.
    let times: Vec<f64> = (0..=100).map(|i| 0.01 * f64::from(i)).collect();
    let markers = seen(&model, &times)?;

    let request =
        InverseKinematics { model: model.clone().into(), markers: markers.into(), ..Default::default() };
    let motion = request.run(&context)?;
    motion.verdict()?;
    println!("marker RMS error: {:.1e} m", motion.trial.summary.rms);

    // Net joint moments: the actuators of the model are excluded.
    let request = InverseDynamics {
        model: model.into(),
        motion: motion.trial.coordinates.into(),
        exclude: vec!["actuators".to_string()],
        ..Default::default()
    };
    let moments = &request.run(&context)?.loads.generalized_forces;
    println!("time (s)  shoulder (N m)  elbow (N m)");
    for row in (0..moments.rows()).step_by(20) {
        let [shoulder, elbow] = [0, 1].map(|c| moments.columns()[c][row]);
        println!("{:8.2}  {shoulder:14.3}  {elbow:11.3}", moments.times()[row]);
    }
    Ok(())
}

/// Positions of the markers while the arm swings: a cosine in each joint.
fn seen(model: &Model, times: &[f64]) -> Result<Table, Box<dyn std::error::Error>> {
    let system = System::compile(model)?;
    let (mut x, mut ws) = (system.default_state.clone(), system.workspace::<f64>());
    let mut columns = vec![Vec::with_capacity(times.len()); 3 * model.markers.len()];
    for t in times {
        let swing = 0.5 - 0.5 * (TAU * t).cos();
        (x.q[0], x.q[1]) = (0.3 + 0.8 * swing, 0.2 + 1.1 * swing);
        system.compute_kinematics(&x, &mut ws);
        for (marker, xyz) in system.markers.iter().zip(columns.chunks_exact_mut(3)) {
            let place = ws.kin.X_GB[marker.body] * marker.p_BS;
            xyz.iter_mut().zip(place.to_array()).for_each(|(column, x)| column.push(x));
        }
    }
    let names = model.markers.iter().map(|m| m.name.clone()).collect();
    Ok(Table::new(Element::Vec(3), names, times.to_vec(), columns)?)
}
