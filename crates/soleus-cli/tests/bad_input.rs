//! Bad input: each is refused at once, with what is wrong, file and line on stderr, exit code 2 and no panic.

use crate::common::{Folder, LEG, body, joint, model, pendulum, place};
use soleus_math::Random;

#[test]
fn identity_the_good_model_is_accepted() {
    // Every test below spoils this one; here it works, so what they see is their own mistake.
    let f = Folder::new("good");
    f.file("good.osim", pendulum(""));
    f.file("default.json", "{\"states\": [{}]}");
    f.soleus(&["eval", "good.osim", "--states", "default.json", "--out", "-"]).is_done();
}

#[test]
fn refuses_truncated_xml() {
    let f = Folder::new("truncated");
    let whole = pendulum("");
    let cut = &whole[..whole.find("<inertia>").unwrap_or(0)];
    f.refuses_model("cut.osim", cut, &["cut.osim:"]);
    f.refuses_model("empty.osim", "", &["empty.osim"]);
    // At every place, whatever is left: no panic and no success.
    for end in (0..whole.len() - 1).step_by(97) {
        f.file("part.osim", &whole[..end]);
        f.soleus(&["info", "part.osim"]).is_refused(&["part.osim"]);
    }
}

#[test]
fn refuses_entity_bomb() {
    let f = Folder::new("bomb");
    let mut bomb = String::from("<?xml version=\"1.0\"?>\n<!DOCTYPE lolz [\n<!ENTITY a0 \"lol\">\n");
    for i in 1..40 {
        let ten = format!("&a{};", i - 1).repeat(10);
        bomb.push_str(&format!("<!ENTITY a{i} \"{ten}\">\n"));
    }
    bomb.push_str("]>\n<OpenSimDocument Version=\"40600\"><Model name=\"&a39;\"/></OpenSimDocument>\n");
    f.refuses_model("bomb.osim", bomb, &["bomb.osim:2"]);
}

#[test]
fn refuses_doctype() {
    let f = Folder::new("doctype");
    let text = pendulum("").replacen("?>\n", "?>\n<!DOCTYPE x SYSTEM \"file:///etc/passwd\">\n", 1);
    f.refuses_model("doctype.osim", text, &["doctype.osim:2", "document type"]);
}

#[test]
fn refuses_undefined_entity() {
    let f = Folder::new("entity");
    let text = pendulum("").replace("\"rod\"", "\"&rod;\"");
    let at = place("entity.osim", &text, "&rod;");
    f.refuses_model("entity.osim", text, &[&at]);
}

#[test]
fn refuses_missing_socket_target() {
    let f = Folder::new("socket");
    let text = pendulum("").replace("/bodyset/rod", "/bodyset/rot");
    let at = place("socket.osim", &text, "/bodyset/rot");
    f.refuses_model("socket.osim", text, &[&at, "/bodyset/rot", "did you mean /bodyset/rod?"]);
}

#[test]
fn refuses_joint_of_a_body_with_itself() {
    let f = Folder::new("same_body");
    let joints = joint("PinJoint", "hinge", "/bodyset/rod", "/bodyset/rod", &["angle"]);
    let text = model(&body("rod", "2"), &joints, "");
    let at = place("same.osim", &text, "\"hinge\"");
    f.refuses_model("same.osim", text, &[&at, "/bodyset/rod with itself", "/jointset/hinge"]);
}

#[test]
fn refuses_ring_of_offset_frames() {
    let f = Folder::new("ring");
    let frame = |name: &str, on: &str| {
        format!(
            "<PhysicalOffsetFrame name=\"{name}\">\n<socket_parent>{on}</socket_parent>\n</PhysicalOffsetFrame>\n"
        )
    };
    let frames = frame("a", "../b") + &frame("b", "../c") + &frame("c", "../a");
    let text =
        pendulum("").replacen("</coordinates>", &format!("</coordinates>\n<frames>\n{frames}</frames>"), 1);
    f.refuses_model("ring.osim", text, &["ring.osim:", "the frame is attached to itself"]);
}

