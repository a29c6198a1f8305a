//! Summary of a model, and its unsupported components.
//!
//! ```
//! use soleus::{Context, Memory, ModelInfo};
//! let files = Memory::new().with("leg.osim", include_bytes!("../models/leg_swing.osim"));
//! let about = ModelInfo { model: "leg.osim".into(), ..Default::default() }.run(&Context::new(&files))?;
//! assert_eq!(about.muscles.len(), 8);
//! print!("{}", about.to_text());
//! # Ok::<(), soleus::Error>(())
//! ```

use crate::artifact::{Artifact, Outcome};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::model;
use crate::source::ModelSource;
use crate::text::on_one_line;
use serde::{Deserialize, Serialize};
use soleus_model::Model;
use soleus_model::force::ForceKind;
use soleus_model::joint::MotionType;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Summarizes a model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelInfo {
    /// The model.
    pub model: ModelSource,
    /// Output file.
    pub output: Option<PathBuf>,
    /// JSON instead of a text table.
    pub as_json: bool,
}

impl ModelInfo {
    /// Reads the model.
    pub fn run(&self, cx: &Context) -> Result<ModelSummary, Error> {
        let summary = ModelSummary::new(&model::read(cx, &self.model)?);
        Ok(ModelSummary { output: self.output.clone(), as_json: self.as_json, ..summary })
    }
}

/// Summary of a model: plain data, SI units and radians.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ModelSummary {
    /// Name.
    pub name: String,
    /// Authors.
    pub credits: String,
    /// Publications to cite.
    pub publications: String,
    /// Version of the file.
    pub file_version: u32,
    /// Length unit stated in the file.
    pub length_units: String,
    /// Force unit stated in the file.
    pub force_units: String,
    /// Gravity, m/s².
    pub gravity: [f64; 3],
    /// Total mass of all bodies, kg.
    pub mass: f64,
    /// Bodies, without ground.
    pub bodies: Vec<BodySummary>,
    /// Joints.
    pub joints: Vec<JointSummary>,
    /// Coordinates.
    pub coordinates: Vec<CoordinateSummary>,
    /// Constraints.
    pub constraints: Vec<ConstraintSummary>,
    /// Muscles.
    pub muscles: Vec<ForceSummary>,
    /// Forces that are not muscles.
    pub forces: Vec<ForceSummary>,
    /// Number of wrap objects.
    pub wrap_objects: usize,
    /// Names of the markers.
    pub markers: Vec<String>,
    /// Controllers.
    pub controllers: Vec<ComponentSummary>,
    /// Probes.
    pub probes: Vec<ComponentSummary>,
    /// Names of the contact geometries.
    pub contact_geometry: Vec<String>,
    /// Unsupported components.
    pub unsupported: Vec<UnsupportedSummary>,
    /// Classes of the contact geometries.
    #[serde(skip)]
    contact_classes: Vec<&'static str>,
    /// Names of the forces that are switched off, in the model's order.
    #[serde(skip)]
    switched_off: Vec<String>,
    #[serde(skip)]
    output: Option<PathBuf>,
    #[serde(skip)]
    as_json: bool,
}

/// A body.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BodySummary {
    /// Path.
    pub path: String,
    /// Mass, kg.
    pub mass: f64,
    /// Mass center in the body, m.
    pub mass_center: [f64; 3],
    /// Inertia about the mass center, kg m²: xx, yy, zz, xy, xz, yz.
    pub inertia: [f64; 6],
}

/// A joint.
#[derive(Clone, Debug, Default, Serialize)]
pub struct JointSummary {
    /// Path.
    pub path: String,
    /// Class.
    pub class: String,
    /// Body of the parent frame.
    pub parent: String,
    /// Body of the child frame.
    pub child: String,
    /// Names of the coordinates.
    pub coordinates: Vec<String>,
}

/// A coordinate, rad or m.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CoordinateSummary {
    /// Path.
    pub path: String,
    /// `rotational`, `translational` or `coupled`.
    pub motion: &'static str,
    /// Default value.
    pub default: f64,
    /// Minimum and maximum value.
    pub range: [f64; 2],
    /// Whether it is clamped to its range.
    pub clamped: bool,
    /// Whether it is locked.
    pub locked: bool,
    /// Whether it is prescribed by a function.
    pub prescribed: bool,
    #[serde(skip)]
    name: String,
}

