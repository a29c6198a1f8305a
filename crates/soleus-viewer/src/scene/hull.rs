//! Convex hull of points in space.

use soleus_math::Vec3;
use soleus_model::TriangleMesh;

/// Points closer than this part of the cloud's size count as one.
const SAME: f64 = 1e-3;

/// Triangles around a set of points, counterclockwise seen from outside, and the points they use.
///
/// Built incrementally: faces visible from a new point are replaced by faces from their boundary to it. Point sets that
/// are flat or too small have no hull.
pub fn convex_hull(cloud: &[Vec3<f64>]) -> Option<TriangleMesh> {
    let mut points: Vec<Vec3<f64>> = Vec::new();
    let size = cloud.iter().flat_map(|a| cloud.first().map(|b| (*a - *b).norm())).fold(0.0, f64::max);
    for p in cloud.iter().filter(|p| p.norm().is_finite()) {
        if points.iter().all(|q| (*p - *q).norm() > SAME * size) {
            points.push(*p);
        }
    }
    // So that what is compared below is never without a number.
    if points.len() < 4 || !(size > 0.0) {
        return None;
    }
    let slack = SAME * size;
    let farthest = |distance: &dyn Fn(Vec3<f64>) -> f64| {
        (0..points.len()).max_by(|&a, &b| distance(points[a]).total_cmp(&distance(points[b])))
    };

    // A first tetrahedron: the farthest point from the first, from the line of the two, from the plane of the three.
    let o = *points.first()?;
    let a = farthest(&|p| (p - o).norm())?;
    let along = (points[a] - o).normalized();
    let b = farthest(&|p| (p - o).cross(along).norm())?;
    if (points[b] - o).cross(along).norm() < slack {
        return None;
    }
    let normal = (points[a] - o).cross(points[b] - o).normalized();
    let c = farthest(&|p| (p - o).dot(normal).abs())?;
    let height = (points[c] - o).dot(normal);
    if height.abs() < slack {
        return None;
    }
    let (a, b) = if height > 0.0 { (b, a) } else { (a, b) };
    let mut faces = vec![[0, a, b], [0, b, c], [0, c, a], [a, c, b]];

    let above = |f: &[usize; 3], p: Vec3<f64>| {
        let [a, b, c] = f.map(|i| points[i]);
        (p - a).dot((b - a).cross(c - a).normalized())
    };
    for i in (0..points.len()).filter(|i| ![0, a, b, c].contains(i)) {
        // Points that stick out by less than rounding could tell stay inside.
        let (seen, hidden): (Vec<_>, Vec<_>) = faces.iter().partition(|f| above(f, points[i]) > 1e-9 * size);
        if seen.is_empty() {
            continue;
        }
        faces = hidden;
        let edges = |f: &[usize; 3]| [[f[0], f[1]], [f[1], f[2]], [f[2], f[0]]];
        let all: Vec<[usize; 2]> = seen.iter().flat_map(edges).collect();
        for &[from, to] in all.iter().filter(|&&[from, to]| !all.contains(&[to, from])) {
            faces.push([from, to, i]);
        }
    }

    // Only the vertices in use, numbered anew.
    let mut number = vec![u32::MAX; points.len()];
    let mut used = Vec::new();
    for &i in faces.iter().flatten() {
        if number[i] == u32::MAX {
            number[i] = used.len() as u32;
            used.push(points[i]);
        }
    }
    Some(TriangleMesh { vertices: used, faces: faces.iter().map(|f| f.map(|i| number[i])).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use soleus_math::vec3;

    /// Of a cube with points inside only the corners are left, and every point is behind every face.
    #[test]
    fn analytic_hull_of_a_cube() {
        let mut cloud = Vec::new();
        let mut seeded = soleus_math::Random::new(7);
        let mut random = || 0.5 * seeded.signed();
        for _ in 0..50 {
            cloud.push(vec3(random(), random(), random()));
        }
        for i in 0..8 {
            let sign = |bit: i32| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
            cloud.push(vec3(sign(0), sign(1), sign(2)));
        }
        let TriangleMesh { vertices: points, faces } = convex_hull(&cloud).unwrap();
        assert_eq!((points.len(), faces.len()), (8, 12));
        for f in &faces {
            let [a, b, c] = f.map(|i| points[i as usize]);
            let n = (b - a).cross(c - a).normalized();
            assert!(cloud.iter().all(|p| (*p - a).dot(n) < 1e-6));
        }
    }

    #[test]
    fn analytic_flat_clouds_have_no_hull() {
        let z = Vec3::zero();
        for cloud in [vec![], vec![z], vec![z; 9], vec![z, Vec3::unit(0), Vec3::unit(1), vec3(1.0, 1.0, 0.0)]]
        {
            assert_eq!(convex_hull(&cloud), None);
        }
        assert_eq!(convex_hull(&[vec3(f64::NAN, 0.0, 0.0); 5]), None);
    }
}
