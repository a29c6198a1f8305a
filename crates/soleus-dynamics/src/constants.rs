//! Numbers of a model that carry derivatives.

/// Makes a property of a component, known by its name in files and its value there, a constant of type `P`.
///
/// With `P = f64` it hands the value on. With dual numbers it may seed one of the properties, so that everything computed
/// from the component has derivatives by it.
pub type Constants<'a, P> = dyn FnMut(&str, f64) -> P + 'a;
