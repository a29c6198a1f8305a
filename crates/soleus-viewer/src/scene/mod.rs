//! Content of an animation as plain data: shapes on bodies, lines of muscles, markers and forces.

mod bone;
mod build;
mod encode;
mod frames;
mod geometry;
mod hull;
mod motion;
mod solid;

pub use build::SceneOptions;
pub(crate) use encode::base64;
pub use frames::Recorder;
pub use geometry::attached_geometry;
pub use motion::{Activations, Motion, MotionError};
pub use solid::{FEW_FACES, Solid};

use soleus_math::{Transform, Vec3};

/// The constant part of an animation: objects in the frames of their bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// Names of the bodies, in the order of the poses.
    pub bodies: Vec<String>,
    /// Shapes fixed to bodies.
    pub shapes: Vec<Shape>,
    /// Lines fixed to bodies, from joint to joint.
    pub bones: Vec<Bone>,
    /// Points fixed to bodies.
    pub markers: Vec<Marker>,
    /// Names of the paths of muscles, ligaments and springs.
    pub paths: Vec<String>,
    /// Names of the forces drawn as arrows.
    pub arrows: Vec<String>,
    /// Height of the floor, m, if any.
    pub floor: Option<f64>,
    /// Length of an arrow, m per N.
    pub meters_per_newton: f64,
}

/// A shape fixed to a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Index of the body in [`Scene::bodies`].
    pub body: usize,
    /// Layer that the page can show or hide.
    pub layer: Layer,
    /// Red, green and blue.
    pub color: [u8; 3],
    /// Opacity, 0 to 1.
    pub opacity: f64,
    /// Surface, in the body frame.
    pub solid: Solid,
    /// Path of the wrap object or contact geometry that it is; empty for bodies.
    pub component: String,
}

/// Purpose of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Geometry of a body, or the hull of the components attached to it.
    Body,
    /// A wrap surface.
    Wrap,
    /// A contact surface.
    Contact,
}

/// A line fixed to a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bone {
    /// Index of the body in [`Scene::bodies`].
    pub body: usize,
    /// One end, in the body frame, m.
    pub from: Vec3<f64>,
    /// The other end, in the body frame, m.
    pub to: Vec3<f64>,
}

/// A point fixed to a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Marker {
    /// Displayed name.
    pub name: String,
    /// Index of the body in [`Scene::bodies`].
    pub body: usize,
    /// Location in the body frame, m.
    pub station: Vec3<f64>,
}

/// One frame of an animation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Time, s.
    pub time: f64,
    /// Pose of each body in ground.
    pub poses: Vec<Transform<f64>>,
    /// Points of each path in ground, m.
    pub paths: Vec<Vec<Vec3<f64>>>,
    /// Activation of each path, 0 to 1; NaN if unknown or not applicable.
    pub activity: Vec<f64>,
    /// Start point of each arrow in ground, m, and its force, N; no arrow for zero force.
    pub arrows: Vec<(Vec3<f64>, Vec3<f64>)>,
}

/// An animated scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Animation {
    /// The scene.
    pub scene: Scene,
    /// Frames in order of time.
    pub frames: Vec<Frame>,
}

impl Animation {
    /// An animation of a scene.
    pub fn new(scene: Scene, frames: Vec<Frame>) -> Self {
        Animation { scene, frames }
    }

    /// The animation without the shapes of a layer.
    pub fn without(mut self, layer: Layer) -> Self {
        self.scene.shapes.retain(|s| s.layer != layer);
        self
    }

    /// The frame nearest to a time.
    pub fn frame_at(&self, time: f64) -> Option<&Frame> {
        self.frames.iter().min_by(|a, b| (a.time - time).abs().total_cmp(&(b.time - time).abs()))
    }
}
