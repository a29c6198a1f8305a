//! Elimination order for problems with a time structure.

use super::{SparsityPattern, Stages};

/// Coarse order of elimination, and unknowns that go together.
///
/// A variable that equations of two intervals touch (a state at a mesh point) separates what comes before it from what comes after. All
/// other unknowns, and the equations, belong to one interval; they go first, by least degree, so that a muscle meets the
/// coordinates that it crosses and no others. Separators go from both ends towards the middle, the border last: the two chains meet
/// only in the middle and may be eliminated at the same time.
///
/// A multiplier alone has no pivot, so every row gets a variable of its own to go with: one inside its interval where
/// there is one (the largest matching of rows and variables, by augmenting paths), which is so for all rows but as many as there are states
/// without a control of their own; these go with the separator that is eliminated first. Without pairs a walk in three dimensions
/// has half of its multipliers wait, front after front.
///
/// A row with a slack has a pivot of its own and needs no variable, and takes none from an equation that does; if it touches few, it goes first. Where
/// activation rates of 92 muscles are bounded by inequalities, these would otherwise take the variables of the muscles' equations.
pub(super) struct AlongTime {
    /// Group of each unknown: lower ones first.
    pub groups: Vec<u32>,
    /// A row and its variable.
    pub pairs: Vec<(u32, u32)>,
}

/// No partner.
const NONE: u32 = u32::MAX;

/// A row with a slack that touches more variables would join them all if it went first.
const FEW: usize = 64;

impl AlongTime {
    /// From the lower triangle of the KKT matrix, variables first.
    pub fn new(
        lower: &SparsityPattern,
        num_variables: usize,
        stages: &Stages,
        has_slack: &dyn Fn(usize) -> bool,
    ) -> Self {
        let n = num_variables;
        let num_rows = lower.rows() - n;
        let stage = &stages.of_variable;
        let last = stage.iter().copied().filter(|&s| s != Stages::BORDER).max().unwrap_or(0);
        let columns = |row: usize| lower.row(n + row).0.iter().copied().take_while(|&c| c < n);

        // Rows that touch two stages link them. A variable is a separator if it has links to both sides.
        let links: Vec<Option<u32>> = (0..num_rows)
            .map(|row| {
                let of_row = || columns(row).map(|c| stage[c]).filter(|&s| s != Stages::BORDER);
                let first = of_row().min()?;
                (of_row().max()? > first).then_some(first)
            })
            .collect();
        let mut seen = vec![NONE; n];
        let mut is_separator = vec![false; n];
        for row in 0..num_rows {
            let Some(link) = links[row] else { continue };
            for c in columns(row) {
                if seen[c] == NONE {
                    seen[c] = link;
                } else if seen[c] != link {
                    is_separator[c] = true;
                }
            }
        }

        // Both ends first, the middle last, then the border.
        let middle = last / 2;
        let mut groups: Vec<u32> = (0..n)
            .map(|i| match stage[i] {
                Stages::BORDER => u32::MAX,
                _ if !is_separator[i] => 0,
                s if s == middle => u32::MAX - 1,
                s if s < middle => 1 + s,
                s => 2 + middle + (last - s),
            })
            .collect();

        // Equations of one stage choose first, so that those left over link two.
        let mut degree = vec![0u32; n];
        for (r, c) in lower.places() {
            for i in [r, c] {
                if i < n {
                    degree[i] += 1;
                }
            }
        }
        let choices = |row: usize, separators: bool| -> Vec<u32> {
            let fit = |c: &usize| stage[*c] != Stages::BORDER && is_separator[*c] == separators;
            let mut list: Vec<u32> = columns(row).filter(fit).map(|c| c as u32).collect();
            list.sort_by_key(|&c| (groups[c as usize], degree[c as usize], c));
            list
        };
        let mut sequence: Vec<usize> = (0..num_rows).filter(|&row| !has_slack(row)).collect();
        let inside: Vec<Vec<u32>> =
            (0..num_rows).map(|row| if has_slack(row) { Vec::new() } else { choices(row, false) }).collect();
        sequence.sort_by_key(|&row| (links[row].is_some(), inside[row].len(), row));
        let mut matching = Matching { of_variable: vec![NONE; n], of_row: vec![NONE; num_rows] };
        matching.grow(&inside, &sequence);
        drop(inside);
        let outside: Vec<Vec<u32>> = (0..num_rows)
            .map(|row| {
                let alone = matching.of_row[row] == NONE && !has_slack(row);
                if alone { choices(row, true) } else { Vec::new() }
            })
            .collect();
        sequence.retain(|&row| !outside[row].is_empty());
        matching.grow(&outside, &sequence);

        // A row without a variable goes when all of its own have gone.
        let mut pairs = Vec::with_capacity(num_rows);
        for row in 0..num_rows {
            match matching.of_row[row] {
                NONE if has_slack(row) && columns(row).count() <= FEW => groups.push(0),
                NONE => groups.push(columns(row).map(|c| groups[c]).max().unwrap_or(u32::MAX)),
                c => {
                    groups.push(groups[c as usize]);
                    pairs.push(((n + row) as u32, c));
                }
            }
        }
        AlongTime { groups, pairs }
    }
}

