//! A plot as a PNG picture, drawn dot by dot with letters of its own: no font and no library of the system is asked.

mod letters;

use super::axis::{Axis, is_drawn};
use super::thin::pieces;
use super::{COLORS, Dash, Plot};
use letters::{HEIGHT, WIDTH, columns};

/// Dots per pixel of the SVG picture, so that prints are sharp.
const SCALE: f64 = 2.0;
/// Size without the legend, margins, and row of the legend, as in the SVG picture, in its pixels.
const SIZE: [f64; 2] = [900.0, 480.0];
const LEFT: f64 = 70.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 36.0;
const BOTTOM: f64 = 46.0;
const ROW: f64 = 18.0;
const SAMPLE: f64 = 26.0;
/// Pixels from letter to letter.
const LETTER: f64 = (WIDTH + 1) as f64;

const WHITE: [u8; 3] = [255; 3];
const BLACK: [u8; 3] = [0; 3];
const GRID: [u8; 3] = [224; 3];
const EVENT: [u8; 3] = [112; 3];
const BAND: [u8; 3] = [208; 3];

/// The encoder refused the picture.
#[derive(Debug, thiserror::Error)]
#[error("the picture cannot be encoded: {0}")]
pub struct PngError(#[from] png::EncodingError);

impl Plot {
    /// The plot as a PNG file, 1800 dots wide.
    pub fn to_png(&self) -> Result<Vec<u8>, PngError> {
        let [width, height] = SIZE;
        let (w, h) = (width - LEFT - RIGHT, height - TOP - BOTTOM);
        let (xs, ys) = (self.x_axis(w / 90.0), self.y_axis(h / 55.0));
        let px = |x: f64| LEFT + w * xs.share(x);
        let py = |y: f64| TOP + h * (1.0 - ys.share(y));
        let inside = |v: f64, a: &Axis| if is_drawn(v) { v.clamp(a.low, a.high) } else { f64::NAN };

        let legend = self.legend_places(width);
        let rows = legend.last().map_or(0.0, |(_, row, _, _)| (*row + 1) as f64);
        let mut c = Canvas::new(width, height + ROW * rows + if rows > 0.0 { 8.0 } else { 0.0 });

        for b in &self.bands {
            for i in 1..b.x.len().min(b.low.len()).min(b.high.len()) {
                c.fill(
                    [px(b.x[i - 1]), px(b.x[i])],
                    [py(b.high[i - 1]), py(b.high[i])],
                    [py(b.low[i - 1]), py(b.low[i])],
                    BAND,
                );
            }
        }
        for t in xs.ticks() {
            c.line((px(t), TOP), (px(t), TOP + h), 1.0, GRID);
            c.text(px(t), TOP + h + 8.0, 0.5, &xs.number(t), BLACK);
        }
        for t in ys.ticks() {
            c.line((LEFT, py(t)), (LEFT + w, py(t)), 1.0, GRID);
            c.text(LEFT - 7.0, py(t) - 3.5, 1.0, &ys.number(t), BLACK);
        }
        for e in self.events.iter().filter(|e| is_drawn(e.x) && e.x >= xs.low && e.x <= xs.high) {
            c.dashed(&[(px(e.x), TOP), (px(e.x), TOP + h)], &[3.0, 3.0], 1.0, EVENT);
            c.text(px(e.x) + 3.0, TOP + 4.0, 0.0, &e.name, EVENT);
        }
        for (i, line) in self.lines.iter().enumerate() {
            let points = line.x.iter().zip(&line.y).map(|(&x, &y)| (px(inside(x, &xs)), py(inside(y, &ys))));
            let color = color(line.style.color.unwrap_or(i));
            for piece in pieces(points) {
                if line.style.dots {
                    piece.iter().for_each(|&p| c.line(p, p, 5.0, color));
                } else {
                    c.dashed(&piece, dashes(line.style.dash), 1.6, color);
                }
            }
        }
        for (a, b) in [((0.0, 0.0), (w, 0.0)), ((0.0, h), (w, h)), ((0.0, 0.0), (0.0, h)), ((w, 0.0), (w, h))]
        {
            c.line((LEFT + a.0, TOP + a.1), (LEFT + b.0, TOP + b.1), 1.0, BLACK);
        }
        c.text(LEFT + w / 2.0, 14.0, 0.5, &self.title, BLACK);
        c.text(LEFT + w / 2.0, height - 17.0, 0.5, &self.x_label, BLACK);
        c.upright(9.0, TOP + h / 2.0, &self.y_label, BLACK);
        for (i, row, x, name) in legend {
            let y = height + 4.0 + ROW * row as f64;
            let line = &self.lines[i];
            let color = color(line.style.color.unwrap_or(i));
            if line.style.dots {
                c.line((x + SAMPLE / 2.0, y), (x + SAMPLE / 2.0, y), 5.0, color);
            } else {
                c.dashed(&[(x, y), (x + SAMPLE, y)], dashes(line.style.dash), 1.6, color);
            }
            c.text(x + SAMPLE + 6.0, y - 3.5, 0.0, name, BLACK);
        }
        c.encode()
    }

    /// Line, row, abscissa and name of each entry of the legend.
    fn legend_places(&self, width: f64) -> Vec<(usize, usize, f64, &str)> {
        let named: Vec<(usize, &str)> = self
            .lines
            .iter()
            .enumerate()
            .map(|(i, l)| (i, l.name.as_str()))
            .filter(|l| !l.1.is_empty())
            .collect();
        if named.len() == 1 && named[0].1 == self.title {
            return Vec::new();
        }
        let (mut x, mut row, mut list) = (LEFT, 0, Vec::new());
        for (i, name) in named {
            let needed = SAMPLE + 22.0 + LETTER * name.chars().count() as f64;
            if x > LEFT && x + needed > width {
                (x, row) = (LEFT, row + 1);
            }
            list.push((i, row, x, name));
            x += needed;
        }
        list
    }
}

/// Lengths of strokes and gaps, in pixels; none for a solid line.
fn dashes(dash: Option<Dash>) -> &'static [f64] {
    match dash {
        None => &[],
        Some(_) => &[6.0, 4.0],
    }
}

