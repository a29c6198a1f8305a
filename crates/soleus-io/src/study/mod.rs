//! A study: an optimal control problem and its solver settings.
//!
//! [`read_file`] reads it from a study file of Soleus (TOML, [`read`]) or a `MocoStudy` (XML); it can also be
//! constructed in a program, or read from JSON by serde. [`write()`] writes it as a study file.

mod file;
mod formula;
mod goal;
mod lines;
mod model_step;
mod output;
mod path_constraint;
mod problem;
mod solver;

pub use file::{read, reference, write};
pub use formula::{FormulaForce, NamedFormula, NamedSource};
pub use goal::{
    ContactGroup, FrameTracking, Goal, GoalKind, PeriodicPair, TableOperator, TableSource, Weight,
    WeightedSet,
};
pub use model_step::{ModelStep, ModelStepKind};
pub use output::{OutputSource, OutputUse};
pub use path_constraint::{FramePair, FunctionBounds, PathConstraint, PathConstraintKind};
pub use problem::{Parameter, PrescribedCoordinate, Problem, VariableInfo};
pub use solver::Solver;

use crate::plain::is_zero;
use crate::setup::{self, Setup};
use serde::{Deserialize, Serialize};
use soleus_model::Diagnostics;

/// A study, and whether it has the defaults of Moco's files instead of those of TOML studies.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyFile {
    /// The study.
    pub study: Study,
    /// Whether the file is a `MocoStudy`.
    pub is_moco: bool,
}

/// Reads a study file or a `MocoStudy`: files that start with `<` or have an extension of Moco are XML, all others are
/// TOML. There is no study if and only if the diagnostics contain an error.
pub fn read_file(bytes: &[u8], file: &str) -> (Option<StudyFile>, Diagnostics) {
    if is_xml(bytes, file) {
        return read_moco(bytes, file);
    }
    let mut log = Diagnostics::new(file);
    let study = match std::str::from_utf8(bytes) {
        Ok(text) => read(text, &mut log),
        Err(e) => {
            let line = 1 + bytes[..e.valid_up_to()].iter().filter(|&&b| b == b'\n').count();
            let hint = "a study is a TOML file: docs/guide/study.md";
            log.error(u32::try_from(line).unwrap_or(0), "", "the text is not valid UTF-8", hint);
            None
        }
    };
    (study.map(|study| StudyFile { study, is_moco: false }), log)
}

fn is_xml(bytes: &[u8], file: &str) -> bool {
    let name = file.to_ascii_lowercase();
    if [".omoco", ".xml", ".toml"].iter().any(|ending| name.ends_with(ending)) {
        return !name.ends_with(".toml");
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    text.trim_ascii_start().starts_with(b"<")
}

fn read_moco(bytes: &[u8], file: &str) -> (Option<StudyFile>, Diagnostics) {
    let (document, mut log) = crate::osim::read_document(bytes, file);
    let setup = document.and_then(|mut d| {
        crate::osim::upgrade(&mut d, &mut log);
        setup::read(&d, &mut log)
    });
    let study = match setup {
        Some(Setup::MocoStudy(s)) => Some(StudyFile { study: Study::from(*s), is_moco: true }),
        Some(_) => {
            log.error(0, "", "the file contains no MocoStudy", "try `soleus run`");
            None
        }
        None => None,
    };
    (study, log)
}

/// A study.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Study {
    /// Settings that also exist in Moco.
    pub setup: Problem,
    /// `kinematics`: prescribed motion of all coordinates.
    pub kinematics: Option<String>,
    /// `solver.tolerance`.
    #[serde(with = "crate::plain")]
    pub tolerance: Option<f64>,
    /// `solver.barrier`.
    #[serde(with = "crate::plain")]
    pub barrier: Option<f64>,
    /// `solver.threads`.
    pub threads: Option<usize>,
    /// `solver.coarse`: numbers of intervals of coarser meshes to solve first.
    pub coarse: Vec<usize>,
    /// `[refine]`.
    pub refine: Option<RefineSettings>,
    /// `[help]`.
    pub help: Option<HelpSettings>,
    /// `[starts]`.
    pub starts: Option<StartSettings>,
    /// `[continuation]`.
    pub continuation: Option<ContinuationSettings>,
    /// `[guess]`.
    pub guess: GuessSettings,
    /// `[output]`.
    pub output: OutputSettings,
    /// `[[phases]]`: each a study with its own name, without phases. `setup` is then that of the first.
    pub phases: Vec<Study>,
    /// `[[links]]`.
    pub links: Vec<LinkSettings>,
}

/// `[[links]]`: exceptions from continuity between phases.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkSettings {
    /// Number of the phase before the link.
    pub after: usize,
    /// Patterns of states that may be discontinuous.
    pub free: Vec<String>,
    /// States of the next phase that start at a multiple of their final value in this one.
    #[serde(with = "crate::plain")]
    pub factors: Vec<(String, f64)>,
    /// Line in the file; 0 if it comes from no file.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: u32,
}

impl From<Problem> for Study {
    fn from(setup: Problem) -> Study {
        Study { setup, ..Study::default() }
    }
}

/// `[refine]`: mesh refinement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RefineSettings {
    /// Maximum error of a state over an interval, relative to its size.
    #[serde(with = "crate::plain")]
    pub tolerance: f64,
    /// Number of equal intervals of the first mesh; `None`: that of the solver.
    pub start: Option<usize>,
    /// Maximum number of intervals of the last mesh.
    pub max_intervals: usize,
    /// Maximum number of meshes.
    pub max_meshes: usize,
}

