//! The curves of Millard's muscles, as chains of Bézier corners.
//!
//! Source: Millard, Uchida, Seth and Delp (2013), figure 3 and its supplement; the placing of the knots
//! follows OpenSim's SmoothSegmentedFunctionFactory.

use super::curve_cache::CurveCache;
use super::error::{MuscleError, require};
use crate::constants::Constants;
use soleus_math::Real;
use soleus_math::bezier::{BezierCurve, Knot, knot};
use soleus_model::muscle::{
    ActiveForceLengthCurve, FiberForceLengthCurve, ForceVelocityCurve, TendonForceLengthCurve,
};
use std::sync::Arc;

/// A curve, possibly shared with other muscles, or an error in its parameters.
pub type Curve<P = f64> = Result<Arc<BezierCurve<P>>, MuscleError>;

fn chain<P: Real>(
    cache: &mut CurveCache<P>,
    curve: &'static str,
    knots: &[Knot<P>],
    curviness: &[P],
) -> Curve<P> {
    cache.chain(knots, curviness).map_err(|source| MuscleError::Curve { curve, source })
}

/// The numbers of an [`ActiveForceLengthCurve`], as constants of type `P`.
#[derive(Clone, Copy, Debug)]
pub struct ActiveShape<P> {
    /// `min_norm_active_fiber_length`.
    pub shortest: P,
    /// `transition_norm_fiber_length`.
    pub transition: P,
    /// `max_norm_active_fiber_length`.
    pub longest: P,
    /// `shallow_ascending_slope`.
    pub slope: P,
    /// `minimum_value`.
    pub low: P,
}

impl<P: Real> ActiveShape<P> {
    /// Converts each number to a constant by its name.
    pub fn new(p: &ActiveForceLengthCurve, constant: &mut Constants<P>) -> Self {
        let mut of = |name: &str, value| constant(&format!("ActiveForceLengthCurve/{name}"), value);
        ActiveShape {
            shortest: of("min_norm_active_fiber_length", p.min_norm_active_fiber_length),
            transition: of("transition_norm_fiber_length", p.transition_norm_fiber_length),
            longest: of("max_norm_active_fiber_length", p.max_norm_active_fiber_length),
            slope: of("shallow_ascending_slope", p.shallow_ascending_slope),
            low: of("minimum_value", p.minimum_value),
        }
    }
}

/// The numbers of a [`ForceVelocityCurve`], as constants of type `P`.
#[derive(Clone, Copy, Debug)]
pub struct VelocityShape<P> {
    /// `concentric_slope_at_vmax`.
    pub at_c: P,
    /// `concentric_slope_near_vmax`.
    pub near_c: P,
    /// `isometric_slope`.
    pub isometric: P,
    /// `eccentric_slope_at_vmax`.
    pub at_e: P,
    /// `eccentric_slope_near_vmax`.
    pub near_e: P,
    /// `max_eccentric_velocity_force_multiplier`.
    pub top: P,
    /// `concentric_curviness`.
    pub curviness_c: P,
    /// `eccentric_curviness`.
    pub curviness_e: P,
}

impl<P: Real> VelocityShape<P> {
    /// Converts each number to a constant by its name.
    pub fn new(p: &ForceVelocityCurve, constant: &mut Constants<P>) -> Self {
        let mut of = |name: &str, value| constant(&format!("ForceVelocityCurve/{name}"), value);
        VelocityShape {
            at_c: of("concentric_slope_at_vmax", p.concentric_slope_at_vmax),
            near_c: of("concentric_slope_near_vmax", p.concentric_slope_near_vmax),
            isometric: of("isometric_slope", p.isometric_slope),
            at_e: of("eccentric_slope_at_vmax", p.eccentric_slope_at_vmax),
            near_e: of("eccentric_slope_near_vmax", p.eccentric_slope_near_vmax),
            top: of("max_eccentric_velocity_force_multiplier", p.max_eccentric_velocity_force_multiplier),
            curviness_c: of("concentric_curviness", p.concentric_curviness),
            curviness_e: of("eccentric_curviness", p.eccentric_curviness),
        }
    }

    fn curviness(&self) -> [P; 4] {
        [self.curviness_c, self.curviness_c, self.curviness_e, self.curviness_e]
    }
}

/// Active force–length multiplier as a function of normalized fiber length: steep and shallow ascending limb, rounded
/// plateau at 1, linear descending limb.
pub fn active_force_length(p: &ActiveForceLengthCurve, cache: &mut CurveCache) -> Curve {
    active_curve(&ActiveShape::new(p, &mut |_, value| value), cache)
}

