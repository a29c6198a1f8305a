//! Every file that any verb reads, replaced by something that is no such file: refused with its name and what to do about it,
//! and nothing written. What single numbers and lines may be wrong about is in `bad_input.rs` and `bad_motion.rs`.

use crate::common::{Folder, body, joint, model};
use soleus_math::Random;

/// Ending of the file under test, and the command; `FILE` stands for it.
#[rustfmt::skip]
const SLOTS: &[(&str, &str)] = &[
    ("osim", "info FILE"),
    ("osim", "eval FILE --states s.json --out o.json"),
    ("json", "eval rod.osim --states FILE --out o.json"),
    ("osim", "upgrade FILE --out o.osim"),
    ("osim", "equilibrium FILE --out o.sto"),
    ("sto", "equilibrium rod.osim --initial FILE --out o.sto"),
    ("osim", "jacobian FILE --out o.json"),
    ("json", "jacobian rod.osim --states FILE --out o.json"),
    ("osim", "simulate FILE --duration 0.1 --out results"),
    ("sto", "simulate rod.osim --duration 0.1 --initial FILE --out results"),
    ("sto", "simulate rod.osim --duration 0.1 --controls FILE --out results"),
    ("osim", "scale --model FILE --factor rod=1.1 --out o.osim"),
    ("trc", "scale --model rod.osim --static FILE --measurements m.xml --out o.osim"),
    ("c3d", "scale --model rod.osim --static FILE --measurements m.xml --out o.osim"),
    ("xml", "scale --model rod.osim --static a.trc --measurements FILE --out o.osim"),
    ("xml", "scale --model rod.osim --static a.trc --measurements m.xml --marker-set FILE --out o.osim"),
    ("xml", "scale --model rod.osim --static a.trc --measurements m.xml --tasks FILE --out o.osim"),
    ("osim", "ik --model FILE --markers a.trc --out o.mot"),
    ("trc", "ik --model rod.osim --markers FILE --out o.mot"),
    ("sto", "ik --model rod.osim --markers FILE --out o.mot"),
    ("csv", "ik --model rod.osim --markers FILE --out o.mot"),
    ("parquet", "ik --model rod.osim --markers FILE --out o.mot"),
    ("c3d", "ik --model rod.osim --markers FILE --out o.mot"),
    ("trc", "ik --model rod.osim --markers FILE --stream"),
    ("sto", "ik --model rod.osim --orientations FILE --out o.mot"),
    ("xml", "ik --model rod.osim --markers a.trc --tasks FILE --out o.mot"),
    ("osim", "id --model FILE --motion a.mot --out o.sto"),
    ("mot", "id --model rod.osim --motion FILE --out o.sto"),
    ("xml", "id --model rod.osim --motion a.mot --loads FILE --out o.sto"),
    ("mot", "id --model rod.osim --motion a.mot --loads loads.xml --out o.sto"),
    ("osim", "so --model FILE --motion a.mot --out results"),
    ("mot", "so --model rod.osim --motion FILE --out results"),
    ("xml", "so --model rod.osim --motion a.mot --loads FILE --out results"),
    ("mot", "so --model rod.osim --motion a.mot --loads loads.xml --out results"),
    ("xml", "so --model rod.osim --motion a.mot --reserves FILE --out results"),
    ("osim", "analyze --model FILE --motion a.mot --analyses kinematics --out results"),
    ("mot", "analyze --model rod.osim --motion FILE --analyses kinematics --out results"),
    ("xml", "analyze --model rod.osim --motion a.mot --loads FILE --analyses kinematics --out results"),
    ("xml", "analyze --model rod.osim --motion a.mot --reserves FILE --analyses kinematics --out results"),
    ("sto", "analyze --model rod.osim --motion a.mot --controls FILE --analyses kinematics --out results"),
    ("sto", "analyze --model rod.osim --motion a.mot --forces FILE --analyses joint-reaction --out results"),
    ("xml", "run FILE"),
    ("toml", "solve FILE --out o.sto"),
    ("omoco", "solve FILE --out o.sto"),
    ("osim", "inverse FILE --motion a.mot --out o.sto"),
    ("xml", "inverse FILE --out o.sto"),
    ("sto", "inverse rod.osim --motion FILE --out o.sto"),
    ("xml", "inverse rod.osim --motion a.mot --loads FILE --out o.sto"),
    ("osim", "track FILE --motion a.mot --out o.sto"),
    ("xml", "track FILE --out o.sto"),
    ("sto", "track rod.osim --motion FILE --out o.sto"),
    ("trc", "track rod.osim --markers FILE --out o.sto"),
    ("osim", "fit-paths FILE --out o.osim"),
    ("mot", "fit-paths rod.osim --motion FILE --out o.osim"),
    ("sto", "convert FILE o.csv"),
    ("mot", "convert FILE o.csv"),
    ("trc", "convert FILE o.csv"),
    ("csv", "convert FILE o.sto"),
    ("parquet", "convert FILE o.csv"),
    ("c3d", "convert FILE o.trc"),
    ("sto", "plot FILE --out o.svg"),
    ("trc", "plot FILE --out o.png"),
    ("csv", "plot FILE --out o.svg"),
    ("parquet", "plot FILE --out o.svg"),
    ("c3d", "plot FILE --out o.svg"),
    ("osim", "view FILE --out o.html"),
    ("mot", "view rod.osim FILE --out o.html"),
    ("xml", "view rod.osim a.mot --loads FILE --out o.html"),
    ("sto", "view rod.osim a.mot --activations FILE --out o.html"),
    ("toml", "pipeline FILE"),
];

