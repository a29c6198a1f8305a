//! Upgrades old files to the format of OpenSim 4.6, version 40600, step by step.
//!
//! Each step makes the changes of one version of the format; `STEPS` lists them in order, each with the version from
//! which it is no longer needed. Unknown elements are not changed. Moved elements keep their line; new elements take
//! the line of the element they replace.
//!
//! Source of the versions and of what each one changed: the `updateFromXMLNode` methods of
//! OpenSim 4.6 and the list in its `XMLDocument.cpp`.

mod actuators;
mod appearance;
mod bodies;
mod classes;
mod controllers;
mod engine;
mod external_loads;
mod frames;
mod joints;
mod names;
mod paths;
mod sockets;
mod switches;
mod tools;
mod tree;

use soleus_model::{Diagnostics, Document, Element};

/// The version this module upgrades to: the format of OpenSim 4.6.
pub const LATEST_VERSION: u32 = 40600;

/// OpenSim takes files without an `OpenSimDocument` root to be of this version.
const UNVERSIONED: u32 = 10500;

/// Options that affect numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpgradeOptions {
    /// OpenSim writes the inertias, joint locations and orientations of files before 4.0 with
    /// six significant digits when it converts them, and then reads them back. `true` does the
    /// same, so that results agree with OpenSim to the last digits; `false` keeps the numbers
    /// of the file.
    pub round_like_opensim: bool,
}

impl Default for UpgradeOptions {
    fn default() -> Self {
        UpgradeOptions { round_like_opensim: true }
    }
}

/// What the steps share: the version the file had, the choices, the messages.
struct Upgrade<'a> {
    version: u32,
    options: UpgradeOptions,
    diags: &'a mut Diagnostics,
    /// Numbers that lost digits, and the line of the first one.
    rounded: usize,
    rounded_line: u32,
}

/// One change of the format.
struct Step {
    /// Files of this version and later do not need the step.
    until: u32,
    run: fn(&mut Element, &mut Upgrade<'_>),
}

/// All steps, in the order they run. The socket syntax comes first: it is the same for every
/// class, and all other steps then read and write one form of it.
const STEPS: &[Step] = &[
    Step { until: 30517, run: sockets::flatten },
    Step { until: 10901, run: engine::lift_engine },
    // Old class names are accepted in files of every version.
    Step { until: u32::MAX, run: classes::rename },
    Step { until: 10901, run: engine::transform_axes },
    Step { until: 10905, run: actuators::flip_directions },
    Step { until: 20302, run: paths::gather },
    Step { until: 20302, run: tools::update },
    Step { until: 20301, run: external_loads::identifiers },
    Step { until: 30500, run: names::complete },
    Step { until: 30500, run: bodies::inertia },
    Step { until: 30501, run: bodies::ground_and_joints },
    Step { until: 30502, run: appearance::visible_objects },
    Step { until: 30505, run: joints::offset_frames },
    Step { until: 30507, run: joints::coordinates },
    Step { until: 30514, run: joints::reverse },
    Step { until: 30506, run: frames::references },
    Step { until: 30505, run: paths::references },
    Step { until: 30511, run: switches::negate },
    Step { until: 30512, run: frames::frame_sets },
    Step { until: 30513, run: paths::control_bounds },
    Step { until: 30516, run: appearance::colors },
    Step { until: 40500, run: paths::name_path },
    Step { until: LATEST_VERSION, run: controllers::actuator_sockets },
];

/// Upgrades a document of any version to [`LATEST_VERSION`], with the numbers that OpenSim uses.
///
/// Equivalent to [`upgrade_with`] and the default options.
pub fn upgrade(doc: &mut Document, diags: &mut Diagnostics) {
    upgrade_with(doc, diags, UpgradeOptions::default());
}

/// Upgrades a document of any version to [`LATEST_VERSION`].
///
/// Documents of a later version are not changed, with a warning. OpenSim 4.6 refuses models below 10901; they are also
/// read here, as far as their meaning is clear.
pub fn upgrade_with(doc: &mut Document, diags: &mut Diagnostics, options: UpgradeOptions) {
    if doc.version > LATEST_VERSION {
        diags.warn(
            doc.root.line,
            "",
            format!(
                "the file has version {}, newer than {LATEST_VERSION}; it is read as {LATEST_VERSION}",
                doc.version
            ),
            "",
        );
        return;
    }
    // A root without `OpenSimDocument` is the object itself: it gets one around it.
    if doc.root.tag != "OpenSimDocument" {
        let object = std::mem::take(&mut doc.root);
        doc.root = Element::new("OpenSimDocument", object.line);
        doc.root.push(object);
        doc.version = UNVERSIONED;
    }
    let mut up = Upgrade { version: doc.version, options, diags, rounded: 0, rounded_line: 0 };
    for step in STEPS {
        if up.version < step.until {
            (step.run)(&mut doc.root, &mut up);
        }
    }
    if up.rounded > 0 {
        let (n, line) = (up.rounded, up.rounded_line);
        up.diags.note(
            line,
            "",
            format!("{n} inertias, locations and angles were rounded to six digits, as OpenSim does in files before 4.0"),
        );
    }
    doc.version = LATEST_VERSION;
    doc.root.set_attribute("Version", LATEST_VERSION.to_string());
}
