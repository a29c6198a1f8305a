//! Functions of a model file.

use super::context::Context;
use super::properties::PropertyReader;
use crate::document::Element;
use soleus_math::Function;

/// The function that an element holds; `None`, with an error reported, when it holds none.
pub(super) fn function(cx: &Context, e: &Element, path: &str) -> Option<Function> {
    let p = PropertyReader::new(cx, e, path);
    let f = match e.tag.as_str() {
        "Constant" => Some(Function::Constant(p.finite("value", 0.0))),
        "LinearFunction" => linear(&p),
        other => {
            p.error(e.line, format!("there is no function of class `{other}`"), "");
            return None;
        }
    };
    p.finish();
    f
}

fn linear(p: &PropertyReader) -> Option<Function> {
    match p.find("coefficients").map(|_| p.list("coefficients")).as_deref() {
        None => Some(Function::Linear { slope: 1.0, intercept: 0.0 }),
        Some(&[slope, intercept]) => Some(Function::Linear { slope, intercept }),
        Some(other) => {
            let line = p.line_of("coefficients");
            p.error(
                line,
                format!("`coefficients` needs slope and intercept, found {} numbers", other.len()),
                "",
            );
            None
        }
    }
}
