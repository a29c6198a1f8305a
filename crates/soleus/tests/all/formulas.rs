//! Formulas in studies: goals, path constraints, tables, parameters, values along the solution.

use soleus::files::Files;
use soleus::optimal_control::{EXAMPLE, Solution, Solve, StudySource};
use soleus::{Context, Memory, Outcome, Simulation};
use soleus_math::norm::largest_size;
use std::path::Path;

/// The built-in study on a coarse mesh, with some words replaced and lines added.
fn study(changes: &[(&str, &str)], more: &str) -> Solve {
    let mut text = EXAMPLE.replace("[refine]\ntolerance = 1e-4", "[output]\nsave_every_s = 30");
    text = text.replace("intervals = 20", "intervals = 6");
    for (from, to) in changes {
        assert!(text.contains(from), "no `{from}` in the example");
        text = text.replace(from, to);
    }
    Solve {
        study: StudySource::Text { path: "reach.toml".into(), text: format!("{text}\n{more}\n") },
        ..Solve::default()
    }
}

fn solved(files: &Memory, changes: &[(&str, &str)], more: &str) -> Solution {
    let found =
        study(changes, more).run(&Context::new(files).with_threads(1)).unwrap_or_else(|e| panic!("{e}"));
    found.verdict().unwrap_or_else(|e| panic!("{e}"));
    found
}

/// The same optimum, as near as the tolerance of the solver allows, in as many iterations.
fn same(a: &Solution, b: &Solution) {
    let (x, y) = (a.objective(), b.objective());
    assert!((x - y).abs() < 1e-9 * x.abs(), "{x} {y}");
    assert_eq!(a.solver.counts.iterations, b.solver.counts.iterations);
}

const FORMULAS: &[(&str, &str)] = &[
    (
        "type = \"marker_final\"\nname = \"target\"\nweight = 1000\nmarker = \"wrist\"\nlocation = [0.40, 1.35, 0]             # m, in ground",
        "name = \"target\"\nweight = 1000\nformula = \"final(dot(d, d)); d = position[wrist] - [0.40, 1.35, 0]\"",
    ),
    (
        "type = \"control\"\nname = \"effort\"\nexponent = 2",
        "type = \"formula\"\nname = \"effort\"\nformula = \"sum(excitation[*]^2)\"",
    ),
    ("type = \"final_time\"\nname = \"duration\"", "formula = \"duration\"\nname = \"duration\""),
];

/// The example, with its goals as formulas.
#[test]
fn identity_the_example_in_formulas() {
    let files = Memory::new();
    let built_in = solved(&files, &[], "");
    let derived =
        "[derived]\nwrist = 'position[wrist]'\neffort = 'sum(excitation[*]^2)'\npower = 'sum(power[*])'";
    let formulas = solved(&files, FORMULAS, derived);
    same(&built_in, &formulas);
    let names: Vec<&str> = formulas.phases[0].goals.iter().map(|g| g.0.as_str()).collect();
    assert_eq!(names, built_in.phases[0].goals.iter().map(|g| g.0.as_str()).collect::<Vec<_>>());

    // Values along the motion, beside the motion itself.
    let table = formulas.phases[0].derived().unwrap_or_else(|| panic!("no table"));
    assert_eq!(table.labels(), ["wrist_x", "wrist_y", "wrist_z", "effort", "power"]);
    let last = table.rows() - 1;
    let wrist = [0, 1, 2].map(|i| table.columns()[i][last]);
    assert!((wrist[0] - 0.4).abs() < 0.01 && (wrist[1] - 1.35).abs() < 0.01, "{wrist:?}");
    let controls = &formulas.phases[0].trajectory.controls.rows;
    for (row, effort) in controls.iter().zip(&table.columns()[3]) {
        let sum: f64 = row.iter().map(|e| e * e).sum();
        assert!((sum - effort).abs() < 1e-14 * (1.0 + sum), "{sum} {effort}");
    }
    let cx = Context::new(&files);
    formulas.write(&cx).unwrap_or_else(|e| panic!("{e}"));
    assert!(files.read(Path::new("reach_derived.sto")).is_ok(), "{:?}", files.names());
}

