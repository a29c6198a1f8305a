//! The curves of Millard's muscles, as chains of Bézier corners.
//!
//! Source: Millard, Uchida, Seth and Delp (2013), figure 3 and its supplement; the placing of the knots
//! follows OpenSim's SmoothSegmentedFunctionFactory.

use super::curve_cache::CurveCache;
use super::error::{MuscleError, require};
use soleus_math::bezier::{BezierCurve, Knot, knot};
use soleus_model::muscle::{
    ActiveForceLengthCurve, FiberForceLengthCurve, ForceVelocityCurve, TendonForceLengthCurve,
};
use std::sync::Arc;

/// A curve, perhaps shared with other muscles, or what is wrong with its parameters.
pub type Curve = Result<Arc<BezierCurve>, MuscleError>;

fn chain(cache: &mut CurveCache, curve: &'static str, knots: &[Knot], curviness: &[f64]) -> Curve {
    cache.chain(knots, curviness).map_err(|source| MuscleError::Curve { curve, source })
}

/// Active force–length multiplier against normalized fiber length: steep and shallow ascending limb,
/// rounded plateau at 1, straight descending limb.
pub fn active_force_length(p: &ActiveForceLengthCurve, cache: &mut CurveCache) -> Curve {
    let curve = "ActiveForceLengthCurve";
    let (x0, x1, x3) =
        (p.min_norm_active_fiber_length, p.transition_norm_fiber_length, p.max_norm_active_fiber_length);
    let (slope, low) = (p.shallow_ascending_slope, p.minimum_value);
    require("min_norm_active_fiber_length", x0, x0 >= 0.0, "at least zero")?;
    let ok = x1 > x0 && x1 < 1.0;
    require("transition_norm_fiber_length", x1, ok, "between the minimum active fiber length and 1")?;
    require("max_norm_active_fiber_length", x3, x3 > 1.0, "greater than 1")?;
    require("minimum_value", low, low >= 0.0, "at least zero")?;
    let ok = slope >= 0.0 && slope < 1.0 / (1.0 - x1);
    require("shallow_ascending_slope", slope, ok, "in [0, 1/(1 − transition_norm_fiber_length))")?;

    // The plateau is rounded over 5 % of its length on each side.
    let x2 = 1.0;
    let round = 0.05 * x2;
    let x_shoulder = x2 - round;
    let y1 = 1.0 - slope * (x_shoulder - x1);
    let steep = 1.25 * y1 / (x1 - x0);
    let descending = -1.0 / ((x3 - round) - (x2 + round));
    chain(
        cache,
        curve,
        &[
            knot(x0, low, 0.0),
            knot(x0 + 0.5 * (x1 - x0), 0.5 * y1, steep),
            knot(x1 + 0.5 * (x_shoulder - x1), y1 + 0.5 * (1.0 - y1), slope),
            knot(x2, 1.0, 0.0),
            knot((x2 + round) + 0.5 * (x3 - (x2 + round)), 0.5, descending),
            knot(x3, low, 0.0),
        ],
        // The curviness is not a property; OpenSim uses 1.
        &[1.0; 5],
    )
}

/// The knots of the force–velocity curve: at and near the largest velocities, and at rest.
fn force_velocity_knots(p: &ForceVelocityCurve) -> Result<[Knot; 5], MuscleError> {
    let (at_c, near_c, iso) = (p.concentric_slope_at_vmax, p.concentric_slope_near_vmax, p.isometric_slope);
    let (at_e, near_e) = (p.eccentric_slope_at_vmax, p.eccentric_slope_near_vmax);
    let top = p.max_eccentric_velocity_force_multiplier;
    require("concentric_slope_at_vmax", at_c, (0.0..1.0).contains(&at_c), "in [0, 1)")?;
    let ok = near_c > at_c && near_c < iso;
    require("concentric_slope_near_vmax", near_c, ok, "between the slope at vmax and the isometric slope")?;
    require("isometric_slope", iso, iso > 1.0, "greater than 1")?;
    require("max_eccentric_velocity_force_multiplier", top, top > 1.0, "greater than 1")?;
    require("eccentric_slope_at_vmax", at_e, (0.0..top - 1.0).contains(&at_e), "in [0, fmax − 1)")?;
    let ok = near_e >= at_e && near_e < iso;
    require("eccentric_slope_near_vmax", near_e, ok, "between the slope at vmax and the isometric slope")?;

    Ok([
        knot(-1.0, 0.0, at_c),
        knot(-0.9, 0.5 * 0.1 * near_c + 0.5 * 0.1 * at_c, near_c),
        knot(0.0, 1.0, iso),
        knot(0.9, top - 0.5 * 0.1 * near_e - 0.5 * 0.1 * at_e, near_e),
        knot(1.0, top, at_e),
    ])
}

