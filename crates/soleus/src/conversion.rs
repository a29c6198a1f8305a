//! Converts motion, marker and force files between formats, with rotation, units, filtering and resampling.
//!
//! ```no_run
//! use soleus::conversion::Turn;
//! use soleus::{Context, Convert, Disk, Outcome};
//! let files = Disk::new();
//! let context = Context::new(&files);
//! let request = Convert {
//!     input: "walk.c3d".into(),
//!     output: Some("walk.trc".into()),
//!     rotate: vec!["x:-90".parse::<Turn>().unwrap()],
//!     units: Some("m".into()),
//!     ..Default::default()
//! };
//! request.run(&context)?.write(&context)?;
//! # Ok::<(), soleus::Error>(())
//! ```

use crate::artifact::{Artifact, Outcome};
use crate::context::{Context, Silent};
use crate::error::Error;
use crate::inputs::numbers::{finite, not_negative};
use crate::inputs::table::{self, Take};
use crate::plotting::is_load;
use crate::source::Source;
use serde::{Deserialize, Serialize};
use soleus_io::table::sto::Digits;
use soleus_io::table::{Format, csv, parquet, sto, trc};
use soleus_math::signal::{
    SignalError, even_step, fill_gaps, is_uniform, lowpass, resampled_at, smallest_step,
};
use soleus_math::table::{Element, Table, meters_per};
use soleus_math::{Mat33, Rotation, Vec3};
use soleus_model::Diagnostics;
use soleus_tools::gait::laboratory_turn;
use soleus_tools::quality::check_cutoff;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Converts a table. Steps are applied in this order: laboratory axes, rotation, units, gaps, low-pass filter, sampling
/// rate.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Convert {
    /// Input: .sto, .mot, .trc, .csv, .c3d or .parquet.
    pub input: Source<Table>,
    /// Output file: .sto, .mot, .trc, .csv or .parquet.
    pub output: Option<PathBuf>,
    /// Data to extract from a .c3d; default: markers for a .trc, forces for other files.
    pub take: Option<Take>,
    /// Rotates the laboratory by quarter turns so that y is up and the subject moves along x, as determined from the
    /// markers.
    pub turn_laboratory: bool,
    /// Rotations of all vectors, applied in order.
    pub rotate: Vec<Turn>,
    /// Length unit of the markers in the input, if the file does not specify it (.csv).
    pub from_units: Option<String>,
    /// Whether angles in the input are in degrees, if the file does not specify it (.csv).
    pub degrees: bool,
    /// Length unit of the markers in the output: m, cm, mm, in, …
    pub units: Option<String>,
    /// Fills gaps of at most this many rows.
    pub fill_gaps: Option<usize>,
    /// Sampling rate of the output, Hz; interpolated by quintic splines.
    pub rate: Option<f64>,
    /// Cutoff frequency of a zero-phase third-order Butterworth low-pass filter, Hz.
    pub lowpass_hz: Option<f64>,
    /// Ground reactions in a .c3d are set to 0 where the force normal to the plate is below this threshold, N.
    pub force_threshold_n: f64,
    /// Write .sto and .mot with 8 decimals, as OpenSim's tools do; default: full precision.
    pub fixed_digits: bool,
}

/// An axis of the laboratory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Axis {
    /// x.
    X,
    /// y.
    Y,
    /// z.
    Z,
}

/// A rotation about a coordinate axis. As text, for example `x:-90`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// The axis.
    pub axis: Axis,
    /// The angle, degrees.
    pub deg: f64,
}

impl FromStr for Turn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = "write an axis and an angle in degrees, such as x:-90";
        let (axis, deg) = text.split_once(':').ok_or(wanted)?;
        let axis = match axis.trim() {
            "x" | "X" => Axis::X,
            "y" | "Y" => Axis::Y,
            "z" | "Z" => Axis::Z,
            _ => return Err(wanted.to_string()),
        };
        match deg.trim().parse() {
            Ok(deg) if f64::is_finite(deg) => Ok(Turn { axis, deg }),
            _ => Err(wanted.to_string()),
        }
    }
}

impl Turn {
    /// Quarter turns are exact, so that zeros stay zeros.
    fn rotation(self) -> Rotation<f64> {
        let about = match self.axis {
            Axis::X => Rotation::about_x,
            Axis::Y => Rotation::about_y,
            Axis::Z => Rotation::about_z,
        };
        let mut r = about(self.deg.to_radians());
        if self.deg % 90.0 == 0.0 {
            let exact = [0, 1, 2].map(|i| Vec3::from_array(r.axis(i).to_array().map(f64::round)));
            r = Rotation(Mat33::from_cols(exact[0], exact[1], exact[2]));
        }
        r
    }
}

