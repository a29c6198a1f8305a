//! A planar knee: what its cruciate ligaments bear.

use super::motion::Motion;
use super::skier::Skier;
use soleus::Error;
use soleus_dynamics::Workspace;
use soleus_math::Vec3;

/// Flexion of the tables below, deg.
const FLEXION: [f64; 9] = [0.0, 15.0, 30.0, 45.0, 60.0, 75.0, 90.0, 105.0, 120.0];
/// Directions in which muscles pull the shank, deg in front of its long axis: those of the full-body model of Rajagopal et al.
/// (2016). Patellar tendon: `vasint_r`, from the tibia to the patella.
const PATELLAR_TENDON: [f64; 9] = [18.1, 14.1, 10.5, 7.2, 4.4, 1.8, -0.9, -3.6, -5.8];
/// Hamstrings: the mean of `bflh_r` and `semimem_r` at 60° of hip flexion.
const HAMSTRINGS: [f64; 9] = [-2.7, -17.2, -31.6, -46.3, -61.4, -77.2, -93.5, -110.0, -126.5];
/// Gastrocnemius, from the heel to the femur: `med_gas_r` of the gait2392 model of Delp et al. (1990), 3.1° to 4.3°.
const GASTROCNEMIUS: f64 = 3.5;
/// How much the plateau of the tibia falls towards the back, deg; ours.
const SLOPE: f64 = 8.0;
/// How steeply the ligaments rise from the plateau, deg, at 0° and at 90° of flexion; ours.
const ANTERIOR: [f64; 2] = [55.0, 35.0];
const POSTERIOR: [f64; 2] = [45.0, 60.0];

/// Forces in one knee, N.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ligaments {
    /// Anterior cruciate ligament.
    pub anterior: f64,
    /// Posterior cruciate ligament.
    pub posterior: f64,
}

/// A table over flexion, on lines, constant beyond.
fn table(values: &[f64; 9], flexion: f64) -> f64 {
    let k = FLEXION.partition_point(|&f| f <= flexion).clamp(1, 8);
    let s = ((flexion - FLEXION[k - 1]) / (FLEXION[k] - FLEXION[k - 1])).clamp(0.0, 1.0);
    (1.0 - s) * values[k - 1] + s * values[k]
}

/// Ligaments of a knee that is flexed by `flexion` (deg), where the thigh acts on the shank with the force (x, y) in all, x
/// forward and y along the shank upwards, and quadriceps, hamstrings and gastrocnemius pull with `muscles`, N.
///
///   C = F − Σ T (sin φ, cos φ)          what bones and ligaments transmit, φ from the tables
///   S = C · (cos s, sin s)              along the plateau; the bones press at right angles to it
///
/// The anterior ligament pulls the tibia back and bears −S/cos α where S is negative; the posterior one pulls it forward and
/// bears S/cos α where S is positive.
pub fn ligaments(flexion: f64, force: [f64; 2], muscles: [f64; 3]) -> Ligaments {
    let angles = [table(&PATELLAR_TENDON, flexion), table(&HAMSTRINGS, flexion), GASTROCNEMIUS];
    let mut c = force;
    for (tension, angle) in muscles.iter().zip(angles) {
        let (sin, cos) = angle.to_radians().sin_cos();
        c[0] -= tension * sin;
        c[1] -= tension * cos;
    }
    let (sin, cos) = SLOPE.to_radians().sin_cos();
    let shear = c[0] * cos + c[1] * sin;
    let part = (flexion / 90.0).clamp(0.0, 1.2);
    let rise = |ends: [f64; 2]| (ends[0] + part * (ends[1] - ends[0])).to_radians().cos();
    Ligaments { anterior: (-shear).max(0.0) / rise(ANTERIOR), posterior: shear.max(0.0) / rise(POSTERIOR) }
}

impl Skier {
    /// Ligaments of the right and the left knee along a motion.
    pub fn ligaments(&self, motion: &Motion) -> Result<[Vec<Ligaments>; 2], Error> {
        let (base, system) = (&self.planar.base, &self.planar.base.system);
        let mut ws = system.workspace::<f64>();
        let missing = |name: &str| Error::NotSolved { message: format!("the skier has no `{name}`") };
        let body = |name: String| {
            let i = base.model.bodies.iter().position(|b| b.name == name);
            i.map(|i| system.tree.node_of_body[i]).ok_or_else(|| missing(&name))
        };
        let force = |name: String| {
            base.model.forces.iter().position(|f| f.name == name).ok_or_else(|| missing(&name))
        };
        let mut all = [Vec::new(), Vec::new()];
        for (s, side) in ["r", "l"].into_iter().enumerate() {
            let below = ["shank", "foot", "ski_front", "ski_rear"];
            let below = below.map(|b| body(format!("{b}_{side}")));
            let below: Vec<usize> = below.into_iter().collect::<Result<_, _>>()?;
            let names = ["vasti", "rectus", "hamstrings", "gastroc"];
            let muscles = names.map(|m| force(format!("{m}_{side}")));
            let muscles: Vec<usize> = muscles.into_iter().collect::<Result<_, _>>()?;
            for (x, e) in motion.states.iter().zip(&motion.controls) {
                system
                    .compute_motion(x, e, &mut ws)
                    .map_err(|source| Error::NotSolved { message: format!("no accelerations: {source}") })?;
                system.compute_body_accelerations(&mut ws);
                let needed = below.iter().fold(Vec3::zero(), |sum, &b| sum + missing_force(&ws, b));
                let on_shank = ws.kin.X_GB[below[0]].R.inverse_mul(needed);
                let t = |k: usize| ws.tension[muscles[k]];
                let flexion = -x.q[self.planar.legs[s][1]].to_degrees();
                all[s].push(ligaments(flexion, [on_shank.x, on_shank.y], [t(0) + t(1), t(2), t(3)]));
            }
        }
        Ok(all)
    }
}

/// The force that a body's motion needs beyond gravity and contact, N: m a_c − F.
fn missing_force(ws: &Workspace<f64>, b: usize) -> Vec3<f64> {
    let (i, w, A) = (&ws.kin.inertia[b], ws.kin.V_GB[b].w, ws.A_GB[b]);
    A.v * i.mass + A.w.cross(i.moment) + w.cross(w.cross(i.moment)) - ws.body_load[b].v
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pressed along its shank, a knee with a plateau that falls backwards slides forward: the anterior ligament holds.
    /// Quadriceps of a straight knee load it, hamstrings of a bent one unload it.
    #[test]
    fn analytic_ligaments() {
        let l = ligaments(0.0, [0.0, -1000.0], [0.0; 3]);
        let wanted = 1000.0 * SLOPE.to_radians().sin() / 55f64.to_radians().cos();
        assert!((l.anterior - wanted).abs() < 1e-9 && l.posterior == 0.0, "{l:?}");
        let pulled = ligaments(0.0, [0.0, 0.0], [1000.0, 0.0, 0.0]).anterior;
        // sin(18.1°) cos 8° + cos(18.1°) sin 8° = sin(26.1°).
        let wanted = 1000.0 * 26.1f64.to_radians().sin() / 55f64.to_radians().cos();
        assert!((pulled - wanted).abs() < 1e-9, "{pulled} {wanted}");
        let bent = ligaments(90.0, [0.0, -1000.0], [0.0, 1000.0, 0.0]);
        assert!(bent.anterior == 0.0 && bent.posterior > 500.0, "{bent:?}");
    }
}
