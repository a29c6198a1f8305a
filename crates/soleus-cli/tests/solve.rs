//! `soleus solve` on the reference problems of Moco 4.6: same mesh, scheme and tolerance, objective no worse.

use crate::common::{Folder, shared};
use soleus_math::norm::{largest, largest_difference};
use soleus_testing::reference_test;
use std::path::PathBuf;

fn reference() -> PathBuf {
    shared("reference/moco")
}

/// Header value and columns of a solution.
struct Solved {
    text: String,
}

impl Solved {
    fn header(&self, key: &str) -> f64 {
        let line = self.text.lines().find_map(|l| l.strip_prefix(&format!("{key}="))).unwrap_or("nan");
        line.parse().unwrap_or(f64::NAN)
    }

    fn column(&self, name: &str) -> Vec<f64> {
        let mut lines = self.text.lines().skip_while(|l| *l != "endheader").skip(1);
        let i = lines.next().unwrap_or("").split('\t').position(|n| n == name);
        let i = i.unwrap_or_else(|| panic!("no column {name}"));
        lines.map(|l| l.split('\t').nth(i).unwrap_or("nan").parse().unwrap_or(f64::NAN)).collect()
    }
}

/// Solves a study; `extra` are more arguments.
fn solve(name: &str, extra: &[&str]) -> Solved {
    let folder = reference();
    let study = folder.join("settings").join(format!("{name}.omoco"));
    let f = Folder::new(&format!("solve_{name}"));
    let mut arguments = vec!["solve", study.to_str().unwrap(), "--out", "solution.sto"];
    arguments.extend(extra);
    let run = f.soleus(&arguments);
    eprintln!("{name}: {}", run.stderr.lines().rfind(|l| l.contains("objective")).unwrap_or(&run.stderr));
    assert_eq!(run.code, Some(0), "{name}: {}", run.stderr);
    Solved { text: std::fs::read_to_string(f.0.join("solution.sto")).unwrap() }
}

/// Objective at most 0.5 % above Moco's (the bar), and not suspiciously far below: a lower one must be explained.
fn no_worse(name: &str, moco: f64, least: f64, extra: &[&str]) -> Solved {
    let s = solve(name, extra);
    let objective = s.header("objective");
    assert!(objective <= moco + 0.005 * moco.abs() + 1e-12, "{name}: {objective}, Moco {moco}");
    assert!(objective >= least, "{name}: {objective} is below {least}");
    s
}

// Objectives of Moco 4.6 (results.json of the reference set, IPOPT 3.14.16).

#[reference_test]
fn opensim_val_sliding_mass() {
    // Nothing goes faster than 0.4 s.
    no_worse("sliding_mass", 0.4000268759628474, 0.4, &[]);
    no_worse("sliding_mass_trapezoidal", 0.4000400052625292, 0.4, &[]);
    no_worse("sliding_mass_legendre_gauss_3", 0.4000269220742839, 0.4, &[]);
    no_worse("sliding_mass_legendre_gauss_radau_3", 0.400026689316248, 0.4, &[]);
}

#[reference_test]
fn opensim_val_kirk() {
    for (name, moco) in [
        ("kirk_hermite_simpson", 12.75072334035483),
        ("kirk_trapezoidal", 12.769786859407489),
        ("kirk_legendre_gauss_3", 12.750723553440048),
        ("kirk_legendre_gauss_7", 12.750723555667715),
        ("kirk_legendre_gauss_radau_3", 12.75072355429627),
        ("kirk_legendre_gauss_radau_7", 12.750723554777071),
    ] {
        // Convex: the same minimum, to the tolerance of both solvers.
        no_worse(name, moco, moco - 1e-6, &[]);
    }
}

#[reference_test]
fn opensim_val_parameters() {
    for (name, parameter, expected) in
        [("oscillator_mass", "oscillator_mass", 5.0), ("two_spring_stiffness", "spring_stiffness", 50.0)]
    {
        let s = solve(name, &[]);
        let found = s.column(parameter)[0];
        // Moco finds 4.9999965 for the mass: the error of 25 Hermite–Simpson intervals.
        assert!((found / expected - 1.0).abs() < 1e-5, "{name}: {found}");
    }
}

#[reference_test]
fn opensim_val_hanging_muscle() {
    for (name, moco) in [
        ("hanging_muscle_rigid_noact", 0.05401714149347562),
        ("hanging_muscle_rigid_act", 0.06865139729496335),
        ("hanging_muscle_rigid_act_explicit", 0.06865138187674769),
        ("hanging_muscle", 0.0661954324078314),
    ] {
        no_worse(name, moco, 0.99 * moco, &[]);
    }
}

