//! Options for measured EMG, of all verbs that find activations.

use clap::Args;
use soleus::emg::Emg;
use std::path::PathBuf;

// Measured EMG, to compare activations with.
#[derive(Args)]
pub struct EmgInput {
    /// Measured EMG to compare activations with: one column per channel, envelopes from 0 to 1 (.sto, .csv, .c3d)
    #[arg(long, value_name = "EMG.sto")]
    emg: Option<PathBuf>,
    /// Muscles of a channel; by default, the muscle with the name of the column
    #[arg(long, value_name = "CHANNEL=MUSCLE,MUSCLE", num_args = 1.., value_parser = parse_channel, requires = "emg")]
    emg_map: Vec<(String, Vec<String>)>,
    /// The EMG is raw: high-pass at 20 Hz, rectify, smooth, and normalise by the maximum
    #[arg(long, requires = "emg")]
    emg_raw: bool,
    /// Cutoff frequency of the low-pass filter for raw EMG, Hz
    #[arg(long, value_name = "HZ", default_value_t = Emg::default().lowpass_hz, requires = "emg_raw")]
    emg_cutoff_hz: f64,
}

impl EmgInput {
    /// The request, if a file is given.
    pub fn emg(&self, weight: f64) -> Option<Emg> {
        self.emg.as_ref().map(|file| Emg {
            signals: file.clone().into(),
            raw: self.emg_raw,
            lowpass_hz: self.emg_cutoff_hz,
            channels: self.emg_map.iter().cloned().collect(),
            weight,
        })
    }
}

fn parse_channel(text: &str) -> Result<(String, Vec<String>), String> {
    let wrong = || format!("`{text}` should be CHANNEL=MUSCLE, or CHANNEL=MUSCLE,MUSCLE");
    let (channel, muscles) = text.split_once('=').ok_or_else(wrong)?;
    let muscles: Vec<String> =
        muscles.split(',').map(str::trim).filter(|m| !m.is_empty()).map(String::from).collect();
    match channel.is_empty() || muscles.is_empty() {
        true => Err(wrong()),
        false => Ok((channel.to_string(), muscles)),
    }
}
