//! Derivatives of the implicit equations with respect to model parameters.
//!
//! A parameter is named by the path of its component and its property:
//!
//! | parameter | for example |
//! |---|---|
//! | inertia of a body | `/bodyset/torso/mass`, `/bodyset/torso/mass_center/1`, `/bodyset/torso/inertia/0` |
//! | a muscle | `/forceset/soleus_r/optimal_fiber_length` |
//! | a point of a path, in its frame | `/forceset/soleus_r/path/soleus_r-P2/location/0` |
//! | a surface that paths wrap | `/bodyset/torso/wrapobjectset/ribs/translation/0`, `…/radius` |
//! | an offset frame: of a joint, a bushing, … | `/jointset/knee_r/femur_r_offset/translation/0`, `…/orientation/2` |
//! | an actuator, spring, ligament, limit or bushing | `/forceset/spring/stiffness` |
//! | a contact | `/forceset/heel/dissipation`, `/forceset/foot/contact_parameters/0/stiffness` |
//! | a place of contact | `/contactgeometryset/heel/location/1` |
//!
//! All derivatives are exact. The Newton–Euler equations are linear in mass, first moment and inertia of a body.
//! Muscles and other forces are evaluated with dual numbers as parameters, paths with dual numbers as points. For a
//! contact, moving its shape is equivalent to moving its body. A joint moves all bodies distal to it: for its frames
//! and axes the whole residual is evaluated once with dual numbers.

mod find;
mod frame;
mod inertial;
mod joint;
mod unit;

pub use find::ParameterError;

use super::{ImplicitSystem, path_law};
use crate::constraint::ConstraintSet;
use crate::contact::{ElasticFoundation, HuntCrossley};
use crate::force::CompiledForce;
use crate::joint::{JointKernel, JointMotion};
use crate::kinematics::{Kinematics, Loads};
use crate::multibody::{
    JointFrames, Node, compute_accelerations, compute_generalized_forces, compute_kinematics,
    compute_kinematics_between,
};
use crate::path::PathState;
use crate::path::geometry_path::Change;
use crate::system::{Actor, State, SystemForce, Workspace};
use soleus_math::{Dual, Over, Real, SpatialInertia, SpatialVec, Transform, Vec3};

/// A number with its derivative by the parameter.
type D = Dual<f64, 1>;

/// A number of the model with respect to which the implicit equations are differentiated.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Path of component and property.
    pub path: String,
    /// Value in the model, in the units of the file.
    pub value: f64,
    /// Unit.
    pub unit: &'static str,
    /// All it changes.
    kinds: Vec<Kind>,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Change of inertia of some nodes per unit, about the body's origin and in the body.
    Inertial(Vec<(usize, SpatialInertia<f64>)>),
    /// A muscle or another force with the parameter seeded.
    Law { force: usize, actor: Actor<D> },
    /// A contact with the size of one of its surfaces seeded.
    Sized { force: usize, contacts: Box<HuntCrossley<D>> },
    /// The path of a force with the parameter seeded.
    Path { force: usize, change: Change<D> },
    /// A place where a force holds on to a body.
    Place(Place),
    /// The frames X_PF and X_MB of a joint with the parameter seeded, by the node it carries.
    Joint { node: usize, frames: Box<[Transform<D>; 2]> },
    /// A joint with the parameter seeded, by the node it carries.
    Motion { node: usize, joint: JointKernel<D> },
    /// All constraints with the parameter seeded.
    Constraints(ConstraintSet<D>),
}

/// Contacts of one surface with others.
#[derive(Clone, Debug)]
enum Contacts {
    HuntCrossley(HuntCrossley),
    ElasticFoundation(ElasticFoundation),
}

/// Where a force holds on to a body, and how that place moves in the body.
#[derive(Clone, Debug)]
struct Place {
    force: usize,
    /// The contacts of one surface alone; nothing where the whole force holds on at one place.
    contacts: Option<Box<Contacts>>,
    body: usize,
    motion: Motion,
}

