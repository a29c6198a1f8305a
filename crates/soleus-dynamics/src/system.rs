//! A compiled model: flat, indexed, immutable, shared by all threads.

mod report;

use crate::Options;
use crate::constants::Numbers;
use crate::constraint::{CompiledConstraint, ConstraintSet, ConstraintWorkspace, Rolling, Station};
use crate::force::{CompiledForce, ForceError, ForceResolve};
use crate::joint::angles_rate;
use crate::kinematics::{BodyFrame, Loads, Resolve};
use crate::multibody::{
    MassFactor, Tree, TreeError, TreeKinematics, compute_accelerations, compute_generalized_forces,
    compute_kinematics,
};
use crate::muscle::{CompiledMuscle, CurveCache, MuscleError};
use crate::path::{CompiledPath, PathError, PathState};
use soleus_math::{Dual, Jet, Part, Real, SpatialVec, Transform, Vec3, same, same_mut, vec3};
use soleus_model::constraint::ConstraintKind;
use soleus_model::force::ForceKind;
use soleus_model::id::{CoordinateId, FrameId};
use soleus_model::joint::MotionType;
use soleus_model::model::Model;
use std::ops::Range;
use std::sync::Arc;

/// Why a model cannot be compiled.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SystemError {
    /// The joints do not form a tree.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// Invalid muscle parameters.
    #[error("muscle {path}: {source}")]
    Muscle {
        /// Absolute path of the muscle.
        path: String,
        /// Cause.
        source: MuscleError,
    },
    /// Invalid force parameters.
    #[error("force {path}: {source}")]
    Force {
        /// Absolute path of the force.
        path: String,
        /// Cause.
        source: ForceError,
    },
    /// An invalid path.
    #[error("path of {path}: {source}")]
    Path {
        /// Absolute path of the force along it.
        path: String,
        /// Cause.
        source: PathError,
    },
}

impl SystemError {
    /// Absolute path of the component with the error; `Model::line_of` returns its line.
    pub fn component(&self) -> &str {
        match self {
            SystemError::Tree(e) => e.component(),
            SystemError::Muscle { path, .. }
            | SystemError::Force { path, .. }
            | SystemError::Path { path, .. } => path,
        }
    }
}

/// Law of a force.
#[derive(Clone, Debug)]
pub enum Actor<P: Real = f64> {
    /// A muscle, along its path.
    Muscle(Box<CompiledMuscle<P>>),
    /// Any other force; along its path if it has one.
    Force(Box<CompiledForce<P>>),
}

/// One force of the system.
#[derive(Clone, Debug)]
pub struct SystemForce {
    /// Whether it acts (`appliesForce`).
    pub enabled: bool,
    /// Its path, if any.
    pub path: Option<CompiledPath>,
    /// Its law.
    pub actor: Actor,
    /// Its controls.
    pub controls: Range<usize>,
    /// Its states, as indices into [`State::z`].
    pub states: Range<usize>,
}

/// A compiled model.
#[derive(Clone, Debug)]
pub struct System {
    /// The bodies.
    pub tree: Tree,
    /// Gravity, m/s², in ground.
    pub gravity: Vec3<f64>,
    /// Enforced constraints.
    pub constraints: ConstraintSet,
    /// Forces, in the order of the model.
    pub forces: Vec<SystemForce>,
    /// Markers, in the order of the model.
    pub markers: Vec<Station>,
    /// Number of controls.
    pub num_controls: usize,
    /// Number of auxiliary states.
    pub num_aux: usize,
    /// Absolute names of the auxiliary states, `/forceset/soleus_r/activation`.
    pub aux_names: Vec<String>,
    /// Default state of the model.
    pub default_state: State<f64>,
}

/// The state of a system: a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State<T> {
    /// Time, s.
    pub time: T,
    /// Coordinate values by mobility.
    pub q: Vec<T>,
    /// Speeds by mobility.
    pub u: Vec<T>,
    /// Auxiliary states: activations, fiber lengths, …
    pub z: Vec<T>,
}

impl<T: Real> State<T> {
    /// The same state in another scalar, as constants.
    pub fn lift<S: Real>(&self) -> State<S> {
        let cst = |x: &[T]| x.iter().map(|x| S::cst(x.value())).collect();
        State { time: S::cst(self.time.value()), q: cst(&self.q), u: cst(&self.u), z: cst(&self.z) }
    }
}

/// Number of directions in one evaluation of the whole motion with derivatives.
pub const LANES: usize = 8;

/// The scalar of such an evaluation. Large functions have a copy for it here, which other crates share.
pub(crate) type Along = Dual<f64, LANES>;

