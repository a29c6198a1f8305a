//! Forces defined by formulas.

use super::*;
use crate::force::formula::{FormulaForce, MAX_NUMBERS, MAX_STACK, MAX_STATES, Seen, Target};
use crate::force::path::{self, PathFormula};
use soleus_math::formula::{Expr, Formula, FormulaError, Item, Meaning, Scope, Unknown};
use soleus_math::names::nearest_name;

/// What the formulas of a force may name.
struct Words<'a> {
    force: &'a model::FormulaForce,
    /// The mobility of its own coordinate.
    own: Option<usize>,
    resolve: &'a dyn ForceResolve,
    seen: Vec<Seen>,
    count: usize,
}

impl Words<'_> {
    fn number(&mut self, s: Seen) -> Meaning {
        Meaning::Number(self.place(s, 1))
    }

    fn vector(&mut self, s: Seen) -> Meaning {
        Meaning::Vector(self.place(s, 3))
    }

    /// Where the numbers of something begin.
    fn place(&mut self, s: Seen, width: usize) -> usize {
        let of = |s: &Seen| match s {
            Seen::Position(..) | Seen::Velocity(..) | Seen::AngularVelocity(_) | Seen::Axis(..) => 3,
            _ => 1,
        };
        match self.seen.iter().position(|o| *o == s) {
            Some(i) => self.seen[..i].iter().map(of).sum(),
            None => {
                self.seen.push(s);
                self.count += width;
                self.count - width
            }
        }
    }

    fn coordinate(&self, name: &str) -> Result<usize, Unknown> {
        self.resolve.coordinate_named(name).map(|id| self.resolve.mobility(id)).ok_or_else(|| {
            let names = self.resolve.coordinate_names();
            let near = nearest_name(name, names.iter().map(String::as_str), 2).map(str::to_string);
            Unknown { nearest: near, ..Unknown::default() }
        })
    }
}

impl Scope for Words<'_> {
    fn resolve(&mut self, name: &str, item: Option<&str>) -> Result<Meaning, Unknown> {
        let Some(item) = item else {
            if let Some((_, x)) = self.force.constants.iter().find(|c| c.0 == name) {
                return Ok(Meaning::Expr(Expr::number(*x)));
            }
            if let Some(k) = self.force.states.iter().position(|s| s.name == name) {
                return Ok(self.number(Seen::State(k)));
            }
            return match (name, self.own) {
                ("time", _) => Ok(self.number(Seen::Time)),
                ("control", _) => Ok(self.number(Seen::Control)),
                ("q", Some(m)) => Ok(self.number(Seen::Value(m))),
                ("u", Some(m)) => Ok(self.number(Seen::Speed(m))),
                _ => {
                    let found = self.coordinate(name);
                    let words = ["time", "control", "q", "u"].map(str::to_string);
                    let constants = self.force.constants.iter().map(|c| c.0.clone());
                    let states = self.force.states.iter().map(|s| s.name.clone());
                    let all: Vec<String> = words.into_iter().chain(constants).chain(states).collect();
                    let m = found.map_err(|u| {
                        let near = nearest_name(name, all.iter().map(String::as_str), 3).map(str::to_string);
                        Unknown { nearest: u.nearest.or(near), ..u }
                    })?;
                    Ok(self.number(Seen::Value(m)))
                }
            };
        };
        let point = |words: &Self| {
            words.resolve.point_named(item).map(|(f, p)| {
                let f = words.resolve.frame(f);
                (f, f.X_BF * p)
            })
        };
        let unknown = || Unknown {
            hint: format!(
                "a force may use q[…], u[…] of coordinates and position[…], velocity[…], angular_velocity[…], x_axis[…], y_axis[…], z_axis[…] of markers and frames; `{item}` is unknown"
            ),
            ..Unknown::default()
        };
        Ok(match name {
            "q" => {
                let m = self.coordinate(item)?;
                self.number(Seen::Value(m))
            }
            "u" => {
                let m = self.coordinate(item)?;
                self.number(Seen::Speed(m))
            }
            "position" | "velocity" | "angular_velocity" | "x_axis" | "y_axis" | "z_axis" => {
                let (f, p) = point(self).ok_or_else(unknown)?;
                self.vector(match name {
                    "position" => Seen::Position(f.body, p),
                    "velocity" => Seen::Velocity(f.body, p),
                    "angular_velocity" => Seen::AngularVelocity(f.body),
                    axis => Seen::Axis(f, "xyz".find(&axis[..1]).unwrap_or(0)),
                })
            }
            _ => return Err(unknown()),
        })
    }

    fn items(&mut self, name: &str) -> Vec<Item> {
        let names = if matches!(name, "q" | "u") { self.resolve.coordinate_names() } else { Vec::new() };
        names.into_iter().map(|n| Item { path: n.clone(), name: n }).collect()
    }
}

/// What the formulas of a force along a path may name: the numbers of [`PathFormula`], in their order.
struct PathWords<'a>(&'a model::FormulaForce);

