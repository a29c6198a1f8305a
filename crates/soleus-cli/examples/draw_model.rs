//! Draws a model from the side as SVG: bodies, joints, muscles and round wrap objects, seen along z.
//!
//! usage: cargo run --example draw_model -- MODEL.osim [COORDINATE=DEGREES ...] > PICTURE.svg
//!
//! The picture in the README: draw_model models/leg_swing.osim hip_flexion=30 knee_angle=-50 ankle_angle=5

#![allow(non_snake_case)] // X is a pose.

use soleus_dynamics::system::Actor;
use soleus_dynamics::{Resolve, System, Workspace};
use soleus_math::Vec3;
use soleus_model::Model;
use soleus_model::path::WrapShape;
use std::fmt::Write as _;

/// Pixels for each metre, and around the drawing.
const SCALE: f64 = 620.0;
const MARGIN: f64 = 30.0;
/// Room for the names on either side, pixels.
const NAMES: f64 = 150.0;

type Point = (f64, f64);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or("usage: draw_model MODEL.osim [COORDINATE=DEGREES ...]")?;
    let (model, diagnostics) = soleus_io::osim::read_model(&std::fs::read(&file)?, &file);
    let model = model.ok_or_else(|| diagnostics.list.iter().map(ToString::to_string).collect::<String>())?;
    let system = System::compile(&model)?;

    let mut x = system.default_state.clone();
    for arg in args {
        let (name, degrees) = arg.split_once('=').ok_or("a coordinate is given as NAME=DEGREES")?;
        let id = model.coordinate(name).ok_or_else(|| format!("the model has no coordinate {name}"))?;
        x.q[system.tree.mobility(id)] = degrees.parse::<f64>()?.to_radians();
    }
    let mut ws = system.workspace();
    system.compute_kinematics(&x, &mut ws);
    system.compute_paths(&x, &mut ws);
    print!("{}", draw(&model, &system, &ws));
    Ok(())
}

/// The drawing. Writing to a `String` cannot fail, so the results of `writeln!` are dropped.
fn draw(model: &Model, system: &System, ws: &Workspace<f64>) -> String {
    let flat = |p: Vec3<f64>| (p.x, p.y);
    let pose = |f| {
        let f = system.tree.frame(f);
        ws.kin.X_GB[f.body] * f.X_BF
    };

    // What belongs to each body: its mass center, its joints and the points of paths on it.
    let mut on_body: Vec<Vec<Point>> = vec![Vec::new(); system.tree.nodes.len()];
    for (b, &node) in model.bodies.iter().zip(&system.tree.node_of_body) {
        on_body[node].push(flat(ws.kin.X_GB[node] * b.mass_center));
    }
    let mut joints = Vec::new();
    for j in &model.joints {
        for f in [j.parent, j.child] {
            on_body[system.tree.frame(f).body].push(flat(pose(f).p));
        }
        if !j.coordinates.is_empty() {
            joints.push(flat(pose(j.child).p));
        }
    }
    let mut muscles: Vec<(&str, Vec<Point>)> = Vec::new();
    for (i, (f, s)) in model.forces.iter().zip(&system.forces).enumerate() {
        for p in ws.paths[i].points() {
            on_body[p.body].push(flat(p.p_G));
        }
        if matches!(s.actor, Actor::Muscle(_)) {
            muscles.push((&f.name, ws.paths[i].points().iter().map(|p| flat(p.p_G)).collect()));
        }
    }
    let circles = round_wraps(model, system, ws);

    // The frame: everything, with y downwards as SVG has it.
    let all: Vec<Point> = on_body[1..].iter().flatten().copied().collect();
    let limit =
        |pick: fn(&Point) -> f64, start: f64, f: fn(f64, f64) -> f64| all.iter().map(pick).fold(start, f);
    let (left, right) = (limit(|p| p.0, f64::MAX, f64::min), limit(|p| p.0, f64::MIN, f64::max));
    let (bottom, top) = (limit(|p| p.1, f64::MAX, f64::min), limit(|p| p.1, f64::MIN, f64::max));
    let at = |p: Point| (MARGIN + NAMES + (p.0 - left) * SCALE, MARGIN + (top - p.1) * SCALE);
    let text = |points: &[Point]| {
        let list: Vec<String> =
            points.iter().map(|&p| at(p)).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        list.join(" ")
    };
    let width = (right - left) * SCALE + 2.0 * (MARGIN + NAMES);
    let height = (top - bottom) * SCALE + 2.0 * MARGIN;

    let mut s = String::new();
    let _ = writeln!(
        s,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"14\">\n<title>{}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
        model.name
    );
    for points in on_body[1..].iter().filter(|p| p.len() > 1) {
        let hull = text(&hull(points.clone()));
        let _ = writeln!(
            s,
            "<polygon points=\"{hull}\" fill=\"#efe6d2\" stroke=\"#b8a77f\" stroke-width=\"6\" stroke-linejoin=\"round\"/>"
        );
    }
    for (centre, radius) in circles {
        let ((x, y), r) = (at(centre), radius * SCALE);
        let _ = writeln!(
            s,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\" fill=\"#9ec5d8\" fill-opacity=\"0.6\"/>"
        );
    }
    for (_, path) in &muscles {
        let path = text(path);
        let _ = writeln!(
            s,
            "<polyline points=\"{path}\" fill=\"none\" stroke=\"#b5302a\" stroke-width=\"5\" stroke-linejoin=\"round\" \
             stroke-linecap=\"round\" stroke-opacity=\"0.85\"/>"
        );
    }
    for (x, y) in joints.into_iter().map(at) {
        let _ = writeln!(
            s,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6\" fill=\"white\" stroke=\"#333\" stroke-width=\"2\"/>"
        );
    }
    write_names(&mut s, muscles.iter().map(|(name, path)| (*name, at(middle(path)))).collect(), width);
    s.push_str("</svg>\n");
    s
}

