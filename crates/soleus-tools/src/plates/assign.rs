//! Assignment of force plates to feet, and the resulting forces on the feet.

use super::{Foot, FootPaths, Plate};
use soleus_math::{Table, Vec3};
use soleus_model::Model;
use soleus_model::force::{ExternalForce, Force, ForceKind};

/// Below this a plate is taken for unloaded, N; usual thresholds for events are 10 to 50 N.
pub(crate) const LOADED_N: f64 = 20.0;
/// Shorter breaks in a load are noise, s.
const BREAK_S: f64 = 0.02;
/// Shorter loads are none, s: the shortest contact of a sprinter is twice as long.
const SHORTEST_S: f64 = 0.04;
/// Rounding of times, s: a load of just the shortest time is one whatever clock the laboratory has.
pub(super) const CLOCK_S: f64 = 1e-6;
/// A load that stays below is that of a plate that is touched or drifts, N.
const LEAST_PEAK_N: f64 = 50.0;
/// Maximum distance between a centre of pressure and its foot, m: the length of a foot.
pub const FAR_M: f64 = 0.3;
/// The other foot has to be nearer by this to count, m.
const NEARER_M: f64 = 0.03;
/// Of the impulse of a contact, the part under the other foot that makes it a contact of both.
const BOTH_PART: f64 = 0.1;

/// A time interval in which a plate is loaded by one foot.
#[derive(Clone, Debug, PartialEq)]
pub struct Contact {
    /// The plate.
    pub plate: usize,
    /// The foot; `None` if it is not in the motion or no foot is near.
    pub foot: Option<usize>,
    /// Start of the load, s.
    pub from: f64,
    /// End of the load, s.
    pub to: f64,
    /// Peak force, N.
    pub peak: f64,
    /// Mean distance between the centre of pressure and the foot, weighted by force, m; NaN outside the motion.
    pub distance: f64,
    /// The same for the other foot.
    pub other: f64,
    /// Whether both feet were on the plate; the load is then split where the other foot comes nearer.
    pub is_shared: bool,
}

/// Finds the foot for each load of each plate. `table` contains the plates, in N and m, in ground.
pub fn assign(table: &Table, plates: &[Plate], feet: &[Foot], paths: &FootPaths) -> Vec<Contact> {
    let mut contacts = Vec::new();
    for (i, plate) in plates.iter().enumerate() {
        let Some(point) = plate.point else { continue };
        for (first, last) in loaded(table, plate) {
            contacts.extend(split(table, i, plate.force, point, first..last + 1, feet.len(), paths));
        }
    }
    contacts.sort_by(|a, b| a.from.total_cmp(&b.from));
    contacts
}

fn vector(table: &Table, columns: [usize; 3], row: usize) -> Vec3<f64> {
    Vec3::from_array(columns.map(|c| table.columns()[c][row]))
}

/// Maximum offset of an unloaded plate that is considered zero, N.
pub const ZERO_N: f64 = 5.0;
/// A plate is at rest for at least this part of a trial, if it is at all.
const REST_PART: f64 = 0.05;

/// Offset of an unloaded plate, N: the median of all small forces. Zero if a plate is always loaded.
pub fn force_at_rest(table: &Table, plate: &Plate) -> Vec3<f64> {
    let rows: Vec<usize> =
        (0..table.rows()).filter(|&r| vector(table, plate.force, r).norm() < LEAST_PEAK_N).collect();
    if rows.is_empty() || (rows.len() as f64) < REST_PART * table.rows() as f64 {
        return Vec3::zero();
    }
    let median = |c: usize| {
        let mut list: Vec<f64> = rows.iter().map(|&r| table.columns()[c][r]).collect();
        let middle = list.len() / 2;
        *list.select_nth_unstable_by(middle, f64::total_cmp).1
    };
    Vec3::from_array(plate.force.map(median))
}

