//! Bad motion data: refused or warned about with what is wrong, and nothing half-written.

use crate::common::{Folder, body, joint, model};

const NAMES: [&str; 4] = ["hip", "knee", "shin", "heel"];

/// A rod on a hinge with four markers.
fn rod() -> String {
    let text =
        model(&body("rod", "2"), &joint("PinJoint", "hinge", "/ground", "/bodyset/rod", &["angle"]), "");
    let places = ["0 0 0.02", "0 -0.4 0", "0.05 -0.7 0", "0 -1 0.03"];
    let markers: String = NAMES
        .iter()
        .zip(places)
        .map(|(n, p)| {
            format!(
                "<Marker name=\"{n}\"><socket_parent_frame>/bodyset/rod</socket_parent_frame><location>{p}</location></Marker>"
            )
        })
        .collect();
    let set = format!("<MarkerSet name=\"markerset\"><objects>{markers}</objects></MarkerSet></Model>");
    text.replace("</Model>", &set)
}

/// A marker file of the rod hanging still; each row is a time.
fn trc(names: &[&str], units: &str, rate: &str, frames: &str, times: &[&str]) -> String {
    let labels: String = names.iter().map(|n| format!("\t{n}\t\t")).collect();
    let axes: String = (1..=names.len()).map(|i| format!("\tX{i}\tY{i}\tZ{i}")).collect();
    let mut s = format!(
        "PathFileType\t4\t(X/Y/Z)\ta.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n\
         {rate}\t{rate}\t{frames}\t{}\t{units}\t{rate}\t1\t{frames}\nFrame#\tTime{labels}\n\t{axes}\n\n",
        names.len()
    );
    let row = "\t0\t0\t20\t0\t-400\t0\t50\t-700\t0\t0\t-1000\t30";
    for (i, t) in times.iter().enumerate() {
        s.push_str(&format!("{}\t{t}{row}\n", i + 1));
    }
    s
}

const TIMES: [&str; 5] = ["0.00", "0.01", "0.02", "0.03", "0.04"];

struct Bench(Folder);

impl Bench {
    fn new(test: &str) -> Self {
        let f = Folder::new(test);
        f.file("rod.osim", rod());
        Bench(f)
    }
    fn ik(&self, data: &str) -> crate::common::Run {
        self.0.file("a.trc", data);
        self.0.soleus(&["ik", "--model", "rod.osim", "--markers", "a.trc", "--out", "a.mot"])
    }
    /// Refused, and no result, not even a part of one.
    fn refuses(&self, data: &str, words: &[&str]) {
        // If there is none, all the better.
        let _ = std::fs::remove_file(self.0.0.join("a.mot"));
        self.ik(data).is_refused(words);
        assert!(!self.0.0.join("a.mot").exists() && !self.0.0.join("a.mot.partial").exists());
    }
    /// Done, with all of `words` in a warning.
    fn warns(&self, data: &str, words: &[&str]) {
        let run = self.ik(data);
        run.is_done();
        for word in words {
            assert!(run.stderr.contains(word), "no `{word}` in:\n{}", run.stderr);
        }
        assert!(run.stderr.contains("warning"), "{}", run.stderr);
    }
}

#[test]
fn identity_good_markers_raise_no_complaint() {
    let run = Bench::new("motion_good").ik(&trc(&NAMES, "mm", "100", "5", &TIMES));
    run.is_done();
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
}

/// Frame by frame through stdout, the poses are those of the whole file.
#[test]
fn identity_a_stream_gives_the_same_poses() {
    let b = Bench::new("stream");
    b.ik(&trc(&NAMES, "mm", "100", "5", &TIMES)).is_done();
    let whole = crate::common::table(&b.0.0.join("a.mot"));
    // Errors of every marker, frame by frame, beside those of all.
    b.0.soleus(&["ik", "--model", "rod.osim", "--markers", "a.trc", "--out", "b.mot", "--errors", "e.sto"])
        .is_done();
    let errors = crate::common::table(&b.0.0.join("e.sto"));
    assert_eq!(errors.labels()[..3], ["total_squared_error", "marker_error_RMS", "marker_error_max"]);
    assert_eq!(errors.labels()[3..], NAMES);
    for row in 0..errors.rows() {
        let squares: f64 = errors.columns()[3..].iter().map(|c| c[row] * c[row]).sum();
        assert!((squares - errors.columns()[0][row]).abs() < 1e-15);
    }
    let stream = b.0.soleus(&["ik", "--model", "rod.osim", "--markers", "a.trc", "--stream"]);
    let mut lines = stream.is_done().lines();
    assert_eq!(lines.next(), Some("time,angle"));
    for (i, line) in lines.enumerate() {
        assert_eq!(line, format!("{},{}", whole.times()[i], whole.columns()[0][i]));
    }
    assert!(
        stream.stderr.contains("5 frames") && stream.stderr.contains("99th percentile"),
        "{}",
        stream.stderr
    );
}

#[test]
fn refuses_empty_and_truncated_files() {
    let b = Bench::new("motion_empty");
    b.refuses("", &["a.trc", "the file is empty"]);
    b.refuses(&trc(&NAMES, "mm", "100", "5", &[]), &["no rows"]);
    b.refuses("\0\0\0\0", &["a.trc"]);
}

