//! Construction of the spanning tree of bodies and joints.
//!
//! The order of bodies and mobilities is that of OpenSim and Simbody's `MultibodyGraphMaker`, so that results can be
//! compared directly: breadth first from ground, a movable body without mass immediately followed by its heaviest
//! neighbour, joints that close loops last.

use super::tree::TreeError;
use soleus_model::id::JointId;
use soleus_model::joint::JointKind;
use soleus_model::model::Model;

/// The level of a body that is not in the tree.
const OUTSIDE: usize = usize::MAX;

/// Picks for all joints, in the order of the tree.
pub(super) fn pick_joints(model: &Model) -> Result<Vec<Pick>, TreeError> {
    let mut growing = Growing::new(model)?;
    // Bodies that no joint mentions float freely.
    for body in growing.unmentioned() {
        growing.float(body);
    }
    loop {
        growing.grow();
        match growing.next_root() {
            Some(body) => growing.float(body),
            None => break,
        }
    }
    growing.close_loops();
    Ok(growing.picks)
}

/// A joint chosen for the tree.
pub(super) struct Pick {
    /// The joint; none for a body that is free in ground.
    pub joint: Option<JointId>,
    /// The body that is nearer to ground.
    pub inboard: usize,
    /// The body that the joint carries.
    pub outboard: usize,
    /// Whether the joint's parent is the body that it carries.
    pub reversed: bool,
    /// Whether it carries a copy of the body, since another joint carries the body itself.
    pub copy: bool,
}

/// The bodies that a joint connects.
struct Ends {
    parent: usize,
    child: usize,
}

/// A tree that grows from ground.
struct Growing<'a> {
    model: &'a Model,
    ends: Vec<Ends>,
    /// Distance of each body from ground, in joints.
    level: Vec<usize>,
    /// Whether each joint is in the tree.
    used: Vec<bool>,
    picks: Vec<Pick>,
}

impl<'a> Growing<'a> {
    /// Ground alone.
    fn new(model: &'a Model) -> Result<Self, TreeError> {
        let body = |frame: soleus_model::id::FrameId| model.frames[frame.0].body.0;
        let ends: Vec<Ends> =
            model.joints.iter().map(|j| Ends { parent: body(j.parent), child: body(j.child) }).collect();
        for (j, e) in model.joints.iter().zip(&ends) {
            if e.parent == e.child {
                let body = model.bodies[e.parent].path.clone();
                return Err(TreeError::SameBody { joint: j.path.clone(), body });
            }
        }
        let mut level = vec![OUTSIDE; model.bodies.len()];
        level[0] = 0;
        Ok(Growing { model, level, used: vec![false; ends.len()], ends, picks: Vec::new() })
    }

    /// Bodies that no joint mentions.
    fn unmentioned(&self) -> Vec<usize> {
        let mentioned = |b: usize| self.ends.iter().any(|e| e.parent == b || e.child == b);
        (1..self.level.len()).filter(|&b| !mentioned(b)).collect()
    }

    /// Puts a body into the tree, free in ground.
    fn float(&mut self, body: usize) {
        self.level[body] = 1;
        self.picks.push(Pick { joint: None, inboard: 0, outboard: body, reversed: false, copy: false });
    }

    /// Puts a joint into the tree if exactly one of its bodies is there; the outboard body if so.
    fn take(&mut self, joint: usize) -> Option<usize> {
        let Ends { parent, child } = self.ends[joint];
        let (has_parent, has_child) = (self.level[parent] != OUTSIDE, self.level[child] != OUTSIDE);
        if self.used[joint] || has_parent == has_child {
            return None;
        }
        let (inboard, outboard) = if has_parent { (parent, child) } else { (child, parent) };
        self.level[outboard] = self.level[inboard] + 1;
        self.used[joint] = true;
        let joint = Some(JointId(joint));
        self.picks.push(Pick { joint, inboard, outboard, reversed: !has_parent, copy: false });
        Some(outboard)
    }

    /// Takes every joint that leads outward, a level before the next.
    fn grow(&mut self) {
        for depth in 1..=self.level.len() {
            for joint in 0..self.ends.len() {
                let Ends { parent, child } = self.ends[joint];
                let inboard_level = match (self.level[parent], self.level[child]) {
                    (OUTSIDE, l) | (l, OUTSIDE) => l,
                    _ => continue,
                };
                if inboard_level != depth - 1 {
                    continue;
                }
                let Some(outboard) = self.take(joint) else { continue };
                // OpenSim counts a custom joint as rigid here, and the order of mobilities follows.
                let j = &self.model.joints[joint];
                if !j.coordinates.is_empty() && !matches!(j.kind, JointKind::Custom(_)) {
                    self.follow_massless(outboard);
                }
            }
        }
    }

    /// A movable body without mass must not end a branch: goes on to its heaviest neighbour.
    fn follow_massless(&mut self, mut body: usize) {
        while self.model.bodies[body].mass == 0.0 {
            let next = self
                .heaviest_neighbour(body, true)
                .or_else(|| self.heaviest_neighbour(body, false))
                .or_else(|| self.any_neighbour(body));
            match next.and_then(|joint| self.take(joint)) {
                Some(outboard) => body = outboard,
                None => return,
            }
        }
    }

    /// The joint to the heaviest body outside the tree of which `body` is the parent, or the child.
    fn heaviest_neighbour(&self, body: usize, as_parent: bool) -> Option<usize> {
        let (mut best, mut mass) = (None, 0.0);
        for (i, e) in self.ends.iter().enumerate() {
            let (here, there) = if as_parent { (e.parent, e.child) } else { (e.child, e.parent) };
            let is_open = here == body && !self.used[i] && self.level[there] == OUTSIDE;
            if is_open && self.model.bodies[there].mass > mass {
                (best, mass) = (Some(i), self.model.bodies[there].mass);
            }
        }
        best
    }

    /// The first joint from `body` to one outside the tree.
    fn any_neighbour(&self, body: usize) -> Option<usize> {
        let is_outside = |b: usize| self.level[b] == OUTSIDE;
        (0..self.ends.len()).find(|&i| {
            let Ends { parent, child } = self.ends[i];
            !self.used[i] && ((parent == body && is_outside(child)) || (child == body && is_outside(parent)))
        })
    }

    /// Of bodies that hang together but not with ground the one that is never a child, or has the most children: it gets a free
    /// joint.
    fn next_root(&self) -> Option<usize> {
        let rank = |b: usize| {
            let is_child = self.ends.iter().any(|e| e.child == b);
            (!is_child, self.ends.iter().filter(|e| e.parent == b).count())
        };
        let mut best: Option<usize> = None;
        for b in (1..self.level.len()).filter(|&b| self.level[b] == OUTSIDE) {
            if best.is_none_or(|x| rank(b) > rank(x)) {
                best = Some(b);
            }
        }
        best
    }

    /// What is left closes loops: each such joint carries a copy of its child. A weld becomes a constraint instead.
    fn close_loops(&mut self) {
        for (j, Ends { parent, child }) in self.ends.iter().enumerate() {
            if !self.used[j] && self.model.joints[j].kind != JointKind::Weld {
                let (joint, inboard, outboard) = (Some(JointId(j)), *parent, *child);
                self.picks.push(Pick { joint, inboard, outboard, reversed: false, copy: true });
            }
        }
    }
}
