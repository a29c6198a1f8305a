//! Tables of a study file into values.

use super::describe;
use super::fields::Fields;
use super::schema::{CONTACT_GROUP, FRAME_PAIR, Field, Kind, REFERENCE};
use super::value::{Reader, Table, Value};
use crate::plain::{FunctionForm, Plain};
use crate::study::{
    ContactGroup, FramePair, NamedFormula, NamedSource, PeriodicPair, TableOperator, TableSource, Weight,
};
use soleus_math::Function;
use soleus_math::formula::Expr;
use soleus_model::Element;
use toml::de::DeValue;

/// A table that is being read.
pub(super) struct Reading<'r, 'l, 't> {
    pub r: &'r mut Reader<'l>,
    pub t: Table<'t>,
    /// All that such a table may hold.
    pub known: &'r [&'r [Field]],
}

impl<'t> Reading<'_, '_, 't> {
    fn get(&self, name: &str) -> Option<&'t Value<'t>> {
        debug_assert!(
            self.known.iter().any(|list| list.iter().any(|f| f.name == name)),
            "the lists of fields do not have `{name}`"
        );
        self.t.get(name)
    }

    /// Tells that a field needs something else.
    fn wrong(&mut self, v: &Value<'_>, message: String, hint: &str) {
        let line = self.r.line(v);
        self.r.log.error(line, "", message, hint);
    }

    fn pair(&mut self, v: &'t Value<'t>, name: &str) -> Option<PeriodicPair> {
        const PAIR: &[Field] = &[
            Field { name: "initial", kind: Kind::Text, unit: "", default: "required", help: "" },
            Field { name: "final", kind: Kind::Text, unit: "", default: "required", help: "" },
            Field { name: "negated", kind: Kind::Boolean, unit: "", default: "false", help: "" },
        ];
        let mut negate = false;
        let names: Vec<String> = match v.get_ref() {
            DeValue::Array(both) => both.iter().filter_map(|v| self.r.as_text(v, name)).collect(),
            DeValue::Table(_) => {
                let t = self.r.as_table(v, name)?;
                self.r.check(t, "a pair", &[PAIR]);
                negate = self.r.boolean(t, "negated").unwrap_or(false);
                ["initial", "final"].iter().filter_map(|end| self.r.text(t, end)).collect()
            }
            _ => self.r.as_text(v, name).into_iter().collect(),
        };
        match names.len() {
            1 | 2 => {
                Some(PeriodicPair { initial: names[0].clone(), last: names[names.len() - 1].clone(), negate })
            }
            _ => {
                self.wrong(v, format!("`{name}` needs a name, or [initial, final]"), "");
                None
            }
        }
    }

    fn operator(&mut self, v: &'t Value<'t>, name: &str) -> Option<TableOperator> {
        const WORDS: &str =
            "available: { lowpass_hz }, radians, absolute_state_names, coupled_coordinates, speeds";
        const LOWPASS: &[Field] =
            &[Field { name: "lowpass_hz", kind: Kind::Number, unit: "Hz", default: "required", help: "" }];
        if let DeValue::Table(_) = v.get_ref() {
            let t = self.r.as_table(v, name)?;
            self.r.check(t, "an operator on a table", &[LOWPASS]);
            return self.r.number(t, "lowpass_hz").map(TableOperator::LowPass);
        }
        let word = self.r.as_text(v, name)?;
        let found = OPERATORS.iter().find(|o| o.0 == word).map(|o| o.1.clone());
        if found.is_none() {
            self.wrong(v, format!("unknown table operator `{word}`"), WORDS);
        }
        found
    }

    fn function_of(&mut self, v: &'t Value<'t>, name: &str) -> Option<Function> {
        if matches!(v.get_ref(), DeValue::Integer(_) | DeValue::Float(_)) {
            let x = self.r.as_number(v, name)?;
            if !x.is_finite() {
                self.wrong(v, format!("`{name}` must be finite; found {x}"), "");
                return None;
            }
            return Some(Function::Constant(x));
        }
        if !matches!(v.get_ref(), DeValue::Table(_)) {
            self.r.wrong(self.r.line(v), name, Kind::Function, v.get_ref().type_str());
            return None;
        }
        let form = serde_json::from_value::<FunctionForm>(json(v.get_ref()));
        match form.map_err(|e| e.to_string()).and_then(<Function as Plain>::value) {
            Ok(function) => Some(function),
            Err(why) => {
                self.wrong(v, format!("`{name}`: {why}"), "");
                None
            }
        }
    }

