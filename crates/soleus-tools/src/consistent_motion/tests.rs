use super::*;
use crate::free_motion::{FreeBody, FreeMotion, MOBILITIES};
use crate::inverse_dynamics::{Solver, equivalent_joint_load};
use crate::motion_splines::MotionSplines;
use crate::testing::{chain, numbers};
use soleus_math::function::GcvSpline;
use soleus_math::norm::{largest, largest_difference};
use soleus_math::{Function, Rotation};
use soleus_model::force::{ExternalForce, ForceKind};
use soleus_model::id::{FrameId, JointId};
use soleus_model::joint::JointKind::{Ball, Custom, Free, Gimbal, Pin};
use soleus_model::joint::{MotionType, SpatialTransform, TransformAxis};
use std::f64::consts::PI;

/// A free body whose speeds are rates of coordinates, a ball and a hinge on it.
fn model() -> Model {
    let axis = |i: usize| TransformAxis {
        axis: Vec3::unit(if i < 3 { 2 - i } else { i - 3 }),
        arguments: vec![i],
        function: Function::Linear { slope: 1.0, intercept: 0.0 },
    };
    let six = SpatialTransform { axes: [0, 1, 2, 3, 4, 5].map(axis) };
    let mut m = chain(vec![(Custom(six), 6), (Gimbal, 3), (Pin, 1)]);
    for c in &mut m.coordinates[3..6] {
        c.motion_type = MotionType::Translational;
    }
    m
}

/// The same with joints whose speeds are an angular velocity.
fn free_model() -> Model {
    chain(vec![(Free, 6), (Ball, 3), (Pin, 1)])
}

fn swing(model: &Model) -> Table {
    let times: Vec<f64> = (0..41).map(|i| 0.01 * f64::from(i)).collect();
    let column = |c: usize| -> Vec<f64> {
        let (a, w) = (0.3 - 0.02 * c as f64, 3.0 + 0.7 * c as f64);
        times.iter().map(|t| a * (w * t + c as f64).sin()).collect()
    };
    let labels = model.coordinates.iter().map(|c| c.name.clone()).collect();
    let columns = (0..model.coordinates.len()).map(column).collect();
    Table::new(Element::Scalar, labels, times, columns).unwrap()
}

/// The load in ground that a motion needs, and the markers that it shows.
fn measured(model: &Model, motion: &Table, noise: f64) -> (Vec<Force>, Measured) {
    let system = System::compile(model).unwrap();
    // As the fit has them: the root by its pose.
    let (splines, _) = MotionSplines::through_angles(model, &system, motion, None, 5).unwrap();
    let mut s = Solver::new(&system);
    let times = motion.times().to_vec();
    let mut body = FreeBody::new(&system, 1);
    let root = |i: usize| -> [f64; MOBILITIES] { std::array::from_fn(|c| motion.columns()[c][i]) };
    let through = |y: &[f64]| GcvSpline::interpolate(5, times.clone(), y);
    let poses = FreeMotion::new(&system, &mut body, (0..times.len()).map(root), through).unwrap();
    let (mut force, mut point, mut torque) = (vec![Vec::new(); 3], vec![Vec::new(); 3], vec![Vec::new(); 3]);
    let mut targets: Vec<Target> =
        (0..model.markers.len()).map(|marker| Target { marker, weight: 1.0, places: Vec::new() }).collect();
    for (i, &t) in times.iter().enumerate() {
        splines.compute(t, &mut s.state, &mut s.udot);
        let (q, rates) = (root(i), poses.rates(t));
        let u = body.speeds(&system, &q, rates.V);
        s.state.u[..6].copy_from_slice(&u);
        s.udot[..6].copy_from_slice(&body.accelerations(&system, &q, &u, rates.A));
        s.compute(&system);
        let load = equivalent_joint_load(&system, &s.ws.kin, JointId(0), &s.tau);
        let child = system.tree.nodes[1].X_MB.inverse();
        let p = s.ws.kin.X_GB[1] * child.p;
        for a in 0..3 {
            force[a].push(load.v.to_array()[a]);
            torque[a].push(load.w.to_array()[a]);
            point[a].push(p.to_array()[a]);
        }
        for (k, target) in targets.iter_mut().enumerate() {
            let station = &system.markers[target.marker];
            let r = numbers((1000 * i + k) as u64 + 7, 3);
            let p = s.ws.kin.X_GB[station.body] * station.p_BS;
            target.places.push(p + Vec3 { x: r[0], y: r[1], z: r[2] } * noise);
        }
    }
    let three = |v: Vec<Vec<f64>>| -> Option<[Vec<f64>; 3]> { v.try_into().ok() };
    let load = Force {
        name: "ground".into(),
        path: "/loads/ground".into(),
        class: "ExternalForce".into(),
        enabled: true,
        line_of_action: None,
        kind: ForceKind::ExternalForce(ExternalForce {
            applied_to_body: model.joints[0].child,
            applied_to_body_label: "b0".into(),
            force_expressed_in_body: FrameId(0),
            point_expressed_in_body: FrameId(0),
            time: times,
            force: three(force),
            point: three(point),
            torque: three(torque),
        }),
    };
    (vec![load], Measured::Markers(targets))
}

