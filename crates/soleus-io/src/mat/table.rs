//! Objects of the class `table`.

use super::Value;

/// Named columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MatTable {
    /// Names and contents; a column of cells or numbers has one per row.
    pub columns: Vec<(String, Value)>,
    /// Number of rows.
    pub rows: usize,
}

impl MatTable {
    /// A column by name.
    pub fn column(&self, name: &str) -> Option<&Value> {
        self.columns.iter().find(|c| c.0 == name).map(|c| &c.1)
    }

    /// Content of a column of cells in a row.
    pub fn cell(&self, name: &str, row: usize) -> Option<&Value> {
        self.column(name)?.cells()?.get(row)
    }
}

/// Tables among the parts of objects.
pub fn tables(parts: &[Value]) -> Vec<MatTable> {
    parts.windows(7).filter_map(table).collect()
}

/// Columns, number of dimensions, of rows, names of rows, number of columns, names of columns, properties.
fn table(seven: &[Value]) -> Option<MatTable> {
    let number = |v: &Value| v.numbers().filter(|n| n.len() == 1).map(|n| n[0]);
    let (columns, names) = (seven[0].cells()?, seven[5].cells()?);
    let names: Vec<&str> = names.iter().map(Value::text).collect::<Option<_>>()?;
    let fits = number(&seven[1])? == 2.0
        && number(&seven[4])? == columns.len() as f64
        && names.len() == columns.len()
        && matches!(seven[6], Value::Struct { .. });
    let columns = names.iter().map(ToString::to_string).zip(columns.iter().cloned()).collect();
    fits.then_some(MatTable { columns, rows: number(&seven[2])?.max(0.0) as usize })
}
