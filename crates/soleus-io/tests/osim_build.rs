//! From model files to models: what is built, and what is said about files that are wrong.

#![allow(non_snake_case)] // Kernel symbols follow the literature: R, X_BF.

use soleus_io::osim::read_model;
use soleus_model::force::ForceKind;
use soleus_model::joint::{JointKind, MotionType};
use soleus_model::{Diagnostics, Model, Severity};
use soleus_testing::reference_test;
use std::path::{Path, PathBuf};

/// A model with one body on a pin, and room for more.
fn model_text(body: &str, joint: &str, rest: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40600">
<Model name="m">
<Ground name="ground"/>
<BodySet name="bodyset"><objects>
<Body name="rod"><mass>2</mass><mass_center>0 -0.5 0</mass_center><inertia>1 1 1 0 0 0</inertia>{body}</Body>
</objects></BodySet>
<JointSet name="jointset"><objects>
<PinJoint name="hinge">
<socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>rod_offset</socket_child_frame>
<coordinates><Coordinate name="angle"><default_value>0.3</default_value><range>-1 1</range>{joint}</Coordinate></coordinates>
<frames><PhysicalOffsetFrame name="rod_offset">
<socket_parent>../../../bodyset/rod</socket_parent><translation>0 0.5 0</translation><orientation>0 0 0.1</orientation>
</PhysicalOffsetFrame></frames>
</PinJoint>
</objects></JointSet>
{rest}
</Model>
</OpenSimDocument>"#
    )
}

fn build(text: &str) -> (Option<Model>, Diagnostics) {
    read_model(text.as_bytes(), "m.osim")
}

/// The one error of a text that must be refused.
#[track_caller]
fn only_error(text: &str) -> soleus_model::Diagnostic {
    let (model, diags) = build(text);
    assert!(model.is_none(), "the model was accepted");
    let errors: Vec<_> = diags.list.iter().filter(|d| d.severity == Severity::Error).collect();
    assert_eq!(errors.len(), 1, "{errors:#?}");
    errors[0].clone()
}

#[test]
fn analytic_pin_model_is_built() {
    let (model, diags) = build(&model_text("", "", ""));
    assert!(diags.list.is_empty(), "{:#?}", diags.list);
    let m = model.expect("no model");
    assert_eq!((m.bodies.len(), m.joints.len(), m.coordinates.len()), (2, 1, 1));
    assert_eq!(m.bodies[1].path, "/bodyset/rod");
    assert_eq!(m.coordinates[0].path, "/jointset/hinge/angle");
    assert_eq!(m.coordinates[0].motion_type, MotionType::Rotational);
    let frame = &m.frames[m.joints[0].child.0];
    assert_eq!((frame.path.as_str(), frame.body.0), ("/jointset/hinge/rod_offset", 1));
    assert_eq!(frame.X_BF.p.y, 0.5);
    // A turn about z takes x to (cos, sin, 0).
    assert!((frame.X_BF.R.axis(0).y - 0.1f64.sin()).abs() < 1e-16);
}

#[test]
fn analytic_missing_frame_names_the_nearest() {
    let text = model_text("", "", "").replace("../../../bodyset/rod<", "../../../bodyset/rood<");
    let e = only_error(&text);
    assert_eq!(e.component, "/jointset/hinge/rod_offset");
    assert_eq!((e.line, e.hint.as_str()), (14, "did you mean /bodyset/rod?"));
}

#[test]
fn analytic_nan_and_junk_are_refused_with_their_line() {
    let nan = only_error(&model_text("", "", "").replace("<mass>2<", "<mass>NaN<"));
    assert_eq!((nan.line, nan.component.as_str()), (6, "/bodyset/rod"));
    let junk = only_error(&model_text("", "", "").replace("0 0.5 0<", "0 half 0<"));
    assert!(junk.message.contains("`half` is not a number"), "{junk}");
    let count = only_error(&model_text("", "", "").replace("0 0.5 0<", "0 0.5<"));
    assert!(count.message.contains("needs 3 number(s), found 2"), "{count}");
    let negative = only_error(&model_text("", "", "").replace("<mass>2<", "<mass>-2<"));
    assert!(negative.message.contains("must not be negative"), "{negative}");
}

