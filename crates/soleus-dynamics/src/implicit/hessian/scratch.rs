//! Memory for jets, allocated only where something needs them.

use super::constraints::ConstraintPlan;
use super::forces::ForcePlan;
use super::paths::PathPlan;
use crate::constraint::ConstraintWorkspace;
use crate::multibody::TreeKinematics;
use crate::path::PathState;
use crate::system::System;
use soleus_math::{Jet, Real, SpatialVec, Transform};

/// Variables of one jet: the displacement and velocity of one body. One size for all keeps the program small.
pub(super) const CAPACITY: usize = 12;
pub(super) type J = Jet<CAPACITY, 78>;

/// The few coordinates that most paths cross and most actuators see. Jets over them cost a sixth of the larger ones.
pub(super) const FEW: usize = 4;

/// Jets of forces, paths and constraints; of the first two for those that see few variables, and many.
#[derive(Clone, Debug)]
pub(super) struct JetScratch {
    pub few_forces: ForceJets<FEW, 10>,
    pub many_forces: ForceJets<CAPACITY, 78>,
    pub few_paths: PathJets<FEW, 10>,
    pub many_paths: PathJets<CAPACITY, 78>,
    /// Coordinates, speeds and all bodies, for constraints.
    pub all_q: Vec<J>,
    pub all_u: Vec<J>,
    pub kinematics: Option<TreeKinematics<J>>,
    pub rows: Option<ConstraintWorkspace<J>>,
}

/// Poses, velocities and loads as forces see them.
#[derive(Clone, Debug)]
pub(super) struct ForceJets<const N: usize, const H: usize> {
    pub X_GB: Vec<Transform<Jet<N, H>>>,
    pub V_GB: Vec<SpatialVec<Jet<N, H>>>,
    pub q: Vec<Jet<N, H>>,
    pub u: Vec<Jet<N, H>>,
    pub body: Vec<SpatialVec<Jet<N, H>>>,
    pub mobility: Vec<Jet<N, H>>,
    /// Displacement of each body, and the first of its variables: which lifts are still good.
    pub lifted: Vec<Option<usize>>,
    pub moved: Vec<Transform<Jet<N, H>>>,
}

impl<const N: usize, const H: usize> ForceJets<N, H> {
    fn new(s: &System, used: bool) -> Self {
        let n = if used { s.tree.num_mobilities } else { 0 };
        let nb = if used { s.tree.nodes.len() } else { 0 };
        ForceJets {
            X_GB: vec![Transform::identity(); nb],
            V_GB: vec![SpatialVec::zero(); nb],
            q: vec![Jet::zero(); n],
            u: vec![Jet::zero(); n],
            body: vec![SpatialVec::zero(); nb],
            mobility: vec![Jet::zero(); n],
            lifted: vec![None; nb],
            moved: vec![Transform::identity(); nb],
        }
    }
}

/// The same for paths through points.
#[derive(Clone, Debug)]
pub(super) struct PathJets<const N: usize, const H: usize> {
    pub X_GB: Vec<Transform<Jet<N, H>>>,
    pub V_GB: Vec<SpatialVec<Jet<N, H>>>,
    /// Velocities for the weights as speeds.
    pub W_GB: Vec<SpatialVec<Jet<N, H>>>,
    pub H_B: Vec<SpatialVec<Jet<N, H>>>,
    pub q: Vec<Jet<N, H>>,
    pub u: Vec<Jet<N, H>>,
    pub body: Vec<SpatialVec<Jet<N, H>>>,
    pub mobility: Vec<Jet<N, H>>,
    /// By force; empty for those that these jets are not for.
    pub paths: Vec<PathState<Jet<N, H>>>,
}

impl<const N: usize, const H: usize> PathJets<N, H> {
    fn new<'a>(s: &System, plans: impl Iterator<Item = &'a PathPlan>) -> Self {
        let mut paths: Vec<PathState<Jet<N, H>>> = Vec::new();
        for plan in plans {
            paths.resize_with(s.forces.len(), PathState::empty);
            if let Some(path) = &s.forces[plan.force].path {
                paths[plan.force] = PathState::new(path);
            }
        }
        let used = !paths.is_empty();
        let n = if used { s.tree.num_mobilities } else { 0 };
        let nb = if used { s.tree.nodes.len() } else { 0 };
        let zero = SpatialVec::zero();
        PathJets {
            X_GB: vec![Transform::identity(); nb],
            V_GB: vec![zero; nb],
            W_GB: vec![zero; nb],
            H_B: vec![zero; n],
            q: vec![Jet::zero(); n],
            u: vec![Jet::zero(); n],
            body: vec![zero; nb],
            mobility: vec![Jet::zero(); n],
            paths,
        }
    }
}

impl JetScratch {
    pub fn new(s: &System, paths: &[PathPlan], forces: &[ForcePlan], constraints: &[ConstraintPlan]) -> Self {
        let by_constraints = !constraints.is_empty();
        let all = if by_constraints { s.tree.num_mobilities } else { 0 };
        JetScratch {
            few_forces: ForceJets::new(s, forces.iter().any(|f| f.sees_few())),
            many_forces: ForceJets::new(s, forces.iter().any(|f| !f.sees_few())),
            few_paths: PathJets::new(s, paths.iter().filter(|p| p.has_points() && p.crosses_few())),
            many_paths: PathJets::new(s, paths.iter().filter(|p| p.has_points() && !p.crosses_few())),
            all_q: vec![J::zero(); all],
            all_u: vec![J::zero(); all],
            kinematics: by_constraints.then(|| TreeKinematics::new(&s.tree)),
            rows: by_constraints.then(|| s.constraints.workspace(&s.tree)),
        }
    }
}
