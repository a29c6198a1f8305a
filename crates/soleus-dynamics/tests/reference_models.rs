//! Derivatives of whole models: the same lines on `f64` and on dual numbers, for every reference model.

use crate::common::{
    NOT_DEFINED, NOT_FINITE, SINGULAR, Subject, Tally, direction, moved, references, scale, shifted, shipped,
};
use soleus_dynamics::{State, System};
use soleus_math::norm::largest;
use soleus_math::{Dual, Real};
use soleus_testing::reference_test;

type D = Dual<f64, 1>;

fn along(x: &[f64], d: &[f64]) -> Vec<D> {
    x.iter().zip(d).map(|(&x, &d)| D::new(x, [d])).collect()
}

/// (u̇, ż) at a state in any scalar; `None` where the mass matrix is singular.
fn motion<T: Real>(system: &System, x: &State<T>, controls: &[T]) -> Option<Vec<T>> {
    let mut ws = system.workspace();
    system.compute_motion(x, controls, &mut ws).ok()?;
    Some(ws.udot.iter().chain(&ws.zdot).copied().collect())
}

/// Value parts on dual numbers equal `f64` bit for bit, and the derivative of (u̇, ż) along a seeded
/// direction of (q, u, z, controls) equals a central difference, at every state of every model.
fn check(subjects: Vec<Subject>, known: &[(&str, &str)]) {
    let mut tally = Tally::default();
    for Subject { name, system, states } in subjects {
        for (k, (x, controls)) in states.iter().enumerate() {
            // The default state sits on kinks by construction: excitation equal to activation, fibers at
            // their bound, zero speeds. Two small moves off it, where everything is smooth but for bad luck.
            let (mut best, mut reason) = (f64::INFINITY, None);
            for move_off in 1..=2 {
                let (x, controls) = (moved(x, move_off), shifted(controls, move_off));
                match derivative_error(&name, k, &system, &x, &controls) {
                    Ok(error) => best = best.min(error),
                    Err(left_out) => reason = Some(left_out),
                }
            }
            if let Some(reason) = reason {
                tally.left_out(&name, reason);
                continue;
            }
            tally.compared(&name);
            // Roundoff of differences at accelerations that come out of large cancelling forces.
            assert!(best < 1e-5, "{name} state {k}: derivative off by {best:.1e}");
        }
    }
    tally.finish(known);
}

#[test]
fn deriv_motion_of_every_shipped_model() {
    check(shipped(), &[]);
}

#[reference_test]
fn deriv_motion_of_every_reference_model() {
    check(references(), NOT_DEFINED);
}

/// Largest difference between dual and central difference, relative to the largest derivative; or why
/// there is none. Values are compared bit for bit on the way.
fn derivative_error(
    name: &str,
    k: usize,
    system: &System,
    x: &State<f64>,
    controls: &[f64],
) -> Result<f64, &'static str> {
    let n = x.q.len();
    let (dq, du) = (direction(1, n, 1.0), direction(2, n, 1.0));
    // Fibers live on a scale of centimetres.
    let (dz, dc) = (direction(3, x.z.len(), 0.01), direction(4, controls.len(), 0.1));
    let lifted =
        State { time: D::cst(x.time), q: along(&x.q, &dq), u: along(&x.u, &du), z: along(&x.z, &dz) };
    let dual = motion(system, &lifted, &along(controls, &dc)).ok_or(SINGULAR)?;
    let plain = motion(system, x, controls).unwrap();
    for (i, (a, b)) in dual.iter().zip(&plain).enumerate() {
        assert_eq!(a.v.to_bits(), b.to_bits(), "{name} state {k} entry {i}: {} {b}", a.v);
    }
    if !plain.iter().all(|y| y.is_finite()) {
        return Err(NOT_FINITE);
    }
    let at = |h: f64| {
        let add = |x: &[f64], d: &[f64]| x.iter().zip(d).map(|(x, d)| x + h * d).collect::<Vec<_>>();
        let y = State { time: x.time, q: add(&x.q, &dq), u: add(&x.u, &du), z: add(&x.z, &dz) };
        motion(system, &y, &add(controls, &dc)).unwrap()
    };
    let scale = scale(dual.iter().map(|y| y.d[0]));
    let mut best = f64::INFINITY;
    for h in [1e-6, 1e-7] {
        let (hi, lo) = (at(h), at(-h));
        let fd = hi.iter().zip(&lo).map(|(hi, lo)| (hi - lo) / (2.0 * h));
        let worst = largest(dual.iter().zip(fd).map(|(d, fd)| (d.d[0] - fd).abs() / scale));
        // NaN is not an error that is less than another.
        if worst < best {
            best = worst;
        }
    }
    Ok(best)
}