#[test]
fn analytic_joint_of_a_body_with_itself_is_refused() {
    let e = only_error(&model_text("", "", "").replace(">/ground<", ">/bodyset/rod<"));
    assert_eq!(e.message, "the joint connects /bodyset/rod with itself");
}

#[test]
fn analytic_ring_of_frames_is_refused() {
    let ring = "<ComponentSet><objects>\
        <PhysicalOffsetFrame name=\"a\"><socket_parent>../b</socket_parent></PhysicalOffsetFrame>\
        <PhysicalOffsetFrame name=\"b\"><socket_parent>../a</socket_parent></PhysicalOffsetFrame>\
        </objects></ComponentSet>";
    assert_eq!(only_error(&model_text("", "", ring)).message, "the frame is attached to itself");
}

#[test]
fn analytic_unknown_force_is_refused_unless_disabled() {
    let force = |on| {
        let force = format!("<BodyDragForce name=\"d\"><appliesForce>{on}</appliesForce></BodyDragForce>");
        model_text("", "", &format!("<ForceSet name=\"forceset\"><objects>{force}</objects></ForceSet>"))
    };
    let e = only_error(&force(true));
    assert_eq!(e.component, "/forceset/d");
    assert!(e.message.contains("the physics would change"), "{e}");

    let (model, diags) = build(&force(false));
    let m = model.expect("a disabled force was refused");
    assert_eq!(m.unsupported.len(), 1);
    assert_eq!(m.unsupported[0].class, "BodyDragForce");
    assert_eq!(diags.list.len(), 1);
    assert_eq!(diags.list[0].severity, Severity::Warning);
}

#[test]
fn analytic_same_names_are_told_apart() {
    let markers = "<MarkerSet name=\"markerset\"><objects>\
        <Marker name=\"k\"><socket_parent_frame>/bodyset/rod</socket_parent_frame></Marker>\
        <Marker name=\"k\"><socket_parent_frame>rod</socket_parent_frame></Marker>\
        </objects></MarkerSet>";
    let (model, diags) = build(&model_text("", "", markers));
    let m = model.expect("no model");
    let paths: Vec<_> = m.markers.iter().map(|k| k.path.as_str()).collect();
    assert_eq!(paths, ["/markerset/k", "/markerset/k_0"]);
    assert_eq!(diags.list.iter().filter(|d| d.severity == Severity::Warning).count(), 1);
}

#[test]
fn analytic_unknown_property_is_named_once() {
    let (model, diags) = build(&model_text("<colour>red</colour>", "<tolerance>1</tolerance>", ""));
    assert!(model.is_some());
    let said: Vec<_> = diags.list.iter().map(|d| (d.severity, d.message.as_str())).collect();
    assert_eq!(
        said,
        [
            (Severity::Warning, "unknown property `colour` of Body ignored"),
            (Severity::Note, "property `tolerance` of Coordinate is from an older version and has no effect"),
        ]
    );
}

#[test]
fn analytic_defaults_of_the_document_fill_in() {
    let text = model_text("", "", "")
        .replace("<Ground", "<defaults><Coordinate name=\"default\"><locked>true</locked><range>-9 9</range></Coordinate></defaults><Ground");
    let m = build(&text).0.expect("no model");
    assert!(m.coordinates[0].locked);
    assert_eq!(m.coordinates[0].range, [-1.0, 1.0]);
}

#[test]
fn analytic_clamped_default_outside_its_range_is_refused() {
    let text = model_text("", "<clamped>true</clamped>", "").replace("-1 1<", "0.5 1<");
    assert!(only_error(&text).message.contains("clamped to 0.5 … 1"));
}

