//! Checks of points of application and bodies of measured forces.

use super::{UNLOADED_N, length};
use soleus_dynamics::System;
use soleus_math::{Table, Vec3};
use soleus_model::force::{ExternalForce, Force, ForceKind};
use soleus_model::{Diagnostics, Model, angles};
use soleus_simulation::system::state_column;

/// Instants that are looked at.
const LOOKS: usize = 40;
/// Fewer loaded instants tell nothing.
const FEW: usize = 3;
/// A force farther from its body does not act there, m. Feet are a third as long.
const FAR_M: f64 = 0.8;
/// Another body has to be nearer by this to be the right one, m.
const NEARER_M: f64 = 0.05;

/// Checks the points of application of measured forces against a motion (coordinates, in degrees if the header says so,
/// or states): a force that is closer to another loaded body is on the wrong foot, and a force far from its body has
/// wrong units or axes.
pub fn check_points(model: &Model, system: &System, motion: &Table, forces: &[Force], log: &mut Diagnostics) {
    let plates: Vec<(&str, &ExternalForce)> = forces.iter().filter_map(in_ground(model)).collect();
    if plates.is_empty() || motion.rows() == 0 || motion.element().components() != 1 {
        return;
    }
    let body = |f: &ExternalForce| model.frames[f.applied_to_body.0].body.0;
    let mut bodies: Vec<usize> = plates.iter().map(|(_, f)| body(f)).collect();
    bodies.sort_unstable();
    bodies.dedup();

    // Where each coordinate of the model is found.
    let columns = model.coordinates.iter().zip(&system.tree.mobility_of_coordinate).filter_map(|(c, &m)| {
        let column = state_column(motion.labels(), &format!("{}/value", c.path))?;
        (m != usize::MAX).then_some((m, column, angles::unit_of(motion, c)))
    });
    let columns: Vec<(usize, usize, f64)> = columns.collect();

    // Distances of the points of each plate to mass center or origin of the bodies, whichever is nearer, while it is loaded.
    let mut distances = vec![vec![Vec::new(); bodies.len()]; plates.len()];
    let (mut state, mut ws) = (system.default_state.clone(), system.workspace());
    for row in (0..motion.rows()).step_by((motion.rows() / LOOKS).max(1)) {
        for &(m, column, factor) in &columns {
            state.q[m] = factor * motion.columns()[column][row];
        }
        system.compute_kinematics(&state, &mut ws);
        for ((_, f), found) in plates.iter().zip(&mut distances) {
            let Some(p) = point_at(f, motion.times()[row]) else { continue };
            for (&b, list) in bodies.iter().zip(found) {
                let X_GB = ws.kin.X_GB[system.tree.node_of_body[b]];
                let d = (X_GB * model.bodies[b].mass_center - p).norm().min((X_GB.p - p).norm());
                if d.is_finite() {
                    list.push(d);
                }
            }
        }
    }

    for ((name, f), found) in plates.iter().zip(&mut distances) {
        if found.iter().any(|list| list.len() < FEW) {
            continue;
        }
        let medians: Vec<f64> = found.iter_mut().map(|list| median(list)).collect();
        let own = medians[bodies.iter().position(|&b| b == body(f)).unwrap_or(0)];
        let nearest = (0..bodies.len()).min_by(|&a, &b| medians[a].total_cmp(&medians[b])).unwrap_or(0);
        let on = &model.bodies[body(f)].name;
        if medians[nearest] < own - NEARER_M && medians[nearest] < FAR_M {
            let near = &model.bodies[bodies[nearest]].name;
            let message = format!(
                "external force `{name}` acts on `{on}`, but its point of application is nearer to `{near}`: {} and {}",
                length(own),
                length(medians[nearest])
            );
            log.warn(0, "", message, "the plates seem to be swapped: check `applied_to_body`");
        } else if own > FAR_M {
            let message = format!("external force `{name}` acts {} from `{on}`", length(own));
            log.warn(
                0,
                "",
                message,
                "check the unit, axes and origin of its points of application, and that motion and loads are from the same trial",
            );
        }
    }
}

