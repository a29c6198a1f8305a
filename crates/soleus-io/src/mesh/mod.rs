//! Surface meshes for contact and display: Wavefront `.obj`, `.stl`, and VTK `.vtp`.

mod contact;
mod obj;
mod stl;
mod vtp;

use soleus_math::Vec3;
use thiserror::Error;

pub use contact::read_contact_meshes;
pub use obj::read_obj;
pub use stl::read_stl;
pub use vtp::read_vtp;

/// A surface of polygons.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Positions of the vertices in the frame of the file, in the units of the file (meters in
    /// OpenSim's models).
    pub vertices: Vec<Vec3<f64>>,
    /// Faces, each as indices of three or more vertices, counterclockwise seen from outside.
    pub faces: Vec<Vec<u32>>,
}

/// Error in a mesh file.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum MeshError {
    /// Unknown file extension.
    #[error("{file}: meshes must be .obj, .stl or .vtp files")]
    UnknownFormat {
        /// The file as the user named it.
        file: String,
    },
    /// The contents do not follow the format.
    #[error("{file}:{line}: {message}")]
    Malformed {
        /// The file as the user named it.
        file: String,
        /// Line, from 1; 0 in binary files and where no line applies.
        line: u32,
        /// Error message.
        message: String,
    },
    /// A face refers to a vertex that is not in the file.
    #[error("{file}:{line}: a face refers to vertex {index}, but there are {count} vertices")]
    NoSuchVertex {
        /// The file as the user named it.
        file: String,
        /// Line, from 1; 0 where no line applies.
        line: u32,
        /// The index in the file.
        index: i64,
        /// Number of vertices.
        count: usize,
    },
}

impl MeshError {
    fn malformed(file: &str, line: u32, message: impl Into<String>) -> Self {
        MeshError::Malformed { file: file.to_string(), line, message: message.into() }
    }
}

/// Reads a mesh in the format given by its file extension. `file` is not opened.
///
/// # Errors
///
/// If the extension is not `.obj`, `.stl`, `.stla` or `.vtp`, or the contents do not follow the format.
pub fn read_mesh(bytes: &[u8], file: &str) -> Result<Mesh, MeshError> {
    let ending = file.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    match ending.as_str() {
        "obj" => read_obj(bytes, file),
        "stl" | "stla" => read_stl(bytes, file),
        "vtp" => read_vtp(bytes, file),
        _ => Err(MeshError::UnknownFormat { file: file.to_string() }),
    }
}

/// The next three numbers of a line.
fn three_numbers<'w>(words: &mut impl Iterator<Item = &'w str>) -> Option<Vec3<f64>> {
    let mut next = || words.next()?.parse::<f64>().ok();
    Some(Vec3::from_array([next()?, next()?, next()?]))
}

/// The line number of a zero-based position among lines.
fn line_number(i: usize) -> u32 {
    u32::try_from(i).unwrap_or(u32::MAX).saturating_add(1)
}