#[test]
fn refuses_times_out_of_order() {
    let b = Bench::new("motion_order");
    let words = ["error: time 0.01 s does not follow 0.02 s", "a.trc:9", "sorted by time"];
    b.refuses(&trc(&NAMES, "mm", "100", "4", &["0.00", "0.02", "0.01", "0.03"]), &words);
}

#[test]
fn refuses_a_marker_named_twice() {
    let b = Bench::new("motion_twice");
    b.refuses(&trc(&["hip", "knee", "hip", "heel"], "mm", "100", "5", &TIMES), &["hip", "twice"]);
}

#[test]
fn refuses_names_that_do_not_match() {
    let b = Bench::new("motion_names");
    b.refuses(&trc(&["A", "B", "C", "D"], "mm", "100", "5", &TIMES), &["no marker in common", "hip"]);
    // One of them: named, with the nearest.
    b.warns(&trc(&["hip", "kneee", "shin", "heel"], "mm", "100", "5", &TIMES), &["kneee", "`knee`"]);
}

#[test]
fn warns_of_units_rates_and_promises() {
    let b = Bench::new("motion_units");
    b.warns(&trc(&NAMES, "m", "100", "5", &TIMES), &["millimetres read as metres"]);
    b.warns(&trc(&NAMES, "mm", "250", "5", &TIMES), &["250", "100.00"]);
    b.warns(&trc(&NAMES, "mm", "100", "1000000000", &TIMES), &["1000000000", "found 5"]);
    b.warns(
        &trc(&NAMES, "mm", "100", "5", &["0.00", "0.01", "0.02", "0.20", "0.21"]),
        &["a gap of 0.1800 s"],
    );
    b.refuses(&trc(&NAMES, "parsec", "100", "5", &TIMES), &["parsec"]);
    let gap = trc(&NAMES, "mm", "100", "5", &TIMES).replacen("\t0\t-400\t0\t", "\t\t\t\t", 2);
    b.warns(&gap, &["some of 5 frames: knee in 2"]);
}

/// Every verb that takes a motion, and every way in which one can be wrong.
#[test]
fn refuses_motions_that_are_none() {
    let b = Bench::new("motion_wrong");
    let head = "coordinates\nversion=1\nnRows=7\nnColumns=2\ninDegrees=yes\nendheader\ntime\tangle\n";
    let rows = "0\t0\n0.1\t1\n0.2\t2\n0.3\t3\n0.4\t4\n0.5\t5\n0.6\t6\n";
    let changed = |a: &str, b: &str| format!("{head}{rows}").replacen(a, b, 1);
    let cases = [
        (String::new(), &["the file is empty"][..]),
        (head.to_string(), &["the table has no rows"]),
        (
            changed("0.3\t3", "0.1\t3"),
            &["error: time 0.1 s does not follow 0.2 s", "a.mot:11", "sorted by time"],
        ),
        (changed("0.3\t3", "0.3\tnan"), &["has no value at 0.3 s", "fill the gap"]),
        (changed("0.3\t3", "0.3\tleft"), &["`left` is not a number", "a.mot:11"]),
        (changed("time\tangle", "time\telbow"), &["none of the columns", "named after coordinates"]),
        (changed("time\tangle", "t\tangle"), &["no column is called `time`", "a.mot:7"]),
    ];
    for verb in [&["id", "--out", "id.sto"][..], &["analyze", "--analyses", "kinematics", "--out", "out"]] {
        let args: Vec<&str> = [verb, &["--model", "rod.osim", "--motion", "a.mot"]].concat();
        for (table, words) in &cases {
            b.0.file("a.mot", table);
            b.0.soleus(&args).is_refused(words);
            assert!(!b.0.0.join("id.sto").exists() && !b.0.0.join("out").exists());
        }
        // A billion rows that are not there.
        b.0.file("a.mot", changed("nRows=7", "nRows=1000000000"));
        let run = b.0.soleus(&args);
        run.is_done();
        assert!(run.stderr.contains("declares 1000000000 rows, found 7"), "{}", run.stderr);
        let _ = (std::fs::remove_file(b.0.0.join("id.sto")), std::fs::remove_dir_all(b.0.0.join("out")));
    }
}

/// Loads on the rod: a table and the file that names it.
fn loads(test: &str, table: &str) -> Bench {
    let b = Bench::new(test);
    b.0.file("a.mot", "coordinates\nversion=1\nnRows=6\nnColumns=2\ninDegrees=yes\nendheader\ntime\tangle\n0\t0\n0.1\t1\n0.2\t2\n0.3\t3\n0.4\t4\n0.5\t5\n");
    b.0.file("grf.mot", table);
    let force = "<ExternalForce name=\"plate\"><applied_to_body>rod</applied_to_body><force_expressed_in_body>ground</force_expressed_in_body>\
        <point_expressed_in_body>ground</point_expressed_in_body><force_identifier>f_v</force_identifier><point_identifier>f_p</point_identifier></ExternalForce>";
    b.0.file(
        "loads.xml",
        format!(
            "<OpenSimDocument Version=\"40000\"><ExternalLoads name=\"loads\"><objects>{force}</objects><datafile>grf.mot</datafile></ExternalLoads></OpenSimDocument>"
        ),
    );
    b
}