/// A small rigid motion in a body, per unit of the parameter: about and of the body's origin.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Motion {
    turn: Vec3<f64>,
    shift: Vec3<f64>,
}

impl Motion {
    fn shift(shift: Vec3<f64>) -> Self {
        Motion { turn: Vec3::zero(), shift }
    }

    /// How a point of the body moves.
    fn of_point(&self, p: Vec3<f64>) -> Vec3<f64> {
        self.shift + self.turn.cross(p)
    }
}

/// A vector without value that has this derivative by the parameter.
fn seed(v: Vec3<f64>) -> Vec3<D> {
    let [x, y, z] = v.to_array().map(|x| D::new(0.0, [x]));
    Vec3 { x, y, z }
}

/// Scratch memory for derivatives with respect to parameters; allocated once by
/// [`ImplicitSystem::parameter_workspace`].
#[derive(Clone, Debug)]
pub struct ParameterWorkspace {
    plain: Workspace<f64>,
    /// For joint frames, which change everything.
    dual: Workspace<D>,
    X_GB: Vec<Transform<D>>,
    V_GB: Vec<SpatialVec<D>>,
    x: State<D>,
    xdot: Vec<D>,
    controls: Vec<D>,
    lambda: Vec<D>,
    /// Of auxiliary states.
    residual: Vec<D>,
    whole_residual: Vec<D>,
    paths: Vec<PathState<D>>,
    body: Vec<SpatialVec<D>>,
    mobility: Vec<D>,
}

impl ParameterWorkspace {
    /// Takes over motion, states and inputs as constants, and clears the loads.
    fn lift(&mut self, x: &State<f64>, xdot: &[f64], controls: &[f64], lambda: &[f64]) {
        let kin = &self.plain.kin;
        self.X_GB.iter_mut().zip(&kin.X_GB).for_each(|(to, from)| *to = Transform::cst(*from));
        self.V_GB
            .iter_mut()
            .zip(&kin.V_GB)
            .for_each(|(to, from)| *to = SpatialVec::new(Vec3::cst(from.w), Vec3::cst(from.v)));
        self.x.time = D::cst(x.time);
        for (to, from) in [
            (&mut self.x.q, &x.q[..]),
            (&mut self.x.u, &x.u),
            (&mut self.x.z, &x.z),
            (&mut self.xdot, xdot),
            (&mut self.controls, controls),
            (&mut self.lambda, lambda),
        ] {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = D::cst(*from));
        }
    }
}

