//! Groups of named values.

use super::bytes::Processor;
use super::header::BLOCK;
use soleus_model::Diagnostics;

/// The values of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text, trimmed.
    Text(Vec<String>),
    /// Bytes and 16-bit integers; read as signed.
    Integers(Vec<i16>),
    /// Floats.
    Floats(Vec<f64>),
}

/// One parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Name in upper case.
    pub name: String,
    /// Dimensions, fastest first; for text the first is the length of a string.
    pub dimensions: Vec<usize>,
    /// Value.
    pub value: Value,
}

/// All groups, each with its name in upper case and its parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    /// Groups in the order of the file.
    pub groups: Vec<(String, Vec<Parameter>)>,
}

impl Parameters {
    /// A parameter by group and name.
    pub fn get(&self, group: &str, name: &str) -> Option<&Parameter> {
        let (_, parameters) = self.groups.iter().find(|(g, _)| g == group)?;
        parameters.iter().find(|p| p.name == name)
    }

    /// Numbers of a parameter; empty if it is text or missing.
    pub fn numbers(&self, group: &str, name: &str) -> Vec<f64> {
        match self.get(group, name).map(|p| &p.value) {
            Some(Value::Integers(v)) => v.iter().map(|&x| f64::from(x)).collect(),
            Some(Value::Floats(v)) => v.clone(),
            _ => Vec::new(),
        }
    }

    /// Integers of a parameter as counts from 0 to 65535, floats rounded; empty if it is text or missing.
    pub fn counts(&self, group: &str, name: &str) -> Vec<usize> {
        match self.get(group, name).map(|p| &p.value) {
            Some(Value::Integers(v)) => v.iter().map(|&x| usize::from(x as u16)).collect(),
            Some(Value::Floats(v)) => v.iter().map(|&x| x.round().max(0.0) as usize).collect(),
            _ => Vec::new(),
        }
    }

    /// Strings of a parameter; empty if it is not text or missing.
    pub fn text(&self, group: &str, name: &str) -> &[String] {
        match self.get(group, name).map(|p| &p.value) {
            Some(Value::Text(v)) => v,
            _ => &[],
        }
    }

    /// Strings of a list that continues in parameters with suffix 2, 3, ….
    pub fn continued_text(&self, group: &str, name: &str) -> Vec<String> {
        let more = (2..).map(|i| self.text(group, &format!("{name}{i}"))).take_while(|v| !v.is_empty());
        self.text(group, name).iter().chain(more.flatten()).cloned().collect()
    }

    /// Numbers of a list that continues in parameters with suffix 2, 3, ….
    pub fn continued_numbers(&self, group: &str, name: &str) -> Vec<f64> {
        let more = (2..).map(|i| self.numbers(group, &format!("{name}{i}"))).take_while(|v| !v.is_empty());
        self.numbers(group, name).into_iter().chain(more.flatten()).collect()
    }
}

/// Reads all groups and says which machine wrote the file; `None` if it is not a C3D file.
pub(super) fn read(bytes: &[u8], log: &mut Diagnostics) -> Option<(Parameters, Processor)> {
    let (&block, &key) = (bytes.first()?, bytes.get(1)?);
    if key != 0x50 || bytes.len() < BLOCK {
        return None;
    }
    let start = usize::from(block).max(1).saturating_sub(1) * BLOCK;
    let code = *bytes.get(start + 3)?;
    let p = Processor::from_code(code).unwrap_or_else(|| {
        log.warn(
            0,
            "",
            format!("unknown processor type {code}; Intel is assumed"),
            "known types are 84, 85 and 86",
        );
        Processor::Intel
    });

    // Records follow each other by the distance to the next. Groups have negative numbers.
    let mut groups: Vec<(i8, String, Vec<Parameter>)> = Vec::new();
    let mut at = start + 4;
    // Records do not overlap, so their values together are shorter than the file.
    let mut budget = bytes.len();
    while let (Some(&length), Some(&id)) = (bytes.get(at), bytes.get(at + 1)) {
        // A negative length locks the name; length 0 or group 0 ends the list.
        let (length, id) = (usize::from((length as i8).unsigned_abs()), id as i8);
        if length == 0 || id == 0 {
            break;
        }
        let name_at = at + 2;
        let Some(name) = bytes.get(name_at..name_at + length) else {
            log.error(0, "", "the parameter section is truncated", "");
            break;
        };
        let name = String::from_utf8_lossy(name).trim().to_ascii_uppercase();
        let next_at = name_at + length;
        let Some(next) = p.u16(bytes, next_at) else {
            log.error(0, &name, "the parameter section is truncated", "");
            break;
        };
        let group_id = -id.saturating_abs();
        let group = match groups.iter().position(|(g, ..)| *g == group_id) {
            Some(i) => i,
            None => {
                groups.push((group_id, String::new(), Vec::new()));
                groups.len() - 1
            }
        };
        if id < 0 {
            groups[group].1 = name;
        } else {
            match read_parameter(bytes, next_at + 2, name.clone(), p) {
                Some((parameter, size)) if size <= budget => {
                    budget -= size;
                    groups[group].2.push(parameter);
                }
                Some(_) => {
                    log.error(0, &name, "the parameters overlap: they are longer than the file", "");
                    break;
                }
                None => log.error(0, &name, "the parameter is truncated", ""),
            }
        }
        if next == 0 {
            break;
        }
        at = next_at + usize::from(next);
    }
    let groups = groups.into_iter().map(|(_, name, parameters)| (name, parameters)).collect();
    Some((Parameters { groups }, p))
}

/// Type, sizes and values of a parameter, and the number of bytes of the values.
fn read_parameter(bytes: &[u8], at: usize, name: String, p: Processor) -> Option<(Parameter, usize)> {
    let kind = *bytes.get(at)? as i8;
    let n = usize::from(*bytes.get(at + 1)?);
    let dimensions: Vec<usize> = bytes.get(at + 2..at + 2 + n)?.iter().map(|&d| usize::from(d)).collect();
    let data = at + 2 + n;
    // Sizes are bytes, so a product can still be huge; the values must lie inside the file.
    let count = dimensions.iter().try_fold(1usize, |a, &b| a.checked_mul(b))?;
    let size = if kind == -1 { 1 } else { usize::from(kind.unsigned_abs()) };
    let end = data.checked_add(count.checked_mul(size)?)?;
    let raw = bytes.get(data..end)?;
    let value = match kind {
        -1 => {
            let word = dimensions.first().copied().unwrap_or(count);
            let text =
                |w: &[u8]| String::from_utf8_lossy(w).trim_matches([' ', '\0', '\t', '\n', '\r']).to_string();
            Value::Text(if word == 0 { Vec::new() } else { raw.chunks(word).map(text).collect() })
        }
        1 => Value::Integers(raw.iter().map(|&b| i16::from(b)).collect()),
        2 => Value::Integers((0..count).map(|i| p.i16(raw, 2 * i)).collect::<Option<_>>()?),
        4 => Value::Floats((0..count).map(|i| p.f32(raw, 4 * i)).collect::<Option<_>>()?),
        _ => return None,
    };
    Some((Parameter { name, dimensions, value }, raw.len()))
}