/// First and last rows of the loads of a plate.
pub(crate) fn loaded(table: &Table, plate: &Plate) -> Vec<(usize, usize)> {
    let t = table.times();
    let rest = force_at_rest(table, plate);
    let mut list: Vec<(usize, usize)> = Vec::new();
    for row in (0..table.rows()).filter(|&r| (vector(table, plate.force, r) - rest).norm() > LOADED_N) {
        match list.last_mut() {
            Some((_, last)) if t[row] - t[*last] <= BREAK_S + CLOCK_S || row == *last + 1 => *last = row,
            _ => list.push((row, row)),
        }
    }
    let peak = |a: usize, b: usize| (a..=b).map(|r| vector(table, plate.force, r).norm()).fold(0.0, f64::max);
    list.retain(|&(a, b)| t[b] - t[a] >= SHORTEST_S - CLOCK_S && peak(a, b) >= LEAST_PEAK_N);
    list
}

/// The contacts of one load: one, or two if one foot takes over from the other.
fn split(
    table: &Table,
    plate: usize,
    force: [usize; 3],
    point: [usize; 3],
    rows: std::ops::Range<usize>,
    feet: usize,
    paths: &FootPaths,
) -> Vec<Contact> {
    // Force and distances from all feet, where the motion shows them.
    let mut seen: Vec<(usize, f64, Vec<f64>)> = Vec::new();
    for row in rows.clone() {
        let Some(at) = paths.row_at(table.times()[row]) else { continue };
        let (f, p) = (vector(table, force, row).norm(), vector(table, point, row));
        let distances: Vec<f64> = (0..feet).map(|k| paths.distance(k, at, p)).collect();
        if f > LOADED_N && distances.iter().all(|d| d.is_finite()) {
            seen.push((row, f, distances));
        }
    }
    let contact = |rows: std::ops::Range<usize>, is_shared: bool| {
        let peak = rows.clone().map(|r| vector(table, force, r).norm()).fold(0.0, f64::max);
        let (from, to) = (table.times()[rows.start], table.times()[rows.end - 1]);
        let inside = || seen.iter().filter(|(r, ..)| rows.contains(r));
        let impulse: f64 = inside().map(|(_, f, _)| f).sum();
        let mean = |k: usize| inside().map(|(_, f, d)| f * d[k]).sum::<f64>() / impulse;
        let nearest = (0..feet).filter(|_| impulse > 0.0).min_by(|&a, &b| mean(a).total_cmp(&mean(b)));
        let other = (0..feet).filter(|k| Some(*k) != nearest).map(mean).fold(f64::NAN, f64::min);
        let distance = nearest.map_or(f64::NAN, mean);
        let foot = nearest.filter(|_| distance < FAR_M);
        Contact { plate, foot, from, to, peak, distance, other, is_shared }
    };
    let whole = contact(rows.clone(), false);
    let Some(foot) = whole.foot.filter(|_| feet == 2) else { return vec![whole] };

    // Impulse under the other foot; then the row at which one foot is best taken for the other.
    let gain = |d: &[f64]| d[foot] - d[1 - foot];
    let all: f64 = seen.iter().map(|(_, f, _)| f).sum();
    let under_other: f64 =
        seen.iter().filter(|(_, _, d)| gain(d) > NEARER_M && d[1 - foot] < FAR_M).map(|(_, f, _)| f).sum();
    if under_other < BOTH_PART * all {
        return vec![whole];
    }
    // Running sums of force × (how much nearer the other foot is): the best cut has the other foot on one side of it.
    let sums: Vec<f64> = seen
        .iter()
        .scan(0.0, |sum, (_, f, d)| {
            *sum += f * gain(d);
            Some(*sum)
        })
        .collect();
    let total = sums.last().copied().unwrap_or(0.0);
    // Other foot before the cut: Σ before; other foot after it: total − Σ before.
    let best = (0..sums.len()).max_by(|&a, &b| {
        let value = |i: usize| sums[i].max(total - sums[i]);
        value(a).total_cmp(&value(b))
    });
    match best.map(|i| seen[i].0 + 1).filter(|cut| *cut > rows.start && *cut < rows.end) {
        Some(cut) => vec![contact(rows.start..cut, true), contact(cut..rows.end, true)],
        None => vec![Contact { is_shared: true, ..whole }],
    }
}

