//! Scaling of a generic model to a subject: sizes from distances between markers, then placement of the markers.
//!
//! ```text
//! factors of the bodies ◀──measure── markers of a static trial
//!         │
//!         ▼
//! scale_model: geometry, masses, muscles ──▶ place_markers: the static pose, markers moved onto it
//! ```
//!
//! Steps and results are those of OpenSim's `ScaleTool` (Delp et al. 2007). Input and output are documents, so that all
//! content of a file is kept.

mod measure;
mod names;
mod place;
mod raised_arms;
mod sizes;
mod unfollowed;

pub use measure::{Average, Measured, Measurement, measure};
pub use names::{Landmark, Matched, landmark, match_markers};
pub use place::{Placed, place_markers, place_markers_in_motion};
pub use sizes::{Segment, Sizes, fit_sizes, height_of, is_on_landmark};

use soleus_dynamics::assembly::Assembler;
use soleus_dynamics::system::SystemError;
use soleus_dynamics::{System, Workspace};
use soleus_math::{SymMat33, Vec3, vec3};
use soleus_model::path::Path;
use soleus_model::{Diagnostics, Document, Force, Model, ScaleOptions};
use std::collections::HashMap;

/// Why a model cannot be scaled.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The model cannot be compiled.
    #[error(transparent)]
    System(#[from] SystemError),
    /// The constraints of the model cannot be satisfied.
    #[error("the constraints cannot be satisfied in the default pose: {0}")]
    NotAssembled(#[from] soleus_dynamics::assembly::NotAssembled),
    /// The scaled document is no longer a valid model.
    #[error("the scaled model is not valid: {0}")]
    NotAModel(String),
    /// A scale factor is zero, negative or not a number.
    #[error("body `{body}` would be scaled by {factor} along {axis}; factors must be positive")]
    Factor {
        /// The body.
        body: String,
        /// x, y or z.
        axis: char,
        /// The factor.
        factor: f64,
    },
    /// No frame of the static trial is in the time range.
    #[error("the markers span {first} s to {last} s: there are no frames between {from} s and {to} s")]
    NoFrames {
        /// First time of the data, s.
        first: f64,
        /// Last time of the data, s.
        last: f64,
        /// Start of the requested range, s.
        from: f64,
        /// End of the requested range, s.
        to: f64,
    },
    /// The static pose cannot be found.
    #[error("static pose: {0}")]
    Pose(#[from] crate::inverse_kinematics::Error),
}

/// Scale factors of the bodies, in the order of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Factors(pub Vec<Vec3<f64>>);

impl Factors {
    /// Factors of one for all bodies.
    pub fn unity(model: &Model) -> Self {
        Factors(vec![vec3(1.0, 1.0, 1.0); model.bodies.len()])
    }

    /// Sets the factors of a body along the given axes; returns false if there is no such body.
    pub fn set(&mut self, model: &Model, body: &str, along: [Option<f64>; 3]) -> bool {
        let Some(i) = model.bodies.iter().position(|b| b.name == body) else { return false };
        let mut f = self.0[i].to_array();
        for (f, new) in f.iter_mut().zip(along) {
            *f = new.unwrap_or(*f);
        }
        self.0[i] = Vec3::from_array(f);
        true
    }
}

/// A scaled model.
#[derive(Clone, Debug)]
pub struct Scaled {
    /// The document to write.
    pub document: Document,
    /// The built model.
    pub model: Model,
    /// Ratio of path lengths after and before scaling, by absolute path of the force.
    pub length_ratios: HashMap<String, f64>,
}

/// Scales every body by its factors, and all that depends on its size: joints, wrap objects, paths, markers, masses,
/// and the lengths of muscles and ligaments by the ratio of their path lengths in the default pose. `log` reports what
/// could not be scaled.
pub fn scale_model(
    document: &Document,
    model: &Model,
    factors: &Factors,
    options: &ScaleOptions,
    log: &mut Diagnostics,
) -> Result<Scaled, Error> {
    for (b, f) in model.bodies.iter().zip(&factors.0) {
        for (axis, factor) in ['x', 'y', 'z'].into_iter().zip(f.to_array()) {
            if !(factor > 0.0 && factor.is_finite()) {
                return Err(Error::Factor { body: b.name.clone(), axis, factor });
            }
        }
    }
    let before = path_lengths(model)?;
    let resized = soleus_model::scale_document(document, model, &factors.0, options, log);
    let after = path_lengths(&build(&resized)?)?;
    let length_ratios: HashMap<String, f64> = before
        .into_iter()
        .filter(|(_, length)| *length > 0.0)
        .filter_map(|(path, length)| after.get(&path).map(|new| (path, new / length)))
        .filter(|(_, ratio)| ratio.is_finite())
        .collect();
    let document = soleus_model::scale_lengths(&resized, &length_ratios, options, log);
    let model = build(&document)?;
    Ok(Scaled { document, model, length_ratios })
}

/// A document as a model. Its warnings were given when the generic model was read.
fn build(document: &Document) -> Result<Model, Error> {
    let mut log = Diagnostics::new(document.file.clone());
    soleus_model::build(document, &mut log).ok_or_else(|| {
        let first = log.list.iter().find(|d| d.severity == soleus_model::Severity::Error);
        Error::NotAModel(first.map_or(String::new(), ToString::to_string))
    })
}

/// Constraints are met this closely in the default pose, rad or m: far below what lengths are compared to, and within reach
/// of models whose constraints do not quite agree.
const POSE_TOLERANCE: f64 = 1e-8;

/// A model for poses alone: without forces but those that `keep` takes, and with mass everywhere, since a body without any
/// has a place nevertheless.
fn for_poses(model: &Model, keep: impl Fn(&Force) -> bool) -> Model {
    let mut m = model.clone();
    m.forces.retain(|f| keep(f));
    for b in m.bodies.iter_mut().skip(1) {
        b.mass = 1.0;
        b.inertia = SymMat33 { xx: 1.0, yy: 1.0, zz: 1.0, xy: 0.0, xz: 0.0, yz: 0.0 };
    }
    m
}

/// A model in its default pose, constraints met.
fn default_pose(model: &Model) -> Result<(System, Workspace<f64>), Error> {
    let system = System::compile(model)?;
    let mut ws = system.workspace();
    let mut x = system.default_state.clone();
    let mut assembler = Assembler::new(model, &system);
    assembler.tolerance = POSE_TOLERANCE;
    assembler.solve_assembly(&system, &mut x, &mut ws)?;
    system.compute_kinematics(&x, &mut ws);
    system.compute_paths(&x, &mut ws);
    Ok((system, ws))
}

/// Lengths of all paths of points in the default pose, m, by absolute path of the force.
fn path_lengths(model: &Model) -> Result<HashMap<String, f64>, Error> {
    // Only what has a path matters; contact surfaces may want files that nobody has read.
    let paths =
        for_poses(model, |f| matches!(f.line_of_action, Some(Path::Geometry(_) | Path::Scholz2015(_))));
    let (_, ws) = default_pose(&paths)?;
    Ok(paths.forces.iter().zip(&ws.paths).map(|(f, p)| (f.path.clone(), p.length())).collect())
}
