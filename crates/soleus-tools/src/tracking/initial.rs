//! Initial states.

use super::contraction::Course;
use super::{Tracker, TrackingError};
use soleus_dynamics::System;
use soleus_dynamics::system::{Actor, State};

/// Initial states of the muscles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum InitialStates {
    /// As in OpenSim's `CMC`: muscles are equilibrated in the first pose with minimal excitation; then the controls of
    /// a first window of 0.03 s are computed twice, with muscles equilibrated at these controls before the second time.
    /// Tracking starts at the end of that window.
    #[default]
    FirstWindow,
    /// As in the appendix of Thelen & Anderson (2006): muscles start this much earlier (s), with an activation of 0.01
    /// and in equilibrium, and track the motion up to the start, as far as there are data.
    Earlier(f64),
}

/// Length of the first window, s: OpenSim's.
const FIRST_WINDOW: f64 = 0.03;
/// Time in which muscles come to rest, s: OpenSim's.
const REST: f64 = 0.2;
/// Excitation of muscles that come to rest, and controls of the other actuators then: OpenSim's.
const HARDLY: f64 = 0.01;
/// Length of the window that finds the first controls of actuators without states, s: OpenSim's.
const AT_ONCE: f64 = 1e-8;

impl Tracker<'_> {
    /// The time at which tracking starts: at the given time, or at the end of a first window.
    pub fn first_time(&self, from: f64, how: InitialStates) -> f64 {
        match how {
            InitialStates::FirstWindow if has_states(self.system, self) => from + FIRST_WINDOW,
            _ => from,
        }
    }

    /// Sets the model to the motion at a time, with suitable muscle states. Tracking then starts at
    /// [`time`](Self::time), which may be slightly later.
    pub fn start(&mut self, from: f64, how: InitialStates) -> Result<(), TrackingError> {
        self.rows = soleus_simulation::Trajectory::new(self.rows.dim());
        self.windows.clear();
        self.node_times.clear();
        self.nodes.iter_mut().for_each(Vec::clear);
        let mut x = self.system.default_state.clone();
        self.put(from, &mut x);
        if !has_states(self.system, self) {
            let window = self.compute_controls(&x, AT_ONCE)?;
            drop(window);
            self.begin(x);
            return Ok(());
        }
        match how {
            InitialStates::FirstWindow => self.fit_first_window(x),
            InitialStates::Earlier(lead) => {
                let first = (from - lead).max(self.reference.span[0]);
                self.put(first, &mut x);
                self.rest(&mut x, HARDLY)?;
                // The muscles go along the motion, window by window. Were the model simulated instead, putting it back on the motion at
                // the end would stretch its tendons by what it was off.
                let window = self.settings.window;
                while x.time < from - 1e-9 {
                    let (t0, t1) = (x.time, (x.time + window).min(from));
                    self.compute_controls(&x, window)?;
                    let controls: Vec<f64> = self.actuators.controls().collect();
                    for (values, c) in self.nodes.iter_mut().zip(&controls) {
                        values.push(*c);
                    }
                    self.put(t0, &mut x);
                    self.predict_paths(t0, t1);
                    self.actuators.carry(
                        self.system,
                        &self.courses,
                        &mut x.z,
                        ((t0, t1), false),
                        &controls,
                    )?;
                    self.put(t1, &mut x);
                }
                self.nodes.iter_mut().for_each(Vec::clear);
                self.begin(x);
                Ok(())
            }
        }
    }

    /// Coordinates and speeds of the motion at a time.
    fn put(&mut self, t: f64, x: &mut State<f64>) {
        self.dq.fill(0.0);
        self.du.fill(0.0);
        self.predict(t);
        x.time = t;
        x.q.copy_from_slice(&self.pose.q);
        x.u.copy_from_slice(&self.pose.u);
    }

    /// Goes on from a state, with the controls that were found last.
    fn begin(&mut self, x: State<f64>) {
        self.node_times.push(x.time);
        for (values, c) in self.nodes.iter_mut().zip(self.actuators.controls()) {
            values.push(c);
        }
        self.ode.controls.set(x.time - AT_ONCE, x.time, self.actuators.controls());
        self.state = x;
    }

    fn fit_first_window(&mut self, mut x: State<f64>) -> Result<(), TrackingError> {
        let from = x.time;
        self.rest(&mut x, HARDLY)?;
        self.compute_controls(&x, FIRST_WINDOW)?;
        let controls: Vec<f64> = self.actuators.controls().collect();
        self.hold(&mut x, &controls)?;
        self.compute_controls(&x, FIRST_WINDOW)?;
        let controls: Vec<f64> = self.actuators.controls().collect();

        // The muscles go along the motion to the end of the window.
        self.put(from, &mut x);
        self.predict_paths(from, from + FIRST_WINDOW);
        let span = (from, from + FIRST_WINDOW);
        self.actuators.carry(self.system, &self.courses, &mut x.z, (span, false), &controls)?;
        self.put(from + FIRST_WINDOW, &mut x);
        self.begin(x);
        Ok(())
    }

    /// Brings muscles to rest in a pose at a small excitation.
    fn rest(&mut self, x: &mut State<f64>, excitation: f64) -> Result<(), TrackingError> {
        self.system.compute_kinematics(x, &mut self.ws);
        self.system.compute_paths(x, &mut self.ws);
        for a in self.actuators.list.iter() {
            let f = &self.system.forces[a.load.force];
            let Actor::Muscle(m) = &f.actor else { continue };
            let states = &mut x.z[f.states.clone()];
            let path = &self.ws.paths[a.load.force];
            let before = states.to_vec();
            if let Some(k) = m.state_names().iter().position(|n| *n == "activation") {
                states[k] = excitation;
            }
            // Where there is no equilibrium, integrating decides.
            if m.solve_equilibrium(path.length(), 0.0, excitation, states).is_err() {
                states.copy_from_slice(&before);
            }
        }
        self.hold(x, &vec![excitation; self.actuators.list.len()])
    }

    /// Integrates the muscles in a pose that is held.
    fn hold(&mut self, x: &mut State<f64>, controls: &[f64]) -> Result<(), TrackingError> {
        self.system.compute_kinematics(x, &mut self.ws);
        self.system.compute_paths(x, &mut self.ws);
        let span = (x.time, x.time + REST);
        for (a, course) in self.actuators.list.iter().zip(&mut self.courses) {
            if self.system.forces[a.load.force].path.is_some() {
                let path = &self.ws.paths[a.load.force];
                *course = Course::held(span.0, span.1, path.length(), path.speed());
            }
        }
        self.actuators.carry(self.system, &self.courses, &mut x.z, (span, true), controls)
    }
}

/// Whether any driven actuator has states.
fn has_states(system: &System, tracker: &Tracker) -> bool {
    tracker.actuators.list.iter().any(|a| !system.forces[a.load.force].states.is_empty())
}
