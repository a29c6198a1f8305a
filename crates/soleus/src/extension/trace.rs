//! Conversion of a law to formulas.

use soleus_graph::{Graph, Op, Recorded, record};
use soleus_math::Real;
use soleus_math::elementary;
use soleus_math::formula::{Expr, Operator};
use std::collections::HashMap;

/// What to do where a law cannot be recorded.
pub(super) const HINT: &str =
    "use `where_below`, `where_at_most`, `max`, `min` or `abs` of `Real` instead of branches";

/// Begins a name in a formula that stands for what an element says: `velocity[{frame}]`.
pub(super) const OWN: &str = "own_property_";

/// Words whose values are vectors.
const VECTORS: [&str; 17] = [
    "position",
    "velocity",
    "acceleration",
    "angular_velocity",
    "angular_acceleration",
    "x_axis",
    "y_axis",
    "z_axis",
    "contact_force",
    "joint_force",
    "joint_moment",
    "joint_force_on_parent",
    "joint_moment_on_parent",
    "gravity",
    "com",
    "com_velocity",
    "com_acceleration",
];

/// A word that a law sees, as the numbers that it is: one, or three.
pub(super) fn seen(word: &str) -> Result<Vec<Expr>, String> {
    let word = &word.replace('{', OWN).replace('}', "");
    let e = Expr::parse(word).map_err(|e| format!("`{word}`: {e}"))?;
    let name = word.split(['[', '.', '(']).next().unwrap_or(word).trim();
    let is_vector = VECTORS.contains(&name) && !word.trim_end().ends_with([')', 'x', 'y', 'z']);
    let is_vector = is_vector || VECTORS.contains(&word.trim());
    Ok(if is_vector { (0..3).map(|i| e.clone().component(i)).collect() } else { vec![e] })
}

/// Records a law and writes its results as formulas of the inputs.
pub(super) fn traced(
    inputs: &[Expr],
    outputs: usize,
    law: impl FnOnce(&[Recorded], &mut [Recorded]),
) -> Result<Vec<Expr>, String> {
    // Any values will do: nothing may depend on them.
    let start: Vec<f64> = (0..inputs.len()).map(|i| 0.3 + 0.1 * elementary::sin(1.7 * i as f64)).collect();
    let (recording, nodes) = record(&start, |x| {
        let mut out = vec![Recorded::zero(); outputs];
        law(x, &mut out);
        out
    });
    if let Some(look) = recording.looks.first() {
        return Err(format!(
            "the law uses the value of a variable at {look}, which is not available while tracing"
        ));
    }
    if !recording.doubts.is_empty() {
        return Err("the law branches on a quantity that depends on the state".to_string());
    }
    let mut made = HashMap::new();
    nodes.iter().map(|&n| expr(&recording.graph, n, inputs, &mut made)).collect()
}

/// Whether a node is a condition.
fn is_condition(op: Op) -> bool {
    matches!(op, Op::Less | Op::LessEqual)
}

/// A node as a formula. Nodes come after their operands, so that all before it are made first, without recursion.
fn expr(g: &Graph, root: u32, inputs: &[Expr], made: &mut HashMap<u32, Expr>) -> Result<Expr, String> {
    let mut needed = vec![false; root as usize + 1];
    needed[root as usize] = true;
    for i in (0..=root as usize).rev() {
        if needed[i] {
            g.nodes[i].operands().for_each(|o| needed[o as usize] = true);
        }
    }
    for i in 0..=root {
        let node = &g.nodes[i as usize];
        if !needed[i as usize] || made.contains_key(&i) {
            continue;
        }
        // An operand as a number; conditions are 1 or 0.
        let of = |o: u32| -> Expr {
            let e = made[&o].clone();
            if is_condition(g.nodes[o as usize].op) { Expr::choose(e, 1.0, 0.0) } else { e }
        };
        let call = |name: &str, list: Vec<Expr>| Expr::call(name, list).map_err(|e| e.to_string());
        let (a, b) = (node.a, node.b);
        let e = match node.op {
            Op::Const => Expr::number(node.constant().unwrap_or(0.0)),
            Op::Input => inputs[a as usize].clone(),
            Op::Add => of(a) + of(b),
            Op::Sub => of(a) - of(b),
            Op::Mul | Op::Mask => of(a) * of(b),
            Op::Div => of(a) / of(b),
            Op::Neg => -of(a),
            Op::Pow => of(a).pow(of(b)),
            Op::Sqrt => call("sqrt", vec![of(a)])?,
            Op::Sin => call("sin", vec![of(a)])?,
            Op::Cos => call("cos", vec![of(a)])?,
            Op::Tan => call("tan", vec![of(a)])?,
            Op::Asin => call("asin", vec![of(a)])?,
            Op::Acos => call("acos", vec![of(a)])?,
            Op::Atan => call("atan", vec![of(a)])?,
            Op::Atan2 => call("atan2", vec![of(a), of(b)])?,
            Op::Exp => call("exp", vec![of(a)])?,
            Op::Ln => call("log", vec![of(a)])?,
            Op::Sinh => call("sinh", vec![of(a)])?,
            Op::Cosh => call("cosh", vec![of(a)])?,
            Op::Tanh => call("tanh", vec![of(a)])?,
            Op::Abs => call("abs", vec![of(a)])?,
            Op::Min => call("min", vec![of(a), of(b)])?,
            Op::Max => call("max", vec![of(a), of(b)])?,
            Op::Less => of(a).binary(Operator::Less, of(b)),
            Op::LessEqual => of(a).binary(Operator::LessEqual, of(b)),
            Op::Select => {
                let condition = match is_condition(g.nodes[a as usize].op) {
                    true => made[&a].clone(),
                    false => of(a).binary(Operator::NotEqual, 0.0),
                };
                Expr::choose(condition, of(b), of(node.c))
            }
            Op::Held => of(a),
            Op::Rank | Op::Cell => {
                let words = "tables and splines cannot be converted to a formula; use polynomials or smooth functions";
                return Err(words.to_string());
            }
        };
        made.insert(i, e);
    }
    Ok(made[&root].clone())
}
