//! Motion, marker and force files: what is read, what is written, and that nothing panics.

use crate::common::reference;
use proptest::prelude::*;
use soleus_io::table::sto::Digits;
use soleus_io::table::{self, csv, sto, trc};
use soleus_math::table::{Element, Table};
use soleus_model::Severity;
use soleus_testing::reference_test;
use std::path::{Path, PathBuf};

/// Reads text that must not have errors.
fn good(text: &str, file: &str) -> Table {
    let (t, log) = table::read(text.as_bytes(), file);
    assert!(!log.has_errors(), "{:?}", log.list);
    t.unwrap()
}

#[test]
fn analytic_storage_version_1() {
    let text = "Coordinates\nversion=1\nnRows=2\nnColumns=3\ninDegrees=yes\n\nUnits are S.I.\n\nendheader\n\
        time\thip\tknee\n      0.00000000\t      1.50000000\t     -2.25000000\n      0.10000000\t      1.62500000\t      0.00000000\n";
    let t = good(text, "a.sto");
    assert_eq!(t.name, "Coordinates");
    assert_eq!(t.in_degrees, Some(true));
    assert_eq!(t.times(), [0.0, 0.1]);
    assert_eq!(t.column("knee"), Some(&[-2.25, 0.0][..]));
    assert_eq!(sto::write(&t, Digits::Fixed8), text, "writing gives the file back");
}

#[test]
fn analytic_headers_of_all_styles() {
    // SIMM, without version.
    let simm = "name walk.mot\ndatacolumns 2\ndatarows 2\notherdata 1\nrange 0.0 0.5\nendheader\ntime hip\n0.0 10\n0.5 20\n";
    let t = good(simm, "walk.mot");
    assert_eq!(
        (t.in_degrees, t.name.as_str()),
        (Some(true), "walk.mot"),
        "a .mot without version is in degrees"
    );
    assert_eq!(good(simm, "walk.sto").in_degrees, None);
    assert_eq!(t.metadata_value("range"), Some("0.0 0.5"));
    // Versions 2 and 3, Windows line ends, trailing tabs.
    let typed = "inDegrees=no\r\nDataRate=100.000000\r\nDataType=Vec3\r\nversion=3\r\nOpenSimVersion=4.2\r\nendheader\r\n\
        time\ta\tb\t\r\n0\t1,2,3\t4,5,6\t\r\n0.01\t7,8,9\t1,1,nan\t\r\n";
    let t = good(typed, "v.sto");
    assert_eq!((t.element(), t.in_degrees), (Element::Vec(3), Some(false)));
    assert_eq!(t.vec3(1, 0).to_array(), [7.0, 8.0, 9.0]);
    assert!(t.vec3(1, 1).z.is_nan());
    assert_eq!(t.metadata_value("DataRate"), Some("100.000000"));
    assert_eq!(good(&sto::write(&t, Digits::Shortest), "v.sto").vec3(1, 0), t.vec3(1, 0));
    // No header at all; comments; a time column that is not the first.
    let t = good("time hip\n# here it begins\n0 1\n\n1 2\n", "x.sto");
    assert_eq!(t.times(), [0.0, 1.0]);
    let t = good("x\nendheader\nhip\ttime\n5\t0\n6\t1\n", "x.sto");
    assert_eq!((t.times(), t.column("hip")), (&[0.0, 1.0][..], Some(&[5.0, 6.0][..])));
    // Tabs and blanks mixed; blank lines after the header.
    let t =
        good("x\nnRows=2\nnColumns=3\nendheader\n\t\t\n \ntime\tv1 v2\n1.\t10\t20.\n2. 20\t\t40\n", "x.sto");
    assert_eq!((t.column("v1"), t.column("v2")), (Some(&[10.0, 20.0][..]), Some(&[20.0, 40.0][..])));
    // Labels with blanks between tabs.
    assert_eq!(good("x\nendheader\ntime\thip flexion\n0\t1\n", "x.sto").labels(), ["hip flexion"]);
    // No time column, but a range.
    let t = good("m\ndatarows 3\ndatacolumns 1\nrange 1 2\nendheader\nhip\n5\n6\n7\n", "x.mot");
    assert_eq!(t.times(), [1.0, 1.5, 2.0]);
    // OpenSim 1 said it in words.
    let t = good(
        "Coordinates\nnRows=1\nnColumns=2\n\nAngles are in degrees.\n\nendheader\ntime a\n0 1\n",
        "x.sto",
    );
    assert_eq!(t.in_degrees, Some(true));
}

