//! Upgrades of small files, property by property, and of real models against OpenSim.

use soleus_testing::reference_test;
use std::path::{Path, PathBuf};

use soleus_io::osim::{LATEST_VERSION, UpgradeOptions, read_document, upgrade, upgrade_with, write_document};
use soleus_model::{Diagnostics, Document, Element};

fn read(text: &str) -> Document {
    let (doc, diags) = read_document(text.as_bytes(), "test.osim");
    doc.unwrap_or_else(|| panic!("refused: {:?}", diags.list))
}

/// The element at a path of tags, each with an optional name: `Model/BodySet/objects/Body:link`.
fn at<'e>(doc: &'e Document, path: &str) -> &'e Element {
    let mut e = &doc.root;
    for step in path.split('/') {
        let (tag, name) = step.split_once(':').map_or((step, None), |(t, n)| (t, Some(n)));
        e = e
            .children()
            .find(|c| c.tag == tag && name.is_none_or(|n| c.name() == n))
            .unwrap_or_else(|| panic!("no `{step}` of `{path}` in\n{}", write_document(doc)));
    }
    e
}

#[test]
fn analytic_every_step_once() {
    let mut doc = read(include_str!("data/old_model.osim"));
    let mut diags = Diagnostics::new("test.osim");
    upgrade(&mut doc, &mut diags);
    assert_eq!(doc.version, LATEST_VERSION);
    assert_eq!(doc.root.attribute("Version"), Some("40600"));

    // The expected values are what OpenSim 4.6 prints for the same file.
    let forces = "Model/ForceSet:forceset/objects";
    let expected = [
        ("Model/Ground:ground/attached_geometry/Mesh:ground_geom_1/mesh_file", "wall.vtp"),
        ("Model/Ground:ground/attached_geometry/Mesh:ground_geom_0/scale_factors", "1 2 3"),
        ("Model/Ground:ground/WrapObjectSet:wrapobjectset/objects/WrapCylinder/Appearance/color", "0 1 0"),
        ("Model/Ground/WrapObjectSet/objects/WrapCylinder/Appearance/SurfaceProperties/representation", "1"),
        ("Model/BodySet:bodyset/objects/Body:link/inertia", "0.123457 1 0.2 0 0 0"),
        ("Model/JointSet:jointset/objects/CustomJoint:joint/socket_parent_frame", "link_offset"),
        ("Model/JointSet/objects/CustomJoint:joint/socket_child_frame", "ground_offset"),
        (
            "Model/JointSet/objects/CustomJoint/frames/PhysicalOffsetFrame:ground_offset/socket_parent",
            "/ground",
        ),
        (
            "Model/JointSet/objects/CustomJoint/frames/PhysicalOffsetFrame:ground_offset/translation",
            "0.123457 0 0",
        ),
        (
            "Model/JointSet/objects/CustomJoint/frames/PhysicalOffsetFrame:ground_offset/orientation",
            "0 0 0.1",
        ),
        (
            "Model/JointSet/objects/CustomJoint/frames/PhysicalOffsetFrame:link_offset/socket_parent",
            "/bodyset/link",
        ),
        ("Model/JointSet/objects/CustomJoint/frames/PhysicalOffsetFrame:link_offset/translation", "0 0.3 0"),
        ("Model/JointSet/objects/CustomJoint/coordinates/Coordinate:q/default_value", "0.1"),
        (&format!("{forces}/PointActuator:push/direction"), "-1 -2 -3"),
        (&format!("{forces}/PointActuator:push/force_is_global"), "true"),
        (&format!("{forces}/PointActuator:push/body"), "link"),
        (&format!("{forces}/PointActuator:push/point"), "0.1 0.2 0.3"),
        (&format!("{forces}/PointActuator:push/appliesForce"), "false"),
        (&format!("{forces}/TorqueActuator:twist/axis"), "-0 -1 -0"),
        (&format!("{forces}/TorqueActuator:twist/bodyA"), "link"),
        (&format!("{forces}/TorqueActuator:twist/bodyB"), "ground"),
        (&format!("{forces}/CoordinateActuator:motor/coordinate"), "q"),
        (&format!("{forces}/Thelen2003Muscle/pennation_angle_at_optimal"), "0.2"),
        (&format!("{forces}/Thelen2003Muscle/max_control"), "0.9"),
        (&format!("{forces}/Thelen2003Muscle/GeometryPath:path/Appearance/color"), ".8 .1 .1"),
        (
            &format!(
                "{forces}/Thelen2003Muscle/GeometryPath/PathPointSet/objects/PathPoint:p1/socket_parent_frame"
            ),
            "/ground",
        ),
        (
            &format!(
                "{forces}/Thelen2003Muscle/GeometryPath/PathPointSet/objects/ConditionalPathPoint/socket_coordinate"
            ),
            "/jointset/joint/q",
        ),
        (
            &format!(
                "{forces}/Thelen2003Muscle/GeometryPath/PathPointSet/objects/MovingPathPoint/socket_y_coordinate"
            ),
            "/jointset/joint/q",
        ),
        (
            &format!(
                "{forces}/Thelen2003Muscle/GeometryPath/PathPointSet/objects/MovingPathPoint/y_location/SimmSpline/x"
            ),
            "0 1 2",
        ),
        (
            &format!("{forces}/Thelen2003Muscle/GeometryPath/PathWrapSet/objects/PathWrap:w/wrap_object"),
            "cylinder",
        ),
        ("Model/ConstraintSet:constraintset/objects/PointConstraint:point/isEnforced", "false"),
        ("Model/ConstraintSet/objects/PointConstraint:point/socket_body_1", "/ground"),
        ("Model/ConstraintSet/objects/WeldConstraint:weld/socket_frame1", "/ground"),
        ("Model/ConstraintSet/objects/WeldConstraint:weld/socket_frame2", "link_offset"),
        (
            "Model/ConstraintSet/objects/WeldConstraint:weld/frames/PhysicalOffsetFrame/translation",
            "0.1 0 0.123457",
        ),
        ("Model/ContactGeometrySet/objects/ContactSphere:ball/socket_frame", "/bodyset/link"),
        ("Model/ContactGeometrySet/objects/ContactSphere:ball/Appearance/visible", "false"),
        ("Model/MarkerSet:markerset/objects/Marker:leftear/socket_parent_frame", "/bodyset/link"),
        ("Model/ControllerSet/objects/PrescribedController:all/enabled", "false"),
        (
            "Model/ControllerSet/objects/PrescribedController:all/socket_actuators",
            "/forceset/push /forceset/twist /forceset/motor /forceset/muscle",
        ),
        (
            "Model/ControllerSet/objects/PrescribedController:two/socket_actuators",
            "/forceset/twist /forceset/muscle",
        ),
    ];
    for (path, value) in expected {
        assert_eq!(at(&doc, path).text(), value, "{path}");
    }
    let muscle = at(&doc, &format!("{forces}/Thelen2003Muscle"));
    assert!(muscle.child("min_control").is_none());
    let text = write_document(&doc);
    for gone in
        ["parent_body", "isDisabled", "motion_type", "reverse", "CoordinateSet", "MusclePoint", "location_in"]
    {
        assert!(!text.contains(gone), "`{gone}` is left in\n{text}");
    }
    // The function of an actuator that is not there went with it.
    let functions = at(&doc, "Model/ControllerSet/objects/PrescribedController:two/FunctionSet/objects");
    assert_eq!(functions.children().map(Element::name).collect::<Vec<_>>(), ["f0", "f2"]);
    // What moved kept its line.
    let line = |needle: &str| {
        let found = include_str!("data/old_model.osim").lines().position(|l| l.contains(needle));
        u32::try_from(found.expect(needle) + 1).expect("short file")
    };
    assert_eq!(at(&doc, "Model/JointSet/objects/CustomJoint").line, line("<CustomJoint"));
    assert_eq!(at(&doc, "Model/MarkerSet/objects/Marker").line, line("<Marker name"));
    assert_eq!(at(&doc, "Model/BodySet/objects/Body/inertia").line, line("<inertia_xx"));
    // The white space in a name, the unknown actuator, and the digits are all reported.
    assert_eq!(diags.list.len(), 3, "{:?}", diags.list);
}

