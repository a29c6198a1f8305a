//! Sparsity pattern of a matrix.

/// Nonzero positions of a square matrix, row by row; columns increase within a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    start: Vec<usize>,
    columns: Vec<usize>,
}

impl Pattern {
    /// All positions of an n × n matrix.
    pub fn dense(n: usize) -> Self {
        Pattern { start: (0..=n).map(|i| i * n).collect(), columns: (0..n * n).map(|i| i % n).collect() }
    }

    /// An empty pattern.
    pub const fn empty() -> Self {
        Pattern { start: Vec::new(), columns: Vec::new() }
    }

    /// The given columns of each row, sorted and without duplicates; columns out of range are left out.
    pub fn from_rows(rows: &[Vec<usize>]) -> Self {
        let n = rows.len();
        let (mut start, mut columns) = (vec![0], Vec::new());
        for row in rows {
            let mut row: Vec<usize> = row.iter().copied().filter(|&c| c < n).collect();
            row.sort_unstable();
            row.dedup();
            columns.extend(row);
            start.push(columns.len());
        }
        Pattern { start, columns }
    }

    /// Number of rows and columns.
    pub fn dim(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Index of a position in the list of values, if it is in the pattern.
    pub fn position(&self, row: usize, column: usize) -> Option<usize> {
        let range = *self.start.get(row)?..*self.start.get(row + 1)?;
        self.columns[range.clone()].binary_search(&column).ok().map(|k| range.start + k)
    }

    /// Columns of a row, and the index of its first value.
    pub fn row(&self, row: usize) -> (&[usize], usize) {
        (&self.columns[self.start[row]..self.start[row + 1]], self.start[row])
    }

    /// Row, column and index in the list of values, in order.
    pub fn places(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        (0..self.dim())
            .flat_map(move |r| (self.start[r]..self.start[r + 1]).map(move |k| (r, self.columns[k], k)))
    }

    /// out = A x for the matrix with these values.
    pub fn multiply(&self, values: &[f64], x: &[f64], out: &mut [f64]) {
        for (r, out) in out.iter_mut().enumerate() {
            let places = self.start[r]..self.start[r + 1];
            *out = places.map(|k| values[k] * x[self.columns[k]]).sum();
        }
    }
}