/// The same for numbers with derivatives.
pub fn active_curve<P: Real>(p: &ActiveShape<P>, cache: &mut CurveCache<P>) -> Curve<P> {
    let curve = "ActiveForceLengthCurve";
    let [x0, x1, x3] = [p.shortest, p.transition, p.longest].map(P::value);
    let (slope, low) = (p.slope.value(), p.low.value());
    require("min_norm_active_fiber_length", x0, x0 >= 0.0, "at least zero")?;
    let ok = x1 > x0 && x1 < 1.0;
    require("transition_norm_fiber_length", x1, ok, "between the minimum active fiber length and 1")?;
    require("max_norm_active_fiber_length", x3, x3 > 1.0, "greater than 1")?;
    require("minimum_value", low, low >= 0.0, "at least zero")?;
    let ok = slope >= 0.0 && slope < 1.0 / (1.0 - x1);
    require("shallow_ascending_slope", slope, ok, "in [0, 1/(1 − transition_norm_fiber_length))")?;

    // The plateau is rounded over 5 % of its length on each side.
    let (x0, x1, x3, slope, low) = (p.shortest, p.transition, p.longest, p.slope, p.low);
    let (x2, zero, one) = (1.0, P::zero(), P::one());
    let round = 0.05 * x2;
    let x_shoulder = x2 - round;
    let y1 = one - slope * (-x1 + x_shoulder);
    let steep = y1 * 1.25 / (x1 - x0);
    let descending = P::cst(-1.0) / ((x3 - round) - (x2 + round));
    chain(
        cache,
        curve,
        &[
            knot(x0, low, zero),
            knot(x0 + (x1 - x0) * 0.5, y1 * 0.5, steep),
            knot(x1 + (-x1 + x_shoulder) * 0.5, y1 + (one - y1) * 0.5, slope),
            knot(P::cst(x2), one, zero),
            knot((x3 - (x2 + round)) * 0.5 + (x2 + round), P::cst(0.5), descending),
            knot(x3, low, zero),
        ],
        // The curviness is not a property; OpenSim uses 1.
        &[one; 5],
    )
}

/// The knots of the force–velocity curve: at and near the largest velocities, and at rest.
fn force_velocity_knots<P: Real>(p: &VelocityShape<P>) -> Result<[Knot<P>; 5], MuscleError> {
    let [at_c, near_c, iso] = [p.at_c, p.near_c, p.isometric].map(P::value);
    let [at_e, near_e, top] = [p.at_e, p.near_e, p.top].map(P::value);
    require("concentric_slope_at_vmax", at_c, (0.0..1.0).contains(&at_c), "in [0, 1)")?;
    let ok = near_c > at_c && near_c < iso;
    require("concentric_slope_near_vmax", near_c, ok, "between the slope at vmax and the isometric slope")?;
    require("isometric_slope", iso, iso > 1.0, "greater than 1")?;
    require("max_eccentric_velocity_force_multiplier", top, top > 1.0, "greater than 1")?;
    require("eccentric_slope_at_vmax", at_e, (0.0..top - 1.0).contains(&at_e), "in [0, fmax − 1)")?;
    let ok = near_e >= at_e && near_e < iso;
    require("eccentric_slope_near_vmax", near_e, ok, "between the slope at vmax and the isometric slope")?;

    let half = 0.5 * 0.1;
    Ok([
        knot(P::cst(-1.0), P::zero(), p.at_c),
        knot(P::cst(-0.9), p.near_c * half + p.at_c * half, p.near_c),
        knot(P::zero(), P::one(), p.isometric),
        knot(P::cst(0.9), p.top - p.near_e * half - p.at_e * half, p.near_e),
        knot(P::one(), p.top, p.at_e),
    ])
}

/// Force–velocity multiplier as a function of normalized fiber velocity.
pub fn force_velocity(p: &ForceVelocityCurve, cache: &mut CurveCache) -> Curve {
    velocity_curve(&VelocityShape::new(p, &mut |_, value| value), cache)
}

/// The same for numbers with derivatives.
pub fn velocity_curve<P: Real>(p: &VelocityShape<P>, cache: &mut CurveCache<P>) -> Curve<P> {
    chain(cache, "ForceVelocityCurve", &force_velocity_knots(p)?, &p.curviness())
}

/// Normalized fiber velocity as a function of the force–velocity multiplier. End slopes are half the slopes near the
/// ends, so that the inverse is finite everywhere.
pub fn force_velocity_inverse(p: &ForceVelocityCurve, cache: &mut CurveCache) -> Curve {
    inverse_velocity_curve(&VelocityShape::new(p, &mut |_, value| value), cache)
}

/// The same for numbers with derivatives.
pub fn inverse_velocity_curve<P: Real>(p: &VelocityShape<P>, cache: &mut CurveCache<P>) -> Curve<P> {
    let p = VelocityShape { at_c: p.near_c * 0.5, at_e: p.near_e * 0.5, ..*p };
    let knots = force_velocity_knots(&p)?.map(|k| knot(k.y, k.x, k.slope.recip()));
    chain(cache, "ForceVelocityInverseCurve", &knots, &p.curviness())
}