/// Number of variables in one evaluation with second derivatives.
pub const JET_LANES: usize = 12;

/// The scalar of such an evaluation, as [`Along`].
pub(crate) type Jets = Jet<JET_LANES, 78>;

/// Scratch memory and results; allocated once by [`System::workspace`].
#[derive(Clone, Debug)]
pub struct Workspace<T: Real> {
    /// Motion of the bodies.
    pub kin: TreeKinematics<T>,
    /// Mass matrix and its factors.
    pub mass: MassFactor<T>,
    /// Constraint errors, Jacobian and multipliers.
    pub constraints: ConstraintWorkspace<T>,
    /// Path of each force; empty for those without one.
    pub paths: Vec<PathState<T>>,
    /// Tension of each path force, N; unused for others.
    pub tension: Vec<T>,
    /// Wrench of gravity and all forces on each body, about its origin.
    pub body_load: Vec<SpatialVec<T>>,
    /// Generalized forces applied directly to mobilities.
    pub mobility_load: Vec<T>,
    /// Accelerations u̇.
    pub udot: Vec<T>,
    /// Derivatives of the auxiliary states.
    pub zdot: Vec<T>,
    /// Accelerations of the bodies.
    pub A_GB: Vec<SpatialVec<T>>,
    pub(crate) scratch: Vec<SpatialVec<T>>,
    zeros: Vec<T>,
    rhs: Vec<T>,
    /// Controls on their way to a copy of [`System::compute_forces`] that is not generic.
    controls: Vec<T>,
}

/// Why accelerations could not be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MotionError {
    /// The mass matrix is singular, and the forces require an acceleration that is undetermined.
    #[error(
        "mobility {mobility} has no inertia, but forces or constraints act on it: its acceleration is undetermined"
    )]
    Singular {
        /// The first mobility without inertia.
        mobility: usize,
    },
    /// A chain of joints that ends with massless bodies.
    #[error("mobility {mobility} moves only massless bodies: its acceleration is undetermined")]
    Massless {
        /// The first such mobility.
        mobility: usize,
    },
}

impl MotionError {
    /// The mobility whose acceleration is undetermined.
    pub fn mobility(&self) -> usize {
        match self {
            MotionError::Singular { mobility } | MotionError::Massless { mobility } => *mobility,
        }
    }
}

/// A borrowed or shared system, for types that keep one.
#[derive(Clone, Debug)]
pub enum SystemRef<'a> {
    /// Borrowed.
    Borrowed(&'a System),
    /// Shared; the lifetime is then `'static`.
    Shared(Arc<System>),
}

impl std::ops::Deref for SystemRef<'_> {
    type Target = System;

    fn deref(&self) -> &System {
        match self {
            SystemRef::Borrowed(system) => system,
            SystemRef::Shared(system) => system,
        }
    }
}

impl<'a> From<&'a System> for SystemRef<'a> {
    fn from(system: &'a System) -> Self {
        SystemRef::Borrowed(system)
    }
}

impl<'a> From<&'a Arc<System>> for SystemRef<'a> {
    fn from(system: &'a Arc<System>) -> Self {
        SystemRef::Borrowed(system)
    }
}

impl From<Arc<System>> for SystemRef<'_> {
    fn from(system: Arc<System>) -> Self {
        SystemRef::Shared(system)
    }
}

impl System {
    /// Compiles a model with the default options.
    pub fn compile(model: &Model) -> Result<System, SystemError> {
        System::compile_with(model, &Options::default())
    }

