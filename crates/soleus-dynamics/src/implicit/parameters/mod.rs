//! Derivatives of the implicit equations by numbers of the model.
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
//! All derivatives are exact. Newton–Euler is linear in mass, first moment and inertia of a body. Where a load is affine in a
//! property, f = a + b p, two values of p give b. Muscles and contacts run with dual numbers as parameters, paths with dual
//! numbers as points. Moving the place where a force holds on to a body is the same, for this force, as moving the body. A joint
//! frame moves everything that the joint carries: the whole residual runs with dual numbers, once.

mod affine;
mod find;
mod frame;
mod inertial;
mod unit;

pub use find::ParameterError;

use super::{ImplicitSystem, apply_force, path_law};
use crate::contact::{ElasticFoundation, HuntCrossley, SmoothSphereHalfSpace};
use crate::force::coordinate_limit::CoordinateLimit;
use crate::kinematics::{Kinematics, Loads};
use crate::multibody::{
    JointFrames, compute_accelerations, compute_generalized_forces, compute_kinematics_between,
};
use crate::muscle::CompiledMuscle;
use crate::path::geometry_path::Change;
use crate::path::{CompiledPath, PathState};
use crate::system::{Actor, State, SystemForce, Workspace};
use soleus_math::{Dual, Real, SpatialInertia, SpatialVec, Transform, Vec3};

/// A number with its derivative by the parameter.
type D = Dual<f64, 1>;

/// A number of the model that the implicit equations are differentiated by.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Path of component and property.
    pub path: String,
    /// Its value in the model, in the units of the file.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// All it changes.
    kinds: Vec<Kind>,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Change of inertia of some nodes per unit, about the body's origin and in the body.
    Inertial(Vec<(usize, SpatialInertia<f64>)>),
    /// A force, its law at another value, and how far that value is away.
    Affine { force: usize, other: Box<Actor>, step: f64 },
    /// A muscle with the parameter seeded.
    Muscle { force: usize, muscle: Box<CompiledMuscle<D>> },
    /// A length that the length of a path is compared with: subtracted from it, or dividing length and speed.
    Slack { force: usize, length: f64, divides: bool },
    /// A contact or a limit with the parameter seeded.
    Seeded { force: usize, law: Box<Seeded> },
    /// The path of a force with the parameter seeded.
    Path { force: usize, change: Change<D> },
    /// A place where a force holds on to a body.
    Place(Place),
    /// The frames X_PF and X_MB of a joint with the parameter seeded, by the node it carries.
    Joint { node: usize, frames: Box<[Transform<D>; 2]> },
}

/// A law whose parameters carry derivatives; parameters box it.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
enum Seeded {
    Smooth(SmoothSphereHalfSpace<D>),
    HuntCrossley(HuntCrossley<D>),
    ElasticFoundation(ElasticFoundation<D>),
    Limit(CoordinateLimit<D>),
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

/// Scratch memory for derivatives by parameters; sized once by [`ImplicitSystem::parameter_workspace`].
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
    /// Room for derivatives by parameters.
    pub fn parameter_workspace(&self) -> ParameterWorkspace {
        let s = self.system;
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

    /// ∂f/∂p of each parameter, one column of `num_residuals` numbers after the other.
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
        let s = self.system;
        let n = s.tree.num_mobilities;
        let (udot, zdot) = (&xdot[n..2 * n], &xdot[2 * n..]);
        s.compute_kinematics(x, &mut room.plain);
        s.compute_paths(x, &mut room.plain);
        // Gravity enters as an acceleration of ground.
        room.plain.A_GB[0] = SpatialVec::new(Vec3::zero(), -s.gravity);
        compute_accelerations(&s.tree, &room.plain.kin, udot, &mut room.plain.A_GB);
        room.lift(x, xdot, controls, lambda);
        for (p, column) in parameters.iter().zip(df_dp.chunks_exact_mut(self.num_residuals())) {
            column.fill(0.0);
            let (ru, rest) = column[n..].split_at_mut(n);
            room.plain.body_load.fill(SpatialVec::zero());
            room.plain.mobility_load.fill(0.0);
            let rz = &mut rest[..s.num_aux];
            for kind in &p.kinds {
                self.add_change_of_loads(kind, x, controls, zdot, room, rz);
            }
            let ws = &mut room.plain;
            compute_generalized_forces(&s.tree, &ws.kin, &mut ws.body_load, ru);
            for (r, m) in ru.iter_mut().zip(&ws.mobility_load) {
                *r = -(*r + m);
            }
            for kind in &p.kinds {
                if let Kind::Joint { node, frames } = kind {
                    self.add_change_of_joint(*node, frames, room, column);
                }
            }
        }
    }

