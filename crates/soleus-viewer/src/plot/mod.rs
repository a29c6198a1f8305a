//! Line charts: plain data, drawn by [`Plot::to_svg`] and [`Plot::to_png`].

mod axis;
mod layout;
mod sparsity;
mod thin;

pub use sparsity::{Sparsity, SparsityPanel};

/// Colors that are distinguishable for color-blind readers (Okabe and Ito 2008; yellow is darker for white
/// backgrounds).
pub const COLORS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c8c00"];

/// A chart of lines and bands with a common abscissa.
///
/// ```
/// use soleus_viewer::{Band, Line, Plot};
///
/// let plot = Plot {
///     title: "Knee".into(),
///     x_label: "time (s)".into(),
///     y_label: "angle (°)".into(),
///     lines: vec![Line::new("left", vec![0.0, 0.5, 1.0], vec![5.0, 60.0, 4.0])],
///     bands: vec![Band::new("normal", vec![0.0, 1.0], vec![0.0, 0.0], vec![65.0, 65.0])],
///     ..Plot::default()
/// };
/// assert!(plot.to_svg().starts_with("<svg "));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// Title above the axes.
    pub title: String,
    /// Label below the axes, with the unit.
    pub x_label: String,
    /// Label beside the axes, with the unit.
    pub y_label: String,
    /// Lines, drawn in this order.
    pub lines: Vec<Line>,
    /// Shaded bands behind the lines.
    pub bands: Vec<Band>,
    /// Vertical lines, such as a heel strike.
    pub events: Vec<Event>,
    /// Range of the abscissa; default: from the data.
    pub x_range: Option<[f64; 2]>,
    /// Range of the ordinate; default: from the data, in whole ticks.
    pub y_range: Option<[f64; 2]>,
    /// Whether the abscissa is the time of the page's animation, which then moves a cursor in this plot.
    pub over_time: bool,
    /// Start and end of the abscissa in the time of the page's animation, for curves over one cycle of it: a click moves
    /// the animation, and its time moves a cursor.
    pub cycle: Option<[f64; 2]>,
}

/// One line of a [`Plot`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Name in the legend.
    pub name: String,
    /// Abscissae.
    pub x: Vec<f64>,
    /// Ordinates; NaN breaks the line.
    pub y: Vec<f64>,
    /// How it is drawn.
    pub style: Style,
}

impl Line {
    /// A line in the next free color.
    pub fn new(name: impl Into<String>, x: Vec<f64>, y: Vec<f64>) -> Self {
        Line { name: name.into(), x, y, style: Style::default() }
    }

    /// The same line with another style.
    pub fn styled(mut self, style: Style) -> Self {
        self.style = style;
        self
    }
}

/// Style of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Style {
    /// Index into [`COLORS`], cyclic; default: index of the line.
    pub color: Option<usize>,
    /// Solid, dashed or dotted; default: solid until all colors are used.
    pub dash: Option<Dash>,
    /// Whether to draw dots without a line, for measurements.
    pub dots: bool,
    /// Whether the legend leaves it out, because another line stands for both.
    pub unlisted: bool,
}

/// Dash pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dash {
    /// Solid line.
    Solid,
    /// Long dashes.
    Dashed,
    /// Short dashes.
    Dotted,
}

/// A shaded band of a [`Plot`]: mean ± one standard deviation, a range of motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Band {
    /// Name in the legend.
    pub name: String,
    /// Abscissae.
    pub x: Vec<f64>,
    /// Lower edge.
    pub low: Vec<f64>,
    /// Upper edge.
    pub high: Vec<f64>,
    /// Index into [`COLORS`]; default: grey.
    pub color: Option<usize>,
}

impl Band {
    /// A grey band.
    pub fn new(name: impl Into<String>, x: Vec<f64>, low: Vec<f64>, high: Vec<f64>) -> Self {
        Band { name: name.into(), x, low, high, color: None }
    }
}

/// A vertical line of a [`Plot`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// Position.
    pub x: f64,
    /// Label at its top.
    pub name: String,
}
