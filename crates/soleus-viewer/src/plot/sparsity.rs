//! Plots of the sparsity of matrices.

use crate::text::escape;
use std::fmt::Write as _;

/// One matrix of a sparsity plot.
#[derive(Clone, Debug, PartialEq)]
pub struct SparsityPanel {
    /// Title above it.
    pub title: String,
    /// Number of columns.
    pub columns: usize,
    /// Columns before which a thin line is drawn.
    pub column_lines: Vec<usize>,
    /// Rows and columns of the entries.
    pub entries: Vec<(usize, usize)>,
}

/// Matrices with the same rows side by side, with a black square for each entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Sparsity {
    /// Title above all matrices.
    pub title: String,
    /// Number of rows.
    pub rows: usize,
    /// Name and first row of each group of rows.
    pub row_groups: Vec<(String, usize)>,
    /// The matrices, from left to right.
    pub panels: Vec<SparsityPanel>,
}

/// Height of the matrices in the picture.
const HEIGHT: f64 = 480.0;
const LEFT: f64 = 110.0;
const TOP: f64 = 64.0;
const GAP: f64 = 28.0;

impl Sparsity {
    /// The plot as SVG.
    pub fn to_svg(&self) -> String {
        let cell = HEIGHT / self.rows.max(1) as f64;
        let width = |p: &SparsityPanel| (p.columns as f64 * cell).max(40.0);
        let total = LEFT + self.panels.iter().map(|p| width(p) + GAP).sum::<f64>();
        // Writing to a `String` cannot fail, so the results are dropped.
        let mut s = String::new();
        let _ = write!(
            s,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {total:.0} {:.0}\" font-family=\"sans-serif\" \
             font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"{LEFT}\" y=\"22\" font-size=\"15\">{}</text>\n",
            TOP + HEIGHT + 34.0,
            escape(&self.title)
        );
        for (i, (name, row)) in self.row_groups.iter().enumerate() {
            let end = self.row_groups.get(i + 1).map_or(self.rows, |g| g.1);
            if end > *row {
                let y = TOP + 0.5 * (row + end) as f64 * cell + 4.0;
                let _ = writeln!(
                    s,
                    "<text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>",
                    LEFT - 8.0,
                    escape(name)
                );
            }
        }
        let mut x0 = LEFT;
        for p in &self.panels {
            let w = p.columns as f64 * cell;
            let _ = writeln!(s, "<text x=\"{x0:.1}\" y=\"{:.1}\">{}</text>", TOP - 10.0, escape(&p.title));
            let below = format!("{} × {}, {} entries", self.rows, p.columns, p.entries.len());
            let _ = writeln!(
                s,
                "<text x=\"{x0:.1}\" y=\"{:.1}\" font-size=\"10\" fill=\"#555\">{below}</text>",
                TOP + HEIGHT + 16.0
            );
            let line = |s: &mut String, x1: f64, y1: f64, x2: f64, y2: f64| {
                let _ = writeln!(
                    s,
                    "<path d=\"M{x1:.2} {y1:.2}L{x2:.2} {y2:.2}\" stroke=\"#bbb\" stroke-width=\"0.5\"/>"
                );
            };
            for c in &p.column_lines {
                let x = x0 + *c as f64 * cell;
                line(&mut s, x, TOP, x, TOP + HEIGHT);
            }
            for (_, row) in &self.row_groups {
                let y = TOP + *row as f64 * cell;
                line(&mut s, x0, y, x0 + w, y);
            }
            // One path for all squares keeps the file small.
            s.push_str("<path d=\"");
            for (r, c) in &p.entries {
                let (x, y) = (x0 + *c as f64 * cell, TOP + *r as f64 * cell);
                let _ = write!(s, "M{x:.2} {y:.2}h{cell:.3}v{cell:.3}h-{cell:.3}z");
            }
            s.push_str("\"/>\n");
            let _ = writeln!(
                s,
                "<rect x=\"{x0:.2}\" y=\"{TOP}\" width=\"{w:.2}\" height=\"{HEIGHT}\" fill=\"none\" stroke=\"black\"/>"
            );
            x0 += width(p) + GAP;
        }
        s.push_str("</svg>\n");
        s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_one_square_for_each_entry() {
        let p = SparsityPanel {
            title: "∂f/∂x".into(),
            columns: 2,
            column_lines: vec![1],
            entries: vec![(0, 1), (2, 0), (1, 1)],
        };
        let s =
            Sparsity { title: "a < b".into(), rows: 3, row_groups: vec![("q".into(), 0)], panels: vec![p] };
        let svg = s.to_svg();
        // Each square closes with a `z` of its own; the words `font-size` have others.
        assert_eq!(svg.matches("h-160.000z").count(), 3);
        assert!(svg.contains("a &lt; b") && svg.contains("3 × 2, 3 entries"));
    }
}
