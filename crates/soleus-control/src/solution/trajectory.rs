//! A motion with states, controls, multipliers and parameters.

use crate::problem::{Problem, Variable};
use crate::transcription::layout::{Layout, PointUnknowns};

/// Named quantities over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// Names.
    pub names: Vec<String>,
    /// Values, one row per time.
    pub rows: Vec<Vec<f64>>,
}

impl Columns {
    fn new(names: impl Iterator<Item = String>) -> Columns {
        Columns { names: names.collect(), rows: Vec::new() }
    }

    /// One quantity over time.
    pub fn column(&self, name: &str) -> Option<Vec<f64>> {
        let i = self.names.iter().position(|n| n == name)?;
        Some(self.rows.iter().map(|r| r[i]).collect())
    }
}

/// States, rates, controls, multipliers and parameters of a motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectory {
    /// Times, s, increasing.
    pub times: Vec<f64>,
    /// States x.
    pub states: Columns,
    /// Rates ẋ, with the names of the states.
    pub rates: Columns,
    /// Controls e.
    pub controls: Columns,
    /// Multipliers λ.
    pub multipliers: Columns,
    /// Names and values of parameters.
    pub parameters: Vec<(String, f64)>,
}

impl Trajectory {
    pub(crate) fn collect(problem: &Problem, layout: &Layout, full: &[f64]) -> Trajectory {
        let names = |list: &[Variable]| {
            Columns::new(list.iter().map(|v| v.name.clone()).collect::<Vec<_>>().into_iter())
        };
        let mut t = Trajectory {
            times: Vec::new(),
            states: names(&problem.states),
            rates: names(&problem.states),
            controls: names(&problem.controls),
            multipliers: names(&problem.multipliers),
            parameters: Vec::new(),
        };
        let [t0, tf] = layout.times.map(|i| full[i]);
        for p in &layout.points {
            let values = |list: &[usize]| list.iter().map(|&i| full[i]).collect::<Vec<_>>();
            t.times.push((1.0 - p.tau) * t0 + p.tau * tf);
            t.states.rows.push(values(&p.states));
            t.rates.rows.push(values(&p.rates));
            t.controls.rows.push(values(&p.controls));
            t.multipliers.rows.push(values(&p.multipliers));
        }
        // Controls that nothing asks for are half-way between their neighbours, or those of the only one.
        for (k, _) in layout.points.iter().enumerate().filter(|(_, p)| p.without_controls) {
            let last = layout.points.len() - 1;
            let (a, b) = (if k > 0 { k - 1 } else { 1 }, if k < last { k + 1 } else { last - 1 });
            let rows = &t.controls.rows;
            let mean = rows[a].iter().zip(&rows[b]).map(|(a, b)| 0.5 * (a + b)).collect();
            t.controls.rows[k] = mean;
        }
        let values = layout.parameters.iter().map(|&i| full[i]);
        t.parameters = problem.parameters.iter().map(|p| p.name.clone()).zip(values).collect();
        t
    }

    /// Writes times and states into the unknowns of a program, by name; the duration is stretched over theirs.
    pub(crate) fn spread_states(&self, problem: &Problem, layout: &Layout, full: &mut [f64]) {
        let (Some(&t0), Some(&tf)) = (self.times.first(), self.times.last()) else { return };
        full[layout.times[0]] = problem.initial_time.clamp(t0);
        full[layout.times[1]] = problem.final_time.clamp(tf);
        self.spread(&self.states, &problem.states, layout, full, |p| &p.states);
        // Between two rows whose rates are known, Hermite's cubic is nearer to the motion than a line.
        for (i, v) in problem.states.iter().enumerate() {
            let place = |c: &Columns| c.names.iter().position(|n| *n == v.name);
            let (Some(c), Some(r)) = (place(&self.states), place(&self.rates)) else { continue };
            for p in layout.points.iter().chain(&layout.projected) {
                if let Some(x) = self.cubic(c, r, t0 + p.tau * (tf - t0)) {
                    full[p.states[i]] = x;
                }
            }
        }
    }

    /// State `c` with rates in column `r` at a time, on the cubic between the two nearest rows; none beyond the ends.
    fn cubic(&self, c: usize, r: usize, time: f64) -> Option<f64> {
        let n = self.times.len().min(self.states.rows.len()).min(self.rates.rows.len());
        let k = self.times[..n].partition_point(|&t| t <= time);
        if k == 0 || k >= n {
            return None;
        }
        let h = self.times[k] - self.times[k - 1];
        let s = (time - self.times[k - 1]) / h;
        let (s2, s3) = (s * s, s * s * s);
        let (x, rate) = (|i: usize| self.states.rows[i][c], |i: usize| self.rates.rows[i][r]);
        // Rates that have nothing to do with the states, as where a scheme does not ask for them, are of no use.
        let (mean, sum) = ((x(k) - x(k - 1)) / h, rate(k).abs() + rate(k - 1).abs());
        if !((mean - 0.5 * (rate(k) + rate(k - 1))).abs() <= 0.5 * sum) {
            return None;
        }
        Some(
            (1.0 - 3.0 * s2 + 2.0 * s3) * x(k - 1)
                + (3.0 * s2 - 2.0 * s3) * x(k)
                + h * ((s - 2.0 * s2 + s3) * rate(k - 1) + (s3 - s2) * rate(k)),
        )
    }

    /// Writes all but the states.
    pub(crate) fn spread_others(&self, problem: &Problem, layout: &Layout, full: &mut [f64]) {
        for (p, &i) in problem.parameters.iter().zip(&layout.parameters) {
            if let Some(q) = self.parameters.iter().find(|q| q.0 == p.name) {
                full[i] = q.1;
            }
        }
        self.spread(&self.rates, &problem.states, layout, full, |p| &p.rates);
        self.spread(&self.controls, &problem.controls, layout, full, |p| &p.controls);
        self.spread(&self.multipliers, &problem.multipliers, layout, full, |p| &p.multipliers);
    }

    fn spread(
        &self,
        columns: &Columns,
        variables: &[Variable],
        layout: &Layout,
        full: &mut [f64],
        unknowns: fn(&PointUnknowns) -> &Vec<usize>,
    ) {
        let (Some(&t0), Some(&tf)) = (self.times.first(), self.times.last()) else { return };
        for (i, v) in variables.iter().enumerate() {
            let Some(c) = columns.names.iter().position(|n| *n == v.name) else { continue };
            for p in layout.points.iter().chain(&layout.projected) {
                full[unknowns(p)[i]] = self.interpolate(columns, c, t0 + p.tau * (tf - t0));
            }
        }
    }

    /// Column `c` at a time, on the line between the two nearest rows.
    fn interpolate(&self, columns: &Columns, c: usize, time: f64) -> f64 {
        let n = self.times.len().min(columns.rows.len());
        if n == 0 {
            return 0.0;
        }
        let k = self.times[..n].partition_point(|&t| t <= time).clamp(1, n.max(2) - 1);
        if n == 1 {
            return columns.rows[0][c];
        }
        let (a, b) = (self.times[k - 1], self.times[k]);
        let s = if b > a { ((time - a) / (b - a)).clamp(0.0, 1.0) } else { 0.0 };
        (1.0 - s) * columns.rows[k - 1][c] + s * columns.rows[k][c]
    }
}