    /// Compiles a model.
    pub fn compile_with(model: &Model, options: &Options) -> Result<System, SystemError> {
        let tree = Tree::build(model, options)?;
        let mut numbers = Numbers { constant: &mut |_, value| value, pose: &|_, X_BF| X_BF };
        let constraints = compile_constraints(model, &tree, &mut numbers);

        let (mut forces, mut aux_names, mut z) = (Vec::new(), Vec::new(), Vec::new());
        let mut num_controls = 0;
        let mut curves = CurveCache::default();
        for f in &model.forces {
            let path = match &f.line_of_action {
                None => None,
                Some(p) => Some(
                    CompiledPath::compile(p, &model.wraps, &model.contact_geometries, &tree)
                        .map_err(|source| SystemError::Path { path: f.path.clone(), source })?,
                ),
            };
            let (actor, names, defaults, nc): (_, Vec<String>, Vec<f64>, usize) = match &f.kind {
                ForceKind::Muscle(m) => {
                    let m = CompiledMuscle::compile_sharing(m, options, &mut curves)
                        .map_err(|source| SystemError::Muscle { path: f.path.clone(), source })?;
                    let names = m.state_names().iter().map(ToString::to_string).collect();
                    let defaults = m.default_states().to_vec();
                    (Actor::Muscle(Box::new(m)), names, defaults, 1)
                }
                _ => {
                    let named = Named { model, tree: &tree };
                    let c = CompiledForce::compile(f, &named, &model.contact_geometries, options)
                        .map_err(|source| SystemError::Force { path: f.path.clone(), source })?;
                    let names: Vec<String> = c.state_names().iter().map(ToString::to_string).collect();
                    let mut defaults = vec![0.0; names.len()];
                    c.default_states(&mut defaults);
                    let nc = c.num_controls();
                    (Actor::Force(Box::new(c)), names, defaults, nc)
                }
            };
            let states = z.len()..z.len() + names.len();
            aux_names.extend(names.iter().map(|n| format!("{}/{n}", f.path)));
            z.extend(defaults);
            forces.push(SystemForce {
                enabled: f.enabled,
                path,
                actor,
                controls: num_controls..num_controls + nc,
                states,
            });
            num_controls += nc;
        }

        let n = tree.num_mobilities;
        let (mut q, mut u) = (vec![0.0; n], vec![0.0; n]);
        for (c, &m) in model.coordinates.iter().zip(&tree.mobility_of_coordinate) {
            if m != usize::MAX {
                q[m] = c.default_value;
                u[m] = c.default_speed;
            }
        }
        let markers = model
            .markers
            .iter()
            .map(|k| {
                let f = tree.frame(k.frame);
                Station { body: f.body, p_BS: f.X_BF * k.location }
            })
            .collect();
        Ok(System {
            gravity: model.gravity,
            constraints,
            forces,
            markers,
            num_controls,
            num_aux: z.len(),
            aux_names,
            default_state: State { time: 0.0, q, u, z },
            tree,
        })
    }

    /// Memory for all computations of this system, in the scalar `T`.
    pub fn workspace<T: Real>(&self) -> Workspace<T> {
        let (n, nb) = (self.tree.num_mobilities, self.tree.nodes.len());
        Workspace {
            kin: TreeKinematics::new(&self.tree),
            mass: MassFactor::new(&self.tree),
            constraints: self.constraints.workspace(&self.tree),
            paths: self
                .forces
                .iter()
                .map(|f| f.path.as_ref().map_or_else(PathState::empty, PathState::new))
                .collect(),
            tension: vec![T::zero(); self.forces.len()],
            body_load: vec![SpatialVec::zero(); nb],
            mobility_load: vec![T::zero(); n],
            udot: vec![T::zero(); n],
            zdot: vec![T::zero(); self.num_aux],
            A_GB: vec![SpatialVec::zero(); nb],
            scratch: vec![SpatialVec::zero(); nb],
            zeros: vec![T::zero(); n],
            rhs: vec![T::zero(); n],
            controls: Vec::with_capacity(self.num_controls),
        }
    }

    /// Mobilities that move all bodies of a force's path together, and so do not change it, but about which it still
    /// has a moment because its loads are not in balance ([`CompiledPath::is_balanced`]): 0.2 mm about the pelvic tilt
    /// for the gastrocnemii of Rajagopal's model. This is an artifact: if residual actuators along the axes of the root
    /// share this moment with muscles, muscle forces depend on the direction in which the subject faces.
    pub fn unbalanced_about(&self, force: usize) -> Vec<usize> {
        let Some(path) = self.forces[force].path.as_ref().filter(|p| !p.is_balanced()) else {
            return Vec::new();
        };
        let (bodies, own) = (path.bodies(), path.coordinates());
        let is_alike = |m: &usize| !own.contains(m) && bodies.iter().all(|&b| self.tree.moves(*m, b));
        (0..self.tree.num_mobilities).filter(is_alike).collect()
    }

    /// Whether forces or constraints depend on time explicitly.
    pub fn depends_on_time(&self) -> bool {
        let forces = self.forces.iter().any(|f| match &f.actor {
            Actor::Force(c) => c.depends_on_time(),
            Actor::Muscle(_) => false,
        });
        forces || self.constraints.list.iter().any(|c| matches!(c, CompiledConstraint::Prescribed { .. }))
    }

    /// q̇ for the speeds of a state; they differ if speeds are an angular velocity.
    pub fn coordinate_rates<T: Real>(&self, x: &State<T>) -> Vec<T> {
        let mut qdot = x.u.clone();
        self.compute_coordinate_rates(x, &mut qdot);
        qdot
    }

