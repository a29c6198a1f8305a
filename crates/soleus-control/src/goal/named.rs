//! Quantities of a model by name: OpenSim's output paths, and the names in formulas.

use super::initial::Equilibrium;
use super::quantity::{FrameMotion, MuscleQuantity, Quantity};
use crate::musculoskeletal::ModelProblem;
use crate::problem::PointVariable;
use soleus_dynamics::constraint::Station;
use soleus_dynamics::force::Kernel;
use soleus_dynamics::implicit::Reaction;
use soleus_dynamics::metabolics::probe::MetabolicProbe;
use soleus_dynamics::system::Actor;
use soleus_dynamics::{BodyFrame, Resolve};
use soleus_math::formula::{Expr, Item, Unknown};
use soleus_math::names::nearest_name;
use soleus_math::{Function, Transform, Vec3};
use soleus_model::force::FormulaTarget;
use soleus_model::id::{FrameId, JointId};
use soleus_model::probe::{MetabolicMuscle, Probe, ProbeKind};
use soleus_model::{Force, ForceKind};
use std::sync::Arc;

/// The frame with that path, or the body or frame with that name.
pub fn frame(base: &ModelProblem, name: &str) -> Result<BodyFrame, String> {
    let frames = &base.model.frames;
    let i = frames.iter().position(|f| f.path == name).or_else(|| frames.iter().position(|f| f.name == name));
    let i = i.ok_or_else(|| format!("no frame is called `{name}`"))?;
    Ok(base.system.tree.frame(FrameId(i)))
}

/// Splits `/forceset/soleus_r|tendon_force`.
pub fn parts(path: &str) -> (String, &str) {
    let (component, output) = path.split_once('|').unwrap_or(("", path));
    (format!("/{}", component.trim_matches('/')), output)
}

/// The quantity of an output path; an error message if there is none.
pub fn quantity(base: &ModelProblem, path: &str) -> Result<Quantity, String> {
    let (model, system) = (&base.model, &base.system);
    let n = base.num_coordinates();
    let (component, output) = parts(path);
    let level = |names: [&str; 3]| names.iter().position(|n| *n == output);
    let unknown = || format!("output `{path}` does not exist or cannot be used");
    if component == "/" {
        if output == "kinetic_energy" {
            return Ok(Quantity::KineticEnergy);
        }
        return level(["com_position", "com_velocity", "com_acceleration"])
            .map(Quantity::MassCenter)
            .ok_or_else(unknown);
    }
    if let Some(c) = model.coordinates.iter().position(|c| c.path == component) {
        let m = system.tree.mobility_of_coordinate[c];
        let variable = match output {
            "value" => PointVariable::State(m),
            "speed" => PointVariable::State(n + m),
            "acceleration" => PointVariable::Rate(n + m),
            _ => return Err(unknown()),
        };
        return if m < n { Ok(Quantity::Variable(variable)) } else { Err(unknown()) };
    }
    if let Some(i) = model.markers.iter().position(|m| m.path == component) {
        let found = level(["location", "velocity", "acceleration"]);
        return found.map(|k| Quantity::Point(system.markers[i], k)).ok_or_else(unknown);
    }
    if let Some(j) = model.joints.iter().position(|j| j.path == component) {
        let on_child = match output {
            "reaction_on_child" => true,
            "reaction_on_parent" => false,
            _ => return Err(unknown()),
        };
        let ground = BodyFrame { body: 0, X_BF: Transform::identity() };
        return reaction(base, JointId(j), on_child, Some(ground)).map(Quantity::Reaction);
    }
    if let Some(p) = model.probes.iter().find(|p| p.path == component) {
        return match output {
            "total_metabolic_rate" | "probe_outputs" => metabolics(base, p).ok_or_else(unknown),
            _ => Err(unknown()),
        };
    }
    if let Ok(f) = frame(base, &component) {
        let motion = match output {
            "position" => FrameMotion::Position,
            "linear_velocity" => FrameMotion::LinearVelocity,
            "linear_acceleration" => FrameMotion::LinearAcceleration,
            "angular_velocity" => FrameMotion::AngularVelocity,
            "angular_acceleration" => FrameMotion::AngularAcceleration,
            "velocity" => FrameMotion::Velocity,
            "acceleration" => FrameMotion::Acceleration,
            _ => return Err(unknown()),
        };
        return Ok(Quantity::Frame(f, motion));
    }
    let owner = component.strip_suffix("/path").unwrap_or(&component);
    let i = model.forces.iter().position(|f| f.path == owner).ok_or_else(unknown)?;
    let has_path = system.forces[i].path.is_some();
    match output {
        "length" if has_path => Ok(Quantity::PathLength(i)),
        "lengthening_speed" if has_path => Ok(Quantity::PathSpeed(i)),
        "actuation" | "tension" => Ok(Quantity::Actuation(i)),
        "speed" => Ok(Quantity::ActuatorSpeed(i)),
        "power" => Ok(Quantity::ActuatorPower(i)),
        _ => MuscleQuantity::from_name(output).map(|q| Quantity::Muscle(i, q)).ok_or_else(unknown),
    }
}

