//! The spanning tree of a model.

use super::spanning_tree::{Pick, pick_joints};
use crate::Options;
use crate::joint::{Axis, AxisMotion, ConstantCurvature, CustomJoint, JointKernel};
use crate::kinematics::{BodyFrame, Resolve};
use soleus_math::{Rotation, SymMat33, Transform, Vec3, vec3};
use soleus_model::body::Body;
use soleus_model::id::{BodyId, CoordinateId, FrameId, JointId};
use soleus_model::joint::{JointKind, SpatialTransform};
use soleus_model::model::Model;

/// Why a model has no spanning tree.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TreeError {
    /// A joint connects a body with itself.
    #[error("joint {joint} connects body {body} with itself")]
    SameBody {
        /// Path of the joint.
        joint: String,
        /// Path of the body.
        body: String,
    },
}

impl TreeError {
    /// Absolute path of the component at fault.
    pub fn component(&self) -> &str {
        match self {
            TreeError::SameBody { joint, .. } => joint,
        }
    }
}

/// One body of the tree and the joint that carries it.
#[derive(Clone, Debug)]
pub struct Node {
    /// Index of the parent; smaller than this node's own. 0 is ground.
    pub parent: usize,
    /// Distance from ground in joints.
    pub level: usize,
    /// The body, if it is one of the model's (not an auxiliary body inside a joint).
    pub body: Option<BodyId>,
    /// Whether this is a second copy of the body, created to open a loop; it shares the mass and is welded to the first
    /// by a constraint.
    pub is_copy: bool,
    /// The joint, if it is one of the model's.
    pub joint_id: Option<JointId>,
    /// Its motion.
    pub joint: JointKernel,
    /// Whether the joint's child is the parent in the tree.
    pub reversed: bool,
    /// Pose of the joint frame F on the parent.
    pub X_PF: Transform<f64>,
    /// Pose of this body in the joint frame M.
    pub X_MB: Transform<f64>,
    /// Whether R_PF is exactly the identity.
    pub F_is_aligned: bool,
    /// Whether R_MB is exactly the identity.
    pub M_is_aligned: bool,
    /// Whether the body's origin is exactly that of M.
    pub M_is_at_origin: bool,
    /// Whether the joint can accelerate M at zero u̇.
    pub has_bias: bool,
    /// First mobility.
    pub u0: usize,
    /// Number of mobilities.
    pub nu: usize,
    /// Mass, kg.
    pub mass: f64,
    /// Mass times mass centre, kg·m, in the body.
    pub moment: Vec3<f64>,
    /// Inertia about the body's origin, kg·m², in the body.
    pub inertia: SymMat33<f64>,
    /// Form of the inertia, which determines how it is expressed in ground.
    pub form: InertiaForm,
}

/// Special forms of the inertia of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InertiaForm {
    /// No mass and no inertia.
    Zero,
    /// The axes of the body are principal axes at its mass centre; moments of inertia in kg·m².
    Principal {
        /// About x, y, z of the body at its mass centre.
        central: Vec3<f64>,
        /// Reciprocal of the mass, 1/kg.
        per_mass: f64,
    },
    /// Anything else.
    General,
}

impl Node {
    fn ground() -> Node {
        Node {
            parent: 0,
            level: 0,
            body: Some(BodyId::GROUND),
            is_copy: false,
            joint_id: None,
            joint: JointKernel::Weld,
            reversed: false,
            X_PF: Transform::identity(),
            X_MB: Transform::identity(),
            F_is_aligned: true,
            M_is_aligned: true,
            M_is_at_origin: true,
            has_bias: false,
            u0: 0,
            nu: 0,
            mass: 0.0,
            moment: Vec3::zero(),
            inertia: SymMat33::zero(),
            form: InertiaForm::Zero,
        }
    }

    /// Gives the node a share of a body's mass and inertia.
    fn carry(&mut self, body: &Body, share: f64, options: &Options) {
        let c = body.mass_center;
        let about_origin = body.inertia + SymMat33::of_point(c).scale(body.mass);
        self.mass = body.mass * share;
        self.moment = c * body.mass * share;
        self.inertia = about_origin.scale(share);
        self.form = form_of_inertia(self.mass, body.inertia.scale(share));
        if self.is_copy && options.opensim_faults && body.mass > 0.0 {
            // OpenSim takes the radii of gyration about the origin, squared, for moments of inertia at the mass centre.
            let central = about_origin.scale(1.0 / body.mass);
            self.inertia = central + SymMat33::of_point(c).scale(self.mass);
            self.form = form_of_inertia(self.mass, central);
        }
    }