#[test]
fn analytic_digits_can_be_kept() {
    let mut doc = read(include_str!("data/old_model.osim"));
    let mut diags = Diagnostics::new("test.osim");
    upgrade_with(&mut doc, &mut diags, UpgradeOptions { round_like_opensim: false });
    assert_eq!(at(&doc, "Model/BodySet/objects/Body/inertia").text(), "0.12345678 1 0.2 0 0 0");
    let frame = "Model/JointSet/objects/CustomJoint/frames/PhysicalOffsetFrame:ground_offset/translation";
    assert_eq!(at(&doc, frame).text(), "0.123456789 0 0");
}

#[test]
fn analytic_connectors_of_every_age() {
    for (version, socket) in [
        (
            30504,
            "<connectors><Connector_PhysicalFrame_ name='parent'><connectee_name>../a</connectee_name></Connector_PhysicalFrame_></connectors>",
        ),
        (30508, "<connector_parent_connectee_name>../a</connector_parent_connectee_name>"),
        (30516, "<socket_parent_connectee_name>../a</socket_parent_connectee_name>"),
        (40000, "<socket_parent>../a</socket_parent>"),
    ] {
        let mut doc = read(&format!(
            "<OpenSimDocument Version='{version}'><PhysicalOffsetFrame name='f'>{socket}</PhysicalOffsetFrame></OpenSimDocument>"
        ));
        upgrade(&mut doc, &mut Diagnostics::new("f"));
        assert_eq!(at(&doc, "PhysicalOffsetFrame/socket_parent").text(), "../a", "{version}");
    }
}

