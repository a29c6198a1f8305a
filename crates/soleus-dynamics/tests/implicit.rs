//! The implicit equations of whole models: consistent with the explicit ones, and their Jacobians exact.

use crate::common::{
    NOT_DEFINED, NOT_FINITE, SINGULAR, Subject, Tally, direction, moved, references, scale, shifted, shipped,
    with_formulas, with_tendon_force_states,
};
use soleus_dynamics::implicit::ImplicitSystem;
use soleus_dynamics::{State, System};
use soleus_math::{Dual, Real};
use soleus_testing::reference_test;

type D = Dual<f64, 1>;

/// (q̇, u̇, ż) and λ of the explicit equations.
fn rates(system: &System, x: &State<f64>, controls: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let mut ws = system.workspace();
    system.compute_motion(x, controls, &mut ws).ok()?;
    let mut xdot = system.coordinate_rates(x);
    xdot.extend(&ws.udot);
    xdot.extend(&ws.zdot);
    Some((xdot, ws.constraints.lambda.clone()))
}

/// The rates of the explicit equations make the implicit residual vanish, at every reference state.
fn check_explicit_rates(subjects: Vec<Subject>, known: &[(&str, &str)]) {
    let mut tally = Tally::default();
    for Subject { name, system, states } in subjects {
        let implicit = ImplicitSystem::new(&system);
        let mut ws = system.workspace();
        let n = system.tree.num_mobilities;
        for (k, (x, controls)) in states.iter().enumerate() {
            let Some((xdot, lambda)) = rates(&system, x, controls) else {
                tally.left_out(&name, SINGULAR);
                continue;
            };
            let mut r = vec![0.0; implicit.num_residuals()];
            implicit.compute_residual(x, &xdot, controls, &lambda, &mut ws, &mut r);
            // Forces are large and cancel; muscles' rows are in units of F₀ or of speed.
            let scale = scale(ws.body_load.iter().map(|f| f.w.norm() + f.v.norm()));
            if !r.iter().all(|r| r.is_finite()) {
                tally.left_out(&name, NOT_FINITE);
                continue;
            }
            tally.compared(&name);
            for (i, r) in r.iter().enumerate() {
                let limit = if (n..2 * n).contains(&i) { 1e-9 * scale } else { 1e-6 };
                // DeGrooteFregly's explicit form leaves out damping, its implicit form does not.
                let damped = name.contains("2D_gait") || name.contains("hanging");
                assert!(r.abs() <= limit || damped, "{name} state {k} row {i}: {r:e}");
            }
        }
    }
    tally.finish(known);
}

#[test]
fn identity_explicit_rates_solve_the_implicit_equations() {
    check_explicit_rates(shipped(), &[]);
}

#[reference_test]
fn identity_explicit_rates_solve_the_implicit_equations_of_reference_models() {
    check_explicit_rates(references(), NOT_DEFINED);
}

/// Every entry of every Jacobian against dual numbers through the whole residual, and nothing outside the pattern.
fn check_jacobians(subjects: Vec<Subject>, known: &[(&str, &str)]) {
    let mut tally = Tally::default();
    for Subject { name, system, states } in subjects {
        let implicit = ImplicitSystem::new(&system);
        let (n, nz, ne, m) =
            (system.tree.num_mobilities, system.num_aux, system.num_controls, implicit.num_multipliers());
        let (nx, nr) = (implicit.num_states(), implicit.num_residuals());
        let (mut ws, mut jw) = (system.workspace(), implicit.jacobian_workspace());
        let mut jac = implicit.jacobian();
        let mut dual_ws = system.workspace::<D>();
        // Large models: a few states are enough, every column of them.
        for (k, (x, controls)) in states.iter().enumerate().skip(1).take(2) {
            let (x, controls) = (moved(x, 1), shifted(controls, 1));
            let Some((mut xdot, mut lambda)) = rates(&system, &x, &controls) else {
                tally.left_out(&name, SINGULAR);
                continue;
            };
            for (v, d) in xdot.iter_mut().zip(direction(7, nx, 0.1)) {
                *v += d;
            }
            for (l, d) in lambda.iter_mut().zip(direction(8, m, 1.0)) {
                *l += d;
            }
            let mut r = vec![0.0; nr];
            implicit.compute_jacobian(&x, &xdot, &controls, &lambda, &mut ws, &mut jw, &mut r, &mut jac);
            if !r.iter().all(|r| r.is_finite()) {
                tally.left_out(&name, NOT_FINITE);
                continue;
            }
            tally.compared(&name);

            let lift = |v: &[f64]| v.iter().map(|&v| D::cst(v)).collect::<Vec<_>>();
            let mut rd = vec![D::zero(); nr];
            let widths = [nx, nx, ne, m];
            for (block, matrix) in [&jac.dx, &jac.dxdot, &jac.du, &jac.dlambda].into_iter().enumerate() {
                for col in 0..widths[block] {
                    let mut v = [lift(&x.q), lift(&x.u), lift(&x.z)].concat();
                    let (mut vd, mut e, mut l) = (lift(&xdot), lift(&controls), lift(&lambda));
                    [&mut v, &mut vd, &mut e, &mut l][block][col].d[0] = 1.0;
                    let y = State {
                        time: D::cst(x.time),
                        q: v[..n].to_vec(),
                        u: v[n..2 * n].to_vec(),
                        z: v[2 * n..2 * n + nz].to_vec(),
                    };
                    implicit.compute_residual(&y, &vd, &e, &l, &mut dual_ws, &mut rd);
                    let scale = scale(rd.iter().map(|r| r.d[0]));
                    for row in 0..nr {
                        let (a, b) = (matrix.at(row, col), rd[row].d[0]);
                        assert!(
                            (a - b).abs() <= 1e-8 * scale,
                            "{name} state {k} block {block} row {row} column {col} (n {n}, nz {nz}): {a:e} {b:e}"
                        );
                    }
                }
            }
        }
    }
    tally.finish(known);
}

