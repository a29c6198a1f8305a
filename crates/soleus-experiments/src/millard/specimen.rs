//! A muscle in a testing machine: the three models of the paper, and their simulation.

use soleus_dynamics::Options;
use soleus_dynamics::muscle::{CompiledMuscle, MuscleError};
use soleus_model::muscle::{FiberForceLengthCurve, Millard2012Equilibrium, Muscle, MuscleKind};
use soleus_simulation::{
    ExplicitRungeKutta, Integrator, MuscleInput, MuscleOde, RadauIIA5, Statistics, StepOptions, Stop,
};
use std::time::Instant;

/// The models of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tendon {
    /// Elastic tendon, damped fiber (section 2.3).
    Damped,
    /// Elastic tendon, no damping: activation and force–length are kept from zero (section 2.2).
    Equilibrium,
    /// Rigid tendon (section 2.4).
    Rigid,
}

impl Tendon {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Tendon::Damped => "damped",
            Tendon::Equilibrium => "equilibrium",
            Tendon::Rigid => "rigid",
        }
    }

    /// Least activation: the equilibrium model is singular at zero.
    pub fn least_activation(self) -> f64 {
        if self == Tendon::Equilibrium { 0.01 } else { 0.0 }
    }
}

/// What is known of a muscle. SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Specimen {
    /// Maximal isometric force, N.
    pub f0: f64,
    /// Optimal fiber length, m.
    pub l0: f64,
    /// Pennation at optimal length, rad.
    pub alpha0: f64,
    /// Tendon slack length, m.
    pub ls: f64,
    /// Maximal shortening speed, l₀/s.
    pub vmax: f64,
    /// Damping, F₀ at vmax.
    pub beta: f64,
    /// Time constant of activation, s.
    pub tau_act: f64,
    /// Time constant of deactivation, s.
    pub tau_deact: f64,
    /// Strain of the passive fiber at F₀.
    pub passive_strain: f64,
}

impl Default for Specimen {
    /// The paper's defaults for what a benchmark leaves open.
    fn default() -> Self {
        let p = Millard2012Equilibrium::default();
        Specimen {
            f0: 1.0,
            l0: 0.02,
            alpha0: 0.0,
            ls: 0.2,
            vmax: 10.0,
            beta: p.fiber_damping,
            tau_act: p.activation_time_constant,
            tau_deact: p.deactivation_time_constant,
            passive_strain: p.fiber_force_length_curve.strain_at_one_norm_force,
        }
    }
}

impl Specimen {
    /// The muscle with one of the models.
    pub fn compile(&self, tendon: Tendon) -> Result<CompiledMuscle, MuscleError> {
        let kind = MuscleKind::Millard2012Equilibrium(Box::new(Millard2012Equilibrium {
            fiber_damping: if tendon == Tendon::Equilibrium { 0.0 } else { self.beta },
            minimum_activation: tendon.least_activation(),
            activation_time_constant: self.tau_act,
            deactivation_time_constant: self.tau_deact,
            fiber_force_length_curve: FiberForceLengthCurve {
                strain_at_one_norm_force: self.passive_strain,
                ..FiberForceLengthCurve::default()
            },
            ..Millard2012Equilibrium::default()
        }));
        let mut m = Muscle::new(kind);
        m.max_isometric_force = self.f0;
        m.optimal_fiber_length = self.l0;
        m.tendon_slack_length = self.ls;
        m.pennation_angle_at_optimal = self.alpha0;
        m.max_contraction_velocity = self.vmax;
        m.ignore_tendon_compliance = tendon == Tendon::Rigid;
        CompiledMuscle::compile(&m, &Options::default())
    }

    /// l_s + l₀ cos α₀, m: where the paper's movements begin.
    pub fn rest_length(&self) -> f64 {
        self.ls + self.l0 * self.alpha0.cos()
    }
}

/// A method of integration at its tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Runge–Kutta–Merson, as in the paper.
    Explicit(f64),
    /// Radau IIA of order 5; the paper used an implicit multistep method (CPODES).
    Implicit(f64),
}

/// A muscle, its movement, and where the simulation is read.
pub struct Test<'a, F> {
    /// The muscle.
    pub muscle: &'a CompiledMuscle,
    /// Movement and excitation, or activation in its place.
    pub input: F,
    /// What the third input is.
    pub drive: Drive,
    /// l₀ (m), the unit of errors.
    pub l0: f64,
    /// Distance of samples, s.
    pub grid: f64,
    /// Number of samples, the first at time 0.
    pub samples: usize,
}

/// What excites a muscle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drive {
    /// Its activation is given.
    Activation,
    /// Its activation follows the given excitation; it begins at rest.
    Excitation,
}

