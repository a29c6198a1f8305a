//! Controllers.

use super::Builder;
use super::context::Kind;
use super::functions::function;
use super::paths::members;
use super::properties::{PropertyReader, split_words};
use crate::controller::{Controller, ControllerKind};
use crate::force::ForceKind;
use crate::id::ForceId;

impl Builder<'_> {
    /// Makes the controllers in file order.
    pub(super) fn controllers(&mut self) {
        let cx = self.cx;
        for c in cx.components.iter().filter(|c| c.kind == Kind::Controller) {
            let p = PropertyReader::new(cx, c.element, &c.path);
            let enabled = p.boolean("enabled", true);
            let actuators = self.actuators(&p);
            let file = |p: &PropertyReader| Some(p.string("controls_file", "")).filter(|f| !f.is_empty());
            let kind = match c.class {
                "PrescribedController" => {
                    let set = p.object("ControlFunctions").or_else(|| p.find("FunctionSet"));
                    // `<ControlFunctions>` may be the set itself or hold one.
                    let set = if set.is_some_and(|e| e.tag == "objects") {
                        p.find("ControlFunctions")
                    } else {
                        set
                    };
                    let functions: Option<Vec<_>> = members(set).map(|e| function(cx, e, &c.path)).collect();
                    let interpolation_method = p.optional_number("interpolation_method").map(|x| x as i64);
                    let Some(functions) = functions else { continue };
                    let (n, m) = (functions.len(), actuators.len());
                    let controls_file = file(&p);
                    if n != m && controls_file.is_none() {
                        let message = format!("the controller has {n} control functions for {m} actuators");
                        p.error(
                            c.element.line,
                            message,
                            "list one function for each actuator, in the same order",
                        );
                    }
                    ControllerKind::Prescribed { functions, controls_file, interpolation_method }
                }
                "ControlSetController" => ControllerKind::ControlSet { controls_file: file(&p) },
                "CorrectionController" => {
                    ControllerKind::Correction { kp: p.number("kp", 100.0), kv: p.number("kv", 20.0) }
                }
                "ToyReflexController" => {
                    let other = actuators.iter().map(|a| &self.model.forces[a.0]);
                    let other =
                        other.filter(|f| !matches!(f.kind, ForceKind::Muscle(_))).map(|f| f.name.clone());
                    if let Some(name) = other.into_iter().next() {
                        let message = format!("`{name}` is not a muscle; only muscles have reflexes");
                        p.error(c.element.line, message, "list muscles only");
                    }
                    ControllerKind::ToyReflex { gain: p.finite("gain", 1.0) }
                }
                "FormulaController" => {
                    let constants = self.constants(&p);
                    let Some(e) = p.find("formula") else {
                        p.error(c.element.line, "`formula` is missing", "");
                        continue;
                    };
                    let Some(formula) = self.formula(&p, e) else { continue };
                    ControllerKind::Formula { formula, constants }
                }
                class => {
                    let message = match enabled {
                        true => {
                            format!("`{class}` is not supported; its actuators receive no control from it")
                        }
                        false => format!("`{class}` is not supported; it is disabled anyway"),
                    };
                    p.warn(c.element.line, message, "");
                    self.note_unsupported(c, "its actuators receive no control from it");
                    self.push_controller(c, enabled, actuators, ControllerKind::Other);
                    continue;
                }
            };
            p.finish();
            self.push_controller(c, enabled, actuators, kind);
        }
    }

    fn push_controller(
        &mut self,
        c: &super::Component,
        enabled: bool,
        actuators: Vec<ForceId>,
        kind: ControllerKind,
    ) {
        let (name, path, class) = (c.name.clone(), c.path.clone(), c.class.to_string());
        self.model.controllers.push(Controller { name, path, class, enabled, actuators, kind });
    }

    /// The actuators that a controller lists; `ALL` stands for every one.
    fn actuators(&self, p: &PropertyReader) -> Vec<ForceId> {
        let Some(e) = p.find_any(&["socket_actuators", "actuator_list"]) else { return Vec::new() };
        let words = split_words(&e.text());
        if words.iter().any(|w| w.eq_ignore_ascii_case("all")) {
            let all = self.model.forces.iter().enumerate().filter(|(_, f)| f.is_actuator());
            return all.map(|(k, _)| ForceId(k)).collect();
        }
        words.iter().filter_map(|w| self.force_named(p.path, w, e.line)).collect()
    }

    /// The force at a path or of a name; reports when there is none.
    pub(super) fn force_named(&self, owner: &str, text: &str, line: u32) -> Option<ForceId> {
        let id = self.cx.component(owner, text, line, "actuator", |k| k == Kind::Force)?;
        self.force_of.get(&id).copied()
    }
}
