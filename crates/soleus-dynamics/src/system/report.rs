//! Reported values of the forces of a system. Disabled forces (`appliesForce` false) have no force and no energy.

use super::{Actor, State, System, Workspace};
use crate::force::{Kernel, PathForce};
use crate::muscle::MuscleInfo;
use soleus_math::Real;

impl System {
    /// All quantities of the muscle of force `i` after [`compute_paths`](Self::compute_paths); `None` if it is not a
    /// muscle. A disabled muscle has its fiber and tendon quantities, but no tension.
    pub fn muscle_info<T: Real>(
        &self,
        i: usize,
        x: &State<T>,
        controls: &[T],
        ws: &Workspace<T>,
    ) -> Option<MuscleInfo<T>> {
        let f = &self.forces[i];
        let Actor::Muscle(m) = &f.actor else { return None };
        let path = &ws.paths[i];
        let mut info =
            m.info(path.length(), path.speed(), controls[f.controls.start], &x.z[f.states.clone()]);
        if !f.enabled {
            info.actuation = T::zero();
        }
        Some(info)
    }

    /// Appends the values for the labels of force `i`, which is not a muscle, after
    /// [`compute_paths`](Self::compute_paths). Forces and moments of a disabled force are zero; points and lengths are
    /// not.
    pub fn record_force<T: Real>(
        &self,
        i: usize,
        x: &State<T>,
        controls: &[T],
        ws: &Workspace<T>,
        out: &mut Vec<T>,
    ) {
        let f = &self.forces[i];
        let Actor::Force(c) = &f.actor else { return };
        let (controls, z) = (&controls[f.controls.clone()], &x.z[f.states.clone()]);
        let first = out.len();
        match c.path_force() {
            Some(p) => {
                let st = &ws.paths[i];
                let control = controls.first().copied().unwrap_or(T::zero());
                p.record(st.length(), st.speed(), control, z, out);
            }
            None => c.record(&ws.kin.view(x.time), controls, z, out),
        }
        if f.enabled {
            return;
        }
        // Which of the values say where, and not how much.
        let values = &mut out[first..];
        let kept = match c.kernel() {
            Kernel::PointToPoint(_) => [3..6, 9..12],
            Kernel::Timed(t) if t.force.is_some() && t.point.is_some() => [3..6, 0..0],
            Kernel::Path(PathForce::Blankevoort1991(_)) => [3..7, 0..0],
            _ => [0..0, 0..0],
        };
        for (k, v) in values.iter_mut().enumerate() {
            if !kept.iter().any(|r| r.contains(&k)) {
                *v = T::zero();
            }
        }
    }

    /// Energy stored in all enabled forces, J, after [`compute_paths`](Self::compute_paths), without that of gravity.
    pub fn energy_of_forces<T: Real>(&self, x: &State<T>, controls: &[T], ws: &Workspace<T>) -> T {
        let kin = ws.kin.view(x.time);
        let mut energy = T::zero();
        for (i, f) in self.forces.iter().enumerate().filter(|(_, f)| f.enabled) {
            energy += match &f.actor {
                Actor::Muscle(_) => self
                    .muscle_info(i, x, controls, ws)
                    .map_or(T::zero(), |info| info.muscle_potential_energy),
                Actor::Force(c) if c.path_force().is_some() => c.path_energy(ws.paths[i].length()),
                Actor::Force(c) => c.energy_in_total(&kin),
            };
        }
        energy
    }

    /// The first force whose loads or rates are not finite at this state, if any; gravity and other forces are
    /// evaluated one by one. Overwrites the loads and rates in the workspace.
    pub fn force_not_finite(
        &self,
        x: &State<f64>,
        controls: &[f64],
        ws: &mut Workspace<f64>,
    ) -> Option<usize> {
        let mut alone = self.clone();
        alone.forces.iter_mut().for_each(|f| f.enabled = false);
        alone.compute_kinematics(x, ws);
        alone.compute_paths(x, ws);
        (0..self.forces.len()).filter(|&i| self.forces[i].enabled).find(|&i| {
            alone.forces[i].enabled = true;
            alone.compute_forces(x, controls, ws);
            alone.forces[i].enabled = false;
            let bodies = ws.body_load.iter().flat_map(|f| [f.w, f.v]).flat_map(|v| v.to_array());
            let rates = ws.zdot[self.forces[i].states.clone()].iter().copied();
            !bodies.chain(ws.mobility_load.iter().copied()).chain(rates).all(f64::is_finite)
        })
    }
}