#[test]
fn deriv_implicit_jacobians() {
    check_jacobians(shipped(), &[]);
}

#[reference_test]
fn deriv_implicit_jacobians_of_reference_models() {
    check_jacobians(references(), &[]);
}

/// The Jacobians along seeded directions at random states of every model, against central differences of the residual.
fn check_jacobians_by_differences(subjects: Vec<Subject>, known: &[(&str, &str)]) {
    let mut tally = Tally::default();
    let (mut checked, mut rough) = (0, 0);
    for Subject { name, system, states } in subjects {
        let implicit = ImplicitSystem::new(&system);
        let (n, m) = (system.tree.num_mobilities, implicit.num_multipliers());
        let (nx, nr) = (implicit.num_states(), implicit.num_residuals());
        let (mut ws, mut jw) = (system.workspace(), implicit.jacobian_workspace());
        let mut jac = implicit.jacobian();
        for (k, (x, controls)) in states.iter().enumerate().take(3) {
            let seed = 20 + k as u64;
            let (x, controls) = (moved(x, seed), shifted(controls, seed));
            let (xdot, lambda) = (direction(seed, nx, 2.0), direction(seed + 1, m, 5.0));
            let mut r = vec![0.0; nr];
            implicit.compute_jacobian(&x, &xdot, &controls, &lambda, &mut ws, &mut jw, &mut r, &mut jac);
            if !r.iter().all(|r| r.is_finite()) {
                tally.left_out(&name, NOT_FINITE);
                continue;
            }
            tally.compared(&name);
            let along = [nx, nx, controls.len(), m].map(|size| direction(seed + 2, size, 1.0));
            let mut exact = vec![0.0; nr];
            for (matrix, d) in [&jac.dx, &jac.dxdot, &jac.du, &jac.dlambda].into_iter().zip(&along) {
                matrix.multiply_add(1.0, d, &mut exact);
            }
            let mut difference = |h: f64| {
                let mut at = |h: f64| {
                    let add = |v: &[f64], d: &[f64]| -> Vec<f64> {
                        v.iter().zip(d).map(|(v, d)| v + h * d).collect()
                    };
                    let y = add(&[&x.q[..], &x.u, &x.z].concat(), &along[0]);
                    let y = State {
                        time: x.time,
                        q: y[..n].to_vec(),
                        u: y[n..2 * n].to_vec(),
                        z: y[2 * n..].to_vec(),
                    };
                    let (v, e, l) =
                        (add(&xdot, &along[1]), add(&controls, &along[2]), add(&lambda, &along[3]));
                    let mut r = vec![0.0; nr];
                    implicit.compute_residual(&y, &v, &e, &l, &mut ws, &mut r);
                    r
                };
                let (up, down) = (at(h), at(-h));
                up.iter().zip(&down).map(|(u, d)| (u - d) / (2.0 * h)).collect::<Vec<f64>>()
            };
            let h = 2e-6;
            let (coarse, fine) = (difference(h), difference(0.5 * h));
            let scale = scale(exact.iter().copied());
            for i in 0..nr {
                checked += 1;
                // Rounding of residuals, which sum forces of the size of their slopes times a centimetre, over h; and what the
                // length of the step changes: truncation, or a search that stops one step earlier on one side.
                let step = (fine[i] - coarse[i]).abs();
                let allowed = 1e-7 * scale + 1e-13 * (r[i].abs() + 1e-2 * scale) / h;
                rough += usize::from(step > allowed);
                assert!(
                    (exact[i] - fine[i]).abs() <= allowed + 2.0 * step,
                    "{name} state {k} row {i}: {} {} {}",
                    exact[i],
                    fine[i],
                    coarse[i]
                );
            }
        }
    }
    println!("{checked} rows, in {rough} of them the step matters");
    assert!(rough * 20 <= checked, "differences say little in {rough} of {checked} rows");
    tally.finish(known);
}

