//! `soleus track`: a motion that follows a measured one, `MocoTrack`.

use super::flags::{ModelFlags, OutputFlags, TimeFlags, add_to};
use crate::door::{enter, finish};
use clap::Args;
use soleus::optimal_control::tool::Trial;
use soleus::setup_file::Setup;
use soleus::{Context, Error, Track, inputs};
use std::path::PathBuf;

/// Arguments of `soleus track`.
#[derive(Args)]
#[command(after_help = include_str!("../../help/track.txt"))]
pub struct Arguments {
    /// Model (.osim), or a setup file of a MocoTrack (.xml)
    model: PathBuf,
    /// Coordinates over time to follow (.sto, .mot)
    #[arg(long = "motion", alias = "states", value_name = "MOTION.sto")]
    states: Option<PathBuf>,
    /// Weight of the error of the motion; 1 if no setup file says otherwise
    #[arg(long = "motion-weight", alias = "states-weight", value_name = "WEIGHT")]
    states_weight: Option<f64>,
    /// Follow the slopes of the coordinates as speeds too
    #[arg(long)]
    derivatives: bool,
    /// Markers to follow (.trc, .sto)
    #[arg(long, value_name = "MARKERS.trc")]
    markers: Option<PathBuf>,
    /// Weight of the markers' error; 1 if no setup file says otherwise
    #[arg(long, value_name = "WEIGHT")]
    markers_weight: Option<f64>,
    /// Weight of the squared controls, 0.001 if no setup file says otherwise; 0 leaves them out
    #[arg(long, value_name = "WEIGHT")]
    effort_weight: Option<f64>,
    /// Start from the motion that is followed
    #[arg(long)]
    start_from_reference: bool,
    #[command(flatten)]
    times: TimeFlags,
    #[command(flatten)]
    changes: ModelFlags,
    #[command(flatten)]
    output: OutputFlags,
}

impl Arguments {
    /// The request of these flags, and of the setup file where one is named.
    fn request(&self, cx: &Context) -> Result<Track, Error> {
        let request = match self.states.is_some() || self.markers.is_some() {
            true => Track {
                trial: Trial { model: self.model.clone().into(), ..Trial::default() },
                states: self.states.clone().map(Into::into),
                markers: self.markers.clone().map(Into::into),
                ..Track::default()
            },
            false => match inputs::setup::read(cx, &self.model)? {
                Setup::MocoTrack(s) => Track::from_setup(&self.model, &s)?,
                _ => {
                    let hint = "give a model and --motion or --markers, or a setup file of a MocoTrack";
                    return Err(Error::content(&self.model, 0, "", "the file holds no MocoTrack", hint));
                }
            },
        };
        Ok(Track {
            trial: add_to(request.trial, &self.changes, &self.times),
            states_weight: self.states_weight.or(request.states_weight),
            markers_weight: self.markers_weight.or(request.markers_weight),
            effort_weight: self.effort_weight.or(request.effort_weight),
            derivatives: request.derivatives || self.derivatives,
            start_from_reference: request.start_from_reference || self.start_from_reference,
            options: self.output.options(&request.options),
            ..request
        })
    }
}

/// Runs `soleus track`.
pub fn run(a: &Arguments) -> Result<(), Error> {
    enter(None, a.output.quiet, |cx| finish(cx, a.request(cx)?.run(cx)))
}
