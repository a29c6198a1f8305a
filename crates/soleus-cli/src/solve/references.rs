//! Tables that goals follow.

use crate::failure::Failure;
use crate::setup;
use crate::tables::{self, Take};
use soleus_io::setup::moco::{TableOperator, TableSource};
use soleus_math::function::GcvSpline;
use soleus_math::{Function, Table, signal};
use soleus_model::Model;
use std::path::{Path, PathBuf};

/// Degree of the splines through reference data, as in Moco.
const DEGREE: usize = 5;

/// Tables given on the command line, by goal.
pub struct Given(Vec<(String, PathBuf)>);

impl Given {
    /// From `GOAL=FILE`.
    pub fn parse(study: &Path, list: &[String]) -> Result<Given, Failure> {
        let split = |s: &String| match s.split_once('=') {
            Some((goal, file)) => Ok((goal.to_string(), PathBuf::from(file))),
            None => Err(Failure::content(study, 0, "", format!("`{s}` is not GOAL=TABLE"), "")),
        };
        Ok(Given(list.iter().map(split).collect::<Result<_, _>>()?))
    }

    /// The table of a goal, with its operators applied, angles in radians.
    pub fn table(
        &self,
        study: &Path,
        line: u32,
        goal: &str,
        source: &TableSource,
        model: &Model,
    ) -> Result<Table, Failure> {
        let given = self.0.iter().find(|g| g.0 == goal).map(|g| g.1.clone());
        let Some(file) = given.or_else(|| source.file.as_ref().map(|f| setup::beside(study, f))) else {
            let message = format!("goal `{goal}` follows a table that is not in the file");
            let hint = format!("name it: --reference {goal}=TABLE.sto");
            return Err(Failure::content(study, line, "", message, &hint));
        };
        let mut table = tables::read(&file, Take::Markers, 0.0)?;
        for o in &source.operators {
            let failed = |e: signal::SignalError| Failure::content(&file, 0, "", e.to_string(), "");
            table = match o {
                TableOperator::LowPass(hz) => signal::lowpass(&table, *hz).map_err(failed)?,
                TableOperator::Radians => radians(table, model),
                TableOperator::AbsoluteStateNames => absolute_names(table, model),
                TableOperator::Speeds => with_speeds(table, model, &file)?,
                TableOperator::CoupledCoordinates => {
                    let message = "TabOpAppendCoupledCoordinateValues is not supported yet".to_string();
                    return Err(Failure::content(study, line, "", message, ""));
                }
            };
        }
        Ok(radians(table, model))
    }
}

/// Angles in radians.
pub fn radians(mut table: Table, model: &Model) -> Table {
    use soleus_model::joint::MotionType;
    if table.in_degrees != Some(true) {
        return table;
    }
    for i in 0..table.labels().len() {
        let label = table.labels()[i].clone();
        let rotational = model.coordinates.iter().any(|c| {
            let named = label == c.name
                || label.starts_with(&format!("{}/", c.path))
                || label == format!("{}_u", c.name);
            named && c.motion_type == MotionType::Rotational
        });
        if let (true, Some(column)) = (rotational, table.column_at_mut(i)) {
            column.iter_mut().for_each(|x| *x = x.to_radians());
        }
    }
    table.in_degrees = Some(false);
    table
}

/// Labels that are names of coordinates become paths of states.
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

/// Speeds beside the values of coordinates: slopes of splines of degree 5.
fn with_speeds(table: Table, model: &Model, file: &Path) -> Result<Table, Failure> {
    let (mut labels, mut columns) = (table.labels().to_vec(), table.columns().to_vec());
    for c in &model.coordinates {
        let Some(values) = table.column(&format!("{}/value", c.path)) else { continue };
        let spline = spline(file, &table, values)?;
        labels.push(format!("{}/speed", c.path));
        columns.push(table.times().iter().map(|&t| spline.eval1(t)[1]).collect());
    }
    Table::new(table.element(), labels, table.times().to_vec(), columns)
        .map_err(|e| Failure::content(file, 0, "", e.to_string(), ""))
}

/// The spline through a column.
pub fn spline(file: &Path, table: &Table, column: &[f64]) -> Result<Function, Failure> {
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
        .map_err(|e| Failure::content(file, 0, "", e.to_string(), ""))
}
