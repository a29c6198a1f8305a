//! Page of a solution: costs, quality, plots and animation.

use crate::emg::{self, EmgCurve};
use crate::text::capital;
use soleus_control::Trajectory;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_dynamics::State;
use soleus_model::Model;
use soleus_model::angles::unit_of;
use soleus_model::joint::MotionType;
use soleus_optimization::nlp::Solution;
use soleus_simulation::system::state_column;
use soleus_viewer::scene::Shape;
use soleus_viewer::{
    Dash, Line, Plot, Recorder, Report, SceneOptions, Style, Table, activation_plots, coordinate_plots,
    force_plots, grouped_plots, significant,
};

/// Measured data to plot with the solution.
#[derive(Default)]
pub struct Beside<'a> {
    /// Coordinates that goals track.
    pub tracked: Vec<soleus_math::Table>,
    /// EMG.
    pub emg: &'a [EmgCurve],
    /// Parameters that were optimised: name, value, unit, bounds.
    pub parameters: Vec<[String; 4]>,
}

/// The page of a solution.
pub fn html(
    title: &str,
    (base, t): (&ModelProblem, &Trajectory),
    solution: &Solution,
    goals: &[(String, f64)],
    seconds: f64,
    beside: &Beside,
    geometry: Vec<Shape>,
) -> String {
    let (model, system) = (&base.model, &base.system);
    let states = states(base, t);
    let has = |what: &str| t.states.names.iter().any(|n| n.ends_with(what));
    let mut recorder =
        Recorder::new(model, system, &SceneOptions { geometry }).with(has("/activation"), has("/speed"));
    states.iter().for_each(|x| recorder.record(x));
    let animation = recorder.finish();

    let mut report = Report::new(title).text(format!(
        "{} after {} iterations in {seconds:.2} s.",
        capital(solution.status.describe()),
        solution.counts.iterations
    ));
    if has("/value") {
        report = report.animation(&animation);
    }
    report = report.table(objective(solution, goals)).table(quality(t, solution));
    if !beside.parameters.is_empty() {
        let table = Table::new("Parameters", ["parameter", "value", "unit", "bounds"]);
        report = report.table(beside.parameters.iter().cloned().fold(table, Table::row));
    }
    if let Ok((list, Some(table))) = emg::compare_found(beside.emg, t) {
        report = emg::section(report, &list, &table);
    }
    let controls = (0..t.controls.names.len()).map(|c| {
        let name = t.controls.names[c].rsplit('/').next().unwrap_or_default();
        Line::new(name, t.times.clone(), t.controls.rows.iter().map(|r| r[c]).collect())
    });
    for (title, plots) in [
        ("Coordinates", with_tracked(model, coordinate_plots(model, system, &states), &beside.tracked)),
        ("Controls", grouped_plots("control", controls.collect())),
        (
            "Activations",
            if has("/activation") { activation_plots(model, system, &states) } else { Vec::new() },
        ),
        ("Forces on bodies", force_plots(&animation)),
    ] {
        if !plots.is_empty() {
            report = report.heading(title).plots(plots);
        }
    }
    report.to_html()
}

/// Plots of coordinates with the data that were tracked, dotted, in the colors of the lines that follow them.
fn with_tracked(model: &Model, mut plots: Vec<Plot>, tracked: &[soleus_math::Table]) -> Vec<Plot> {
    for plot in &mut plots {
        let own: Vec<(usize, String)> =
            plot.lines.iter().enumerate().map(|(i, l)| (i, l.name.clone())).collect();
        let ends = plot.lines.first().and_then(|l| Some([*l.x.first()?, *l.x.last()?]));
        for (i, name) in own {
            let Some(c) = model.coordinates.iter().find(|c| c.name == name) else { continue };
            for table in tracked {
                let column = state_column(table.labels(), &format!("{}/value", c.path));
                let (Some(column), Some([from, to])) = (column, ends) else { continue };
                // Coupled coordinates are drawn in degrees too.
                let degrees =
                    if c.motion_type == MotionType::Translational { 1.0 } else { 1f64.to_degrees() };
                let unit = unit_of(table, c) * degrees;
                let inside =
                    (0..table.rows()).filter(|&r| table.times()[r] >= from && table.times()[r] <= to);
                let (x, y) = inside.map(|r| (table.times()[r], unit * table.columns()[column][r])).unzip();
                let style = Style { color: Some(i), dash: Some(Dash::Dotted), ..Style::default() };
                plot.lines.push(Line::new(format!("{name}, tracked"), x, y).styled(style));
            }
        }
    }
    plots
}

/// The states of the model along a trajectory; what the problem has no state for stays at its default.
fn states(base: &ModelProblem, t: &Trajectory) -> Vec<State<f64>> {
    let n = base.num_coordinates();
    let slots: Vec<Option<usize>> =
        t.states.names.iter().map(|name| base.states.iter().position(|s| s == name)).collect();
    let state = |(row, &time): (&Vec<f64>, &f64)| {
        let mut x = State { time, ..base.system.default_state.clone() };
        for (slot, &v) in slots.iter().zip(row) {
            match slot {
                Some(i) if *i < n => x.q[*i] = v,
                Some(i) if *i < 2 * n => x.u[*i - n] = v,
                Some(i) => x.z[*i - 2 * n] = v,
                None => {}
            }
        }
        x
    };
    t.states.rows.iter().zip(&t.times).map(state).collect()
}

/// What each goal costs.
fn objective(solution: &Solution, goals: &[(String, f64)]) -> Table {
    let share = |v: f64| match solution.objective {
        0.0 => String::new(),
        whole => format!("{:.1} %", 100.0 * v / whole),
    };
    let table = Table::new("Objective", ["goal", "cost", "share"]);
    let row =
        |table: Table, (name, v): &(String, f64)| table.row([name.clone(), significant(*v, 4), share(*v)]);
    let total = significant(solution.objective, 4);
    goals.iter().filter(|g| g.1 != 0.0).fold(table, row).row(["sum".to_string(), total, String::new()])
}

/// How well the equations are solved.
fn quality(t: &Trajectory, solution: &Solution) -> Table {
    let c = &solution.certificate;
    let number = |v: f64| if v == 0.0 { "0".to_string() } else { format!("{v:.2e}") };
    Table::new("Quality", ["quantity", "value"])
        .row(["points in time".to_string(), t.times.len().to_string()])
        .row(["largest violation of a constraint".to_string(), number(c.constraint_violation)])
        .row(["largest violation of a bound".to_string(), number(c.bound_violation)])
        .row(["largest entry of the Lagrangian gradient".to_string(), number(c.dual_infeasibility)])
        .row(["complementarity".to_string(), number(c.complementarity)])
}