/// What to do about a frequency that is none.
const POSITIVE_HZ: &str = "give a finite number of Hz above zero";

/// A given rotation, or one determined from the data: `x:-90`, `auto`.
#[derive(Clone, Copy, Debug)]
pub enum Rotate {
    /// To y up and the direction of motion along x.
    Auto,
    /// About an axis.
    By(Turn),
}

impl Rotate {
    /// The rotation, if given.
    pub fn turn(self) -> Option<Turn> {
        if let Rotate::By(turn) = self { Some(turn) } else { None }
    }
}

impl std::str::FromStr for Rotate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" { Ok(Rotate::Auto) } else { text.parse().map(Rotate::By) }
    }
}

impl Convert {
    /// Reads and converts the table.
    pub fn run(&self, cx: &Context) -> Result<ConvertedTable, Error> {
        let input = self.input.path();
        let content = |message: String| Error::content(input, 0, "", message, "");
        let format = self.format()?;
        self.check_numbers()?;
        let otherwise = match format {
            Some(Format::Trc) | None => Take::Markers,
            Some(_) => Take::Forces,
        };
        let mut table = table::read(cx, &self.input, self.take.unwrap_or(otherwise), self.force_threshold_n)?;
        if table.rows() == 0 {
            cx.warn(input, "the table has no rows", "");
        }
        self.say_units(cx, &mut table, format)?;
        if self.turn_laboratory {
            table = self.turned_laboratory(cx, &table)?;
        }
        for turn in &self.rotate {
            table = rotated(&table, turn.rotation()).map_err(content)?;
        }
        if let Some(unit) = &self.units {
            change_units(&mut table, unit).map_err(content)?;
        }
        if let Some(most) = self.fill_gaps {
            let [filled, left] = fill_gaps(&mut table, most);
            cx.note(format!("{filled} gaps of at most {most} rows filled, {left} left"));
        }
        let failed = |e: SignalError| content(e.to_string());
        if let Some(hz) = self.lowpass_hz {
            let mut log = Diagnostics::new(input.display().to_string());
            check_cutoff(table.times(), hz, &mut log);
            cx.report(&log);
            tell_resampling(cx, input, table.times());
            table = lowpass(&table, hz).map_err(failed)?;
        }
        if let Some(hz) = self.rate {
            table =
                resampled_at(&table, &times_at(table.times(), hz).map_err(content)?, 5).map_err(failed)?;
            table.metadata.retain(|(k, _)| k != "CameraRate");
            if table.metadata_value("DataRate").is_some() {
                table.set_metadata("DataRate", format!("{hz:.6}"));
            }
        }
        let file = match (&self.output, format) {
            (Some(path), Some(format)) => {
                let bytes = bytes(&table, format, path, self.fixed_digits)?;
                let (columns, rows) = (table.labels().len(), table.rows());
                cx.note(format!("{}: {columns} columns, {rows} rows → {}", input.display(), path.display()));
                Some((path.clone(), bytes))
            }
            _ => None,
        };
        Ok(ConvertedTable { table, file })
    }

    /// The table in the axes of OpenSim's models, as its markers tell, or those of the same .c3d.
    fn turned_laboratory(&self, cx: &Context, table: &Table) -> Result<Table, Error> {
        let input = self.input.path();
        let own = match table::is_c3d(input) {
            true => table::read(&cx.with_monitor(&Silent), &self.input, Take::Markers, 0.0)?,
            false => table.clone(),
        };
        let markers = Some(own).filter(|t| t.element() == Element::Vec(3)).and_then(|t| t.in_meters());
        let Some(turn) = markers.as_ref().and_then(laboratory_turn) else {
            let message = "the vertical axis and the walking direction could not be determined";
            let hint = "heel, toe and pelvis markers are needed; or rotate with --rotate x:-90";
            return Err(Error::content(input, 0, "", message, hint));
        };
        cx.note(format!(
            "the data have {} up, the subject faces along {}: {}",
            turn.up,
            turn.forward,
            if turn.words.is_empty() { "kept".to_string() } else { format!("rotated by {}", turn.words) }
        ));
        rotated(table, turn.rotation).map_err(|e| Error::content(input, 0, "", e, ""))
    }

