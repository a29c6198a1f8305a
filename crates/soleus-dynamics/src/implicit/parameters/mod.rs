//! Derivatives of the implicit equations by numbers of the model.
//!
//! A parameter is named by the path of its component and its property:
//!
//! | parameter | for example |
//! |---|---|
//! | inertia of a body | `/bodyset/torso/mass`, `/bodyset/torso/mass_center/1`, `/bodyset/torso/inertia/0` |
//! | a muscle | `/forceset/soleus_r/optimal_fiber_length` |
//! | a point of a path, in its frame | `/forceset/soleus_r/path/soleus_r-P2/location/0` |
//! | an actuator, spring, ligament, limit or bushing | `/forceset/spring/stiffness` |
//! | a contact | `/forceset/heel/dissipation`, `/forceset/foot/contact_parameters/0/stiffness` |
//! | a place of contact | `/contactgeometryset/heel/location/1` |
//!
//! All derivatives are exact. Newton–Euler is linear in mass, first moment and inertia of a body. Where a load is affine in a
//! property, f = a + b p, two values of p give b. Muscles and contacts run with dual numbers as parameters, paths with dual
//! numbers as points. Moving the place where a force holds on to a body is the same, for this force, as moving the body.

mod affine;
mod find;
mod inertial;
mod unit;

pub use find::ParameterError;

use super::{ImplicitSystem, apply_force, path_law};
use crate::contact::{HuntCrossley, SmoothSphereHalfSpace};
use crate::kinematics::{Kinematics, Loads};
use crate::multibody::{compute_accelerations, compute_generalized_forces};
use crate::muscle::CompiledMuscle;
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
    kind: Kind,
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
    /// A contact with the parameter seeded.
    Contact { force: usize, contact: Box<Contact> },
    /// A point of a path, and where it moves, in its body.
    Point { force: usize, point: usize, direction: Vec3<f64> },
    /// Places where forces hold on to a body.
    Places(Vec<Place>),
}

/// A contact whose parameters carry derivatives; parameters box it.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
enum Contact {
    Smooth(SmoothSphereHalfSpace<D>),
    HuntCrossley(HuntCrossley<D>),
}

/// Where a force holds on to a body, and the direction in the body in which that place moves.
#[derive(Clone, Debug)]
struct Place {
    force: usize,
    /// The contacts of one surface alone; nothing where the whole force holds on at one place.
    contacts: Option<Box<HuntCrossley>>,
    body: usize,
    direction: Vec3<f64>,
}

/// Scratch memory for derivatives by parameters; sized once by [`ImplicitSystem::parameter_workspace`].
#[derive(Clone, Debug)]
pub struct ParameterWorkspace {
    plain: Workspace<f64>,
    X_GB: Vec<Transform<D>>,
    V_GB: Vec<SpatialVec<D>>,
    q: Vec<D>,
    u: Vec<D>,
    z: Vec<D>,
    zdot: Vec<D>,
    controls: Vec<D>,
    residual: Vec<D>,
    paths: Vec<PathState<D>>,
    body: Vec<SpatialVec<D>>,
    mobility: Vec<D>,
}

