//! Finds equations that no variable can be assigned to.

use soleus_optimization::SparsityPattern;
use std::collections::VecDeque;

const NONE: usize = usize::MAX;

/// The rows among `rows` that a largest matching of rows and columns leaves out (Hopcroft & Karp 1973).
pub(super) fn unmatched_rows(pattern: &SparsityPattern, rows: &[usize], columns: usize) -> Vec<usize> {
    let mut places = vec![Vec::new(); pattern.rows()];
    pattern.places().for_each(|(r, c)| places[r].push(c));
    let (mut row_of, mut column_of) = (vec![NONE; columns], vec![NONE; pattern.rows()]);
    // Most rows find a free column at once.
    for &r in rows {
        if let Some(&c) = places[r].iter().find(|&&c| row_of[c] == NONE) {
            (row_of[c], column_of[r]) = (r, c);
        }
    }
    let mut level = vec![NONE; pattern.rows()];
    loop {
        // Distances of rows from those without a column, along columns that are taken.
        level.fill(NONE);
        let mut queue: VecDeque<usize> = rows.iter().copied().filter(|&r| column_of[r] == NONE).collect();
        queue.iter().for_each(|&r| level[r] = 0);
        let mut reached = false;
        while let Some(r) = queue.pop_front() {
            for &c in &places[r] {
                match row_of[c] {
                    NONE => reached = true,
                    next if level[next] == NONE => {
                        level[next] = level[r] + 1;
                        queue.push_back(next);
                    }
                    _ => {}
                }
            }
        }
        if !reached {
            return rows.iter().copied().filter(|&r| column_of[r] == NONE).collect();
        }
        let mut tried = vec![0; pattern.rows()];
        let mut found = false;
        for &r in rows.iter().filter(|&&r| level[r] == 0) {
            found |= augment(r, &places, &level, (&mut row_of, &mut column_of), &mut tried);
        }
        if !found {
            return rows.iter().copied().filter(|&r| column_of[r] == NONE).collect();
        }
    }
}

/// Gives a row a column, moving others along a path of rising levels; whether that worked. `tried` counts the places of each
/// row that lead nowhere.
fn augment(
    start: usize,
    places: &[Vec<usize>],
    level: &[usize],
    (row_of, column_of): (&mut [usize], &mut [usize]),
    tried: &mut [usize],
) -> bool {
    let mut path = vec![start];
    while let Some(&r) = path.last() {
        let Some(&c) = places[r].get(tried[r]) else {
            path.pop();
            if let Some(&back) = path.last() {
                tried[back] += 1;
            }
            continue;
        };
        match row_of[c] {
            NONE => {
                // Every row on the path takes the column it stands at.
                for &r in &path {
                    let c = places[r][tried[r]];
                    (row_of[c], column_of[r]) = (r, c);
                }
                path.iter().for_each(|&r| tried[r] += 1);
                return true;
            }
            next if level[next] == level[r] + 1 && tried[next] < places[next].len() => path.push(next),
            _ => tried[r] += 1,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_matchings() {
        // Three equations in two variables: one is too many.
        let pattern = SparsityPattern::from_places(3, 3, vec![(0, 0), (0, 1), (1, 0), (2, 1), (2, 0)]);
        assert_eq!(unmatched_rows(&pattern, &[0, 1, 2], 3).len(), 1);
        // The first choice of row 0 must be undone twice.
        let pattern = SparsityPattern::from_places(3, 3, vec![(0, 0), (0, 1), (1, 0), (1, 2), (2, 0)]);
        assert!(unmatched_rows(&pattern, &[0, 1, 2], 3).is_empty());
        // An equation without variables.
        let pattern = SparsityPattern::from_places(2, 1, vec![(0, 0)]);
        assert_eq!(unmatched_rows(&pattern, &[0, 1], 1), [1]);
    }
}