/// The load of a joint in the axes of a frame; default: the joint's own frame on that side.
pub fn reaction(
    base: &ModelProblem,
    joint: JointId,
    on_child: bool,
    axes: Option<BodyFrame>,
) -> Result<Reaction, String> {
    let (model, tree) = (&base.model, &base.system.tree);
    let mut nodes =
        (0..tree.nodes.len()).filter(|&i| tree.nodes[i].joint_id == Some(joint) && !tree.nodes[i].is_copy);
    let j = &model.joints[joint.0];
    let first = nodes
        .next()
        .ok_or_else(|| format!("joint `{}` closes a kinematic loop; its load is not available", j.name))?;
    let last = nodes.next_back().unwrap_or(first);
    let own = tree.frame(if on_child { j.child } else { j.parent });
    let on_outer = on_child != tree.nodes[first].reversed;
    Ok(Reaction {
        node: if on_outer { last } else { first },
        sign: if on_outer { 1.0 } else { -1.0 },
        at: Station { body: own.body, p_BS: own.X_BF.p },
        axes: axes.unwrap_or(own),
    })
}

/// The body on which a force is counted, if it is a contact.
pub(crate) fn contact_body(base: &ModelProblem, force: usize) -> Option<usize> {
    let Actor::Force(c) = &base.system.forces[force].actor else { return None };
    let is_contact = matches!(
        c.kernel(),
        Kernel::HuntCrossley(_)
            | Kernel::ElasticFoundation(_)
            | Kernel::SmoothSphereHalfSpace(_)
            | Kernel::Exponential(_)
            | Kernel::Ellipsoid(_)
            | Kernel::Bogert2011(_)
    );
    c.touches().0.into_iter().find(|&b| b != 0).filter(|_| is_contact)
}

/// Muscles of a metabolic probe.
fn muscles(probe: &mut Probe) -> Option<&mut Vec<MetabolicMuscle>> {
    match &mut probe.kind {
        ProbeKind::Umberger2010(p) => Some(&mut p.muscles),
        ProbeKind::Bhargava2004(p) => Some(&mut p.muscles),
        ProbeKind::Bhargava2004Smoothed(p) => Some(&mut p.muscles),
        _ => None,
    }
}

fn metabolics(base: &ModelProblem, probe: &Probe) -> Option<Quantity> {
    let mut probe = probe.clone();
    let forces = muscles(&mut probe)?.iter().map(|m| m.muscle.0).collect();
    Some(Quantity::Metabolics(Box::new(MetabolicProbe::compile(&base.model, &probe)?), forces))
}

/// Metabolic power as a sum over muscles, so that each term depends on few variables; the first term includes the basal
/// rate.
pub fn metabolics_by_muscle(base: &ModelProblem, probe: &Probe) -> Option<Vec<Quantity>> {
    let mut probe = probe.clone();
    let all = std::mem::take(muscles(&mut probe)?);
    let mut list = Vec::new();
    for m in all {
        *muscles(&mut probe)? = vec![m];
        list.push(metabolics(base, &probe)?);
        without_basal_rate(&mut probe);
    }
    Some(list)
}

/// A table for formulas: functions of time by column name.
#[derive(Clone, Debug, Default)]
pub struct NamedTable {
    /// Name in formulas.
    pub name: String,
    /// Columns.
    pub columns: Vec<(String, Arc<Function>)>,
}