/// Found by fuzzing: a connector's name became a tag, whatever it was, and the file that was
/// written could not be read.
#[test]
fn identity_connector_names_that_are_no_tags_stay() {
    let mut doc = read(
        "<OpenSimDocument Version='30504'><A><connectors><C name='a/&gt;b'><connectee_name>x</connectee_name></C></connectors></A>\
         </OpenSimDocument>",
    );
    upgrade(&mut doc, &mut Diagnostics::new("f"));
    assert_eq!(at(&doc, "A/connectors/C/connectee_name").text(), "x");
    assert!(read_document(write_document(&doc).as_bytes(), "f").0.is_some());
}

#[test]
fn analytic_engine_and_axes_of_version_1() {
    let axis = |name: &str, rotation: bool, v: &str| {
        format!(
            "<TransformAxis name='{name}'><function/><coordinate>q</coordinate><axis>{v}</axis>\
             <is_rotation>{rotation}</is_rotation></TransformAxis>"
        )
    };
    let mut doc = read(&format!(
        "<Model name='m'><DynamicsEngine><SimbodyEngine><gravity>0 -9 0</gravity><BodySet><objects>\
         <Body name='b'><Joint><CustomJoint name='j'><parent_body>ground</parent_body><TransformAxisSet><objects>{}{}</objects>\
         </TransformAxisSet></CustomJoint></Joint></Body></objects></BodySet></SimbodyEngine></DynamicsEngine>\
         <ActuatorSet><objects/></ActuatorSet></Model>",
        axis("t", false, "0 0 1"),
        axis("r", true, "0 2 0"),
    ));
    assert_eq!(doc.version, 0);
    upgrade(&mut doc, &mut Diagnostics::new("f"));
    assert_eq!(at(&doc, "Model/gravity").text(), "0 -9 0");
    assert!(at(&doc, "Model/ForceSet").child("objects").is_some());
    let transform = "Model/JointSet/objects/CustomJoint/SpatialTransform";
    for (slot, v) in [
        ("rotation1", "0 2 0"),
        ("rotation2", "0 1 0"),
        ("translation1", "0 0 1"),
        ("translation2", "0 1 0"),
        ("translation3", "1 0 0"),
    ] {
        assert_eq!(at(&doc, &format!("{transform}/TransformAxis:{slot}/axis")).text(), v, "{slot}");
    }
    assert_eq!(at(&doc, &format!("{transform}/TransformAxis:rotation1/coordinates")).text(), "q");
    assert_eq!(
        at(&doc, &format!("{transform}/TransformAxis:translation3/function/Constant/value")).text(),
        "0"
    );
}

