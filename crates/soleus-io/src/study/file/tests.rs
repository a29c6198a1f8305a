use super::*;
use crate::study::GoalKind;

fn read_text(text: &str) -> (Option<Study>, Vec<String>) {
    let mut log = Diagnostics::new("study.toml");
    let study = read(text, &mut log);
    (study, log.list.iter().map(|d| format!("{}: {} [{}]", d.line, d.message, d.hint)).collect())
}

const SMALL: &str = "model = \"leg.osim\"\n[time]\nfinal = [0.2, 1]\n";

#[test]
fn identity_fields_reach_the_setup() {
    let text = format!(
        "{SMALL}\
[[states]]
name = \"knee/value\"
initial_deg = 90
final = [0, 0.5]
[[states]]
pattern = \".*speed\"
bounds = [-inf, 7.5]
[[goals]]
type = \"control\"
weight = 0.25
exponent = 3
weights = {{ \"/forceset/soleus\" = 2 }}
weight_patterns = {{ \".*reserve.*\" = 10 }}
divide_by_duration = true
[[goals]]
type = \"periodicity\"
name = \"cycle\"
states = [\"a\", [\"b\", \"c\"]]
negated_states = [\"d\"]
[[goals]]
type = \"state_tracking\"
reference = {{ file = \"ik.mot\", lowpass_hz = 6, speeds = true }}
[[parameters]]
name = \"m\"
components = [\"/bodyset/foot\"]
property = \"mass\"
bounds = [1, 2]
[solver]
scheme = \"trapezoidal\"
intervals = 12
tolerance = 1e-7
dynamics = \"implicit\"
acceleration_weight = 0.001
accelerations = [-30, 30]
[refine]
tolerance = 1e-5
[guess]
file = \"g.sto\"
time_stepping = true
[output]
save_every_s = 5
"
    );
    let (study, log) = read_text(&text);
    let Some(s) = study else { panic!("{log:?}") };
    assert!(log.is_empty(), "{log:?}");
    assert_eq!(s.setup.model_file.as_deref(), Some("leg.osim"));
    assert_eq!((s.setup.initial_time, s.setup.final_time), (Some([0.0; 2]), Some([0.2, 1.0])));
    // Patterns come first.
    assert!(s.setup.states[0].is_pattern && s.setup.states[0].bounds == Some([f64::NEG_INFINITY, 7.5]));
    let knee = &s.setup.states[1];
    assert_eq!((knee.name.as_str(), knee.line), ("knee/value", 4));
    let quarter = std::f64::consts::FRAC_PI_2;
    assert_eq!((knee.initial, knee.last, knee.bounds), (Some([quarter; 2]), Some([0.0, 0.5]), None));
    let effort = &s.setup.goals[0];
    let GoalKind::Control { weights, exponent } = &effort.kind else { panic!("{effort:?}") };
    assert_eq!((effort.weight, effort.divide_by_duration, *exponent), (0.25, true, 3.0));
    assert_eq!((weights.names[0].weight, weights.patterns[0].weight), (2.0, 10.0));
    let GoalKind::Periodicity { states, .. } = &s.setup.goals[1].kind else { panic!("no cycle") };
    let pairs: Vec<_> = states.iter().map(|p| (p.initial.as_str(), p.last.as_str(), p.negate)).collect();
    assert_eq!(pairs, [("a", "a", false), ("b", "c", false), ("d", "d", true)]);
    let GoalKind::StateTracking { reference, .. } = &s.setup.goals[2].kind else { panic!("no tracking") };
    assert_eq!((reference.file.as_deref(), reference.operators.len()), (Some("ik.mot"), 4));
    assert_eq!(
        (s.setup.parameters[0].bounds, s.setup.parameters[0].property_name.as_str()),
        ([1.0, 2.0], "mass")
    );
    assert_eq!(
        (s.setup.solver.transcription_scheme.as_str(), s.setup.solver.num_mesh_intervals),
        ("trapezoidal", 12)
    );
    assert!(s.setup.solver.implicit && s.setup.solver.acceleration_weight == 0.001);
    assert_eq!(s.setup.solver.implicit_multibody_acceleration_bounds, [-30.0, 30.0]);
    assert_eq!((s.tolerance, s.refine.map(|r| r.tolerance)), (Some(1e-7), Some(1e-5)));
    assert_eq!((s.setup.solver.guess_file.as_deref(), s.guess.time_stepping), (Some("g.sto"), true));
    assert_eq!(s.output.save_every_s, Some(5.0));
}

/// Path constraints, operators and formulas arrive as a MocoStudy file would give them.
#[test]
fn identity_constraints_reach_the_setup() {
    use crate::study::PathConstraintKind;
    let text = format!(
        "{SMALL}\
[[operators]]
type = \"remove_muscles\"
[[path_constraints]]
type = \"control_bound\"
controls = [\"/forceset/a\", \"/forceset/b\"]
lower = 0.1
[[path_constraints]]
type = \"frame_distance\"
pairs = [{{ frames = [\"/bodyset/l\", \"/bodyset/r\"], bounds = [0.1, inf] }}]
[[goals]]
type = \"expression\"
expression = \"p + 2*q\"
parameters = [\"mass\", \"length\"]
variables = [\"p\", \"q\"]
"
    );
    let (study, log) = read_text(&text);
    let Some(s) = study else { panic!("{log:?}") };
    assert!(log.is_empty(), "{log:?}");
    assert_eq!(s.setup.model_steps.len(), 1);
    let [bound, distance] = &s.setup.path_constraints[..] else { panic!("{:?}", s.setup.path_constraints) };
    let PathConstraintKind::ControlBound { paths, bounds } = &bound.kind else { panic!("{bound:?}") };
    assert!(paths.len() == 2 && bounds.lower.is_some() && bounds.upper.is_none(), "{bounds:?}");
    let PathConstraintKind::FrameDistance { pairs, .. } = &distance.kind else { panic!("{distance:?}") };
    assert_eq!(pairs[0].distance, [0.1, f64::INFINITY]);
    let GoalKind::ParameterExpression { parameters, variables, .. } = &s.setup.goals[0].kind else {
        panic!("{:?}", s.setup.goals[0])
    };
    assert_eq!((parameters.len(), variables.join(" ")), (2, "p q".to_string()));
}

/// What is wrong is told with its line and what it should be.
#[test]
fn identity_mistakes_are_named() {
    for (text, line, words) in [
        ("modl = \"a\"\n[time]\nfinal = 1\n".to_string(), "1:", "did you mean `model`?"),
        (format!("{SMALL}[solver]\nintervalls = 3\n"), "5:", "did you mean `intervals`?"),
        (format!("{SMALL}[[goals]]\ntype = \"contrl\"\n"), "4:", "did you mean `control`?"),
        (format!("{SMALL}[[goals]]\nweight = 1\n"), "4:", "needs a `type`"),
        (format!("{SMALL}[[goals]]\ntype = \"control\"\nexponnent = 3\n"), "6:", "did you mean `exponent`?"),
        (format!("{SMALL}[[goals]]\ntype = \"marker_final\"\n"), "4:", "needs `marker`"),
        (format!("{SMALL}[[states]]\nname = \"a\"\nbounds = [2, 1]\n"), "6:", "above the upper bound"),
        (format!("{SMALL}[[states]]\nbounds = 1\n"), "4:", "`name` or a `pattern`"),
        (format!("{SMALL}[solver]\nintervals = \"many\"\n"), "5:", "needs a number"),
        (format!("{SMALL}[solver]\ndynamics = \"impliciit\"\n"), "5:", "explicit, implicit"),
        (format!("{SMALL}[refine]\ntolerance = -1\n"), "5:", "must be positive"),
        ("model = \"a\"\n".to_string(), "1:", "no [time]"),
        ("model = \n".to_string(), "1:", ""),
    ] {
        let (study, log) = read_text(&text);
        assert!(study.is_none(), "{text}");
        let found = log.iter().any(|l| l.starts_with(line) && l.contains(words));
        assert!(found, "{text}\n{log:#?}");
    }
}

/// No two fields of a table have one name, so that the guide is not ambiguous.
#[test]
fn identity_fields_are_unique() {
    let mut lists: Vec<Vec<&str>> = vec![schema::STUDY.iter().map(|f| f.name).collect()];
    for (common, classes) in
        [(schema::GOAL, GOALS), (schema::CONSTRAINT, CONSTRAINTS), (schema::OPERATOR, OPERATORS)]
    {
        lists.push(classes.iter().map(|c| c.name).collect());
        lists.extend(classes.iter().map(|c| common.iter().chain(c.fields).map(|f| f.name).collect()));
    }
    for mut list in lists {
        let before = list.len();
        list.sort_unstable();
        list.dedup();
        assert_eq!(list.len(), before, "{list:?}");
    }
}

const PHASES: &str = "\
model = \"leg.osim\"
[defaults]
speeds = [-9, 9]
[[goals]]
type = \"control\"
[solver]
intervals = 12
scheme = \"trapezoidal\"
[[phases]]
name = \"swing\"
[phases.time]
final = [0.2, 1]
[[phases.goals]]
type = \"final_time\"
[phases.solver]
intervals = 5
[[phases]]
model = \"other.osim\"
[phases.time]
initial = [0.2, 1]
final = 2
[[links]]
after = \"swing\"
free = [\".*activation\"]
factors = { \"knee/speed\" = -0.8 }
";

/// A phase has what the study says for all, and its own over it.
#[test]
fn identity_phases_take_from_the_study() {
    let (study, log) = read_text(PHASES);
    let Some(s) = study else { panic!("{log:?}") };
    assert!(log.is_empty(), "{log:?}");
    let [a, b] = &s.phases[..] else { panic!("{} phases", s.phases.len()) };
    assert_eq!((a.setup.name.as_str(), b.setup.name.as_str()), ("swing", "phase2"));
    assert_eq!((a.setup.goals.len(), b.setup.goals.len()), (2, 1));
    assert_eq!((a.setup.solver.num_mesh_intervals, b.setup.solver.num_mesh_intervals), (5, 12));
    assert_eq!(b.setup.solver.transcription_scheme, "trapezoidal");
    assert_eq!(b.setup.model_file.as_deref(), Some("other.osim"));
    assert_eq!((a.setup.default_speed_bounds, b.setup.final_time), ([-9.0, 9.0], Some([2.0, 2.0])));
    let [link] = &s.links[..] else { panic!("{:?}", s.links) };
    assert_eq!((link.after, &link.factors[..]), (0, &[("knee/speed".to_string(), -0.8)][..]));
    assert!(a.phases.is_empty() && a.output == OutputSettings::default());
}

#[test]
fn identity_wrong_phases_are_named() {
    for (from, to, line, word) in [
        ("after = \"swing\"", "after = \"phase2\"", 22, "not one of these phases"),
        ("intervals = 5", "intervall = 5", 16, "intervall"),
        // A mistake of the study is told once, not once for each phase.
        ("intervals = 12", "intervall = 12", 7, "intervall"),
        ("name = \"swing\"", "nam = \"swing\"", 10, "nam"),
        ("model = \"other.osim\"", "name = \"swing\"", 17, "two phases"),
    ] {
        let (study, log) = read_text(&PHASES.replace(from, to));
        assert!(study.is_none());
        let hits: Vec<_> = log.iter().filter(|l| l.contains(word)).collect();
        assert!(hits.len() == 1 && hits[0].starts_with(&format!("{line}: ")), "{to}: {log:?}");
    }
}

/// All classes of goals of OpenSim 4.6 are types of goals in a study file.
#[test]
fn analytic_all_goals_of_moco() {
    let moco: std::collections::BTreeSet<&str> =
        GOALS.iter().map(|c| c.class).filter(|c| c.starts_with("Moco") && c.ends_with("Goal")).collect();
    assert_eq!(moco.len(), 29, "{moco:?}");
}

/// `prices` of `[help]` is read as `penalties`, with a word; both together are refused.
#[test]
fn identity_old_fields_are_read() {
    let help = |fields: &str| read_text(&format!("{SMALL}[help]\n{fields}\n"));
    let penalties = |study: Option<Study>| study.and_then(|s| s.help).map(|h| h.penalties);
    let (study, log) = help("prices = [3, 30]");
    assert!(log.iter().any(|l| l.starts_with("5: `prices` is now called `penalties`")), "{log:?}");
    assert_eq!(penalties(study), Some(vec![3.0, 30.0]));
    assert_eq!(penalties(help("penalties = [3, 30]").0), Some(vec![3.0, 30.0]));
    assert!(help("prices = [1]\npenalties = [2]").0.is_none());
}
