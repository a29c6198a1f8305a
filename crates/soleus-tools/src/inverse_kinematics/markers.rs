//! How far markers are from where they were seen, and how that changes with the pose.

use soleus_dynamics::multibody::{Tree, TreeKinematics};
use soleus_math::{Mat33, SpatialInertia, SymMat33, Vec3};

/// A marker of the model that was seen.
#[derive(Clone, Debug)]
pub(super) struct Marker {
    /// Node of its body.
    pub body: usize,
    /// Place in the body, m.
    pub p_BS: Vec3<f64>,
    /// Weight, 0 or above.
    pub weight: f64,
}

/// The weighted squares of marker distances,
///
///   c = ½ Σ wᵢ |rᵢ|²,   rᵢ = pᵢ(q) − p̂ᵢ   [m², weights without unit]
///
/// with their gradient and Hessian with respect to small motions of the speeds' kind.
///
/// Markers with weights are point masses, so that Σ wᵢ JᵢᵀJᵢ is the mass matrix of the tree that carries them, and
/// comes from composite bodies (Walker and Orin 1982). The rest of the Hessian needs one vector per mobility j: what lies
/// beyond a joint k turns with it, ∂²p/∂qₖ∂qⱼ = ωₖ × Jⱼ for k nearer to ground than j, and so
///
///   Σ wᵢ rᵢ · (ωₖ × Jᵢⱼ) = ωₖ · Sⱼ,   Sⱼ = Σ Jᵢⱼ × wᵢ rᵢ.
///
/// Left out is how a custom joint's own functions bend; it is small, and only slows the last steps a little.
#[derive(Clone, Debug)]
pub(super) struct MarkerFit {
    /// wᵢ rᵢ, N markers; zero for those not seen.
    pub pull: Vec<Vec3<f64>>,
    /// |rᵢ|², m²; zero for those not seen.
    pub squared: Vec<f64>,
    /// Gradient by mobility.
    pub gradient: Vec<f64>,
    /// Σ wᵢ JᵢᵀJᵢ, row by row; below the diagonal.
    pub hessian: Vec<f64>,
    /// The rest of the Hessian, alike.
    pub curvature: Vec<f64>,
    /// Sum of the weights of the markers that are seen.
    pub seen: f64,
    mass: Vec<SpatialInertia<f64>>,
    force: Vec<Vec3<f64>>,
    /// Σ ρ (w r)ᵀ of the subtree, ρ from the body's origin.
    dyad: Vec<Mat33<f64>>,
}

impl MarkerFit {
    /// Room for `markers` markers on a tree.
    pub fn new(tree: &Tree, markers: usize) -> Self {
        let (n, nb) = (tree.num_mobilities, tree.nodes.len());
        MarkerFit {
            pull: vec![Vec3::zero(); markers],
            squared: vec![0.0; markers],
            gradient: vec![0.0; n],
            hessian: vec![0.0; n * n],
            curvature: vec![0.0; n * n],
            seen: 0.0,
            mass: vec![SpatialInertia::default(); nb],
            force: vec![Vec3::zero(); nb],
            dyad: vec![zero_dyad(); nb],
        }
    }

    /// The cost c at a pose; markers whose place is not finite do not count.
    pub fn compute_cost(
        &mut self,
        markers: &[Marker],
        seen_at: &[Vec3<f64>],
        k: &TreeKinematics<f64>,
    ) -> f64 {
        let mut cost = 0.0;
        self.seen = 0.0;
        for (i, (m, &p)) in markers.iter().zip(seen_at).enumerate() {
            let r = k.X_GB[m.body] * m.p_BS - p;
            let square = r.norm_sq();
            if square.is_finite() {
                self.squared[i] = square;
                self.pull[i] = r * m.weight;
                self.seen += m.weight;
                cost += m.weight * square;
            } else {
                self.squared[i] = 0.0;
                self.pull[i] = Vec3::zero();
            }
        }
        0.5 * cost
    }

