//! Wavefront `.obj`: vertices and faces; normals, textures and materials are ignored.

use super::{Mesh, MeshError, line_number, three_numbers};

/// Reads a Wavefront file.
///
/// Lines `v x y z` and `f i j k …` are read; `i` may be `i/t/n`, starts at one, and counts back from the last vertex if
/// negative. A backslash continues a line.
///
/// # Errors
///
/// If a vertex is not three numbers, or a face has fewer than three vertices or refers to a missing one.
pub fn read_obj(bytes: &[u8], file: &str) -> Result<Mesh, MeshError> {
    let text = String::from_utf8_lossy(bytes);
    let mut mesh = Mesh::default();
    let mut joined = String::new();
    for (i, raw) in text.lines().enumerate() {
        // A line that ends in a backslash goes on in the next one.
        if let Some(part) = raw.trim_end().strip_suffix('\\') {
            joined.push_str(part);
            joined.push(' ');
            continue;
        }
        let whole = std::mem::take(&mut joined) + raw;
        let line = line_number(i);
        let mut words = whole.split_whitespace();
        match words.next() {
            Some("v") => match three_numbers(&mut words) {
                Some(v) => mesh.vertices.push(v),
                None => return Err(MeshError::malformed(file, line, "a vertex needs three numbers")),
            },
            Some("f") => {
                let face: Result<Vec<u32>, MeshError> =
                    words.map(|w| vertex_index(w, mesh.vertices.len(), file, line)).collect();
                let face = face?;
                if face.len() < 3 {
                    return Err(MeshError::malformed(file, line, "a face needs three vertices"));
                }
                mesh.faces.push(face);
            }
            _ => {}
        }
    }
    // Vertices may follow the faces that use them, so the upper end is checked last.
    let count = mesh.vertices.len();
    match mesh.faces.iter().flatten().find(|&&v| v as usize >= count) {
        Some(&v) => {
            Err(MeshError::NoSuchVertex { file: file.to_string(), line: 0, index: i64::from(v) + 1, count })
        }
        None => Ok(mesh),
    }
}

/// The zero-based vertex that `word` (`i`, `i/t`, `i//n`, `i/t/n`) names when `count` vertices
/// have been read.
fn vertex_index(word: &str, count: usize, file: &str, line: u32) -> Result<u32, MeshError> {
    let number = word.split('/').next().unwrap_or_default();
    let Ok(index) = number.parse::<i64>() else {
        return Err(MeshError::malformed(file, line, format!("`{word}` is not a vertex of a face")));
    };
    let zero_based = match index < 0 {
        true => i64::try_from(count).ok().and_then(|n| n.checked_add(index)),
        false => index.checked_sub(1),
    };
    zero_based.and_then(|i| u32::try_from(i).ok()).ok_or(MeshError::NoSuchVertex {
        file: file.to_string(),
        line,
        index,
        count,
    })
}
