//! `ControlSet`: controls over time as nodes, the form that CMC and static optimization write.

use super::properties::Properties;
use soleus_model::{Diagnostics, Document, Element};

/// One control.
#[derive(Clone, Debug, PartialEq)]
pub struct Control {
    /// Name of the actuator; files may add `.excitation` to it, which is taken off.
    pub name: String,
    /// Line in the file, from 1.
    pub line: u32,
    /// Its value over time.
    pub course: ControlCourse,
}

/// How a control runs over time.
#[derive(Clone, Debug, PartialEq)]
pub enum ControlCourse {
    /// `ControlConstant`.
    Constant(f64),
    /// `ControlLinear`. Nodes are in order of time; of two at the same time the later in the file counts.
    Nodes {
        /// Times, s.
        times: Vec<f64>,
        /// Values.
        values: Vec<f64>,
        /// `use_steps`: the value of a node holds from just after the node before it up to the node itself.
        use_steps: bool,
        /// `extrapolate`: whether the first and the last line go on outside; else the end values hold.
        extrapolate: bool,
    },
}

/// The controls of a file that holds a `ControlSet`. `None` if and only if `log` holds an error.
pub fn read_control_set(document: &Document, log: &mut Diagnostics) -> Option<Vec<Control>> {
    let root = &document.root;
    let set = if root.tag == "ControlSet" { Some(root) } else { root.child("ControlSet") };
    let Some(set) = set else {
        log.error(root.line, "", format!("the file holds no `ControlSet`, but a `{}`", root.tag), "");
        return None;
    };
    // Defaults of a class, where the file gives them, stand before the set.
    let defaults = set.child("defaults").or_else(|| root.child("defaults"));
    let mut list = Vec::new();
    for e in set.child("objects").into_iter().flat_map(Element::children) {
        let default = defaults.and_then(|d| d.child(&e.tag));
        list.extend(control(e, default, log));
    }
    (!log.has_errors()).then_some(list)
}

fn control(e: &Element, default: Option<&Element>, log: &mut Diagnostics) -> Option<Control> {
    let name = e.name().strip_suffix(".excitation").unwrap_or(e.name()).to_string();
    let course = match e.tag.as_str() {
        "ControlConstant" => {
            let mut p = control_properties(e, log);
            let value = p.number("value", 0.0);
            p.finish();
            ControlCourse::Constant(value)
        }
        "ControlLinear" => {
            let given =
                default.map_or((false, true), |d| switches(&mut Properties::new(d, log), (false, true)));
            let mut p = control_properties(e, log);
            let (use_steps, extrapolate) = switches(&mut p, given);
            // Bounds and gains are for the tools that look for controls.
            p.skip(&["min_nodes", "max_nodes", "kp", "kv"]);
            let nodes = p.find("x_nodes");
            p.finish();
            let mut points: Vec<(f64, f64)> = Vec::new();
            for node in nodes.into_iter().flat_map(Element::children) {
                let mut p = Properties::new(node, log);
                points.push((p.number("t", 0.0), p.number("value", 0.0)));
                p.finish();
            }
            if points.is_empty() {
                let hint = "give it at least one node in `x_nodes`";
                log.error(e.line, "", format!("control `{}` has no nodes", e.name()), hint);
                return None;
            }
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            points.reverse();
            points.dedup_by(|a, b| a.0 == b.0);
            points.reverse();
            let (times, values) = points.into_iter().unzip();
            ControlCourse::Nodes { times, values, use_steps, extrapolate }
        }
        other => {
            log.error(e.line, "", format!("`{other}` is no control that can be read"), "");
            return None;
        }
    };
    Some(Control { name, line: e.line, course })
}

/// The properties of a control; those that say nothing about its course are known.
fn control_properties<'a, 'l>(e: &'a Element, log: &'l mut Diagnostics) -> Properties<'a, 'l> {
    let mut p = Properties::new(e, log);
    // The filter acts only while a tool makes the control.
    p.skip(&["is_model_control", "extrapolate", "default_min", "default_max", "filter_on"]);
    p
}

/// `use_steps` and `extrapolate`.
fn switches(p: &mut Properties, default: (bool, bool)) -> (bool, bool) {
    (p.boolean("use_steps", default.0), p.boolean("extrapolate", default.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<Vec<Control>>, Diagnostics) {
        let (document, mut log) = crate::osim::read_document(text.as_bytes(), "controls.xml");
        let set = document.and_then(|d| read_control_set(&d, &mut log));
        (set, log)
    }

    #[test]
    fn analytic_nodes_are_sorted_and_the_later_of_two_counts() {
        let node =
            |t: &str, v: &str| format!("<ControlLinearNode><t>{t}</t><value>{v}</value></ControlLinearNode>");
        let text = format!(
            "<OpenSimDocument Version=\"40600\"><ControlSet><objects><ControlLinear name=\"a.excitation\">\
             <use_steps>true</use_steps><extrapolate>false</extrapolate><x_nodes>{}{}{}</x_nodes></ControlLinear>\
             <ControlConstant name=\"b\"><value>0.3</value></ControlConstant></objects></ControlSet></OpenSimDocument>",
            node("1", "10"),
            node("0", "5"),
            node("1", "20")
        );
        let (set, log) = read(&text);
        assert!(log.list.is_empty(), "{:?}", log.list);
        let set = set.unwrap();
        assert_eq!((set[0].name.as_str(), set[1].name.as_str()), ("a", "b"));
        let nodes = ControlCourse::Nodes {
            times: vec![0.0, 1.0],
            values: vec![5.0, 20.0],
            use_steps: true,
            extrapolate: false,
        };
        assert_eq!(set[0].course, nodes);
        assert_eq!(set[1].course, ControlCourse::Constant(0.3));
    }

    #[test]
    fn analytic_bad_control_sets_are_refused() {
        for text in [
            "<OpenSimDocument Version=\"40600\"><Model/></OpenSimDocument>",
            "<ControlSet><objects><ControlLinear name=\"a\"/></objects></ControlSet>",
            "<ControlSet><objects><ControlMagic name=\"a\"/></objects></ControlSet>",
        ] {
            let (set, log) = read(text);
            assert!(set.is_none() && log.has_errors(), "{text}");
        }
    }
}
