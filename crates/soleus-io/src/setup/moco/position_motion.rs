//! `PositionMotion`: prescribed motions of coordinates.

use crate::study::PrescribedCoordinate;
use soleus_model::{Diagnostics, Element};

/// Takes the `PositionMotion` out of a model, where it has one that is enabled.
pub(super) fn take(model: &mut Element, log: &mut Diagnostics) -> Vec<PrescribedCoordinate> {
    let Some(components) = model.child_mut("components") else { return Vec::new() };
    let Some(motion) = components.take_child("PositionMotion") else { return Vec::new() };
    if motion.child_text("default_enabled").is_some_and(|t| t == "false") {
        return Vec::new();
    }
    let set = motion.child("FunctionSet").and_then(|s| s.child("objects"));
    let mut list = Vec::new();
    for f in set.iter().flat_map(|s| s.children()) {
        if f.tag != "GCVSpline" {
            let message = format!("a coordinate is prescribed by a `{}`; only splines are supported", f.tag);
            log.error(f.line, f.name(), message, "");
            continue;
        }
        let numbers = |tag: &str| -> Vec<f64> {
            let text = f.child_text(tag).unwrap_or_default();
            text.split_whitespace().filter_map(|w| w.parse().ok()).collect()
        };
        let (x, y) = (numbers("x"), numbers("y"));
        if x.len() != y.len() {
            let message = format!("the spline has {} times and {} values", x.len(), y.len());
            log.error(f.line, f.name(), message, "");
            continue;
        }
        let half = f.child_text("half_order").and_then(|t| t.parse().ok()).unwrap_or(3usize);
        list.push(PrescribedCoordinate { path: f.name().to_string(), degree: 2 * half.max(1) - 1, x, y });
    }
    list
}