    fn source_of(&mut self, v: &'t Value<'t>, name: &str, value: &mut TableSource) {
        if let DeValue::String(file) = v.get_ref() {
            *value = TableSource {
                file: Some(file.to_string()).filter(|f| !f.is_empty()),
                operators: usual_operators(None, false),
            };
            return;
        }
        let Some(t) = self.r.as_table(v, name) else { return };
        self.r.check(t, &format!("`{name}`"), &[REFERENCE]);
        let Some(file) = self.r.text(t, "file") else {
            self.wrong(v, format!("`{name}` needs a `file`"), "");
            return;
        };
        let operators = match t.get("operators") {
            Some(list) => {
                for other in ["lowpass_hz", "speeds"].into_iter().filter(|n| t.has(n)) {
                    self.wrong(v, format!("`{name}` has both `operators` and `{other}`"), "give one of them");
                }
                let list = self.r.as_list(list, "operators", Kind::Texts);
                list.into_iter().filter_map(|o| self.operator(o, "operators")).collect()
            }
            None => {
                let hz = self.r.number(t, "lowpass_hz");
                usual_operators(hz, self.r.boolean(t, "speeds").unwrap_or(false))
            }
        };
        *value = TableSource { file: Some(file).filter(|f| !f.is_empty()), operators };
    }

    /// The text of a formula, where it is one; what is wrong is told with its line in the file and its place in the formula.
    fn formula_of(&mut self, v: &'t Value<'t>, name: &str) -> Option<String> {
        let text = self.r.as_text(v, name)?;
        match Expr::parse(&text) {
            Ok(_) => Some(text),
            Err(e) => {
                let line = self.r.line(v) + e.place.line.saturating_sub(1);
                self.r.log.error(line, "", format!("`{name}`: {e}"), &e.hint());
                None
            }
        }
    }

    fn element_of(&mut self, v: &'t Value<'t>, name: &str) -> Option<Element> {
        let text = self.r.as_text(v, name)?;
        match Element::value(text) {
            Ok(mut e) => {
                // Lines of the study, not of the text.
                move_lines(&mut e, self.r.line(v));
                Some(e)
            }
            Err(why) => {
                self.wrong(v, format!("`{name}`: {why}"), "");
                None
            }
        }
    }
}

/// Words for operators on tables.
pub(super) const OPERATORS: &[(&str, TableOperator)] = &[
    ("radians", TableOperator::Radians),
    ("absolute_state_names", TableOperator::AbsoluteStateNames),
    ("coupled_coordinates", TableOperator::CoupledCoordinates),
    ("speeds", TableOperator::Speeds),
];

/// What is done to a table unless the study says otherwise: a low-pass, radians, full names, speeds, in this order.
pub(super) fn usual_operators(lowpass_hz: Option<f64>, speeds: bool) -> Vec<TableOperator> {
    let mut list: Vec<TableOperator> = lowpass_hz.map(TableOperator::LowPass).into_iter().collect();
    list.extend([TableOperator::Radians, TableOperator::AbsoluteStateNames]);
    list.extend(speeds.then_some(TableOperator::Speeds));
    list
}

fn move_lines(e: &mut Element, first: u32) {
    e.line = (e.line + first).saturating_sub(1);
    e.children_mut().for_each(|c| move_lines(c, first));
}

/// A value as JSON, for types that serde reads.
fn json(v: &DeValue<'_>) -> serde_json::Value {
    match v {
        DeValue::String(s) => s.to_string().into(),
        DeValue::Integer(i) => {
            i64::from_str_radix(i.as_str(), i.radix()).map_or(serde_json::Value::Null, Into::into)
        }
        DeValue::Float(f) => f.as_str().parse::<f64>().map_or(serde_json::Value::Null, Into::into),
        DeValue::Boolean(b) => (*b).into(),
        DeValue::Datetime(d) => d.to_string().into(),
        DeValue::Array(list) => list.iter().map(|v| json(v.get_ref())).collect(),
        DeValue::Table(t) => t.iter().map(|(k, v)| (k.get_ref().to_string(), json(v.get_ref()))).collect(),
    }
}

