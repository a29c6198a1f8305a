//! Controls defined by formulas of time and state.

use soleus_dynamics::Resolve;
use soleus_dynamics::system::{Actor, State, System, Workspace};
use soleus_math::Vec3;
use soleus_math::formula::{Expr, Formula, Item, Meaning, Scope, Unknown};
use soleus_math::names::nearest_name;
use soleus_model::controller::Controller;
use soleus_model::model::Model;

/// Something that a formula sees: one number, or three.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Seen {
    Time,
    Value(usize),
    Speed(usize),
    State(usize),
    /// Length of the path of a force, m, and its rate.
    Length(usize),
    LengtheningSpeed(usize),
    /// Place and velocity in ground of a point of a body.
    Position(usize, Vec3<f64>),
    Velocity(usize, Vec3<f64>),
}

/// Controls of a controller defined by formulas.
#[derive(Clone, Debug)]
pub struct FormulaControls {
    /// Poses and speeds follow from the state; forces play no part.
    system: System,
    ws: Workspace<f64>,
    /// Control, formula and what it sees.
    list: Vec<(usize, Formula, Vec<Seen>)>,
    paths: Vec<usize>,
    numbers: Vec<f64>,
    stack: Vec<f64>,
}

/// What the formula of one actuator may name.
struct Words<'a> {
    model: &'a Model,
    system: &'a System,
    constants: &'a [(String, f64)],
    /// The actuator.
    force: usize,
    seen: Vec<Seen>,
    count: usize,
}

/// The place of the only thing of that name or path, or whose path ends so.
fn only<'n>(list: impl Iterator<Item = (&'n str, &'n str)> + Clone, name: &str) -> Result<usize, Unknown> {
    if let Some(i) = list.clone().position(|(_, path)| path == name) {
        return Ok(i);
    }
    let ends = |path: &str| path.strip_suffix(name).is_some_and(|rest| rest.ends_with('/'));
    let fitting: Vec<usize> = list
        .clone()
        .enumerate()
        .filter(|(_, (own, path))| *own == name || ends(path))
        .map(|(i, _)| i)
        .collect();
    match fitting[..] {
        [one] => Ok(one),
        [] => {
            let near = nearest_name(name, list.map(|(own, _)| own), 2).map(str::to_string);
            Err(Unknown { nearest: near, ..Unknown::default() })
        }
        _ => {
            let all: Vec<&str> = list.map(|(_, path)| path).collect();
            let candidates = fitting.iter().map(|&i| all[i].to_string()).collect();
            Err(Unknown { candidates, ..Unknown::default() })
        }
    }
}

impl Words<'_> {
    fn place(&mut self, s: Seen) -> Meaning {
        let width = |s: &Seen| if matches!(s, Seen::Position(..) | Seen::Velocity(..)) { 3 } else { 1 };
        let at = match self.seen.iter().position(|o| *o == s) {
            Some(i) => self.seen[..i].iter().map(width).sum(),
            None => {
                self.seen.push(s);
                self.count += width(&s);
                self.count - width(&s)
            }
        };
        if width(&s) == 3 { Meaning::Vector(at) } else { Meaning::Number(at) }
    }

    fn mobility(&self, name: &str) -> Result<usize, Unknown> {
        let list = self.model.coordinates.iter().map(|c| (c.name.as_str(), c.path.as_str()));
        Ok(self.system.tree.mobility_of_coordinate[only(list, name)?])
    }

    fn path(&self, name: &str) -> Result<usize, Unknown> {
        let list = self.model.forces.iter().map(|f| (f.name.as_str(), f.path.as_str()));
        self.with_path(only(list, name)?)
    }

    fn with_path(&self, force: usize) -> Result<usize, Unknown> {
        match self.system.forces[force].path {
            Some(_) => Ok(force),
            None => Err(Unknown { hint: "it has no path".into(), ..Unknown::default() }),
        }
    }
}

