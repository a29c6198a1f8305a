//! Check for massless bodies that can move.

use super::Builder;
use crate::model::{Model, Unsupported};
use soleus_math::SymMat33;

impl Builder<'_> {
    /// Warns of bodies without mass at the end of a chain of joints: positions, velocities and moment arms need no mass,
    /// but nothing determines the accelerations of such a body.
    pub(super) fn massless_ends(&mut self) {
        // With joints missing, bodies hang in the air that do not.
        if self.cx.diags.borrow().has_errors() {
            return;
        }
        for b in massless_ends(&self.model) {
            let path = self.model.bodies[b].path.clone();
            let line = self.cx.components.iter().find(|c| c.path == path).map_or(0, |c| c.element.line);
            let message = "the body has no mass but can move: nothing determines its acceleration";
            let hint = "poses, velocities, moment arms, inverse kinematics and inverse dynamics work; simulations need a \
                        small mass and inertia, or a `WeldJoint`";
            self.cx.diags.borrow_mut().warn(line, &path, message, hint);
            let effect = "no mass but can move: accelerations and simulations are not available".to_string();
            self.model.unsupported.push(Unsupported { path, class: "Body".to_string(), line, effect });
        }
    }
}

/// The bodies that move with neither mass nor inertia at the end of a chain, ground excluded.
///
/// Bodies that are welded together count as one. One without mass that a single joint connects with the rest is an end;
/// without it, its neighbour may be one. So are all bodies of a group without mass, rings included, that a single joint, or
/// none, connects with ground or a mass.
fn massless_ends(model: &Model) -> Vec<usize> {
    let n = model.bodies.len();
    let body = |f: crate::id::FrameId| model.frames[f.0].body.0;
    let mut group: Vec<usize> = (0..n).collect();
    let links: Vec<(bool, usize, usize)> =
        model.joints.iter().map(|j| (j.coordinates.is_empty(), body(j.parent), body(j.child))).collect();
    for &(_, a, b) in links.iter().filter(|l| l.0) {
        let (from, to) = (group[a].max(group[b]), group[a].min(group[b]));
        group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
    }
    // Ground stands for everything that does not move.
    let mut empty = vec![true; n];
    empty[0] = false;
    for (b, &g) in model.bodies.iter().zip(&group) {
        empty[g] &= b.mass == 0.0 && b.inertia == SymMat33::zero();
    }
    let mut gone = vec![false; n];
    loop {
        let joints_of = |g: usize| {
            let ends = links.iter().filter(|l| !l.0).map(|&(_, a, b)| (group[a], group[b]));
            ends.filter(|&(a, b)| (a == g) != (b == g) && !gone[a] && !gone[b]).count()
        };
        let next = (0..n).find(|&g| group[g] == g && empty[g] && !gone[g] && joints_of(g) <= 1);
        match next {
            Some(g) => gone[g] = true,
            None => break,
        }
    }
    let moving = || links.iter().filter(|l| !l.0).map(|&(_, a, b)| (group[a], group[b]));
    let mut cluster: Vec<usize> = (0..n).collect();
    for (a, b) in moving().filter(|&(a, b)| empty[a] && empty[b]) {
        let (from, to) = (cluster[a].max(cluster[b]), cluster[a].min(cluster[b]));
        cluster.iter_mut().filter(|c| **c == from).for_each(|c| *c = to);
    }
    let held = |c: usize| {
        moving().filter(|&(a, b)| empty[a] != empty[b] && [cluster[a], cluster[b]].contains(&c)).count()
    };
    (0..n).filter(|&b| empty[group[b]] && (gone[group[b]] || held(cluster[group[b]]) <= 1)).collect()
}
