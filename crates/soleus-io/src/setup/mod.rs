//! Setup files of OpenSim's tools: converts documents to plain structs with the tool's defaults.
//!
//! File names are kept as in the file; relative names refer to the folder of the setup file.

mod analysis;
mod analyze;
mod control_set;
mod forward;
mod imu;
mod inverse_dynamics;
mod inverse_kinematics;
pub mod moco;
mod properties;
mod scale;
mod tool;
mod tracking;

pub use analysis::{AnalysisKind, AnalysisSetup, ContactSetup, read_analyses};
pub use analyze::AnalyzeSetup;
pub use control_set::{Control, ControlCourse, read_control_set, write_control_set, write_controls};
pub use forward::ForwardSetup;
pub use imu::{ImuInverseKinematicsSetup, ImuPlacerSetup};
pub use inverse_dynamics::InverseDynamicsSetup;
pub use inverse_kinematics::{
    IkCoordinateTask, IkMarkerTask, IkTask, InverseKinematicsSetup, ValueType, read_ik_tasks,
};
pub use scale::{
    ManualScale, MarkerPlacer, MeasurementSetup, ModelScaler, ScaleSetup, ScalingStep, read_measurements,
    read_scale_set, write_scale_set,
};
pub use tool::ToolSetup;
pub use tracking::{
    CmcSetup, ControlLimits, RraSetup, TrackedPoint, TrackingSetup, TrackingTask, read_control_limits,
    read_tracking_tasks, write_tracking_tasks,
};

use crate::study::Problem;
use serde::{Deserialize, Serialize};
use soleus_model::{Diagnostics, Document};

/// A setup file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Setup {
    /// `InverseKinematicsTool`.
    InverseKinematics(InverseKinematicsSetup),
    /// `InverseDynamicsTool`.
    InverseDynamics(InverseDynamicsSetup),
    /// `ForwardTool`.
    Forward(Box<ForwardSetup>),
    /// `AnalyzeTool`.
    Analyze(Box<AnalyzeSetup>),
    /// `CMCTool`.
    Cmc(Box<CmcSetup>),
    /// `RRATool`.
    Rra(Box<RraSetup>),
    /// `ScaleTool`.
    Scale(Box<ScaleSetup>),
    /// `IMUPlacer`.
    ImuPlacer(ImuPlacerSetup),
    /// `IMUInverseKinematicsTool`.
    ImuInverseKinematics(ImuInverseKinematicsSetup),
    /// `MocoStudy`.
    MocoStudy(Box<Problem>),
    /// `MocoInverse`.
    MocoInverse(Box<moco::MocoInverseSetup>),
    /// `MocoTrack`.
    MocoTrack(Box<moco::MocoTrackSetup>),
}

impl Setup {
    /// Replaces the model file. `false` if the setup specifies its model in another way.
    pub fn set_model_file(&mut self, file: String) -> bool {
        let name = match self {
            Setup::InverseKinematics(s) => &mut s.model_file,
            Setup::InverseDynamics(s) => &mut s.model_file,
            Setup::Scale(s) => &mut s.model_file,
            Setup::ImuPlacer(s) => &mut s.model_file,
            Setup::ImuInverseKinematics(s) => &mut s.model_file,
            Setup::Forward(s) => &mut s.tool.model_file,
            Setup::Analyze(s) => &mut s.tool.model_file,
            Setup::Cmc(s) => &mut s.tracking.tool.model_file,
            Setup::Rra(s) => &mut s.tracking.tool.model_file,
            Setup::MocoInverse(s) if s.tool.model.is_none() => &mut s.tool.model_file,
            Setup::MocoTrack(s) if s.tool.model.is_none() => &mut s.tool.model_file,
            Setup::MocoStudy(s) if s.model.is_none() => &mut s.model_file,
            Setup::MocoStudy(_) | Setup::MocoInverse(_) | Setup::MocoTrack(_) => return false,
        };
        *name = Some(file);
        true
    }
}

/// Reads the tool of a setup document; warns about unknown properties. `None` if and only if `log` contains an error.
pub fn read(document: &Document, log: &mut Diagnostics) -> Option<Setup> {
    let root = &document.root;
    let tool = if root.tag == "OpenSimDocument" { root.children().next() } else { Some(root) };
    let Some(tool) = tool else {
        let hint = "give a setup file of an OpenSim tool";
        log.error(root.line, "", "the file is empty: it contains no tool", hint);
        return None;
    };
    let setup = match tool.tag.as_str() {
        "InverseKinematicsTool" => Setup::InverseKinematics(inverse_kinematics::read(tool, log)),
        "InverseDynamicsTool" => Setup::InverseDynamics(inverse_dynamics::read(tool, log)),
        "ForwardTool" => Setup::Forward(Box::new(forward::read(tool, log))),
        "AnalyzeTool" => Setup::Analyze(Box::new(analyze::read(tool, log))),
        // Before version 2.3.1 residual reduction was a way to run CMC.
        "CMCTool" if tool.child("adjust_com_to_reduce_residuals").is_some() => {
            Setup::Rra(Box::new(tracking::read_rra(tool, log)))
        }
        "CMCTool" => Setup::Cmc(Box::new(tracking::read_cmc(tool, log))),
        "RRATool" => Setup::Rra(Box::new(tracking::read_rra(tool, log))),
        "ScaleTool" => Setup::Scale(Box::new(scale::read(tool, log))),
        "IMUPlacer" => Setup::ImuPlacer(imu::read_placer(tool, log)),
        "IMUInverseKinematicsTool" => Setup::ImuInverseKinematics(imu::read_inverse_kinematics(tool, log)),
        "MocoStudy" => Setup::MocoStudy(Box::new(moco::read(tool, log))),
        "MocoInverse" => Setup::MocoInverse(Box::new(moco::read_inverse(tool, log))),
        "MocoTrack" => Setup::MocoTrack(Box::new(moco::read_track(tool, log))),
        other => {
            let hint = "supported tools: ScaleTool, InverseKinematicsTool, InverseDynamicsTool, IMUPlacer, IMUInverseKinematicsTool, \
                        AnalyzeTool, ForwardTool, RRATool, CMCTool, MocoStudy, MocoInverse, MocoTrack";
            log.error(tool.line, "", format!("`{other}` is not a supported tool"), hint);
            return None;
        }
    };
    (!log.has_errors()).then_some(setup)
}
