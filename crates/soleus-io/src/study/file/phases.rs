//! Studies with several phases: fields missing in a phase are taken from the study.

use super::reading::Reading;
use super::schema::{self, LIST_FIELDS};
use super::value::{Reader, Table};
use super::{Study, describe, one};
use crate::study::LinkSettings;
use std::collections::HashSet;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Phases of one study. Each repeats what the study says for all, so a short file could ask for many long ones.
const MOST_PHASES: usize = 100;

/// The phases of a study, each a study of its own, and what holds between them.
pub(super) fn read(r: &mut Reader<'_>, t: Table<'_>) -> (Vec<Study>, Vec<LinkSettings>) {
    let mut phases = Vec::new();
    let tables = r.tables(t, "phases");
    if tables.len() > MOST_PHASES {
        let message = format!("the study has {} phases; at most {MOST_PHASES} are supported", tables.len());
        r.log.error(tables[MOST_PHASES].line, "", message, "");
    }
    for p in tables.into_iter().take(MOST_PHASES) {
        r.check(p, "a phase", &[schema::PHASE]);
        let all = merged(t.fields(), p.fields(), true);
        let table = r.root(&all);
        let mut phase = one(r, table);
        phase.setup.name = r.text(p, "name").unwrap_or_else(|| format!("phase{}", phases.len() + 1));
        if phases.iter().any(|q: &Study| q.setup.name == phase.setup.name) {
            let message = format!("two phases have the name `{}`", phase.setup.name);
            r.log.error(p.line, "", message, "give each phase a unique name");
        }
        phases.push(phase);
    }
    let mut links = Vec::new();
    for l in r.tables(t, "links") {
        r.check(l, "a link", &[schema::LINK]);
        let after = r.text(l, "after").unwrap_or_default();
        let place = phases.iter().position(|p| p.setup.name == after);
        match place.filter(|k| k + 1 < phases.len()) {
            Some(after) => {
                let mut link = LinkSettings { after, line: l.line, ..LinkSettings::default() };
                describe::link(&mut Reading { r, t: l, known: &[schema::LINK] }, &mut link);
                links.push(link);
            }
            None => {
                let names: Vec<&str> =
                    phases.iter().rev().skip(1).rev().map(|p| p.setup.name.as_str()).collect();
                let hint = format!("phases that are followed by another: {}", names.join(", "));
                r.log.error(
                    l.line,
                    "",
                    format!("a link comes after `{after}`, which is not one of these phases"),
                    &hint,
                );
            }
        }
    }
    // What the study says for all phases is wrong in each of them.
    let mut seen = HashSet::new();
    r.log.list.retain(|d| {
        seen.insert((d.severity as u8, d.line, d.component.clone(), d.message.clone(), d.hint.clone()))
    });
    (phases, links)
}

/// The fields of a table with those of another over them: lists one after the other, tables field by field.
fn merged<'t>(all: &DeTable<'t>, own: &DeTable<'t>, is_outermost: bool) -> DeTable<'t> {
    let mut out = all.clone();
    if is_outermost {
        for name in ["phases", "links", "name", "refine", "help", "starts", "continuation", "output"] {
            out.remove(name);
        }
    }
    for (key, value) in own.iter() {
        let name: &str = key.get_ref();
        let joined = match (out.get(name).map(Spanned::get_ref), value.get_ref()) {
            (Some(DeValue::Table(a)), DeValue::Table(b)) => DeValue::Table(merged(a, b, false)),
            (Some(DeValue::Array(a)), DeValue::Array(b)) if is_outermost && LIST_FIELDS.contains(&name) => {
                DeValue::Array(a.iter().chain(b.iter()).cloned().collect())
            }
            _ => value.get_ref().clone(),
        };
        out.insert(key.clone(), Spanned::new(value.span(), joined));
    }
    out
}