/// A constraint.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ConstraintSummary {
    /// Path.
    pub path: String,
    /// Class.
    pub class: String,
    /// Whether it is enforced.
    pub enforced: bool,
}

/// A muscle or another force.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ForceSummary {
    /// Path.
    pub path: String,
    /// Class.
    pub class: String,
    /// Whether it is enabled.
    pub enabled: bool,
}

/// Any other component.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ComponentSummary {
    /// Path.
    pub path: String,
    /// Class.
    pub class: String,
}

/// An unsupported component.
#[derive(Clone, Debug, Default, Serialize)]
pub struct UnsupportedSummary {
    /// Path.
    pub path: String,
    /// Class.
    pub class: String,
    /// Line in the file.
    pub line: u32,
    /// Consequence.
    pub effect: String,
}

impl ModelSummary {
    /// Summarizes a model.
    pub fn new(m: &Model) -> Self {
        let body = |f: soleus_model::id::FrameId| m.bodies[m.frames[f.0].body.0].name.clone();
        let forces = |are_muscles: bool| {
            let wanted = m.forces.iter().filter(|f| matches!(f.kind, ForceKind::Muscle(_)) == are_muscles);
            let one = |f: &soleus_model::Force| ForceSummary {
                path: f.path.clone(),
                class: f.class.clone(),
                enabled: f.enabled,
            };
            wanted.map(one).collect()
        };
        let component =
            |path: &str, class: &str| ComponentSummary { path: path.to_string(), class: class.to_string() };
        ModelSummary {
            name: m.name.clone(),
            credits: m.credits.clone(),
            publications: m.publications.clone(),
            file_version: m.file_version,
            length_units: m.length_units.clone(),
            force_units: m.force_units.clone(),
            gravity: m.gravity.to_array(),
            mass: m.total_mass(),
            bodies: (m.bodies.iter().skip(1))
                .map(|b| BodySummary {
                    path: b.path.clone(),
                    mass: b.mass,
                    mass_center: b.mass_center.to_array(),
                    inertia: [
                        b.inertia.xx,
                        b.inertia.yy,
                        b.inertia.zz,
                        b.inertia.xy,
                        b.inertia.xz,
                        b.inertia.yz,
                    ],
                })
                .collect(),
            joints: (m.joints.iter())
                .map(|j| JointSummary {
                    path: j.path.clone(),
                    class: j.kind.class().to_string(),
                    parent: body(j.parent),
                    child: body(j.child),
                    coordinates: j.coordinates.iter().map(|c| m.coordinates[c.0].name.clone()).collect(),
                })
                .collect(),
            coordinates: (m.coordinates.iter())
                .map(|c| CoordinateSummary {
                    path: c.path.clone(),
                    motion: motion(c.motion_type),
                    default: c.default_value,
                    range: c.range,
                    clamped: c.clamped,
                    locked: c.locked,
                    prescribed: c.prescribed,
                    name: c.name.clone(),
                })
                .collect(),
            constraints: (m.constraints.iter())
                .map(|c| ConstraintSummary {
                    path: c.path.clone(),
                    class: c.kind.class().to_string(),
                    enforced: c.enforced,
                })
                .collect(),
            muscles: forces(true),
            forces: forces(false),
            wrap_objects: m.wraps.len(),
            markers: m.markers.iter().map(|k| k.name.clone()).collect(),
            controllers: m.controllers.iter().map(|c| component(&c.path, &c.class)).collect(),
            probes: m.probes.iter().map(|p| component(&p.path, &p.class)).collect(),
            contact_geometry: m.contact_geometries.iter().map(|g| g.name.clone()).collect(),
            unsupported: (m.unsupported.iter())
                .map(|u| UnsupportedSummary {
                    path: u.path.clone(),
                    class: u.class.clone(),
                    line: u.line,
                    effect: u.effect.clone(),
                })
                .collect(),
            contact_classes: m.contact_geometries.iter().map(|g| g.shape.class()).collect(),
            switched_off: m.forces.iter().filter(|f| !f.enabled).map(|f| f.name.clone()).collect(),
            output: None,
            as_json: false,
        }
    }