    /// Whether the motion subspace, in the parent's joint frame and about its origin, does not depend on the
    /// coordinates; the bias acceleration is then zero too.
    pub fn has_constant_subspace(&self) -> bool {
        match self.joint {
            JointKernel::Weld | JointKernel::Pin | JointKernel::Slider => true,
            // Speeds are expressed in the joint's own F, which is the parent's only if not reversed.
            JointKernel::Ball => !self.reversed,
            _ => false,
        }
    }
}

/// The bodies of a model from ground outwards, and the mobilities of the coordinates.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Node 0 is ground; parents precede children.
    pub nodes: Vec<Node>,
    /// Total number of coordinates, and of speeds.
    pub num_mobilities: usize,
    /// Next mobility towards ground for each mobility, or `usize::MAX`.
    pub support: Vec<usize>,
    /// For a mobility whose speed is part of an angular velocity, the first of the three; otherwise `None`.
    pub angular: Vec<Option<usize>>,
    /// Node of each body of the model (of the first copy).
    pub node_of_body: Vec<usize>,
    /// Mobility of each coordinate of the model.
    pub mobility_of_coordinate: Vec<usize>,
    /// Coordinate at each mobility.
    pub coordinate_of_mobility: Vec<Option<CoordinateId>>,
    /// Model joints in tree order.
    pub joint_order: Vec<JointId>,
    /// Loops, each closed by a weld of two frames.
    pub loops: Vec<LoopWeld>,
    frames: Vec<BodyFrame>,
    /// Bodies without a joint; each gets a free joint to ground.
    pub unconnected: Vec<BodyId>,
    /// Mobilities that move no mass or inertia: their accelerations are undetermined.
    pub massless: Vec<usize>,
}

impl Resolve for Tree {
    fn frame(&self, id: FrameId) -> BodyFrame {
        self.frames[id.0]
    }
    fn mobility(&self, id: CoordinateId) -> usize {
        self.mobility_of_coordinate[id.0]
    }
}

/// The form of a body's inertia, from its mass and its inertia at the mass centre.
fn form_of_inertia(mass: f64, central: SymMat33<f64>) -> InertiaForm {
    let diagonal = central.xy == 0.0 && central.xz == 0.0 && central.yz == 0.0;
    if mass == 0.0 && central == SymMat33::zero() {
        InertiaForm::Zero
    } else if diagonal && mass > 0.0 {
        InertiaForm::Principal { central: vec3(central.xx, central.yy, central.zz), per_mass: 1.0 / mass }
    } else {
        InertiaForm::General
    }
}

/// A weld that closes a loop of joints.
#[derive(Clone, Debug)]
pub struct LoopWeld {
    /// The joint that closes the loop.
    pub joint: JointId,
    /// First frame: on the original body, or on the joint's parent if the joint is itself a weld.
    pub first: BodyFrame,
    /// Second frame: on the copy, or on the joint's child.
    pub second: BodyFrame,
}

impl Tree {
    /// Mobilities that move a body, in order.
    pub fn supports(&self, body: usize) -> Vec<usize> {
        let mut list = Vec::new();
        let mut b = body;
        while b != 0 {
            list.extend(self.nodes[b].u0..self.nodes[b].u0 + self.nodes[b].nu);
            b = self.nodes[b].parent;
        }
        list.sort_unstable();
        list
    }

    /// Whether a mobility moves a body.
    pub fn moves(&self, mobility: usize, body: usize) -> bool {
        let mut b = body;
        while b != 0 {
            let node = &self.nodes[b];
            if (node.u0..node.u0 + node.nu).contains(&mobility) {
                return true;
            }
            b = node.parent;
        }
        false
    }

    /// The spanning tree of `model`, in the order in which OpenSim numbers mobilities: breadth first from ground,
    /// joints in file order within a level; a movable massless body is immediately followed outwards until a body with
    /// mass is reached. For a joint that would close a loop a copy of its child body is created, which shares the mass
    /// evenly and is welded to it.
    pub fn build(model: &Model, options: &Options) -> Result<Tree, TreeError> {
        let picks = pick_joints(model)?;
        let copies_of = |b: usize| picks.iter().filter(|p| p.copy && p.outboard == b).count();

        let mut t = Tree {
            nodes: vec![Node::ground()],
            num_mobilities: 0,
            support: Vec::new(),
            angular: Vec::new(),
            node_of_body: vec![0; model.bodies.len()],
            mobility_of_coordinate: vec![usize::MAX; model.coordinates.len()],
            coordinate_of_mobility: Vec::new(),
            joint_order: Vec::new(),
            loops: Vec::new(),
            frames: Vec::new(),
            unconnected: Vec::new(),
            massless: Vec::new(),
        };

        for pick in &picks {
            let tip = t.push_pick(model, options, pick);
            let node = &mut t.nodes[tip];
            node.body = Some(BodyId(pick.outboard));
            node.is_copy = pick.copy;
            // Copies of one body share its mass evenly.
            let share = 1.0 / (1 + copies_of(pick.outboard)) as f64;
            node.carry(&model.bodies[pick.outboard], share, options);
            if !pick.copy {
                t.node_of_body[pick.outboard] = tip;
            } else if let Some(joint) = pick.joint {
                let at = |body| BodyFrame { body, X_BF: Transform::identity() };
                t.loops.push(LoopWeld { joint, first: at(t.node_of_body[pick.outboard]), second: at(tip) });
            }
        }

        t.frames =
            model.frames.iter().map(|f| BodyFrame { body: t.node_of_body[f.body.0], X_BF: f.X_BF }).collect();
        t.find_welded_loops(model);
        t.find_support();
        t.find_massless();
        Ok(t)
    }

