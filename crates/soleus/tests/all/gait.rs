//! Gait events from markers alone beside those of the plates, and what follows from them.

use soleus::engine::math::Table;
use soleus::engine::math::table::Element;
use soleus::engine::tools::plates::Side;
use soleus::gait::{FootEvents, Gait, GaitTrial};
use soleus::inputs::table::{Take, read_in_order};
use soleus::{Collected, Context, Disk, Memory};
use soleus_testing::{reference_test, shared};
use std::path::Path;

/// A plate is loaded above this, N.
const LOADED_N: f64 = 20.0;
/// Rows of plates that are farther apart, s, do not tell when a force crosses a threshold.
const SLOW_S: f64 = 0.006;

/// Strikes and toe-offs of a plate whose force begins at a column: crossings of 20 N, loads of less than 50 ms left out. Rows of one file are 17 ms
/// apart and were set to zero below a threshold, so that they do not tell when between two of them a foot came: the middle is taken.
fn plate_events(table: &Table, column: usize) -> FootEvents {
    let t = table.times();
    let force =
        |r: usize| (0..3).map(|k| table.columns()[column + k][r].powi(2)).sum::<f64>().sqrt() - LOADED_N;
    let mut events = FootEvents::default();
    let mut on_since = if force(0) > 0.0 { Some(f64::NEG_INFINITY) } else { None };
    for r in 1..t.len() {
        let (a, b) = (force(r - 1), force(r));
        let between = if t[r] - t[r - 1] > SLOW_S { 0.5 } else { a / (a - b) };
        let at = t[r - 1] + between * (t[r] - t[r - 1]);
        match on_since {
            None if b > 0.0 => on_since = Some(at),
            Some(from) if b <= 0.0 => {
                if at - from > 0.05 {
                    events.strikes.extend(Some(from).filter(|f| f.is_finite()));
                    events.offs.push(at);
                }
                on_since = None;
            }
            _ => {}
        }
    }
    events.strikes.extend(on_since.filter(|f| f.is_finite()));
    events
}

/// Checks all events of a trial, those next to its ends too; how many there are.
fn check(markers: &str, plates: &str, columns: [usize; 2]) -> usize {
    let files = Disk::new();
    let cx = Context::new(&files);
    let at = |f: &str| Path::new(shared!("data")).join(f);
    let trial = GaitTrial { markers: at(markers).into(), ..GaitTrial::default() };
    let gait = Gait { trials: vec![trial], ..Gait::default() }.run(&cx).unwrap();
    let found = &gait.trials[0];
    assert_eq!(found.sides, [Side::Right, Side::Left]);
    let forces = read_in_order(&cx, &at(plates).into(), Take::Forces).unwrap();
    let (first, last) = (found.walk.times[0], found.walk.times[found.walk.times.len() - 1]);
    let mut count = 0;
    for (events, column) in found.events.iter().zip(columns) {
        let wanted = plate_events(&forces, column);
        for (what, ours, theirs) in
            [("strike", &events.strikes, &wanted.strikes), ("off", &events.offs, &wanted.offs)]
        {
            for &t in theirs.iter().filter(|t| **t > first && **t < last) {
                let off = ours.iter().map(|x| x - t).min_by(|a, b| a.abs().total_cmp(&b.abs()));
                let off = 1e3 * off.unwrap_or(f64::INFINITY);
                assert!(off.abs() <= 20.0, "{markers}: {what} at {t:.3} s, {off:.1} ms off");
                count += 1;
            }
        }
    }
    count
}

