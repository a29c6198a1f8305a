//! `soleus so`: static optimization.

use crate::analyze::input::Input;
use crate::door::{enter, finish};
use crate::emg::EmgInput;
use clap::Args;
use soleus::analysis::check_exponent;
use soleus::{Error, StaticOptimization};

// Arguments of `soleus so`.
#[derive(Args)]
#[command(after_help = include_str!("../help/so.txt"))]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Exponent p of the effort Σ aᵖ to minimise; 1 to 100
    #[arg(long, default_value_t = 2.0, value_name = "P", value_parser = parse_exponent)]
    exponent: f64,
    /// Ignore the force–length–velocity relation: muscles can exert their maximum isometric force at any length and velocity
    #[arg(long)]
    isometric: bool,
    #[command(flatten)]
    emg: EmgInput,
    /// Write a page with activations, EMG, and residuals and reserves compared with recommended limits
    #[arg(long, value_name = "PAGE.html")]
    report: Option<std::path::PathBuf>,
}

fn parse_exponent(text: &str) -> Result<f64, String> {
    let p: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    check_exponent(p).map(|()| p)
}

/// Runs `soleus so`.
pub fn run(a: &Arguments) -> Result<(), Error> {
    let i = &a.input;
    let request = StaticOptimization {
        model: i.model.clone().into(),
        motion: i.motion.clone().into(),
        loads: i.loads()?,
        force_sets: i.force_sets(),
        residuals: i.residuals.clone(),
        reserves: i.reserves(),
        cutoff_hz: i.cutoff_hz,
        from: i.span.from,
        to: i.span.to,
        every: i.every,
        exponent: a.exponent,
        muscle_physiology: !a.isometric,
        output: i.output(),
        opensim_faults: i.opensim_faults,
        root_angles: i.root_angles,
        emg: a.emg.emg(0.0),
        page: a.report.clone(),
    };
    enter(None, false, |cx| finish(cx, request.run(cx)))
}
