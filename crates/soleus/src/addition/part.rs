//! Parts that can be added to a model.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

/// A kind of part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// A spring on a coordinate: `coordinate`, `stiffness` (N·m/rad), `rest` (rad) or `rest_deg`, `damping` (N·m·s/rad).
    #[default]
    Spring,
    /// A controlled torque on a coordinate: `coordinate`, `max` (N·m).
    Torque,
    /// A spring that replaces the muscles crossing a coordinate; properties as for a spring.
    Prosthesis,
    /// A tension-only spring between two points: `from`, `to`, `stiffness` (N/m), `rest_length` (m), `damping` (s/m).
    Ligament,
    /// A mass fixed to a body: `body`, `mass` (kg), `location` (m, in the body).
    Mass,
    /// Contact spheres under heels and toes, and the ground: `stiffness` (N/m²), `damping` (s/m), `friction`.
    Feet,
}

impl PartKind {
    /// Name of the kind.
    pub fn word(self) -> &'static str {
        match self {
            PartKind::Spring => "spring",
            PartKind::Torque => "torque",
            PartKind::Prosthesis => "prosthesis",
            PartKind::Ligament => "ligament",
            PartKind::Mass => "mass",
            PartKind::Feet => "feet",
        }
    }
}

/// A point on a body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct At {
    /// Name of the body.
    pub body: String,
    /// Location in the body frame, m.
    pub location: [f64; 3],
}

/// A part to add. Properties that do not belong to its kind are refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Part {
    /// Kind of part.
    #[serde(rename = "type")]
    pub kind: PartKind,
    /// Name; default: made from kind and location.
    pub name: Option<String>,
    /// Whether to add the same part on the other side; default: yes, except for a prosthesis.
    pub both_sides: Option<bool>,
    /// Properties that a prediction optimizes, with their bounds.
    pub free: BTreeMap<String, [f64; 2]>,
    /// Coordinate on which the part acts.
    pub coordinate: Option<String>,
    /// Stiffness: N·m/rad for rotational coordinates, N/m for translational coordinates and ligaments, N/m² for the
    /// ground.
    pub stiffness: Option<f64>,
    /// Rest position of the spring, rad or m.
    pub rest: Option<f64>,
    /// Rest position of the spring, degrees.
    pub rest_deg: Option<f64>,
    /// Damping: N·m·s/rad for springs on a coordinate, s/m for ligaments and the ground.
    pub damping: Option<f64>,
    /// Maximum torque, N·m.
    pub max: Option<f64>,
    /// Start point of a ligament.
    pub from: Option<At>,
    /// End point of a ligament.
    pub to: Option<At>,
    /// Rest length of a ligament, m.
    pub rest_length: Option<f64>,
    /// Body to which a mass is attached.
    pub body: Option<String>,
    /// Mass, kg.
    pub mass: Option<f64>,
    /// Location of the mass in the body frame, m.
    pub location: Option<[f64; 3]>,
    /// Coefficient of friction of the ground.
    pub friction: Option<f64>,
}

/// A free property of a part.
#[derive(Clone, Debug, PartialEq)]
pub struct Free {
    /// Name of the parameter.
    pub name: String,
    /// Paths of the components that share the parameter.
    pub components: Vec<String>,
    /// Name of the property in the model file.
    pub property: String,
    /// Bounds.
    pub bounds: [f64; 2],
    /// Unit.
    pub unit: String,
}

impl Part {
    /// Name of the part, or one made from its kind and location, without side.
    pub fn base_name(&self) -> String {
        let place = self.coordinate.as_ref().or(self.body.as_ref()).or(self.from.as_ref().map(|f| &f.body));
        let place = place.map_or(String::new(), |p| format!("_{p}"));
        self.name.clone().unwrap_or_else(|| format!("{}{place}", self.kind.word()))
    }

    /// Rest position of a spring, rad or m.
    pub fn rest(&self) -> f64 {
        self.rest.or(self.rest_deg.map(f64::to_radians)).unwrap_or(0.0)
    }

    /// Property in the model file that corresponds to a name, and its unit.
    pub fn property(&self, word: &str) -> Option<(&'static str, &'static str)> {
        match (self.kind, word) {
            (PartKind::Spring | PartKind::Prosthesis, "stiffness") => Some(("stiffness", "N·m/rad")),
            (PartKind::Spring | PartKind::Prosthesis, "rest") => Some(("rest_length", "rad")),
            (PartKind::Spring | PartKind::Prosthesis, "damping") => Some(("viscosity", "N·m·s/rad")),
            (PartKind::Torque, "max") => Some(("optimal_force", "N·m")),
            (PartKind::Ligament, "stiffness") => Some(("stiffness", "N/m")),
            _ => None,
        }
    }