/// Force–velocity multiplier against normalized fiber velocity.
pub fn force_velocity(p: &ForceVelocityCurve, cache: &mut CurveCache) -> Curve {
    let (c, e) = (p.concentric_curviness, p.eccentric_curviness);
    chain(cache, "ForceVelocityCurve", &force_velocity_knots(p)?, &[c, c, e, e])
}

/// Normalized fiber velocity against force–velocity multiplier. End slopes are half the slopes near the
/// ends, so that the inverse is finite everywhere.
pub fn force_velocity_inverse(p: &ForceVelocityCurve, cache: &mut CurveCache) -> Curve {
    let p = ForceVelocityCurve {
        concentric_slope_at_vmax: 0.5 * p.concentric_slope_near_vmax,
        eccentric_slope_at_vmax: 0.5 * p.eccentric_slope_near_vmax,
        ..p.clone()
    };
    let (c, e) = (p.concentric_curviness, p.eccentric_curviness);
    let knots = force_velocity_knots(&p)?.map(|k| knot(k.y, k.x, 1.0 / k.slope));
    chain(cache, "ForceVelocityInverseCurve", &knots, &[c, c, e, e])
}

/// Passive force multiplier against normalized fiber length.
pub fn fiber_force_length(p: &FiberForceLengthCurve, cache: &mut CurveCache) -> Curve {
    let curve = "FiberForceLengthCurve";
    let (e0, e1) = (p.strain_at_zero_force, p.strain_at_one_norm_force);
    require("strain_at_zero_force", e0, true, "finite")?;
    require("strain_at_one_norm_force", e1, e1 > e0, "greater than the strain at zero force")?;
    let (low, one, curviness) = match (p.stiffness_at_low_force, p.stiffness_at_one_norm_force, p.curviness) {
        (None, None, None) => (0.2, 2.0 / (e1 - e0), 0.75),
        (Some(low), Some(one), Some(curviness)) => (low, one, curviness),
        _ => return Err(MuscleError::PartlyGiven { curve }),
    };
    let ok = one > 1.0 / (e1 - e0);
    require("stiffness_at_one_norm_force", one, ok, "greater than 1/(strain at one − at zero force)")?;
    let ok = low > 0.0 && low < one;
    require("stiffness_at_low_force", low, ok, "between zero and the stiffness at one norm force")?;

    let (x0, x1) = (1.0 + e0, 1.0 + e1);
    let foot = (0.1 / one).min(0.1 * (x1 - x0));
    chain(
        cache,
        curve,
        &[knot(x0, 0.0, 0.0), knot(x0 + foot, 0.5 * low * foot, low), knot(x1, 1.0, one)],
        &[curviness, curviness],
    )
}

/// Tendon force multiplier against normalized tendon length.
pub fn tendon_force_length(p: &TendonForceLengthCurve, cache: &mut CurveCache) -> Curve {
    let curve = "TendonForceLengthCurve";
    let e1 = p.strain_at_one_norm_force;
    require("strain_at_one_norm_force", e1, e1 > 0.0, "greater than zero")?;
    let (k1, toe, curviness) = match (p.stiffness_at_one_norm_force, p.norm_force_at_toe_end, p.curviness) {
        (None, None, None) => (1.375 / e1, 2.0 / 3.0, 0.5),
        (Some(k1), Some(toe), Some(curviness)) => (k1, toe, curviness),
        _ => return Err(MuscleError::PartlyGiven { curve }),
    };
    require("norm_force_at_toe_end", toe, toe > 0.0 && toe < 1.0, "between 0 and 1")?;
    require("stiffness_at_one_norm_force", k1, k1 > 1.0 / e1, "greater than 1/strain_at_one_norm_force")?;

    let x1 = 1.0 + e1;
    let x_toe = x1 + (toe - 1.0) / k1;
    let x_foot = 1.0 + 0.1 * (x_toe - 1.0);
    let y_mid = 0.5 * toe;
    let x_mid = x1 + (y_mid - 1.0) / k1;
    let slope = y_mid / (x_mid - x_foot);
    let x_c = x_foot + 0.5 * (x_mid - x_foot);
    chain(
        cache,
        curve,
        &[knot(1.0, 0.0, 0.0), knot(x_c, slope * (x_c - x_foot), slope), knot(x_toe, toe, k1)],
        &[curviness, curviness],
    )
}
