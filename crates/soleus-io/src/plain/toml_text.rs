//! JSON values as TOML text.

use serde_json::{Map, Value};
use std::fmt::Write;

/// A number as it is read back to the last digit; whole ones without a point.
pub(crate) fn number(x: f64) -> String {
    if x.is_nan() {
        return "nan".into();
    }
    let text = format!("{x:?}");
    match text.strip_suffix(".0") {
        Some(whole) if x != 0.0 || x.is_sign_positive() => whole.to_string(),
        _ => text,
    }
}

/// Text between quotation marks.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            // Writing to a `String` cannot fail.
            c if c.is_control() => drop(write!(out, "\\u{:04X}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A list on one line.
pub(crate) fn list<T>(items: &[T], each: impl Fn(&T) -> String) -> String {
    format!("[{}]", items.iter().map(each).collect::<Vec<_>>().join(", "))
}

/// A value on one line. There is no null in TOML: fields that are null are left out.
pub(crate) fn inline(v: &Value) -> String {
    match v {
        Value::String(s) => quoted(s),
        Value::Number(n) if n.is_f64() => number(n.as_f64().unwrap_or(f64::NAN)),
        Value::Array(items) => list(items, inline),
        Value::Object(o) => {
            let given = o.iter().filter(|(_, v)| !v.is_null());
            let all: Vec<String> = given.map(|(k, v)| format!("{} = {}", key(k), inline(v))).collect();
            format!("{{ {} }}", all.join(", "))
        }
        other => other.to_string(),
    }
}

/// A key, between quotation marks where it needs them.
pub(crate) fn key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    if is_bare { name.to_string() } else { quoted(name) }
}

/// A document: plain fields first, then a section for each table and for each member of a list of tables. Tables inside those
/// are on one line.
pub(crate) fn document(fields: &Map<String, Value>) -> String {
    let mut out = String::new();
    let is_tables = |v: &Value| matches!(v, Value::Array(a) if a.first().is_some_and(Value::is_object));
    let is_section = |v: &Value| v.is_object() || is_tables(v);
    lines(&mut out, fields.iter().filter(|(_, v)| !is_section(v)));
    for (name, v) in fields {
        match v {
            Value::Object(table) => section(&mut out, &format!("[{}]", key(name)), table),
            Value::Array(tables) if is_tables(v) => {
                for table in tables.iter().filter_map(Value::as_object) {
                    section(&mut out, &format!("[[{}]]", key(name)), table);
                }
            }
            _ => {}
        }
    }
    out.trim_start().to_string()
}

fn section(out: &mut String, head: &str, table: &Map<String, Value>) {
    let _ = writeln!(out, "\n{head}");
    lines(out, table.iter());
}

fn lines<'v>(out: &mut String, fields: impl Iterator<Item = (&'v String, &'v Value)>) {
    for (name, v) in fields.filter(|(_, v)| !v.is_null()) {
        let _ = writeln!(out, "{} = {}", key(name), inline(v));
    }
}
