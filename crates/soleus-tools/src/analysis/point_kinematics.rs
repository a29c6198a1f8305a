//! `PointKinematics`: motion of a point on a body.

use super::body_kinematics::point_motion;
use super::{Analysis, AnalysisError, Moment, Output, Recorder, required_frame};
use soleus_math::{Transform, Vec3};
use soleus_model::Model;

/// Position, velocity and acceleration of a point on a body; the position relative to another body, the others in its
/// axes. Velocity and acceleration are relative to ground, as in OpenSim.
#[derive(Clone, Debug)]
pub struct PointKinematics {
    name: String,
    /// Body of the point and its place there.
    body: usize,
    p_BS: Vec3<f64>,
    /// Body whose axes are used, and the frame on it.
    relative: Option<(usize, Transform<f64>)>,
    tables: [Recorder; 3],
}

impl PointKinematics {
    /// For a point (m) in a named frame, expressed in another frame if given.
    pub fn new(
        model: &Model,
        (body, point): (&str, Vec3<f64>),
        name: &str,
        relative_to: Option<&str>,
    ) -> Result<Self, AnalysisError> {
        let f = required_frame(model, body)?;
        let relative = match relative_to {
            None => None,
            Some(r) => {
                let r = required_frame(model, r)?;
                Some((r.body.0, r.X_BF))
            }
        };
        // OpenSim makes these files before it knows the name of the point, and labels them so.
        let labels: Vec<String> = (0..3).map(|i| format!("state_{i}")).collect();
        let table = |what: &str| Recorder::new(format!("Point{what}"), "No description.", labels.clone());
        Ok(PointKinematics {
            name: name.to_string(),
            body: f.body.0,
            p_BS: f.X_BF * point,
            relative,
            tables: [table("Position"), table("Velocity"), table("Acceleration")],
        })
    }
}

impl Analysis for PointKinematics {
    fn record(&mut self, now: &Moment) -> Result<(), AnalysisError> {
        let nodes = &now.system.tree.node_of_body;
        let mut motion = point_motion(now.ws, nodes[self.body], self.p_BS);
        if let Some((body, X_BF)) = self.relative {
            let X = now.ws.kin.X_GB[nodes[body]] * X_BF;
            motion = [X.inverse_mul(motion[0]), X.R.inverse_mul(motion[1]), X.R.inverse_mul(motion[2])];
        }
        for (table, v) in self.tables.iter_mut().zip(motion) {
            table.push(now.x.time, v.to_array());
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<Output>, AnalysisError> {
        let [p, v, a] = self.tables;
        let named = |what: &str| format!("_{}_{what}", self.name);
        Ok(vec![
            Output { suffix: named("acc"), table: a.table()? },
            Output { suffix: named("vel"), table: v.table()? },
            Output { suffix: named("pos"), table: p.table()? },
        ])
    }
}
