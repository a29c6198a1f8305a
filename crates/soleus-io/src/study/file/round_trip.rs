//! Studies are the same after they were written and read, as TOML and as JSON.

use super::schema::{self, Kind, NEEDED};
use super::writing::Writing;
use super::*;

fn read_text(text: &str) -> Study {
    let mut log = Diagnostics::new("study.toml");
    read(text, &mut log).unwrap_or_else(|| panic!("{text}\n{:#?}", log.list))
}

/// Written and read, as TOML and as JSON.
fn check(study: &Study) {
    let text = write(study);
    let again = read_text(&text).without_lines();
    let plain = study.clone().without_lines();
    assert_eq!(again, plain, "{text}");
    let json = serde_json::to_string(study).unwrap_or_else(|e| panic!("{e}"));
    let again: Study = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{json}\n{e}"));
    assert_eq!(again.without_lines(), plain, "{json}");
}

/// A value that no field has when it is left out.
fn sample(f: &Field) -> String {
    match (f.name, f.kind) {
        ("dynamics" | "mode", Kind::Text) if f.help.contains("implicit") => "\"implicit\"".into(),
        ("mode", _) => "\"constraint\"".into(),
        ("index" | "element", _) => "2".into(),
        ("constraint_method", _) => "\"Bordalba2023\"".into(),
        ("symmetry", _) => "\"left-right\"".into(),
        ("when", _) => "\"final\"".into(),
        ("later_entries", _) => "\"replace\"".into(),
        ("extremum", _) => "\"maximum\"".into(),
        ("on", _) => "\"child\"".into(),
        ("model_xml", _) => "'''<Model name=\"m\"><gravity>0 -9 0</gravity></Model>'''".into(),
        ("external_loads_xml", _) => "'<ExternalLoads name=\"l\"><objects/></ExternalLoads>'".into(),
        ("times" | "values", _) => "[0.125, 0.25]".into(),
        ("location" | "projection_vector", _) => "[0.125, -inf, 3]".into(),
        (_, Kind::Text | Kind::File) => "\"a \\\"word\\\" \\\\ \\u0007\"".into(),
        (_, Kind::Formula) => "\"sum(activation[*]^2) + \\n x; x = [1, 2, 3].x\"".into(),
        (_, Kind::Formulas) => "{ \"z\" = \"x + 1\", a = \"time\" }".into(),
        (_, Kind::References) => "{ z = \"f.sto\", a = { file = \"g\", lowpass_hz = 6 } }".into(),
        (_, Kind::Number | Kind::Function) => "0.123456789012345678".into(),
        (_, Kind::Count) => "7".into(),
        (_, Kind::Boolean) => (f.default != "true").to_string(),
        (_, Kind::Bounds) => "[-inf, 0.1]".into(),
        (_, Kind::BoundsList) => "[[-inf, 0.1], [2, 2]]".into(),
        (_, Kind::Numbers) => "[0, 0.25, 1]".into(),
        (_, Kind::Texts) => "[\"z z\", \"a\"]".into(),
        (_, Kind::Weights) => "{ \"z.*\" = 2, a = 0.1 }".into(),
        (_, Kind::Reference) => {
            "{ file = \"f\", operators = [\"speeds\", { lowpass_hz = 6 }, \"coupled_coordinates\"] }".into()
        }
        (_, Kind::Pairs) => "[\"z\", [\"a\", \"b\"]]".into(),
        (_, Kind::ContactGroups) => {
            "[{ forces = [\"f\"], external_force = \"e\", frames = [\"h\"] }, { forces = [], external_force = \"\" }]"
                .into()
        }
        (_, Kind::FramePairs) => "[{ frames = [\"a\", \"b\"], bounds = [0.1, inf] }]".into(),
        (_, Kind::Functions) => "{ z = { type = \"sine\", amplitude = 0.1, omega = 2 }, a = 1 }".into(),
        (_, Kind::XmlList) => "[\"<FunctionBasedPath name=\\\"p\\\"/>\"]".into(),
        (_, Kind::Xml | Kind::Table | Kind::Tables) => unreachable!("{}", f.name),
    }
}

const SMALL: &str = "model = \"leg.osim\"\ntime = { final = [0.2, 1] }\n";

