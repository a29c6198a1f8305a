//! A picture as a list of marks, and the two ways to write it: SVG text and PNG pixels.

mod font;
mod png;
mod raster;
mod svg;

/// A picture. Coordinates are in pixels, y downwards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// Width and height.
    pub size: [f64; 2],
    /// Class of the SVG element, for the style of pages.
    pub class: String,
    /// Words for those who cannot see it.
    pub label: String,
    /// Further attributes of the SVG element, escaped: name and value.
    pub attributes: Vec<(&'static str, String)>,
    /// What is drawn, in this order.
    pub marks: Vec<Mark>,
}

/// A part of a picture.
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
    /// Name that the script of a page shows.
    pub name: Option<String>,
    /// Points of each piece. A piece of one point is a dot.
    pub pieces: Vec<Vec<[f64; 2]>>,
    /// Whether each piece ends where it began.
    pub closed: bool,
    /// The pen, if there is one.
    pub stroke: Option<Stroke>,
    /// Color and opacity of the inside, if it is filled.
    pub fill: Option<(Color, f64)>,
}

/// Red, green and blue.
pub type Color = [u8; 3];

/// A pen with round ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Stroke {
    /// Its color.
    pub color: Color,
    /// Its width.
    pub width: f64,
    /// Lengths of dashes and gaps; none for a line without.
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
    /// Where its anchor stands, on the base line.
    pub at: [f64; 2],
    /// Height of the font.
    pub size: f64,
    /// Which part of the text stands there.
    pub anchor: Anchor,
    /// Runs upwards.
    pub upwards: bool,
    /// Its color.
    pub color: Color,
    /// The words.
    pub text: String,
}

/// Which part of a text stands at its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning.
    #[default]
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// The color `#rrggbb`; black where it is none.
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

/// Black ink.
pub const BLACK: Color = [0; 3];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_colors() {
        assert_eq!([hex("#0072b2"), hex("#ffffff"), hex("red")], [[0, 0x72, 0xb2], [255; 3], BLACK]);
    }
}
