//! Motions made to obey the model: residual elimination and the fit of a whole trial, on walkers with measured and with known truth.
//!
//! The data are not part of this repository.

use crate::common::{bytes, table};
use soleus_math::Table;
use soleus_model::force::Force;
use soleus_model::{Diagnostics, Model};
use soleus_testing::{reference_test, shared};
use soleus_tools::consistent_motion::{self, Measured, reconcile};
use soleus_tools::external_forces;
use soleus_tools::inverse_dynamics::{self, inverse_dynamics};
use soleus_tools::quality::{Residuals, residuals};
use soleus_tools::residual_elimination::{Cycle, Role, Settings, eliminate_residuals};
use std::path::{Path, PathBuf};

fn walking(file: &str) -> PathBuf {
    Path::new(shared!("data/walking")).join(file)
}

fn model(file: &str) -> Model {
    let (model, log) = soleus_io::osim::read_model(&bytes(&walking(file)), file);
    let mut model = model.unwrap_or_else(|| panic!("{log:?}"));
    // Muscles take most of the time to compile, and have no part in residuals.
    model.forces.clear();
    model
}

fn loads(model: &Model, setup: &str, data: &str) -> Vec<Force> {
    let (document, _) = soleus_io::osim::read_document(&bytes(&walking(setup)), "loads.xml");
    let (mut document, mut log) = (document.unwrap(), Diagnostics::default());
    soleus_io::osim::upgrade(&mut document, &mut log);
    let loads = soleus_model::build_external_loads(&document, model, &mut log).unwrap();
    let data = table(&walking(data));
    external_forces(&loads, &|_| Some(&data)).unwrap()
}

fn table_ref(file: &str) -> Table {
    table(&walking(file))
}

/// Residuals by inverse dynamics, of the pose of the root or of its angles.
fn residuals_of(model: &Model, loads: &[Force], motion: &Table, root_angles: bool) -> Residuals {
    let s = inverse_dynamics::Settings { root_angles, ..Default::default() };
    let found = inverse_dynamics(model.clone(), loads.to_vec(), motion, &s).unwrap();
    residuals(model, &found.generalized_forces).unwrap()
}

/// A simulated walk without residuals is not changed beyond what its contact forces leave of them (0.2 % of the weight).
#[reference_test("data/walking")]
fn analytic_elimination_keeps_a_simulated_walk() {
    for subject in ["01", "04"] {
        let folder = format!("arnold2013_subject{subject}");
        let m = model(&format!("{folder}/subject{subject}_final.osim"));
        let forces = loads(&m, "arnold_subject02/external_loads.xml", &format!("{folder}/grf.mot"));
        let motion = table_ref(&format!("{folder}/unperturbed.sto"));
        let s = Settings { tolerance: 1e-5, ..Settings::default() };
        let found = eliminate_residuals(m, forces, &motion, &s, &mut |_, _| true).unwrap();
        assert!(found.converged && found.residual[0] < 1e-6 && found.residual[1] < 1e-6);
        for c in &found.changes {
            // Residuals of 1.5 N on 75 kg and 0.8 N m on 3 kg m² that swing at 2 Hz move 0.15 mm and 0.2 degrees.
            let bound = if c.role.is_translation() { 2e-4 } else { 0.25f64.to_radians() };
            assert!(c.rms < bound, "subject{subject}: {c:?}");
        }
    }
}

/// Half a gait cycle of a measured walk: no residuals, and changes below Table 3 of Thelen & Anderson (2006).
#[reference_test("data/walking")]
fn identity_elimination_of_a_measured_walk() {
    let m = model("gait2354_subject01/reference/subject01_simbody.osim");
    let data = "gait2354_subject01/subject01_walk1_grf";
    let forces = loads(&m, &format!("{data}.xml"), &format!("{data}.mot"));
    let motion = table_ref("gait2354_subject01/subject01_walk1_ik.mot");
    let s = Settings {
        cutoff_hz: Some(6.0),
        range: [0.618, 1.247],
        cycle: Cycle::Half,
        tolerance: 1e-6,
        output_step: Some(0.001),
        ..Settings::default()
    };
    let found = eliminate_residuals(m.clone(), forces.clone(), &motion, &s, &mut |_, _| true).unwrap();
    let weight = m.total_mass() * 9.81;
    assert!(found.converged && found.iterations < 10);
    assert!(found.residual[0] < 1e-6 * weight && found.residual[1] < 1e-6 * weight, "{:?}", found.residual);
    for c in &found.changes {
        let bound = match c.role {
            Role::AnteriorPosterior => 3.3e-3,
            Role::MedialLateral => 1.8e-3,
            Role::SuperiorInferior => 4.1e-3,
            Role::Flexion => 0.9f64.to_radians(),
            Role::Bending => 2.9f64.to_radians(),
            Role::Rotation => 4.9f64.to_radians(),
        };
        assert!(c.rms < bound, "{c:?}");
    }
    // Inverse dynamics of rows 1 ms apart agrees, but where its natural splines end.
    let after = residuals_of(&m, &forces, &found.motion, true);
    let before = residuals_of(&m, &forces, &motion.trimmed(0.6, 1.27), true);
    assert!(
        after.force_rms < 0.01 * before.force_rms && after.moment_rms < 0.01 * before.moment_rms,
        "{after:?}"
    );
}

/// All coordinates of the same walk change, a little, and inverse dynamics finds no residuals at all.
#[reference_test("data/walking")]
fn identity_reconciled_walk_has_no_residuals() {
    let m = model("gait2354_subject01/reference/subject01_simbody.osim");
    let data = "gait2354_subject01/subject01_walk1_grf";
    let forces = loads(&m, &format!("{data}.xml"), &format!("{data}.mot"));
    let motion = table_ref("gait2354_subject01/subject01_walk1_ik.mot").trimmed(0.6, 1.27);
    let s = consistent_motion::Settings::default();
    let found = reconcile(m.clone(), forces, &motion, &Measured::Motion, &s, &mut |_, _, _| true).unwrap();
    assert!(found.fit.converged, "{:?}", found.fit);
    let after = residuals_of(&found.model, &found.loads, &found.motion, false);
    // What the search leaves, 1e-4 N, and rounding of second derivatives: far below the 0.1 N and 0.1 N m that count as none.
    assert!(after.force_peak < 1e-3 && after.moment_peak < 1e-3, "{after:?}");
    assert!(
        found.fit.coordinate_rms[0] < 3f64.to_radians() && found.fit.coordinate_rms[1] < 0.01,
        "{:?}",
        found.fit
    );
}
