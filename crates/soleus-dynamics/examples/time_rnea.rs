//! Inverse dynamics of a humanoid tree with 37 degrees of freedom: generalized forces, and how long they take.
//!
//! usage: cargo run --release --example time_rnea -- [SECONDS]
//!
//! The tree is a free body with five chains of hinges: a spine of 3 that carries two arms of 7, and two legs
//! of 7. Prints JSON: the tree, one motion, its generalized forces, and microseconds per evaluation (smallest
//! mean over batches). `benches/against_pinocchio.py` builds the same tree in Pinocchio from it.

#![allow(non_snake_case)]

use soleus_dynamics::Options;
use soleus_dynamics::multibody::{NewtonEuler, Tree, compute_newton_euler};
use soleus_math::{SymMat33, Transform, Vec3, vec3};
use soleus_model::body::{Body, Frame};
use soleus_model::id::{BodyId, CoordinateId, FrameId, JointId};
use soleus_model::joint::{Coordinate, Joint, JointKind, MotionType};
use soleus_model::model::{Model, STANDARD_GRAVITY};
use std::time::{Duration, Instant};

/// Parent of each body; 0 is ground and 1 the free body.
fn parents() -> Vec<usize> {
    let mut p = vec![0, 0];
    let chain = |p: &mut Vec<usize>, from: usize, count: usize| {
        for i in 0..count {
            p.push(if i == 0 { from } else { p.len() - 1 });
        }
    };
    chain(&mut p, 1, 3);
    chain(&mut p, 4, 7);
    chain(&mut p, 4, 7);
    chain(&mut p, 1, 7);
    chain(&mut p, 1, 7);
    p
}

/// Where the joint of body `i` sits on its parent: translation in m, body-fixed X-Y-Z angles in rad.
fn offset(i: usize) -> [Vec3<f64>; 2] {
    let x = i as f64;
    [vec3(0.05 * (x * 0.7).sin(), -0.2, 0.03 * (x * 1.3).cos()), vec3(0.3 * x, 0.7 - 0.1 * x, 0.2 * x)]
}

fn model() -> Model {
    let mut m = Model { name: "humanoid".into(), gravity: STANDARD_GRAVITY, ..Model::default() };
    let frame = |m: &mut Model, body: usize, X_BF: Transform<f64>| {
        m.frames.push(Frame {
            name: String::new(),
            path: String::new(),
            body: BodyId(body),
            X_BF,
            offset_from: None,
        });
        FrameId(m.frames.len() - 1)
    };
    for (i, &parent) in parents().iter().enumerate() {
        let on_body = frame(&mut m, i, Transform::identity());
        let x = i as f64;
        m.bodies.push(Body {
            name: format!("b{i}"),
            path: format!("/bodyset/b{i}"),
            mass: if i == 0 { 0.0 } else { 1.0 + 0.1 * x },
            mass_center: vec3(0.01, -0.1, 0.002 * x),
            inertia: SymMat33 { xx: 0.02, yy: 0.004 + 0.001 * x, zz: 0.021, ..SymMat33::zero() },
            frame: on_body,
        });
        if i == 0 {
            continue;
        }
        let (kind, count) = if i == 1 { (JointKind::Free, 6) } else { (JointKind::Pin, 1) };
        let [p, angles] = offset(i);
        let X_PF = if i == 1 { Transform::identity() } else { Transform::from_offset(p, angles) };
        let joint = JointId(m.joints.len());
        let coordinates = (0..count).map(|k| CoordinateId(m.coordinates.len() + k)).collect();
        for k in 0..count {
            m.coordinates.push(Coordinate {
                name: format!("q{i}_{k}"),
                path: format!("/jointset/j{i}/q{i}_{k}"),
                joint,
                motion_type: MotionType::Rotational,
                default_value: 0.0,
                default_speed: 0.0,
                range: [-3.0, 3.0],
                clamped: false,
                locked: false,
                prescribed: false,
                prescribed_function: None,
                is_free_to_satisfy_constraints: false,
            });
        }
        let parent = frame(&mut m, parent, X_PF);
        m.joints.push(Joint {
            name: format!("j{i}"),
            path: format!("/jointset/j{i}"),
            kind,
            parent,
            child: on_body,
            coordinates,
        });
    }
    m
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds: f64 = std::env::args().nth(1).map_or(Ok(1.0), |s| s.parse())?;
    let m = model();
    let tree = Tree::build(&m, &Options::default())?;
    let n = tree.num_mobilities;
    let wave = |a: f64, b: f64| -> Vec<f64> { (0..n).map(|i| (a + b * i as f64).sin()).collect() };
    let (mut q, u, udot) = (wave(0.3, 0.9), wave(1.1, 1.7), wave(-0.4, 2.3));
    let mut ws = NewtonEuler::new(&tree);
    let mut tau = vec![0.0; n];
    compute_newton_euler(&tree, m.gravity, &q, &u, &udot, &mut ws, &mut tau);

    // Body of each hinge by mobility: the tree numbers mobilities breadth first.
    let mut mobility = vec![0; m.bodies.len()];
    for node in &tree.nodes[1..] {
        if let Some(b) = node.body {
            mobility[b.0] = node.u0;
        }
    }
    let bodies: Vec<String> = (1..m.bodies.len())
        .map(|i| {
            let ([p, a], b) = (offset(i), &m.bodies[i]);
            let (c, d) = (b.mass_center, b.inertia);
            format!(
                "{{\"parent\": {}, \"mobility\": {}, \"translation\": {:?}, \"angles\": {:?}, \"mass\": {:?}, \
                 \"center\": {:?}, \"inertia\": {:?}}}",
                parents()[i],
                mobility[i],
                p.to_array(),
                a.to_array(),
                b.mass,
                c.to_array(),
                [d.xx, d.yy, d.zz]
            )
        })
        .collect();
    let motion = format!("\"q\": {q:?}, \"u\": {u:?}, \"udot\": {udot:?}, \"tau\": {tau:?}");

    // Every evaluation starts from other coordinates.
    let (mut best, begin) = (f64::INFINITY, Instant::now());
    while begin.elapsed() < Duration::from_secs_f64(seconds) {
        let batch = Instant::now();
        for i in 0..64 {
            q[i % n] += 1e-9;
            compute_newton_euler(&tree, m.gravity, &q, &u, &udot, &mut ws, &mut tau);
        }
        best = best.min(batch.elapsed().as_secs_f64() / 64.0);
    }
    println!("{{\"bodies\": [{}], {motion}, \"rnea_us\": {:.3}}}", bodies.join(", "), best * 1e6);
    Ok(())
}
