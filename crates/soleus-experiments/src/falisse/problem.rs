//! The problem: model, bounds, goals and constraints as the authors state them.

use super::published::{ARMS, MUSCLES, POINTS, Published};
use super::{ACTIVATION, DEACTIVATION, LIMITS, WEIGHTS, WITHOUT_ARMS};
use crate::desk;
use soleus::Error;
use soleus_control::function::SmoothFunction;
use soleus_control::goal::{self, Projection};
use soleus_control::musculoskeletal::ModelProblem;
use soleus_control::problem::{
    Bounds, EndpointFunction, EndpointVariable, Goal, PathConstraint, PointVariable, Problem, Term,
};
use soleus_control::{Scheme, Settings};
use soleus_dynamics::{Options, Resolve};
use soleus_math::{Real, Vec3};
use soleus_model::force::{ExpressionBasedCoordinateForce, Force, ForceKind};
use soleus_model::id::FrameId;
use soleus_model::muscle::{DeGroote2016, MuscleKind};
use soleus_model::path::Path as Line;
use soleus_model::{Model, ModelOperator};
use soleus_tools::fit_paths::{FitOptions, fit_paths};
use std::path::Path;
use std::sync::Arc;

/// Ranges over which the authors fit polynomials to paths, degrees.
const RANGES: [(&str, [f64; 2]); 10] = [
    ("hip_flexion", [-50.0, 50.0]),
    ("hip_adduction", [-30.0, 30.0]),
    ("hip_rotation", [-30.0, 30.0]),
    ("knee_angle", [-90.0, 0.0]),
    ("ankle_angle", [-30.0, 30.0]),
    ("subtalar_angle", [-30.0, 30.0]),
    ("mtp_angle", [-20.0, 50.0]),
    ("lumbar_extension", [-30.0, 30.0]),
    ("lumbar_bending", [-30.0, 30.0]),
    ("lumbar_rotation", [-30.0, 30.0]),
];
/// Root mean square error that a polynomial may have, m, and its orders.
const FIT: f64 = 0.003;
const ORDERS: [usize; 2] = [3, 9];
/// Pairs of bodies and their least and greatest distances in the plane of the ground, m.
const APART: [([&str; 2], [f64; 2]); 5] = [
    (["calcn_r", "calcn_l"], [0.09, 2.0]),
    (["hand_r", "femur_r"], [0.18, 2.0]),
    (["hand_l", "femur_l"], [0.18, 2.0]),
    (["tibia_r", "tibia_l"], [0.11, 2.0]),
    (["toes_r", "toes_l"], [0.10, 2.0]),
];
/// Coordinates that change sign in the mirror.
const OPPOSITE: [&str; 5] =
    ["pelvis_list", "pelvis_rotation", "pelvis_tz", "lumbar_bending", "lumbar_rotation"];
/// Greatest speed of the pelvis over the average speed, where that is above the authors' bound.
const FASTEST: f64 = 1.5;
/// Weight of the rates that nothing else keeps small.
const RATES: f64 = 0.001;

/// The model as the authors use it, on level ground, and the bounds.
pub struct Subject {
    model: Model,
    file: std::path::PathBuf,
    table: Vec<(String, [Bounds; 3])>,
}

impl Subject {
    /// Reads the model and fits polynomials to its paths.
    pub fn new(data: &Path, p: &Published) -> Result<Subject, Error> {
        let file = super::model_file(data);
        Ok(Subject { model: model(&file, p)?, table: bounds(data)?, file })
    }
}

/// The problem and all that is needed to read its solution.
pub struct Walk {
    pub speed: f64,
    pub base: ModelProblem,
    pub problem: Problem,
    /// Place of each of the authors' coordinates, muscles (activation) and arm actuators among the states.
    pub coordinates: Vec<usize>,
    pub muscles: Vec<usize>,
    /// Place of each muscle among the forces.
    pub forces: Vec<usize>,
    pub arms: Vec<usize>,
    /// Controls of muscles and arms.
    pub rates: Vec<usize>,
    pub excitations: Vec<usize>,
}

