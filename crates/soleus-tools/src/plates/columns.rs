//! Finds the columns of force, centre of pressure and free moment of force plates by their labels.

/// Columns of one plate in a table of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Plate {
    /// Part of the labels that identifies the plate, such as `ground_r` or `1`.
    pub name: String,
    /// Columns of the force, x, y, z.
    pub force: [usize; 3],
    /// Columns of the centre of pressure.
    pub point: Option<[usize; 3]>,
    /// Columns of the free moment.
    pub torque: Option<[usize; 3]>,
}

/// What a group of three columns is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Force,
    Point,
    Torque,
}

/// Three columns whose labels differ in their axis alone.
struct Triple {
    kind: Kind,
    key: String,
    columns: [usize; 3],
    is_used: bool,
}

/// Finds the plates in a table by its labels, in order. Supported names are those of OpenSim (`ground_force_vx`,
/// `1_ground_force_px`, `ground_torque_r_x`), of its C3D reader (`f1_1`, `p1_2`, `m1_3`), and of most exports
/// (`FP1_Fx`, `COP1_X`, `Fx1`, `Mx1`). Repeated labels belong to the next plate.
pub fn find_plates(labels: &[String]) -> Vec<Plate> {
    let mut triples = find_triples(labels);
    let mut plates: Vec<Plate> = Vec::new();
    for i in 0..triples.len() {
        if triples[i].kind != Kind::Force {
            continue;
        }
        let (key, force) = (triples[i].key.clone(), triples[i].columns);
        let mut take = |kind: Kind| {
            let found = triples.iter_mut().find(|t| t.kind == kind && t.key == key && !t.is_used)?;
            found.is_used = true;
            Some(found.columns)
        };
        let (point, torque) = (take(Kind::Point), take(Kind::Torque));
        plates.push(Plate { name: key, force, point, torque });
    }
    // A name for each: what comes twice, or has none, is counted.
    let names: Vec<String> = plates.iter().map(|p| p.name.clone()).collect();
    for (i, plate) in plates.iter_mut().enumerate() {
        if plate.name.is_empty() {
            plate.name = (i + 1).to_string();
        } else if names.iter().filter(|n| **n == plate.name).count() > 1 {
            plate.name = format!("{}_{}", plate.name, i + 1);
        }
    }
    plates
}

/// Groups of three columns with a meaning.
fn find_triples(labels: &[String]) -> Vec<Triple> {
    let mut used = vec![false; labels.len()];
    let mut list = Vec::new();
    for i in 0..labels.len() {
        if used[i] {
            continue;
        }
        let Some((template, columns)) = triple_from(labels, i, &used) else { continue };
        let Some((kind, key)) = meaning(&template) else { continue };
        columns.iter().for_each(|&c| used[c] = true);
        list.push(Triple { kind, key, columns, is_used: false });
    }
    list
}

/// The label at `i` with a star for its axis, and the columns of the three axes.
fn triple_from(labels: &[String], i: usize, used: &[bool]) -> Option<(String, [usize; 3])> {
    let label = &labels[i];
    let places = label.char_indices().rev().filter(|&(at, c)| {
        // Digits are axes at the end of a label alone: elsewhere they count plates.
        matches!(c, 'x' | 'X') || (c == '1' && at + 1 == label.len())
    });
    for (at, c) in places {
        let with = |axis: char| format!("{}{axis}{}", &label[..at], &label[at + c.len_utf8()..]);
        let axes = match c {
            'x' => ['y', 'z'],
            'X' => ['Y', 'Z'],
            _ => ['2', '3'],
        };
        let find = |wanted: &str| (i + 1..labels.len()).find(|&k| !used[k] && labels[k] == wanted);
        if let [Some(y), Some(z)] = axes.map(|a| find(&with(a))) {
            return Some((with('*'), [i, y, z]));
        }
    }
    None
}

/// Words and letters of labels, and what they say.
const WORDS: [(&str, Kind); 22] = [
    ("force", Kind::Force),
    ("forces", Kind::Force),
    ("grf", Kind::Force),
    ("v", Kind::Force),
    ("f", Kind::Force),
    ("point", Kind::Point),
    ("cop", Kind::Point),
    ("p", Kind::Point),
    ("pos", Kind::Point),
    ("position", Kind::Point),
    ("pressure", Kind::Point),
    ("center", Kind::Point),
    ("centre", Kind::Point),
    ("torque", Kind::Torque),
    ("torques", Kind::Torque),
    ("moment", Kind::Torque),
    ("moments", Kind::Torque),
    ("grm", Kind::Torque),
    ("free", Kind::Torque),
    ("freemoment", Kind::Torque),
    ("m", Kind::Torque),
    ("t", Kind::Torque),
];