#[test]
fn analytic_problems_are_said_with_their_place() {
    let text = "x\nversion=1\nnRows=3\nnColumns=3\nendheader\ntime\ta\ta\n0\t1,5\t2\n1\t\t3\n0.5\t4\n";
    let (t, log) = table::read(text.as_bytes(), "bad.sto");
    let t = t.unwrap();
    assert!(t.columns()[0][0].is_nan() && t.columns()[0][1].is_nan());
    assert_eq!(t.columns()[0][2], 4.0);
    let said: Vec<(Severity, u32, String)> =
        log.list.iter().map(|d| (d.severity, d.line, d.component.clone())).collect();
    assert!(said.contains(&(Severity::Error, 7, "column 2 (`a`)".into())), "{said:?}");
    assert!(said.contains(&(Severity::Error, 9, String::new())), "a short row: {said:?}");
    assert!(said.contains(&(Severity::Warning, 8, "column 2".into())), "an empty cell: {said:?}");
    assert!(said.contains(&(Severity::Warning, 6, String::new())), "a label twice: {said:?}");
    assert!(said.contains(&(Severity::Warning, 9, String::new())), "time goes back: {said:?}");
    for nothing in ["", "\n\n", "x\nendheader\n", "x\nendheader\na b\n1 2\n"] {
        let (t, log) = table::read(nothing.as_bytes(), "bad.sto");
        assert!(t.is_none() && log.has_errors(), "{nothing:?}");
    }
}

#[test]
fn analytic_columns_without_label_are_kept() {
    let t = good("controls\nversion=1\nnRows=1\nnColumns=4\nendheader\ntime\ta\n0\t1\t2\t3\n", "c.sto");
    assert_eq!(t.labels(), ["a", "column_3", "column_4"]);
    assert_eq!(t.column("column_4"), Some(&[3.0][..]));
}

#[test]
fn analytic_the_later_of_two_rows_at_one_time_counts() {
    let t = good("time a\n0 1\n0 2\n1 3\n1 4\n1 5\n2 6\n", "c.sto");
    assert_eq!((t.times(), t.column("a")), (&[0.0, 1.0, 2.0][..], Some(&[2.0, 5.0, 6.0][..])));
}

/// Some systems write a gap as the origin; no body is there to the last digit.
#[test]
fn analytic_markers_at_the_origin_are_gaps() {
    let text = "PathFileType\t4\t(X/Y/Z)\twalk.trc\n\
        DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n\
        100\t100\t3\t2\tmm\t100\t1\t3\n\
        Frame#\tTime\tR.ASIS\t\t\tL.ASIS\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n\
        1\t0.00\t0\t2\t0\t4\t5\t6\n2\t0.01\t0.000\t-0\t0\t4\t5\t6\n3\t0.02\t0\t0\t0\t0\t0\t1e-9\n";
    let (table, log) = trc::read(text.as_bytes(), "walk.trc");
    let t = table.unwrap();
    assert_eq!(t.vec3(0, 0).to_array(), [0.0, 2.0, 0.0]);
    assert!(t.vec3(1, 0).x.is_nan() && t.vec3(2, 0).y.is_nan());
    assert_eq!(t.vec3(2, 1).z, 1e-9);
    let said: Vec<String> = log.list.iter().map(ToString::to_string).collect();
    assert!(
        said.len() == 1 && said[0].contains("2 positions are `0 0 0`") && said[0].contains("R.ASIS (2)"),
        "{said:?}"
    );
}