fn off(a: &Table, b: &Table) -> f64 {
    let columns = a.labels().iter().map(|l| (a.column(l).unwrap(), b.column(l).unwrap()));
    largest(columns.map(|(a, b)| largest_difference(a, b)))
}

/// Data without errors are met by the motion they came from, from a start that is off.
#[test]
fn identity_truth_is_found() {
    for m in [model(), free_model()] {
        truth_is_found(&m);
    }
}

fn truth_is_found(m: &Model) {
    let truth = swing(m);
    let (loads, data) = measured(m, &truth, 0.0);
    let mut start = truth.clone();
    for (i, x) in start.column_at_mut(7).unwrap().iter_mut().enumerate() {
        *x += 0.05 * (0.3 * i as f64).sin();
    }
    let s = Settings { cutoff_hz: None, ..Settings::default() };
    let run =
        |start: &Table| reconcile(m.clone(), loads.clone(), start, &data, &s, &mut |_, _, _| true).unwrap();
    let found = run(&start);
    assert!(found.fit.converged, "{:?}", found.fit);
    assert!(found.before.residual_peak[0] > 0.1, "{:?}", found.before);
    // A force of three components that are each as near to zero as the search goes.
    assert!(found.fit.residual_peak.iter().all(|r| *r < 2e-4), "{:?}", found.fit);
    // What is given holds each angle with an SD of 0.2 rad, four markers 4 cm or more from the axis with one of 0.125 rad or less: of
    // what the start is off less than a third remains, (0.125 / 0.2)² ≈ 0.4 of it over 1.4, and of that less than a third once more.
    let again = run(&found.motion);
    let (first, second) = (off(&found.motion, &truth), off(&again.motion, &truth));
    assert!(first < 0.05 / 3.0 && second < first / 3.0, "{first} and {second}");
}

/// With noise the residuals vanish all the same, as inverse dynamics confirms, and the motion is nearer to the truth than the start.
#[test]
fn identity_no_residuals_by_inverse_dynamics() {
    for m in [model(), free_model()] {
        no_residuals_by_inverse_dynamics(&m);
    }
}

fn no_residuals_by_inverse_dynamics(m: &Model) {
    let truth = swing(m);
    let (loads, data) = measured(m, &truth, 0.0005);
    let mut start = truth.clone();
    for c in 0..10 {
        let r = numbers(c as u64 + 90, start.rows());
        start.column_at_mut(c).unwrap().iter_mut().zip(r).for_each(|(x, r)| *x += 0.02 * r);
    }
    let s = Settings { curve: vec![10.0, 0.1], ..Settings::default() };
    let found = reconcile(m.clone(), loads.clone(), &start, &data, &s, &mut |_, _, _| true).unwrap();
    let id = inverse_dynamics::inverse_dynamics(
        found.model.clone(),
        found.loads.clone(),
        &found.motion,
        &inverse_dynamics::Settings::default(),
    );
    let after = crate::quality::residuals(m, &id.unwrap().generalized_forces).unwrap();
    assert!(after.force_peak < 2e-4 && after.moment_peak < 2e-4, "{after:?}");
    assert!(off(&found.motion, &truth) < 0.5 * off(&start, &truth));
    // The dearer residuals are, the smaller they get, and markers pay for it; a percent of play, as other terms pay too.
    let (a, b, c) = (&found.curve[0], &found.curve[1], &found.fit);
    assert!(
        a.residual_rms[0] > b.residual_rms[0] && b.residual_rms[0] > c.residual_rms[0],
        "{:?}",
        found.curve
    );
    assert!(a.marker_rms < 1.01 * c.marker_rms, "{:?} {c:?}", found.curve);
}

