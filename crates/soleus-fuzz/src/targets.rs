//! What reads files.

use crate::Shape;
use soleus_io::{c3d, iterate, mat, mesh, osim, setup, study, table};
use soleus_math::Table;
use soleus_math::formula::{Expr, Formula, Item, Meaning, Scope, Unknown};
use soleus_math::function::Expression;
use soleus_model::Diagnostics;

/// Something that takes bytes and panics where its answer contradicts itself.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, that of its files in [`corpus`](crate::corpus).
    pub name: &'static str,
    /// What its files are made of.
    pub shape: Shape,
    /// Whether it only reads.
    pub kind: Kind,
    /// Takes any bytes.
    pub run: fn(&[u8]),
}

/// What a target does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reads a file.
    Reader,
    /// Runs a tool.
    Tool,
}

/// Every reader.
pub fn targets() -> Vec<Target> {
    use Shape::{Binary, Table, Text, Xml};
    let target = |name, shape, run| Target { name, shape, kind: Kind::Reader, run };
    vec![
        target("osim", Xml, model),
        target("loads", Xml, loads),
        target("setup", Xml, tool),
        target("controls", Xml, controls),
        target("limits", Xml, limits),
        target("study", Text, toml),
        target("expression", Text, expression),
        target("formula", Text, formula),
        target("sto", Table, |b| any_table(b, "a.sto")),
        target("mot", Table, |b| any_table(b, "a.mot")),
        target("trc", Table, |b| any_table(b, "a.trc")),
        target("csv", Table, |b| any_table(b, "a.csv")),
        target("cycle", Table, cycle),
        target("iterate", Text, iterate),
        target("parquet", Binary, |b| any_table(b, "a.parquet")),
        target("c3d", Binary, trial),
        target("mat", Binary, |b| drop(mat::read(b))),
        target("obj", Text, |b| surface(b, "a.obj")),
        target("stl", Binary, |b| surface(b, "a.stl")),
        target("vtp", Xml, |b| surface(b, "a.vtp")),
    ]
}

/// Messages can be shown, and nothing in them reaches the terminal as a command.
fn told(log: &Diagnostics) {
    for d in &log.list {
        let text = d.to_string();
        assert!(
            !text.contains(|c: char| c.is_control() && c != '\n'),
            "a control character is printed: {text:?}"
        );
    }
}

/// Reader, upgrades, writer and model.
fn model(bytes: &[u8]) {
    let (doc, mut log) = osim::read_document(bytes, "a.osim");
    assert_eq!(doc.is_none(), log.has_errors());
    told(&log);
    if let Some(mut doc) = doc {
        osim::upgrade(&mut doc, &mut log);
        let text = osim::write_document(&doc);
        // An upgrade may carry a file at the limits of depth or attributes beyond them; anything else that was written must
        // be accepted.
        let (again, after) = osim::read_document(text.as_bytes(), "a.osim");
        let over_limit = after.list.iter().any(|d| d.message.contains("more than"));
        assert!(again.is_some() || over_limit, "what was written is refused: {:?}", after.list);
    }
    let (model, log) = osim::read_model(bytes, "a.osim");
    assert_eq!(model.is_none(), log.has_errors());
    told(&log);
}

/// A document of the current version, if the bytes are one.
fn document(bytes: &[u8]) -> Option<(soleus_model::Document, Diagnostics)> {
    let (doc, mut log) = osim::read_document(bytes, "a.xml");
    let mut doc = doc?;
    osim::upgrade(&mut doc, &mut log);
    Some((doc, log))
}

/// External loads on a model that is right.
fn loads(bytes: &[u8]) {
    let Some((doc, mut log)) = document(bytes) else { return };
    let (model, _) = osim::read_model(include_bytes!("../../../models/leg_swing.osim"), "a.osim");
    if let Some(model) = model {
        soleus_model::build_external_loads(&doc, &model, &mut log);
    }
    told(&log);
}

/// Setup files and the sets that they name.
fn tool(bytes: &[u8]) {
    let Some((doc, mut log)) = document(bytes) else { return };
    setup::read(&doc, &mut log);
    setup::read_ik_tasks(&doc, &mut log);
    setup::read_measurements(&doc, &mut log);
    setup::read_scale_set(&doc, &mut log);
    soleus_model::marker_set::markers_of(&doc);
    told(&log);
}

fn controls(bytes: &[u8]) {
    let (set, log) = setup::read_control_set(bytes, "a.xml");
    assert_eq!(set.is_none(), log.has_errors());
    told(&log);
}

/// Limits of controls, and tasks of tracking, which are in files of the same kind.
fn limits(bytes: &[u8]) {
    let (set, log) = setup::read_control_limits(bytes, "a.xml");
    assert_eq!(set.is_none(), log.has_errors());
    told(&log);
    told(&setup::read_tracking_tasks(bytes, "a.xml").1);
}

