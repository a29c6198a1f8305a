//! Quantities over time: the columns of a motion, marker or force file.

mod element;
mod units;

pub use element::Element;
pub use units::meters_per;

use crate::vec3::{Vec3, vec3};
use thiserror::Error;

/// Rows at increasing times, one column per label.
///
/// Each label has one [`Element`] per row: a number, a vector, a quaternion. Numbers are stored in scalar columns, so
/// label i of a table of vectors has columns 3i, 3i + 1 and 3i + 2. Missing values are NaN.
///
/// ```
/// use soleus_math::table::{Element, Table};
///
/// let mut t = Table::new(Element::Scalar, vec!["knee".into()], vec![0.0, 0.1], vec![vec![5.0, 6.0]])?;
/// t.in_degrees = Some(true);
/// assert_eq!(t.column("knee"), Some(&[5.0, 6.0][..]));
/// # Ok::<(), soleus_math::table::TableError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name of the data, the first line of a `.sto` file.
    pub name: String,
    /// Free text of the header.
    pub description: String,
    /// Keys and values of the header, in order, without counts and version.
    pub metadata: Vec<(String, String)>,
    /// Whether angles are in degrees; `None` if the file does not specify it.
    pub in_degrees: Option<bool>,
    element: Element,
    labels: Vec<String>,
    times: Vec<f64>,
    columns: Vec<Vec<f64>>,
}

/// Why numbers do not form a table, or not the requested one.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TableError {
    /// Too many or too few columns.
    #[error("{labels} labels of {components} number(s) need {needed} columns, found {found}", needed = labels * components)]
    ColumnCount {
        /// Number of labels.
        labels: usize,
        /// Numbers per label.
        components: usize,
        /// Columns given.
        found: usize,
    },
    /// A column with a wrong number of rows.
    #[error("column {column} has {found} rows, but there are {needed} times")]
    RowCount {
        /// Column, from zero.
        column: usize,
        /// Number of times.
        needed: usize,
        /// Rows of that column.
        found: usize,
    },
    /// A missing label.
    #[error("no column is called `{label}`")]
    NoSuchLabel {
        /// The label.
        label: String,
    },
    /// Columns that do not come in threes.
    #[error("column `{label}` does not begin a triple such as `m_x`, `m_y`, `m_z`")]
    NotATriple {
        /// Label where a triple should start.
        label: String,
    },
}

/// Endings that mark the three components of a vector among scalar columns.
const TRIPLES: [[&str; 3]; 8] = [
    ["_1", "_2", "_3"],
    ["_x", "_y", "_z"],
    ["_X", "_Y", "_Z"],
    [".x", ".y", ".z"],
    ["_vx", "_vy", "_vz"],
    ["_px", "_py", "_pz"],
    ["x", "y", "z"],
    ["X", "Y", "Z"],
];

impl Default for Table {
    /// No rows, no columns.
    fn default() -> Self {
        Table {
            name: String::new(),
            description: String::new(),
            metadata: Vec::new(),
            in_degrees: None,
            element: Element::Scalar,
            labels: Vec::new(),
            times: Vec::new(),
            columns: Vec::new(),
        }
    }
}

impl Table {
    /// A table without name or metadata.
    pub fn new(
        element: Element,
        labels: Vec<String>,
        times: Vec<f64>,
        columns: Vec<Vec<f64>>,
    ) -> Result<Self, TableError> {
        if columns.len() != labels.len() * element.components() {
            return Err(TableError::ColumnCount {
                labels: labels.len(),
                components: element.components(),
                found: columns.len(),
            });
        }
        check_rows(&times, &columns)?;
        Ok(Table { element, labels, times, columns, ..Table::default() })
    }

    /// The same labels and header with other rows.
    pub fn with_rows(&self, times: Vec<f64>, columns: Vec<Vec<f64>>) -> Result<Self, TableError> {
        let mut t = Table::new(self.element, self.labels.clone(), times, columns)?;
        t.name.clone_from(&self.name);
        t.description.clone_from(&self.description);
        t.metadata.clone_from(&self.metadata);
        t.in_degrees = self.in_degrees;
        Ok(t)
    }