/// Names in formulas: of a model, parameters of the problem, tables, and definitions of the user.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    /// The model.
    pub base: &'a ModelProblem,
    /// Names of the parameters of the problem, in its order.
    pub parameters: &'a [String],
    /// Tables over time.
    pub tables: &'a [NamedTable],
    /// Named formulas.
    pub definitions: &'a [(String, Expr)],
}

/// What a word of a formula means.
pub(super) enum Found {
    /// A variable of the problem.
    Variable(PointVariable),
    /// Numbers of a quantity: what tells it from others, the quantity, the first of its numbers, how many.
    Quantity(String, Quantity, usize, usize),
    /// Something in other words.
    Expr(Expr),
}

/// A thing that has a name: how it is called, its path, its place in a list.
struct Thing {
    name: String,
    path: String,
    index: usize,
}

/// Names in formulas without brackets: name, unit, meaning.
pub const WORDS: &[(&str, &str, &str)] = &[
    ("time", "s", "time"),
    ("duration", "s", "final time minus initial time (in goals)"),
    ("displacement", "m", "distance of the mass centre from start to end (in goals)"),
    ("mass", "kg", "mass of the model"),
    ("weight", "N", "mass times gravity"),
    ("gravity", "m/s²", "vector"),
    ("com", "m", "mass centre in ground, a vector"),
    ("com_velocity", "m/s", "its velocity"),
    ("com_acceleration", "m/s²", "its acceleration"),
    ("kinetic_energy", "J", "of all bodies"),
    ("metabolic_rate", "W", "of the model's metabolic probe, basal rate included"),
];

/// Names in formulas with brackets: name, content of the brackets, unit, meaning.
pub const WORDS_OF: &[(&str, &str, &str, &str)] = &[
    ("q", "coordinate", "rad, m", "value; the coordinate's name alone has the same meaning"),
    ("u", "coordinate", "rad/s, m/s", "speed"),
    ("udot", "coordinate", "rad/s², m/s²", "acceleration"),
    (
        "generalized_force",
        "coordinate",
        "N m, N",
        "net generalized force of everything except gravity (inverse dynamics)",
    ),
    ("activation", "muscle, actuator", "", "activation; the excitation if there are no activation dynamics"),
    ("excitation", "muscle, actuator", "", "control"),
    ("control", "muscle, actuator", "", "the same"),
    ("actuation", "muscle, actuator", "N, N m", "tension, force or moment"),
    ("power", "muscle, actuator", "W", "of the muscle-tendon unit, or of the actuator"),
    ("length", "path", "m", "length of the path of a muscle, spring or ligament"),
    ("lengthening_speed", "path", "m/s", "its rate"),
    ("max_isometric_force", "muscle", "N", "of the model"),
    ("optimal_fiber_length", "muscle", "m", "of the model"),
    ("tendon_slack_length", "muscle", "m", "of the model"),
    (
        "force_imbalance",
        "muscle",
        "",
        "tendon force minus fiber force along the tendon, in maximum isometric forces, while the tendon force is constant; of De Groote–Fregly muscles with compliant tendons",
    ),
    (
        "force_drift",
        "muscle",
        "N/s",
        "rate of the fiber force along the tendon minus that of the tendon force, linearized; of the same muscles",
    ),
    (
        "metabolic_rate",
        "muscle",
        "W",
        "rate of one muscle, without the basal rate; or of a probe by name, basal rate included",
    ),
    ("position", "marker, station, frame", "m", "in ground, a vector"),
    ("velocity", "marker, station, frame", "m/s", "in ground, a vector"),
    ("acceleration", "marker, station, frame", "m/s²", "in ground, a vector"),
    ("angular_velocity", "frame", "rad/s", "in ground, a vector"),
    ("angular_acceleration", "frame", "rad/s²", "in ground, a vector"),
    ("x_axis", "frame", "", "in ground, a vector; y_axis and z_axis too"),
    ("y_axis", "frame", "", ""),
    ("z_axis", "frame", "", ""),
    ("contact_force", "contact, body", "N", "on the moving body, in ground, a vector; for a body the sum"),
    ("joint_force", "joint", "N", "on the child, in ground, a vector"),
    ("joint_moment", "joint", "N m", "on the child at the joint, in ground, a vector"),
    ("joint_force_on_parent", "joint", "N", "on the parent"),
    ("joint_moment_on_parent", "joint", "N m", "on the parent"),
    ("state", "state", "", "any state by its path, or the last part of it"),
    ("rate", "state", "1/s", "its rate"),
    ("multiplier", "multiplier", "", "of kinematic constraints"),
    ("output", "path", "", "an output by OpenSim's path: output[/forceset/soleus_r|tendon_force]"),
];

