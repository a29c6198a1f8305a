//! Checks of a problem before it is solved.

use super::{Bounds, EndpointVariable, Goal, Mode, PointVariable, Problem, Variable};

/// Why a problem cannot be solved as stated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// Bounds that allow no value.
    #[error("{what}: the lower bound {lower} is above the upper bound {upper}; no value is allowed")]
    ImpossibleBounds {
        /// Name and location of the variable or constraint.
        what: String,
        /// Lower bound.
        lower: f64,
        /// Upper bound.
        upper: f64,
    },
    /// The final time cannot be after the initial time.
    #[error("the final time is at most {last} s, but the initial time is at least {first} s")]
    NoTime {
        /// Minimum initial time, s.
        first: f64,
        /// Maximum final time, s.
        last: f64,
    },
    /// Bounds of a state at an end that do not overlap with its bounds in between.
    #[error("{what} has bounds [{end_lower}, {end_upper}], outside the bounds [{lower}, {upper}] in between")]
    Disjoint {
        /// Name of the state, and the end.
        what: String,
        /// Lower bound at the end.
        end_lower: f64,
        /// Upper bound at the end.
        end_upper: f64,
        /// Lower bound between the ends.
        lower: f64,
        /// Upper bound between the ends.
        upper: f64,
    },
    /// A coordinate whose required change exceeds its speed bounds.
    #[error(
        "{name} must change by {distance:.4} in at most {duration:.4} s, but its speed stays within [{lower}, {upper}]"
    )]
    TooFast {
        /// Name of the state.
        name: String,
        /// Minimum change from the initial to the final time.
        distance: f64,
        /// Maximum duration, s.
        duration: f64,
        /// Minimum speed.
        lower: f64,
        /// Maximum speed.
        upper: f64,
    },
    /// A function with a wrong number of variables or bounds.
    #[error("{what}: {expected} expected, {found} given")]
    Sizes {
        /// Name.
        what: String,
        /// Number required by the function.
        expected: usize,
        /// Number in the problem.
        found: usize,
    },
    /// A goal depends on a variable that is not in the problem.
    #[error("{what} uses {variable}, which the problem does not have")]
    UnknownVariable {
        /// Name of the function.
        what: String,
        /// Name of the variable.
        variable: String,
    },
    /// A link to a missing phase.
    #[error("link {link} leads to phase {phase}, which the problem does not have")]
    NoPhase {
        /// Name of the link.
        link: String,
        /// Index of the phase, from 0.
        phase: usize,
    },
    /// A prescribed motion in a problem with free times.
    #[error("states are prescribed, so the initial and the final time must be fixed")]
    PrescribedNeedsTimes,
    /// Compressed collocation of a problem with free times.
    #[error("the compressed Hermite–Simpson scheme needs fixed times; fix them, or choose hermite-simpson")]
    CompressedNeedsTimes,
    /// Mesh points that do not increase from 0 to 1.
    #[error("the mesh must increase from 0 to 1; point {point} is {value}")]
    Mesh {
        /// Index of the point.
        point: usize,
        /// Its value.
        value: f64,
    },
    /// A method for kinematic constraints that the scheme does not support.
    #[error(
        "Posa's method for kinematic constraints needs the Hermite–Simpson scheme; choose it, or Bordalba's method"
    )]
    PosaNeedsHermiteSimpson,
}

impl Problem {
    /// Errors that make the problem infeasible as stated.
    pub fn errors(&self) -> Vec<ProblemError> {
        let mut errors = Vec::new();
        let mut bounds = |what: String, b: &Bounds| {
            if !b.is_possible() {
                errors.push(ProblemError::ImpossibleBounds { what, lower: b.lower, upper: b.upper });
            }
        };
        for v in self.states.iter().chain(&self.controls).chain(&self.multipliers) {
            bounds(v.name.clone(), &v.bounds);
            bounds(format!("{} at the initial time", v.name), &v.initial);
            bounds(format!("{} at the final time", v.name), &v.last);
        }
        for p in &self.parameters {
            bounds(format!("parameter {}", p.name), &p.bounds);
        }
        bounds("the initial time".into(), &self.initial_time);
        bounds("the final time".into(), &self.final_time);
        for c in &self.path_constraints {
            for (i, b) in c.bounds.iter().enumerate() {
                bounds(format!("path constraint {}, value {i}", c.name), b);
            }
        }
        if self.final_time.upper < self.initial_time.lower {
            errors.push(ProblemError::NoTime { first: self.initial_time.lower, last: self.final_time.upper });
        }
        let known = self.initial_time.is_fixed() && self.final_time.is_fixed();
        if !known && !self.prescribed.is_empty() {
            errors.push(ProblemError::PrescribedNeedsTimes);
        }
        self.size_errors(&mut errors);
        self.motion_errors(&mut errors);
        errors
    }

    /// States that cannot get from where they begin to where they end.
    fn motion_errors(&self, errors: &mut Vec<ProblemError>) {
        for v in &self.states {
            for (end, b) in [("initial", v.initial), ("final", v.last)] {
                if b.is_possible() && (b.upper < v.bounds.lower || b.lower > v.bounds.upper) {
                    errors.push(ProblemError::Disjoint {
                        what: format!("{} at the {end} time", v.name),
                        end_lower: b.lower,
                        end_upper: b.upper,
                        lower: v.bounds.lower,
                        upper: v.bounds.upper,
                    });
                }
            }
        }
        let duration = self.final_time.upper - self.initial_time.lower;
        for (v, rate) in self.states.iter().zip(&self.dynamics.chain) {
            let Some(speed) = rate.and_then(|r| self.states.get(r)) else { continue };
            // The least change upwards, and downwards.
            let (up, down) = (v.last.lower - v.initial.upper, v.last.upper - v.initial.lower);
            let slack = (1.0 + 1e-9) * duration;
            let distance = if up > 0.0 { up } else { down };
            if up > 0.0 && up > speed.bounds.upper * slack || down < 0.0 && down < speed.bounds.lower * slack
            {
                errors.push(ProblemError::TooFast {
                    name: v.name.clone(),
                    distance,
                    duration,
                    lower: speed.bounds.lower,
                    upper: speed.bounds.upper,
                });
            }
        }
    }

