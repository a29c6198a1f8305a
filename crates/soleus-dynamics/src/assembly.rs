//! Assembly: projection of a state onto its constraints.

use crate::joint::{angles_rate, speeds_from_rates};
use crate::multibody::Node;
use crate::system::{State, System, Workspace};
use soleus_math::dense::solve_min_norm;
use soleus_math::{Vec3, vec3};
use soleus_model::constraint::ConstraintKind;
use soleus_model::model::Model;

/// Result of an assembly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assembled {
    /// Number of Newton steps.
    pub iterations: usize,
    /// Maximum remaining position error.
    pub error: f64,
}

/// The constraints could not be met; the state holds the best that was found.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "not assembled after {iterations} steps: equation {worst} is violated by {error:.3e} (tolerance {wanted:.0e})"
)]
pub struct NotAssembled {
    /// Number of Newton steps.
    pub iterations: usize,
    /// Largest position error left.
    pub error: f64,
    /// Requested value.
    pub wanted: f64,
    /// The equation it belongs to.
    pub worst: usize,
}

/// How much a dependent coordinate may move for a unit move of the others.
///
/// The dependent coordinate of a coupler, and one that is marked free to satisfy constraints, should
/// take up the slack alone; a ratio of 1e6 leaves 1e-6 of it to the rest.
const FREEDOM: f64 = 1e6;

/// Errors below this, m or rad, are let be where no step makes them smaller: equations on which coordinates act only through the
/// rounding of the model's axes, such as a point off the plane that a planar model moves in.
const OUT_OF_REACH: f64 = 1e-8;

/// Weights of the mobilities in assembly.
#[derive(Clone, Debug)]
pub struct Assembler {
    compliance: Vec<f64>,
    /// Tolerance for position errors.
    pub tolerance: f64,
    /// Maximum number of Newton steps.
    pub max_iterations: usize,
}

impl Assembler {
    /// Default weights for a model.
    pub fn new(model: &Model, system: &System) -> Self {
        let tree = &system.tree;
        let mut compliance = vec![1.0; tree.num_mobilities];
        for (c, &m) in model.coordinates.iter().zip(&tree.mobility_of_coordinate) {
            if c.is_free_to_satisfy_constraints {
                compliance[m] = FREEDOM;
            }
        }
        for c in model.constraints.iter().filter(|c| c.enforced) {
            if let ConstraintKind::CoordinateCoupler { dependent, .. } = &c.kind {
                compliance[tree.mobility_of_coordinate[dependent.0]] = FREEDOM;
            }
        }
        Assembler { compliance, tolerance: 1e-10, max_iterations: 50 }
    }

    /// Holds a coordinate at the value that it has: the constraints are met by the others, or not at all. The same as a locked coordinate of
    /// OpenSim, whose assembly takes it out of the unknowns.
    pub fn hold(&mut self, mobility: usize) {
        self.compliance[mobility] = 0.0;
    }

    /// Whether the steps of a node are rates of its angles instead of angular velocities: an angle that is held is then a column of its own.
    fn steps_in_rates(&self, node: &Node) -> bool {
        self.compliance[node.u0..node.u0 + 3].contains(&0.0)
    }

    /// Nodes whose steps are angular velocities.
    fn turning<'s>(&'s self, system: &'s System) -> impl Iterator<Item = &'s Node> {
        let turns = |n: &&Node| n.joint.speeds_are_angular_velocity() && !self.steps_in_rates(n);
        system.tree.nodes.iter().filter(turns)
    }