/// Centre and radius of the wrap objects that look round along z: spheres, and cylinders about z.
fn round_wraps(model: &Model, system: &System, ws: &Workspace<f64>) -> Vec<(Point, f64)> {
    let mut out = Vec::new();
    for w in model.wraps.iter().filter(|w| w.active) {
        let frame = system.tree.frame(w.frame);
        let X = ws.kin.X_GB[frame.body] * frame.X_BF * w.pose;
        // The third column of the rotation is the axis of a cylinder.
        let is_along_z = X.R.0.at(2, 2).abs() > 0.99;
        match w.shape {
            WrapShape::Sphere { radius } => out.push(((X.p.x, X.p.y), radius)),
            WrapShape::Cylinder { radius, .. } if is_along_z => out.push(((X.p.x, X.p.y), radius)),
            _ => {}
        }
    }
    out
}

/// The point halfway along a line.
fn middle(path: &[Point]) -> Point {
    let length = |e: &[Point]| (e[1].0 - e[0].0).hypot(e[1].1 - e[0].1);
    let mut rest = 0.5 * path.windows(2).map(length).sum::<f64>();
    for e in path.windows(2) {
        let l = length(e);
        if rest <= l && l > 0.0 {
            let t = rest / l;
            return (e[0].0 + t * (e[1].0 - e[0].0), e[0].1 + t * (e[1].1 - e[0].1));
        }
        rest -= l;
    }
    path.first().copied().unwrap_or_default()
}

/// Names in a column on either side, top to bottom, each with a thin line to its place.
fn write_names(s: &mut String, mut names: Vec<(&str, Point)>, width: f64) {
    names.sort_by(|a, b| a.1.0.total_cmp(&b.1.0));
    let right = names.split_off(names.len() / 2);
    for (mut side, x, anchor, gap) in [(names, NAMES, "end", 6.0), (right, width - NAMES, "start", -6.0)] {
        side.sort_by(|a, b| a.1.1.total_cmp(&b.1.1));
        let mut lowest = f64::MIN;
        for (name, (px, py)) in side {
            let y = py.max(lowest + 22.0);
            lowest = y;
            let _ = writeln!(
                s,
                "<line x1=\"{:.1}\" y1=\"{y:.1}\" x2=\"{px:.1}\" y2=\"{py:.1}\" stroke=\"#888\"/>\n\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"#222\">{}</text>",
                x + gap,
                y + 5.0,
                name.replace('_', " ")
            );
        }
    }
}

/// Convex hull, counterclockwise (Andrew, 1979).
fn hull(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let turn = |a: Point, b: Point, c: Point| (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0);
    let half = |points: &mut dyn Iterator<Item = Point>| {
        let mut out: Vec<Point> = Vec::new();
        for p in points {
            while out.len() > 1 && turn(out[out.len() - 2], out[out.len() - 1], p) <= 0.0 {
                out.pop();
            }
            out.push(p);
        }
        out.pop();
        out
    };
    let mut lower = half(&mut points.iter().copied());
    lower.extend(half(&mut points.iter().rev().copied()));
    lower
}