/// A simulation: states and tension (N) at the samples, and the work.
#[derive(Default)]
pub struct Run {
    /// Fiber lengths, m; none for a rigid tendon.
    pub fiber: Vec<f64>,
    /// Tensions, N.
    pub force: Vec<f64>,
    /// Work.
    pub statistics: Statistics,
}

impl<F: Fn(f64) -> MuscleInput> Test<'_, F> {
    /// Simulates from the start of appendix A.
    pub fn run(&self, method: Method) -> Result<Run, Stop> {
        let input = |t: f64| (self.input)(t);
        let mut ode = match self.drive {
            Drive::Activation => MuscleOde::at_activation(self.muscle, input),
            Drive::Excitation => MuscleOde::new(self.muscle, input),
        };
        let x0 = self.start().ok_or(Stop::Setup("no equilibrium of fiber and tendon at the start"))?;
        // A rigid tendon at given activation has no states at all.
        if x0.is_empty() {
            let force = (0..self.samples).map(|i| ode.tension(i as f64 * self.grid, &[])).collect();
            return Ok(Run { force, ..Run::default() });
        }
        let units =
            if x0.len() == 2 { [1.0, self.l0] } else { [if self.is_elastic() { self.l0 } else { 1.0 }; 2] };
        let norm = ode.error_norm(&units[..x0.len()]);
        let mut rows = Vec::with_capacity(self.samples * x0.len());
        let statistics = match method {
            Method::Explicit(a) => {
                let mut m = ExplicitRungeKutta::merson(norm, StepOptions::with_accuracy(a));
                self.drive(&mut m, &mut ode, &x0, &mut rows)?
            }
            Method::Implicit(a) => {
                let mut m = RadauIIA5::new(norm, StepOptions::with_accuracy(a));
                self.drive(&mut m, &mut ode, &x0, &mut rows)?
            }
        };
        let rows = rows.chunks_exact(x0.len());
        let force = rows.clone().enumerate().map(|(i, x)| ode.tension(i as f64 * self.grid, x)).collect();
        let fiber = if self.is_elastic() { rows.map(|x| x[x.len() - 1]).collect() } else { Vec::new() };
        Ok(Run { fiber, force, statistics })
    }

    fn is_elastic(&self) -> bool {
        self.muscle.state_names().len() > 1
    }

    /// States at the start.
    fn start(&self) -> Option<Vec<f64>> {
        let CompiledMuscle::Millard2012Equilibrium(m) = self.muscle else { return None };
        let (i, mut z) = ((self.input)(0.0), vec![0.0; self.muscle.state_names().len()]);
        m.solve_moving_equilibrium(i.length, i.speed, i.excitation, &mut z).ok()?;
        if self.drive == Drive::Activation {
            z.remove(0);
        }
        Some(z)
    }

    fn drive<P>(
        &self,
        integrator: &mut dyn Integrator<P>,
        ode: &mut P,
        x0: &[f64],
        rows: &mut Vec<f64>,
    ) -> Result<Statistics, Stop> {
        let (n, end) = (x0.len(), (self.samples - 1) as f64 * self.grid);
        integrator.start(ode, 0.0, x0)?;
        rows.extend_from_slice(x0);
        let mut x = vec![0.0; n];
        while rows.len() < n * self.samples {
            integrator.step(ode, end)?;
            let (a, b) = integrator.span();
            loop {
                let t = (rows.len() / n) as f64 * self.grid;
                if rows.len() >= n * self.samples || t > b + 1e-9 * self.grid {
                    break;
                }
                integrator.interpolate(t.clamp(a, b), &mut x);
                rows.extend_from_slice(&x);
            }
        }
        Ok(integrator.statistics())
    }

    /// Seconds that a run takes: the quickest of several, after one to warm up.
    pub fn seconds(&self, method: Method) -> Result<f64, Stop> {
        self.run(method)?;
        let (begin, mut best) = (Instant::now(), f64::INFINITY);
        for _ in 0..200 {
            let start = Instant::now();
            self.run(method)?;
            best = best.min(start.elapsed().as_secs_f64());
            if begin.elapsed().as_secs_f64() > 0.05 {
                break;
            }
        }
        Ok(best)
    }

    /// Normalized fiber velocity at the samples of a run at given activation, in units of vmax.
    pub fn velocity(&self, run: &Run) -> Vec<f64> {
        let each = |(i, l): (usize, &f64)| {
            let d = (self.input)(i as f64 * self.grid);
            self.muscle.info(d.length, d.speed, d.excitation, &[d.excitation, *l]).normalized_fiber_velocity
        };
        run.fiber.iter().enumerate().map(each).collect()
    }
}

/// Mean of |a − b| over the samples.
pub fn mean_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>() / a.len().max(1) as f64
}

/// Least and largest.
pub fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)))
}
