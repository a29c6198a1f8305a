//! Controls defined by nodes over time.

/// Values of a control at given times, with interpolation and extrapolation. As OpenSim's `ControlLinear`.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlNodes {
    times: Vec<f64>,
    values: Vec<f64>,
    use_steps: bool,
    extrapolate: bool,
}

impl ControlNodes {
    /// Nodes at increasing times, s. `None` if there are none, or times do not increase.
    ///
    /// They are interpolated linearly, and extrapolated if `extrapolate`. With `use_steps`, the value of a node applies
    /// from just after the previous node up to itself, and values are constant outside.
    pub fn new(times: Vec<f64>, values: Vec<f64>, use_steps: bool, extrapolate: bool) -> Option<Self> {
        let rising = times.windows(2).all(|w| w[0] < w[1]);
        let fits = !times.is_empty() && times.len() == values.len() && rising;
        fits.then_some(ControlNodes { times, values, use_steps, extrapolate })
    }

    /// Value at a time.
    pub fn value(&self, t: f64) -> f64 {
        let (times, values) = (&self.times, &self.values);
        let last = times.len() - 1;
        // Nodes before t; the node at t itself is the next one.
        let before = times.partition_point(|&x| x < t);
        if self.use_steps || last == 0 {
            return values[before.min(last)];
        }
        let outside = before == 0 || before > last;
        if outside && (!self.extrapolate || t == times[0]) {
            return values[before.min(last)];
        }
        let i = before.clamp(1, last) - 1;
        values[i] + (t - times[i]) / (times[i + 1] - times[i]) * (values[i + 1] - values[i])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of OpenSim 4.6's ControlLinear with nodes (0, 1), (1, 3), (2, 2).
    #[test]
    fn opensim_val_control_nodes() {
        let nodes = |steps, extrapolate| {
            ControlNodes::new(vec![0.0, 1.0, 2.0], vec![1.0, 3.0, 2.0], steps, extrapolate).unwrap()
        };
        let at = [-0.5, 0.0, 0.25, 1.0, 1.5, 2.0, 3.0];
        let values = |n: ControlNodes| at.map(|t| n.value(t));
        assert_eq!(values(nodes(false, true)), [0.0, 1.0, 1.5, 3.0, 2.5, 2.0, 1.0]);
        assert_eq!(values(nodes(false, false)), [1.0, 1.0, 1.5, 3.0, 2.5, 2.0, 2.0]);
        assert_eq!(values(nodes(true, true)), [1.0, 1.0, 3.0, 3.0, 2.0, 2.0, 2.0]);
        let one = ControlNodes::new(vec![1.0], vec![0.5], false, true).unwrap();
        assert_eq!([one.value(0.0), one.value(1.0), one.value(2.0)], [0.5; 3]);
        assert_eq!(ControlNodes::new(vec![1.0, 1.0], vec![0.0; 2], false, true), None);
    }
}
