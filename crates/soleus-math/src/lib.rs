#![allow(non_snake_case)] // Kernel symbols follow the literature: X_GB, p_PQ, R.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))] // Same input, same bits: soleus_math::elementary.
//! Mathematics of Soleus: scalars with derivatives, small vectors and rotations, spatial algebra, and the functions of
//! one or several variables used in musculoskeletal models.
//!
//! Everything is generic over one scalar, [`Real`], so that `f64` and the derivative type [`Dual`] use the same code:
//!
//! ```
//! use soleus_math::{Dual, Real};
//!
//! // One function, written once …
//! fn f<T: Real>(x: T) -> T {
//!     x * x.sin()
//! }
//!
//! // … gives its value, and its slope x cos x + sin x.
//! let y = f(Dual::<f64, 1>::variable(2.0, 0));
//! assert_eq!(y.v, f(2.0));
//! assert!((y.d[0] - (2.0 * 2f64.cos() + 2f64.sin())).abs() < 1e-15);
//! ```

pub mod bezier;
pub mod dense;
pub mod dual;
pub mod elementary;
pub mod formula;
pub mod function;
pub mod jet;
pub mod least_squares;
pub mod names;
pub mod norm;
pub mod random;
pub mod real;
pub mod rotation;
pub mod signal;
pub mod spatial;
pub mod table;
pub mod transform;
pub mod vec3;

pub use bezier::BezierCurve;
pub use dual::Dual;
pub use function::Function;
pub use jet::Jet;
pub use least_squares::solve_least_squares;
pub use random::Random;
pub use real::{Over, Part, Real, Together, same, same_mut};
pub use rotation::Rotation;
pub use spatial::{SpatialInertia, SpatialVec};
pub use table::Table;
pub use transform::Transform;
pub use vec3::{Mat33, SymMat33, Vec3, vec3};
