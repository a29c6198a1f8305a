//! Small files that ask for much: counts that lie, names that repeat, rows that are not there. Each is answered within
//! seconds and within memory that is in proportion to the file.

use soleus_io::{c3d, mesh, osim, table};
use std::time::{Duration, Instant};

/// Far more than any of these takes, far less than what they took; debug builds on busy machines are slow.
const SOON: Duration = Duration::from_secs(20);

/// A C3D file of three blocks whose parameters give a count as a float.
fn c3d_with_count(group: &str, name: &str, value: f32) -> Vec<u8> {
    let mut p = vec![1, 0x50, 1, 84];
    let mut record = |id: i8, name: &str, body: &[u8]| {
        p.extend([name.len() as u8, id as u8]);
        p.extend(name.as_bytes());
        p.extend((body.len() as u16 + 2).to_le_bytes());
        p.extend(body);
    };
    record(-1, "POINT", &[0]);
    record(-2, "ANALOG", &[0]);
    record(-3, "TRIAL", &[0]);
    let number = |values: &[f32]| {
        let mut body = vec![4, 1, values.len() as u8];
        values.iter().for_each(|v| body.extend(v.to_le_bytes()));
        body.push(0);
        body
    };
    record(1, "RATE", &number(&[100.0]));
    record(1, "SCALE", &number(&[-1.0]));
    let id = match group {
        "POINT" => 1,
        "ANALOG" => 2,
        _ => 3,
    };
    record(id, name, &number(&[value, value]));
    record(id, "ACTUAL_START_FIELD", &number(&[1.0, 0.0]));
    p.extend([0, 0]);
    p.resize(512, 0);
    let mut bytes = vec![2, 0x50];
    bytes.resize(512, 0);
    bytes[8] = 1;
    bytes[10] = 2;
    bytes[16] = 3;
    bytes[18] = 1;
    bytes.extend(p);
    bytes.resize(3 * 512, 0);
    bytes
}

#[test]
fn issue_16_counts_in_c3d_files_are_bounded() {
    // 10⁹ points asked for 72 GB, 10¹⁹ of them or of channels overflowed, 10⁹ channels never came to an end.
    for group in ["POINT", "ANALOG"] {
        for count in [1e5, 1e9, 1e19, f32::INFINITY] {
            let (trial, log) = c3d::read(&c3d_with_count(group, "USED", count), "t.c3d");
            assert!(trial.is_none() && log.has_errors(), "{group} {count}");
            let message = &log.list[0];
            assert!(message.message.contains("the format allows at most 65535"), "{message}");
            assert_eq!(message.component, format!("{group}:USED"));
        }
        // What fits into 16 bits is legal, though no frame of it is there.
        let (trial, log) = c3d::read(&c3d_with_count(group, "USED", 65535.0), "t.c3d");
        assert!(trial.is_some_and(|t| t.points.rows() == 0) && log.has_errors());
    }
    for name in ["ACTUAL_END_FIELD", "ACTUAL_START_FIELD"] {
        for count in [1e9, 1e19, f32::INFINITY, f32::NAN] {
            let (trial, _) = c3d::read(&c3d_with_count("TRIAL", name, count), "t.c3d");
            assert!(trial.is_none_or(|t| t.points.rows() <= 1), "{name} {count}");
        }
    }
}

#[test]
fn issue_16_parameters_of_c3d_files_do_not_overlap() {
    // Records of 12 bytes, each of which claims the 60 kB behind it as words of one letter.
    let mut bytes = vec![2, 0x50];
    bytes.resize(512, 0);
    bytes.extend([1, 0x50, 1, 84]);
    for _ in 0..8000 {
        // Name `AB`, 9 bytes to the next; text, two sizes.
        bytes.extend([2, 1, b'A', b'B', 7, 0, 255, 2, 1, 250, b'x']);
    }
    let (_, log) = c3d::read(&bytes, "t.c3d");
    assert!(log.list.iter().any(|d| d.message.contains("overlap")), "{:?}", log.list.first());
}

/// A model of `n` bodies and as many joints, all of one name.
fn bodies_of_one_name(n: usize) -> String {
    let mut s = String::from(
        "<OpenSimDocument Version=\"40000\"><Model name=\"m\"><Ground name=\"ground\"/><BodySet><objects>",
    );
    for _ in 0..n {
        s += "<Body name=\"b\"><mass>1</mass><inertia>1 1 1 0 0 0</inertia></Body>\n";
    }
    s += "</objects></BodySet><JointSet><objects>";
    for i in 0..n {
        let body = if i == 0 { "b".to_string() } else { format!("b_{}", i - 1) };
        s += "<PinJoint name=\"j\"><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/";
        s += &body;
        s += "</socket_child_frame></PinJoint>\n";
    }
    s + "</objects></JointSet></Model></OpenSimDocument>"
}