    /// Adds the change of the residual when a joint is elsewhere on its bodies.
    fn add_change_of_joint(
        &self,
        node: usize,
        &[X_PF, X_MB]: &[Transform<D>; 2],
        room: &mut ParameterWorkspace,
        column: &mut [f64],
    ) {
        let (x, tree, ws) = (&room.x, &self.system.tree, &mut room.dual);
        compute_kinematics_between(tree, &x.q, &x.u, &mut ws.kin, |i, n| {
            if i == node { JointFrames::new(X_PF, X_MB) } else { JointFrames::of(n) }
        });
        let r = &mut room.whole_residual;
        self.compute_residual_of_motion(x, &room.xdot, &room.controls, &room.lambda, ws, r);
        for (to, from) in column.iter_mut().zip(r) {
            *to += from.d[0];
        }
    }

    /// Adds the change of loads on bodies and mobilities, and of the residuals of muscle states.
    fn add_change_of_loads(
        &self,
        kind: &Kind,
        x: &State<f64>,
        controls: &[f64],
        zdot: &[f64],
        room: &mut ParameterWorkspace,
        rz: &mut [f64],
    ) {
        let s = self.system;
        match kind {
            Kind::Inertial(nodes) => inertial(&mut room.plain, nodes),
            Kind::Affine { force, other, step } => {
                affine(&s.forces[*force], *force, other, *step, x, controls, zdot, &mut room.plain, rz);
            }
            Kind::Muscle { force, muscle } => {
                let st = &room.plain.paths[*force];
                let inputs = [D::cst(st.length()), D::cst(st.speed())];
                path_force(&s.forces[*force], *force, inputs, Some(muscle), room, rz);
            }
            Kind::Slack { force, length, divides } => {
                let st = &room.plain.paths[*force];
                let share = |x: f64| if *divides { -x / length } else { 0.0 };
                let by_length = if *divides { share(st.length()) } else { -1.0 };
                let inputs = [D::new(st.length(), [by_length]), D::new(st.speed(), [share(st.speed())])];
                path_force(&s.forces[*force], *force, inputs, None, room, rz);
            }
            Kind::Seeded { force, law } if s.forces[*force].enabled => {
                let mut power = D::zero();
                with_duals(room, x.time, |kin, loads| match &**law {
                    Seeded::Smooth(c) => c.touch(kin).0.apply(kin, loads),
                    Seeded::HuntCrossley(c) => {
                        c.visit(kin, |touch| touch.apply(kin, loads));
                    }
                    Seeded::ElasticFoundation(c) => {
                        c.visit(kin, |touch| touch.apply(kin, loads));
                    }
                    Seeded::Limit(c) => {
                        let (tau, dissipated) = c.magnitude(kin);
                        loads.mobility[c.mobility] += tau;
                        power = dissipated;
                    }
                });
                // A limit may have its dissipated energy as a state.
                if let Some(r) = rz[s.forces[*force].states.clone()].first_mut() {
                    *r -= power.d[0];
                }
            }
            Kind::Seeded { .. } => {}
            Kind::Path { force, change } => {
                changed_path(&s.forces[*force], *force, *change, x.time, room, rz);
            }
            Kind::Place(place) if s.forces[place.force].enabled => {
                place.add_change(&s.forces[place.force], x.time, room);
            }
            Kind::Place(_) | Kind::Joint { .. } => {}
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

/// Difference of the loads and residuals at two values of a property, per unit.
#[allow(clippy::too_many_arguments)]
fn affine(
    f: &SystemForce,
    index: usize,
    other: &Actor,
    step: f64,
    x: &State<f64>,
    controls: &[f64],
    zdot: &[f64],
    ws: &mut Workspace<f64>,
    rz: &mut [f64],
) {
    if !f.enabled {
        return;
    }
    let rz = &mut rz[f.states.clone()];
    let kin = ws.kin.view(x.time);
    let path = f.path.as_ref().map(|p| (p, &ws.paths[index]));
    let mut loads = Loads { body: &mut ws.body_load, mobility: &mut ws.mobility_load };
    // The load at the model's value with the sign turned, then that at the other.
    apply_force(f, &f.actor, path, &kin, x, controls, zdot, rz, &mut loads);
    let base = [rz.first(), rz.get(1), rz.get(2)].map(|r| r.copied().unwrap_or(0.0));
    loads.body.iter_mut().for_each(|f| *f = -*f);
    loads.mobility.iter_mut().for_each(|f| *f = -*f);
    apply_force(f, other, path, &kin, x, controls, zdot, rz, &mut loads);
    for (r, base) in rz.iter_mut().zip(base) {
        *r = (*r - base) / step;
    }
    loads.body.iter_mut().for_each(|f| *f = *f * step.recip());
    loads.mobility.iter_mut().for_each(|f| *f /= step);
}

/// Tension and residuals of a path's law with derivatives, in its inputs (length, speed) or in the `muscle`'s parameters.
fn law(
    f: &SystemForce,
    [length, speed]: [D; 2],
    muscle: Option<&CompiledMuscle<D>>,
    room: &mut ParameterWorkspace,
    rz: &mut [f64],
) -> D {
    let first_aux = 2 * room.x.q.len();
    let (z, zdot) = (&room.x.z[f.states.clone()], &room.xdot[first_aux..][f.states.clone()]);
    let control = room.controls[f.controls.clone()].first().copied().unwrap_or(D::zero());
    let r = &mut room.residual[f.states.clone()];
    let tension = match muscle {
        Some(muscle) => muscle.residual(length, speed, control, z, zdot, r),
        None => path_law(&f.actor, [length, speed, control], z, zdot, r),
    };
    for (to, from) in rz[f.states.clone()].iter_mut().zip(r) {
        *to += from.d[0];
    }
    tension
}

/// Change of the tension along a path that itself stays.
fn path_force(
    f: &SystemForce,
    index: usize,
    inputs: [D; 2],
    muscle: Option<&CompiledMuscle<D>>,
    room: &mut ParameterWorkspace,
    rz: &mut [f64],
) {
    let (true, Some(path)) = (f.enabled, &f.path) else { return };
    let tension = law(f, inputs, muscle, room, rz);
    let ws = &mut room.plain;
    let kin = ws.kin.view(0.0);
    let mut loads = Loads { body: &mut ws.body_load, mobility: &mut ws.mobility_load };
    path.apply_tension(&kin, &ws.paths[index], tension.d[0], &mut loads);
}

/// Change of tension and of direction as the path changes.
fn changed_path(
    f: &SystemForce,
    index: usize,
    change: Change<D>,
    time: f64,
    room: &mut ParameterWorkspace,
    rz: &mut [f64],
) {
    let (true, Some(CompiledPath::Geometry(path))) = (f.enabled, &f.path) else { return };
    let mut st = std::mem::replace(&mut room.paths[index], PathState::empty());
    {
        let x = &room.x;
        let kin = Kinematics { time: D::cst(time), X_GB: &room.X_GB, V_GB: &room.V_GB, q: &x.q, u: &x.u };
        path.compute_position_changed(&kin, &mut st, change);
        path.compute_speed(&kin, &mut st);
    }
    let tension = law(f, [st.length(), st.speed()], None, room, rz);
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
        let controls = std::mem::take(&mut room.controls);
        let z = std::mem::take(&mut room.x.z);
        let mut rates = std::mem::take(&mut room.residual);
        with_duals(room, time, |kin, loads| match &self.contacts {
            Some(contacts) => {
                match &**contacts {
                    Contacts::HuntCrossley(c) => c.visit(kin, |touch| touch.apply(kin, loads)),
                    Contacts::ElasticFoundation(c) => c.visit(kin, |touch| touch.apply(kin, loads)),
                };
            }
            None => {
                let (e, z, rates) =
                    (&controls[f.controls.clone()], &z[f.states.clone()], &mut rates[f.states.clone()]);
                force.apply(kin, e, z, rates, loads);
            }
        });
        (room.controls, room.x.z, room.residual) = (controls, z, rates);
        (room.X_GB[b], room.V_GB[b]) = (X, V);
        room.plain.body_load[b].w += moved.cross(room.body[b].v.value());
    }
}
