//! Fields of a study file as elements of a `MocoStudy` document.

use super::schema::{Class, Field, Kind};
use super::value::{Reader, Table, Value};
use soleus_model::Element;
use toml::de::DeValue;

/// An element that holds bounds.
pub(super) fn bounds_element(tag: &str, [a, b]: [f64; 2], line: u32) -> Element {
    let mut e = Element::new(tag, line);
    e.push(Element::with_text("bounds", format!("{a:?} {b:?}"), line));
    e
}

/// Bounds that carry the name of their property.
pub(super) fn named_bounds(property: &str, b: [f64; 2], line: u32) -> Element {
    let mut e = bounds_element("MocoBounds", b, line);
    e.set_attribute("name", property);
    e
}

/// The list of goals, path constraints or operators under `field`.
pub(super) fn listed(
    r: &mut Reader<'_>,
    t: Table<'_>,
    field: &'static str,
    classes: &'static [Class],
    (common, what): (&'static [Field], &str),
) -> Element {
    let mut list = Element::new(field, t.line);
    for g in r.tables(t, field) {
        let Some(class) = r.class(g, what, classes) else { continue };
        r.check(g, &format!("a {what} of type `{}`", class.name), &[common, class.fields]);
        let mut e = Element::new(class.class, g.line);
        e.set_attribute("name", r.text(g, "name").unwrap_or_else(|| class.name.to_string()));
        for f in class.fields.iter().filter(|f| f.default == "needed" && !g.has(f.name)) {
            let message = format!("a {what} of type `{}` needs `{}`: {}", class.name, f.name, f.help);
            r.log.error(g.line, "", message, "");
        }
        described(r, g, common, &mut e);
        described(r, g, class.fields, &mut e);
        if let Some(b) = g.has("bounds").then(|| r.bounds(g, "bounds")).flatten() {
            let mut info = Element::new("MocoConstraintInfo", g.line);
            let mut bounds = Element::new("bounds", g.line);
            bounds.push(bounds_element("MocoBounds", b, g.line));
            info.push(bounds);
            e.push(info);
        }
        list.push(e);
    }
    list
}

/// Adds an element for every field that OpenSim has a property for.
pub(super) fn described(r: &mut Reader<'_>, t: Table<'_>, fields: &[Field], into: &mut Element) {
    for f in fields.iter().filter(|f| !f.property.is_empty()) {
        let Some(v) = t.get(f.name) else { continue };
        let line = r.line(v);
        if let Some(e) = element(r, t, f, v, line) {
            // Two fields may fill one list.
            let same = f.kind == Kind::Pairs && into.child(&e.tag).is_some();
            match if same { into.child_mut(&e.tag) } else { None } {
                Some(list) => list.content.extend(e.content),
                None => into.push(e),
            }
        }
    }
}

fn element(r: &mut Reader<'_>, t: Table<'_>, f: &Field, v: &Value<'_>, line: u32) -> Option<Element> {
    let text = |text: String| Some(Element::with_text(f.property, text, line));
    let name = f.name;
    match f.kind {
        Kind::Text | Kind::File => {
            let word = r.as_text(v, name)?;
            // The one word that differs from OpenSim's.
            text(if f.property == "mode" && word == "constraint" {
                "endpoint_constraint".into()
            } else {
                word
            })
        }
        Kind::Number => text(format!("{:?}", r.as_number(v, name)?).trim_end_matches(".0").to_string()),
        Kind::Count => text(r.count(t, name)?.to_string()),
        Kind::Boolean => text(r.boolean(t, name)?.to_string()),
        Kind::Numbers => {
            let list = r.numbers(t, name)?;
            text(list.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(" "))
        }
        Kind::Texts => text(r.texts(t, name).join(" ")),
        Kind::Bounds => {
            let mut b = r.bounds(t, name)?;
            if name.ends_with("_deg") {
                b = b.map(f64::to_radians);
            }
            // Variables have plain text; everything else an object.
            match f.property {
                "bounds" | "initial_bounds" | "final_bounds" => text(format!("{:?} {:?}", b[0], b[1])),
                property => Some(named_bounds(property, b, line)),
            }
        }
        Kind::Weights => Some(weight_set(f.property, r.weights(t, name), line)),
        Kind::Reference => table_processor(r, f, v, line),
        Kind::Pairs => Some(pairs(r, f, v, line)),
        Kind::ContactGroups => Some(contact_groups(r, f, v, line)),
        Kind::FramePairs => Some(frame_pairs(r, f, v, line)),
        Kind::Constant => {
            let mut constant = Element::new("Constant", line);
            constant.push(Element::with_text("value", format!("{:?}", r.as_number(v, name)?), line));
            let mut e = Element::new(f.property, line);
            e.push(constant);
            Some(e)
        }
        Kind::Parameters => {
            let mut list = Element::new(f.property, line);
            for name in r.texts(t, name) {
                let mut e = Element::new("MocoParameter", line);
                e.set_attribute("name", name);
                list.push(e);
            }
            Some(list)
        }
        Kind::Table | Kind::Tables => None,
    }
}

fn weight_set(property: &str, weights: Vec<(String, f64)>, line: u32) -> Element {
    let mut set = Element::new("MocoWeightSet", line);
    set.set_attribute("name", property);
    let mut objects = Element::new("objects", line);
    for (name, weight) in weights {
        let mut w = Element::new("MocoWeight", line);
        w.set_attribute("name", name);
        w.push(Element::with_text("weight", format!("{weight:?}"), line));
        objects.push(w);
    }
    set.push(objects);
    set
}

/// A table file and what is done to it: a low-pass, radians, full names, speeds, in this order.
fn table_processor(r: &mut Reader<'_>, f: &Field, v: &Value<'_>, line: u32) -> Option<Element> {
    const FIELDS: &[Field] = &[
        Field { name: "file", property: "", kind: Kind::File, unit: "", default: "needed", help: "" },
        Field { name: "lowpass_hz", property: "", kind: Kind::Number, unit: "Hz", default: "none", help: "" },
        Field { name: "speeds", property: "", kind: Kind::Boolean, unit: "", default: "false", help: "" },
    ];
    let (file, hz, speeds) = match v.get_ref() {
        DeValue::String(file) => (file.to_string(), None, false),
        _ => {
            let t = r.as_table(v, f.name)?;
            r.check(t, &format!("`{}`", f.name), &[FIELDS]);
            let Some(file) = r.text(t, "file") else {
                r.log.error(line, "", format!("`{}` needs a `file`", f.name), "");
                return None;
            };
            (file, r.number(t, "lowpass_hz"), r.boolean(t, "speeds").unwrap_or(false))
        }
    };
    let mut e = Element::new("TableProcessor", line);
    e.set_attribute("name", f.property);
    e.push(Element::with_text("filepath", file, line));
    let mut operators = Element::new("operators", line);
    if let Some(hz) = hz {
        let mut lowpass = Element::new("TabOpLowPassFilter", line);
        lowpass.push(Element::with_text("cutoff_frequency", format!("{hz:?}"), line));
        operators.push(lowpass);
    }
    operators.push(Element::new("TabOpConvertDegreesToRadians", line));
    operators.push(Element::new("TabOpUseAbsoluteStateNames", line));
    if speeds {
        operators.push(Element::new("TabOpAppendCoordinateValueDerivativesAsSpeeds", line));
    }
    e.push(operators);
    Some(e)
}

fn pairs(r: &mut Reader<'_>, f: &Field, v: &Value<'_>, line: u32) -> Element {
    let mut list = Element::new(f.property, line);
    for v in r.as_list(v, f.name, Kind::Pairs) {
        let names: Vec<String> = match v.get_ref() {
            DeValue::Array(both) => both.iter().filter_map(|v| r.as_text(v, f.name)).collect(),
            _ => r.as_text(v, f.name).into_iter().collect(),
        };
        let (initial, last) = match &names[..] {
            [one] => (one, one),
            [a, b] => (a, b),
            _ => {
                let message = format!("`{}` needs a name, or [initial, final]", f.name);
                r.log.error(r.line(v), "", message, "");
                continue;
            }
        };
        let mut pair = Element::new("MocoPeriodicityGoalPair", line);
        pair.push(Element::with_text("initial_variable", initial.clone(), line));
        pair.push(Element::with_text("final_variable", last.clone(), line));
        pair.push(Element::with_text("negate", f.name.starts_with("negated").to_string(), line));
        list.push(pair);
    }
    list
}

fn contact_groups(r: &mut Reader<'_>, f: &Field, v: &Value<'_>, line: u32) -> Element {
    const FIELDS: &[Field] = &[
        Field {
            name: "forces",
            property: "contact_force_paths",
            kind: Kind::Texts,
            unit: "",
            default: "needed",
            help: "",
        },
        Field {
            name: "external_force",
            property: "external_force_name",
            kind: Kind::Text,
            unit: "",
            default: "needed",
            help: "",
        },
        Field {
            name: "frames",
            property: "alternative_frame_paths",
            kind: Kind::Texts,
            unit: "",
            default: "none",
            help: "",
        },
    ];
    let mut list = Element::new(f.property, line);
    for v in r.as_list(v, f.name, Kind::ContactGroups) {
        let Some(t) = r.as_table(v, f.name) else { continue };
        r.check(t, "a contact group", &[FIELDS]);
        let mut e = Element::new("MocoContactTrackingGoalGroup", t.line);
        described(r, t, FIELDS, &mut e);
        list.push(e);
    }
    list
}

fn frame_pairs(r: &mut Reader<'_>, f: &Field, v: &Value<'_>, line: u32) -> Element {
    const FIELDS: &[Field] = &[
        Field { name: "frames", property: "", kind: Kind::Texts, unit: "", default: "needed", help: "" },
        Field { name: "bounds", property: "", kind: Kind::Bounds, unit: "m", default: "needed", help: "" },
    ];
    let mut list = Element::new(f.property, line);
    for v in r.as_list(v, f.name, Kind::FramePairs) {
        let Some(t) = r.as_table(v, f.name) else { continue };
        r.check(t, "a pair of frames", &[FIELDS]);
        let (frames, bounds) = (r.texts(t, "frames"), r.bounds(t, "bounds"));
        let ([a, b], Some([least, most])) = (&frames[..], bounds) else {
            r.log.error(t.line, "", "a pair of frames needs `frames = [a, b]` and `bounds`", "");
            continue;
        };
        let mut e = Element::new("MocoFrameDistanceConstraintPair", t.line);
        e.push(Element::with_text("frame1_path", a.clone(), t.line));
        e.push(Element::with_text("frame2_path", b.clone(), t.line));
        e.push(Element::with_text("minimum_distance", format!("{least:?}"), t.line));
        e.push(Element::with_text("maximum_distance", format!("{most:?}"), t.line));
        list.push(e);
    }
    list
}
