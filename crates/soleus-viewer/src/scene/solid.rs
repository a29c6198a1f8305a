//! Surfaces: exact ellipsoids, all others as triangles.

use soleus_math::{Mat33, Rotation, Transform, Vec3, vec3};
use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::TAU;

/// A surface in the frame of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum Solid {
    /// An ellipsoid, with an exact outline.
    Ellipsoid {
        /// Its frame in the body.
        pose: Transform<f64>,
        /// Semi-axes, m.
        radii: Vec3<f64>,
    },
    /// Triangles.
    Mesh {
        /// Vertices in the body frame, m.
        vertices: Vec<Vec3<f64>>,
        /// Three vertices each, counterclockwise seen from outside.
        faces: Vec<[u32; 3]>,
    },
}

/// Sides of what is round.
const SIDES: u32 = 20;

impl Solid {
    /// A box with the given half lengths about the origin of its frame.
    pub fn brick(pose: &Transform<f64>, half: Vec3<f64>) -> Solid {
        let corner = |i: u32| {
            let sign = |bit: u32| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
            *pose * vec3(sign(0) * half.x, sign(1) * half.y, sign(2) * half.z)
        };
        let sides = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let faces = sides.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        Solid::Mesh { vertices: (0..8).map(corner).collect(), faces }
    }

    /// A cylinder along `axis` (0, 1, 2 for x, y, z) of its frame, centred at its origin.
    pub fn cylinder(pose: &Transform<f64>, axis: usize, radius: f64, half_length: f64) -> Solid {
        Solid::turned(
            pose,
            axis,
            &[(0.0, -half_length), (radius, -half_length), (radius, half_length), (0.0, half_length)],
        )
    }

    /// A cone from the centre of its base along `direction` to its tip.
    pub fn cone(
        pose: &Transform<f64>,
        base: Vec3<f64>,
        direction: Vec3<f64>,
        radius: f64,
        height: f64,
    ) -> Solid {
        // The frame whose z axis is the direction; a direction without length points along y, as OpenSim has it.
        let z = if direction.norm() > 0.0 { direction.normalized() } else { vec3(0.0, 1.0, 0.0) };
        let across = if z.x.abs() < 0.7 { Vec3::unit(0) } else { Vec3::unit(1) };
        let x = z.cross(across).normalized();
        let R = Rotation(Mat33::from_cols(x, z.cross(x), z));
        let X = *pose * Transform::new(R, base);
        Solid::turned(&X, 2, &[(0.0, 0.0), (radius, 0.0), (0.0, height)])
    }

    /// The same surface, scaled along the axes of the body.
    pub fn stretched(self, k: Vec3<f64>) -> Solid {
        if k == vec3(1.0, 1.0, 1.0) {
            return self;
        }
        match self {
            // Its axes stay its own only where they are those of the body.
            Solid::Ellipsoid { pose, radii } => {
                let pose = Transform::new(pose.R, pose.p.mul_elem(k));
                Solid::Ellipsoid { pose, radii: radii.mul_elem(k) }
            }
            Solid::Mesh { vertices, faces } => {
                Solid::Mesh { vertices: vertices.into_iter().map(|v| v.mul_elem(k)).collect(), faces }
            }
        }
    }

    /// A torus about z of its frame.
    pub fn torus(pose: &Transform<f64>, ring: f64, tube: f64) -> Solid {
        let around = |k: u32| {
            let (s, c) = (TAU * f64::from(k) / f64::from(SIDES)).sin_cos();
            (ring - tube * c, -tube * s)
        };
        let profile: Vec<(f64, f64)> = (0..=SIDES).map(around).collect();
        Solid::turned(pose, 2, &profile)
    }

    /// The surface that a line of (distance from the axis, height along it) makes as it turns about the axis; the
    /// line runs upwards on the outside.
    fn turned(pose: &Transform<f64>, axis: usize, profile: &[(f64, f64)]) -> Solid {
        let (mut vertices, mut faces) = (Vec::new(), Vec::new());
        let mut rings: Vec<Vec<u32>> = Vec::new();
        for &(r, z) in profile {
            // A point on the axis is one vertex, whatever the angle.
            let count = if r == 0.0 { 1 } else { SIDES };
            let first = vertices.len() as u32;
            for k in 0..count {
                let (s, c) = (TAU * f64::from(k) / f64::from(SIDES)).sin_cos();
                let mut p = [0.0; 3];
                (p[(axis + 1) % 3], p[(axis + 2) % 3], p[axis % 3]) = (r * c, r * s, z);
                vertices.push(*pose * Vec3::from_array(p));
            }
            rings.push((0..SIDES).map(|k| first + k % count).collect());
        }
        for pair in rings.windows(2) {
            for k in 0..SIDES as usize {
                let next = (k + 1) % SIDES as usize;
                for f in [[pair[0][k], pair[0][next], pair[1][next]], [pair[0][k], pair[1][next], pair[1][k]]]
                {
                    if f[0] != f[1] && f[1] != f[2] && f[2] != f[0] {
                        faces.push(f);
                    }
                }
            }
        }
        Solid::Mesh { vertices, faces }
    }
}

/// Number of faces that suffices for an image of a few hundred pixels.
pub const FEW_FACES: usize = 600;

