//! Pictures of the landing and of its estimate.

use super::motion::Motion;
use super::readings::Record;
use super::skier::Skier;
use crate::desk;
use crate::sheet::{Folder, Series};
use soleus::Error;
use soleus_control::goal::Sensor;
use soleus_viewer::figure::to_strip_svg;
use soleus_viewer::{Camera, Recorder, SceneOptions};
use std::path::Path;

/// Figures in the strip.
const FIGURES: usize = 7;

/// The strip, the knees with what was read, and the forces of the snow.
pub fn all(
    skier: &Skier,
    truth: &Motion,
    estimated: &Motion,
    records: &[Record],
    (folder, out): (&Folder, Option<&Path>),
) -> Result<(), Error> {
    let t = &truth.times;
    for (s, side) in ["right", "left"].into_iter().enumerate() {
        let knee = skier.planar.legs[s][1];
        let flexion = |m: &Motion| m.states.iter().map(|x| -x.q[knee].to_degrees()).collect::<Vec<_>>();
        let read = records.iter().find(|r| r.sensor == Sensor::State(knee));
        let read = read.map_or(Vec::new(), |r| {
            r.readings.iter().map(|v| v.map_or(f64::NAN, |v| -v.to_degrees())).collect()
        });
        let (a, b) = (flexion(truth), flexion(estimated));
        folder.picture(
            &format!("knee_{side}"),
            [&format!("Flexion of the {side} knee"), "s", "deg"],
            &[
                Series { name: "read", x: t, y: &read },
                Series { name: "truth", x: t, y: &a },
                Series { name: "estimate", x: t, y: &b },
            ],
        )?;
    }
    let snow = [truth, estimated].map(|m| skier.snow(&m.states));
    let normal = |m: usize, s: usize| snow[m][s].iter().map(|f| f[1] / skier.weight).collect::<Vec<_>>();
    let [a, b, c, d] = [normal(0, 0), normal(1, 0), normal(0, 1), normal(1, 1)];
    folder.picture(
        "forces",
        ["Force of the snow on each ski", "s", "body weights"],
        &[
            Series { name: "right, truth", x: t, y: &a },
            Series { name: "right, estimate", x: t, y: &b },
            Series { name: "left, truth", x: t, y: &c },
            Series { name: "left, estimate", x: t, y: &d },
        ],
    )?;
    match out {
        Some(out) => desk::write_whole(&out.join("landing.svg"), &strip(skier, estimated)),
        None => Ok(()),
    }
}

/// The estimated landing as a row of figures, seen along the slope; the way between them is shortened.
fn strip(skier: &Skier, motion: &Motion) -> String {
    let base = &skier.planar.base;
    let mut recorder = Recorder::new(&base.model, &base.system, &SceneOptions::default()).with(true, true);
    let last = motion.states.len().saturating_sub(1);
    for k in 0..FIGURES {
        recorder.record(&motion.states[k * last / (FIGURES - 1)]);
    }
    let animation = recorder.finish();
    let frames: Vec<_> = animation.frames.iter().collect();
    to_strip_svg(
        &animation.scene,
        &frames,
        &Camera { yaw_deg: 0.0, pitch_deg: 0.0 },
        "An estimated landing on skis",
    )
}
