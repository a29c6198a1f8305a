//! Angular momentum of groups of bodies about a vertical axis through the mass centre of the model.

use soleus_math::Vec3;
use soleus_tools::analysis::{Analysis, AnalysisError, Moment, Output, Recorder};

/// Angular momenta (kg·m²/s) of groups of bodies, whose names begin with one of the words.
pub struct AngularMomentum {
    groups: Vec<&'static [&'static str]>,
    table: Recorder,
}

impl AngularMomentum {
    /// One column for each group.
    pub fn new(groups: &[(&str, &'static [&'static str])]) -> Self {
        let labels = groups.iter().map(|(name, _)| name.to_string()).collect();
        AngularMomentum {
            groups: groups.iter().map(|(_, words)| *words).collect(),
            table: Recorder::new("AngularMomentum", "", labels),
        }
    }
}

impl Analysis for AngularMomentum {
    /// Of a body of mass m with angular momentum L about its origin O and linear momentum P, about the mass centre C and
    /// seen from there:  L − h × v_C + (O − C) × (P − m v_C),  h = m (mass centre of the body − O).
    fn record(&mut self, now: &Moment) -> Result<(), AnalysisError> {
        let kin = &now.ws.kin;
        let (mut mass, mut moment, mut momentum) = (0.0, Vec3::zero(), Vec3::zero());
        for (b, i) in kin.inertia.iter().enumerate() {
            mass += i.mass;
            moment += kin.X_GB[b].p * i.mass + i.moment;
            momentum += i.momentum(kin.V_GB[b]).v;
        }
        let (center, velocity) = (moment / mass, momentum / mass);
        let mut sums = vec![0.0; self.groups.len()];
        for (k, body) in now.model.bodies.iter().enumerate() {
            let b = now.system.tree.node_of_body[k];
            let (i, H) = (&kin.inertia[b], kin.inertia[b].momentum(kin.V_GB[b]));
            let relative = H.v - velocity * i.mass;
            let L = H.w - i.moment.cross(velocity) + (kin.X_GB[b].p - center).cross(relative);
            for (sum, words) in sums.iter_mut().zip(&self.groups) {
                if words.iter().any(|w| body.name.starts_with(w)) {
                    *sum += L.to_array()[1];
                }
            }
        }
        self.table.push(now.x.time, sums);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<Output>, AnalysisError> {
        Ok(vec![Output { suffix: "_momentum".to_string(), table: self.table.table()? }])
    }
}
