//! Triangle meshes: faces, bounding-box tree, and nearest point.

use soleus_math::{Real, Vec3};
use soleus_model::TriangleMesh;

/// A face with data for contact.
#[derive(Clone, Debug, PartialEq)]
pub struct Face {
    /// Corners, m.
    pub corners: [Vec3<f64>; 3],
    /// Mean of the corners, m.
    pub centroid: Vec3<f64>,
    /// Area, m².
    pub area: f64,
    /// Outward unit normal.
    pub normal: Vec3<f64>,
}

/// A node of the box tree: an axis-aligned box around some faces.
#[derive(Clone, Debug, PartialEq)]
struct Node {
    centre: Vec3<f64>,
    half: Vec3<f64>,
    /// Faces `start..end` for a leaf; both children's index for an inner node.
    kind: NodeKind,
}

#[derive(Clone, Debug, PartialEq)]
enum NodeKind {
    Leaf { start: usize, end: usize },
    Inner { first: usize, second: usize },
}

/// A compiled mesh, in its own frame.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshSurface {
    /// Centre of a bounding sphere.
    pub centre: Vec3<f64>,
    /// Radius of that sphere, m.
    pub radius: f64,
    faces: Vec<Face>,
    nodes: Vec<Node>,
}

// A tree split at medians over at most 2³² faces is never deeper; the stack of a walk fits.
const MAX_DEPTH: usize = 64;
// Faces per leaf: below a handful, boxes cost more than the faces they save.
const LEAF_FACES: usize = 4;
// Two faces are equally near within this relative margin of squared distance (Simbody: 100 ε).
const TIE: f64 = 100.0 * f64::EPSILON;

/// Why a mesh cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshError {
    /// No faces.
    #[error("the mesh has no faces")]
    Empty,
    /// A face refers to a vertex that does not exist.
    #[error("face {face} of the mesh refers to vertex {vertex}, but there are {count} vertices")]
    Vertex {
        /// Index of the face, from 0.
        face: usize,
        /// Index of the vertex.
        vertex: u32,
        /// Number of vertices.
        count: usize,
    },
    /// A coordinate is not finite.
    #[error("vertex {vertex} of the mesh is not finite")]
    NotFinite {
        /// Index of the vertex, from 0.
        vertex: usize,
    },
}

impl MeshSurface {
    /// From a mesh; if faces point inwards (negative volume), all are reversed; faces without area are dropped.
    pub fn new(mesh: &TriangleMesh) -> Result<Self, MeshError> {
        if let Some(vertex) = mesh.vertices.iter().position(|v| !v.to_array().iter().all(|x| x.is_finite())) {
            return Err(MeshError::NotFinite { vertex });
        }
        let mut faces = Vec::with_capacity(mesh.faces.len());
        let mut volume = 0.0;
        for (face, ids) in mesh.faces.iter().enumerate() {
            let mut corners = [Vec3::zero(); 3];
            for (corner, &vertex) in corners.iter_mut().zip(ids) {
                let Some(p) = mesh.vertices.get(vertex as usize) else {
                    return Err(MeshError::Vertex { face, vertex, count: mesh.vertices.len() });
                };
                *corner = *p;
            }
            let [a, b, c] = corners;
            let cross = (b - a).cross(c - a);
            let twice_area = cross.norm();
            if twice_area == 0.0 {
                continue;
            }
            volume += a.dot(b.cross(c));
            faces.push(Face {
                corners,
                centroid: (a + b + c) / 3.0,
                area: 0.5 * twice_area,
                normal: cross / twice_area,
            });
        }
        if faces.is_empty() {
            return Err(MeshError::Empty);
        }
        if volume < 0.0 {
            faces.iter_mut().for_each(|f| f.normal = -f.normal);
        }
        let mut nodes = Vec::new();
        let count = faces.len();
        build(&mut faces, 0, count, &mut nodes);
        let centre = nodes[0].centre;
        let radius = faces.iter().flat_map(|f| f.corners).map(|p| (p - centre).norm()).fold(0.0, f64::max);
        Ok(MeshSurface { centre, radius, faces, nodes })
    }

