//! Conditions of a predicted walk, and the way to them from a walk under other conditions.

use super::cycle::{Watch, at_speed, predict, predicted_cycle};
use super::{GAIT_FILE, MESHES, START, builtin, walker};
use crate::addition::{Add, Part, PartKind};
use crate::context::{Context, Silent};
use crate::error::Error;
use crate::inputs::model::build;
use crate::source::ModelSource;
use serde::{Deserialize, Serialize};
use soleus_control::Trajectory;
use soleus_control::continuation::{Fading, Outcome};
use soleus_control::gait::{GaitCycle, Planar};
use soleus_math::elementary;
use soleus_model::Document;
use soleus_optimization::nlp::Status;
use std::path::{Path, PathBuf};

/// A speed at which straight lines lead to a good walk, m/s, and the longest step of the speed from there. From straight lines the effort at
/// 1.4, 1.8 and 2.0 m/s was 0.110, 0.368 and 0.396; by continuation it is 0.078, 0.157 and 0.235.
pub(super) const EASY_SPEED: f64 = 1.3;
pub(super) const SPEED_STEP: f64 = 0.2;
/// Longest steps of the slope, deg, and of the stiffness of the springs at the ankles, N·m/rad. From straight lines the objective at 5° with
/// 100 N·m/rad was 0.414, and at 3° with 300 N·m/rad and 1.6 m/s 1.17; by continuation it is 0.137 and 0.153.
const SLOPE_STEP: f64 = 3.0;
const SPRING_STEP: f64 = 200.0;

/// Conditions of a walk: speed (m/s), slope (deg), stiffness of the springs at the ankles (N·m/rad).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Conditions {
    pub speed: f64,
    pub slope_deg: f64,
    pub ankle_spring: f64,
}

impl Conditions {
    /// Where straight lines lead to a good walk.
    const EASY: Conditions = Conditions { speed: EASY_SPEED, slope_deg: 0.0, ankle_spring: 0.0 };

    /// In words.
    pub fn describe(&self) -> String {
        let mut text = format!("{} m/s", self.speed);
        if self.slope_deg != 0.0 {
            text += &format!(", slope {}°", self.slope_deg);
        }
        if self.ankle_spring != 0.0 {
            text += &format!(", ankle springs {} N·m/rad", self.ankle_spring);
        }
        text
    }

    /// Whether the model is not the built-in one.
    pub fn changes_the_model(&self) -> bool {
        self.slope_deg != 0.0 || self.ankle_spring > 0.0
    }

    /// Number of steps from other conditions to these, so that no change is too large.
    fn steps_from(&self, from: &Conditions) -> usize {
        let parts = [
            (self.speed - from.speed).abs() / SPEED_STEP,
            (self.slope_deg - from.slope_deg).abs() / SLOPE_STEP,
            (self.ankle_spring - from.ankle_spring).abs() / SPRING_STEP,
        ];
        (parts.into_iter().fold(0.0, f64::max).ceil() as usize).max(1)
    }

    /// Part of the way from other conditions to these.
    fn part_of_the_way(&self, from: &Conditions, part: f64) -> Conditions {
        let between = |a: f64, b: f64| a + (b - a) * part;
        Conditions {
            speed: between(from.speed, self.speed),
            slope_deg: between(from.slope_deg, self.slope_deg),
            ankle_spring: between(from.ankle_spring, self.ankle_spring),
        }
    }