/// What a good command needs besides the file under test.
fn prepare(f: &Folder) {
    let names = ["hip", "heel"];
    let marker = |n: &str, p: &str| {
        format!(
            "<Marker name=\"{n}\"><socket_parent_frame>/bodyset/rod</socket_parent_frame><location>{p}</location></Marker>"
        )
    };
    let set = format!(
        "<MarkerSet name=\"markerset\"><objects>{}{}</objects></MarkerSet></Model>",
        marker(names[0], "0 0 0.02"),
        marker(names[1], "0 -1 0.03")
    );
    let motor = "<CoordinateActuator name=\"motor\"><coordinate>angle</coordinate></CoordinateActuator>";
    let hinge = joint("PinJoint", "hinge", "/ground", "/bodyset/rod", &["angle"]);
    f.file("rod.osim", model(&body("rod", "2"), &hinge, motor).replace("</Model>", &set));
    f.file("s.json", "{\"states\": [{}]}");
    let rows: String = (0..8).map(|i| format!("{}\t{i}\n", 0.1 * f64::from(i))).collect();
    f.file(
        "a.mot",
        format!("a\nversion=1\nnRows=8\nnColumns=2\ninDegrees=yes\nendheader\ntime\tangle\n{rows}"),
    );
    let rows: String = (0..8).map(|i| format!("{}\t0.0{i}\t0\t0\t20\t0\t-1000\t30\n", i + 1)).collect();
    f.file(
        "a.trc",
        format!(
            "PathFileType\t4\t(X/Y/Z)\ta.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\
             \tOrigNumFrames\n100\t100\t8\t2\tmm\t100\t1\t8\nFrame#\tTime\thip\t\t\theel\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n{rows}"
        ),
    );
    f.file(
        "m.xml",
        "<OpenSimDocument Version=\"40000\"><MeasurementSet name=\"m\"><objects><Measurement name=\"length\"><apply>true</apply>\
         <MarkerPairSet><objects><MarkerPair><markers>hip heel</markers></MarkerPair></objects></MarkerPairSet>\
         <BodyScaleSet><objects><BodyScale name=\"rod\"><axes>X Y Z</axes></BodyScale></objects></BodyScaleSet>\
         </Measurement></objects></MeasurementSet></OpenSimDocument>",
    );
    // Loads whose table is the file under test.
    f.file(
        "loads.xml",
        "<OpenSimDocument Version=\"40000\"><ExternalLoads name=\"loads\"><objects><ExternalForce name=\"plate\">\
         <applied_to_body>rod</applied_to_body><force_identifier>f_v</force_identifier><point_identifier>f_p</point_identifier>\
         </ExternalForce></objects><datafile>bad.mot</datafile></ExternalLoads></OpenSimDocument>",
    );
}

/// 4 kB that no one has written.
fn noise() -> Vec<u8> {
    let mut random = Random::new(1);
    (0..512).flat_map(|_| random.bits().to_le_bytes()).collect()
}

/// What stands where the file should be.
enum Bad {
    Nothing,
    Bytes(Vec<u8>),
    Directory,
    #[cfg(unix)]
    LinkToNowhere,
    #[cfg(unix)]
    Unreadable,
}

