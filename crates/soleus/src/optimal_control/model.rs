//! The model of a study: contained or named in its file, and changed by its operators.

use super::problem::references::{self, spline};
use crate::context::{Context, Silent};
use crate::error::Error;
use crate::inputs::paths::{beside, folder_of, required};
use crate::inputs::{loads, model, setup};
use crate::source::{ModelSource, Source};
use crate::viewing;
use soleus_control::musculoskeletal::ModelProblem;
use soleus_dynamics::Options;
use soleus_io::osim;
use soleus_io::setup::moco::MocoToolSetup;
use soleus_io::study::{self, FormulaForce, ModelStep, ModelStepKind};
use soleus_math::Table;
use soleus_model::operator::{OperatorError, apply_all_to_element};
use soleus_model::{Diagnostics, Document, Element, Model, ModelOperator};
use soleus_viewer::scene::{FEW_FACES, Shape};
use std::path::Path;
use std::sync::Arc;

/// Models that need no file: `builtin:NAME`.
const BUILTIN: &[(&str, &str)] = &[
    ("reach", include_str!("../../models/reach.osim")),
    ("leg_swing", include_str!("../../models/leg_swing.osim")),
    ("suspended_mass", include_str!("../../models/suspended_mass.osim")),
];

/// Source of a model; file names are relative to the folder of `path`.
#[derive(Clone, Copy, Debug)]
pub struct StudyModel<'a> {
    /// The setup file.
    pub path: &'a Path,
    /// The model contained in it, if any.
    pub element: Option<&'a Element>,
    /// The model file named in it, otherwise.
    pub file: Option<&'a str>,
    /// Changes to the model.
    pub steps: &'a [ModelStep],
    /// Loads that the setup file contains separately from the model.
    pub loads: Option<&'a Element>,
    /// Forces defined by formulas.
    pub forces: &'a [FormulaForce],
    /// Motion from which plates are assigned to feet, if loads are a table.
    pub motion: Option<&'a Source<Table>>,
}

