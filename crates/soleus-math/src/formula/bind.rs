//! Meaning of names, and expansion of groups.

use super::{Expr, ExprKind, FormulaError, FormulaProblem as Problem, Operator, Reduction};

/// Meaning of a name.
#[derive(Clone, Debug)]
pub enum Meaning {
    /// A scalar input, by index.
    Number(usize),
    /// Three consecutive inputs, by the index of the first.
    Vector(usize),
    /// An expression in other names, or without names.
    Expr(Expr),
}

/// An unknown or ambiguous name.
#[derive(Clone, Debug, Default)]
pub struct Unknown {
    /// The most similar name.
    pub nearest: Option<String>,
    /// Suggestion.
    pub hint: String,
    /// All candidates, if the name is ambiguous.
    pub candidates: Vec<String>,
}

/// An object that a pattern may match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Name that patterns are matched with, and that formulas may use.
    pub name: String,
    /// Path, for patterns that start with `/`.
    pub path: String,
}

/// Resolves the names of a formula.
pub trait Scope {
    /// The meaning of `name`, or of `name[item]`.
    fn resolve(&mut self, name: &str, item: Option<&str>) -> Result<Meaning, Unknown>;

    /// All objects that may appear in the brackets of `name[…]`.
    fn items(&mut self, name: &str) -> Vec<Item>;
}

/// A name with its brackets.
fn written(name: &str, item: Option<&str>) -> String {
    item.map_or(name.to_string(), |i| format!("{name}[{i}]"))
}

/// What a name means, or the error that it means nothing.
pub(super) fn meaning(
    e: &Expr,
    name: &str,
    item: Option<&str>,
    scope: &mut dyn Scope,
) -> Result<Meaning, FormulaError> {
    scope.resolve(name, item).map_err(|u| {
        let name = written(name, item);
        let problem = match u.candidates.is_empty() {
            true => Problem::UnknownName { name, nearest: u.nearest, hint: u.hint },
            false => Problem::Ambiguous { name, candidates: u.candidates },
        };
        FormulaError::new(e.place(), problem)
    })
}

fn is_pattern(item: &str) -> bool {
    item.contains(['*', ','])
}

/// A member of a group: its name, and what the stars of the pattern stand for.
struct Member {
    name: String,
    stars: Vec<String>,
}

/// What the stars of a pattern stand for in a name, if it fits; each star takes as little as it can.
fn fit(pattern: &str, name: &str) -> Option<Vec<String>> {
    let pieces: Vec<&str> = pattern.split('*').collect();
    let (first, rest) = pieces.split_first()?;
    let mut left = name.strip_prefix(first)?;
    let mut stars = Vec::new();
    for (i, piece) in rest.iter().enumerate() {
        let at = if i + 1 == rest.len() {
            // The last piece ends the name.
            left.len().checked_sub(piece.len()).filter(|_| left.ends_with(piece))?
        } else {
            left.find(piece)?
        };
        stars.push(left[..at].to_string());
        left = &left[at + piece.len()..];
    }
    left.is_empty().then_some(stars)
}

/// Everything that fits the patterns between commas, in their order, each once.
fn members(e: &Expr, name: &str, item: &str, scope: &mut dyn Scope) -> Result<Vec<Member>, FormulaError> {
    let all = scope.items(name);
    let mut list: Vec<Member> = Vec::new();
    for pattern in item.split(',').map(str::trim) {
        if !pattern.contains('*') {
            list.push(Member { name: pattern.to_string(), stars: Vec::new() });
            continue;
        }
        let before = list.len();
        for i in &all {
            let text = if pattern.starts_with('/') { &i.path } else { &i.name };
            if let Some(stars) = fit(pattern, text)
                && list.iter().all(|m| m.name != i.name)
            {
                list.push(Member { name: i.name.clone(), stars });
            }
        }
        if list.len() == before {
            let known = all.iter().take(5).map(|i| i.name.clone()).collect();
            let problem = Problem::EmptyGroup { name: format!("{name}[{pattern}]"), known };
            return Err(FormulaError::new(e.place(), problem));
        }
    }
    Ok(list)
}

/// The expression with all groups written out.
pub(super) fn expanded(e: &Expr, scope: &mut dyn Scope) -> Result<Expr, FormulaError> {
    e.replaced(&mut |part| match part.kind() {
        ExprKind::Group(r, inner) => {
            // Groups inside belong to themselves.
            let inner = expanded_inside(inner, scope)?;
            group(part, *r, &inner, scope).map(Some)
        }
        ExprKind::Input(name, Some(item)) if is_pattern(item) => {
            Err(FormulaError::new(part.place(), Problem::PatternAlone(format!("{name}[{item}]"))))
        }
        _ => Ok(None),
    })
}

/// The same, where patterns belong to a group around it.
fn expanded_inside(e: &Expr, scope: &mut dyn Scope) -> Result<Expr, FormulaError> {
    e.replaced(&mut |part| match part.kind() {
        ExprKind::Group(r, inner) => {
            let inner = expanded_inside(inner, scope)?;
            group(part, *r, &inner, scope).map(Some)
        }
        _ => Ok(None),
    })
}

fn group(at: &Expr, r: Reduction, e: &Expr, scope: &mut dyn Scope) -> Result<Expr, FormulaError> {
    // The first pattern leads.
    let mut first: Option<(Expr, String, String)> = None;
    e.visit(&mut |part| {
        if let (None, ExprKind::Input(name, Some(item))) = (&first, part.kind())
            && is_pattern(item)
        {
            first = Some((part.clone(), name.clone(), item.clone()));
        }
    });
    let Some((leader, name, pattern)) = first else {
        return Err(FormulaError::new(at.place(), Problem::NoGroup(r.word())));
    };
    let mut list = Vec::new();
    for member in members(&leader, &name, &pattern, scope)? {
        list.push(e.replaced(&mut |part| {
            let ExprKind::Input(own, Some(item)) = part.kind() else { return Ok(None) };
            if !is_pattern(item) {
                return Ok(None);
            }
            let chosen = if *item == pattern {
                member.name.clone()
            } else if !item.contains(',') && item.matches('*').count() == member.stars.len() {
                let pieces = item.split('*').zip(member.stars.iter().map(String::as_str).chain([""]));
                pieces.fold(String::new(), |text, (piece, star)| text + piece + star)
            } else {
                let both = [format!("{name}[{pattern}]"), format!("{own}[{item}]")];
                let [a, b] = both;
                return Err(FormulaError::new(part.place(), Problem::UnlikePatterns(a, b)));
            };
            Ok(Some(Expr::make(ExprKind::Input(own.clone(), Some(chosen)), part.place())))
        })?);
    }
    let (count, place) = (list.len(), at.place());
    Ok(match r {
        Reduction::Sum => Expr::make(ExprKind::Sum(list), place),
        Reduction::Mean => {
            let sum = Expr::make(ExprKind::Sum(list), place);
            let count = Expr::make(ExprKind::Number(count as f64), place);
            Expr::make(ExprKind::Binary(Operator::Divide, sum, count), place)
        }
        Reduction::Min => Expr::make(ExprKind::Call("min", list), place),
        Reduction::Max => Expr::make(ExprKind::Call("max", list), place),
    })
}