    /// Gradient and both parts of the Hessian, after [`compute_cost`](Self::compute_cost) at the same pose.
    pub fn compute_derivatives(
        &mut self,
        tree: &Tree,
        markers: &[Marker],
        seen_at: &[Vec3<f64>],
        k: &TreeKinematics<f64>,
    ) {
        let n = tree.num_mobilities;
        self.mass.fill(SpatialInertia::default());
        self.force.fill(Vec3::zero());
        self.dyad.fill(zero_dyad());
        self.hessian.fill(0.0);
        self.curvature.fill(0.0);

        // Each body's own markers, about its origin.
        for (i, m) in markers.iter().enumerate() {
            if !seen_at[i].norm_sq().is_finite() || m.weight == 0.0 {
                continue;
            }
            let rho = k.X_GB[m.body].R * m.p_BS;
            let f = self.pull[i];
            let point = SpatialInertia {
                mass: m.weight,
                moment: rho * m.weight,
                inertia: SymMat33::of_point(rho).scale(m.weight),
            };
            self.mass[m.body] = self.mass[m.body] + point;
            self.force[m.body] += f;
            add_dyad(&mut self.dyad[m.body], rho, f);
        }

        // From the ends to ground: composite bodies, and what each mobility does to them.
        for b in (1..tree.nodes.len()).rev() {
            let node = &tree.nodes[b];
            let (mass, F, D) = (self.mass[b], self.force[b], self.dyad[b]);
            if mass.mass == 0.0 {
                self.gradient[node.u0..node.u0 + node.nu].fill(0.0);
                continue;
            }
            let trace = D.at(0, 0) + D.at(1, 1) + D.at(2, 2);
            let moment =
                Vec3::from_array([D.at(1, 2) - D.at(2, 1), D.at(2, 0) - D.at(0, 2), D.at(0, 1) - D.at(1, 0)]);
            // From the origin of M to the body's, to tell turning about M from moving M.
            let p_MB = k.X_GB[b].R * node.X_MB.R.0.tmul(node.X_MB.p);
            for j in node.u0..node.u0 + node.nu {
                let H = k.H[j];
                self.gradient[j] = H.w.dot(moment) + H.v.dot(F);
                let turning = D * H.w - H.w * trace;
                let S = H.v.cross(F) + turning;
                // Within the joint only the turning about M is carried along by the axes before.
                let S_M = H.w.cross(p_MB).cross(F) + turning;
                let mut f = mass.momentum(H);
                for i in node.u0..=j {
                    self.hessian[j * n + i] = k.H[i].dot(f);
                    self.curvature[j * n + i] = k.H[i].w.dot(S_M);
                }
                let mut at = b;
                loop {
                    f = f.wrench_shifted(k.p_PB[at]);
                    at = tree.nodes[at].parent;
                    if at == 0 {
                        break;
                    }
                    let up = &tree.nodes[at];
                    for i in up.u0..up.u0 + up.nu {
                        self.hessian[j * n + i] = k.H[i].dot(f);
                        self.curvature[j * n + i] = k.H[i].w.dot(S);
                    }
                }
            }
            let (p, up) = (k.p_PB[b], node.parent);
            self.mass[up] = self.mass[up] + mass.shifted(p);
            self.force[up] += F;
            for c in 0..3 {
                self.dyad[up].col[c] += D.col[c] + p * F.to_array()[c];
            }
        }
    }
}

fn zero_dyad() -> Mat33<f64> {
    Mat33 { col: [Vec3::zero(); 3] }
}

