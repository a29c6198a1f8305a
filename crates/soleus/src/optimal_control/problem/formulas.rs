//! Formulas of a study: goals, path constraints and derived values.

use super::bounds::is_called;
use super::references::{operate, spline};
use super::{constraints, pair};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::paths::beside;
use crate::inputs::table::{Take, read_rows};
use soleus_control::goal::{self, NamedTable, Names, TimeBounds, When};
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::problem::{Bounds, Mode, PointVariable};
use soleus_control::{Goal, PathConstraint, Trajectory};
use soleus_io::study::{self, FunctionBounds, NamedFormula, TableOperator};
use soleus_math::formula::{Expr, ExprKind, FormulaError};
use soleus_math::table::Element;
use soleus_math::{Function, Table};
use soleus_model::controller::ControllerKind;
use std::path::Path;
use std::sync::Arc;

/// Tables and definitions that formulas of a study may use, in addition to its model.
#[derive(Default)]
pub struct Setting {
    parameters: Vec<String>,
    tables: Vec<NamedTable>,
    definitions: Vec<(String, Expr)>,
}

impl Setting {
    /// Reads the tables and the definitions of a study.
    pub fn new(cx: &Context, path: &Path, s: &study::Problem, base: &ModelProblem) -> Result<Setting, Error> {
        let parameters = s.parameters.iter().map(|p| p.name.clone()).collect();
        let mut tables = Vec::new();
        for t in &s.tables {
            let Some(file) = &t.source.file else {
                return Err(Error::content(path, t.line, &t.name, "the table has no file", ""));
            };
            let file = beside(path, file);
            let rows = read_rows(cx, &file.as_path().into(), Take::Markers)?;
            // Columns keep the names of the file.
            let operators: Vec<TableOperator> = t
                .source
                .operators
                .iter()
                .filter(|o| **o != TableOperator::AbsoluteStateNames)
                .cloned()
                .collect();
            let rows = operate(path, t.line, &file, rows, &operators, &base.model, true)?;
            let mut columns = Vec::new();
            for (label, column) in rows.labels().iter().zip(rows.columns()) {
                columns.push((label.clone(), Arc::new(spline(&file, &rows, column)?)));
            }
            tables.push(NamedTable { name: t.name.clone(), columns });
        }
        let mut definitions = Vec::new();
        for d in &s.definitions {
            definitions.push((d.name.clone(), parsed(path, d.line, &d.name, &d.formula)?));
        }
        Ok(Setting { parameters, tables, definitions })
    }

    /// All names that a formula may use.
    pub fn names<'a>(&'a self, base: &'a ModelProblem) -> Names<'a> {
        Names { base, parameters: &self.parameters, tables: &self.tables, definitions: &self.definitions }
    }
}

/// What is wrong with a formula, with the line of what it belongs to; the message has its place in the formula.
fn refused(path: &Path, line: u32, name: &str, e: &FormulaError) -> Error {
    Error::content(path, line, name, e.to_string(), &e.hint())
}

fn parsed(path: &Path, line: u32, name: &str, text: &str) -> Result<Expr, Error> {
    Expr::parse(text).map_err(|e| refused(path, line, name, &e))
}

/// A goal defined by a formula.
pub fn build(
    path: &Path,
    g: &study::Goal,
    base: &ModelProblem,
    setting: &Setting,
    (text, when): (&str, &str),
    constraint: bool,
) -> Result<Goal, Error> {
    let e = parsed(path, g.line, &g.name, text)?;
    let mode = match constraint {
        true => {
            let bounds: Vec<Bounds> = g.bounds.iter().map(|b| pair(*b)).collect();
            Mode::Constraint { bounds: if bounds.is_empty() { vec![Bounds::fixed(0.0)] } else { bounds } }
        }
        false => Mode::Cost { weight: g.weight },
    };
    let when = match when {
        "initial" => When::Initially,
        "final" => When::Finally,
        _ => When::Always,
    };
    let made = goal::formula_goal(&g.name, mode, &setting.names(base), &e, when);
    let made = made.map_err(|e| refused(path, g.line, &g.name, &e))?;
    let values = made.endpoint.as_ref().map_or(1, |f| f.function.num_outputs());
    match &made.mode {
        Mode::Constraint { bounds } if bounds.len() != values => {
            let message = format!("{} pairs of bounds for {values} values", bounds.len());
            Err(Error::content(path, g.line, &g.name, message, "give one pair, or one for each number"))
        }
        _ => Ok(made),
    }
}

