//! Source code of a model: accelerations and rates with their derivatives, for controllers and other programs.
//!
//! ```no_run
//! use soleus::{Context, Disk, Generate, Outcome};
//! let files = Disk::new();
//! let context = Context::new(&files);
//! let request = Generate { model: "gait2d.osim".into(), output: Some("gait2d.c".into()), ..Default::default() };
//! request.run(&context)?.write(&context)?;
//! # Ok::<(), soleus::Error>(())
//! ```

use crate::artifact::{Artifact, Outcome};
use crate::context::Context;
use crate::error::Error;
use crate::inputs::model;
use crate::path_fitting::check_order;
use crate::source::ModelSource;
use serde::{Deserialize, Serialize};
use soleus_batch::{Evaluation, Refusal};
use soleus_dynamics::{Options, System};
use soleus_graph::source::{self, Language};
use soleus_model::path::Path as ModelPath;
use soleus_tools::fit_paths::{FitOptions, fit_paths};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Programming language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceLanguage {
    /// C99.
    #[default]
    C,
    /// CUDA C, one instance of the model per thread.
    Cuda,
}

/// Generates source code of a model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Generate {
    /// The model.
    pub model: ModelSource,
    /// Programming language of the output.
    pub language: SourceLanguage,
    /// Single precision (32-bit numbers).
    pub single: bool,
    /// First replace paths with wrap objects or conditional points by polynomials of at most this order.
    pub fit_paths: Option<usize>,
    /// Output file.
    pub output: Option<PathBuf>,
}

/// Generated source code.
#[derive(Debug)]
pub struct Generated {
    /// The code.
    pub source: String,
    /// Number of operations of one evaluation and of one gradient.
    pub operations: [usize; 2],
    output: Option<PathBuf>,
}

impl Outcome for Generated {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        self.output.iter().map(|path| Artifact::text(path, self.source.clone())).collect()
    }
}

impl Generate {
    /// Records the model, verifies the record against the engine, and writes it as source code.
    pub fn run(&self, cx: &Context) -> Result<Generated, Error> {
        let path = self.model.path();
        let (mut model, mut system) = model::system(cx, &self.model, &Options::default())?;
        if let Some(max_order) = self.fit_paths {
            check_order(path, max_order)?;
            let options = FitOptions { max_order, only_branching: true, ..FitOptions::default() };
            let fitted = fit_paths(&model, &system, &options, &mut |done, all| {
                cx.progress("paths", done, all);
                !cx.monitor.is_cancelled()
            });
            cx.go_on()?;
            let good = fitted.iter().filter(|f| f.converged).count();
            let worst = |f: fn(&soleus_tools::fit_paths::FittedPath) -> f64| {
                fitted.iter().map(f).fold(0.0, f64::max) * 1e3
            };
            cx.note(format!(
                "{good} of {} fitted paths within tolerance; worst length {:.3} mm, worst moment arm {:.3} mm",
                fitted.len(),
                worst(|f| f.length_error[1]),
                worst(|f| f.moment_arm_error[1])
            ));
            for f in &fitted {
                if let Some(misfit) = &f.misfit {
                    cx.note(format!("{}: {}", model.forces[f.force].name, misfit.describe(&model, f.force)));
                }
            }
            for f in fitted.into_iter().filter(|f| f.terms > 0) {
                model.forces[f.force].line_of_action = Some(ModelPath::FunctionBased(f.path));
            }
            system = System::compile(&model)
                .map_err(|e| Error::content(path, 0, e.component(), e.to_string(), ""))?;
        }
        let evaluation = Evaluation::record(&model, &system).map_err(|e| {
            let component = match &e {
                Refusal::Look { component, .. } => component.rsplit(' ').next().unwrap_or("").to_string(),
                Refusal::Motion(_) | Refusal::Parameter { .. } => String::new(),
            };
            Error::content(path, model.line_of(&component), &component, e.to_string(), "")
        })?;
        let program = evaluation.program();
        evaluation
            .check_reference(&model, &system, &program)
            .map_err(|e| Error::content(path, 0, "", e.to_string(), ""))?;
        let gradient = evaluation.gradient_program();
        let language = match self.language {
            SourceLanguage::C => Language::C,
            SourceLanguage::Cuda => Language::Cuda,
        };
        let (l, mut text) = (&evaluation.layout, String::new());
        let _ = writeln!(
            text,
            "/* {}\n   soleus_evaluate: inputs are coordinates (from {}), speeds ({}), states of forces ({}), controls ({}) and time ({});\n   outputs are accelerations (from 0), rates of the states of forces ({}), and a number that is not 0 where a pivot of the\n   mass matrix vanishes.\n   soleus_gradient: weights of accelerations and rates are inputs from {}; outputs are the derivatives of the weighted sum by all\n   inputs of soleus_evaluate. Angles in rad, lengths in m, time in s. */",
            model.name,
            l.q.start,
            l.u.start,
            l.z.start,
            l.e.start,
            l.time,
            l.u.len(),
            l.inputs()
        );
        text += &source::write_beside(&program, "soleus_evaluate", language, self.single, 2);
        text += &source::write_beside(&gradient, "soleus_gradient", language, self.single, 2);
        Ok(Generated {
            source: text,
            operations: [program.operations(), gradient.operations()],
            output: self.output.clone(),
        })
    }
}