impl Scope for PathWords<'_> {
    fn resolve(&mut self, name: &str, item: Option<&str>) -> Result<Meaning, Unknown> {
        let force = self.0;
        if let (Some((_, x)), None) = (force.constants.iter().find(|c| c.0 == name), item) {
            return Ok(Meaning::Expr(Expr::number(*x)));
        }
        let words = ["length", "lengthening_speed", "control"].into_iter();
        let all: Vec<&str> = words.chain(force.states.iter().map(|s| s.name.as_str())).collect();
        match (all.iter().position(|w| *w == name), item) {
            (Some(i), None) => Ok(Meaning::Number(i)),
            _ => {
                let constants = force.constants.iter().map(|c| c.0.as_str());
                let nearest = nearest_name(name, all.iter().copied().chain(constants), 3);
                let hint = "a force along a path may use length, lengthening_speed, control, its states and constants";
                Err(Unknown {
                    nearest: nearest.map(str::to_string),
                    hint: hint.to_string(),
                    ..Unknown::default()
                })
            }
        }
    }

    fn items(&mut self, _: &str) -> Vec<Item> {
        Vec::new()
    }
}

impl<P: Real> Making<'_, '_, P> {
    /// A tension along a path by formulas.
    fn path_formula(&mut self, m: &model::FormulaForce) -> Result<Compiled<P>, ForceError> {
        let wrong = |message: String| ForceError::Function { what: "formula", message };
        let mut words = PathWords(m);
        let mut number = |e: &Expr, what: &str| {
            let f = Formula::new(e, &mut words).map_err(|e| {
                let hint = e.hint();
                wrong(if hint.is_empty() { e.to_string() } else { format!("{e} ({hint})") })
            })?;
            match f.width() == 1 && f.stack_len() <= path::MAX_STACK {
                true => Ok(f),
                false if f.width() != 1 => Err(wrong(format!("{what} is a number, not a vector"))),
                false => Err(wrong(format!("the formula of {what} is too long"))),
            }
        };
        let Some(formula) = &m.formula else { return Err(wrong("the formula is missing".to_string())) };
        let tension = number(formula, "a tension")?;
        let mut states = Vec::new();
        for s in &m.states {
            states.push((s.name.clone(), s.default, number(&s.rate, "a rate")?));
        }
        let force = PathFormula { tension, states, has_control: m.control.is_some() };
        Ok((Kernel::Path(PathForce::Formula(Box::new(force))), vec![self.name.to_string()]))
    }

    pub(super) fn formula_force(&mut self, m: &model::FormulaForce) -> Result<Compiled<P>, ForceError> {
        let resolve = self.resolve;
        let wrong = |message: String| ForceError::Function { what: "formula", message };
        let refused = |e: FormulaError| {
            let hint = e.hint();
            wrong(if hint.is_empty() { e.to_string() } else { format!("{e} ({hint})") })
        };
        if m.states.len() > MAX_STATES {
            return Err(wrong(format!("{} states; a force has at most {MAX_STATES}", m.states.len())));
        }
        if m.target == model::FormulaTarget::Path {
            return self.path_formula(m);
        }
        let own = match m.target {
            model::FormulaTarget::Coordinate(c) => Some(resolve.mobility(c)),
            _ => None,
        };
        let mut words = Words { force: m, own, resolve, seen: Vec::new(), count: 0 };
        let mut states = Vec::new();
        for s in &m.states {
            let rate = Formula::new(&s.rate, &mut words).map_err(refused)?;
            if rate.width() != 1 {
                return Err(wrong(format!("the rate of `{}` is a vector", s.name)));
            }
            states.push((s.name.clone(), s.default, rate));
        }
        let target = match (&m.target, &m.formula) {
            (model::FormulaTarget::Nothing, _) | (_, None) => None,
            (target, Some(formula)) => {
                let formula = Formula::new(formula, &mut words).map_err(refused)?;
                let (target, width) = match target {
                    model::FormulaTarget::Point(frame, point) => {
                        let f = resolve.frame(*frame);
                        (Target::Point(f.body, f.X_BF * *point), 3)
                    }
                    _ => (Target::Mobility(own.unwrap_or(0)), 1),
                };
                if formula.width() != width {
                    let message = match width {
                        1 => "the force on a coordinate is a number, not a vector",
                        _ => "the force on a point is a vector [x, y, z], not a number",
                    };
                    return Err(wrong(message.to_string()));
                }
                Some((target, formula))
            }
        };
        let all = || target.iter().map(|t| &t.1).chain(states.iter().map(|s| &s.2));
        if words.count > MAX_NUMBERS || all().any(|f| f.stack_len() > MAX_STACK) {
            let message = format!("the formulas use more than {MAX_NUMBERS} quantities, or are too long");
            return Err(wrong(message));
        }
        let labels = match &target {
            None => Vec::new(),
            Some((Target::Mobility(_), _)) => self.one_column(),
            Some((Target::Point(..), _)) => {
                ["X", "Y", "Z"].map(|axis| format!("{}.force.{axis}", self.name)).into()
            }
        };
        let seen = words.seen;
        let force = FormulaForce { seen, target, states, has_control: m.control.is_some() };
        Ok((Kernel::Formula(Box::new(force)), labels))
    }
}
