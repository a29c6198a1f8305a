//! Reading a model and telling the user about its problems.

use crate::failure::Failure;
use soleus_dynamics::{Options, System};
use soleus_io::mesh::read_contact_meshes;
use soleus_io::osim;
use soleus_model::{Diagnostics, Document, Element, Model, Severity};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Whether warnings about a model are printed. A command of many steps prints them in the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warnings {
    /// They are.
    Tell,
    /// They were before.
    Told,
}

impl Warnings {
    fn report(self, diagnostics: &Diagnostics) {
        if self == Warnings::Tell || diagnostics.has_errors() {
            report(diagnostics);
        }
    }
}

/// Reads and builds a model; prints its diagnostics to stderr.
pub fn model(path: &Path) -> Result<Model, Failure> {
    model_with(path, Warnings::Tell)
}

/// As [`model`], with or without its warnings.
pub fn model_with(path: &Path, warnings: Warnings) -> Result<Model, Failure> {
    let bytes = std::fs::read(path).map_err(|e| Failure::read(path, e))?;
    let (model, diagnostics) = soleus_io::osim::read_model(&bytes, &path.display().to_string());
    warnings.report(&diagnostics);
    match model {
        Some(m) if !diagnostics.has_errors() => Ok(m),
        _ => Err(errors(path, &diagnostics)),
    }
}

/// What a tool changes in a model before it is built.
#[derive(Default)]
pub struct Change<'a> {
    /// Whether the model's own forces are taken out.
    pub replace_forces: bool,
    /// Files whose `ForceSet` is added.
    pub force_sets: &'a [PathBuf],
    /// Controllers to add, of version 40600, and the file that holds them.
    pub controllers: &'a [Element],
    pub setup: Option<&'a Path>,
}

/// Reads a model, changes it, and builds it; prints its diagnostics to stderr.
pub fn changed_model(path: &Path, change: &Change, warnings: Warnings) -> Result<Model, Failure> {
    let mut document = upgraded(path, warnings)?;
    let version = document.version;
    let mut added = Vec::new();
    if change.replace_forces {
        osim::clear_set(&mut document, "ForceSet");
    }
    for file in change.force_sets {
        let Some(members) = osim::set_members(&upgraded(file, Warnings::Tell)?, "ForceSet") else {
            return Err(Failure::content(file, 0, "", "the file holds no `ForceSet`".to_string(), ""));
        };
        added.extend(members.iter().map(|m| Added::new("forceset", m, file)));
        osim::add_to_set(&mut document, "ForceSet", members);
    }
    added.extend(
        change.controllers.iter().map(|c| Added::new("controllerset", c, change.setup.unwrap_or(path))),
    );
    osim::add_to_set(&mut document, "ControllerSet", change.controllers.to_vec());
    let mut diagnostics = Diagnostics::new(path.display().to_string());
    let model = soleus_model::build(&document, &mut diagnostics);
    for d in diagnostics.list.iter_mut().filter(|d| d.line == 0) {
        if let Some(from) = added.iter().find(|a| a.holds(&d.component)) {
            (d.file, d.line) = (from.file.clone(), from.line);
        }
    }
    warnings.report(&diagnostics);
    let mut model = model.ok_or_else(|| errors(path, &diagnostics))?;
    model.file_version = version;
    Ok(model)
}

/// Where a component came from that was added to a model.
struct Added {
    path: String,
    file: String,
    line: u32,
}

impl Added {
    fn new(set: &str, member: &Element, file: &Path) -> Self {
        let path = format!("/{set}/{}", member.name());
        Added { path, file: file.display().to_string(), line: member.line }
    }

    /// Whether a component is this one or a part of it.
    fn holds(&self, component: &str) -> bool {
        component.strip_prefix(&self.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Reads any file of OpenSim's and brings it to the newest version.
fn upgraded(path: &Path, warnings: Warnings) -> Result<Document, Failure> {
    let bytes = std::fs::read(path).map_err(|e| Failure::read(path, e))?;
    let (document, mut log) = osim::read_elements(&bytes, &path.display().to_string());
    let document = document.map(|mut d| {
        osim::upgrade(&mut d, &mut log);
        d
    });
    warnings.report(&log);
    document.filter(|_| !log.has_errors()).ok_or_else(|| errors(path, &log))
}

/// Reads the meshes that contacts of a model need.
pub fn contact_meshes(path: &Path, model: &mut Model) -> Result<(), Failure> {
    let mut diagnostics = Diagnostics::new(path.display().to_string());
    // A mesh file name is taken from the folder of the model; an absolute one stays as it is.
    let folder = path.parent().unwrap_or(Path::new(""));
    read_contact_meshes(model, &mut diagnostics, &|name| std::fs::read(folder.join(name)).ok());
    report(&diagnostics);
    if diagnostics.has_errors() { Err(errors(path, &diagnostics)) } else { Ok(()) }
}

/// Makes a model ready for computing; what is wrong is told with the line of the component.
pub fn compile(path: &Path, model: &Model, options: &Options) -> Result<System, Failure> {
    System::compile_with(model, options).map_err(|e| {
        let component = e.component();
        Failure::content(path, model.line_of(component), component, e.to_string(), "")
    })
}

/// Prints warnings and errors; notes are left out.
pub fn report(diagnostics: &Diagnostics) {
    let told = diagnostics.list.iter().filter(|d| d.severity > Severity::Note);
    let text: String = told.map(|d| format!("{d}\n\n")).collect();
    // All at once, as stderr is not buffered. A closed stderr is no reason to stop.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// The failure that stands for a file with errors.
pub fn errors(path: &Path, diagnostics: &Diagnostics) -> Failure {
    let count = diagnostics.list.iter().filter(|d| d.severity == Severity::Error).count();
    Failure::Input { path: path.to_path_buf(), count }
}

/// Writes a whole file or none: to a temporary name first, then renamed. `-` is stdout.
pub fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    write_bytes(path, text.as_bytes())
}

/// Writes a whole file or none, under a name that the user did not give just now, and says where it is.
pub fn write_and_tell(path: &Path, text: &str) -> Result<(), Failure> {
    write_whole(path, text)?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

/// Writes a whole file or none, as [`write_whole`] does.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |source| Failure::write(path, source);
    if path == Path::new("-") {
        return match std::io::stdout().lock().write_all(bytes) {
            // Whoever reads has seen enough, as `head` does.
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            done => done.map_err(failed),
        };
    }
    // A link stays, and what it leads to is written. A device or a pipe, such as /dev/null, is written to: a file that is renamed
    // to it would take its place.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if std::fs::metadata(&target).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return std::fs::write(&target, bytes).map_err(failed);
    }
    let mut name = target.file_name().unwrap_or_default().to_os_string();
    name.push(".partial");
    let partial = target.with_file_name(name);
    let done = std::fs::write(&partial, bytes).and_then(|()| std::fs::rename(&partial, &target));
    done.map_err(|e| {
        // The part that was written is of no use; if it cannot be removed, the first error matters more.
        let _ = std::fs::remove_file(&partial);
        failed(e)
    })
}
