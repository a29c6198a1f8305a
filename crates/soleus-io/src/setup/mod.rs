//! Setup files of OpenSim's tools: a document to plain structs with the tool's defaults.
//!
//! File names stay as the file gives them; whoever opens them takes relative ones from the folder of the setup file.

mod imu;
mod inverse_dynamics;
mod inverse_kinematics;
mod properties;
mod scale;

pub use imu::{ImuInverseKinematicsSetup, ImuPlacerSetup};
pub use inverse_dynamics::InverseDynamicsSetup;
pub use inverse_kinematics::{
    IkCoordinateTask, IkMarkerTask, IkTask, InverseKinematicsSetup, ValueType, read_ik_tasks,
};
pub use scale::{
    ManualScale, MarkerPlacer, MeasurementSetup, ModelScaler, ScaleSetup, ScalingStep, read_measurements,
    read_scale_set,
};

use soleus_model::{Diagnostics, Document};

/// What a setup file asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Setup {
    /// `InverseKinematicsTool`.
    InverseKinematics(InverseKinematicsSetup),
    /// `InverseDynamicsTool`.
    InverseDynamics(InverseDynamicsSetup),
    /// `ScaleTool`.
    Scale(ScaleSetup),
    /// `IMUPlacer`.
    ImuPlacer(ImuPlacerSetup),
    /// `IMUInverseKinematicsTool`.
    ImuInverseKinematics(ImuInverseKinematicsSetup),
}

/// Reads the tool of a setup document; properties that no tool has are warned about. `None` if and only if `log` holds an
/// error.
pub fn read(document: &Document, log: &mut Diagnostics) -> Option<Setup> {
    let root = &document.root;
    let tool = if root.tag == "OpenSimDocument" { root.children().next() } else { Some(root) };
    let Some(tool) = tool else {
        log.error(root.line, "", "the file is empty: it holds no tool", "");
        return None;
    };
    let setup = match tool.tag.as_str() {
        "InverseKinematicsTool" => Setup::InverseKinematics(inverse_kinematics::read(tool, log)),
        "InverseDynamicsTool" => Setup::InverseDynamics(inverse_dynamics::read(tool, log)),
        "ScaleTool" => Setup::Scale(scale::read(tool, log)),
        "IMUPlacer" => Setup::ImuPlacer(imu::read_placer(tool, log)),
        "IMUInverseKinematicsTool" => Setup::ImuInverseKinematics(imu::read_inverse_kinematics(tool, log)),
        other => {
            let hint = "tools that run: ScaleTool, InverseKinematicsTool, InverseDynamicsTool, IMUPlacer, \
                        IMUInverseKinematicsTool";
            log.error(tool.line, "", format!("the file holds a `{other}`, which cannot be run"), hint);
            return None;
        }
    };
    (!log.has_errors()).then_some(setup)
}
