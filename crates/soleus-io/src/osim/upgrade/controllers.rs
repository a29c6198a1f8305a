//! Version 40600: the actuators of a controller are a list of sockets.

use soleus_model::{Content, Element};
use std::collections::{HashMap, HashSet};

use super::Upgrade;
use super::classes::is_actuator;
use super::tree::{look, visit};

/// Replaces the names in `actuator_list` by paths. `ALL` becomes every actuator of the model.
///
/// A controller in a file without a model (a tool's setup) keeps its list: the paths follow
/// when the model is known.
pub fn actuator_sockets(root: &mut Element, up: &mut Upgrade<'_>) {
    let mut actuators: Vec<(String, String)> = Vec::new();
    let mut has_model = false;
    look(root, &mut |model| {
        if model.tag != "Model" {
            return;
        }
        has_model = true;
        let mut list = |members: Option<&Element>, parent: &str| {
            for e in members.into_iter().flat_map(Element::children).filter(|e| is_actuator(&e.tag)) {
                actuators.push((e.name().to_string(), format!("{parent}/{}", e.name())));
            }
        };
        list(model.child("components"), "");
        list(model.child("ForceSet").and_then(|s| s.child("objects")), "/forceset");
    });
    if !has_model {
        return;
    }
    // The first of a name counts.
    let by_name: HashMap<&str, &str> =
        actuators.iter().rev().map(|(n, path)| (n.as_str(), path.as_str())).collect();
    visit(root, &mut |e| {
        let controller = e.name().to_string();
        let Some(list) = e.child_mut("actuator_list") else { return };
        let names = list.text();
        list.tag = "socket_actuators".to_string();
        let mut paths: Vec<&str> = Vec::new();
        let mut unknown: HashSet<usize> = HashSet::new();
        for (i, name) in names.split_whitespace().enumerate() {
            if name.eq_ignore_ascii_case("ALL") {
                paths = actuators.iter().map(|(_, path)| path.as_str()).collect();
                break;
            }
            match by_name.get(name) {
                Some(path) => paths.push(path),
                None => {
                    unknown.insert(i);
                    up.diags.warn(
                        list.line,
                        &format!("/controllerset/{controller}"),
                        format!("controller `{controller}` drives `{name}`, which is not an actuator of the model; ignored"),
                        "",
                    );
                }
            }
        }
        list.set_text(paths.join(" "));
        drop_functions(e, &unknown);
    });
}

/// The functions of a prescribed controller go with its actuators by position: those of dropped
/// actuators are dropped too.
fn drop_functions(controller: &mut Element, positions: &HashSet<usize>) {
    let set = controller.children_mut().find(|e| e.tag == "FunctionSet" && e.name() == "ControlFunctions");
    let Some(objects) = set.and_then(|s| s.child_mut("objects")) else { return };
    let mut i = 0;
    objects.content.retain(|c| match c {
        Content::Element(_) => {
            i += 1;
            !positions.contains(&(i - 1))
        }
        _ => true,
    });
}