    /// Appends the node or nodes of the joint that carries a body, or of a free joint if it has none; returns the index of the last.
    fn push_pick(&mut self, model: &Model, options: &Options, pick: &Pick) -> usize {
        let parent = self.node_of_body[pick.inboard];
        let Some(j) = pick.joint else {
            self.unconnected.push(BodyId(pick.outboard));
            let (X_PF, X_BM) = (Transform::identity(), Transform::identity());
            return self.push_joint(options, parent, &JointKind::Free, X_PF, X_BM, pick.reversed, None, &[]);
        };
        let joint = &model.joints[j.0];
        let (mut f, mut m) = (joint.parent, joint.child);
        if pick.reversed {
            std::mem::swap(&mut f, &mut m);
        }
        self.joint_order.push(j);
        let (X_PF, X_BM) = (model.frames[f.0].X_BF, model.frames[m.0].X_BF);
        let (kind, coordinates) = (&joint.kind, &joint.coordinates[..]);
        self.push_joint(options, parent, kind, X_PF, X_BM, pick.reversed, Some(j), coordinates)
    }

    /// Loops closed by a weld joint need no copy: the weld becomes a constraint.
    fn find_welded_loops(&mut self, model: &Model) {
        for (j, joint) in model.joints.iter().enumerate() {
            if joint.kind == JointKind::Weld && !self.joint_order.contains(&JointId(j)) {
                let (first, second) = (self.frame(joint.parent), self.frame(joint.child));
                self.loops.push(LoopWeld { joint: JointId(j), first, second });
            }
        }
    }

    /// Appends the node or nodes of one joint; returns the index of the last, which carries the body.
    #[allow(clippy::too_many_arguments)]
    fn push_joint(
        &mut self,
        options: &Options,
        parent: usize,
        kind: &JointKind,
        X_PF: Transform<f64>,
        X_BM: Transform<f64>,
        reversed: bool,
        id: Option<JointId>,
        coordinates: &[CoordinateId],
    ) -> usize {
        if let JointKind::Scapulothoracic { radii, winging_origin, winging_direction } = kind {
            return self.push_scapulothoracic(
                parent,
                X_PF,
                X_BM,
                reversed,
                id,
                coordinates,
                *radii,
                *winging_origin,
                *winging_direction,
            );
        }
        let kernel = match kind {
            JointKind::Weld => JointKernel::Weld,
            JointKind::Pin => JointKernel::Pin,
            JointKind::Slider => JointKernel::Slider,
            JointKind::Planar => JointKernel::Planar,
            JointKind::Universal => JointKernel::Universal,
            JointKind::Gimbal => JointKernel::Gimbal,
            JointKind::Ball => JointKernel::Ball,
            JointKind::Free => JointKernel::Free,
            JointKind::Ellipsoid { radii } => JointKernel::Ellipsoid(*radii),
            JointKind::ConstantCurvature { neutral_angles, length } => {
                JointKernel::ConstantCurvature(Box::new(ConstantCurvature {
                    neutral: *neutral_angles,
                    length: *length,
                    as_opensim: options.opensim_faults,
                }))
            }
            JointKind::CantileverFreeBeam { length } => JointKernel::CantileverFreeBeam(*length),
            JointKind::Custom(s) => {
                JointKernel::Custom(Box::new(compile_custom(s, coordinates.len(), options)))
            }
            JointKind::Scapulothoracic { .. } => JointKernel::Weld,
        };
        self.push_node(parent, kernel, X_PF, X_BM.inverse(), reversed, id, coordinates)
    }