#[test]
fn analytic_tools_of_version_1_and_2() {
    let mut doc = read(
        "<OpenSimDocument Version='10900'><ForwardTool name='f'><actuator_set_files>a.xml</actuator_set_files>\
         <controls_file>c.xml</controls_file></ForwardTool></OpenSimDocument>",
    );
    upgrade(&mut doc, &mut Diagnostics::new("f"));
    assert_eq!(at(&doc, "ForwardTool/force_set_files").text(), "a.xml");
    assert_eq!(
        at(&doc, "ForwardTool/ControllerSet/objects/ControlSetController/controls_file").text(),
        "c.xml"
    );

    let mut doc = read(
        "<IKTool name='ik'><optimizer_algorithm>cfsqp</optimizer_algorithm><IKTrialSet><objects><IKTrial name='t'>\
         <marker_file>m.trc</marker_file></IKTrial></objects></IKTrialSet></IKTool>",
    );
    upgrade(&mut doc, &mut Diagnostics::new("f"));
    assert_eq!(at(&doc, "InverseKinematicsTool:ik/marker_file").text(), "m.trc");
    assert_eq!(at(&doc, "InverseKinematicsTool:ik/accuracy").text(), "1e-5");

    let mut doc = read(
        "<OpenSimDocument Version='20201'><AnalyzeTool name='id'><initial_time>0.5</initial_time><final_time>2</final_time>\
         <AnalysisSet><objects><InverseDynamics name='InverseDynamics'><on>true</on>\
         <use_model_force_set>false</use_model_force_set></InverseDynamics></objects></AnalysisSet></AnalyzeTool></OpenSimDocument>",
    );
    upgrade(&mut doc, &mut Diagnostics::new("f"));
    assert_eq!(at(&doc, "InverseDynamicsTool:id/time_range").text(), "0.5 2");
    assert_eq!(at(&doc, "InverseDynamicsTool:id/forces_to_exclude").text(), "Muscles");

    let mut doc = read(
        "<OpenSimDocument Version='20201'><ExternalLoads name='l'><objects><PrescribedForce name='r'><body>calcn_r</body>\
         <FunctionSet name='forceFunctions'><objects><PiecewiseLinearFunction name='ground_force_vx'/></objects></FunctionSet>\
         </PrescribedForce></objects><datafile>grf.mot</datafile></ExternalLoads></OpenSimDocument>",
    );
    upgrade(&mut doc, &mut Diagnostics::new("f"));
    let force = "ExternalLoads/objects/ExternalForce:r";
    assert_eq!(at(&doc, &format!("{force}/force_identifier")).text(), "ground_force_v");
    assert_eq!(at(&doc, &format!("{force}/applied_to_body")).text(), "calcn_r");
}

#[test]
fn analytic_old_names_in_defaults_stay_without_effect() {
    let mut doc = read(
        "<ActuatorSet><defaults><Force name='default'><optimal_force>9</optimal_force></Force></defaults>\
         <objects><Force name='f'/></objects></ActuatorSet>",
    );
    upgrade(&mut doc, &mut Diagnostics::new("f"));
    assert_eq!(at(&doc, "ForceSet/defaults/Force/optimal_force").text(), "9");
    assert_eq!(at(&doc, "ForceSet/objects/PointActuator:f/direction").text(), "-1 -0 -0");
}

#[test]
fn analytic_unknown_and_newer_stay() {
    let text = "<OpenSimDocument Version='30000'><Model name='m'><Plugin name='p'><Force>3</Force><x/></Plugin></Model></OpenSimDocument>";
    let mut doc = read(text);
    let before = at(&doc, "Model/Plugin").clone();
    upgrade(&mut doc, &mut Diagnostics::new("f"));
    assert_eq!(*at(&doc, "Model/Plugin"), before);

    let mut doc = read("<OpenSimDocument Version='50000'><Model/></OpenSimDocument>");
    let mut diags = Diagnostics::new("f");
    upgrade(&mut doc, &mut diags);
    assert_eq!((doc.version, diags.list.len()), (50000, 1));
}

/// Where the reference data are.
fn shared() -> PathBuf {
    PathBuf::from(soleus_testing::shared!())
}

fn osim_files(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            osim_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "osim") {
            out.push(path);
        }
    }
}