    /// The format of the output, by its ending.
    fn format(&self) -> Result<Option<Format>, Error> {
        let Some(path) = &self.output else { return Ok(None) };
        match Format::of(&path.to_string_lossy()) {
            Some(format) => Ok(Some(format)),
            None => {
                let message = "the file name must end in .sto, .mot, .trc, .csv or .parquet";
                Err(Error::content(path, 0, "", message, ""))
            }
        }
    }

    /// Numbers that nothing can be done with.
    fn check_numbers(&self) -> Result<(), Error> {
        let input = self.input.path();
        not_negative(input, "the force threshold of a plate, N", self.force_threshold_n)?;
        for turn in &self.rotate {
            finite(input, "the rotation angle, degrees", turn.deg)?;
        }
        for (hz, what) in [(self.rate, "rate"), (self.lowpass_hz, "cutoff frequency")] {
            if let Some(hz) = hz.filter(|hz| !(*hz > 0.0 && hz.is_finite())) {
                return Err(Error::content(
                    input,
                    0,
                    "",
                    format!("{hz} Hz is not a valid {what}"),
                    POSITIVE_HZ,
                ));
            }
        }
        Ok(())
    }

    /// Takes units from the request where the table has none, and warns where they get lost or are guessed.
    fn say_units(&self, cx: &Context, table: &mut Table, format: Option<Format>) -> Result<(), Error> {
        let o = self;
        let input = self.input.path();
        let mut log = Diagnostics::new(input.display().to_string());
        let unit = table.metadata_value("Units").map(str::to_string);
        if let Some(given) = &o.from_units {
            let refuse = |message: String| Error::content(input, 0, "", message, "omit --from-units");
            if meters_per(given).is_none() {
                return Err(refuse(format!("`{given}` is not a unit of length")));
            }
            if let Some(unit) = unit.as_ref().filter(|u| meters_per(u) != meters_per(given)) {
                return Err(refuse(format!("the file already states its unit of length: {unit}")));
            }
            table.set_metadata("Units", given.as_str());
        } else if format == Some(Format::Trc) && unit.is_none() {
            let message = "the file does not state its unit of length; the .trc is written as m";
            log.warn(0, "", message, "state it with --from-units");
        }
        if o.degrees {
            table.in_degrees = Some(true);
        }
        // What a .csv cannot say.
        if format == Some(Format::Csv) {
            let in_meters = o.units.as_ref().or(unit.as_ref()).is_none_or(|u| meters_per(u) == Some(1.0));
            if !in_meters {
                let unit = o.units.as_ref().or(unit.as_ref()).map_or("", String::as_str);
                log.warn(
                    0,
                    "",
                    format!("lengths are in {unit}, which a .csv file cannot record"),
                    "write metres with --units m, or use --from-units when you read the file",
                );
            }
            if table.in_degrees == Some(true) && !has_loads(table) {
                let message = "angles are in degrees, which a .csv file cannot record";
                log.warn(0, "", message, "use --degrees when you read the file");
            }
        }
        cx.report(&log);
        Ok(())
    }
}

/// A converted table.
#[derive(Clone, Debug)]
pub struct ConvertedTable {
    /// The table.
    pub table: Table,
    file: Option<(PathBuf, Vec<u8>)>,
}

impl Outcome for ConvertedTable {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        self.file.iter().map(|(path, bytes)| Artifact::bytes(path, &bytes[..])).collect()
    }
}

/// Tells what a filter does to rows that are not in even steps: it resamples them.
fn tell_resampling(cx: &Context, path: &Path, times: &[f64]) {
    let (Ok(step), Ok(smallest)) = (even_step(times), smallest_step(times)) else { return };
    if is_uniform(times) {
        return;
    }
    let rate = 1.0 / step;
    let message = format!("rows are not equally spaced: the filter resamples at {step:.6} s ({rate:.2} Hz)");
    match step > smallest {
        // The step is not the smallest one, so that some rows come closer than the result can show.
        true => {
            let hint = format!(
                "some rows are {smallest:.3e} s apart, which would give too many rows; set the rate with --rate"
            );
            cx.warn(path, message, &hint);
        }
        false => cx.note(message),
    }
}

/// Whether the columns are forces, of which tables say that angles are in degrees too.
fn has_loads(table: &Table) -> bool {
    table.labels().iter().all(|l| is_load(l))
}

