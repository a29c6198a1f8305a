//! `soleus inverse`: the excitations behind a motion, `MocoInverse`.

use super::flags::{ModelFlags, OutputFlags, TimeFlags, add_to};
use crate::door::{enter, finish};
use crate::emg::EmgInput;
use clap::Args;
use soleus::optimal_control::tool::Trial;
use soleus::setup_file::Setup;
use soleus::{Context, Error, Inverse, inputs};
use std::path::PathBuf;

// Arguments of `soleus inverse`.
#[derive(Args)]
#[command(after_help = include_str!("../../help/inverse.txt"))]
pub struct Arguments {
    /// Model (.osim), or a setup file of a MocoInverse (.xml)
    model: PathBuf,
    /// Coordinates over time (.sto, .mot)
    #[arg(long = "motion", alias = "kinematics", value_name = "MOTION.sto")]
    kinematics: Option<PathBuf>,
    /// Minimise squared activations too
    #[arg(long)]
    minimize_activations: bool,
    /// Weight of reserves in the effort
    #[arg(long, value_name = "WEIGHT")]
    reserves_weight: Option<f64>,
    #[command(flatten)]
    times: TimeFlags,
    #[command(flatten)]
    changes: ModelFlags,
    #[command(flatten)]
    output: OutputFlags,
    #[command(flatten)]
    emg: EmgInput,
}

impl Arguments {
    /// The request of these flags, and of the setup file where one is named.
    fn request(&self, cx: &Context) -> Result<Inverse, Error> {
        let request = match &self.kinematics {
            Some(motion) => Inverse {
                trial: Trial { model: self.model.clone().into(), ..Trial::default() },
                kinematics: motion.clone().into(),
                ..Inverse::default()
            },
            None => match inputs::setup::read(cx, &self.model)? {
                Setup::MocoInverse(s) => Inverse::from_setup(&self.model, &s)?,
                _ => {
                    let hint = "give a model and --motion, or a setup file of a MocoInverse";
                    return Err(Error::content(&self.model, 0, "", "the file contains no MocoInverse", hint));
                }
            },
        };
        Ok(Inverse {
            trial: add_to(request.trial, &self.changes, &self.times),
            minimize_activations: request.minimize_activations || self.minimize_activations,
            reserves_weight: self.reserves_weight.or(request.reserves_weight),
            options: self.output.options(&request.options),
            emg: self.emg.emg(0.0),
            ..request
        })
    }
}

/// Runs `soleus inverse`.
pub fn run(a: &Arguments) -> Result<(), Error> {
    enter(None, a.output.quiet, |cx| finish(cx, a.request(cx)?.run(cx)))
}