    /// Computes q̇ for the speeds of a state.
    pub fn compute_coordinate_rates<T: Real>(&self, x: &State<T>, qdot: &mut [T]) {
        qdot.copy_from_slice(&x.u);
        for node in self.tree.nodes.iter().filter(|n| n.joint.speeds_are_angular_velocity()) {
            let at = |x: &[T]| vec3(x[node.u0], x[node.u0 + 1], x[node.u0 + 2]);
            let rate = angles_rate(at(&x.q), at(&x.u));
            qdot[node.u0..node.u0 + 3].copy_from_slice(&rate.to_array());
        }
    }

    /// Poses and velocities of the bodies.
    pub fn compute_kinematics<T: Real>(&self, x: &State<T>, ws: &mut Workspace<T>) {
        compute_kinematics(&self.tree, &x.q, &x.u, &mut ws.kin);
    }

    /// Lengths and lengthening speeds of all paths, after [`compute_kinematics`](Self::compute_kinematics).
    pub fn compute_paths<T: Real>(&self, x: &State<T>, ws: &mut Workspace<T>) {
        if const { matches!(T::SHAPE, Some([1, LANES])) } {
            return self.compute_paths_along(same(x), same_mut(ws));
        }
        if const { matches!(T::SHAPE, Some([2, JET_LANES])) } {
            return self.compute_paths_in_jets(same(x), same_mut(ws));
        }
        T::choose(
            ws,
            |ws| self.compute_plain_paths(same(x), same_mut(ws)),
            |ws| self.compute_any_paths(x, ws),
        );
    }

    #[inline(never)]
    fn compute_plain_paths(&self, x: &State<f64>, ws: &mut Workspace<f64>) {
        self.compute_any_paths(x, ws);
    }

    #[inline(never)]
    fn compute_paths_along(&self, x: &State<Along>, ws: &mut Workspace<Along>) {
        self.compute_any_paths(x, ws);
    }

    #[inline(never)]
    fn compute_paths_in_jets(&self, x: &State<Jets>, ws: &mut Workspace<Jets>) {
        self.compute_any_paths(x, ws);
    }

    fn compute_any_paths<T: Real>(&self, x: &State<T>, ws: &mut Workspace<T>) {
        let kin = ws.kin.view(x.time);
        for (i, (f, st)) in self.forces.iter().zip(&mut ws.paths).enumerate() {
            if let Some(p) = &f.path {
                T::enter(Part::Path, i);
                p.compute_position(&kin, st);
                p.compute_speed(&kin, st);
            }
        }
    }

    /// Length and lengthening speed of the path of one force, if it has one.
    pub fn compute_path<T: Real>(&self, i: usize, x: &State<T>, ws: &mut Workspace<T>) {
        if const { matches!(T::SHAPE, Some([0, _])) } {
            self.compute_plain_path(i, same(x), same_mut(ws));
        } else if const { matches!(T::SHAPE, Some([2, JET_LANES])) } {
            self.compute_path_in_jets(i, same(x), same_mut(ws));
        } else {
            self.compute_any_path(i, x, ws);
        }
    }

    #[inline(never)]
    fn compute_plain_path(&self, i: usize, x: &State<f64>, ws: &mut Workspace<f64>) {
        self.compute_any_path(i, x, ws);
    }

    #[inline(never)]
    fn compute_path_in_jets(&self, i: usize, x: &State<Jets>, ws: &mut Workspace<Jets>) {
        self.compute_any_path(i, x, ws);
    }

    fn compute_any_path<T: Real>(&self, i: usize, x: &State<T>, ws: &mut Workspace<T>) {
        let kin = ws.kin.view(x.time);
        if let Some(p) = &self.forces[i].path {
            p.compute_position(&kin, &mut ws.paths[i]);
            p.compute_speed(&kin, &mut ws.paths[i]);
        }
    }

    /// Adds the loads of one force without a path, whether enabled or not.
    pub fn add_force<T: Real>(&self, i: usize, x: &State<T>, controls: &[T], ws: &mut Workspace<T>) {
        ws.controls.clear();
        ws.controls.extend_from_slice(&controls[self.forces[i].controls.clone()]);
        if const { matches!(T::SHAPE, Some([0, _])) } {
            self.add_plain_force(i, same(x), same_mut(ws));
        } else if const { matches!(T::SHAPE, Some([2, JET_LANES])) } {
            self.add_force_in_jets(i, same(x), same_mut(ws));
        } else {
            self.add_any_force(i, x, ws);
        }
    }

    #[inline(never)]
    fn add_plain_force(&self, i: usize, x: &State<f64>, ws: &mut Workspace<f64>) {
        self.add_any_force(i, x, ws);
    }