/// A coordinate that no marker sees moves to make residuals vanish, and hardly does so where a task holds it.
#[test]
fn analytic_held_coordinates_stay() {
    let m = model();
    let truth = swing(&m);
    let (loads, data) = measured(&m, &truth, 0.002);
    let Measured::Markers(mut targets) = data else { panic!() };
    targets.retain(|t| !m.markers[t.marker].name.starts_with("b2"));
    let data = Measured::Markers(targets);
    let moved = |held: Vec<(String, f64)>| {
        let s =
            Settings { held, mass_sd: 0.0, mass_center_sd: 0.0, load_offset_sd: 0.0, ..Settings::default() };
        let found = reconcile(m.clone(), loads.clone(), &truth, &data, &s, &mut |_, _, _| true).unwrap();
        assert!(found.fit.converged, "{:?}", found.fit);
        let (a, b) = (found.motion.column("q2_0").unwrap(), truth.column("q2_0").unwrap());
        largest_difference(a, b)
    };
    let (free, held) = (moved(Vec::new()), moved(vec![("q2_0".to_string(), 10.0)]));
    // A weight of 10 is an SD of 3 mrad, where what is given has one of 0.2 rad.
    assert!(held < 0.1 * free && held > 0.0, "{free} and {held}");
}

/// Derivatives of the equations by coefficients and parameters against central differences.
#[test]
fn deriv_equations() {
    for m in [model(), free_model()] {
        check_equations(&m);
    }
}

fn check_equations(m: &Model) {
    let truth = swing(m);
    let (loads, data) = measured(m, &truth, 0.003);
    let s = Settings {
        marker_offset_sd: 0.01,
        mass_sd: 0.1,
        mass_center_sd: 0.01,
        load_offset_sd: 0.005,
        load_delay_sd: 0.002,
        ..Settings::default()
    };
    let parameters = Parameters::new(m, &loads, &data, &s);
    let system = parameters.system().unwrap();
    let basis = Basis::new(truth.times());
    let q = coordinates(m, &system, &truth).unwrap();
    let frames = Frames::new(m, &system, truth.times(), &q, &data, &s, 1);
    // Ten coordinates, six of which are twelve numbers of a pose, and their six equations.
    let (n, rows) = (frames.n, frames.rows_per_frame(&system));
    assert_eq!((n, rows), (16, 12));
    // Away from what was given, at rotations.
    let mut other = q.clone();
    let noise = numbers(5, 10 * other.len());
    other.iter_mut().flatten().zip(noise).for_each(|(q, x)| *q += 0.003 * x);
    let away = Frames::new(m, &system, truth.times(), &other, &data, &s, 1);
    let coefficients = spline_coefficients(&basis, &away.functions(&system), n);
    let x = Iterate { coefficients, parameters };
    let (nc, np) = (x.coefficients.len(), x.parameters.list.len());
    let direction: Vec<f64> = numbers(3, nc)
        .into_iter()
        .map(|d| 0.02 * d)
        .chain(numbers(4, np).into_iter().map(|d| 0.5 * d))
        .collect();
    let at = |x: &Iterate| {
        let system = x.parameters.system().unwrap();
        let e = Evaluator::new(&system, &frames, &x.parameters).unwrap();
        let terms = e.linearise(&basis, &x.coefficients, 1);
        let (c, _) = e.cost(&basis, &x.coefficients);
        (terms, c + frames.roughness(&basis, &x.coefficients) + x.parameters.prior())
    };
    let mut x = x;
    x.parameters.move_by(&direction[nc..], 0.3);
    let h = 1e-5;
    let (terms, _) = at(&x);
    let ((plus, f_plus), (minus, f_minus)) = (at(&x.moved(&direction, h)), at(&x.moved(&direction, -h)));
    for (i, t) in terms.iter().enumerate() {
        let row = &basis.rows[i];
        for r in 0..rows {
            let mut exact: f64 = (0..np).map(|a| t.Jp[r * np + a] * direction[nc + a]).sum();
            for (k, b) in row.at.iter().enumerate() {
                for j in 0..n {
                    let d: f64 = (0..3).map(|o| b[o] * t.J[o][r * n + j]).sum();
                    exact += d * direction[(row.first + k) * n + j];
                }
            }
            let fd = (plus[i].c[r] - minus[i].c[r]) / (2.0 * h);
            // Accelerations change by 1e3 rad/s² along the direction: truncation (1e-5)² of that cubed, rounding 1e-14 / h.
            assert!((fd - exact).abs() < 1e-6 * (1.0 + exact.abs()), "frame {i} row {r}: {fd} and {exact}");
        }
    }
    // The right-hand side of the step is the negative gradient of (1).
    let mut kkt = Kkt::new(&basis, n, rows, np, true);
    assert!(kkt.num_entries() <= Kkt::entries(basis.len(), n, rows, np));
    kkt.fill(&basis, &frames, &x, &terms, None);
    let g = kkt.gradient();
    let exact: f64 = g.iter().zip(&direction).map(|(g, d)| g * d).sum();
    let fd = (f_plus - f_minus) / (2.0 * h);
    assert!((fd - exact).abs() < 1e-6 * (1.0 + exact.abs()), "{fd} and {exact}");
}

