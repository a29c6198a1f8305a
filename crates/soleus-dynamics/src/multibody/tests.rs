//! Identities and invariants of the tree algorithms.

use super::*;
use crate::Options;
use crate::testing::*;
use soleus_math::{Dual, Real, SpatialVec, Vec3};
use soleus_model::id::BodyId;
use soleus_model::joint::JointKind;

/// RNEA at given motion without applied forces.
fn inverse_dynamics<T: Real>(tree: &Tree, q: &[T], u: &[T], udot: &[T]) -> Vec<T> {
    let mut k = TreeKinematics::new(tree);
    compute_kinematics(tree, q, u, &mut k);
    let nb = tree.nodes.len();
    let (mut A, mut F) = (vec![SpatialVec::zero(); nb], vec![SpatialVec::zero(); nb]);
    let mut tau = vec![T::zero(); tree.num_mobilities];
    compute_inverse_dynamics(tree, &k, udot, &vec![SpatialVec::zero(); nb], &mut A, &mut F, &mut tau);
    tau
}

/// M u̇ = τ(u̇) − τ(0): the composite-body mass matrix against Newton–Euler, and M⁻¹ against M.
#[test]
fn identity_mass_matrix_and_newton_euler_agree() {
    let tree = Tree::build(&menagerie(), &Options::default()).unwrap();
    let n = tree.num_mobilities;
    let (q, u, udot) = (numbers(1, n), numbers(2, n), numbers(3, n));
    let with = inverse_dynamics(&tree, &q, &u, &udot);
    let without = inverse_dynamics(&tree, &q, &u, &vec![0.0; n]);

    let mut k = TreeKinematics::new(&tree);
    compute_kinematics(&tree, &q, &u, &mut k);
    let mut mass = MassFactor::new(&tree);
    mass.compute_mass_matrix(&tree, &k);
    for i in 0..n {
        let row: f64 = (0..n).map(|j| mass.at(i, j) * udot[j]).sum();
        assert!((row - (with[i] - without[i])).abs() < 1e-12, "row {i}");
    }

    mass.factorize();
    assert!(mass.singular.is_empty());
    let mut x: Vec<f64> = with.iter().zip(&without).map(|(a, b)| a - b).collect();
    mass.solve(&mut x);
    for (a, b) in x.iter().zip(&udot) {
        assert!((a - b).abs() < 1e-10, "{a} {b}");
    }
}

/// The lean inverse dynamics equals the general one with gravity as a load, on every kind of joint.
#[test]
fn identity_newton_euler_with_gravity() {
    let m = menagerie();
    let tree = Tree::build(&m, &Options::default()).unwrap();
    let n = tree.num_mobilities;
    let (q, u, udot) = (numbers(11, n), numbers(12, n), numbers(13, n));
    let mut tau = vec![f64::NAN; n];
    compute_newton_euler(&tree, m.gravity, &q, &u, &udot, &mut NewtonEuler::new(&tree), &mut tau);

    let mut k = TreeKinematics::new(&tree);
    compute_kinematics(&tree, &q, &u, &mut k);
    let weight: Vec<_> =
        k.inertia.iter().map(|i| SpatialVec::new(i.moment.cross(m.gravity), m.gravity * i.mass)).collect();
    let (mut A, mut F, mut want) = (weight.clone(), weight.clone(), vec![0.0; n]);
    compute_inverse_dynamics(&tree, &k, &udot, &weight, &mut A, &mut F, &mut want);
    for (a, b) in tau.iter().zip(&want) {
        // Sums of forces up to 300 N, each rounded at ε.
        assert!((a - b).abs() < 1e-11, "{a} {b}");
    }
}