/// Every field of every type of goal, path constraint and operator changes the study, and is there after writing.
#[test]
fn identity_every_field_of_every_type_is_kept() {
    let mut count = 0;
    for (list, common, classes) in [
        ("goals", schema::GOAL, GOALS),
        ("path_constraints", schema::CONSTRAINT, CONSTRAINTS),
        ("operators", schema::OPERATOR, OPERATORS),
    ] {
        for class in classes {
            let needed: Vec<&Field> = class.fields.iter().filter(|f| f.default == NEEDED).collect();
            let head = format!("{SMALL}[[{list}]]\ntype = \"{}\"\n", class.name);
            let with = |fields: &[&Field]| {
                fields.iter().fold(head.clone(), |text, f| text + &format!("{} = {}\n", f.name, sample(f)))
            };
            let least = read_text(&with(&needed));
            check(&least);
            for f in common.iter().chain(class.fields).filter(|f| f.name != "type" && f.default != NEEDED) {
                // Bounds are for outputs alone.
                if list == "path_constraints" && f.name == "bounds" && class.name != "output" {
                    continue;
                }
                let all: Vec<&Field> = needed.iter().copied().chain([f]).collect();
                let study = read_text(&with(&all));
                assert_ne!(
                    study.clone().without_lines(),
                    least.clone().without_lines(),
                    "{}: `{}`",
                    class.name,
                    f.name
                );
                check(&study);
                count += 1;
            }
            // Needed fields reach the study too.
            for f in &needed {
                let empty = match f.kind {
                    Kind::Text | Kind::File | Kind::Reference => "\"\"",
                    Kind::Number => "77",
                    Kind::Formula => "\"x\"",
                    Kind::Functions => "{}",
                    _ => "[]",
                };
                let text = with(&needed)
                    .replace(&format!("{} = {}", f.name, sample(f)), &format!("{} = {empty}", f.name));
                let study = read_text(&text);
                assert_ne!(study.clone().without_lines(), least.clone().without_lines(), "{text}");
                check(&study);
                count += 1;
            }
        }
    }
    assert!(count > 200, "{count} fields");
}

/// The same for the other tables.
#[test]
fn identity_every_field_of_every_table_is_kept() {
    let variable = |list: &str| format!("[[{list}]]\nname = \"v\"\n");
    for (head, fields, needed) in [
        ("[defaults]\n".to_string(), schema::DEFAULTS, &[][..]),
        ("[solver]\n".to_string(), schema::SOLVER, &[]),
        ("[refine]\n".to_string(), schema::REFINE, &[]),
        ("[guess]\n".to_string(), schema::GUESS, &[]),
        ("[output]\n".to_string(), schema::OUTPUT_FILES, &[]),
        ("[help]\n".to_string(), schema::HELP, &[]),
        ("[starts]\n".to_string(), schema::STARTS, &[]),
        (
            "[continuation]\nof = \"property\"\nvalues = [1]\ncomponents = [\"c\"]\nproperty = \"mass\"\n"
                .to_string(),
            schema::CONTINUATION,
            &["of", "values", "components", "property"],
        ),
        (variable("states"), schema::VARIABLE, &["name", "pattern"]),
        (variable("controls"), schema::VARIABLE, &["name", "pattern"]),
        (
            "[[parameters]]\nname = \"p\"\ncomponents = [\"c\"]\nproperty = \"mass\"\nbounds = 1\n"
                .to_string(),
            &schema::PARAMETER[3..4],
            &[],
        ),
        (
            "[[prescribed]]\ncoordinate = \"p\"\ntimes = [0, 1]\nvalues = [2, 3]\n".to_string(),
            &schema::PRESCRIBED[1..2],
            &[],
        ),
        (
            "[[forces]]\nname = \"f\"\nstates = { z = \"1\" }\nformula = \"z\"\n".to_string(),
            schema::FORCE,
            &["name", "states", "formula", "start"],
        ),
        (
            "[[forces]]\nname = \"f\"\nstates = { z = \"1\", a = \"2\", \"z.*\" = \"3\" }\n".to_string(),
            &schema::FORCE[7..8],
            &[],
        ),
        (String::new(), &schema::STUDY[2..5], &[]),
        (String::new(), &schema::STUDY[8..9], &[]),
        (String::new(), &schema::STUDY[16..19], &[]),
    ] {
        let (before, after) = match head.is_empty() {
            true => (String::new(), SMALL.to_string()),
            false => (format!("{SMALL}{head}"), String::new()),
        };
        let least = read_text(&format!("{before}{after}"));
        check(&least);
        for f in fields.iter().filter(|f| !needed.contains(&f.name)) {
            let study = read_text(&format!("{before}{} = {}\n{after}", f.name, sample(f)));
            assert_ne!(study.clone().without_lines(), least.clone().without_lines(), "{head}`{}`", f.name);
            check(&study);
        }
    }
}

