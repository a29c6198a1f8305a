//! Solutions of optimal control as tables (.sto) in the layout of a `MocoTrajectory`.
//!
//! The header counts the columns of each kind, which stand in this order: states, controls, multipliers, derivatives,
//! parameters. Parameters do not change: the first row has them, the others NaN.

use crate::table::sto;
use serde::{Deserialize, Serialize};
use soleus_math::Table;
use soleus_model::Diagnostics;
use std::fmt::Write;

/// Variables over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Columns {
    /// Names.
    pub names: Vec<String>,
    /// Values: one list for each time, in the order of the names.
    #[serde(with = "crate::plain")]
    pub rows: Vec<Vec<f64>>,
}

/// A solution, and how it was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SolutionTable {
    /// Times, s.
    #[serde(with = "crate::plain")]
    pub times: Vec<f64>,
    /// States.
    pub states: Columns,
    /// Controls.
    pub controls: Columns,
    /// Multipliers of kinematic constraints.
    pub multipliers: Columns,
    /// Rates that are variables of their own, under the names that [`rate_name`] gives.
    pub derivatives: Columns,
    /// Parameters.
    #[serde(with = "crate::plain")]
    pub parameters: Vec<(String, f64)>,
    /// Iterations of the solver.
    pub iterations: usize,
    /// Objective.
    #[serde(with = "crate::plain")]
    pub objective: f64,
    /// What each goal contributes to it.
    #[serde(with = "crate::plain")]
    pub goals: Vec<(String, f64)>,
    /// Time it took, s.
    #[serde(with = "crate::plain")]
    pub seconds: f64,
    /// How the solver ended, in words.
    pub status: String,
    /// Whether it converged.
    pub success: bool,
}

/// Moco's name of the rate of a state.
pub fn rate_name(state: &str) -> String {
    match state.strip_suffix("/speed") {
        Some(path) => format!("{path}/accel"),
        None => match state.rsplit_once('/') {
            Some((path, name)) => format!("{path}/implicitderiv_{name}"),
            None => format!("implicitderiv_{state}"),
        },
    }
}

impl Columns {
    /// Those of the names that a table has under the names that `column_of` gives.
    pub fn of(table: &Table, names: &[String], column_of: impl Fn(&str) -> String) -> Columns {
        let found: Vec<(&String, &[f64])> =
            names.iter().filter_map(|n| Some((n, table.column(&column_of(n))?))).collect();
        Columns {
            names: found.iter().map(|f| f.0.clone()).collect(),
            rows: (0..table.rows()).map(|r| found.iter().map(|f| f.1[r]).collect()).collect(),
        }
    }
}

/// The solution as text, version 3 of the format, with Moco's header.
pub fn write(s: &SolutionTable) -> String {
    let mut out = String::new();
    // Writing to a `String` cannot fail.
    let mut line = |key: &str, value: String| {
        let _ = writeln!(out, "{key}={value}");
    };
    line("inDegrees", "no".into());
    line("num_controls", s.controls.names.len().to_string());
    line("num_derivatives", s.derivatives.names.len().to_string());
    line("num_input_controls", "0".into());
    line("num_iterations", s.iterations.to_string());
    line("num_multipliers", s.multipliers.names.len().to_string());
    line("num_parameters", s.parameters.len().to_string());
    line("num_slacks", "0".into());
    line("num_states", s.states.names.len().to_string());
    line("objective", format!("{:.9e}", s.objective));
    for (name, value) in s.goals.iter().filter(|g| g.1 != 0.0) {
        line(&format!("objective_{name}"), format!("{value:.9e}"));
    }
    line("solver_duration", format!("{:.6}", s.seconds));
    line("status", s.status.clone());
    line("success", s.success.to_string());
    line("DataType", "double".into());
    line("version", "3".into());
    out.push_str("endheader\ntime");
    let kinds = [&s.states, &s.controls, &s.multipliers, &s.derivatives];
    for name in kinds.iter().flat_map(|k| &k.names).chain(s.parameters.iter().map(|p| &p.0)) {
        out.push('\t');
        out.push_str(name);
    }
    out.push('\n');
    for (r, time) in s.times.iter().enumerate() {
        let _ = write!(out, "{time}");
        for x in kinds.iter().filter_map(|k| k.rows.get(r)).flatten() {
            let _ = write!(out, "\t{x}");
        }
        for (_, value) in &s.parameters {
            let _ = if r == 0 { write!(out, "\t{value}") } else { write!(out, "\tnan") };
        }
        out.push('\n');
    }
    out
}

/// Reads a solution whose header counts its columns, as ours and Moco's do. The solution is `None` if and only if the
/// diagnostics hold an error. Slack variables and input controls of Moco's are left out.
pub fn read(bytes: &[u8], file: &str) -> (Option<SolutionTable>, Diagnostics) {
    let (table, mut log) = sto::read(bytes, file);
    let solution = table.and_then(|t| of_table(&t, &mut log));
    if log.has_errors() { (None, log) } else { (solution, log) }
}

