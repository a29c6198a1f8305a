//! Contact of spheres, half spaces and ellipsoids after Hertz, with the damping of Hunt and
//! Crossley (1975).

use super::geometry::{PointContact, Surface, SurfaceShape, point_contact};
use super::{Friction, Touch};
use crate::Kinematics;
use soleus_math::{Over, Real, Vec3};

/// Material of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material<P = f64> {
    /// Plane-strain modulus E, N/m².
    pub stiffness: P,
    /// Dissipation c, s/m.
    pub dissipation: P,
    /// μ_s.
    pub static_friction: P,
    /// μ_d.
    pub dynamic_friction: P,
    /// μ_v, s/m.
    pub viscous_friction: P,
}

/// Two surfaces that may touch, with their common material.
#[derive(Clone, Debug, PartialEq)]
struct Pair<P> {
    first: usize,
    second: usize,
    /// k of (1).
    stiffness: P,
    /// c of (1).
    dissipation: P,
    /// ½ − s₁: where the contact lies within the overlap.
    shift: P,
    friction: Friction<P>,
}

/// All contacts among a set of surfaces.
///
/// With k_i = E_i^(2/3) and s₁ = k₂/(k₁ + k₂), s₂ = 1 − s₁, for depth d and effective radius R:
///
///   k = k₁ s₁,   c = c₁ s₁ + c₂ s₂                       (1)
///   f_H = 4/3 k d √(R k d)                               (2)
///   f = f_H (1 + 3/2 c v_n), no force when f ≤ 0          (3)
///   friction f μ(v_s) against slip; each coefficient 2 μ₁ μ₂/(μ₁ + μ₂)   (4)
///
/// v_n is the approach velocity at the point of contact, which lies on the deformed surface of the softer body.
///
/// Source: Hunt and Crossley (1975); Simbody's HuntCrossleyForce. Simbody ignores further contacts of the set once (3)
/// gives f ≤ 0 for one; this implementation does not, unless known errors of OpenSim are reproduced. Contacts between
/// surfaces of one body cancel and are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct HuntCrossley<P = f64> {
    surfaces: Vec<Surface>,
    /// Semi-axes of the surfaces that are spheres or ellipsoids, m.
    sizes: Vec<Vec3<P>>,
    pairs: Vec<Pair<P>>,
    compatible: bool,
}

/// 2ab/(a + b), 0 when both are 0.
fn harmonic<P: Real>(a: P, b: P) -> P {
    if a.value() == 0.0 && b.value() == 0.0 { P::zero() } else { a * 2.0 * b / (a + b) }
}

impl<P: Real> HuntCrossley<P> {
    /// From surfaces with their materials. Unsupported shapes (meshes) have no contact.
    pub fn new(surfaces: Vec<(Surface, Material<P>)>, transition_velocity: P, compatible: bool) -> Self {
        let mut pairs = Vec::new();
        for i in 0..surfaces.len() {
            for j in i + 1..surfaces.len() {
                // A half space comes first, as in the formulas.
                let (first, second) = match surfaces[j].0.shape {
                    SurfaceShape::HalfSpace => (j, i),
                    _ => (i, j),
                };
                let ((a, m1), (b, m2)) = (&surfaces[first], &surfaces[second]);
                let (k1, k2) = (m1.stiffness.powf(2.0 / 3.0), m2.stiffness.powf(2.0 / 3.0));
                // Two surfaces without stiffness exert nothing.
                if a.frame.body == b.frame.body || !point_contact::applies(a, b) || (k1 + k2).value() == 0.0 {
                    continue;
                }
                let s1 = k2 / (k1 + k2); // (1)
                pairs.push(Pair {
                    first,
                    second,
                    stiffness: k1 * s1,
                    dissipation: m1.dissipation * s1 + m2.dissipation * (P::one() - s1),
                    shift: P::cst(0.5) - s1,
                    friction: Friction::new(
                        harmonic(m1.static_friction, m2.static_friction),
                        harmonic(m1.dynamic_friction, m2.dynamic_friction),
                        harmonic(m1.viscous_friction, m2.viscous_friction),
                        transition_velocity,
                    ),
                });
            }
        }
        let surfaces: Vec<Surface> = surfaces.into_iter().map(|s| s.0).collect();
        let sizes = surfaces.iter().map(|s| match s.shape {
            SurfaceShape::Sphere(r) => Vec3::cst(Vec3 { x: r, y: r, z: r }),
            SurfaceShape::Ellipsoid(r) => Vec3::cst(r),
            _ => Vec3::zero(),
        });
        HuntCrossley { sizes: sizes.collect(), surfaces, pairs, compatible }
    }

    /// The same with the semi-axes of a sphere or an ellipsoid, by its number, seeded for derivatives.
    pub(crate) fn with_size(mut self, surface: usize, semi_axes: Vec3<P>) -> Self {
        self.sizes[surface] = semi_axes;
        self
    }

