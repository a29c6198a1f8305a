//! Model parameters that differ between copies.
//!
//! A recording contains the numbers of a model as constants. The constants that depend on a parameter are found by
//! recording the model again with the parameter changed: the graph is the same, and these constants differ. Each
//! becomes c sᵖ with the factor s of a copy and p = 1, −1, 2 or −2, or c₀ + Σ cⱼ sⱼ (the mass of all bodies above a
//! joint); a third recording verifies it. Parameters with another dependence are refused. No list is needed of the
//! equations in which a mass or a tendon occurs.

use crate::evaluation::{Evaluation, Refusal};
use soleus_dynamics::System;
use soleus_graph::{Graph, NONE, Op};
use soleus_math::Random;
use soleus_model::Model;
use soleus_model::force::ForceKind;
use std::collections::HashMap;

/// A model parameter, or several together, as a factor for each copy; 1 is the value of the model.
pub struct BatchParameter {
    /// Description for messages: `mass of torso`.
    pub name: String,
    change: Box<Change>,
}

/// What a factor does to a model.
type Change = dyn Fn(&mut Model, f64);

impl BatchParameter {
    /// A parameter defined by the effect of a factor on a model.
    pub fn new(name: &str, change: impl Fn(&mut Model, f64) + 'static) -> BatchParameter {
        BatchParameter { name: name.to_string(), change: Box::new(change) }
    }

    /// Mass and inertia of a body.
    pub fn mass(body: &str) -> BatchParameter {
        let name = body.to_string();
        BatchParameter::new(&format!("mass of {body}"), move |model, factor| {
            for b in model.bodies.iter_mut().filter(|b| b.name == name) {
                b.mass *= factor;
                b.inertia = b.inertia.scale(factor);
            }
        })
    }

    /// The maximum isometric force of a muscle.
    pub fn strength(muscle: &str) -> BatchParameter {
        BatchParameter::of_muscle("strength", muscle, |m, factor| m.max_isometric_force *= factor)
    }

    /// The slack length of a muscle's tendon.
    pub fn tendon_length(muscle: &str) -> BatchParameter {
        BatchParameter::of_muscle("tendon length", muscle, |m, factor| m.tendon_slack_length *= factor)
    }

    fn of_muscle(
        what: &str,
        muscle: &str,
        change: impl Fn(&mut soleus_model::muscle::Muscle, f64) + 'static,
    ) -> BatchParameter {
        let name = muscle.to_string();
        BatchParameter::new(&format!("{what} of {muscle}"), move |model, factor| {
            for f in model.forces.iter_mut().filter(|f| f.name == name) {
                if let ForceKind::Muscle(m) = &mut f.kind {
                    change(m, factor);
                }
            }
        })
    }

    /// Stiffness of all smooth sphere contacts with the ground.
    pub fn ground_stiffness() -> BatchParameter {
        BatchParameter::new("stiffness of the ground", |model, factor| {
            for f in &mut model.forces {
                if let ForceKind::SmoothSphereHalfSpaceForce(c) = &mut f.kind {
                    c.stiffness *= factor;
                }
            }
        })
    }
}

/// Powers of a factor that a constant may follow.
const POWERS: [i32; 4] = [1, -1, 2, -2];

/// How far two ways to round a constant may be apart.
const ROUNDING: f64 = 1e-12;

