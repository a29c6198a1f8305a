//! Model constants with derivatives.

use crate::kinematics::{BodyFrame, Resolve};
use soleus_math::{Real, Transform, Vec3, vec3};
use soleus_model::id::FrameId;

/// Converts a property of a component, given by its name in files and its value, to a constant of type `P`.
///
/// With `P = f64` it returns the value. With dual numbers it may seed one of the properties, so that all results of the
/// component have derivatives with respect to it.
pub type Constants<'a, P> = dyn FnMut(&str, f64) -> P + 'a;

/// The same for components with frames, whose poses on their bodies may also have derivatives.
pub struct Numbers<'a, P: Real> {
    /// For properties.
    pub constant: &'a mut Constants<'a, P>,
    /// For poses of frames.
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
