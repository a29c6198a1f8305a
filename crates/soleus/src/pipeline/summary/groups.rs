//! Muscle activations over the gait cycle, by functional group.

use super::cycle::{Cycles, line};
use soleus_tools::plates::Side;
use soleus_viewer::{Dash, Line, Plot, Style};

/// What muscles do, and words that their names begin with in the models of the field; of several words the longest counts. Muscles that
/// none of them names are in the last group.
const GROUPS: [(&str, &[&str]); 10] = [
    ("Hip extensors", &["glut", "glmax", "gmax"]),
    (
        "Hip abductors",
        &[
            "glut_med",
            "glut_min",
            "gluteus_med",
            "gluteus_min",
            "glmed",
            "glmin",
            "gmed",
            "gmin",
            "tfl",
            "tensor_fas",
            "peri",
            "piri",
        ],
    ),
    ("Hip flexors", &["iliacus", "psoas", "iliopsoas", "sar", "pect"]),
    (
        "Hip adductors",
        &["add_", "adductor", "addbrev", "addlong", "addmag", "grac", "quad_fem", "quadratus_fem", "gem"],
    ),
    ("Hamstrings", &["hamstrings", "semimem", "semiten", "bflh", "bfsh", "bifemlh", "bifemsh", "biceps_fem"]),
    ("Knee extensors", &["rectus", "rect_fem", "recfem", "vas"]),
    (
        "Plantarflexors",
        &[
            "soleus",
            "gas",
            "med_gas",
            "lat_gas",
            "tib_post",
            "tibpost",
            "tibialis_post",
            "flex_dig",
            "flex_hal",
            "fhl",
            "fdl",
            "per_",
            "peroneus",
            "perlong",
            "perbrev",
            "plantaris",
        ],
    ),
    (
        "Dorsiflexors",
        &[
            "tib_ant",
            "tibant",
            "tibialis_ant",
            "ext_dig",
            "ext_hal",
            "edl",
            "ehl",
            "per_tert",
            "perter",
            "peroneus_tert",
        ],
    ),
    ("Trunk", &["ercspn", "erector", "intobl", "extobl", "rectus_abd", "rect_abd", "rectabd"]),
    ("Other", &["pect_m", "pectoralis"]),
];

/// The group of a muscle, by its place in the list.
fn group_of(muscle: &str) -> usize {
    let name = muscle.to_lowercase();
    let words = GROUPS.iter().enumerate().flat_map(|(k, (_, words))| words.iter().map(move |w| (k, w)));
    let fitting = words.filter(|(_, w)| name.starts_with(**w)).max_by_key(|(_, w)| w.len());
    fitting.map_or(GROUPS.len() - 1, |(k, _)| k)
}

/// Caption of the plots.
pub fn caption(cycles: &[Cycles]) -> String {
    let trial = cycles.first().map_or("", |c| c.name.as_str());
    format!("Activations of right (solid) and left muscles (dashed), means over the cycles of {trial}.")
}

/// One plot for each group: both sides of the first trial.
pub fn plots(cycles: &[Cycles]) -> Vec<Plot> {
    let Some(first) = cycles.first() else { return Vec::new() };
    let of_group = |(group, (title, _)): (usize, &(&str, &[&str]))| {
        let is_activation = |c: &&crate::gait::CycleCurve| {
            // NaN where the cycle is not covered.
            let is_outside = |p: &soleus_tools::gait::Stat| p.mean < 0.0 || p.mean > 1.0 + 1e-9;
            first.muscles.contains(&c.name) && group_of(&c.name) == group && !c.points.iter().any(is_outside)
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
    GROUPS.iter().enumerate().filter_map(of_group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gait::{FLEXION, side_of};
    use soleus_model::{ForceKind, Model};
    use soleus_testing::{reference_test, shared};
    use std::path::Path;

    fn title(muscle: &str) -> &'static str {
        GROUPS[group_of(muscle)].0
    }

    #[test]
    fn analytic_longest_word_counts() {
        assert_eq!(title("per_tert_r"), "Dorsiflexors");
        assert_eq!(title("per_long_r"), "Plantarflexors");
        assert_eq!(title("glut_med1_r"), "Hip abductors");
        assert_eq!(title("glutei_r"), "Hip extensors");
        assert_eq!(title("rectus_abd"), "Trunk");
        assert_eq!(title("pect_r"), "Hip flexors");
        assert_eq!(title("pect_maj_c_1"), "Other");
        assert_eq!(title("delt_clav_1"), "Other");
    }

    /// Every muscle of a model with a knee has a function, and every joint of a leg a row in the grid; how many muscles there are.
    fn check_models(folder: &Path) -> usize {
        let mut count = 0;
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                count += check_models(&path);
                continue;
            }
            if path.extension().is_none_or(|e| e != "osim") {
                continue;
            }
            let text = std::fs::read(&path).unwrap();
            let Some(model) = soleus_io::osim::read_model(&text, "model").0 else { continue };
            count += check_model(&path, &model);
        }
        count
    }

    fn check_model(path: &Path, model: &Model) -> usize {
        let names: Vec<String> = model.coordinates.iter().map(|c| side_of(&c.name).1).collect();
        let moves = |joint: &str| {
            FLEXION.iter().find(|f| f.0 == joint).unwrap().1.iter().any(|n| names.iter().any(|own| own == n))
        };
        if !moves("Knee") || !moves("Ankle") {
            return 0;
        }
        assert!(moves("Hip") || !names.iter().any(|n| n.contains("hip")), "{}: {names:?}", path.display());
        let muscles = model.forces.iter().filter(|f| matches!(f.kind, ForceKind::Muscle(_)));
        let list: Vec<&str> = muscles.map(|f| f.name.as_str()).collect();
        for name in &list {
            assert_ne!(title(&side_of(name).1), "Other", "{}: {name}", path.display());
        }
        list.len()
    }

    #[test]
    fn identity_muscles_of_the_models_here_have_a_function() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
        // 16 of gait2d, 6 of the leg of leg_swing, 16 of the skier.
        assert!(check_models(&folder) > 16);
    }

    #[reference_test("data")]
    fn identity_muscles_of_the_reference_models_have_a_function() {
        assert!(check_models(Path::new(shared!("data"))) > 1000);
    }
}
