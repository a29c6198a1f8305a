//! What can be taken hold of in the figure: points of paths, and wrap objects.

use super::model::OpenModel;
use super::{Fields, Refusal, Session, wrong};
use crate::message::Answer;
use serde_json::{Value, json};
use soleus::Document;
use soleus::engine::math::Vec3;
use soleus::engine::model::components::{element, set_property};
use soleus::engine::model::path::{Path, PathPointKind};
use std::sync::Arc;

impl Session {
    /// Handles of what is chosen: for a force along a path, or a part of it, its points and its wrap objects; for a wrap object itself.
    pub(super) fn handles(&self, f: &Fields) -> Result<Answer, Refusal> {
        let m = self.model(f)?;
        let path = f.text("path")?;
        let is_under =
            |owner: &str| path == owner || path.strip_prefix(owner).is_some_and(|r| r.starts_with('/'));
        let mut list = Vec::new();
        for force in m.model.forces.iter().filter(|f| is_under(&f.path)) {
            let Some(Path::Geometry(of)) = &force.line_of_action else { continue };
            for point in &of.points {
                let place = match &point.kind {
                    PathPointKind::Fixed(p) => *p,
                    PathPointKind::Conditional { location, .. } => *location,
                    PathPointKind::Moving { .. } => continue,
                };
                // Files of OpenSim 4.5 and later hold the path in an element of its own.
                let parts = ["GeometryPath", "path/GeometryPath"]
                    .map(|of| format!("{}/{of}/PathPointSet/{}", force.path, point.name));
                let found =
                    parts.iter().find_map(|part| handle(m, part, "location", "point", point.frame.0, place));
                list.extend(found);
            }
            for wrap in &of.wraps {
                list.extend(wrapped(m, wrap.wrap.0));
            }
        }
        list.extend(
            (0..m.model.wraps.len())
                .filter(|&i| is_under(&m.model.wraps[i].path))
                .filter_map(|i| wrapped(m, i)),
        );
        Ok(json!({ "handles": list }).into())
    }

    /// Moves a handle to a place in its body, m. As `set`, with the text that was written.
    pub(super) fn move_handle(&mut self, f: &Fields) -> Result<Answer, Refusal> {
        let index = f.index("model")?;
        let m = self.model(f)?;
        let (path, property, body) = (f.text("path")?, f.text("property")?, f.index("body")?);
        let numbers: Vec<f64> =
            f.list("station").filter_map(Value::as_f64).filter(|x| x.is_finite()).collect();
        let Ok(station) = <[f64; 3]>::try_from(numbers) else {
            return wrong("a position needs three numbers");
        };
        let Some(place) = m.components.find_part(&m.document, path) else {
            return wrong(format!("the model has no component `{path}`"));
        };
        let Some(frame) =
            f.index("frame").ok().and_then(|i| m.model.frames.get(i)).filter(|k| k.body.0 == body)
        else {
            return wrong("this frame does not belong to the body");
        };
        let local = frame.X_BF.inverse_mul(Vec3::from_array(station));
        // A hundredth of a millimeter is finer than any hand.
        let text: Vec<String> =
            local.to_array().iter().map(|x| ((x * 1e5).round() / 1e5).to_string()).collect();
        let text = text.join(" ");
        let before = element(&m.document, &place).and_then(|e| e.child(property)).map(|e| e.text());
        let mut document: Document = (*m.document).clone();
        set_property(&mut document, &place, property, &text);
        let model = self.exchange(index, Arc::new(document))?;
        Ok(json!({ "before": before, "after": text, "model": model }).into())
    }
}

/// A handle, if the document has what it moves.
fn handle(
    m: &OpenModel,
    path: &str,
    property: &str,
    kind: &str,
    frame: usize,
    place: Vec3<f64>,
) -> Option<Value> {
    m.components.find_part(&m.document, path)?;
    let f = m.model.frames.get(frame)?;
    let station = f.X_BF * place;
    Some(
        json!({ "path": path, "property": property, "kind": kind, "body": f.body.0, "frame": frame, "station": station.to_array() }),
    )
}

fn wrapped(m: &OpenModel, object: usize) -> Option<Value> {
    let w = m.model.wraps.get(object)?;
    handle(m, &w.path, "translation", "wrap", w.frame.0, w.pose.p)
}
