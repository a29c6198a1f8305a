//! Curves that muscles share.

use soleus_math::BezierCurve;
use soleus_math::bezier::{BezierError, Knot};
use std::sync::Arc;

/// The Bézier curves drawn so far. Muscles with equal curve parameters get the same curve, which saves the time
/// to draw it and, while computing, keeps what they read close together.
#[derive(Debug, Default)]
pub struct CurveCache {
    drawn: Vec<Drawn>,
}

#[derive(Debug)]
struct Drawn {
    knots: Vec<Knot>,
    curviness: Vec<f64>,
    curve: Arc<BezierCurve>,
}

impl CurveCache {
    /// The chain through `knots`, as [`BezierCurve::new`] draws it.
    pub fn chain(&mut self, knots: &[Knot], curviness: &[f64]) -> Result<Arc<BezierCurve>, BezierError> {
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
