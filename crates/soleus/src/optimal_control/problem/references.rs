//! Tables that goals track.

use crate::context::Context;
use crate::error::Error;
use crate::inputs::paths::beside;
use crate::inputs::table::{Take, lowpass_of_motion, read_rows};
use crate::source::Source;
use soleus_io::study::{TableOperator, TableSource};
use soleus_math::function::GcvSpline;
use soleus_math::{Function, Table, signal};
use soleus_model::constraint::ConstraintKind;
use soleus_model::id::CoordinateId;
use soleus_model::{Model, angles};
use std::path::Path;

/// Degree of the splines through reference data, as in Moco.
const DEGREE: usize = 5;

/// Tables by goal: files, or tables in memory.
#[derive(Clone, Debug, Default)]
pub struct Given {
    sources: Vec<(String, Source<Table>)>,
    processed: Vec<(String, Table)>,
}

impl Given {
    /// With the tables that a request gives for goals.
    pub fn new(sources: Vec<(String, Source<Table>)>) -> Given {
        Given { sources, processed: Vec::new() }
    }

    /// Adds a processed table.
    pub fn add(&mut self, goal: &str, table: Table) {
        self.processed.push((goal.to_string(), table));
    }

    /// The table of a goal, with its operators applied, angles in radians.
    pub fn table(
        &self,
        cx: &Context,
        study: &Path,
        line: u32,
        goal: &str,
        source: &TableSource,
        model: &Model,
    ) -> Result<Table, Error> {
        if let Some(table) = self.known(goal) {
            return Ok(table.clone());
        }
        if let Some(given) = self.source(goal) {
            let table = read_rows(cx, given, Take::Markers)?;
            return operate(study, line, given.path(), table, &source.operators, model, true);
        }
        if source.file.is_none() {
            let message = format!("goal `{goal}` tracks a table that is not in the file");
            return Err(Error::content(study, line, "", message, &naming_hint(study, goal, "TABLE.sto")));
        }
        process(cx, study, line, source, model)
    }

    /// The added table of a goal.
    pub fn known(&self, goal: &str) -> Option<&Table> {
        self.processed.iter().find(|t| t.0 == goal).map(|t| &t.1)
    }

    /// The table that a request gives for a goal.
    pub fn source(&self, goal: &str) -> Option<&Source<Table>> {
        self.sources.iter().find(|g| g.0 == goal).map(|g| &g.1)
    }
}

/// How to provide a table that the study does not contain: `run` uses setup files unchanged, so the hint refers to
/// `solve`.
pub fn naming_hint(study: &Path, goal: &str, table: &str) -> String {
    format!("give it with: soleus solve {} --reference {goal}={table}", study.display())
}

/// A table named in a setup file, with its operators applied, angles in radians.
pub fn process(
    cx: &Context,
    study: &Path,
    line: u32,
    source: &TableSource,
    model: &Model,
) -> Result<Table, Error> {
    let Some(file) = &source.file else {
        return Err(Error::content(study, line, "", "a table is missing".to_string(), ""));
    };
    let file = beside(study, file);
    let table = read_rows(cx, &file.as_path().into(), Take::Markers)?;
    operate(study, line, &file, table, &source.operators, model, true)
}

/// Applies operators to a table from `file`; angles in radians. With `root_angles`, filters use the angles of the root
/// instead of its pose.
pub fn operate(
    study: &Path,
    line: u32,
    file: &Path,
    mut table: Table,
    operators: &[TableOperator],
    model: &Model,
    root_angles: bool,
) -> Result<Table, Error> {
    for o in operators {
        let failed = |e: signal::SignalError| Error::content(file, 0, "", e.to_string(), "");
        table = match o {
            TableOperator::LowPass(hz) if root_angles => signal::lowpass(&table, *hz).map_err(failed)?,
            TableOperator::LowPass(hz) => lowpass_of_motion(file, model, &table, *hz, "")?,
            TableOperator::Radians => radians(table, model),
            TableOperator::AbsoluteStateNames => absolute_names(table, model),
            TableOperator::Speeds => with_speeds(table, model, file)?,
            TableOperator::CoupledCoordinates => {
                with_coupled(table, model).map_err(|message| Error::content(study, line, "", message, ""))?
            }
        };
    }
    Ok(radians(table, model))
}