    #[inline(never)]
    fn add_force_in_jets(&self, i: usize, x: &State<Jets>, ws: &mut Workspace<Jets>) {
        self.add_any_force(i, x, ws);
    }

    fn add_any_force<T: Real>(&self, i: usize, x: &State<T>, ws: &mut Workspace<T>) {
        let f = &self.forces[i];
        let Actor::Force(law) = &f.actor else { return };
        let kin = ws.kin.view(x.time);
        let mut loads = Loads { body: &mut ws.body_load, mobility: &mut ws.mobility_load };
        let rates = &mut ws.zdot[f.states.clone()];
        law.apply(&kin, &ws.controls, &x.z[f.states.clone()], rates, &mut loads);
    }

    /// Wrench of gravity on each body; overwrites `load`.
    pub fn compute_gravity<T: Real>(&self, kin: &TreeKinematics<T>, load: &mut [SpatialVec<T>]) {
        let g = Vec3::cst(self.gravity);
        for (f, i) in load.iter_mut().zip(&kin.inertia) {
            *f = SpatialVec::new(i.moment.cross(g), g * i.mass);
        }
    }

    /// Loads of gravity and all enabled forces, and the derivatives of their states, after
    /// [`compute_paths`](Self::compute_paths).
    pub fn compute_forces<T: Real>(&self, x: &State<T>, controls: &[T], ws: &mut Workspace<T>) {
        if const { matches!(T::SHAPE, Some([1, LANES])) } {
            ws.controls.clear();
            ws.controls.extend_from_slice(controls);
            return self.compute_forces_along(same(x), same_mut(ws));
        }
        T::choose(
            ws,
            |ws| self.compute_plain_forces(same(x), T::plain_list(controls), same_mut(ws)),
            |ws| self.compute_any_forces(x, controls, ws),
        );
    }

    #[inline(never)]
    fn compute_plain_forces(&self, x: &State<f64>, controls: &[f64], ws: &mut Workspace<f64>) {
        self.compute_any_forces(x, controls, ws);
    }

    #[inline(never)]
    fn compute_forces_along(&self, x: &State<Along>, ws: &mut Workspace<Along>) {
        let controls = std::mem::take(&mut ws.controls);
        self.compute_any_forces(x, &controls, ws);
        ws.controls = controls;
    }

    fn compute_any_forces<T: Real>(&self, x: &State<T>, controls: &[T], ws: &mut Workspace<T>) {
        self.compute_gravity(&ws.kin, &mut ws.body_load);
        ws.mobility_load.fill(T::zero());
        ws.zdot.fill(T::zero());
        let kin = ws.kin.view(x.time);
        let mut loads = Loads { body: &mut ws.body_load, mobility: &mut ws.mobility_load };
        for (i, f) in self.forces.iter().enumerate() {
            if !f.enabled {
                ws.tension[i] = T::zero();
                continue;
            }
            T::enter(Part::Force, i);
            let z = &x.z[f.states.clone()];
            let zdot = &mut ws.zdot[f.states.clone()];
            let controls = &controls[f.controls.clone()];
            match (&f.actor, &f.path) {
                (Actor::Muscle(m), Some(_)) => {
                    let st = &ws.paths[i];
                    let tension = m.dynamics(st.length(), st.speed(), controls[0], z, zdot);
                    ws.tension[i] = tension;
                }
                (Actor::Force(c), Some(_)) => {
                    let Some(law) = c.path_force() else {
                        ws.tension[i] = T::zero();
                        continue;
                    };
                    let st = &ws.paths[i];
                    let control = controls.first().copied().unwrap_or(T::zero());
                    let tension = law.tension(st.length(), st.speed(), control, z);
                    law.states_dot(st.length(), st.speed(), control, z, zdot);
                    ws.tension[i] = tension;
                }
                (Actor::Force(c), None) => c.apply(&kin, controls, z, zdot, &mut loads),
                (Actor::Muscle(_), None) => {}
            }
        }
        // Tensions act in a loop of their own: the long chains of one muscle then overlap with the next's.
        for (i, ((f, st), tension)) in self.forces.iter().zip(&ws.paths).zip(&ws.tension).enumerate() {
            if let (true, Some(p)) = (f.enabled, &f.path) {
                T::enter(Part::Load, i);
                p.apply_tension(&kin, st, *tension, &mut loads);
            }
        }
    }