#[reference_test("data/walking")]
fn identity_events_of_walks_from_markers_and_plates() {
    let r = |f: &str| format!("walking/rajagopal_3d/{f}");
    assert_eq!(check(&r("markers_walk.trc"), &r("grf_walk.mot"), [0, 9]), 6);
    let g = |f: &str| format!("walking/gait2354_subject01/{f}");
    assert_eq!(check(&g("subject01_walk1.trc"), &g("subject01_walk1_grf.mot"), [0, 6]), 8);
    let a = |f: &str| format!("walking/arnold_subject02/{f}");
    assert_eq!(check(&a("marker_trajectories.trc"), &a("ground_reaction.mot"), [0, 6]), 21);
    // A strike 9 ms after the start of the second is known from the steps after it.
    for subject in ["arnold2013_subject01", "arnold2013_subject04"] {
        let s = |f: &str| format!("walking/{subject}/{f}");
        assert_eq!(check(&s("markers.trc"), &s("grf.mot"), [0, 6]), 4);
    }
}

#[reference_test("data/running")]
fn identity_events_of_runs_from_markers_and_plates() {
    let h = |f: &str| format!("running/hamner2013_subject01/{f}");
    assert_eq!(check(&h("Run_400_02.trc"), &h("Run_400_02_newCOP3.mot"), [0, 6]), 29);
    // Columns of the forces come behind those of the coordinates, without the time.
    let h = |f: &str| format!("running/hamner_subject02/{f}");
    // A toe-off 25 ms before the end is known from the steps before it.
    assert_eq!(check(&h("subject02_running.trc"), &h("subject02_running_grf.mot"), [23, 29]), 58);
}

/// Two feet that step 0.7 m every 0.55 s: in swing a heel goes 1.4 m in 0.44 s, and lands and leaves as fast as feet do.
fn stepping(belt: f64) -> Table {
    let times: Vec<f64> = (0..600).map(|i| 0.01 * f64::from(i)).collect();
    let (cycle, stance, stride) = (1.1, 0.66, 1.4);
    let foot = |t: f64, phase: f64| {
        let n = ((t - phase) / cycle).floor();
        let s = (t - phase - n * cycle - stance).max(0.0) / (cycle - stance);
        let x = stride * (n + s) + stride * phase / cycle - belt * t;
        (x, 0.04 + 0.1 * (std::f64::consts::PI * s).sin())
    };
    let mut columns = vec![Vec::new(); 18];
    for &t in &times {
        let (r, l) = (foot(t, 0.0), foot(t, 0.55));
        let pelvis = stride / cycle * t - belt * t;
        let points = [
            [r.0, r.1, 0.1],
            [r.0 + 0.2, r.1, 0.1],
            [l.0, l.1, -0.06],
            [l.0 + 0.2, l.1, -0.06],
            [pelvis + 0.1, 1.0, 0.12],
            [pelvis + 0.1, 1.0, -0.12],
        ];
        columns
            .iter_mut()
            .zip(points.into_iter().flatten())
            .for_each(|(c, x): (&mut Vec<f64>, f64)| c.push(x));
    }
    let labels = ["RHEE", "RTOE", "LHEE", "LTOE", "RASI", "LASI"].map(String::from).to_vec();
    Table::new(Element::Vec(3), labels, times, columns).unwrap()
}

#[test]
fn analytic_steps_on_the_floor_and_on_a_treadmill() {
    let files = Memory::new();
    let cx = Context::new(&files);
    for belt in [0.0, 1.2727] {
        let trial = GaitTrial { markers: stepping(belt).into(), ..GaitTrial::default() };
        let gait = Gait { trials: vec![trial], ..Gait::default() }.run(&cx).unwrap();
        let near = |what: &str, x: f64, y: f64, by: f64| {
            assert!((x - y).abs() < by, "{what} {x}, not {y}\n{}", gait.report());
        };
        for side in [&gait.right, &gait.left] {
            near("stride time", side.stride_time.mean, 1.1, 1e-3);
            near("cadence", side.cadence.mean, 120.0 / 1.1, 0.1);
            near("speed", side.speed.mean, 1.4 / 1.1, 0.01);
            near("stride", side.stride_length.mean, 1.4, 0.01);
            near("step", side.step_length.mean, 0.7, 0.01);
            near("width", side.step_width.mean, 0.16, 1e-3);
            // The edges of a foot that stops at once are a frame wide after the filter.
            near("stance", side.stance.mean, 60.0, 2.0);
            near("double support", side.double_support.mean, 20.0, 4.0);
        }
    }
}