impl Default for RefineSettings {
    fn default() -> Self {
        RefineSettings { tolerance: 1e-4, start: None, max_intervals: 1000, max_meshes: 10 }
    }
}

/// `[help]`: temporary forces on coordinates, penalised and then removed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HelpSettings {
    /// Weight of the squared forces in each problem before the last, which has none.
    #[serde(alias = "prices", with = "crate::plain")]
    pub penalties: Vec<f64>,
    /// Force with unit cost, N or N·m.
    #[serde(with = "crate::plain")]
    pub strength: f64,
    /// The same for individual coordinates; 0 for no help.
    pub strengths: Vec<Weight>,
    /// Tolerance of the problems before the last.
    #[serde(with = "crate::plain")]
    pub tolerance: f64,
    /// Maximum number of iterations of each of them; the result is the initial guess for the next.
    pub max_iterations: usize,
    /// Maximum number of steps at the start of the first that only reduce the violation of constraints.
    pub feasibility_steps: Option<usize>,
}

impl Default for HelpSettings {
    fn default() -> Self {
        HelpSettings {
            penalties: vec![10.0, 100.0],
            strength: 100.0,
            strengths: Vec::new(),
            tolerance: 1e-3,
            max_iterations: 300,
            feasibility_steps: None,
        }
    }
}

/// `[starts]`: the same problem from several initial guesses; the best solution is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StartSettings {
    /// Number of initial guesses; the first is the given one.
    pub count: usize,
    /// Size of the smooth perturbations of the others, as a fraction of the range of each coordinate.
    #[serde(with = "crate::plain")]
    pub noise: f64,
    /// Seed of the random numbers.
    pub seed: usize,
}

impl Default for StartSettings {
    fn default() -> Self {
        StartSettings { count: 5, noise: 0.1, seed: 1 }
    }
}

/// `[continuation]`: the same problem at a series of values, each started from the previous solution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContinuationSettings {
    /// What is varied: `speed` (of the goal `average_speed`, m/s), `slope` (of the ground, degrees), `weight` (of a
    /// goal) or `property` (of components of the model).
    pub of: String,
    /// The values, in order.
    #[serde(with = "crate::plain")]
    pub values: Vec<f64>,
    /// Name of the goal whose weight is varied.
    pub goal: Option<String>,
    /// Paths of the components that share the property.
    pub components: Vec<String>,
    /// Name of the property.
    pub property: Option<String>,
    /// Index of the element of a vector.
    pub element: Option<usize>,
    /// Line in the file.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: u32,
}

/// `[guess]`: initial guess, in addition to the guess file of the solver.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GuessSettings {
    /// Coordinates over time.
    pub coordinates: Option<String>,
    /// Activations over time.
    pub activations: Option<String>,
    /// Whether the states come from a simulation.
    pub time_stepping: bool,
    /// Straight-line guess of a gait: swing of the hips, degrees.
    #[serde(with = "crate::plain")]
    pub swing_deg: Option<f64>,
}

/// `[output]`: files to write.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OutputSettings {
    /// The solution.
    pub solution: Option<String>,
    /// The page.
    pub report: Option<String>,
    /// The iterate.
    pub iterate: Option<String>,
    /// Values of derived formulas.
    pub derived: Option<String>,
    /// Time between saved iterates, s.
    #[serde(with = "crate::plain")]
    pub save_every_s: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOML: &str = "model = \"leg.osim\"\n";
    const MOCO: &str = r#"<?xml version="1.0"?>
<OpenSimDocument Version="40600"><MocoStudy name="m"><MocoProblem><MocoPhase name="phases">
<ModelProcessor name="model"><filepath>leg.osim</filepath></ModelProcessor>
</MocoPhase></MocoProblem></MocoStudy></OpenSimDocument>"#;

    /// What a file holds decides, and its name where it is a known one.
    #[test]
    fn analytic_the_format_is_found() {
        for (text, file, is_moco) in [
            (TOML, "kick.toml", false),
            (TOML, "kick", false),
            (TOML, "kick.omoco", true),
            (MOCO, "squat.omoco", true),
            (MOCO, "squat.XML", true),
            (MOCO, "squat", true),
            ("\u{feff} \n<MocoStudy/>", "squat", true),
            (MOCO, "squat.toml", false),
        ] {
            assert_eq!(is_xml(text.as_bytes(), file), is_moco, "{file}");
        }
    }

    #[test]
    fn identity_one_reader_reads_both() {
        let (found, log) = read_file(MOCO.as_bytes(), "squat.omoco");
        let found = found.unwrap_or_else(|| panic!("{:?}", log.list));
        assert_eq!((found.study.setup.name.as_str(), found.is_moco), ("m", true));
        let mut log = Diagnostics::new("kick.toml");
        let expected = read(TOML, &mut log);
        let (found, own) = read_file(TOML.as_bytes(), "kick.toml");
        assert_eq!((found.map(|f| f.study), own.list), (expected, log.list));
    }

    #[test]
    fn analytic_other_files_are_refused() {
        let other = "<OpenSimDocument Version=\"40600\"><InverseKinematicsTool/></OpenSimDocument>";
        let (none, log) = read_file(other.as_bytes(), "ik.xml");
        assert!(none.is_none());
        assert!(log.list.iter().any(|d| d.message == "the file contains no MocoStudy"), "{:?}", log.list);
        let (none, log) = read_file(b"model = \"leg\"\nname = \"\xff\"", "kick.toml");
        assert!(none.is_none());
        assert_eq!(log.list[0].line, 2);
    }
}
