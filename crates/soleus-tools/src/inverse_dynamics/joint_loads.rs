//! Force and moment on the child body of a joint that are equivalent to its generalized forces.

use soleus_dynamics::System;
use soleus_dynamics::multibody::TreeKinematics;
use soleus_math::dense::solve_min_norm;
use soleus_math::{SpatialVec, Vec3};
use soleus_model::Model;
use soleus_model::id::JointId;

/// Norms below this count as zero: Simbody's significant digits, ε^(7/8).
const SIGNIFICANT: f64 = 2.0e-14;

/// The joints of that name in the order of the model, and the names that are not there.
pub(super) fn named(model: &Model, names: &[String]) -> (Vec<JointId>, Vec<String>) {
    if names.iter().any(|n| n.eq_ignore_ascii_case("all")) {
        return ((0..model.joints.len()).map(JointId).collect(), Vec::new());
    }
    let has = |n: &String| model.joints.iter().position(|j| j.name == *n).map(JointId);
    let unknown = names.iter().filter(|n| has(n).is_none()).cloned().collect();
    (names.iter().filter_map(has).collect(), unknown)
}

/// `<joint>_<child frame>_FX` … `_MZ`.
pub(super) fn labels(model: &Model, joints: &[JointId]) -> Vec<String> {
    let six = ["FX", "FY", "FZ", "MX", "MY", "MZ"];
    let label = |j: &JointId| {
        let joint = &model.joints[j.0];
        let child = &model.frames[joint.child.0].name;
        six.map(|x| format!("{}_{child}_{x}", joint.name))
    };
    joints.iter().flat_map(label).collect()
}

/// The force v (N) and moment w (N·m), in ground, at the child's joint frame that are equivalent to the generalized
/// forces τ of the joint:
///
///   τ = H_wᵀ w + H_vᵀ v
///
/// Of moment and force, the more effective one by |Hᵀ x|/|x| takes as much as possible with the smallest norm, and the
/// other takes the rest. Source: the rule of OpenSim's `Joint::calcEquivalentSpatialForce`.
pub fn equivalent_joint_load(
    system: &System,
    k: &TreeKinematics<f64>,
    joint: JointId,
    tau: &[f64],
) -> SpatialVec<f64> {
    let mut sum = SpatialVec::zero();
    for (b, node) in system.tree.nodes.iter().enumerate() {
        if node.joint_id != Some(joint) || node.is_copy || node.nu == 0 {
            continue;
        }
        // Columns of the motion subspace at the origin of M. Ground axes instead of those of F change no norm.
        let p_MB = k.X_GB[b].R * node.X_MB.R.0.tmul(node.X_MB.p);
        let H = &k.H[node.u0..node.u0 + node.nu];
        let w: [Vec3<f64>; 6] = std::array::from_fn(|i| H.get(i).map_or(Vec3::zero(), |h| h.w));
        let v: [Vec3<f64>; 6] =
            std::array::from_fn(|i| H.get(i).map_or(Vec3::zero(), |h| h.v - h.w.cross(p_MB)));
        let f: [f64; 6] = std::array::from_fn(|i| if i < node.nu { tau[node.u0 + i] } else { 0.0 });

        let (mut Fv, mut Fw) = (smallest(&v, &f), smallest(&w, &f));
        let (fv, fw) = (carried(&v, Fv), carried(&w, Fw));
        let rest = |g: &[f64; 6]| -> [f64; 6] { std::array::from_fn(|i| f[i] - g[i]) };
        if norm(&fv) > SIGNIFICANT && norm(&fw) > SIGNIFICANT {
            if norm(&fw) / Fw.norm() > norm(&fv) / Fv.norm() {
                Fv = smallest(&v, &rest(&fw));
            } else {
                Fw = smallest(&w, &rest(&fv));
            }
        }
        sum += SpatialVec::new(Fw, Fv);
    }
    sum
}

/// The x of smallest norm that brings Hᵀ x nearest to f: the solution of (Σ h hᵀ) x = Σ h f.
fn smallest(H: &[Vec3<f64>; 6], f: &[f64; 6]) -> Vec3<f64> {
    let mut a = [0.0; 9];
    let mut b = Vec3::zero();
    for (h, f) in H.iter().zip(f) {
        let h3 = h.to_array();
        for i in 0..3 {
            for j in 0..3 {
                a[3 * i + j] += h3[i] * h3[j];
            }
        }
        b += *h * *f;
    }
    let mut x = b.to_array();
    solve_min_norm(&a, &mut x, &mut [0.0; 30], &mut [0; 3]);
    Vec3::from_array(x)
}

/// Hᵀ x.
fn carried(H: &[Vec3<f64>; 6], x: Vec3<f64>) -> [f64; 6] {
    std::array::from_fn(|i| H[i].dot(x))
}

fn norm(x: &[f64; 6]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
