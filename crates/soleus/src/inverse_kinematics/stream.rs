//! One frame in, one pose out.

use super::sensors::turning_model;
use super::{InverseKinematics, SensorKinematics, check, warn_of_misplaced};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::table::{Take, read_in_order, read_markers};
use soleus_dynamics::System;
use soleus_math::{Rotation, Table, Vec3, table::Element};
use soleus_model::{Diagnostics, Model};
use soleus_tools::inverse_kinematics::{
    Fit, InverseKinematics as Solver, MisplacedMarkers, Settings, Tasks, coordinates_in_degrees,
};
use soleus_tools::place_imus::space_fixed_xyz;
use std::fmt::Write as _;
use std::io::{BufRead, Read as _, Write};
use std::path::{Path, PathBuf};

impl InverseKinematics {
    /// Solves frames as they arrive as lines of text, or frames of the marker file, and writes each pose as a line
    /// immediately. Reports the latency at the end.
    pub fn stream(
        &self,
        cx: &Context,
        lines: Option<&mut dyn BufRead>,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        let (model, system) = self.posable_model(cx)?;
        let tasks = self.tasks(cx, &model)?;
        let Some(lines) = lines else {
            let path = self.markers.path().to_path_buf();
            let (table, _) = read_markers(cx, &self.markers)?;
            check(cx, &model, &system, &path, &table, &tasks)?;
            return follow_markers(cx, &model, &system, Recorded { path, table, next: 0 }, &tasks, out);
        };
        let mut lines = Lines::begin(cx, lines, Kind::Markers)?;
        // Units and axes are looked at in the first frame, before anything is written.
        if lines.wait()? {
            let mut numbers = Vec::new();
            let time = lines.frame(&mut numbers)?;
            let columns = numbers.iter().map(|x| vec![*x]).collect();
            let first = Table::new(Element::Vec(3), lines.labels.clone(), vec![time], columns)
                .map_err(|e| lines.wrong(e.to_string(), ""))?;
            check(cx, &model, &system, &lines.name, &first, &tasks)?;
            lines.again = true;
        }
        follow_markers(cx, &model, &system, lines, &tasks, out)
    }
}

impl SensorKinematics {
    /// As [`InverseKinematics::stream`], with the orientations of inertial sensors.
    pub fn stream(
        &self,
        cx: &Context,
        lines: Option<&mut dyn BufRead>,
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        let (model, system) = turning_model(cx, &self.model)?;
        let R_GS = space_fixed_xyz(Vec3::from_array(self.sensor_to_ground));
        if let Some(lines) = lines {
            let lines = Lines::begin(cx, lines, Kind::Sensors)?;
            return follow_sensors(cx, &model, &system, lines, R_GS, out);
        }
        let path = self.orientations.path().to_path_buf();
        let table = read_in_order(cx, &self.orientations, Take::Markers)?;
        if table.element() != Element::Quaternion {
            let message = "the file contains no quaternions";
            return Err(Error::content(&path, 0, "", message, "the header needs DataType=Quaternion"));
        }
        follow_sensors(cx, &model, &system, Recorded { path, table, next: 0 }, R_GS, out)
    }
}

fn follow_markers(
    cx: &Context,
    model: &Model,
    system: &System,
    frames: impl Frames,
    tasks: &Tasks,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let ik = Solver::new(model, system, frames.labels(), tasks, Settings::default())
        .map_err(|e| Error::content(frames.name(), 0, "", e.to_string(), ""))?;
    let mut places = vec![Vec3::zero(); frames.labels().len()];
    follow(cx, (model, system), frames, ik, out, |ik, time, numbers| {
        for (p, x) in places.iter_mut().zip(numbers.chunks_exact(3)) {
            *p = Vec3::from_array([x[0], x[1], x[2]]);
        }
        Ok(ik.solve_frame(time, &places))
    })
}