impl Fields for Reading<'_, '_, '_> {
    fn text(&mut self, name: &'static str, value: &mut String) {
        if let Some(found) = self.get(name).and_then(|v| self.r.as_text(v, name)) {
            *value = found;
        }
    }

    fn optional_text(&mut self, name: &'static str, value: &mut Option<String>) {
        if let Some(found) = self.get(name).and_then(|v| self.r.as_text(v, name)) {
            *value = Some(found).filter(|t| !t.is_empty());
        }
    }

    fn word(&mut self, name: &'static str, value: &mut String, words: &[&'static str]) {
        let Some(v) = self.get(name) else { return };
        let Some(text) = self.r.as_text(v, name) else { return };
        if words.contains(&text.as_str()) {
            *value = text;
        } else {
            let words: Vec<&str> = words.iter().copied().filter(|w| !w.is_empty()).collect();
            self.wrong(v, format!("`{name}` is `{text}`"), &format!("there are: {}", words.join(", ")));
        }
    }

    fn number(&mut self, name: &'static str, value: &mut f64) {
        if let Some(found) = self.get(name).and_then(|v| self.r.as_number(v, name)) {
            *value = found;
        }
    }

    fn optional_number(&mut self, name: &'static str, value: &mut Option<f64>) {
        if let Some(found) = self.get(name).and_then(|v| self.r.as_number(v, name)) {
            *value = Some(found);
        }
    }

    fn positive(&mut self, name: &'static str, value: &mut Option<f64>) {
        let Some(v) = self.get(name) else { return };
        match self.r.as_number(v, name) {
            Some(x) if x > 0.0 => *value = Some(x),
            Some(x) => self.wrong(v, format!("`{name}` must be positive; found {x}"), ""),
            None => {}
        }
    }

    fn count(&mut self, name: &'static str, value: &mut Option<usize>) {
        if self.get(name).is_some()
            && let Some(found) = self.r.count(self.t, name)
        {
            *value = Some(found);
        }
    }

    fn index(&mut self, name: &'static str, value: &mut Option<usize>) {
        let Some(v) = self.get(name) else { return };
        match self.r.as_number(v, name) {
            Some(x) if x < 0.0 => *value = None,
            Some(x) if x.fract() == 0.0 && x < 1e9 => *value = Some(x as usize),
            Some(x) => self.wrong(v, format!("`{name}` must be a whole number, 0 or larger; found {x}"), ""),
            None => {}
        }
    }

    fn boolean(&mut self, name: &'static str, value: &mut bool) {
        if self.get(name).is_some()
            && let Some(found) = self.r.boolean(self.t, name)
        {
            *value = found;
        }
    }

    fn numbers(&mut self, name: &'static str, value: &mut Vec<f64>) {
        if self.get(name).is_some()
            && let Some(found) = self.r.numbers(self.t, name)
        {
            *value = found;
        }
    }

    fn vector(&mut self, name: &'static str, value: &mut [f64; 3]) {
        let Some(v) = self.get(name) else { return };
        let Some(list) = self.r.numbers(self.t, name) else { return };
        match <[f64; 3]>::try_from(list) {
            Ok(found) => *value = found,
            Err(list) => self.wrong(v, format!("`{name}` needs 3 numbers; found {}", list.len()), ""),
        }
    }

    fn texts(&mut self, name: &'static str, value: &mut Vec<String>) {
        if self.get(name).is_some() {
            *value = self.r.texts(self.t, name);
        }
    }

    fn bounds(&mut self, name: &'static str, value: &mut Option<[f64; 2]>) {
        if self.get(name).is_some()
            && let Some(found) = self.r.bounds(self.t, name)
        {
            *value = Some(found);
        }
    }

    fn angle_bounds(&mut self, name: &'static str, in_degrees: &'static str, value: &mut Option<[f64; 2]>) {
        let degrees = self.get(in_degrees).and_then(|_| self.r.bounds(self.t, in_degrees));
        if let Some(found) = degrees {
            *value = Some(found.map(f64::to_radians));
        }
        self.bounds(name, value);
    }

    fn bounds_list(&mut self, name: &'static str, value: &mut Vec<[f64; 2]>) {
        let Some(v) = self.get(name) else { return };
        match v.get_ref() {
            DeValue::Array(list) if list.iter().any(|v| matches!(v.get_ref(), DeValue::Array(_))) => {
                *value = list.iter().filter_map(|v| self.r.as_bounds(v, name)).collect();
            }
            _ => *value = self.r.as_bounds(v, name).into_iter().collect(),
        }
    }

    fn weights(&mut self, name: &'static str, value: &mut Vec<Weight>) {
        if self.get(name).is_some() {
            let list = self.r.weights(self.t, name).into_iter();
            *value = list.map(|(name, weight)| Weight { name, weight }).collect();
        }
    }

    fn table_source(&mut self, name: &'static str, value: &mut TableSource) {
        if let Some(v) = self.get(name) {
            self.source_of(v, name, value);
        }
    }

    fn pairs(&mut self, name: &'static str, negated: &'static str, value: &mut Vec<PeriodicPair>) {
        for (name, negate) in [(name, false), (negated, true)] {
            let Some(v) = self.get(name) else { continue };
            for v in self.r.as_list(v, name, Kind::Pairs) {
                let pair = self.pair(v, name);
                value.extend(pair.map(|p| PeriodicPair { negate: p.negate || negate, ..p }));
            }
        }
    }

    fn contact_groups(&mut self, name: &'static str, value: &mut Vec<ContactGroup>) {
        let Some(v) = self.get(name) else { return };
        for v in self.r.as_list(v, name, Kind::ContactGroups) {
            let Some(t) = self.r.as_table(v, name) else { continue };
            self.r.check(t, "a contact group", &[CONTACT_GROUP]);
            let mut group = ContactGroup {
                forces: Vec::new(),
                external_force: String::new(),
                alternative_frames: Vec::new(),
            };
            describe::contact_group(&mut Reading { r: self.r, t, known: &[CONTACT_GROUP] }, &mut group);
            value.push(group);
        }
    }

    fn frame_pairs(&mut self, name: &'static str, value: &mut Vec<FramePair>) {
        let Some(v) = self.get(name) else { return };
        for v in self.r.as_list(v, name, Kind::FramePairs) {
            let Some(t) = self.r.as_table(v, name) else { continue };
            self.r.check(t, "a pair of frames", &[FRAME_PAIR]);
            let (frames, distance) = (self.r.texts(t, "frames"), self.r.bounds(t, "bounds"));
            let (Ok(frames), Some(distance)) = (<[String; 2]>::try_from(frames), distance) else {
                self.wrong(v, "a pair of frames needs `frames = [a, b]` and `bounds`".to_string(), "");
                continue;
            };
            value.push(FramePair { frames, distance });
        }
    }

    fn formula(&mut self, name: &'static str, value: &mut String) {
        if let Some(found) = self.get(name).and_then(|v| self.formula_of(v, name)) {
            *value = found;
        }
    }

    fn formulas(&mut self, name: &'static str, value: &mut Vec<NamedFormula>) {
        let Some(v) = self.get(name) else { return };
        let Some(t) = self.r.as_table(v, name) else { return };
        value.clear();
        for (key, v) in t.in_order() {
            if let Some(formula) = self.formula_of(v, key) {
                value.push(NamedFormula { name: key.to_string(), formula, line: self.r.line(v) });
            }
        }
    }

    fn table_sources(&mut self, name: &'static str, value: &mut Vec<NamedSource>) {
        let Some(v) = self.get(name) else { return };
        let Some(t) = self.r.as_table(v, name) else { return };
        value.clear();
        for (key, v) in t.in_order() {
            let mut source = TableSource::default();
            self.source_of(v, key, &mut source);
            value.push(NamedSource { name: key.to_string(), source, line: self.r.line(v) });
        }
    }

    fn function(&mut self, name: &'static str, value: &mut Option<Function>) {
        if let Some(found) = self.get(name).and_then(|v| self.function_of(v, name)) {
            *value = Some(found);
        }
    }

    fn functions(&mut self, name: &'static str, value: &mut Vec<(String, Function)>) {
        let Some(t) = self.get(name).and_then(|v| self.r.as_table(v, name)) else { return };
        for (key, v) in t.in_order() {
            value.extend(self.function_of(v, name).map(|f| (key.to_string(), f)));
        }
    }

    fn elements(&mut self, name: &'static str, value: &mut Vec<Element>) {
        let Some(v) = self.get(name) else { return };
        for v in self.r.as_list(v, name, Kind::Texts) {
            value.extend(self.element_of(v, name));
        }
    }

    fn element(&mut self, name: &'static str, value: &mut Option<Element>) {
        if let Some(found) = self.get(name).and_then(|v| self.element_of(v, name)) {
            *value = Some(found);
        }
    }
}
