//! Constraint forces on bodies and mobilities.
//!
//! In M u̇ + Gᵀ λ = f the constraint forces are −Gᵀ λ. Here they are separated into wrenches on bodies and forces on
//! mobilities, for joint reactions and contact reports.

use super::{CompiledConstraint, ConstraintSet};
use crate::joint::angles_rate;
use crate::kinematics::Loads;
use crate::multibody::{Tree, TreeKinematics};
use soleus_math::{Real, SpatialVec, Transform, Vec3, vec3};
use std::ops::Range;

impl ConstraintSet {
    /// Equations of constraint `i`: holonomic equations, and velocity equations.
    pub fn equations(&self, i: usize) -> (Range<usize>, Range<usize>) {
        let position =
            |c: &[CompiledConstraint]| c.iter().map(CompiledConstraint::num_position).sum::<usize>();
        let speed = |c: &[CompiledConstraint]| c.iter().map(CompiledConstraint::num_speed).sum::<usize>();
        let p = position(&self.list[..i]);
        let v = position(&self.list) + speed(&self.list[..i]);
        (p..p + self.list[i].num_position(), v..v + self.list[i].num_speed())
    }

    /// Adds the forces of all constraints, for multipliers `lambda` in the order of the equations.
    pub fn add_reactions<T: Real>(
        &self,
        tree: &Tree,
        k: &TreeKinematics<T>,
        lambda: &[T],
        loads: &mut Loads<T>,
    ) {
        for (i, c) in self.list.iter().enumerate() {
            let (p, v) = self.equations(i);
            c.add_reaction(tree, k, &lambda[p], &lambda[v], loads);
        }
    }
}

impl CompiledConstraint {
    /// Adds the forces of this constraint for the multipliers of its holonomic and velocity equations.
    pub fn add_reaction<T: Real>(
        &self,
        tree: &Tree,
        k: &TreeKinematics<T>,
        position: &[T],
        speed: &[T],
        loads: &mut Loads<T>,
    ) {
        match self {
            CompiledConstraint::Locked { mobility, .. } | CompiledConstraint::Prescribed { mobility, .. } => {
                add_to_coordinate(tree, k, *mobility, -position[0], loads);
            }
            CompiledConstraint::Coupler { independent, dependent, function, scale } => {
                let x: Vec<T> = independent.iter().map(|&i| k.q[i]).collect();
                let mut g = vec![T::zero(); x.len()];
                let mut h = vec![T::zero(); x.len() * x.len()];
                match x[..] {
                    [x] => g[0] = function.eval1(x)[1],
                    _ => {
                        function.eval_n(&x, &mut g, &mut h);
                    }
                }
                for (&i, &g) in independent.iter().zip(&g) {
                    add_to_coordinate(tree, k, i, -(position[0] * g * *scale), loads);
                }
                add_to_coordinate(tree, k, *dependent, position[0], loads);
            }
            CompiledConstraint::Point { first, second, ancestor } => {
                let p = k.X_GB[second.body] * Vec3::cst(second.p_BS);
                let f = k.X_GB[*ancestor].R * vec3(position[0], position[1], position[2]);
                add_pair(k, (second.body, first.body), p, -f, loads);
            }
            CompiledConstraint::Weld { first, second, ancestor } => {
                let X1 = k.X_GB[first.body] * Transform::cst(first.X_BF);
                let X2 = k.X_GB[second.body] * Transform::cst(second.X_BF);
                for i in 0..3 {
                    let t = X2.R.axis(i).cross(X1.R.axis((i + 1) % 3)) * position[i];
                    loads.add_moment(second.body, -t);
                    loads.add_moment(first.body, t);
                }
                let f = k.X_GB[*ancestor].R * vec3(position[3], position[4], position[5]);
                add_pair(k, (second.body, first.body), X2.p, -f, loads);
            }
            CompiledConstraint::Distance { first, second, .. } => {
                let p1 = k.X_GB[first.body] * Vec3::cst(first.p_BS);
                let p2 = k.X_GB[second.body] * Vec3::cst(second.p_BS);
                let r = p2 - p1;
                let f = r * (position[0] / r.norm());
                add_pair(k, (second.body, first.body), p2, -f, loads);
            }
            CompiledConstraint::PointOnLine { line, across, follower } => {
                let p = k.X_GB[follower.body] * Vec3::cst(follower.p_BS);
                let f: Vec3<T> = (0..2).fold(Vec3::zero(), |f, i| {
                    f + (k.X_GB[line.body].R * Vec3::cst(across[i])) * position[i]
                });
                add_pair(k, (follower.body, line.body), p, -f, loads);
            }
            CompiledConstraint::Rolling(c) => {
                let pair = (c.roller, c.surface);
                let (X_R, X_S) = (k.X_GB[c.roller], k.X_GB[c.surface]);
                let mut next = position.iter();
                let mut take = |on: bool| if on { next.next().copied() } else { None };
                if let Some(l) = take(c.active[0]) {
                    let d = X_S.R * Vec3::cst(c.normal);
                    add_pair(k, pair, X_R * Vec3::cst(c.p_R), -(d * l), loads);
                }
                if let Some(l) = take(c.active[1]) {
                    let t = (X_R.R * Vec3::cst(c.axis_R)).cross(X_S.R.axis(0)) * l;
                    loads.add_moment(c.roller, -t);
                    loads.add_moment(c.surface, t);
                }
                let mut next = speed.iter();
                for (axis, on) in [(0, c.active[2]), (2, c.active[3])] {
                    if let (true, Some(&l)) = (on, if on { next.next() } else { None }) {
                        add_pair(k, pair, X_S * Vec3::cst(c.p_S), -(X_S.R.axis(axis) * l), loads);
                    }
                }
            }
        }
    }
}

/// A force at ground place `p` on the first of two bodies, and the opposite on the second.
fn add_pair<T: Real>(
    k: &TreeKinematics<T>,
    (body, base): (usize, usize),
    p: Vec3<T>,
    f: Vec3<T>,
    loads: &mut Loads<T>,
) {
    let at = |b: usize, f: Vec3<T>| SpatialVec::new((p - k.X_GB[b].p).cross(f), f);
    loads.body[body] += at(body, f);
    loads.body[base] += at(base, -f);
}

/// A force conjugate to the rate of a coordinate.
fn add_to_coordinate<T: Real>(
    tree: &Tree,
    k: &TreeKinematics<T>,
    mobility: usize,
    f: T,
    loads: &mut Loads<T>,
) {
    let Some(u0) = tree.angular[mobility] else {
        loads.mobility[mobility] += f;
        return;
    };
    let q = vec3(k.q[u0], k.q[u0 + 1], k.q[u0 + 2]);
    for j in 0..3 {
        loads.mobility[u0 + j] += f * angles_rate(q, Vec3::unit(j))[mobility - u0];
    }
}
