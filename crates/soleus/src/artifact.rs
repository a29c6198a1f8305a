//! Output files of a result.

use crate::context::Context;
use crate::error::Error;
use crate::inputs::paths::has_ending;
use soleus_io::table::sto::{self, Digits};
use soleus_io::table::{csv, parquet};
use soleus_math::Table;
use std::borrow::Cow;
use std::path::PathBuf;

/// Content of a file.
#[derive(Clone, Debug)]
pub enum Content<'a> {
    /// Text or binary data.
    Bytes(Cow<'a, [u8]>),
    /// A table, converted to text when it is written: in OpenSim's format, or by file extension (.csv, .parquet).
    Storage(&'a Table, Digits),
    /// The same, with a header that gives the type of its columns.
    TypedStorage(&'a Table),
}

/// An output file: its name and content.
#[derive(Clone, Debug)]
pub struct Artifact<'a> {
    /// File name, as given in the request or the setup file.
    pub path: PathBuf,
    /// Content.
    pub content: Content<'a>,
    /// Whether the name was chosen by the tool or comes from a setup file: its folder is then created. If the user gave
    /// the name, the folder must exist.
    pub is_derived: bool,
}

impl<'a> Artifact<'a> {
    /// A text file.
    pub fn text(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Artifact::bytes(path, text.into().into_bytes())
    }

    /// A binary file.
    pub fn bytes(path: impl Into<PathBuf>, bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Artifact { path: path.into(), content: Content::Bytes(bytes.into()), is_derived: false }
    }

    /// A table.
    pub fn table(path: impl Into<PathBuf>, table: &'a Table, digits: Digits) -> Self {
        Artifact { path: path.into(), content: Content::Storage(table, digits), is_derived: false }
    }

    /// Marks the name as chosen by the tool.
    pub fn derived(self) -> Self {
        Artifact { is_derived: true, ..self }
    }

    /// Content of the file in bytes.
    pub fn to_bytes(&self) -> Cow<'_, [u8]> {
        match &self.content {
            Content::Bytes(bytes) => Cow::Borrowed(bytes),
            Content::Storage(table, _) | Content::TypedStorage(table) if has_ending(&self.path, "csv") => {
                Cow::Owned(csv::write(table).into_bytes())
            }
            Content::Storage(table, _) | Content::TypedStorage(table)
                if has_ending(&self.path, "parquet") =>
            {
                Cow::Owned(parquet::write(table))
            }
            Content::Storage(table, digits) => Cow::Owned(sto::write(table, *digits).into_bytes()),
            Content::TypedStorage(table) => Cow::Owned(sto::write_typed(table).into_bytes()),
        }
    }

    /// Writes the file; creates its folder if the name was chosen by the tool.
    pub fn write(&self, context: &Context) -> Result<(), Error> {
        let files = context.files;
        if let Some(folder) = self.path.parent().filter(|_| self.is_derived) {
            files.make_folder(folder).map_err(|e| Error::write(files, folder, e))?;
        }
        files.write(&self.path, &self.to_bytes()).map_err(|e| Error::write(files, &self.path, e))
    }
}

/// Methods of all results.
pub trait Outcome {
    /// Output files, in the order in which they are written.
    fn artifacts(&self) -> Vec<Artifact<'_>>;

    /// An error if not everything was solved. Results can be written in any case.
    fn verdict(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Writes all files and reports names that were chosen by the tool. If a folder is missing, no file is written.
    fn write(&self, context: &Context) -> Result<(), Error> {
        let artifacts = self.artifacts();
        for a in artifacts.iter().filter(|a| !a.is_derived) {
            context.files.check_writable(&a.path).map_err(|e| Error::write(context.files, &a.path, e))?;
        }
        for a in &artifacts {
            a.write(context)?;
        }
        tell_derived(context, &artifacts);
        Ok(())
    }
}

impl Outcome for Box<dyn Outcome> {
    fn artifacts(&self) -> Vec<Artifact<'_>> {
        (**self).artifacts()
    }

    fn verdict(&self) -> Result<(), Error> {
        (**self).verdict()
    }

    fn write(&self, context: &Context) -> Result<(), Error> {
        (**self).write(context)
    }
}

/// So many files are named each; of more, how many there are.
const FEW_FILES: usize = 4;

/// Names the files whose names a user did not give just now.
pub(crate) fn tell_derived(context: &Context, artifacts: &[Artifact]) {
    let derived: Vec<_> = artifacts.iter().filter(|a| a.is_derived).map(|a| &a.path).collect();
    match derived[..] {
        [first, ..] if derived.len() > FEW_FILES => {
            let folder = first.parent().unwrap_or(std::path::Path::new(""));
            let name = first.file_name().map_or("".into(), |n| n.to_string_lossy().into_owned());
            let common = derived.iter().fold(name, |common, path| {
                let name = path.file_name().map_or("".into(), |n| n.to_string_lossy().into_owned());
                common.chars().zip(name.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
            });
            context.note(format!("wrote {} files, {}", derived.len(), folder.join(common + "*").display()));
        }
        _ => derived.iter().for_each(|path| context.note(format!("wrote {}", path.display()))),
    }
}