/// A color of the palette, from `#rrggbb`.
fn color(i: usize) -> [u8; 3] {
    let text = COLORS[i % COLORS.len()];
    [1, 3, 5].map(|k| text.get(k..k + 2).and_then(|h| u8::from_str_radix(h, 16).ok()).unwrap_or(0))
}

/// Dots in rows. Places are given in pixels of the SVG picture.
struct Canvas {
    width: usize,
    height: usize,
    dots: Vec<[u8; 3]>,
}

impl Canvas {
    fn new(width: f64, height: f64) -> Self {
        let (width, height) = ((width * SCALE) as usize, (height * SCALE) as usize);
        Canvas { width, height, dots: vec![WHITE; width * height] }
    }

    /// Lays a color over a dot; `share` of it, 0 to 1.
    fn blend(&mut self, x: i64, y: i64, share: f64, color: [u8; 3]) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
        if x >= self.width || y >= self.height {
            return;
        }
        let dot = &mut self.dots[y * self.width + x];
        for (d, c) in dot.iter_mut().zip(color) {
            *d = (f64::from(*d) * (1.0 - share) + f64::from(c) * share).round() as u8;
        }
    }

    /// A straight stroke with round ends. A dot within half its width is covered, one at the edge in part.
    fn line(&mut self, a: (f64, f64), b: (f64, f64), width: f64, color: [u8; 3]) {
        let (a, b) = ((a.0 * SCALE, a.1 * SCALE), (b.0 * SCALE, b.1 * SCALE));
        let half = 0.5 * width * SCALE;
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let length2 = dx * dx + dy * dy;
        let reach = half + 1.0;
        let steps = (length2.sqrt() / reach).ceil().clamp(1.0, 1e4) as usize;
        // Along a long stroke only the dots near it are looked at, square by square; each dot once.
        let mut done = std::collections::HashSet::new();
        for s in 0..=steps {
            let t = s as f64 / steps as f64;
            let (cx, cy) = (a.0 + t * dx, a.1 + t * dy);
            for y in (cy - 2.0 * reach).floor() as i64..=(cy + 2.0 * reach).ceil() as i64 {
                for x in (cx - 2.0 * reach).floor() as i64..=(cx + 2.0 * reach).ceil() as i64 {
                    if !done.insert((x, y)) {
                        continue;
                    }
                    let (px, py) = (x as f64 + 0.5, y as f64 + 0.5);
                    let u = if length2 > 0.0 { ((px - a.0) * dx + (py - a.1) * dy) / length2 } else { 0.0 };
                    let u = u.clamp(0.0, 1.0);
                    let distance = (px - a.0 - u * dx).hypot(py - a.1 - u * dy);
                    let share = (half + 0.5 - distance).clamp(0.0, 1.0);
                    if share > 0.0 {
                        self.blend(x, y, share, color);
                    }
                }
            }
        }
    }

    /// Strokes through points, with gaps if there are any in `dashes`.
    fn dashed(&mut self, points: &[(f64, f64)], dashes: &[f64], width: f64, color: [u8; 3]) {
        let (mut k, mut left) = (0, dashes.first().copied().unwrap_or(f64::INFINITY));
        for w in points.windows(2) {
            let (mut a, b) = (w[0], w[1]);
            loop {
                let rest = (b.0 - a.0).hypot(b.1 - a.1);
                let part = rest.min(left);
                let end = if rest > left {
                    (a.0 + (b.0 - a.0) * left / rest, a.1 + (b.1 - a.1) * left / rest)
                } else {
                    b
                };
                if k % 2 == 0 {
                    self.line(a, end, width, color);
                }
                left -= part;
                if left <= 0.0 {
                    k += 1;
                    left = dashes.get(k % dashes.len().max(1)).copied().unwrap_or(f64::INFINITY);
                }
                a = end;
                if rest <= part {
                    break;
                }
            }
        }
        if let [only] = points {
            self.line(*only, *only, width, color);
        }
    }

    /// The area between two ordinates at each of two abscissas.
    fn fill(&mut self, x: [f64; 2], top: [f64; 2], bottom: [f64; 2], color: [u8; 3]) {
        if [x, top, bottom].iter().flatten().any(|v| !v.is_finite()) {
            return;
        }
        for i in (x[0] * SCALE) as i64..(x[1] * SCALE) as i64 {
            let t = ((i as f64 / SCALE - x[0]) / (x[1] - x[0])).clamp(0.0, 1.0);
            let at = |v: [f64; 2]| (v[0] + t * (v[1] - v[0])) * SCALE;
            for j in at(top) as i64..at(bottom) as i64 {
                self.blend(i, j, 1.0, color);
            }
        }
    }

    /// Letters; `anchor` 0 begins at x, 0.5 is centered on it, 1 ends there. y is their upper edge.
    fn text(&mut self, x: f64, y: f64, anchor: f64, text: &str, color: [u8; 3]) {
        let start = x - anchor * LETTER * text.chars().count() as f64;
        self.letters(text, color, |along, down| (start + along, y + down));
    }

    /// Letters that run upwards, centered on y.
    fn upright(&mut self, x: f64, y: f64, text: &str, color: [u8; 3]) {
        let start = y + 0.5 * LETTER * text.chars().count() as f64;
        self.letters(text, color, |along, down| (x + down, start - along));
    }

    /// Every dot of the letters, at the place that `place` gives it from its place in the line of text.
    fn letters(&mut self, text: &str, color: [u8; 3], place: impl Fn(f64, f64) -> (f64, f64)) {
        for (k, letter) in text.chars().enumerate() {
            for (i, column) in columns(letter).into_iter().enumerate() {
                for j in (0..HEIGHT).filter(|j| column >> j & 1 == 1) {
                    let (x, y) = place(LETTER * k as f64 + i as f64 + 0.5, j as f64 + 0.5);
                    let (x, y) = ((x * SCALE - 1.0).round() as i64, (y * SCALE - 1.0).round() as i64);
                    for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                        self.blend(x + dx, y + dy, 1.0, color);
                    }
                }
            }
        }
    }

    fn encode(self) -> Result<Vec<u8>, PngError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.dots.as_flattened())?;
        writer.finish()?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Line;

    #[test]
    fn analytic_a_line_is_where_it_should_be() {
        let mut c = Canvas::new(20.0, 10.0);
        c.line((2.0, 5.0), (18.0, 5.0), 1.0, BLACK);
        // Two dots wide, at the rows on both sides of 10.
        let at = |x: usize, y: usize| c.dots[y * c.width + x];
        assert_eq!([at(20, 9), at(20, 10)], [BLACK; 2]);
        assert_eq!([at(20, 5), at(20, 14), at(0, 10)], [WHITE; 3]);
    }

    #[test]
    fn identity_the_picture_can_be_read_back() {
        let y = vec![0.0, 1.0, f64::NAN, 0.5];
        let plot = Plot {
            title: "Knee (°)".into(),
            lines: vec![
                Line::new("a", vec![0.0, 1.0, 2.0, 3.0], y.clone()),
                Line::new("b", vec![0.0, 1.0, 2.0, 3.0], y),
            ],
            ..Plot::default()
        };
        let bytes = plot.to_png().unwrap();
        assert_eq!(bytes, plot.to_png().unwrap(), "the same bytes every time");
        let reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
        assert_eq!((reader.info().width, reader.info().height), (1800, 1012));
        assert!(Plot::default().to_png().is_ok(), "nothing to draw");
    }
}
