//! What an animation shows: shapes on bodies, lines of muscles, markers and forces, as plain data.

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

/// The parts of an animation that stay: what is drawn, in the frames of its bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// Names of the bodies; poses come in this order.
    pub bodies: Vec<String>,
    /// Shapes fixed to bodies.
    pub shapes: Vec<Shape>,
    /// Lines fixed to bodies, from joint to joint.
    pub bones: Vec<Bone>,
    /// Points fixed to bodies.
    pub markers: Vec<Marker>,
    /// Names of the paths of muscles, ligaments and springs.
    pub paths: Vec<String>,
    /// Names of the forces that are drawn as arrows.
    pub arrows: Vec<String>,
    /// Height of the floor, m, if there is one.
    pub floor: Option<f64>,
    /// Length of an arrow, m for each N.
    pub meters_per_newton: f64,
}

/// A shape fixed to a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Place of the body in [`Scene::bodies`].
    pub body: usize,
    /// Which switch of the page shows it.
    pub layer: Layer,
    /// Red, green and blue.
    pub color: [u8; 3],
    /// 0 to 1.
    pub opacity: f64,
    /// What it looks like, in the body.
    pub solid: Solid,
}

/// What a shape is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// A body as a whole: its geometry, or the hull of what is attached to it.
    Body,
    /// A surface that paths bend around.
    Wrap,
    /// A surface that touches.
    Contact,
}

/// A line fixed to a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bone {
    /// Place of the body in [`Scene::bodies`].
    pub body: usize,
    /// One end, in the body, m.
    pub from: Vec3<f64>,
    /// The other end, in the body, m.
    pub to: Vec3<f64>,
}

/// A point fixed to a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Marker {
    /// Name that is shown.
    pub name: String,
    /// Place of the body in [`Scene::bodies`].
    pub body: usize,
    /// Place in the body, m.
    pub station: Vec3<f64>,
}

/// One instant of an animation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// s.
    pub time: f64,
    /// Pose of each body in ground.
    pub poses: Vec<Transform<f64>>,
    /// Points of each path in ground, m.
    pub paths: Vec<Vec<Vec3<f64>>>,
    /// Activation of each path, 0 to 1; NaN where it is not known or has no meaning.
    pub activity: Vec<f64>,
    /// Where each arrow begins, in ground, m, and the force it shows, N; no force, no arrow.
    pub arrows: Vec<(Vec3<f64>, Vec3<f64>)>,
}

/// A scene in motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Animation {
    /// What is drawn.
    pub scene: Scene,
    /// When and where; times rise.
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