/// A path constraint defined by a formula.
pub fn constraint(
    path: &Path,
    (line, name): (u32, &str),
    base: &ModelProblem,
    setting: &Setting,
    text: &str,
    bounds: &FunctionBounds,
) -> Result<Vec<PathConstraint>, Error> {
    let e = parsed(path, line, name, text)?;
    let bounds = constraints::time_bounds(bounds).map_err(|m| Error::content(path, line, name, m, ""))?;
    goal::formula_constraint(name, &setting.names(base), &e, &bounds)
        .map_err(|e| refused(path, line, name, &e))
}

/// Controllers of the model defined by formulas, as equations for the controls.
pub fn controllers(path: &Path, base: &ModelProblem) -> Result<Vec<PathConstraint>, Error> {
    let mut list = Vec::new();
    for c in base.model.controllers.iter().filter(|c| c.enabled) {
        let ControllerKind::Formula { formula, constants } = &c.kind else { continue };
        for actuator in &c.actuators {
            let own = &base.model.forces[actuator.0].path;
            // Words about the actuator itself, and constants.
            let meaning = |part: &Expr| -> Result<Option<Expr>, FormulaError> {
                let ExprKind::Input(name, None) = part.kind() else { return Ok(None) };
                if let "length" | "lengthening_speed" | "activation" = name.as_str() {
                    return Ok(Some(Expr::item(name.clone(), own.clone())));
                }
                Ok(constants.iter().find(|c| c.0 == *name).map(|c| Expr::number(c.1)))
            };
            let refuse = |e: FormulaError| refused(path, 0, &c.path, &e);
            let follows = formula.replaced(&mut { meaning }).map_err(refuse)?;
            let difference = Expr::item("control", own.clone()) - follows;
            let zero = TimeBounds { lower: Some(Function::Constant(0.0)), upper: None, equal: true };
            let name = format!("{} of {own}", c.name);
            list.extend(
                goal::formula_constraint(&name, &Names::of_model(base), &difference, &zero)
                    .map_err(refuse)?,
            );
        }
    }
    Ok(list)
}

/// Values of formulas along a motion; a vector has the columns `name_x`, `name_y`, `name_z`.
pub fn values(
    path: &Path,
    list: &[NamedFormula],
    base: &ModelProblem,
    setting: &Setting,
    t: &Trajectory,
) -> Result<Table, Error> {
    let (mut labels, mut columns) = (Vec::new(), Vec::new());
    let names = setting.names(base);
    for f in list {
        let e = parsed(path, f.line, &f.name, &f.formula)?;
        let term = goal::formula_term(&names, &e).map_err(|e| refused(path, f.line, &f.name, &e))?;
        let width = term.function.num_outputs();
        match width {
            1 => labels.push(f.name.clone()),
            _ => labels.extend(["x", "y", "z"].map(|axis| format!("{}_{axis}", f.name))),
        }
        let mut own = vec![Vec::with_capacity(t.times.len()); width];
        let (mut scratch, mut values) = (term.function.scratch(), vec![0.0; width]);
        for row in 0..t.times.len() {
            let of = |rows: &[Vec<f64>], i: usize| rows.get(row).and_then(|r| r.get(i)).copied();
            let z: Vec<f64> = term
                .inputs
                .iter()
                .map(|v| match *v {
                    PointVariable::Time => Some(t.times[row]),
                    PointVariable::State(i) => of(&t.states.rows, i),
                    PointVariable::Rate(i) => of(&t.rates.rows, i),
                    PointVariable::Control(i) => of(&t.controls.rows, i),
                    PointVariable::Multiplier(i) => of(&t.multipliers.rows, i),
                    PointVariable::Parameter(i) => t.parameters.get(i).map(|p| p.1),
                    PointVariable::Phase => None,
                })
                .map(|x| x.unwrap_or(f64::NAN))
                .collect();
            term.function.compute_values(&z, &mut values, &mut scratch);
            own.iter_mut().zip(&values).for_each(|(c, v)| c.push(*v));
        }
        columns.extend(own);
    }
    let refuse = |e: soleus_math::table::TableError| Error::content(path, 0, "", e.to_string(), "");
    let mut table = Table::new(Element::Scalar, labels, t.times.clone(), columns).map_err(refuse)?;
    table.in_degrees = Some(false);
    Ok(table)
}

/// Position of a name in a list, matched as a whole or by its end.
pub fn position(names: &[String], name: &str) -> Option<usize> {
    names.iter().position(|n| n == name).or_else(|| {
        let mut fitting = (0..names.len()).filter(|&i| is_called(&names[i], name));
        fitting.next().filter(|_| fitting.next().is_none())
    })
}