/// Forces on the feet: each plate acts on its foot. A plate used by several feet is split in time into one force per
/// foot, each zero while another foot is on the plate. Offsets of unloaded plates are removed. Plates without a foot
/// are left out.
pub fn loads(
    model: &Model,
    table: &Table,
    plates: &[Plate],
    feet: &[Foot],
    contacts: &[Contact],
) -> Vec<Force> {
    let mut forces = Vec::new();
    for (i, plate) in plates.iter().enumerate() {
        let own: Vec<&Contact> = contacts.iter().filter(|c| c.plate == i).collect();
        for (k, foot) in feet.iter().enumerate() {
            if !own.iter().any(|c| c.foot == Some(k)) {
                continue;
            }
            // A load that the motion does not show belongs to the only foot that stood on the plate.
            let is_alone = own.iter().all(|c| c.foot.is_none_or(|f| f == k));
            let is_zeroed = force_at_rest(table, plate).norm() < ZERO_N;
            let is_on = |row: usize| {
                let t = table.times()[row];
                let is_own = is_alone || nearest_contact(&own, t).is_some_and(|c| c.foot == Some(k));
                is_own && (is_zeroed || own.iter().any(|c| c.from <= t && t <= c.to))
            };
            let rows: Vec<bool> = (0..table.rows()).map(is_on).collect();
            let masked = |columns: [usize; 3]| {
                columns.map(|c| {
                    let column = table.columns()[c].iter().zip(&rows);
                    column.map(|(x, on)| if *on && x.is_finite() { *x } else { 0.0 }).collect::<Vec<f64>>()
                })
            };
            let side = foot.side.name();
            let name =
                if plates.len() > 1 { format!("{side}_{}", plain(&plate.name)) } else { side.to_string() };
            let body = &model.bodies[foot.body];
            forces.push(Force {
                path: format!("/loads/{name}"),
                name,
                class: "ExternalForce".to_string(),
                enabled: true,
                line_of_action: None,
                kind: ForceKind::ExternalForce(ExternalForce {
                    applied_to_body: body.frame,
                    applied_to_body_label: body.name.clone(),
                    force_expressed_in_body: model.bodies[0].frame,
                    point_expressed_in_body: model.bodies[0].frame,
                    time: table.times().to_vec(),
                    force: Some(masked(plate.force)),
                    point: plate.point.map(|c| held(table, c)),
                    torque: plate.torque.map(masked),
                }),
            });
        }
    }
    forces
}

/// The contact that a time is in, or else the nearest one.
fn nearest_contact<'c>(contacts: &[&'c Contact], time: f64) -> Option<&'c Contact> {
    let away = |c: &Contact| (c.from - time).max(time - c.to).max(0.0);
    contacts.iter().copied().min_by(|a, b| away(a).total_cmp(&away(b)))
}

/// Points with every gap filled by the last one before it.
fn held(table: &Table, columns: [usize; 3]) -> [Vec<f64>; 3] {
    columns.map(|c| {
        let mut last = 0.0;
        let fill = |x: &f64| {
            last = if x.is_finite() { *x } else { last };
            last
        };
        table.columns()[c].iter().map(fill).collect()
    })
}