#[reference_test]
fn opensim_val_couplers() {
    for (name, moco) in [
        ("coupler_posa_explicit", 371.50254732365454),
        ("coupler_posa_implicit", 371.50254767057123),
        ("coupler_posa_noderiv_explicit", 381.42237229750566),
        ("coupler_bordalba_explicit_trapezoidal", 371.89598514020184),
        ("coupler_bordalba_explicit_hermite_simpson", 371.5027217184169),
        ("coupler_bordalba_explicit_legendre_gauss_3", 371.5028541760426),
        ("coupler_bordalba_explicit_legendre_gauss_radau_3", 371.50286729697984),
    ] {
        let s = no_worse(name, moco, 0.995 * moco, &[]);
        // The constraint: q1 = π − 2 q0, so 0 at the end.
        let last = *s.column("/jointset/j1/q1/value").last().unwrap_or(&f64::NAN);
        assert!(last.abs() < 1e-4, "{name}: q1 ends at {last}");
    }
}

#[reference_test]
fn opensim_val_parabola() {
    let s = solve("kinematic_constraint_parabola", &[]);
    let (x, y) = (s.column("/jointset/tx/tx/value"), s.column("/jointset/ty/ty/value"));
    let worst = largest(x.iter().zip(&y).step_by(2).map(|(x, y)| (y - x * x).abs()));
    // Constraint tolerance of the solver.
    assert!(worst < 1e-6, "off the parabola by {worst}");
}

/// The shortest time has many local minima: from the guess of the reference problem the fine mesh alone ends at 0.598e-3,
/// a coarse mesh first leads below Moco's.
#[reference_test]
fn opensim_val_swing_up() {
    let folder = reference();
    let f = Folder::new("coarse_swing_up");
    let study = folder.join("settings/dp_swingup.omoco").display().to_string();
    let guess = folder.join("data/dp_swingup_guess.sto").display().to_string();
    let coarse = f.soleus(&["solve", &study, "--guess", &guess, "--intervals", "25", "--out", "coarse.sto"]);
    assert_eq!(coarse.code, Some(0), "{}", coarse.stderr);
    let guess = f.0.join("coarse.sto").display().to_string();
    no_worse("dp_swingup", 0.000554784098893104, 0.00055, &["--guess", &guess, "--barrier", "1e-5"]);
}

/// Tracking a motion that the model can follow: Moco did not converge and left 0.0074.
#[reference_test]
fn opensim_val_swing_up_tracked() {
    let folder = reference();
    let solution = folder.join("solutions/dp_swingup_solution.sto");
    let states: Vec<&str> = vec![
        "/jointset/j0/q0/value",
        "/jointset/j1/q1/value",
        "/jointset/j0/q0/speed",
        "/jointset/j1/q1/speed",
    ];
    let f = Folder::new("swing_states");
    let bytes = std::fs::read(solution).unwrap_or_default();
    let Some(table) = soleus_io::table::read(&bytes, "swing").0 else { panic!("no table") };
    let Ok(table) = table.selected(&states) else { panic!("no states") };
    f.file("states.sto", soleus_io::table::sto::write(&table, soleus_io::table::sto::Digits::Shortest));
    let given = format!("goal={}", f.0.join("states.sto").display());
    no_worse("dp_track_states_lbfgs", 0.007388711609934281, 0.0, &["--reference", &given]);
}

/// A table of two linear motions of a double pendulum.
fn linear_motions() -> String {
    let mut text = String::from("version=1\nnRows=111\nnColumns=3\ninDegrees=no\nendheader\n");
    text.push_str("time\t/jointset/j0/q0/value\t/jointset/j1/q1/value\n");
    for i in 0..111 {
        let t = -0.05 + 0.01 * f64::from(i);
        let quarter = std::f64::consts::FRAC_PI_4;
        text.push_str(&format!("{t}\t{}\t{}\n", 2.0 * quarter * t, quarter * t));
    }
    text
}

const TRACK: &str = "<?xml version=\"1.0\"?><OpenSimDocument Version=\"40600\"><MocoTrack name=\"pendulum\">\
    <initial_time>0</initial_time><final_time>1</final_time><mesh_interval>0.05</mesh_interval>\
    <ModelProcessor name=\"model\"><filepath>double_pendulum_forceset.osim</filepath></ModelProcessor>\
    <TableProcessor name=\"states_reference\"><filepath>tracked.sto</filepath></TableProcessor>\
    <MocoWeightSet name=\"states_weight_set\"><objects><MocoWeight name=\"/jointset/j1/q1/speed\"><weight>0.5</weight>\
    </MocoWeight></objects></MocoWeightSet>\
    <track_reference_position_derivatives>true</track_reference_position_derivatives></MocoTrack></OpenSimDocument>";

