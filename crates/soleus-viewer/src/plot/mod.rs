//! Line charts: plain data here, pictures from [`Plot::to_svg`] and [`Plot::to_png`].

mod axis;
mod layout;
mod sparsity;
mod thin;

pub use sparsity::{Sparsity, SparsityPanel};

/// Colors that differ for color-blind readers too (Okabe and Ito 2008; the yellow darkened to be seen on white).
pub const COLORS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c8c00"];

/// A chart of lines over bands, all over one abscissa.
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
    /// Above the axes.
    pub title: String,
    /// Below the axes, with the unit.
    pub x_label: String,
    /// Beside the axes, with the unit.
    pub y_label: String,
    /// Lines, drawn in this order.
    pub lines: Vec<Line>,
    /// Shaded bands behind the lines.
    pub bands: Vec<Band>,
    /// Vertical lines: a heel strike, a push.
    pub events: Vec<Event>,
    /// Ends of the abscissa; from the data when not given.
    pub x_range: Option<[f64; 2]>,
    /// Ends of the ordinate; from the data, in whole ticks, when not given.
    pub y_range: Option<[f64; 2]>,
    /// The abscissa is the time of the page's animation, which then moves a cursor here.
    pub over_time: bool,
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

    /// The same line drawn in another way.
    pub fn styled(mut self, style: Style) -> Self {
        self.style = style;
        self
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Style {
    /// Place in [`COLORS`], taken round and round; the line's own place in the list when not given.
    pub color: Option<usize>,
    /// Solid, dashed or dotted; solid until the colors are used up when not given.
    pub dash: Option<Dash>,
    /// Dots at the points and no line: for measurements.
    pub dots: bool,
}

/// Dashes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dash {
    /// One stroke.
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
    /// Place in [`COLORS`]; grey when not given.
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
    /// Where.
    pub x: f64,
    /// Word at its top.
    pub name: String,
}
