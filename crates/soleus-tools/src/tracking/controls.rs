//! Controls during a window.

use super::FootSprings;
use super::actuators::Actuator;
use soleus_dynamics::system::State;
use soleus_simulation::{Controls, ModelControls};

/// Controls of the driven actuators, and of the model's own controllers besides.
#[derive(Clone, Debug)]
pub(super) struct WindowControls {
    base: ModelControls,
    /// Springs of feet.
    pub springs: Option<Box<FootSprings>>,
    values: Vec<f64>,
    driven: Vec<Line>,
    /// Beginning and end of the window, s.
    span: [f64; 2],
}

#[derive(Clone, Copy, Debug)]
struct Line {
    control: usize,
    use_steps: bool,
    from: f64,
    to: f64,
}

impl WindowControls {
    pub fn new(base: ModelControls, list: &[Actuator], num_controls: usize) -> Self {
        let line = |a: &Actuator| Line { control: a.control, use_steps: a.use_steps, from: 0.0, to: 0.0 };
        let driven = list.iter().map(line).collect();
        WindowControls { base, springs: None, values: vec![0.0; num_controls], driven, span: [0.0, 1.0] }
    }

    /// The next window, with the controls at its end.
    pub fn set(&mut self, from: f64, to: f64, controls: impl Iterator<Item = f64>) {
        self.span = [from, to];
        for (line, c) in self.driven.iter_mut().zip(controls) {
            (line.from, line.to) = (line.to, c);
        }
    }

    /// Controls of the model's own controllers and of springs alone.
    pub fn base(&mut self, t: f64, x: &State<f64>) -> &[f64] {
        self.base.compute(t, x, &mut self.values);
        if let Some(springs) = &mut self.springs {
            springs.add(t, x, &mut self.values);
        }
        &self.values
    }
}

impl Controls for WindowControls {
    fn compute(&mut self, t: f64, x: &State<f64>, controls: &mut [f64]) {
        self.base.compute(t, x, controls);
        if let Some(springs) = &mut self.springs {
            springs.add(t, x, controls);
        }
        let s = (t - self.span[0]) / (self.span[1] - self.span[0]);
        for line in &self.driven {
            controls[line.control] += match line.use_steps {
                true => line.to,
                false => line.from + s * (line.to - line.from),
            };
        }
    }
}
