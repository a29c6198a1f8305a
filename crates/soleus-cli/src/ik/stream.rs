//! `soleus ik --stream`: one frame in, one pose out.

use crate::failure::Failure;
use crate::load;
use soleus_dynamics::{Options, System};
use soleus_math::{Table, Vec3, table::Element};
use soleus_model::Model;
use soleus_tools::inverse_kinematics::{InverseKinematics, Settings, Tasks, coordinates_in_degrees};
use std::fmt::Write as _;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Follows the frames of a file, or those that come on stdin, and writes each pose to stdout as soon as it is found. Tells at
/// the end how long frames took.
pub fn run(
    mut model: Model,
    model_path: &Path,
    markers: Option<&Path>,
    tasks: &Tasks,
) -> Result<(), Failure> {
    model.forces.clear();
    let system = load::compile(model_path, &model, &Options::default())?;
    match markers {
        Some(path) if path != Path::new("-") => {
            let table = super::marker_table(path)?;
            super::check(&model, &system, path, &table, tasks)?;
            follow(&model, &system, Recorded { path: path.to_path_buf(), table, next: 0 }, tasks)
        }
        _ => {
            let mut lines = Lines::begin(std::io::stdin().lock())?;
            // Units and axes are looked at in the first frame, before anything is written.
            if lines.wait()? {
                let mut places = Vec::new();
                let time = lines.frame(&mut places)?;
                let columns = places.iter().flat_map(|p| p.to_array()).map(|x| vec![x]).collect();
                let first = Table::new(Element::Vec(3), lines.labels.clone(), vec![time], columns)
                    .map_err(|e| lines.wrong(e.to_string(), ""))?;
                super::check(&model, &system, &lines.name, &first, tasks)?;
                lines.again = true;
            }
            follow(&model, &system, lines, tasks)
        }
    }
}

/// Where frames come from.
trait Frames {
    /// A name for messages.
    fn name(&self) -> &Path;
    /// Names of the markers.
    fn labels(&self) -> &[String];
    /// Waits for the next frame; false when there are no more.
    fn wait(&mut self) -> Result<bool, Failure>;
    /// Time (s) and places (m) of the frame that has come; a marker that was not seen has no numbers.
    fn frame(&mut self, places: &mut Vec<Vec3<f64>>) -> Result<f64, Failure>;
}

fn follow(model: &Model, system: &System, mut frames: impl Frames, tasks: &Tasks) -> Result<(), Failure> {
    let name = frames.name().to_path_buf();
    let mut ik = InverseKinematics::new(model, system, frames.labels(), tasks, Settings::default())
        .map_err(|e| Failure::content(&name, 0, "", e.to_string(), ""))?;
    let mut line = String::from("time");
    for c in &model.coordinates {
        let _ = write!(line, ",{}", c.name);
    }
    let mut stdout = std::io::stdout().lock();
    let mut told = tell(&mut stdout, &mut line)?;
    let (mut places, mut took, mut steps) = (Vec::new(), Vec::new(), 0);
    let mut not_converged: Option<(usize, f64)> = None;
    while told && frames.wait()? {
        let start = Instant::now();
        let time = frames.frame(&mut places)?;
        let fit = ik.solve_frame(time, &places);
        line.clear();
        let _ = write!(line, "{time}");
        for x in coordinates_in_degrees(model, system, ik.coordinates()) {
            let _ = write!(line, ",{x}");
        }
        told = tell(&mut stdout, &mut line)?;
        took.push(start.elapsed().as_secs_f64());
        steps += fit.iterations;
        if !fit.converged {
            let (n, first) = not_converged.unwrap_or((0, time));
            not_converged = Some((n + 1, first));
        }
    }
    close(&mut took, steps);
    match not_converged {
        None => Ok(()),
        Some((n, first)) => Err(Failure::NotSolved {
            message: format!("{n} frame(s) did not converge, the first at t = {first} s"),
        }),
    }
}

/// Writes a line at once; false when nobody listens any more.
fn tell(out: &mut impl std::io::Write, line: &mut String) -> Result<bool, Failure> {
    line.push('\n');
    match out.write_all(line.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        Err(e) => Err(Failure::write(Path::new("stdout"), e)),
    }
}

/// The closing lines.
fn close(took: &mut [f64], steps: usize) {
    took.sort_by(f64::total_cmp);
    eprintln!("{} frames, {steps} steps", took.len());
    if took.is_empty() {
        return;
    }
    // The least time that p percent of the frames did not exceed, ms.
    let at = |p: usize| 1e3 * took[(took.len() * p).div_ceil(100) - 1];
    eprintln!(
        "from frame to pose: median {:.3} ms, 99th percentile {:.3} ms, largest {:.3} ms",
        at(50),
        at(99),
        at(100)
    );
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

    fn wait(&mut self) -> Result<bool, Failure> {
        Ok(self.next < self.table.rows())
    }

    fn frame(&mut self, places: &mut Vec<Vec3<f64>>) -> Result<f64, Failure> {
        let row = self.next;
        self.next += 1;
        places.clear();
        places.extend((0..self.table.labels().len()).map(|i| self.table.vec3(row, i)));
        Ok(self.table.times()[row])
    }
}

/// Lines of text: first the labels, `time` and three for each marker, then one line for each frame, in s and m.
struct Lines<R> {
    name: PathBuf,
    input: R,
    labels: Vec<String>,
    separator: char,
    line: String,
    number: u32,
    time: f64,
    /// The line has been looked at, and comes once more.
    again: bool,
}

