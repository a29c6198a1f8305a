//! A model with additional damping of all coordinates, at a fixed time, to find its equilibrium.

use super::controls::Constant;
use super::implicit::ImplicitSystemOde;
use super::ode::SystemOde;
use crate::integrate::{Integrator, StepOptions};
use crate::linear::{Complex, Pattern, SparseLu};
use crate::ode::{ExplicitOde, ImplicitOde, Projected, RhsError};
use crate::stop::Stop;
use crate::{ExplicitRungeKutta, RadauIIA5};
use soleus_dynamics::system::{State, System};

/// A damped motion that can be let go on.
pub(super) trait Motion {
    /// Goes on to a time since its start, s.
    fn advance(&mut self, end: f64, go_on: &dyn Fn() -> bool) -> Result<(), Stop>;
    /// Writes where it is.
    fn read(&self, x: &mut State<f64>);
    /// Multipliers of the constraints there, where the motion has them.
    fn multipliers(&self) -> Option<&[f64]>;
    /// Steps taken.
    fn steps(&self) -> usize;
}

/// Where the motion goes matters, not how exactly.
const ACCURACY: f64 = 1e-3;

/// Steps of the explicit method at most: some minutes of a large model.
const MAX_EXPLICIT_STEPS: usize = 200_000;

/// 2 ω diag(M), N·s/m or N·m·s/rad.
fn damping(system: &System, controls: &[f64], x: &State<f64>, rate: f64) -> Vec<f64> {
    let mut ws = system.workspace();
    // A singular mass matrix is not an obstacle: its diagonal is there.
    let _ = system.compute_motion(x, controls, &mut ws);
    (0..x.q.len()).map(|i| 2.0 * rate * ws.mass.at(i, i)).collect()
}

/// By Radau's method on the implicit equations: long steps, however stiff the muscles.
pub(super) struct ImplicitMotion<'a> {
    problem: Damped<'a>,
    radau: RadauIIA5<SparseLu<f64>, SparseLu<Complex>>,
    y0: Vec<f64>,
    num_states: usize,
    started: bool,
}

impl<'a> ImplicitMotion<'a> {
    /// From rest at `x`; damped at `rate`, 1/s.
    pub fn new(system: &'a System, controls: &[f64], x: &State<f64>, rate: f64) -> Self {
        let problem = Damped::new(system, controls, x, rate);
        let (y0, norm) = (problem.inner.vector(x), problem.inner.error_norm());
        let n = norm.dim();
        let options = StepOptions::with_accuracy(ACCURACY);
        let radau = RadauIIA5::with_solvers(norm, options, SparseLu::new(n), SparseLu::new(n));
        let num_states = 2 * x.q.len() + x.z.len();
        ImplicitMotion { problem, radau, y0, num_states, started: false }
    }

    fn integrator(&self) -> &dyn Integrator<Damped<'a>> {
        &self.radau
    }
}

impl<'a> Motion for ImplicitMotion<'a> {
    fn advance(&mut self, end: f64, go_on: &dyn Fn() -> bool) -> Result<(), Stop> {
        let radau: &mut dyn Integrator<Damped<'a>> = &mut self.radau;
        advance(radau, &mut self.problem, &self.y0, &mut self.started, (end, go_on))
    }

    fn read(&self, x: &mut State<f64>) {
        self.problem.inner.read(self.integrator().state(), x);
    }

    fn multipliers(&self) -> Option<&[f64]> {
        self.started.then(|| &self.integrator().state()[self.num_states..])
    }

    fn steps(&self) -> usize {
        self.integrator().statistics().steps
    }
}

/// By an explicit method, which constraints that repeat each other do not trouble.
pub(super) struct ExplicitMotion<'a> {
    problem: AtTime<'a>,
    method: ExplicitRungeKutta,
    x0: Vec<f64>,
    started: bool,
}

impl<'a> ExplicitMotion<'a> {
    /// From rest at `x`; damped at `rate`, 1/s.
    pub fn new(system: &'a System, controls: &[f64], x: &State<f64>, rate: f64) -> Self {
        let mut ode = SystemOde::new(system, Constant(controls.to_vec()));
        ode.damping = damping(system, controls, x, rate);
        let options = StepOptions { max_steps: MAX_EXPLICIT_STEPS, ..StepOptions::with_accuracy(ACCURACY) };
        let method = ExplicitRungeKutta::dormand_prince(ode.error_norm(), options);
        let x0 = SystemOde::<Constant>::vector(x);
        ExplicitMotion { problem: AtTime { ode, time: x.time }, method, x0, started: false }
    }

    fn integrator(&self) -> &dyn Integrator<AtTime<'a>> {
        &self.method
    }
}

impl<'a> Motion for ExplicitMotion<'a> {
    fn advance(&mut self, end: f64, go_on: &dyn Fn() -> bool) -> Result<(), Stop> {
        let method: &mut dyn Integrator<AtTime<'a>> = &mut self.method;
        advance(method, &mut self.problem, &self.x0, &mut self.started, (end, go_on))
    }

    fn read(&self, x: &mut State<f64>) {
        let y = self.integrator().state();
        let n = x.q.len();
        x.q.copy_from_slice(&y[..n]);
        x.u.copy_from_slice(&y[n..2 * n]);
        x.z.copy_from_slice(&y[2 * n..]);
    }

    fn multipliers(&self) -> Option<&[f64]> {
        None
    }

    fn steps(&self) -> usize {
        self.integrator().statistics().steps
    }
}

