//! Output files of a result.

use crate::context::Context;
use crate::error::Error;
use crate::inputs::paths::has_ending;
use soleus_io::table::sto::{self, Digits};
use soleus_io::table::{csv, parquet};
use soleus_math::Table;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

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
    let derived: Vec<&Path> = artifacts.iter().filter(|a| a.is_derived).map(|a| a.path.as_path()).collect();
    // Folder by folder, in order.
    let mut folders: Vec<(&Path, Vec<&Path>)> = Vec::new();
    for path in derived {
        let folder = path.parent().unwrap_or(Path::new(""));
        match folders.iter_mut().find(|(f, _)| *f == folder) {
            Some((_, list)) => list.push(path),
            None => folders.push((folder, vec![path])),
        }
    }
    let name = |path: &Path| path.file_name().map_or(String::new(), |n| n.to_string_lossy().into_owned());
    for (folder, list) in folders {
        if list.len() <= FEW_FILES {
            list.iter().for_each(|path| context.note(format!("wrote {}", path.display())));
            continue;
        }
        let common = list.iter().fold(name(list[0]), |common, path| {
            let letters = name(path);
            common.chars().zip(letters.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
        });
        context.note(format!("wrote {} files, {}", list.len(), folder.join(common + "*").display()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Collected;
    use crate::files::Memory;

    /// Files of two folders have no common beginning: "wrote 13 files, *" was printed.
    #[test]
    fn issue_everyday_files_of_two_folders() {
        let text = |path: &str| Artifact::text(Path::new(path), String::new()).derived();
        let mut list: Vec<Artifact> = (0..6).map(|k| text(&format!("cmc/walk_{k}.sto"))).collect();
        list.push(text("page.html"));
        let (files, told) = (Memory::new(), Collected::default());
        tell_derived(&Context::new(&files).with_monitor(&told), &list);
        assert_eq!(told.notes(), ["wrote 6 files, cmc/walk_*", "wrote page.html"]);
    }
}
