//! Whole pages: well-formed, without references, with every name escaped, and with the poses of the system in them.

#![allow(non_snake_case)] // X_GB is a pose.

use quick_xml::Reader;
use quick_xml::events::Event as Xml;
use soleus_dynamics::{State, System};
use soleus_math::{Rotation, Vec3, vec3};
use soleus_model::Model;
use soleus_viewer::{
    Animation, Band, Event, Line, Motion, Plot, Recorder, Report, SceneOptions, Table, activation_plots,
    coordinate_plots,
};

const LEG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/leg_swing.osim");

fn leg() -> (Model, System) {
    let (model, log) = soleus_io::osim::read_model(&std::fs::read(LEG).unwrap(), LEG);
    let model = model.unwrap_or_else(|| panic!("{:?}", log.list));
    let system = System::compile(&model).unwrap();
    (model, system)
}

/// A kick: all joints swing through large angles.
fn kick(system: &System, frames: usize) -> Vec<State<f64>> {
    let state = |i: usize| {
        let mut x = system.default_state.clone();
        x.time = 0.01 * i as f64;
        for (k, q) in x.q.iter_mut().enumerate() {
            *q = 0.9 * (3.0 * x.time + k as f64).sin();
        }
        for (k, z) in x.z.iter_mut().enumerate() {
            *z = 0.5 + 0.5 * (x.time + k as f64).sin();
        }
        x
    };
    (0..frames).map(state).collect()
}

fn animation(model: &Model, system: &System, states: &[State<f64>]) -> Animation {
    let mut recorder = Recorder::new(model, system, &SceneOptions::default());
    states.iter().for_each(|x| recorder.record(x));
    recorder.finish()
}

fn page(model: &Model, system: &System, title: &str) -> String {
    let states = kick(system, 30);
    let band = Band::new(title, vec![0.0, 0.3], vec![-1.0, -1.0], vec![1.0, 1.0]);
    let wide = Plot {
        title: title.into(),
        x_label: title.into(),
        y_label: title.into(),
        lines: vec![Line::new(title, vec![0.0, 0.3], vec![0.0, 1.0])],
        bands: vec![band],
        events: vec![Event { x: 0.1, name: title.into() }],
        ..Plot::default()
    };
    Report::new(title)
        .text(title)
        .heading(title)
        .table(Table::new(title, [title, "value"]).row([title, "1.5"]))
        .animation(&animation(model, system, &states))
        .plot(wide)
        .plots(coordinate_plots(model, system, &states))
        .plots(activation_plots(model, system, &states))
        .to_html()
}

/// Goes through a page as XML: every tag closed, every attribute quoted. Returns names and attributes of elements.
fn elements(page: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut reader = Reader::from_str(page);
    reader.config_mut().check_end_names = true;
    let mut out = Vec::new();
    let mut depth = 0;
    loop {
        match reader.read_event().unwrap_or_else(|e| panic!("at {}: {e}", reader.error_position())) {
            Xml::Eof => break,
            Xml::End(_) => depth -= 1,
            ref e @ (Xml::Start(ref t) | Xml::Empty(ref t)) => {
                depth += i32::from(matches!(e, Xml::Start(_)));
                let attributes = t.attributes().map(|a| {
                    let a = a.unwrap();
                    (
                        String::from_utf8_lossy(a.key.as_ref()).into_owned(),
                        a.unescape_value().unwrap().into_owned(),
                    )
                });
                out.push((String::from_utf8_lossy(t.name().as_ref()).into_owned(), attributes.collect()));
            }
            _ => {}
        }
    }
    assert_eq!(depth, 0);
    out
}

#[test]
fn analytic_pages_are_well_formed_and_keep_to_themselves() {
    let (model, system) = leg();
    let page = page(&model, &system, "Kick");
    let elements = elements(&page);
    for tag in ["html", "title", "table", "figure", "canvas", "svg", "script"] {
        assert!(elements.iter().any(|(t, _)| t == tag), "{tag}");
    }
    // Nothing is loaded from anywhere, and nothing runs but the one script.
    for (tag, attributes) in &elements {
        assert!(!matches!(tag.as_str(), "link" | "img" | "iframe" | "object" | "embed" | "base"), "{tag}");
        for (key, value) in attributes {
            assert!(
                !matches!(key.as_str(), "src" | "href" | "action" | "style") && !key.starts_with("on"),
                "{key}"
            );
            assert!(!value.contains("url("), "{key}={value}");
        }
    }
    assert_eq!(elements.iter().filter(|(t, a)| t == "script" && a.is_empty()).count(), 1);
    assert!(!page.contains("http://") && !page.contains("https://"));
    assert!(page.len() < 400_000, "{} bytes", page.len());
}

