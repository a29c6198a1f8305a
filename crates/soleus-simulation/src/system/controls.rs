//! Controls of actuators during a simulation.

use super::control_nodes::ControlNodes;
use super::correction::Correction;
use super::formula_controls::FormulaControls;
use super::reflex::Reflexes;
use soleus_dynamics::system::{State, System};
use soleus_math::Function;
use soleus_model::controller::ControllerKind;
use soleus_model::force::ForceKind;
use soleus_model::model::Model;

/// Computes controls from time and state.
pub trait Controls {
    /// Computes all controls at time `t`, s and state `x`. The result must depend only on the arguments, because an
    /// integrator calls it in any order.
    fn compute(&mut self, t: f64, x: &State<f64>, controls: &mut [f64]);
}

/// Constant controls.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant(pub Vec<f64>);

impl Controls for Constant {
    fn compute(&mut self, _: f64, _: &State<f64>, controls: &mut [f64]) {
        controls.copy_from_slice(&self.0);
    }
}

/// Controls from a closure.
pub struct Feedback<F>(pub F);

impl<F: FnMut(f64, &State<f64>, &mut [f64])> Controls for Feedback<F> {
    fn compute(&mut self, t: f64, x: &State<f64>, controls: &mut [f64]) {
        (self.0)(t, x, controls);
    }
}

/// A table of a controller in the model; the caller reads it and adds its columns with [`ModelControls::add_function`].
#[derive(Clone, Debug, PartialEq)]
pub struct PendingFile {
    /// Absolute path of the controller.
    pub controller: String,
    /// File name in the model, if given.
    pub file: Option<String>,
    /// `ControlSetController` reads control nodes as XML, `PrescribedController` a table.
    pub is_control_set: bool,
    /// `interpolation_method`, see [`ControllerKind::Prescribed`].
    pub interpolation_method: Option<i64>,
    /// Controls whose actuators have no function yet.
    pub controls: Vec<usize>,
}

/// Controls from a model's own controllers, plus constants, functions of time and corrections. Contributions to a
/// control are added, as in OpenSim.
#[derive(Clone, Debug, Default)]
pub struct ModelControls {
    constant: Vec<f64>,
    functions: Vec<(usize, Function)>,
    nodes: Vec<(usize, ControlNodes)>,
    corrections: Vec<(usize, Correction)>,
    reflexes: Vec<Reflexes>,
    formulas: Vec<FormulaControls>,
    /// Controllers that could not be created, by path, with the reasons.
    pub problems: Vec<(String, String)>,
    /// Tables required by controllers.
    pub pending: Vec<PendingFile>,
}

impl ModelControls {
    /// The enabled controllers of a model.
    pub fn new(model: &Model, system: &System) -> Self {
        let mut all = ModelControls::none(system);
        for c in model.controllers.iter().filter(|c| c.enabled) {
            let control = |k: usize| c.actuators.get(k).map(|f| system.forces[f.0].controls.clone());
            match &c.kind {
                ControllerKind::Prescribed { functions, controls_file, interpolation_method } => {
                    for (k, f) in functions.iter().enumerate() {
                        if let Some(range) = control(k).filter(|r| !r.is_empty()) {
                            all.functions.push((range.start, f.clone()));
                        }
                    }
                    if controls_file.is_some() {
                        all.pending.push(PendingFile {
                            controller: c.path.clone(),
                            file: controls_file.clone(),
                            is_control_set: false,
                            interpolation_method: *interpolation_method,
                            controls: (functions.len()..c.actuators.len())
                                .filter_map(control)
                                .flatten()
                                .collect(),
                        });
                    }
                }
                ControllerKind::ControlSet { controls_file } => all.pending.push(PendingFile {
                    controller: c.path.clone(),
                    file: controls_file.clone(),
                    is_control_set: true,
                    interpolation_method: None,
                    controls: (0..c.actuators.len()).filter_map(control).flatten().collect(),
                }),
                ControllerKind::ToyReflex { gain } => {
                    all.reflexes.push(Reflexes::new(model, system, c, *gain));
                }
                ControllerKind::Formula { formula, constants } => {
                    match FormulaControls::new(model, system, c, (formula, constants)) {
                        Ok(f) => all.formulas.push(f),
                        Err(why) => all.problems.push((c.path.clone(), why)),
                    }
                }
                ControllerKind::Correction { .. } | ControllerKind::Other => {}
            }
        }
        all
    }

    /// All controls zero.
    pub fn none(system: &System) -> Self {
        ModelControls { constant: vec![0.0; system.num_controls], ..Default::default() }
    }

    /// Adds a constant to the control of every muscle.
    pub fn add_excitation(&mut self, model: &Model, system: &System, excitation: f64) {
        for (f, s) in model.forces.iter().zip(&system.forces) {
            if matches!(f.kind, ForceKind::Muscle(_)) {
                for c in s.controls.clone() {
                    self.constant[c] += excitation;
                }
            }
        }
    }

    /// Adds a function of time to a control.
    pub fn add_function(&mut self, control: usize, function: Function) {
        if control < self.constant.len() {
            self.functions.push((control, function));
        }
    }

    /// Adds nodes over time to a control.
    pub fn add_nodes(&mut self, control: usize, nodes: ControlNodes) {
        if control < self.constant.len() {
            self.nodes.push((control, nodes));
        }
    }

    /// Adds a feedback correction towards a motion to a control.
    pub fn add_correction(&mut self, control: usize, correction: Correction) {
        if control < self.constant.len() {
            self.corrections.push((control, correction));
        }
    }
}

impl Controls for ModelControls {
    fn compute(&mut self, t: f64, x: &State<f64>, controls: &mut [f64]) {
        controls.copy_from_slice(&self.constant);
        for (c, f) in &self.functions {
            controls[*c] += f.value(&[t]);
        }
        for (c, n) in &self.nodes {
            controls[*c] += n.value(t);
        }
        for (c, k) in &self.corrections {
            controls[*c] += k.value(t, x);
        }
        for r in &mut self.reflexes {
            r.add(x, controls);
        }
        for f in &mut self.formulas {
            f.add(t, x, controls);
        }
    }
}