/// Principal axes or not, the inertia in ground is R I Rᵀ about the origin.
#[test]
fn identity_inertia_in_ground() {
    let mut m = menagerie();
    m.bodies[1].inertia = soleus_math::SymMat33 { xx: 0.02, yy: 0.03, zz: 0.025, ..Default::default() };
    let tree = Tree::build(&m, &Options::default()).unwrap();
    assert!(matches!(tree.nodes[1].form, InertiaForm::Principal { .. }));
    let n = tree.num_mobilities;
    let mut k = TreeKinematics::new(&tree);
    compute_kinematics(&tree, &numbers(14, n), &numbers(15, n), &mut k);
    for (i, node) in tree.nodes.iter().enumerate() {
        let d = k.inertia[i].inertia - k.X_GB[i].R.reexpress(node.inertia);
        for e in [d.xx, d.yy, d.zz, d.xy, d.xz, d.yz] {
            assert!(e.abs() < 1e-15, "node {i}: {d:?}");
        }
    }
}

/// Power of the joints equals the rate of kinetic energy: u·τ = d/dt ½ uᵀ M u, the rate by a dual in time.
#[test]
fn conserves_energy() {
    type D = Dual<f64, 1>;
    let tree = Tree::build(&menagerie(), &Options::default()).unwrap();
    let n = tree.num_mobilities;
    let (q, u, udot) = (numbers(4, n), numbers(5, n), numbers(6, n));
    let tau = inverse_dynamics(&tree, &q, &u, &udot);
    let power: f64 = tau.iter().zip(&u).map(|(t, u)| t * u).sum();

    let mut qdot = u.clone();
    for node in &tree.nodes {
        if node.joint.speeds_are_angular_velocity() {
            let at = |x: &[f64]| Vec3 { x: x[node.u0], y: x[node.u0 + 1], z: x[node.u0 + 2] };
            let rate = crate::joint::angles_rate(at(&q), at(&u));
            qdot[node.u0..node.u0 + 3].copy_from_slice(&rate.to_array());
        }
    }
    let lift = |x: &[f64], d: &[f64]| x.iter().zip(d).map(|(x, d)| D::new(*x, [*d])).collect::<Vec<_>>();
    let mut k = TreeKinematics::new(&tree);
    compute_kinematics(&tree, &lift(&q, &qdot), &lift(&u, &udot), &mut k);
    let energy: D =
        (0..tree.nodes.len()).map(|i| k.V_GB[i].dot(k.inertia[i].momentum(k.V_GB[i])) * 0.5).sum();
    assert!((energy.d[0] - power).abs() < 1e-11 * power.abs().max(1.0), "{} {power}", energy.d[0]);
}

/// ∂τ along a seeded direction of (q, u, u̇): dual against central difference; values bit for bit.
#[test]
fn deriv_inverse_dynamics() {
    type D = Dual<f64, 1>;
    let tree = Tree::build(&menagerie(), &Options::default()).unwrap();
    let n = tree.num_mobilities;
    let x: Vec<Vec<f64>> = (10..13).map(|s| numbers(s, n)).collect();
    let d: Vec<Vec<f64>> = (20..23).map(|s| numbers(s, n)).collect();
    let lift = |i: usize| x[i].iter().zip(&d[i]).map(|(x, d)| D::new(*x, [*d])).collect::<Vec<_>>();
    let tau = inverse_dynamics(&tree, &lift(0), &lift(1), &lift(2));
    let shifted = |h: f64| {
        let y = |i: usize| x[i].iter().zip(&d[i]).map(|(x, d)| x + h * d).collect::<Vec<_>>();
        inverse_dynamics(&tree, &y(0), &y(1), &y(2))
    };
    let plain = shifted(0.0);
    // Truncation h² τ‴/6 and roundoff ε τ/h balance near h = 1e-5 for τ of order 1.
    let h = 1e-5;
    let (lo, hi) = (shifted(-h), shifted(h));
    for i in 0..n {
        let fd = (hi[i] - lo[i]) / (2.0 * h);
        assert!((tau[i].d[0] - fd).abs() < 1e-7 * fd.abs().max(1.0), "{i}: {} {fd}", tau[i].d[0]);
        assert_eq!(tau[i].v.to_bits(), plain[i].to_bits());
    }
}