impl ParameterWorkspace {
    /// Takes over motion, states and inputs as constants, and clears the loads.
    fn lift(&mut self, x: &State<f64>, controls: &[f64], zdot: &[f64]) {
        let kin = &self.plain.kin;
        self.X_GB.iter_mut().zip(&kin.X_GB).for_each(|(to, from)| *to = Transform::cst(*from));
        self.V_GB
            .iter_mut()
            .zip(&kin.V_GB)
            .for_each(|(to, from)| *to = SpatialVec::new(Vec3::cst(from.w), Vec3::cst(from.v)));
        for (to, from) in [
            (&mut self.q, &x.q[..]),
            (&mut self.u, &x.u),
            (&mut self.z, &x.z),
            (&mut self.zdot, zdot),
            (&mut self.controls, controls),
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
        let paths = s.forces.iter().map(|f| f.path.as_ref().map_or_else(PathState::empty, PathState::new));
        ParameterWorkspace {
            plain: s.workspace(),
            X_GB: vec![Transform::identity(); nb],
            V_GB: vec![SpatialVec::zero(); nb],
            q: vec![zero; n],
            u: vec![zero; n],
            z: vec![zero; s.num_aux],
            zdot: vec![zero; s.num_aux],
            controls: vec![zero; s.num_controls],
            residual: vec![zero; s.num_aux],
            paths: paths.collect(),
            body: vec![SpatialVec::zero(); nb],
            mobility: vec![zero; n],
        }
    }

    /// ∂f/∂p of each parameter, one column of `num_residuals` numbers after the other.
    pub fn compute_parameter_jacobian(
        &self,
        x: &State<f64>,
        xdot: &[f64],
        controls: &[f64],
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
        room.lift(x, controls, zdot);
        for (p, column) in parameters.iter().zip(df_dp.chunks_exact_mut(self.num_residuals())) {
            column.fill(0.0);
            let (ru, rest) = column[n..].split_at_mut(n);
            room.plain.body_load.fill(SpatialVec::zero());
            room.plain.mobility_load.fill(0.0);
            let rz = &mut rest[..s.num_aux];
            match &p.kind {
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
                Kind::Contact { force, contact } if s.forces[*force].enabled => {
                    with_duals(room, x.time, |kin, loads| match &**contact {
                        Contact::Smooth(c) => c.touch(kin).0.apply(kin, loads),
                        Contact::HuntCrossley(c) => {
                            c.visit(kin, |touch| touch.apply(kin, loads));
                        }
                    });
                }
                Kind::Contact { .. } => {}
                Kind::Point { force, point, direction } => {
                    point_of_path(&s.forces[*force], *force, (*point, *direction), x.time, room, rz);
                }
                Kind::Places(places) => {
                    for place in places.iter().filter(|p| s.forces[p.force].enabled) {
                        place.add_change(&s.forces[place.force], x.time, room);
                    }
                }
            }
            let ws = &mut room.plain;
            compute_generalized_forces(&s.tree, &ws.kin, &mut ws.body_load, ru);
            for (r, m) in ru.iter_mut().zip(&ws.mobility_load) {
                *r = -(*r + m);
            }
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
    let (z, zdot) = (&room.z[f.states.clone()], &room.zdot[f.states.clone()]);
    let control = room.controls[f.controls.clone()].first().copied().unwrap_or(D::zero());
    let r = &mut room.residual[f.states.clone()];
    let tension = match muscle {
        Some(muscle) => muscle.residual(length, speed, control, z, zdot, r),
        None => path_law(&f.actor, [length, speed, control], z, zdot, r),
    };
    for (to, from) in rz[f.states.clone()].iter_mut().zip(r) {
        *to = from.d[0];
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

/// Change of tension and of direction as a point of the path moves in its body.
fn point_of_path(
    f: &SystemForce,
    index: usize,
    (point, direction): (usize, Vec3<f64>),
    time: f64,
    room: &mut ParameterWorkspace,
    rz: &mut [f64],
) {
    let (true, Some(CompiledPath::Geometry(path))) = (f.enabled, &f.path) else { return };
    let mut st = std::mem::replace(&mut room.paths[index], PathState::empty());
    let shift = direction.to_array().map(|x| D::new(0.0, [x]));
    let shift = Vec3 { x: shift[0], y: shift[1], z: shift[2] };
    {
        let kin =
            Kinematics { time: D::cst(time), X_GB: &room.X_GB, V_GB: &room.V_GB, q: &room.q, u: &room.u };
        path.compute_position_moved(&kin, &mut st, Some((point, shift)));
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
    let kin = Kinematics { time: D::cst(time), X_GB: &room.X_GB, V_GB: &room.V_GB, q: &room.q, u: &room.u };
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
    ///   dp = R d,  dv = ω × R d
    ///
    /// and the wrench about the moved origin is brought back to the origin: moment + R d × force.
    fn add_change(&self, f: &SystemForce, time: f64, room: &mut ParameterWorkspace) {
        let Actor::Force(force) = &f.actor else { return };
        let b = self.body;
        let (X, V) = (room.X_GB[b], room.V_GB[b]);
        let moved = room.plain.kin.X_GB[b].R * self.direction;
        let seed = |v: Vec3<f64>| v.to_array().map(|x| D::new(0.0, [x]));
        let dp = seed(moved);
        let dv = seed(room.plain.kin.V_GB[b].w.cross(moved));
        room.X_GB[b].p += Vec3 { x: dp[0], y: dp[1], z: dp[2] };
        room.V_GB[b].v += Vec3 { x: dv[0], y: dv[1], z: dv[2] };
        let controls = std::mem::take(&mut room.controls);
        let z = std::mem::take(&mut room.z);
        let mut rates = std::mem::take(&mut room.residual);
        with_duals(room, time, |kin, loads| match &self.contacts {
            Some(contacts) => {
                contacts.visit(kin, |touch| touch.apply(kin, loads));
            }
            None => {
                let (e, z, rates) =
                    (&controls[f.controls.clone()], &z[f.states.clone()], &mut rates[f.states.clone()]);
                force.apply(kin, e, z, rates, loads);
            }
        });
        (room.controls, room.z, room.residual) = (controls, z, rates);
        (room.X_GB[b], room.V_GB[b]) = (X, V);
        room.plain.body_load[b].w += moved.cross(room.body[b].v.value());
    }
}
