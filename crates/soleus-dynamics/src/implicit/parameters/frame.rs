//! Offset frames: what stands in one, and how it moves with it.

use super::find::{ParameterError, Search, angle_and_axis, component};
use super::{D, Kind, Motion, Parameter, Place, seed};
use crate::path::geometry_path::Change;
use crate::system::{Actor, System};
use soleus_math::{Transform, Vec3};
use soleus_model::Model;
use soleus_model::force::ForceKind;
use soleus_model::id::FrameId;
use soleus_model::path::{Path, PathPointKind};

impl Search<'_> {
    /// Place or orientation of an offset frame, with everything that stands in it: joints, points of paths, wrap objects,
    /// contact geometry and bushings.
    pub(super) fn of_frame(&self, index: usize, property: &str) -> Result<Parameter, ParameterError> {
        let frame = &self.model.frames[index];
        let (Some(from), Some((name @ ("translation" | "orientation"), k))) =
            (frame.offset_from, component(property))
        else {
            let (class, names) = match frame.offset_from {
                Some(_) => ("PhysicalOffsetFrame", "translation/0 to 2, orientation/0 to 2"),
                None => ("frame that is no offset frame", ""),
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
        self.refuse_others(&moved)?;
        let mut kinds = self.joints_in(&moved, motion)?;
        kinds.extend(self.paths_in(&moved, motion)?);
        for (g, _) in self.model.contact_geometries.iter().enumerate().filter(|(_, g)| moved[g.frame.0]) {
            kinds.extend(self.places_of_geometry(g, motion)?);
        }
        for (force, f) in self.model.forces.iter().enumerate() {
            let Some(frames) = frames_of_bushing(&f.kind) else { continue };
            let bodies = frames.map(|id| self.frame(id).body);
            // Between two frames of one body nothing acts on the whole.
            for side in (0..2).filter(|&i| moved[frames[i].0] && bodies[0] != bodies[1]) {
                kinds.push(Kind::Place(Place { force, contacts: None, body: bodies[side], motion }));
            }
        }
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

    /// An error if something stands in the frames that is not dealt with: a constraint, or another kind of force.
    fn refuse_others(&self, moved: &[bool]) -> Result<(), ParameterError> {
        let in_use = |component: &str| {
            let (path, component) = (self.path.to_string(), component.to_string());
            Err(ParameterError::FrameInUse { path, component })
        };
        // What is compiled otherwise with the frames elsewhere stands in them.
        let mut elsewhere: Model = self.model.clone();
        for (f, _) in elsewhere.frames.iter_mut().zip(moved).filter(|(_, moved)| **moved) {
            let by =
                Transform::from_offset(Vec3 { x: 0.01, y: 0.02, z: 0.03 }, Vec3 { x: 0.1, y: 0.2, z: 0.3 });
            f.X_BF = by * f.X_BF;
        }
        let (here, there) = (self.implicit.system, System::compile_with(&elsewhere, self.options)?);
        let in_loop =
            |system: &System| system.tree.loops.iter().map(|l| [l.first, l.second]).collect::<Vec<_>>();
        if in_loop(here) != in_loop(&there) {
            return in_use("a joint that closes a loop");
        }
        if here.constraints != there.constraints {
            return in_use("a constraint");
        }
        for ((f, a), b) in self.model.forces.iter().zip(&here.forces).zip(&there.forces) {
            let touches = matches!(
                f.kind,
                ForceKind::HuntCrossleyForce(_)
                    | ForceKind::SmoothSphereHalfSpaceForce(_)
                    | ForceKind::ElasticFoundationForce(_)
            );
            let known = touches || frames_of_bushing(&f.kind).is_some();
            let differs = match (&a.actor, &b.actor) {
                (Actor::Force(a), Actor::Force(b)) => a != b,
                _ => false,
            };
            if !known && differs {
                return in_use(&f.path);
            }
        }
        Ok(())
    }

    /// Joints whose frames are among those that move.
    fn joints_in(&self, moved: &[bool], motion: Motion) -> Result<Vec<Kind>, ParameterError> {
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
        Ok(kinds)
    }

    /// Points and wrap objects of paths among the frames that move.
    fn paths_in(&self, moved: &[bool], motion: Motion) -> Result<Vec<Kind>, ParameterError> {
        let mut kinds = Vec::new();
        for (force, f) in self.model.forces.iter().enumerate() {
            let Some(Path::Geometry(path)) = &f.line_of_action else { continue };
            for (i, p) in path.points.iter().enumerate().filter(|(_, p)| moved[p.frame.0]) {
                let X_BF = self.frame(p.frame).X_BF;
                let place = match &p.kind {
                    PathPointKind::Fixed(p) | PathPointKind::Conditional { location: p, .. } => X_BF * *p,
                    PathPointKind::Moving { .. } => {
                        let (path, component) = (self.path.to_string(), format!("{}, which moves", p.name));
                        return Err(ParameterError::FrameInUse { path, component });
                    }
                };
                let change = Change::Point(i, seed(motion.of_point(place)));
                kinds.push(Kind::Path { force, change });
            }
        }
        for (object, w) in self.model.wraps.iter().enumerate().filter(|(_, w)| moved[w.frame.0]) {
            let p = (self.frame(w.frame).X_BF * w.pose).p;
            let change = Change::Pose { object, turn: seed(motion.turn), shift: seed(motion.of_point(p)) };
            kinds.extend(self.paths_around(object).map(|force| Kind::Path { force, change }));
        }
        Ok(kinds)
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

/// The two frames of a bushing.
fn frames_of_bushing(kind: &ForceKind) -> Option<[FrameId; 2]> {
    match kind {
        ForceKind::BushingForce(b) => Some([b.frame1, b.frame2]),
        ForceKind::FunctionBasedBushingForce(b) => Some([b.frame1, b.frame2]),
        ForceKind::ExpressionBasedBushingForce(b) => Some([b.frame1, b.frame2]),
        _ => None,
    }
}
