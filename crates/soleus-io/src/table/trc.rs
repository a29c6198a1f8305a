//! Marker trajectories, `.trc`.
//!
//! ```text
//! PathFileType <tab> 4 <tab> (X/Y/Z) <tab> walk.trc
//! DataRate <tab> CameraRate <tab> NumFrames <tab> NumMarkers <tab> Units <tab> OrigDataRate <tab> …
//! 60.00 <tab> 60.00 <tab> 73 <tab> 41 <tab> mm <tab> 60.00 <tab> 1 <tab> 73
//! Frame# <tab> Time <tab> R.ASIS <tab> <tab> <tab> L.ASIS …
//! <tab> <tab> X1 <tab> Y1 <tab> Z1 <tab> X2 …
//! (blank)
//! 1 <tab> 0.0 <tab> 617.2 <tab> …
//! ```

use super::number::push_general;
use super::text::{
    MOST_COMPLAINTS, Numbers, ROW_HINT, Separator, check_labels, check_times, decode, line_number, lines,
    most_numbers, one_line, too_many_gaps, written_label,
};
use soleus_math::table::{Element, Table, TableError};
use soleus_model::Diagnostics;
use std::borrow::Cow;
use std::fmt::Write as _;

/// Keys of the second line, in their order.
const KEYS: [&str; 8] = [
    "DataRate",
    "CameraRate",
    "NumFrames",
    "NumMarkers",
    "Units",
    "OrigDataRate",
    "OrigDataStartFrame",
    "OrigNumFrames",
];

/// Reads marker trajectories: a table of vectors in the units of the file (`Units` in the metadata, see
/// [`Table::in_meters`]). A marker without all components is missing: NaN. A marker at exactly 0, 0, 0 is also missing,
/// because some systems write gaps in this way (a warning gives their number). Frame numbers are dropped.
pub fn read(bytes: &[u8], file: &str) -> (Option<Table>, Diagnostics) {
    let mut log = Diagnostics::new(file);
    let text = decode(bytes, &mut log);
    let lines = lines(&text);
    let first_word =
        |l: &str| l.split(['\t', ' ']).find(|c| !c.is_empty()).unwrap_or("").to_ascii_lowercase();

    // The line of marker names is the one thing that must be there.
    let Some(at) = lines.iter().position(|l| first_word(l).starts_with("frame")) else {
        log.error(0, "", "no line of marker names was found", "it starts with `Frame#` and `Time`");
        return (None, log);
    };
    let mut cells = Vec::new();
    let names: Vec<String> = Separator::Blank.split_labels(lines[at], None).into_iter().skip(2).collect();
    check_labels(&names, line_number(at), &mut log);
    let (name, metadata) = read_header(&lines[..at], &mut log);
    let promised = |key: &str| {
        let value = metadata.iter().find(|(k, _)| k == key).map(|(_, v)| v);
        value.and_then(|v| v.parse::<f64>().ok())
    };
    if promised("NumMarkers").is_some_and(|n| n != names.len() as f64) {
        let message = format!(
            "the header declares {} markers, but {} are named",
            promised("NumMarkers").unwrap_or(0.0),
            names.len()
        );
        log.warn(line_number(at), "", message, "a marker name may be missing or contain a tab");
    }
    if !metadata.iter().any(|(k, _)| k == "Units") {
        log.warn(0, "", "the header has no units", "set `Units` to m or mm");
    }

    // Rows: frame, time, and three numbers per marker.
    let expected = 2 + 3 * names.len();
    let (mut times, mut row_lines) = (Vec::new(), Vec::new());
    let mut columns = vec![Vec::new(); 3 * names.len()];
    let limit = most_numbers(&text);
    let mut numbers = Numbers::new();
    let mut unfit = 0;
    let mut zeros = vec![0usize; names.len()];
    for (i, line) in lines.iter().enumerate().skip(at + 1) {
        // Blank lines, lines of tabs, and the line X1 Y1 Z1.
        if line.trim().is_empty() || first_word(line).starts_with('x') {
            continue;
        }
        let number = line_number(i);
        if (row_lines.len() + 1).saturating_mul(columns.len()) > limit {
            too_many_gaps(number, names.len(), &mut log);
            break;
        }
        Separator::Blank.split_row(line, expected, &mut cells);
        if cells.len() > expected || cells.len() < 2 {
            unfit += 1;
            if unfit <= MOST_COMPLAINTS {
                let message =
                    format!("the row has {} cells, but {} markers need {expected}", cells.len(), names.len());
                log.error(number, "", message, ROW_HINT);
            }
        } else if cells.len() < expected {
            unfit += 1;
            if unfit <= MOST_COMPLAINTS {
                let message = format!(
                    "the row has {} cells instead of {expected}; the rest was read as missing",
                    cells.len()
                );
                log.warn(number, "", message, "");
            }
        }
        row_lines.push(number);
        times.push(numbers.read(cells.get(1).copied().unwrap_or(""), number, 2, "Time", &mut log));
        for (m, marker) in names.iter().enumerate() {
            let mut p = [0.0; 3];
            for (k, x) in p.iter_mut().enumerate() {
                let c = 2 + 3 * m + k;
                *x = numbers.read(cells.get(c).copied().unwrap_or(""), number, c + 1, marker, &mut log);
            }
            let zero = p == [0.0; 3];
            zeros[m] += usize::from(zero);
            let missing = zero || p.iter().any(|x| x.is_nan());
            for (k, x) in p.into_iter().enumerate() {
                columns[3 * m + k].push(if missing { f64::NAN } else { x });
            }
        }
    }
    numbers.finish(&mut log);
    if promised("NumFrames").is_some_and(|n| n != row_lines.len() as f64) {
        let message = format!(
            "the header declares {} frames, found {}",
            promised("NumFrames").unwrap_or(0.0),
            row_lines.len()
        );
        log.warn(0, "", message, "all frames in the file were read");
    }
    check_times(&times, &row_lines, &mut log);
    report_zeros(&names, &zeros, &mut log);
    match Table::new(Element::Vec(3), names, times, columns) {
        Ok(mut t) => {
            t.name = name;
            t.metadata = metadata;
            (Some(t), log)
        }
        Err(e) => {
            log.error(0, "", e.to_string(), "");
            (None, log)
        }
    }
}