#[test]
fn analytic_what_does_not_fit_is_refused() {
    let m = model();
    let motion = swing(&m);
    let (loads, data) = measured(&m, &motion, 0.0);
    let run = |model: Model, s: Settings| {
        let motion = swing(&model);
        reconcile(model, loads.clone(), &motion, &data, &s, &mut |_, _, _| true).unwrap_err()
    };
    assert!(matches!(
        run(m.clone(), Settings { marker_sd: 0.0, ..Settings::default() }),
        Error::Value { .. }
    ));
    assert!(matches!(run(m.clone(), Settings { mass_sd: -1.0, ..Settings::default() }), Error::Value { .. }));
    let short = motion.trimmed(0.0, 0.05);
    let few =
        reconcile(m, loads.clone(), &short, &Measured::Motion, &Settings::default(), &mut |_, _, _| true);
    assert!(matches!(few, Err(Error::TooShort { .. })));
}

/// Free moments that are wrong by 4 mm of the force, as of a plate whose torsion channel reads some of its load: found, and then the
/// motion is nearer to the truth than where plates cannot be wrong in this.
#[test]
fn analytic_free_moments_in_proportion_to_the_load() {
    let m = model();
    let truth = swing(&m);
    let (mut loads, data) = measured(&m, &truth, 0.0);
    let ForceKind::ExternalForce(e) = &mut loads[0].kind else { panic!() };
    let (force, torque) = (e.force.clone().unwrap(), e.torque.as_mut().unwrap());
    for (torque, force) in torque.iter_mut().zip(&force) {
        torque.iter_mut().zip(force).for_each(|(t, f)| *t += 0.004 * f);
    }
    // Markers are good to a millimeter, so that they tell what the plate does.
    let fixed = Settings {
        marker_sd: 1e-3,
        mass_sd: 0.0,
        mass_center_sd: 0.0,
        load_gain_sd: 0.0,
        ..Settings::default()
    };
    let run = |s: &Settings| {
        let found = reconcile(m.clone(), loads.clone(), &truth, &data, s, &mut |_, _, _| true).unwrap();
        assert!(found.fit.converged && found.fit.residual_peak[1] < 2e-4, "{:?}", found.fit);
        found
    };
    let found = run(&fixed);
    let twist = found.quantities.iter().find(|q| q.name.starts_with("free moment")).unwrap();
    let without = run(&Settings { load_offset_sd: 0.0, ..fixed });
    assert!((twist.value + 0.004).abs() < 4e-4, "{twist:?}");
    assert!(found.fit.marker_rms < 0.2 * without.fit.marker_rms, "{:?} {:?}", found.fit, without.fit);
}

