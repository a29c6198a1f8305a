//! What Python calls for the same request.

use serde_json::{Map, Value, json};

/// A field of a request and its keyword.
type Keyword = (&'static str, &'static str);

/// How Python does what a tool does. A field that is not here has no keyword.
struct Call {
    tool: &'static str,
    /// The function that is called, of the model or of the package.
    call: &'static str,
    keywords: &'static [&'static [Keyword]],
    /// Fields of the beginning and the end of a range of time, which the keyword `time` takes together.
    time: Option<[&'static str; 2]>,
    /// Files of results, and what has a method `save` for each; `*` in the name of the file stands for the folder that is given.
    saves: &'static [(&'static str, &'static str, &'static str)],
}

const FROM_TO: Option<[&str; 2]> = Some(["from", "to"]);
const TRACKED_FROM_TO: Option<[&str; 2]> = Some(["tracking.from", "tracking.to"]);

/// A simulation that tracks a motion: `rra` and `cmc`.
const TRACKING: &[Keyword] = &[
    ("tracking.motion", "motion"),
    ("tracking.loads", "loads"),
    ("tracking.force_sets", "force_sets"),
    ("tracking.residuals", "residuals"),
    ("tracking.reserves", "reserves"),
    ("tracking.cutoff_hz", "cutoff_hz"),
    ("tracking.points", "points"),
    ("tracking.tasks", "tasks"),
    ("tracking.task_file", "task_file"),
    ("tracking.limits", "limits"),
    ("tracking.exclude", "exclude"),
    ("tracking.accuracy", "accuracy"),
    ("tracking.minimum_step", "minimum_step"),
    ("tracking.maximum_step", "maximum_step"),
    ("tracking.stop_at_shortfall", "stop_at_shortfall"),
    ("tracking.opensim_faults", "opensim_faults"),
];
const TRACKED: &[(&str, &str, &str)] = &[("tracking.output.folder", "*_states.sto", "result.states")];

/// Optimal control of a measured motion: `inverse` and `track`.
const MEASURED: &[Keyword] = &[
    ("changes.loads", "loads"),
    ("changes.weld", "weld"),
    ("changes.residuals", "residuals"),
    ("changes.remove_muscles", "remove_muscles"),
    ("changes.rigid_tendons", "rigid_tendons"),
    ("changes.no_activation_dynamics", "no_activation_dynamics"),
    ("changes.degroote_fregly", "degroote_fregly"),
    ("changes.implicit_tendons", "implicit_tendons"),
    ("changes.explicit_tendons", "explicit_tendons"),
    ("changes.no_passive_force", "no_passive_force"),
    ("changes.curve_width", "curve_width"),
    ("changes.strength", "strength"),
    ("changes.function_paths", "function_paths"),
    ("changes.reserves", "reserves"),
    ("mesh_interval", "mesh_interval"),
    ("clip_time_range", "clip_time_range"),
    ("cutoff_hz", "cutoff_hz"),
    ("root_angles", "root_angles"),
    ("name", "name"),
];

/// Options of a solve, which a study takes too.
const SOLVED: &[Keyword] = &[
    ("guess", "guess"),
    ("intervals", "intervals"),
    ("coarse", "coarse"),
    ("starts", "starts"),
    ("refine", "refine"),
    ("scheme", "scheme"),
    ("tolerance", "tolerance"),
    ("max_iterations", "max_iterations"),
    ("barrier", "barrier"),
    ("simulate", "simulate"),
];

const NONE: &[(&str, &str, &str)] = &[];

