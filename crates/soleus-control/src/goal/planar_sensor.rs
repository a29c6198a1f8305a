//! Inertial sensors on bodies that move in a plane: closed form without evaluation of the whole model.

use super::sensor::Reading;
use crate::function::SmoothFunction;
use crate::problem::{PointVariable, Term};
use soleus_dynamics::joint::JointKernel;
use soleus_dynamics::{BodyFrame, System};
use soleus_math::Real;

/// A sensor at the end of a chain of hinges about z, the first perhaps carried by a planar joint.
///
/// With angles q_k, the angle θ_k = q₀ + … + q_k of link k in ground and the vector r_k along it to the next hinge, the last one to
/// the sensor, what an accelerometer reads in its own axes is
///
///   f = Σ_k R(θ_k − θ_n) (θ̈_k J − θ̇_k² 1) r_k + R(−θ_n) (a₀ − g),      J = R(90°)          (1)
///
/// with a₀ the acceleration of the first hinge; and a gyroscope reads θ̇_n. Inputs: t; q_k; u_k; u̇_k; then a₀ along x and y if the
/// first hinge is free to move.
pub(super) struct PlanarSensor {
    /// r, m.
    links: Vec<[f64; 2]>,
    /// Whether a₀ is among the inputs.
    is_free: bool,
    /// g, m/s².
    gravity: [f64; 2],
    /// Angular velocity about z.
    gyroscope: Option<Reading>,
    /// Along x and y.
    accelerometer: [Option<Reading>; 2],
}

impl PlanarSensor {
    /// The readings of a frame as a term; `None` if its bodies do not move in the plane.
    pub fn term(
        system: &System,
        frame: &BodyFrame,
        gyroscope: Option<Reading>,
        accelerometer: [Option<Reading>; 2],
    ) -> Option<Term> {
        let aligned = |m: [[f64; 3]; 3]| m == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        if !aligned([0, 1, 2].map(|i| frame.X_BF.R.axis(i).to_array())) {
            return None;
        }
        // From the sensor down to ground; `r` is the way from the hinge at hand to the next.
        let (mut hinges, mut links, mut moving) = (Vec::new(), Vec::new(), None);
        let mut r = [frame.X_BF.p.x, frame.X_BF.p.y];
        let mut b = frame.body;
        while b != 0 {
            let node = &system.tree.nodes[b];
            if node.reversed || !node.F_is_aligned || !node.M_is_aligned {
                return None;
            }
            r = [r[0] + node.X_MB.p.x, r[1] + node.X_MB.p.y];
            match node.joint {
                JointKernel::Weld => {}
                JointKernel::Pin => {
                    hinges.push(node.u0);
                    links.push(std::mem::take(&mut r));
                }
                JointKernel::Planar if node.parent == 0 => {
                    hinges.push(node.u0);
                    links.push(std::mem::take(&mut r));
                    moving = Some([node.u0 + 1, node.u0 + 2]);
                }
                _ => return None,
            }
            r = [r[0] + node.X_PF.p.x, r[1] + node.X_PF.p.y];
            b = node.parent;
        }
        hinges.reverse();
        links.reverse();
        let n = system.tree.num_mobilities;
        let mut inputs = vec![PointVariable::Time];
        inputs.extend(hinges.iter().map(|&m| PointVariable::State(m)));
        inputs.extend(hinges.iter().map(|&m| PointVariable::State(n + m)));
        inputs.extend(hinges.iter().map(|&m| PointVariable::Rate(n + m)));
        inputs.extend(moving.into_iter().flatten().map(|m| PointVariable::Rate(n + m)));
        let gravity = [system.gravity.x, system.gravity.y];
        let sensor = PlanarSensor { links, is_free: moving.is_some(), gravity, gyroscope, accelerometer };
        Some(Term::of_model(inputs, sensor))
    }
}

impl SmoothFunction for PlanarSensor {
    type Scratch<T: Real> = ();

    fn num_inputs(&self) -> usize {
        1 + 3 * self.links.len() + if self.is_free { 2 } else { 0 }
    }

    fn scratch<T: Real>(&self) {}

    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        let n = self.links.len();
        let (t, z) = z.split_at(1);
        let (q, z) = z.split_at(n);
        let (u, z) = z.split_at(n);
        let (udot, a0) = z.split_at(n);
        let mut sum = T::zero();
        let mut speed: T = u.iter().copied().sum();
        if let Some(r) = &self.gyroscope {
            sum += r.squared_error(speed, t);
        }
        if self.accelerometer.iter().any(Option::is_some) {
            let mut turning: T = udot.iter().copied().sum();
            let mut f = [T::zero(); 2];
            // θ_k − θ_n, from the last link to the first.
            let mut angle = T::zero();
            for k in (0..n).rev() {
                let (s, c) = (angle.sin(), angle.cos());
                let [x, y] = self.links[k];
                let r = [c * x - s * y, s * x + c * y];
                let square = speed.sq();
                f[0] -= turning * r[1] + square * r[0]; // (1)
                f[1] += turning * r[0] - square * r[1];
                speed -= u[k];
                turning -= udot[k];
                angle -= q[k];
            }
            // What is left of the angle is −θ_n.
            let a = [0, 1].map(|i| a0.get(i).copied().unwrap_or(T::zero()) - self.gravity[i]);
            let (s, c) = (angle.sin(), angle.cos());
            f[0] += c * a[0] - s * a[1];
            f[1] += s * a[0] + c * a[1];
            for (f, r) in f.into_iter().zip(&self.accelerometer) {
                if let Some(r) = r {
                    sum += r.squared_error(f, t);
                }
            }
        }
        values[0] = sum;
    }
}