impl ImplicitSystem<'_> {
    /// Memory for derivatives with respect to parameters.
    pub fn parameter_workspace(&self) -> ParameterWorkspace {
        let s = &*self.system;
        let (n, nb, zero) = (s.tree.num_mobilities, s.tree.nodes.len(), D::zero());
        let states = self.num_states();
        let paths = s.forces.iter().map(|f| f.path.as_ref().map_or_else(PathState::empty, PathState::new));
        ParameterWorkspace {
            plain: s.workspace(),
            dual: s.workspace(),
            X_GB: vec![Transform::identity(); nb],
            V_GB: vec![SpatialVec::zero(); nb],
            x: State { time: zero, q: vec![zero; n], u: vec![zero; n], z: vec![zero; s.num_aux] },
            xdot: vec![zero; states],
            controls: vec![zero; s.num_controls],
            lambda: vec![zero; self.num_multipliers()],
            residual: vec![zero; s.num_aux],
            whole_residual: vec![zero; self.num_residuals()],
            paths: paths.collect(),
            body: vec![SpatialVec::zero(); nb],
            mobility: vec![zero; n],
        }
    }

    /// ∂f/∂p of each parameter, column by column with `num_residuals` numbers each.
    #[allow(clippy::too_many_arguments)]
    pub fn compute_parameter_jacobian(
        &self,
        x: &State<f64>,
        xdot: &[f64],
        controls: &[f64],
        lambda: &[f64],
        parameters: &[Parameter],
        room: &mut ParameterWorkspace,
        df_dp: &mut [f64],
    ) {
        let s = &*self.system;
        let n = s.tree.num_mobilities;
        let udot = &xdot[n..2 * n];
        s.compute_kinematics(x, &mut room.plain);
        s.compute_paths(x, &mut room.plain);
        // Gravity enters as an acceleration of ground.
        room.plain.A_GB[0] = SpatialVec::new(Vec3::zero(), -s.gravity);
        compute_accelerations(&s.tree, &room.plain.kin, udot, &mut room.plain.A_GB);
        room.lift(x, xdot, controls, lambda);
        for (p, column) in parameters.iter().zip(df_dp.chunks_exact_mut(self.num_residuals().max(1))) {
            column.fill(0.0);
            let (ru, rest) = column[n..].split_at_mut(n);
            room.plain.body_load.fill(SpatialVec::zero());
            room.plain.mobility_load.fill(0.0);
            let rz = &mut rest[..s.num_aux];
            for kind in &p.kinds {
                self.add_change_of_loads(kind, x.time, room, rz);
            }
            let ws = &mut room.plain;
            compute_generalized_forces(&s.tree, &ws.kin, &mut ws.body_load, ru);
            for (r, m) in ru.iter_mut().zip(&ws.mobility_load) {
                *r = -(*r + m);
            }
            for kind in &p.kinds {
                match kind {
                    Kind::Joint { node, frames } => {
                        let [X_PF, X_MB] = **frames;
                        self.add_change_of_joint(
                            |i, n| if i == *node { JointFrames::new(X_PF, X_MB) } else { JointFrames::of(n) },
                            |_, n, q, u, m| n.joint.compute(q, u, m),
                            room,
                            column,
                        );
                    }
                    Kind::Motion { node, joint } => self.add_change_of_joint(
                        |_, n| JointFrames::of(n),
                        |i, n, q, u, m| {
                            if i == *node { joint.compute(q, u, m) } else { n.joint.compute(q, u, m) }
                        },
                        room,
                        column,
                    ),
                    Kind::Constraints(set) => self.add_change_of_constraints(set, room, column),
                    _ => {}
                }
            }
        }
    }

    /// Adds the change of the residual when a joint is elsewhere on its bodies or moves otherwise.
    fn add_change_of_joint(
        &self,
        frames: impl Fn(usize, &Node) -> JointFrames<D>,
        joint: impl Fn(usize, &Node, &[D], &[D], &mut JointMotion<D>),
        room: &mut ParameterWorkspace,
        column: &mut [f64],
    ) {
        let (x, ws) = (&room.x, &mut room.dual);
        ws.kin.q.copy_from_slice(&x.q);
        ws.kin.u.copy_from_slice(&x.u);
        compute_kinematics_between(&self.system.tree, &x.q, &x.u, &mut ws.kin, frames, joint);
        let r = &mut room.whole_residual;
        self.compute_residual_of_motion(x, &room.xdot, &room.controls, &room.lambda, ws, r);
        for (to, from) in column.iter_mut().zip(r) {
            *to += from.d[0];
        }
    }

    /// Adds the change of Gᵀ λ and of G u̇ − b when the constraints are others.
    fn add_change_of_constraints(
        &self,
        set: &ConstraintSet<D>,
        room: &mut ParameterWorkspace,
        column: &mut [f64],
    ) {
        let tree = &self.system.tree;
        let n = tree.num_mobilities;
        let (kin, rows) = (&mut room.dual.kin, &mut room.dual.constraints);
        compute_kinematics(tree, &room.x.q, &room.x.u, kin);
        set.compute(tree, kin, room.x.time, rows);
        let (ru, rc) = column[n..].split_at_mut(n + self.system.num_aux);
        for (i, (rc, l)) in rc.iter_mut().zip(&room.lambda).enumerate() {
            *rc += rows.bias[i].d[0];
            for (j, g) in rows.G[i * n..(i + 1) * n].iter().enumerate() {
                *rc += g.d[0] * room.xdot[n + j].v;
                ru[j] += g.d[0] * l.v;
            }
        }
    }

    /// Adds the change of loads on bodies and mobilities, and of the residuals of muscle states.
    fn add_change_of_loads(&self, kind: &Kind, time: f64, room: &mut ParameterWorkspace, rz: &mut [f64]) {
        let forces = &self.system.forces;
        match kind {
            Kind::Inertial(nodes) => inertial(&mut room.plain, nodes),
            Kind::Law { force, actor } => changed_law(&forces[*force], *force, actor, time, room, rz),
            Kind::Sized { force, contacts } if forces[*force].enabled => {
                with_duals(room, time, |kin, loads| {
                    contacts.visit(kin, |touch| touch.apply(kin, loads));
                });
            }
            Kind::Path { force, change } => changed_path(&forces[*force], *force, change, time, room, rz),
            Kind::Place(place) if forces[place.force].enabled => {
                place.add_change(&forces[place.force], time, room);
            }
            _ => {}
        }
    }
}