    /// Accelerations u̇ and multipliers from the loads in the workspace:
    /// M u̇ + Gᵀ λ = Jᵀ F + τ − c(q, u),  G u̇ = b.
    pub fn compute_accelerations<T: Real>(
        &self,
        x: &State<T>,
        ws: &mut Workspace<T>,
    ) -> Result<(), MotionError> {
        if const { matches!(T::SHAPE, Some([1, LANES])) } {
            return self.compute_accelerations_along(same(x), same_mut(ws));
        }
        T::choose(
            ws,
            |ws| self.compute_plain_accelerations(same(x), same_mut(ws)),
            |ws| self.compute_any_accelerations(x, ws),
        )
    }

    #[inline(never)]
    fn compute_plain_accelerations(
        &self,
        x: &State<f64>,
        ws: &mut Workspace<f64>,
    ) -> Result<(), MotionError> {
        self.compute_any_accelerations(x, ws)
    }

    #[inline(never)]
    fn compute_accelerations_along(
        &self,
        x: &State<Along>,
        ws: &mut Workspace<Along>,
    ) -> Result<(), MotionError> {
        self.compute_any_accelerations(x, ws)
    }

    fn compute_any_accelerations<T: Real>(
        &self,
        x: &State<T>,
        ws: &mut Workspace<T>,
    ) -> Result<(), MotionError> {
        T::enter(Part::Motion, 0);
        // Right-hand side: Jᵀ (F − I A₀ − gyro) + τ, with A₀ the accelerations at u̇ = 0.
        ws.A_GB[0] = SpatialVec::zero();
        compute_accelerations(&self.tree, &ws.kin, &ws.zeros, &mut ws.A_GB);
        for i in 0..ws.scratch.len() {
            T::enter(Part::Motion, i);
            ws.scratch[i] = ws.body_load[i] - ws.kin.inertia[i].momentum(ws.A_GB[i]) - ws.kin.gyro[i];
        }
        ws.udot.copy_from_slice(&ws.mobility_load);
        compute_generalized_forces(&self.tree, &ws.kin, &mut ws.scratch, &mut ws.udot);

        ws.mass.compute_mass_matrix(&self.tree, &ws.kin);
        ws.mass.factorize();
        self.constraints.compute_with(&self.tree, &ws.kin, &ws.A_GB, x.time, &mut ws.constraints);
        if !ws.mass.singular.is_empty() {
            ws.rhs.copy_from_slice(&ws.udot);
        }
        self.constraints.solve(&ws.mass, &mut ws.constraints, &mut ws.udot);
        self.check_singular(ws)
    }

    /// Where the mass matrix is singular, whether M u̇ + Gᵀ λ = f and G u̇ = b hold all the same. Bodies without mass are
    /// an error even if nothing acts on them.
    fn check_singular<T: Real>(&self, ws: &Workspace<T>) -> Result<(), MotionError> {
        let n = self.tree.num_mobilities;
        if let Some(&mobility) = self.tree.massless.first() {
            return Err(MotionError::Massless { mobility });
        }
        for &k in &ws.mass.singular {
            // Equations that speak of a mobility without inertia may ask for an acceleration of it.
            let rows = (0..ws.constraints.bias.len()).filter(|r| ws.constraints.G[r * n + k].value() != 0.0);
            for r in rows {
                let mut residual = ws.constraints.bias[r].value();
                let mut scale = residual.abs();
                for j in 0..n {
                    let x = ws.constraints.G[r * n + j].value() * ws.udot[j].value();
                    residual += x;
                    scale += x.abs();
                }
                if !(residual.abs() <= 1e-6 * scale.max(1e-6)) {
                    return Err(MotionError::Singular { mobility: k });
                }
            }
            let mut residual = -ws.rhs[k].value();
            let mut scale = residual.abs();
            for j in 0..n {
                let x = ws.mass.at(k, j).value() * ws.udot[j].value();
                residual += x;
                scale += x.abs();
            }
            for (r, l) in ws.constraints.lambda.iter().enumerate() {
                residual += ws.constraints.G[r * n + k].value() * l.value();
            }
            // Rounding of the sum, with room for the conditioning of the rest.
            if !(residual.abs() <= 1e-9 * scale.max(1e-9)) {
                return Err(MotionError::Singular { mobility: k });
            }
        }
        Ok(())
    }

    /// Computes everything from a state and controls: kinematics, paths, forces, accelerations and the derivatives of
    /// all states. Does not allocate memory.
    pub fn compute_motion<T: Real>(
        &self,
        x: &State<T>,
        controls: &[T],
        ws: &mut Workspace<T>,
    ) -> Result<(), MotionError> {
        self.compute_damped_motion(x, controls, &[], ws)
    }