impl<'a> Names<'a> {
    /// Names of a model only.
    pub fn of_model(base: &'a ModelProblem) -> Names<'a> {
        Names { base, parameters: &[], tables: &[], definitions: &[] }
    }

    /// Everything that can stand in the brackets of a word.
    pub(super) fn items(&self, name: &str) -> Vec<Item> {
        if let Some(t) = self.tables.iter().find(|t| t.name == name) {
            return t.columns.iter().map(|c| Item { name: c.0.clone(), path: c.0.clone() }).collect();
        }
        let things = self.things(name).unwrap_or_default();
        let unique = |t: &Thing| things.iter().filter(|o| o.name == t.name).count() == 1;
        let item = |t: &Thing| {
            let name = if unique(t) { t.name.clone() } else { t.path.clone() };
            Item { name, path: t.path.clone() }
        };
        things.iter().map(item).collect()
    }

    fn forces(&self, fits: impl Fn(usize, &Force) -> bool) -> Vec<Thing> {
        let all = self.base.model.forces.iter().enumerate();
        let thing = |(index, f): (usize, &Force)| Thing { name: f.name.clone(), path: f.path.clone(), index };
        all.filter(|(i, f)| fits(*i, f)).map(thing).collect()
    }

    fn is_muscle(&self, i: usize) -> bool {
        matches!(self.base.system.forces[i].actor, Actor::Muscle(_))
    }

    /// The body on which a contact is counted.
    fn contact_body(&self, i: usize) -> Option<usize> {
        contact_body(self.base, i)
    }

    fn frames(&self) -> Vec<Thing> {
        let all = self.base.model.frames.iter().enumerate();
        all.map(|(index, f)| Thing { name: f.name.clone(), path: f.path.clone(), index }).collect()
    }

    /// Markers, stations and frames, one after the other.
    fn points(&self) -> Vec<Thing> {
        let m = &self.base.model;
        let points = m.markers.iter().chain(&m.stations).enumerate();
        let mut list: Vec<Thing> =
            points.map(|(index, p)| Thing { name: p.name.clone(), path: p.path.clone(), index }).collect();
        let first = list.len();
        list.extend(self.frames().into_iter().map(|t| Thing { index: first + t.index, ..t }));
        list
    }

    fn coordinates(&self) -> Vec<Thing> {
        let (m, s) = (&self.base.model, &self.base.system);
        let each = m.coordinates.iter().zip(&s.tree.mobility_of_coordinate);
        let thing = |(c, &index): (&soleus_model::joint::Coordinate, &usize)| Thing {
            name: c.name.clone(),
            path: c.path.clone(),
            index,
        };
        each.map(thing).filter(|t| t.index < self.base.num_coordinates()).collect()
    }

    /// Metabolic probes.
    fn probes(&self) -> impl Iterator<Item = &'a Probe> {
        let metabolic = |p: &&Probe| {
            matches!(
                p.kind,
                ProbeKind::Umberger2010(_) | ProbeKind::Bhargava2004(_) | ProbeKind::Bhargava2004Smoothed(_)
            )
        };
        self.base.model.probes.iter().filter(metabolic)
    }

