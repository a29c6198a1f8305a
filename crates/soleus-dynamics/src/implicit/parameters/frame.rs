//! Offset frames: what stands in one, and how it moves with it.

use super::find::{ParameterError, Search, angle_and_axis, component};
use super::{D, Kind, Motion, Parameter, seed};
use crate::constants::Numbers;
use crate::path::geometry_path::Change;
use crate::system::compile_constraints;
use soleus_math::{Real, Transform, Vec3};
use soleus_model::id::FrameId;
use std::cell::Cell;

impl Search<'_> {
    /// Place or orientation of an offset frame, with everything that stands in it: joints, points of paths, wrap objects,
    /// contact geometry, constraints and forces.
    pub(super) fn of_frame(&self, index: usize, property: &str) -> Result<Parameter, ParameterError> {
        let frame = &self.model.frames[index];
        let (Some(from), Some((name @ ("translation" | "orientation"), k))) =
            (frame.offset_from, component(property))
        else {
            let (class, names) = match frame.offset_from {
                Some(_) => ("PhysicalOffsetFrame", "translation/0 to 2, orientation/0 to 2"),
                None => ("frame that is not an offset frame", ""),
            };
            return self.not_supported(class, names);
        };
        let X_BP = self.model.frames[from.0].X_BF;
        let X_PF = X_BP.inverse() * frame.X_BF;
        let (value, unit, motion) = if name == "translation" {
            (X_PF.p[k], "m", Motion::shift(X_BP.R * Vec3::unit(k)))
        } else {
            // About the origin of the frame, which stays.
            let (angle, axis) = angle_and_axis(X_PF.R, k);
            let turn = X_BP.R * axis;
            (angle, "rad", Motion { turn, shift: -turn.cross(frame.X_BF.p) })
        };
        let moved = self.standing_on(FrameId(index));
        let mut kinds = self.joints_in(&moved, motion);
        kinds.extend(self.paths_in(&moved, motion));
        for (g, _) in self.model.contact_geometries.iter().enumerate().filter(|(_, g)| moved[g.frame.0]) {
            kinds.extend(self.places_of_geometry(g, motion)?);
        }
        kinds.extend(self.holding_on(&moved, motion)?);
        self.found(value, unit, kinds)
    }

    /// Which frames move with a frame: itself, and those whose offset is from one of them.
    fn standing_on(&self, frame: FrameId) -> Vec<bool> {
        let mut moved = vec![false; self.model.frames.len()];
        moved[frame.0] = true;
        // A frame may come before the one it stands on.
        for _ in 0..moved.len() {
            for (i, f) in self.model.frames.iter().enumerate() {
                moved[i] |= f.offset_from.is_some_and(|on| moved[on.0]);
            }
        }
        moved
    }

    /// Joints whose frames are among those that move.
    fn joints_in(&self, moved: &[bool], motion: Motion) -> Vec<Kind> {
        let nodes = &self.implicit.system.tree.nodes;
        let mut kinds = Vec::new();
        for (j, joint) in self.model.joints.iter().enumerate() {
            let mine = |i: &usize| nodes[*i].joint_id.is_some_and(|id| id.0 == j);
            let (first, last) = ((1..nodes.len()).find(mine), (1..nodes.len()).rfind(mine));
            let (Some(first), Some(last)) = (first, last) else { continue };
            let (mut inboard, mut outboard) = (joint.parent, joint.child);
            if nodes[first].reversed {
                std::mem::swap(&mut inboard, &mut outboard);
            }
            let frames = |i: usize| (Transform::<D>::cst(nodes[i].X_PF), Transform::<D>::cst(nodes[i].X_MB));
            if moved[inboard.0] {
                // X_PF moves in the parent.
                let (X_PF, X_MB) = frames(first);
                let shift = motion.of_point(nodes[first].X_PF.p);
                let X_PF = X_PF.nudged(seed(motion.turn), seed(shift));
                kinds.push(Kind::Joint { node: first, frames: Box::new([X_PF, X_MB]) });
            }
            if moved[outboard.0] {
                // X_BM moves in the body, and X_MB is its inverse.
                let (X_PF, X_MB) = frames(last);
                let X_BM = nodes[last].X_MB.inverse();
                let shift = motion.of_point(X_BM.p);
                let X_BM = Transform::cst(X_BM).nudged(seed(motion.turn), seed(shift));
                let X_MB = exactly(X_MB, X_BM.inverse());
                kinds.push(Kind::Joint { node: last, frames: Box::new([X_PF, X_MB]) });
            }
        }
        kinds
    }

    /// Constraints, and forces that act along no path, that hold on to frames that move. Contacts are known by their geometry.
    fn holding_on(&self, moved: &[bool], motion: Motion) -> Result<Vec<Kind>, ParameterError> {
        let holds_on = Cell::new(false);
        let pose = |id: FrameId, X_BF: Transform<f64>| {
            let X = Transform::cst(X_BF);
            if !moved[id.0] {
                return X;
            }
            holds_on.set(true);
            X.nudged(seed(motion.turn), seed(motion.of_point(X_BF.p)))
        };
        let mut kinds = Vec::new();
        let mut numbers = Numbers { constant: &mut |_, value| D::cst(value), pose: &pose };
        let constraints = compile_constraints(self.model, &self.implicit.system.tree, &mut numbers);
        if holds_on.replace(false) {
            kinds.push(Kind::Constraints(constraints));
        }
        for force in 0..self.model.forces.len() {
            let actor = self.compiled(force, &mut numbers)?;
            if holds_on.replace(false) {
                kinds.push(Kind::Law { force, actor });
            }
        }
        Ok(kinds)
    }

    /// Points and wrap objects of paths among the frames that move.
    fn paths_in(&self, moved: &[bool], motion: Motion) -> Vec<Kind> {
        let mut kinds = Vec::new();
        for (force, f) in self.model.forces.iter().enumerate() {
            let Some(path) = &f.line_of_action else { continue };
            for (i, _) in path.points().iter().enumerate().filter(|(_, p)| moved[p.frame.0]) {
                // A point that is fixed or moves in the frame goes where the body would carry it.
                let change = Change::Point { point: i, turn: seed(motion.turn), shift: seed(motion.shift) };
                kinds.push(Kind::Path { force, change });
            }
        }
        for (object, w) in self.model.wraps.iter().enumerate().filter(|(_, w)| moved[w.frame.0]) {
            let p = (self.frame(w.frame).X_BF * w.pose).p;
            let change = Change::Pose { object, turn: seed(motion.turn), shift: seed(motion.of_point(p)) };
            kinds.extend(self.paths_around(object).map(|force| Kind::Path { force, change }));
        }
        kinds
    }
}

/// A pose with the value of the first and the derivatives of the second, which differ by rounding.
fn exactly(value: Transform<D>, derivatives: Transform<D>) -> Transform<D> {
    let mut X = value;
    for (to, from) in X.R.0.col.iter_mut().zip(derivatives.R.0.col) {
        for i in 0..3 {
            to[i].d = from[i].d;
        }
    }
    for i in 0..3 {
        X.p[i].d = derivatives.p[i].d;
    }
    X
}
