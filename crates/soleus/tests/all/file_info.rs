//! What `soleus info` says of every kind of file, and C3D files as laboratories write them: z up, events, EMG, frames that do not begin at 1.

use crate::subject::{self, Root};
use soleus::engine::io::table::{parquet, sto, trc};
use soleus::engine::math::Table;
use soleus::engine::math::table::Element;
use soleus::inputs::table::{Take, read_markers};
use soleus::{Collected, Context, Convert, FileInfo, Memory, Outcome};
use std::path::Path;

const MARKERS: [(&str, [f32; 3]); 7] = [
    ("RHEE", [0.0, 50.0, 100.0]),
    ("RTOE", [200.0, 50.0, 100.0]),
    ("LHEE", [0.0, 50.0, -100.0]),
    ("LTOE", [200.0, 50.0, -100.0]),
    ("RASI", [150.0, 1000.0, 120.0]),
    ("LASI", [150.0, 1000.0, -120.0]),
    ("SACR", [-50.0, 1020.0, 0.0]),
];

/// Twenty frames of somebody who walks along −y in a laboratory with z up, from frame 41 on, mm; one marker is lost in three of them.
pub fn c3d() -> Vec<u8> {
    let mut p = vec![1, 0x50, 0, 84];
    let mut record = |id: i8, name: &str, body: &[u8]| {
        p.extend([name.len() as u8, id as u8]);
        p.extend(name.as_bytes());
        p.extend((body.len() as u16 + 3).to_le_bytes());
        p.extend(body);
        p.push(0);
    };
    let list = |kind: u8, dims: &[u8], bytes: Vec<u8>| [&[kind, dims.len() as u8], dims, &bytes].concat();
    let integers = |dims: &[u8], v: &[u16]| list(2, dims, v.iter().flat_map(|x| x.to_le_bytes()).collect());
    let floats = |dims: &[u8], v: &[f32]| list(4, dims, v.iter().flat_map(|x| x.to_le_bytes()).collect());
    let text = |words: &[&str]| {
        let padded: String = words.iter().map(|w| format!("{w:<12}")).collect();
        list(255, &[12, words.len() as u8], padded.into_bytes())
    };
    for (id, name) in [(-1, "POINT"), (-2, "ANALOG"), (-3, "FORCE_PLATFORM"), (-4, "EVENT"), (-5, "TRIAL")] {
        record(id, name, &[]);
    }
    record(1, "USED", &integers(&[], &[7]));
    record(1, "SCALE", &floats(&[], &[-0.1]));
    record(1, "RATE", &floats(&[], &[100.0]));
    record(1, "LABELS", &text(&MARKERS.map(|m| m.0)));
    record(1, "UNITS", &text(&["mm"]));
    record(2, "USED", &integers(&[], &[7]));
    record(2, "LABELS", &text(&["Fx", "Fy", "Fz", "Mx", "My", "Mz", "EMG_soleus"]));
    record(2, "UNITS", &text(&["N", "N", "N", "Nmm", "Nmm", "Nmm", "V"]));
    record(2, "GEN_SCALE", &floats(&[], &[1.0]));
    record(2, "SCALE", &floats(&[7], &[1.0; 7]));
    record(2, "OFFSET", &integers(&[7], &[0; 7]));
    record(3, "USED", &integers(&[], &[1]));
    record(3, "TYPE", &integers(&[1], &[2]));
    let corners = [200.0, 300.0, 0.0, -200.0, 300.0, 0.0, -200.0, -300.0, 0.0, 200.0, -300.0, 0.0];
    record(3, "CORNERS", &floats(&[3, 4, 1], &corners));
    record(3, "ORIGIN", &floats(&[3, 1], &[0.0, 0.0, -40.0]));
    record(3, "CHANNEL", &integers(&[6, 1], &[1, 2, 3, 4, 5, 6]));
    record(4, "USED", &integers(&[], &[1]));
    record(4, "LABELS", &text(&["Foot Strike"]));
    record(4, "CONTEXTS", &text(&["Left"]));
    record(4, "TIMES", &floats(&[2, 1], &[0.0, 0.45]));
    record(5, "ACTUAL_START_FIELD", &integers(&[2], &[41, 0]));
    record(5, "ACTUAL_END_FIELD", &integers(&[2], &[60, 0]));
    p.extend([0, 0]);
    p.resize(p.len().next_multiple_of(512), 0);
    p[2] = (p.len() / 512) as u8;

    let mut bytes = vec![2, 0x50];
    for word in [7u16, 14, 41, 60, 10] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend((-0.1f32).to_le_bytes());
    bytes.extend(((2 + p.len() / 512) as u16).to_le_bytes());
    bytes.extend(2u16.to_le_bytes());
    bytes.extend(100f32.to_le_bytes());
    bytes.resize(512, 0);
    bytes.extend(p);
    for frame in 0..20 {
        for (name, [x, y, z]) in MARKERS {
            let lost = name == "LTOE" && (5..8).contains(&frame);
            // Forwards is −y, up is z, right is −x.
            let place = [-z, -(x + 12.0 * frame as f32), y, if lost { -1.0 } else { 0.0 }];
            bytes.extend(place.iter().flat_map(|v| v.to_le_bytes()));
        }
        bytes.extend((0..14).flat_map(|k| (0.01 * k as f32).to_le_bytes()));
    }
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

fn about(files: &Memory, file: &str) -> String {
    let request = FileInfo { file: file.into(), ..FileInfo::default() };
    request.run(&Context::new(files)).unwrap_or_else(|e| panic!("{file}: {e}")).to_text()
}

/// What a solve leaves that was stopped after an iteration.
fn stopped() -> String {
    use soleus::engine::io::iterate::{Fingerprint, Iterate, write};
    let problem = Fingerprint { goals: vec![("effort".into(), Some(1.0))], ..Default::default() };
    write(&Iterate { problem, iteration: 1, x: vec![0.0; 3], ..Default::default() }).unwrap()
}

#[test]
fn identity_every_kind_of_file_is_told() {
    let times = vec![0.0, 0.01, 0.02, 0.03];
    let angles =
        Table::new(Element::Scalar, vec!["knee".into()], times.clone(), vec![vec![1.0, f64::NAN, 2.0, 3.0]]);
    let angles = angles.unwrap();
    let mut markers = Table::new(Element::Vec(3), vec!["RASI".into()], times, vec![vec![1.0; 4]; 3]).unwrap();
    markers.set_metadata("Units", "mm");
    let orientations = Table::new(
        Element::Quaternion,
        vec!["pelvis_imu".into()],
        vec![0.0],
        vec![vec![1.0], vec![0.0], vec![0.0], vec![0.0]],
    );
    let orientations = orientations.unwrap();
    let files = Memory::new()
        .with("model.osim", subject::model_file(Root::Custom, ""))
        .with("walk.c3d", c3d())
        .with("a.sto", sto::write(&angles, sto::Digits::Shortest))
        .with("a.mot", sto::write(&angles, sto::Digits::Shortest))
        .with("a.csv", "time,knee\n0,1\n0.01,2\n")
        .with("a.parquet", parquet::write(&angles))
        .with("a.trc", trc::write(&markers, "a.trc").unwrap())
        .with("loads.xml", subject::loads_file())
        .with("ik.xml", "<OpenSimDocument Version=\"40600\"><InverseKinematicsTool name=\"walk\"><model_file>model.osim</model_file><marker_file>b.trc</marker_file></InverseKinematicsTool></OpenSimDocument>")
        .with("lab.toml", "model = \"model.osim\"\n[so]\n[[trials]]\nname = \"walk\"\nmarkers = \"a.trc\"\nloads = \"a.mot\"\n")
        .with("kick.toml", include_str!("../../../../examples/kick.toml"))
        .with("states.json", include_str!("../../../../examples/states.json"))
        .with("exo.toml", "[[add]]\ntype = \"spring\"\nname = \"exo\"\ncoordinate = \"knee_angle_r\"\nstiffness = 20\n")
        .with("imu.sto", sto::write_typed(&orientations))
        .with("kick.sto.iterate", stopped())
        .with("tasks.xml", "<OpenSimDocument Version=\"40600\"><IKTaskSet name=\"t\"><objects><IKMarkerTask name=\"RASI\"/></objects></IKTaskSet></OpenSimDocument>")
        .with("box.vtp", "<VTKFile type=\"PolyData\"><PolyData><Piece NumberOfPoints=\"3\" NumberOfPolys=\"1\"><Points><DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\">0 0 0 1 0 0 0 1 0</DataArray></Points><Polys><DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">0 1 2</DataArray><DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">3</DataArray></Polys></Piece></PolyData></VTKFile>")
        .with("box.obj", "v 0 0 0\nv 1 0 0\nv 0 2 0\nf 1 2 3\n")
        .with("box.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n")
        .with("norm.csv", "percent,knee_angle,sd_knee_angle,hip_flexion\n0,10,2,30\n100,10,2,30\n")
        .with("study.omoco", "<OpenSimDocument Version=\"40600\"><MocoStudy name=\"squat\"><MocoProblem name=\"problem\"><MocoPhase name=\"phases\"/></MocoProblem></MocoStudy></OpenSimDocument>")
        .with("factors.xml", "<OpenSimDocument Version=\"40600\"><ScaleSet><objects><Scale><scales>1 1 1</scales><segment>femur_r</segment></Scale></objects></ScaleSet></OpenSimDocument>")
        .with("long.csv", "time,knee\n0,1\n2.4960000000000004,2\n")
        .with("notes.txt", "hello");
    for (file, words) in [
        ("model.osim", &["knee_angle_r"][..]),
        ("a.sto", &["4, from 0 s to 0.03 s, 100.00 rows/s", "knee (1 gap, longest 1 row)"]),
        ("a.mot", &["knee"]),
        ("a.csv", &["1: knee"]),
        ("factors.xml", &["ScaleSet", "femur_r"]),
        ("long.csv", &["to 2.496 s"]),
        (
            "norm.csv",
            &["--normative", "2, from 0 % to 100 %", "2: knee_angle, hip_flexion", "1: hip_flexion"],
        ),
        ("study.omoco", &["MocoStudy", "squat", "soleus run"]),
        ("a.parquet", &["1: knee"]),
        ("a.trc", &["RASI", "mm", "known landmarks"]),
        ("loads.xml", &["ExternalLoads", "right_foot, left_foot", "plates.sto (not found)"]),
        ("ik.xml", &["InverseKinematicsTool", "soleus run", "model.osim\n", "b.trc (not found)"]),
        ("lab.toml", &["pipeline", "ik, id, so", "1: walk"]),
        ("kick.toml", &["optimal-control study", "effort"]),
        ("states.json", &["model states"]),
        ("exo.toml", &["soleus add", "exo (spring)"]),
        ("imu.sto", &["orientations (quaternions)", "pelvis_imu"]),
        ("kick.sto.iterate", &["--resume", "iterations", "effort"]),
        ("tasks.xml", &["IKTaskSet", "RASI"]),
        ("box.vtp", &["mesh", "faces"]),
        ("box.obj", &["mesh", "1.0000, 2.0000, 0.0000"]),
        ("box.stl", &["faces"]),
        (
            "walk.c3d",
            &[
                "20 at 100 Hz, frames 41 to 60",
                "0.4000 s after frame 1",
                "7: RHEE, RTOE",
                "LTOE (1 gap, longest 3 rows)",
                "z up, subject faces along -y (rotate with --rotate x:-90 --rotate y:90)",
                "EMG_soleus (V)",
                "1: 1 (type 2)",
                "0.0500 s: Left Foot Strike",
            ],
        ),
    ] {
        let text = about(&files, file);
        for w in words {
            assert!(text.contains(w), "{file}: no `{w}` in\n{text}");
        }
    }
    let unknown = FileInfo { file: "notes.txt".into(), ..FileInfo::default() }.run(&Context::new(&files));
    assert!(unknown.unwrap_err().to_string().contains("unknown file type"));
}

/// Markers of a C3D file come with y up and the subject's way along x, and somebody is told.
#[test]
fn analytic_the_laboratory_is_turned() {
    let files = Memory::new().with("walk.c3d", c3d());
    let told = Collected::default();
    let cx = Context::new(&files).with_monitor(&told);
    let (markers, _) = read_markers(&cx, &"walk.c3d".into()).unwrap();
    for (i, (name, p)) in MARKERS.iter().enumerate() {
        let at = markers.vec3(0, i).to_array();
        assert!(at.iter().zip(p).all(|(a, b)| (a - 1e-3 * f64::from(*b)).abs() < 1e-6), "{name} {at:?}");
    }
    assert!(told.notes().iter().any(|n| n.contains("rotated by x:-90 y:90")), "{:?}", told.notes());

    // The same by convert, with gaps filled, events and the first frame kept.
    let request = Convert {
        input: "walk.c3d".into(),
        output: Some("walk.sto".into()),
        take: Some(Take::Markers),
        turn_laboratory: true,
        units: Some("m".into()),
        fill_gaps: Some(5),
        ..Convert::default()
    };
    let converted = request.run(&cx).unwrap();
    let toe = converted.table.index_of("LTOE").unwrap();
    // In a straight line there is nothing to guess.
    assert!((converted.table.vec3(6, toe).x - (0.2 + 0.012 * 6.0)).abs() < 1e-6);
    converted.write(&cx).unwrap();
    let text = String::from_utf8(soleus::Files::read(&files, Path::new("walk.sto")).unwrap()).unwrap();
    assert!(text.contains("event_1=0.0500 Left Foot Strike"), "{}", &text[..400]);
    let trc = Convert { output: Some("walk.trc".into()), take: None, ..request }.run(&cx).unwrap();
    trc.write(&cx).unwrap();
    let text = String::from_utf8(soleus::Files::read(&files, Path::new("walk.trc")).unwrap()).unwrap();
    assert!(text.lines().nth(2).unwrap().split('\t').any(|cell| cell == "41"), "{}", &text[..400]);
}