    /// Calls `each` for the faces in boxes accepted by `may` (centre and half lengths).
    #[inline]
    pub fn visit(&self, may: impl Fn(Vec3<f64>, Vec3<f64>) -> bool, mut each: impl FnMut(&Face)) {
        let mut stack = [0usize; MAX_DEPTH];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let node = &self.nodes[stack[top]];
            if !may(node.centre, node.half) {
                continue;
            }
            match node.kind {
                NodeKind::Leaf { start, end } => self.faces[start..end].iter().for_each(&mut each),
                NodeKind::Inner { first, second } => {
                    stack[top] = second;
                    stack[top + 1] = first;
                    top += 2;
                }
            }
        }
    }

    /// The face nearest to `p`; of equally near ones the one that faces `p` most directly.
    pub fn nearest_face(&self, p: Vec3<f64>) -> &Face {
        let mut best = (&self.faces[0], f64::INFINITY, 0.0);
        let mut stack = [(0usize, 0.0f64); MAX_DEPTH];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let (index, box_sq) = stack[top];
            if box_sq > best.1 * (1.0 + TIE) {
                continue;
            }
            match self.nodes[index].kind {
                NodeKind::Leaf { start, end } => {
                    for face in &self.faces[start..end] {
                        let offset = nearest_on_triangle(&face.corners, p) - p;
                        let d = offset.norm_sq();
                        let square = offset.dot(face.normal).abs();
                        let nearer = d < best.1 * (1.0 - TIE);
                        let tied = d <= best.1 * (1.0 + TIE);
                        if nearer || (tied && square > best.2) {
                            best = (face, d.min(best.1), square);
                        }
                    }
                }
                NodeKind::Inner { first, second } => {
                    // The nearer child goes on top, to be looked at first.
                    let a = (first, self.nodes[first].distance_sq(p));
                    let b = (second, self.nodes[second].distance_sq(p));
                    (stack[top], stack[top + 1]) = if a.1 < b.1 { (b, a) } else { (a, b) };
                    top += 2;
                }
            }
        }
        best.0
    }

    /// Nearest point of the surface to `p`, and whether `p` is inside.
    ///
    /// The face is chosen by value; the point on it has derivatives.
    #[inline]
    pub fn nearest<T: Real>(&self, p: Vec3<T>) -> (Vec3<T>, bool) {
        let face = self.nearest_face(p.value());
        let q = nearest_on_triangle(&face.corners, p);
        (q, (p - q).value().dot(face.normal) < 0.0)
    }

    /// Number of faces with area.
    pub fn num_faces(&self) -> usize {
        self.faces.len()
    }
}

impl Node {
    fn distance_sq(&self, p: Vec3<f64>) -> f64 {
        box_distance_sq(self.centre, self.half, p)
    }
}

/// Squared distance from `p` to a box, 0 inside.
#[inline]
pub(crate) fn box_distance_sq(centre: Vec3<f64>, half: Vec3<f64>, p: Vec3<f64>) -> f64 {
    (0..3).map(|i| (f64::abs(p[i] - centre[i]) - half[i]).max(0.0)).map(|x| x * x).sum()
}

/// Builds the tree over `faces[start..end]`, reordering them, and returns its root's index.
fn build(faces: &mut [Face], start: usize, end: usize, nodes: &mut Vec<Node>) -> usize {
    let mut lo = faces[start].corners[0];
    let mut hi = lo;
    for p in faces[start..end].iter().flat_map(|f| f.corners) {
        for i in 0..3 {
            lo[i] = lo[i].min(p[i]);
            hi[i] = hi[i].max(p[i]);
        }
    }
    let index = nodes.len();
    let half = (hi - lo) * 0.5;
    nodes.push(Node { centre: lo + half, half, kind: NodeKind::Leaf { start, end } });
    if end - start > LEAF_FACES {
        // Halve the faces along the longest side, so that the depth is logarithmic.
        let axis = (0..3).fold(0, |best, i| if half[i] > half[best] { i } else { best });
        let mid = (end - start) / 2;
        faces[start..end].select_nth_unstable_by(mid, |a, b| a.centroid[axis].total_cmp(&b.centroid[axis]));
        let first = build(faces, start, start + mid, nodes);
        let second = build(faces, start + mid, end, nodes);
        nodes[index].kind = NodeKind::Inner { first, second };
    }
    index
}

/// Nearest point of a triangle: the projection onto its plane, or otherwise the nearest point of the nearest edge.
#[inline]
pub fn nearest_on_triangle<T: Real>(corners: &[Vec3<f64>; 3], p: Vec3<T>) -> Vec3<T> {
    let [a, b, c] = *corners;
    let (e0, e1) = (b - a, c - a);
    let (aa, ab, bb) = (e0.norm_sq(), e0.dot(e1), e1.norm_sq());
    let w = p - Vec3::cst(a);
    let (d0, d1) = (w.dot(Vec3::cst(e0)), w.dot(Vec3::cst(e1)));
    // Barycentric coordinates of the projection, times the determinant.
    let det = aa * bb - ab * ab;
    let (s, t) = (d0 * bb - d1 * ab, d1 * aa - d0 * ab);
    let (sv, tv) = (s.value(), t.value());
    if sv >= 0.0 && tv >= 0.0 && sv + tv <= det {
        return Vec3::cst(a) + Vec3::cst(e0) * (s / det) + Vec3::cst(e1) * (t / det);
    }
    // Outside: the nearest of the three edges.
    let mut best = nearest_on_edge(a, b, p);
    let mut best_sq = (best.value() - p.value()).norm_sq();
    for (u, v) in [(b, c), (c, a)] {
        let q = nearest_on_edge(u, v, p);
        let q_sq = (q.value() - p.value()).norm_sq();
        if q_sq < best_sq {
            (best, best_sq) = (q, q_sq);
        }
    }
    best
}

