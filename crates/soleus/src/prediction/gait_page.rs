//! Page of a predicted gait.

use super::request::PredictedGait;
use crate::text::capital;
use soleus_control::gait::Walker;
use soleus_viewer::scene::Shape;
use soleus_viewer::{
    Line, Plot, Recorder, Report, SceneOptions, Table, activation_plots, coordinate_plots, significant,
};

/// The page: animation, gait parameters, costs, ground forces, coordinates and muscles.
pub fn page(found: &PredictedGait, walker: &Walker, geometry: Vec<Shape>) -> String {
    let (model, system) = (&walker.base.model, &walker.base.system);
    let Some(cycle) = &found.cycle else { return String::new() };
    let mut recorder = Recorder::new(model, system, &SceneOptions { geometry }).with(true, true);
    cycle.states.iter().for_each(|x| recorder.record(x));
    let animation = recorder.finish();
    let title = format!("{} at {} m/s", found.study.setup.name, significant(found.speed, 3));
    let mut report = Report::new(title)
        .text("No measured data were tracked: this is the periodic motion of minimum effort at the given speed.")
        .animation(&animation);
    let mut table = Table::new("Gait", ["quantity", "value"])
        .row(["cycle, s".to_string(), significant(cycle.duration(), 4)])
        .row(["stride, m".to_string(), significant(found.speed * cycle.duration(), 4)])
        .row(["stance, % of the cycle".to_string(), significant(100.0 * cycle.stance(), 3)])
        .row(["flight, % of the cycle".to_string(), significant(100.0 * cycle.aerial(), 3)]);
    if let Some(s) = &found.solution {
        let violation = format!("{:.1e}", s.certificate().constraint_violation);
        table = table.row(["largest violation of an equation".to_string(), violation]);
        let goals = s.phases.first().map_or(&[][..], |p| &p.goals);
        let costs = goals.iter().filter(|g| g.1 != 0.0);
        let costs = costs
            .fold(Table::new("Cost", ["goal", "cost"]), |t, (n, v)| t.row([n.clone(), significant(*v, 3)]));
        report = report.table(table).table(costs);
    }
    if !found.parameters.is_empty() {
        let rows = found.parameters.iter().map(|p| {
            let bounds = format!("{} to {}", p.bounds[0], p.bounds[1]);
            [p.name.clone(), significant(p.value, 4), p.unit.clone(), bounds]
        });
        report = report
            .table(rows.fold(Table::new("Found", ["parameter", "value", "unit", "bounds"]), Table::row));
    }
    let lines = found.lines();
    let told: Vec<&String> =
        lines.iter().filter(|l| l.contains("local optim") || l.contains(": objective")).collect();
    report = told.into_iter().fold(report, |r, l| r.text(format!("{}.", capital(l))));
    let start = cycle.states.first().map_or(0.0, |x| x.time);
    let percent: Vec<f64> =
        cycle.states.iter().map(|x| 100.0 * (x.time - start) / cycle.duration().max(1e-9)).collect();
    let force = |axis: usize, name: &str| Plot {
        title: name.into(),
        x_label: "gait cycle (%)".into(),
        y_label: "body weights".into(),
        lines: ["right", "left"]
            .iter()
            .zip(&cycle.forces)
            .map(|(side, f)| Line::new(*side, percent.clone(), f.iter().map(|f| f[axis]).collect()))
            .collect(),
        cycle: Some([start, start + cycle.duration()]),
        ..Plot::default()
    };
    let forces = vec![force(1, "Vertical ground force"), force(0, "Forward ground force")];
    report = report.heading("Ground forces").plots(forces);
    report = report.heading("Coordinates").plots(coordinate_plots(model, system, &cycle.states));
    report.heading("Muscles").plots(activation_plots(model, system, &cycle.states)).to_html()
}
