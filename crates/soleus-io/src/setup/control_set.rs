//! `ControlSet`: controls over time as nodes, the format written by CMC and static optimization.

use super::properties::Properties;
use crate::osim::{LATEST_VERSION, escape, read_document};
use crate::plain::is_zero;
use crate::table::number::plain;
use memchr::memmem;
use serde::{Deserialize, Serialize};
use soleus_math::Table;
use soleus_model::{Diagnostics, Document, Element};
use std::borrow::Cow;
use std::fmt::Write;

/// One control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Control {
    /// Name of the actuator; a suffix `.excitation` in the file is removed.
    pub name: String,
    /// Line in the file, from 1.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub line: u32,
    /// Value over time.
    pub course: ControlCourse,
}

/// A control as a function of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlCourse {
    /// `ControlConstant`.
    Constant(#[serde(with = "crate::plain")] f64),
    /// `ControlLinear`. Nodes are in order of time; of two nodes at the same time the later one in the file is used.
    Nodes {
        /// Times, s.
        #[serde(default, with = "crate::plain")]
        times: Vec<f64>,
        /// Values.
        #[serde(default, with = "crate::plain")]
        values: Vec<f64>,
        /// `use_steps`: the value of a node applies from just after the previous node up to the node itself.
        #[serde(default)]
        use_steps: bool,
        /// `extrapolate`: whether to extrapolate linearly; otherwise values are constant outside the nodes.
        #[serde(default)]
        extrapolate: bool,
    },
}

/// Reads the controls of a file with a `ControlSet`; `file` is the name for messages. `None` if and only if the
/// diagnostics contain an error.
///
/// Such files are long lists of nodes, which are read separately, before the tree of elements is built.
pub fn read_control_set(bytes: &[u8], file: &str) -> (Option<Vec<Control>>, Diagnostics) {
    let (bytes, nodes) = nodes_apart(bytes);
    let (document, mut log) = read_document(&bytes, file);
    let set = document.and_then(|d| controls(&d, &nodes, &mut log));
    (set, log)
}

/// A table of controls as a `ControlSet`: a `ControlLinear` for each column, with a node for each row, in the format in
/// which OpenSim 4.6 writes the activations of static optimization.
pub fn write_control_set(table: &Table) -> String {
    write_controls(table, &|_| false)
}

/// As [`write_control_set`]; `use_steps` returns whether the values of a column are piecewise constant.
pub fn write_controls(table: &Table, use_steps: &dyn Fn(usize) -> bool) -> String {
    // The numbers are most of it.
    let mut out = String::with_capacity(130 * table.rows() * table.labels().len());
    out += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    let _ = writeln!(out, "<OpenSimDocument Version=\"{LATEST_VERSION}\">");
    out += "\t<ControlSet name=\"Control Set\">\n\t\t<objects>\n";
    let times: Vec<String> = table.times().iter().map(f64::to_string).collect();
    for (i, (label, values)) in table.labels().iter().zip(table.columns()).enumerate() {
        out += "\t\t\t<ControlLinear name=\"";
        escape(&mut out, label, true);
        out += "\">\n\t\t\t\t<extrapolate>true</extrapolate>\n";
        let _ = writeln!(out, "\t\t\t\t<use_steps>{}</use_steps>\n\t\t\t\t<x_nodes>", use_steps(i));
        for (t, value) in times.iter().zip(values) {
            let _ = writeln!(
                out,
                "\t\t\t\t\t<ControlLinearNode><t>{t}</t><value>{value}</value></ControlLinearNode>"
            );
        }
        out += "\t\t\t\t</x_nodes>\n\t\t\t</ControlLinear>\n";
    }
    out += "\t\t</objects>\n\t</ControlSet>\n</OpenSimDocument>\n";
    out
}

/// Time and value of each node of a control.
type Nodes = Vec<(f64, f64)>;

/// Stands before the number of a list of nodes in the text of an `x_nodes` element. No XML file may hold it.
const APART: u8 = 1;

