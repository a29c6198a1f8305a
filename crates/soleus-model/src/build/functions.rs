//! Functions of a model file.

use super::context::Context;
use super::properties::PropertyReader;
use crate::diagnostic::Diagnostics;
use crate::document::Element;
use soleus_math::Function;
use soleus_math::function::{
    Expression, FunctionError, GcvSpline, Multiplier, MultivariatePolynomial, PiecewiseConstant,
    PiecewiseLinear, Polynomial, SimmSpline, Sine, Smoothing, Step,
};

/// Whether a class is a function.
pub(crate) fn is_function_class(class: &str) -> bool {
    matches!(class, "Constant" | "LinearFunction" | "SimmSpline" | "GCVSpline" | "Sine" | "StepFunction")
        || class.ends_with("Function")
}

/// The function defined by an element of any file. `None`, with an error in `diags`, if it is not a function.
pub fn build_function(e: &Element, diags: &mut Diagnostics) -> Option<Function> {
    let cx = Context::without_components(std::mem::take(diags));
    let made = function(&cx, e, e.name());
    *diags = cx.into_diagnostics();
    made
}

/// The function that an element holds; `None`, with an error reported, when it holds none.
pub(super) fn function(cx: &Context, e: &Element, path: &str) -> Option<Function> {
    let p = PropertyReader::new(cx, e, path);
    let made = match e.tag.as_str() {
        "Constant" => Ok(Function::Constant(p.finite("value", 0.0))),
        "LinearFunction" => {
            let given = p.find("coefficients").map(|_| p.list("coefficients"));
            Function::linear(given.as_deref().unwrap_or(&[1.0, 0.0]))
        }
        "SimmSpline" | "NaturalCubicSpline" | "natCubicSpline" => {
            SimmSpline::new(p.list("x"), p.list("y")).map(Function::from)
        }
        "PiecewiseLinearFunction" => PiecewiseLinear::new(p.list("x"), p.list("y")).map(Function::from),
        "PiecewiseConstantFunction" => PiecewiseConstant::new(p.list("x"), p.list("y")).map(Function::from),
        "PolynomialFunction" => Polynomial::new(p.list("coefficients")).map(Function::from),
        "MultivariatePolynomialFunction" => multivariate(&p),
        "GCVSpline" => gcv_spline(&p),
        "MultiplierFunction" => {
            let scale = p.finite("scale", 1.0);
            let inner = match p.object("function") {
                Some(inner) => function(cx, inner, path)?,
                None => {
                    p.error(e.line, "the MultiplierFunction has no function to multiply", "");
                    return None;
                }
            };
            Multiplier::new(inner, scale).map(Function::from)
        }
        "Sine" => {
            let (a, w) = (p.finite("amplitude", 1.0), p.finite("omega", 1.0));
            Sine::new(a, w, p.finite("phase", 0.0), p.finite("offset", 0.0)).map(Function::from)
        }
        "StepFunction" => {
            let (x0, x1) = (p.finite("transition_start_time", 0.99), p.finite("transition_end_time", 1.01));
            Step::new(x0, x1, p.finite("start_value", 0.0), p.finite("end_value", 1.0)).map(Function::from)
        }
        "ExpressionBasedFunction" => {
            let names = p.words("variables");
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            Expression::new(&p.string("expression", ""), &names).map(Function::from)
        }
        other => {
            p.error(e.line, format!("functions of class `{other}` are not supported"), "");
            return None;
        }
    };
    p.finish();
    made.map_err(|why| cx.diags.borrow_mut().error(e.line, path, why.to_string(), "")).ok()
}

fn multivariate(p: &PropertyReader) -> Result<Function, FunctionError> {
    let size = |tag, default| usize::try_from(p.integer(tag, default)).unwrap_or(0);
    let (dimension, order) = (size("dimension", 0), size("order", 0));
    MultivariatePolynomial::new(dimension, order, p.list("coefficients")).map(Function::from)
}

/// A `GCVSpline` has degree 2m − 1 with m its `half_order`.
fn gcv_spline(p: &PropertyReader) -> Result<Function, FunctionError> {
    let half_order = usize::try_from(p.integer("half_order", 0)).unwrap_or(0);
    let smoothing = Smoothing::from_error_variance(p.finite("error_variance", 0.0));
    p.skip(&["coefficients"]);
    let weights = p.list("weights");
    if weights.iter().any(|w| *w != 1.0) {
        p.warn(
            p.line_of("weights"),
            "`weights` of a GCVSpline are not used; all points have the same weight",
            "",
        );
    }
    GcvSpline::new((2 * half_order).saturating_sub(1), p.list("x"), &p.list("y"), smoothing)
        .map(Function::from)
}
