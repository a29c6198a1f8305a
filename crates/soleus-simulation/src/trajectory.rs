//! States over time.

/// States at increasing times, row by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectory {
    dim: usize,
    /// Times, s.
    pub times: Vec<f64>,
    values: Vec<f64>,
}

impl Trajectory {
    /// An empty trajectory for rows of `dim` numbers.
    pub fn new(dim: usize) -> Self {
        Trajectory { dim, times: Vec::new(), values: Vec::new() }
    }

    /// Adds a row.
    pub fn push(&mut self, time: f64, row: &[f64]) {
        debug_assert_eq!(row.len(), self.dim);
        self.times.push(time);
        self.values.extend_from_slice(row);
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Number of values per row.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.dim..(i + 1) * self.dim]
    }

    /// The last row with its time.
    pub fn last(&self) -> Option<(f64, &[f64])> {
        let i = self.times.len().checked_sub(1)?;
        Some((self.times[i], self.row(i)))
    }
}