/// Times, patterns, pairs in any order, names that are weighted twice, phases and links.
#[test]
fn identity_what_has_more_than_one_form_is_kept() {
    for rest in [
        "time = { initial = [0, 0.1], final = inf }",
        "time = { final = 1 }\n[[goals]]\nformula = 'sum(activation[*]^2)'\n[[path_constraints]]\nformula = 'com.y'\nlower = 0.5\n[tables]\nemg = 'emg.sto'\n[derived]\npower = 'actuation[a] * u[b]'",
        "time = { final = 1 }\n[[states]]\npattern = '.*'\nbounds = 1\n[[states]]\nname = 'b'\n[[states]]\npattern = 'a'",
        "time = { final = 1 }\n[[goals]]\ntype = 'periodicity'\nstates = [{ initial = 'a', final = 'b', negated = true }, 'c']",
        "time = { final = 1 }\n[[goals]]\ntype = 'periodicity'\nstates = ['a']\nnegated_states = [['c', 'd'], 'e']",
        "time = { final = 1 }\n[[goals]]\ntype = 'control'\nweights = [['a', 1], ['b', 2], ['a', 3]]",
        "time = { final = 1 }\n[[goals]]\ntype = 'state_tracking'\nreference = { file = 'f', lowpass_hz = 6, speeds = true }",
        "time = { final = 1 }\n[[path_constraints]]\ntype = 'state_bound'\nstates = ['s']\nlower = { type = 'piecewise_linear', x = [0, 1], y = [0.1, 0.3] }",
        "time = { final = 1 }\n[[goals]]\ntype = 'output_tracking'\noutput = 'o'\nreference = { type = 'multiplier', scale = 2, function = { type = 'polynomial', coefficients = [1, 0.3] } }",
        "kinematics = 'ik.mot'\nname = 'two'\n[solver]\ntolerance = 1e-7\nthreads = 2\n[guess]\ntime_stepping = true\ncoordinates = 'q.sto'\n\
         [[phases]]\ntime = { final = 1 }\nguess = { time_stepping = false, coordinates = '' }\nkinematics = ''\n[[phases]]\nname = 'b'\nkinematics = 'own'\ntime = { final = 2 }\n\
         [[phases.goals]]\ntype = 'control'\n[phases.solver]\ntolerance = 1e-6\nmesh = [0, 1]\n[refine]\n[[links]]\nafter = 'phase1'\nfree = ['x']\nfactors = { s = 2, a = 0.5 }\n[output]\nreport = 'r.html'",
    ] {
        check(&read_text(&format!("model = 'leg.osim'\n{rest}\n")));
    }
}