#[test]
fn deriv_implicit_jacobians_by_differences() {
    check_jacobians_by_differences(shipped(), &[]);
}

#[reference_test]
fn deriv_implicit_jacobians_by_differences_of_reference_models() {
    check_jacobians_by_differences(references(), &[]);
}

/// Every entry of the Hessian of yᵀ f against central differences of yᵀ times the Jacobians, along every variable of
/// small models and along a direction for large ones; nothing outside the pattern.
fn check_hessian(subjects: Vec<Subject>, known: &[(&str, &str)]) {
    let mut tally = Tally::default();
    for Subject { name, system, states } in subjects {
        let implicit = ImplicitSystem::new(&system);
        let (nx, nr, nw) = (implicit.num_states(), implicit.num_residuals(), implicit.num_variables());
        let (n, ne, m) = (system.tree.num_mobilities, system.num_controls, implicit.num_multipliers());
        let (mut hw, mut h) = (implicit.hessian_workspace(), implicit.hessian());
        let (mut ws, mut jw) = (system.workspace(), implicit.jacobian_workspace());
        let mut jac = implicit.jacobian();
        let (x, controls) = states.get(1).unwrap_or_else(|| panic!("{name} has one state"));
        let (x, controls) = (moved(x, 1), shifted(controls, 1));
        let Some((mut xdot, mut lambda)) = rates(&system, &x, &controls) else {
            tally.left_out(&name, SINGULAR);
            continue;
        };
        xdot.iter_mut().zip(direction(7, nx, 0.1)).for_each(|(v, d)| *v += d);
        lambda.iter_mut().zip(direction(8, m, 1.0)).for_each(|(v, d)| *v += d);
        let y = direction(9, nr, 1.0);
        implicit.compute_hessian(&x, &xdot, &controls, &lambda, &y, &mut hw, &mut h);

        // yᵀ ∂f/∂w at w + step · d.
        let w0 = [&x.q[..], &x.u, &x.z, &xdot, &controls, &lambda].concat();
        let mut gradient = |w: &[f64]| {
            let at =
                State { time: x.time, q: w[..n].to_vec(), u: w[n..2 * n].to_vec(), z: w[2 * n..nx].to_vec() };
            let (xdot, rest) = w[nx..].split_at(nx);
            let (e, l) = rest.split_at(ne);
            let mut r = vec![0.0; nr];
            implicit.compute_jacobian(&at, xdot, e, l, &mut ws, &mut jw, &mut r, &mut jac);
            let mut g = Vec::with_capacity(nw);
            for matrix in [&jac.dx, &jac.dxdot, &jac.du, &jac.dlambda] {
                for c in 0..matrix.columns {
                    let column = matrix.start[c]..matrix.start[c + 1];
                    g.push(column.map(|k| matrix.value[k] * y[matrix.row[k]]).sum::<f64>());
                }
            }
            g
        };
        let g = gradient(&w0);
        if !g.iter().all(|g| g.is_finite()) {
            tally.left_out(&name, NOT_FINITE);
            continue;
        }
        tally.compared(&name);
        let largest = scale(g.iter().copied());
        for (i, (a, b)) in h.gradient.iter().zip(&g).enumerate() {
            assert!((a - b).abs() <= 1e-9 * largest, "{name} gradient {i}: {a:e} {b:e}");
        }

        for k in 0..3 {
            let d = direction(20 + k, nw, 1.0);
            // One-sided differences of second order: curves have kinks, and one may lie within a step of the state;
            // what the state itself has is then the derivative of the other side.
            let mut side = |h: f64| {
                let at = |s: f64| w0.iter().zip(&d).map(|(w, d)| w + s * d).collect::<Vec<_>>();
                let (near, far) = (gradient(&at(h)), gradient(&at(2.0 * h)));
                (0..nw).map(|i| (4.0 * near[i] - far[i] - 3.0 * g[i]) / (2.0 * h)).collect::<Vec<_>>()
            };
            let (up, down) = (side(1e-7), side(-1e-7));
            let mut product = vec![0.0; nw];
            h.lower.multiply_add(1.0, &d, &mut product);
            for c in 0..nw {
                for k in h.lower.start[c]..h.lower.start[c + 1] {
                    let r = h.lower.row[k];
                    assert!(r >= c);
                    if r > c {
                        product[c] += h.lower.value[k] * d[r];
                    }
                }
            }
            let scale = scale(product.iter().copied()).max(largest);
            for i in 0..nw {
                let (a, b, c) = (product[i], up[i], down[i]);
                let near = |b: f64| (a - b).abs() <= 1e-5 * scale;
                assert!(
                    near(b) || near(c),
                    "{name} direction {k} row {i} (n {n}, nx {nx}): {a:e} {b:e} {c:e}, scale {scale:e}"
                );
            }
        }
    }
    tally.finish(known);
}