    #[allow(clippy::too_many_arguments)]
    fn push_node(
        &mut self,
        parent: usize,
        joint: JointKernel,
        X_PF: Transform<f64>,
        X_MB: Transform<f64>,
        reversed: bool,
        joint_id: Option<JointId>,
        coordinates: &[CoordinateId],
    ) -> usize {
        let nu = joint.num_mobilities();
        let u0 = self.num_mobilities;
        for i in 0..nu {
            let c = coordinates.get(i).copied();
            if let Some(c) = c {
                self.mobility_of_coordinate[c.0] = u0 + i;
            }
            self.coordinate_of_mobility.push(c);
        }
        self.num_mobilities += nu;
        let angular = joint.speeds_are_angular_velocity();
        self.angular.extend((0..nu).map(|i| (angular && i < 3).then_some(u0)));
        self.nodes.push(Node {
            parent,
            level: self.nodes[parent].level + 1,
            body: None,
            is_copy: false,
            joint_id,
            reversed,
            F_is_aligned: X_PF.R == Rotation::identity(),
            M_is_aligned: X_MB.R == Rotation::identity(),
            M_is_at_origin: X_MB.p == Vec3::zero(),
            has_bias: reversed || joint.has_bias(),
            joint,
            X_PF,
            X_MB,
            u0,
            nu,
            mass: 0.0,
            moment: Vec3::zero(),
            inertia: SymMat33::zero(),
            form: InertiaForm::Zero,
        });
        self.nodes.len() - 1
    }

    /// Seth, Matias, Veloso, Delp (2016): an ellipsoid joint carries a massless intermediate body,
    /// on which the scapula turns about the winging axis. Both ends of the ellipsoid joint are
    /// turned by 90° about z, so that abduction and elevation are positive.
    #[allow(clippy::too_many_arguments)]
    fn push_scapulothoracic(
        &mut self,
        parent: usize,
        X_PF: Transform<f64>,
        X_BM: Transform<f64>,
        reversed: bool,
        id: Option<JointId>,
        coordinates: &[CoordinateId],
        radii: Vec3<f64>,
        origin: [f64; 2],
        direction: f64,
    ) -> usize {
        let quarter = Transform::new(Rotation::about_z(std::f64::consts::FRAC_PI_2), Vec3::zero());
        // The winging axis lies in the x-y plane of the intermediate frame, `direction` from y; the
        // hinge's z is turned on to it. Where its x points does not matter.
        let wing = Transform::new(
            Rotation::about_z(direction) * Rotation::about_x(-std::f64::consts::FRAC_PI_2),
            vec3(origin[0], origin[1], 0.0),
        );
        let radii = vec3(radii.y, radii.x, radii.z);
        let (first, last) = coordinates.split_at(coordinates.len().min(3));
        if reversed {
            // Seen from the scapula: hinge first, ellipsoid after.
            let hinge = self.push_node(parent, JointKernel::Pin, X_PF * wing, wing.inverse(), true, id, last);
            return self.push_node(
                hinge,
                JointKernel::Ellipsoid(radii),
                quarter,
                (X_BM * quarter).inverse(),
                true,
                id,
                first,
            );
        }
        let mid = self.push_node(
            parent,
            JointKernel::Ellipsoid(radii),
            X_PF * quarter,
            quarter.inverse(),
            false,
            id,
            first,
        );
        self.push_node(mid, JointKernel::Pin, wing, (X_BM * wing).inverse(), false, id, last)
    }

    /// Mobilities whose body, and all that it carries, have neither mass nor inertia.
    fn find_massless(&mut self) {
        let mut empty: Vec<bool> = self.nodes.iter().map(|n| n.form == InertiaForm::Zero).collect();
        for i in (1..self.nodes.len()).rev() {
            let node = &self.nodes[i];
            empty[node.parent] &= empty[i];
            if empty[i] {
                self.massless.extend(node.u0..node.u0 + node.nu);
            }
        }
        self.massless.sort_unstable();
    }

    /// For each mobility, the next one towards ground.
    fn find_support(&mut self) {
        self.support = vec![usize::MAX; self.num_mobilities];
        for i in 1..self.nodes.len() {
            for j in self.nodes[i].u0..self.nodes[i].u0 + self.nodes[i].nu {
                self.support[j] = if j > self.nodes[i].u0 {
                    j - 1
                } else {
                    let mut b = self.nodes[i].parent;
                    while b != 0 && self.nodes[b].nu == 0 {
                        b = self.nodes[b].parent;
                    }
                    if b == 0 { usize::MAX } else { self.nodes[b].u0 + self.nodes[b].nu - 1 }
                };
            }
        }
    }
}

/// The axes of a custom joint with constants and bare coordinates recognised.
fn compile_custom(s: &SpatialTransform, num_coordinates: usize, options: &Options) -> CustomJoint {
    let axes = s.axes.clone().map(|a| Axis {
        axis: a.axis,
        motion: AxisMotion::new(&a.function, &a.arguments),
        change: None,
    });
    let mut joint = CustomJoint { num_coordinates, axes, as_simbody: false };
    joint.as_simbody = options.opensim_faults && joint.simbody_bias_differs();
    joint
}