/// Whatever a model calls its parts, it stays text.
#[test]
fn analytic_names_cannot_break_out() {
    let (mut model, _) = leg();
    let evil = "</script><script>alert('1')</script><img src=x onerror=\"alert(2)\"> ]]> & \u{0}";
    model.name = evil.into();
    model.bodies[1].name = evil.into();
    model.joints.iter_mut().for_each(|j| j.name = evil.into());
    model.coordinates.iter_mut().for_each(|c| c.name = evil.into());
    model.forces.iter_mut().for_each(|f| f.name = evil.into());
    let system = System::compile(&model).unwrap();
    let page = page(&model, &system, evil);
    let elements = elements(&page);
    assert!(elements.iter().all(|(t, _)| t != "img"));
    assert!(elements.iter().all(|(_, a)| a.iter().all(|(k, _)| k != "onerror" && k != "src")));
    // Three scripts: the data of the scene, the program that draws it, compressed, and ours; the browser, which looks for the end tag alone,
    // sees the same.
    assert_eq!(page.matches("</script").count(), 3);
    assert_eq!(page.matches("<script").count(), 3);
    assert!(!page.contains('\u{0}'));
    let picture = animation(&model, &system, &kick(&system, 1));
    let camera = soleus_viewer::Camera::default();
    let svg = soleus_viewer::figure::to_svg(&picture.scene, &picture.frames[0], &camera, evil);
    assert!(self::elements(&svg).iter().all(|(t, _)| t != "script" && t != "img"));
}

#[test]
fn identity_same_input_same_bytes() {
    let (model, system) = leg();
    assert_eq!(page(&model, &system, "Kick"), page(&model, &system, "Kick"));
}

/// The text between `"key":` and the next comma or bracket, without quotes.
fn field<'p>(page: &'p str, key: &str) -> &'p str {
    let rest = page.split(&format!("\"{key}\":")).nth(1).unwrap();
    rest.trim_start_matches(['"', '[']).split(['"', ']']).next().unwrap()
}

fn numbers(page: &str, key: &str) -> Vec<f64> {
    field(page, key).split(',').map(|v| v.parse().unwrap()).collect()
}

/// Base64 by the book, the other way.
fn words(text: &str) -> Vec<u16> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => u32::from(c - b'A'),
        b'a'..=b'z' => u32::from(c - b'a') + 26,
        b'0'..=b'9' => u32::from(c - b'0') + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    for four in text.as_bytes().chunks(4) {
        let bits = four.iter().filter(|&&c| c != b'=').fold(0, |b, &c| b << 6 | value(c));
        let count = four.iter().filter(|&&c| c != b'=').count();
        let bits = bits << (6 * (4 - count));
        bytes.extend(&bits.to_be_bytes()[1..count]);
    }
    bytes.chunks(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect()
}

