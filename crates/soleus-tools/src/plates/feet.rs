//! Feet of a model, and their positions during a motion.

use soleus_dynamics::System;
use soleus_math::{Table, Vec3, vec3};
use soleus_model::{Model, angles};
use soleus_simulation::system::state_column;

/// The side of a body that faces along x, with y up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// z > 0.
    Right,
    /// z < 0.
    Left,
}

impl Side {
    /// Name of the side.
    pub fn name(self) -> &'static str {
        match self {
            Side::Right => "right",
            Side::Left => "left",
        }
    }

    /// Suffix of names of bodies and coordinates.
    pub fn letter(self) -> &'static str {
        match self {
            Side::Right => "r",
            Side::Left => "l",
        }
    }
}

/// A foot of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Foot {
    /// The side it is on.
    pub side: Side,
    /// The body on which ground forces act: the heaviest of the foot, `calcn` if there is one.
    pub body: usize,
    /// All bodies of the foot.
    pub bodies: Vec<usize>,
}

/// Bodies whose lowest point, origin or mass centre, is lower than this part of the model's height are a foot's.
const FOOT_PART: f64 = 0.15;

/// Feet of a model: branches of the tree that end lowest in its default pose, at most one on each side. Names do not
/// matter.
pub fn find_feet(model: &Model, system: &System) -> Vec<Foot> {
    let mut ws = system.workspace();
    system.compute_kinematics(&system.default_state, &mut ws);
    let up = upwards(model);
    let nodes = &system.tree.nodes;
    let body_of = |i: usize| nodes[i].body.filter(|b| b.0 > 0 && !nodes[i].is_copy).map(|b| b.0);
    let center = |i: usize, b: usize| ws.kin.X_GB[i] * model.bodies[b].mass_center;
    let low = |i: usize| body_of(i).map(|b| center(i, b).dot(up).min(ws.kin.X_GB[i].p.dot(up)));
    let heights: Vec<f64> = (0..nodes.len()).filter_map(low).collect();
    let (bottom, top) =
        heights.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), h| (lo.min(*h), hi.max(*h)));
    let limit = bottom + FOOT_PART * (top - bottom);
    let is_low = |i: usize| low(i).is_some_and(|h| h < limit);

    // From the end of each low branch up as long as it stays low.
    let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
    for leaf in (1..nodes.len()).filter(|&i| is_low(i) && nodes.iter().all(|n| n.parent != i)) {
        let (mut chain, mut node) = (vec![leaf], leaf);
        while nodes[node].parent != 0 && is_low(nodes[node].parent) {
            node = nodes[node].parent;
            chain.push(node);
        }
        match groups.iter_mut().find(|(root, _)| *root == node) {
            Some((_, list)) => list.extend(chain),
            None => groups.push((node, chain)),
        }
    }
    let mut feet: Vec<(Foot, f64, f64)> = Vec::new();
    let across = |p: Vec3<f64>| p.dot(vec3(1.0, 0.0, 0.0).cross(up));
    for (_, mut list) in groups {
        list.sort_unstable();
        list.dedup();
        let bodies: Vec<usize> = list.iter().filter_map(|&i| body_of(i)).collect();
        let heaviest =
            bodies.iter().copied().max_by(|&a, &b| model.bodies[a].mass.total_cmp(&model.bodies[b].mass));
        let Some(body) = heaviest.filter(|&b| model.bodies[b].mass > 0.0) else { continue };
        let z = across(center(system.tree.node_of_body[body], body));
        feet.push((Foot { side: Side::Right, body, bodies }, z, model.bodies[body].mass));
    }
    // A walker has two feet: of more low branches the heaviest are feet.
    feet.sort_by(|a, b| b.2.total_cmp(&a.2));
    feet.truncate(2);
    let middle = feet.iter().map(|f| f.1).sum::<f64>() / feet.len().max(1) as f64;
    for (foot, z, _) in &mut feet {
        let by_name = model.bodies[foot.body].name.to_lowercase();
        let is_left = by_name.ends_with("_l") || by_name.ends_with("left") || by_name.starts_with("l_");
        // Of planar models both feet are in one plane, and names tell.
        let in_plane = (*z - middle).abs() < 1e-6;
        foot.side =
            if (in_plane && is_left) || (!in_plane && *z < middle) { Side::Left } else { Side::Right };
    }
    feet.sort_by_key(|f| f.0.side == Side::Left);
    feet.into_iter().map(|f| f.0).collect()
}