/// Inertial forces of a change of inertia.
fn inertial(ws: &mut Workspace<f64>, nodes: &[(usize, SpatialInertia<f64>)]) {
    for &(b, change) in nodes {
        let R_GB = ws.kin.X_GB[b].R;
        let I = SpatialInertia {
            mass: change.mass,
            moment: R_GB * change.moment,
            inertia: R_GB.reexpress(change.inertia),
        };
        let w = ws.kin.V_GB[b].w;
        let gyro = SpatialVec::new(w.cross(I.inertia * w), w.cross(w.cross(I.moment)));
        ws.body_load[b] -= I.momentum(ws.A_GB[b]) + gyro;
    }
}

/// Tension and residuals of a path's law, either of which may carry derivatives.
fn law<P: Real>(
    f: &SystemForce,
    actor: &Actor<P>,
    [length, speed]: [D; 2],
    room: &mut ParameterWorkspace,
    rz: &mut [f64],
) -> D
where
    D: Over<P>,
{
    let first_aux = 2 * room.x.q.len();
    let (z, zdot) = (&room.x.z[f.states.clone()], &room.xdot[first_aux..][f.states.clone()]);
    let control = room.controls[f.controls.clone()].first().copied().unwrap_or(D::zero());
    let r = &mut room.residual[f.states.clone()];
    let tension = path_law(actor, [length, speed, control], z, zdot, r);
    for (to, from) in rz[f.states.clone()].iter_mut().zip(r) {
        *to += from.d[0];
    }
    tension
}

/// Change of the load of a force that follows another law.
fn changed_law(
    f: &SystemForce,
    index: usize,
    actor: &Actor<D>,
    time: f64,
    room: &mut ParameterWorkspace,
    rz: &mut [f64],
) {
    if !f.enabled {
        return;
    }
    if let Some(path) = &f.path {
        let st = &room.plain.paths[index];
        let inputs = [D::cst(st.length()), D::cst(st.speed())];
        let tension = law(f, actor, inputs, room, rz);
        let ws = &mut room.plain;
        let kin = ws.kin.view(0.0);
        let mut loads = Loads { body: &mut ws.body_load, mobility: &mut ws.mobility_load };
        path.apply_tension(&kin, &ws.paths[index], tension.d[0], &mut loads);
    } else if let Actor::Force(force) = actor {
        let rates = apply_with_duals(f, force, time, room);
        for (to, from) in rz[f.states.clone()].iter_mut().zip(rates) {
            *to -= from.d[0];
        }
    }
}