/// Bounds of coordinates, speeds and accelerations by the name of the coordinate.
fn bounds(data: &Path) -> Result<Vec<(String, [Bounds; 3])>, Error> {
    let text = desk::read_text(&data.join("OCP/Default_Coordinate_Bounds.csv"))?;
    let mut all = Vec::new();
    for line in text.lines().skip(1) {
        let mut words = line.trim().split(',');
        let name = words.next().unwrap_or_default().to_string();
        let x: Vec<f64> = words.filter_map(|w| w.parse().ok()).collect();
        if let [a, b, c, d, e, f] = x[..] {
            all.push((name, [Bounds::new(a, b), Bounds::new(c, d), Bounds::new(e, f)]));
        }
    }
    Ok(all)
}

/// The model as the authors use it: polynomials for paths, their muscle, passive torques.
fn model(path: &Path, p: &Published) -> Result<Model, Error> {
    let (mut fitting, _) = super::part(path, |f| matches!(f, ForceKind::Muscle(_)))?;
    for c in &mut fitting.coordinates {
        let stem = c.name.trim_end_matches("_r").trim_end_matches("_l");
        if let Some((_, range)) = RANGES.iter().find(|r| r.0 == stem) {
            c.range = range.map(f64::to_radians);
        }
    }
    let system = desk::compile(path, &fitting, &Options::default())?;
    let options = FitOptions {
        min_order: ORDERS[0],
        max_order: ORDERS[1],
        length_tolerance: FIT,
        moment_arm_tolerance: FIT,
        samples_per_coefficient: 20,
        max_terms: usize::MAX,
        separate_arms: false,
        ..FitOptions::default()
    };
    let fitted = fit_paths(&fitting, &system, &options, &mut |_, _| true);

    let mut model = desk::model(path)?;
    model.controllers.clear();
    model.probes.clear();
    model.forces.retain(|f| {
        matches!(
            f.kind,
            ForceKind::SmoothSphereHalfSpaceForce(_)
                | ForceKind::Muscle(_)
                | ForceKind::ActivationCoordinateActuator(_)
        )
    });
    let toes: Vec<_> = (0..model.coordinates.len())
        .filter(|&c| model.coordinates[c].name.starts_with("mtp"))
        .map(soleus_model::id::CoordinateId)
        .collect();
    for f in &mut model.forces {
        let ForceKind::Muscle(m) = &mut f.kind else { continue };
        let Some(i) = p.muscles.iter().position(|name| *name == f.name) else { continue };
        let c = &p.contraction[i];
        m.max_isometric_force = c.max_isometric_force;
        m.optimal_fiber_length = c.optimal_fiber_length;
        m.tendon_slack_length = c.tendon_slack_length;
        m.pennation_angle_at_optimal = c.pennation_angle;
        m.max_contraction_velocity = c.max_contraction_velocity;
        (m.min_control, m.max_control) = (-1.0 / DEACTIVATION, 1.0 / ACTIVATION);
        m.kind = MuscleKind::DeGroote2016(DeGroote2016 {
            fiber_damping: c.damping,
            tendon_stiffness: c.tendon_stiffness,
            ..DeGroote2016::default()
        });
        f.class = m.kind.class_name().into();
        let own = fitting.forces.iter().position(|g| g.name == f.name);
        if let Some(fit) = fitted.iter().find(|fit| Some(fit.force) == own) {
            let mut path = fit.path.clone();
            path.without_torque = toes.clone();
            f.line_of_action = Some(Line::FunctionBased(path));
        }
    }
    for (i, name) in p.coordinates.iter().enumerate().skip(6) {
        let Some(c) = model.coordinates.iter().position(|c| c.name == *name) else { continue };
        let s = &p.passive[i];
        let mut expression = format!("-({:e})*q-({:e})*qdot", s.stiffness, s.damping);
        if let Some((k, theta)) = s.limit {
            expression += &format!(
                "+({:e})*exp(({:e})*(q-({:e})))+({:e})*exp(({:e})*(q-({:e})))",
                k[0], k[1], theta[1], k[2], k[3], theta[0]
            );
        }
        let coordinate = soleus_model::id::CoordinateId(c);
        model.forces.push(Force {
            name: format!("passive_{name}"),
            path: format!("/forceset/passive_{name}"),
            class: "ExpressionBasedCoordinateForce".into(),
            enabled: true,
            line_of_action: None,
            kind: ForceKind::ExpressionBasedCoordinateForce(ExpressionBasedCoordinateForce {
                coordinate,
                expression,
            }),
        });
    }
    Ok(model)
}