/// Passive force multiplier as a function of normalized fiber length.
pub fn fiber_force_length(p: &FiberForceLengthCurve, cache: &mut CurveCache) -> Curve {
    fiber_curve(p, cache, &mut |_, value| value)
}

/// The same with each number converted to a constant by its name.
pub fn fiber_curve<P: Real>(
    p: &FiberForceLengthCurve,
    cache: &mut CurveCache<P>,
    constant: &mut Constants<P>,
) -> Curve<P> {
    let curve = "FiberForceLengthCurve";
    let mut of = |name: &str, value| constant(&format!("{curve}/{name}"), value);
    let e0 = of("strain_at_zero_force", p.strain_at_zero_force);
    let e1 = of("strain_at_one_norm_force", p.strain_at_one_norm_force);
    require("strain_at_zero_force", e0.value(), true, "finite")?;
    let ok = e1.value() > e0.value();
    require("strain_at_one_norm_force", e1.value(), ok, "greater than the strain at zero force")?;
    let (low, stiff, curviness) = match (p.stiffness_at_low_force, p.stiffness_at_one_norm_force, p.curviness)
    {
        (None, None, None) => (P::cst(0.2), P::cst(2.0) / (e1 - e0), P::cst(0.75)),
        (Some(low), Some(stiff), Some(curviness)) => (
            of("stiffness_at_low_force", low),
            of("stiffness_at_one_norm_force", stiff),
            of("curviness", curviness),
        ),
        _ => return Err(MuscleError::PartlyGiven { curve }),
    };
    let (low_value, stiff_value) = (low.value(), stiff.value());
    let ok = stiff_value > 1.0 / (e1 - e0).value();
    require(
        "stiffness_at_one_norm_force",
        stiff_value,
        ok,
        "greater than 1/(strain at one − at zero force)",
    )?;
    let ok = low_value > 0.0 && low_value < stiff_value;
    require("stiffness_at_low_force", low_value, ok, "between zero and the stiffness at one norm force")?;

    let (x0, x1) = (e0 + 1.0, e1 + 1.0);
    let foot = (P::cst(0.1) / stiff).min((x1 - x0) * 0.1);
    let (zero, one) = (P::zero(), P::one());
    chain(
        cache,
        curve,
        &[knot(x0, zero, zero), knot(x0 + foot, low * 0.5 * foot, low), knot(x1, one, stiff)],
        &[curviness, curviness],
    )
}

/// Tendon force multiplier as a function of normalized tendon length.
pub fn tendon_force_length(p: &TendonForceLengthCurve, cache: &mut CurveCache) -> Curve {
    tendon_curve(p, cache, &mut |_, value| value)
}

/// The same with each number converted to a constant by its name.
pub fn tendon_curve<P: Real>(
    p: &TendonForceLengthCurve,
    cache: &mut CurveCache<P>,
    constant: &mut Constants<P>,
) -> Curve<P> {
    let curve = "TendonForceLengthCurve";
    let mut of = |name: &str, value| constant(&format!("{curve}/{name}"), value);
    let e1 = of("strain_at_one_norm_force", p.strain_at_one_norm_force);
    require("strain_at_one_norm_force", e1.value(), e1.value() > 0.0, "greater than zero")?;
    let (k1, toe, curviness) = match (p.stiffness_at_one_norm_force, p.norm_force_at_toe_end, p.curviness) {
        (None, None, None) => (P::cst(1.375) / e1, P::cst(2.0 / 3.0), P::cst(0.5)),
        (Some(k1), Some(toe), Some(curviness)) => (
            of("stiffness_at_one_norm_force", k1),
            of("norm_force_at_toe_end", toe),
            of("curviness", curviness),
        ),
        _ => return Err(MuscleError::PartlyGiven { curve }),
    };
    let ok = toe.value() > 0.0 && toe.value() < 1.0;
    require("norm_force_at_toe_end", toe.value(), ok, "between 0 and 1")?;
    let ok = k1.value() > 1.0 / e1.value();
    require("stiffness_at_one_norm_force", k1.value(), ok, "greater than 1/strain_at_one_norm_force")?;

    let x1 = e1 + 1.0;
    let x_toe = x1 + (toe - 1.0) / k1;
    let x_foot = (x_toe - 1.0) * 0.1 + 1.0;
    let y_mid = toe * 0.5;
    let x_mid = x1 + (y_mid - 1.0) / k1;
    let slope = y_mid / (x_mid - x_foot);
    let x_c = x_foot + (x_mid - x_foot) * 0.5;
    let (zero, one) = (P::zero(), P::one());
    chain(
        cache,
        curve,
        &[knot(one, zero, zero), knot(x_c, slope * (x_c - x_foot), slope), knot(x_toe, toe, k1)],
        &[curviness, curviness],
    )
}
