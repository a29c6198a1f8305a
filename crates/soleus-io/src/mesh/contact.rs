//! Finds and reads the mesh files of contact geometry.

use super::{Mesh, read_mesh};
use soleus_math::Vec3;
use soleus_model::force::ForceKind;
use soleus_model::{ContactShape, Diagnostics, Model, TriangleMesh};

/// Folder beside a model in which OpenSim looks for meshes too.
const GEOMETRY_FOLDER: &str = "Geometry";

/// The bytes of a file, none if there is no such file, or why it cannot be read.
pub type MeshBytes = Result<Option<Vec<u8>>, String>;

/// Reads the mesh of every `ContactMesh` that has none yet.
///
/// `open` reads a file; it is called with the file name in the model, then
/// with the same name in a folder `Geometry`, both relative to the folder of the model unless absolute. A missing or
/// unreadable mesh is an error with the line of the geometry and the names tried, or a warning if no force uses the
/// geometry.
pub fn read_contact_meshes(
    model: &mut Model,
    diagnostics: &mut Diagnostics,
    open: &dyn Fn(&str) -> MeshBytes,
) {
    let used = geometries_in_use(model);
    for (i, used) in used.into_iter().enumerate() {
        let geometry = &model.contact_geometries[i];
        let ContactShape::Mesh { filename, mesh: None } = &geometry.shape else { continue };
        match find(filename, open) {
            Ok(found) => {
                if let ContactShape::Mesh { mesh, .. } = &mut model.contact_geometries[i].shape {
                    *mesh = Some(found);
                }
            }
            Err((message, hint)) => {
                let line = model.line_of(&geometry.path);
                let message = format!("contact mesh `{}`: {message}", geometry.name);
                match used {
                    true => diagnostics.error(line, &geometry.path, message, &hint),
                    false => diagnostics.warn(line, &geometry.path, message, &hint),
                }
            }
        }
    }
}

/// For each contact geometry, whether a force names it.
fn geometries_in_use(model: &Model) -> Vec<bool> {
    let mut used = vec![false; model.contact_geometries.len()];
    for force in &model.forces {
        let parameters = match &force.kind {
            ForceKind::HuntCrossleyForce(f) => &f.contact_parameters,
            ForceKind::ElasticFoundationForce(f) => &f.contact_parameters,
            _ => continue,
        };
        for id in parameters.iter().flat_map(|p| &p.geometry) {
            if let Some(u) = used.get_mut(id.0) {
                *u = true;
            }
        }
    }
    used
}

/// The mesh of that name, or what went wrong and what to do.
fn find(filename: &str, open: &dyn Fn(&str) -> MeshBytes) -> Result<TriangleMesh, (String, String)> {
    if filename.is_empty() {
        return Err(("no file is named".into(), "set the property `filename`".into()));
    }
    let in_folder = format!("{GEOMETRY_FOLDER}/{filename}");
    for name in [filename, &in_folder] {
        let read = open(name).map_err(|why| (format!("file {name} cannot be read: {why}"), String::new()))?;
        let Some(bytes) = read else { continue };
        let mesh = read_mesh(&bytes, name).map_err(|e| (e.to_string(), String::new()))?;
        return triangulate(mesh).ok_or_else(|| (format!("{name} has too many vertices"), String::new()));
    }
    let hint = format!(
        "searched for {filename} and {in_folder} in the folder of the model; put the file in one of these places"
    );
    Err((format!("file {filename} not found"), hint))
}

/// Faces cut into triangles as Simbody 3.8 cuts them: four corners along the diagonal from the first to the
/// third; more around a new vertex at the mean of the corners. `None` beyond 2³² vertices.
fn triangulate(mesh: Mesh) -> Option<TriangleMesh> {
    let mut out = TriangleMesh { vertices: mesh.vertices, faces: Vec::with_capacity(mesh.faces.len()) };
    for face in &mesh.faces {
        match face[..] {
            [a, b, c] => out.faces.push([a, b, c]),
            [a, b, c, d] => out.faces.extend([[a, b, c], [c, d, a]]),
            [first, .., last] if face.len() > 4 => {
                let sum = face
                    .iter()
                    .filter_map(|&v| out.vertices.get(v as usize))
                    .fold(Vec3::zero(), |sum, &p| sum + p);
                let middle = u32::try_from(out.vertices.len()).ok()?;
                out.vertices.push(sum / face.len() as f64);
                out.faces.extend(face.windows(2).map(|e| [e[0], e[1], middle]));
                out.faces.push([last, first, middle]);
            }
            _ => {}
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::vec3;

    #[test]
    fn analytic_polygons_keep_their_area() {
        // A unit square and a regular hexagon of side 1, area (3/2)√3.
        let corner = |k: u32| {
            let angle = f64::from(k) * std::f64::consts::FRAC_PI_3;
            vec3(angle.cos(), angle.sin(), 0.0)
        };
        let hexagon: Vec<_> = (0..6).map(corner).collect();
        let square = vec![vec3(0.0, 0.0, 0.0), vec3(1.0, 0.0, 0.0), vec3(1.0, 1.0, 0.0), vec3(0.0, 1.0, 0.0)];
        for (vertices, triangles, area) in [(square, 2, 1.0), (hexagon, 6, 1.5 * 3f64.sqrt())] {
            let faces = vec![(0..vertices.len() as u32).collect()];
            let mesh = triangulate(Mesh { vertices, faces }).unwrap_or_default();
            assert_eq!(mesh.faces.len(), triangles);
            let twice: f64 = mesh
                .faces
                .iter()
                .map(|f| {
                    let [a, b, c] = f.map(|v| mesh.vertices[v as usize]);
                    (b - a).cross(c - a).z
                })
                .sum();
            // A handful of additions of numbers near one.
            assert!((0.5 * twice - area).abs() < 1e-14, "{twice}");
        }
    }
}