/// The squared limit torque of a coordinate.
struct SquaredLimit {
    k: [f64; 4],
    theta: [f64; 2],
}

impl SmoothFunction for SquaredLimit {
    type Scratch<T: Real> = ();
    fn num_inputs(&self) -> usize {
        1
    }
    fn scratch<T: Real>(&self) {}
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        let term = |k: f64, slope: f64, at: f64| ((z[0] - at) * slope).exp() * k;
        let [a, b, c, d] = self.k;
        values[0] = (term(a, b, self.theta[1]) + term(c, d, self.theta[0])).sq();
    }
}

/// ȧ + a/τ for many muscles: inputs a then ȧ.
struct Raasch {
    muscles: usize,
    time: f64,
}

impl SmoothFunction for Raasch {
    type Scratch<T: Real> = ();
    fn num_inputs(&self) -> usize {
        2 * self.muscles
    }
    fn num_outputs(&self) -> usize {
        self.muscles
    }
    fn scratch<T: Real>(&self) {}
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        for i in 0..self.muscles {
            values[i] = z[self.muscles + i] + z[i] * (1.0 / self.time);
        }
    }
    fn depends(&self, output: usize, input: usize) -> bool {
        input % self.muscles == output
    }
    fn couples(&self, _: usize, _: usize) -> bool {
        false
    }
}

/// last − sign · first of pairs (first, last), and travel − speed · duration of the last pair; then t_f.
struct Mirrored {
    signs: Vec<f64>,
    speed: f64,
}

impl SmoothFunction for Mirrored {
    type Scratch<T: Real> = ();
    fn num_inputs(&self) -> usize {
        2 * self.signs.len() + 3
    }
    fn num_outputs(&self) -> usize {
        self.signs.len() + 1
    }
    fn scratch<T: Real>(&self) {}
    fn evaluate<T: Real>(&self, z: &[T], values: &mut [T], (): &mut ()) {
        let n = self.signs.len();
        for (i, s) in self.signs.iter().enumerate() {
            values[i] = z[2 * i + 1] - z[2 * i] * *s;
        }
        values[n] = z[2 * n + 1] - z[2 * n] - z[2 * n + 2] * self.speed;
    }
    fn depends(&self, output: usize, input: usize) -> bool {
        (input / 2).min(self.signs.len()) == output
    }
    fn couples(&self, _: usize, _: usize) -> bool {
        false
    }
}

/// The name in the mirror.
fn mirrored(name: &str) -> String {
    let swap = |part: &str| match (part.strip_suffix("_r"), part.strip_suffix("_l")) {
        (Some(stem), _) => format!("{stem}_l"),
        (_, Some(stem)) => format!("{stem}_r"),
        _ => part.to_string(),
    };
    name.split('/').map(swap).collect::<Vec<_>>().join("/")
}