#[test]
fn deriv_implicit_hessian() {
    check_hessian(shipped(), &[]);
}

#[reference_test]
fn deriv_implicit_hessian_of_reference_models() {
    check_hessian(references(), &[]);
}

/// Every entry of the Hessian of yᵀ f against nested dual numbers through the whole residual, and nothing outside the
/// pattern, on models of up to 60 variables.
fn check_hessian_by_nested_duals(subjects: Vec<Subject>, known: &[(&str, &str)]) {
    let mut tally = Tally::default();
    type DD = Dual<Dual<f64, 1>, 1>;
    for Subject { name, system, states } in subjects {
        let implicit = ImplicitSystem::new(&system);
        let (nx, nr, nw) = (implicit.num_states(), implicit.num_residuals(), implicit.num_variables());
        let (n, ne, m) = (system.tree.num_mobilities, system.num_controls, implicit.num_multipliers());
        if nw > 60 {
            continue;
        }
        let (x, controls) = states.get(1).unwrap_or_else(|| panic!("{name} has one state"));
        let (x, controls) = (moved(x, 1), shifted(controls, 1));
        let Some((mut xdot, mut lambda)) = rates(&system, &x, &controls) else {
            tally.left_out(&name, SINGULAR);
            continue;
        };
        xdot.iter_mut().zip(direction(7, nx, 0.1)).for_each(|(v, d)| *v += d);
        lambda.iter_mut().zip(direction(8, m, 1.0)).for_each(|(v, d)| *v += d);
        let y = direction(9, nr, 1.0);
        let (mut hw, mut h) = (implicit.hessian_workspace(), implicit.hessian());
        implicit.compute_hessian(&x, &xdot, &controls, &lambda, &y, &mut hw, &mut h);

        let w0 = [&x.q[..], &x.u, &x.z, &xdot, &controls, &lambda].concat();
        let mut ws = system.workspace::<DD>();
        let mut r = vec![DD::zero(); nr];
        let mut want = vec![0.0; nw * nw];
        for c in 0..nw {
            for row in c..nw {
                let mut w: Vec<DD> = w0.iter().map(|&w| DD::cst(w)).collect();
                w[c].v.d[0] = 1.0;
                w[row].d[0].v = 1.0;
                let at = State {
                    time: DD::cst(x.time),
                    q: w[..n].to_vec(),
                    u: w[n..2 * n].to_vec(),
                    z: w[2 * n..nx].to_vec(),
                };
                let (vd, rest) = w[nx..].split_at(nx);
                implicit.compute_residual(&at, vd, &rest[..ne], &rest[ne..], &mut ws, &mut r);
                want[c * nw + row] = r.iter().zip(&y).map(|(r, y)| r.d[0].d[0] * y).sum();
            }
        }
        if !want.iter().all(|h| h.is_finite()) {
            tally.left_out(&name, NOT_FINITE);
            continue;
        }
        tally.compared(&name);
        let scale = scale(want.iter().copied());
        for c in 0..nw {
            for row in c..nw {
                let (a, b) = (h.lower.at(row, c), want[c * nw + row]);
                assert!(
                    (a - b).abs() <= 1e-10 * scale,
                    "{name} ({row}, {c}) (n {n}, nx {nx}, nw {nw}): {a:e} {b:e}, scale {scale:e}"
                );
            }
        }
    }
    tally.finish(known);
}

#[test]
fn deriv_implicit_hessian_is_that_of_nested_duals() {
    check_hessian_by_nested_duals(shipped(), &[]);
}

#[reference_test]
fn deriv_implicit_hessian_is_that_of_nested_duals_of_reference_models() {
    check_hessian_by_nested_duals(references(), &[]);
}

/// Forces by formulas: everything of the above.
#[test]
fn deriv_forces_by_formulas() {
    check_explicit_rates(with_formulas(), &[]);
    check_jacobians(with_formulas(), &[]);
    check_jacobians_by_differences(with_formulas(), &[]);
    check_hessian(with_formulas(), &[]);
    check_hessian_by_nested_duals(with_formulas(), &[]);
}

/// Muscles with the tendon force as state on polynomials, coordinates without torque among them: everything of the above.
#[test]
fn deriv_tendon_force_states_and_coordinates_without_torque() {
    check_explicit_rates(with_tendon_force_states(), &[]);
    check_jacobians(with_tendon_force_states(), &[]);
    check_jacobians_by_differences(with_tendon_force_states(), &[]);
    check_hessian(with_tendon_force_states(), &[]);
    check_hessian_by_nested_duals(with_tendon_force_states(), &[]);
}