#[test]
fn issue_16_many_bodies_of_one_name() {
    let start = Instant::now();
    let (model, log) = osim::read_model(bodies_of_one_name(20_000).as_bytes(), "m.osim");
    let model = model.unwrap_or_else(|| panic!("{:?}", log.list.last()));
    assert_eq!(model.bodies[20_000].name, "b_19998");
    assert_eq!(model.joints[19_999].name, "j_19998");
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
}

#[test]
fn analytic_a_name_in_use_gets_the_next_free_number() {
    let names = ["a", "a_1", "a", "a", "a_0", "a", "a_0"];
    let bodies: String = names.iter().map(|n| format!("<Body name=\"{n}\"><mass>1</mass></Body>")).collect();
    let text = format!(
        "<OpenSimDocument Version=\"40000\"><Model><Ground name=\"ground\"/><BodySet><objects>{bodies}</objects></BodySet></Model></OpenSimDocument>"
    );
    let (doc, mut log) = osim::read_document(text.as_bytes(), "m.osim");
    let model = soleus_model::build(&doc.unwrap(), &mut log);
    let found: Vec<String> = model.unwrap().bodies.iter().skip(1).map(|b| b.name.clone()).collect();
    assert_eq!(found, ["a", "a_1", "a_0", "a_2", "a_0_0", "a_3", "a_0_1"]);
}

#[test]
fn issue_16_many_wrong_references() {
    // Each asked every body how much its name is alike.
    let text = bodies_of_one_name(3000).replace("/bodyset/b_", "/bodyset/c_");
    let start = Instant::now();
    let (model, log) = osim::read_model(text.as_bytes(), "m.osim");
    assert!(model.is_none());
    assert!(log.list.iter().any(|d| d.hint.starts_with("did you mean")));
    // Names of a million letters, compared letter by letter, would take 10¹² steps.
    let long = "b".repeat(1 << 20);
    let text = bodies_of_one_name(1)
        .replace("\"b\"", &format!("\"{long}\""))
        .replace("bodyset/b", &format!("bodyset/{long}c"));
    assert!(osim::read_model(text.as_bytes(), "m.osim").0.is_none());
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
}

#[test]
fn issue_16_many_unknown_properties() {
    let mut text = String::from("<OpenSimDocument Version=\"40000\"><Model><Ground name=\"ground\"/>");
    for i in 0..100_000 {
        text += &format!("<p{i}>0</p{i}>");
    }
    text += "</Model></OpenSimDocument>";
    let start = Instant::now();
    let (_, log) = osim::read_model(text.as_bytes(), "m.osim");
    assert!(log.list.len() >= 100_000);
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
}

#[test]
fn issue_16_rows_shorter_than_the_labels() {
    // 30 000 labels and as many rows of one cell were 7 GB.
    let labels: String = (0..30_000).map(|i| format!("\tm{i}")).collect();
    let rows: String = (0..30_000).map(|i| format!("{i}\n")).collect();
    let frames: String = (0..30_000).map(|i| format!("{i}\t{i}\n")).collect();
    let start = Instant::now();
    for (file, text) in [
        ("a.sto", format!("a\nversion=1\nendheader\ntime{labels}\n{rows}")),
        ("a.csv", format!("time{}\n{rows}", labels.replace('\t', ","))),
        ("a.trc", format!("PathFileType\t4\nFrame#\tTime{labels}\n\n{frames}")),
    ] {
        let (table, log) = table::read(text.as_bytes(), file);
        let table = table.unwrap();
        assert!(log.list.iter().any(|d| d.message.contains("columns are empty")), "{file}");
        assert!(table.rows() * table.columns().len() <= 16 * text.len() + (1 << 20), "{file}");
    }
    // Labels alone, of 99 numbers each.
    let text = format!("a\nDataType=Vec99\nversion=3\nendheader\ntime{labels}\n");
    let (table, log) = table::read(text.as_bytes(), "a.sto");
    assert!(table.is_none() && log.has_errors());
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
}

#[test]
fn issue_16_zeros_are_no_mesh() {
    // What a reader with a limit gives of /dev/zero.
    let zeros = vec![0; 8 << 20];
    for file in ["a.obj", "a.stl", "a.vtp"] {
        let start = Instant::now();
        let found = mesh::read_mesh(&zeros, file);
        assert!(found.is_err() || found.is_ok_and(|m| m.faces.is_empty()), "{file}");
        assert!(start.elapsed() < SOON, "{file}: {:?}", start.elapsed());
    }
}

#[soleus_testing::reference_test]
fn issue_16_the_files_that_broke_it() {
    let folder = crate::common::reference().join("../reliability");
    for name in ["points1e9.c3d", "points1e19.c3d", "analog1e9.c3d", "analog1e19.c3d"] {
        let (trial, log) = c3d::read(&std::fs::read(folder.join(name)).unwrap(), name);
        assert!(
            trial.is_none() && log.list[0].message.contains("the format allows"),
            "{name}: {:?}",
            log.list
        );
    }
    let (table, log) = table::read(&std::fs::read(folder.join("bomb50k.parquet")).unwrap(), "bomb.parquet");
    assert!(table.is_none() && log.list[0].message.contains("in memory from a file"), "{:?}", log.list);
}