fn follow_sensors(
    cx: &Context,
    model: &Model,
    system: &System,
    frames: impl Frames,
    R_GS: Rotation<f64>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let name = frames.name().to_path_buf();
    let tasks = Tasks::default();
    let ik =
        Solver::with_sensors(model, system, frames.labels(), &tasks, Settings::default()).map_err(|e| {
            Error::content(&name, 0, "", e.to_string(), "labels must be names of frames of the model")
        })?;
    let labels = frames.labels().to_vec();
    let mut seen: Vec<Option<Rotation<f64>>> = vec![None; labels.len()];
    let mut orientations = vec![Rotation::identity(); labels.len()];
    follow(cx, (model, system), frames, ik, out, |ik, time, numbers| {
        for (i, x) in numbers.chunks_exact(4).enumerate() {
            // A sensor that sends nothing has turned to nowhere that we know.
            if x.iter().all(|x| x.is_finite()) && x.iter().any(|x| *x != 0.0) {
                seen[i] = Some(R_GS * Rotation::from_quaternion([x[0], x[1], x[2], x[3]]));
            }
            orientations[i] = seen[i].ok_or_else(|| {
                let message = format!("sensor `{}` has no orientation in the first frame", labels[i]);
                Error::content(
                    &name,
                    0,
                    "",
                    message,
                    "a sensor may be missing in later frames only; its last orientation is then kept",
                )
            })?;
        }
        Ok(ik.solve_orientations(time, &orientations))
    })
}

/// Where frames come from.
trait Frames {
    /// A name for messages.
    fn name(&self) -> &Path;
    /// Names of the markers or sensors.
    fn labels(&self) -> &[String];
    /// Waits for the next frame; false when there are no more.
    fn wait(&mut self) -> Result<bool, Error>;
    /// Time (s) of the frame that has come, and for each label a place (three, m) or a quaternion (four); NaN where there is none.
    fn frame(&mut self, numbers: &mut Vec<f64>) -> Result<f64, Error>;
}

fn follow(
    cx: &Context,
    (model, system): (&Model, &System),
    mut frames: impl Frames,
    mut ik: Solver,
    out: &mut dyn Write,
    mut solve: impl FnMut(&mut Solver, f64, &[f64]) -> Result<Fit, Error>,
) -> Result<(), Error> {
    let mut line = String::from("time");
    for c in &model.coordinates {
        let _ = write!(line, ",{}", c.name);
    }
    let mut told = tell(cx, out, &mut line)?;
    let (mut numbers, mut took, mut steps) = (Vec::new(), Vec::new(), (0, 0));
    let mut not_converged: Option<(usize, f64)> = None;
    let mut misplaced = MisplacedMarkers::default();
    while told && frames.wait()? {
        cx.go_on()?;
        let start = cx.monitor.seconds();
        let time = frames.frame(&mut numbers)?;
        let fit = solve(&mut ik, time, &numbers)?;
        line.clear();
        let _ = write!(line, "{time}");
        for x in coordinates_in_degrees(model, system, ik.coordinates()) {
            let _ = write!(line, ",{x}");
        }
        told = tell(cx, out, &mut line)?;
        misplaced.add_frame(&ik, time, steps.0);
        steps.0 += 1;
        took.extend(cx.monitor.seconds().zip(start).map(|(now, start)| now - start));
        steps.1 += fit.iterations;
        if !fit.converged {
            let (n, first) = not_converged.unwrap_or((0, time));
            not_converged = Some((n + 1, first));
        }
    }
    close(cx, &mut took, steps);
    let mut log = Diagnostics::new(frames.name().display().to_string());
    warn_of_misplaced(&misplaced.named(ik.marker_names()), &mut log);
    cx.report(&log);
    match not_converged {
        None => Ok(()),
        Some((n, first)) => Err(Error::NotSolved {
            message: format!("{n} frame(s) did not converge, the first at t = {first:.3} s"),
        }),
    }
}