/// Adds the derivatives of a force that acts along no path; returns the rates of its states.
fn apply_with_duals<'a, P: Real>(
    f: &SystemForce,
    force: &CompiledForce<P>,
    time: f64,
    room: &'a mut ParameterWorkspace,
) -> &'a [D]
where
    D: Over<P>,
{
    let controls = std::mem::take(&mut room.controls);
    let z = std::mem::take(&mut room.x.z);
    let mut rates = std::mem::take(&mut room.residual);
    with_duals(room, time, |kin, loads| {
        let (e, z) = (&controls[f.controls.clone()], &z[f.states.clone()]);
        force.apply(kin, e, z, &mut rates[f.states.clone()], loads);
    });
    (room.controls, room.x.z, room.residual) = (controls, z, rates);
    &room.residual[f.states.clone()]
}

/// Change of tension and of direction as the path changes.
fn changed_path(
    f: &SystemForce,
    index: usize,
    change: &Change<D>,
    time: f64,
    room: &mut ParameterWorkspace,
    rz: &mut [f64],
) {
    let (true, Some(path)) = (f.enabled, &f.path) else { return };
    let mut st = std::mem::replace(&mut room.paths[index], PathState::empty());
    {
        let x = &room.x;
        let kin = Kinematics { time: D::cst(time), X_GB: &room.X_GB, V_GB: &room.V_GB, q: &x.q, u: &x.u };
        path.compute_position_changed(&kin, &mut st, change);
        path.compute_speed(&kin, &mut st);
    }
    let tension = law(f, &f.actor, [st.length(), st.speed()], room, rz);
    with_duals(room, time, |kin, loads| path.apply_tension(kin, &st, tension, loads));
    room.paths[index] = st;
}

/// Adds the derivatives of loads that are computed with dual numbers.
fn with_duals(room: &mut ParameterWorkspace, time: f64, apply: impl FnOnce(&Kinematics<D>, &mut Loads<D>)) {
    room.body.fill(SpatialVec::zero());
    room.mobility.fill(D::zero());
    let (q, u) = (&room.x.q, &room.x.u);
    let kin = Kinematics { time: D::cst(time), X_GB: &room.X_GB, V_GB: &room.V_GB, q, u };
    apply(&kin, &mut Loads { body: &mut room.body, mobility: &mut room.mobility });
    for (to, from) in room.plain.body_load.iter_mut().zip(&room.body) {
        let [w, v] = [from.w, from.v].map(|v| Vec3 { x: v.x.d[0], y: v.y.d[0], z: v.z.d[0] });
        *to += SpatialVec::new(w, v);
    }
    for (to, from) in room.plain.mobility_load.iter_mut().zip(&room.mobility) {
        *to += from.d[0];
    }
}

impl Place {
    /// Adds the change of the force's load as its place moves. For this force the body moves instead,
    ///
    ///   dR = \[R θ\]× R,  dp = R d,  dv = ω × R d
    ///
    /// with θ and d of its [`Motion`], and the wrench about the moved origin is brought back to the origin:
    /// moment + R d × force.
    fn add_change(&self, f: &SystemForce, time: f64, room: &mut ParameterWorkspace) {
        let Actor::Force(force) = &f.actor else { return };
        let b = self.body;
        let (X, V) = (room.X_GB[b], room.V_GB[b]);
        let R_GB = room.plain.kin.X_GB[b].R;
        let (turned, moved) = (R_GB * self.motion.turn, R_GB * self.motion.shift);
        room.X_GB[b] = X.nudged(seed(turned), seed(moved));
        room.V_GB[b].v += seed(room.plain.kin.V_GB[b].w.cross(moved));
        match self.contacts.as_deref() {
            Some(Contacts::HuntCrossley(c)) => with_duals(room, time, |kin, loads| {
                c.visit(kin, |touch| touch.apply(kin, loads));
            }),
            Some(Contacts::ElasticFoundation(c)) => with_duals(room, time, |kin, loads| {
                c.visit(kin, |touch| touch.apply(kin, loads));
            }),
            None => {
                apply_with_duals(f, force, time, room);
            }
        }
        (room.X_GB[b], room.V_GB[b]) = (X, V);
        room.plain.body_load[b].w += moved.cross(room.body[b].v.value());
    }
}