/// Markers are not seen before a subject walks into view, nor after: the speed was that of somebody who waits there, and strikes were found where
/// markers appear.
#[test]
fn issue_everyday_a_subject_who_walks_into_view() {
    let all = stepping(0.0);
    let seen = |r: usize| (150..450).contains(&r);
    let cut = |c: &Vec<f64>| c.iter().enumerate().map(|(r, x)| if seen(r) { *x } else { f64::NAN }).collect();
    let columns: Vec<Vec<f64>> = all.columns().iter().map(cut).collect();
    let part = Table::new(Element::Vec(3), all.labels().to_vec(), all.times().to_vec(), columns).unwrap();
    let files = Memory::new();
    let cx = Context::new(&files);
    let run = |markers: Table| {
        let trial = GaitTrial { markers: markers.into(), ..GaitTrial::default() };
        Gait { trials: vec![trial], ..Gait::default() }.run(&cx).unwrap()
    };
    let (whole, part) = (run(all), run(part));
    assert!((part.trials[0].walk.speed - 1.4 / 1.1).abs() < 1e-6, "{}", part.report());
    for (own, known) in part.trials[0].events.iter().zip(&whole.trials[0].events) {
        for (list, known) in [(&own.strikes, &known.strikes), (&own.offs, &known.offs)] {
            assert!(!list.is_empty() && list.iter().all(|t| (1.5..4.5).contains(t)), "{list:?}");
            // Each is one of the whole trial, to what filters carry over.
            assert!(list.iter().all(|t| known.iter().any(|k| (k - t).abs() < 2e-3)), "{list:?}, {known:?}");
        }
    }
}

/// The recording begins while the right heel slows down, 16 ms before the plate is loaded; this strike was not found.
#[reference_test("data/walking")]
fn issue_18_a_strike_at_the_start_of_a_recording() {
    let files = Disk::new();
    let cx = Context::new(&files);
    let markers = Path::new(shared!("data/walking")).join("arnold2013_subject01/markers.trc");
    let trial = GaitTrial { markers: markers.into(), ..GaitTrial::default() };
    let gait = Gait { trials: vec![trial], ..Gait::default() }.run(&cx).unwrap();
    let place = gait.trials[0].sides.iter().position(|s| *s == Side::Right).unwrap();
    let strikes = &gait.trials[0].events[place].strikes;
    // The bar for events from markers alone.
    assert!((strikes[0] - 3.396).abs() < 0.02, "{strikes:?}");
}

/// A table of the user's own, with the columns that the help names: it was rejected because no column is called `time`.
#[test]
fn issue_everyday_normative_curves_of_the_user() {
    let files = Memory::new().with(
        "norm.csv",
        "percent,knee_angle,sd_knee_angle,hip_flexion\n0,10,2,30\n50,20,4,-10\n100,10,2,30\n",
    );
    let cx = Context::new(&files);
    let times: Vec<f64> = (0..600).map(|i| 0.01 * f64::from(i)).collect();
    let labels = vec!["knee_angle_r".to_string(), "knee_angle_l".to_string()];
    let angles = Table::new(Element::Scalar, labels, times.clone(), vec![vec![1.0; 600]; 2]).unwrap();
    let trial =
        GaitTrial { markers: stepping(0.0).into(), curves: vec![angles.into()], ..GaitTrial::default() };
    let (normative, output) = (Some("norm.csv".into()), Some("gait".into()));
    let request = Gait { trials: vec![trial], normative, output, ..Gait::default() };
    let gait = request.run(&cx).unwrap();
    let knee = gait.normative.curves.iter().find(|c| c.0 == "knee_angle").unwrap();
    // Halfway up, the mean is 15 and the deviation 3; a curve without deviations has none.
    assert!(
        (knee.1[25] - 15.0).abs() < 1e-9 && (knee.2[25] - 3.0).abs() < 1e-9,
        "{} {}",
        knee.1[25],
        knee.2[25]
    );
    let hip = gait.normative.curves.iter().find(|c| c.0 == "hip_flexion").unwrap();
    assert!((hip.1[50] + 10.0).abs() < 1e-9 && hip.2.iter().all(|x| *x == 0.0));
    assert_eq!(gait.normative.curves.len(), 2);
    soleus::Outcome::write(&gait, &cx).unwrap();
    let picture =
        String::from_utf8(soleus::Files::read(&files, Path::new("gait/knee_angle.svg")).unwrap()).unwrap();
    assert!(picture.contains("norm.csv"), "the band is not in the picture");
}