    /// The built-in model on this slope with these springs: on a slope, gravity is rotated and the ground stays level.
    pub fn document(&self, cx: &Context) -> Result<Document, Error> {
        let file = Path::new(GAIT_FILE);
        let missing = || Error::content(file, 0, "", "the built-in model has no gravity", "");
        let mut document = builtin(&PathBuf::from("builtin:gait2d").into())?.ok_or_else(missing)?;
        if self.ankle_spring > 0.0 {
            let spring = Part {
                kind: PartKind::Spring,
                coordinate: Some("ankle_angle_r".into()),
                stiffness: Some(self.ankle_spring),
                ..Part::default()
            };
            let add = Add { model: ModelSource::from(document), parts: vec![spring], ..Add::default() };
            document = add.run(&cx.with_monitor(&Silent))?.document;
        }
        if self.slope_deg != 0.0 {
            let (sin, cos) = elementary::sin_cos(self.slope_deg.to_radians());
            let g = build(cx, file, &document)?.gravity;
            let turned = [cos * g.x + sin * g.y, cos * g.y - sin * g.x, g.z].map(|x| x.to_string());
            let root = &mut document.root;
            let element = if root.tag == "Model" { Some(root) } else { root.child_mut("Model") };
            let gravity = element.and_then(|e| e.child_mut("gravity")).ok_or_else(missing)?;
            gravity.set_text(turned.join(" "));
        }
        Ok(document)
    }

    fn walker(&self, cx: &Context) -> Result<Planar, Error> {
        walker(build(cx, Path::new(GAIT_FILE), &self.document(cx)?)?)
    }

    /// The walk from straight lines, and by continuation from the easy conditions if these are far away: the better of the two. On slopes and
    /// with springs straight lines are tried only if continuation fails.
    pub fn best(
        &self,
        cx: &Context,
        walker: &Planar,
        cycle: &GaitCycle,
        watch: &mut Watch,
    ) -> Result<Outcome, Error> {
        let from_lines = |watch: &mut Watch| {
            let start = walker.straight_line(self.speed, START.0, START.1, true);
            predict(walker, cycle, &start, &Fading::new(walker.reserves()), &MESHES, watch)
        };
        let ended = |o: &Outcome| o.solution.status.is_solved() || o.solution.status == Status::Stopped;
        if self.changes_the_model() {
            let continued = self.by_continuation(cx, watch)?;
            return if ended(&continued) { Ok(continued) } else { from_lines(watch) };
        }
        let direct = from_lines(watch)?;
        let is_far = (self.speed - EASY_SPEED).abs() > SPEED_STEP / 2.0;
        if direct.solution.status == Status::Stopped || !is_far {
            return Ok(direct);
        }
        let other = self.by_continuation(cx, watch)?;
        let objective = |o: &Outcome| o.solution.status.is_solved().then_some(o.solution.objective);
        let word = |o: Option<f64>| o.map_or("not solved".to_string(), |o| format!("objective {o:.4}"));
        let both = [objective(&direct), objective(&other)];
        cx.note(format!(
            "from a straight-line guess: {}; by continuation from {EASY_SPEED} m/s: {}; the better one is kept",
            word(both[0]),
            word(both[1])
        ));
        let is_better = both[1].is_some_and(|b| both[0].is_none_or(|a| b < a));
        Ok(if is_better || other.solution.status == Status::Stopped { other } else { direct })
    }

    /// The walk reached step by step from the easy conditions.
    fn by_continuation(&self, cx: &Context, watch: &mut Watch) -> Result<Outcome, Error> {
        let walker = Conditions::EASY.walker(cx)?;
        let start = walker.straight_line(EASY_SPEED, START.0, START.1, true);
        let fading = Fading::new(walker.reserves());
        let cycle = predicted_cycle(&walker, EASY_SPEED);
        let easy = predict(&walker, &cycle, &start, &fading, &MESHES, watch)?;
        if !easy.solution.status.is_solved() {
            return Ok(easy);
        }
        let found = self.reached_from(cx, Conditions::EASY, easy.trajectory, watch)?;
        Ok(Outcome { iterations: easy.iterations + found.iterations, ..found })
    }

