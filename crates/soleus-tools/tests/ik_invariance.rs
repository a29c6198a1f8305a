//! What must not change the joint angles of inverse kinematics: where the laboratory has its axes, when its clock started, its
//! units, names, left and right, where a trial was cut; and one bad frame.

use crate::common::walker::{ROOT_COORDINATES, Root, exchanged, moved, walk, walker};
use soleus_dynamics::System;
use soleus_math::norm::largest;
use soleus_math::table::{Element, Table};
use soleus_math::{Rotation, Vec3, vec3};
use soleus_model::Model;
use soleus_testing::reference_test;
use soleus_tools::inverse_kinematics::{
    CoordinateTask, Error, InverseKinematics, MarkerTask, Settings, Target, Tasks, Trial, solve_trial,
};

const EVERYTHING: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// Degrees. Newton's last step is below 1e-7 rad and leaves its square times the conditioning of the frame, 1e5 at most here;
/// 1e-6 rad are asked for.
const SAME_ANGLE_DEG: f64 = 5.7e-5;

/// Every 15°, and where starts from the default pose used to fail.
fn headings() -> impl Iterator<Item = f64> {
    let even = (1..24).map(|i| 15.0 * f64::from(i));
    even.chain((172..=190).step_by(2).map(f64::from)).chain([175.0, 177.0, 179.0, 181.0, 185.0])
}

fn solve(model: &Model, system: &System, markers: &Table, tasks: &Tasks) -> Trial {
    solve_trial(model, system, markers, tasks, Settings::default(), EVERYTHING).unwrap()
}

/// The largest difference of coordinates in the given rows, deg or m, leaving out the first `skip`.
fn difference(a: &Trial, b: &Trial, skip: usize, rows: std::ops::Range<usize>) -> f64 {
    let (a, b) = (&a.coordinates, &b.coordinates);
    let columns = a.columns().iter().zip(b.columns()).skip(skip);
    largest(columns.flat_map(|(a, b)| rows.clone().map(|r| (a[r] - b[r]).abs())))
}

/// Joint angles at all headings, and the root turned with the laboratory.
fn check_headings(model: &Model, system: &System, markers: &Table, tasks: &Tasks) {
    let straight = solve(model, system, markers, tasks);
    let mut x = system.default_state.clone();
    let mut ws = system.workspace();
    let mut pelvis = |trial: &Trial, row: usize| {
        for (k, c) in model.coordinates.iter().enumerate() {
            let value = trial.coordinates.columns()[k][row];
            let turns = c.motion_type == soleus_model::joint::MotionType::Rotational;
            x.q[system.tree.mobility_of_coordinate[k]] = if turns { value.to_radians() } else { value };
        }
        system.compute_kinematics(&x, &mut ws);
        ws.kin.X_GB[1]
    };
    for heading in headings() {
        let turn = Rotation::about_y(heading.to_radians());
        let turned = solve(model, system, &moved(markers, |p, _, _| turn * p), tasks);
        let d = difference(&straight, &turned, ROOT_COORDINATES, 0..markers.rows());
        assert!(
            d < SAME_ANGLE_DEG,
            "{heading}°: {d}° off, RMS {} and {}",
            turned.summary.rms,
            straight.summary.rms
        );
        for row in [0, markers.rows() - 1] {
            let (a, b) = (pelvis(&straight, row), pelvis(&turned, row));
            let axis = |i: usize| (turn * a.R.axis(i) - b.R.axis(i)).norm();
            let angle = largest((0..3).map(axis));
            assert!(
                angle < 1e-6 && (turn * a.p - b.p).norm() < 1e-6,
                "{heading}°: the pelvis is {angle} rad off"
            );
        }
    }
}

fn case(root: Root, frames: usize) -> (Model, System, Table) {
    let model = walker(root);
    let system = System::compile(&model).unwrap();
    let markers = walk(&model, &system, frames);
    (model, system, markers)
}

#[test]
fn conserves_joint_angles_whichever_way_the_walker_faces() {
    for root in [Root::Custom, Root::Free] {
        let (model, system, markers) = case(root, 12);
        check_headings(&model, &system, &markers, &Tasks::default());
    }
}