/// A band has the sign of the subject's angles and moments, where some of the curve is not known too; powers are taken as they are.
#[test]
fn identity_bands_have_the_sign_of_the_curve() {
    let files = Memory::new().with(
        "norm.csv",
        "percent,knee_angle,sd_knee_angle,knee_angle_moment,sd_knee_angle_moment,knee_angle_power\n0,10,2,0.5,0.1,1\n100,10,2,0.5,0.1,1\n",
    );
    let cx = Context::new(&files);
    let times: Vec<f64> = (0..600).map(|i| 0.01 * f64::from(i)).collect();
    let labels = ["knee_angle_r", "knee_angle_r_moment", "knee_angle_r_power"].map(String::from).to_vec();
    let mut columns = vec![vec![-1.0; 600]; 3];
    columns[1][..150].fill(f64::NAN);
    let curves = Table::new(Element::Scalar, labels, times, columns).unwrap();
    let trial =
        GaitTrial { markers: stepping(0.0).into(), curves: vec![curves.into()], ..GaitTrial::default() };
    let request = Gait { trials: vec![trial], normative: Some("norm.csv".into()), ..Gait::default() };
    let gait = request.run(&cx).unwrap();
    let mean = |name: &str| {
        let own = gait.curves.iter().filter(|c| c.name == name);
        let (mean, sd) = gait.normative.beside(name, own).unwrap();
        assert_eq!(mean.len(), sd.len());
        mean[50]
    };
    assert_eq!([mean("knee_angle"), mean("knee_angle_moment"), mean("knee_angle_power")], [-10.0, -0.5, 1.0]);
}

/// Curves over the cycle: a sine of the period of the stride is a sine over 100 %, with no deviation.
#[test]
fn analytic_curves_over_the_cycle() {
    let files = Memory::new();
    let cx = Context::new(&files);
    let times: Vec<f64> = (0..600).map(|i| 0.01 * f64::from(i)).collect();
    let wave =
        |phase: f64| times.iter().map(|t| (2.0 * std::f64::consts::PI * (t - phase) / 1.1).sin()).collect();
    let labels = vec!["knee_angle_r".to_string(), "knee_angle_l".to_string(), "pelvis_tilt".to_string()];
    let angles =
        Table::new(Element::Scalar, labels, times.clone(), vec![wave(0.0), wave(0.55), wave(0.0)]).unwrap();
    let trial =
        GaitTrial { markers: stepping(0.0).into(), curves: vec![angles.into()], ..GaitTrial::default() };
    // A raw signal, twice as strong in the first half of a stride.
    let t: Vec<f64> = (0..6000).map(|i| 0.001 * f64::from(i)).collect();
    let loud = |t: f64| if (t / 1.1).fract() < 0.5 { 2.0 } else { 1.0 };
    let y = t.iter().map(|&t| loud(t) * (2.0 * std::f64::consts::PI * 120.0 * t).sin()).collect();
    let emg = Table::new(Element::Scalar, vec!["soleus_r".into()], t, vec![y]).unwrap();
    let trial = GaitTrial { emg: vec![emg.into()], ..trial };
    let request = Gait { trials: vec![trial.clone(), trial], output: Some("gait".into()), ..Gait::default() };
    let gait = request.run(&cx).unwrap();
    let knees: Vec<_> = gait.curves.iter().filter(|c| c.name == "knee_angle").collect();
    assert_eq!(knees.len(), 2);
    // Both sides begin at their own strike, which is found some ms off, the same in each cycle.
    for (r, l) in knees[0].points.iter().zip(&knees[1].points) {
        assert!((r.mean - l.mean).abs() < 1e-3 && r.sd < 1e-2, "{r:?} {l:?}");
    }
    assert_eq!(knees[0].cycles, 2 * gait.trials[0].cycles.iter().filter(|c| c.side == Side::Right).count());
    assert_eq!(gait.curves.iter().filter(|c| c.name == "pelvis_tilt").count(), 2);
    let emg = gait.curves.iter().find(|c| c.name == "soleus_EMG").unwrap();
    let (loud, faint) = (emg.points[25].mean, emg.points[75].mean);
    // The filter overshoots at the steps by a tenth, and the largest value is 1.
    assert!(loud > 0.85 && (faint / loud - 0.5).abs() < 0.05, "{loud} {faint}");
    soleus::Outcome::write(&gait, &cx).unwrap();
    let names: Vec<String> = files.names().iter().map(|n| n.display().to_string()).collect();
    assert!(names.contains(&"/gait/knee_angle.svg".to_string()), "{names:?}");
    assert!(names.contains(&"/gait/curves.csv".to_string()), "{names:?}");
}

