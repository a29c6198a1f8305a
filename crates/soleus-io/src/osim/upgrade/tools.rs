//! Setup files of tools: renamed properties, and tools that took over from others.

use soleus_model::{Content, Element};

use super::Upgrade;
use super::tree::{child_or_new, into_children, remove, truth, visit};

/// Old and new names of properties of tools, and the version that changed them.
/// Source: `AbstractTool::updateFromXMLNode` of OpenSim 4.6.
const RENAMED: &[(u32, &str, &str)] =
    &[(10900, "replace_actuator_set", "replace_force_set"), (10904, "actuator_set_files", "force_set_files")];

/// The tools that share the properties above.
const TOOLS: [&str; 4] = ["AnalyzeTool", "CMCTool", "ForwardTool", "RRATool"];

/// Brings setup files to the form of version 20300.
pub fn update(root: &mut Element, up: &mut Upgrade<'_>) {
    // OpenSim gives tools from files without a version the tighter accuracy.
    let accuracy = if up.version == super::UNVERSIONED { "1e-5" } else { "1e-4" };
    visit(root, &mut |e| {
        if TOOLS.contains(&e.tag.as_str()) {
            rename_properties(e, up);
        }
        if e.tag == "IKTool" && up.version <= 20201 {
            inverse_kinematics(e, accuracy, up);
        }
        if e.tag == "AnalyzeTool" && up.version < 20202 {
            inverse_dynamics(e);
        }
    });
}

fn rename_properties(tool: &mut Element, up: &mut Upgrade<'_>) {
    for (until, old, new) in RENAMED {
        if up.version < *until {
            tool.rename_child(old, new);
        }
    }
    if up.version < 10904 {
        controls_file(tool);
        corrective_springs(tool, up);
    }
    if up.version < 20001
        && let Some(file) = tool.child("external_loads_file")
        && !matches!(file.text().as_str(), "" | "Unassigned")
        && !file.text().ends_with(".xml")
    {
        up.diags.warn(
            file.line,
            "",
            format!("external loads are given as the table `{}`, which is not supported here", file.text()),
            "write an ExternalLoads file with one ExternalForce for each body",
        );
    }
}

/// The list that holds the controllers of a tool.
fn controllers(tool: &mut Element) -> Option<&mut Element> {
    child_or_new(tool, "ControllerSet").and_then(|set| child_or_new(set, "objects"))
}

/// A file of controls became a controller that reads it (10904).
fn controls_file(tool: &mut Element) {
    let Some(file) = remove(tool, "controls_file") else { return };
    if matches!(file.text().as_str(), "" | "Unassigned") {
        return;
    }
    let mut controller = Element::new("ControlSetController", file.line);
    controller.push(file);
    if let Some(list) = controllers(tool) {
        list.push(controller);
    }
}

/// Corrective springs of forward simulations became a controller with fixed gains (10904):
/// position gain 16 1/s², velocity gain 8 1/s.
fn corrective_springs(tool: &mut Element, up: &mut Upgrade<'_>) {
    const SPRINGS: [&str; 4] = [
        "body1_linear_corrective_spring_active",
        "body1_torsional_corrective_spring_active",
        "body2_linear_corrective_spring_active",
        "body2_torsional_corrective_spring_active",
    ];
    if tool.tag != "ForwardTool" {
        return;
    }
    let Some(line) = SPRINGS.iter().find_map(|s| tool.child(s)).map(|e| e.line) else { return };
    let mut controller = Element::new("CorrectionController", line);
    controller.push(Element::with_text("kp", "16", line));
    controller.push(Element::with_text("kv", "8", line));
    if let Some(list) = controllers(tool) {
        list.push(controller);
    }
    up.diags.warn(
        line,
        "",
        "corrective springs were replaced by a CorrectionController, as OpenSim does",
        "",
    );
}

/// `IKTool` with a set of trials became `InverseKinematicsTool` with one (20300).
fn inverse_kinematics(tool: &mut Element, accuracy: &str, up: &mut Upgrade<'_>) {
    let Some(mut trials) = remove(tool, "IKTrialSet") else { return };
    tool.tag = "InverseKinematicsTool".to_string();
    remove(tool, "optimizer_algorithm");
    let mut trials =
        trials.take_child("objects").into_iter().flat_map(into_children).filter(|e| e.tag == "IKTrial");
    if let Some(trial) = trials.next() {
        tool.content.extend(trial.content);
    }
    let more = trials.count();
    if more > 0 {
        up.diags.warn(
            tool.line,
            "",
            format!("{more} more trials of the IKTool were ignored; one setup runs one trial"),
            "",
        );
    }
    let line = tool.line;
    tool.push(Element::with_text("constraint_weight", "20.0", line));
    tool.push(Element::with_text("accuracy", accuracy, line));
}

/// An `AnalyzeTool` with the analysis `InverseDynamics` became `InverseDynamicsTool` (20202).
fn inverse_dynamics(tool: &mut Element) {
    let objects = |e: &Element| e.child("AnalysisSet").and_then(|s| s.child("objects")).cloned();
    let Some(analysis) = objects(tool).and_then(|mut o| o.take_child("InverseDynamics")) else { return };
    tool.tag = "InverseDynamicsTool".to_string();
    remove(tool, "AnalysisSet");
    remove(tool, "output_precision");
    let start = remove(tool, "initial_time").map(|e| e.text()).unwrap_or_default();
    let end = remove(tool, "final_time").map(|e| e.text()).unwrap_or_default();
    let line = analysis.line;
    let uses_model_forces = analysis.child_text("use_model_force_set").is_some_and(|t| truth(&t));
    let prefix = tool.name().to_string();
    // Its own switches and times have no place in the tool.
    const DROPPED: [&str; 6] =
        ["on", "in_degrees", "step_interval", "start_time", "end_time", "use_model_force_set"];
    let kept = into_children(analysis).filter(|e| !DROPPED.contains(&e.tag.as_str()));
    tool.content.extend(kept.map(Content::Element));
    tool.push(Element::with_text("time_range", format!("{start} {end}"), line));
    let excluded = if uses_model_forces { "" } else { "Muscles" };
    tool.push(Element::with_text("forces_to_exclude", excluded, line));
    tool.push(Element::with_text("output_gen_force_file", format!("{prefix}_InverseDynamics.sto"), line));
    tool.push(Element::with_text("coordinates_in_degrees", "true", line));
}