fn grf(labels: &str, fy: f64, times: &[f64]) -> String {
    let rows: String = times.iter().map(|t| format!("{t}\t0\t{fy}\t0\t0\t-1\t0\n")).collect();
    format!(
        "grf\nversion=1\nnRows={}\nnColumns=7\ninDegrees=no\nendheader\ntime\t{labels}\n{rows}",
        times.len()
    )
}

#[test]
fn refuses_loads_that_are_not_there() {
    let all = "f_vx\tf_vy\tf_vz\tf_px\tf_py\tf_pz";
    let even = [0.0, 0.1, 0.2, 0.3, 0.4];
    let run = |table: &str| {
        let b = loads("motion_loads", table);
        let run = b.0.soleus(&[
            "id",
            "--model",
            "rod.osim",
            "--motion",
            "a.mot",
            "--loads",
            "loads.xml",
            "--out",
            "id.sto",
        ]);
        (run, b.0.0.join("id.sto").exists())
    };
    let (good, written) = run(&grf(all, 25.0, &even));
    good.is_done();
    assert!(written && !good.stderr.contains("warning"), "{}", good.stderr);
    for (table, words) in [
        (grf("f_vx\tf_vy\tg_vz\tf_px\tf_py\tf_pz", 25.0, &even), &["f_v", "2 column"][..]),
        (grf(all, 25.0, &[0.0, 0.2, 0.1, 0.3, 0.4]), &["sorted by time"][..]),
        (String::new(), &["grf.mot"][..]),
        (grf(all, f64::NAN, &even), &["f_vy"][..]),
    ] {
        let (bad, written) = run(&table);
        bad.is_refused(words);
        assert!(!written);
    }
    for (fy, word) in [(0.0, "has no data"), (-25.0, "points down"), (25000.0, "times the weight")] {
        let (odd, _) = run(&grf(all, fy, &even));
        odd.is_done();
        assert!(odd.stderr.contains(word), "{}", odd.stderr);
    }
}

/// Degrees in a table that says radians.
#[test]
fn warns_of_angles_in_the_wrong_unit() {
    let b = Bench::new("motion_degrees");
    let motion = |said: &str| {
        let rows: String = (0..6).map(|i| format!("{}\t{}\n", 0.1 * f64::from(i), 10 * i)).collect();
        format!(
            "coordinates\nversion=1\nnRows=6\nnColumns=2\ninDegrees={said}\nendheader\ntime\tangle\n{rows}"
        )
    };
    for verb in [&["id", "--out", "id.sto"][..], &["analyze", "--analyses", "kinematics", "--out", "."]] {
        let args: Vec<&str> = [verb, &["--model", "rod.osim", "--motion", "a.mot"]].concat();
        b.0.file("a.mot", motion("no"));
        let run = b.0.soleus(&args);
        run.is_done();
        assert!(run.stderr.contains("`angle` reaches 50: these look like degrees"), "{}", run.stderr);
        b.0.file("a.mot", motion("yes"));
        let run = b.0.soleus(&args);
        run.is_done();
        assert!(!run.stderr.contains("look like degrees"), "{}", run.stderr);
    }
}

/// A body that floats while the plate carries next to nothing of it: the residual is its weight.
#[test]
fn warns_of_large_residuals() {
    let b = loads(
        "motion_residuals",
        &grf("f_vx\tf_vy\tf_vz\tf_px\tf_py\tf_pz", 1.0, &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5]),
    );
    let names = ["rx", "ry", "rz", "tx", "ty", "tz"];
    let free = joint("FreeJoint", "free", "/ground", "/bodyset/rod", &names);
    b.0.file("rod.osim", model(&body("rod", "2"), &free, ""));
    let rows: String = (0..6).map(|i| format!("{}\t0\t0\t0\t0\t0\t0\n", 0.1 * f64::from(i))).collect();
    let head = "coordinates\nversion=1\nnRows=6\nnColumns=7\ninDegrees=yes\nendheader\ntime";
    b.0.file("a.mot", format!("{head}\t{}\n{rows}", names.join("\t")));
    let args = ["id", "--model", "rod.osim", "--motion", "a.mot", "--loads", "loads.xml", "--out", "id.sto"];
    let run = b.0.soleus(&args);
    run.is_done();
    // 2 kg less 1 N: 18.6 of 19.6 N.
    assert!(run.stderr.contains("warning: the residual force is 95 % of the weight"), "{}", run.stderr);
    // With its weight carried there is nothing to say.
    b.0.file(
        "grf.mot",
        grf("f_vx\tf_vy\tf_vz\tf_px\tf_py\tf_pz", 2.0 * 9.80665, &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5]),
    );
    let run = b.0.soleus(&args);
    run.is_done();
    assert!(!run.stderr.contains("residual force is"), "{}", run.stderr);
}
