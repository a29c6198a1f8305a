//! How far frames are turned from how they were seen, and how that changes with the pose.

use soleus_dynamics::multibody::{Tree, TreeKinematics};
use soleus_math::elementary;
use soleus_math::{Rotation, SymMat33, Vec3};

/// A frame of the model whose orientation was measured.
#[derive(Clone, Debug)]
pub(super) struct Sensor {
    /// Node of its body.
    pub body: usize,
    /// Its orientation in the body.
    pub R_BS: Rotation<f64>,
    /// Weight, 0 or above.
    pub weight: f64,
}

/// The weighted squares of angles,
///
///   c = ½ Σ wᵢ θᵢ²,   θᵢ nᵢ = φᵢ = log(R̂ᵢ Rᵢ(q)ᵀ)   [rad², weights without unit]
///
/// with R the orientation of a frame in ground and R̂ the one that was measured; φ is in ground. Gradient and Hessian are
/// with respect to small motions of the speeds' kind. With ωⱼ the axis about which mobility j turns what lies beyond it, and
/// k nearer to ground than j,
///
///   ∂c/∂qⱼ = −Σ wᵢ φᵢ · ωⱼ                                               (1)
///   ∂²c/∂qₖ∂qⱼ = Σ wᵢ (ωₖ · Sᵢ ωⱼ − ½ φᵢ · (ωₖ × ωⱼ))                     (2)
///   S = α I + (1 − α) n nᵀ,   α = (θ/2) cot(θ/2)                          (3)  the Hessian of ½θ² on the rotations
///
/// (2) follows from the derivative of the logarithm, dφ = −(S + ½[φ]×) ω, and from ∂ωⱼ/∂qₖ = ωₖ × ωⱼ. Sums over all sensors
/// beyond a joint are carried from the ends to ground, as for composite bodies.
///
/// The function: Simbody 4.6, `OrientationSensors`, times Σ w. At θ = π the angle has a corner; α is then 0.
#[derive(Clone, Debug)]
pub(super) struct OrientationFit {
    /// θᵢ, rad; zero for those not seen.
    pub angle: Vec<f64>,
    /// Gradient by mobility.
    pub gradient: Vec<f64>,
    /// Σ wᵢ ωₖ·ωⱼ, row by row; below the diagonal.
    pub hessian: Vec<f64>,
    /// The rest of the Hessian, alike.
    pub curvature: Vec<f64>,
    /// Sum of the weights of the sensors that are seen.
    pub seen: f64,
    /// φᵢ, in ground.
    error: Vec<Vec3<f64>>,
    /// Of each subtree: Σ w, Σ w φ, Σ w (S − I).
    weight: Vec<f64>,
    pull: Vec<Vec3<f64>>,
    bend: Vec<SymMat33<f64>>,
}

impl OrientationFit {
    /// Room for `sensors` sensors on a tree.
    pub fn new(tree: &Tree, sensors: usize) -> Self {
        // Without sensors nothing is ever asked for.
        let (n, nb) = if sensors == 0 { (0, 0) } else { (tree.num_mobilities, tree.nodes.len()) };
        OrientationFit {
            angle: vec![0.0; sensors],
            gradient: vec![0.0; n],
            hessian: vec![0.0; n * n],
            curvature: vec![0.0; n * n],
            seen: 0.0,
            error: vec![Vec3::zero(); sensors],
            weight: vec![0.0; nb],
            pull: vec![Vec3::zero(); nb],
            bend: vec![SymMat33::zero(); nb],
        }
    }

    /// The cost c at a pose; sensors whose orientation is not finite do not count.
    pub fn compute_cost(
        &mut self,
        sensors: &[Sensor],
        seen_at: &[Rotation<f64>],
        k: &TreeKinematics<f64>,
    ) -> f64 {
        let mut cost = 0.0;
        self.seen = 0.0;
        for (i, (s, R_GO)) in sensors.iter().zip(seen_at).enumerate() {
            let R_GS = k.X_GB[s.body].R * s.R_BS;
            let phi = if is_seen(R_GO) {
                self.seen += s.weight;
                (*R_GO * R_GS.inverse()).to_rotation_vector()
            } else {
                Vec3::zero()
            };
            self.error[i] = phi;
            self.angle[i] = phi.norm();
            cost += s.weight * phi.norm_sq();
        }
        0.5 * cost
    }

