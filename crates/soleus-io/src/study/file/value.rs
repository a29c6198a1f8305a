//! Tables of a study file with their lines, and typed reading of their fields.

use super::schema::{Class, Field, Kind};
use soleus_model::{Diagnostics, nearest_name};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(super) type Value<'t> = Spanned<DeValue<'t>>;

/// Fields that have another name now: the old one and the new one.
const OLD_FIELDS: [(&str, &str); 1] = [("prices", "penalties")];

/// What reading needs everywhere: where lines begin, and who is told.
pub(super) struct Reader<'l> {
    /// Offset of every line.
    lines: Vec<usize>,
    pub log: &'l mut Diagnostics,
}

/// One table: its fields are checked against a list.
#[derive(Clone, Copy)]
pub(super) struct Table<'t> {
    table: &'t DeTable<'t>,
    pub line: u32,
}

impl<'l> Reader<'l> {
    pub fn new(text: &str, log: &'l mut Diagnostics) -> Reader<'l> {
        let mut lines = vec![0];
        lines.extend(text.match_indices('\n').map(|(i, _)| i + 1));
        Reader { lines, log }
    }

    /// Line of an offset, from 1.
    pub fn line_at(&self, offset: usize) -> u32 {
        self.lines.partition_point(|&l| l <= offset) as u32
    }

    pub fn line(&self, v: &Value<'_>) -> u32 {
        self.line_at(v.span().start)
    }

    /// The table as a whole.
    pub fn root<'t>(&self, table: &'t DeTable<'t>) -> Table<'t> {
        Table { table, line: 1 }
    }

    pub fn wrong(&mut self, line: u32, name: &str, kind: Kind, found: &str) {
        let message = format!("`{name}` needs {}; found {found}", article(kind.words()));
        self.log.error(line, "", message, "");
    }

    /// Names the fields of a table that are in none of the lists.
    pub fn check(&mut self, t: Table<'_>, what: &str, known: &[&[Field]]) {
        for key in t.table.keys() {
            let name: &str = key.get_ref();
            let is_known = |name: &str| known.iter().any(|list| list.iter().any(|f| f.name == name));
            if is_known(name) {
                continue;
            }
            if let Some((old, new)) = OLD_FIELDS.iter().find(|(old, new)| *old == name && is_known(new)) {
                let line = self.line_at(key.span().start);
                match t.table.contains_key(*new) {
                    true => self.log.error(
                        line,
                        "",
                        format!("{what} has both `{new}` and `{old}`"),
                        "keep the first",
                    ),
                    false => self.log.warn(line, "", format!("`{old}` is now called `{new}`; both work"), ""),
                }
                continue;
            }
            let all = known.iter().flat_map(|list| list.iter().map(|f| f.name));
            let line = self.line_at(key.span().start);
            let hint = suggestion(name, all);
            self.log.error(line, "", format!("{what} has no field `{name}`"), &hint);
        }
    }

    /// The class that `type` names.
    pub fn class(&mut self, t: Table<'_>, what: &str, classes: &'static [Class]) -> Option<&'static Class> {
        // A formula says what it is.
        let formula = || classes.iter().find(|c| c.name == "formula").filter(|_| t.has("formula"));
        if let (false, Some(class)) = (t.has("type"), formula()) {
            return Some(class);
        }
        let Some(name) = self.text(t, "type") else {
            let hint = suggestion("", classes.iter().map(|c| c.name));
            self.log.error(t.line, "", format!("{what} needs a `type`"), &hint);
            return None;
        };
        let found = classes.iter().find(|c| c.name == name || c.class == name);
        if found.is_none() {
            let hint = suggestion(&name, classes.iter().map(|c| c.name));
            self.log.error(t.line, "", format!("unknown {what} type `{name}`"), &hint);
        }
        found
    }