/// A hinge at the parent's centre: τ = (I + m r²) q̈ for a body whose hinge is r from its mass centre.
#[test]
fn analytic_physical_pendulum() {
    let mut m = ground();
    let b = add_body(&mut m, BodyId::GROUND, JointKind::Pin, 1);
    let child = m.joints[0].child;
    m.frames[child.0].X_BF = soleus_math::Transform::identity();
    m.bodies[b.0].mass_center = soleus_math::vec3(0.3, 0.4, 0.0);
    m.bodies[b.0].inertia = soleus_math::SymMat33 { xx: 0.02, yy: 0.03, zz: 0.025, ..Default::default() };
    let tree = Tree::build(&m, &Options::default()).unwrap();
    let tau = inverse_dynamics(&tree, &[0.7], &[0.0], &[2.0]);
    let want = 2.0 * (0.025 + 1.3 * 0.25);
    assert!((tau[0] - want).abs() < 1e-14, "{} {want}", tau[0]);
}

/// A joint listed from child to ground is reversed: the pose is that of the inverse joint.
#[test]
fn identity_reversed_joint_is_the_inverse() {
    let mut r = ground();
    let a = add_body(&mut r, BodyId::GROUND, JointKind::Gimbal, 3);
    add_body(&mut r, a, knee(), 2);
    let j = &mut r.joints[0];
    std::mem::swap(&mut j.parent, &mut j.child);
    let q = numbers(7, 5);
    let tree = Tree::build(&r, &Options::default()).unwrap();
    assert!(tree.nodes[1].reversed && !tree.nodes[2].reversed);
    let mut kr = TreeKinematics::new(&tree);
    compute_kinematics(&tree, &q, &numbers(8, 5), &mut kr);
    // F on the body, M on ground: X_GB = X_GM X_MF X_FB with X_FM(q) the gimbal.
    let (f, mm) = (r.joints[0].parent, r.joints[0].child);
    let mut motion = crate::joint::JointMotion::rest();
    crate::joint::JointKernel::Gimbal.compute(&q[..3], &[0.0; 3], &mut motion);
    let want = r.frames[mm.0].X_BF * motion.X_FM.inverse() * r.frames[f.0].X_BF.inverse();
    assert!((kr.X_GB[1].p - want.p).norm() < 1e-14);
    for axis in 0..3 {
        assert!((kr.X_GB[1].R.axis(axis) - want.R.axis(axis)).norm() < 1e-14);
    }
}

/// The recursive derivatives against dual numbers through the whole inverse dynamics, with gravity and
/// with loads that move with their bodies.
#[test]
fn deriv_recursive_inverse_dynamics() {
    type D = Dual<f64, 1>;
    let model = menagerie();
    let tree = Tree::build(&model, &Options::default()).unwrap();
    let (n, nb) = (tree.num_mobilities, tree.nodes.len());
    let (q, u, udot) = (numbers(60, n), numbers(61, n), numbers(62, n));
    let load = numbers(63, 6 * nb);

    // Loads fixed in their bodies, and gravity, in any scalar.
    fn tau<T: Real>(
        tree: &Tree,
        g: Vec3<f64>,
        load: &[f64],
        q: &[T],
        u: &[T],
        udot: &[T],
    ) -> (Vec<T>, Vec<SpatialVec<T>>, TreeKinematics<T>) {
        let nb = tree.nodes.len();
        let mut k = TreeKinematics::new(tree);
        compute_kinematics(tree, q, u, &mut k);
        let follower: Vec<SpatialVec<T>> = (0..nb)
            .map(|b| {
                let at = |i: usize| {
                    k.X_GB[b].R
                        * Vec3 {
                            x: T::cst(load[6 * b + i]),
                            y: T::cst(load[6 * b + i + 1]),
                            z: T::cst(load[6 * b + i + 2]),
                        }
                };
                SpatialVec::new(at(0), at(3))
            })
            .collect();
        let mut applied = follower.clone();
        for b in 1..nb {
            let g = Vec3::cst(g);
            applied[b] += SpatialVec::new(k.inertia[b].moment.cross(g), g * k.inertia[b].mass);
        }
        let (mut A, mut F) = (vec![SpatialVec::zero(); nb], vec![SpatialVec::zero(); nb]);
        let mut tau = vec![T::zero(); tree.num_mobilities];
        compute_inverse_dynamics(tree, &k, udot, &applied, &mut A, &mut F, &mut tau);
        (tau, follower, k)
    }
    let (want, follower, k) = tau(&tree, model.gravity, &load, &q, &u, &udot);
    let mut d = InverseDynamicsDerivatives::new(&tree);
    d.compute(&tree, &k, &udot, model.gravity, &follower);
    for i in 0..n {
        assert!(
            (d.tau[i] - want[i]).abs() < 1e-11 * want[i].abs().max(1.0),
            "tau {i}: {} {}",
            d.tau[i],
            want[i]
        );
    }
    let cst = |x: &[f64]| x.iter().map(|&x| D::cst(x)).collect::<Vec<_>>();
    for j in 0..n {
        for (which, matrix) in [&d.dtau_dq, &d.dtau_du, &d.mass].into_iter().enumerate() {
            let mut x = [cst(&q), cst(&u), cst(&udot)];
            x[which][j].d[0] = 1.0;
            let (t, _, _) = tau(&tree, model.gravity, &load, &x[0], &x[1], &x[2]);
            for i in 0..n {
                let (a, b) = (matrix[i * n + j], t[i].d[0]);
                assert!(
                    (a - b).abs() < 1e-10 * b.abs().max(1.0),
                    "block {which} row {i} column {j}: {a} {b}"
                );
            }
        }
    }
}

