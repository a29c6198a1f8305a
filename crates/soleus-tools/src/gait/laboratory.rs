//! Axes of a laboratory: vertical axis and direction of progress.

use super::{GaitMarkers, Walk};
use crate::scale::landmark;
use soleus_math::{Mat33, Rotation, Table, Vec3};

/// Rotation of a laboratory to y up and progress along x.
#[derive(Clone, Debug, PartialEq)]
pub struct LaboratoryTurn {
    /// Rotation from the axes of the data to those of OpenSim's models, by quarter turns, which are exact.
    pub rotation: Rotation<f64>,
    /// The same as text: `x:-90 y:180`; empty for no rotation.
    pub words: String,
    /// The vertical axis of the data, such as `z`.
    pub up: String,
    /// The axis of the data along which the subject walks or, if standing, faces.
    pub forward: String,
}

/// Finds the rotation from markers; `None` if heel, toe and pelvis markers are not recognized by name.
pub fn laboratory_turn(markers: &Table) -> Option<LaboratoryTurn> {
    let which = GaitMarkers::find(markers.labels()).ok()?;
    let walk = Walk::new(markers, &which)?;
    let forward = facing(markers, walk.up).or((walk.speed > 0.3).then_some(walk.forward))?;
    let quarter = |v: Vec3<f64>| {
        let a = v.to_array();
        let k = (0..3).max_by(|&i, &j| a[i].abs().total_cmp(&a[j].abs())).unwrap_or(0);
        (
            Vec3::unit(k) * a[k].signum(),
            format!("{}{}", if a[k] < 0.0 { "-" } else { "" }, ["x", "y", "z"][k]),
        )
    };
    let ((y, up), (x, forward)) = (quarter(walk.up), quarter(forward));
    // Rows of R are the new axes in the old ones.
    let z = x.cross(y);
    let rows = [x, y, z].map(Vec3::to_array);
    let rotation = Rotation(Mat33::from_rows(rows));
    Some(LaboratoryTurn { rotation, words: words(&rotation), up, forward })
}

/// Forwards of the pelvis: from the back of it to its front, mean over the trial.
fn facing(markers: &Table, up: Vec3<f64>) -> Option<Vec3<f64>> {
    let of = |names: &[(char, &str)]| -> Vec<usize> {
        let is = |l: &String| landmark(l).is_some_and(|m| names.contains(&(m.side, m.name.as_str())));
        (0..markers.labels().len()).filter(|&i| is(&markers.labels()[i])).collect()
    };
    let front = of(&[('r', "ASIS"), ('l', "ASIS")]);
    let back = of(&[('r', "PSIS"), ('l', "PSIS"), ('m', "sacrum")]);
    let mean = |list: &[usize], row: usize| {
        list.iter().fold(Vec3::zero(), |s, &i| s + markers.vec3(row, i)) * (1.0 / list.len() as f64)
    };
    let ways =
        (0..markers.rows()).map(|r| mean(&front, r) - mean(&back, r)).filter(|v| v.norm_sq().is_finite());
    let sum = ways.fold(Vec3::zero(), |s, v| s + v);
    let flat = sum - up * sum.dot(up);
    (flat.norm() > 1e-6).then(|| flat * (1.0 / flat.norm()))
}

/// A rotation of quarter turns as turns about x, or z, and then y.
fn words(R: &Rotation<f64>) -> String {
    let exact = |R: Rotation<f64>| {
        Rotation(Mat33 { col: R.0.col.map(|c| Vec3::from_array(c.to_array().map(f64::round))) })
    };
    let about = |axis: char, deg: f64| {
        let a = f64::to_radians(deg);
        exact(match axis {
            'x' => Rotation::about_x(a),
            'y' => Rotation::about_y(a),
            _ => Rotation::about_z(a),
        })
    };
    let firsts = [('x', 0.0), ('x', -90.0), ('x', 90.0), ('x', 180.0), ('z', 90.0), ('z', -90.0)];
    for (axis, first) in firsts {
        for second in [0.0, 90.0, 180.0, -90.0] {
            if about('y', second) * about(axis, first) == *R {
                let part = |axis: char, deg: f64| (deg != 0.0).then(|| format!("{axis}:{deg}"));
                let parts: Vec<String> =
                    [part(axis, first), part('y', second)].into_iter().flatten().collect();
                return parts.join(" ");
            }
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::table::Element;
    use soleus_math::vec3;

    /// Somebody who walks along −y with z up, as most laboratories have it.
    #[test]
    fn analytic_z_up_and_along_minus_y() {
        let body = [
            ("RHEE", vec3(0.0, 0.05, 0.1)),
            ("RTOE", vec3(0.2, 0.05, 0.1)),
            ("LHEE", vec3(0.0, 0.05, -0.1)),
            ("LTOE", vec3(0.2, 0.05, -0.1)),
            ("RASI", vec3(0.15, 1.0, 0.12)),
            ("LASI", vec3(0.15, 1.0, -0.12)),
            ("SACR", vec3(-0.05, 1.02, 0.0)),
        ];
        // x of the body is −y of the laboratory, y is z, z is −x.
        let to_lab = |p: Vec3<f64>| vec3(-p.z, -p.x, p.y);
        let times: Vec<f64> = (0..50).map(|i| 0.01 * f64::from(i)).collect();
        let columns = body.iter().flat_map(|(_, p)| {
            let at = |t: &f64| to_lab(*p + vec3(1.2 * t, 0.0, 0.0)).to_array();
            (0..3).map(|k| times.iter().map(|t| at(t)[k]).collect::<Vec<f64>>()).collect::<Vec<_>>()
        });
        let labels = body.iter().map(|(n, _)| n.to_string()).collect();
        let table = Table::new(Element::Vec(3), labels, times.clone(), columns.collect()).unwrap();
        let found = laboratory_turn(&table).unwrap();
        assert_eq!((found.up.as_str(), found.forward.as_str()), ("z", "-y"));
        assert_eq!(found.words, "x:-90 y:90");
        for (i, (name, p)) in body.iter().enumerate() {
            assert!((found.rotation * table.vec3(0, i) - *p).norm() < 1e-12, "{name}");
        }
    }
}