/// Every model there is: read without error, upgraded without error, idempotent, and unchanged by writing and
/// reading.
#[reference_test]
fn identity_all_shared_models() {
    let shared = shared();
    let mut files = Vec::new();
    osim_files(&shared, &mut files);
    assert!(!files.is_empty());
    for file in files {
        let bytes = std::fs::read(&file).expect("readable");
        let (doc, mut diags) = read_document(&bytes, "f");
        let mut doc = doc.unwrap_or_else(|| panic!("{}: {:?}", file.display(), diags.list));
        upgrade(&mut doc, &mut diags);
        assert!(!diags.has_errors(), "{}: {:?}", file.display(), diags.list);
        let text = write_document(&doc);
        let (again, _) = read_document(text.as_bytes(), "f");
        let mut again = again.unwrap_or_else(|| panic!("{}", file.display()));
        assert_eq!(write_document(&again), text, "{}", file.display());
        upgrade(&mut again, &mut diags);
        assert_eq!(write_document(&again), text, "{}", file.display());
    }
}

/// Bodies, joints and coordinates of the reference models, which OpenSim 4.6 listed after its
/// own upgrade: same joints in the same order, same classes, bodies and coordinates.
#[reference_test]
fn opensim_val_joints_of_reference_models() {
    let shared = shared();
    let reference = shared.join("reference");
    let mut compared = 0;
    for entry in std::fs::read_dir(reference.join("points")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let info = &json["model"];
        let file = reference.join(info["path"].as_str().unwrap());
        let bytes = std::fs::read(&file).unwrap();
        let (doc, mut diags) = read_document(&bytes, "f");
        let mut doc = doc.unwrap_or_else(|| panic!("{}: {:?}", file.display(), diags.list));
        upgrade(&mut doc, &mut diags);

        let bodies = members(&doc, "BodySet").count();
        assert_eq!(Some(bodies as u64), info["n_bodies"].as_u64(), "{}", file.display());
        // Joints outside the set (components of 4.x models) are listed by OpenSim after those in it.
        let joints: Vec<&Element> = members(&doc, "JointSet").collect();
        let expected = info["joints"].as_array().expect("joints");
        let outside = at(&doc, "Model").child("components").map_or(0, |c| c.children().count());
        assert!(joints.len() == expected.len() || outside > 0, "{}", file.display());
        for (joint, expected) in joints.iter().zip(expected) {
            let place = format!("{} {}", file.display(), joint.name());
            assert_eq!(Some(joint.name()), expected["name"].as_str(), "{place}");
            assert_eq!(Some(joint.tag.as_str()), expected["type"].as_str(), "{place}");
            for side in ["parent", "child"] {
                let frame = joint.child_text(&format!("socket_{side}_frame")).expect("socket");
                assert_eq!(
                    Some(base_body(joint, &frame).as_str()),
                    expected[side].as_str(),
                    "{place} {side}"
                );
            }
            // Coordinates that the file leaves out get names from the joint's class later.
            let named: Vec<&str> = joint
                .child("coordinates")
                .into_iter()
                .flat_map(Element::children)
                .map(Element::name)
                .collect();
            let expected: Vec<&str> =
                expected["coordinates"].as_array().into_iter().flatten().filter_map(|c| c.as_str()).collect();
            if named.len() == expected.len() {
                assert_eq!(named, expected, "{place}");
            } else {
                assert!(named.is_empty(), "{place}: {named:?} {expected:?}");
            }
        }
        compared += 1;
    }
    assert!(compared >= 30, "only {compared} models were there to compare");
}

/// What a set of the model holds.
fn members<'e>(doc: &'e Document, set: &str) -> impl Iterator<Item = &'e Element> {
    let objects = at(doc, "Model").child(set).and_then(|s| s.child("objects"));
    objects.into_iter().flat_map(Element::children)
}

/// The body at the end of a joint's chain of own offset frames.
fn base_body(joint: &Element, frame: &str) -> String {
    let own = joint.child("frames").into_iter().flat_map(Element::children).find(|f| f.name() == frame);
    let path = own.and_then(|f| f.child_text("socket_parent")).unwrap_or(frame.to_string());
    path.rsplit('/').next().unwrap_or_default().to_string()
}
