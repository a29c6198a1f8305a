//! Times inverse kinematics frame by frame, as a stream: JSON with the 50th, 99th and 100th percentile in microseconds.
//!
//! usage: time_ik MODEL.osim MARKERS.trc SETUP.xml

use soleus_dynamics::System;
use soleus_io::setup::{IkTask, Setup};
use soleus_tools::inverse_kinematics::{InverseKinematics, MarkerTask, Settings, Tasks};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let [model, markers, setup] = files.as_slice() else {
        return Err("usage: time_ik MODEL.osim MARKERS.trc SETUP.xml".into());
    };
    let mut model =
        soleus_io::osim::read_model(&std::fs::read(model)?, model).0.ok_or("the model has errors")?;
    model.forces.clear();
    let system = System::compile(&model)?;
    let table = soleus_io::table::read(&std::fs::read(markers)?, markers).0.ok_or("no markers")?;
    let table = table.in_meters().ok_or("no unit of length")?;
    let (document, mut log) = soleus_io::osim::read_document(&std::fs::read(setup)?, setup);
    let Some(Setup::InverseKinematics(s)) = document.and_then(|d| soleus_io::setup::read(&d, &mut log))
    else {
        return Err("no setup of an InverseKinematicsTool".into());
    };
    let mut tasks = Tasks::default();
    for t in s.tasks {
        if let IkTask::Marker(m) = t
            && m.apply
        {
            tasks.markers.push(MarkerTask { name: m.name, weight: m.weight });
        }
    }
    let frames: Vec<Vec<_>> =
        (0..table.rows()).map(|r| (0..table.labels().len()).map(|i| table.vec3(r, i)).collect()).collect();

    // The whole stream several times, the first frame of each from the default pose.
    let mut micros = Vec::new();
    for _ in 0..10 {
        let mut ik = InverseKinematics::new(&model, &system, table.labels(), &tasks, Settings::default())?;
        for (places, &t) in frames.iter().zip(table.times()) {
            let start = Instant::now();
            ik.solve_frame(t, places);
            micros.push(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    micros.sort_by(f64::total_cmp);
    let at = |p: f64| micros[((micros.len() - 1) as f64 * p) as usize];
    println!(
        "{{\"frames\": {}, \"median_us\": {:.1}, \"p99_us\": {:.1}, \"max_us\": {:.1}}}",
        micros.len(),
        at(0.5),
        at(0.99),
        at(1.0)
    );
    Ok(())
}
