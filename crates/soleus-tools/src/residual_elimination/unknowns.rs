//! Unknown coordinates and their equations.

use super::Error;
use soleus_dynamics::System;
use soleus_dynamics::multibody::Tree;
use soleus_math::{SpatialVec, Vec3};
use soleus_model::Model;

/// Role of an unknown coordinate, as in Table 3 of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Forward translation of the root.
    AnteriorPosterior,
    /// Lateral translation of the root.
    MedialLateral,
    /// Upward translation of the root.
    SuperiorInferior,
    /// Flexion and extension of the back.
    Flexion,
    /// Lateral bending of the back.
    Bending,
    /// Axial rotation of the back.
    Rotation,
}

impl Role {
    /// Whether it is a translation.
    pub fn is_translation(self) -> bool {
        matches!(self, Role::AnteriorPosterior | Role::MedialLateral | Role::SuperiorInferior)
    }

    /// Label in a table.
    pub fn label(self) -> &'static str {
        match self {
            Role::AnteriorPosterior => "anterior-posterior",
            Role::MedialLateral => "medial-lateral",
            Role::SuperiorInferior => "superior-inferior",
            Role::Flexion => "flexion-extension",
            Role::Bending => "lateral bending",
            Role::Rotation => "rotation",
        }
    }
}

/// An unknown coordinate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// Its name.
    pub name: String,
    /// Mobility in the tree.
    pub mobility: usize,
    /// Role.
    pub role: Role,
}

/// All of them, and the equations.
#[derive(Clone, Debug)]
pub(crate) struct Unknowns {
    pub list: Vec<Unknown>,
    /// Mobilities of the root: their generalized forces are the residuals.
    pub rows: Vec<usize>,
}

/// The node between ground and most of the mass, and the mass that every node carries.
pub(crate) fn root(tree: &Tree) -> Option<(usize, Vec<f64>)> {
    let mut mass: Vec<f64> = tree.nodes.iter().map(|n| n.mass).collect();
    for i in (1..tree.nodes.len()).rev() {
        let carried = mass[i];
        mass[tree.nodes[i].parent] += carried;
    }
    let node = heaviest(tree, &mass, 0)?;
    Some((node, mass))
}

/// The child of a node that carries most; a chain of joints without mass between them counts as one.
fn heaviest(tree: &Tree, mass: &[f64], parent: usize) -> Option<usize> {
    let children = (1..tree.nodes.len()).filter(|&i| tree.nodes[i].parent == parent);
    children.max_by(|&a, &b| mass[a].total_cmp(&mass[b]))
}

impl Unknowns {
    pub fn find(
        model: &Model,
        system: &System,
        translations: &[String],
        back: &[String],
    ) -> Result<Self, Error> {
        let tree = &system.tree;
        let (root, mass) = root(tree).ok_or(Error::NoRoot)?;
        let mobilities = |node: usize| tree.nodes[node].u0..tree.nodes[node].u0 + tree.nodes[node].nu;
        let rows: Vec<usize> = mobilities(root).collect();
        // By what a mobility does, not by what its file says: some call a translation through a function coupled.
        let mut ws = system.workspace::<f64>();
        system.compute_kinematics(&system.default_state, &mut ws);
        let turns = |m: usize| ws.kin.H[m].w.norm() > 1e-9;
        let has_coordinate = |m: usize| tree.coordinate_of_mobility[m].is_some();
        let named = |names: &[String]| -> Result<Vec<usize>, Error> {
            let one = |name: &String| {
                let at = model.coordinates.iter().position(|c| c.name == *name || c.path == *name);
                at.map(|c| tree.mobility_of_coordinate[c])
                    .filter(|m| *m != usize::MAX)
                    .ok_or_else(|| Error::NoSuchCoordinate { name: name.clone() })
            };
            names.iter().map(one).collect()
        };
        let translating = |m: &usize| has_coordinate(*m) && !turns(*m);
        let moved = match translations {
            [] => rows.iter().copied().filter(translating).collect(),
            names => named(names)?,
        };
        if moved.is_empty() {
            return Err(Error::NoRoot);
        }
        let turned: Vec<usize> = match back {
            [] => {
                let joint = heaviest(tree, &mass, root);
                let all = joint.map(mobilities).into_iter().flatten();
                all.filter(|&m| has_coordinate(m) && turns(m)).collect()
            }
            names => named(names)?,
        };
        let name = |m: usize| {
            tree.coordinate_of_mobility[m].map_or(String::new(), |c| model.coordinates[c.0].name.clone())
        };
        let mut list = Vec::new();
        for (&m, role) in moved.iter().zip(translation_roles(model.gravity, &ws.kin.H, &moved)) {
            list.push(Unknown { name: name(m), mobility: m, role });
        }
        for (i, &m) in turned.iter().enumerate() {
            let name = name(m);
            list.push(Unknown { role: back_role(&name, i), name, mobility: m });
        }
        let unknowns = Unknowns { list, rows };
        if unknowns.list.len() != unknowns.rows.len() || unknowns.rows.len() > 6 {
            return Err(Error::Count {
                equations: unknowns.rows.len(),
                unknowns: unknowns.list.into_iter().map(|u| u.name).collect(),
            });
        }
        unknowns.check_balls(tree)?;
        Ok(unknowns)
    }

    /// Speeds that are an angular velocity belong together.
    fn check_balls(&self, tree: &Tree) -> Result<(), Error> {
        let is_unknown = |m: usize| self.list.iter().any(|u| u.mobility == m);
        for node in tree.nodes.iter().filter(|n| n.joint.speeds_are_angular_velocity()) {
            let count = (0..3).filter(|i| is_unknown(node.u0 + i)).count();
            if let (1 | 2, Some(u)) =
                (count, self.list.iter().find(|u| (node.u0..node.u0 + 3).contains(&u.mobility)))
            {
                return Err(Error::PartOfBall { name: u.name.clone() });
            }
        }
        Ok(())
    }

    pub fn names(&self) -> Vec<String> {
        self.list.iter().map(|u| u.name.clone()).collect()
    }
}

/// Upward is what is most along gravity; of the others the first is forward, as in OpenSim's models.
fn translation_roles(gravity: Vec3<f64>, H: &[SpatialVec<f64>], mobilities: &[usize]) -> Vec<Role> {
    let along = |m: usize| H[m].v.dot(gravity).abs();
    let up = (0..mobilities.len())
        .filter(|&i| along(mobilities[i]) > 0.5 * gravity.norm())
        .max_by(|&a, &b| along(mobilities[a]).total_cmp(&along(mobilities[b])));
    let mut others = [Role::AnteriorPosterior, Role::MedialLateral].into_iter();
    (0..mobilities.len())
        .map(|i| {
            if Some(i) == up { Role::SuperiorInferior } else { others.next().unwrap_or(Role::MedialLateral) }
        })
        .collect()
}

/// By name, as OpenSim's models have it (`lumbar_extension`, `lumbar_bending`, `lumbar_rotation`), else by order.
fn back_role(name: &str, position: usize) -> Role {
    let name = name.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|w| name.contains(w));
    if has(&["ext", "flex", "pitch"]) {
        Role::Flexion
    } else if has(&["bend", "lateral", "roll"]) {
        Role::Bending
    } else if has(&["rot", "yaw", "axial"]) {
        Role::Rotation
    } else {
        [Role::Flexion, Role::Bending, Role::Rotation][position.min(2)]
    }
}
