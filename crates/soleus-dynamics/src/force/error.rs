//! Why a force could not be made ready for computing.

use crate::contact::mesh::MeshError;

/// What is wrong with a force of a model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ForceError {
    /// A muscle was given where another force is wanted.
    #[error("a muscle is compiled as a muscle, not as a force")]
    IsMuscle,
    /// A property outside its domain.
    #[error("`{property}` is {value}, but must be {wanted}")]
    Property {
        /// XML name of the property.
        property: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        wanted: &'static str,
    },
    /// A direction of length zero.
    #[error("`{property}` is the zero vector and gives no direction")]
    NoDirection {
        /// XML name of the property.
        property: &'static str,
    },
    /// A contact geometry that is not in the model's list.
    #[error("contact geometry number {index} does not exist, the model has {count}")]
    Geometry {
        /// Number asked for.
        index: usize,
        /// Geometries there are.
        count: usize,
    },
    /// A contact geometry of the wrong shape.
    #[error("contact geometry `{geometry}` is not a {wanted}")]
    Shape {
        /// Its name.
        geometry: String,
        /// What it should be.
        wanted: &'static str,
    },
    /// A contact mesh whose file has not been read.
    #[error("contact mesh `{geometry}` has no faces: file `{file}` was not loaded")]
    MeshNotRead {
        /// Name of the geometry.
        geometry: String,
        /// Mesh file.
        file: String,
    },
    /// A contact mesh that cannot be used.
    #[error("contact mesh `{geometry}`: {error}")]
    Mesh {
        /// Name of the geometry.
        geometry: String,
        /// What is wrong with it.
        error: MeshError,
    },
    /// Data columns that do not fit together.
    #[error("{what} has {found} rows, but the time column has {wanted}")]
    Rows {
        /// Which columns.
        what: &'static str,
        /// Rows found.
        found: usize,
        /// Rows of the time column.
        wanted: usize,
    },
    /// Data or an expression that gives no function.
    #[error("{what}: {message}")]
    Function {
        /// Which property or columns.
        what: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// A force without force and torque.
    #[error("neither a force nor a torque is given")]
    Nothing,
    /// A point without a force.
    #[error("a point is given but no force")]
    PointWithoutForce,
}