/// A measured force whose points are given in ground, with its name.
fn in_ground(model: &Model) -> impl Fn(&Force) -> Option<(&str, &ExternalForce)> + '_ {
    |f| match &f.kind {
        ForceKind::ExternalForce(e) if f.enabled && e.force.is_some() && e.point.is_some() => {
            let is_ground = model.frames.get(e.point_expressed_in_body.0)?.body.0 == 0;
            is_ground.then_some((f.name.as_str(), e))
        }
        _ => None,
    }
}

/// Where a force acts at the sample nearest to a time; `None` while it is not loaded.
fn point_at(f: &ExternalForce, time: f64) -> Option<Vec3<f64>> {
    let (force, point) = (f.force.as_ref()?, f.point.as_ref()?);
    let (first, last) = (f.time.first()?, f.time.last()?);
    if time < *first || time > *last {
        return None;
    }
    let k = f.time.partition_point(|t| *t < time).min(f.time.len() - 1);
    let at = |columns: &[Vec<f64>; 3]| Vec3::from_array([columns[0][k], columns[1][k], columns[2][k]]);
    (at(force).norm() > UNLOADED_N).then(|| at(point))
}

fn median(list: &mut [f64]) -> f64 {
    list.sort_by(f64::total_cmp);
    list[list.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::chain;
    use soleus_math::table::Element;
    use soleus_model::joint::JointKind::{Free, Pin};

    #[test]
    fn analytic_plates_on_the_wrong_body_or_far_away() {
        let model = chain(vec![(Free, 6), (Pin, 1)]);
        let system = System::compile(&model).unwrap();
        let times: Vec<f64> = (0..10).map(|i| 0.1 * i as f64).collect();
        let labels = model.coordinates.iter().map(|c| c.name.clone()).collect();
        let columns = vec![vec![0.1; 10]; model.coordinates.len()];
        let motion = Table::new(Element::Scalar, labels, times.clone(), columns).unwrap();
        // The mass center of each body in that pose.
        let (mut state, mut ws) = (system.default_state.clone(), system.workspace());
        state.q.fill(0.1);
        system.compute_kinematics(&state, &mut ws);
        let centers = [1, 2].map(|b| ws.kin.X_GB[system.tree.node_of_body[b]] * model.bodies[b].mass_center);
        let plate = |on: usize, p: Vec3<f64>| Force {
            name: format!("plate{on}"),
            path: format!("/loads/plate{on}"),
            class: "ExternalForce".into(),
            enabled: true,
            line_of_action: None,
            kind: ForceKind::ExternalForce(ExternalForce {
                applied_to_body: model.bodies[on].frame,
                applied_to_body_label: format!("b{}", on - 1),
                force_expressed_in_body: model.bodies[0].frame,
                point_expressed_in_body: model.bodies[0].frame,
                time: times.clone(),
                force: Some([vec![0.0; 10], vec![500.0; 10], vec![0.0; 10]]),
                point: Some(p.to_array().map(|x| vec![x; 10])),
                torque: None,
            }),
        };
        let of = |a: Vec3<f64>, b: Vec3<f64>| {
            let mut log = Diagnostics::new("loads.xml".to_string());
            check_points(&model, &system, &motion, &[plate(1, a), plate(2, b)], &mut log);
            log.list.iter().map(|d| format!("{d}\n")).collect::<String>()
        };
        assert_eq!(of(centers[0], centers[1]), "");
        let swapped = of(centers[1], centers[0]);
        assert!(
            swapped.contains("acts on `b0`, but its point of application is nearer to `b1`"),
            "{swapped}"
        );
        assert_eq!(swapped.matches("seem to be swapped").count(), 2, "{swapped}");
        let far = of(centers[0] * 1000.0, centers[1]);
        assert!(far.contains("`plate1` acts") && far.contains("check the unit"), "{far}");
    }
}