    /// As JSON.
    pub fn to_json(&self) -> String {
        // Plain numbers and text, which cannot fail.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// As a text table. Control characters in names, which a terminal would interpret, are escaped. Writing to a
    /// `String` cannot fail, so the results of `writeln!` are dropped.
    pub fn to_text(&self) -> String {
        let mut s = String::new();
        let title = if self.name.is_empty() { "(no name)" } else { &self.name };
        let _ = writeln!(s, "{}", on_one_line(title));
        let mut line = |label: &str, text: String| {
            if !text.is_empty() {
                let _ = writeln!(s, "  {label:<14}{}", on_one_line(&text));
            }
        };
        let [x, y, z] = self.gravity;
        line("file version", self.file_version.to_string());
        line("credits", one_line(&self.credits));
        line("publications", one_line(&self.publications));
        line("gravity", format!("{x} {y} {z} m/s²"));
        line("bodies", format!("{}, {:.4} kg", self.bodies.len(), self.mass));
        line("joints", with_total(&count(self.joints.iter().map(|j| j.class.as_str()))));
        line("constraints", with_total(&count(self.constraints.iter().map(|c| c.class.as_str()))));
        line("muscles", with_total(&count(self.muscles.iter().map(|f| f.class.as_str()))));
        line("other forces", with_total(&count(self.forces.iter().map(|f| f.class.as_str()))));
        line("wrap objects", nonzero(self.wrap_objects));
        line("contact", with_total(&count(self.contact_classes.iter().copied())));
        line("markers", nonzero(self.markers.len()));
        line("controllers", with_total(&count(self.controllers.iter().map(|c| c.class.as_str()))));
        line("probes", with_total(&count(self.probes.iter().map(|p| p.class.as_str()))));
        line("switched off", self.switched_off.join(", "));

        let _ = writeln!(s, "  coordinates");
        for c in &self.coordinates {
            let (factor, unit) = match c.motion {
                "rotational" => (180.0 / std::f64::consts::PI, "°"),
                _ => (1.0, " m"),
            };
            let mut notes = Vec::new();
            for (on, word) in [(c.locked, "locked"), (c.clamped, "clamped"), (c.prescribed, "prescribed")] {
                if on {
                    notes.push(word);
                }
            }
            let line = format!(
                "    {:<28} {:>9.3} … {:>9.3}{unit:<2}  default {:>9.3}  {}",
                on_one_line(&c.name),
                c.range[0] * factor,
                c.range[1] * factor,
                c.default * factor,
                notes.join(", ")
            );
            let _ = writeln!(s, "{}", line.trim_end());
        }
        if self.unsupported.is_empty() {
            let _ = writeln!(s, "  everything in the file is supported");
        } else {
            let _ = writeln!(s, "  not supported");
            for u in &self.unsupported {
                let what = format!("{} {}: {}", u.class, u.path, u.effect);
                let _ = writeln!(s, "    line {}: {}", u.line, on_one_line(&what));
            }
        }
        s
    }
}

impl Outcome for ModelSummary {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        let text = || if self.as_json { self.to_json() } else { self.to_text() };
        self.output.iter().map(|path| Artifact::text(path, text())).collect()
    }
}

/// How often each class occurs, in the order of the names.
fn count<'a>(classes: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for c in classes {
        *counts.entry(c).or_insert(0) += 1;
    }
    counts
}

fn motion(m: MotionType) -> &'static str {
    match m {
        MotionType::Rotational => "rotational",
        MotionType::Translational => "translational",
        MotionType::Coupled => "coupled",
    }
}

/// "3 Thelen2003Muscle, 1 PathSpring".
fn counted(counts: &BTreeMap<&str, usize>) -> String {
    counts.iter().map(|(class, n)| format!("{n} {class}")).collect::<Vec<_>>().join(", ")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn nonzero(n: usize) -> String {
    if n == 0 { String::new() } else { n.to_string() }
}

fn with_total(counts: &BTreeMap<&str, usize>) -> String {
    match counts.len() {
        0 => String::new(),
        1 => counted(counts),
        _ => format!("{} ({})", counts.values().sum::<usize>(), counted(counts)),
    }
}