    /// The columns of G as derivatives by the steps.
    fn by_steps(&self, system: &System, q: &[f64], G: &mut [f64]) {
        let turns = |n: &&Node| n.joint.speeds_are_angular_velocity() && self.steps_in_rates(n);
        for node in system.tree.nodes.iter().filter(turns) {
            // ω = M(q) q̇, so that ∂/∂q = ∂/∂ω M.
            let unit = [vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0), vec3(0.0, 0.0, 1.0)];
            let M = unit.map(|e| speeds_from_rates(angles(q, node.u0), e));
            for row in G.chunks_exact_mut(self.compliance.len()) {
                let g = angles(row, node.u0);
                for (k, column) in M.iter().enumerate() {
                    row[node.u0 + k] = g.dot(*column);
                }
            }
        }
    }

    /// Changes `x.q` as little as possible, in a weighted norm, to make all position errors zero; then does the same
    /// for the speeds.
    ///
    /// Gauss–Newton on  min ½ |q − q₀|²_W  subject to  perr(q) = 0:
    ///
    ///   Δ = δ − W⁻¹ Gᵀ (G W⁻¹ Gᵀ)⁺ (perr + G δ),   δ = q₀ − q
    ///
    /// with steps halved while the error increases. Very small errors that no step reduces are accepted.
    pub fn solve_assembly(
        &self,
        system: &System,
        x: &mut State<f64>,
        ws: &mut Workspace<f64>,
    ) -> Result<Assembled, NotAssembled> {
        let q0 = x.q.clone();
        let (mut error, mut worst) = self.measure(system, x, ws);
        let mut iterations = 0;
        while error > self.tolerance {
            if iterations == self.max_iterations || !error.is_finite() {
                return Err(NotAssembled { iterations, error, wanted: self.tolerance, worst });
            }
            iterations += 1;
            let back = self.difference(system, &q0, &x.q);
            let np = system.constraints.num_position();
            let n = x.q.len();
            let mut G = ws.constraints.G[..np * n].to_vec();
            self.by_steps(system, &x.q, &mut G);
            let rhs: Vec<f64> =
                (0..np).map(|r| ws.constraints.qerr[r] + dot(&G[r * n..(r + 1) * n], &back)).collect();
            let correction = self.correction(&G, rhs);
            let step: Vec<f64> = back.iter().zip(&correction).map(|(b, c)| b - c).collect();

            let (start, before) = (x.q.clone(), error);
            let mut length = 1.0;
            loop {
                x.q.copy_from_slice(&start);
                self.advance(system, &mut x.q, &step, length);
                let (e, w) = self.measure(system, x, ws);
                // A full step that lands closer, or the smallest step we are willing to try.
                if e < error || length < 1e-3 {
                    (error, worst) = (e, w);
                    break;
                }
                length *= 0.5;
            }
            if !(error < before) && error <= OUT_OF_REACH {
                break;
            }
        }

        let n = x.u.len();
        let G = ws.constraints.G.clone();
        let correction = self.correction(&G, ws.constraints.uerr.clone());
        if !ws.constraints.uerr.is_empty() {
            for i in 0..n {
                x.u[i] -= correction[i];
            }
        }
        self.measure(system, x, ws);
        Ok(Assembled { iterations, error })
    }

    /// W⁻¹ Gᵀ (G W⁻¹ Gᵀ)⁺ rhs.
    fn correction(&self, G: &[f64], mut rhs: Vec<f64>) -> Vec<f64> {
        let (m, n) = (rhs.len(), self.compliance.len());
        let mut a = vec![0.0; m * m];
        for r in 0..m {
            for s in 0..=r {
                a[r * m + s] = (0..n).map(|i| G[r * n + i] * self.compliance[i] * G[s * n + i]).sum();
                a[s * m + r] = a[r * m + s];
            }
        }
        solve_min_norm(&a, &mut rhs, &mut vec![0.0; 2 * m * m + 4 * m], &mut vec![0; m]);
        (0..n).map(|i| self.compliance[i] * (0..m).map(|r| G[r * n + i] * rhs[r]).sum::<f64>()).collect()
    }

    /// Computes the constraint equations and returns the largest position error and its equation.
    fn measure(&self, system: &System, x: &State<f64>, ws: &mut Workspace<f64>) -> (f64, usize) {
        system.compute_kinematics(x, ws);
        system.constraints.compute(&system.tree, &ws.kin, x.time, &mut ws.constraints);
        let mut worst = (0.0, 0);
        for (i, e) in ws.constraints.qerr.iter().enumerate() {
            if !(e.abs() <= worst.0) {
                worst = (e.abs(), i);
            }
        }
        worst
    }

    /// `to` − `from` as a displacement of the steps' kind.
    fn difference(&self, system: &System, to: &[f64], from: &[f64]) -> Vec<f64> {
        let mut d: Vec<f64> = to.iter().zip(from).map(|(a, b)| a - b).collect();
        for node in self.turning(system) {
            let w = speeds_from_rates(angles(from, node.u0), angles(&d, node.u0));
            d[node.u0..node.u0 + 3].copy_from_slice(&w.to_array());
        }
        d
    }

    /// q ← q + length · step, where the step is a displacement of the steps' kind.
    fn advance(&self, system: &System, q: &mut [f64], step: &[f64], length: f64) {
        let mut d: Vec<f64> = step.iter().map(|s| s * length).collect();
        for node in self.turning(system) {
            let rate = angles_rate(angles(q, node.u0), angles(&d, node.u0));
            d[node.u0..node.u0 + 3].copy_from_slice(&rate.to_array());
        }
        for (q, d) in q.iter_mut().zip(&d) {
            *q += d;
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn angles(x: &[f64], u0: usize) -> Vec3<f64> {
    vec3(x[u0], x[u0 + 1], x[u0 + 2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use soleus_math::Transform;
    use soleus_model::constraint::Constraint;
    use soleus_model::id::BodyId;
    use soleus_model::joint::JointKind;

    fn constrained(kinds: Vec<ConstraintKind>, mut m: Model) -> (Model, System) {
        for (i, kind) in kinds.into_iter().enumerate() {
            let name = format!("c{i}");
            m.constraints.push(Constraint {
                path: format!("/constraintset/{name}"),
                name,
                enforced: true,
                kind,
            });
        }
        let s = System::compile(&m).unwrap();
        (m, s)
    }

    /// Two chains from ground, joined at their ends in every way there is.
    fn joined() -> Vec<(Model, System)> {
        let chains = || {
            let mut m = ground();
            let a = add_body(&mut m, BodyId::GROUND, JointKind::Free, 6);
            let b = add_body(&mut m, a, knee(), 2);
            let c = add_body(&mut m, BodyId::GROUND, JointKind::Ball, 3);
            let d = add_body(&mut m, c, JointKind::Gimbal, 3);
            let (fb, fd) = (m.bodies[b.0].frame, m.bodies[d.0].frame);
            (m, fb, fd)
        };
        let (p1, p2) = (vec3(0.1, -0.2, 0.05), vec3(-0.05, 0.1, 0.0));
        let mut all = Vec::new();
        for i in 0..5 {
            let (mut m, b, d) = chains();
            let kind = match i {
                0 => ConstraintKind::Point { body_1: b, body_2: d, location_1: p1, location_2: p2 },
                1 => {
                    let body = m.frames[d.0].body;
                    let f = add_frame(&mut m, body, Transform::from_offset(p2, vec3(0.3, 0.1, -0.4)));
                    ConstraintKind::Weld { frame_1: b, frame_2: f }
                }
                2 => ConstraintKind::ConstantDistance {
                    body_1: b,
                    body_2: d,
                    location_1: p1,
                    location_2: p2,
                    distance: 0.2,
                },
                3 => ConstraintKind::PointOnLine {
                    line_body: b,
                    follower_body: d,
                    direction: vec3(0.3, 1.0, -0.2),
                    point_on_line: p1,
                    point_on_follower: p2,
                },
                _ => ConstraintKind::RollingOnSurface {
                    rolling_body: b,
                    surface_body: d,
                    normal: vec3(0.0, 1.0, 0.0),
                    height: 0.02,
                    friction: 1.0,
                    radius: 0.1,
                },
            };
            all.push(constrained(vec![kind], m));
        }
        all
    }

    /// After assembly every position and speed error vanishes, and accelerations keep it so.
    #[test]
    fn identity_assembly_meets_every_constraint() {
        for (model, system) in joined() {
            let n = system.tree.num_mobilities;
            let mut x = State { time: 0.0, q: numbers(30, n), u: numbers(31, n), z: vec![] };
            for q in &mut x.q {
                *q *= 0.4;
            }
            let mut ws = system.workspace();
            Assembler::new(&model, &system).solve_assembly(&system, &mut x, &mut ws).unwrap();
            for e in ws.constraints.qerr.iter().chain(&ws.constraints.uerr) {
                assert!(e.abs() < 1e-9, "{e}");
            }
            system.compute_motion(&x, &[], &mut ws).unwrap();
            for (r, bias) in ws.constraints.bias.iter().enumerate() {
                let a = dot(&ws.constraints.G[r * n..(r + 1) * n], &ws.udot) + bias;
                assert!(a.abs() < 1e-8, "acceleration error {a}");
            }
        }
    }

    /// Wrenches and mobility forces of constraints are −Gᵀ λ as generalized forces, for any multipliers.
    #[test]
    fn identity_reactions_are_the_rows_of_the_jacobian() {
        let mut all = joined();
        let (m, _) = joined().swap_remove(0);
        let coupler = ConstraintKind::CoordinateCoupler {
            independent: vec![soleus_model::id::CoordinateId(6)],
            dependent: soleus_model::id::CoordinateId(9),
            function: soleus_math::Function::linear(&[0.7, 0.1]).unwrap(),
            scale: 1.3,
        };
        all.push(constrained(vec![coupler], Model { constraints: Vec::new(), ..m }));
        for (_, system) in all {
            let n = system.tree.num_mobilities;
            let q = numbers(50, n).iter().map(|q| 0.4 * q).collect();
            let x = State { time: 0.0, q, u: numbers(51, n), z: vec![] };
            let mut ws = system.workspace();
            system.compute_kinematics(&x, &mut ws);
            system.constraints.compute(&system.tree, &ws.kin, 0.0, &mut ws.constraints);
            let lambda = numbers(52, system.constraints.num_rows());
            let mut body = vec![soleus_math::SpatialVec::zero(); system.tree.nodes.len()];
            let mut f = vec![0.0; n];
            let mut loads = crate::Loads { body: &mut body, mobility: &mut f };
            system.constraints.add_reactions(&system.tree, &ws.kin, &lambda, &mut loads);
            crate::multibody::compute_generalized_forces(&system.tree, &ws.kin, &mut body, &mut f);
            for (j, f) in f.iter().enumerate() {
                let want: f64 =
                    lambda.iter().enumerate().map(|(r, l)| -l * ws.constraints.G[r * n + j]).sum();
                assert!((f - want).abs() < 1e-12, "mobility {j}: {f} and {want}");
            }
        }
    }

    /// Coordinates that are held keep their values, digit for digit, and the others meet the constraints; angles of a ball joint one by one.
    #[test]
    fn identity_held_coordinates_stay() {
        for (model, system) in joined() {
            let n = system.tree.num_mobilities;
            let mut x = State { time: 0.0, q: numbers(30, n), u: vec![0.0; n], z: vec![] };
            for q in &mut x.q {
                *q *= 0.4;
            }
            let mut ws = system.workspace();
            // One angle and one place of the free joint, an angle of the ball, one of the knee.
            let held = [1, 4, 6, 9];
            let given = x.clone();
            let mut assembler = Assembler::new(&model, &system);
            held.iter().for_each(|&m| assembler.hold(m));
            // Gauss–Newton approaches the nearest pose linearly, and slowly where few coordinates are left to move far.
            assembler.max_iterations = 400;
            assembler.solve_assembly(&system, &mut x, &mut ws).unwrap();
            assert!(ws.constraints.qerr.iter().all(|e| e.abs() < 1e-9), "{:?}", ws.constraints.qerr);
            held.iter().for_each(|&m| assert_eq!(x.q[m], given.q[m], "coordinate {m}"));
            // Without locks they move.
            let mut free = given.clone();
            Assembler::new(&model, &system).solve_assembly(&system, &mut free, &mut ws).unwrap();
            assert!(held.iter().any(|&m| free.q[m] != given.q[m]));
        }
        // All of them are too many: the constraint stays unmet, and nothing moves.
        let (model, system) = joined().swap_remove(1);
        let n = system.tree.num_mobilities;
        let given = State { time: 0.0, q: numbers(30, n), u: vec![0.0; n], z: vec![] };
        let mut assembler = Assembler::new(&model, &system);
        (0..n).for_each(|m| assembler.hold(m));
        let mut x = given.clone();
        assert!(assembler.solve_assembly(&system, &mut x, &mut system.workspace()).is_err());
        assert_eq!(x.q, given.q);
    }

    /// Derivatives of the position errors by the angles of a joint of which one is held, against central differences.
    #[test]
    fn deriv_steps_of_held_joints() {
        for (model, system) in joined() {
            let (n, np) = (system.tree.num_mobilities, system.constraints.num_position());
            let q: Vec<f64> = numbers(30, n).iter().map(|q| 0.4 * q).collect();
            let mut x = State { time: 0.0, q, u: vec![0.0; n], z: vec![] };
            let mut ws = system.workspace();
            let mut assembler = Assembler::new(&model, &system);
            // Where the constraints are met, their equations for speeds are exact derivatives of those for positions.
            assembler.solve_assembly(&system, &mut x, &mut ws).unwrap();
            // An angle of the free joint and one of the ball: the steps of both are rates of angles.
            let turning = system.tree.nodes.iter().filter(|n| n.joint.speeds_are_angular_velocity());
            turning.for_each(|n| assembler.hold(n.u0 + 1));
            assembler.measure(&system, &x, &mut ws);
            let mut G = ws.constraints.G[..np * n].to_vec();
            assembler.by_steps(&system, &x.q, &mut G);
            let h = 1e-6;
            for k in 0..n {
                let given = x.q[k];
                let mut at = |value: f64| {
                    x.q[k] = value;
                    assembler.measure(&system, &x, &mut ws);
                    ws.constraints.qerr.clone()
                };
                let (hi, lo) = (at(given + h), at(given - h));
                x.q[k] = given;
                for r in 0..np {
                    // Roundoff ε/h ~ 2e-10 on errors of order 1, truncation h² ~ 1e-12, errors that assembly leaves 1e-10.
                    let fd = (hi[r] - lo[r]) / (2.0 * h);
                    assert!((fd - G[r * n + k]).abs() < 1e-8, "{r}, {k}: {fd} {}", G[r * n + k]);
                }
            }
        }
    }

    /// Along a motion with u̇ held, d/dt of G u is G u̇ + bias: the bias against a central difference of
    /// the speed errors, on the manifold.
    #[test]
    fn deriv_constraint_bias() {
        for (model, system) in joined() {
            let n = system.tree.num_mobilities;
            let mut x = State { time: 0.0, q: numbers(40, n), u: numbers(41, n), z: vec![] };
            for q in &mut x.q {
                *q *= 0.4;
            }
            let mut ws = system.workspace();
            Assembler::new(&model, &system).solve_assembly(&system, &mut x, &mut ws).unwrap();
            let bias = ws.constraints.bias.clone();
            let qdot = system.coordinate_rates(&x);
            let h = 1e-6;
            let mut rate = |s: f64| {
                let mut y = x.clone();
                for (q, d) in y.q.iter_mut().zip(&qdot) {
                    *q += s * d;
                }
                system.compute_kinematics(&y, &mut ws);
                system.constraints.compute(&system.tree, &ws.kin, 0.0, &mut ws.constraints);
                ws.constraints.uerr.clone()
            };
            let (hi, lo) = (rate(h), rate(-h));
            // Equations on speeds alone are asked of material points; see the rolling constraint.
            for i in 0..system.constraints.num_position() {
                // Roundoff ε/h ~ 2e-10 on speeds of order 1, truncation h² ~ 1e-12.
                let fd = (hi[i] - lo[i]) / (2.0 * h);
                assert!((fd - bias[i]).abs() < 1e-7 * bias[i].abs().max(1.0), "{i}: {fd} {}", bias[i]);
            }
        }
    }

    /// Constraint forces do no work: Gᵀ λ · u = 0 on speeds that meet the constraints.
    #[test]
    fn conserves_energy_under_constraints() {
        for (model, system) in joined() {
            let n = system.tree.num_mobilities;
            let mut x = State { time: 0.0, q: vec![0.1; n], u: numbers(51, n), z: vec![] };
            let mut ws = system.workspace();
            Assembler::new(&model, &system).solve_assembly(&system, &mut x, &mut ws).unwrap();
            system.compute_motion(&x, &[], &mut ws).unwrap();
            let m = system.constraints.num_rows();
            let power: f64 = (0..m)
                .map(|r| ws.constraints.lambda[r] * dot(&ws.constraints.G[r * n..(r + 1) * n], &x.u))
                .sum();
            let scale: f64 = ws.constraints.lambda.iter().map(|l| l.abs()).sum();
            assert!(power.abs() < 1e-9 * scale.max(1.0), "{power}");
        }
    }
}
