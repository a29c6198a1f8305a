//! `soleus pipeline`.

use crate::door::{enter, finish};
use crate::scale::parse_pair;
use clap::Args;
use soleus::pipeline::{ArrayScript, FromTrials, RecordedTrial, Shard};
use soleus::{Error, Pipeline};
use std::path::PathBuf;

// Arguments of `soleus pipeline`.
#[derive(Args)]
#[command(after_help = include_str!("../help/pipeline.txt"))]
pub struct Arguments {
    /// Pipeline file (.toml), or use --model, --markers and so on
    #[arg(conflicts_with_all = ["markers", "model"])]
    pipeline: Option<PathBuf>,
    /// Repeat all steps
    #[arg(long)]
    again: bool,
    /// Number of trials to run in parallel [default: number of cores]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    jobs: usize,
    /// Run only a part of the trials: 2/8 is the second of eight; other processes can run the rest in the same folder
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Write a Slurm array script with this many parts next to the pipeline file, without running anything
    #[arg(long, value_name = "PARTS", value_parser = clap::value_parser!(u16).range(1..))]
    slurm: Option<u16>,
    #[command(flatten)]
    recorded: Recorded,
}

// What a laboratory has of a subject.
#[derive(Args)]
#[command(next_help_heading = "Without a pipeline file")]
struct Recorded {
    /// Generic model (.osim); without --static, a model already scaled to the subject
    #[arg(long)]
    model: Option<PathBuf>,
    /// Static trial (.trc, .c3d), to which the model is scaled
    #[arg(long = "static", value_name = "STATIC.trc", requires = "model")]
    still: Option<PathBuf>,
    /// Marker set to add to the model first (XML)
    #[arg(long, value_name = "MARKERS.xml", requires = "still")]
    marker_set: Option<PathBuf>,
    /// Mass of the subject, kg
    #[arg(long, requires = "still")]
    mass: Option<f64>,
    /// Height of the subject, m
    #[arg(long, requires = "still")]
    height: Option<f64>,
    /// Map a marker name of the lab to one of the model; may be repeated
    #[arg(long, value_name = "LAB=MODEL", value_parser = parse_pair, value_delimiter = ',')]
    map: Vec<[String; 2]>,
    /// Marker files of the trials (.trc, .c3d)
    #[arg(long, value_name = "WALK.trc", num_args = 1.., requires = "model")]
    markers: Vec<PathBuf>,
    /// Force-plate files of the trials (.mot, .sto, .csv, .c3d), or ExternalLoads files, in the same order
    #[arg(long, value_name = "GRF.mot", num_args = 1..)]
    loads: Vec<PathBuf>,
    /// Cutoff frequency of the low-pass filter on joint angles, Hz
    #[arg(long, default_value_t = FromTrials::default().cutoff_hz)]
    cutoff_hz: f64,
    /// Skip static optimization
    #[arg(long)]
    no_muscles: bool,
    /// Normative curves for the summary page (.csv): columns percent, NAME and sd_NAME [default: angles of Winter's adults]
    #[arg(long, value_name = "NORM.csv")]
    normative: Option<PathBuf>,
    /// Folder for the pipeline file and the results
    #[arg(long, value_name = "DIR", default_value = "results")]
    out: PathBuf,
}

/// Runs `soleus pipeline`.
pub fn run(a: &Arguments) -> Result<(), Error> {
    let r = &a.recorded;
    if !r.loads.is_empty() && r.loads.len() != r.markers.len() {
        let s = |n: usize| if n == 1 { "" } else { "s" };
        let (n, count) = (r.markers.len(), r.loads.len());
        let message = format!("{n} trial{}, but {count} load file{}", s(n), s(count));
        return Err(Error::content(
            &r.loads[0],
            0,
            "",
            message,
            "give one for each trial, in the same order",
        ));
    }
    let trial = |(i, markers): (usize, &PathBuf)| RecordedTrial {
        markers: markers.clone(),
        loads: r.loads.get(i).cloned(),
    };
    let recorded = FromTrials {
        model: r.model.clone().unwrap_or_default(),
        still: r.still.clone(),
        marker_set: r.marker_set.clone(),
        mass: r.mass,
        height: r.height,
        map: r.map.clone(),
        trials: r.markers.iter().enumerate().map(trial).collect(),
        cutoff_hz: r.cutoff_hz,
        muscles: !r.no_muscles,
        normative: r.normative.clone(),
        output: r.out.clone(),
    };
    enter(None, false, |cx| {
        let file = match &a.pipeline {
            Some(file) => file.clone(),
            None => recorded.write(cx)?,
        };
        if let Some(parts) = a.slurm {
            return finish(cx, Ok(ArrayScript::new(&file, &cx.files.absolute(&file), parts.into())));
        }
        let request = Pipeline { again: a.again, jobs: a.jobs, shard: a.shard, ..Pipeline::of_file(file) };
        finish(cx, request.run(cx))
    })
}