/// The file with the nodes of each `x_nodes` replaced by [`APART`] and the number of the list that has them. Line ends are
/// kept for the messages. What is not written plainly stays as it is.
fn nodes_apart(bytes: &[u8]) -> (Cow<'_, [u8]>, Vec<Nodes>) {
    const BEGIN: &[u8] = b"<x_nodes>";
    let (mut short, mut lists, mut from) = (Vec::new(), Vec::new(), 0);
    if memchr::memchr(APART, bytes).is_some() {
        return (Cow::Borrowed(bytes), lists);
    }
    // Times of the control before, as they are written: as a rule all controls have the same.
    let mut times = Vec::new();
    for at in memmem::find_iter(bytes, BEGIN) {
        let first = at + BEGIN.len();
        let Some((nodes, length)) = plain_nodes(&bytes[first..], &mut times) else { continue };
        short.extend_from_slice(&bytes[from..first]);
        short.push(APART);
        short.extend_from_slice(lists.len().to_string().as_bytes());
        from = first + length;
        short.resize(short.len() + memchr::memchr_iter(b'\n', &bytes[first..from]).count(), b'\n');
        lists.push(nodes);
    }
    match lists.is_empty() {
        true => (Cow::Borrowed(bytes), lists),
        false => {
            short.extend_from_slice(&bytes[from..]);
            (Cow::Owned(short), lists)
        }
    }
}

/// The nodes up to `</x_nodes>` and how many bytes they take; `None` if there are none, or if anything but time and value of
/// nodes is there. Takes the times of the control before and leaves its own.
fn plain_nodes<'a>(bytes: &'a [u8], times: &mut Vec<Written<'a>>) -> Option<(Nodes, usize)> {
    let mut rest = bytes;
    let mut nodes: Nodes = Vec::with_capacity(times.len());
    let mut last = Written { text: &[], number: 0.0 };
    // Programs write all nodes alike: what stood before the two numbers of the last one is tried first.
    let mut before: [&[u8]; 2] = [&[], &[]];
    loop {
        let start = rest;
        let known = !nodes.is_empty();
        match rest.strip_prefix(before[0]).filter(|_| known) {
            Some(number) => rest = number,
            None => {
                rest = rest.trim_ascii_start();
                if rest.starts_with(b"</x_nodes>") {
                    return (!nodes.is_empty()).then_some((nodes, bytes.len() - rest.len()));
                }
                rest = rest.strip_prefix(b"<ControlLinearNode>")?;
                rest = rest.trim_ascii_start().strip_prefix(b"<t>")?;
                before[0] = &start[..start.len() - rest.len()];
            }
        }
        let t = number_before_tag(&mut rest, times.get(nodes.len()))?;
        match times.get_mut(nodes.len()) {
            Some(time) => *time = t,
            None => times.push(t),
        }
        let start = rest;
        match rest.strip_prefix(before[1]).filter(|_| known) {
            Some(number) => rest = number,
            None => {
                rest = rest.strip_prefix(b"</t>")?;
                rest = rest.trim_ascii_start().strip_prefix(b"<value>")?;
                before[1] = &start[..start.len() - rest.len()];
            }
        }
        last = number_before_tag(&mut rest, Some(&last))?;
        rest = rest.strip_prefix(b"</value>")?;
        rest = rest.trim_ascii_start().strip_prefix(b"</ControlLinearNode>")?;
        nodes.push((t.number, last.number));
    }
}

/// A number and how it is written.
#[derive(Clone, Copy)]
struct Written<'a> {
    text: &'a [u8],
    number: f64,
}

/// The number before the next tag, which is taken off; `likely` is tried first.
fn number_before_tag<'a>(rest: &mut &'a [u8], likely: Option<&Written<'a>>) -> Option<Written<'a>> {
    // Seventeen digits need more than `plain` can do.
    const LONG: usize = 18;
    let same = likely.filter(|l| !l.text.is_empty() && rest.starts_with(l.text));
    if let Some(same) = same.filter(|l| rest.get(l.text.len()) == Some(&b'<')) {
        *rest = &rest[same.text.len()..];
        return Some(*same);
    }
    let end = rest.iter().position(|b| *b == b'<')?;
    let text = &rest[..end];
    *rest = &rest[end..];
    let number = match (end < LONG).then(|| plain(text)).flatten() {
        Some((number, length)) if length == end => number,
        _ => std::str::from_utf8(text.trim_ascii()).ok()?.parse().ok()?,
    };
    (!f64::is_nan(number)).then_some(Written { text, number })
}