/// With tasks for coordinates, which know no heading either as long as they hold joints.
#[test]
fn conserves_joint_angles_with_coordinate_tasks() {
    let (model, system, markers) = case(Root::Custom, 6);
    let hold = |name: &str| CoordinateTask { name: name.into(), weight: 0.01, target: Target::Default };
    let tasks =
        Tasks { coordinates: vec![hold("hip_rotation_r"), hold("lumbar_bending")], ..Tasks::default() };
    check_headings(&model, &system, &markers, &tasks);
}

#[test]
fn conserves_angles_under_time_names_and_units() {
    let (mut model, system, markers) = case(Root::Custom, 30);
    let trial = solve(&model, &system, &markers, &Tasks::default());
    assert!(trial.summary.misplaced.is_empty() && trial.summary.not_converged.is_empty());
    assert!(trial.summary.rms < 0.02, "{}", trial.summary.rms);

    // Times do not enter at all.
    let later = markers.times().iter().map(|t| t + 1234.5).collect();
    let later = Table::new(Element::Vec(3), markers.labels().to_vec(), later, markers.columns().to_vec());
    assert_eq!(
        difference(&trial, &solve(&model, &system, &later.unwrap(), &Tasks::default()), 0, 0..30),
        0.0
    );

    // Millimeters are rounded once more on their way to meters.
    let mut mm = moved(&markers, |p, _, _| p * 1000.0);
    mm.set_metadata("Units", "mm");
    let mm = solve(&model, &system, &mm.in_meters().unwrap(), &Tasks::default());
    assert!(difference(&trial, &mm, 0, 0..30) < SAME_ANGLE_DEG);

    // Names do not either.
    let labels: Vec<String> = markers.labels().iter().map(|l| format!("x{l}")).collect();
    model.markers.iter_mut().for_each(|m| m.name = format!("x{}", m.name));
    let renamed = Table::new(Element::Vec(3), labels, markers.times().to_vec(), markers.columns().to_vec());
    let renamed = solve(&model, &system, &renamed.unwrap(), &Tasks::default());
    assert_eq!(difference(&trial, &renamed, 0, 0..30), 0.0);
}

/// A trial cut in two, and the whole.
#[test]
fn conserves_angles_where_a_trial_is_cut() {
    let (model, system, markers) = case(Root::Custom, 40);
    let whole = solve(&model, &system, &markers, &Tasks::default());
    for cut in [1, 13, 25] {
        let t = markers.times()[cut];
        let rest =
            solve_trial(&model, &system, &markers, &Tasks::default(), Settings::default(), [t, 1e9]).unwrap();
        assert_eq!(rest.coordinates.times()[0], t);
        for (a, b) in whole.coordinates.columns().iter().zip(rest.coordinates.columns()) {
            for (a, b) in a[cut..].iter().zip(b) {
                assert!((a - b).abs() < SAME_ANGLE_DEG, "cut at {cut}: {a} and {b}");
            }
        }
    }
}

/// The walker in a mirror: left is right, and what turns about x and y turns the other way.
#[test]
fn conserves_angles_in_a_mirror() {
    let (model, system, markers) = case(Root::Custom, 10);
    let other = |name: &str| match name.split_once(['.', '_']) {
        Some(("R", rest)) => format!("L.{rest}"),
        Some(("L", rest)) => format!("R.{rest}"),
        _ => name.to_string(),
    };
    let labels: Vec<String> = markers.labels().iter().map(|l| other(l)).collect();
    let mirrored = moved(&markers, |p, _, _| vec3(p.x, p.y, -p.z));
    let mirrored =
        Table::new(Element::Vec(3), labels, markers.times().to_vec(), mirrored.columns().to_vec()).unwrap();
    let straight = solve(&model, &system, &markers, &Tasks::default());
    let image = solve(&model, &system, &mirrored, &Tasks::default());
    for c in &model.coordinates {
        let twin = match c.name.strip_suffix("_r") {
            Some(stem) => format!("{stem}_l"),
            None => c.name.strip_suffix("_l").map_or(c.name.clone(), |stem| format!("{stem}_r")),
        };
        let odd = ["list", "rotation", "tz", "bending", "adduction"].iter().any(|w| c.name.contains(w));
        let sign = if odd { -1.0 } else { 1.0 };
        let (a, b) =
            (straight.coordinates.column(&c.name).unwrap(), image.coordinates.column(&twin).unwrap());
        for (a, b) in a.iter().zip(b) {
            assert!((a - sign * b).abs() < SAME_ANGLE_DEG, "{}: {a} and {b}", c.name);
        }
    }
}