/// A custom joint whose axes name coordinates in another order than the joint lists them.
#[test]
fn analytic_custom_joint_orders_coordinates_by_axis() {
    let axis = |name: &str, q: &str, axis: &str, f: &str| {
        format!(
            "<TransformAxis name=\"{name}\"><coordinates>{q}</coordinates><axis>{axis}</axis>{f}</TransformAxis>"
        )
    };
    let identity = "<LinearFunction name=\"function\"><coefficients>1 0</coefficients></LinearFunction>";
    let twice = "<LinearFunction name=\"function\"><coefficients>2 0</coefficients></LinearFunction>";
    let transform = [
        axis("rotation1", "b", "0 0 2", identity),
        axis("rotation2", "", "1 0 0", "<Constant><value>0</value></Constant>"),
        axis("translation2", "a", "0 1 0", identity),
        axis("translation3", "c", "0 0 1", twice),
    ]
    .concat();
    let joint = format!(
        "<CustomJoint name=\"j\"><socket_parent_frame>/ground</socket_parent_frame>\
         <socket_child_frame>/bodyset/rod</socket_child_frame>\
         <coordinates><Coordinate name=\"a\"/><Coordinate name=\"b\"/><Coordinate name=\"c\"/></coordinates>\
         <SpatialTransform>{transform}</SpatialTransform></CustomJoint>"
    );
    let text = model_text("", "", "");
    let (head, tail) = (text.find("<PinJoint").expect("pin"), text.find("</PinJoint>").expect("pin") + 11);
    let text = format!("{}{joint}{}", &text[..head], &text[tail..]);
    // rotation3 keeps its own axis z, which rotation1 has taken.
    assert!(only_error(&text).message.contains("parallel"));

    let text = text.replace("<axis>0 0 2</axis>", "<axis>0 2 0</axis>");
    let m = build(&text).0.expect("no model");
    let names: Vec<_> = m.coordinates.iter().map(|c| (c.name.as_str(), c.motion_type)).collect();
    let (rotational, translational) = (MotionType::Rotational, MotionType::Translational);
    assert_eq!(names, [("b", rotational), ("a", translational), ("c", MotionType::Coupled)]);
    let JointKind::Custom(s) = &m.joints[0].kind else { panic!("{:?}", m.joints[0].kind) };
    assert_eq!(s.axes[0].axis.y, 1.0);
    assert_eq!(s.axes[4].arguments, [1]);
}

/// Where the reference data are.
fn shared() -> PathBuf {
    PathBuf::from(soleus_testing::shared!())
}

fn model_files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            model_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "osim") {
            found.push(path);
        }
    }
}

/// Every model file is built; the one that OpenSim refuses for a plug-in's force is refused here.
#[reference_test]
fn opensim_val_all_model_files_build() {
    let shared = shared();
    let mut files = Vec::new();
    model_files(&shared, &mut files);
    files.sort();
    let mut refused = Vec::new();
    for file in &files {
        let bytes = std::fs::read(file).expect("file");
        let name = file.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());
        let (model, diags) = read_model(&bytes, &name);
        assert_eq!(model.is_none(), diags.has_errors(), "{name}");
        for d in diags.list.iter().filter(|d| d.severity == Severity::Error) {
            assert!(d.line > 0, "an error without a line: {d}");
        }
        if model.is_none() {
            refused.push(name);
        }
    }
    assert!(files.len() > 100, "only {} files", files.len());
    assert_eq!(refused, ["ThreeMasses.osim"]);
}

