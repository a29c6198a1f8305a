//! `soleus track`: a motion that follows a measured one, `MocoTrack`.

use super::flags::{ModelFlags, OutputFlags, TimeFlags, add_to};
use crate::door::{enter, finish};
use clap::Args;
use soleus::optimal_control::tool::Trial;
use soleus::setup_file::Setup;
use soleus::{Context, Error, Track, inputs};
use std::path::PathBuf;

// Arguments of `soleus track`.
#[derive(Args)]
#[command(after_help = include_str!("../../help/track.txt"))]
pub struct Arguments {
    /// Model (.osim), or a setup file of a MocoTrack (.xml)
    model: PathBuf,
    /// Coordinates to track (.sto, .mot)
    #[arg(long = "motion", alias = "states", value_name = "MOTION.sto")]
    states: Option<PathBuf>,
    /// Weight of the tracking error [default: 1, or as in the setup file]
    #[arg(long = "motion-weight", alias = "states-weight", value_name = "WEIGHT")]
    states_weight: Option<f64>,
    /// Track the derivatives of the coordinates as speeds too
    #[arg(long)]
    derivatives: bool,
    /// Markers to track (.trc, .sto, .c3d)
    #[arg(long, value_name = "MARKERS.trc")]
    markers: Option<PathBuf>,
    /// Weight of the marker error [default: 1, or as in the setup file]
    #[arg(long, value_name = "WEIGHT")]
    markers_weight: Option<f64>,
    /// Weight of the squared controls; 0 omits them [default: 0.001, or as in the setup file]
    #[arg(long, value_name = "WEIGHT")]
    effort_weight: Option<f64>,
    /// Use the tracked motion as initial guess
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
                    return Err(Error::content(&self.model, 0, "", "the file contains no MocoTrack", hint));
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
