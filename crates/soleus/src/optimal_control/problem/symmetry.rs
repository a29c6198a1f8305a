//! Periodic motions: `symmetry` of a study.

use crate::context::Context;
use crate::error::Error;
use soleus_control::gait::Mirror;
use soleus_control::goal;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::problem::Goal;
use soleus_io::study;
use std::path::Path;

/// Differences between the sides that are named.
const NAMED: usize = 5;

/// The constraint between both ends, where the study asks for one.
pub(super) fn build(
    cx: &Context,
    path: &Path,
    s: &study::Problem,
    base: &ModelProblem,
) -> Result<Option<Goal>, Error> {
    let Some(symmetry) = &s.symmetry else { return Ok(None) };
    let mirror = Mirror::new(base).map_err(|e| {
        let hint = "use the same names on both sides except for `_r` and `_l`, or list the pairs in a goal of type `periodicity`";
        Error::content(path, 0, "", format!("`symmetry`: {e}"), hint)
    })?;
    let is_half = symmetry == "left-right";
    if is_half && !mirror.one_sided.is_empty() {
        let message =
            format!("`symmetry`: no counterpart on the other side: {}", mirror.one_sided.join(", "));
        return Err(Error::content(path, 0, "", message, "use a whole cycle: symmetry = \"cycle\""));
    }
    if is_half && !mirror.exceptions.is_empty() {
        let named: Vec<&str> = mirror.exceptions.iter().take(NAMED).map(String::as_str).collect();
        let more = mirror.exceptions.len().saturating_sub(NAMED);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        let message = format!("the sides of the model differ: {}{rest}", named.join(", "));
        cx.warn(path, message, "a symmetric half cycle needs a symmetric model");
    }
    Ok(Some(goal::periodicity("symmetry", &mirror.pairs(is_half))))
}