/// Two labels exchanged in one frame: named, taken the right way round, and nothing after it changes.
#[test]
fn conserves_all_frames_but_one_where_labels_are_exchanged() {
    let (model, system, markers) = case(Root::Custom, 24);
    let clean = solve(&model, &system, &markers, &Tasks::default());
    let n = markers.labels().len();
    for i in 0..n {
        for j in 0..i {
            let names = [&markers.labels()[i], &markers.labels()[j]];
            let trial =
                solve(&model, &system, &exchanged(&markers, [i, j], |row| row == 14), &Tasks::default());
            let after = difference(&clean, &trial, 0, 15..24);
            assert!(after < SAME_ANGLE_DEG, "{names:?}: {after} in later frames");
            // Markers of one body 6 cm apart may pass; what is farther is found.
            let apart = (markers.vec3(14, i) - markers.vec3(14, j)).norm();
            let found = &trial.summary.misplaced;
            assert!(
                found.iter().all(|m| m.frames == [15] && names.contains(&&m.name)),
                "{names:?}: {found:?}"
            );
            assert!(!found.is_empty() || apart < 0.11, "{names:?}, {apart} m apart, are not found");
            let here = difference(&clean, &trial, 0, 14..15);
            if found.iter().any(|m| m.exchanged_with.is_some()) {
                assert!(here < SAME_ANGLE_DEG, "{names:?}: {here} in the frame itself");
            }
        }
    }
}

/// A marker far away in one frame.
#[test]
fn conserves_all_frames_but_one_where_a_marker_jumps() {
    let (model, system, markers) = case(Root::Free, 20);
    let clean = solve(&model, &system, &markers, &Tasks::default());
    for (i, name) in markers.labels().iter().enumerate() {
        for jump in [vec3(0.3, 0.0, 0.0), vec3(0.0, -0.5, 0.0), vec3(0.0, 0.0, 2.0)] {
            let wrong = moved(&markers, |p, row, k| if row == 9 && k == i { p + jump } else { p });
            let trial = solve(&model, &system, &wrong, &Tasks::default());
            let after = difference(&clean, &trial, 0, 10..20);
            assert!(after < SAME_ANGLE_DEG, "{name} {jump:?}: {after} in later frames");
            let said: Vec<String> = trial.summary.misplaced.iter().map(ToString::to_string).collect();
            assert_eq!(said, [format!("marker `{name}` is out of place in frame 10 (t = 0.09 s)")]);
            assert!(trial.summary.gaps.is_empty());
            // What the others say of where it is, to a degree or two.
            let here = difference(&clean, &trial, 0, 9..10);
            assert!(here < 3.0, "{name} {jump:?}: {here} in the frame itself");
        }
    }
}

/// The first frame has nothing before it; the second shows what was wrong.
#[test]
fn conserves_later_frames_where_the_first_is_bad() {
    let (model, system, markers) = case(Root::Custom, 12);
    let clean = solve(&model, &system, &markers, &Tasks::default());
    let find = |name: &str| markers.index_of(name).unwrap();
    for pair in [["R.Heel", "L.ASIS"], ["R.Knee", "L.Knee"], ["C7", "L.Toe"]] {
        let wrong = exchanged(&markers, pair.map(find), |row| row == 0);
        let trial = solve(&model, &system, &wrong, &Tasks::default());
        let after = difference(&clean, &trial, 0, 1..12);
        assert!(after < SAME_ANGLE_DEG, "{pair:?}: {after} in later frames");
        let found = &trial.summary.misplaced;
        assert!(found.len() == 1 && found[0].frames == [1] && found[0].exchanged_with.is_some(), "{found:?}");
        assert!(difference(&clean, &trial, 0, 0..1) < SAME_ANGLE_DEG, "{pair:?}");
    }
}

