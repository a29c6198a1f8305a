//! Curves shared by muscles.

use soleus_math::bezier::{BezierError, Knot};
use soleus_math::{BezierCurve, Real};
use std::sync::Arc;

/// The Bézier curves constructed so far. Muscles with equal curve parameters share a curve, which saves construction
/// time and keeps data close together in memory.
#[derive(Debug)]
pub struct CurveCache<P = f64> {
    drawn: Vec<Drawn<P>>,
}

#[derive(Debug)]
struct Drawn<P> {
    knots: Vec<Knot<P>>,
    curviness: Vec<P>,
    curve: Arc<BezierCurve<P>>,
}

impl<P> Default for CurveCache<P> {
    fn default() -> Self {
        CurveCache { drawn: Vec::new() }
    }
}

impl<P: Real + PartialEq> CurveCache<P> {
    /// The chain through `knots`, as constructed by [`BezierCurve::new`].
    pub fn chain(&mut self, knots: &[Knot<P>], curviness: &[P]) -> Result<Arc<BezierCurve<P>>, BezierError> {
        // The newest first: neighbors are often alike.
        let known = self.drawn.iter().rev().find(|d| d.knots == knots && d.curviness == curviness);
        if let Some(d) = known {
            return Ok(d.curve.clone());
        }
        let curve = Arc::new(BezierCurve::new(knots, curviness)?);
        self.drawn.push(Drawn { knots: knots.to_vec(), curviness: curviness.to_vec(), curve: curve.clone() });
        Ok(curve)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::bezier::knot;

    /// Equal parameters, one curve; others, another.
    #[test]
    fn analytic_equal_curves_are_one() {
        let mut cache = CurveCache::default();
        let knots = [knot(0.0, 0.0, 0.0), knot(1.0, 0.5, 1.0)];
        let first = cache.chain(&knots, &[0.5]).unwrap();
        assert!(!Arc::ptr_eq(&first, &cache.chain(&knots, &[0.6]).unwrap()));
        assert!(Arc::ptr_eq(&first, &cache.chain(&knots, &[0.5]).unwrap()));
        assert!(cache.chain(&knots, &[1.5]).is_err());
    }
}
