//! Formulas of named quantities, for user-defined goals, constraints, forces and outputs.
//!
//! ```text
//! sum(activation[*_r] ^ 3) / 9 + 0.1 * smooth_abs(knee_angle_r - target, 0.01); target = 0.3
//! ```
//!
//! An [`Expr`] is parsed from text ([`Expr::parse`]) or built with operators, as in programs or the Python bindings. It
//! can be printed as text ([`Display`](std::fmt::Display)), which is also its serialized form. It is compiled to a
//! [`Formula`] with a [`Scope`] that resolves the names; a formula is evaluated with any [`Real`](crate::Real) without
//! allocation, by the same evaluator as OpenSim's expressions.
//!
//! # The language
//!
//! | | |
//! |---|---|
//! | numbers, `pi` | `2`, `1.5e-3` |
//! | names | `time`, `knee_angle_r`; of one thing among many `activation[soleus_r]`, `activation[/forceset/soleus_r]` |
//! | arithmetic | `+ - * / ^`, `(…)`; `-x^2` is −(x²), `2^3^2` is 2^(3^2) |
//! | vectors | `[x, y, z]`, `v.x`, `v.y`, `v.z`; sums, multiples, `dot(a, b)`, `cross(a, b)`, `norm(v)` |
//! | choice | `where(condition, a, b)`; conditions are `< <= > >= == !=` joined by `and`, `or`, `not` |
//! | functions | `sqrt exp log log10 sin cos tan asin acos atan sinh cosh tanh sec csc cot erf erfc abs square cube recip step delta floor ceil sign degrees radians`, `atan2(y, x)`, `hypot(a, b)`, `min(a, b, …)`, `max(a, b, …)`, `clamp(x, low, high)` |
//! | smooth ones | `softplus(x, s)` = ln(1 + eˢˣ)/s, `smooth_max(a, b, s)`, `smooth_min(a, b, s)`, `smooth_abs(x, w)` = √(x² + w²), `smooth_step(x, s)` = (1 + tanh s x)/2; s is 1/the width of the corner, 1 if left out |
//! | tables | `linear(x, [x0, x1, …], [y0, y1, …])` by straight lines, `spline(x, […], […])` by a natural cubic spline |
//! | groups | `sum(activation[*_r]^2)`, `mean`, `min`, `max` of an expression with patterns; `*` stands for any letters, `[a, b, *_l]` is a list |
//! | over time | `initial(e)`, `final(e)`, `integral(e)`, `average(e)`, in goals |
//! | definitions | after `;`: `name = …`, each may use those that come after it |
//!
//! In a group all patterns are matched together: in `sum((activation[*_r] - activation[*_l])^2)` the match of `*` on
//! the left is used for `*` on the right.

mod bind;
mod compile;
mod error;
mod expr;
mod parse;
mod print;

pub use bind::{Item, Meaning, Scope, Unknown};
pub use compile::Formula;
pub use error::{FormulaError, FormulaProblem};
pub use expr::{Expr, ExprKind, Operator, Place, Reduction, TableKind, TimeUse};
