//! Reads the motion from the variables of a program during a solve.

use super::evaluation::Sums;

/// Reads states over time from the variables of a program.
#[derive(Clone, Debug)]
pub struct StatesReader {
    /// Names of the states.
    pub names: Vec<String>,
    pub(super) variables: Vec<usize>,
    pub(super) sums: Sums,
    pub(super) full: Vec<f64>,
    pub(super) times: [usize; 2],
    /// Part of the duration, and the unknown of each state.
    pub(super) points: Vec<(f64, Vec<usize>)>,
}

impl StatesReader {
    /// Times, s, and the states at each time.
    pub fn read(&mut self, x: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        for (&i, &x) in self.variables.iter().zip(x) {
            self.full[i] = x;
        }
        for (i, terms) in &self.sums {
            self.full[*i] = terms.iter().map(|&(v, c)| c * self.full[v]).sum();
        }
        let [t0, tf] = self.times.map(|t| self.full[t]);
        let time = |&(tau, _): &(f64, Vec<usize>)| (1.0 - tau) * t0 + tau * tf;
        let row = |(_, states): &(f64, Vec<usize>)| states.iter().map(|&i| self.full[i]).collect();
        (self.points.iter().map(time).collect(), self.points.iter().map(row).collect())
    }
}