    /// As [`compute_motion`](Self::compute_motion), with additional damping of each mobility, N·s/m or N·m·s/rad; empty
    /// for none.
    pub fn compute_damped_motion<T: Real>(
        &self,
        x: &State<T>,
        controls: &[T],
        damping: &[f64],
        ws: &mut Workspace<T>,
    ) -> Result<(), MotionError> {
        self.compute_kinematics(x, ws);
        self.compute_paths(x, ws);
        self.compute_forces(x, controls, ws);
        for ((load, u), d) in ws.mobility_load.iter_mut().zip(&x.u).zip(damping) {
            *load -= *u * *d;
        }
        self.compute_accelerations(x, ws)
    }

    /// Equilibrates all muscle fibers with their tendons at the pose, speeds and activations of `x`. Returns the forces
    /// without equilibrium, each with the reason; their states are not changed.
    pub fn solve_equilibrium(
        &self,
        x: &mut State<f64>,
        controls: &[f64],
        ws: &mut Workspace<f64>,
    ) -> Vec<(usize, MuscleError)> {
        self.compute_kinematics(x, ws);
        self.compute_paths(x, ws);
        let mut failures = Vec::new();
        for (i, f) in self.forces.iter().enumerate() {
            let Actor::Muscle(m) = &f.actor else { continue };
            let states = &mut x.z[f.states.clone()];
            let activation = match m.state_names().iter().position(|&n| n == "activation") {
                Some(k) => states[k],
                None => controls[f.controls.start],
            };
            let before = states.to_vec();
            if let Err(e) = m.solve_equilibrium(ws.paths[i].length(), ws.paths[i].speed(), activation, states)
            {
                states.copy_from_slice(&before);
                failures.push((i, e));
            }
        }
        failures
    }

    /// Accelerations of the bodies for the u̇ in the workspace.
    pub fn compute_body_accelerations<T: Real>(&self, ws: &mut Workspace<T>) {
        ws.A_GB[0] = SpatialVec::zero();
        compute_accelerations(&self.tree, &ws.kin, &ws.udot, &mut ws.A_GB);
    }
}

/// What forces ask of a model while they are compiled.
pub(crate) struct Named<'a> {
    pub(crate) model: &'a Model,
    pub(crate) tree: &'a Tree,
}

impl Resolve for Named<'_> {
    fn frame(&self, id: FrameId) -> BodyFrame {
        self.tree.frame(id)
    }
    fn mobility(&self, id: CoordinateId) -> usize {
        self.tree.mobility(id)
    }
}

impl ForceResolve for Named<'_> {
    fn frame_name(&self, id: FrameId) -> &str {
        &self.model.frames[id.0].name
    }
    fn is_rotational(&self, id: CoordinateId) -> bool {
        self.model.coordinates[id.0].motion_type == MotionType::Rotational
    }
    fn coordinate_named(&self, name: &str) -> Option<CoordinateId> {
        let list = &self.model.coordinates;
        only(list.iter().map(|c| (c.name.as_str(), c.path.as_str())), name)
            .filter(|&i| self.tree.mobility_of_coordinate[i] < self.tree.num_mobilities)
            .map(CoordinateId)
    }
    fn coordinate_names(&self) -> Vec<String> {
        self.model.coordinates.iter().map(|c| c.name.clone()).collect()
    }
    fn point_named(&self, name: &str) -> Option<(FrameId, Vec3<f64>)> {
        let m = self.model;
        for list in [&m.markers, &m.stations] {
            if let Some(i) = only(list.iter().map(|p| (p.name.as_str(), p.path.as_str())), name) {
                return Some((list[i].frame, list[i].location));
            }
        }
        let frame = only(m.frames.iter().map(|f| (f.name.as_str(), f.path.as_str())), name)?;
        Some((FrameId(frame), Vec3::zero()))
    }
}

/// The place of the only thing with that path, or that name.
fn only<'n>(list: impl Iterator<Item = (&'n str, &'n str)> + Clone, name: &str) -> Option<usize> {
    if let Some(i) = list.clone().position(|(_, path)| path == name) {
        return Some(i);
    }
    let mut fitting = list.enumerate().filter(|(_, (own, _))| *own == name).map(|(i, _)| i);
    fitting.next().filter(|_| fitting.next().is_none())
}

/// Nearest node that carries both.
fn common_ancestor(tree: &Tree, mut a: usize, mut b: usize) -> usize {
    while a != b {
        if a > b {
            a = tree.nodes[a].parent;
        } else {
            b = tree.nodes[b].parent;
        }
    }
    a
}