    /// Warnings about possible but unlikely settings.
    pub fn warnings(&self) -> Vec<String> {
        let mut list: Vec<String> =
            self.unused().iter().map(|name| format!("nothing depends on `{name}`")).collect();
        let cost = |g: &Goal| matches!(g.mode, Mode::Cost { weight } if weight != 0.0);
        if !self.goals.iter().any(cost) {
            list.push("nothing is minimised: any motion that satisfies the constraints is a solution".into());
        }
        for g in &self.goals {
            match g.mode {
                Mode::Cost { weight: 0.0 } => {
                    list.push(format!("goal `{}` has weight 0 and no effect", g.name))
                }
                Mode::Cost { weight } if weight < 0.0 => {
                    list.push(format!("goal `{}` has a negative weight: it is maximised", g.name));
                }
                _ => {}
            }
        }
        list
    }

    /// Functions that are given too little, too much or what there is not.
    fn size_errors(&self, errors: &mut Vec<ProblemError>) {
        let mut size = |what: String, expected: usize, found: usize| {
            if expected != found {
                errors.push(ProblemError::Sizes { what, expected, found });
            }
        };
        let d = &self.dynamics;
        let (nx, nl) = (self.states.len(), self.multipliers.len());
        size("inputs of the dynamics".into(), d.function.num_inputs(), self.point_variables().len());
        size("rows of the dynamics".into(), d.function.num_outputs(), nx + nl);
        size("chain of the states".into(), nx, d.chain.len());
        size("bounds of the rates".into(), nx, d.rate_bounds.len());
        for c in &self.path_constraints {
            size(format!("inputs of {}", c.name), c.term.function.num_inputs(), c.term.inputs.len());
            size(format!("bounds of {}", c.name), c.term.function.num_outputs(), c.bounds.len());
        }
        for g in &self.goals {
            for t in g.integrals.iter().flatten() {
                size(format!("inputs of {}", g.name), t.function.num_inputs(), t.inputs.len());
            }
            if let Some(e) = &g.endpoint {
                size(format!("inputs of {}", g.name), e.function.num_inputs(), e.inputs.len());
            }
            if let Mode::Constraint { bounds } = &g.mode {
                let values = g.endpoint.as_ref().map_or(1, |e| e.function.num_outputs());
                size(format!("bounds of {}", g.name), values, bounds.len());
            }
        }
        let mut asks = |what: &str, v: PointVariable| {
            if !self.has(v) {
                let variable = format!("{v:?}");
                errors.push(ProblemError::UnknownVariable { what: what.into(), variable });
            }
        };
        for c in &self.path_constraints {
            c.term.inputs.iter().for_each(|&v| asks(&c.name, v));
        }
        for g in &self.goals {
            g.integrals.iter().flatten().flat_map(|t| &t.inputs).for_each(|&v| asks(&g.name, v));
            for v in g.endpoint.iter().flat_map(|e| &e.inputs) {
                match *v {
                    EndpointVariable::Initial(v) | EndpointVariable::Last(v) => asks(&g.name, v),
                    EndpointVariable::Integral(_) => {}
                }
            }
        }
    }

    pub(super) fn has(&self, v: PointVariable) -> bool {
        match v {
            PointVariable::Time | PointVariable::Phase => true,
            PointVariable::State(i) | PointVariable::Rate(i) => i < self.states.len(),
            PointVariable::Control(i) => i < self.controls.len(),
            PointVariable::Multiplier(i) => i < self.multipliers.len(),
            PointVariable::Parameter(i) => i < self.parameters.len(),
        }
    }

    /// Controls and parameters on which neither the dynamics nor a goal or constraint depends.
    pub fn unused(&self) -> Vec<&str> {
        let all = self.point_variables();
        let mut used: Vec<PointVariable> =
            self.dynamics.function.jacobian_places().iter().map(|&(_, i)| all[i]).collect();
        used.extend(self.path_constraints.iter().flat_map(|c| c.term.inputs.iter().copied()));
        for g in &self.goals {
            used.extend(g.integrals.iter().flatten().flat_map(|t| t.inputs.iter().copied()));
            used.extend(g.endpoint.iter().flat_map(|e| &e.inputs).filter_map(|v| match *v {
                EndpointVariable::Initial(v) | EndpointVariable::Last(v) => Some(v),
                EndpointVariable::Integral(_) => None,
            }));
        }
        used.sort_unstable();
        used.dedup();
        let unused = |list: &'_ [Variable], of: fn(usize) -> PointVariable| -> Vec<usize> {
            (0..list.len()).filter(|&i| used.binary_search(&of(i)).is_err()).collect()
        };
        let controls = unused(&self.controls, PointVariable::Control);
        let parameters = unused(&self.parameters, PointVariable::Parameter);
        let names = controls.into_iter().map(|i| self.controls[i].name.as_str());
        names.chain(parameters.into_iter().map(|i| self.parameters[i].name.as_str())).collect()
    }
}
