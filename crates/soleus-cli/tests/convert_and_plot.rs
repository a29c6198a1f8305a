//! `soleus convert` and `soleus plot`, through the command.

use crate::common::Folder;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A folder of this test alone.
fn folder(name: &str) -> PathBuf {
    let f = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&f).unwrap();
    f
}

fn soleus(folder: &PathBuf, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_soleus")).current_dir(folder).args(arguments).output().unwrap()
}

fn done(o: &Output) {
    assert!(o.status.success(), "{}", String::from_utf8_lossy(&o.stderr));
    assert!(o.stdout.is_empty(), "stdout is for data");
}

const MARKERS: &str = "PathFileType\t4\t(X/Y/Z)\tm.trc\n\
    DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n\
    100\t100\t3\t2\tmm\t100\t1\t3\n\
    Frame#\tTime\tA\t\t\tB\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n\
    1\t0\t1000\t2000\t3000\t4\t5\t6\n2\t0.01\t1001\t2001\t3001\t\t\t\n3\t0.02\t1002\t2002\t3002\t6\t7\t8\n";

#[test]
fn analytic_markers_turn_and_change_units() {
    let f = folder("markers");
    fs::write(f.join("m.trc"), MARKERS).unwrap();
    done(&soleus(&f, &["convert", "m.trc", "out.trc", "--rotate", "x:-90", "--units", "m"]));
    let out = fs::read_to_string(f.join("out.trc")).unwrap();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[2], "100\t100\t3\t2\tm\t100\t1\t3");
    assert_eq!(lines[6], "1\t0\t1\t3\t-2\t0.004\t0.006\t-0.005\t");
    assert_eq!(lines[7], "2\t0.01\t1.001\t3.001\t-2.001\tnan\tnan\tnan\t");
    done(&soleus(&f, &["convert", "m.trc", "out.csv"]));
    let out = fs::read_to_string(f.join("out.csv")).unwrap();
    assert_eq!(out.lines().next(), Some("time,A_1,A_2,A_3,B_1,B_2,B_3"));
    assert_eq!(out.lines().nth(2), Some("0.01,1001,2001,3001,,,"));
    // And back to markers, whose unit a .csv does not say.
    let o = soleus(&f, &["convert", "out.csv", "back.trc"]);
    done(&o);
    assert!(String::from_utf8_lossy(&o.stderr).contains("does not state its unit"));
    assert!(fs::read_to_string(f.join("back.trc")).unwrap().contains("\tA\t\t\tB\t\t\t\n"));
    let o = soleus(&f, &["convert", "out.csv", "back.trc", "--from-units", "mm", "--units", "m"]);
    done(&o);
    assert!(!String::from_utf8_lossy(&o.stderr).contains("unit"), "{o:?}");
    let back = fs::read_to_string(f.join("back.trc")).unwrap();
    assert!(back.lines().nth(2).unwrap().contains("\tm\t") && back.contains("\t1\t2\t3\t0.004\t"), "{back}");
}

