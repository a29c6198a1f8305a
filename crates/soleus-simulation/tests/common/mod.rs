//! Small problems with known solutions, and models to simulate.
#![allow(dead_code)] // Each test file uses its part.

use soleus_dynamics::Options;
use soleus_dynamics::system::System;
use soleus_math::vec3;
use soleus_model::Model;
use soleus_model::constraint::{Constraint, ConstraintKind};
use soleus_simulation::linear::Pattern;
use soleus_simulation::{ExplicitOde, ImplicitOde, MechanicalOde, RhsError};
use std::path::{Path, PathBuf};

/// The folder of reference results.
pub fn reference() -> PathBuf {
    PathBuf::from(soleus_testing::shared!("reference"))
}

/// Reads and compiles a model; with the faults of OpenSim, to compare with it.
pub fn load(file: &Path) -> (Model, System) {
    let (model, diagnostics) =
        soleus_io::osim::read_model(&std::fs::read(file).unwrap(), &file.display().to_string());
    let model = model.unwrap_or_else(|| panic!("{:?}", diagnostics.list));
    let system = System::compile_with(&model, &Options { opensim_faults: true }).unwrap();
    (model, system)
}

/// A double pendulum with a free-flying third body on a ball joint, without friction.
pub const PASSIVE: &str = include_str!("passive.osim");

/// The passive model.
pub fn passive() -> (Model, System) {
    let (model, diagnostics) = soleus_io::osim::read_model(PASSIVE.as_bytes(), "passive.osim");
    let model = model.unwrap_or_else(|| panic!("{:?}", diagnostics.list));
    let system = System::compile(&model).unwrap();
    (model, system)
}

/// The lower link's end held at a constant distance from a point in space.
pub fn held() -> (Model, System) {
    let (mut model, _) = passive();
    let frame = |name: &str| model.bodies.iter().find(|b| b.name == name).unwrap().frame;
    let (body_1, body_2) = (frame("ground"), frame("lower"));
    model.constraints.push(Constraint {
        name: "rope".into(),
        path: "/constraintset/rope".into(),
        enforced: true,
        kind: ConstraintKind::ConstantDistance {
            body_1,
            body_2,
            location_1: vec3(0.6, -0.3, 0.2),
            location_2: vec3(0.0, -0.5, 0.0),
            distance: 0.7,
        },
    });
    let system = System::compile(&model).unwrap();
    (model, system)
}

/// x' = v, v' = −ω² x.
pub struct Oscillator {
    pub omega: f64,
}

impl ExplicitOde for Oscillator {
    fn dim(&self) -> usize {
        2
    }
    fn rhs(&mut self, _: f64, x: &[f64], xdot: &mut [f64]) -> Result<(), RhsError> {
        xdot[0] = x[1];
        xdot[1] = -self.omega * self.omega * x[0];
        Ok(())
    }
}

impl MechanicalOde for Oscillator {
    fn num_coordinates(&self) -> usize {
        1
    }
    fn coordinate_rates(&mut self, x: &[f64], qdot: &mut [f64]) {
        qdot[0] = x[1];
    }
}

/// f(t, x, ẋ) with Jacobians, dense, from a closure that writes f, ∂f/∂x and ∂f/∂ẋ.
pub struct Dense<F> {
    pub f: F,
    pub pattern: Pattern,
}

impl<F: FnMut(f64, &[f64], &[f64], &mut [f64], &mut [f64], &mut [f64])> Dense<F> {
    pub fn new(dim: usize, f: F) -> Self {
        Dense { f, pattern: Pattern::dense(dim) }
    }
}

impl<F: FnMut(f64, &[f64], &[f64], &mut [f64], &mut [f64], &mut [f64])> ImplicitOde for Dense<F> {
    fn dim(&self) -> usize {
        self.pattern.dim()
    }
    fn residual(&mut self, t: f64, x: &[f64], xdot: &[f64], r: &mut [f64]) -> Result<(), RhsError> {
        let n = self.pattern.len();
        (self.f)(t, x, xdot, r, &mut vec![0.0; n], &mut vec![0.0; n]);
        Ok(())
    }
    fn pattern(&self) -> &Pattern {
        &self.pattern
    }
    fn jacobians(
        &mut self,
        t: f64,
        x: &[f64],
        xdot: &[f64],
        df_dx: &mut [f64],
        df_dxdot: &mut [f64],
    ) -> Result<(), RhsError> {
        df_dx.fill(0.0);
        df_dxdot.fill(0.0);
        (self.f)(t, x, xdot, &mut vec![0.0; x.len()], df_dx, df_dxdot);
        Ok(())
    }
}
