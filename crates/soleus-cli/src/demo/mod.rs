//! `soleus demo`: predicts a walk with the model that is built in.

mod leg;

use crate::failure::Failure;
use crate::load;
use crate::walk::{self, Teller, Walk, Winter};
use clap::Args;
use soleus_control::continuation::Fading;
use std::path::{Path, PathBuf};

/// What `soleus demo` is told.
#[derive(Args)]
#[command(after_help = "Example:\n  soleus demo --speed 1.0 --out walk.html\n\n\
    Nothing is measured or tracked: from a start in which everything moves on straight lines, the walk is the one that\n\
    repeats itself, moves forward at the speed asked for, keeps the trunk upright and needs the least effort.")]
pub struct Arguments {
    /// Speed, 0.5 to 2 m/s
    #[arg(long, default_value_t = 1.3, value_parser = walking_speed)]
    speed: f64,
    /// Page to write
    #[arg(long, default_value = "walk.html", value_name = "PAGE.html")]
    out: PathBuf,
    /// Picture of nine figures of the cycle to write
    #[arg(long, value_name = "STRIP.svg")]
    picture: Option<PathBuf>,
    /// Show muscles, moments and derivatives of a single leg instead
    #[arg(long)]
    leg: bool,
}

fn walking_speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(v) if (0.5..=2.0).contains(&v) => Ok(v),
        _ => Err("a walking speed is a number from 0.5 to 2 m/s".into()),
    }
}

/// Points of half a cycle: first few, then more.
const MESHES: [usize; 2] = [20, 40];
/// Where the solver starts: duration of half a cycle, s, and swing of the hips, rad.
const START: (f64, f64) = (0.55, 0.35);

/// Predicts a walk, tells of it and writes the page.
pub fn run(a: &Arguments) -> Result<(), Failure> {
    if a.leg {
        return leg::run();
    }
    let walker = walk::walker(walk::model()?)?;
    let cycle = walk::predicted_cycle(&walker, a.speed);
    eprintln!(
        "planar walker, 9 coordinates, 16 muscles: the walk of least effort at {} m/s, from straight lines",
        a.speed
    );
    let mut teller = Teller::new();
    let start = walker.straight_line(a.speed, START.0, START.1, true);
    let fading = Fading::new(walker.reserves());
    let outcome = walk::predict(&walker, &cycle, &start, &fading, &MESHES, &mut teller)?;
    let seconds = teller.seconds();
    if !outcome.solution.status.is_solved() {
        let worst = outcome.worst.map_or(String::new(), |w| format!("; worst is {w}"));
        return Err(Failure::NotSolved { message: format!("no walk found: {}{worst}", outcome.solution) });
    }
    let walk = Walk::new(&walker, &cycle, &outcome.trajectory);
    println!("speed           {:8.3} m/s", a.speed);
    println!("cycle           {:8.3} s      (Winter's adults at 1.325 m/s: 1.140)", walk.duration());
    println!("stride          {:8.3} m", a.speed * walk.duration());
    println!("stance          {:8.1} %", 100.0 * walk.stance());
    println!("effort          {:8.4}", outcome.goal("effort"));
    println!("equations hold to {:.1e}", outcome.solution.certificate.constraint_violation);
    println!("found in        {seconds:8.1} s, {} iterations", outcome.iterations);
    let text = [
        format!(
            "Nobody told this model how to walk. It was asked to repeat itself, to move at {} m/s with the trunk upright, and \
             to spare its muscles. Soleus found this walk in {seconds:.1} s, {} iterations, from a start in which everything \
             moves on straight lines.",
            a.speed, outcome.iterations
        ),
        "Model: trunk and two legs in a plane, 9 coordinates, 16 muscles (van den Bogert and Ackermann, published \
         figures). Bands: D. A. Winter, 1991, normal cadence, 1.325 m/s."
            .to_string(),
    ];
    let page = walk::page("A predicted walk", &walker, &walk, &outcome, &Winter::read("normal")?, &text);
    load::write_whole(Path::new(&a.out), &page)?;
    if let Some(picture) = &a.picture {
        load::write_whole(picture, &walk::strip(&walker, &walk, 9, "A predicted walk"))?;
    }
    println!("open {}", a.out.display());
    Ok(())
}