/// A name without characters that XML or labels would stumble over.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Side, fit_to_feet};
    use super::*;
    use soleus_math::table::Element;
    use soleus_math::{Rotation, vec3};

    /// Two feet side by side, a quarter of a meter long; the right one stands until 1 s, the left one from 1.5 s on, both from 1 s.
    fn feet() -> (Vec<Foot>, FootPaths) {
        let times: Vec<f64> = (0..=300).map(|i| 0.01 * f64::from(i)).collect();
        let foot = |side: Side| Foot { side, body: 0, bodies: vec![0] };
        let place = |z: f64, x: f64, y: f64| vec![vec3(x, y, z), vec3(x + 0.25, y, z)];
        let right = times.iter().map(|t| place(0.1, 0.0, if *t > 1.5 { 0.2 } else { 0.0 })).collect();
        let left = times.iter().map(|t| place(-0.1, 0.6, if *t < 1.0 { 0.2 } else { 0.0 })).collect();
        (vec![foot(Side::Right), foot(Side::Left)], FootPaths { times, points: vec![right, left] })
    }

    /// One plate: force (N) and centre of pressure (m) over time.
    fn plate(f: impl Fn(f64) -> (f64, Vec3<f64>)) -> (Table, Vec<Plate>) {
        let times: Vec<f64> = (0..=3000).map(|i| 0.001 * f64::from(i)).collect();
        let mut columns = vec![Vec::new(); 6];
        for &t in &times {
            let (fy, p) = f(t);
            let numbers = [0.0, fy, 0.0].into_iter().chain(p.to_array());
            columns.iter_mut().zip(numbers).for_each(|(c, x)| c.push(x));
        }
        let labels = ["vx", "vy", "vz", "px", "py", "pz"].map(|c| format!("ground_force_{c}")).to_vec();
        let plates = super::super::find_plates(&labels);
        (Table::new(Element::Scalar, labels, times, columns).unwrap(), plates)
    }

    #[test]
    fn analytic_one_foot_after_the_other() {
        let (feet, paths) = feet();
        let right = vec3(0.12, 0.0, 0.11);
        let left = vec3(0.72, 0.0, -0.11);
        // The plate is free between the two.
        let (table, plates) = plate(|t| match t {
            t if t > 0.3 && t < 1.2 => (600.0, right),
            t if t > 1.4 && t < 2.5 => (700.0, left),
            _ => (0.0, vec3(9.0, 0.0, 9.0)),
        });
        let contacts = assign(&table, &plates, &feet, &paths);
        let found: Vec<_> = contacts.iter().map(|c| (c.foot, c.is_shared)).collect();
        assert_eq!(found, [(Some(0), false), (Some(1), false)]);
        assert!((contacts[0].distance - 0.01).abs() < 1e-12, "{contacts:?}");
        assert!((contacts[0].from - 0.301).abs() < 1e-9 && (contacts[1].to - 2.499).abs() < 1e-9);

        // Each foot has its own force, and they add up to what was measured.
        let model = Model { bodies: crate::testing::chain(vec![]).bodies, ..Model::default() };
        let forces = loads(&model, &table, &plates, &feet, &contacts);
        assert_eq!(forces.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["right", "left"]);
        let vertical = |i: usize, row: usize| match &forces[i].kind {
            ForceKind::ExternalForce(ExternalForce { force: Some(f), .. }) => f[1][row],
            _ => f64::NAN,
        };
        for row in 0..table.rows() {
            assert_eq!(vertical(0, row) + vertical(1, row), table.columns()[1][row]);
        }
        assert_eq!((vertical(0, 1000), vertical(1, 1000), vertical(0, 2000)), (600.0, 0.0, 0.0));
    }

    /// A load of just the shortest time is one whenever the clock started: times are rounded, and at 1000 s it was none.
    #[test]
    fn issue_16_shortest_loads_whenever_the_clock_started() {
        for clock in [0.0, 1000.0, 1234.567, 86_400.0] {
            let times: Vec<f64> = (0..100).map(|i| clock + 0.01 * f64::from(i)).collect();
            let force = |i: usize| if (46..=50).contains(&i) { 300.0 } else { 0.0 };
            let mut columns = vec![vec![0.0; 100]; 6];
            columns[1] = (0..100).map(force).collect();
            let labels = ["vx", "vy", "vz", "px", "py", "pz"].map(|c| format!("ground_force_{c}")).to_vec();
            let plates = super::super::find_plates(&labels);
            let table = Table::new(Element::Scalar, labels, times, columns).unwrap();
            assert_eq!(loaded(&table, &plates[0]), [(46, 50)], "{clock} s");
        }
    }

    /// A plate that was not zeroed reads 18 N with nobody on it, and 24 N in its noise: its load was found to begin long before the foot came.
    #[test]
    fn issue_everyday_a_plate_that_is_not_zeroed() {
        let (feet, paths) = feet();
        let (table, plates) = plate(|t| {
            let noise = 6.0 * (1e3 * t).sin();
            let load = if t > 0.3 && t < 0.9 { 600.0 } else { 0.0 };
            (18.0 + noise + load, vec3(0.12, 0.0, 0.11))
        });
        let rest = force_at_rest(&table, &plates[0]);
        assert!((rest - vec3(0.0, 18.0, 0.0)).norm() < 1.0, "{rest:?}");
        let contacts = assign(&table, &plates, &feet, &paths);
        assert_eq!(contacts.len(), 1, "{contacts:?}");
        assert!(
            (contacts[0].from - 0.301).abs() < 1e-9 && (contacts[0].to - 0.899).abs() < 1e-9,
            "{contacts:?}"
        );
        // What it reads with nobody on it does not act on the foot.
        let model = Model { bodies: crate::testing::chain(vec![]).bodies, ..Model::default() };
        let forces = loads(&model, &table, &plates, &feet, &contacts);
        let ForceKind::ExternalForce(ExternalForce { force: Some(f), .. }) = &forces[0].kind else {
            panic!()
        };
        assert!(f[1][..300].iter().chain(&f[1][900..]).all(|f| *f == 0.0) && f[1][600] > 600.0);
        // A plate that somebody stands on all the time has no rest.
        let (table, plates) = plate(|_| (600.0, vec3(0.12, 0.0, 0.11)));
        assert_eq!(force_at_rest(&table, &plates[0]).norm(), 0.0);
    }

    #[test]
    fn analytic_both_feet_at_once_are_said_so() {
        let (feet, paths) = feet();
        // From heel to toe of the right foot, over to the left one between 1.2 s and 1.4 s, as in double support.
        let (table, plates) = plate(|t| {
            let s = ((t - 1.2) / 0.2).clamp(0.0, 1.0);
            (650.0, vec3(0.12 + 0.6 * s, 0.0, 0.1 - 0.2 * s))
        });
        let contacts = assign(&table, &plates, &feet, &paths);
        let found: Vec<_> = contacts.iter().map(|c| (c.foot, c.is_shared)).collect();
        assert_eq!(found, [(Some(0), true), (Some(1), true)]);
        // The centre of pressure is as far from one toe as from the other heel half way, or nearly so.
        assert!((contacts[0].to - 1.3).abs() < 0.04, "{contacts:?}");
    }

    #[test]
    fn analytic_a_plate_that_nobody_is_near() {
        let (feet, paths) = feet();
        let (table, plates) = plate(|_| (500.0, vec3(5.0, 0.0, 0.0)));
        let contacts = assign(&table, &plates, &feet, &paths);
        assert_eq!((contacts.len(), contacts[0].foot), (1, None));
        assert!(contacts[0].distance > 4.0);
    }

    #[test]
    fn analytic_axes_and_unit_are_found() {
        let (_, paths) = feet();
        let place = |t: f64| if t < 1.2 { vec3(0.12, 0.0, 0.11) } else { vec3(0.72, 0.0, -0.11) };
        let (table, plates) = plate(|t| (600.0, place(t)));
        assert_eq!(fit_to_feet(&table, &plates, &paths).map(|f| f.turns), Some(String::new()));
        // z up, walking along −y, in millimeters.
        let quarter = std::f64::consts::FRAC_PI_2;
        let R = Rotation::about_y(-quarter) * Rotation::about_x(-quarter);
        let mut turned = table.clone();
        for row in 0..table.rows() {
            for (k, unit) in [(0, 1.0), (3, 1e3)] {
                let v = Vec3::from_array([0, 1, 2].map(|c| table.columns()[k + c][row])) * unit;
                for (c, x) in R.inverse_mul(v).to_array().into_iter().enumerate() {
                    turned.column_at_mut(k + c).unwrap()[row] = x;
                }
            }
        }
        let found = fit_to_feet(&turned, &plates, &paths).unwrap();
        assert_eq!((found.turns.as_str(), found.meters), ("x:-90 y:-90", 1e-3));
        assert!(found.distance < 0.02, "{found:?}");
        let v = R.inverse_mul(vec3(1.0, 2.0, 3.0));
        assert!((found.rotation * v - vec3(1.0, 2.0, 3.0)).norm() < 1e-12);
    }
}