#[test]
fn analytic_markers_with_gaps() {
    let text = "PathFileType\t4\t(X/Y/Z)\twalk.trc\t\t\n\
        DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n\
        100\t100\t3\t2\tmm\t100\t1\t3\n\
        Frame#\tTime\tR.ASIS\t\t\tL.ASIS\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n\
        1\t0.00\t1\t2\t3\t4\t5\t6\n2\t0.01\t\t\t\t4\t5\t6\n3\t0.02\t1\tNaN\t3\t   \t\t\n";
    let t = good(text, "walk.trc");
    assert_eq!(t.labels(), ["R.ASIS", "L.ASIS"]);
    assert_eq!(t.vec3(1, 1).to_array(), [4.0, 5.0, 6.0]);
    assert!(t.vec3(1, 0).x.is_nan());
    assert!(t.vec3(2, 0).x.is_nan(), "one missing component takes the marker");
    assert!(t.vec3(2, 1).x.is_nan());
    assert_eq!((t.name.as_str(), t.metadata_value("Units")), ("walk.trc", Some("mm")));
    assert!((t.in_meters().unwrap().vec3(0, 0).z - 0.003).abs() < 1e-18);

    let written = trc::write(&t, "out.trc").unwrap();
    assert!(written.contains("\n2\t0.01\tnan\tnan\tnan\t4\t5\t6\t\n"), "{written}");
    let again = good(&written, "walk.trc");
    assert_eq!(again.vec3(0, 1), t.vec3(0, 1));
    assert_eq!((again.times(), &again.metadata), (t.times(), &t.metadata));
    // Scalars in threes become markers, other scalars do not.
    assert_eq!(trc::write(&t.flattened(), "out.trc").unwrap(), written);
    let lone = good("time a\n0 1\n", "x.sto");
    assert!(trc::write(&lone, "out.trc").is_err());
}

#[test]
fn analytic_csv() {
    for text in [
        "time,\"hip, right\",knee\n0,1.5,\n0.1,2.5,3\n",
        "time;\"hip, right\";knee\r\n0;1.5;\r\n0.1;2.5;3\r\n",
    ] {
        let t = good(text, "a.csv");
        assert_eq!(t.column("hip, right"), Some(&[1.5, 2.5][..]));
        assert!(t.columns()[1][0].is_nan());
        assert_eq!(csv::write(&t), "time,\"hip, right\",knee\n0,1.5,\n0.1,2.5,3\n");
    }
    let with_header = "nRows=1\ninDegrees=yes\nendheader\ntime,a\n0,1\n";
    assert_eq!(good(with_header, "a.csv").in_degrees, Some(true));
}