fn kinds() -> Vec<(&'static str, Bad)> {
    let text = |s: &str| Bad::Bytes(s.as_bytes().to_vec());
    vec![
        ("nothing", Bad::Nothing),
        ("empty", text("")),
        ("blank", text("\n \n\t\r\n")),
        ("noise", Bad::Bytes(noise())),
        ("zeros", Bad::Bytes(vec![0; 3000])),
        ("words", text("hello world, this is not a file of that kind\n")),
        (
            "utf-16",
            Bad::Bytes("\u{feff}time\tangle\n0\t1\n".encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ),
        (
            "a billion rows, none there",
            text("a\nversion=1\nnRows=1000000000\nnColumns=1000000000\nendheader\n"),
        ),
        ("directory", Bad::Directory),
        #[cfg(unix)]
        ("link to nowhere", Bad::LinkToNowhere),
        #[cfg(unix)]
        ("unreadable", Bad::Unreadable),
    ]
}

/// Puts it there; false if this machine or user cannot have such a thing.
fn put(f: &Folder, name: &str, bad: &Bad) -> bool {
    let path = f.0.join(name);
    match bad {
        Bad::Nothing => {}
        Bad::Bytes(bytes) => f.file(name, bytes),
        Bad::Directory => std::fs::create_dir(&path).unwrap(),
        #[cfg(unix)]
        Bad::LinkToNowhere => std::os::unix::fs::symlink("nowhere", &path).unwrap(),
        #[cfg(unix)]
        Bad::Unreadable => {
            use std::os::unix::fs::PermissionsExt;
            f.file(name, "time\tangle\n0\t1\n");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
            // Root reads everything.
            return std::fs::read(&path).is_err();
        }
    }
    true
}

/// Removes it.
fn remove(f: &Folder, name: &str) {
    let path = f.0.join(name);
    // It is a file, a folder, or not there.
    let _ = (std::fs::remove_file(&path), std::fs::remove_dir(&path));
}

fn names(f: &Folder) -> Vec<String> {
    let mut list: Vec<String> = std::fs::read_dir(&f.0)
        .unwrap()
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    list.sort();
    list
}

/// Runs the command of a slot.
fn run(f: &Folder, command: &str, file: &str) -> crate::common::Run {
    let args: Vec<&str> = command.split(' ').map(|a| if a == "FILE" { file } else { a }).collect();
    f.soleus(&args)
}

/// Refused with the name of the file and a hint, and no file more than before.
fn is_refused_whole(f: &Folder, command: &str, file: &str, what: &str) {
    let before = names(f);
    let run = run(f, command, file);
    println!("{what} for `{command}`");
    run.is_refused(&[file, "hint:"]);
    assert_eq!(names(f), before, "{}", run.stderr);
}

#[test]
fn refuses_what_is_no_such_file_on_every_verb() {
    let f = Folder::new("hostile");
    prepare(&f);
    for (kind, bad) in kinds() {
        for (ending, command) in SLOTS {
            let file = format!("bad.{ending}");
            if put(&f, &file, &bad) {
                is_refused_whole(&f, command, &file, kind);
            }
            remove(&f, &file);
        }
    }
}

/// Labels and no rows: a table, but nothing can come of it. `convert` says so and writes what there is.
#[test]
fn refuses_tables_without_rows_on_every_verb() {
    let f = Folder::new("hostile_rows");
    prepare(&f);
    let tables =
        SLOTS.iter().filter(|(e, c)| matches!(*e, "sto" | "mot" | "csv") && !c.starts_with("convert"));
    for (ending, command) in tables {
        let file = format!("bad.{ending}");
        f.file(&file, if *ending == "csv" { "time,angle\n" } else { "time\tangle\n" });
        is_refused_whole(&f, command, &file, "labels without rows");
        remove(&f, &file);
    }
}

/// What every slot is given in place of a bad file works, as far as a file of that kind is at hand: the refusals are the
/// files' own.
#[test]
fn identity_the_good_files_are_accepted() {
    let f = Folder::new("hostile_good");
    prepare(&f);
    let good = [("osim", "rod.osim"), ("mot", "a.mot"), ("trc", "a.trc"), ("json", "s.json")];
    let long = ["solve", "inverse", "track", "fit-paths"];
    for (ending, command) in SLOTS.iter().filter(|(_, c)| !long.iter().any(|l| c.starts_with(l))) {
        let Some((_, file)) = good.iter().find(|(e, _)| e == ending) else { continue };
        if command.contains("loads.xml") {
            continue;
        }
        println!("{command}");
        run(&f, command, file).is_done();
    }
}
