//! Geodesics by themselves.

use super::geodesic::{Frenet, Geodesic, integrate, shoot};
use super::surface::Obstacle;
use soleus_math::{Dual, Vec3, vec3};

const SURFACES: [Obstacle; 4] = [
    Obstacle::Sphere { radius: 0.1 },
    Obstacle::Cylinder { radius: 0.07 },
    Obstacle::Ellipsoid { radii: vec3(0.05, 0.1, 0.15) },
    Obstacle::Torus { circle: 0.1, tube: 0.04 },
];
const START: Vec3<f64> = vec3(0.11, 0.03, 0.02);
const TOWARDS: Vec3<f64> = vec3(-0.3, 0.8, 0.5);

#[test]
fn order_geodesic_integration() {
    // A step of half the size leaves 1/256 of the error.
    for surface in &SURFACES[2..] {
        let p = surface.project(START);
        let error = |steps: usize| {
            let [coarse, fine] = [steps, 640].map(|n| integrate::<f64>(surface, p, TOWARDS, 0.2, n));
            (coarse - fine).norm()
        };
        let (coarse, fine) = (error(24), error(48));
        let order = (coarse / fine).log2();
        assert!(order > 7.0, "order {order:.2}: {coarse:e} {fine:e} on {surface:?}");
    }
}

#[test]
fn identity_geodesic_is_as_exact_as_tiny_steps() {
    for surface in &SURFACES[2..] {
        let Geodesic { end, .. } = shoot::<f64, false>(surface, START, TOWARDS, 0.3);
        let fine = integrate::<f64>(surface, surface.project(START), TOWARDS, 0.3, 2000);
        assert!((end.p - fine).norm() < 1e-13, "{:e} on {surface:?}", (end.p - fine).norm());
    }
}

#[test]
fn deriv_jacobi_fields() {
    // How the end of a geodesic moves with its start, by dual numbers and by the fields.
    type D = Dual<f64, 4>;
    for surface in &SURFACES {
        let Geodesic { start, end, jacobi } = shoot::<f64, true>(surface, START, TOWARDS, 0.12);
        let [along, across, turn, longer] = std::array::from_fn(|i| D::variable(0.0, i));
        let cst = |v: Vec3<f64>| Vec3::<D>::cst(v);
        let Frenet { p, t, .. } = start;
        let p = cst(p) + cst(t) * along + cst(start.b()) * across;
        let d = cst(t) + cst(start.b()) * turn;
        let moved = shoot::<D, false>(surface, p, d, longer + 0.12).end.p;
        let wanted = [end.t, end.b() * jacobi.a, end.b() * jacobi.r, end.t];
        for (i, wanted) in wanted.into_iter().enumerate() {
            let found = vec3(moved.x.d[i], moved.y.d[i], moved.z.d[i]);
            assert!((found - wanted).norm() < 1e-11, "{i} on {surface:?}: {found:?} {wanted:?}");
        }
    }
}

#[test]
fn deriv_surfaces() {
    for surface in &SURFACES {
        let x: Vec3<Dual<f64, 3>> =
            vec3(Dual::variable(START.x, 0), Dual::variable(START.y, 1), Dual::variable(START.z, 2));
        let slope = Vec3::from_array(surface.value(x).d);
        assert!((slope - surface.gradient(START)).norm() < 1e-12 * slope.norm(), "{surface:?}");
        let g = surface.gradient(x);
        let Hv = [g.x, g.y, g.z].map(|g| Vec3::from_array(g.d).dot(TOWARDS));
        let off = Vec3::from_array(Hv) - surface.hessian_times(START, TOWARDS);
        assert!(off.norm() < 1e-11 * slope.norm() / 0.04, "{surface:?}: {off:?}");
        assert!(surface.value(surface.project(START)).abs() < 1e-14);
    }
}
