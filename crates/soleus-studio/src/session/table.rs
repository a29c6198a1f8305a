//! Tables: columns over time for curves, and measured markers.

use super::{Fields, Refusal};
use crate::message::{Answer, Block};
use serde_json::json;
use soleus::Context;
use soleus::inputs::table::{self, Take};

/// Columns of a table over time. Vectors come as a column for each component. Of a C3D file, `take` chooses what.
pub fn numbers(cx: &Context, f: &Fields) -> Result<Answer, Refusal> {
    let take = match f.optional_text("take") {
        Some("forces") => Take::Forces,
        Some("analog") => Take::Analog,
        _ => Take::Markers,
    };
    let table = table::read_rows(cx, &f.text("file")?.into(), take)?.flattened();
    let mut block = Block::default();
    let degrees = table.in_degrees == Some(true);
    let columns: Vec<_> = table.columns().iter().map(|c| block.f64s(c.iter().copied())).collect();
    let value = json!({
        "labels": table.labels(), "times": block.f64s(table.times().iter().copied()), "columns": columns, "in_degrees": degrees,
    });
    Ok(Answer { value, block })
}

/// Measured markers, in meters, turned so that y is up: frame by frame and marker by marker x, y, z; NaN where a marker was not seen.
pub fn markers(cx: &Context, f: &Fields) -> Result<Answer, Refusal> {
    let (table, _) = table::read_markers(cx, &f.text("file")?.into())?;
    let mut block = Block::default();
    let (rows, count) = (table.rows(), table.labels().len());
    let points = (0..rows)
        .flat_map(|r| (0..count).map(move |i| (r, i)))
        .flat_map(|(r, i)| table.vec3(r, i).to_array());
    let points = block.f32s(points);
    let value = json!({ "labels": table.labels(), "times": block.f64s(table.times().iter().copied()), "points": points });
    Ok(Answer { value, block })
}
