//! `soleus gait`.

use crate::door::{enter, finish};
use clap::Args;
use soleus::gait::{Gait, GaitTrial};
use soleus::{Error, Source};
use std::path::PathBuf;

// Arguments of `soleus gait`.
#[derive(Args)]
#[command(after_help = include_str!("../help/gait.txt"))]
pub struct Arguments {
    /// Markers of the trials (.trc, .c3d, .sto)
    #[arg(required = true)]
    markers: Vec<PathBuf>,
    /// Force plates (.mot, .sto, .csv, .c3d), one file for each trial
    #[arg(long, value_name = "GRF.mot", num_args = 1..)]
    loads: Vec<PathBuf>,
    /// Tables to plot over the gait cycle, such as angles and moments: as many for each trial, all of the first trial first
    #[arg(long, value_name = "TABLE.mot", num_args = 1..)]
    curves: Vec<PathBuf>,
    /// Raw EMG (.sto, .csv, .c3d), one file for each trial: its envelopes are plotted (give envelopes as --curves)
    #[arg(long, alias = "emg-raw", value_name = "EMG.sto", num_args = 0..)]
    emg: Vec<PathBuf>,
    /// Normative curves (.csv): columns percent, NAME and sd_NAME [default: angles of Winter's adults]
    #[arg(long, value_name = "NORM.csv")]
    normative: Option<PathBuf>,
    /// Mass of the subject, kg: moments per kilogram, and powers from angles and moments
    #[arg(long, value_name = "KG")]
    mass: Option<f64>,
    /// Folder for tables and pictures
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs `soleus gait`.
pub fn run(a: &Arguments) -> Result<(), Error> {
    let n = a.markers.len();
    let refuse = |what: &str, count: usize| {
        let s = |n: usize| if n == 1 { "" } else { "s" };
        let message = format!("{n} trial{}, but {count} file{} with {what}", s(n), s(count));
        Err(Error::content(&a.markers[0], 0, "", message, "give as many for each trial, in the same order"))
    };
    if !a.loads.is_empty() && a.loads.len() != n {
        return refuse("loads", a.loads.len());
    }
    if !a.emg.is_empty() && a.emg.len() != n {
        return refuse("EMG", a.emg.len());
    }
    if !a.curves.len().is_multiple_of(n) {
        return refuse("curves", a.curves.len());
    }
    let each = a.curves.len() / n;
    let trial = |(i, markers): (usize, &PathBuf)| GaitTrial {
        markers: markers.clone().into(),
        loads: a.loads.get(i).cloned().map(Source::File),
        emg: a.emg.get(i).cloned().map(Source::File).into_iter().collect(),
        curves: a.curves[i * each..(i + 1) * each].iter().cloned().map(Source::File).collect(),
    };
    let trials = a.markers.iter().enumerate().map(trial).collect();
    let request = Gait { trials, normative: a.normative.clone(), mass: a.mass, output: a.out.clone() };
    enter(None, false, |cx| finish(cx, request.run(cx)))
}
