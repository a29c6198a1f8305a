//! Paths over obstacles against OpenSim 4.6. The numbers and the script that made them are in `data/`.

use crate::common::compiled;
use serde_json::Value;
use soleus_dynamics::moment_arm::MomentArms;
use std::path::Path;

#[test]
fn opensim_val_lengths_speeds_and_moment_arms() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (model, system) = compiled(&folder.join("../../models/geodesic_paths.osim")).expect("what ships is complete");
    let json = std::fs::read(folder.join("tests/data/scholz2015_opensim46.json")).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    let names = ["hip_x", "hip_y", "hip_z", "knee_z"];
    let mobilities = names.map(|n| system.tree.mobility_of_coordinate[model.coordinate(n).unwrap().0]);
    let mut ws = system.workspace();
    let mut arms = MomentArms::new(&system, &ws);
    for (name, rows) in json.as_object().unwrap() {
        let i = model.forces.iter().position(|f| f.name == *name).unwrap();
        let mut worst = [0.0f64; 3];
        for row in rows.as_array().unwrap() {
            let row: Vec<f64> = row.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
            let mut x = system.default_state.clone();
            for (k, &m) in mobilities.iter().enumerate() {
                (x.q[m], x.u[m]) = (row[k], row[4 + k]);
            }
            system.compute_kinematics(&x, &mut ws);
            system.compute_paths(&x, &mut ws);
            let e = [(ws.paths[i].length() - row[8]).abs(), (ws.paths[i].speed() - row[9]).abs()];
            if !(e[0] < 1e-6 && e[1] < 1e-5) { let p = ws.paths[i].points();
                let straight: f64 = (p[0].p_G - p[p.len() - 1].p_G).norm();
                let parts: Vec<f64> = p.iter().map(|p| p.to_next).collect();
                println!("{name} {:?} ours {} OpenSim {} straight {straight} {parts:.3?}", &row[..4], ws.paths[i].length(), row[8]); }
            arms.compute_path(&system, &ws, i);
            for (k, &m) in mobilities.iter().enumerate() { worst[2] = worst[2].max((arms.generalized_force[m] - row[10 + k]).abs()); }
            worst[0] = worst[0].max(e[0]);
            worst[1] = worst[1].max(e[1]);
        }
        println!("{name} {worst:?} of {}", rows.as_array().unwrap().len());
    }
}
