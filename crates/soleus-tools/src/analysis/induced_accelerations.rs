//! `InducedAccelerations`: contributions of each force to the accelerations of the model.
//!
//! With M u̇ + Gᵀ λ = Σ f + c(q, u), G u̇ = b, accelerations are linear in the forces. The accelerations due to each
//! force alone, to gravity alone and to the velocities alone (c and b) therefore sum to the total acceleration. Ground
//! contact reacts to every force: measured ground reactions are replaced by constraints on the foot at the centre of
//! pressure (Hamner, Seth and Delp 2010; Lin, Kim and Pandy 2011), and each force induces its own part of the reaction.

use super::force_reporter::{constraint_labels, push_constraint};
use super::given_forces::GivenForces;
use super::{
    ActuatorLoad, Analysis, AnalysisError, Moment, Output, Recorder, SI_OR_DEGREES, bodies, coordinates,
    required_frame,
};
use soleus_dynamics::constraint::{CompiledConstraint, Rolling};
use soleus_dynamics::force::Kernel;
use soleus_dynamics::multibody::{compute_accelerations, compute_generalized_forces};
use soleus_dynamics::system::{Actor, MotionError};
use soleus_dynamics::{Loads, System, Workspace};
use soleus_math::{SpatialVec, Vec3};
use soleus_model::force::ForceKind;
use soleus_model::{Model, angles};

/// A constraint that replaces a measured contact force: the foot does not penetrate, twist or slip.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactConstraint {
    /// Name for labels.
    pub name: String,
    /// The body in contact.
    pub rolling_body: String,
    /// The body of the surface.
    pub surface_body: String,
    /// Normal of the surface, in that body.
    pub normal: Vec3<f64>,
    /// Friction coefficient; beyond it the foot may slip and twist.
    pub friction: f64,
    /// Radius (m) for the friction moment that resists twisting.
    pub radius: f64,
}

/// What to compute.
#[derive(Clone, Debug, PartialEq)]
pub struct InducedSettings {
    /// Coordinates: names, or `all`.
    pub coordinates: Vec<String>,
    /// Bodies: names, `all`, or `center_of_mass` for the whole model.
    pub bodies: Vec<String>,
    /// Constraints that replace the measured forces, one for each.
    pub contacts: Vec<ContactConstraint>,
    /// Minimum measured force (N) for contact.
    pub force_threshold: f64,
    /// Accelerations per newton of muscle force instead of those due to the actual forces.
    pub potentials_only: bool,
    /// Whether to report the induced reactions.
    pub report_reactions: bool,
    /// Angles in degrees.
    pub in_degrees: bool,
    /// Reproduces errors of OpenSim: translations are multiplied by 180/π if angles are in degrees, forces that are not
    /// actuators are part of every contribution, and muscles contribute the force they would have at rest, so that
    /// contributions do not sum to the total with rigid tendons.
    pub opensim_faults: bool,
}

/// Who contributes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    Total,
    Force(usize),
    Gravity,
    Velocity,
}

/// Contributions of forces to accelerations.
#[derive(Clone, Debug)]
pub struct InducedAccelerations {
    /// The model with contacts as constraints, and without the measured forces.
    system: System,
    ws: Workspace<f64>,
    /// Constraints of the model itself.
    own: usize,
    contacts: Vec<Contact>,
    /// Forces of actuators from a table.
    given: Option<GivenForces>,
    sources: Vec<Source>,
    /// Mobility and factor of each coordinate, and its table.
    coordinates: Vec<(usize, f64, Recorder)>,
    /// Node and mass centre of each body, and its table.
    bodies: Vec<(usize, Vec3<f64>, Recorder)>,
    com: Option<Recorder>,
    reactions: Option<Recorder>,
    degrees: f64,
    threshold: f64,
    potentials_only: bool,
    opensim_faults: bool,
    body: Vec<SpatialVec<f64>>,
    resting: Vec<SpatialVec<f64>>,
    induced: Vec<SpatialVec<f64>>,
    bias: Vec<f64>,
    row: Rows,
}

