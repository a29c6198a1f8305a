//! Prints formulas as text.

use super::expr::each_part;
use super::parse::in_name;
use super::{Expr, ExprKind, Operator, TableKind};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// Precedence of what is printed, as the parser has it.
const OR: u8 = 0;
const AND: u8 = 1;
const NOT: u8 = 2;
const COMPARISON: u8 = 3;
const SUM: u8 = 4;
const PRODUCT: u8 = 5;
const SIGN: u8 = 6;
const POWER: u8 = 7;
const ATOM: u8 = 8;

/// Levels of an expression that are printed as one text: each may be a call and a pair of parentheses, of which the parser takes 60.
const CUT: usize = 20;

impl fmt::Display for Expr {
    /// As text that reads back to the same. What is used several times becomes a definition.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut uses, mut words, mut order) = (HashMap::new(), HashSet::new(), Vec::new());
        self.visit(&mut |e| {
            order.push(e.clone());
            each_part(e.kind(), &mut |part| *uses.entry(part.key()).or_insert(0_usize) += 1);
            if let ExprKind::Input(name, None) = e.kind() {
                words.insert(name.clone());
            }
        });
        let mut printer = Printer { names: HashMap::new() };
        let mut defined = Vec::new();
        let mut number = 0;
        for e in &order {
            let leaf = matches!(e.kind(), ExprKind::Number(_) | ExprKind::Input(..));
            let is_shared = uses.get(&e.key()).is_some_and(|&n| n > 1);
            // Deep ones are cut, too, which bounds recursion.
            let is_cut = e.depth() > 0 && e.depth().is_multiple_of(CUT) && uses.contains_key(&e.key());
            if leaf || !(is_shared || is_cut) {
                continue;
            }
            let name = loop {
                number += 1;
                let name = format!("part{number}");
                if !words.contains(&name) {
                    break name;
                }
            };
            defined.push((name.clone(), printer.text(e, OR, true)));
            printer.names.insert(e.key(), name);
        }
        f.write_str(&printer.text(self, OR, true))?;
        // A definition may use those after it.
        for (name, text) in defined.iter().rev() {
            write!(f, "; {name} = {text}")?;
        }
        Ok(())
    }
}

struct Printer {
    /// What definitions are called.
    names: HashMap<usize, String>,
}

impl Printer {
    /// An expression where one of at least the given precedence is due; as it is, or by its name if it has one.
    fn text(&self, e: &Expr, lowest: u8, whole: bool) -> String {
        if let (Some(name), false) = (self.names.get(&e.key()), whole) {
            return name.clone();
        }
        let part = |e: &Expr, lowest: u8| self.text(e, lowest, false);
        let list = |l: &[Expr]| l.iter().map(|e| part(e, OR)).collect::<Vec<_>>().join(", ");
        let (text, own) = match e.kind() {
            ExprKind::Number(x) => (number(*x), if *x < 0.0 || !x.is_finite() { SIGN } else { ATOM }),
            ExprKind::Vector(v) => (format!("[{}]", list(v)), ATOM),
            ExprKind::Input(name, None) => (name.clone(), ATOM),
            ExprKind::Input(name, Some(item)) => (format!("{name}[{item}]"), ATOM),
            // A number with a point behind it would be another number.
            ExprKind::Component(v, i) => {
                let inner = part(v, ATOM);
                let is_number = inner.starts_with(|c: char| c.is_ascii_digit());
                let inner = if is_number { format!("({inner})") } else { inner };
                (format!("{inner}.{}", ["x", "y", "z"][*i]), ATOM)
            }
            ExprKind::Negate(a) => (format!("-{}", part(a, SIGN)), SIGN),
            ExprKind::Not(a) => (format!("not {}", part(a, NOT)), NOT),
            // A sum of one is not a sum in the text.
            ExprKind::Sum(l) if l.len() == 1 => return self.text(&l[0], lowest, false),
            ExprKind::Sum(l) => {
                let mut text = String::new();
                for (i, e) in l.iter().enumerate() {
                    let named = self.names.contains_key(&e.key());
                    match e.kind() {
                        ExprKind::Negate(a) if i > 0 && !named => text += &format!(" - {}", part(a, PRODUCT)),
                        ExprKind::Number(x) if i > 0 && *x < 0.0 => text += &format!(" - {}", number(-x)),
                        _ if i == 0 => text += &part(e, PRODUCT),
                        _ => text += &format!(" + {}", part(e, PRODUCT)),
                    }
                }
                (text, SUM)
            }
            ExprKind::Binary(o, a, b) => {
                let (sign, own, left, right) = match o {
                    Operator::Or => ("or", OR, OR, AND),
                    Operator::And => ("and", AND, AND, NOT),
                    Operator::Less => ("<", COMPARISON, SUM, SUM),
                    Operator::LessEqual => ("<=", COMPARISON, SUM, SUM),
                    Operator::Equal => ("==", COMPARISON, SUM, SUM),
                    Operator::NotEqual => ("!=", COMPARISON, SUM, SUM),
                    Operator::Multiply => ("*", PRODUCT, PRODUCT, SIGN),
                    Operator::Divide => ("/", PRODUCT, PRODUCT, SIGN),
                    Operator::Power => ("^", POWER, ATOM, SIGN),
                };
                (format!("{} {sign} {}", part(a, left), part(b, right)), own)
            }
            ExprKind::Call(name, l) => (format!("{name}({})", list(l)), ATOM),
            ExprKind::Table(kind, _, of) => {
                let numbers = |l: &[f64]| l.iter().map(|x| digits(*x)).collect::<Vec<_>>().join(", ");
                let text = match kind {
                    TableKind::Linear(x, y) => {
                        format!("linear({}, [{}], [{}])", part(of, OR), numbers(x), numbers(y))
                    }
                    TableKind::Spline(x, y) => {
                        format!("spline({}, [{}], [{}])", part(of, OR), numbers(x), numbers(y))
                    }
                    TableKind::Given => format!("function({})", part(of, OR)),
                };
                (text, ATOM)
            }
            ExprKind::Group(r, a) => (format!("{}({})", r.word(), part(a, OR)), ATOM),
            ExprKind::OverTime(t, a) => (format!("{}({})", t.word(), part(a, OR)), ATOM),
        };
        debug_assert!(!text.is_empty() && text.chars().any(|c| in_name(c) || c == '['));
        if own < lowest { format!("({text})") } else { text }
    }
}

/// The shortest text that reads back to the same number; π by its name.
fn number(x: f64) -> String {
    if x == std::f64::consts::PI { "pi".to_string() } else { digits(x) }
}

fn digits(x: f64) -> String {
    if x == x.round() && x.abs() < 1e15 { format!("{x:.0}") } else { format!("{x:?}") }
}