    /// The walk reached step by step from a walk under other conditions.
    pub fn reached_from(
        &self,
        cx: &Context,
        from: Conditions,
        mut walk: Trajectory,
        watch: &mut Watch,
    ) -> Result<Outcome, Error> {
        let steps = self.steps_from(&from);
        let mut iterations = 0;
        for k in 1.. {
            let next = if k == steps { *self } else { self.part_of_the_way(&from, k as f64 / steps as f64) };
            let walker = next.walker(cx)?;
            let duration = walk.times.last().zip(walk.times.first()).map_or(START.0, |(b, a)| b - a);
            let guess = at_speed(&walk, walker.forward, next.speed, duration);
            let cycle = predicted_cycle(&walker, next.speed);
            let found = predict(&walker, &cycle, &guess, &Fading::none(), &MESHES[1..], watch)?;
            iterations += found.iterations;
            if k == steps || !found.solution.status.is_solved() {
                return Ok(Outcome { iterations, ..found });
            }
            walk = found.trajectory;
        }
        Err(Error::NotSolved { message: "no step".into() })
    }
}

/// A walk with its conditions, as a file to start another prediction from.
#[derive(Serialize, Deserialize)]
pub(super) struct KeptWalk {
    conditions: Conditions,
    times: Vec<f64>,
    states: Vec<(String, Vec<f64>)>,
    controls: Vec<(String, Vec<f64>)>,
}

/// The same as a trajectory.
pub(super) struct Kept {
    pub conditions: Conditions,
    pub trajectory: Trajectory,
}

impl Kept {
    pub fn new(conditions: Conditions, trajectory: &Trajectory) -> Kept {
        Kept { conditions, trajectory: trajectory.clone() }
    }

    pub fn to_text(&self) -> String {
        let t = &self.trajectory;
        let columns = |names: &[String], rows: &[Vec<f64>]| {
            let column = |(i, name): (usize, &String)| (name.clone(), rows.iter().map(|r| r[i]).collect());
            names.iter().enumerate().map(column).collect()
        };
        let kept = KeptWalk {
            conditions: self.conditions,
            times: t.times.clone(),
            states: columns(&t.states.names, &t.states.rows),
            controls: columns(&t.controls.names, &t.controls.rows),
        };
        serde_json::to_string(&kept).unwrap_or_default()
    }

    /// Reads a walk of this walker.
    pub fn read(cx: &Context, file: &Path, walker: &Planar) -> Result<Kept, Error> {
        let hint = "give the file that an earlier prediction of this walk wrote, or none";
        let refuse = |message: String| Error::content(file, 0, "", message, hint);
        let kept: KeptWalk = serde_json::from_slice(&cx.read(file)?).map_err(|e| refuse(e.to_string()))?;
        let count = kept.times.len();
        if count < 2 || !kept.times.windows(2).all(|w| w[0] < w[1]) {
            return Err(refuse("the times do not increase".to_string()));
        }
        let rows = |what: &str, list: &[(String, Vec<f64>)], names: &[String]| {
            if !list.iter().map(|c| &c.0).eq(names) {
                return Err(refuse(format!("the {what} do not match the walker")));
            }
            if !list.iter().all(|c| c.1.len() == count && c.1.iter().all(|x| x.is_finite())) {
                return Err(refuse(format!("the {what} do not have a finite number for each time")));
            }
            Ok((0..count).map(|k| list.iter().map(|c| c.1[k]).collect()).collect::<Vec<Vec<f64>>>())
        };
        let base = &walker.base;
        let mut trajectory = Trajectory { times: kept.times.clone(), ..Trajectory::default() };
        trajectory.states.rows = rows("states", &kept.states, &base.states)?;
        trajectory.states.names.clone_from(&base.states);
        trajectory.controls.rows = rows("controls", &kept.controls, &base.controls)?;
        trajectory.controls.names.clone_from(&base.controls);
        let c = kept.conditions;
        let are_known = super::SPEEDS[0] <= c.speed
            && c.speed <= super::SPEEDS[1]
            && c.slope_deg.abs() <= super::SLOPES[1]
            && (0.0..=super::SPRINGS[1]).contains(&c.ankle_spring);
        if !are_known {
            return Err(refuse("the conditions of the walk are out of range".to_string()));
        }
        Ok(Kept { conditions: c, trajectory })
    }
}