/// The controls of a document, some of whose nodes are apart.
fn controls(document: &Document, apart: &[Nodes], log: &mut Diagnostics) -> Option<Vec<Control>> {
    let root = &document.root;
    let set = if root.tag == "ControlSet" { Some(root) } else { root.child("ControlSet") };
    let Some(set) = set else {
        log.error(root.line, "", format!("expected a `ControlSet` in the file, found `{}`", root.tag), "");
        return None;
    };
    // Defaults of a class, where the file gives them, stand before the set.
    let defaults = set.child("defaults").or_else(|| root.child("defaults"));
    let mut list = Vec::new();
    for e in set.child("objects").into_iter().flat_map(Element::children) {
        let default = defaults.and_then(|d| d.child(&e.tag));
        list.extend(control(e, default, apart, log));
    }
    (!log.has_errors()).then_some(list)
}

fn control(
    e: &Element,
    default: Option<&Element>,
    apart: &[Nodes],
    log: &mut Diagnostics,
) -> Option<Control> {
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
            let text = nodes.map_or(Cow::default(), Element::text_cow);
            let list = text.strip_prefix(char::from(APART)).and_then(|k| apart.get(k.parse::<usize>().ok()?));
            let mut points = list.cloned().unwrap_or_default();
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
            if !points.is_sorted_by(|a, b| a.0 < b.0) {
                points.sort_by(|a, b| a.0.total_cmp(&b.0));
                points.reverse();
                points.dedup_by(|a, b| a.0 == b.0);
                points.reverse();
            }
            let (times, values) = points.into_iter().unzip();
            ControlCourse::Nodes { times, values, use_steps, extrapolate }
        }
        other => {
            log.error(e.line, "", format!("controls of class `{other}` are not supported"), "");
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
        read_control_set(text.as_bytes(), "controls.xml")
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
    fn identity_controls_written_and_read() {
        let labels = vec!["a<b".to_string(), "c".to_string()];
        let columns = vec![vec![0.02, 1.0 / 3.0, 1.0], vec![1e-17, 2.0, -3.5]];
        let table =
            Table::new(soleus_math::table::Element::Scalar, labels, vec![0.0, 0.1, 0.25], columns).unwrap();
        let (set, log) = read(&write_control_set(&table));
        assert!(log.list.is_empty(), "{:?}", log.list);
        for ((c, label), column) in set.unwrap().iter().zip(table.labels()).zip(table.columns()) {
            assert_eq!(&c.name, label);
            let (times, values) = (table.times().to_vec(), column.clone());
            let nodes = ControlCourse::Nodes { times, values, use_steps: false, extrapolate: true };
            assert_eq!(c.course, nodes);
        }
    }

    #[test]
    fn identity_nodes_read_apart_and_in_the_tree() {
        let file = |begin: &str, node: &str| {
            let nodes: String = (0..5)
                .map(|k| format!("\n  {node}\n <t>{k}</t>\n<value> {} </value></ControlLinearNode>", k * k))
                .collect();
            format!(
                "<ControlSet><objects><ControlLinear name=\"a\">{begin}{nodes}\n</x_nodes></ControlLinear>\n\
                 <ControlMagic/></objects></ControlSet>"
            )
        };
        // A comment, an attribute or a blank in a tag is not plain, so those nodes go through the tree.
        let forms = [
            file("<x_nodes>", "<ControlLinearNode>"),
            file("<x_nodes >", "<ControlLinearNode>"),
            file("<x_nodes>", "<ControlLinearNode name=\"\">"),
            file("<x_nodes><!-- nodes -->", "<ControlLinearNode>"),
        ];
        let results = forms.map(|text| {
            let (bytes, apart) = nodes_apart(text.as_bytes());
            let (document, mut log) = read_document(&bytes, "controls.xml");
            let root = document.unwrap().root;
            let e = root.child("objects").unwrap().children().next().unwrap();
            // The line of what follows the nodes is the same.
            let last = root.child("objects").unwrap().children().last().unwrap().line;
            (apart.len(), control(e, None, &apart, &mut log).unwrap(), last)
        });
        assert_eq!([results[0].0, results[1].0, results[2].0, results[3].0], [1, 0, 0, 0]);
        for r in &results[1..] {
            assert_eq!((&r.1, r.2), (&results[0].1, results[0].2));
        }
        let foreign = "<ControlSet><objects><ControlLinear name=\"a\"><x_nodes>\u{1}0</x_nodes></ControlLinear></objects></ControlSet>";
        assert!(read(foreign).0.is_none());
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