/// Starts if need be, and steps to `end`.
fn advance<P>(
    integrator: &mut dyn Integrator<P>,
    problem: &mut P,
    x0: &[f64],
    started: &mut bool,
    (end, go_on): (f64, &dyn Fn() -> bool),
) -> Result<(), Stop> {
    if !*started {
        integrator.start(problem, 0.0, x0)?;
        *started = true;
    }
    while integrator.span().1 < end && go_on() {
        integrator.step(problem, end)?;
    }
    Ok(())
}

/// A system whose clock stands still.
struct AtTime<'a> {
    ode: SystemOde<'a, Constant>,
    time: f64,
}

impl ExplicitOde for AtTime<'_> {
    fn dim(&self) -> usize {
        ExplicitOde::dim(&self.ode)
    }

    fn rhs(&mut self, _: f64, x: &[f64], xdot: &mut [f64]) -> Result<(), RhsError> {
        self.ode.rhs(self.time, x, xdot)
    }

    fn project(
        &mut self,
        _: f64,
        x: &mut [f64],
        e: &mut [f64],
        tolerance: f64,
    ) -> Result<Projected, RhsError> {
        ExplicitOde::project(&mut self.ode, self.time, x, e, tolerance)
    }
}

/// The model with every coordinate damped, at a fixed time.
struct Damped<'a> {
    inner: ImplicitSystemOde<'a, Constant>,
    time: f64,
    n: usize,
    /// N·s/m or N·m·s/rad.
    damping: Vec<f64>,
    /// Where each damping is in the pattern.
    places: Vec<Option<usize>>,
}

impl<'a> Damped<'a> {
    fn new(system: &'a System, controls: &[f64], x: &State<f64>, rate: f64) -> Self {
        let inner = ImplicitSystemOde::new(system, Constant(controls.to_vec()));
        let n = system.tree.num_mobilities;
        let damping = damping(system, controls, x, rate);
        let places = (0..n).map(|i| inner.pattern().position(n + i, n + i)).collect();
        Damped { inner, time: x.time, n, damping, places }
    }

    fn damp(&self, y: &[f64], r: &mut [f64]) {
        for (i, d) in self.damping.iter().enumerate() {
            r[self.n + i] += d * y[self.n + i];
        }
    }

    fn damp_jacobian(&self, df_dx: &mut [f64]) {
        for (d, p) in self.damping.iter().zip(&self.places) {
            if let Some(p) = p {
                df_dx[*p] += d;
            }
        }
    }
}

impl ImplicitOde for Damped<'_> {
    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn residual(&mut self, _: f64, y: &[f64], ydot: &[f64], r: &mut [f64]) -> Result<(), RhsError> {
        self.inner.residual(self.time, y, ydot, r)?;
        self.damp(y, r);
        Ok(())
    }

    fn pattern(&self) -> &Pattern {
        self.inner.pattern()
    }

    fn jacobians(
        &mut self,
        _: f64,
        y: &[f64],
        ydot: &[f64],
        df_dx: &mut [f64],
        df_dxdot: &mut [f64],
    ) -> Result<(), RhsError> {
        self.inner.jacobians(self.time, y, ydot, df_dx, df_dxdot)?;
        self.damp_jacobian(df_dx);
        Ok(())
    }

    fn consistent_rates(&mut self, _: f64, y: &mut [f64], ydot: &mut [f64]) -> bool {
        // At the start speeds are zero, and so is the damping.
        self.inner.consistent_rates(self.time, y, ydot)
    }

    fn project(
        &mut self,
        _: f64,
        y: &mut [f64],
        e: &mut [f64],
        tolerance: f64,
    ) -> Result<Projected, RhsError> {
        self.inner.project(self.time, y, e, tolerance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A leg with muscles, its Jacobians with damping against central differences along a direction.
    #[test]
    fn deriv_damped_residual() {
        let text = include_bytes!("../../../../models/leg_swing.osim");
        let (model, log) = soleus_io::osim::read_model(text, "leg_swing.osim");
        let system = System::compile(&model.unwrap_or_else(|| panic!("{:?}", log.list))).unwrap();
        let controls = vec![0.3; system.num_controls];
        let mut p = Damped::new(&system, &controls, &system.default_state, 5.0);
        let n = p.dim();
        let wave = |i: usize, a: f64| (a * i as f64).sin();
        let mut y = p.inner.vector(&system.default_state);
        let (rates, d, e): (Vec<f64>, Vec<f64>, Vec<f64>) = (
            (0..n).map(|i| wave(i, 1.1)).collect(),
            (0..n).map(|i| wave(i, 1.7)).collect(),
            (0..n).map(|i| wave(i, 0.6)).collect(),
        );
        y[3] = 0.8;
        let entries = p.pattern().len();
        let (mut jx, mut jv) = (vec![0.0; entries], vec![0.0; entries]);
        p.jacobians(0.0, &y, &rates, &mut jx, &mut jv).unwrap();
        let (mut exact, mut part) = (vec![0.0; n], vec![0.0; n]);
        p.pattern().multiply(&jx, &d, &mut exact);
        p.pattern().multiply(&jv, &e, &mut part);
        // Truncation falls as h², rounding of forces near 1e3 N grows as 1e-13/h.
        let h = 1e-6;
        let mut moved = |sign: f64| {
            let add =
                |x: &[f64], d: &[f64], f: f64| x.iter().zip(d).map(|(x, d)| x + f * d).collect::<Vec<_>>();
            let mut r = vec![0.0; n];
            p.residual(0.0, &add(&y, &d, sign * h), &add(&rates, &e, sign * h), &mut r).unwrap();
            r
        };
        let (plus, minus) = (moved(1.0), moved(-1.0));
        for i in 0..n {
            let fd = (plus[i] - minus[i]) / (2.0 * h);
            let j = exact[i] + part[i];
            assert!((j - fd).abs() < 1e-5 * (1.0 + j.abs()), "row {i}: {j} {fd}");
        }
    }
}