const CALLS: &[Call] = &[
    Call {
        tool: "inverse_kinematics",
        call: "model.inverse_kinematics",
        keywords: &[&[
            ("markers", "markers"),
            ("task_file", "tasks"),
            ("coordinates", "coordinates"),
            ("chunks", "chunks"),
        ]],
        time: FROM_TO,
        saves: &[
            ("output.motion", "", "result.motion"),
            ("output.errors", "", "result.marker_errors"),
            ("output.marker_errors", "", "result.marker_distances"),
            ("output.marker_locations", "", "result.marker_locations"),
        ],
    },
    Call {
        tool: "sensor_kinematics",
        call: "model.sensor_kinematics",
        keywords: &[&[
            ("orientations", "orientations"),
            ("sensor_to_ground", "sensor_to_ground"),
            ("weights", "weights"),
            ("from", "from"),
            ("to", "to"),
        ]],
        time: None,
        saves: &[("output.motion", "", "result.motion")],
    },
    Call {
        tool: "inverse_dynamics",
        call: "model.inverse_dynamics",
        keywords: &[&[
            ("motion", "motion"),
            ("loads", "loads"),
            ("cutoff_hz", "cutoff_hz"),
            ("exclude", "exclude"),
            ("joints", "joints"),
            ("root_angles", "root_angles"),
        ]],
        time: FROM_TO,
        saves: &[("output", "", "result.moments"), ("joint_output", "", "result.joint_loads")],
    },
    Call {
        tool: "static_optimization",
        call: "model.static_optimization",
        keywords: &[&[
            ("motion", "motion"),
            ("loads", "loads"),
            ("reserves", "reserves"),
            ("residuals", "residuals"),
            ("force_sets", "force_sets"),
            ("cutoff_hz", "cutoff_hz"),
            ("exponent", "exponent"),
            ("muscle_physiology", "muscle_physiology"),
            ("every", "every"),
        ]],
        time: FROM_TO,
        saves: &[
            ("output.folder", "*_activation.sto", "result.activations"),
            ("output.folder", "*_force.sto", "result.forces"),
        ],
    },
    Call {
        tool: "analyze",
        call: "model.analyze",
        keywords: &[&[
            ("motion", "motion"),
            ("analyses", "analyses"),
            ("loads", "loads"),
            ("controls", "controls"),
            ("cutoff_hz", "cutoff_hz"),
            ("equilibrate", "equilibrate"),
            ("reserves", "reserves"),
            ("residuals", "residuals"),
            ("force_sets", "force_sets"),
        ]],
        time: FROM_TO,
        saves: &[("output.folder", "*_{name}.sto", "for name in result: result[name]")],
    },
    Call {
        tool: "scale",
        call: "model.scale",
        keywords: &[&[
            ("factors.markers", "static"),
            ("placing.markers", "static"),
            ("factors.measurement_file", "measurements"),
            ("placing.task_file", "tasks"),
            ("mass", "mass"),
            ("marker_set", "marker_set"),
            ("name", "name"),
            ("factors.preserve_mass_distribution", "preserve_mass_distribution"),
        ]],
        time: Some(["factors.from", "factors.to"]),
        saves: &[("output.model", "", "result.model"), ("output.pose", "", "result.pose")],
    },
    Call {
        tool: "simulate",
        call: "model.simulate",
        keywords: &[&[
            ("duration", "duration"),
            ("excitation", "excitation"),
            ("controls", "controls"),
            ("initial", "initial"),
            ("method", "method"),
            ("accuracy", "accuracy"),
            ("step", "step"),
            ("interval", "interval"),
            ("outputs", "outputs"),
            ("deadline", "deadline"),
        ]],
        time: None,
        saves: &[("output.folder", "*_states.sto", "result.states")],
    },
    Call {
        tool: "equilibrium",
        call: "model.equilibrium",
        keywords: &[&[("excitation", "excitation"), ("initial", "initial"), ("eigenvalues", "eigenvalues")]],
        time: None,
        saves: &[("output", "", "result.state")],
    },
    Call {
        tool: "residual_reduction",
        call: "model.rra",
        keywords: &[
            TRACKING,
            &[("window", "window"), ("mass_center", "mass_center"), ("find_weights", "find_weights")],
        ],
        time: TRACKED_FROM_TO,
        saves: TRACKED,
    },
    Call {
        tool: "computed_muscle_control",
        call: "model.cmc",
        keywords: &[
            TRACKING,
            &[
                ("window", "window"),
                ("exact", "exact"),
                ("effort", "effort"),
                ("smoothness", "smoothness"),
                ("lead", "lead"),
            ],
        ],
        time: TRACKED_FROM_TO,
        saves: TRACKED,
    },
    Call {
        tool: "residual_elimination",
        call: "model.rea",
        keywords: &[&[
            ("motion", "motion"),
            ("loads", "loads"),
            ("cutoff_hz", "cutoff_hz"),
            ("cycle", "cycle"),
            ("exclude", "exclude"),
            ("translations", "translations"),
            ("back", "back"),
            ("weights", "weights"),
            ("keep_mean_flexion", "keep_mean_flexion"),
            ("step", "step"),
        ]],
        time: FROM_TO,
        saves: &[("output", "", "result.motion")],
    },
    Call {
        tool: "reconcile",
        call: "model.make_consistent",
        keywords: &[&[
            ("markers", "markers"),
            ("motion", "motion"),
            ("loads", "loads"),
            ("task_file", "task_file"),
            ("exclude", "exclude"),
            ("cutoff_hz", "cutoff_hz"),
            ("residual_sd", "residual_sd"),
            ("marker_sd", "marker_sd"),
            ("curve", "curve"),
            ("marker_offset_sd", "marker_offset_sd"),
            ("mass_sd", "mass_sd"),
            ("mass_center_sd", "mass_center_sd"),
            ("load_offset_sd", "load_offset_sd"),
            ("load_gain_sd", "load_gain_sd"),
            ("load_delay_sd", "load_delay_sd"),
        ]],
        time: FROM_TO,
        saves: &[("output", "", "result.motion")],
    },
    Call {
        tool: "fit_paths",
        call: "model.fit_paths",
        keywords: &[&[
            ("coordinates", "coordinates"),
            ("margin", "margin"),
            ("max_order", "max_order"),
            ("max_terms", "max_terms"),
            ("only_wrapping", "only_wrapping"),
            ("length_tolerance", "length_tolerance"),
            ("moment_arm_tolerance", "moment_arm_tolerance"),
        ]],
        time: None,
        saves: &[("output", "", "result")],
    },
    Call {
        tool: "inverse",
        call: "model.inverse",
        keywords: &[
            &[("kinematics", "motion")],
            MEASURED,
            SOLVED,
            &[
                ("minimize_activations", "minimize_activations"),
                ("reserves_weight", "reserves_weight"),
                ("convergence_tolerance", "convergence_tolerance"),
                ("constraint_tolerance", "constraint_tolerance"),
                ("outputs", "outputs"),
            ],
        ],
        time: FROM_TO,
        saves: NONE,
    },
    Call {
        tool: "track",
        call: "model.track",
        keywords: &[
            &[("states", "states"), ("markers", "markers")],
            MEASURED,
            SOLVED,
            &[
                ("states_weight", "states_weight"),
                ("state_weights", "state_weights"),
                ("scale_state_weights_with_range", "scale_state_weights_with_range"),
                ("derivatives", "derivatives"),
                ("markers_weight", "markers_weight"),
                ("marker_weights", "marker_weights"),
                ("effort_weight", "effort_weight"),
                ("control_weights", "control_weights"),
                ("start_from_reference", "start_from_reference"),
            ],
        ],
        time: FROM_TO,
        saves: NONE,
    },
    Call {
        tool: "solve",
        call: "soleus.study",
        keywords: &[&[("study", ""), ("kinematics", "kinematics")], SOLVED],
        time: None,
        saves: NONE,
    },
    Call {
        tool: "setup_file",
        call: "soleus.run",
        keywords: &[&[("file", ""), ("model", "model"), ("opensim_faults", "opensim_faults")]],
        time: None,
        saves: NONE,
    },
    Call {
        tool: "view",
        call: "model.view",
        keywords: &[&[
            ("motion", "motion"),
            ("loads", "loads"),
            ("activations", "activations"),
            ("geometry", "geometry"),
            ("frame_rate", "frame_rate"),
        ]],
        time: None,
        saves: &[("page", "", "result")],
    },
    Call {
        tool: "predict",
        call: "soleus.predict.gait",
        keywords: &[&[
            ("speed", "speed"),
            ("slope_deg", "slope_deg"),
            ("run", "run"),
            ("whole", "symmetric"),
            ("effort", "effort"),
            ("device", "device"),
            ("free", "free"),
            ("add_feet", "add_feet"),
            ("starts", "starts"),
            ("intervals", "intervals"),
        ]],
        time: None,
        saves: &[("output", "*_motion.sto", "result.motion")],
    },
    Call {
        tool: "predict_walk",
        call: "soleus.predict_walk",
        keywords: &[&[("speed", ""), ("slope_deg", "slope_deg"), ("ankle_spring", "ankle_spring")]],
        time: None,
        saves: NONE,
    },
];