    /// All that a word with brackets can be of; `None` if there is no such word.
    fn things(&self, name: &str) -> Option<Vec<Thing>> {
        let (model, system) = (&self.base.model, &self.base.system);
        let named = |list: &[String]| -> Vec<Thing> {
            let each = list.iter().enumerate();
            let thing = |(index, n): (usize, &String)| Thing { name: n.clone(), path: n.clone(), index };
            each.map(thing).collect()
        };
        let has_path = |i: usize| system.forces[i].path.is_some();
        Some(match name {
            "q" | "u" | "udot" | "generalized_force" => self.coordinates(),
            "activation" => {
                self.forces(|i, _| self.is_muscle(i) || self.own_state(i, "activation").is_some())
            }
            "excitation" | "control" => named(&self.base.controls)
                .into_iter()
                .map(|t| Thing { name: last_part(&t.path).to_string(), ..t })
                .collect(),
            "actuation" | "power" => self.forces(|i, f| {
                let by_formula = matches!(&f.kind, ForceKind::FormulaForce(f) if matches!(f.target, FormulaTarget::Coordinate(_)));
                has_path(i) || !system.forces[i].controls.is_empty() || by_formula
            }),
            "length" | "lengthening_speed" => self.forces(|i, _| has_path(i)),
            "max_isometric_force" | "optimal_fiber_length" | "tendon_slack_length" => {
                self.forces(|i, _| self.is_muscle(i))
            }
            "force_imbalance" | "force_drift" => self.forces(|i, _| Equilibrium::is_of(system, i)),
            "metabolic_rate" => {
                let mut list = Vec::new();
                if let (Some(p), 1) = (self.probes().next(), self.probes().count()) {
                    let own =
                        muscles(&mut p.clone()).map(|m| m.iter().map(|m| m.muscle.0).collect::<Vec<_>>());
                    let own = own.unwrap_or_default();
                    list = self.forces(|i, _| own.contains(&i));
                }
                list
            }
            "position" | "velocity" | "acceleration" => self.points(),
            "angular_velocity" | "angular_acceleration" | "x_axis" | "y_axis" | "z_axis" => self.frames(),
            "contact_force" => {
                let mut list = self.forces(|i, _| self.contact_body(i).is_some());
                let first = model.forces.len();
                for (i, b) in model.bodies.iter().enumerate() {
                    let node = system.tree.frame(b.frame).body;
                    if list.iter().any(|t| t.index < first && self.contact_body(t.index) == Some(node)) {
                        list.push(Thing { name: b.name.clone(), path: b.path.clone(), index: first + i });
                    }
                }
                list
            }
            "joint_force" | "joint_moment" | "joint_force_on_parent" | "joint_moment_on_parent" => {
                let all = model.joints.iter().enumerate();
                all.map(|(index, j)| Thing { name: j.name.clone(), path: j.path.clone(), index }).collect()
            }
            "state" | "rate" => named(&self.base.states),
            "multiplier" => named(&self.base.multipliers),
            _ => {
                MuscleQuantity::from_name(name)?;
                self.forces(|i, _| self.is_muscle(i))
            }
        })
    }

    /// The number of a force's own state.
    fn own_state(&self, i: usize, name: &str) -> Option<usize> {
        let f = &self.base.system.forces[i];
        let names = match &f.actor {
            Actor::Muscle(m) => m.state_names().to_vec(),
            Actor::Force(c) => c.state_names(),
        };
        let k = names.iter().position(|n| *n == name)?;
        Some(2 * self.base.num_coordinates() + f.states.start + k)
    }

    /// All words, for messages.
    fn words(&self) -> Vec<String> {
        let mut list: Vec<String> = WORDS.iter().map(|w| w.0.to_string()).collect();
        list.extend(WORDS_OF.iter().map(|w| w.0.to_string()));
        list.extend(self.parameters.iter().cloned());
        list.extend(self.tables.iter().map(|t| t.name.clone()));
        list.extend(self.definitions.iter().map(|d| d.0.clone()));
        list.extend(self.coordinates().into_iter().map(|t| t.name));
        list
    }

    /// What a word means.
    pub(super) fn find(&self, name: &str, item: Option<&str>) -> Result<Found, Unknown> {
        match item {
            None => self.find_alone(name),
            Some(item) => self.find_of(name, item),
        }
    }

