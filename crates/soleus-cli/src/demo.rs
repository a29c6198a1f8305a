//! `soleus demo`: predicts a walk with the model that is built in.

use crate::door::{enter, finish, print};
use clap::Args;
use soleus::{Context, Error, LegTour, Outcome, PredictWalk};
use std::path::PathBuf;

// What `soleus demo` is told.
#[derive(Args)]
#[command(after_help = include_str!("../help/demo.txt"))]
pub struct Arguments {
    /// Speed, 0.5 to 2 m/s
    #[arg(long, default_value_t = 1.3, value_parser = walking_speed)]
    speed: f64,
    /// Slope of the ground, −10 to 10 deg; positive uphill
    #[arg(long, default_value_t = 0.0, value_name = "DEG", allow_negative_numbers = true)]
    slope: f64,
    /// Stiffness of a spring at each ankle that rests at 0°, up to 1000 N·m/rad; 0: no spring
    #[arg(long, default_value_t = 0.0, value_name = "STIFFNESS")]
    ankle_spring: f64,
    /// HTML page to write
    #[arg(long, default_value = "walk.html", value_name = "PAGE.html")]
    out: PathBuf,
    /// Picture of the cycle to write (nine figures)
    #[arg(long, value_name = "STRIP.svg")]
    picture: Option<PathBuf>,
    /// Show muscles, moments and derivatives of a single leg instead
    #[arg(long)]
    leg: bool,
}

fn walking_speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(v) if (0.5..=2.0).contains(&v) => Ok(v),
        _ => Err("choose a speed from 0.5 to 2 m/s".into()),
    }
}

/// Predicts a walk, tells of it and writes the page.
pub fn run(a: &Arguments) -> Result<(), Error> {
    enter(None, false, |cx| match a.leg {
        true => finish(cx, LegTour.run(cx)),
        false => predict(cx, a),
    })
}

fn predict(cx: &Context, a: &Arguments) -> Result<(), Error> {
    let request = PredictWalk {
        speed: a.speed,
        slope_deg: a.slope,
        ankle_spring: a.ankle_spring,
        start: None,
        page: Some(a.out.clone()),
        picture: a.picture.clone(),
    };
    let found = request.run(cx)?;
    found.write(cx)?;
    print(cx, &(found.lines().join("\n") + "\n"))
}
