//! VTK `.vtp`: XML with the points and polygons of `PolyData`, as text.

use soleus_math::Vec3;
use soleus_model::Element;

use super::{Mesh, MeshError};
use crate::osim::read_document;

/// Reads the first piece of a `PolyData` file whose arrays are `format="ascii"`.
///
/// # Errors
///
/// If the file is not XML or not of this kind, or its arrays are inconsistent.
pub fn read_vtp(bytes: &[u8], file: &str) -> Result<Mesh, MeshError> {
    let (doc, diags) = read_document(bytes, file);
    let Some(doc) = doc else {
        let first = diags.list.iter().max_by_key(|d| d.severity);
        let (line, message) = first.map_or((0, String::new()), |d| (d.line, d.message.clone()));
        return Err(MeshError::malformed(file, line, message));
    };
    let piece = match doc.root.tag.as_str() {
        "VTKFile" => doc.root.child("PolyData").and_then(|p| p.child("Piece")),
        _ => None,
    };
    let Some(piece) = piece else {
        return Err(MeshError::malformed(file, doc.root.line, "the file contains no VTKFile/PolyData/Piece"));
    };

    let points = piece.child("Points").and_then(|p| p.child("DataArray"));
    let Some(points) = points else {
        return Err(MeshError::malformed(file, piece.line, "the piece contains no Points"));
    };
    let numbers: Vec<f64> = array(points, file)?;
    if !numbers.len().is_multiple_of(3) {
        return Err(MeshError::malformed(
            file,
            points.line,
            "the number of coordinates is not a multiple of three",
        ));
    }
    let vertices: Vec<Vec3<f64>> =
        numbers.chunks_exact(3).map(|c| Vec3::from_array([c[0], c[1], c[2]])).collect();

    // `offsets` holds where each polygon ends in `connectivity`.
    let Some(polys) = piece.child("Polys") else { return Ok(Mesh { vertices, faces: Vec::new() }) };
    let named =
        |name: &str| polys.children().find(|e| e.tag == "DataArray" && e.attribute("Name") == Some(name));
    let (Some(connectivity), Some(offsets)) = (named("connectivity"), named("offsets")) else {
        return Err(MeshError::malformed(
            file,
            polys.line,
            "Polys needs the arrays `connectivity` and `offsets`",
        ));
    };
    let indices: Vec<u32> = array(connectivity, file)?;
    let ends: Vec<u32> = array(offsets, file)?;
    let count = vertices.len();
    if let Some(&index) = indices.iter().find(|&&i| i as usize >= count) {
        let (file, line) = (file.to_string(), connectivity.line);
        return Err(MeshError::NoSuchVertex { file, line, index: i64::from(index), count });
    }
    let mut faces = Vec::with_capacity(ends.len());
    let mut start = 0usize;
    for end in ends {
        let end = end as usize;
        let Some(face) = indices.get(start..end).filter(|f| f.len() >= 3) else {
            return Err(MeshError::malformed(file, offsets.line, "`offsets` does not match `connectivity`"));
        };
        faces.push(face.to_vec());
        start = end;
    }
    Ok(Mesh { vertices, faces })
}

/// The values of a `DataArray`.
fn array<T: std::str::FromStr>(e: &Element, file: &str) -> Result<Vec<T>, MeshError> {
    if e.attribute("format").is_some_and(|f| f != "ascii") {
        return Err(MeshError::malformed(
            file,
            e.line,
            "only format=\"ascii\" is supported; save the mesh as text",
        ));
    }
    let text = e.text();
    let parse = |w: &str| {
        w.parse().map_err(|_| MeshError::malformed(file, e.line, format!("`{w}` is not a number here")))
    };
    text.split_whitespace().map(parse).collect()
}
