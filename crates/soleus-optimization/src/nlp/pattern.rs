//! Sparsity pattern of a matrix.

/// Compressed rows: the columns of each row, increasing. Values are stored separately, in the same order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SparsityPattern {
    columns: usize,
    start: Vec<usize>,
    column: Vec<usize>,
}

impl SparsityPattern {
    /// From (row, column) positions, in any order, with or without duplicates.
    pub fn from_places(rows: usize, columns: usize, mut places: Vec<(usize, usize)>) -> Self {
        places.sort_unstable();
        places.dedup();
        let mut start = vec![0; rows + 1];
        for &(r, _) in &places {
            start[r + 1] += 1;
        }
        for r in 0..rows {
            start[r + 1] += start[r];
        }
        SparsityPattern { columns, start, column: places.into_iter().map(|p| p.1).collect() }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.column.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.column.is_empty()
    }

    /// The columns of a row, and the index of its first value.
    pub fn row(&self, row: usize) -> (&[usize], usize) {
        let (a, b) = (self.start[row], self.start[row + 1]);
        (&self.column[a..b], a)
    }

    /// Index of the value at a position, if it is in the pattern.
    pub fn position(&self, row: usize, column: usize) -> Option<usize> {
        let (columns, start) = self.row(row);
        columns.binary_search(&column).ok().map(|i| start + i)
    }

    /// All positions as (row, column), in the order of their values.
    pub fn places(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.rows()).flat_map(|r| self.row(r).0.iter().map(move |&c| (r, c)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_places_are_sorted_and_unique() {
        let p = SparsityPattern::from_places(2, 3, vec![(1, 2), (0, 1), (1, 0), (1, 2)]);
        assert_eq!(p.places().collect::<Vec<_>>(), [(0, 1), (1, 0), (1, 2)]);
        assert_eq!((p.position(1, 2), p.position(0, 0)), (Some(2), None));
    }
}
