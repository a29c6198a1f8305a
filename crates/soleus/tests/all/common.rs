//! Small models and tables, and whom a tool may tell.

use soleus::engine::math::Table;
use soleus::engine::math::table::Element;
use soleus::{Monitor, Progress};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A CoordinateActuator on the slider, of an optimal force in N.
pub fn actuator(name: &str, optimal_force: f64) -> String {
    format!(
        "<CoordinateActuator name=\"{name}\">\n<min_control>-100</min_control>\n<max_control>100</max_control>\n\
         <coordinate>x</coordinate>\n<optimal_force>{optimal_force}</optimal_force>\n</CoordinateActuator>\n"
    )
}

/// A body of 2 kg that slides along x without friction; gravity has no part in it.
pub fn slider(forces: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<OpenSimDocument Version=\"40600\">\n<Model name=\"slider\">\n\
         <Ground name=\"ground\"/>\n<BodySet name=\"bodyset\">\n<objects>\n<Body name=\"block\">\n<mass>2</mass>\n\
         <mass_center>0 0 0</mass_center>\n<inertia>1 1 1 0 0 0</inertia>\n</Body>\n</objects>\n</BodySet>\n\
         <JointSet name=\"jointset\">\n<objects>\n<SliderJoint name=\"slide\">\n\
         <socket_parent_frame>/ground</socket_parent_frame>\n<socket_child_frame>/bodyset/block</socket_child_frame>\n\
         <coordinates>\n<Coordinate name=\"x\"/>\n</coordinates>\n</SliderJoint>\n</objects>\n</JointSet>\n\
         <ForceSet name=\"forceset\">\n<objects>\n{forces}</objects>\n</ForceSet>\n</Model>\n</OpenSimDocument>\n"
    )
}

/// A file with a ForceSet.
pub fn force_set(forces: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<OpenSimDocument Version=\"40600\">\n<ForceSet name=\"more\">\n\
         <objects>\n{forces}</objects>\n</ForceSet>\n</OpenSimDocument>\n"
    )
}

/// A table of one column, in m.
pub fn table(label: &str, times: &[f64], f: impl Fn(f64) -> f64) -> Table {
    let column = times.iter().map(|&t| f(t)).collect();
    let mut t = Table::new(Element::Scalar, vec![label.to_string()], times.to_vec(), vec![column]).unwrap();
    t.in_degrees = Some(false);
    t
}

/// Times from 0 to 1 s, a hundredth apart.
pub fn times() -> Vec<f64> {
    (0..=100).map(|i| 0.01 * f64::from(i)).collect()
}

/// Asks to stop after so many steps.
pub struct StopsAfter(pub usize, AtomicUsize);

impl StopsAfter {
    pub fn new(steps: usize) -> Self {
        StopsAfter(steps, AtomicUsize::new(0))
    }
}

impl Monitor for StopsAfter {
    fn progress(&self, _: &Progress) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.1.load(Ordering::Relaxed) >= self.0
    }
}
