//! The model that a study holds or names.

use crate::failure::Failure;
use crate::{id, load, setup};
use soleus_io::setup::moco::MocoStudySetup;
use soleus_model::{Diagnostics, Document, Model};
use std::path::Path;

/// Models that need no file: `builtin:NAME`.
const BUILTIN: &[(&str, &str)] = &[
    ("reach", include_str!("../../../../models/reach.osim")),
    ("leg_swing", include_str!("../../../../models/leg_swing.osim")),
];

/// The model of a study, its operators applied.
pub fn of_study(path: &Path, s: &MocoStudySetup) -> Result<Model, Failure> {
    if let Some(operator) = s.model_operators.first() {
        let message = format!("operators on the model (`{}`) are not supported yet", operator.tag);
        return Err(Failure::content(
            path,
            operator.line,
            "",
            message,
            "apply it in OpenSim and save the model",
        ));
    }
    let Some(element) = &s.model else {
        return match s.model_file.as_deref().and_then(|f| f.strip_prefix("builtin:")) {
            Some(name) => builtin(path, name),
            None => load::model(&setup::required(path, "model", s.model_file.as_deref())?),
        };
    };
    let mut model = build(path, element)?;
    if let Some(loads) = &s.external_loads {
        let mut log = Diagnostics::new(path.display().to_string());
        let document =
            Document { file: path.display().to_string(), root: loads.clone(), ..Document::default() };
        let found = soleus_model::build_external_loads(&document, &model, &mut log);
        load::report(&log);
        let found = found.ok_or_else(|| load::errors(path, &log))?;
        model.forces.extend(id::forces_of(&found, path, path.parent().unwrap_or(Path::new("")))?);
    }
    Ok(model)
}

fn builtin(path: &Path, name: &str) -> Result<Model, Failure> {
    let Some((_, text)) = BUILTIN.iter().find(|m| m.0 == name) else {
        let names: Vec<&str> = BUILTIN.iter().map(|m| m.0).collect();
        let message = format!("there is no built-in model `{name}`");
        return Err(Failure::content(path, 0, "", message, &format!("there are: {}", names.join(", "))));
    };
    let (model, log) = soleus_io::osim::read_model(text.as_bytes(), name);
    load::report(&log);
    model.ok_or_else(|| load::errors(Path::new(name), &log))
}

/// Builds the model of an element.
pub fn build(path: &Path, element: &soleus_model::Element) -> Result<Model, Failure> {
    let (model, log) = soleus_io::osim::read_model_element(element, &path.display().to_string());
    load::report(&log);
    model.ok_or_else(|| load::errors(path, &log))
}
