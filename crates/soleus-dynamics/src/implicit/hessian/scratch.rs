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

/// Poses, velocities and loads as jets, and the paths and constraints that see them.
#[derive(Clone, Debug)]
pub(super) struct JetScratch {
    pub X_GB: Vec<Transform<J>>,
    pub V_GB: Vec<SpatialVec<J>>,
    /// Velocities for the weights as speeds.
    pub W_GB: Vec<SpatialVec<J>>,
    pub H_B: Vec<SpatialVec<J>>,
    pub q: Vec<J>,
    pub u: Vec<J>,
    pub body: Vec<SpatialVec<J>>,
    pub mobility: Vec<J>,
    /// By force; empty for those without points.
    pub paths: Vec<PathState<J>>,
    /// Displacement of each body, and the first of its variables: which lifts are still good.
    pub lifted: Vec<Option<usize>>,
    pub moved: Vec<Transform<J>>,
    /// Coordinates, speeds and all bodies, for constraints.
    pub all_q: Vec<J>,
    pub all_u: Vec<J>,
    pub kinematics: Option<TreeKinematics<J>>,
    pub rows: Option<ConstraintWorkspace<J>>,
}

impl JetScratch {
    pub fn new(s: &System, paths: &[PathPlan], forces: &[ForcePlan], constraints: &[ConstraintPlan]) -> Self {
        let by_paths = paths.iter().any(|p| p.has_points());
        let by_forces = !forces.is_empty();
        let by_constraints = !constraints.is_empty();
        let (n, nb) = (s.tree.num_mobilities, s.tree.nodes.len());
        let (zero, still) = (SpatialVec::zero(), Transform::identity());
        let used = by_paths || by_forces;
        let bodies = if used { nb } else { 0 };
        let mobilities = if used { n } else { 0 };
        let mut states: Vec<PathState<J>> = Vec::new();
        if by_paths {
            states = s.forces.iter().map(|_| PathState::empty()).collect();
            for p in paths.iter().filter(|p| p.has_points()) {
                if let Some(path) = &s.forces[p.force].path {
                    states[p.force] = PathState::new(path);
                }
            }
        }
        JetScratch {
            X_GB: vec![still; bodies],
            V_GB: vec![zero; bodies],
            W_GB: vec![zero; if by_paths { nb } else { 0 }],
            H_B: vec![zero; if by_paths { n } else { 0 }],
            q: vec![J::zero(); mobilities],
            u: vec![J::zero(); mobilities],
            body: vec![zero; bodies],
            mobility: vec![J::zero(); mobilities],
            paths: states,
            lifted: vec![None; if by_forces { nb } else { 0 }],
            moved: vec![still; if by_forces { nb } else { 0 }],
            all_q: vec![J::zero(); if by_constraints { n } else { 0 }],
            all_u: vec![J::zero(); if by_constraints { n } else { 0 }],
            kinematics: by_constraints.then(|| TreeKinematics::new(&s.tree)),
            rows: by_constraints.then(|| s.constraints.workspace(&s.tree)),
        }
    }
}