    /// The times and the columns, without labels and header.
    pub fn into_rows(self) -> (Vec<f64>, Vec<Vec<f64>>) {
        (self.times, self.columns)
    }

    /// Type of the elements.
    pub fn element(&self) -> Element {
        self.element
    }
    /// Labels, without the one of time.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }
    /// Times (s).
    pub fn times(&self) -> &[f64] {
        &self.times
    }
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.times.len()
    }
    /// All scalar columns.
    pub fn columns(&self) -> &[Vec<f64>] {
        &self.columns
    }
    /// The numbers of one scalar column, mutable.
    pub fn column_at_mut(&mut self, column: usize) -> Option<&mut [f64]> {
        self.columns.get_mut(column).map(Vec::as_mut_slice)
    }
    /// The times, mutable.
    pub fn times_mut(&mut self) -> &mut [f64] {
        &mut self.times
    }
    /// Renames label i; no effect beyond the last.
    pub fn rename(&mut self, i: usize, label: impl Into<String>) {
        if let Some(l) = self.labels.get_mut(i) {
            *l = label.into();
        }
    }

    /// Index of a label, from zero; the first if there are duplicates.
    pub fn index_of(&self, label: &str) -> Option<usize> {
        self.labels.iter().position(|l| l == label)
    }

    /// The numbers under a label of a table of scalars.
    pub fn column(&self, label: &str) -> Option<&[f64]> {
        match self.element {
            Element::Scalar => self.index_of(label).map(|i| self.columns[i].as_slice()),
            _ => None,
        }
    }

    /// The first three components of label i in a row; NaN if there are fewer, or the position does not exist.
    pub fn vec3(&self, row: usize, i: usize) -> Vec3<f64> {
        let n = self.element.components();
        let at = |c: usize| match self.columns.get(i * n + c) {
            Some(column) if c < n => column.get(row).copied().unwrap_or(f64::NAN),
            _ => f64::NAN,
        };
        vec3(at(0), at(1), at(2))
    }

    /// The value of a key of the header.
    pub fn metadata_value(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// Sets a key of the header, at its old position if it exists.
    pub fn set_metadata(&mut self, key: &str, value: impl Into<String>) {
        let value = value.into();
        match self.metadata.iter_mut().find(|(k, _)| k == key) {
            Some(pair) => pair.1 = value,
            None => self.metadata.push((key.to_string(), value)),
        }
    }

    /// Only the rows with first ≤ time ≤ last (s).
    pub fn trimmed(&self, first: f64, last: f64) -> Table {
        let keep: Vec<usize> =
            (0..self.rows()).filter(|&r| self.times[r] >= first && self.times[r] <= last).collect();
        let mut t = self.clone();
        t.times = keep.iter().map(|&r| self.times[r]).collect();
        for (new, old) in t.columns.iter_mut().zip(&self.columns) {
            *new = keep.iter().map(|&r| old[r]).collect();
        }
        t
    }

    /// Only the named columns, in the given order.
    pub fn selected(&self, labels: &[&str]) -> Result<Table, TableError> {
        let n = self.element.components();
        let mut t = self.clone();
        t.labels.clear();
        t.columns.clear();
        for &label in labels {
            let i =
                self.index_of(label).ok_or_else(|| TableError::NoSuchLabel { label: label.to_string() })?;
            t.labels.push(label.to_string());
            t.columns.extend(self.columns[i * n..(i + 1) * n].iter().cloned());
        }
        Ok(t)
    }

    /// A table of scalars with the labels `a_1`, `a_2`, … for the components of `a`, as OpenSim
    /// flattens tables of vectors.
    pub fn flattened(&self) -> Table {
        let mut t = self.clone();
        if self.element != Element::Scalar {
            let n = self.element.components();
            t.labels = self.labels.iter().flat_map(|l| (1..=n).map(move |c| format!("{l}_{c}"))).collect();
            t.element = Element::Scalar;
        }
        t
    }

    /// A table of vectors from columns that come in threes: `a_1, a_2, a_3` or `a_x, a_y, a_z`.
    pub fn packed(&self) -> Result<Table, TableError> {
        let mut t = self.clone();
        match self.element {
            Element::Scalar => {}
            e if e.components() == 3 => return Ok(t),
            _ => {
                return Err(TableError::NotATriple {
                    label: self.labels.first().cloned().unwrap_or_default(),
                });
            }
        }
        t.labels = Vec::with_capacity(self.labels.len() / 3);
        for three in self.labels.chunks(3) {
            let name = triple(three).ok_or_else(|| TableError::NotATriple { label: three[0].clone() })?;
            t.labels.push(name.to_string());
        }
        t.element = Element::Vec(3);
        Ok(t)
    }
}

