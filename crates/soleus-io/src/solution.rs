//! Solutions of optimal control as tables, in the layout of a MocoTrajectory: states, controls, multipliers,
//! derivatives and parameters over time, with a header about the solve.

use std::borrow::Cow;
use std::fmt::Write;

/// Columns of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnGroup<'a> {
    /// Labels.
    pub names: Cow<'a, [String]>,
    /// Values, row by row.
    pub rows: Cow<'a, [Vec<f64>]>,
}

/// A solution to be written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolutionTable<'a> {
    /// Time of each row, s.
    pub times: Cow<'a, [f64]>,
    /// States.
    pub states: ColumnGroup<'a>,
    /// Controls.
    pub controls: ColumnGroup<'a>,
    /// Multipliers of the constraints.
    pub multipliers: ColumnGroup<'a>,
    /// Rates of states that are variables in Moco; see [`rate_label`].
    pub derivatives: ColumnGroup<'a>,
    /// Parameters by name.
    pub parameters: Cow<'a, [(String, f64)]>,
    /// Iterations of the solver.
    pub iterations: usize,
    /// Objective.
    pub objective: f64,
    /// Cost of each goal; goals with zero cost are not written.
    pub goals: Cow<'a, [(String, f64)]>,
    /// Time for the solve, s.
    pub seconds: f64,
    /// Final status of the solver.
    pub status: Cow<'a, str>,
    /// Whether the problem is solved.
    pub success: bool,
}

/// Moco's label of the rate of a state.
pub fn rate_label(state: &str) -> String {
    match state.strip_suffix("/speed") {
        Some(path) => format!("{path}/accel"),
        None => match state.rsplit_once('/') {
            Some((path, name)) => format!("{path}/implicitderiv_{name}"),
            None => format!("implicitderiv_{state}"),
        },
    }
}

/// A name as a header or a label can hold it: a study may call a goal anything, but a line ends at the first newline and a label at the
/// first tab.
fn on_one_line(name: &str) -> Cow<'_, str> {
    match name.contains(char::is_control) {
        true => Cow::Owned(name.replace(char::is_control, "_")),
        false => Cow::Borrowed(name),
    }
}

/// The solution as text, version 3 of the format, with Moco's header.
pub fn write(s: &SolutionTable) -> String {
    let groups = [&s.states, &s.controls, &s.multipliers, &s.derivatives];
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
        line(&format!("objective_{}", on_one_line(name)), format!("{value:.9e}"));
    }
    line("solver_duration", format!("{:.6}", s.seconds));
    line("status", s.status.to_string());
    line("success", s.success.to_string());
    line("DataType", "double".into());
    line("version", "3".into());
    out.push_str("endheader\ntime");
    let names = groups.iter().flat_map(|g| g.names.iter());
    for name in names.chain(s.parameters.iter().map(|p| &p.0)) {
        out.push('\t');
        out.push_str(&on_one_line(name));
    }
    out.push('\n');
    for (r, time) in s.times.iter().enumerate() {
        let _ = write!(out, "{time}");
        for x in groups.iter().flat_map(|g| g.rows.get(r)).flatten() {
            let _ = write!(out, "\t{x}");
        }
        // Parameters do not change: the first row has them.
        for (_, value) in s.parameters.iter() {
            let _ = if r == 0 { write!(out, "\t{value}") } else { write!(out, "\tnan") };
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;

    fn group(names: &[&str], rows: &[&[f64]]) -> ColumnGroup<'static> {
        ColumnGroup {
            names: names.iter().map(|n| n.to_string()).collect(),
            rows: rows.iter().map(|r| r.to_vec()).collect(),
        }
    }

    fn solution() -> SolutionTable<'static> {
        SolutionTable {
            times: vec![0.0, 0.5].into(),
            states: group(&["/j/q/value", "/j/q/speed"], &[&[1.0, 2.0], &[3.0, 0.1 + 0.2]]),
            controls: group(&["/a"], &[&[0.25], &[-1e-9]]),
            multipliers: ColumnGroup::default(),
            derivatives: group(&["/j/q/accel"], &[&[4.0], &[5.0]]),
            parameters: vec![("mass".to_string(), 7.5)].into(),
            iterations: 12,
            objective: 1.5,
            goals: vec![("effort\tof all".to_string(), 1.5), ("nothing".to_string(), 0.0)].into(),
            seconds: 0.25,
            status: "Solved".into(),
            success: true,
        }
    }

    #[test]
    fn analytic_text_of_the_format() {
        let expected = "inDegrees=no\nnum_controls=1\nnum_derivatives=1\nnum_input_controls=0\nnum_iterations=12\n\
            num_multipliers=0\nnum_parameters=1\nnum_slacks=0\nnum_states=2\nobjective=1.500000000e0\n\
            objective_effort_of all=1.500000000e0\nsolver_duration=0.250000\nstatus=Solved\nsuccess=true\n\
            DataType=double\nversion=3\nendheader\n\
            time\t/j/q/value\t/j/q/speed\t/a\t/j/q/accel\tmass\n\
            0\t1\t2\t0.25\t4\t7.5\n0.5\t3\t0.30000000000000004\t-0.000000001\t5\tnan\n";
        assert_eq!(write(&solution()), expected);
    }

    #[test]
    fn identity_written_and_read_again_is_the_same() {
        let (read, log) = table::read(write(&solution()).as_bytes(), "s.sto");
        let read = read.unwrap_or_else(|| panic!("{:?}", log.list));
        assert_eq!(read.times(), [0.0, 0.5]);
        assert_eq!(read.column("/j/q/speed"), Some(&[2.0, 0.1 + 0.2][..]));
        assert_eq!(read.column("/a"), Some(&[0.25, -1e-9][..]));
    }

    #[test]
    fn analytic_rates_have_the_names_of_moco() {
        assert_eq!(rate_label("/jointset/hip/flexion/speed"), "/jointset/hip/flexion/accel");
        let force = "/forceset/soleus/implicitderiv_normalized_tendon_force";
        assert_eq!(rate_label("/forceset/soleus/normalized_tendon_force"), force);
        assert_eq!(rate_label("x"), "implicitderiv_x");
    }
}