fn of_table(t: &Table, log: &mut Diagnostics) -> Option<SolutionTable> {
    let text = |key: &str| t.metadata_value(key).map(str::trim);
    let number = |key: &str| text(key).and_then(|v| v.parse::<f64>().ok()).unwrap_or(f64::NAN);
    let count = |key: &str| text(key).and_then(|v| v.parse::<usize>().ok());
    if count("num_states").is_none() {
        let hint = "give a solution that `soleus solve` or Moco wrote";
        log.error(0, "", "the header does not say how many states there are: `num_states`", hint);
        return None;
    }
    // The order of the columns in a file of Moco's.
    let kinds = [
        "num_states",
        "num_controls",
        "num_input_controls",
        "num_multipliers",
        "num_derivatives",
        "num_slacks",
        "num_parameters",
    ];
    let counts = kinds.map(|k| count(k).unwrap_or(0));
    let (needed, found) = (counts.iter().sum::<usize>(), t.columns().len());
    if needed != found {
        let message = format!("the header counts {needed} columns, but there are {found}");
        log.error(0, "", message, "the file may have been changed; write it again");
        return None;
    }
    let mut first = 0;
    let mut next = |n: usize| {
        let range = first..first + n;
        first += n;
        Columns {
            names: t.labels()[range.clone()].to_vec(),
            rows: (0..t.rows()).map(|r| t.columns()[range.clone()].iter().map(|c| c[r]).collect()).collect(),
        }
    };
    let [states, controls, _, multipliers, derivatives, _, parameters] = counts.map(&mut next);
    let values = parameters.rows.first().cloned().unwrap_or_else(|| vec![f64::NAN; parameters.names.len()]);
    let goals = t.metadata.iter().filter_map(|(key, value)| {
        Some((key.strip_prefix("objective_")?.to_string(), value.trim().parse().ok()?))
    });
    Some(SolutionTable {
        times: t.times().to_vec(),
        states,
        controls,
        multipliers,
        derivatives,
        parameters: parameters.names.into_iter().zip(values).collect(),
        iterations: count("num_iterations").unwrap_or(0),
        objective: number("objective"),
        goals: goals.collect(),
        seconds: number("solver_duration"),
        status: text("status").unwrap_or_default().to_string(),
        success: text("success") == Some("true"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(names: &[&str], first: f64) -> Columns {
        let row = |r: usize| (0..names.len()).map(|i| first + (r * names.len() + i) as f64 / 3.0).collect();
        Columns { names: names.iter().map(|n| (*n).to_string()).collect(), rows: (0..3).map(row).collect() }
    }

    #[test]
    fn identity_solutions_are_kept() {
        let solution = SolutionTable {
            times: vec![0.0, 0.1, 0.30000000000000004],
            states: columns(&["/jointset/knee/knee_angle/value", "/jointset/knee/knee_angle/speed"], 0.1),
            controls: columns(&["/forceset/soleus"], -2.0),
            multipliers: columns(&["lambda_cid3_p0"], 1e22),
            derivatives: columns(&["/jointset/knee/knee_angle/accel"], 5e-324),
            parameters: vec![("mass".into(), 1.0 / 7.0)],
            iterations: 12,
            objective: 0.25,
            goals: vec![("effort".into(), 0.125), ("time".into(), 0.125)],
            seconds: 1.5,
            status: "solved".into(),
            success: true,
        };
        let text = write(&solution);
        let (again, log) = read(text.as_bytes(), "solution.sto");
        assert_eq!(again, Some(solution), "{text}{log:?}");
    }

    #[test]
    fn identity_other_tables_are_refused() {
        let table = "inDegrees=no\nnum_states=2\nDataType=double\nversion=3\nendheader\ntime\ta\n0\t1\n";
        for (text, words) in
            [(table, "counts 2 columns, but there are 1"), (&table.replace("num_", "n"), "num_states")]
        {
            let (solution, log) = read(text.as_bytes(), "t.sto");
            assert!(solution.is_none() && log.list.iter().any(|d| d.message.contains(words)), "{log:?}");
        }
    }

    #[test]
    fn analytic_names_of_rates() {
        assert_eq!(rate_name("/jointset/j/q/speed"), "/jointset/j/q/accel");
        assert_eq!(
            rate_name("/forceset/m/normalized_tendon_force"),
            "/forceset/m/implicitderiv_normalized_tendon_force"
        );
        assert_eq!(rate_name("z"), "implicitderiv_z");
    }

    /// Solutions that Moco wrote are read, every column counted.
    #[test]
    fn opensim_val_solutions_of_moco_are_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/reference/moco/solutions");
        let Ok(entries) = std::fs::read_dir(folder) else {
            println!("skipped: ../shared not found");
            return;
        };
        let mut count = 0;
        for path in entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "sto"))
        {
            let bytes = std::fs::read(&path).unwrap_or_default();
            let (solution, log) = read(&bytes, &path.display().to_string());
            let s = solution.unwrap_or_else(|| panic!("{}: {:?}", path.display(), log.list));
            assert!(!s.states.names.is_empty() && s.states.rows.len() == s.times.len(), "{}", path.display());
            assert!(s.states.names.iter().all(|n| n.starts_with('/')), "{:?}", s.states.names);
            count += 1;
        }
        assert!(count > 10, "{count} solutions");
    }
}