/// Rajagopal (2016) as OpenSim 4.6 counts it: points/Rajagopal2016.json, made by its Python package.
#[reference_test]
fn opensim_val_rajagopal_counts() {
    let shared = shared();
    let bytes = std::fs::read(shared.join("reference/models/Rajagopal2016.osim")).expect("file");
    let m = read_model(&bytes, "Rajagopal2016.osim").0.expect("no model");
    let muscles = m.forces.iter().filter(|f| matches!(f.kind, ForceKind::Muscle(_))).count();
    assert_eq!((m.bodies.len() - 1, m.joints.len(), m.coordinates.len(), muscles), (22, 22, 39, 80));
}

/// A path around a surface that is not supported is an error, not a straight path.
#[test]
fn analytic_path_around_an_unknown_surface_is_refused() {
    let muscle = "<ForceSet name=\"forceset\"><objects><Thelen2003Muscle name=\"t\"><GeometryPath name=\"path\">\
        <PathPointSet><objects>\
        <PathPoint name=\"p\"><socket_parent_frame>/ground</socket_parent_frame></PathPoint>\
        <PathPoint name=\"p\"><socket_parent_frame>/bodyset/rod</socket_parent_frame></PathPoint>\
        </objects></PathPointSet>\
        <PathWrapSet><objects><PathWrap name=\"w\"><wrap_object>cone</wrap_object></PathWrap></objects></PathWrapSet>\
        </GeometryPath></Thelen2003Muscle></objects></ForceSet>";
    let cone = "<WrapObjectSet><objects><WrapCone name=\"cone\"/></objects></WrapObjectSet>";
    assert!(only_error(&model_text(cone, "", muscle)).message.contains("WrapCone"));

    let cylinder = cone.replace("WrapCone", "WrapCylinder");
    let m = build(&model_text(&cylinder, "", muscle)).0.expect("no model");
    assert_eq!(m.wraps[0].path, "/bodyset/rod/wrapobjectset/cone");
    assert_eq!(m.forces[0].path, "/forceset/t");
}

/// The element that `skip` steps of a walk through the tree lead to.
fn nth<'a>(e: &'a mut soleus_model::Element, skip: &mut usize) -> Option<&'a mut soleus_model::Element> {
    if *skip == 0 {
        return Some(e);
    }
    *skip -= 1;
    e.children_mut().find_map(|c| nth(c, skip))
}

fn count(e: &soleus_model::Element) -> usize {
    1 + e.children().map(count).sum::<usize>()
}

/// Whatever is missing or wrong in a file, building it ends with a model or with an error.
#[reference_test]
fn conserves_model_or_error_on_damaged_files() {
    let shared = shared();
    let files = [
        "reference/models/arm26.osim",
        "reference/models/2D_gait.osim",
        "reference/models/subject01_metabolics.osim",
        "reference/models/core/core_v30000_BushingForceModel.osim",
        "reference/models/core/core_v40500_StationDefinedFrames_Basic.osim",
        "reference/models/core/core_v30000_toyLigamentModel.osim",
        "data/osim_zoo/testMomentArmsConstraintB.osim",
    ];
    for file in files {
        let bytes = std::fs::read(shared.join(file)).expect("file");
        let (doc, mut diags) = soleus_io::osim::read_document(&bytes, file);
        let mut doc = doc.expect("document");
        soleus_io::osim::upgrade(&mut doc, &mut diags);
        let n = count(&doc.root);
        // Every file gets about two hundred damages of each sort, spread evenly.
        for k in (0..n).step_by(1 + n / 200) {
            for damage in
                ["", "NaN", "x y", "-1", "/nowhere", "1 2 3 4 5 6 7", "no element", "other tag", "no name"]
            {
                let mut broken = doc.clone();
                let Some(e) = nth(&mut broken.root, &mut { k }) else { continue };
                match damage {
                    "no element" => e.content.clear(),
                    "other tag" => e.tag.push('X'),
                    "no name" => e.attributes.clear(),
                    text => e.set_text(text),
                }
                let mut diags = Diagnostics::new(file);
                let model = soleus_model::build(&broken, &mut diags);
                assert_eq!(model.is_none(), diags.has_errors(), "{file}, element {k}, {damage}");
            }
        }
    }
}