/// Writes a line at once; false when nobody listens any more.
fn tell(cx: &Context, out: &mut dyn Write, line: &mut String) -> Result<bool, Error> {
    line.push('\n');
    match out.write_all(line.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        Err(e) => Err(Error::write(cx.files, Path::new("stdout"), e)),
    }
}

/// The closing lines.
fn close(cx: &Context, took: &mut [f64], (frames, steps): (usize, usize)) {
    took.sort_by(f64::total_cmp);
    cx.note(format!("{frames} frames, {steps} steps"));
    if took.is_empty() {
        return;
    }
    // The least time that p percent of the frames did not exceed, ms.
    let at = |p: usize| 1e3 * took[(took.len() * p).div_ceil(100) - 1];
    let (median, high, largest) = (at(50), at(99), at(100));
    cx.note(format!("latency: median {median:.3} ms, 99th percentile {high:.3} ms, largest {largest:.3} ms"));
}

/// A trial that was recorded before, frame by frame.
struct Recorded {
    path: PathBuf,
    table: Table,
    next: usize,
}

impl Frames for Recorded {
    fn name(&self) -> &Path {
        &self.path
    }

    fn labels(&self) -> &[String] {
        self.table.labels()
    }

    fn wait(&mut self) -> Result<bool, Error> {
        Ok(self.next < self.table.rows())
    }

    fn frame(&mut self, numbers: &mut Vec<f64>) -> Result<f64, Error> {
        let row = self.next;
        self.next += 1;
        numbers.clear();
        numbers.extend(self.table.columns().iter().map(|c| c[row]));
        Ok(self.table.times()[row])
    }
}

/// What a line tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Three numbers for each marker, m.
    Markers,
    /// Four for each sensor: a quaternion, real part first.
    Sensors,
}

impl Kind {
    fn width(self) -> usize {
        match self {
            Kind::Markers => 3,
            Kind::Sensors => 4,
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Kind::Markers => {
                "the first line must be `time` and three labels for each marker, such as `time,KNEE_1,KNEE_2,KNEE_3`, as `soleus convert` \
                 writes them to a .csv"
            }
            Kind::Sensors => {
                "the first line must be `time` and four labels for each sensor, such as `time,pelvis_imu_1,pelvis_imu_2,pelvis_imu_3,\
                 pelvis_imu_4`, as in a .csv file written by `soleus convert`"
            }
        }
    }

    /// Names from labels with endings; what is wrong otherwise.
    fn names(self, labels: Vec<String>) -> Result<Vec<String>, String> {
        if self == Kind::Markers {
            let columns = vec![Vec::new(); labels.len()];
            let packed = Table::new(Element::Scalar, labels, Vec::new(), columns).and_then(|t| t.packed());
            return packed.map(|t| t.labels().to_vec()).map_err(|e| e.to_string());
        }
        let stem = |group: &[String], endings: [&str; 4]| {
            let stem = group[0].strip_suffix(endings[0])?;
            let fits = |(l, e): (&String, &str)| l.strip_suffix(e) == Some(stem);
            let all = group.len() == 4 && group.iter().zip(endings).all(fits);
            all.then(|| stem.to_string())
        };
        let endings = [["_1", "_2", "_3", "_4"], ["_w", "_x", "_y", "_z"]];
        let named = |g: &[String]| {
            let found = endings.iter().find_map(|e| stem(g, *e));
            found.ok_or_else(|| format!("column `{}` is not the first of four quaternion columns", g[0]))
        };
        labels.chunks(4).map(named).collect()
    }
}

/// The longest line that is read, in bytes: 13 000 markers with six decimals. Without a limit, a stream without line ends fills memory.
const LONGEST_LINE: u64 = 1 << 20;

/// Lines of text: first the labels, `time` and some for each marker or sensor, then one line for each frame, in s and m.
struct Lines<'a, R> {
    cx: &'a Context<'a>,
    name: PathBuf,
    kind: Kind,
    input: R,
    labels: Vec<String>,
    separator: char,
    line: String,
    number: u32,
    time: f64,
    /// The line has been looked at, and comes once more.
    again: bool,
}

