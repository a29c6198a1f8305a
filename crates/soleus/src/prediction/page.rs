//! Page of a walk: animation, angles and ground forces compared with Winter's data, muscles.

use super::Winter;
use soleus_control::gait::{Course, GaitCycle, Planar};
use soleus_control::{Trajectory, continuation::Outcome};
use soleus_dynamics::State;
use soleus_dynamics::implicit::ReactionSum;
use soleus_viewer::figure::to_strip_svg;
use soleus_viewer::{
    Band, Camera, Line, Plot, Recorder, Report, SceneOptions, Table, activation_plots, significant,
};

/// A whole gait cycle, from one right heel strike to the next.
pub struct Walk {
    /// Times from 0, s.
    pub times: Vec<f64>,
    /// States of the model.
    pub states: Vec<State<f64>>,
    /// Ground force on each foot (right, left), forward and upward, body weights.
    pub forces: [Vec<[f64; 2]>; 2],
}

/// Share of body weight that counts as contact.
const CONTACT: f64 = 0.05;

impl Walk {
    /// The whole cycle from a solution.
    pub fn new(walker: &Planar, cycle: &GaitCycle, t: &Trajectory) -> Walk {
        let whole = cycle.whole(&walker.base, t);
        let (n, system) = (walker.base.num_coordinates(), &walker.base.system);
        let state = |row: &Vec<f64>, time: f64| {
            let mut x = State { time, ..system.default_state.clone() };
            x.q.copy_from_slice(&row[..n]);
            x.u.copy_from_slice(&row[n..2 * n]);
            x.z.copy_from_slice(&row[2 * n..]);
            x
        };
        let states: Vec<_> = whole.states.rows.iter().zip(&whole.times).map(|(r, &t)| state(r, t)).collect();
        let forces = [0, 1].map(|side| ground_forces(walker, &walker.feet[side], &states));
        let walk = Walk { times: whole.times, states, forces };
        walk.begun_at_contact(walker, cycle.speed)
    }

    /// Duration, s.
    pub fn duration(&self) -> f64 {
        self.times.last().zip(self.times.first()).map_or(0.0, |(b, a)| b - a)
    }

    /// Begins the cycle where the right foot comes down.
    fn begun_at_contact(self, walker: &Planar, speed: f64) -> Walk {
        let last = self.times.len().saturating_sub(1);
        let up = |k: usize| self.forces[0][k][1] < CONTACT;
        let Some(start) = (0..last).find(|&k| up((k + last - 1) % last) && !up(k)) else { return self };
        let duration = self.duration();
        let mut walk = Walk { times: Vec::new(), states: Vec::new(), forces: [Vec::new(), Vec::new()] };
        let x0 = self.states[start].q[walker.forward];
        for k in 0..=last {
            let (turn, at) = ((start + k) / last, (start + k) % last);
            let time = self.times[at] - self.times[start] + duration * turn as f64;
            let mut x = State { time, ..self.states[at].clone() };
            x.q[walker.forward] += speed * duration * turn as f64 - x0;
            walk.times.push(time);
            walk.states.push(x);
            for side in 0..2 {
                walk.forces[side].push(self.forces[side][at]);
            }
        }
        walk
    }

    /// Fraction of the cycle in which the right foot is on the ground.
    pub fn stance(&self) -> f64 {
        let n = self.times.len().saturating_sub(1).max(1);
        self.forces[0][..n].iter().filter(|f| f[1] >= CONTACT).count() as f64 / n as f64
    }

    /// Fraction of the cycle in which both feet are in the air.
    pub fn aerial(&self) -> f64 {
        let n = self.times.len().saturating_sub(1).max(1);
        let up = |k: &usize| self.forces.iter().all(|f| f[*k][1] < CONTACT);
        (0..n).filter(up).count() as f64 / n as f64
    }

    /// Percent of the cycle of every point.
    fn percent(&self) -> Vec<f64> {
        self.times.iter().map(|t| 100.0 * (t - self.times[0]) / self.duration()).collect()
    }

    /// Our signals in the order hip, knee, ankle (deg, Winter's signs), forward and upward force (body weights).
    fn signals(&self, walker: &Planar) -> [Vec<f64>; 5] {
        let leg = walker.legs[0];
        let angle = |j: usize, sign: f64| {
            self.states.iter().map(|x| sign * x.q[leg[j]].to_degrees()).collect::<Vec<_>>()
        };
        let force = |axis: usize| self.forces[0].iter().map(|f| f[axis]).collect::<Vec<_>>();
        [angle(0, 1.0), angle(1, -1.0), angle(2, 1.0), force(0), force(1)]
    }
}

