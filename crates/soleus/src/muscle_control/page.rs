//! Page with the results of tracking.

use super::report::Rated;
use super::{TrackedMotion, Tracking, TrackingReport};
use crate::context::{Context, Silent};
use crate::emg;
use crate::text::capital;
use crate::viewing::View;
use soleus_math::Table;
use soleus_viewer::{Animation, Card, Dash, Light, Line, Plot, Report, Style, Table as Rows, significant};

/// The figure of a simulated motion, if it can be drawn.
pub(super) fn figure(cx: &Context, request: &Tracking, states: &Table) -> Option<Animation> {
    let view = View {
        model: request.model.clone(),
        motion: Some(states.clone().into()),
        loads: request.loads.clone(),
        ..View::default()
    };
    let quiet = Context { monitor: &Silent, ..*cx };
    let without_loads = View { loads: None, ..view.clone() };
    view.run(&quiet).or_else(|_| without_loads.run(&quiet)).ok().map(|v| v.animation)
}

/// The page. `rough` is the weight of changes of excitation, and the excitations without it.
pub fn page(found: &TrackedMotion, figure: Option<&Animation>, rough: Option<(f64, &Table)>) -> String {
    let report = &found.report;
    let tool = if report.has_muscles { "computed muscle control" } else { "residual reduction" };
    let mut page = Report::new(format!("{} · {tool}", found.name));
    for line in report.lines() {
        page = page.text(format!("{}.", capital(&line)));
    }
    page = limits(page, report);
    if let Some(figure) = figure {
        page = page.heading("Motion").animation(figure);
    }
    page = page.heading("Tracking errors, residuals and reserves");
    let mut rows = Rows::new("Coordinates", ["coordinate", "RMS", "largest", "unit"]);
    for c in report.coordinates.iter().filter(|c| c.is_followed) {
        rows =
            rows.row([c.name.clone(), format!("{:.3}", c.rms), format!("{:.3}", c.largest), c.unit.into()]);
    }
    page = page.table(rows);
    for (table, title) in [
        (4, "Errors as in Table 4 of Thelen & Anderson (2006), RMS over both sides"),
        (5, "Forces of foot springs as in Table 5 of Thelen & Anderson (2006), RMS"),
    ] {
        let list = report.walking_rows().into_iter().filter(|r| r.table == table);
        let mut rows = Rows::new(title, ["", "RMS", "unit", "published mean", "SD"]);
        let mut any = false;
        for r in list {
            let numbers =
                [format!("{:.2}", r.rms), r.unit.into(), r.mean.to_string(), r.deviation.to_string()];
            rows = rows.row([vec![r.what.to_string()], numbers.to_vec()].concat());
            any = true;
        }
        if any {
            page = page.table(rows);
        }
    }
    page = help(page, report);
    if let Some(table) = &found.emg {
        page = emg::section(page, &report.emg, table);
    }
    let excitations = excitations(found, rough.map(|r| r.1));
    if !excitations.is_empty() {
        page = page.heading("Excitations");
        if let Some((price, rough)) = rough {
            page = page.text(chatter(&found.control_nodes, rough, &found.steps, price));
        }
        page = page.plots(excitations);
    }
    page.to_html()
}

/// Residuals, reserves and errors beside the usual limits, and where those come from.
pub(crate) fn limits(page: Report, report: &TrackingReport) -> Report {
    let light = |r: &Rated| {
        let [good, bad] = r.limits;
        let bad = if bad > good { format!("; bad above {bad}") } else { String::new() };
        Light {
            what: capital(r.what),
            value: format!("{} {}", significant(r.value, 3), r.unit),
            verdict: Some(r.verdict()),
            reason: format!("{good} {} or less{bad}", r.unit),
        }
    };
    let lights: Vec<Light> = report.rated().iter().map(light).collect();
    if lights.is_empty() {
        return page;
    }
    let card = Card { title: "Compared with recommended limits".into(), lights };
    page.cards(vec![card]).text(format!("Source of the limits: {}.", report.source_of_limits()))
}

