//! `soleus convert`: motion, marker and force files into each other.

use crate::failure::Failure;
use crate::load;
use crate::tables::{self, Take};
use soleus_io::table::sto::Digits;
use soleus_io::table::{Format, csv, parquet, sto, trc};
use soleus_math::signal::{SignalError, lowpass, resampled_at};
use soleus_math::table::{Element, Table, meters_per};
use soleus_math::{Mat33, Rotation, Vec3};
use soleus_model::Diagnostics;
use soleus_tools::quality::check_cutoff;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// What to convert, and how.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  soleus convert walk.c3d walk.trc --rotate x:-90 --units m\n  \
    soleus convert walk.c3d forces.mot --rotate x:-90 --force-threshold-n 20\n  \
    soleus convert walk_ik.mot walk_ik.csv --lowpass-hz 6\n\n\
    Steps are done in this order: rotate, units, low-pass, rate.")]
pub struct Options {
    /// File to read: .sto, .mot, .trc, .csv, .c3d or .parquet
    input: PathBuf,
    /// File to write: .sto, .mot, .trc, .csv or .parquet
    output: PathBuf,
    /// What to take out of a .c3d [default: markers for .trc, forces for the others]
    #[arg(long, value_enum)]
    take: Option<Take>,
    /// Turns all vectors about an axis of the laboratory, degrees; may be repeated
    #[arg(long, value_name = "AXIS:DEG", value_parser = parse_rotation)]
    rotate: Vec<Turn>,
    /// Unit of length of the markers read, where the file does not say it (.csv)
    #[arg(long, value_name = "UNIT")]
    from_units: Option<String>,
    /// Angles read are in degrees, where the file does not say it (.csv)
    #[arg(long)]
    degrees: bool,
    /// Unit of length of the markers written: m, cm, mm, in, …
    #[arg(long, value_name = "UNIT")]
    units: Option<String>,
    /// Rows per second; values between rows come from splines of degree 5
    #[arg(long, value_name = "HZ")]
    rate: Option<f64>,
    /// Third-order Butterworth low-pass, forwards and backwards
    #[arg(long, value_name = "HZ")]
    lowpass_hz: Option<f64>,
    /// Ground reactions of a .c3d are 0 where the force normal to the plate is below this
    #[arg(long, value_name = "N", default_value_t = 0.0)]
    force_threshold_n: f64,
    /// Write .sto and .mot with 8 decimals, as OpenSim's tools do; otherwise no digit is lost
    #[arg(long)]
    fixed: bool,
}

/// A turn about a coordinate axis.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Turn {
    axis: usize,
    deg: f64,
}

fn parse_rotation(text: &str) -> Result<Turn, String> {
    let wanted = "write an axis and an angle in degrees, such as x:-90";
    let (axis, deg) = text.split_once(':').ok_or(wanted)?;
    let axis = match axis.trim() {
        "x" | "X" => 0,
        "y" | "Y" => 1,
        "z" | "Z" => 2,
        _ => return Err(wanted.to_string()),
    };
    match deg.trim().parse() {
        Ok(deg) if f64::is_finite(deg) => Ok(Turn { axis, deg }),
        _ => Err(wanted.to_string()),
    }
}

impl Turn {
    /// Quarter turns are exact, so that zeros stay zeros.
    fn rotation(self) -> Rotation<f64> {
        let about = match self.axis {
            0 => Rotation::about_x,
            1 => Rotation::about_y,
            _ => Rotation::about_z,
        };
        let mut r = about(self.deg.to_radians());
        if self.deg % 90.0 == 0.0 {
            let exact = [0, 1, 2].map(|i| Vec3::from_array(r.axis(i).to_array().map(f64::round)));
            r = Rotation(Mat33::from_cols(exact[0], exact[1], exact[2]));
        }
        r
    }
}

/// Reads, changes and writes a table.
pub fn run(o: &Options) -> Result<(), Failure> {
    let content = |message: String| Failure::content(&o.input, 0, "", message, "");
    let Some(format) = Format::of(&o.output.to_string_lossy()) else {
        let message = "the ending of the output must be .sto, .mot, .trc, .csv or .parquet".to_string();
        return Err(Failure::content(&o.output, 0, "", message, ""));
    };
    let take = o.take.unwrap_or(if format == Format::Trc { Take::Markers } else { Take::Forces });
    let mut table = tables::read(&o.input, take, o.force_threshold_n)?;
    if table.rows() == 0 {
        eprintln!("warning: {} has no rows", o.input.display());
    }
    say_units(o, &mut table, format)?;
    for turn in &o.rotate {
        table = rotated(&table, turn.rotation()).map_err(content)?;
    }
    if let Some(unit) = &o.units {
        change_units(&mut table, unit).map_err(content)?;
    }
    let failed = |e: SignalError| content(e.to_string());
    if let Some(hz) = o.lowpass_hz {
        let mut log = Diagnostics::new(o.input.display().to_string());
        check_cutoff(table.times(), hz, &mut log);
        load::report(&log);
        table = lowpass(&table, hz).map_err(failed)?;
    }
    if let Some(hz) = o.rate {
        table = resampled_at(&table, &times_at(table.times(), hz).map_err(content)?, 5).map_err(failed)?;
        table.metadata.retain(|(k, _)| k != "CameraRate");
        if table.metadata_value("DataRate").is_some() {
            table.set_metadata("DataRate", format!("{hz:.6}"));
        }
    }
    load::write_bytes(&o.output, &bytes(&table, format, &o.output, o.fixed)?)?;
    // A closed stderr is no reason to stop.
    let _ = writeln!(
        std::io::stderr(),
        "{}: {} columns, {} rows → {}",
        o.input.display(),
        table.labels().len(),
        table.rows(),
        o.output.display()
    );
    Ok(())
}