/// The lists of types are those that the reader knows, and what they say of defaults is so.
#[test]
fn identity_lists_say_what_the_reader_does() {
    type Described = fn(&str) -> Option<Vec<(&'static str, String)>>;
    let cases: [(&[Class], Described); 3] = [
        (GOALS, |name| {
            let mut w = Writing::default();
            describe::goal_kind(&mut w, &mut describe::usual_goal(name)?);
            Some(w.0)
        }),
        (CONSTRAINTS, |name| {
            let mut w = Writing::default();
            describe::constraint_kind(&mut w, &mut describe::usual_constraint(name)?);
            Some(w.0)
        }),
        (OPERATORS, |name| {
            let mut w = Writing::default();
            describe::operator(&mut w, &mut describe::usual_operator(name)?);
            Some(w.0)
        }),
    ];
    let same = |fields: &[Field], values: &[(&'static str, String)], where_: &str| {
        for (name, value) in values {
            let Some(f) = fields.iter().find(|f| f.name == *name) else { continue };
            let is_literal = f.default.parse::<f64>().is_ok() || ["true", "false"].contains(&f.default);
            let text = value.trim_matches('"');
            let number = |t: &str| t.parse::<f64>().ok();
            let alike = text == f.default || (number(text).is_some() && number(text) == number(f.default));
            // Weights of 1 are those of names that are not there.
            assert!(
                !is_literal || alike || value == "{  }",
                "{where_}.{name}: {value}, but {} in the list",
                f.default
            );
        }
    };
    for (classes, described) in cases {
        for c in classes {
            let values = described(c.name).unwrap_or_else(|| panic!("`{}` is in a list only", c.name));
            same(c.fields, &values, c.name);
        }
    }
    let mut w = Writing::default();
    describe::refine(&mut w, &mut RefineSettings::default());
    describe::guess(&mut w, &mut GuessSettings::default());
    same(schema::REFINE, &w.0, "refine");
    same(schema::GUESS, &w.0, "guess");
    // Tolerances and limits that are left out are the solver's own.
    let mut w = Writing::default();
    describe::solver(&mut w, &mut crate::study::Solver::default());
    w.0.retain(|(name, _)| !name.ends_with("tolerance"));
    same(schema::SOLVER, &w.0, "solver");

    let names: Vec<String> = schema::FUNCTIONS.iter().map(|c| format!("`{}`", c.name)).collect();
    let wrong = serde_json::from_str::<crate::plain::FunctionForm>("{\"type\": \"\"}");
    let message = wrong.map_or_else(|e| e.to_string(), |_| String::new());
    assert!(message.contains(&names.join(", ")), "{message}");
}

/// A field that is not known, a word that is not, a list of the wrong length, an infinite bound in JSON.
#[test]
fn identity_json_names_what_is_wrong() {
    let json = r#"{"setup": {"model_file": "leg.osim", "final_time": ["-inf", 1], "gols": []}}"#;
    let message = serde_json::from_str::<Study>(json).map_or_else(|e| e.to_string(), |_| String::new());
    assert!(message.contains("unknown field `gols`"), "{message}");
    let study: Study = serde_json::from_str(&json.replace(r#", "gols": []"#, "")).unwrap_or_default();
    assert_eq!(study.setup.final_time, Some([f64::NEG_INFINITY, 1.0]));
    for (part, words) in
        [(r#"["1", 2]"#, "invalid value"), ("[1, 2, 3]", "a list of 2"), ("1", "expected a sequence")]
    {
        let json = format!(r#"{{"setup": {{"final_time": {part}}}}}"#);
        let message = serde_json::from_str::<Study>(&json).map_or_else(|e| e.to_string(), |_| String::new());
        assert!(message.contains(words), "{message}");
    }
    // A goal needs only what has no default.
    let goal = r#"{"setup": {"goals": [{"name": "e", "kind": {"control": {}}}]}}"#;
    let study: Study = serde_json::from_str(goal).unwrap_or_default();
    let wanted = describe::usual_goal("control").map(|kind| Goal::new("e", kind));
    assert_eq!(study.setup.goals.first(), wanted.as_ref());
}

/// Words, lists and functions that are wrong are told with their line and what there is.
#[test]
fn identity_wrong_words_are_named() {
    for (text, words) in [
        ("[[goals]]\ntype = 'control'\nmode = 'cots'\n", "cost, constraint"),
        (
            "[[goals]]\nweight = 1\nformula = 'sum(activation[*])) + x'\n",
            "line 1, column 19 of the formula: expected an operator, found `)`",
        ),
        (
            "[[goals]]\nweight = 1\nformula = '''x + sqr(y)'''\n",
            "unknown function `sqr` the nearest name is `sqrt`",
        ),
        ("[[path_constraints]]\nlower = 0\nformula = 'x +'\n", "expected a number, a name or `(`"),
        (
            "[[goals]]\ntype = 'marker_final'\nlocation = [1, 2]\nmarker = 'm'\n",
            "`location` needs 3 numbers; found 2",
        ),
        ("[[goals]]\ntype = 'output'\nindex = 0.5\noutput = 'o'\n", "`index` must be a whole number"),
        ("[[path_constraints]]\ntype = 'state_bound'\nlower = -inf\nstates = []\n", "`lower` must be finite"),
        (
            "[[path_constraints]]\ntype = 'state_bound'\nlower = { type = 'spline' }\nstates = []\n",
            "unknown variant `spline`",
        ),
        (
            "[[path_constraints]]\ntype = 'state_bound'\nlower = 'a'\nstates = []\n",
            "`lower` needs a number or function; found string",
        ),
        (
            "[[goals]]\ntype = 'state_tracking'\nreference = { file = 'f', operators = ['radian'] }\n",
            "unknown table operator `radian`",
        ),
    ] {
        let mut log = Diagnostics::new("study.toml");
        assert!(read(&format!("{SMALL}{text}"), &mut log).is_none(), "{text}");
        let hits = |d: &&soleus_model::Diagnostic| {
            d.line == 5 && format!("{} {}", d.message, d.hint).contains(words)
        };
        assert_eq!(log.list.iter().filter(hits).count(), 1, "{text}{:#?}", log.list);
    }
}