/// Events are added near the ends of a recording only where a foot has just come down or is about to leave: not for a subject who stands there before and
/// after the walk.
#[test]
fn issue_18_standing_at_the_ends_has_no_events() {
    let files = Memory::new();
    let walk = stepping(0.0);
    let events = |table: Table| {
        let trial = GaitTrial { markers: table.into(), ..GaitTrial::default() };
        let gait = Gait { trials: vec![trial], ..Gait::default() }.run(&Context::new(&files)).unwrap();
        gait.trials[0].events.iter().map(|e| e.strikes.len() + e.offs.len()).sum::<usize>()
    };
    // 0.63 s on both feet before the first toe-off: a time of contact.
    let held = |before: usize, after: usize| {
        let n = walk.rows();
        let row = |i: usize| (i.max(before) - before).min(n - 1);
        let times = (0..before + n + after).map(|i| 0.01 * i as f64).collect::<Vec<f64>>();
        let columns = walk.columns().iter().map(|c| (0..times.len()).map(|i| c[row(i)]).collect()).collect();
        Table::new(Element::Vec(3), walk.labels().to_vec(), times, columns).unwrap()
    };
    let plain = events(held(0, 0));
    for (before, after) in [(40, 0), (63, 0), (0, 63), (100, 100)] {
        assert!(events(held(before, after)) <= plain + 1, "{before} and {after} rows of standing");
    }
}

/// A static trial had toe-offs and a cadence at 0.00 m/s.
#[test]
fn issue_18_a_static_trial_is_no_gait() {
    let files = Memory::new();
    let walk = stepping(0.0);
    let standing: Vec<Vec<f64>> = walk.columns().iter().map(|c| vec![c[0]; c.len()]).collect();
    let still = Table::new(Element::Vec(3), walk.labels().to_vec(), walk.times().to_vec(), standing).unwrap();
    let trial = GaitTrial { markers: still.into(), ..GaitTrial::default() };
    let refused = Gait { trials: vec![trial], ..Gait::default() }.run(&Context::new(&files)).unwrap_err();
    assert!(refused.to_string().contains("0.00 m/s relative to the ground"), "{refused}");
}

/// The second plate of a file has the labels of the first; each of its columns was a warning.
#[reference_test("data/running")]
fn issue_18_a_second_plate_is_no_warning() {
    let (files, told) = (Disk::new(), Collected::default());
    let at = |f: &str| Path::new(shared!("data")).join("running/hamner2013_subject01").join(f);
    let trial = GaitTrial {
        markers: at("Run_400_02.trc").into(),
        loads: Some(at("Run_400_02_newCOP3.mot").into()),
        ..GaitTrial::default()
    };
    Gait { trials: vec![trial], ..Gait::default() }.run(&Context::new(&files).with_monitor(&told)).unwrap();
    assert!(told.diagnostics().is_empty(), "{:?}", told.diagnostics());
}