/// A frame of which nothing is right is no reason to lose the rest.
#[test]
fn conserves_later_frames_after_one_without_sense() {
    let (model, system, markers) = case(Root::Custom, 16);
    let clean = solve(&model, &system, &markers, &Tasks::default());
    let n = markers.labels().len();
    let wrong = moved(&markers, |p, row, i| if row == 7 { markers.vec3(7, (i + 5) % n) } else { p });
    let trial = solve(&model, &system, &wrong, &Tasks::default());
    let after = difference(&clean, &trial, 0, 8..16);
    assert!(after < SAME_ANGLE_DEG, "{after} in later frames");
}

/// A subject who turns on the spot turns on beyond a half and a whole turn.
#[test]
fn conserves_continuity_through_whole_turns() {
    let (model, system, markers) = case(Root::Custom, 150);
    let turn = |row: usize| Rotation::about_y(0.06 * row as f64);
    let trial = solve(&model, &system, &moved(&markers, |p, row, _| turn(row) * p), &Tasks::default());
    let rotation = trial.coordinates.column("pelvis_rotation").unwrap();
    assert!(rotation.windows(2).all(|w| (w[1] - w[0]).abs() < 10.0));
    assert!((rotation[149] - rotation[0] - (0.06f64 * 149.0).to_degrees()).abs() < 20.0, "{}", rotation[149]);
    let straight = solve(&model, &system, &markers, &Tasks::default());
    assert!(difference(&straight, &trial, ROOT_COORDINATES, 0..150) < SAME_ANGLE_DEG);
}

/// From a start that is turns away the angles come back into their ranges.
#[test]
fn analytic_angles_have_no_superfluous_turns() {
    let (model, system, markers) = case(Root::Custom, 1);
    let straight = solve(&model, &system, &markers, &Tasks::default());
    let places: Vec<Vec3<f64>> = (0..markers.labels().len()).map(|i| markers.vec3(0, i)).collect();
    let labels = markers.labels();
    let mut ik =
        InverseKinematics::new(&model, &system, labels, &Tasks::default(), Settings::default()).unwrap();
    let mobility = |name: &str| system.tree.mobility_of_coordinate[model.coordinate(name).unwrap().0];
    let mut q = system.default_state.q.clone();
    q[mobility("hip_rotation_r")] += 2.0 * std::f64::consts::TAU;
    q[mobility("knee_angle_l")] -= std::f64::consts::TAU;
    // The same orientation of the trunk by other angles.
    for name in ["lumbar_extension", "lumbar_bending", "lumbar_rotation"] {
        q[mobility(name)] += std::f64::consts::PI;
    }
    ik.set_coordinates(&q);
    ik.solve_frame(0.0, &places);
    for (k, c) in model.coordinates.iter().enumerate() {
        let x = ik.coordinates()[system.tree.mobility_of_coordinate[k]];
        let x = if c.name.contains("_t") && c.name.len() == 9 { x } else { x.to_degrees() };
        let wanted = straight.coordinates.columns()[k][0];
        assert!((x - wanted).abs() < SAME_ANGLE_DEG, "{}: {x} and {wanted}", c.name);
    }
}

/// A place at the origin exactly is a gap.
#[test]
fn analytic_markers_at_the_origin_are_missing() {
    let (model, system, markers) = case(Root::Custom, 8);
    let gap = |nothing: f64| {
        moved(&markers, move |p, row, i| if (row + i) % 5 == 0 { vec3(nothing, nothing, nothing) } else { p })
    };
    let (zeros, missing) = (gap(0.0), gap(f64::NAN));
    let (a, b) = (
        solve(&model, &system, &zeros, &Tasks::default()),
        solve(&model, &system, &missing, &Tasks::default()),
    );
    assert_eq!(a.coordinates, b.coordinates);
    assert_eq!(a.summary, b.summary);
    assert_eq!(a.summary.gaps.len(), 26);
}