impl Evaluation {
    /// Records the evaluation of a model with parameters, which are inputs after time: see
    /// [`Layout::p`](crate::Layout).
    pub fn record_with(model: &Model, parameters: &[BatchParameter]) -> Result<Evaluation, Refusal> {
        if parameters.is_empty() {
            let system = System::compile(model).map_err(|e| Refusal::Motion(e.to_string()))?;
            return Evaluation::record(model, &system);
        }
        let mut random = Random::new(20_261_117);
        let factors: [Vec<f64>; 3] =
            std::array::from_fn(|_| parameters.iter().map(|_| 1.0 + 0.2 * random.signed()).collect());
        let record = |factors: &Vec<f64>| {
            let mut changed = model.clone();
            for (p, factor) in parameters.iter().zip(factors) {
                (p.change)(&mut changed, *factor);
            }
            let system = System::compile(&changed).map_err(|e| Refusal::Motion(e.to_string()))?;
            Evaluation::record(&changed, &system)
        };
        let [a, b, c] = [record(&factors[0])?, record(&factors[1])?, record(&factors[2])?];
        let pairs = [constants(&a.graph, &b.graph), constants(&a.graph, &c.graph)];
        let [Some(b), Some(c)] = pairs else {
            return Err(Refusal::Parameter {
                parameter: "one of the parameters".into(),
                why: "it changes the operations of the model".into(),
            });
        };
        // What each use of a constant follows.
        let mut follows: HashMap<(u32, usize), Follows> = HashMap::new();
        let mut sums = Vec::new();
        let ratio = |k: usize, j: usize, power: i32| (factors[k][j] / factors[0][j]).powi(power);
        let near = |x: f64, y: f64| (x - y).abs() <= ROUNDING * y.abs();
        for (use_of, [first, second]) in &b {
            let [_, third] = c[use_of];
            if near(*second, *first) && near(third, *first) {
                continue;
            }
            let fits = |j: usize, p: i32| {
                near(*second, first * ratio(1, j, p)) && near(third, first * ratio(2, j, p))
            };
            let found = (0..parameters.len()).flat_map(|j| POWERS.map(|p| (j, p))).find(|&(j, p)| fits(j, p));
            match found {
                Some((j, power)) => drop(follows.insert(*use_of, Follows::Power(j, power))),
                None => sums.push(*use_of),
            }
        }
        if sums.is_empty() {
            return Ok(with_inputs(a, &follows, &factors[0]));
        }
        // Sums over several parameters: one recording for each of them alone.
        let mut slopes: HashMap<(u32, usize), Vec<(usize, f64)>> = HashMap::new();
        for j in 0..parameters.len() {
            let mut alone = factors[0].clone();
            alone[j] = factors[1][j];
            let other = constants(&a.graph, &record(&alone)?.graph).ok_or_else(|| Refusal::Parameter {
                parameter: parameters[j].name.clone(),
                why: "it changes the operations of the model".into(),
            })?;
            for use_of in &sums {
                let [first, second] = other[use_of];
                if !near(second, first) {
                    let slope = (second - first) / (alone[j] - factors[0][j]);
                    slopes.entry(*use_of).or_default().push((j, slope));
                }
            }
        }
        for use_of in sums {
            let list = slopes.remove(&use_of).unwrap_or_default();
            let sum = |k: usize| {
                let terms = list.iter().map(|&(j, slope)| slope * (factors[k][j] - factors[0][j]));
                b[&use_of][0] + terms.sum::<f64>()
            };
            // Differences of two recordings have lost some of their digits.
            let close = |x: f64, y: f64| (x - y).abs() <= 100.0 * ROUNDING * y.abs();
            if !(close(sum(1), b[&use_of][1]) && close(sum(2), c[&use_of][1])) {
                let names = list.iter().map(|&(j, _)| parameters[j].name.as_str()).collect::<Vec<_>>();
                return Err(Refusal::Parameter {
                    parameter: names.join(", "),
                    why: "a recorded number depends on it neither as a factor nor as a sum".into(),
                });
            }
            follows.insert(use_of, Follows::Sum(list));
        }
        Ok(with_inputs(a, &follows, &factors[0]))
    }
}

/// What a constant follows.
enum Follows {
    /// A power of a factor.
    Power(usize, i32),
    /// A sum over factors, with their slopes.
    Sum(Vec<(usize, f64)>),
}

/// Uses of constants, by node and operand, with their values in two graphs of the same form; none if the forms differ.
type Constants = HashMap<(u32, usize), [f64; 2]>;

