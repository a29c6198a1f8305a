//! Muscle activations over the gait cycle, by functional group.

use super::cycle::{Cycles, line};
use soleus_tools::plates::Side;
use soleus_viewer::{Dash, Line, Plot, Style};

/// What muscles do, and words that their names begin with in the models of the field.
const GROUPS: [(&str, &[&str]); 9] = [
    ("Hip extensors", &["glut_max", "glmax", "gmax"]),
    ("Hip abductors", &["glut_med", "glut_min", "glmed", "glmin", "gmed", "gmin", "tfl", "peri", "piri"]),
    ("Hip flexors", &["iliacus", "psoas", "iliopsoas", "sar", "pect"]),
    ("Hip adductors", &["add_", "addbrev", "addlong", "addmag", "grac", "quad_fem", "gem"]),
    ("Hamstrings", &["hamstrings", "semimem", "semiten", "bflh", "bfsh", "bifemlh", "bifemsh"]),
    ("Knee extensors", &["rect_fem", "recfem", "vas"]),
    (
        "Plantarflexors",
        &[
            "soleus", "gas", "med_gas", "lat_gas", "tib_post", "tibpost", "flex_", "fhl", "fdl", "per_",
            "perlong", "perbrev",
        ],
    ),
    ("Dorsiflexors", &["tib_ant", "tibant", "ext_", "edl", "ehl", "per_tert"]),
    ("Trunk", &["ercspn", "intobl", "extobl"]),
];

/// Caption of the plots.
pub fn caption(cycles: &[Cycles]) -> String {
    let trial = cycles.first().map_or("", |c| c.name.as_str());
    format!("Activations of right (solid) and left muscles (dashed), means over the cycles of {trial}.")
}

/// One plot for each group: both sides of the first trial.
pub fn plots(cycles: &[Cycles]) -> Vec<Plot> {
    let Some(first) = cycles.first() else { return Vec::new() };
    let of_group = |(title, words): &(&str, &[&str])| {
        let begins = |name: &str| words.iter().any(|w| name.to_lowercase().starts_with(w));
        let is_activation = |c: &&crate::gait::CycleCurve| {
            // NaN where the cycle is not covered.
            let is_outside = |p: &soleus_tools::gait::Stat| p.mean < 0.0 || p.mean > 1.0 + 1e-9;
            begins(&c.name) && !c.points.iter().any(is_outside)
        };
        // Both sides of a muscle have one color and one entry of the legend.
        let mut names: Vec<&str> = Vec::new();
        let mut lines: Vec<Line> = Vec::new();
        for (side, dash) in [(Side::Right, Dash::Solid), (Side::Left, Dash::Dashed)] {
            for c in first.gait.curves.iter().filter(|c| c.side == side).filter(is_activation) {
                let known = names.iter().position(|n| *n == c.name);
                let color = known.unwrap_or(names.len());
                if known.is_none() {
                    names.push(&c.name);
                }
                let name = if known.is_some() { format!("{} left", c.name) } else { c.name.clone() };
                let style =
                    Style { color: Some(color), dash: Some(dash), unlisted: known.is_some(), dots: false };
                lines.push(line(name, c).styled(style));
            }
        }
        (!lines.is_empty()).then(|| Plot {
            title: (*title).to_string(),
            x_label: "gait cycle (%)".into(),
            y_label: "activation".into(),
            lines,
            x_range: Some([0.0, 100.0]),
            y_range: Some([0.0, 1.0]),
            cycle: first.shown(Side::Right),
            ..Plot::default()
        })
    };
    GROUPS.iter().filter_map(of_group).collect()
}