impl Walk {
    /// States the problem at a speed, m/s, on a slope, degrees.
    pub fn new(subject: &Subject, p: &Published, speed: f64, slope: f64) -> Result<Walk, Error> {
        let mut model = subject.model.clone();
        ModelOperator::Slope(slope)
            .change(&mut model)
            .map_err(|e| Error::NotSolved { message: e.to_string() })?;
        let model = Arc::new(model);
        let system = Arc::new(desk::compile(&subject.file, &model, &Options::default())?);
        let base = ModelProblem::new(model.clone(), system.clone());
        let mut problem = base.problem(Bounds::new(-100.0, 100.0), &[]);
        let n = base.num_coordinates();
        let fail = |what: String| Error::NotSolved { message: format!("the model has no {what}") };

        // Where everything is.
        let mut coordinates = Vec::new();
        for name in &p.coordinates {
            let c = model.coordinates.iter().position(|c| c.name == *name);
            let c = c.ok_or_else(|| fail(format!("coordinate `{name}`")))?;
            coordinates.push(system.tree.mobility_of_coordinate[c]);
        }
        let of_force = |name: &str| {
            let f = model.forces.iter().position(|f| f.name == *name);
            f.ok_or_else(|| fail(format!("force `{name}`")))
        };
        let (mut muscles, mut forces, mut rates, mut metabolic) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (i, name) in p.muscles.iter().enumerate() {
            let f = of_force(name)?;
            forces.push(f);
            muscles.push(2 * n + system.forces[f].states.start);
            rates.push(system.forces[f].controls.start);
            let Some(Line::FunctionBased(line)) = &model.forces[f].line_of_action else { continue };
            metabolic.extend(goal::squared_metabolic_rate(&system, f, &line.length, p.energy[i]));
        }
        assert_eq!(metabolic.len(), MUSCLES);
        let (mut arms, mut excitations) = (Vec::new(), Vec::new());
        for name in &p.coordinates[WITHOUT_ARMS..] {
            let f = of_force(&format!("actuator_{name}"))?;
            arms.push(2 * n + system.forces[f].states.start);
            excitations.push(system.forces[f].controls.start);
        }

        // Bounds.
        let mut scales = Vec::new();
        for (name, &q) in p.coordinates.iter().zip(&coordinates) {
            let row = subject.table.iter().find(|row| row.0 == *name);
            let (_, [of_q, of_u, of_a]) = row.ok_or_else(|| fail(format!("bounds of `{name}`")))?;
            let (mut of_q, mut of_u) = (*of_q, *of_u);
            if name == "pelvis_tx" {
                of_q.upper *= 0.5;
                of_u.upper = of_u.upper.max(FASTEST * speed);
            }
            let set = |v: &mut soleus_control::problem::Variable, b: Bounds| {
                (v.bounds, v.initial, v.last) = (b, b, b);
            };
            set(&mut problem.states[q], of_q);
            set(&mut problem.states[n + q], of_u);
            problem.dynamics.rate_bounds[n + q] = *of_a;
            scales.push(of_a.lower.abs().max(of_a.upper.abs()));
            if name == "pelvis_tx" {
                problem.states[q].initial = Bounds::fixed(0.0);
            }
        }
        let all = |v: &mut soleus_control::problem::Variable, a: f64, b: f64| {
            let b = Bounds::new(a, b);
            (v.bounds, v.initial, v.last) = (b, b, b);
        };
        for &m in &muscles {
            all(&mut problem.states[m], 0.05, 1.0);
            all(&mut problem.states[m + 1], 0.0, 5.0);
            problem.dynamics.rate_bounds[m + 1] = Bounds::new(-100.0, 100.0);
        }
        for &a in &arms {
            all(&mut problem.states[a], -1.0, 1.0);
        }
        problem.initial_time = Bounds::fixed(0.0);
        problem.final_time = Bounds::new(0.1, 1.0);

        // The cost is divided by the travel, which is speed times duration: means divided by the speed.
        let mean = |name: &str, weight: f64, terms: Vec<Term>| Goal::mean(name, weight / speed, terms);
        let squares = |list: &mut dyn Iterator<Item = (PointVariable, f64)>| {
            vec![goal::squares(&list.collect::<Vec<_>>())]
        };
        let acceleration = |i: usize| (PointVariable::Rate(n + coordinates[i]), scales[i].powi(-2));
        let limits = p.passive.iter().zip(&coordinates).filter_map(|(s, &q)| {
            let (k, theta) = s.limit?;
            Some(Term::new(vec![PointVariable::State(q)], SquaredLimit { k, theta }))
        });
        let m = MUSCLES as f64;
        let rate = |i: usize| (PointVariable::Rate(i), 1e-4 / m);
        problem.goals = vec![
            mean("metabolic", WEIGHTS[0] / m / p.mass, metabolic),
            mean(
                "activations",
                WEIGHTS[1] / m,
                squares(&mut muscles.iter().map(|&i| (PointVariable::State(i), 1.0))),
            ),
            mean(
                "arm excitations",
                WEIGHTS[2] / ARMS as f64,
                squares(&mut excitations.iter().map(|&i| (PointVariable::Control(i), 1.0))),
            ),
            mean(
                "accelerations",
                WEIGHTS[3] / WITHOUT_ARMS as f64,
                squares(&mut (0..WITHOUT_ARMS).map(acceleration)),
            ),
            mean("limit torques", WEIGHTS[4] / LIMITS, limits.collect()),
            mean(
                "rates",
                RATES,
                squares(&mut muscles.iter().flat_map(|&i| [rate(i), rate(i + 1)]).chain(
                    (WITHOUT_ARMS..WITHOUT_ARMS + ARMS).map(|i| {
                        let (v, w) = acceleration(i);
                        (v, w / ARMS as f64)
                    }),
                )),
            ),
        ];

        // Half a cycle, in the mirror.
        let (mut inputs, mut signs) = (Vec::new(), Vec::new());
        let forward = coordinates[3];
        for (i, name) in base.states.iter().enumerate().filter(|(i, _)| *i != forward) {
            let image = mirrored(name);
            let of = base.states.iter().position(|s| *s == image).unwrap_or(i);
            let opposite = OPPOSITE.iter().any(|o| name.split('/').any(|part| part == *o));
            inputs.push(EndpointVariable::Initial(PointVariable::State(of)));
            inputs.push(EndpointVariable::Last(PointVariable::State(i)));
            signs.push(if opposite { -1.0 } else { 1.0 });
        }
        inputs.push(EndpointVariable::Initial(PointVariable::State(forward)));
        inputs.push(EndpointVariable::Last(PointVariable::State(forward)));
        inputs.push(EndpointVariable::Last(PointVariable::Time));
        let rows = signs.len() + 1;
        problem.goals.push(Goal::endpoint_constraint(
            "half a symmetric cycle",
            vec![Bounds::fixed(0.0); rows],
            EndpointFunction::new(inputs, Mirrored { signs, speed }),
        ));

        // What excitations can do, and bodies that stay apart.
        let inputs: Vec<PointVariable> = muscles
            .iter()
            .map(|&i| PointVariable::State(i))
            .chain(muscles.iter().map(|&i| PointVariable::Rate(i)))
            .collect();
        for (name, time, bounds) in [
            ("deactivation", DEACTIVATION, Bounds::new(0.0, f64::INFINITY)),
            ("activation", ACTIVATION, Bounds::new(f64::NEG_INFINITY, 1.0 / ACTIVATION)),
        ] {
            problem.path_constraints.push(PathConstraint {
                name: name.into(),
                term: Term::new(inputs.clone(), Raasch { muscles: MUSCLES, time }),
                bounds: vec![bounds; MUSCLES],
            });
        }
        let mut pairs = Vec::new();
        for (names, range) in APART {
            let mut frames = Vec::new();
            for name in names {
                let f = model.frames.iter().position(|f| f.name == name);
                frames.push(system.tree.frame(FrameId(f.ok_or_else(|| fail(format!("body `{name}`")))?)));
            }
            if let Ok(frames) = frames.try_into() {
                pairs.push((frames, range));
            }
        }
        let up = Projection::Plane(Vec3::unit(1));
        problem.path_constraints.extend(goal::frame_distance("distance", &system, &pairs, up));
        Ok(Walk { speed, base, problem, coordinates, muscles, forces, arms, rates, excitations })
    }

    /// The scheme on so many intervals.
    pub fn settings(intervals: usize) -> Settings {
        Settings {
            constant_controls: true,
            dynamics_at_start: false,
            constrain_interior: true,
            scale_variables: true,
            ..Settings::uniform(Scheme::LegendreGaussRadau(POINTS), intervals)
        }
    }
}