fn constants(a: &Graph, b: &Graph) -> Option<Constants> {
    let mut uses = HashMap::new();
    // The node of b for each of a.
    let mut to = vec![NONE; a.nodes.len()];
    let mut others = (0..b.nodes.len() as u32).filter(|&i| b.nodes[i as usize].op != Op::Const);
    for (i, n) in a.nodes.iter().enumerate().filter(|(_, n)| n.op != Op::Const) {
        let k = others.next()?;
        let m = b.nodes[k as usize];
        to[i] = k;
        if n.op != m.op {
            return None;
        }
        if n.op.arity() == 0 {
            continue;
        }
        let arity = n.op.arity();
        let same = |x: &[u32], y: &[u32], uses: &mut Constants| {
            let mut list = Vec::new();
            for (o, (&x, &y)) in x.iter().zip(y).enumerate() {
                match (a.value_of(x), b.value_of(y)) {
                    (Some(v), Some(w)) => list.push(((i as u32, o), [v, w])),
                    (None, None) if to[x as usize] == y => {}
                    _ => return false,
                }
            }
            uses.extend(list);
            true
        };
        let (x, y) = ([n.a, n.b, n.c], [m.a, m.b, m.c]);
        let swapped = [m.b, m.a];
        let turned = matches!(n.op, Op::Add | Op::Mul) && same(&x[..2], &swapped, &mut uses);
        if !same(&x[..arity], &y[..arity], &mut uses) && !turned {
            return None;
        }
        if matches!(n.op, Op::Rank | Op::Cell) {
            let (t, u) = (&a.tables[n.b as usize], &b.tables[m.b as usize]);
            if t != u || n.c != m.c {
                return None;
            }
        }
    }
    others.next().is_none().then_some(uses)
}

/// The evaluation with factors as inputs, where constants follow them.
fn with_inputs(e: Evaluation, follows: &HashMap<(u32, usize), Follows>, at: &[f64]) -> Evaluation {
    let mut graph = Graph::default();
    graph.tables.clone_from(&e.graph.tables);
    let mut layout = e.layout.clone();
    layout.p = layout.time + 1..layout.time + 1 + at.len();
    let inputs: Vec<u32> = (0..layout.inputs()).map(|_| graph.input()).collect();
    let mut to = vec![NONE; e.graph.nodes.len()];
    for (i, n) in e.graph.nodes.iter().enumerate() {
        graph.part = e.graph.parts[i];
        if let Some(x) = n.constant() {
            to[i] = graph.constant(x);
            continue;
        }
        let mut operands = [n.a, n.b, n.c];
        for (o, x) in operands.iter_mut().enumerate().take(n.op.arity()) {
            *x = match follows.get(&(i as u32, o)) {
                None => to[*x as usize],
                Some(Follows::Power(j, power)) => {
                    let base = e.graph.value_of(*x).unwrap_or(f64::NAN) / at[*j].powi(*power);
                    let factor = inputs[layout.p.start + j];
                    let square = if power.abs() == 2 { graph.two(Op::Mul, factor, factor) } else { factor };
                    let constant = graph.constant(base);
                    let op = if *power > 0 { Op::Mul } else { Op::Div };
                    graph.two(op, constant, square)
                }
                Some(Follows::Sum(list)) => {
                    let rest: f64 = list.iter().map(|&(j, slope)| slope * at[j]).sum();
                    let mut sum = graph.constant(e.graph.value_of(*x).unwrap_or(f64::NAN) - rest);
                    for &(j, slope) in list {
                        let slope = graph.constant(slope);
                        let term = graph.two(Op::Mul, slope, inputs[layout.p.start + j]);
                        sum = graph.two(Op::Add, sum, term);
                    }
                    sum
                }
            };
        }
        let [a, b, c] = operands;
        to[i] = match (n.op, n.op.arity()) {
            (Op::Input, _) => inputs[n.a as usize],
            (Op::Rank, _) => graph.rank(a, n.b),
            (Op::Cell, _) => graph.cell(a, n.b, n.c),
            (op, 1) => graph.one(op, a),
            (op, 2) => graph.two(op, a, b),
            _ => graph.select(a, b, c),
        };
    }
    graph.part = 0;
    let map = |list: &[u32]| list.iter().map(|&i| to[i as usize]).collect::<Vec<u32>>();
    Evaluation {
        stiffness: e.stiffness.map(&mut |i| to[i as usize]),
        udot: map(&e.udot),
        zdot: map(&e.zdot),
        qdot: map(&e.qdot),
        doubt: to[e.doubt as usize],
        parts: e.parts,
        graph,
        layout,
        inputs,
    }
}