/// Fields that the keywords of a study's `solve` take.
const OF_SOLVE: &[Keyword] = &[("solution", "output"), ("threads", "threads")];

/// The lines that do what a request asks for, `changed` being what is not at its default; or the fields that Python has no keyword for, which
/// may be none at all, if it has no function for this.
pub fn python(tool: &str, request: &Value, changed: &[(String, &Value)]) -> Result<String, Vec<String>> {
    let call = CALLS.iter().find(|c| c.tool == tool).ok_or_else(Vec::new)?;
    let is_study = matches!(tool, "inverse" | "track" | "solve");
    let (mut positional, mut arguments, mut odd) = (String::new(), Vec::new(), Vec::new());
    let (mut solve, mut saves, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    let mut time = ["None".to_string(), "None".to_string()];
    // In the order of the keywords here: what a tool works on comes first.
    let place = |path: &str| call.keywords.iter().copied().flatten().position(|(field, _)| *field == path);
    let mut changed: Vec<_> = changed.iter().collect();
    changed.sort_by_key(|(path, _)| place(path).unwrap_or(usize::MAX));
    for (path, value) in changed {
        let saved: Vec<_> = call.saves.iter().filter(|(field, ..)| field == path).collect();
        if let Some(end) = call.time.and_then(|ends| ends.iter().position(|e| e == path)) {
            time[end] = literal(value);
        } else if !saved.is_empty() {
            saves.extend(saved.iter().map(|(_, name, what)| save(name, what, value)));
        } else if let Some((_, keyword)) = keyword(call, path) {
            match *keyword {
                "" => positional = literal(value),
                "symmetric" => arguments.push("symmetric=False".to_string()),
                "free" => arguments.push(free(value)),
                // A word of the language cannot be a keyword.
                "from" | "to" => odd.push(format!("{}: {}", json!(keyword), literal(value))),
                _ => arguments.push(format!("{keyword}={}", literal(value))),
            }
        } else if let Some((_, keyword)) = OF_SOLVE.iter().find(|(f, _)| is_study && f == path) {
            solve.push(format!("{keyword}={}", literal(value)));
        } else if is_study && path == "report" {
            solve.push("page=True".to_string());
            saves.push(format!("result.view().save({})", literal(value)));
        } else if path != "model" && path != "tracking.model" {
            missing.push(path.clone());
        }
    }
    if tool == "scale" {
        scaled(request, &mut arguments, &mut missing);
    }
    if !missing.is_empty() {
        return Err(missing);
    }
    if time.iter().any(|t| t != "None") {
        arguments.push(format!("time=({}, {})", time[0], time[1]));
    }
    if !odd.is_empty() {
        arguments.push(format!("**{{{}}}", odd.join(", ")));
    }
    let model = request.get("model").or_else(|| request.pointer("/tracking/model")).map(literal);
    let mut lines = vec!["import soleus".to_string(), String::new()];
    if call.call.starts_with("model.") || tool == "predict" {
        lines.push(format!("model = soleus.read({})", model.unwrap_or_default()));
    }
    if tool == "predict" {
        positional = "model".to_string();
    }
    arguments.splice(0..0, Some(positional).filter(|p| !p.is_empty()));
    let end = if is_study { format!(".solve({})", solve.join(", ")) } else { String::new() };
    lines.push(format!("result = {}({}){end}", call.call, arguments.join(", ")));
    lines.extend(saves);
    Ok(lines.join("\n"))
}

/// A command, run by Python: the package brings the program along.
pub fn python_of_command(command: &str) -> String {
    format!("import subprocess\n\nsubprocess.run({}, shell=True, check=True)", literal(&command.into()))
}

fn keyword(call: &Call, path: &str) -> Option<&'static Keyword> {
    call.keywords.iter().copied().flatten().find(|(field, _)| *field == path)
}

