//! Numbers of a model that carry derivatives.

use crate::kinematics::{BodyFrame, Resolve};
use soleus_math::{Real, Transform, Vec3, vec3};
use soleus_model::id::FrameId;

/// Makes a property of a component, known by its name in files and its value there, a constant of type `P`.
///
/// With `P = f64` it hands the value on. With dual numbers it may seed one of the properties, so that everything computed
/// from the component has derivatives by it.
pub type Constants<'a, P> = dyn FnMut(&str, f64) -> P + 'a;

/// The same for components that stand in frames, whose poses on their bodies may carry derivatives as well.
pub struct Numbers<'a, P: Real> {
    /// Of properties.
    pub constant: &'a mut Constants<'a, P>,
    /// Of poses of frames.
    pub pose: &'a dyn Fn(FrameId, Transform<f64>) -> Transform<P>,
}

impl<P: Real> Numbers<'_, P> {
    /// A property.
    pub(crate) fn number(&mut self, name: &str, value: f64) -> P {
        (self.constant)(name, value)
    }

    /// A property of three numbers, named `name/0` to `name/2`.
    pub(crate) fn vector(&mut self, name: &str, v: Vec3<f64>) -> Vec3<P> {
        let mut of = |k: usize| (self.constant)(&format!("{name}/{k}"), v[k]);
        vec3(of(0), of(1), of(2))
    }

    /// A frame on its body.
    pub(crate) fn frame<R: Resolve + ?Sized>(&self, resolve: &R, id: FrameId) -> BodyFrame<P> {
        let BodyFrame { body, X_BF } = resolve.frame(id);
        BodyFrame { body, X_BF: (self.pose)(id, X_BF) }
    }
}
