//! Elastic foundation contact of meshes.

use super::geometry::{Surface, SurfaceShape};
use super::mesh::{MeshSurface, box_distance_sq};
use super::{Friction, Touch};
use crate::Kinematics;
use soleus_math::{Over, Real, Transform, Vec3};

/// Foundation of one mesh against one partner.
#[derive(Clone, Debug, PartialEq)]
struct Bed<P> {
    mesh: usize,
    other: usize,
    /// Stiffness per area, N/m³; halved when both sides are meshes.
    stiffness: P,
    /// s/m.
    dissipation: P,
    friction: Friction<P>,
}

/// Elastic foundation: a spring at the centroid of every face that is inside the other shape.
///
/// With A the face's area, x the vector from the centroid to the nearest point of the other
/// surface, d = |x| and u = x/d, and v the velocity of the other body relative to the mesh at
/// that nearest point:
///
///   f = k A d (1 + c v·u), if positive,                (1)
///
/// along u on the mesh, with friction f μ(v_s) along the slip of the other body. If both shapes are meshes, each has
/// its springs and A is halved. Friction coefficients are those of the mesh.
///
/// Source: Blankevoort et al. (1991), Bei and Fregly (2004); Simbody's ElasticFoundationForce. Simbody does not detect
/// contact between two meshes whose surfaces do not intersect (one completely inside the other); this implementation
/// does.
#[derive(Clone, Debug, PartialEq)]
pub struct ElasticFoundation<P = f64> {
    surfaces: Vec<Surface>,
    beds: Vec<Bed<P>>,
}

/// Stiffness k (N/m³), dissipation (s/m) and friction (μ_s, μ_d, μ_v) of a mesh.
pub type Material<P = f64> = super::hunt_crossley1975::Material<P>;

impl<P: Real> ElasticFoundation<P> {
    /// From surfaces with materials; only the materials of meshes are used.
    pub fn new(surfaces: Vec<(Surface, Material<P>)>, transition_velocity: P) -> Self {
        let mut beds = Vec::new();
        for (mesh, (a, m)) in surfaces.iter().enumerate() {
            if !matches!(a.shape, SurfaceShape::Mesh(_)) {
                continue;
            }
            for (other, (b, _)) in surfaces.iter().enumerate() {
                let share = match b.shape {
                    SurfaceShape::HalfSpace | SurfaceShape::Sphere(_) => 1.0,
                    SurfaceShape::Mesh(_) if other != mesh => 0.5,
                    _ => continue,
                };
                if a.frame.body == b.frame.body {
                    continue;
                }
                beds.push(Bed {
                    mesh,
                    other,
                    stiffness: m.stiffness * share,
                    dissipation: m.dissipation,
                    friction: Friction::new(
                        m.static_friction,
                        m.dynamic_friction,
                        m.viscous_friction,
                        transition_velocity,
                    ),
                });
            }
        }
        ElasticFoundation { surfaces: surfaces.into_iter().map(|s| s.0).collect(), beds }
    }

    /// Calls `each` for every spring with a force; returns the stored energy ½ Σ k A d², J.
    #[inline]
    pub fn visit<T: Over<P>>(&self, kin: &Kinematics<T>, mut each: impl FnMut(&Touch<T>)) -> T {
        let mut energy = T::zero();
        for bed in &self.beds {
            let (a, b) = (&self.surfaces[bed.mesh], &self.surfaces[bed.other]);
            let SurfaceShape::Mesh(mesh) = &a.shape else { continue };
            let (X_GM, X_GO) = (kin.pose::<f64>(&a.frame), kin.pose::<f64>(&b.frame));
            // The mesh as the other shape sees it.
            let X_OM = X_GO.inverse() * X_GM;
            energy += bed.visit_faces(
                mesh,
                &b.shape,
                X_OM,
                |centroid_G, near_O, area| {
                    let (b1, b2) = (a.frame.body, b.frame.body);
                    let near = X_GO * near_O;
                    let x = near - centroid_G;
                    let d = x.norm();
                    let u = x / d;
                    let v = kin.velocity_at(b2, near) - kin.velocity_at(b1, near);
                    let vn = v.dot(u);
                    let f = d * (bed.stiffness * area) * (vn * bed.dissipation + 1.0); // (1)
                    if f.value() > 0.0 {
                        let vt = v - u * vn;
                        let mu = bed.friction.per_slip(vt.norm_sq());
                        let force = u * f + vt * (f * mu);
                        each(&Touch { body1: b2, body2: b1, point: near, force, normal: u });
                    }
                    d.sq() * (bed.stiffness * (0.5 * area))
                },
                X_GM,
            );
        }
        energy
    }

    /// The springs between one surface and the others.
    pub(crate) fn of_surface(&self, surface: usize) -> ElasticFoundation<P> {
        let mut some = self.clone();
        some.beds.retain(|b| b.mesh == surface || b.other == surface);
        some
    }

    /// The body of each surface, in order.
    pub fn bodies(&self) -> impl Iterator<Item = usize> + '_ {
        self.surfaces.iter().map(|s| s.frame.body)
    }
}

impl<P> Bed<P> {
    /// Calls `spring` with centroid (ground), nearest point (frame O) and area of each face
    /// whose centroid is inside `other`, and adds up the energies it returns. Boxes of faces
    /// that cannot be inside are passed over.
    #[inline]
    fn visit_faces<T: Real>(
        &self,
        mesh: &MeshSurface,
        other: &SurfaceShape,
        X_OM: Transform<T>,
        mut spring: impl FnMut(Vec3<T>, Vec3<T>, f64) -> T,
        X_GM: Transform<T>,
    ) -> T {
        let mut energy = T::zero();
        // Origin and x axis of the other shape, in the mesh's frame, by value.
        let X_MO = X_OM.inverse();
        let o = X_MO.p.value();
        let x_axis = X_MO.R.axis(0).value();
        let mut face_force = |centroid: Vec3<f64>, area: f64, near: Option<Vec3<T>>| {
            if let Some(near) = near {
                energy += spring(X_GM * Vec3::cst(centroid), near, area);
            }
        };
        match other {
            SurfaceShape::HalfSpace => mesh.visit(
                |c, half| {
                    let reach = (0..3).map(|i| half[i] * f64::abs(x_axis[i])).sum::<f64>();
                    (c - o).dot(x_axis) + reach > 0.0
                },
                |face| {
                    let p = X_OM * Vec3::cst(face.centroid);
                    let near = (p.x.value() > 0.0).then(|| Vec3 { x: T::zero(), ..p });
                    face_force(face.centroid, face.area, near);
                },
            ),
            SurfaceShape::Sphere(r) => mesh.visit(
                |c, half| box_distance_sq(c, half, o) <= r * r,
                |face| {
                    let p = X_OM * Vec3::cst(face.centroid);
                    let dist_sq = p.norm_sq();
                    // At the centre there is no direction; on the surface, no depth.
                    let inside = dist_sq.value() < r * r && dist_sq.value() > 0.0;
                    let near = inside.then(|| p * (T::cst(*r) / dist_sq.sqrt()));
                    face_force(face.centroid, face.area, near);
                },
            ),
            SurfaceShape::Mesh(partner) => {
                let centre = (X_MO * Vec3::cst(partner.centre)).value();
                mesh.visit(
                    |c, half| box_distance_sq(c, half, centre) <= partner.radius * partner.radius,
                    |face| {
                        let p = X_OM * Vec3::cst(face.centroid);
                        let (near, inside) = partner.nearest(p);
                        face_force(face.centroid, face.area, inside.then_some(near));
                    },
                );
            }
            _ => {}
        }
        energy
    }
}
