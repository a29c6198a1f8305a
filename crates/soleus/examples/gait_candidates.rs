//! Prints what gait events are told from, for `scripts/check-gait-events`: side, event, coarse time, and the times of all signs.
//!
//! usage: cargo run --release -p soleus --example gait_candidates -- MARKERS …

use soleus::engine::tools::gait::{GaitMarkers, Walk, event_candidates};
use soleus::inputs::table::read_markers;
use soleus::{Context, Disk};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = Disk::new();
    let cx = Context::new(&files);
    for file in std::env::args().skip(1) {
        let (markers, _) = read_markers(&cx, &PathBuf::from(&file).into())?;
        let which = GaitMarkers::find(markers.labels())?;
        let walk = Walk::new(&markers, &which).ok_or("too few frames")?;
        println!("{file},{},{},{}", walk.speed, walk.times[0], walk.times[walk.times.len() - 1]);
        for c in event_candidates(&walk) {
            let signs: Vec<String> = c.signs.iter().flatten().map(|t| format!("{t:.5}")).collect();
            let what = if c.is_strike { "strike" } else { "off" };
            println!(
                "{},{what},{:.5},{:.5},{}",
                walk.feet[c.foot].0.name(),
                c.coarse,
                c.time(),
                signs.join(",")
            );
        }
    }
    Ok(())
}