/// What a file cannot say is warned about, not changed: degrees and millimeters in a .csv, a cutoff that filters nothing.
#[test]
fn analytic_units_that_get_lost() {
    let f = folder("lost_units");
    let mut text =
        String::from("Coordinates\nversion=1\nnRows=21\nnColumns=2\ninDegrees=yes\nendheader\ntime\tknee\n");
    for i in 0..21 {
        text.push_str(&format!("{}\t{}\n", i as f64 * 0.05, 10.0 - i as f64));
    }
    fs::write(f.join("k.mot"), text).unwrap();
    fs::write(f.join("m.trc"), MARKERS).unwrap();
    let says = |arguments: &[&str], words: &str| {
        let o = soleus(&f, arguments);
        done(&o);
        let said = String::from_utf8_lossy(&o.stderr).into_owned();
        assert!(said.contains(words), "{said}");
        assert_eq!(said.contains("warning"), !words.is_empty(), "{said}");
    };
    says(&["convert", "k.mot", "k.csv"], "angles are in degrees");
    says(&["convert", "k.csv", "k.sto", "--degrees"], "");
    assert!(fs::read_to_string(f.join("k.sto")).unwrap().contains("inDegrees=yes"));
    says(&["convert", "m.trc", "m.csv"], "lengths are in mm");
    says(&["convert", "m.trc", "m.csv", "--units", "m"], "");
    says(
        &["convert", "k.mot", "smooth.mot", "--cutoff-hz", "400"],
        "above half the sampling rate of 20.0 Hz",
    );
    let refused = soleus(&f, &["convert", "m.trc", "x.trc", "--from-units", "m"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("states its unit of length: mm"));
}

#[test]
fn analytic_motion_to_csv_and_other_rates() {
    let f = folder("motion");
    let mut text =
        String::from("Coordinates\nversion=1\nnRows=21\nnColumns=2\ninDegrees=yes\nendheader\ntime\tknee\n");
    for i in 0..21 {
        text.push_str(&format!("{}\t{}\n", i as f64 * 0.05, 10.0 - i as f64));
    }
    fs::write(f.join("k.mot"), text).unwrap();
    done(&soleus(&f, &["convert", "k.mot", "k.sto", "--rate", "100", "--fixed"]));
    let out = fs::read_to_string(f.join("k.sto")).unwrap();
    assert!(out.starts_with("Coordinates\nversion=1\nnRows=101\nnColumns=2\ninDegrees=yes\n"), "{out}");
    // A line is a line at any rate, and low-pass or not.
    assert!(
        out.contains("\n      0.50000000\t      0.00000000\n")
            || out.contains("\n      0.50000000\t     -0.00000000\n"),
        "{out}"
    );
    done(&soleus(&f, &["convert", "k.mot", "low.csv", "--cutoff-hz", "6"]));
    assert_eq!(fs::read_to_string(f.join("low.csv")).unwrap().lines().count(), 22);
}

#[test]
fn analytic_wrong_input_exits_with_2_and_a_place() {
    let f = folder("wrong");
    fs::write(f.join("bad.sto"), "x\nversion=1\nendheader\ntime\tknee\n0\tleft\n").unwrap();
    fs::write(f.join("m.trc"), MARKERS).unwrap();
    for (arguments, said) in [
        (vec!["convert", "bad.sto", "o.csv"], "bad.sto:5"),
        (vec!["convert", "bad.st", "o.csv"], "did you mean bad.sto?"),
        (vec!["convert", "m.trc", "o.xls"], "must end in .sto, .mot, .trc, .csv or .parquet"),
        (vec!["convert", "m.trc", "o.trc", "--units", "parsec"], "`parsec` is not a unit of length"),
        (vec!["convert", "m.trc", "o.trc", "--rotate", "90"], "such as x:-90"),
        (vec!["convert", "m.trc", "o.trc", "--rate", "0"], "0 Hz is not a valid rate"),
        (
            vec!["plot", "m.trc", "--columns", "C_1", "--out", "o.svg"],
            "no column matches `C_1`; the nearest is `A_1`",
        ),
    ] {
        let o = soleus(&f, &arguments);
        let err = String::from_utf8_lossy(&o.stderr).to_string();
        assert_eq!(o.status.code(), Some(2), "{arguments:?}: {err}");
        assert!(err.contains(said), "{arguments:?}: {err}");
    }
    assert!(!f.join("o.csv").exists() && !f.join("o.trc").exists(), "nothing half done is left");
}

#[test]
fn analytic_plot_has_axes_lines_and_legend() {
    let f = folder("plot");
    fs::write(f.join("m.trc"), MARKERS).unwrap();
    done(&soleus(&f, &["plot", "m.trc", "--columns", "A_2,B_*", "--out", "p.svg"]));
    let svg = fs::read_to_string(f.join("p.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    for text in [">time (s)<", ">A_2<", ">B_1<", ">B_3<", ">m.trc<"] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
    assert!(!svg.contains(">A_1<"));
    done(&soleus(&f, &["plot", "m.trc", "--columns", "A_2,B_*", "--out", "p.png"]));
    let png = fs::read(f.join("p.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.ends_with(b"IEND\xae\x42\x60\x82"));
    // The gap in B breaks its line.
    let b = svg.lines().filter(|l| l.matches('M').count() == 2 && l.contains("stroke-width")).count();
    assert_eq!(b, 3, "{svg}");
}

/// Every format to every other and back: the same numbers, labels and gaps.
#[test]
fn identity_every_format_to_every_other() {
    let f = Folder::new("convert_pairs");
    let head = "walk\nversion=1\nnRows=3\nnColumns=7\ninDegrees=no\nUnits=mm\nDataRate=10\nendheader\n";
    let labels = "time\thip_tx\thip_ty\thip_tz\theel_tx\theel_ty\theel_tz\n";
    let rows = "0\t0.5\t-2\t1e-7\t4\t5\t6\n0.1\t1.25\tnan\tnan\t7\t8\t0.1\n0.2\t0.3\t2\t3\t1e22\t5\t-0\n";
    // A marker is seen or not: its three coordinates are missing together.
    let rows = rows.replace("1.25\tnan\tnan", "nan\tnan\tnan");
    f.file("start.sto", format!("{head}{labels}{rows}"));
    let endings = ["sto", "mot", "trc", "csv", "parquet"];
    for from in endings {
        let one = format!("from.{from}");
        f.soleus(&["convert", "start.sto", &one]).is_done();
        for to in endings {
            let (two, back) = (format!("{from}_to.{to}"), format!("{from}_{to}_back.sto"));
            f.soleus(&["convert", &one, &two]).is_done();
            f.soleus(&["convert", &two, &back]).is_done();
            let (a, b) = (
                crate::common::table(&f.0.join("start.sto")),
                crate::common::table(&f.0.join(&back)).flattened(),
            );
            assert_eq!((a.rows(), a.columns().len()), (b.rows(), b.columns().len()), "{from} {to}");
            assert_eq!(a.times(), b.times(), "{from} {to}");
            for (x, y) in a.columns().iter().flatten().zip(b.columns().iter().flatten()) {
                assert!(x == y || (x.is_nan() && y.is_nan()), "{from} {to}: {x} {y}");
            }
            // Only files of markers have names for markers in place of labels for numbers.
            if from != "trc" && to != "trc" {
                assert_eq!(a.labels(), b.labels(), "{from} {to}");
            }
        }
    }
    f.file("bad.parquet", "PAR1 and no more");
    f.soleus(&["convert", "bad.parquet", "bad.sto"]).is_refused(&["bad.parquet", "like a Parquet file"]);
    assert!(!f.0.join("bad.sto").exists());
}

/// A file is renamed to its name when it is whole; links and what is not a file stay what they are.
#[cfg(unix)]
#[test]
fn identity_links_and_devices_stay_what_they_are() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let f = crate::common::Folder::new("write_whole");
    f.file("a.csv", "time,x\n0,1\n1,2\n");
    f.file("real.csv", "old");
    symlink("real.csv", f.0.join("link.csv")).unwrap();
    f.soleus(&["convert", "a.csv", "link.csv"]).is_done();
    assert!(fs::symlink_metadata(f.0.join("link.csv")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(f.0.join("real.csv")).unwrap(), "time,x\n0,1\n1,2\n");
    // A socket cannot be written as a file can, and is still there afterwards. Its name must be short.
    let place = std::env::temp_dir().join(format!("soleus_{}.csv", std::process::id()));
    let listener = std::os::unix::net::UnixListener::bind(&place).unwrap();
    f.soleus(&["convert", "a.csv", place.to_str().unwrap()]).is_refused(&["cannot write"]);
    assert!(fs::symlink_metadata(&place).unwrap().file_type().is_socket());
    drop(listener);
    fs::remove_file(&place).unwrap();
}