/// Positions of bodies and points of muscles in the page are those of the system within half a step of sixteen bits,
/// rotations within the rounding of a quaternion.
#[test]
fn identity_frames_hold_the_poses_of_the_system() {
    let (model, system) = leg();
    let states = kick(&system, 25);
    let page = Report::new("").animation(&animation(&model, &system, &states)).to_html();
    let (low, step) = (numbers(&page, "low"), numbers(&page, "step"));
    let times = numbers(&page, "t");
    let (pose, path) = (words(field(&page, "pose")), words(field(&page, "path")));
    assert!(step.iter().all(|s| *s < 3e-5), "a leg is smaller than two metres: {step:?}");
    let place = |w: &[u16]| {
        let at = |i: usize| low[i] + step[i] * f64::from(w[i]);
        vec3(at(0), at(1), at(2))
    };
    // Half a step along each axis, and the last of the digits written.
    let bound = 0.5 * step.iter().map(|s| s * s).sum::<f64>().sqrt() * (1.0 + 1e-6) + 1e-9;

    let mut ws = system.workspace();
    let (mut p, mut k) = (0, 0);
    for (x, t) in states.iter().zip(&times) {
        assert!((x.time - t).abs() < 1e-5);
        system.compute_kinematics(x, &mut ws);
        system.compute_paths(x, &mut ws);
        for &node in &system.tree.node_of_body {
            let X_GB = ws.kin.X_GB[node];
            let w = &pose[p..p + 7];
            p += 7;
            assert!((place(w) - X_GB.p).norm() < bound);
            let q: Vec<f64> = w[3..].iter().map(|&c| f64::from(c as i16) / 32767.0).collect();
            let u = vec3(q[1], q[2], q[3]);
            for v in [Vec3::unit(0), Vec3::unit(1), Vec3::unit(2)] {
                let turned = v + u.cross(v) * (2.0 * q[0]) + u.cross(u.cross(v)) * 2.0;
                // Four components off by half a step each: at most 2 · 4 · ½ / 32767.
                assert!((turned - X_GB.R * v).norm() < 4.0 / 32767.0 * 2.0);
            }
        }
        for (i, f) in model.forces.iter().enumerate().filter(|(_, f)| f.line_of_action.is_some()) {
            let count = usize::from(path[k]);
            let z = system.forces[i].states.start;
            assert!((f64::from(path[k + 1]) / 1000.0 - x.z[z].clamp(0.0, 1.0)).abs() < 6e-4, "{}", f.name);
            let drawn: Vec<Vec3<f64>> = path[k + 2..k + 2 + 3 * count].chunks(3).map(place).collect();
            k += 2 + 3 * count;
            // Every point of the path is drawn, in its order, and the line is as long as the path.
            let mut rest = drawn.iter();
            for point in ws.paths[i].points() {
                assert!(rest.any(|d| (*d - point.p_G).norm() < bound), "{}", f.name);
            }
            let length: f64 = drawn.windows(2).map(|e| (e[1] - e[0]).norm()).sum();
            // Chords of 0.26 rad are shorter than their arcs by 0.26²/24; rounding adds a step for each piece.
            let short = ws.paths[i].length() - length;
            assert!(
                short.abs() < 0.003 * ws.paths[i].length() + 2.0 * count as f64 * bound,
                "{}: {short}",
                f.name
            );
        }
    }
    assert_eq!((p, k), (pose.len(), path.len()));
}

/// A table with names of any age gives the same states; degrees are turned where the header says so.
#[test]
fn identity_columns_by_name_and_by_path() {
    let (model, system) = leg();
    let knee = model.coordinates.iter().find(|c| c.name == "knee_angle").unwrap();
    let m = system.tree.mobility_of_coordinate[model.coordinate("knee_angle").unwrap().0];
    for label in [knee.name.clone(), format!("{}/value", knee.path)] {
        let element = soleus_math::table::Element::Scalar;
        let columns = vec![vec![90.0, f64::NAN, 45.0], vec![0.1, 0.2, 0.3]];
        let labels = vec![label, format!("{}.activation", model.forces[0].name)];
        let mut table = soleus_math::Table::new(element, labels, vec![0.0, 0.1, 0.2], columns).unwrap();
        table.in_degrees = Some(true);
        let motion = Motion::new(&model, &system, &table).unwrap();
        assert_eq!((motion.times(), motion.gaps), (vec![0.0, 0.2], 1));
        assert!(motion.has_activations && !motion.has_speeds);
        assert_eq!(motion.at_default.len(), model.coordinates.len() - 1);
        let mut x = system.default_state.clone();
        motion.read(1, &mut x);
        assert!((x.q[m] - std::f64::consts::FRAC_PI_4).abs() < 1e-15);
        assert_eq!((x.time, x.z[system.forces[0].states.start]), (0.2, 0.3));
    }
    let other = soleus_math::Table::new(
        soleus_math::table::Element::Scalar,
        vec!["elbow".into()],
        vec![0.0],
        vec![vec![1.0]],
    );
    let wrong = Motion::new(&model, &system, &other.unwrap()).unwrap_err().to_string();
    assert!(wrong.contains("knee_angle"), "{wrong}");
}

/// 1000 frames of 30 bodies with 80 muscles of 5 points each stay below a few MB.
#[test]
fn analytic_long_animations_stay_small() {
    let X = soleus_math::Transform::new(Rotation::about_x(0.3), vec3(0.1, 0.9, 0.0));
    let frame = |i: u32| soleus_viewer::Frame {
        time: f64::from(i) * 0.02,
        poses: vec![X; 30],
        paths: vec![vec![X.p; 5]; 80],
        activity: vec![0.5; 80],
        arrows: vec![],
    };
    let scene = soleus_viewer::Scene {
        bodies: vec!["body".into(); 30],
        paths: vec!["muscle".into(); 80],
        ..Default::default()
    };
    let page =
        Report::new("").animation(&Animation::new(scene.clone(), (0..1000).map(frame).collect())).to_html();
    assert!(page.len() < 4_500_000, "{} bytes", page.len());
    let without = |i: u32| soleus_viewer::Frame { paths: vec![], activity: vec![], ..frame(i) };
    let bodies = soleus_viewer::Scene { paths: vec![], ..scene };
    let page = Report::new("").animation(&Animation::new(bodies, (0..1000).map(without).collect())).to_html();
    // The figure itself takes 0.2 MB of it.
    assert!(page.len() < 900_000, "{} bytes", page.len());
}