impl Scope for Words<'_> {
    fn resolve(&mut self, name: &str, item: Option<&str>) -> Result<Meaning, Unknown> {
        let seen = match (name, item) {
            ("q", Some(c)) => Seen::Value(self.mobility(c)?),
            ("u", Some(c)) => Seen::Speed(self.mobility(c)?),
            ("state", Some(s)) => {
                let names = self.system.aux_names.iter().map(|n| (n.as_str(), n.as_str()));
                Seen::State(only(names, s)?)
            }
            ("length", Some(f)) => Seen::Length(self.path(f)?),
            ("lengthening_speed", Some(f)) => Seen::LengtheningSpeed(self.path(f)?),
            ("position" | "velocity", Some(p)) => {
                let m = self.model;
                let points = m.markers.iter().chain(&m.stations);
                let station = match only(points.clone().map(|p| (p.name.as_str(), p.path.as_str())), p) {
                    Ok(i) => points.clone().nth(i).map(|p| (p.frame, p.location)),
                    Err(_) => {
                        let frames = m.frames.iter().map(|f| (f.name.as_str(), f.path.as_str()));
                        Some((soleus_model::id::FrameId(only(frames, p)?), Vec3::zero()))
                    }
                };
                let (frame, location) = station.ok_or_else(Unknown::default)?;
                let f = self.system.tree.frame(frame);
                let p = f.X_BF * location;
                if name == "position" { Seen::Position(f.body, p) } else { Seen::Velocity(f.body, p) }
            }
            ("time", None) => Seen::Time,
            ("length", None) => Seen::Length(self.with_path(self.force)?),
            ("lengthening_speed", None) => Seen::LengtheningSpeed(self.with_path(self.force)?),
            ("activation", None) => {
                let f = &self.system.forces[self.force];
                let names = match &f.actor {
                    Actor::Muscle(m) => m.state_names().to_vec(),
                    Actor::Force(c) => c.state_names(),
                };
                let k = names.iter().position(|n| *n == "activation");
                Seen::State(f.states.start + k.ok_or_else(Unknown::default)?)
            }
            (name, None) => {
                if let Some((_, x)) = self.constants.iter().find(|c| c.0 == name) {
                    return Ok(Meaning::Expr(Expr::number(*x)));
                }
                Seen::Value(self.mobility(name)?)
            }
            _ => {
                let hint = "a controller may use time, coordinates, q[…], u[…], state[…], length[…], lengthening_speed[…], \
                            position[…] and velocity[…], and length, lengthening_speed and activation of its own actuator";
                return Err(Unknown { hint: hint.into(), ..Unknown::default() });
            }
        };
        Ok(self.place(seen))
    }

    fn items(&mut self, _: &str) -> Vec<Item> {
        Vec::new()
    }
}

impl FormulaControls {
    /// The controls of a controller; an error message if a formula is invalid.
    pub fn new(
        model: &Model,
        system: &System,
        controller: &Controller,
        (formula, constants): (&Expr, &[(String, f64)]),
    ) -> Result<Self, String> {
        let (mut list, mut paths, mut room) = (Vec::new(), Vec::new(), 0);
        let mut most = 0;
        for id in &controller.actuators {
            let range = system.forces[id.0].controls.clone();
            let mut words = Words { model, system, constants, force: id.0, seen: Vec::new(), count: 0 };
            let made = Formula::new(formula, &mut words).map_err(|e| match e.hint() {
                hint if hint.is_empty() => e.to_string(),
                hint => format!("{e}; {hint}"),
            })?;
            if made.width() != 1 {
                return Err("a control is a number, not a vector".into());
            }
            for s in &words.seen {
                if let Seen::Length(i) | Seen::LengtheningSpeed(i) = s {
                    paths.push(*i);
                }
            }
            room = room.max(made.stack_len());
            most = most.max(words.count);
            list.extend(range.take(1).map(|control| (control, made.clone(), words.seen.clone())));
        }
        paths.sort_unstable();
        paths.dedup();
        let (ws, numbers, stack) = (system.workspace(), Vec::with_capacity(most), vec![0.0; room]);
        Ok(FormulaControls { system: system.clone(), ws, list, paths, numbers, stack })
    }

    /// Adds the controls at a time and a state.
    pub fn add(&mut self, t: f64, x: &State<f64>, controls: &mut [f64]) {
        self.system.compute_kinematics(x, &mut self.ws);
        let kin = self.ws.kin.view(t);
        for &i in &self.paths {
            if let Some(path) = &self.system.forces[i].path {
                path.compute_position(&kin, &mut self.ws.paths[i]);
                path.compute_speed(&kin, &mut self.ws.paths[i]);
            }
        }
        for (control, formula, seen) in &self.list {
            self.numbers.clear();
            for s in seen {
                match *s {
                    Seen::Time => self.numbers.push(t),
                    Seen::Value(m) => self.numbers.push(x.q[m]),
                    Seen::Speed(m) => self.numbers.push(x.u[m]),
                    Seen::State(k) => self.numbers.push(x.z[k]),
                    Seen::Length(i) => self.numbers.push(self.ws.paths[i].length()),
                    Seen::LengtheningSpeed(i) => self.numbers.push(self.ws.paths[i].speed()),
                    Seen::Position(b, p) => self.numbers.extend(kin.point(b, p).to_array()),
                    Seen::Velocity(b, p) => {
                        self.numbers.extend(kin.velocity_at(b, kin.point(b, p)).to_array());
                    }
                }
            }
            controls[*control] += formula.value(&self.numbers, &mut self.stack);
        }
    }
}