    fn find_alone(&self, name: &str) -> Result<Found, Unknown> {
        let (model, base) = (&self.base.model, self.base);
        if let Some((_, e)) = self.definitions.iter().find(|d| d.0 == name) {
            return Ok(Found::Expr(e.clone()));
        }
        if let Some(i) = self.parameters.iter().position(|p| p == name) {
            return Ok(Found::Variable(PointVariable::Parameter(i)));
        }
        let vector = |key: &str, q: Quantity| Ok(Found::Quantity(key.to_string(), q, 0, 3));
        let over = |word: &str, e: Expr| Expr::call(word, vec![e]).unwrap_or_else(|_| Expr::number(f64::NAN));
        let change = |e: Expr| over("final", e.clone()) - over("initial", e);
        let numbers = |v: Vec3<f64>| {
            let [x, y, z] = v.to_array().map(Expr::number);
            Expr::vector(x, y, z)
        };
        let gravity = model.gravity.norm();
        match name {
            "time" => Ok(Found::Variable(PointVariable::Time)),
            "duration" => Ok(Found::Expr(change(Expr::input("time")))),
            "displacement" => Ok(Found::Expr(over("norm", change(Expr::input("com"))))),
            "mass" => Ok(Found::Expr(Expr::number(model.total_mass()))),
            "weight" => Ok(Found::Expr(Expr::number(model.total_mass() * gravity))),
            "gravity" => Ok(Found::Expr(numbers(model.gravity))),
            "com" => vector("com 0", Quantity::MassCenter(0)),
            "com_velocity" => vector("com 1", Quantity::MassCenter(1)),
            "com_acceleration" => vector("com 2", Quantity::MassCenter(2)),
            "kinetic_energy" => Ok(Found::Quantity(name.to_string(), Quantity::KineticEnergy, 0, 1)),
            "metabolic_rate" => {
                let mut probes = self.probes();
                match (probes.next(), probes.next()) {
                    (Some(p), None) => Ok(Found::Expr(whole_rate(p))),
                    (None, _) => Err(hint("the model has no metabolic probe")),
                    _ => Err(Unknown {
                        candidates: self.probes().map(|p| format!("metabolic_rate[{}]", p.name)).collect(),
                        ..Unknown::default()
                    }),
                }
            }
            _ => {
                let things = self.coordinates();
                let mut fitting = things.iter().filter(|t| t.name == name);
                match (fitting.next(), fitting.next()) {
                    (Some(t), None) => Ok(Found::Variable(PointVariable::State(t.index))),
                    (Some(a), Some(b)) => {
                        let paths = [a, b].map(|t| format!("q[{}]", t.path));
                        Err(Unknown { candidates: paths.to_vec(), ..Unknown::default() })
                    }
                    _ if self.things(name).is_some() || self.tables.iter().any(|t| t.name == name) => {
                        let near = self.items(name).first().map(|i| i.name.clone()).unwrap_or_default();
                        Err(hint(&format!("specify the component: `{name}[{near}]`")))
                    }
                    _ => {
                        // The thing itself may be meant, without saying what of it.
                        let muscles = base.model.forces.iter().any(|f| f.name == name);
                        if muscles {
                            return Err(hint(&format!(
                                "specify the quantity: `activation[{name}]`, `control[{name}]`, …"
                            )));
                        }
                        let words = self.words();
                        let near = nearest_name(name, words.iter().map(String::as_str), 3);
                        Err(Unknown { nearest: near.map(str::to_string), ..Unknown::default() })
                    }
                }
            }
        }
    }