/// Models name flexion in several ways; the built-in band had no hip for `hip_angle`.
#[test]
fn issue_18_bands_know_the_names_of_a_joint() {
    let files = Memory::new();
    let trial = GaitTrial { markers: stepping(0.0).into(), ..GaitTrial::default() };
    let gait = Gait { trials: vec![trial], ..Gait::default() }.run(&Context::new(&files)).unwrap();
    let band = |name: &str| gait.normative.beside(name, std::iter::empty());
    assert!(band("hip_flexion").is_some() && band("hip_flexion") == band("hip_angle"));
    assert_eq!(band("knee_flexion"), band("knee_angle"));
    assert!(band("hip_adduction").is_none() && band("hip_angle_moment").is_none());
}

/// Moments in N m stood beside normative ones in N m/kg, and `gait` had no powers. With the mass of the subject all three have bands, and their source is named.
#[test]
fn issue_18_moments_and_powers_beside_normative_ones() {
    let files = Memory::new().with(
        "norm.csv",
        "# Adults of our laboratory\n# source: twelve adults, 1.3 m/s, N m/kg and W/kg\n\
         percent,knee_angle_moment,sd_knee_angle_moment,knee_angle_power,sd_knee_angle_power\n0,1,0.25,2,0.5\n100,1,0.25,2,0.5\n",
    );
    let times: Vec<f64> = (0..600).map(|i| 0.01 * f64::from(i)).collect();
    let of = |name: &str, column: Vec<f64>| {
        Table::new(Element::Scalar, vec![name.to_string()], times.clone(), vec![column]).unwrap()
    };
    // 2 rad/s and 70 N m: 140 W of a subject of 70 kg.
    let (angle, moment) = (times.iter().map(|t| 2.0 * t).collect(), vec![70.0; 600]);
    let curves = vec![of("knee_angle_r", angle).into(), of("knee_angle_r_moment", moment).into()];
    let trial = GaitTrial { markers: stepping(0.0).into(), curves, ..GaitTrial::default() };
    let request = Gait { trials: vec![trial], normative: Some("norm.csv".into()), ..Gait::default() };
    let told = Collected::default();
    let plain = request.run(&Context::new(&files).with_monitor(&told)).unwrap();
    let warned = told.diagnostics().iter().filter(|d| d.hint.contains("--mass")).count();
    assert_eq!(warned, 1, "{:?}", told.diagnostics());
    assert!(
        (plain.curves.iter().find(|c| c.name == "knee_angle_moment").unwrap().points[50].mean - 70.0).abs()
            < 1e-9
    );

    let (told, output) = (Collected::default(), Some("gait".into()));
    let cx = Context::new(&files).with_monitor(&told);
    let gait = Gait { mass: Some(70.0), output, ..request.clone() }.run(&cx).unwrap();
    assert!(told.diagnostics().is_empty(), "{:?}", told.diagnostics());
    assert_eq!(gait.normative.source, "twelve adults, 1.3 m/s, N m/kg and W/kg");
    for (name, value, unit) in [("knee_angle_moment", 1.0, "N m/kg"), ("knee_angle_power", 2.0, "W/kg")] {
        let own = gait.curves.iter().find(|c| c.name == name).unwrap();
        assert!((own.points[50].mean - value).abs() < 1e-9, "{name}: {}", own.points[50].mean);
        let (mean, sd) = gait.normative.beside(name, std::iter::once(own)).unwrap();
        assert!((mean[50] - value).abs() < 1e-9 && (sd[50] - 0.25 * value).abs() < 1e-9);
        let plot = gait.plot(name);
        assert_eq!(
            (plot.y_label.as_str(), plot.bands[0].name.as_str()),
            (unit, "twelve adults, 1.3 m/s, N m/kg and W/kg")
        );
    }
    let refused = Gait { mass: Some(0.0), ..request }.run(&cx).unwrap_err().to_string();
    assert!(refused.contains("mass of the subject"), "{refused}");
}