    /// Checks for missing properties, properties of other kinds, and invalid values.
    pub fn check(&self) -> Result<(), String> {
        let given = [
            ("coordinate", self.coordinate.is_some()),
            ("stiffness", self.stiffness.is_some()),
            ("rest", self.rest.is_some() || self.rest_deg.is_some()),
            ("damping", self.damping.is_some()),
            ("max", self.max.is_some()),
            ("from", self.from.is_some()),
            ("to", self.to.is_some()),
            ("rest_length", self.rest_length.is_some()),
            ("body", self.body.is_some()),
            ("mass", self.mass.is_some()),
            ("location", self.location.is_some()),
            ("friction", self.friction.is_some()),
        ];
        let (needed, allowed): (&[&str], &[&str]) = match self.kind {
            PartKind::Spring | PartKind::Prosthesis => (&["coordinate", "stiffness"], &["rest", "damping"]),
            PartKind::Torque => (&["coordinate", "max"], &[]),
            PartKind::Ligament => (&["from", "to", "stiffness", "rest_length"], &["damping"]),
            PartKind::Mass => (&["body", "mass"], &["location"]),
            PartKind::Feet => (&[], &["stiffness", "damping", "friction"]),
        };
        let word = self.kind.word();
        for (name, is_given) in given {
            if needed.contains(&name) && !is_given {
                return Err(format!("a {word} needs `{name}`"));
            }
            if is_given && !needed.contains(&name) && !allowed.contains(&name) {
                return Err(format!("a {word} has no `{name}`"));
            }
        }
        let numbers = [
            ("stiffness", self.stiffness),
            ("damping", self.damping),
            ("max", self.max),
            ("rest_length", self.rest_length),
            ("mass", self.mass),
            ("friction", self.friction),
        ];
        for (name, x) in numbers {
            if let Some(x) = x.filter(|x| !(*x >= 0.0 && x.is_finite())) {
                return Err(format!("`{name}` must be zero or larger, not {x}"));
            }
        }
        for (name, [a, b]) in &self.free {
            if !(a < b) {
                return Err(format!("bounds of `{name}` must be [lower, upper], not {a} and {b}"));
            }
        }
        Ok(())
    }
}

/// From words: `spring coordinate=ankle_angle_r stiffness=100 free.stiffness=0,500`. Lists have commas; a point is `body:x,y,z`.
impl FromStr for Part {
    type Err = crate::error::Error;

    fn from_str(text: &str) -> Result<Part, Self::Err> {
        let refuse = |message: String| {
            let hint =
                "write TYPE NAME=VALUE …, separated by spaces: spring coordinate=ankle_angle_r stiffness=100";
            crate::error::Error::content(Path::new("(part)"), 0, "", message, hint)
        };
        let mut words = text.split_whitespace();
        let kind = words.next().ok_or_else(|| refuse("the part has no type".into()))?;
        let mut table = Map::new();
        table.insert("type".into(), kind.into());
        for word in words {
            let (key, value) =
                word.split_once('=').ok_or_else(|| refuse(format!("`{word}` is not NAME=VALUE")))?;
            match key.strip_prefix("free.") {
                Some(inner) => {
                    let free = table.entry("free").or_insert_with(|| Map::new().into());
                    if let Value::Object(free) = free {
                        free.insert(inner.into(), value_of(value));
                    }
                }
                None => {
                    table.insert(key.into(), value_of(value));
                }
            }
        }
        serde_json::from_value(table.into()).map_err(|e| refuse(format!("`{text}`: {e}")))
    }
}

/// Numbers are numbers, lists have commas, points are `body:x,y,z`, all else is text.
fn value_of(text: &str) -> Value {
    let number = |t: &str| t.parse::<f64>().ok().map(Value::from);
    if let Some((body, place)) = text.split_once(':') {
        let mut at = Map::new();
        at.insert("body".into(), body.into());
        at.insert("location".into(), value_of(place));
        return at.into();
    }
    if let Some(list) = text.split(',').map(number).collect::<Option<Vec<_>>>().filter(|l| l.len() > 1) {
        return list.into();
    }
    match text {
        "true" | "false" => (text == "true").into(),
        other => number(other).unwrap_or_else(|| other.into()),
    }
}