/// A contact, ready for computing.
#[derive(Clone, Debug)]
struct Contact {
    roller: usize,
    surface: usize,
    normal: Vec3<f64>,
    friction: f64,
    radius: f64,
    /// The measured force it stands for.
    measured: usize,
}

/// Values of one instant, contributor by contributor.
#[derive(Clone, Debug, Default)]
struct Rows {
    coordinates: Vec<Vec<f64>>,
    bodies: Vec<Vec<f64>>,
    com: Vec<f64>,
    reactions: Vec<f64>,
}

impl InducedAccelerations {
    /// For a model whose forces include the measured forces. Each contact replaces the measured force on its rolling
    /// body or, if there is none, the measured force at the same position in the list. With a table of forces (columns
    /// named after actuators, N and N·m) the actuators exert these forces, regardless of their states.
    pub fn new(
        model: &Model,
        system: &System,
        s: &InducedSettings,
        forces: Option<&soleus_math::Table>,
    ) -> Result<Self, AnalysisError> {
        let mut own_system = system.clone();
        let external: Vec<usize> = (0..model.forces.len())
            .filter(|&i| {
                system.forces[i].enabled && matches!(model.forces[i].kind, ForceKind::ExternalForce(_))
            })
            .collect();
        let own = system.constraints.list.len();
        let mut contacts = Vec::new();
        for (k, c) in s.contacts.iter().enumerate() {
            let node = |name: &str| required_frame(model, name).map(|f| system.tree.node_of_body[f.body.0]);
            let (roller, surface) = (node(&c.rolling_body)?, node(&c.surface_body)?);
            let on_roller = external.iter().find(|&&i| pushes(system, i) == Some(roller));
            let Some(&measured) = on_roller.or_else(|| external.get(k)) else {
                return Err(AnalysisError::Setting(format!(
                    "contact `{}` has no measured force: the loads have {}, none of them acting on `{}`",
                    c.name,
                    external.len(),
                    c.rolling_body
                )));
            };
            let normal = c.normal.normalized();
            contacts.push(Contact {
                roller,
                surface,
                normal,
                friction: c.friction,
                radius: c.radius,
                measured,
            });
            own_system.constraints.list.push(CompiledConstraint::Rolling(Rolling {
                roller,
                surface,
                normal,
                height: 0.0,
                p_R: Vec3::zero(),
                axis_R: Vec3::unit(2),
                p_S: Vec3::zero(),
                active: [false; 4],
            }));
        }
        for &i in &external {
            own_system.forces[i].enabled = false;
        }

        // Who contributes: all together, each actuator, other forces, gravity, velocities.
        let mut sources = Vec::new();
        let mut names = Vec::new();
        let mut add = |source: Source, name: &str| {
            sources.push(source);
            names.push(name.to_string());
        };
        if !s.potentials_only {
            add(Source::Total, "total");
        }
        let enabled = |i: &usize| own_system.forces[*i].enabled;
        let all = || (0..model.forces.len()).filter(enabled);
        for i in all().filter(|&i| model.forces[i].is_actuator()) {
            add(Source::Force(i), &model.forces[i].name);
        }
        if !s.opensim_faults {
            for i in all().filter(|&i| !model.forces[i].is_actuator()) {
                add(Source::Force(i), &model.forces[i].name);
            }
        }
        add(Source::Gravity, "gravity");
        add(Source::Velocity, "velocity");
        let given = match forces {
            None => None,
            Some(table) => Some(GivenForces::new(model, system, table)?),
        };
        if let Some(g) = &given {
            g.switch_off(&mut own_system);
        }

        let with = |ends: &[&str]| -> Vec<String> {
            names.iter().flat_map(|n| ends.iter().map(move |e| format!("{n}_{e}"))).collect()
        };
        let text = format!("\nAccelerations that each force alone would cause.\n{SI_OR_DEGREES}");
        let table = |name: &str, labels: Vec<String>| Recorder::new(name, text.clone(), labels);
        let turn = if s.in_degrees { 1f64.to_degrees() } else { 1.0 };
        let coordinate = |c: usize| {
            let q = &model.coordinates[c];
            let unit = if s.in_degrees && !s.opensim_faults { angles::degrees_of(q) } else { turn };
            let recorder = table(&q.name, names.clone()).in_degrees(s.in_degrees);
            (system.tree.mobility_of_coordinate[c], unit, recorder)
        };
        let (list, com) = bodies(model, &s.bodies, false)?;
        let six = with(&["X", "Y", "Z", "Ox", "Oy", "Oz"]);
        let body = |b: usize| {
            let at = &model.bodies[b];
            (system.tree.node_of_body[b], at.mass_center, table(&at.name, six.clone()))
        };
        let reactions = s.report_reactions.then(|| {
            let mut labels = Vec::new();
            for name in &names {
                for (c, k) in s.contacts.iter().zip(&own_system.constraints.list[own..]) {
                    let each = constraint_labels(model, system, &c.name, k);
                    labels.extend(each.into_iter().map(|l| format!("{name}_{l}")));
                }
            }
            table("induced_constraint_reactions", labels)
        });
        let zero = vec![SpatialVec::zero(); system.tree.nodes.len()];
        Ok(InducedAccelerations {
            ws: own_system.workspace(),
            own,
            contacts,
            given,
            coordinates: coordinates(model, &s.coordinates)?.into_iter().map(coordinate).collect(),
            bodies: list.into_iter().map(body).collect(),
            com: com.then(|| table("center_of_mass", with(&["X", "Y", "Z"]))),
            reactions,
            sources,
            degrees: turn,
            threshold: s.force_threshold,
            potentials_only: s.potentials_only,
            opensim_faults: s.opensim_faults,
            body: zero.clone(),
            resting: zero.clone(),
            induced: zero,
            bias: Vec::new(),
            row: Rows::default(),
            system: own_system,
        })
    }