/// Takes units from the command line where the table has none, and warns where they get lost or are guessed.
fn say_units(o: &Options, table: &mut Table, format: Format) -> Result<(), Failure> {
    let mut log = Diagnostics::new(o.input.display().to_string());
    let unit = table.metadata_value("Units").map(str::to_string);
    if let Some(given) = &o.from_units {
        let refuse = |message: String| Failure::content(&o.input, 0, "", message, "leave --from-units out");
        if meters_per(given).is_none() {
            return Err(refuse(format!("`{given}` is no unit of length")));
        }
        if let Some(unit) = unit.as_ref().filter(|u| meters_per(u) != meters_per(given)) {
            return Err(refuse(format!("the file says that its unit of length is {unit}")));
        }
        table.set_metadata("Units", given.as_str());
    } else if format == Format::Trc && unit.is_none() {
        let message = "the file does not say its unit of length; the .trc will say m";
        log.warn(0, "", message, "say it with --from-units");
    }
    if o.degrees {
        table.in_degrees = Some(true);
    }
    // What a .csv cannot say.
    if format == Format::Csv {
        let in_meters = o.units.as_ref().or(unit.as_ref()).is_none_or(|u| meters_per(u) == Some(1.0));
        if !in_meters {
            let unit = o.units.as_ref().or(unit.as_ref()).map_or("", String::as_str);
            log.warn(
                0,
                "",
                format!("lengths are in {unit}, which a .csv cannot say"),
                "write m with --units m, or read it again with --from-units",
            );
        }
        if table.in_degrees == Some(true) && !has_loads(table) {
            let message = "angles are in degrees, which a .csv cannot say";
            log.warn(0, "", message, "read it again with --degrees");
        }
    }
    load::report(&log);
    Ok(())
}

/// Whether the columns are forces, of which tables say that angles are in degrees too.
fn has_loads(table: &Table) -> bool {
    table.labels().iter().all(|l| crate::plot::is_load(l))
}

/// Times at a rate (Hz) from the first to the last. Multiples do not drift as sums do.
fn times_at(times: &[f64], hz: f64) -> Result<Vec<f64>, String> {
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else { return Ok(Vec::new()) };
    // A millionth of a step too short still counts; more rows than this are asked for by mistake.
    let steps = ((last - first) * hz + 1e-6).floor();
    if !(hz > 0.0 && (0.0..1e7).contains(&steps)) {
        return Err(format!("{hz} Hz is no rate for a table of {} s", last - first));
    }
    Ok((0..=steps as usize).map(|i| (first + i as f64 / hz).min(last)).collect())
}

/// The file to write.
fn bytes(table: &Table, format: Format, output: &Path, fixed: bool) -> Result<Vec<u8>, Failure> {
    let digits = if fixed { Digits::Fixed8 } else { Digits::Shortest };
    Ok(match format {
        Format::Sto => sto::write(table, digits).into_bytes(),
        Format::Mot => sto::write(&table.flattened(), digits).into_bytes(),
        Format::Csv => csv::write(table).into_bytes(),
        Format::Trc => {
            let name = output.file_name().unwrap_or_default().to_string_lossy();
            let text = trc::write(table, &name);
            let wrong = |e| Failure::content(output, 0, "", format!("{e}, so it cannot become a .trc"), "");
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
    let wanted = meters_per(unit).ok_or_else(|| format!("`{unit}` is no unit of length"))?;
    let Some(old) = table.metadata_value("Units") else {
        let message =
            "the file does not say its unit of length, as markers (.trc, .c3d) do; say it with --from-units";
        return Err(message.to_string());
    };
    let old = meters_per(old).ok_or_else(|| format!("the file's unit `{old}` is no unit of length"))?;
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
        let r = parse_rotation("x:-90").unwrap().rotation();
        // z up becomes y up.
        assert_eq!((r * Vec3::from_array([1.0, 2.0, 3.0])).to_array(), [1.0, 3.0, -2.0]);
        assert!(
            parse_rotation("w:90").is_err()
                && parse_rotation("x").is_err()
                && parse_rotation("x:inf").is_err()
        );
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