/// Nearest point of the segment from `a` to `b`.
#[inline]
fn nearest_on_edge<T: Real>(a: Vec3<f64>, b: Vec3<f64>, p: Vec3<T>) -> Vec3<T> {
    let e = b - a;
    let x = (p - Vec3::cst(a)).dot(Vec3::cst(e)) / e.norm_sq();
    Vec3::cst(a) + Vec3::cst(e) * x.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::{Dual, Random, vec3};

    fn vector(random: &mut Random) -> Vec3<f64> {
        vec3(random.signed(), random.signed(), random.signed())
    }

    /// A cube of side 2 about the origin, 12 faces.
    fn cube() -> TriangleMesh {
        let vertices = (0..8).map(|i| {
            let side = |bit: u32| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
            vec3(side(0), side(1), side(2))
        });
        let quads: [[u32; 4]; 6] =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let faces = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
        TriangleMesh { vertices: vertices.collect(), faces }
    }

    /// Inside the cube the nearest point lies straight out through the nearest side; outside
    /// it is the point clamped to the cube. Holds whichever way round the faces are given.
    #[test]
    fn analytic_nearest_point_of_a_cube() {
        let mut inside_out = cube();
        inside_out.faces.iter_mut().for_each(|f| f.swap(1, 2));
        for mesh in [cube(), inside_out] {
            let mesh = MeshSurface::new(&mesh).unwrap();
            let mut random = Random::new(3);
            for _ in 0..500 {
                let p = vector(&mut random) * 1.6;
                let (near, inside) = mesh.nearest(p);
                let mut expected = vec3(p.x.clamp(-1.0, 1.0), p.y.clamp(-1.0, 1.0), p.z.clamp(-1.0, 1.0));
                let really_inside = (0..3).all(|i| f64::abs(p[i]) < 1.0);
                if really_inside {
                    let i = (0..3).fold(0, |b, i| if f64::abs(p[i]) > f64::abs(p[b]) { i } else { b });
                    expected[i] = p[i].signum();
                }
                assert_eq!(inside, really_inside, "{p:?}");
                assert!((near - expected).norm() < 1e-14, "{p:?} {near:?}");
            }
        }
    }

    /// The tree finds what looking at every face finds.
    #[test]
    fn identity_tree_and_all_faces() {
        let mut random = Random::new(5);
        let vertices: Vec<_> = (0..60).map(|_| vector(&mut random)).collect();
        let faces = (0..58).map(|i| [i, i + 1, i + 2]).collect();
        let mesh = MeshSurface::new(&TriangleMesh { vertices, faces }).unwrap();
        for _ in 0..200 {
            let p = vector(&mut random) * 1.5;
            let near = nearest_on_triangle(&mesh.nearest_face(p).corners, p);
            let all = mesh.faces.iter().map(|f| (nearest_on_triangle(&f.corners, p) - p).norm());
            let best = all.fold(f64::INFINITY, f64::min);
            assert!(((near - p).norm() - best).abs() < 1e-14);
        }
    }

    /// The nearest point moves with p in face, edge and corner regions alike.
    #[test]
    fn deriv_nearest_on_triangle() {
        let corners = [vec3(0.0, 0.0, 0.0), vec3(1.0, 0.2, 0.0), vec3(0.1, 0.9, 0.3)];
        let mut random = Random::new(9);
        for _ in 0..50 {
            let (p, u) = (vector(&mut random) * 2.0, vector(&mut random));
            let moving = vec3(Dual::<f64, 1>::new(p.x, [u.x]), Dual::new(p.y, [u.y]), Dual::new(p.z, [u.z]));
            let q = nearest_on_triangle(&corners, moving);
            let h = 1e-6;
            let fd = (nearest_on_triangle(&corners, p + u * h) - nearest_on_triangle(&corners, p - u * h))
                / (2.0 * h);
            for i in 0..3 {
                assert!((q[i].d[0] - fd[i]).abs() < 1e-9, "{p:?}");
            }
        }
    }

    #[test]
    fn meshes_that_cannot_be_used_say_why() {
        let mut mesh = cube();
        mesh.faces[3][1] = 99;
        let error = MeshSurface::new(&mesh).unwrap_err();
        assert_eq!(error.to_string(), "face 3 of the mesh refers to vertex 99, but there are 8 vertices");
        assert_eq!(MeshSurface::new(&TriangleMesh::default()), Err(MeshError::Empty));
        mesh.vertices[2].y = f64::NAN;
        assert_eq!(MeshSurface::new(&mesh), Err(MeshError::NotFinite { vertex: 2 }));
    }
}