/// A mesh with fewer faces if it has many: vertices in the same grid cell are merged at their mean, and degenerate
/// faces are removed (Rossignac and Borrel 1993). The grid is coarsened until the number is small enough.
pub fn simplified(vertices: Vec<Vec3<f64>>, faces: Vec<[u32; 3]>, most_faces: usize) -> Solid {
    // So many cells along the longest side leave about half of their square as faces.
    let mut cells = 24.0 * (most_faces as f64 / FEW_FACES as f64).sqrt().max(1.0);
    let (mut v, mut f) = (vertices.clone(), faces.clone());
    while f.len() > most_faces && cells > 2.0 {
        (v, f) = clustered(&vertices, &faces, cells);
        cells *= 0.8;
    }
    Solid::Mesh { vertices: v, faces: f }
}

/// Vertices merged in a grid with that many cells along the longest side.
fn clustered(vertices: &[Vec3<f64>], faces: &[[u32; 3]], cells: f64) -> (Vec<Vec3<f64>>, Vec<[u32; 3]>) {
    let first = vertices.first().copied().unwrap_or(Vec3::zero());
    let (mut low, mut high) = (first.to_array(), first.to_array());
    for v in vertices {
        for (i, x) in v.to_array().into_iter().enumerate() {
            low[i] = low[i].min(x);
            high[i] = high[i].max(x);
        }
    }
    let size = (0..3).map(|i| high[i] - low[i]).fold(0.0, f64::max) / cells;
    if !(size > 0.0) {
        return (vertices.to_vec(), faces.to_vec());
    }
    // Cells are numbered in the order of their first vertex.
    let mut number = BTreeMap::new();
    let mut sums: Vec<(Vec3<f64>, f64)> = Vec::new();
    let cell_of: Vec<u32> = vertices
        .iter()
        .map(|v| {
            let p = v.to_array();
            let cell: [i64; 3] = std::array::from_fn(|i| ((p[i] - low[i]) / size) as i64);
            let n = *number.entry(cell).or_insert_with(|| {
                sums.push((Vec3::zero(), 0.0));
                sums.len() - 1
            });
            sums[n] = (sums[n].0 + *v, sums[n].1 + 1.0);
            n as u32
        })
        .collect();
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    for f in faces {
        let [a, b, c] = f.map(|i| cell_of.get(i as usize).copied().unwrap_or(0));
        if a == b || b == c || c == a {
            continue;
        }
        // The same face with its smallest vertex first, so that copies are found.
        let m = a.min(b).min(c);
        let turned = if m == a {
            [a, b, c]
        } else if m == b {
            [b, c, a]
        } else {
            [c, a, b]
        };
        if seen.insert(turned) {
            kept.push(turned);
        }
    }
    (sums.into_iter().map(|(p, n)| p * (1.0 / n)).collect(), kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// Volume by the divergence theorem; negative when faces look inwards.
    fn volume(s: &Solid) -> f64 {
        let Solid::Mesh { vertices: v, faces } = s else { return 0.0 };
        let part = |f: &[u32; 3]| {
            let [a, b, c] = f.map(|i| v[i as usize]);
            a.dot(b.cross(c)) / 6.0
        };
        faces.iter().map(part).sum()
    }

    /// Volumes of the inscribed bodies; a wrong winding would change the sign or the size.
    #[test]
    fn analytic_volumes() {
        let X = Transform::from_offset(vec3(0.3, -0.2, 0.1), vec3(0.5, -0.4, 0.3));
        let brick = volume(&Solid::brick(&X, vec3(0.1, 0.2, 0.3)));
        assert!((brick - 0.048).abs() < 1e-15, "{brick}");
        // A polygon of n sides covers n/2 sin(2π/n) of the square of its radius.
        let n = f64::from(SIDES);
        let polygon = 0.5 * n * (TAU / n).sin();
        for axis in 0..3 {
            let v = volume(&Solid::cylinder(&X, axis, 0.1, 0.2));
            assert!((v - polygon * 0.01 * 0.4).abs() < 1e-15, "{v}");
        }
        let v = volume(&Solid::cone(&X, vec3(0.1, 0.0, 0.0), vec3(1.0, 2.0, -1.0), 0.1, 0.3));
        assert!((v - polygon * 0.01 * 0.1).abs() < 1e-15, "{v}");
        // Pappus: the circle is a polygon too.
        let v = volume(&Solid::torus(&X, 0.2, 0.05));
        assert!((v / (2.0 * PI * PI * 0.2 * 0.0025) - 1.0).abs() < 0.04, "{v}");
    }

    /// A finely divided sphere keeps its volume within a few percent and loses most of its faces.
    #[test]
    fn analytic_simplified_spheres_stay_round() {
        let around = |k: u32, n: u32| (PI * f64::from(k) / f64::from(n)).sin_cos();
        let (mut v, mut f) = (Vec::new(), Vec::new());
        for i in 0..=60 {
            for k in 0..120 {
                let ((s, c), (y, x)) = (around(i, 60), around(2 * k, 120));
                v.push(vec3(s * x, s * y, c));
            }
        }
        for i in 0..60 {
            for k in 0..120 {
                let (a, b) = (120 * i + k, 120 * i + (k + 1) % 120);
                f.extend([[a, a + 120, b + 120], [a, b + 120, b]]);
            }
        }
        let full = volume(&Solid::Mesh { vertices: v.clone(), faces: f.clone() });
        let Solid::Mesh { vertices, faces } = simplified(v, f, FEW_FACES) else { unreachable!() };
        assert!(faces.len() <= FEW_FACES, "{}", faces.len());
        let few = volume(&Solid::Mesh { vertices, faces });
        // Corners of the cells are averages, which lie inside the sphere.
        assert!((few / full - 1.0).abs() < 0.1, "{few} of {full}");
    }
}