/// Which row has which variable.
struct Matching {
    of_variable: Vec<u32>,
    of_row: Vec<u32>,
}

impl Matching {
    /// Gives variables to as many of these rows as possible, in their order; a row that has one keeps one.
    fn grow(&mut self, choices: &[Vec<u32>], sequence: &[usize]) {
        // What a search without success has seen leads nowhere later either, so marks stay.
        let mut dead = vec![false; self.of_variable.len()];
        let mut path: Vec<(usize, usize)> = Vec::new();
        let mut marked: Vec<u32> = Vec::new();
        for &row in sequence {
            if let Some(&c) = choices[row].iter().find(|&&c| self.of_variable[c as usize] == NONE) {
                self.of_variable[c as usize] = row as u32;
                self.of_row[row] = c;
                continue;
            }
            // Depth first: a variable that another row holds is free if that row finds another one.
            path.clear();
            path.push((row, 0));
            marked.clear();
            let mut found = false;
            while let Some(&mut (at, ref mut next)) = path.last_mut() {
                let Some(&c) = choices[at].get(*next) else {
                    path.pop();
                    continue;
                };
                *next += 1;
                if dead[c as usize] {
                    continue;
                }
                dead[c as usize] = true;
                marked.push(c);
                let holder = self.of_variable[c as usize];
                if holder == NONE {
                    found = true;
                    break;
                }
                path.push((holder as usize, 0));
            }
            if found {
                for &(at, next) in &path {
                    let c = choices[at][next - 1];
                    self.of_variable[c as usize] = at as u32;
                    self.of_row[at] = c;
                }
                marked.iter().for_each(|&c| dead[c as usize] = false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nlp::KktPattern;

    /// A state over three intervals with a point inside each: variables x and rate at points 0..=6, a control at each; rows: dynamics
    /// at each point, two defects in each interval, which touch its three states, a rate and the border.
    fn chain() -> (KktPattern, Stages) {
        let (points, border) = (7, 21);
        let mut places = Vec::new();
        let (mut of_constraint, mut row) = (Vec::new(), 0);
        for k in 0..points {
            places.extend([(row, 3 * k), (row, 3 * k + 1), (row, 3 * k + 2)]);
            of_constraint.push((k / 2) as u32);
            row += 1;
        }
        for interval in 0..3 {
            for j in 1..=2 {
                places.extend((0..3).map(|p| (row, 3 * (2 * interval + p))));
                places.extend([(row, 3 * (2 * interval + j) + 1), (row, border)]);
                of_constraint.push(interval as u32);
                row += 1;
            }
        }
        let of_variable = (0..points).flat_map(|k| [(k / 2) as u32; 3]).chain([Stages::BORDER]).collect();
        let jacobian = SparsityPattern::from_places(row, 22, places);
        let hessian = SparsityPattern::from_places(22, 22, vec![]);
        (KktPattern::new(&hessian, &jacobian), Stages { of_variable, of_constraint })
    }

    #[test]
    fn analytic_states_at_mesh_points_separate_intervals() {
        let (pattern, stages) = chain();
        let order = AlongTime::new(&pattern.lower, 22, &stages, &|_| false);
        // Only states at the inner mesh points 2 and 4 meet equations of two intervals.
        let later: Vec<usize> = (0..21).filter(|&i| order.groups[i] > 0).collect();
        assert_eq!(later, [6, 12]);
        assert_eq!(order.groups[21], u32::MAX);
        // The middle stage goes after the ends.
        assert!(order.groups[6] > order.groups[12]);
    }

    #[test]
    fn identity_every_row_has_a_variable_of_its_own() {
        let (pattern, stages) = chain();
        let order = AlongTime::new(&pattern.lower, 22, &stages, &|_| false);
        assert_eq!(order.pairs.len(), 13);
        let mut variables: Vec<u32> = order.pairs.iter().map(|p| p.1).collect();
        variables.sort_unstable();
        variables.dedup();
        assert_eq!(variables.len(), 13);
        for &(row, c) in &order.pairs {
            assert!(pattern.lower.position(row as usize, c as usize).is_some(), "{row} {c}");
            assert_eq!(order.groups[row as usize], order.groups[c as usize]);
        }
    }

    /// A row with a slack leaves the variables to the equations and goes first.
    #[test]
    fn identity_rows_with_slacks_take_no_variable() {
        let (pattern, stages) = chain();
        let order = AlongTime::new(&pattern.lower, 22, &stages, &|row| row == 3);
        assert_eq!(order.pairs.len(), 12);
        assert!(order.pairs.iter().all(|p| p.0 != 22 + 3));
        assert_eq!(order.groups[22 + 3], 0);
    }

    #[test]
    fn analytic_augmenting_paths_find_the_largest_matching() {
        // Row 2 gets its one variable only if row 0 and row 1 move on.
        let choices = vec![vec![0, 1], vec![1, 2], vec![0], vec![0]];
        let mut m = Matching { of_variable: vec![NONE; 3], of_row: vec![NONE; 4] };
        m.grow(&choices, &[0, 1, 2, 3]);
        assert_eq!(m.of_row, [1, 2, 0, NONE]);
        assert_eq!(m.of_variable, [2, 0, 1]);
    }
}