/// MocoTrack from its setup file: 0.11899798 in OpenSim 4.6 with tolerances of 1e-6 and central differences.
#[reference_test]
fn opensim_val_track() {
    let f = tool_folder("track", &["models/double_pendulum_forceset.osim"]);
    f.file("tracked.sto", linear_motions());
    f.file("track.xml", TRACK);
    let run = f.soleus(&["track", "track.xml", "--tolerance", "1e-8", "--out", "solution.sto"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let objective = solved(&f, "solution.sto").header("objective");
    assert!((objective / 0.11899798199530341 - 1.0).abs() < 1e-6, "{objective}");
    // The same through `run`, which solves to the tool's own tolerance.
    assert_eq!(f.soleus(&["run", "track.xml"]).code, Some(0));
    let loose = solved(&f, "pendulum_solution.sto").header("objective");
    assert!((loose / objective - 1.0).abs() < 1e-3, "{loose}");
}

/// What is wrong with a tool is told with its line.
#[reference_test]
fn tools_refuse_bad_input() {
    let f = tool_folder("bad_track", &["models/double_pendulum_forceset.osim"]);
    f.file("tracked.sto", linear_motions());
    let bad = |from: &str, to: &str, words: &[&str]| {
        f.file("bad.xml", TRACK.replace(from, to));
        f.soleus(&["track", "bad.xml"]).is_refused(words);
    };
    bad("<final_time>1<", "<final_time>9<", &["9", "1.05"]);
    bad("<filepath>tracked.sto<", "<filepath>none.sto<", &["none.sto"]);
    bad("<filepath>tracked.sto<", "<filepath><", &["nothing to track"]);
    let operator = "<filepath>double_pendulum_forceset.osim</filepath><operators><ModOpReplaceJointsWithWelds><joint_paths>knee\
        </joint_paths></ModOpReplaceJointsWithWelds></operators>";
    bad("<filepath>double_pendulum_forceset.osim</filepath>", operator, &["no joint `knee`"]);
    f.soleus(&["inverse", "bad.xml"]).is_refused(&["MocoInverse"]);
}

/// A table as the reference problem has it in memory.
#[reference_test]
fn opensim_val_state_tracking() {
    let f = Folder::new("tracked");
    f.file("tracked.sto", linear_motions());
    let given = format!("tracking={}", f.0.join("tracked.sto").display());
    no_worse("state_tracking", 0.00907550672084928, 0.009, &["--reference", &given]);
}

#[reference_test]
fn opensim_val_squat() {
    let folder = reference();
    no_worse("squat_predict", 0.2292992016879858, 0.22, &[]);
    let predicted = folder.join("solutions/squat_predict_solution.sto").display().to_string();
    let given = format!("mytracking={predicted}");
    let arguments = ["--guess", &predicted, "--reference", &given];
    no_worse("squat_track", 0.00023820375188134872, 0.000237, &arguments);
    // The kinematics as the reference run had them; those in the study file are rounded.
    let bytes = std::fs::read(&predicted).unwrap_or_default();
    let Some(table) = soleus_io::table::read(&bytes, &predicted).0 else { panic!("no table") };
    let Ok(filtered) = soleus_math::signal::lowpass(&table, 6.0) else { panic!("no filter") };
    let f = Folder::new("squat_kinematics");
    f.file("filtered.sto", soleus_io::table::sto::write(&filtered, soleus_io::table::sto::Digits::Shortest));
    let kinematics = f.0.join("filtered.sto").display().to_string();
    no_worse("squat_inverse", 0.36207463461837447, 0.36, &["--motion", &kinematics]);
    no_worse("squat_inverse_device", 0.2501561331712677, 0.249, &["--motion", &kinematics]);
}

fn solved(f: &Folder, name: &str) -> Solved {
    Solved { text: std::fs::read_to_string(f.0.join(name)).unwrap_or_default() }
}

/// A folder with the files that a tool of the reference set names.
fn tool_folder(name: &str, files: &[&str]) -> Folder {
    let reference = reference();
    let f = Folder::new(name);
    for file in files {
        let last = file.rsplit('/').next().unwrap_or(file);
        f.file(last, std::fs::read(reference.join(file)).unwrap());
    }
    f
}

const WALK: [&str; 6] = [
    "settings/inverse3d_tool.xml",
    "models/subject_walk_scaled.osim",
    "data/coordinates.sto",
    "data/grf_walk.xml",
    "data/grf_walk.mot",
    "data/subject_walk_scaled_FunctionBasedPathSet.xml",
];

/// MocoInverse of a walk with 80 muscles, from its setup file. Moco stops at 1.6658 with activations 0.013 above
/// their bounds, where its barrier holds them; that is worth 3.6 %.
#[reference_test]
fn opensim_val_inverse_of_a_walk() {
    let f = tool_folder("inverse3d", &WALK);
    let run = f.soleus(&["inverse", "inverse3d_tool.xml", "--out", "solution.sto"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let s = solved(&f, "solution.sto");
    let objective = s.header("objective");
    assert!(objective <= 1.6658483660999812 && objective > 0.96 * 1.6658, "objective {objective}");
    // Residuals and reserves as in Moco's solution.
    let reference = reference().join("solutions/inverse3d_solution.sto");
    let moco = Solved { text: std::fs::read_to_string(reference).unwrap_or_default() };
    for name in ["/forceset/residual_jointset_ground_pelvis_pelvis_ty", "/forceset/soleus_r"] {
        let (ours, theirs) = (s.column(name), moco.column(name));
        let worst = largest_difference(&ours, &theirs);
        assert!(worst < 0.05, "{name}: {worst}");
    }
}

/// The same from flags, for a few intervals: the same problem as from the file.
#[reference_test]
fn identity_inverse_by_flags_and_by_file() {
    let f = tool_folder("inverse_flags", &WALK);
    let file = f.soleus(&["inverse", "inverse3d_tool.xml", "--to", "0.54", "--out", "file.sto"]);
    assert_eq!(file.code, Some(0), "{}", file.stderr);
    let by_file = solved(&f, "file.sto");
    let flags = f.soleus(&[
        "inverse",
        "subject_walk_scaled.osim",
        "--motion",
        "coordinates.sto",
        "--from",
        "0.48",
        "--to",
        "0.54",
        "--loads",
        "grf_walk.xml",
        "--weld",
        "mtp_r,mtp_l",
        "--residuals",
        "250,50,1",
        "--rigid-tendons",
        "--degroote-fregly",
        "--no-passive-force",
        "--curve-width",
        "1.5",
        "--function-paths",
        "subject_walk_scaled_FunctionBasedPathSet.xml",
        "--reserves",
        "1",
        "--root-angles",
        "--out",
        "flags.sto",
    ]);
    assert_eq!(flags.code, Some(0), "{}", flags.stderr);
    let by_flags = solved(&f, "flags.sto");
    assert_eq!(by_file.header("objective"), by_flags.header("objective"));
}

/// A tendon's slack length as parameter, which the equations are not linear in: with the value that is found in the model
/// itself the time is the same. Two such numbers of one muscle interact and are refused.
#[reference_test]
fn identity_nonlinear_parameter() {
    let folder = reference();
    let study =
        std::fs::read_to_string(folder.join("settings/hanging_muscle_rigid_act.omoco")).unwrap_or_default();
    let parameter = |name: &str, property: &str, bounds: &str| {
        format!(
            "<MocoParameter name=\"{name}\"><MocoBounds name=\"bounds\"><bounds>{bounds}</bounds></MocoBounds>\
             <component_paths>/forceset/muscle</component_paths><property_name>{property}</property_name></MocoParameter>"
        )
    };
    let f = Folder::new("nonlinear_parameter");
    let with = |list: &str| study.replacen("<goals>", &format!("<parameters>{list}</parameters><goals>"), 1);
    let slack = parameter("slack", "tendon_slack_length", "0.045 0.055");
    f.file("slack.omoco", with(&slack));
    let run = f.soleus(&["solve", "slack.omoco", "--out", "slack.sto"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let s = solved(&f, "slack.sto");
    let found = s.column("slack")[0];
    let begin = study.find("<tendon_slack_length>").unwrap_or(0);
    let end = begin + study[begin..].find("</").unwrap_or(0);
    f.file("fixed.omoco", format!("{}<tendon_slack_length>{found}{}", &study[..begin], &study[end..]));
    let run = f.soleus(&["solve", "fixed.omoco", "--out", "fixed.sto"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let (a, b) = (s.header("objective"), solved(&f, "fixed.sto").header("objective"));
    // Both stop at a hundredth of the study's tolerance of 1e-4.
    assert!((a / b - 1.0).abs() < 1e-5, "{a} {b}");
    f.file("both.omoco", with(&(slack + &parameter("fiber", "optimal_fiber_length", "0.08 0.12"))));
    f.soleus(&["solve", "both.omoco"]).is_refused(&["interact"]);
}

/// `--quiet` was not quiet.
#[test]
fn issue_everyday_quiet_is_quiet() {
    let f = crate::common::Folder::new("quiet");
    let study = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/kick.toml");
    let run = f.soleus(&["solve", study, "--quiet", "--out", "kick.sto"]);
    assert_eq!((run.code, run.stderr.as_str(), run.stdout.as_str()), (Some(0), "", ""));
}
