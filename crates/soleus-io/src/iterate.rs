//! Iterates of a nonlinear program as JSON, so that a stopped solve can continue.

use serde::{Deserialize, Serialize};

/// Name and version of the format, the first thing in a file.
const FORMAT: &str = "soleus iterate 3";

/// Two numbers of the same problem differ by rounding only, which other machines do in other ways.
const SAME: f64 = 1e-9;

/// Scheme and mesh of a phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseMesh {
    /// Name of the scheme.
    pub scheme: String,
    /// Ends of the intervals, from 0 to 1.
    pub mesh: Vec<f64>,
}

/// Values of a problem at a point that depends on its bounds only. They change with goals, weights, tables, model and
/// bounds, but not with tolerances and limits of the solver, comments or file names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Cost of each goal; `None` if undefined.
    pub goals: Vec<(String, Option<f64>)>,
    /// Weighted sum of all constraints.
    pub constraints: f64,
    /// Digest of the bounds of variables and constraints.
    pub bounds: String,
}

/// State of a solve, and its mesh.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Iterate {
    /// Mesh of each phase.
    pub phases: Vec<PhaseMesh>,
    /// Fingerprint of the problem.
    pub problem: Fingerprint,
    /// Number of iterations.
    pub iteration: usize,
    /// Objective.
    pub objective: f64,
    /// Maximum constraint violation.
    pub constraint_violation: f64,
    /// Barrier parameter of the solver.
    pub barrier: Option<f64>,
    /// Variables.
    pub x: Vec<f64>,
    /// Multipliers of the constraints.
    pub multipliers: Vec<f64>,
    /// Multipliers of the lower bounds.
    pub lower_multipliers: Vec<f64>,
    /// Multipliers of the upper bounds.
    pub upper_multipliers: Vec<f64>,
}

#[derive(Deserialize)]
struct Format {
    format: String,
}

#[derive(Serialize)]
struct File<'a> {
    format: &'static str,
    #[serde(flatten)]
    iterate: &'a Iterate,
}

/// Reads an iterate, or returns an error message.
pub fn read(text: &str) -> Result<Iterate, String> {
    let wrong = |e: serde_json::Error| format!("no iterate: {e}");
    // The format first: what else there is depends on it.
    let known: Format = serde_json::from_str(text).map_err(wrong)?;
    if known.format != FORMAT {
        return Err(format!("the format is `{}`, not `{FORMAT}`", known.format));
    }
    serde_json::from_str(text).map_err(wrong)
}

/// The iterate as text, or an error message.
pub fn write(iterate: &Iterate) -> Result<String, String> {
    let file = File { format: FORMAT, iterate };
    serde_json::to_string(&file).map_err(|e| format!("the iterate cannot be written: {e}"))
}

impl Fingerprint {
    /// Description of the differences from another problem; `None` if they are the same.
    pub fn difference(&self, other: &Fingerprint) -> Option<String> {
        let names = |f: &Fingerprint| f.goals.iter().map(|g| g.0.clone()).collect::<Vec<_>>();
        let (ours, theirs) = (names(self), names(other));
        if ours != theirs {
            let of_one = |a: &[String], b: &[String]| a.iter().find(|n| !b.contains(n)).cloned();
            let name = of_one(&theirs, &ours).or_else(|| of_one(&ours, &theirs)).unwrap_or_default();
            return Some(format!("the goals differ, `{name}` among them"));
        }
        // The point lies between the bounds, so that goals can be compared only where bounds are the same.
        if self.bounds != other.bounds {
            return Some("the bounds differ".to_string());
        }
        let goal = self.goals.iter().zip(&other.goals).find(|(a, b)| !is_same(a.1, b.1));
        if let Some((goal, _)) = goal {
            return Some(format!("goal `{}` differs", goal.0));
        }
        (!is_same(Some(self.constraints), Some(other.constraints)))
            .then(|| "the equations differ: the model, its loads or values fixed by bounds".to_string())
    }
}

fn is_same(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= SAME * (1e-6 + a.abs() + b.abs()),
        (None, None) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iterate() -> Iterate {
        Iterate {
            phases: vec![PhaseMesh { scheme: "trapezoidal".into(), mesh: vec![0.0, 0.1, 1.0] }],
            problem: Fingerprint {
                goals: vec![("effort".into(), Some(0.1)), ("undefined".into(), None)],
                constraints: 1.0 / 3.0,
                bounds: "ab".into(),
            },
            iteration: 7,
            objective: 0.1 + 0.2,
            constraint_violation: 1e-9,
            barrier: None,
            x: vec![1.0, -5e-324],
            multipliers: vec![2.0],
            lower_multipliers: vec![],
            upper_multipliers: vec![0.0],
        }
    }

    #[test]
    fn identity_written_and_read_again_is_the_same() {
        let text = write(&iterate()).unwrap();
        assert_eq!(read(&text).unwrap(), iterate());
    }

    /// Files that were left by solves before must be read, so the text itself is held.
    #[test]
    fn analytic_text_of_the_format() {
        let expected = r#"{"format":"soleus iterate 3","phases":[{"scheme":"trapezoidal","mesh":[0.0,0.1,1.0]}],"problem":{"goals":[["effort",0.1],["undefined",null]],"constraints":0.3333333333333333,"bounds":"ab"},"iteration":7,"objective":0.30000000000000004,"constraint_violation":1e-9,"barrier":null,"x":[1.0,-5e-324],"multipliers":[2.0],"lower_multipliers":[],"upper_multipliers":[0.0]}"#;
        assert_eq!(write(&iterate()).unwrap(), expected);
    }

    #[test]
    fn analytic_other_files_are_refused() {
        let text = write(&iterate()).unwrap();
        let older = text.replace("iterate 3", "iterate 2");
        assert_eq!(read(&older).unwrap_err(), "the format is `soleus iterate 2`, not `soleus iterate 3`");
        assert!(read("time\tx\n").unwrap_err().starts_with("no iterate: "));
        let part = read(r#"{"format":"soleus iterate 3"}"#).unwrap_err();
        assert!(part.starts_with("no iterate: missing field `phases`"), "{part}");
    }

    #[test]
    fn analytic_differences_are_named() {
        let a = iterate().problem;
        assert_eq!(a.difference(&a), None);
        let with = |change: fn(&mut Fingerprint)| {
            let mut b = a.clone();
            change(&mut b);
            a.difference(&b).unwrap_or_default()
        };
        assert_eq!(with(|f| f.goals[0].1 = Some(0.1 + 1e-12)), "");
        assert_eq!(with(|f| f.goals[0].1 = Some(0.2)), "goal `effort` differs");
        assert_eq!(with(|f| f.goals[0].1 = None), "goal `effort` differs");
        assert_eq!(with(|f| f.goals[0].0 = "time".into()), "the goals differ, `time` among them");
        assert_eq!(with(|f| f.bounds = "c".into()), "the bounds differ");
        assert!(with(|f| f.constraints = 0.4).starts_with("the equations differ"));
    }
}