    /// Calls `each` for every contact with a force; returns the stored energy 2/5 Σ f_H d, J.
    #[inline]
    pub fn visit<T: Over<P>>(&self, kin: &Kinematics<T>, mut each: impl FnMut(&Touch<T>)) -> T {
        let stop = if self.compatible { self.first_separating(kin) } else { None };
        let mut energy = T::zero();
        for pair in &self.pairs {
            let Some(contact) = self.find(pair, kin) else { continue };
            if let Some((axis, stop)) = stop {
                let key = self.order(pair, kin, axis);
                // The separating contact itself still counts in Simbody's energy.
                if key > stop {
                    continue;
                }
            }
            let (touch, e) = self.touch(pair, kin, &contact);
            energy += e;
            if let Some(touch) = touch {
                each(&touch);
            }
        }
        energy
    }

    #[inline]
    fn find<T: Over<P>>(&self, pair: &Pair<P>, kin: &Kinematics<T>) -> Option<PointContact<T>> {
        let [a, b] = [pair.first, pair.second].map(|i| (&self.surfaces[i], Vec3::lift(self.sizes[i])));
        point_contact::find(a, b, kin, self.compatible)
    }

    /// Equations (2) to (4) for one contact, and its energy.
    #[inline]
    fn touch<T: Over<P>>(
        &self,
        pair: &Pair<P>,
        kin: &Kinematics<T>,
        contact: &PointContact<T>,
    ) -> (Option<Touch<T>>, T) {
        let PointContact { point, normal: n, depth: d, radius: R } = *contact;
        let (b1, b2) = (self.surfaces[pair.first].frame.body, self.surfaces[pair.second].frame.body);
        let P = point + n * (d * pair.shift);
        let kd = d * pair.stiffness;
        let fh = kd * (R * kd).sqrt() * (4.0 / 3.0); // (2)
        let energy = fh * d * 0.4;
        let v = kin.velocity_at(b1, P) - kin.velocity_at(b2, P);
        let vn = v.dot(n);
        let f = fh * (vn * (pair.dissipation * 1.5) + 1.0); // (3)
        // Written so that NaN passes on instead of hiding as "no contact".
        if !T::RECORDS && f.value() <= 0.0 {
            return (None, energy);
        }
        let vt = v - n * vn;
        let mu = pair.friction.per_slip(vt.norm_sq()); // (4)
        let mut force = n * f + vt * (f * mu);
        if T::RECORDS {
            let pushes = || f.where_at_most(T::zero(), Vec3::zero, || force);
            force = d.where_at_most(T::zero(), Vec3::zero, pushes);
        }
        (Some(Touch { body1: b1, body2: b2, point: P, force, normal: n }), energy)
    }

    /// Compatible mode: where in Simbody's sequence of contacts the first one without force
    /// stands, if there is one. Simbody sorts surfaces by the lower end of their bounding
    /// spheres along the axis of widest spread.
    fn first_separating<T: Over<P>>(&self, kin: &Kinematics<T>) -> Option<(usize, (f64, f64))> {
        let n = self.surfaces.len() as f64;
        let centre = |s: &Surface| s.centre(kin);
        let mean = self.surfaces.iter().map(centre).fold(Vec3::zero(), |a, c| a + c) / n;
        let mut spread = [0.0; 3];
        for s in &self.surfaces {
            let d = centre(s) - mean;
            (0..3).for_each(|i| spread[i] += f64::abs(d[i]));
        }
        let mut axis = if spread[0] > spread[1] { 0 } else { 1 };
        if spread[2] > spread[axis] {
            axis = 2;
        }
        let mut first: Option<(f64, f64)> = None;
        for pair in &self.pairs {
            let Some(contact) = self.find(pair, kin) else { continue };
            if self.touch(pair, kin, &contact).0.is_none() {
                let key = self.order(pair, kin, axis);
                if first.is_none_or(|k| key < k) {
                    first = Some(key);
                }
            }
        }
        first.map(|key| (axis, key))
    }

    /// Sorting key of a pair in Simbody's sequence.
    fn order<T: Over<P>>(&self, pair: &Pair<P>, kin: &Kinematics<T>, axis: usize) -> (f64, f64) {
        let start = |i: usize| {
            let s = &self.surfaces[i];
            s.centre(kin)[axis] - s.bounding_radius()
        };
        let (a, b) = (start(pair.first), start(pair.second));
        if a <= b { (a, b) } else { (b, a) }
    }

    /// The contacts of one surface with the others.
    pub(crate) fn of_surface(&self, surface: usize) -> HuntCrossley<P> {
        let mut some = self.clone();
        some.pairs.retain(|p| p.first == surface || p.second == surface);
        some
    }

    /// The body of each surface, in order.
    pub fn bodies(&self) -> impl Iterator<Item = usize> + '_ {
        self.surfaces.iter().map(|s| s.frame.body)
    }
}