impl<'a> StudyModel<'a> {
    /// Model of a study.
    pub fn of_study(path: &'a Path, s: &'a study::Problem) -> StudyModel<'a> {
        let loads = s.external_loads.as_ref();
        let (element, file) = (s.model.as_ref(), s.model_file.as_deref());
        StudyModel { path, element, file, steps: &s.model_steps, loads, forces: &s.forces, motion: None }
    }

    /// Model of a tool.
    pub fn of_tool(
        path: &'a Path,
        t: &'a MocoToolSetup,
        motion: Option<&'a Source<Table>>,
    ) -> StudyModel<'a> {
        let (element, file) = (t.model.as_ref(), t.model_file.as_deref());
        StudyModel { path, element, file, steps: &t.model_steps, loads: None, forces: &[], motion }
    }

    /// The `Model` element, of version 40600, before operators are applied, with the forces that the study adds.
    pub fn element(&self, cx: &Context) -> Result<Element, Error> {
        let mut model = self.own_element(cx)?;
        if !self.forces.is_empty() {
            let empty = |tag: &str| Element::new(tag, model.line);
            let (new_set, new_list) = (empty("ForceSet"), empty("objects"));
            let mut set = model.take_child("ForceSet").unwrap_or(new_set);
            if set.name().is_empty() {
                set.attributes.push(("name".into(), "forceset".into()));
            }
            let mut objects = set.take_child("objects").unwrap_or(new_list);
            for f in self.forces {
                if let Some(same) = objects.children().find(|e| e.name() == f.name) {
                    let message = format!("the model already has a `{}` called `{}`", same.tag, f.name);
                    return Err(Error::content(
                        self.path,
                        f.line,
                        "",
                        message,
                        "choose another name for the force",
                    ));
                }
                objects.push(f.element());
            }
            set.push(objects);
            model.push(set);
        }
        Ok(model)
    }

    fn own_element(&self, cx: &Context) -> Result<Element, Error> {
        if let Some(e) = self.element {
            let mut d = Document { root: e.clone(), ..Document::default() };
            let mut log = Diagnostics::new(self.path.display().to_string());
            cx.registry.into_iter().for_each(|r| r.expand(&mut d, &mut log));
            return cx.settle(self.path, Some(d.root), log);
        }
        let (file, document) = match self.file.and_then(|f| f.strip_prefix("builtin:")) {
            Some(name) => (Path::new(name).to_path_buf(), builtin(self.path, name)?),
            None => {
                let file = required(self.path, "model", self.file)?;
                let (document, log) = setup::upgraded(cx, &file).map_err(|e| e.named_in(self.path))?;
                (file.clone(), cx.settle(&file, Some(document), log)?)
            }
        };
        let mut root = document.root;
        let model = if root.tag == "Model" { Some(root) } else { root.take_child("Model") };
        model.ok_or_else(|| Error::content(&file, 0, "", "the file contains no `Model`", ""))
    }

    /// Geometry that the model file attaches to its bodies, for pages; empty if it cannot be read.
    pub fn geometry(&self, cx: &Context, model: &Model) -> Vec<Shape> {
        let Some(file) = self.file.filter(|f| !f.starts_with("builtin:")) else { return Vec::new() };
        let source = ModelSource::File(beside(self.path, file));
        // What is odd about the file was told when the model was built.
        let quiet = cx.with_monitor(&Silent);
        viewing::geometry(&quiet, &source, model, None, FEW_FACES).unwrap_or_default()
    }

    /// The model with all changes.
    pub fn build(&self, cx: &Context) -> Result<Model, Error> {
        self.build_from(cx, self.element(cx)?)
    }

    /// The same from another `Model` element.
    pub fn build_from(&self, cx: &Context, mut element: Element) -> Result<Model, Error> {
        let named = match (self.element, self.file) {
            (None, Some(file)) => beside(self.path, file),
            _ => self.path.to_path_buf(),
        };
        let mut operators = Vec::new();
        for step in self.steps {
            operators.push(match &step.kind {
                ModelStepKind::Operator(o) => Some(o.clone()),
                ModelStepKind::FunctionBasedPaths(file) => Some(self.paths(cx, file)?),
                _ => None,
            });
        }
        for (step, o) in self.steps.iter().zip(&operators) {
            let list = o.as_slice();
            apply_all_to_element(&mut element, list).map_err(|e| self.refuse(step, &e))?;
        }
        let (built, mut log) = osim::read_model_element(&element, &named.display().to_string());
        if !cx.model_warnings && !log.has_errors() {
            log.list.clear();
        }
        let mut model = cx.settle(&named, built, log)?;
        model::read_meshes(cx, &named, &mut model)?;
        for (step, o) in self.steps.iter().zip(&operators) {
            match (&step.kind, o) {
                (_, Some(o)) => o.change(&mut model).map_err(|e| self.refuse(step, &e))?,
                (ModelStepKind::ExternalLoads(file), _) => {
                    let file = beside(self.path, file);
                    let new = loads::read(cx, &model, Some(&file), None, self.motion)?;
                    model.forces.extend(new);
                }
                (ModelStepKind::PrescribeCoordinates(source), _) => {
                    let table = references::process(cx, self.path, step.line, source, &model)?;
                    let mut list = Vec::new();
                    for (label, column) in table.labels().iter().zip(table.columns()) {
                        let name = label.strip_suffix("/value").unwrap_or(label);
                        list.push((name.to_string(), spline(self.path, &table, column)?));
                    }
                    let o = ModelOperator::PrescribeCoordinateValues(list);
                    o.change(&mut model).map_err(|e| self.refuse(step, &e))?;
                }
                _ => {}
            }
        }
        if let Some(element) = self.loads {
            let mut log = Diagnostics::new(self.path.display().to_string());
            let file = self.path.display().to_string();
            let document = Document { file, root: element.clone(), ..Document::default() };
            let found = soleus_model::build_external_loads(&document, &model, &mut log);
            let found = cx.settle(self.path, found, log)?;
            model.forces.extend(loads::forces_of(cx, &found, self.path, Some(folder_of(self.path)))?);
        }
        Ok(model)
    }

    /// The paths of a file of `FunctionBasedPath`s.
    fn paths(&self, cx: &Context, file: &str) -> Result<ModelOperator, Error> {
        let file = beside(self.path, file);
        let (document, log) = setup::upgraded(cx, &file)?;
        let document = cx.settle(&file, Some(document), log)?;
        let set =
            document.root.children().find_map(|s| s.child("objects")).or(document.root.child("objects"));
        let members: Vec<Element> =
            set.iter().flat_map(|o| o.children()).filter(|e| e.tag == "FunctionBasedPath").cloned().collect();
        if members.is_empty() {
            let message = "the file contains no `FunctionBasedPath`".to_string();
            return Err(Error::content(&file, 0, "", message, ""));
        }
        Ok(ModelOperator::ReplacePaths(members))
    }

    fn refuse(&self, step: &ModelStep, e: &OperatorError) -> Error {
        Error::content(self.path, step.line, "", e.to_string(), "")
    }
}

/// A model that is built in.
fn builtin(path: &Path, name: &str) -> Result<Document, Error> {
    let Some((_, text)) = BUILTIN.iter().find(|m| m.0 == name) else {
        let names: Vec<&str> = BUILTIN.iter().map(|m| m.0).collect();
        let message = format!("no built-in model is called `{name}`");
        return Err(Error::content(path, 0, "", message, &format!("there are: {}", names.join(", "))));
    };
    let (document, log) = osim::read_document(text.as_bytes(), name);
    document.ok_or_else(|| Error::input(Path::new(name), log))
}

/// The model of a study as part of a problem.
pub fn posed(cx: &Context, source: &StudyModel) -> Result<ModelProblem, Error> {
    let built = source.build(cx)?;
    let system = Arc::new(model::compile(source.path, &built, &Options::default())?);
    Ok(ModelProblem::new(Arc::new(built), system))
}
