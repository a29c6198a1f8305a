//! Requests that command and Python know by OpenSim's setup files alone: the file, and how it is run.

use super::python::literal;
use serde_json::Value;
use std::fmt::Write;

/// How a setup file states a request. A field that is not here has no element.
struct Setup {
    tool: &'static str,
    class: &'static str,
    /// Name of the file that is proposed.
    file: &'static str,
    /// Fields and their elements.
    elements: &'static [(&'static str, &'static str)],
}

const SETUPS: &[Setup] = &[
    Setup {
        tool: "place_sensors",
        class: "IMUPlacer",
        file: "place_sensors.xml",
        elements: &[
            ("model", "model_file"),
            ("orientations", "orientation_file_for_calibration"),
            ("base", "base_imu_label"),
            ("heading_axis", "base_heading_axis"),
            ("sensor_to_ground", "sensor_to_opensim_rotations"),
            ("output", "output_model_file"),
        ],
    },
    Setup {
        tool: "forward_simulation",
        class: "ForwardTool",
        file: "forward.xml",
        elements: &[
            ("model", "model_file"),
            ("replace_forces", "replace_force_set"),
            ("force_sets", "force_set_files"),
            ("loads", "external_loads_file"),
            ("states", "states_file"),
            ("from", "initial_time"),
            ("to", "final_time"),
            ("equilibrate", "solve_for_equilibrium_for_auxiliary_states"),
            ("accuracy", "integrator_error_tolerance"),
            ("minimum_step", "minimum_integrator_step_size"),
            ("maximum_step", "maximum_integrator_step_size"),
            ("output.folder", "results_directory"),
        ],
    },
];

/// Command and Python that write the setup file of a request and run it; or the fields that it has no element for.
/// Nothing for tools that have a command.
pub fn by_setup_file(tool: &str, changed: &[(String, &Value)]) -> Option<Result<[String; 2], Vec<String>>> {
    let setup = SETUPS.iter().find(|s| s.tool == tool)?;
    Some(text(setup, changed).map(|text| {
        let (file, name) = (setup.file, literal(&setup.file.into()));
        [
            format!("cat > {file} <<'END'\n{text}END\nsoleus run {file}"),
            format!(
                "import soleus\n\nwith open({name}, \"w\") as file:\n    file.write('''{text}''')\nsoleus.run({name})"
            ),
        ]
    }))
}

/// The setup file.
fn text(setup: &Setup, changed: &[(String, &Value)]) -> Result<String, Vec<String>> {
    let element = |path: &str| setup.elements.iter().find(|(field, _)| *field == path).map(|(_, e)| *e);
    // The name of the results is that of the tool.
    let name = changed.iter().find(|(path, _)| path == "output.name");
    let missing: Vec<String> = changed
        .iter()
        .filter(|(path, _)| element(path).is_none() && path != "output.name")
        .map(|(path, _)| path.clone())
        .collect();
    if !missing.is_empty() {
        return Err(missing);
    }
    let name = name.map_or(String::new(), |(_, value)| format!(" name=\"{}\"", escaped(&plain(value))));
    let class = setup.class;
    let mut text = format!("<OpenSimDocument Version=\"40600\">\n    <{class}{name}>\n");
    for (path, value) in changed {
        if let Some(element) = element(path) {
            let _ = writeln!(text, "        <{element}>{}</{element}>", escaped(&plain(value)));
        }
    }
    let _ = write!(text, "    </{class}>\n</OpenSimDocument>\n");
    Ok(text)
}

/// The text of an element: lists are separated by spaces.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(plain).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// Markup in a name is text. An apostrophe and a backslash would end or change the string of Python.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' | '\'' | '\\' | '\n' | '\r' => {
                let _ = write!(out, "&#{};", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::TOOLS;
    use super::super::same::same;
    use super::*;
    use soleus::files::Memory;
    use soleus::setup_file::Setup as Read;
    use soleus::{Context, ForwardSimulation, PlaceSensors, SetupFile};
    use std::path::Path;

    /// The request that the setup file in a command states.
    fn read(found: &Value) -> Read {
        let command = found["command"].as_str().unwrap_or_else(|| panic!("{found}"));
        let text = command.split_once("<<'END'\n").unwrap().1.split_once("END\n").unwrap().0;
        assert!(found["python"].as_str().unwrap().contains(text));
        let files = Memory::new().with("setup.xml", text);
        let request = SetupFile { file: "setup.xml".into(), ..SetupFile::default() };
        request.read(&Context::new(&files)).unwrap()
    }

    /// The setup file of a request is read as that request, with every field changed and with only what it needs.
    #[test]
    fn identity_setup_files_state_the_request() {
        let sensors = PlaceSensors {
            model: "a b.osim".into(),
            orientations: "it's.sto".into(),
            sensor_to_ground: [-1.5, 0.0, 0.25],
            base: Some("pelvis_imu".to_string()),
            heading_axis: Some("-z".to_string()),
            output: Some("m & n.osim".into()),
            ..PlaceSensors::default()
        };
        let need =
            PlaceSensors { base: None, heading_axis: None, sensor_to_ground: [0.0; 3], ..sensors.clone() };
        for request in [sensors, need] {
            let found = same("place_sensors", &serde_json::to_value(&request).unwrap());
            let Read::ImuPlacer(setup) = read(&found) else { panic!("{found}") };
            let again = PlaceSensors::from_setup(Path::new("setup.xml"), &setup).unwrap();
            let again = PlaceSensors { is_derived: false, asked_in: None, ..again };
            assert_eq!(serde_json::to_value(again).unwrap(), serde_json::to_value(&request).unwrap());
        }
        let mut simulation = ForwardSimulation {
            model: "m.osim".into(),
            replace_forces: true,
            force_sets: vec!["a.xml".into(), "b.xml".into()],
            loads: Some("grf.xml".into()),
            states: Some("s.sto".into()),
            from: 0.25,
            to: 0.75,
            equilibrate: true,
            accuracy: 1e-6,
            minimum_step: 1e-7,
            maximum_step: 0.01,
            ..ForwardSimulation::default()
        };
        simulation.output.folder = Some("out".into());
        simulation.output.name = Some("trial".to_string());
        let mut need = ForwardSimulation { model: "m.osim".into(), ..ForwardSimulation::default() };
        need.output = simulation.output.clone();
        for request in [simulation, need] {
            let found = same("forward_simulation", &serde_json::to_value(&request).unwrap());
            let Read::Forward(setup) = read(&found) else { panic!("{found}") };
            let again = ForwardSimulation::from_setup(Path::new("setup.xml"), &setup).unwrap();
            let again = ForwardSimulation { asked_in: None, ..again };
            assert_eq!(serde_json::to_value(again).unwrap(), serde_json::to_value(&request).unwrap());
            assert!(found["python"].as_str().unwrap().ends_with("soleus.run(\"forward.xml\")"), "{found}");
        }
    }

    /// What a setup file has no element for must not be dropped in silence; of every tool there is a command or a setup file.
    #[test]
    fn analytic_fields_without_an_element() {
        let request =
            ForwardSimulation { model: "m.osim".into(), opensim_faults: true, ..Default::default() };
        let found = same("forward_simulation", &serde_json::to_value(&request).unwrap());
        assert!(found["command"].is_null() && found["python"].is_null());
        assert_eq!(found["no_flag"], serde_json::json!(["opensim_faults"]));
        for tool in TOOLS {
            let found = same(tool.name, &(tool.defaults)());
            assert!(found["command"].is_string() && found["python"].is_string(), "{}: {found}", tool.name);
        }
    }
}