/// Curves over the gait cycle.
fn cycle(bytes: &[u8]) {
    let (found, log) = table::csv::read_over_cycle(bytes, "a.csv");
    assert!(found.is_some() || log.has_errors());
    told(&log);
    table::csv::is_over_cycle(bytes);
}

/// What is read is written, and reads back to the same.
fn iterate(bytes: &[u8]) {
    let Ok(found) = iterate::read(&String::from_utf8_lossy(bytes)) else { return };
    let text = iterate::write(&found).unwrap_or_else(|e| panic!("an iterate that was read: {e}"));
    let again = iterate::read(&text).unwrap_or_else(|e| panic!("what was written is refused: {e}"));
    assert_eq!(again, found);
    assert_eq!(found.problem.difference(&again.problem), None);
}

fn toml(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut log = Diagnostics::new("a.toml");
    let read = study::read(&text, &mut log);
    assert_eq!(read.is_none(), log.has_errors());
    told(&log);
}

fn expression(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(e) = Expression::new(text.trim(), &["x", "y", "z"]) {
        let mut gradient = [0.0; 3];
        let (value, with) = (e.value(&[0.3, -0.7, 2.0]), e.gradient(&[0.3, -0.7, 2.0], &mut gradient));
        assert!(value == with || value.is_nan() && with.is_nan(), "{value} and {with}");
    }
}

/// A scope in which `v` is a vector, every other name a number, and groups have two members.
struct AnyName;

impl Scope for AnyName {
    fn resolve(&mut self, name: &str, _: Option<&str>) -> Result<Meaning, Unknown> {
        Ok(if name == "v" { Meaning::Vector(1) } else { Meaning::Number(0) })
    }
    fn items(&mut self, _: &str) -> Vec<Item> {
        ["one_r", "two_r"].map(|n| Item { name: n.to_string(), path: format!("/{n}") }).into()
    }
}

/// What is printed reads back to the same, and what has a meaning has a value.
fn formula(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(e) = Expr::parse(text.trim()) else { return };
    let printed = e.to_string();
    match Expr::parse(&printed) {
        Ok(again) => assert_eq!(again.to_string(), printed),
        // Brackets that are printed may carry a formula at the limit of length beyond it.
        Err(error) if error.to_string().contains("too long") => {}
        Err(error) => panic!("{printed}: {error}"),
    }
    if let Ok(f) = Formula::new(&e, &mut AnyName) {
        let mut out = vec![0.0; f.width()];
        f.evaluate(&[0.3, -0.7, 2.0, 1.1], &mut vec![0.0; f.stack_len()], &mut out);
    }
}

/// Reader, and every writer whose file must be read again.
fn any_table(bytes: &[u8], file: &str) {
    let (found, log) = table::read(bytes, file);
    assert!(found.is_some() || log.has_errors());
    told(&log);
    // Repeated times are merged on purpose, and a damaged table is not written.
    let Some(t) = found.filter(|t| !log.has_errors() && t.times().windows(2).all(|w| w[0] < w[1])) else {
        return;
    };
    again(&t, table::sto::write(&t, table::sto::Digits::Shortest).as_bytes(), "b.sto");
    again(&t, table::csv::write(&t).as_bytes(), "b.csv");
    again(&t, &table::parquet::write(&t), "b.parquet");
    if let (Ok(text), Ok(packed)) = (table::trc::write(&t, "b.trc"), t.packed()) {
        again(&packed, text.as_bytes(), "b.trc");
    }
}

/// A table that was written is read, with all its rows and columns.
fn again(t: &Table, bytes: &[u8], file: &str) {
    let (found, log) = table::read(bytes, file);
    assert!(
        !log.has_errors(),
        "{file} is refused: {:?}\n{}",
        log.list,
        String::from_utf8_lossy(&bytes[..bytes.len().min(2000)])
    );
    let Some(found) = found else { return };
    assert_eq!(
        (found.rows(), found.columns().len()),
        (t.rows(), t.columns().len()),
        "rows and columns of {file}"
    );
    // Missing components make a whole marker missing in a .trc.
    if file != "b.trc" {
        let same = |a: &f64, b: &f64| a == b || a.is_nan() && b.is_nan();
        let all =
            t.columns().iter().zip(found.columns()).all(|(a, b)| a.iter().zip(b).all(|(a, b)| same(a, b)));
        assert!(all || t.element() != soleus_math::table::Element::Scalar, "numbers of {file}");
    }
}

fn trial(bytes: &[u8]) {
    let (trial, mut log) = c3d::read(bytes, "a.c3d");
    if let Some(trial) = trial {
        trial.markers();
        trial.forces(true, &mut log);
        trial.ground_reactions(1.0, &mut log);
    }
    told(&log);
}

fn surface(bytes: &[u8], file: &str) {
    if let Ok(mesh) = mesh::read_mesh(bytes, file) {
        assert!(mesh.faces.iter().flatten().all(|v| (*v as usize) < mesh.vertices.len()));
    }
}