/// Frames made of stations: places and angles as OpenSim 4.6 finds them in their base frames
/// (`findTransformInBaseFrame` of its Python package, on the file named below).
#[reference_test]
fn opensim_val_station_defined_frames() {
    let shared = shared();
    let bytes = std::fs::read(shared.join("data/osim_zoo/StationDefinedFrames_Advanced.osim")).expect("file");
    let m = read_model(&bytes, "StationDefinedFrames_Advanced.osim").0.expect("no model");
    let expected = [
        ("/parent_sdf", [0.05999999865889549, -0.25, 0.0], [2.356194490192345, 0.0, -0.9553166181245092]),
        (
            "/child_sdf",
            [-0.0027325136818987517, 0.10994692768899483, -0.039090562611818314],
            [-std::f64::consts::PI, std::f64::consts::FRAC_PI_4, -std::f64::consts::PI],
        ),
    ];
    for (path, p, angles) in expected {
        let frame = m.frames.iter().find(|f| f.path == path).expect("frame");
        let R = soleus_math::Rotation::body_fixed_xyz(soleus_math::Vec3::from_array(angles));
        // A few roundings of numbers of order one.
        assert!((frame.X_BF.p - soleus_math::Vec3::from_array(p)).norm() < 1e-15, "{path}");
        for i in 0..3 {
            assert!((frame.X_BF.R.axis(i) - R.axis(i)).norm() < 4e-15, "{path}, axis {i}");
        }
    }
}

#[test]
fn analytic_external_loads_are_read() {
    let model = build(&model_text("", "", "")).0.expect("no model");
    let text = "<OpenSimDocument Version=\"40600\"><ExternalLoads name=\"loads\"><objects>\
        <ExternalForce name=\"f\"><applied_to_body>rod</applied_to_body>\
        <force_identifier>1_ground_force_v</force_identifier></ExternalForce>\
        </objects><datafile>grf.mot</datafile></ExternalLoads></OpenSimDocument>";
    let read = |text: &str| {
        let (doc, mut diags) = soleus_io::osim::read_document(text.as_bytes(), "loads.xml");
        (soleus_model::build_external_loads(&doc.expect("document"), &model, &mut diags), diags)
    };
    let (loads, diags) = read(text);
    assert!(diags.list.is_empty(), "{:#?}", diags.list);
    let loads = loads.expect("no loads");
    assert_eq!(loads.datafile.as_deref(), Some("grf.mot"));
    assert_eq!(loads.forces[0].applied_to_body, model.bodies[1].frame);
    assert_eq!(loads.forces[0].point_identifier, None);
    assert!(read(&text.replace(">rod<", ">rodd<")).0.is_none());
}

/// The loads of OpenSim's walking example: one force on each heel bone.
#[reference_test]
fn opensim_val_gait2354_loads() {
    let shared = shared();
    let input = shared.join("reference/pipelines/Gait2354_Simbody/input");
    let bytes = std::fs::read(input.join("subject01_simbody.osim")).expect("file");
    let model = read_model(&bytes, "subject01_simbody.osim").0.expect("no model");
    let bytes = std::fs::read(input.join("subject01_walk1_grf.xml")).expect("file");
    let (doc, mut diags) = soleus_io::osim::read_document(&bytes, "subject01_walk1_grf.xml");
    let mut doc = doc.expect("document");
    soleus_io::osim::upgrade(&mut doc, &mut diags);
    let loads = soleus_model::build_external_loads(&doc, &model, &mut diags).expect("no loads");
    let bodies: Vec<_> =
        loads.forces.iter().map(|f| model.frames[f.applied_to_body.0].path.as_str()).collect();
    assert_eq!(bodies, ["/bodyset/calcn_r", "/bodyset/calcn_l"]);
    assert!(diags.list.iter().all(|d| d.severity < Severity::Warning), "{:#?}", diags.list);
}