fn ground_forces(walker: &Planar, foot: &[(usize, usize)], states: &[State<f64>]) -> Vec<[f64; 2]> {
    let system = &walker.base.system;
    let weight = walker.base.model.total_mass() * walker.base.model.gravity.norm();
    let Some(sum) = ReactionSum::new(system, foot) else { return vec![[0.0; 2]; states.len()] };
    let mut scratch = sum.scratch(system);
    let force = |x: &State<f64>| {
        sum.compute_value(system, &x.q, &x.u, &mut scratch);
        [scratch.value.x / weight, scratch.value.y / weight]
    };
    states.iter().map(force).collect()
}

/// `count` poses of the cycle, from left to right, as an SVG file.
pub fn strip(walker: &Planar, walk: &Walk, count: usize, title: &str) -> String {
    let mut recorder =
        Recorder::new(&walker.base.model, &walker.base.system, &SceneOptions::default()).with(true, true);
    walk.states.iter().for_each(|x| recorder.record(x));
    let animation = recorder.finish();
    let last = animation.frames.len().saturating_sub(1);
    let frames: Vec<_> = (0..count).map(|k| &animation.frames[k * last / count.max(1)]).collect();
    to_strip_svg(&animation.scene, &frames, &Camera { yaw_deg: 0.0, pitch_deg: 0.0 }, title)
}

/// The page.
pub fn page(
    title: &str,
    walker: &Planar,
    walk: &Walk,
    outcome: &Outcome,
    winter: &Winter,
    text: &[String],
) -> String {
    let (model, system) = (&walker.base.model, &walker.base.system);
    let mut recorder = Recorder::new(model, system, &SceneOptions::default()).with(true, true);
    walk.states.iter().for_each(|x| recorder.record(x));
    let animation = recorder.finish();
    let mut report = text.iter().fold(Report::new(title), |r, t| r.text(t.clone())).animation(&animation);

    let cost = Table::new("Cost", ["goal", "cost"]);
    let rows = outcome.goals.iter().filter(|g| g.1 != 0.0);
    let cost = rows.fold(cost, |t, (name, v)| t.row([name.clone(), significant(*v, 3)]));
    let steps = Table::new("Walk", ["quantity", "value"])
        .row(["cycle, s".to_string(), significant(walk.duration(), 4)])
        .row(["stance, % of the cycle".to_string(), significant(100.0 * walk.stance(), 3)])
        .row(["iterations".to_string(), outcome.iterations.to_string()])
        .row([
            "largest violation of an equation".to_string(),
            format!("{:.1e}", outcome.solution.certificate.constraint_violation),
        ]);
    report =
        report.table(steps).table(cost).heading("Compared with Winter (1991): mean ± 1 standard deviation");

    let data = winter.leg(60);
    let percent = walk.percent();
    let labels = [
        ("Hip", "flexion, deg"),
        ("Knee", "flexion, deg"),
        ("Ankle", "dorsiflexion, deg"),
        ("Forward ground force", "body weights"),
        ("Vertical ground force", "body weights"),
    ];
    let courses = data.angles.iter().chain(&data.forces);
    let scales = [1f64.to_degrees(), -1f64.to_degrees(), 1f64.to_degrees(), 1.0, 1.0];
    let mut plots = Vec::new();
    for (((ours, (name, unit)), [mean, deviation]), scale) in
        walk.signals(walker).into_iter().zip(labels).zip(courses).zip(scales)
    {
        let x: Vec<f64> = (0..=50).map(|i| 2.0 * f64::from(i)).collect();
        let at = |c: &Course, p: f64| {
            if p >= 100.0 { c.0.last().copied().unwrap_or(0.0) } else { c.at(p / 100.0) }
        };
        let edge = |sign: f64| {
            let y = |&p: &f64| scale * at(mean, p) + sign * scale.abs() * at(deviation, p);
            x.iter().map(y).collect::<Vec<_>>()
        };
        plots.push(Plot {
            title: name.into(),
            x_label: "gait cycle (%)".into(),
            y_label: unit.into(),
            bands: vec![Band::new("Winter", x.clone(), edge(-1.0), edge(1.0))],
            lines: vec![Line::new("Soleus", percent.clone(), ours)],
            ..Plot::default()
        });
    }
    report.plots(plots).heading("Muscles").plots(activation_plots(model, system, &walk.states)).to_html()
}
