//! Diagnosis of an unsolved problem: reason, location, and what to try.

use soleus_control::Collocation;
use soleus_control::transcription::Violation;
use soleus_optimization::nlp::{Solution, Status};

/// Constraints that are told of.
const WORST: usize = 3;

/// Describes why a solve failed at `x`.
pub fn describe(
    program: &mut Collocation,
    solution: &Solution,
    x: &[f64],
    tolerance: f64,
    saved: &str,
    is_resumable: bool,
) -> String {
    let worst = program.violations(x, tolerance);
    let violation = worst.first().map_or(solution.certificate.constraint_violation, |w| w.amount);
    let count = solution.counts.iterations;
    let mut text = match solution.status {
        // That it was stopped is said before.
        Status::Stopped => format!("stopped after {count} iterations, constraint violation {violation:.3e}"),
        status => {
            format!("{} after {count} iterations, constraint violation {violation:.3e}", status.describe())
        }
    };
    for v in worst.iter().take(WORST) {
        text.push_str(&format!("\n  {v}, off by {:.3e}", v.amount));
    }
    if worst.len() > WORST {
        text.push_str(&format!("\n  … and {} more", worst.len() - WORST));
    }
    let pressed = program.pressed_bounds(x, &solution.lower_multipliers, &solution.upper_multipliers);
    if solution.status == Status::Infeasible && !pressed.is_empty() {
        text.push_str(&format!("\n  most active bounds: {}", pressed.join(", ")));
    }
    text.push_str(saved);
    let hint = hint(solution.status, worst.first(), is_resumable);
    if !hint.is_empty() {
        text.push_str(&format!("\nhint: {hint}"));
    }
    text
}

/// Hint about controls that are linear within an interval.
pub fn hint_about_controls(status: Status) -> &'static str {
    match status {
        Status::NoProgress | Status::Infeasible | Status::IterationLimit => {
            "\nhint: controls are linear within each interval; for a motor or device without activation dynamics, such as an exoskeleton, free them (`interpolate_controls = false` in [solver])"
        }
        _ => "",
    }
}

/// What to try.
fn hint(status: Status, worst: Option<&Violation>, is_resumable: bool) -> String {
    let of = |kind: &str| worst.is_some_and(|w| w.name.starts_with(kind));
    match status {
        Status::Stopped if is_resumable => "continue with `--resume`".into(),
        Status::Stopped => String::new(),
        Status::IterationLimit if !is_resumable => "allow more iterations (`--max-iterations`)".into(),
        Status::IterationLimit => "continue with `--resume`, or allow more with `--max-iterations`".into(),
        Status::Infeasible | Status::NoProgress if of("path constraint") => {
            "widen the bounds of this path constraint, or start from a motion that satisfies it (`--guess`)"
                .into()
        }
        Status::Infeasible | Status::NoProgress if of("kinematic constraint") => {
            "the bounds of coordinates may contradict the constraints of the model at this time".into()
        }
        Status::Infeasible | Status::NoProgress if of("goal") => {
            "this goal cannot be satisfied within the bounds: widen them, or make it a cost".into()
        }
        Status::Infeasible => {
            "the equations cannot be satisfied within the bounds: widen the bounds of controls, speeds or the duration, or start from another motion (`--guess`)"
                .into()
        }
        Status::NoProgress => {
            "try a finer mesh (`--intervals`), a better initial guess (`--guess`), or a smaller initial barrier parameter (`--barrier 1e-3`)"
                .into()
        }
        Status::Diverging => "bound all variables, and check the signs of weights".into(),
        Status::NotFinite => {
            "the equations are not defined at the initial guess (for example, a fiber of zero length); give another (`--guess`)"
                .into()
        }
        Status::Solved | Status::Acceptable => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hint that an exoskeleton problem needed was missing.
    #[test]
    fn issue_everyday_hint_about_controls() {
        assert!(hint_about_controls(Status::NoProgress).contains("interpolate_controls = false"));
        assert_eq!(hint_about_controls(Status::Stopped), "");
    }
}
