//! Muscle activations over the gait cycle, by functional group.

use super::cycle::{Cycles, line};
use soleus_tools::plates::Side;
use soleus_viewer::{Line, Plot, Style};

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

/// One plot for each group: the right side of the first trial with activations.
pub fn plots(cycles: &[Cycles]) -> Vec<Plot> {
    let Some(first) = cycles.first() else { return Vec::new() };
    let of_group = |(title, words): &(&str, &[&str])| {
        let begins = |name: &str| words.iter().any(|w| name.to_lowercase().starts_with(w));
        let is_activation = |c: &&crate::gait::CycleCurve| {
            // NaN where the cycle is not covered.
            let is_outside = |p: &soleus_tools::gait::Stat| p.mean < 0.0 || p.mean > 1.0 + 1e-9;
            begins(&c.name) && !c.points.iter().any(is_outside)
        };
        let lines: Vec<Line> = first
            .gait
            .curves
            .iter()
            .filter(|c| c.side == Side::Right)
            .filter(is_activation)
            .enumerate()
            .map(|(k, c)| line(c.name.clone(), c).styled(Style { color: Some(k), ..Style::default() }))
            .collect();
        (!lines.is_empty()).then(|| Plot {
            title: format!("{title}, right, {}", first.name),
            x_label: "gait cycle (%)".into(),
            y_label: "activation".into(),
            lines,
            x_range: Some([0.0, 100.0]),
            y_range: Some([0.0, 1.0]),
            ..Plot::default()
        })
    };
    GROUPS.iter().filter_map(of_group).collect()
}
