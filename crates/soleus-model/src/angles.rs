//! Conversion of degrees and radians in tables, by coordinate: translations are not converted.

use crate::joint::{Coordinate, MotionType};
use crate::model::Model;
use soleus_math::Table;

/// What the last part of a label says about a coordinate.
const VARIABLES: [&str; 4] = ["value", "speed", "accel", "acceleration"];

/// Size of one unit of a coordinate's column in a table, rad or m: π/180 for an angle in degrees, 1 otherwise. A table
/// without a unit is in radians.
pub fn unit_of(table: &Table, coordinate: &Coordinate) -> f64 {
    let turns = coordinate.motion_type == MotionType::Rotational;
    if turns && table.in_degrees == Some(true) { 1f64.to_radians() } else { 1.0 }
}

/// Factor from rad or m to the units of a table in degrees: 180/π for an angle, 1 otherwise.
pub fn degrees_of(coordinate: &Coordinate) -> f64 {
    if coordinate.motion_type == MotionType::Rotational { 1f64.to_degrees() } else { 1.0 }
}

/// The table with angles and their rates in radians.
pub fn in_radians(model: &Model, mut table: Table) -> Table {
    if table.in_degrees == Some(true) {
        convert(model, &mut table, f64::to_radians);
    }
    table.in_degrees = Some(false);
    table
}

/// The table with angles and their rates in degrees.
pub fn in_degrees(model: &Model, mut table: Table) -> Table {
    if table.in_degrees != Some(true) {
        convert(model, &mut table, f64::to_degrees);
    }
    table.in_degrees = Some(true);
    table
}

/// The coordinate of a column, by its label in any version of OpenSim: path or name, with suffix `/value`, `/speed` or
/// `/accel`, or the end of such a path after any `/`, or `knee_angle_u`.
pub fn coordinate_of_label<'m>(model: &'m Model, label: &str) -> Option<&'m Coordinate> {
    let owner = match label.rsplit_once('/') {
        Some((owner, variable)) if VARIABLES.contains(&variable) => owner,
        _ => label,
    };
    let is_end = |c: &&Coordinate| c.path.strip_suffix(owner).is_some_and(|head| head.ends_with('/'));
    let all = &model.coordinates;
    let exact = all.iter().find(|c| c.path == owner || c.name == owner).or_else(|| all.iter().find(is_end));
    exact.or_else(|| label.strip_suffix("_u").and_then(|name| all.iter().find(|c| c.name == name)))
}

fn convert(model: &Model, table: &mut Table, unit: fn(f64) -> f64) {
    for i in 0..table.labels().len() {
        let turns = coordinate_of_label(model, &table.labels()[i])
            .is_some_and(|c| c.motion_type == MotionType::Rotational);
        if let (true, Some(column)) = (turns, table.column_at_mut(i)) {
            column.iter_mut().for_each(|x| *x = unit(*x));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::table::Element;

    fn model() -> Model {
        let coordinate = |joint: &str, name: &str, motion_type| Coordinate {
            path: format!("/jointset/{joint}/{name}"),
            name: name.to_string(),
            motion_type,
            joint: crate::id::JointId(0),
            default_value: 0.0,
            default_speed: 0.0,
            range: [-1.0, 1.0],
            clamped: false,
            locked: false,
            prescribed: false,
            prescribed_function: None,
            is_free_to_satisfy_constraints: false,
        };
        Model {
            coordinates: vec![
                coordinate("hip", "hip_flexion", MotionType::Rotational),
                coordinate("pelvis", "pelvis_tx", MotionType::Translational),
                coordinate("knee", "knee_beta", MotionType::Coupled),
            ],
            ..Model::default()
        }
    }

    const LABELS: [&str; 9] = [
        "hip_flexion",
        "hip_flexion_u",
        "/jointset/hip/hip_flexion/value",
        "hip/hip_flexion/speed",
        "pelvis_tx",
        "/jointset/pelvis/pelvis_tx/speed",
        "knee_beta",
        "/forceset/soleus/activation",
        "hip_flexion_moment",
    ];

    #[test]
    fn analytic_angles_alone_change() {
        let labels: Vec<String> = LABELS.map(String::from).into();
        let columns = vec![vec![180.0]; labels.len()];
        let mut t = Table::new(Element::Scalar, labels, vec![0.0], columns).unwrap();
        t.in_degrees = Some(true);
        let r = in_radians(&model(), t.clone());
        assert_eq!(r.in_degrees, Some(false));
        let found: Vec<f64> = r.columns().iter().map(|c| c[0]).collect();
        let pi = std::f64::consts::PI;
        assert_eq!(found, [pi, pi, pi, pi, 180.0, 180.0, 180.0, 180.0, 180.0]);
        // What is in radians already stays; and back again.
        assert_eq!(in_radians(&model(), r.clone()), r);
        assert_eq!(in_degrees(&model(), r), t);
    }

    #[test]
    fn identity_unit_and_conversion_agree_to_the_bit() {
        let m = model();
        let mut t =
            Table::new(Element::Scalar, vec!["hip_flexion".into()], vec![0.0], vec![vec![12.3]]).unwrap();
        t.in_degrees = Some(true);
        let by_unit = 12.3 * unit_of(&t, &m.coordinates[0]);
        assert_eq!(unit_of(&t, &m.coordinates[1]), 1.0);
        assert_eq!(in_radians(&m, t).columns()[0][0], by_unit);
        let [hip, pelvis] = [&m.coordinates[0], &m.coordinates[1]].map(|c| 12.3 * degrees_of(c));
        assert_eq!((hip, pelvis), (12.3f64.to_degrees(), 12.3));
    }
}