impl<'a, R: BufRead> Lines<'a, R> {
    /// Reads the labels.
    fn begin(cx: &'a Context<'a>, input: R, kind: Kind) -> Result<Self, Error> {
        let mut lines = Lines {
            cx,
            name: PathBuf::from("stdin"),
            kind,
            input,
            labels: Vec::new(),
            separator: ',',
            line: String::new(),
            number: 0,
            time: f64::NEG_INFINITY,
            again: false,
        };
        let hint = kind.hint();
        if !lines.wait()? {
            return Err(lines.wrong("the line is missing".to_string(), hint));
        }
        let found = [',', ';', '\t'].into_iter().find(|c| lines.line.contains(*c));
        lines.separator = found.unwrap_or(',');
        let mut cells = lines.line.trim().split(lines.separator).map(|c| c.trim().trim_matches('"'));
        if !cells.next().is_some_and(|c| c.eq_ignore_ascii_case("time")) {
            return Err(lines.wrong("the labels do not start with `time`".to_string(), hint));
        }
        let labels: Vec<String> = cells.map(str::to_string).collect();
        lines.labels = kind.names(labels).map_err(|e| lines.wrong(e, hint))?;
        Ok(lines)
    }

    fn wrong(&self, message: String, hint: &str) -> Error {
        Error::content(&self.name, self.number, "", message, hint)
    }
}