/// Issue 7: poses need no mass. Accelerations do, and simulations.
#[test]
fn issue_7_hinged_body_without_mass() {
    let f = Folder::new("massless");
    let joints = joint("PinJoint", "hinge", "/ground", "/bodyset/rod", &["angle"])
        + &joint("PinJoint", "tip", "/bodyset/rod", "/bodyset/end", &["tip_angle"]);
    let text = model(&(body("rod", "2") + &body("end", "0")), &joints, "");
    let at = place("massless.osim", &text, "\"end\"");
    evaluates_without_accelerations(&f, "massless.osim", &text, &[&at, "/bodyset/end", "no mass"]);
    let run = f.soleus(&["simulate", "massless.osim", "--duration", "0.1", "--out", "out"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("massless") && run.stderr.contains("tip_angle"), "{}", run.stderr);
}

/// `info` and `eval` warn with all of `words`; everything but accelerations is given.
fn evaluates_without_accelerations(f: &Folder, name: &str, text: &str, words: &[&str]) {
    f.file(name, text);
    f.file("default.json", "{\"states\": [{}]}");
    for run in
        [f.soleus(&["info", name]), f.soleus(&["eval", name, "--states", "default.json", "--out", "-"])]
    {
        let out = run.is_done();
        assert!(
            out.contains("NaN") || out.contains("accelerations and simulations are not available"),
            "{out}"
        );
        for word in words {
            assert!(run.stderr.contains(word), "no `{word}` in:\n{}", run.stderr);
        }
    }
}

#[test]
fn issue_7_ring_of_joints_without_mass() {
    // Three joints in a ring that hangs on nothing and weighs nothing.
    let f = Folder::new("joint_ring");
    let pin = |name: &str, a: &str, b: &str| {
        joint(
            "PinJoint",
            name,
            &format!("/bodyset/{a}"),
            &format!("/bodyset/{b}"),
            &[&format!("{name}_angle")],
        )
    };
    let joints = pin("ab", "a", "b") + &pin("bc", "b", "c") + &pin("ca", "c", "a");
    let text = model(&(body("a", "0") + &body("b", "0") + &body("c", "0")), &joints, "");
    evaluates_without_accelerations(&f, "joints.osim", &text, &["joints.osim:", "no mass"]);
}

/// Issues 8 and 15: models in which nothing can move ended in a panic. Everything about them is known.
#[test]
fn issue_15_models_without_coordinates() {
    let f = Folder::new("still");
    f.file("default.json", "{\"states\": [{}]}");
    let weld = |name: &str| {
        joint("WeldJoint", name, "/ground", "/bodyset/rod", &[])
            .replace("<coordinates>\n</coordinates>\n", "")
    };
    let empty = "<OpenSimDocument Version=\"40600\"><Model name=\"x\"/></OpenSimDocument>".to_string();
    let held = model(&body("rod", "2"), &weld("w"), "");
    let constraint = "</JointSet>\n<ConstraintSet name=\"constraintset\">\n<objects>\n<WeldConstraint name=\"c\">\n\
        <socket_frame1>/ground</socket_frame1>\n<socket_frame2>/bodyset/rod</socket_frame2>\n</WeldConstraint>\n</objects>\n\
        </ConstraintSet>\n";
    let constrained = held.replace("</JointSet>\n", constraint);
    let closed = model(&body("rod", "2"), &(weld("w") + &weld("v")), "");
    for text in [empty, held, constrained, closed] {
        f.file("still.osim", &text);
        f.soleus(&["info", "still.osim"]).is_done();
        f.soleus(&["eval", "still.osim", "--states", "default.json", "--out", "-"]).is_done();
        f.soleus(&["jacobian", "still.osim", "--out", "-"]).is_done();
        for verb in [
            &["simulate", "still.osim", "--duration", "0.1", "--out", "out"][..],
            &["simulate", "still.osim", "--duration", "0.1", "--method", "radau5", "--out", "out"][..],
            &["equilibrium", "still.osim", "--eigenvalues", "--out", "x.sto"][..],
        ] {
            let run = f.soleus(verb);
            assert!(
                run.code.is_some_and(|c| c < 3) && !run.stderr.contains("panicked"),
                "{verb:?}: {}",
                run.stderr
            );
        }
    }
}

/// Issue 20: numbers that are not finite were written without a word.
#[test]
fn issue_20_accelerations_that_are_not_finite_are_told() {
    let f = Folder::new("not_finite");
    f.file("default.json", "{\"states\": [{}]}");
    let force = "<ExpressionBasedCoordinateForce name=\"odd\">\n<coordinate>angle</coordinate>\n\
        <expression>sqrt(q-1)</expression>\n</ExpressionBasedCoordinateForce>\n";
    let text = pendulum(force);
    f.file("odd.osim", &text);
    let run = f.soleus(&["eval", "odd.osim", "--states", "default.json", "--out", "out.json"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    for word in [place("odd.osim", &text, "\"odd\"").as_str(), "/forceset/odd", "not finite"] {
        assert!(run.stderr.contains(word), "no `{word}` in:\n{}", run.stderr);
    }
    // What was found is there all the same.
    assert!(std::fs::read_to_string(f.0.join("out.json")).unwrap().contains("NaN"));
}

#[test]
fn refuses_numbers_that_make_no_sense() {
    let f = Folder::new("numbers");
    let good = pendulum("");
    for (from, to, words) in [
        ("<mass>2<", "<mass>NaN<", "NaN"),
        ("<mass>2<", "<mass>-2<", "mass"),
        ("<mass>2<", "<mass>two<", "two"),
        ("<mass>2<", "<mass>1e999<", "mass"),
        ("<mass_center>0 -0.5 0<", "<mass_center>0 NaN 0<", "NaN"),
        ("<mass_center>0 -0.5 0<", "<mass_center>0 -0.5<", "mass_center"),
        ("<inertia>0.1 0.1 0.1 0 0 0<", "<inertia>nan 0.1 0.1 0 0 0<", "NaN"),
        (
            "name=\"angle\"/>",
            "name=\"angle\"><default_value>nan</default_value></Coordinate>",
            "default_value",
        ),
    ] {
        let text = good.replace(from, to);
        assert_ne!(text, good);
        let at = place("numbers.osim", &text, to);
        f.refuses_model("numbers.osim", text, &[&at, words]);
    }
}

#[test]
fn refuses_unknown_force_class() {
    let f = Folder::new("force");
    let text = pendulum("<AntigravityForce name=\"lift\"/>\n");
    let at = place("force.osim", &text, "AntigravityForce");
    f.refuses_model("force.osim", text, &[&at, "`AntigravityForce` is not supported", "/forceset/lift"]);
    let text = pendulum("<Sorcery name=\"lift\"/>\n");
    let at = place("force.osim", &text, "Sorcery");
    f.refuses_model("force.osim", text, &[&at, "Sorcery"]);
}

#[test]
fn refuses_force_that_cannot_be_computed() {
    // The file is well formed and complete; only the expression makes no sense.
    let f = Folder::new("expression");
    let text = pendulum(
        "<ExpressionBasedCoordinateForce name=\"spring\">\n<coordinate>angle</coordinate>\n\
         <expression>q*(</expression>\n</ExpressionBasedCoordinateForce>\n",
    );
    let at = place("expression.osim", &text, "\"spring\"");
    f.refuses_model("expression.osim", text, &[&at, "/forceset/spring"]);
}

#[test]
fn refuses_mesh_that_is_not_there() {
    let f = Folder::new("mesh");
    let contact = "<ElasticFoundationForce name=\"contact\">\n\
        <ElasticFoundationForce::ContactParametersSet name=\"contact_parameters\">\n<objects>\n\
        <ElasticFoundationForce::ContactParameters>\n<geometry>shell</geometry>\n<stiffness>1e6</stiffness>\n\
        </ElasticFoundationForce::ContactParameters>\n</objects>\n\
        </ElasticFoundationForce::ContactParametersSet>\n\
        </ElasticFoundationForce>\n";
    let geometry = "<ContactGeometrySet name=\"contactgeometryset\">\n<objects>\n<ContactMesh name=\"shell\">\n\
        <socket_frame>/bodyset/rod</socket_frame>\n<filename>shell.obj</filename>\n</ContactMesh>\n</objects>\n\
        </ContactGeometrySet>\n";
    let text = pendulum(contact).replace("</Model>", &format!("{geometry}</Model>"));
    let at = place("mesh.osim", &text, "\"shell\"");
    f.refuses_model("mesh.osim", &text, &[&at, "`shell`", "shell.obj", "Geometry/shell.obj"]);

    // A broken mesh names its own line; a good one is found in either place.
    f.file("shell.obj", "v 0 0 0\nv 1 0\n");
    f.refuses_model("mesh.osim", &text, &[&at, "shell.obj:2"]);
    let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    f.file("shell.obj", tetrahedron);
    let eval = ["eval", "mesh.osim", "--states", "default.json", "--out", "-"];
    f.soleus(&eval).is_done();
    std::fs::remove_file(f.0.join("shell.obj")).unwrap();
    std::fs::create_dir(f.0.join("Geometry")).unwrap();
    f.file("Geometry/shell.obj", tetrahedron);
    f.soleus(&eval).is_done();
}

#[test]
fn refuses_noise() {
    let f = Folder::new("noise");
    // 10 MB that no one has written.
    let mut random = Random::new(1);
    let noise: Vec<u8> = (0..1_250_000).flat_map(|_| random.bits().to_le_bytes()).collect();
    f.refuses_model("noise.osim", &noise, &["noise.osim"]);
    f.soleus(&["upgrade", "noise.osim", "--out", "-"]).is_refused(&["noise.osim"]);
    f.soleus(&["eval", LEG, "--states", "noise.osim", "--out", "-"]).is_refused(&["noise.osim"]);
    // As text: brackets open and never close.
    let text: String =
        noise.iter().map(|b| ['<', 'a', '>', ' ', '"', '=', '&', '/'][usize::from(b % 8)]).collect();
    f.refuses_model("noise.osim", &text, &["noise.osim"]);
    f.refuses_model("deep.osim", "<a>".repeat(3_000_000), &["deep.osim:1"]);
}

#[test]
fn refuses_files_that_are_not_there() {
    let f = Folder::new("paths");
    f.file("walk.osim", pendulum(""));
    f.file("states.json", "{\"states\": [{}]}");
    std::fs::create_dir(f.0.join("folder")).unwrap();
    f.soleus(&["info", "folder"]).is_refused(&["folder", "give a file"]);
    f.soleus(&["info", "wolk.osim"]).is_refused(&["wolk.osim", "did you mean walk.osim?"]);
    f.soleus(&["info", "folder/nothing/at/all.osim"]).is_refused(&["folder/nothing/at/all.osim", "hint:"]);
    f.soleus(&["eval", "walk.osim", "--states", "state.json", "--out", "-"])
        .is_refused(&["state.json", "did you mean states.json?"]);
    f.soleus(&["eval", "walk.osim", "--states", "states.json", "--out", "results/out.json"])
        .is_refused(&["results/out.json", "the folder results does not exist"]);
    f.soleus(&["eval", "walk.osim", "--states", "states.json", "--out", "folder"]).is_refused(&["folder"]);
    f.soleus(&["upgrade", "walk.osim", "--out", "results/new.osim"])
        .is_refused(&["results/new.osim", "the folder results does not exist"]);
    // Nothing half-written is left behind.
    let left: Vec<_> = std::fs::read_dir(&f.0).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn refuses_broken_states() {
    let f = Folder::new("states");
    f.refuses_states("cut.json", "{\n\"states\": [\n{\"coordinates\":", &["cut.json:3", "not JSON"]);
    f.refuses_states("list.json", "[1, 2]", &["list.json:1", "{\"states\":"]);
    f.refuses_states("none.json", "{\"state\": []}", &["none.json:1", "states"]);
    f.refuses_states("number.json", "{\"states\": [\n3]}", &["number.json:2", "state 0"]);
    f.refuses_states(
        "name.json",
        "{\"states\": [\n{},\n{\n\"coordinates\": {\n\"hip_flexon\": [0, 0]}}]}",
        &["name.json:5", "state 1", "`hip_flexon`", "did you mean /jointset/hip/hip_flexion?"],
    );
    f.refuses_states(
        "pair.json",
        "{\"states\": [{\"coordinates\": {\n\"hip_flexion\": 0.5}}]}",
        &["pair.json:2", "[value, speed]"],
    );
    f.refuses_states(
        "controls.json",
        "{\"states\": [{\n\"controls\": [0.1, 0.2]}]}",
        &["controls.json:2", "2 entries, the model needs 8"],
    );
    f.refuses_states(
        "words.json",
        "{\"states\": [{\"controls\": [0, 0, 0, \"full\", 0, 0, 0, 0]}]}",
        &["words.json:1", "entry 3"],
    );
    f.refuses_states(
        "aux.json",
        "{\"states\": [{\"aux_states\": {\n\"/forceset/soleus/activaton\": 1}}]}",
        &["aux.json:2", "/forceset/soleus/activaton", "did you mean /forceset/soleus/activation?"],
    );
    f.refuses_states(
        "udot.json",
        "{\"states\": [{\"inverse_dynamics\": {\n\"udot\": [1]}}]}",
        &["udot.json:2", "1 entries, the model needs 3"],
    );
}

#[test]
fn refuses_wrong_arguments() {
    let f = Folder::new("arguments");
    for args in [&["evaluate"][..], &["eval", LEG], &["info"], &["info", LEG, "--jsn"]] {
        let run = f.soleus(args);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains("error:") && run.stderr.contains("--help"), "{}", run.stderr);
    }
}
