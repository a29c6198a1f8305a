//! Collects rows of numbers for a table.

use soleus_math::table::{Element, Table, TableError};

/// Room for so many rows is made with the first: a walk in hundredths of a second.
const FIRST_ROWS: usize = 256;

/// A table under construction.
#[derive(Clone, Debug)]
pub struct Recorder {
    name: String,
    description: String,
    in_degrees: bool,
    element: Element,
    labels: Vec<String>,
    times: Vec<f64>,
    columns: Vec<Vec<f64>>,
}

impl Recorder {
    /// Without rows. The description is written to the header of the file.
    pub fn new(name: impl Into<String>, description: impl Into<String>, labels: Vec<String>) -> Self {
        Recorder::of(Element::Scalar, name, description, labels)
    }

    /// As [`new`](Self::new), for vector columns.
    pub fn of(
        element: Element,
        name: impl Into<String>,
        description: impl Into<String>,
        labels: Vec<String>,
    ) -> Self {
        let columns = vec![Vec::new(); labels.len() * element.components()];
        Recorder {
            name: name.into(),
            description: description.into(),
            in_degrees: false,
            element,
            labels,
            times: Vec::new(),
            columns,
        }
    }

    /// Sets whether angles are in degrees, for the header.
    pub fn in_degrees(mut self, yes: bool) -> Self {
        self.in_degrees = yes;
        self
    }

    /// Number of scalar columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Number of rows so far.
    pub fn rows(&self) -> usize {
        self.times.len()
    }

    /// Adds a row; missing values are NaN.
    pub fn push(&mut self, time: f64, values: impl IntoIterator<Item = f64>) {
        // Room for many rows at once: columns are many, and grow together.
        if self.times.len() == self.times.capacity() {
            let more = self.times.len().max(FIRST_ROWS);
            self.times.reserve_exact(more);
            self.columns.iter_mut().for_each(|c| c.reserve_exact(more));
        }
        self.times.push(time);
        let mut values = values.into_iter();
        for column in &mut self.columns {
            column.push(values.next().unwrap_or(f64::NAN));
        }
    }

    /// The table.
    pub fn table(self) -> Result<Table, TableError> {
        let mut t = Table::new(self.element, self.labels, self.times, self.columns)?;
        t.name = self.name;
        t.description = self.description;
        t.in_degrees = Some(self.in_degrees);
        Ok(t)
    }
}
