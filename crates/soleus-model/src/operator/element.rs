//! Changes to the model file.

use super::OperatorError;
use crate::document::{Content, Element};

/// The member of a set by name or path.
fn member<'a>(model: &'a mut Element, set: &str, name: &str) -> Option<&'a mut Element> {
    let last = name.rsplit('/').next().unwrap_or(name);
    model.child_mut(set)?.child_mut("objects")?.children_mut().find(|e| e.name() == last)
}

/// Turns a joint into a weld of the frames it joins. Its coordinates go; their default values do not count.
pub(super) fn weld(model: &mut Element, name: &str) -> Result<(), OperatorError> {
    let joint = member(model, "JointSet", name)
        .ok_or_else(|| OperatorError::NoSuchJoint { name: name.to_string() })?;
    joint.tag = "WeldJoint".into();
    let kept = ["socket_parent_frame", "socket_child_frame", "frames"];
    joint.content.retain(|c| match c {
        Content::Element(e) => kept.contains(&e.tag.as_str()),
        _ => true,
    });
    Ok(())
}

/// Gives the force that a `FunctionBasedPath` is named after this path.
pub(super) fn replace_path(model: &mut Element, path: &Element) -> Result<(), OperatorError> {
    let missing = || OperatorError::NoSuchForce { name: path.name().to_string() };
    let force = member(model, "ForceSet", path.name()).ok_or_else(missing)?;
    let is_path = |c: &Content| {
        let tags = ["path", "GeometryPath", "FunctionBasedPath", "Scholz2015GeometryPath"];
        matches!(c, Content::Element(e) if tags.contains(&e.tag.as_str()))
    };
    let i = force.content.iter().position(is_path).ok_or_else(missing)?;
    let mut new = path.clone();
    new.set_attribute("name", "path");
    force.content[i] = Content::Element(new);
    Ok(())
}