/// What residuals and reserves did.
pub(crate) fn help(page: Report, report: &TrackingReport) -> Report {
    if report.helpers.is_empty() {
        return page;
    }
    let columns = ["actuator", "mean", "RMS", "largest", "unit", "share of the largest joint moment"];
    let mut rows = Rows::new("Residuals and reserves", columns);
    for h in &report.helpers {
        let [mean, rms, largest] = [h.mean, h.rms, h.largest].map(hundredths);
        let unit = if h.is_force { "N" } else { "N m" }.to_string();
        let part = h.joint.map_or(String::new(), |[most, _]| format!("{:.1} %", 100.0 * h.largest / most));
        rows = rows.row([h.name.clone(), mean, rms, largest, unit, part]);
    }
    page.table(rows)
}

/// A number with two decimals, and no sign where they are zero.
fn hundredths(x: f64) -> String {
    format!("{:.2}", if x.abs() < 0.005 { 0.0 } else { x })
}

/// Changes of excitation from window to window, with and without a price.
fn chatter(found: &Table, rough: &Table, is_muscle: &[bool], price: f64) -> String {
    let changes = |t: &Table| {
        let muscles = t.columns().iter().zip(is_muscle).filter(|(_, m)| **m);
        muscles.flat_map(|(c, _)| c.windows(2).map(|w| (w[1] - w[0]).powi(2))).sum::<f64>()
    };
    format!(
        "Changes of excitation between windows are penalised with {price} relative to effort (--smoothness). The sum of their squares is {:.3}, instead of {:.3} without the penalty (dotted).",
        changes(found),
        changes(rough)
    )
}

/// Excitations of muscles, left and right in one plot, over those without a price on changes.
fn excitations(found: &TrackedMotion, rough: Option<&Table>) -> Vec<Plot> {
    let t = &found.control_nodes;
    let mut list: Vec<Plot> = Vec::new();
    for (i, (label, y)) in t.labels().iter().zip(t.columns()).enumerate() {
        // Muscles alone are held over a window.
        if !found.steps.get(i).copied().unwrap_or(false) {
            continue;
        }
        let name = label.strip_suffix(".excitation").unwrap_or(label);
        let place = place_of(&mut list, name, "excitation");
        let lines = &mut list[place].lines;
        let color = lines.iter().filter(|l| l.style.dash == Some(Dash::Solid)).count();
        let style = |dash: Dash| Style { color: Some(color), dash: Some(dash), ..Style::default() };
        lines.push(Line::new(name, t.times().to_vec(), y.clone()).styled(style(Dash::Solid)));
        if let Some(y) = rough.and_then(|r| r.column(label)) {
            let times = rough.map(|r| r.times().to_vec()).unwrap_or_default();
            let line = Line::new(format!("{name}, without the penalty"), times, y.to_vec());
            lines.push(line.styled(style(Dash::Dotted)));
        }
    }
    list
}

/// The plot of a muscle, which it shares with that of the other side; a new one if there is none.
fn place_of(list: &mut Vec<Plot>, muscle: &str, what: &str) -> usize {
    let parts: Vec<&str> = muscle.split('_').filter(|p| !matches!(*p, "r" | "l")).collect();
    let title = parts.join("_");
    list.iter().position(|p| p.title == title).unwrap_or_else(|| {
        list.push(Plot {
            title,
            x_label: "time (s)".to_string(),
            y_label: what.to_string(),
            y_range: Some([0.0, 1.0]),
            over_time: true,
            ..Plot::default()
        });
        list.len() - 1
    })
}

/// Columns of a table, left and right in one plot.
pub(crate) fn activations(t: &Table, is_muscle: impl Fn(&str) -> bool) -> Vec<Plot> {
    let mut list: Vec<Plot> = Vec::new();
    for (label, y) in t.labels().iter().zip(t.columns()).filter(|(l, _)| is_muscle(l)) {
        let place = place_of(&mut list, label, "activation");
        list[place].lines.push(Line::new(label.as_str(), t.times().to_vec(), y.clone()));
    }
    list
}
