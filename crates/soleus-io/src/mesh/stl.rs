//! `.stl`, ASCII and binary. The format repeats the vertices of every facet; they are merged, because contact needs a
//! closed surface.

use std::collections::HashMap;

use soleus_math::Vec3;

use super::{Mesh, MeshError, line_number, three_numbers};

/// Vertices closer than this in each coordinate are one: ε^⅞ of single precision, in which the
/// binary form is stored. The same as Simbody 3.8 uses.
const JOIN_BELOW: f64 = 8.75e-7;

/// Bytes before the number of facets, and of one facet: a normal, three vertices, and two bytes
/// of attributes.
const HEADER: usize = 80;
const FACET: usize = 50;

/// Reads an ASCII or binary `.stl` file; normals are ignored.
///
/// # Errors
///
/// If the file is truncated, a vertex is not three finite numbers, or a facet has fewer than three vertices.
pub fn read_stl(bytes: &[u8], file: &str) -> Result<Mesh, MeshError> {
    match is_ascii(bytes) {
        true => read_ascii(bytes, file),
        false => read_binary(bytes, file),
    }
}

/// Binary files may start with `solid` too; what follows tells them apart.
fn is_ascii(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
    let mut keywords = head.lines().map(first_word).filter(|w| !w.is_empty() && w != "color");
    keywords.next().as_deref() == Some("solid")
        && keywords.next().is_some_and(|w| matches!(w.as_str(), "facet" | "facetnormal" | "endsolid"))
}

fn first_word(line: &str) -> String {
    line.split_whitespace().next().unwrap_or_default().to_ascii_lowercase()
}

fn read_ascii(bytes: &[u8], file: &str) -> Result<Mesh, MeshError> {
    let text = String::from_utf8_lossy(bytes);
    let mut joiner = Joiner::default();
    let mut facet: Option<Vec<u32>> = None;
    let mut ended = false;
    for (i, raw) in text.lines().enumerate() {
        let line = line_number(i);
        match first_word(raw).as_str() {
            "facet" | "facetnormal" => facet = Some(Vec::new()),
            "vertex" => {
                let v = three_numbers(&mut raw.split_whitespace().skip(1));
                let (Some(v), Some(facet)) = (v, facet.as_mut()) else {
                    return Err(MeshError::malformed(
                        file,
                        line,
                        "a vertex needs three numbers, inside a facet",
                    ));
                };
                facet.push(joiner.vertex(v, file, line)?);
            }
            "endfacet" => match facet.take() {
                Some(f) if f.len() >= 3 => joiner.mesh.faces.push(f),
                _ => return Err(MeshError::malformed(file, line, "a facet needs three vertices")),
            },
            "endsolid" => {
                ended = true;
                break;
            }
            _ => {}
        }
    }
    match ended && facet.is_none() {
        true => Ok(joiner.mesh),
        false => Err(MeshError::malformed(file, 0, "the file is truncated: `endsolid` is missing")),
    }
}

fn read_binary(bytes: &[u8], file: &str) -> Result<Mesh, MeshError> {
    let cut = || MeshError::malformed(file, 0, "the file is truncated, or is not an .stl file");
    let count: [u8; 4] = bytes.get(HEADER..HEADER + 4).and_then(|b| b.try_into().ok()).ok_or_else(cut)?;
    let count = u32::from_le_bytes(count) as usize;
    let facets = &bytes[HEADER + 4..];
    if facets.len() / FACET < count {
        return Err(cut());
    }
    let mut joiner = Joiner::default();
    for facet in facets.chunks_exact(FACET).take(count) {
        let mut numbers =
            facet[..FACET - 2].chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        // The first three numbers are the normal.
        let mut face = Vec::with_capacity(3);
        let mut vertex = || -> Option<Vec3<f64>> {
            let mut next = || numbers.next().map(f64::from);
            Some(Vec3::from_array([next()?, next()?, next()?]))
        };
        vertex();
        while let Some(v) = vertex() {
            face.push(joiner.vertex(v, file, 0)?);
        }
        joiner.mesh.faces.push(face);
    }
    Ok(joiner.mesh)
}

/// A mesh in the making, with its vertices sorted into cubes of side [`JOIN_BELOW`], so that
/// only neighboring cubes are searched for a vertex that is already there.
#[derive(Default)]
struct Joiner {
    mesh: Mesh,
    cells: HashMap<[i64; 3], Vec<u32>>,
}

impl Joiner {
    /// The number of this vertex: that of the first one at the same place, or a new one.
    fn vertex(&mut self, v: Vec3<f64>, file: &str, line: u32) -> Result<u32, MeshError> {
        // Beyond this the cubes are smaller than the spacing of numbers; no model is so large.
        const LARGEST: f64 = 1e9;
        let p = v.to_array();
        if !p.iter().all(|x| x.abs() < LARGEST) {
            return Err(MeshError::malformed(file, line, "a vertex is not finite"));
        }
        let cell = p.map(|x| (x / JOIN_BELOW).floor() as i64);
        for i in 0..27i64 {
            let near = [cell[0] + i % 3 - 1, cell[1] + i / 3 % 3 - 1, cell[2] + i / 9 - 1];
            for &n in self.cells.get(&near).into_iter().flatten() {
                let q = self.mesh.vertices[n as usize].to_array();
                if p.iter().zip(q).all(|(a, b)| (a - b).abs() <= JOIN_BELOW) {
                    return Ok(n);
                }
            }
        }
        let n = u32::try_from(self.mesh.vertices.len())
            .map_err(|_| MeshError::malformed(file, line, "too many vertices"))?;
        self.mesh.vertices.push(v);
        self.cells.entry(cell).or_default().push(n);
        Ok(n)
    }
}