/// Values of dependent coordinates: scale · f(independent ones), for every enforced coupler. A column that is there
/// is replaced.
fn with_coupled(table: Table, model: &Model) -> Result<Table, String> {
    let (mut labels, mut columns) = (table.labels().to_vec(), table.columns().to_vec());
    for c in model.constraints.iter().filter(|c| c.enforced) {
        let ConstraintKind::CoordinateCoupler { independent, dependent, function, scale } = &c.kind else {
            continue;
        };
        let label = |id: CoordinateId| format!("{}/value", model.coordinates[id.0].path);
        let mut arguments = Vec::new();
        for &id in independent {
            let name = label(id);
            let column = labels.iter().position(|l| *l == name).map(|i| columns[i].clone());
            arguments.push(column.ok_or_else(|| {
                format!("coupler `{}` needs a column `{name}`, which the table does not have", c.name)
            })?);
        }
        let value = |row: usize| {
            let x: Vec<f64> = arguments.iter().map(|a| a[row]).collect();
            scale * function.value(&x)
        };
        let column: Vec<f64> = (0..table.rows()).map(value).collect();
        let name = label(*dependent);
        match labels.iter().position(|l| *l == name) {
            Some(i) => columns[i] = column,
            None => {
                labels.push(name);
                columns.push(column);
            }
        }
    }
    let mut new =
        Table::new(table.element(), labels, table.times().to_vec(), columns).map_err(|e| e.to_string())?;
    new.in_degrees = table.in_degrees;
    Ok(new)
}

/// Converts angles to radians; a table without a unit is not changed.
pub fn radians(table: Table, model: &Model) -> Table {
    if table.in_degrees == Some(true) { angles::in_radians(model, table) } else { table }
}

/// Replaces names of coordinates in the labels by paths of states.
pub fn absolute_names(mut table: Table, model: &Model) -> Table {
    for i in 0..table.labels().len() {
        let label = table.labels()[i].clone();
        let found = model.coordinates.iter().find_map(|c| {
            if label == c.name {
                Some(format!("{}/value", c.path))
            } else if label == format!("{}_u", c.name) {
                Some(format!("{}/speed", c.path))
            } else {
                None
            }
        });
        if let Some(name) = found {
            table.rename(i, name);
        }
    }
    table
}

/// Adds speeds to the values of coordinates: derivatives of quintic splines.
pub fn with_speeds(table: Table, model: &Model, file: &Path) -> Result<Table, Error> {
    let (mut labels, mut columns) = (table.labels().to_vec(), table.columns().to_vec());
    for c in &model.coordinates {
        let Some(values) = table.column(&format!("{}/value", c.path)) else { continue };
        let spline = spline(file, &table, values)?;
        labels.push(format!("{}/speed", c.path));
        columns.push(table.times().iter().map(|&t| spline.eval1(t)[1]).collect());
    }
    Table::new(table.element(), labels, table.times().to_vec(), columns)
        .map_err(|e| Error::content(file, 0, "", e.to_string(), ""))
}

/// The spline through a column.
pub fn spline(file: &Path, table: &Table, column: &[f64]) -> Result<Function, Error> {
    // A spline of degree d needs d + 1 points.
    let degree = if table.rows() > DEGREE {
        DEGREE
    } else if table.rows() > 3 {
        3
    } else {
        1
    };
    GcvSpline::interpolate(degree, table.times().to_vec(), column)
        .map(Function::from)
        .map_err(|e| Error::content(file, 0, "", e.to_string(), ""))
}
