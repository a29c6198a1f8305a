//! Version 40600: the actuators of a controller are a list of sockets.

use soleus_model::Element;

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
    look(root, &mut |e| match e.tag.as_str() {
        "Model" => {
            has_model = true;
            for e in e.children().filter(|e| e.tag == "components").flat_map(Element::children) {
                if is_actuator(&e.tag) {
                    actuators.push((e.name().to_string(), format!("/{}", e.name())));
                }
            }
            for set in e.children().filter(|e| e.tag == "ForceSet") {
                for e in set.children().filter(|e| e.tag == "objects").flat_map(Element::children) {
                    if is_actuator(&e.tag) {
                        actuators.push((e.name().to_string(), format!("/forceset/{}", e.name())));
                    }
                }
            }
        }
        _ => {}
    });
    if !has_model {
        return;
    }
    visit(root, &mut |e| {
        let controller = e.name().to_string();
        let Some(list) = e.child_mut("actuator_list") else { return };
        let names = list.text();
        list.tag = "socket_actuators".to_string();
        let mut paths: Vec<&str> = Vec::new();
        for name in names.split_whitespace() {
            if name.eq_ignore_ascii_case("ALL") {
                paths = actuators.iter().map(|(_, path)| path.as_str()).collect();
                break;
            }
            match actuators.iter().find(|(n, _)| n == name) {
                Some((_, path)) => paths.push(path),
                None => up.diags.warn(
                    list.line,
                    &format!("/controllerset/{controller}"),
                    format!("controller `{controller}` drives `{name}`, which is no actuator of the model; ignored"),
                    "",
                ),
            }
        }
        list.set_text(paths.join(" "));
    });
}
