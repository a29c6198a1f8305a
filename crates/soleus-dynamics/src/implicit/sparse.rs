//! A sparse matrix with a fixed pattern.

/// Compressed columns: the pattern is fixed, the values change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseMatrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Index of the first entry of each column in `row` and `value`; one more entry than columns.
    pub start: Vec<usize>,
    /// Row of each stored entry, increasing within a column.
    pub row: Vec<usize>,
    /// The entries.
    pub value: Vec<f64>,
}

impl SparseMatrix {
    /// From the given (row, column) positions; values are zero.
    pub fn with_pattern(rows: usize, columns: usize, mut places: Vec<(usize, usize)>) -> Self {
        places.sort_unstable_by_key(|&(r, c)| (c, r));
        places.dedup();
        let mut start = vec![0; columns + 1];
        for &(_, c) in &places {
            start[c + 1] += 1;
        }
        for c in 0..columns {
            start[c + 1] += start[c];
        }
        let row: Vec<usize> = places.iter().map(|p| p.0).collect();
        SparseMatrix { rows, columns, start, value: vec![0.0; row.len()], row }
    }

    /// Number of stored entries.
    pub fn num_entries(&self) -> usize {
        self.value.len()
    }

    /// Index of entry (row, column), if it is stored.
    pub fn position(&self, row: usize, column: usize) -> Option<usize> {
        let range = self.start[column]..self.start[column + 1];
        self.row[range.clone()].binary_search(&row).ok().map(|i| range.start + i)
    }

    /// Entry (row, column); zero if it is not stored.
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.position(row, column).map_or(0.0, |i| self.value[i])
    }

    /// y ← y + factor · A x.
    pub fn multiply_add(&self, factor: f64, x: &[f64], y: &mut [f64]) {
        for c in 0..self.columns {
            let xc = factor * x[c];
            for i in self.start[c]..self.start[c + 1] {
                y[self.row[i]] += self.value[i] * xc;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_small_matrix() {
        let mut a = SparseMatrix::with_pattern(2, 3, vec![(1, 2), (0, 0), (1, 0), (0, 0)]);
        assert_eq!(a.num_entries(), 3);
        for (r, c, v) in [(0, 0, 2.0), (1, 0, -1.0), (1, 2, 5.0)] {
            let i = a.position(r, c).unwrap();
            a.value[i] = v;
        }
        let mut y = [1.0, 1.0];
        a.multiply_add(2.0, &[1.0, 7.0, 3.0], &mut y);
        assert_eq!(y, [5.0, 29.0]);
        assert_eq!(a.at(0, 1), 0.0);
    }
}