    fn find_of(&self, name: &str, item: &str) -> Result<Found, Unknown> {
        let (base, model, system) = (self.base, &self.base.model, &self.base.system);
        let n = base.num_coordinates();
        if let Some(t) = self.tables.iter().find(|t| t.name == name) {
            let column = t.columns.iter().find(|c| c.0 == item);
            return match column {
                Some(c) => Ok(Found::Expr(Expr::of_function(c.1.clone(), Expr::input("time")))),
                None => {
                    let near = nearest_name(item, t.columns.iter().map(|c| c.0.as_str()), 2);
                    Err(Unknown { nearest: near.map(|i| format!("{name}[{i}]")), ..Unknown::default() })
                }
            };
        }
        if name == "output" {
            let q = quantity(base, item).map_err(|why| hint(&why))?;
            return match q.len() {
                1 | 3 => {
                    let width = q.len();
                    Ok(Found::Quantity(format!("output {item}"), q, 0, width))
                }
                _ => Err(hint(
                    "the output has several vectors; use joint_force[…], velocity[…] for each of them",
                )),
            };
        }
        // Whole probes by name, and parts of one as this module itself writes them.
        if name == "metabolic_rate"
            && let Some(p) = self.probes().find(|p| p.name == item || p.path == item)
        {
            return Ok(Found::Expr(whole_rate(p)));
        }
        if let (true, Some((path, k))) = (name == PART_OF_RATE, item.rsplit_once(' ')) {
            let part =
                self.probes().find(|p| p.path == path).zip(k.parse::<usize>().ok()).and_then(|(p, k)| {
                    let mut p = p.clone();
                    let own = muscles(&mut p)?;
                    *own = own.get(k..k + 1)?.to_vec();
                    if k > 0 {
                        without_basal_rate(&mut p);
                    }
                    metabolics(base, &p)
                });
            let key = format!("{PART_OF_RATE} {item}");
            return part.map(|q| Found::Quantity(key, q, 0, 1)).ok_or_else(|| hint("there is no such part"));
        }
        let Some(things) = self.things(name) else {
            let words: Vec<&str> =
                WORDS_OF.iter().map(|w| w.0).chain(self.tables.iter().map(|t| t.name.as_str())).collect();
            let near = nearest_name(name, words, 3);
            return Err(Unknown { nearest: near.map(|w| format!("{w}[{item}]")), ..Unknown::default() });
        };
        let thing = one_of(name, item, &things)?;
        let (i, key) = (thing.index, format!("{name} {}", thing.path));
        let number = |q: Quantity| Ok(Found::Quantity(key.clone(), q, 0, 1));
        let variable = |v: PointVariable| Ok(Found::Variable(v));
        let constant = |x: f64| Ok(Found::Expr(Expr::number(x)));
        let muscle = || match &model.forces[i].kind {
            ForceKind::Muscle(m) => Some(m),
            _ => None,
        };
        match name {
            "q" => variable(PointVariable::State(i)),
            "u" => variable(PointVariable::State(n + i)),
            "udot" => variable(PointVariable::Rate(n + i)),
            "generalized_force" => {
                number(Quantity::GeneralizedForces { mobilities: vec![i], forces: Vec::new() })
            }
            "activation" => match self.own_state(i, name) {
                Some(state) => variable(PointVariable::State(state)),
                None => variable(PointVariable::Control(system.forces[i].controls.start)),
            },
            "excitation" | "control" => variable(PointVariable::Control(i)),
            "actuation" => number(Quantity::Actuation(i)),
            "power" if self.is_muscle(i) => number(Quantity::Muscle(i, MuscleQuantity::MusclePower)),
            "power" => number(Quantity::ActuatorPower(i)),
            "length" => number(Quantity::PathLength(i)),
            "lengthening_speed" => number(Quantity::PathSpeed(i)),
            "max_isometric_force" => constant(muscle().map_or(f64::NAN, |m| m.max_isometric_force)),
            "optimal_fiber_length" => constant(muscle().map_or(f64::NAN, |m| m.optimal_fiber_length)),
            "tendon_slack_length" => constant(muscle().map_or(f64::NAN, |m| m.tendon_slack_length)),
            "force_imbalance" => number(Quantity::Equilibrium(i, Equilibrium::Force)),
            "force_drift" => number(Quantity::Equilibrium(i, Equilibrium::Velocity)),
            "metabolic_rate" => {
                let mut p = self.probes().next().cloned().ok_or_else(Unknown::default)?;
                if let Some(list) = muscles(&mut p) {
                    list.retain(|m| m.muscle.0 == i);
                }
                without_basal_rate(&mut p);
                let q = metabolics(base, &p).ok_or_else(|| hint("the probe cannot be computed"))?;
                number(q)
            }
            "position" | "velocity" | "acceleration" => {
                let level = ["position", "velocity", "acceleration"].iter().position(|w| *w == name);
                let points = model.markers.len() + model.stations.len();
                let station = if i < points {
                    let p = model.markers.iter().chain(&model.stations).nth(i);
                    let p = p.ok_or_else(Unknown::default)?;
                    let f = system.tree.frame(p.frame);
                    Station { body: f.body, p_BS: f.X_BF * p.location }
                } else {
                    let f = system.tree.frame(FrameId(i - points));
                    Station { body: f.body, p_BS: f.X_BF.p }
                };
                Ok(Found::Quantity(key, Quantity::Point(station, level.unwrap_or(0)), 0, 3))
            }
            "angular_velocity" | "angular_acceleration" => {
                let motion = match name {
                    "angular_velocity" => FrameMotion::AngularVelocity,
                    _ => FrameMotion::AngularAcceleration,
                };
                Ok(Found::Quantity(key, Quantity::Frame(system.tree.frame(FrameId(i)), motion), 0, 3))
            }
            "x_axis" | "y_axis" | "z_axis" => {
                let axis = "xyz".find(&name[..1]).unwrap_or(0);
                let q = Quantity::Frame(system.tree.frame(FrameId(i)), FrameMotion::Rotation);
                Ok(Found::Quantity(format!("axes {}", thing.path), q, 3 * axis, 3))
            }
            "contact_force" => {
                let count = model.forces.len();
                let list = if i < count {
                    self.contact_body(i).map(|b| (i, b)).into_iter().collect()
                } else {
                    let node = system.tree.frame(model.bodies[i - count].frame).body;
                    (0..count).filter(|&k| self.contact_body(k) == Some(node)).map(|k| (k, node)).collect()
                };
                Ok(Found::Quantity(key, Quantity::Contact(list), 0, 3))
            }
            "joint_force" | "joint_moment" | "joint_force_on_parent" | "joint_moment_on_parent" => {
                let on_child = !name.ends_with("_on_parent");
                let ground = BodyFrame { body: 0, X_BF: Transform::identity() };
                let r = reaction(base, JointId(i), on_child, Some(ground)).map_err(|why| hint(&why))?;
                let first = if name.starts_with("joint_force") { 3 } else { 0 };
                let key = format!("reaction {on_child} {}", thing.path);
                Ok(Found::Quantity(key, Quantity::Reaction(r), first, 3))
            }
            "state" => variable(PointVariable::State(i)),
            "rate" if i < n => variable(PointVariable::State(n + i)),
            "rate" => variable(PointVariable::Rate(i)),
            "multiplier" => variable(PointVariable::Multiplier(i)),
            _ => match MuscleQuantity::from_name(name) {
                Some(q) => number(Quantity::Muscle(i, q)),
                None => Err(Unknown::default()),
            },
        }
    }
}

