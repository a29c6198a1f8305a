//! `JointReaction`: joint reaction forces and moments.

use super::given_forces::GivenForces;
use super::{Analysis, AnalysisError, Moment, Output, Recorder, SI, frame, nearest};
use soleus_dynamics::multibody::compute_inverse_dynamics;
use soleus_dynamics::{Loads, System, Workspace};
use soleus_math::{SpatialVec, Table, Transform, Vec3};
use soleus_model::Model;
use soleus_model::id::JointId;

/// A reaction to report.
#[derive(Clone, Debug, PartialEq)]
pub struct ReactionChoice {
    /// Name of the joint; `all` for all joints.
    pub joint: String,
    /// Whether the reaction acts on the child body; otherwise on the parent body.
    pub on_child: bool,
    /// Frame in whose axes it is expressed: a name, or `child` or `parent` for the bodies of the joint.
    pub in_frame: String,
}

/// Force, moment and point of application of joint reactions on one of the bodies.
///
/// The reaction is the total load transmitted by the joint: constraint forces and generalized forces of actuators on
/// its coordinates, from the balance of the bodies distal to it,
///
///   R = Σ_beyond (I A + gyroscopic wrench − applied wrenches)                       (1)
///
/// taken at the origin of the joint frame on the body.
#[derive(Clone, Debug)]
pub struct JointReaction {
    list: Vec<Reaction>,
    given: Option<Given>,
    A: Vec<SpatialVec<f64>>,
    F: Vec<SpatialVec<f64>>,
    applied: Vec<SpatialVec<f64>>,
    mobility: Vec<f64>,
    tau: Vec<f64>,
    table: Recorder,
}

/// One reaction, ready for computing.
#[derive(Clone, Debug)]
struct Reaction {
    /// Node whose joint carries it, and the sign of the wrench on that node.
    node: usize,
    sign: f64,
    /// Where it is taken: body and place.
    at: (usize, Vec3<f64>),
    /// Whose axes: body and frame on it.
    axes: (usize, Transform<f64>),
}

/// Forces of actuators from a table, and the model without those actuators.
#[derive(Clone, Debug)]
struct Given {
    forces: GivenForces,
    system: System,
    ws: Workspace<f64>,
}

impl JointReaction {
    /// The chosen reactions. With a table of forces (columns named after actuators, N and N·m) the actuators exert
    /// these forces, regardless of their states; the table must contain all enabled actuators.
    pub fn new(
        model: &Model,
        system: &System,
        choices: &[ReactionChoice],
        forces: Option<&Table>,
    ) -> Result<Self, AnalysisError> {
        let mut list = Vec::new();
        let mut labels = Vec::new();
        for choice in choices {
            let joints: Vec<usize> = if choice.joint.eq_ignore_ascii_case("all") {
                (0..model.joints.len()).collect()
            } else {
                let found = model.joints.iter().position(|j| j.name == choice.joint);
                vec![found.ok_or_else(|| AnalysisError::Unknown {
                    what: "joint",
                    name: choice.joint.clone(),
                    nearest: nearest(&choice.joint, model.joints.iter().map(|j| j.name.as_str())),
                })?]
            };
            for j in joints {
                if let Some((reaction, label)) = reaction(model, system, JointId(j), choice)? {
                    list.push(reaction);
                    let six = ["fx", "fy", "fz", "mx", "my", "mz", "px", "py", "pz"];
                    labels.extend(six.map(|x| format!("{label}_{x}")));
                }
            }
        }
        let given = match forces {
            None => None,
            Some(table) => {
                let forces = GivenForces::new(model, system, table)?;
                let mut without = system.clone();
                forces.switch_off(&mut without);
                Some(Given { ws: without.workspace(), system: without, forces })
            }
        };
        let (nb, n) = (system.tree.nodes.len(), system.tree.num_mobilities);
        let zero = vec![SpatialVec::zero(); nb];
        Ok(JointReaction {
            list,
            given,
            A: zero.clone(),
            F: zero.clone(),
            applied: zero,
            mobility: vec![0.0; n],
            tau: vec![0.0; n],
            table: Recorder::new("Joint Reaction Loads", SI, labels),
        })
    }

