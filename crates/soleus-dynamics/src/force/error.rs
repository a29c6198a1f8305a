//! Why a force could not be compiled.

use crate::contact::mesh::MeshError;

/// Errors in the forces of a model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ForceError {
    /// A muscle instead of another force.
    #[error("a muscle is compiled as a muscle, not as a force")]
    IsMuscle,
    /// A property out of range.
    #[error("`{property}` is {value}, but must be {wanted}")]
    Property {
        /// XML name of the property.
        property: &'static str,
        /// Its value.
        value: f64,
        /// Allowed values.
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
        /// Index.
        index: usize,
        /// Number of geometries.
        count: usize,
    },
    /// A contact geometry of the wrong shape.
    #[error("contact geometry `{geometry}` is not a {wanted}")]
    Shape {
        /// Its name.
        geometry: String,
        /// Required shape.
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
        /// Cause.
        error: MeshError,
    },
    /// Data columns with different numbers of rows.
    #[error("{what} has {found} rows, but the time column has {wanted}")]
    Rows {
        /// Name of the columns.
        what: &'static str,
        /// Rows found.
        found: usize,
        /// Rows of the time column.
        wanted: usize,
    },
    /// Data or an expression that do not define a function.
    #[error("{what}: {message}")]
    Function {
        /// Name of the property or columns.
        what: &'static str,
        /// Cause.
        message: String,
    },
    /// A force without force and torque functions.
    #[error("neither a force nor a torque is given")]
    Nothing,
    /// A point without a force.
    #[error("a point is given but no force")]
    PointWithoutForce,
}