/// Python has one static trial and one range of time for the sizes and for the places of markers.
fn scaled(request: &Value, arguments: &mut Vec<String>, missing: &mut Vec<String>) {
    let of = |path: &str| request.pointer(path).cloned().unwrap_or(Value::Null);
    for field in ["markers", "from", "to"] {
        let (sizes, places) = (of(&format!("/factors/{field}")), of(&format!("/placing/{field}")));
        missing.retain(|m| *m != format!("placing.{field}"));
        if !of("/placing").is_null() && sizes != places {
            missing.push(format!("placing.{field}"));
        }
    }
    let mut seen = false;
    arguments.retain(|a| !a.starts_with("static=") || !std::mem::replace(&mut seen, true));
    if of("/placing").is_null() && seen {
        arguments.push("place_markers=False".to_string());
    }
}

/// A line that writes a file; of a folder that is given, a file beside it.
fn save(name: &str, what: &str, value: &Value) -> String {
    let file = if name.is_empty() {
        literal(value)
    } else {
        let text = json!(name.replace('*', value.as_str().unwrap_or_default())).to_string();
        if name.contains('{') { format!("f{text}") } else { text }
    };
    format!("{what}.save({file})")
}

/// `COMPONENT.PROPERTY=LOWER,UPPER` as the dictionary that Python takes.
fn free(list: &Value) -> String {
    let entry = |v: &Value| {
        let (name, bounds) = v.as_str()?.split_once('=')?;
        let (lower, upper) = bounds.split_once(',')?;
        Some(format!("{}: ({lower}, {upper})", json!(name)))
    };
    let entries: Vec<String> = list.as_array().into_iter().flatten().filter_map(entry).collect();
    format!("free={{{}}}", entries.join(", "))
}