/// Name and metadata from the lines before the marker names.
fn read_header(lines: &[&str], log: &mut Diagnostics) -> (String, Vec<(String, String)>) {
    let cells = |l: &str| -> Vec<String> {
        let separator = if l.contains('\t') { '\t' } else { ' ' };
        l.split(separator).map(str::trim).filter(|c| !c.is_empty()).map(str::to_string).collect()
    };
    let mut name = String::new();
    if lines.first().is_some_and(|l| l.trim_start().starts_with("PathFileType")) {
        name = cells(lines[0]).into_iter().nth(3).unwrap_or_default();
    } else {
        log.warn(1, "", "the first line does not start with `PathFileType`", "OpenSim rejects such a file");
    }
    let Some(keys_at) = lines.iter().position(|l| l.trim_start().starts_with("DataRate")) else {
        log.warn(0, "", "no line of keys (`DataRate`, …) was found", "");
        return (name, Vec::new());
    };
    let keys = cells(lines[keys_at]);
    let values = lines.get(keys_at + 1).map_or_else(Vec::new, |l| cells(l));
    if keys.len() != values.len() {
        let message = format!("{} keys have {} values", keys.len(), values.len());
        log.warn(line_number(keys_at + 1), "", message, "");
    }
    (name, keys.into_iter().zip(values).collect())
}

/// Says which markers lie at the origin exactly, and in how many rows.
fn report_zeros(names: &[String], zeros: &[usize], log: &mut Diagnostics) {
    let found: Vec<(&String, usize)> = names.iter().zip(zeros.iter().copied()).filter(|z| z.1 > 0).collect();
    if found.is_empty() {
        return;
    }
    let mut listed: Vec<String> =
        found.iter().take(MOST_COMPLAINTS).map(|(name, n)| format!("{name} ({n})")).collect();
    if found.len() > MOST_COMPLAINTS {
        listed.push(format!("and {} more markers", found.len() - MOST_COMPLAINTS));
    }
    let total: usize = zeros.iter().sum();
    let message = format!("{total} positions are `0 0 0` and were read as missing: {}", listed.join(", "));
    log.warn(0, "", message, "write gaps as empty cells or `nan`");
}

/// The table as `.trc` text, in the format of OpenSim's `TRCFileAdapter`: 16 digits, `nan` for missing markers. Scalar
/// columns must come in threes (`a_1, a_2, a_3` or `a_x, a_y, a_z`). `file` is written in the first line if the table
/// has no name.
pub fn write(table: &Table, file: &str) -> Result<String, TableError> {
    let t = table.packed()?;
    // Without a rate in the metadata, the mean rate of the rows.
    let rate = match *t.times() {
        [first, .., last] if last > first => (t.rows() - 1) as f64 / (last - first),
        _ => 0.0,
    };
    let given = |key: &str| t.metadata_value(key).map(one_line).filter(|v| !v.is_empty());
    let number = |key: &str| given(key).filter(|v| v.parse::<f64>().is_ok());
    let rate = number("DataRate").map_or_else(|| format!("{rate:.6}"), Cow::into_owned);
    let value =
        |key: &str, otherwise: &str| number(key).map_or_else(|| otherwise.to_string(), Cow::into_owned);
    let (rows, markers) = (t.rows().to_string(), t.labels().len().to_string());

    // Writing to a `String` cannot fail, so the results are dropped.
    let mut s = String::new();
    let name = one_line(&t.name);
    let name = if name.is_empty() { one_line(file) } else { name };
    let _ = writeln!(s, "PathFileType\t4\t(X/Y/Z)\t{name}");
    let _ = writeln!(s, "{}", KEYS.join("\t"));
    let values = [
        value("DataRate", &rate),
        value("CameraRate", &rate),
        rows.clone(),
        markers,
        given("Units").map_or_else(|| "m".to_string(), Cow::into_owned),
        value("OrigDataRate", &rate),
        value("OrigDataStartFrame", "0"),
        value("OrigNumFrames", &rows),
    ];
    let _ = writeln!(s, "{}", values.join("\t"));
    s.push_str("Frame#\tTime\t");
    for (i, l) in t.labels().iter().enumerate() {
        let _ = write!(s, "{}\t\t\t", written_label(l, i));
    }
    s.push_str("\n\t\t");
    for m in 1..=t.labels().len() {
        let _ = write!(s, "X{m}\tY{m}\tZ{m}\t");
    }
    s.push_str("\n\n");
    for (r, &time) in t.times().iter().enumerate() {
        let _ = write!(s, "{}\t", r + 1);
        push_general(&mut s, time);
        s.push('\t');
        for c in t.columns() {
            push_general(&mut s, c[r]);
            s.push('\t');
        }
        s.push('\n');
    }
    Ok(s)
}