/// The word for a part of a probe's rate; no formula can say it.
const PART_OF_RATE: &str = "part of rate";

/// The rate of a probe as a sum over its muscles, of which the first brings the basal rate along: each depends on little.
fn whole_rate(p: &Probe) -> Expr {
    let count = muscles(&mut p.clone()).map_or(0, |m| m.len());
    let part = |k: usize| Expr::item(PART_OF_RATE, format!("{} {k}", p.path));
    let mut sum = part(0);
    for k in 1..count {
        sum = sum + part(k);
    }
    sum
}

fn without_basal_rate(p: &mut Probe) {
    match &mut p.kind {
        ProbeKind::Umberger2010(p) => p.basal_rate_on = false,
        ProbeKind::Bhargava2004(p) => p.basal_rate_on = false,
        ProbeKind::Bhargava2004Smoothed(p) => p.basal_coefficient = 0.0,
        _ => {}
    }
}

fn hint(text: &str) -> Unknown {
    Unknown { hint: text.to_string(), ..Unknown::default() }
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The thing with that path or name, or whose path ends so.
fn one_of<'t>(word: &str, item: &str, things: &'t [Thing]) -> Result<&'t Thing, Unknown> {
    if let Some(t) = things.iter().find(|t| t.path == item) {
        return Ok(t);
    }
    let ends = |t: &&Thing| {
        t.name == item
            || t.path.strip_suffix(item).is_some_and(|rest| rest.ends_with('/') && !item.starts_with('/'))
    };
    let fitting: Vec<&Thing> = things.iter().filter(ends).collect();
    match fitting[..] {
        [one] => Ok(one),
        [] => {
            let path = item.contains('/');
            let names = things.iter().map(|t| if path { t.path.as_str() } else { t.name.as_str() });
            let near = nearest_name(item, names, 2).map(|n| format!("{word}[{n}]"));
            let hint = match things.first() {
                None => format!("nothing in the model has `{word}[…]`"),
                Some(t) => format!("example: `{word}[{}]`", t.name),
            };
            Err(Unknown { nearest: near, hint, ..Unknown::default() })
        }
        _ => {
            let candidates = fitting.iter().map(|t| format!("{word}[{}]", t.path)).collect();
            Err(Unknown { candidates, ..Unknown::default() })
        }
    }
}
