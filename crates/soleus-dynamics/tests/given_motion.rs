//! The equations of a given motion against the whole implicit equations, on every reference model.

use crate::common::{NOT_FINITE, Subject, Tally, direction, moved, references, scale, shifted, shipped};
use soleus_dynamics::implicit::ImplicitSystem;
use soleus_testing::reference_test;

/// Residual, Jacobian and Hessian agree with those of the implicit equations, and nothing is left out.
fn check(subjects: Vec<Subject>, known: &[(&str, &str)]) {
    let mut tally = Tally::default();
    for Subject { name, system, states } in subjects {
        let implicit = ImplicitSystem::new(&system);
        let given = implicit.given_motion();
        let (n, nz) = (system.tree.num_mobilities, system.num_aux);
        let (nx, ne, m) = (implicit.num_states(), system.num_controls, implicit.num_multipliers());
        let (mut ws, mut jw, mut hw) =
            (system.workspace(), implicit.jacobian_workspace(), implicit.hessian_workspace());
        let (mut jac, mut hess) = (implicit.jacobian(), implicit.hessian());
        for (k, (x, controls)) in states.iter().enumerate().skip(1).take(2) {
            let (x, controls) = (moved(x, 1), shifted(controls, 1));
            let xdot = direction(7, nx, 0.5);
            let lambda = direction(8, m, 1.0);
            let y = direction(9, implicit.num_residuals(), 1.0);
            let mut r = vec![0.0; implicit.num_residuals()];
            implicit.compute_jacobian(&x, &xdot, &controls, &lambda, &mut ws, &mut jw, &mut r, &mut jac);
            implicit.compute_hessian(&x, &xdot, &controls, &lambda, &y, &mut hw, &mut hess);
            if r.iter().any(|r| !r.is_finite()) {
                tally.left_out(&name, NOT_FINITE);
                continue;
            }
            tally.compared(&name);

            let point = given.point(&system, &x, &xdot[n..2 * n], &mut ws);
            let v = [&x.z[..], &xdot[2 * n..], &controls[..], &lambda[..]].concat();
            let mut own = vec![0.0; given.num_rows()];
            given.compute_residual(&system, &point, &v, &mut own);
            // The same sums in another order: rounding of the largest.
            let limit = 1e-12 * scale(r.iter().copied());
            for (i, (a, b)) in own.iter().zip(&r[n..]).enumerate() {
                assert!((a - b).abs() <= limit, "{name} state {k} row {i}: {a} {b}");
            }

            // Columns of v among w = (x, ẋ, e, λ).
            let place = |i: usize| match i {
                i if i < nz => 2 * n + i,
                i if i < 2 * nz => nx + 2 * n + i - nz,
                i => 2 * nx + i - 2 * nz,
            };
            let mut values = vec![0.0; given.jacobian_places().len()];
            given.compute_jacobian(&system, &point, &v, &mut values);
            let mut dense = vec![0.0; given.num_rows() * given.num_variables()];
            for (&(r, c), v) in given.jacobian_places().iter().zip(&values) {
                dense[r * given.num_variables() + c] += v;
            }
            let all = [&jac.dx.value[..], &jac.dxdot.value, &jac.du.value, &jac.dlambda.value].concat();
            let limit = 1e-11 * scale(all.iter().copied());
            for row in 0..given.num_rows() {
                for c in 0..given.num_variables() {
                    let w = place(c);
                    let whole = match w {
                        w if w < nx => jac.dx.at(n + row, w),
                        w if w < 2 * nx => jac.dxdot.at(n + row, w - nx),
                        w if w < 2 * nx + ne => jac.du.at(n + row, w - 2 * nx),
                        w => jac.dlambda.at(n + row, w - 2 * nx - ne),
                    };
                    let own = dense[row * given.num_variables() + c];
                    assert!((own - whole).abs() <= limit, "{name} {k} J({row}, {c}): {own} {whole}");
                }
            }

            let mut values = vec![0.0; given.hessian_places().len()];
            given.compute_hessian(&system, &point, &v, &y[n..], &mut values);
            let mut dense = vec![0.0; given.num_variables().pow(2)];
            for (&(i, j), v) in given.hessian_places().iter().zip(&values) {
                assert!(i >= j, "{name}: upper triangle");
                dense[i * given.num_variables() + j] += v;
            }
            let limit = 1e-10 * scale(hess.lower.value.iter().copied());
            for i in 0..given.num_variables() {
                for j in 0..=i {
                    let own = dense[i * given.num_variables() + j];
                    let whole = hess.lower.at(place(i), place(j));
                    assert!((own - whole).abs() <= limit, "{name} {k} H({i}, {j}): {own} {whole}");
                }
            }
        }
    }
    tally.finish(known);
}

#[test]
fn identity_given_motion() {
    check(shipped(), &[]);
}

#[reference_test]
fn identity_given_motion_of_reference_models() {
    check(references(), &[]);
}