    /// (1) for all joints, from the loads, accelerations and multipliers in a workspace.
    fn compute(&mut self, system: &System, ws: &Workspace<f64>) {
        self.applied.copy_from_slice(&ws.body_load);
        self.mobility.fill(0.0);
        let mut loads = Loads { body: &mut self.applied, mobility: &mut self.mobility };
        system.constraints.add_reactions(&system.tree, &ws.kin, &ws.constraints.lambda, &mut loads);
        compute_inverse_dynamics(
            &system.tree,
            &ws.kin,
            &ws.udot,
            &self.applied,
            &mut self.A,
            &mut self.F,
            &mut self.tau,
        );
    }
}

/// A reaction and the beginning of its labels; `None` for a joint that opens a loop and carries nothing by itself.
fn reaction(
    model: &Model,
    system: &System,
    joint: JointId,
    choice: &ReactionChoice,
) -> Result<Option<(Reaction, String)>, AnalysisError> {
    let tree = &system.tree;
    let mut nodes =
        (0..tree.nodes.len()).filter(|&i| tree.nodes[i].joint_id == Some(joint) && !tree.nodes[i].is_copy);
    let Some(first) = nodes.next() else { return Ok(None) };
    let last = nodes.next_back().unwrap_or(first);
    let j = &model.joints[joint.0];
    let (child, parent) = (&model.frames[j.child.0], &model.frames[j.parent.0]);
    let on = if choice.on_child { child } else { parent };
    // The outer body of the tree is the joint's child, unless the joint is reversed.
    let on_outer = choice.on_child != tree.nodes[first].reversed;
    let axes = match frame(model, &choice.in_frame) {
        Some(f) => f,
        None if choice.in_frame.eq_ignore_ascii_case("child") => {
            &model.frames[model.bodies[child.body.0].frame.0]
        }
        None if choice.in_frame.eq_ignore_ascii_case("parent") => {
            &model.frames[model.bodies[parent.body.0].frame.0]
        }
        None => {
            return Err(AnalysisError::Unknown {
                what: "frame",
                name: choice.in_frame.clone(),
                nearest: nearest(&choice.in_frame, model.frames.iter().map(|f| f.name.as_str())),
            });
        }
    };
    let label = format!("{}_on_{}_in_{}", j.name, model.bodies[on.body.0].name, axes.name);
    let reaction = Reaction {
        node: if on_outer { last } else { first },
        sign: if on_outer { 1.0 } else { -1.0 },
        at: (tree.node_of_body[on.body.0], on.X_BF.p),
        axes: (tree.node_of_body[axes.body.0], axes.X_BF),
    };
    Ok(Some((reaction, label)))
}

impl JointReaction {
    /// The chosen reactions (moment, force) in the axes and at the places chosen.
    pub(super) fn reactions(&mut self, now: &Moment) -> Result<Vec<SpatialVec<f64>>, AnalysisError> {
        match self.given.take() {
            Some(mut given) => {
                given.forces.compute(&given.system, now, &mut given.ws)?;
                self.compute(now.system, &given.ws);
                self.given = Some(given);
            }
            None => self.compute(now.system, now.ws),
        }
        let kin = &now.ws.kin;
        let each = |r: &Reaction| {
            let wrench = self.F[r.node] * r.sign;
            // From the origin of the body to the joint frame.
            let arm = kin.X_GB[r.at.0] * r.at.1 - kin.X_GB[r.node].p;
            let R = kin.X_GB[r.axes.0].R * r.axes.1.R;
            SpatialVec::new(R.inverse_mul(wrench.w - arm.cross(wrench.v)), R.inverse_mul(wrench.v))
        };
        Ok(self.list.iter().map(each).collect())
    }
}

impl Analysis for JointReaction {
    fn record(&mut self, now: &Moment) -> Result<(), AnalysisError> {
        let reactions = self.reactions(now)?;
        let kin = &now.ws.kin;
        let mut row = Vec::with_capacity(self.table.width());
        for (r, wrench) in self.list.iter().zip(reactions) {
            let X_GE = kin.X_GB[r.axes.0] * r.axes.1;
            row.extend(wrench.v.to_array());
            row.extend(wrench.w.to_array());
            row.extend(X_GE.inverse_mul(kin.X_GB[r.at.0] * r.at.1).to_array());
        }
        self.table.push(now.x.time, row);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<Output>, AnalysisError> {
        Ok(vec![Output { suffix: "_ReactionLoads".to_string(), table: self.table.table()? }])
    }
}