#[test]
fn analytic_markers_that_no_pose_meets_are_refused() {
    let (model, system, markers) = case(Root::Custom, 4);
    let n = markers.labels().len();
    let shuffled = moved(&markers, |_, row, i| markers.vec3(row, (7 * i + 3) % n));
    let of =
        |m: &Table, range| solve_trial(&model, &system, m, &Tasks::default(), Settings::default(), range);
    let said = of(&shuffled, EVERYTHING).unwrap_err();
    assert!(matches!(&said, Error::NotMet { worst, .. } if worst.len() == 5), "{said}");
    assert!(said.to_string().starts_with("no pose of the model fits the markers"), "{said}");
    for range in [[f64::NAN, 1.0], [0.0, f64::NAN]] {
        assert!(matches!(of(&markers, range), Err(Error::NoRange { .. })));
    }
}

/// Models and trials of the recorded pipelines: name, model, markers, and the tasks of a setup.
fn recorded(model: &str, markers: &str, setup: &str, rows: usize) -> (Model, System, Table, Tasks) {
    let root = crate::common::pipelines();
    let bytes = crate::common::bytes(&root.join(model));
    let mut model = soleus_io::osim::read_model(&bytes, model).0.expect("a model");
    model.forces.clear();
    let system = System::compile(&model).expect("a system");
    let table = crate::common::table(&root.join(markers)).in_meters().expect("units");
    let rows = rows.min(table.rows());
    let columns = table.columns().iter().map(|c| c[..rows].to_vec()).collect();
    let table = Table::new(Element::Vec(3), table.labels().to_vec(), table.times()[..rows].to_vec(), columns)
        .unwrap();
    let (document, mut log) = soleus_io::osim::read_document(&crate::common::bytes(&root.join(setup)), setup);
    let Some(soleus_io::setup::Setup::InverseKinematics(s)) =
        soleus_io::setup::read(&document.expect("a document"), &mut log)
    else {
        panic!("{log:?}")
    };
    let mut tasks = Tasks::default();
    for t in &s.tasks {
        if let soleus_io::setup::IkTask::Marker(m) = t
            && m.apply
        {
            tasks.markers.push(MarkerTask { name: m.name.clone(), weight: m.weight });
        }
    }
    (model, system, table, tasks)
}

const GAIT2354: [&str; 3] = [
    "Gait2354_Simbody/input/subject01_simbody.osim",
    "Gait2354_Simbody/input/subject01_walk1.trc",
    "Gait2354_Simbody/input/subject01_Setup_IK.xml",
];

#[reference_test]
fn conserves_joint_angles_of_recorded_walks_at_every_heading() {
    let rajagopal = [
        "Rajagopal_walk/reference/Scale/subject_scaled_walk.osim",
        "Rajagopal_walk/input/ExpData/motion_capture_walk.trc",
        "Rajagopal_walk/input/IK/ik_setup_walk.xml",
    ];
    for [model, markers, setup] in [GAIT2354, rajagopal] {
        let (model, system, markers, tasks) = recorded(model, markers, setup, 6);
        check_headings(&model, &system, &markers, &tasks);
    }
}

/// Each pair of labels exchanged in frame 21: of 820 pairs 33 spoiled all that followed.
#[reference_test]
fn conserves_a_recorded_walk_after_a_bad_frame() {
    let [model, markers, setup] = GAIT2354;
    let (model, system, markers, tasks) = recorded(model, markers, setup, 26);
    let clean = solve(&model, &system, &markers, &tasks);
    let n = markers.labels().len();
    let followed = |i: usize| tasks.markers.iter().any(|t| t.name == markers.labels()[i]);
    let (mut pairs, mut found) = (0, 0);
    for i in 0..n {
        for j in 0..i {
            let trial = solve(&model, &system, &exchanged(&markers, [i, j], |row| row == 20), &tasks);
            let after = difference(&clean, &trial, 0, 21..26);
            let names = [&markers.labels()[i], &markers.labels()[j]];
            assert!(after < SAME_ANGLE_DEG, "{names:?}: {after} in later frames");
            let list = &trial.summary.misplaced;
            assert!(list.iter().all(|m| m.frames == [21] && names.contains(&&m.name)), "{names:?}: {list:?}");
            pairs += 1;
            found += usize::from(!list.is_empty() || !(followed(i) || followed(j)));
        }
    }
    assert_eq!((pairs, found), (820, 820));
}
