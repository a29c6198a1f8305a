//! Plots of a motion, the same for all tools.

use crate::plot::COLORS;
use crate::{Animation, Line, Plot};
use soleus_dynamics::{State, System};
use soleus_model::joint::MotionType;
use soleus_model::model::Model;

/// So many lines in one plot: as many as there are colors.
const LINES: usize = COLORS.len();

/// A plot for each joint that moves: rotations in degrees, translations in meters, in separate plots.
pub fn coordinate_plots(model: &Model, system: &System, states: &[State<f64>]) -> Vec<Plot> {
    let times: Vec<f64> = states.iter().map(|x| x.time).collect();
    let mut plots = Vec::new();
    for joint in &model.joints {
        for (rotates, y_label, unit) in [(true, "degrees", 1f64.to_degrees()), (false, "m", 1.0)] {
            let mut lines = Vec::new();
            for id in &joint.coordinates {
                let c = &model.coordinates[id.0];
                let m = system.tree.mobility_of_coordinate[id.0];
                if m != usize::MAX && (c.motion_type != MotionType::Translational) == rotates {
                    let y = states.iter().map(|x| unit * x.q[m]).collect();
                    lines.push(Line::new(c.name.clone(), times.clone(), y));
                }
            }
            // What stays where it is needs no plot.
            if lines.iter().any(|l| l.y.iter().any(|y| Some(y) != l.y.first())) {
                plots.push(over_time(joint.name.clone(), y_label, lines));
            }
        }
    }
    plots
}

/// Plots of the activations of all muscles, eight per plot.
pub fn activation_plots(model: &Model, system: &System, states: &[State<f64>]) -> Vec<Plot> {
    let times: Vec<f64> = states.iter().map(|x| x.time).collect();
    let mut lines = Vec::new();
    for (f, s) in model.forces.iter().zip(&system.forces) {
        for z in s.states.clone().filter(|&z| system.aux_names[z].ends_with("/activation")) {
            let y = states.iter().map(|x| x.z[z]).collect();
            lines.push(Line::new(f.name.clone(), times.clone(), y));
        }
    }
    let plots = grouped_plots("activation", lines);
    plots.into_iter().map(|p| Plot { y_range: Some([0.0, 1.0]), ..p }).collect()
}

/// Many lines over time, eight per plot.
pub fn grouped_plots(y_label: &str, lines: Vec<Line>) -> Vec<Plot> {
    let plot = |lines: &[Line]| {
        let title = match lines {
            [first, last] => format!("{}, {}", first.name, last.name),
            [first, .., last] => format!("{} to {}", first.name, last.name),
            [only] => only.name.clone(),
            [] => String::new(),
        };
        over_time(title, y_label, lines.to_vec())
    };
    lines.chunks(LINES).map(plot).collect()
}

/// A plot for each force that is drawn as an arrow in an animation, in N.
pub fn force_plots(animation: &Animation) -> Vec<Plot> {
    let times: Vec<f64> = animation.frames.iter().map(|f| f.time).collect();
    let plot = |(i, name): (usize, &String)| {
        let along = |axis: usize| animation.frames.iter().map(|f| f.arrows[i].1.to_array()[axis]).collect();
        let line = |axis: usize| Line::new(["x", "y", "z"][axis], times.clone(), along(axis));
        over_time(name.clone(), "force (N)", (0..3).map(line).collect())
    };
    let is_drawn = |i: usize| animation.frames.iter().any(|f| f.arrows[i].1.norm() > 0.0);
    animation.scene.arrows.iter().enumerate().filter(|(i, _)| is_drawn(*i)).map(plot).collect()
}

fn over_time(title: String, y_label: &str, lines: Vec<Line>) -> Plot {
    let (x_label, y_label) = ("time (s)".to_string(), y_label.to_string());
    Plot { title, x_label, y_label, lines, over_time: true, ..Plot::default() }
}