/// Motion, loads and markers turned about the vertical by an angle.
fn turned(
    model: &Model,
    motion: &Table,
    (loads, data): &(Vec<Force>, Measured),
    angle: f64,
) -> (Table, Vec<Force>, Measured) {
    let R = Rotation::about_y(angle);
    let system = System::compile(model).unwrap();
    let (mut body, mut motion) = (FreeBody::new(&system, 1), motion.clone());
    let mut near: Option<[f64; MOBILITIES]> = None;
    for i in 0..motion.rows() {
        let q: [f64; MOBILITIES] = std::array::from_fn(|c| motion.columns()[c][i]);
        let (own, p) = body.pose_at(&system, &q);
        // Near the row before, and the first near what it was, or half a turn about two axes from there.
        let other = [q[0] + PI, q[1], q[2] + PI, q[3], q[4], q[5]];
        for guess in near.into_iter().chain([q, other]) {
            near = Some(body.coordinates(&system, (R * own, R * p), &guess));
            if near != Some(guess) {
                break;
            }
        }
        let (now, place) = body.pose_at(&system, &near.unwrap());
        assert!(
            (now * (R * own).inverse()).to_rotation_vector().norm() < 1e-12 && (place - R * p).norm() < 1e-12
        );
        (0..MOBILITIES).for_each(|c| motion.column_at_mut(c).unwrap()[i] = near.unwrap()[c]);
    }
    let mut loads = loads.clone();
    let ForceKind::ExternalForce(e) = &mut loads[0].kind else { panic!() };
    for vectors in [&mut e.force, &mut e.point, &mut e.torque].into_iter().flatten() {
        for i in 0..vectors[0].len() {
            let v = R * Vec3 { x: vectors[0][i], y: vectors[1][i], z: vectors[2][i] };
            vectors.iter_mut().zip(v.to_array()).for_each(|(column, x)| column[i] = x);
        }
    }
    let Measured::Markers(targets) = data else { panic!() };
    let mut targets = targets.clone();
    targets.iter_mut().flat_map(|t| &mut t.places).for_each(|p| *p = R * *p);
    (motion, loads, Measured::Markers(targets))
}

/// The same trial in a laboratory with other axes has the same joint angles, in every row, and the same masses.
#[test]
fn conserves_everything_but_the_root_at_every_heading() {
    for m in [model(), free_model()] {
        let truth = swing(&m);
        let (loads, data) = measured(&m, &truth, 0.002);
        let mut start = truth.clone();
        for c in 6..10 {
            let r = numbers(c as u64 + 90, start.rows());
            start.column_at_mut(c).unwrap().iter_mut().zip(r).for_each(|(x, r)| *x += 0.02 * r);
        }
        for priced in [None, Some(1.0)] {
            let s = Settings { residual_sd: priced, ..Settings::default() };
            let run = |(start, loads, data): &(Table, Vec<Force>, Measured)| {
                let found =
                    reconcile(m.clone(), loads.clone(), start, data, &s, &mut |_, _, _| true).unwrap();
                assert!(found.fit.converged, "{:?}", found.fit);
                found
            };
            let given = (loads.clone(), data.clone());
            let straight = run(&(start.clone(), given.0.clone(), given.1.clone()));
            for angle in [0.7, 2.4, 3.0, -0.9] {
                let found = run(&turned(&m, &start, &given, angle));
                let columns = |t: &Table| t.columns()[6..].to_vec();
                let (a, b) = (columns(&straight.motion), columns(&found.motion));
                let off = largest(a.iter().zip(&b).map(|(a, b)| largest_difference(a, b)));
                let masses = |c: &Consistent| c.model.bodies.iter().map(|b| b.mass).collect::<Vec<_>>();
                let mass = largest_difference(&masses(&straight), &masses(&found));
                // The iterates are the same but for rounding, 1e-16, which a step's matrix of condition 1e8 or less lets grow.
                assert!(off < 1e-8 && mass < 1e-8, "{angle}: {off} rad, {mass} kg");
            }
        }
    }
}
