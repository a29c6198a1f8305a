//! Curves over the gait cycle: mean and standard deviation of all cycles, and what healthy adults do.

use super::{Fields, Refusal};
use crate::message::{Answer, Block};
use serde_json::{Value, json};
use soleus::gait::{Gait, GaitTrial, Side};
use soleus::{Context, Source, Table};

/// `trials` name markers, and may name loads and tables over time; the answer has the cycles of each, and curves at 0, 1, … 100 %.
pub fn over_gait(cx: &Context, f: &Fields) -> Result<Answer, Refusal> {
    let text = |v: &Value, key: &str| v.get(key).and_then(Value::as_str).map(str::to_string);
    let trials = f.list("trials").map(|t| GaitTrial {
        markers: text(t, "markers").unwrap_or_default().as_str().into(),
        loads: text(t, "loads").map(|file| file.as_str().into()),
        curves: t
            .get("curves")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(Source::<Table>::from)
            .collect(),
        ..GaitTrial::default()
    });
    let found = Gait { trials: trials.collect(), ..Gait::default() }.run(cx)?;
    let word = |side: Side| if side == Side::Right { "right" } else { "left" };
    let mut block = Block::default();
    let curves: Vec<Value> = (found.curves.iter())
        .map(|c| {
            let mean = block.f64s(c.points.iter().map(|p| p.mean));
            let sd = block.f64s(c.points.iter().map(|p| p.sd));
            json!({ "name": c.name, "side": word(c.side), "cycles": c.cycles, "mean": mean, "sd": sd })
        })
        .collect();
    let normative: Vec<Value> = (found.normative.curves.iter())
        .filter_map(|(name, ..)| {
            let own = found.curves.iter().filter(|c| c.name == *name);
            let (mean, sd) = found.normative.beside(name, own)?;
            let (mean, sd) = (block.f64s(mean), block.f64s(sd));
            Some(json!({ "name": name, "mean": mean, "sd": sd }))
        })
        .collect();
    let cycles: Vec<Value> = (found.trials.iter().enumerate())
        .flat_map(|(trial, t)| t.cycles.iter().map(move |c| (trial, c)))
        .map(|(trial, c)| json!({ "trial": trial, "side": word(c.side), "time": c.time, "off": c.off }))
        .collect();
    let value = json!({ "curves": curves, "cycles": cycles, "normative": { "source": found.normative.source, "curves": normative } });
    Ok(Answer { value, block })
}