/// Path constraints as formulas and as bounds of states, by short names.
#[test]
fn identity_path_constraints() {
    let files = Memory::new();
    let bound = "[[path_constraints]]\ntype = 'state_bound'\nstates = ['elbow_flexion/speed']\nupper = 4";
    let formula = "[[path_constraints]]\nname = 'state_bound'\nformula = 'u[elbow_flexion]'\nupper = 4";
    let (a, b) = (solved(&files, &[], bound), solved(&files, &[], formula));
    // One is held as a difference from its bound, the other as it is, which the solver relaxes by 1e-8 of its size.
    assert!(
        (a.objective() - b.objective()).abs() < 1e-7 * a.objective(),
        "{} {}",
        a.objective(),
        b.objective()
    );
    assert!(
        (a.objective() - solved(&files, &[], "").objective()).abs() > 1e-6,
        "the constraint does not matter"
    );
}

/// A table that a formula follows.
#[test]
fn identity_tables() {
    let files = Memory::new();
    let rows: String =
        (0..30).map(|i| format!("{}\t{}\n", f64::from(i) * 0.1, 0.3 + (f64::from(i) * 0.1).sin())).collect();
    let text =
        format!("x\nversion=1\nnRows=30\nnColumns=2\ninDegrees=no\nendheader\ntime\telbow_flexion\n{rows}");
    files.write(Path::new("given.sto"), text.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
    let goal = "[[goals]]\ntype = 'state_tracking'\nname = 'follow'\nreference = 'given.sto'";
    let formula = "[[goals]]\nname = 'follow'\nformula = '(elbow_flexion - given[elbow_flexion])^2'\n[tables]\ngiven = 'given.sto'";
    same(&solved(&files, &[], goal), &solved(&files, &[], formula));
}

/// Parameters of the study in formulas, and formulas about a model that a parameter changes.
#[test]
fn identity_parameters() {
    let files = Memory::new();
    let mass =
        "[[parameters]]\nname = 'm'\ncomponents = ['/bodyset/forearm']\nproperty = 'mass'\nbounds = [1, 2]\n";
    let goal = "[[goals]]\ntype = 'expression'\nname = 'mass'\nexpression = '(x-1.7)^2'\nparameters = ['m']\nvariables = ['x']\n\
                [[goals]]\ntype = 'final_output'\nname = 'com'\noutput = '/|com_position'\nindex = 1";
    let formula = "[[goals]]\nname = 'mass'\nformula = '(m - wanted)^2'\n[[goals]]\nname = 'com'\nformula = 'com.y'\nwhen = 'final'\n\
                   [definitions]\nwanted = '1.7'\n[derived]\nm = 'm'\ntotal = 'mass'";
    let (a, b) =
        (solved(&files, &[], &format!("{mass}{goal}")), solved(&files, &[], &format!("{mass}{formula}")));
    same(&a, &b);
    // The model is the one with the mass that was found.
    let (x, y) = (a.phases[0].parameters()[0].1, b.phases[0].parameters()[0].1);
    assert!((x - y).abs() < 1e-6 && (1.0..2.0).contains(&x), "{x} {y}");
    let table = b.phases[0].derived().unwrap_or_else(|| panic!("no table"));
    let (m, total) = (table.columns()[0][0], table.columns()[1][0]);
    assert_eq!(m, y);
    let before = b.phases[0].model.model.total_mass();
    let own = b.phases[0].model.model.bodies.iter().find(|b| b.name == "forearm").map_or(0.0, |b| b.mass);
    assert!((total - (before - own + m)).abs() < 1e-12, "{total} {before} {own} {m}");
}

/// What is wrong is told with the line of the study, the place in the formula, and the name that was probably meant.
#[test]
fn analytic_errors_have_places() {
    let files = Memory::new();
    for (more, message, hint) in [
        (
            "[[goals]]\nname = 'a'\nformula = 'sum(excitation[*]^2) + elbow_flexoin'",
            "line 1, column 24 of the formula: `elbow_flexoin` is unknown",
            "the nearest name is `elbow_flexion`",
        ),
        (
            "[[path_constraints]]\nname = 'a'\nformula = 'position[writs].x'\nlower = 0",
            "line 1, column 1 of the formula: `position[writs]` is unknown",
            "the nearest name is `position[wrist]`",
        ),
        (
            "[[path_constraints]]\nname = 'a'\nformula = 'com.x'",
            "there is neither a lower nor an upper bound",
            "",
        ),
        (
            "[[goals]]\nname = 'a'\nformula = 'final(time)'\ndivide_by_mass = true",
            "only an integral can be divided",
            "/ displacement, / duration, / mass",
        ),
        (
            "[[goals]]\nname = 'a'\nformula = 'com'",
            "a cost or an integral needs a number, found a vector",
            "",
        ),
    ] {
        let e =
            study(&[], more).run(&Context::new(&files)).map_or_else(|e| e, |_| panic!("{more} was accepted"));
        let text = e.to_string();
        assert!(text.contains(message) && text.contains(hint), "{text}");
        assert!(text.contains("reach.toml:"), "{text}");
    }
}

/// The arm of the example with more forces in its file.
fn arm(files: &Memory, forces: &str) {
    let text = include_str!("../../../../models/reach.osim");
    let set = text.find("<ForceSet").unwrap_or(0);
    let at = set + text[set..].find("</objects>").unwrap_or(0);
    let text = format!("{}{forces}{}", &text[..at], &text[at..]);
    files.write(Path::new("arm.osim"), text.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
}

/// A spring and a motor behind a lag, as classes of OpenSim in the model file, and as formulas of a study and of a model file.
#[test]
fn identity_forces() {
    let files = Memory::new();
    arm(
        &files,
        "<SpringGeneralizedForce name=\"spring\"><coordinate>elbow_flexion</coordinate><stiffness>3</stiffness>\
         <rest_length>0.2</rest_length><viscosity>0.1</viscosity></SpringGeneralizedForce>\
         <ActivationCoordinateActuator name=\"motor\"><coordinate>elbow_flexion</coordinate><optimal_force>5</optimal_force>\
         <min_control>-1</min_control><max_control>1</max_control><activation_time_constant>0.05</activation_time_constant>\
         <default_activation>0.1</default_activation></ActivationCoordinateActuator>",
    );
    let model =
        [("model = \"builtin:reach\"                # or a file: \"arm.osim\"", "model = \"arm.osim\"")];
    let built_in = solved(&files, &model, "");
    let study = "[[forces]]\nname = 'spring'\ncoordinate = 'elbow_flexion'\nformula = '-k * (q - rest) - 0.1 * u'\n\
                 constants = { k = 3, rest = 0.2 }\n\
                 [[forces]]\nname = 'motor'\ncoordinate = 'elbow_flexion'\nformula = '5 * activation'\ncontrol = [-1, 1]\n\
                 states = { activation = '(control - activation) / 0.05' }\nstart = { activation = 0.1 }";
    same(&built_in, &solved(&files, &[], study));
    arm(
        &files,
        "<FormulaForce name=\"spring\"><coordinate>elbow_flexion</coordinate><formula>-k * (q - rest) - 0.1 * u</formula>\
         <constants><k>3</k><rest>0.2</rest></constants></FormulaForce>\
         <FormulaForce name=\"motor\"><coordinate>elbow_flexion</coordinate><formula>5 * activation</formula>\
         <states><activation><rate>(control - activation) / 0.05</rate><default_value>0.1</default_value></activation></states>\
         <min_control>-1</min_control><max_control>1</max_control></FormulaForce>",
    );
    same(&built_in, &solved(&files, &model, ""));
}

/// A constant of a formula is a parameter like a property of any other force.
#[test]
fn identity_constants_are_parameters() {
    let files = Memory::new();
    arm(
        &files,
        "<SpringGeneralizedForce name=\"spring\"><coordinate>elbow_flexion</coordinate><stiffness>3</stiffness>\
         <rest_length>0.9</rest_length><viscosity>0.1</viscosity></SpringGeneralizedForce>",
    );
    let model =
        [("model = \"builtin:reach\"                # or a file: \"arm.osim\"", "model = \"arm.osim\"")];
    let parameter = |property: &str| {
        format!(
            "[[parameters]]\nname = 'stiffness'\ncomponents = ['/forceset/spring']\nproperty = '{property}'\nbounds = [0, 20]\n"
        )
    };
    let built_in = solved(&files, &model, &parameter("stiffness"));
    let force = "[[forces]]\nname = 'spring'\ncoordinate = 'elbow_flexion'\nformula = '-k * (q - 0.9) - 0.1 * u'\nconstants = { k = 3 }\n";
    let formula = solved(&files, &[], &format!("{force}{}", parameter("k")));
    same(&built_in, &formula);
    let [a, b] = [&built_in, &formula].map(|s| s.phases[0].parameters()[0].1);
    assert!((a - b).abs() < 1e-6 * a && a > 0.1, "{a} {b}");
}

/// A controller by a formula: a constraint between a control and what it follows.
#[test]
fn analytic_a_controller_is_a_constraint() {
    let files = Memory::new();
    let more = "[[path_constraints]]\nname = 'controller'\nformula = 'control[elbow_moment] - (0.2 - 0.05 * u[elbow_flexion])'\n\
                lower = 0\nequal_to_lower = true\n[derived]\noff = 'control[elbow_moment] - (0.2 - 0.05 * u[elbow_flexion])'";
    // The arm has to go where this moment takes it.
    let free = [("weight = 1000", "weight = 1")];
    let found = solved(&files, &free, more);
    let table = found.phases[0].derived().unwrap_or_else(|| panic!("no table"));
    // At mesh points; in between controls are interpolated.
    let worst = largest_size(table.columns()[0].iter().step_by(2));
    assert!(worst < 1e-6, "{worst}");
}

/// The example of the guide on a coarse mesh: a spring that helps is found, and the formulas along the solution are those of the spring.
#[test]
fn identity_the_example_of_the_guide() {
    let text = include_str!("../../../../examples/exo.toml").replace("intervals = 20", "intervals = 6");
    let files = Memory::new();
    let study = StudySource::Text { path: "exo.toml".into(), text };
    let found =
        Solve { study, ..Solve::default() }.run(&Context::new(&files)).unwrap_or_else(|e| panic!("{e}"));
    found.verdict().unwrap_or_else(|e| panic!("{e}"));
    let phase = &found.phases[0];
    let k = phase.parameters()[0].1;
    assert!(k > 1.0 && k < 40.0, "{k}");
    let knee = |what: &str| {
        phase.trajectory.states.column(&format!("/jointset/knee/knee_angle/{what}")).unwrap_or_default()
    };
    let table = phase.derived().unwrap_or_else(|| panic!("no table"));
    for ((q, u), moment) in knee("value").iter().zip(knee("speed")).zip(&table.columns()[0]) {
        let expected = -k * (q + 0.785) - 0.05 * u;
        assert!((moment - expected).abs() < 1e-12 * (1.0 + expected.abs()), "{moment} {expected}");
    }
    let x = table.column("foot_x").unwrap_or_default();
    assert!(x[x.len() - 1] - x[0] > 0.1 - 1e-6, "the foot does not reach");
    assert!(knee("speed").iter().all(|u| *u < 14.0 + 0.5), "the knee is too fast");
}

/// The guide names every word of formulas.
#[test]
fn identity_the_guide_has_all_words() {
    let guide = include_str!("../../../../docs/guide/formulas.md");
    for word in soleus_control::goal::named::WORDS {
        assert!(guide.contains(&format!("| `{}` | {} | {} |", word.0, word.1, word.2)), "{}", word.0);
    }
    for word in soleus_control::goal::named::WORDS_OF.iter().filter(|w| !w.3.is_empty()) {
        assert!(guide.contains(&format!("| `{}[…]` | {} | {} |", word.0, word.1, word.2)), "{}", word.0);
    }
}

/// The leg with a controller in its file, and more forces.
fn leg(controller: &str, forces: &str) -> Memory {
    let text = include_str!("../../../../models/leg_swing.osim");
    let set = text.find("<ForceSet").unwrap_or(0);
    let at = set + text[set..].find("<objects>").unwrap_or(0) + "<objects>".len();
    let end = text.find("</Model>").unwrap_or(0);
    let text = format!(
        "{}{forces}{}<ControllerSet name=\"controllerset\"><objects>{controller}</objects></ControllerSet>{}",
        &text[..at],
        &text[at..end],
        &text[end..]
    );
    Memory::new().with("leg.osim", text)
}

fn simulated(files: &Memory) -> soleus_math::Table {
    let request =
        Simulation { model: "leg.osim".into(), duration: 0.2, interval: Some(0.05), ..Simulation::default() };
    request.run(&Context::new(files)).unwrap_or_else(|e| panic!("{e}")).states
}

/// A stretch reflex, as OpenSim's class has it and as a formula.
#[test]
fn identity_a_reflex() {
    let list = "<actuator_list>vasti</actuator_list>";
    let toy = leg(&format!("<ToyReflexController name=\"r\">{list}<gain>3</gain></ToyReflexController>"), "");
    let l0 = "<optimal_fiber_length>";
    let text = include_str!("../../../../models/leg_swing.osim");
    let own = text
        .split("name=\"vasti\"")
        .nth(1)
        .and_then(|t| t.split(l0).nth(1))
        .and_then(|t| t.split('<').next());
    let formula = leg(
        &format!(
            "<FormulaController name=\"r\">{list}<formula>gain * max(lengthening_speed, 0) / (l0 * 10)</formula>\
             <constants><gain>3</gain><l0>{}</l0></constants></FormulaController>",
            own.unwrap_or_default()
        ),
        "",
    );
    let (a, b) = (simulated(&toy), simulated(&formula));
    assert_eq!(a.labels(), b.labels());
    let activation = a.column("/forceset/vasti/activation").unwrap_or_default();
    assert!(
        activation.iter().any(|x| (x - activation[0]).abs() > 0.01),
        "the reflex does nothing: {activation:?}"
    );
    for (a, b) in a.columns().iter().flatten().zip(b.columns().iter().flatten()) {
        assert!((a - b).abs() < 1e-9 * (1.0 + a.abs()), "{a} {b}");
    }
}

/// A state by a formula, in a simulation: ż = −z/τ, and a controller that follows it.
#[test]
fn analytic_a_lag() {
    let files = leg(
        "<FormulaController name=\"c\"><actuator_list>motor</actuator_list><formula>2 * state[lag/z] + 0 * time</formula></FormulaController>",
        "<FormulaForce name=\"lag\"><states><z><rate>-z / tau</rate><default_value>0.8</default_value></z></states>\
         <constants><tau>0.1</tau></constants></FormulaForce>\
         <FormulaForce name=\"motor\"><coordinate>knee_angle</coordinate><formula>3 * control</formula>\
         <states><followed><rate>control</rate></followed></states></FormulaForce>",
    );
    let states = simulated(&files);
    let column = |name: &str| {
        states.column(name).map(<[f64]>::to_vec).unwrap_or_else(|| panic!("{:?}", states.labels()))
    };
    for ((t, z), sum) in
        states.times().iter().zip(column("/forceset/lag/z")).zip(column("/forceset/motor/followed"))
    {
        let exact = 0.8 * (-t / 0.1).exp();
        // The accuracy of the integrator is 1e-5.
        assert!((z - exact).abs() < 1e-4, "{t}: {z} {exact}");
        assert!((sum - 0.16 * (1.0 - (-t / 0.1).exp())).abs() < 1e-4, "{t}: {sum}");
    }
}

/// A controller of the model is an equation of a study, and what it sees may be any quantity there.
#[test]
fn analytic_a_controller_of_the_model_holds() {
    let files = leg(
        "<FormulaController name=\"c\"><actuator_list>motor</actuator_list><formula>0.1 - gain * u[knee_angle]</formula>\
         <constants><gain>0.02</gain></constants></FormulaController>",
        "<FormulaForce name=\"motor\"><coordinate>knee_angle</coordinate><formula>30 * control</formula></FormulaForce>",
    );
    let text = include_str!("../../../../examples/kick.toml")
        .replace("builtin:leg_swing", "leg.osim")
        .replace("intervals = 25", "intervals = 6")
        .replace("intervals = 20", "intervals = 6");
    let study = StudySource::Text {
        path: "kick.toml".into(),
        text: format!("{text}\n[derived]\noff = 'control[motor] - 0.1 + 0.02 * u[knee_angle]'\n"),
    };
    let found =
        Solve { study, ..Solve::default() }.run(&Context::new(&files)).unwrap_or_else(|e| panic!("{e}"));
    found.verdict().unwrap_or_else(|e| panic!("{e}"));
    let table = found.phases[0].derived().unwrap_or_else(|| panic!("no table"));
    let worst = largest_size(table.columns()[0].iter().step_by(2));
    assert!(worst < 1e-6, "{worst}");
    // A name that means nothing is refused in both.
    let files = leg(
        "<FormulaController name=\"c\"><actuator_list>vasti</actuator_list><formula>q[knee_angel]</formula></FormulaController>",
        "",
    );
    let e = Simulation { model: "leg.osim".into(), ..Simulation::default() }.run(&Context::new(&files));
    let text = e.map_or_else(|e| e.to_string(), |_| String::new());
    assert!(text.contains("`q[knee_angel]` is unknown") && text.contains("knee_angle"), "{text}");
}