/// Numbers that are none, and nothing at all, still make a page.
#[test]
fn analytic_anything_makes_a_page() {
    elements(&Report::new("").to_html());
    let (model, system) = leg();
    elements(&Report::new("").animation(&animation(&model, &system, &[])).to_html());
    let mut x = system.default_state.clone();
    x.q.fill(f64::NAN);
    let page = Report::new("").animation(&animation(&model, &system, &[x])).to_html();
    assert!(!page.contains("NaN\"") && !page.contains(":NaN"));
    elements(&page);
}

/// Feet that touch the ground have arrows upwards, feet in the air have none; without speeds there are none at all.
#[test]
fn analytic_contact_is_drawn_where_feet_touch() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/gait2d.osim");
    let (model, log) = soleus_io::osim::read_model(&std::fs::read(file).unwrap(), file);
    let model = model.unwrap_or_else(|| panic!("{:?}", log.list));
    let system = System::compile(&model).unwrap();
    let up = |drawn: &Animation| drawn.frames[0].arrows.iter().map(|a| a.1.y).collect::<Vec<_>>();
    let height = (0..model.coordinates.len())
        .find(|&c| {
            // The coordinate that lifts the whole figure.
            let mut ws = system.workspace();
            let mut x = system.default_state.clone();
            x.q.fill(0.0);
            x.q[system.tree.mobility_of_coordinate[c]] = 1.0;
            system.compute_kinematics(&x, &mut ws);
            (ws.kin.X_GB[1].p - vec3(0.0, 1.0, 0.0)).norm() < 1e-12
        })
        .unwrap();
    let at = |y: f64| {
        let mut x = system.default_state.clone();
        x.q.fill(0.0);
        x.u.fill(0.0);
        x.q[system.tree.mobility_of_coordinate[height]] = y;
        x
    };
    // On straight legs the hips are 0.441 + 0.4428 + 0.0702 = 0.954 m above the soles.
    let drawn = animation(&model, &system, &[at(0.94)]);
    assert_eq!(drawn.scene.arrows, ["foot_r", "foot_l"]);
    let forces = up(&drawn);
    assert!(
        forces.iter().all(|&f| f > 50.0) && (forces[0] - forces[1]).abs() < 1e-9 * forces[0],
        "{forces:?}"
    );
    assert_eq!(up(&animation(&model, &system, &[at(1.2)])), [0.0, 0.0]);
    let mut still = Recorder::new(&model, &system, &SceneOptions::default()).with(false, false);
    still.record(&at(0.94));
    assert_eq!(up(&still.finish()), [0.0, 0.0]);
}

/// A path over obstacles is drawn along its geodesics: no straight piece of the line goes through the surface by more than a chord.
#[test]
fn analytic_geodesics_are_drawn_around_obstacles() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/geodesic_paths.osim");
    let (model, log) = soleus_io::osim::read_model(&std::fs::read(file).unwrap(), file);
    let model = model.unwrap_or_else(|| panic!("{:?}", log.list));
    let system = System::compile(&model).unwrap();
    let mut x = system.default_state.clone();
    // The thigh behind, so that the path lies on the sphere in front of the hip: radius 0.05 m about (0.01, 0, 0.01).
    let hip = system.tree.mobility_of_coordinate[model.coordinate("hip_z").unwrap().0];
    x.q[hip] = -0.8;
    let drawn = animation(&model, &system, &[x]);
    let path = drawn.scene.paths.iter().position(|p| p == "over_sphere").unwrap();
    let line = &drawn.frames[0].paths[path];
    let off = |p: &soleus_math::Vec3<f64>| (*p - vec3(0.01, 0.0, 0.01)).norm() - 0.05;
    let on_surface = line.iter().filter(|p| off(p).abs() < 1e-9).count();
    assert!(on_surface > 10 && line.len() == on_surface + 2, "{line:?}");
    let middles = line.windows(2).map(|p| (p[0] + p[1]) * 0.5);
    assert!(middles.into_iter().all(|p| off(&p) > -1e-4));
    elements(&Report::new("").animation(&drawn).to_html());
}