/// Constraints in Simbody's order: along the tree the locks and prescriptions of each joint's
/// coordinates and the welds that close loops, then the model's own. Their numbers are named by the path of the constraint and the
/// property.
pub(crate) fn compile_constraints<P: Real>(
    model: &Model,
    tree: &Tree,
    n: &mut Numbers<P>,
) -> ConstraintSet<P> {
    let mut list = Vec::new();
    let weld = |first: BodyFrame<P>, second: BodyFrame<P>| CompiledConstraint::Weld {
        ancestor: common_ancestor(tree, first.body, second.body),
        first,
        second,
    };
    for &j in &tree.joint_order {
        for &c in &model.joints[j.0].coordinates {
            let (mobility, c) = (tree.mobility(c), &model.coordinates[c.0]);
            if c.locked {
                list.push(CompiledConstraint::Locked { mobility, value: c.default_value });
            }
            if let (true, Some(f)) = (c.prescribed, &c.prescribed_function) {
                list.push(CompiledConstraint::Prescribed { mobility, function: f.clone() });
            }
        }
        // A body and its copy.
        for l in tree.loops.iter().filter(|l| l.joint == j) {
            let [first, second] =
                [l.first, l.second].map(|f| BodyFrame { body: f.body, X_BF: Transform::cst(f.X_BF) });
            list.push(weld(first, second));
        }
    }
    for l in tree.loops.iter().filter(|l| !tree.joint_order.contains(&l.joint)) {
        let joint = &model.joints[l.joint.0];
        list.push(weld(n.frame(tree, joint.parent), n.frame(tree, joint.child)));
    }
    for c in model.constraints.iter().filter(|c| c.enforced) {
        // OpenSim reads the points of these constraints in the frame's body, whatever the frame.
        let station = |n: &mut Numbers<P>, frame, property: &str, p_BS| {
            let p_BS = n.vector(&format!("{}/{property}", c.path), p_BS);
            Station { body: tree.frame(frame).body, p_BS }
        };
        list.push(match &c.kind {
            ConstraintKind::CoordinateCoupler { independent, dependent, function, scale } => {
                CompiledConstraint::Coupler {
                    independent: independent.iter().map(|&c| tree.mobility(c)).collect(),
                    dependent: tree.mobility(*dependent),
                    function: function.clone(),
                    scale: n.number(&format!("{}/scale_factor", c.path), *scale),
                }
            }
            ConstraintKind::Point { body_1, body_2, location_1, location_2 } => {
                let first = station(n, *body_1, "location_body_1", *location_1);
                let second = station(n, *body_2, "location_body_2", *location_2);
                CompiledConstraint::Point {
                    ancestor: common_ancestor(tree, first.body, second.body),
                    first,
                    second,
                }
            }
            ConstraintKind::Weld { frame_1, frame_2 } => {
                weld(n.frame(tree, *frame_1), n.frame(tree, *frame_2))
            }
            ConstraintKind::ConstantDistance { body_1, body_2, location_1, location_2, distance } => {
                CompiledConstraint::Distance {
                    first: station(n, *body_1, "location_body_1", *location_1),
                    second: station(n, *body_2, "location_body_2", *location_2),
                    distance: *distance,
                }
            }
            ConstraintKind::PointOnLine {
                line_body,
                follower_body,
                direction,
                point_on_line,
                point_on_follower,
            } => {
                let z = n.vector(&format!("{}/line_direction_vec", c.path), *direction).normalized();
                let x = perpendicular(z);
                CompiledConstraint::PointOnLine {
                    line: station(n, *line_body, "point_on_line", *point_on_line),
                    across: [x, z.cross(x).normalized()],
                    follower: station(n, *follower_body, "point_on_follower", *point_on_follower),
                }
            }
            ConstraintKind::RollingOnSurface { rolling_body, surface_body, normal, height, .. } => {
                CompiledConstraint::Rolling(Rolling {
                    roller: tree.frame(*rolling_body).body,
                    surface: tree.frame(*surface_body).body,
                    normal: n.vector(&format!("{}/surface_normal", c.path), *normal).normalized(),
                    height: *height,
                    p_R: Vec3::zero(),
                    axis_R: Vec3::unit(2),
                    p_S: Vec3::zero(),
                    active: [true; 4],
                })
            }
        });
    }
    ConstraintSet { list }
}

/// A unit vector across `z`: the cross product with the axis that `z` has least of, as Simbody
/// chooses it, so that multipliers compare.
fn perpendicular<P: Real>(z: Vec3<P>) -> Vec3<P> {
    let a = z.value().to_array().map(f64::abs);
    let min = if a[0] <= a[1] {
        if a[0] <= a[2] { 0 } else { 2 }
    } else if a[1] <= a[2] {
        1
    } else {
        2
    };
    z.cross(Vec3::unit(min)).normalized()
}
