//! Geometry that a model file attaches to bodies: `attached_geometry`.

use super::solid::simplified;
use super::{Layer, Shape, Solid};
use soleus_io::mesh::read_mesh;
use soleus_math::{Transform, Vec3, vec3};
use soleus_model::model::Model;
use soleus_model::{Diagnostics, Document, Element};

/// What has no color of its own is drawn in this one.
const DEFAULT_COLOR: [u8; 3] = [0xe3, 0xd5, 0xb8];

/// The visible shapes in a document of the newest version, on the bodies of the model that was built from it.
///
/// `open` returns the bytes of a mesh file, or `None` if there is none; it is called with the name in the document,
/// then with the same name in a folder `Geometry`. Spheres, ellipsoids, cylinders, cones, tori, bricks and meshes are
/// drawn; large meshes are reduced to at most `most_faces` each. Missing or unreadable meshes are reported in one
/// warning.
pub fn attached_geometry(
    document: &Document,
    model: &Model,
    open: &dyn Fn(&str) -> Option<Vec<u8>>,
    most_faces: usize,
    diagnostics: &mut Diagnostics,
) -> Vec<Shape> {
    let mut finder = Finder { model, open, most_faces, shapes: Vec::new(), missing: Vec::new(), count: 0 };
    finder.visit(&document.root);
    if let Some((line, first)) = finder.missing.first() {
        let message = format!("{} of {} meshes cannot be drawn: {first}", finder.missing.len(), finder.count);
        let hint = "bodies without meshes are drawn as simple bones; put the meshes in a folder `Geometry` beside the model, or name their folder (--geometry)";
        diagnostics.warn(*line, "", message, hint);
    }
    finder.shapes
}

struct Finder<'a> {
    model: &'a Model,
    open: &'a dyn Fn(&str) -> Option<Vec<u8>>,
    most_faces: usize,
    shapes: Vec<Shape>,
    /// Lines of meshes that cannot be drawn, and why.
    missing: Vec<(u32, String)>,
    /// Number of meshes.
    count: usize,
}

impl Finder<'_> {
    /// Goes through an element and all below it; the reader has bounded the depth.
    fn visit(&mut self, e: &Element) {
        if let Some(list) = e.child("attached_geometry") {
            self.attached(e, list);
        }
        e.children().for_each(|c| self.visit(c));
    }

    /// The shapes attached to the frame that `owner` is.
    fn attached(&mut self, owner: &Element, list: &Element) {
        let named = || self.model.frames.iter().filter(|f| f.name == owner.name());
        let here = |path: &str| self.model.lines.get(path) == Some(&owner.line);
        let frame =
            named().find(|f| here(&f.path)).or_else(|| named().next().filter(|_| named().count() == 1));
        let Some(frame) = frame else { return };
        let (body, X) = (frame.body.0, frame.X_BF);
        for g in list.children() {
            let appearance = g.child("Appearance");
            let hidden = appearance
                .and_then(|a| a.child_text("visible"))
                .is_some_and(|v| v.eq_ignore_ascii_case("false"));
            if hidden {
                continue;
            }
            let Some(solid) = self.solid(g) else { continue };
            let color = appearance.and_then(|a| numbers::<3>(a, "color"));
            self.shapes.push(Shape {
                body,
                layer: Layer::Body,
                color: color.map_or(DEFAULT_COLOR, color_of),
                opacity: appearance
                    .and_then(|a| numbers::<1>(a, "opacity"))
                    .map_or(1.0, |[o]| o.clamp(0.0, 1.0)),
                solid: moved(solid, &X),
                component: String::new(),
            });
        }
    }

    /// The surface in its frame; sizes that are not given are OpenSim's defaults.
    fn solid(&mut self, g: &Element) -> Option<Solid> {
        let one = |tag, default| numbers::<1>(g, tag).map_or(default, |[v]| v);
        let vector = |tag, default| numbers::<3>(g, tag).map_or(default, Vec3::from_array);
        let I = Transform::identity();
        let solid = match g.tag.as_str() {
            "Sphere" => {
                let r = one("radius", 1.0);
                Solid::Ellipsoid { pose: I, radii: vec3(r, r, r) }
            }
            "Ellipsoid" => Solid::Ellipsoid { pose: I, radii: vector("radii", vec3(0.5, 1.0, 2.0)) },
            "Cylinder" => Solid::cylinder(&I, 1, one("radius", 0.5), one("half_height", 0.5)),
            "Cone" => {
                let (origin, direction) =
                    (vector("origin", Vec3::zero()), vector("direction", Vec3::unit(1)));
                Solid::cone(&I, origin, direction, one("base_radius", 0.5), one("height", 1.0))
            }
            "Torus" => Solid::torus(&I, one("ring_radius", 1.0), one("cross_section", 0.1)),
            "Brick" => Solid::brick(&I, vector("half_lengths", vec3(0.5, 0.5, 0.5))),
            "Mesh" => self.mesh(g)?,
            _ => return None,
        };
        Some(solid.stretched(vector("scale_factors", vec3(1.0, 1.0, 1.0))))
    }

    fn mesh(&mut self, g: &Element) -> Option<Solid> {
        self.count += 1;
        let name = g.child_text("mesh_file").unwrap_or_default();
        let found = [name.clone(), format!("Geometry/{name}")].iter().find_map(|n| (self.open)(n));
        let mesh = match found {
            None => Err(format!("{name} was not found")),
            Some(bytes) => read_mesh(&bytes, &name).map_err(|e| e.to_string()),
        };
        match mesh {
            Ok(m) => {
                // Any cut of a polygon looks the same.
                let fan = |f: &Vec<u32>| (2..f.len()).map(|i| [f[0], f[i - 1], f[i]]).collect::<Vec<_>>();
                Some(simplified(m.vertices, m.faces.iter().flat_map(fan).collect(), self.most_faces))
            }
            Err(why) => {
                self.missing.push((g.line, why));
                None
            }
        }
    }
}

/// N numbers of a child.
fn numbers<const N: usize>(e: &Element, tag: &str) -> Option<[f64; N]> {
    let text = e.child_text(tag)?;
    let list: Option<Vec<f64>> = text.split_whitespace().map(|w| w.parse().ok()).collect();
    let values: [f64; N] = list?.try_into().ok()?;
    values.iter().all(|v| v.is_finite()).then_some(values)
}

fn color_of(rgb: [f64; 3]) -> [u8; 3] {
    rgb.map(|c| (255.0 * c.clamp(0.0, 1.0)).round() as u8)
}

/// A surface given in a frame, in the body that carries the frame.
fn moved(solid: Solid, X_BF: &Transform<f64>) -> Solid {
    match solid {
        Solid::Ellipsoid { pose, radii } => Solid::Ellipsoid { pose: *X_BF * pose, radii },
        Solid::Mesh { vertices, faces } => {
            Solid::Mesh { vertices: vertices.into_iter().map(|v| *X_BF * v).collect(), faces }
        }
    }
}