    /// Gradient and both parts of the Hessian, after [`compute_cost`](Self::compute_cost) at the same pose.
    pub fn compute_derivatives(
        &mut self,
        tree: &Tree,
        sensors: &[Sensor],
        seen_at: &[Rotation<f64>],
        k: &TreeKinematics<f64>,
    ) {
        if sensors.is_empty() {
            return;
        }
        let n = tree.num_mobilities;
        self.weight.fill(0.0);
        self.pull.fill(Vec3::zero());
        self.bend.fill(SymMat33::zero());
        self.hessian.fill(0.0);
        self.curvature.fill(0.0);

        // Each body's own sensors.
        for (i, s) in sensors.iter().enumerate().filter(|(i, _)| is_seen(&seen_at[*i])) {
            let phi = self.error[i];
            self.weight[s.body] += s.weight;
            self.pull[s.body] += phi * s.weight;
            self.bend[s.body] = self.bend[s.body] + bend(phi).scale(s.weight);
        }

        // From the ends to ground.
        for b in (1..tree.nodes.len()).rev() {
            let node = &tree.nodes[b];
            let (w, pull, bend) = (self.weight[b], self.pull[b], self.bend[b]);
            for j in node.u0..node.u0 + node.nu {
                let omega = k.H[j].w;
                self.gradient[j] = -pull.dot(omega); // (1)
                let curved = bend * omega - omega.cross(pull) * 0.5; // (2), less Σ w ω
                let mut at = b;
                let mut last = j + 1;
                while at != 0 {
                    let up = &tree.nodes[at];
                    for i in up.u0..last.min(up.u0 + up.nu) {
                        self.hessian[j * n + i] = w * k.H[i].w.dot(omega);
                        self.curvature[j * n + i] = k.H[i].w.dot(curved);
                    }
                    at = up.parent;
                    last = usize::MAX;
                }
            }
            let up = node.parent;
            self.weight[up] += w;
            self.pull[up] += pull;
            self.bend[up] = self.bend[up] + bend;
        }
    }
}

/// S − I of equation (3): (α − 1)(I − n nᵀ), which is (1 − α)/θ² times φφᵀ − θ²I.
fn bend(phi: Vec3<f64>) -> SymMat33<f64> {
    let theta = phi.norm();
    let half = 0.5 * theta;
    // (1 − α)/θ² = 1/12 + θ²/720 + …; below 1e-3 rad the next term is below rounding.
    let c = if theta < 1e-3 {
        1.0 / 12.0 + theta * theta / 720.0
    } else {
        (1.0 - half * elementary::cos(half) / elementary::sin(half)) / (theta * theta)
    };
    // φφᵀ − θ²I is minus the inertia of a unit mass at φ.
    SymMat33::of_point(phi).scale(-c)
}