    /// Puts each contact where its measured force acts, and switches off those without one.
    fn place_contacts(&mut self, now: &Moment) {
        for (c, k) in self.contacts.iter().zip(&mut self.system.constraints.list[self.own..]) {
            let CompiledConstraint::Rolling(r) = k else { continue };
            r.active = [false; 4];
            let Actor::Force(f) = &now.system.forces[c.measured].actor else { continue };
            let Kernel::Timed(f) = f.kernel() else { continue };
            let kin = now.ws.kin.view(now.x.time);
            if !f.force(&kin).is_some_and(|f| f.norm() > self.threshold) {
                continue;
            }
            let (X_R, X_S) = (kin.X_GB[c.roller], kin.X_GB[c.surface]);
            let p = f.point(&kin);
            r.p_R = X_R.inverse_mul(p);
            r.p_S = X_S.inverse_mul(p);
            r.height = r.p_S.dot(c.normal);
            r.axis_R = X_R.R.inverse_mul(X_S.R * Vec3::unit(0).cross(c.normal)).normalized();
            r.active = [true; 4];
        }
    }

    /// Loads, accelerations and multipliers of all forces together.
    fn compute_total(&mut self, now: &Moment) -> Result<(), AnalysisError> {
        self.ws.constraints = self.system.constraints.workspace(&self.system.tree);
        if let Some(given) = &self.given {
            return given.compute(&self.system, now, &mut self.ws);
        }
        let done = self.system.compute_motion(now.x, now.controls, &mut self.ws);
        done.map_err(|source: MotionError| AnalysisError::Motion { time: now.x.time, source })
    }

    /// Lets go of contacts that would have to pull, slip or twist: one contact after the other, as OpenSim does.
    fn release_contacts(&mut self, now: &Moment) -> Result<(), AnalysisError> {
        for i in 0..self.contacts.len() {
            let at = self.own + i;
            let (p, v) = self.system.constraints.equations(at);
            let (friction, radius) = (self.contacts[i].friction, self.contacts[i].radius);
            let CompiledConstraint::Rolling(r) = &mut self.system.constraints.list[at] else { continue };
            if !r.active[0] {
                continue;
            }
            let lambda = &self.ws.constraints.lambda;
            let (position, speed) = (&lambda[p], &lambda[v]);
            let normal = -position[0];
            let tangential = speed.iter().map(|l| l * l).sum::<f64>().sqrt();
            let twist = position.get(1).copied().unwrap_or(0.0);
            let presses = normal > 0.0;
            let sticks = presses && tangential <= friction * normal;
            let active = [presses, sticks && twist <= radius * friction * normal, sticks, sticks];
            if active != r.active {
                r.active = active;
                self.compute_total(now)?;
            }
        }
        Ok(())
    }

