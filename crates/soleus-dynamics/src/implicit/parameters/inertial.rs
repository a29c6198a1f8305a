//! Mass, mass centre and inertia of bodies, which the equations of motion are linear in.

use crate::multibody::Tree;
use soleus_math::{SpatialInertia, SymMat33, Vec3};
use soleus_model::Model;

/// Properties of bodies.
pub(super) const OF_BODIES: &str = "mass, mass_center/0 to 2, inertia/0 to 5";

/// Value of a property of a body, and the change of its inertia about the origin per unit.
///
/// With mass m, mass centre c and central inertia I_c: moment h = m c, inertia I_c + m (c·c 1 − c cᵀ).
pub(super) fn body_change(model: &Model, body: usize, property: &str) -> Option<(f64, SpatialInertia<f64>)> {
    let b = &model.bodies[body];
    let (m, c) = (b.mass, b.mass_center);
    let zero = SymMat33::zero();
    let (name, index) = property.split_once('/').map_or((property, None), |(n, i)| (n, i.parse().ok()));
    match (name, index) {
        ("mass", None) => Some((m, SpatialInertia { mass: 1.0, moment: c, inertia: SymMat33::of_point(c) })),
        ("mass_center", Some(k)) if k < 3 => {
            // ∂(c·c 1 − c cᵀ)/∂c_k, the polar form of a quadratic one.
            let e = Vec3::unit(k);
            let inertia = SymMat33::of_point(c + e) - SymMat33::of_point(c) - SymMat33::of_point(e);
            Some((c[k], SpatialInertia { mass: 0.0, moment: e * m, inertia: inertia.scale(m) }))
        }
        ("inertia", Some(k)) if k < 6 => {
            let mut unit = zero;
            let I = &b.inertia;
            let (slot, value): (&mut f64, f64) = match k {
                0 => (&mut unit.xx, I.xx),
                1 => (&mut unit.yy, I.yy),
                2 => (&mut unit.zz, I.zz),
                3 => (&mut unit.xy, I.xy),
                4 => (&mut unit.xz, I.xz),
                _ => (&mut unit.yz, I.yz),
            };
            *slot = 1.0;
            Some((value, SpatialInertia { mass: 0.0, moment: Vec3::zero(), inertia: unit }))
        }
        _ => None,
    }
}

/// The nodes of a body, which share its inertia evenly.
pub(super) fn nodes_of_body(
    tree: &Tree,
    body: usize,
    change: SpatialInertia<f64>,
) -> Vec<(usize, SpatialInertia<f64>)> {
    let nodes: Vec<usize> =
        (1..tree.nodes.len()).filter(|&i| tree.nodes[i].body.is_some_and(|b| b.0 == body)).collect();
    let share = 1.0 / nodes.len().max(1) as f64;
    let part = SpatialInertia {
        mass: change.mass * share,
        moment: change.moment * share,
        inertia: change.inertia.scale(share),
    };
    nodes.into_iter().map(|b| (b, part)).collect()
}