/// As a literal of Python. JSON's strings, numbers and lists are Python's.
pub fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_string(),
        Value::Bool(b) => if *b { "True" } else { "False" }.to_string(),
        Value::Array(list) => format!("[{}]", list.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => object(map),
        other => other.to_string(),
    }
}

fn object(map: &Map<String, Value>) -> String {
    let fields: Vec<String> = map.iter().map(|(k, v)| format!("{}: {}", json!(k), literal(v))).collect();
    format!("{{{}}}", fields.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::TOOLS;
    use super::*;

    const MODEL: &str = include_str!("../../../../python/soleus/_model.py");
    const STUDY: &str = include_str!("../../../../python/soleus/_study.py");
    const PREDICT: &str = include_str!("../../../../python/soleus/predict.py");

    /// Parameters of a function with their defaults (empty: none), and whether it takes other keywords too.
    fn signature(source: &str, name: &str) -> (Vec<(String, String)>, bool) {
        let start = ["\ndef ", "\n    def "].iter().find_map(|d| source.find(&format!("{d}{name}(")));
        let text = &source[start.unwrap_or_else(|| panic!("no function `{name}`"))..];
        let text = &text[text.find('(').unwrap() + 1..text.find(" -> ").unwrap()];
        let text = &text[..text.rfind(')').unwrap()];
        let (mut parts, mut depth) = (vec![String::new()], 0);
        for c in text.chars() {
            depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
            if c == ',' && depth == 0 {
                parts.push(String::new());
            } else {
                parts.last_mut().unwrap().push(c);
            }
        }
        let parameter = |p: &String| {
            let (name, rest) = p.trim().split_once(':')?;
            let default = rest.split_once(" = ").map_or("", |(_, d)| d.trim());
            Some((name.trim().to_string(), default.to_string()))
        };
        let all: Vec<_> = parts.iter().filter_map(parameter).collect();
        let takes_more = all.iter().any(|(n, _)| n.starts_with("**"));
        (all.into_iter().filter(|(n, _)| !n.starts_with('*')).collect(), takes_more)
    }

    fn of(call: &Call) -> (Vec<(String, String)>, bool) {
        let name = call.call.rsplit('.').next().unwrap();
        match call.call {
            c if c.starts_with("model.") => signature(MODEL, name),
            "soleus.predict.gait" => signature(PREDICT, name),
            _ => signature(STUDY, name),
        }
    }

    /// Keywords are those of the functions. Of functions that take any keyword, a field is passed on under its own name, but for those that
    /// they know by another one.
    #[test]
    fn identity_keywords_are_those_of_the_package() {
        for call in CALLS {
            let (parameters, takes_more) = of(call);
            let defaults = (TOOLS.iter().find(|t| t.name == call.tool).unwrap().defaults)();
            for (field, keyword) in call.keywords.iter().copied().flatten() {
                let parameter = parameters.iter().find(|(n, _)| n == keyword);
                let own = field.rsplit('.').next().unwrap() == *keyword;
                // Of these, requests hold what the package passes on.
                let belongs =
                    !field.contains('.') || field.starts_with("changes.") || field.starts_with("tracking.");
                assert!(
                    keyword.is_empty() || parameter.is_some() || (takes_more && own && belongs),
                    "{}: {field} → {keyword}",
                    call.call
                );
                // A field at its default is not written: the function must have the same default.
                let default = parameter.map_or("", |(_, d)| d).replace('\'', "\"");
                let default = match default.as_str() {
                    "True" => "true".to_string(),
                    "False" => "false".to_string(),
                    tuple if tuple.starts_with('(') => format!("[{}]", &tuple[1..tuple.len() - 1]),
                    other => other.to_string(),
                };
                let own = defaults.pointer(&format!("/{}", field.replace('.', "/")));
                // The contrary of its field; and a number of chunks of which 0 is the same as 1.
                let odd = ["symmetric", "chunks"].contains(keyword);
                if let (Ok(default), Some(own), false) = (serde_json::from_str(&default), own, odd) {
                    let number = |v: &Value| v.as_f64();
                    assert!(
                        default == *own
                            || number(&default) == number(own) && number(own).is_some()
                            || own.is_null(),
                        "{}: {field} is {own} in the request and {default} in Python",
                        call.call
                    );
                }
            }
            if call.time.is_some() {
                // Functions of tracking and of studies take it from the other keywords.
                let has_time = parameters.iter().any(|(n, _)| n == "time");
                let taken = |source: &str| source.contains(".pop(\"time\")");
                assert!(has_time || takes_more && (taken(MODEL) || taken(STUDY)), "{}", call.call);
            }
        }
        let solve = signature(STUDY, "solve").0;
        assert!(
            OF_SOLVE.iter().all(|(_, k)| solve.iter().any(|(n, _)| n == k))
                && solve.iter().any(|(n, _)| n == "page")
        );
    }

    /// Fields of calls are fields of their requests.
    #[test]
    fn identity_fields_are_those_of_the_requests() {
        let forms: Value = serde_json::from_str(include_str!("forms.json")).unwrap();
        for call in CALLS {
            let t = TOOLS.iter().find(|t| t.name == call.tool).unwrap();
            let fields = call.keywords.iter().copied().flatten().map(|(f, _)| *f);
            for path in fields.chain(call.saves.iter().map(|s| s.0)).chain(call.time.into_iter().flatten()) {
                let mut name = t.request.to_string();
                for part in path.split('.') {
                    let list =
                        forms[&name]["fields"].as_array().unwrap_or_else(|| panic!("{}: {path}", call.tool));
                    let field = list.iter().find(|f| f["name"] == part);
                    let field = field.unwrap_or_else(|| panic!("{}: {path}", call.tool));
                    name = field["type"]["type"].as_str().unwrap_or_default().to_string();
                }
            }
        }
    }
}