    /// Generalized force of one contributor.
    fn load(&mut self, source: Source, now: &Moment, f: &mut [f64]) {
        let (system, ws) = (&self.system, &self.ws);
        self.body.fill(SpatialVec::zero());
        f.fill(0.0);
        let kin = ws.kin.view(now.x.time);
        let mut loads = Loads { body: &mut self.body, mobility: f };
        let mut add = |i: usize| {
            if let Some(force) = self.given.as_ref().and_then(|g| g.at(i, now.x.time)) {
                let unit = self.potentials_only && matches!(system.forces[i].actor, Actor::Muscle(_));
                let load = ActuatorLoad { force: i };
                return load.add(system, ws, now.x.time, if unit { 1.0 } else { force }, &mut loads);
            }
            let s = &system.forces[i];
            let controls = &now.controls[s.controls.clone()];
            match (&s.path, &s.actor) {
                (Some(path), actor) => {
                    let tension = match actor {
                        Actor::Muscle(_) if self.potentials_only => 1.0,
                        Actor::Muscle(m) if self.opensim_faults => {
                            let z = &now.x.z[s.states.clone()];
                            let length = ws.paths[i].length();
                            m.dynamics(length, 0.0, controls[0], z, &mut [0.0; 4][..z.len()])
                        }
                        _ => ws.tension[i],
                    };
                    path.apply_tension(&kin, &ws.paths[i], tension, &mut loads);
                }
                (None, Actor::Force(c)) => {
                    let z = &now.x.z[s.states.clone()];
                    c.apply(&kin, controls, z, &mut [0.0; 4][..z.len()], &mut loads);
                }
                _ => {}
            }
        };
        match source {
            Source::Force(i) => add(i),
            Source::Gravity => system.compute_gravity(&ws.kin, loads.body),
            Source::Velocity => {
                for (b, f) in loads.body.iter_mut().enumerate() {
                    *f = -ws.kin.inertia[b].momentum(self.resting[b]) - ws.kin.gyro[b];
                }
            }
            Source::Total => {}
        }
        if self.opensim_faults {
            let mut more = Loads { body: &mut self.body, mobility: f };
            for (i, s) in system.forces.iter().enumerate().filter(|(i, s)| s.enabled && !is_control(now, *i))
            {
                if let (None, Actor::Force(c)) = (&s.path, &s.actor) {
                    let (z, controls) = (&now.x.z[s.states.clone()], &now.controls[s.controls.clone()]);
                    c.apply(&kin, controls, z, &mut [0.0; 4][..z.len()], &mut more);
                } else if let Some(path) = &s.path {
                    path.apply_tension(&kin, &ws.paths[i], ws.tension[i], &mut more);
                }
            }
        }
        compute_generalized_forces(&system.tree, &ws.kin, &mut self.body, f);
    }