impl<R: BufRead> Lines<R> {
    /// Reads the labels.
    fn begin(input: R) -> Result<Self, Failure> {
        let mut lines = Lines {
            name: PathBuf::from("stdin"),
            input,
            labels: Vec::new(),
            separator: ',',
            line: String::new(),
            number: 0,
            time: f64::NEG_INFINITY,
            again: false,
        };
        let hint = "the first line is `time` and three labels for each marker, such as `time,KNEE_1,KNEE_2,KNEE_3`, as `soleus \
            convert` writes them to a .csv";
        if !lines.wait()? {
            return Err(lines.wrong("there is no line".to_string(), hint));
        }
        let found = [',', ';', '\t'].into_iter().find(|c| lines.line.contains(*c));
        lines.separator = found.unwrap_or(',');
        let mut cells = lines.line.trim().split(lines.separator).map(|c| c.trim().trim_matches('"'));
        if !cells.next().is_some_and(|c| c.eq_ignore_ascii_case("time")) {
            return Err(lines.wrong("the labels do not begin with `time`".to_string(), hint));
        }
        let labels: Vec<String> = cells.map(str::to_string).collect();
        let columns = vec![Vec::new(); labels.len()];
        let packed = Table::new(Element::Scalar, labels, Vec::new(), columns).and_then(|t| t.packed());
        lines.labels = packed.map_err(|e| lines.wrong(e.to_string(), hint))?.labels().to_vec();
        Ok(lines)
    }

    fn wrong(&self, message: String, hint: &str) -> Failure {
        Failure::content(&self.name, self.number, "", message, hint)
    }
}

impl<R: BufRead> Frames for Lines<R> {
    fn name(&self) -> &Path {
        &self.name
    }

    fn labels(&self) -> &[String] {
        &self.labels
    }

    fn wait(&mut self) -> Result<bool, Failure> {
        if std::mem::take(&mut self.again) {
            self.time = f64::NEG_INFINITY;
            return Ok(true);
        }
        loop {
            self.line.clear();
            let read = self.input.read_line(&mut self.line).map_err(|e| Failure::read(&self.name, e))?;
            self.number += 1;
            if read == 0 || !self.line.trim().is_empty() {
                return Ok(read > 0);
            }
        }
    }

    fn frame(&mut self, places: &mut Vec<Vec3<f64>>) -> Result<f64, Failure> {
        let mut numbers = self.line.trim_end_matches(['\r', '\n']).split(self.separator).map(|cell| {
            let cell = cell.trim();
            if cell.is_empty() { Ok(f64::NAN) } else { cell.parse::<f64>().map_err(|_| cell) }
        });
        let wrong = |cell: &str| self.wrong(format!("`{cell}` is no number"), "");
        let time = numbers.next().unwrap_or(Ok(f64::NAN)).map_err(wrong)?;
        places.clear();
        let (mut place, mut count) = ([f64::NAN; 3], 0);
        for x in numbers {
            place[count % 3] = x.map_err(wrong)?;
            count += 1;
            if count % 3 == 0 {
                places.push(Vec3::from_array(place));
            }
        }
        if count != 3 * self.labels.len() {
            let message = format!("{count} numbers follow the time, but {} labels", 3 * self.labels.len());
            return Err(self.wrong(message, "a marker that is not seen has empty cells or `nan`"));
        }
        if !(time > self.time) {
            let message = format!("time {time} s does not follow {} s", self.time);
            return Err(self.wrong(message, "frames must come in the order of time, each time once"));
        }
        self.time = time;
        Ok(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Frame = (f64, Vec<Vec3<f64>>);

    fn frames(text: &str) -> Result<Vec<Frame>, String> {
        let told = |e: Failure| e.to_string();
        let mut lines = Lines::begin(text.as_bytes()).map_err(told)?;
        let (mut list, mut places) = (Vec::new(), Vec::new());
        while lines.wait().map_err(told)? {
            list.push((lines.frame(&mut places).map_err(told)?, places.clone()));
        }
        Ok(list)
    }

    #[test]
    fn analytic_frames_with_gaps() {
        let found = frames("time,A_1,A_2,A_3,B_x,B_y,B_z\r\n0.5,1,2,3,4,5,6\n\n1.5,,,,nan,5,6\n").unwrap();
        assert_eq!((found[0].0, found[1].0), (0.5, 1.5));
        assert_eq!(
            found[0].1.iter().map(|p| p.to_array()).collect::<Vec<_>>(),
            [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
        );
        assert!(found[1].1.iter().all(|p| p.norm_sq().is_nan()));
        assert_eq!(frames("time\tA_1\tA_2\tA_3\n1\t1\t2\t3\n").unwrap().len(), 1);
    }

    #[test]
    fn analytic_what_is_wrong_has_its_line() {
        let says = |text: &str| frames(text).unwrap_err();
        assert!(says("").contains("there is no line"));
        assert!(says("a,b\n").contains("do not begin with `time`"));
        assert!(says("time,A_1,A_2\n").contains("stdin:1"));
        let head = "time,A_1,A_2,A_3\n0,1,2,3\n";
        for (line, words) in [
            ("1,2,3", "2 numbers follow the time, but 3 labels"),
            ("1,2,x,4", "`x` is no number"),
            ("0,1,2,3", "time 0 s does not follow 0 s"),
            (",1,2,3", "does not follow"),
        ] {
            let said = says(&format!("{head}{line}\n"));
            assert!(said.contains(words) && said.contains("stdin:3"), "{said}");
        }
    }
}
