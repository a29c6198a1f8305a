//! Drawings as lists of marks, with SVG and PNG output.

mod font;
mod png;
mod raster;
mod svg;

/// A drawing. Coordinates are in pixels, y downwards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// Width and height.
    pub size: [f64; 2],
    /// Class of the SVG element, for the style of pages.
    pub class: String,
    /// Text alternative for screen readers.
    pub label: String,
    /// Further attributes of the SVG element, escaped: name and value.
    pub attributes: Vec<(&'static str, String)>,
    /// Marks, in drawing order.
    pub marks: Vec<Mark>,
}

/// An element of a drawing.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// Lines or areas.
    Path(Path),
    /// A line of text.
    Text(Text),
}

/// Lines, or the areas that they enclose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path {
    /// Class of the SVG element.
    pub class: &'static str,
    /// Name for the script of a page.
    pub name: Option<String>,
    /// Points of each piece. A piece of one point is a dot.
    pub pieces: Vec<Vec<[f64; 2]>>,
    /// Whether each piece is closed.
    pub closed: bool,
    /// Stroke, if any.
    pub stroke: Option<Stroke>,
    /// Fill color and opacity, if any.
    pub fill: Option<(Color, f64)>,
}

/// Red, green and blue.
pub type Color = [u8; 3];

/// Stroke with round ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Stroke {
    /// Its color.
    pub color: Color,
    /// Its width.
    pub width: f64,
    /// Lengths of dashes and gaps; `None` for a solid line.
    pub dash: Option<[f64; 2]>,
}

impl Stroke {
    /// A line without dashes.
    pub fn solid(color: Color, width: f64) -> Self {
        Stroke { color, width, dash: None }
    }
}

/// A line of text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text {
    /// Position of its anchor, on the base line.
    pub at: [f64; 2],
    /// Height of the font.
    pub size: f64,
    /// Part of the text at that position.
    pub anchor: Anchor,
    /// Whether it runs upwards.
    pub upwards: bool,
    /// Its color.
    pub color: Color,
    /// The text.
    pub text: String,
}

/// Part of a text at its position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Anchor {
    /// Start.
    #[default]
    Start,
    /// Middle.
    Middle,
    /// End.
    End,
}

/// The color `#rrggbb`; black if invalid.
pub const fn hex(text: &str) -> Color {
    let b = text.as_bytes();
    let mut rgb = [0; 3];
    if b.len() == 7 {
        let mut i = 0;
        while i < 3 {
            rgb[i] = 16 * digit(b[1 + 2 * i]) + digit(b[2 + 2 * i]);
            i += 1;
        }
    }
    rgb
}

const fn digit(b: u8) -> u8 {
    match b {
        b'0'..=b'9' => b - b'0',
        b'a'..=b'f' => b - b'a' + 10,
        _ => 0,
    }
}

/// Black.
pub const BLACK: Color = [0; 3];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_colors() {
        assert_eq!([hex("#0072b2"), hex("#ffffff"), hex("red")], [[0, 0x72, 0xb2], [255; 3], BLACK]);
    }
}