    /// Writes down accelerations and reactions of one contributor. `moving`: whether velocities count.
    fn note(&mut self, moving: bool) {
        let (tree, ws) = (&self.system.tree, &self.ws);
        self.induced[0] = SpatialVec::zero();
        compute_accelerations(tree, &ws.kin, &ws.udot, &mut self.induced);
        if !moving {
            for (a, rest) in self.induced.iter_mut().zip(&self.resting) {
                *a -= *rest;
            }
        }
        let point = |b: usize, r: Vec3<f64>| {
            let (A, w) = (self.induced[b], ws.kin.V_GB[b].w);
            let turning = if moving { w.cross(w.cross(r)) } else { Vec3::zero() };
            A.v + A.w.cross(r) + turning
        };
        for ((m, factor, _), row) in self.coordinates.iter().zip(&mut self.row.coordinates) {
            row.push(ws.udot.get(*m).map_or(f64::NAN, |a| a * factor));
        }
        for ((b, center, _), row) in self.bodies.iter().zip(&mut self.row.bodies) {
            row.extend(point(*b, ws.kin.X_GB[*b].R * *center).to_array());
            row.extend((self.induced[*b].w * self.degrees).to_array());
        }
        if self.com.is_some() {
            let (mut sum, mut mass) = (Vec3::zero(), 0.0);
            for (b, i) in ws.kin.inertia.iter().enumerate().filter(|(_, i)| i.mass > 0.0) {
                sum += point(b, i.moment / i.mass) * i.mass;
                mass += i.mass;
            }
            self.row.com.extend((sum / mass).to_array());
        }
        if self.reactions.is_some() {
            let set = &self.system.constraints;
            for i in self.own..set.list.len() {
                let (p, v) = set.equations(i);
                let lambda = (&ws.constraints.lambda[p], &ws.constraints.lambda[v]);
                push_constraint(&self.system, ws, &set.list[i], lambda, &mut self.row.reactions);
            }
        }
    }
}

/// Whether a force has a control.
fn is_control(now: &Moment, i: usize) -> bool {
    now.model.forces[i].is_actuator()
}

/// The body that a measured force pushes.
fn pushes(system: &System, force: usize) -> Option<usize> {
    let Actor::Force(c) = &system.forces[force].actor else { return None };
    match c.kernel() {
        Kernel::Timed(f) => Some(f.applied_to.body),
        _ => None,
    }
}

impl Analysis for InducedAccelerations {
    fn record(&mut self, now: &Moment) -> Result<(), AnalysisError> {
        self.place_contacts(now);
        self.compute_total(now)?;
        self.release_contacts(now)?;

        // Accelerations at u̇ = 0, and what the constraints ask for because of the velocities.
        let n = self.system.tree.num_mobilities;
        self.resting[0] = SpatialVec::zero();
        compute_accelerations(&self.system.tree, &self.ws.kin, &vec![0.0; n], &mut self.resting);
        self.bias.clone_from(&self.ws.constraints.bias);
        self.row.coordinates.resize(self.coordinates.len(), Vec::new());
        self.row.bodies.resize(self.bodies.len(), Vec::new());
        self.row.coordinates.iter_mut().chain(&mut self.row.bodies).for_each(Vec::clear);
        self.row.com.clear();
        self.row.reactions.clear();

        let mut f = vec![0.0; n];
        for source in self.sources.clone() {
            let moving = matches!(source, Source::Total | Source::Velocity);
            if source != Source::Total {
                self.load(source, now, &mut f);
                match moving {
                    true => self.ws.constraints.bias.copy_from_slice(&self.bias),
                    false => self.ws.constraints.bias.fill(0.0),
                }
                self.system.constraints.solve(&self.ws.mass, &mut self.ws.constraints, &mut f);
                self.ws.udot.copy_from_slice(&f);
            }
            self.note(moving);
        }
        let t = now.x.time;
        for ((_, _, table), row) in self.coordinates.iter_mut().zip(&self.row.coordinates) {
            table.push(t, row.iter().copied());
        }
        for ((_, _, table), row) in self.bodies.iter_mut().zip(&self.row.bodies) {
            table.push(t, row.iter().copied());
        }
        if let Some(table) = &mut self.com {
            table.push(t, self.row.com.iter().copied());
        }
        if let Some(table) = &mut self.reactions {
            table.push(t, self.row.reactions.iter().copied());
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<Output>, AnalysisError> {
        let coordinates = self.coordinates.into_iter().map(|c| c.2);
        let all =
            coordinates.chain(self.bodies.into_iter().map(|b| b.2)).chain(self.com).chain(self.reactions);
        all.map(|r| {
            let table = r.table()?;
            Ok(Output { suffix: format!("_{}", table.name), table })
        })
        .collect()
    }
}