/// Against gravity; y where there is none.
pub(crate) fn upwards(model: &Model) -> Vec3<f64> {
    let g = model.gravity.norm();
    if g > 0.0 { model.gravity * (-1.0 / g) } else { vec3(0.0, 1.0, 0.0) }
}

/// Positions of the feet during a motion.
#[derive(Clone, Debug)]
pub struct FootPaths {
    /// Times of the motion, s.
    pub times: Vec<f64>,
    /// For each foot, at each time: origins and mass centres of its bodies, in ground.
    pub points: Vec<Vec<Vec<Vec3<f64>>>>,
}

impl FootPaths {
    /// From a motion: coordinates, in degrees if the header says so, or states.
    pub fn new(model: &Model, system: &System, motion: &Table, feet: &[Foot]) -> FootPaths {
        let columns =
            model.coordinates.iter().zip(&system.tree.mobility_of_coordinate).filter_map(|(c, &m)| {
                let column = state_column(motion.labels(), &format!("{}/value", c.path))?;
                (m != usize::MAX).then_some((m, column, angles::unit_of(motion, c)))
            });
        let columns: Vec<(usize, usize, f64)> = columns.collect();
        let (mut state, mut ws) = (system.default_state.clone(), system.workspace());
        let mut points = vec![Vec::with_capacity(motion.rows()); feet.len()];
        for row in 0..motion.rows() {
            for &(m, column, factor) in &columns {
                state.q[m] = factor * motion.columns()[column][row];
            }
            system.compute_kinematics(&state, &mut ws);
            for (foot, list) in feet.iter().zip(&mut points) {
                let place = |&b: &usize| {
                    let X_GB = ws.kin.X_GB[system.tree.node_of_body[b]];
                    [X_GB.p, X_GB * model.bodies[b].mass_center]
                };
                list.push(foot.bodies.iter().flat_map(place).collect());
            }
        }
        FootPaths { times: motion.times().to_vec(), points }
    }

    /// The row nearest to a time; `None` more than half a step outside the motion.
    pub fn row_at(&self, time: f64) -> Option<usize> {
        let (first, last) = (*self.times.first()?, *self.times.last()?);
        let half = 0.5 * (last - first) / (self.times.len().max(2) - 1) as f64;
        if time < first - half || time > last + half {
            return None;
        }
        let next = self.times.partition_point(|t| *t < time).min(self.times.len() - 1);
        let before = next.saturating_sub(1);
        Some(if time - self.times[before] < self.times[next] - time { before } else { next })
    }

    /// Distance of a point from a foot, m: from the nearest line between two of its points.
    pub fn distance(&self, foot: usize, row: usize, p: Vec3<f64>) -> f64 {
        let points = &self.points[foot][row];
        let mut least = f64::INFINITY;
        for (i, &a) in points.iter().enumerate() {
            for &b in &points[i..] {
                least = least.min(distance_from_line(p, a, b));
            }
        }
        least
    }
}

/// Distance of a point from the line from a to b, which ends there.
fn distance_from_line(p: Vec3<f64>, a: Vec3<f64>, b: Vec3<f64>) -> f64 {
    let (along, length_sq) = (b - a, (b - a).norm_sq());
    let s = if length_sq > 0.0 { ((p - a).dot(along) / length_sq).clamp(0.0, 1.0) } else { 0.0 };
    (p - a - along * s).norm()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_distance_from_a_line_that_ends() {
        let (a, b) = (vec3(0.0, 0.0, 0.0), vec3(2.0, 0.0, 0.0));
        for (p, d) in [(vec3(1.0, 3.0, 0.0), 3.0), (vec3(5.0, 4.0, 0.0), 5.0), (vec3(-3.0, 0.0, 4.0), 5.0)] {
            assert!((distance_from_line(p, a, b) - d).abs() < 1e-15);
        }
        assert!((distance_from_line(vec3(3.0, 4.0, 0.0), a, a) - 5.0).abs() < 1e-15);
    }
}