/// Times at a rate (Hz) from the first to the last. Multiples do not drift as sums do.
fn times_at(times: &[f64], hz: f64) -> Result<Vec<f64>, String> {
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else { return Ok(Vec::new()) };
    // A millionth of a step too short still counts; more rows than this are asked for by mistake.
    let steps = ((last - first) * hz + 1e-6).floor();
    if !(hz > 0.0 && (0.0..1e7).contains(&steps)) {
        return Err(format!("{hz} Hz is not a valid rate for a table of {} s", last - first));
    }
    Ok((0..=steps as usize).map(|i| (first + i as f64 / hz).min(last)).collect())
}

/// The file to write.
fn bytes(table: &Table, format: Format, output: &Path, fixed: bool) -> Result<Vec<u8>, Error> {
    let digits = if fixed { Digits::Fixed8 } else { Digits::Shortest };
    Ok(match format {
        Format::Sto => sto::write(table, digits).into_bytes(),
        Format::Mot => sto::write(&table.flattened(), digits).into_bytes(),
        Format::Csv => csv::write(table).into_bytes(),
        Format::Trc => {
            let name = output.file_name().unwrap_or_default().to_string_lossy();
            let text = trc::write(table, &name);
            let wrong = |e| Error::content(output, 0, "", format!("{e}; it cannot be written as .trc"), "");
            text.map_err(wrong)?.into_bytes()
        }
        Format::Parquet => parquet::write(table),
    })
}

/// All vectors turned. Scalar columns in threes count as vectors.
fn rotated(table: &Table, R: Rotation<f64>) -> Result<Table, String> {
    match table.element() {
        Element::Scalar => {
            table.packed().map_err(|e| format!("only vectors can be rotated: {e}"))?;
        }
        Element::Vec(3) | Element::UnitVec3 | Element::SpatialVec => {}
        e => return Err(format!("a table of {} cannot be rotated", e.name())),
    }
    let mut columns = table.columns().to_vec();
    for xyz in columns.chunks_exact_mut(3) {
        for row in 0..table.rows() {
            let v = R * Vec3::from_array([xyz[0][row], xyz[1][row], xyz[2][row]]);
            for (column, x) in xyz.iter_mut().zip(v.to_array()) {
                column[row] = x;
            }
        }
    }
    table.with_rows(table.times().to_vec(), columns).map_err(|e| e.to_string())
}

/// Lengths in another unit; the table must say which one it has.
fn change_units(table: &mut Table, unit: &str) -> Result<(), String> {
    let wanted = meters_per(unit).ok_or_else(|| format!("`{unit}` is not a unit of length"))?;
    let Some(old) = table.metadata_value("Units") else {
        let message = "the file does not state its unit of length, as .trc and .c3d files do; state it with --from-units";
        return Err(message.to_string());
    };
    let old = meters_per(old).ok_or_else(|| format!("the file's unit `{old}` is not a unit of length"))?;
    if old != wanted {
        // 1000 is exact and 0.001 is not, so we divide where that takes a whole number.
        let fewer = wanted / old;
        if fewer > 1.0 && (fewer - fewer.round()).abs() < 1e-12 * fewer {
            let d = fewer.round();
            table.map(|x| x / d);
        } else {
            let factor = old / wanted;
            let whole = factor.round();
            let m = if (factor - whole).abs() < 1e-12 * factor { whole } else { factor };
            table.map(|x| x * m);
        }
    }
    table.set_metadata("Units", unit);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_quarter_turns_are_exact() {
        let r = "x:-90".parse::<Turn>().unwrap().rotation();
        // z up becomes y up.
        assert_eq!((r * Vec3::from_array([1.0, 2.0, 3.0])).to_array(), [1.0, 3.0, -2.0]);
        for wrong in ["w:90", "x", "x:inf", "x:"] {
            assert!(wrong.parse::<Turn>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn analytic_millimeters_become_meters() {
        let mut t = Table::new(Element::Scalar, vec!["a".into()], vec![0.0], vec![vec![1234.5]]).unwrap();
        assert!(change_units(&mut t, "m").is_err(), "no unit, no change");
        t.set_metadata("Units", "mm");
        change_units(&mut t, "m").unwrap();
        assert_eq!(t.columns()[0][0], 1.2345);
        change_units(&mut t, "mm").unwrap();
        assert_eq!(t.columns()[0][0], 1234.5);
        assert_eq!(t.metadata_value("Units"), Some("mm"));
    }
}
