//! `BodyKinematics`: positions, velocities and accelerations of bodies.

use super::{Analysis, AnalysisError, Moment, Output, Recorder, SI_OR_DEGREES, bodies};
use soleus_dynamics::Workspace;
use soleus_math::Vec3;
use soleus_model::Model;

/// Positions of mass centres of bodies and body-fixed X-Y-Z angles, their velocities and accelerations, in ground or in
/// each body's own axes; and the same for the mass centre of the whole model.
#[derive(Clone, Debug)]
pub struct BodyKinematics {
    /// Body and mass centre in it.
    list: Vec<(usize, Vec3<f64>)>,
    com: bool,
    local: bool,
    degrees: f64,
    tables: [Recorder; 3],
    rows: [Vec<f64>; 3],
}

impl BodyKinematics {
    /// For the named bodies; `all` for all bodies and the mass centre of the model, `center_of_mass` for the latter
    /// only.
    pub fn new(
        model: &Model,
        names: &[String],
        in_body_axes: bool,
        in_degrees: bool,
    ) -> Result<Self, AnalysisError> {
        let (list, com) = bodies(model, names, true)?;
        let mut labels = Vec::new();
        for &b in &list {
            labels.extend(["X", "Y", "Z", "Ox", "Oy", "Oz"].map(|x| format!("{}_{x}", model.bodies[b].name)));
        }
        if com {
            labels.extend(["X", "Y", "Z"].map(|x| format!("center_of_mass_{x}")));
        }
        let axes = if in_body_axes { "the body's own axes" } else { "ground" };
        let text = format!(
            "\nMass centres of the bodies of {}; orientations are body-fixed X-Y-Z angles.\nVelocities and accelerations are \
             expressed in {axes}.\n{SI_OR_DEGREES}",
            model.name
        );
        let table = |name: &str| Recorder::new(name, text.clone(), labels.clone()).in_degrees(in_degrees);
        Ok(BodyKinematics {
            list: list.iter().map(|&b| (b, model.bodies[b].mass_center)).collect(),
            com,
            local: in_body_axes,
            degrees: if in_degrees { 180.0 / std::f64::consts::PI } else { 1.0 },
            tables: [table("Positions"), table("Velocities"), table("Accelerations")],
            rows: [const { Vec::new() }; 3],
        })
    }
}

/// Position, velocity and acceleration in ground of a point fixed to a body.
pub(super) fn point_motion(ws: &Workspace<f64>, node: usize, p_BS: Vec3<f64>) -> [Vec3<f64>; 3] {
    let (X, V, A) = (ws.kin.X_GB[node], ws.kin.V_GB[node], ws.A_GB[node]);
    let r = X.R * p_BS;
    [X.p + r, V.v + V.w.cross(r), A.v + A.w.cross(r) + V.w.cross(V.w.cross(r))]
}

/// Position, velocity and acceleration in ground of the mass centre of the model.
pub fn mass_center_motion(ws: &Workspace<f64>) -> [Vec3<f64>; 3] {
    let mut mass = 0.0;
    let mut sum = [Vec3::zero(); 3];
    for (b, i) in ws.kin.inertia.iter().enumerate() {
        let (V, A, h) = (ws.kin.V_GB[b], ws.A_GB[b], i.moment);
        mass += i.mass;
        sum[0] += ws.kin.X_GB[b].p * i.mass + h;
        sum[1] += V.v * i.mass + V.w.cross(h);
        sum[2] += A.v * i.mass + A.w.cross(h) + V.w.cross(V.w.cross(h));
    }
    sum.map(|s| s / mass)
}

impl Analysis for BodyKinematics {
    fn record(&mut self, now: &Moment) -> Result<(), AnalysisError> {
        let ws = now.ws;
        self.rows.iter_mut().for_each(Vec::clear);
        for &(b, center) in &self.list {
            let node = now.system.tree.node_of_body[b];
            let R = ws.kin.X_GB[node].R;
            let points = point_motion(ws, node, center);
            let turns = [R.to_body_fixed_xyz(), ws.kin.V_GB[node].w, ws.A_GB[node].w];
            for (level, row) in self.rows.iter_mut().enumerate() {
                let (mut point, mut turn) = (points[level], turns[level]);
                if self.local && level > 0 {
                    (point, turn) = (R.inverse_mul(point), R.inverse_mul(turn));
                }
                row.extend(point.to_array());
                row.extend((turn * self.degrees).to_array());
            }
        }
        if self.com {
            for (row, com) in self.rows.iter_mut().zip(mass_center_motion(ws)) {
                row.extend(com.to_array());
            }
        }
        for (table, row) in self.tables.iter_mut().zip(&self.rows) {
            table.push(now.x.time, row.iter().copied());
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<Output>, AnalysisError> {
        let axes = if self.local { "bodyLocal" } else { "global" };
        let [p, v, a] = self.tables;
        Ok(vec![
            Output { suffix: format!("_acc_{axes}"), table: a.table()? },
            Output { suffix: format!("_vel_{axes}"), table: v.table()? },
            Output { suffix: "_pos_global".to_string(), table: p.table()? },
        ])
    }
}
