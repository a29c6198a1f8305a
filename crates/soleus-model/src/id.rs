//! Handles of components: indices into the model's lists.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub usize);
    };
}

id!(
    /// A body; `BodyId(0)` is ground.
    BodyId
);
id!(
    /// A frame fixed to a body (including ground and the bodies themselves).
    FrameId
);
id!(
    /// A joint.
    JointId
);
id!(
    /// A coordinate, in the model's order.
    CoordinateId
);
id!(
    /// A wrap object.
    WrapId
);
id!(
    /// A contact geometry.
    GeometryId
);
id!(
    /// A force, including muscles and actuators.
    ForceId
);

impl BodyId {
    /// The ground.
    pub const GROUND: BodyId = BodyId(0);
}