/// The common beginning of three labels that name the components of a vector.
fn triple(labels: &[String]) -> Option<&str> {
    let [a, b, c] = labels else { return None };
    TRIPLES.iter().find_map(|[x, y, z]| {
        let stem = a.strip_suffix(x)?;
        (b.strip_suffix(y) == Some(stem) && c.strip_suffix(z) == Some(stem)).then_some(stem)
    })
}

/// Every column must have one number per time.
fn check_rows(times: &[f64], columns: &[Vec<f64>]) -> Result<(), TableError> {
    match columns.iter().position(|c| c.len() != times.len()) {
        Some(column) => {
            Err(TableError::RowCount { column, needed: times.len(), found: columns[column].len() })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn markers() -> Table {
        let columns = (0..6).map(|c| vec![c as f64, c as f64 + 10.0]).collect();
        Table::new(Element::Vec(3), vec!["a".into(), "b".into()], vec![0.0, 0.5], columns).unwrap()
    }

    #[test]
    fn analytic_elements_find_their_columns() {
        let t = markers();
        assert_eq!(t.vec3(1, 1).to_array(), [13.0, 14.0, 15.0]);
        assert!(t.vec3(2, 0).x.is_nan() && t.vec3(0, 2).x.is_nan(), "outside there is nothing");
        assert_eq!(t.column("a"), None, "a vector is not a column");
    }

    #[test]
    fn identity_flattened_and_packed_again() {
        let t = markers();
        let flat = t.flattened();
        assert_eq!(flat.labels(), ["a_1", "a_2", "a_3", "b_1", "b_2", "b_3"]);
        assert_eq!(flat.column("b_3"), Some(&[5.0, 15.0][..]));
        assert_eq!(flat.packed().unwrap(), t);
    }

    #[test]
    fn analytic_shapes_that_do_not_fit_are_refused() {
        let bad = Table::new(Element::Vec(3), vec!["a".into()], vec![0.0], vec![vec![0.0]]);
        assert_eq!(bad, Err(TableError::ColumnCount { labels: 1, components: 3, found: 1 }));
        let bad = Table::new(Element::Scalar, vec!["a".into()], vec![0.0], vec![vec![]]);
        assert_eq!(bad, Err(TableError::RowCount { column: 0, needed: 1, found: 0 }));
        let odd = Table::new(Element::Scalar, vec!["a".into()], vec![], vec![vec![]]).unwrap();
        assert_eq!(odd.packed(), Err(TableError::NotATriple { label: "a".into() }));
    }

    #[test]
    fn analytic_trimmed_and_selected() {
        let t = markers();
        assert_eq!(t.trimmed(0.2, 0.6).times(), [0.5]);
        assert_eq!(t.selected(&["b"]).unwrap().columns()[0], [3.0, 13.0]);
        assert_eq!(t.selected(&["c"]), Err(TableError::NoSuchLabel { label: "c".into() }));
    }
}