impl<R: BufRead> Frames for Lines<'_, R> {
    fn name(&self) -> &Path {
        &self.name
    }

    fn labels(&self) -> &[String] {
        &self.labels
    }

    fn wait(&mut self) -> Result<bool, Error> {
        if std::mem::take(&mut self.again) {
            self.time = f64::NEG_INFINITY;
            return Ok(true);
        }
        loop {
            self.line.clear();
            self.number += 1;
            let mut input = (&mut self.input).take(LONGEST_LINE);
            let read =
                input.read_line(&mut self.line).map_err(|e| Error::read(self.cx.files, &self.name, e))?;
            if read as u64 == LONGEST_LINE && !self.line.ends_with('\n') {
                let message = "the line is longer than 1 MB".to_string();
                return Err(self.wrong(message, "every frame must be on a line of its own"));
            }
            if read == 0 || !self.line.trim().is_empty() {
                return Ok(read > 0);
            }
        }
    }

    fn frame(&mut self, found: &mut Vec<f64>) -> Result<f64, Error> {
        let mut numbers = self.line.trim_end_matches(['\r', '\n']).split(self.separator).map(|cell| {
            let cell = cell.trim();
            if cell.is_empty() { Ok(f64::NAN) } else { cell.parse::<f64>().map_err(|_| cell) }
        });
        let wrong = |cell: &str| self.wrong(format!("`{cell}` is not a number"), "");
        let time = numbers.next().unwrap_or(Ok(f64::NAN)).map_err(wrong)?;
        found.clear();
        for x in numbers {
            found.push(x.map_err(wrong)?);
        }
        let (count, wanted) = (found.len(), self.kind.width() * self.labels.len());
        if count != wanted {
            let message = format!("the row has {count} values after the time; expected {wanted}");
            return Err(self.wrong(message, "write empty cells or `nan` for missing data"));
        }
        if !(time > self.time) {
            let message = format!("time {time} s does not follow {} s", self.time);
            return Err(self.wrong(message, "frames must be sorted by time, without repeats"));
        }
        self.time = time;
        Ok(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Frame = (f64, Vec<f64>);

    fn frames(text: &str) -> Result<Vec<Frame>, String> {
        frames_of(text, Kind::Markers)
    }

    fn frames_of(text: &str, kind: Kind) -> Result<Vec<Frame>, String> {
        let files = crate::Memory::new();
        let cx = Context::new(&files);
        let told = |e: Error| e.to_string();
        let mut lines = Lines::begin(&cx, text.as_bytes(), kind).map_err(told)?;
        let (mut list, mut numbers) = (Vec::new(), Vec::new());
        while lines.wait().map_err(told)? {
            list.push((lines.frame(&mut numbers).map_err(told)?, numbers.clone()));
        }
        Ok(list)
    }

    #[test]
    fn analytic_frames_of_sensors() {
        let text = "time,a_imu_1,a_imu_2,a_imu_3,a_imu_4,b_w,b_x,b_y,b_z\n0,1,0,0,0,0.5,0.5,0.5,0.5\n";
        assert_eq!(frames_of(text, Kind::Sensors).unwrap()[0].1, [1.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.5, 0.5]);
        let said = frames_of("time,a_1,a_2,a_3\n", Kind::Sensors).unwrap_err();
        assert!(said.contains("`a_1` is not the first of four quaternion columns"), "{said}");
    }

    /// A line without an end allocated 4 GB and ended the program.
    #[test]
    fn issue_16_lines_without_end_are_refused() {
        let endless = || std::io::BufReader::new(std::io::repeat(b'1'));
        let head = "time,A_1,A_2,A_3\n";
        let files = crate::Memory::new();
        let cx = Context::new(&files);
        let says = |line: u32, found: Result<bool, Error>| {
            let said = found.unwrap_err().to_string();
            assert!(said.contains("longer than 1 MB") && said.contains(&format!("stdin:{line}")), "{said}");
        };
        says(1, Lines::begin(&cx, endless(), Kind::Markers).map(|_| true));
        let mut lines = Lines::begin(&cx, head.as_bytes().chain(endless()), Kind::Markers).unwrap();
        says(2, lines.wait());
        assert!(lines.line.len() as u64 <= LONGEST_LINE);

        // The longest line that is read is as long as the limit, with its end.
        let row = format!("0,1,2,{}3\n", " ".repeat(LONGEST_LINE as usize - 8));
        let text = format!("{head}{row}");
        let mut lines = Lines::begin(&cx, text.as_bytes(), Kind::Markers).unwrap();
        assert_eq!((lines.wait().unwrap(), lines.line.len() as u64), (true, LONGEST_LINE));
        assert_eq!(lines.frame(&mut Vec::new()).unwrap(), 0.0);
        assert!(!lines.wait().unwrap());
    }

    #[test]
    fn analytic_frames_with_gaps() {
        let found = frames("time,A_1,A_2,A_3,B_x,B_y,B_z\r\n0.5,1,2,3,4,5,6\n\n1.5,,,,nan,5,6\n").unwrap();
        assert_eq!((found[0].0, found[1].0), (0.5, 1.5));
        assert_eq!(found[0].1, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert!(found[1].1[..4].iter().all(|x| x.is_nan()) && found[1].1[4..] == [5.0, 6.0]);
        assert_eq!(frames("time\tA_1\tA_2\tA_3\n1\t1\t2\t3\n").unwrap().len(), 1);
    }

    #[test]
    fn analytic_what_is_wrong_has_its_line() {
        let says = |text: &str| frames(text).unwrap_err();
        assert!(says("").contains("the line is missing"));
        assert!(says("a,b\n").contains("do not start with `time`"));
        assert!(says("time,A_1,A_2\n").contains("stdin:1"));
        let head = "time,A_1,A_2,A_3\n0,1,2,3\n";
        for (line, words) in [
            ("1,2,3", "the row has 2 values after the time; expected 3"),
            ("1,2,x,4", "`x` is not a number"),
            ("0,1,2,3", "time 0 s does not follow 0 s"),
            (",1,2,3", "does not follow"),
        ] {
            let said = says(&format!("{head}{line}\n"));
            assert!(said.contains(words) && said.contains("stdin:3"), "{said}");
        }
    }
}