/// Names as they should not be.
fn name() -> impl Strategy<Value = String> {
    let words = [
        "a",
        "hip",
        " ",
        "\n",
        "\r",
        "\t",
        "time",
        "endheader",
        "\nendheader\n",
        "nRows=7",
        "nColumns",
        "version=2",
        "DataType=Vec3",
        "=",
        ";",
        ",",
        "\"",
        "#",
        "\u{85}",
        "\u{a0}",
        "\u{1b}[1m",
        "range",
        "Frame#",
        "X1",
        "nan",
        "é",
        "~[",
        "\u{2028}",
        "\0",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..5).prop_map(|w| w.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn conserves_life_on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for file in ["a.sto", "a.mot", "a.trc", "a.csv"] {
            table::read(&bytes, file);
        }
    }

    #[test]
    fn conserves_life_on_likely_words(words in prop::collection::vec(prop::sample::select(vec![
        "time", "\t", "\n", "endheader", "nRows=3", "nColumns=2", "version=1", "DataType=Vec3", "range 0 1", "inDegrees=yes",
        "1", "2.5", "1,2,3", ",", " ", "Frame#\tTime\ta\n", "PathFileType\n", "DataRate\tUnits\n", "X1\tY1\tZ1\n", "é", "\"", ";", "nan", "\r",
    ]), 0..60)) {
        let text = words.concat();
        for file in ["a.sto", "a.mot", "a.trc", "a.csv"] {
            let (t, _) = table::read(text.as_bytes(), file);
            if let Some(t) = t {
                sto::write(&t, Digits::Fixed8);
                csv::write(&t);
                let _ = trc::write(&t, "a.trc");
            }
        }
    }

    #[test]
    fn issue_21_any_names_are_written_and_read(
        labels in prop::collection::vec(name(), 0..5),
        title in name(), description in name(), metadata in prop::collection::vec((name(), name()), 0..3),
        rows in 1usize..4, is_vector in any::<bool>(),
    ) {
        // A goal whose name held a line end made a table that could not be read.
        let element = if is_vector { Element::Vec(3) } else { Element::Scalar };
        let times: Vec<f64> = (0..rows).map(|i| i as f64).collect();
        let columns = (0..labels.len() * element.components()).map(|c| vec![c as f64 + 0.5; rows]).collect();
        let mut t = Table::new(element, labels, times, columns).unwrap();
        (t.name, t.description, t.metadata) = (title, description, metadata);
        let mut files = vec![
            ("a.sto", sto::write(&t, Digits::Fixed8).into_bytes()),
            ("a.sto", sto::write_typed(&t).into_bytes()),
            ("a.csv", csv::write(&t).into_bytes()),
            ("a.parquet", table::parquet::write(&t)),
        ];
        if is_vector {
            files.push(("a.trc", trc::write(&t, "a.trc").unwrap().into_bytes()));
        }
        for (file, bytes) in files {
            let (found, log) = table::read(&bytes, file);
            let text = String::from_utf8_lossy(&bytes);
            prop_assert!(!log.has_errors(), "{}: {:?}\n{}", file, log.list, text);
            let found = found.unwrap();
            prop_assert_eq!(found.times(), t.times());
            prop_assert_eq!(found.columns(), t.columns(), "{}\n{}", file, text);
            for (a, b) in found.labels().iter().zip(t.labels()).filter(|_| file == "a.sto") {
                let plain = !b.is_empty() && !b.contains(char::is_control) && b.trim() == b;
                prop_assert!(!plain || a == b, "{a:?} is {b:?}");
            }
        }
    }

    #[test]
    fn identity_written_tables_read_back(rows in prop::collection::vec((any::<f64>(), any::<f64>()), 0..20)) {
        let finite: Vec<(f64, f64)> = rows.into_iter().filter(|(a, b)| a.is_finite() && b.is_finite()).collect();
        let times = (0..finite.len()).map(|i| i as f64).collect();
        let columns = vec![finite.iter().map(|r| r.0).collect(), finite.iter().map(|r| r.1).collect()];
        let t = Table::new(Element::Scalar, vec!["a".into(), "b".into()], times, columns).unwrap();
        let back = good(&sto::write(&t, Digits::Shortest), "a.sto");
        prop_assert_eq!(back.columns(), t.columns());
        let back = good(&csv::write(&t), "a.csv");
        prop_assert_eq!(back.columns(), t.columns());
    }
}

/// All tables below a folder, but for `.csv`, which hold other things.
fn all_tables(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all_tables(&path, found);
        } else if table::Format::of(&path.to_string_lossy()).is_some_and(|f| f != table::Format::Csv) {
            found.push(path);
        }
    }
}

#[reference_test]
fn opensim_val_every_recorded_table_is_read() {
    let folder = reference();
    let mut files = Vec::new();
    all_tables(&folder, &mut files);
    assert!(files.len() > 500, "{} tables", files.len());
    let mut to_the_letter = 0;
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        let (t, log) = table::read(&bytes, &file.to_string_lossy());
        assert!(!log.has_errors(), "{:?}", log.list.iter().find(|d| d.severity == Severity::Error));
        let t = t.unwrap();
        // What OpenSim wrote and nobody touched comes back byte for byte.
        if t.element() == Element::Scalar && sto::write(&t, Digits::Fixed8).as_bytes() == bytes {
            to_the_letter += 1;
        }
    }
    // Longer tables were rewritten with 10 digits when they were recorded, so only short ones can agree.
    println!("{to_the_letter} files written to the letter");
    assert!(to_the_letter > 30, "{to_the_letter}");
}