/// What the columns of a template are, and the rest of the label, which names the plate.
fn meaning(template: &str) -> Option<(Kind, String)> {
    let lower = template.to_lowercase();
    let (mut at_star, mut elsewhere, mut key) = (None, None, Vec::new());
    let tokens: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric() && c != '*').filter(|t| !t.is_empty()).collect();
    for (i, token) in tokens.iter().enumerate() {
        let letters: String = token.chars().filter(|c| c.is_alphabetic()).collect();
        let rest: String = token.chars().filter(|c| c.is_ascii_digit()).collect();
        let word = WORDS.iter().find(|(w, _)| *w == letters).map(|(_, kind)| *kind);
        // Single letters mean something beside the axis alone: `r` and `l` are sides elsewhere, and `f` may be anything.
        let has_star = token.contains('*') || tokens.get(i + 1) == Some(&"*");
        match word.filter(|_| has_star || letters.len() > 2) {
            Some(kind) => {
                // `ground_force_p` is a point: what is nearest to the axis counts, and of words the last, but `force plate` is a place.
                if has_star {
                    at_star = Some(kind)
                } else {
                    elsewhere = Some(kind)
                }
                key.push(rest);
            }
            None => key.push(token.replace('*', "")),
        }
    }
    let kind = at_star.or(elsewhere)?;
    key.retain(|k| !k.is_empty());
    Some((kind, key.join("_")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(labels: &str) -> Vec<String> {
        let labels: Vec<String> = labels.split(' ').map(String::from).collect();
        let name = |c: &[usize; 3]| c.map(|i| labels[i].clone()).join(",");
        let plates = find_plates(&labels);
        let or_none = |c: &Option<[usize; 3]>| c.as_ref().map_or("none".into(), name);
        let line = |p: &Plate| {
            format!("{}: {} {} {}", p.name, name(&p.force), or_none(&p.point), or_none(&p.torque))
        };
        plates.iter().map(line).collect()
    }

    #[test]
    fn analytic_names_of_many_programs() {
        // OpenSim's examples, two feet.
        assert_eq!(
            found(
                "ground_force_vx ground_force_vy ground_force_vz ground_force_px ground_force_py ground_force_pz \
                 1_ground_force_vx 1_ground_force_vy 1_ground_force_vz 1_ground_force_px 1_ground_force_py 1_ground_force_pz \
                 ground_torque_x ground_torque_y ground_torque_z 1_ground_torque_x 1_ground_torque_y 1_ground_torque_z"
            ),
            [
                "ground: ground_force_vx,ground_force_vy,ground_force_vz ground_force_px,ground_force_py,ground_force_pz ground_torque_x,ground_torque_y,ground_torque_z",
                "1_ground: 1_ground_force_vx,1_ground_force_vy,1_ground_force_vz 1_ground_force_px,1_ground_force_py,1_ground_force_pz 1_ground_torque_x,1_ground_torque_y,1_ground_torque_z",
            ]
        );
        // Three plates, of which the first two differ by a digit that is not an axis.
        let three: Vec<String> = (1..=3)
            .flat_map(|i| ["vx", "vy", "vz", "px", "py", "pz"].map(|c| format!("{i}_ground_force_{c}")))
            .collect();
        assert_eq!(
            found(&three.join(" "))
                .iter()
                .map(|l| l.split(':').next().unwrap().to_string())
                .collect::<Vec<_>>(),
            ["1_ground", "2_ground", "3_ground"]
        );
        assert_eq!(
            found("f1_1 f1_2 f1_3 p1_1 p1_2 p1_3 m1_1 m1_2 m1_3"),
            ["1: f1_1,f1_2,f1_3 p1_1,p1_2,p1_3 m1_1,m1_2,m1_3"]
        );
        assert_eq!(
            found("Fx1 Fy1 Fz1 Mx1 My1 Mz1 COPx1 COPy1 COPz1"),
            ["1: Fx1,Fy1,Fz1 COPx1,COPy1,COPz1 Mx1,My1,Mz1"]
        );
        assert_eq!(
            found("FP1_Force_X FP1_Force_Y FP1_Force_Z FP1_CoP_X FP1_CoP_Y FP1_CoP_Z"),
            ["fp1: FP1_Force_X,FP1_Force_Y,FP1_Force_Z FP1_CoP_X,FP1_CoP_Y,FP1_CoP_Z none"]
        );
        assert_eq!(
            found(
                "R_ground_force_vx R_ground_force_vy R_ground_force_vz R_ground_moment_mx R_ground_moment_my R_ground_moment_mz"
            ),
            [
                "r_ground: R_ground_force_vx,R_ground_force_vy,R_ground_force_vz none R_ground_moment_mx,R_ground_moment_my,R_ground_moment_mz"
            ]
        );
    }

    /// Hamner and Delp's running trials name all columns of the second plate as those of the first.
    #[test]
    fn analytic_labels_that_come_twice_are_two_plates() {
        let one =
            "ground_force_vx ground_force_vy ground_force_vz ground_force_px ground_force_py ground_force_pz";
        let torque = "ground_torque_x ground_torque_y ground_torque_z";
        let labels = format!("{one} {one} {torque} {torque}");
        let list: Vec<String> = labels.split(' ').map(String::from).collect();
        let plates = find_plates(&list);
        assert_eq!(plates.len(), 2);
        assert_eq!((plates[0].name.as_str(), plates[1].name.as_str()), ("ground_1", "ground_2"));
        assert_eq!(
            (plates[1].force, plates[1].point, plates[1].torque),
            ([6, 7, 8], Some([9, 10, 11]), Some([15, 16, 17]))
        );
    }

    #[test]
    fn analytic_a_motion_has_no_plates() {
        assert_eq!(found("pelvis_tx pelvis_ty pelvis_tz hip_flexion_r knee_angle_r"), [] as [String; 0]);
    }
}
