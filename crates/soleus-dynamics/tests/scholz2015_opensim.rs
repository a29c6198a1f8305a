//! Paths over obstacles against OpenSim 4.6. The numbers and the script that made them are in `data/`.

use crate::common::compiled;
use serde_json::Value;
use soleus_dynamics::moment_arm::MomentArms;
use soleus_math::norm::largest;
use std::path::Path;

/// OpenSim stops where straight parts and curves meet within 1e-5 rad. Lengths are stationary, so that they differ by the square of
/// that; speeds and moment arms differ by that times points that move at up to 1 m/s and levers of up to 1 m.
const LENGTH: f64 = 1e-9;
const SPEED: f64 = 1e-5;
const ARM: f64 = 1e-5;
/// A speed is the sum of speeds of coordinates times moment arms. Where OpenSim's are not, its search ended without a path (with
/// lengths of up to 81 m for this model of 0.8 m), or its moment arms are those of a path that lies on an obstacle which its length
/// leaves aside.
const AGREES_WITH_ITSELF: f64 = 2e-5;

/// Poses in which OpenSim holds on to the torus although the straight line is free, or lets the path go straight through its tube.
const EXCEPTIONS: [[f64; 4]; 2] = [[-0.359, -0.156, -0.236, -0.004], [0.253, 0.144, -0.299, -1.507]];

#[test]
fn opensim_val_lengths_speeds_and_moment_arms() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = folder.join("../../models/geodesic_paths.osim");
    let (model, system) = compiled(&file).expect("what ships is complete");
    let json = std::fs::read(folder.join("tests/data/scholz2015_opensim46.json")).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    let names = ["hip_x", "hip_y", "hip_z", "knee_z"];
    let mobilities = names.map(|n| system.tree.mobility_of_coordinate[model.coordinate(n).unwrap().0]);
    let mut ws = system.workspace();
    for (name, rows) in json.as_object().unwrap() {
        let i = model.forces.iter().position(|f| f.name == *name).unwrap();
        let (mut compared, mut touching, mut worst) = (0, 0, [0.0f64; 3]);
        for row in rows.as_array().unwrap() {
            let row: Vec<f64> = row.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
            let (q, u, length, speed, arms) = (&row[..4], &row[4..8], row[8], row[9], &row[10..]);
            let mut x = system.default_state.clone();
            for (k, &m) in mobilities.iter().enumerate() {
                (x.q[m], x.u[m]) = (q[k], u[k]);
            }
            system.compute_kinematics(&x, &mut ws);
            system.compute_paths(&x, &mut ws);
            let path = &ws.paths[i];
            let mut ours = MomentArms::new(&system, &ws);
            ours.compute_path(&system, &ws, i);
            let ours = mobilities.map(|m| ours.generalized_force[m]);
            let rate = |arms: &[f64]| -arms.iter().zip(u).map(|(a, u)| a * u).sum::<f64>();
            assert!((path.speed() - rate(&ours)).abs() < 1e-12, "{name} at {q:?} does not agree with itself");
            if (speed - rate(arms)).abs() > AGREES_WITH_ITSELF {
                continue;
            }
            compared += 1;
            touching += usize::from(path.points().len() > 2);
            let off = largest(ours.iter().zip(arms).map(|(a, b)| (a - b).abs()));
            let off = [(path.length() - length).abs(), (path.speed() - speed).abs(), off];
            let near = off[0] <= LENGTH && off[1] <= SPEED && off[2] <= ARM;
            let straight = (path.points()[0].p_G - path.points().last().unwrap().p_G).norm();
            if name == "over_torus" && EXCEPTIONS.contains(&[q[0], q[1], q[2], q[3]]) {
                let ours = path.length();
                let is_free = ours == straight && straight < length;
                let goes_through = (length - straight).abs() < LENGTH && ours > straight;
                assert!(is_free || goes_through, "{ours} m, OpenSim {length} m, straight {straight} m");
                continue;
            }
            assert!(near, "{name} at {q:?}: {} and {length} m, off by {off:?}", path.length());
            worst = std::array::from_fn(|k| worst[k].max(off[k]));
        }
        assert!(compared >= 40 && touching >= 20, "{name}: {compared} poses, {touching} with contact");
        println!("{name}: {compared} poses, {touching} with contact, largest differences {worst:?}");
    }
}
