//! Tables and pictures of an experiment as files.

use crate::desk;
use soleus::Error;
use soleus_viewer::{Line, Plot};
use std::path::PathBuf;

/// A line of a picture.
pub struct Series<'a> {
    /// Its name in the legend.
    pub name: &'a str,
    /// Abscissae.
    pub x: &'a [f64],
    /// Ordinates.
    pub y: &'a [f64],
}

/// A table of words and numbers.
pub struct Sheet {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Sheet {
    /// An empty one.
    pub fn new(columns: &[&str]) -> Sheet {
        Sheet { columns: columns.iter().map(ToString::to_string).collect(), rows: Vec::new() }
    }

    /// Adds a row; what is missing stays empty.
    pub fn row(&mut self, cells: Vec<String>) {
        let mut cells = cells;
        cells.resize(self.columns.len(), String::new());
        self.rows.push(cells);
    }

    /// With commas; cells that hold one are quoted.
    fn csv(&self) -> String {
        let quoted = |c: &String| {
            if c.contains([',', '"']) { format!("\"{}\"", c.replace('"', "\"\"")) } else { c.clone() }
        };
        let line = |cells: &[String]| cells.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n";
        let mut text = line(&self.columns);
        text.extend(self.rows.iter().map(|r| line(r)));
        text
    }

    /// As Markdown, under a title.
    fn markdown(&self, title: &str) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let mut text = format!("# {title}\n\n{}", line(&self.columns));
        text.push_str(&line(&vec!["---".to_string(); self.columns.len()]));
        text.extend(self.rows.iter().map(|r| line(r)));
        text
    }
}

/// Where files go, if anywhere.
pub struct Folder(Option<PathBuf>);

impl Folder {
    /// Makes the folder.
    pub fn create(path: Option<&PathBuf>) -> Result<Folder, Error> {
        if let Some(p) = path {
            desk::make_folder(p)?;
        }
        Ok(Folder(path.cloned()))
    }

    /// Writes NAME.csv and NAME.md.
    pub fn table(&self, name: &str, title: &str, sheet: &Sheet) -> Result<(), Error> {
        let Some(folder) = &self.0 else { return Ok(()) };
        desk::write_whole(&folder.join(format!("{name}.csv")), &sheet.csv())?;
        desk::write_whole(&folder.join(format!("{name}.md")), &sheet.markdown(title))
    }

    /// Writes NAME.html, if there is a folder.
    pub fn page(&self, name: &str, html: impl FnOnce() -> Result<String, Error>) -> Result<(), Error> {
        let Some(folder) = &self.0 else { return Ok(()) };
        desk::write_whole(&folder.join(format!("{name}.html")), &html()?)
    }

    /// Writes NAME.svg: the title, the labels of both axes, and the lines.
    pub fn picture(&self, name: &str, [title, x, y]: [&str; 3], lines: &[Series]) -> Result<(), Error> {
        let Some(folder) = &self.0 else { return Ok(()) };
        let plot = Plot {
            title: title.to_string(),
            x_label: x.to_string(),
            y_label: y.to_string(),
            lines: lines.iter().map(|l| Line::new(l.name, l.x.to_vec(), l.y.to_vec())).collect(),
            ..Plot::default()
        };
        desk::write_whole(&folder.join(format!("{name}.svg")), &plot.to_svg())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_both_forms_of_a_table() {
        let mut s = Sheet::new(&["a", "b"]);
        s.row(vec!["1, 2".into(), "x".into()]);
        s.row(vec!["3".into()]);
        assert_eq!(s.csv(), "a,b\n\"1, 2\",x\n3,\n");
        assert_eq!(s.markdown("T"), "# T\n\n| a | b |\n| --- | --- |\n| 1, 2 | x |\n| 3 |  |\n");
    }
}
