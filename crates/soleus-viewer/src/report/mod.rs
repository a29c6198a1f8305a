//! Self-contained pages with text, tables, plots and animations.

mod card;
mod motion;
mod page;

pub use card::{Card, Light, Verdict};
pub use motion::{activation_plots, coordinate_plots, force_plots, grouped_plots};

use crate::Plot;
use crate::figure::{Camera, inline_svg};
use crate::scene::Animation;

/// A page, part by part.
///
/// ```
/// use soleus_viewer::{Line, Plot, Report, Table};
///
/// let page = Report::new("A walk")
///     .text("Two steps on level ground.")
///     .table(Table::new("Quality", ["quantity", "value"]).row(["marker error, RMS", "9 mm"]))
///     .plot(Plot { lines: vec![Line::new("knee", vec![0.0, 1.0], vec![5.0, 60.0])], ..Plot::default() })
///     .to_html();
/// assert!(page.starts_with("<!DOCTYPE html>"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    title: String,
    parts: Vec<Part>,
}

/// A part of a page.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Heading(String),
    Subheading(String),
    Text(String),
    Table(Table),
    Plots(Vec<Plot>),
    Wide(Box<Plot>),
    Grid(Vec<Plot>),
    Cards(Vec<Card>),
    Animation(String, String),
    Folded(String, Vec<Part>),
}

/// A table of text and numbers. Numeric cells are right-aligned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Title above the table.
    pub title: String,
    /// Column headings.
    pub head: Vec<String>,
    /// Rows of cells.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new<S: Into<String>>(title: impl Into<String>, head: impl IntoIterator<Item = S>) -> Self {
        Table { title: title.into(), head: head.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(mut self, cells: impl IntoIterator<Item = S>) -> Self {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }
}

impl Report {
    /// An empty page.
    pub fn new(title: impl Into<String>) -> Self {
        Report { title: title.into(), parts: Vec::new() }
    }

    fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Adds a heading.
    pub fn heading(self, text: impl Into<String>) -> Self {
        self.with(Part::Heading(text.into()))
    }

    /// Adds a subheading.
    pub fn subheading(self, text: impl Into<String>) -> Self {
        self.with(Part::Subheading(text.into()))
    }

    /// Adds a paragraph.
    pub fn text(self, paragraph: impl Into<String>) -> Self {
        self.with(Part::Text(paragraph.into()))
    }

    /// Adds a table.
    pub fn table(self, table: Table) -> Self {
        self.with(Part::Table(table))
    }

    /// Adds a plot over the full width.
    pub fn plot(self, plot: Plot) -> Self {
        self.with(Part::Wide(Box::new(plot)))
    }

    /// Adds small plots side by side.
    pub fn plots(self, plots: Vec<Plot>) -> Self {
        self.with(Part::Plots(plots))
    }

    /// Adds plots in rows of three, which are kept together; on a narrow page they are stacked.
    pub fn grid(self, plots: Vec<Plot>) -> Self {
        self.with(Part::Grid(plots))
    }

    /// Adds cards side by side, each with a light for every rated value.
    pub fn cards(self, cards: Vec<Card>) -> Self {
        self.with(Part::Cards(cards))
    }

    /// Adds a collapsed section: the parts of another page under a line to click on. Its title is not shown.
    pub fn folded(self, title: impl Into<String>, inside: Report) -> Self {
        self.with(Part::Folded(title.into(), inside.parts))
    }

    /// Whether the page is empty.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Adds an animation; without JavaScript its first frame is shown. Animations without frames are ignored.
    pub fn animation(self, animation: &Animation) -> Self {
        let Some(first) = animation.frames.first() else { return self };
        let still = inline_svg(&animation.scene, first, &Camera::default());
        self.with(Part::Animation(animation.to_json(), still))
    }

    /// The page as one self-contained file.
    pub fn to_html(&self) -> String {
        page::html(self)
    }
}
