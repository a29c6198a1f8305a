//! Correspondence between unknowns of the program and variables of the problem.

use crate::problem::{PointVariable, Problem, Variable};

/// What a function is given.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Input {
    /// An unknown.
    Variable(usize),
    /// The time (1 − τ) t₀ + τ t_f.
    Time(f64),
    /// A number.
    Constant(f64),
}

/// The unknowns of one point of time. The rate of a state may be another state.
#[derive(Clone, Debug, Default)]
pub(crate) struct PointUnknowns {
    pub states: Vec<usize>,
    pub rates: Vec<usize>,
    pub controls: Vec<usize>,
    pub multipliers: Vec<usize>,
    /// Whether nothing asks for the controls, which are fixed then and mean nothing.
    pub without_controls: bool,
    /// Fraction τ of the duration.
    pub tau: f64,
    pub stage: u32,
}

/// All unknowns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// Every point of the grid.
    pub points: Vec<PointUnknowns>,
    /// Grid points that are mesh points.
    pub mesh: Vec<usize>,
    /// By interval: velocity corrections γ at its midpoint, or multipliers μ of its projection.
    pub slacks: Vec<Vec<usize>>,
    /// By interval: the states at its end before they are projected, with their rates.
    pub projected: Vec<PointUnknowns>,
    pub parameters: Vec<usize>,
    /// Unknowns of the initial point with their copies in the border.
    pub copies: Vec<(usize, usize)>,
    /// By integral: rows of the builder and the sums that they define, from interval to interval.
    pub sums: Vec<Vec<(usize, usize)>>,
    /// t₀ and t_f.
    pub times: [usize; 2],
}

impl Layout {
    /// What a function of the variables at one point is given.
    pub fn input(&self, point: &PointUnknowns, variable: PointVariable) -> Input {
        match variable {
            PointVariable::Time => Input::Time(point.tau),
            PointVariable::Phase => Input::Constant(point.tau),
            PointVariable::State(i) => Input::Variable(point.states[i]),
            PointVariable::Rate(i) => Input::Variable(point.rates[i]),
            PointVariable::Control(i) => Input::Variable(point.controls[i]),
            PointVariable::Multiplier(i) => Input::Variable(point.multipliers[i]),
            PointVariable::Parameter(i) => Input::Variable(self.parameters[i]),
        }
    }

    pub fn inputs(&self, point: &PointUnknowns, variables: &[PointVariable]) -> Vec<Input> {
        variables.iter().map(|&v| self.input(point, v)).collect()
    }

    /// What an unknown is called, and when it is, s; none for those that only the transcription has.
    pub fn name(&self, p: &Problem, unknown: usize, full: &[f64]) -> Option<(String, Option<f64>)> {
        let [t0, tf] = self.times;
        if unknown == t0 || unknown == tf {
            let which = if unknown == t0 { "initial" } else { "final" };
            return Some((format!("{which} time"), None));
        }
        if let Some(i) = self.parameters.iter().position(|&u| u == unknown) {
            return Some((p.parameters[i].name.clone(), None));
        }
        self.points.iter().find_map(|point| {
            let in_list = |list: &[usize], names: &[Variable], before: &str| {
                let i = list.iter().position(|&u| u == unknown)?;
                Some(format!("{before}{}", names[i].name))
            };
            let name = in_list(&point.states, &p.states, "")
                .or_else(|| in_list(&point.rates, &p.states, "rate of "))
                .or_else(|| in_list(&point.controls, &p.controls, ""))
                .or_else(|| in_list(&point.multipliers, &p.multipliers, ""))?;
            Some((name, Some((1.0 - point.tau) * full[t0] + point.tau * full[tf])))
        })
    }
}