    /// The table of a field.
    pub fn table<'t>(&mut self, t: Table<'t>, name: &str) -> Option<Table<'t>> {
        let v = t.get(name)?;
        self.as_table(v, name)
    }

    pub fn as_table<'t>(&mut self, v: &'t Value<'t>, name: &str) -> Option<Table<'t>> {
        let line = self.line(v);
        match v.get_ref() {
            DeValue::Table(table) => Some(Table { table, line }),
            other => {
                self.wrong(line, name, Kind::Table, other.type_str());
                None
            }
        }
    }

    /// The tables of a field, `[[name]]`.
    pub fn tables<'t>(&mut self, t: Table<'t>, name: &str) -> Vec<Table<'t>> {
        self.list(t, name, Kind::Tables).into_iter().filter_map(|v| self.as_table(v, name)).collect()
    }

    /// The values of a list.
    pub fn list<'t>(&mut self, t: Table<'t>, name: &str, kind: Kind) -> Vec<&'t Value<'t>> {
        match t.get(name) {
            None => Vec::new(),
            Some(v) => self.as_list(v, name, kind),
        }
    }

    pub fn as_list<'t>(&mut self, v: &'t Value<'t>, name: &str, kind: Kind) -> Vec<&'t Value<'t>> {
        match v.get_ref() {
            DeValue::Array(list) => list.iter().collect(),
            other => {
                self.wrong(self.line(v), name, kind, other.type_str());
                Vec::new()
            }
        }
    }

    pub fn text(&mut self, t: Table<'_>, name: &str) -> Option<String> {
        let v = t.get(name)?;
        self.as_text(v, name)
    }

    pub fn as_text(&mut self, v: &Value<'_>, name: &str) -> Option<String> {
        match v.get_ref() {
            DeValue::String(s) => Some(s.to_string()),
            other => {
                self.wrong(self.line(v), name, Kind::Text, other.type_str());
                None
            }
        }
    }

    pub fn texts(&mut self, t: Table<'_>, name: &str) -> Vec<String> {
        self.list(t, name, Kind::Texts).into_iter().filter_map(|v| self.as_text(v, name)).collect()
    }

    pub fn number(&mut self, t: Table<'_>, name: &str) -> Option<f64> {
        let v = t.get(name)?;
        self.as_number(v, name)
    }

    pub fn as_number(&mut self, v: &Value<'_>, name: &str) -> Option<f64> {
        let x = match v.get_ref() {
            DeValue::Integer(i) => i64::from_str_radix(i.as_str(), i.radix()).ok().map(|i| i as f64),
            DeValue::Float(f) => f.as_str().parse().ok(),
            _ => None,
        };
        let x = x.filter(|x: &f64| !x.is_nan());
        if x.is_none() {
            self.wrong(self.line(v), name, Kind::Number, v.get_ref().type_str());
        }
        x
    }

    /// A whole number, at least one.
    pub fn count(&mut self, t: Table<'_>, name: &str) -> Option<usize> {
        let line = self.line(t.get(name)?);
        let x = self.number(t, name)?;
        if x >= 1.0 && x.fract() == 0.0 && x < 1e9 {
            return Some(x as usize);
        }
        self.wrong(line, name, Kind::Count, &x.to_string());
        None
    }

    pub fn numbers(&mut self, t: Table<'_>, name: &str) -> Option<Vec<f64>> {
        let v = t.get(name)?;
        let list = self.as_list(v, name, Kind::Numbers);
        list.into_iter().map(|v| self.as_number(v, name)).collect()
    }

    pub fn boolean(&mut self, t: Table<'_>, name: &str) -> Option<bool> {
        let v = t.get(name)?;
        if let DeValue::Boolean(b) = v.get_ref() {
            return Some(*b);
        }
        self.wrong(self.line(v), name, Kind::Boolean, v.get_ref().type_str());
        None
    }

    /// One number, or two.
    pub fn bounds(&mut self, t: Table<'_>, name: &str) -> Option<[f64; 2]> {
        let v = t.get(name)?;
        self.as_bounds(v, name)
    }

    pub fn as_bounds(&mut self, v: &Value<'_>, name: &str) -> Option<[f64; 2]> {
        let line = self.line(v);
        let list: Vec<f64> = match v.get_ref() {
            DeValue::Array(list) => list.iter().filter_map(|v| self.as_number(v, name)).collect(),
            _ => vec![self.as_number(v, name)?],
        };
        match list[..] {
            [x] => Some([x, x]),
            [a, b] if a <= b => Some([a, b]),
            [a, b] => {
                let message = format!("`{name}`: the lower bound {a} is above the upper bound {b}");
                self.log.error(line, "", message, "write [lower, upper]");
                None
            }
            _ => {
                self.wrong(line, name, Kind::Bounds, &format!("{} numbers", list.len()));
                None
            }
        }
    }

    /// Names with numbers.
    pub fn weights(&mut self, t: Table<'_>, name: &str) -> Vec<(String, f64)> {
        // A list of pairs can hold a name twice.
        if let Some(DeValue::Array(pairs)) = t.get(name).map(Spanned::get_ref) {
            return pairs.iter().filter_map(|v| self.as_weight(v, name)).collect();
        }
        let Some(inner) = self.table(t, name) else { return Vec::new() };
        let pairs = inner.in_order().into_iter();
        pairs.filter_map(|(k, v)| Some((k.to_string(), self.as_number(v, k)?))).collect()
    }

    fn as_weight(&mut self, v: &Value<'_>, name: &str) -> Option<(String, f64)> {
        match v.get_ref() {
            DeValue::Array(pair) if pair.len() == 2 => {
                Some((self.as_text(&pair[0], name)?, self.as_number(&pair[1], name)?))
            }
            other => {
                self.wrong(self.line(v), name, Kind::Weights, other.type_str());
                None
            }
        }
    }
}

impl<'t> Table<'t> {
    /// All fields.
    pub fn fields(self) -> &'t DeTable<'t> {
        self.table
    }

    /// All fields in the order of the file.
    pub fn in_order(self) -> Vec<(&'t str, &'t Value<'t>)> {
        let mut list: Vec<_> = self.table.iter().collect();
        list.sort_by_key(|(key, _)| key.span().start);
        list.into_iter().map(|(key, value)| (key.get_ref().as_ref(), value)).collect()
    }

    /// A field, by its name or an old one.
    pub fn get(self, name: &str) -> Option<&'t Value<'t>> {
        let old =
            || OLD_FIELDS.iter().filter(|(_, new)| *new == name).find_map(|(old, _)| self.table.get(*old));
        self.table.get(name).or_else(old)
    }

    pub fn has(self, name: &str) -> bool {
        self.get(name).is_some()
    }
}

fn article(words: &str) -> String {
    match words {
        "text" | "true or false" => words.to_string(),
        _ => format!("a {words}"),
    }
}

/// The nearest of the names, or all of them where none is near.
fn suggestion<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    match nearest_name(wanted, names.iter().copied(), 3) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("there are: {}", names.join(", ")),
    }
}