/// Whether an orientation was measured.
pub(super) fn is_seen(R: &Rotation<f64>) -> bool {
    R.0.col.iter().all(|c| c.norm_sq().is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{chain, numbers};
    use soleus_dynamics::System;
    use soleus_dynamics::multibody::compute_kinematics;
    use soleus_math::vec3;
    use soleus_model::joint::JointKind::{self, Gimbal, Pin, Planar, Universal};

    struct Case {
        system: System,
        sensors: Vec<Sensor>,
        seen: Vec<Rotation<f64>>,
        q: Vec<f64>,
    }

    fn turned(r: &[f64]) -> Rotation<f64> {
        Rotation::body_fixed_xyz(vec3(r[0], r[1], r[2]))
    }

    fn case(kinds: Vec<(JointKind, usize)>) -> Case {
        let system = System::compile(&chain(kinds)).unwrap();
        let bodies = system.tree.nodes.len();
        let r = numbers(8, 6 * bodies);
        let sensors: Vec<Sensor> = (1..bodies)
            .map(|b| Sensor { body: b, R_BS: turned(&r[3 * b..]), weight: 0.5 + 0.5 * (b % 3) as f64 })
            .collect();
        let mut seen: Vec<Rotation<f64>> = (1..bodies).map(|b| turned(&r[3 * (bodies + b) - 3..])).collect();
        seen[1] = Rotation::from_quaternion([f64::NAN; 4]);
        let q = numbers(9, system.tree.num_mobilities).iter().map(|x| 0.6 * x).collect();
        Case { system, sensors, seen, q }
    }

    fn at(c: &Case, delta: &[f64], h: f64) -> (f64, OrientationFit) {
        let q: Vec<f64> = c.q.iter().zip(delta).map(|(q, d)| q + h * d).collect();
        let mut k = TreeKinematics::new(&c.system.tree);
        compute_kinematics(&c.system.tree, &q, &vec![0.0; q.len()], &mut k);
        let mut fit = OrientationFit::new(&c.system.tree, c.sensors.len());
        let cost = fit.compute_cost(&c.sensors, &c.seen, &k);
        fit.compute_derivatives(&c.system.tree, &c.sensors, &c.seen, &k);
        (cost, fit)
    }

    #[test]
    fn deriv_orientation_cost_and_gradient() {
        let c = case(vec![(Gimbal, 3), (Pin, 1), (Universal, 2), (Planar, 3), (Gimbal, 3)]);
        let n = c.q.len();
        let delta = numbers(10, n);
        let (_, fit) = at(&c, &delta, 0.0);
        // Truncation h² ~ 1e-11 and rounding ε/h ~ 1e-10 of numbers of order 1.
        let h = 5e-6;
        let (hi, lo) = (at(&c, &delta, h), at(&c, &delta, -h));
        let slope: f64 = fit.gradient.iter().zip(&delta).map(|(g, d)| g * d).sum();
        let fd = (hi.0 - lo.0) / (2.0 * h);
        assert!((slope - fd).abs() < 1e-8 * slope.abs().max(1.0), "slope {slope}, differences {fd}");
        assert_ne!(slope, fd, "the check compared the slope with itself");
        for i in 0..n {
            let entry = |j: usize| {
                let (a, b) = (i.max(j), i.min(j));
                fit.hessian[a * n + b] + fit.curvature[a * n + b]
            };
            let ours: f64 = (0..n).map(|j| entry(j) * delta[j]).sum();
            let fd = (hi.1.gradient[i] - lo.1.gradient[i]) / (2.0 * h);
            assert!((ours - fd).abs() < 1e-7 * ours.abs().max(1.0), "{i}: {ours}, differences {fd}");
        }
    }

    #[test]
    fn analytic_one_hinge_measures_its_own_angle() {
        let c = case(vec![(Pin, 1), (Pin, 1)]);
        // A sensor along the body, seen turned by 0.4 rad about the hinge: c = ½ w θ².
        let sensors = vec![Sensor { body: 1, R_BS: Rotation::identity(), weight: 2.0 }];
        let mut k = TreeKinematics::new(&c.system.tree);
        compute_kinematics(&c.system.tree, &c.q, &[0.0; 2], &mut k);
        let axis = k.H[0].w;
        let seen = vec![Rotation::about(axis, 0.4) * k.X_GB[1].R];
        let mut fit = OrientationFit::new(&c.system.tree, 1);
        assert!((fit.compute_cost(&sensors, &seen, &k) - 0.5 * 2.0 * 0.16).abs() < 1e-14);
        fit.compute_derivatives(&c.system.tree, &sensors, &seen, &k);
        assert!((fit.gradient[0] + 2.0 * 0.4).abs() < 1e-14);
        assert!((fit.hessian[0] + fit.curvature[0] - 2.0).abs() < 1e-13);
    }
}