/// d ← d + a bᵀ.
fn add_dyad(d: &mut Mat33<f64>, a: Vec3<f64>, b: Vec3<f64>) {
    d.col[0] += a * b.x;
    d.col[1] += a * b.y;
    d.col[2] += a * b.z;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{chain, numbers};
    use soleus_dynamics::System;
    use soleus_dynamics::joint::angles_rate;
    use soleus_dynamics::multibody::compute_kinematics;
    use soleus_math::vec3;
    use soleus_model::joint::JointKind;

    /// A system, its markers, where they were seen, and a pose.
    fn case(kinds: Vec<(JointKind, usize)>) -> (System, Vec<Marker>, Vec<Vec3<f64>>, Vec<f64>) {
        let system = System::compile(&chain(kinds)).unwrap();
        let weigh = |(i, m): (usize, &soleus_dynamics::constraint::Station)| Marker {
            body: m.body,
            p_BS: m.p_BS,
            weight: 1.0 + 0.5 * (i % 3) as f64,
        };
        let markers: Vec<Marker> = system.markers.iter().enumerate().map(weigh).collect();
        let r = numbers(5, 3 * markers.len());
        let seen = (0..markers.len()).map(|i| vec3(r[3 * i], r[3 * i + 1], r[3 * i + 2])).collect();
        let q = numbers(6, system.tree.num_mobilities).iter().map(|x| 0.6 * x).collect();
        (system, markers, seen, q)
    }

    /// Cost and derivatives at q moved by h δ, δ of the speeds' kind.
    fn at(
        (system, markers, seen, q): &(System, Vec<Marker>, Vec<Vec3<f64>>, Vec<f64>),
        delta: &[f64],
        h: f64,
    ) -> (f64, MarkerFit) {
        let tree = &system.tree;
        let mut d = delta.to_vec();
        for node in tree.nodes.iter().filter(|n| n.joint.speeds_are_angular_velocity()) {
            let three = |x: &[f64]| vec3(x[node.u0], x[node.u0 + 1], x[node.u0 + 2]);
            let rate = angles_rate(three(q), three(delta));
            d[node.u0..node.u0 + 3].copy_from_slice(&rate.to_array());
        }
        let q: Vec<f64> = q.iter().zip(&d).map(|(q, d)| q + h * d).collect();
        let mut k = TreeKinematics::new(tree);
        compute_kinematics(tree, &q, &vec![0.0; q.len()], &mut k);
        let mut fit = MarkerFit::new(tree, markers.len());
        let cost = fit.compute_cost(markers, seen, &k);
        fit.compute_derivatives(tree, markers, seen, &k);
        (cost, fit)
    }

    #[test]
    fn deriv_marker_cost() {
        use JointKind::{Ball, Free, Gimbal, Pin, Planar, Slider, Universal};
        let kinds =
            vec![(Free, 6), (Pin, 1), (Ball, 3), (Universal, 2), (Slider, 1), (Gimbal, 3), (Planar, 3)];
        let mut case = case(kinds);
        case.2[3] = vec3(f64::NAN, 0.0, 0.0);
        let delta = numbers(7, case.3.len());
        let (_, fit) = at(&case, &delta, 0.0);
        let slope: f64 = fit.gradient.iter().zip(&delta).map(|(g, d)| g * d).sum();
        // Truncation h² ~ 1e-11 and rounding ε/h ~ 2e-11 of a cost of order 10.
        let h = 5e-6;
        let fd = (at(&case, &delta, h).0 - at(&case, &delta, -h).0) / (2.0 * h);
        assert!((slope - fd).abs() < 1e-8 * slope.abs().max(1.0), "slope {slope}, differences {fd}");
        assert_ne!(slope, fd, "the check compared the slope with itself");
    }

    /// With joints that turn and slide about fixed axes the Hessian is exact.
    #[test]
    fn deriv_marker_gradient() {
        use JointKind::{Gimbal, Pin, Slider, Universal};
        let case = case(vec![(Gimbal, 3), (Slider, 1), (Pin, 1), (Universal, 2), (Gimbal, 3)]);
        let n = case.3.len();
        let delta = numbers(8, n);
        let (_, fit) = at(&case, &delta, 0.0);
        let h = 5e-6;
        let (hi, lo) = (at(&case, &delta, h).1, at(&case, &delta, -h).1);
        for i in 0..n {
            let entry = |j: usize| {
                let (a, b) = (i.max(j), i.min(j));
                fit.hessian[a * n + b] + fit.curvature[a * n + b]
            };
            let ours: f64 = (0..n).map(|j| entry(j) * delta[j]).sum();
            let fd = (hi.gradient[i] - lo.gradient[i]) / (2.0 * h);
            // As above, for gradients of order 10.
            assert!((ours - fd).abs() < 1e-7 * ours.abs().max(1.0), "{i}: {ours}, differences {fd}");
        }
    }

    /// The markers as point masses: Σ w JᵀJ column by column.
    #[test]
    fn identity_composite_bodies_sum_the_jacobians() {
        use JointKind::{Free, Gimbal, Pin};
        let case = case(vec![(Free, 6), (Pin, 1), (Gimbal, 3)]);
        let (system, markers, _, q) = &case;
        let (tree, n) = (&system.tree, q.len());
        let (_, fit) = at(&case, &vec![0.0; n], 0.0);
        let mut k = TreeKinematics::new(tree);
        compute_kinematics(tree, q, &vec![0.0; n], &mut k);
        let column = |m: &Marker, j: usize| {
            let p = k.X_GB[m.body] * m.p_BS;
            let mut b = m.body;
            while b != 0 {
                let node = &tree.nodes[b];
                if (node.u0..node.u0 + node.nu).contains(&j) {
                    return k.H[j].v + k.H[j].w.cross(p - k.X_GB[b].p);
                }
                b = node.parent;
            }
            Vec3::zero()
        };
        for i in 0..n {
            for j in 0..=i {
                let sum: f64 = markers.iter().map(|m| m.weight * column(m, i).dot(column(m, j))).sum();
                assert!((sum - fit.hessian[i * n + j]).abs() < 1e-12 * sum.abs().max(1.0), "{i} {j}");
            }
        }
    }
}