/// The Hessian of yᵀ τ by recursion against nested dual numbers through Newton–Euler, every pair, every kind of joint;
/// pairs of which neither supports the other are zero in both.
#[test]
fn deriv_hessian_of_weighted_inverse_dynamics() {
    type D = Dual<Dual<f64, 1>, 1>;
    let m = menagerie();
    let tree = Tree::build(&m, &Options::default()).unwrap();
    let n = tree.num_mobilities;
    let w = [numbers(21, n), numbers(22, n), numbers(23, n)].concat();
    let y = numbers(24, n);

    let mut k = TreeKinematics::new(&tree);
    compute_kinematics(&tree, &w[..n], &w[n..2 * n], &mut k);
    let mut d = InverseDynamicsDerivatives::new(&tree);
    d.compute(&tree, &k, &w[2 * n..], m.gravity, &vec![SpatialVec::zero(); tree.nodes.len()]);
    let mut h = InverseDynamicsHessian::new(&tree, true);
    h.compute(&tree, &k, &d, &w[2 * n..], &y);

    let at = |i: usize, j: usize| match (i / n, j / n) {
        (0, 0) => h.qq[i * n + j],
        (0, 1) => h.qu[i * n + j - n],
        (1, 0) => h.qu[j * n + i - n],
        (1, 1) => h.uu[(i - n) * n + j - n],
        (0, 2) => h.qa[i * n + j - 2 * n],
        (2, 0) => h.qa[j * n + i - 2 * n],
        _ => 0.0,
    };
    let gradient = [&h.q[..], &h.u, &h.a].concat();
    let mut ws = NewtonEuler::new(&tree);
    let mut tau = vec![D::zero(); n];
    for i in 0..3 * n {
        for j in 0..=i {
            let mut v: Vec<D> = w.iter().map(|&w| D::cst(w)).collect();
            v[i].v.d[0] = 1.0;
            v[j].d[0].v = 1.0;
            let (q, rest) = v.split_at(n);
            compute_newton_euler(&tree, m.gravity, q, &rest[..n], &rest[n..], &mut ws, &mut tau);
            let want: f64 = tau.iter().zip(&y).map(|(t, y)| t.d[0].d[0] * y).sum();
            let first: f64 = tau.iter().zip(&y).map(|(t, y)| t.v.d[0] * y).sum();
            // Moments up to 1e3 N·m per unit, summed over all bodies and rounded at ε.
            assert!((first - gradient[i]).abs() < 1e-9, "gradient {i} (n {n}): {} {first}", gradient[i]);
            assert!((at(i, j) - want).abs() < 1e-9, "({i}, {j}) (n {n}): {} {want}", at(i, j));
            assert!((at(j, i) - want).abs() < 1e-9, "({j}, {i}) (n {n}): {} {want}", at(j, i));
        }
    }
}
