//! Rasterization: lines by their distance, areas by scan lines, text by strokes.

use super::font::{PEN, STEP, strokes};
use super::{Anchor, Color, Drawing, Mark, Path, Stroke, Text};

/// Scan lines for each row of pixels, for smooth edges.
const LINES: usize = 4;

/// Red, green and blue of each pixel, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Pixels {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// Three bytes for each pixel.
    pub rgb: Vec<u8>,
}

impl Drawing {
    /// Renders the drawing with `scale` pixels per unit, on a white background.
    pub fn to_pixels(&self, scale: f64) -> Pixels {
        // No picture is larger than a poster.
        let side = |v: f64| (v * scale).ceil().clamp(1.0, 20_000.0) as usize;
        let (width, height) = (side(self.size[0]), side(self.size[1]));
        let mut sheet = Sheet {
            width,
            height,
            rgb: vec![255; 3 * width * height],
            cover: vec![0.0; width * height],
            touched: Touched::default(),
        };
        for mark in &self.marks {
            match mark {
                Mark::Path(p) => sheet.path(p, scale),
                Mark::Text(t) => sheet.text(t, scale),
            }
        }
        Pixels { width, height, rgb: sheet.rgb }
    }
}

type Pieces = Vec<Vec<[f64; 2]>>;

/// The paper, and how much of each pixel the present mark covers.
struct Sheet {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
    cover: Vec<f32>,
    touched: Touched,
}

/// The pixels that the present mark may cover: columns and rows, ends excluded.
#[derive(Clone, Copy, Default)]
struct Touched {
    x: [usize; 2],
    y: [usize; 2],
}

impl Sheet {
    fn path(&mut self, p: &Path, scale: f64) {
        let scaled = |q: &[f64; 2]| [q[0] * scale, q[1] * scale];
        let finite = |q: &[f64; 2]| q[0].abs() < 1e6 && q[1].abs() < 1e6;
        let mut pieces: Pieces =
            p.pieces.iter().map(|piece| piece.iter().map(scaled).filter(finite).collect()).collect();
        if let Some((color, opacity)) = p.fill {
            self.fill(&pieces);
            self.blend(color, opacity);
        }
        if let Some(pen) = &p.stroke {
            if p.closed {
                pieces.iter_mut().for_each(|piece| piece.extend(piece.first().copied()));
            }
            self.stroke(&pieces, pen, scale);
        }
    }

    fn text(&mut self, t: &Text, scale: f64) {
        let (lines, width) = strokes(&t.text);
        let step = STEP * t.size * scale;
        let start = match t.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -0.5 * width,
            Anchor::End => -width,
        };
        let place = |[x, y]: [f64; 2]| {
            let (along, up) = ((x + start) * step, y * step);
            let [x0, y0] = [t.at[0] * scale, t.at[1] * scale];
            if t.upwards { [x0 - up, y0 - along] } else { [x0 + along, y0 - up] }
        };
        let pieces: Pieces = lines.into_iter().map(|l| l.into_iter().map(place).collect()).collect();
        self.stroke(&pieces, &Stroke::solid(t.color, PEN * t.size), scale);
    }

    fn stroke(&mut self, pieces: &Pieces, pen: &Stroke, scale: f64) {
        let half = 0.5 * pen.width * scale;
        let dashed;
        let pieces = match pen.dash {
            Some(d) => {
                dashed = pieces.iter().flat_map(|p| dashes(p, d.map(|l| l * scale))).collect();
                &dashed
            }
            None => pieces,
        };
        for piece in pieces {
            if let [only] = piece[..] {
                self.segment(only, only, half);
            }
            piece.windows(2).for_each(|e| self.segment(e[0], e[1], half));
        }
        self.blend(pen.color, 1.0);
    }

    /// Covers what is within `half` of the line from `a` to `b`: fully inside, by distance over one pixel at the edge.
    fn segment(&mut self, a: [f64; 2], b: [f64; 2], half: f64) {
        let reach = half + 1.0;
        let Some((columns, rows)) = self.within(
            [a[0].min(b[0]) - reach, a[1].min(b[1]) - reach],
            [a[0].max(b[0]) + reach, a[1].max(b[1]) + reach],
        ) else {
            return;
        };
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let square = dx * dx + dy * dy;
        for y in rows[0]..rows[1] {
            for x in columns[0]..columns[1] {
                let (px, py) = (x as f64 + 0.5 - a[0], y as f64 + 0.5 - a[1]);
                let t = if square > 0.0 { ((px * dx + py * dy) / square).clamp(0.0, 1.0) } else { 0.0 };
                let distance = (px - t * dx).hypot(py - t * dy);
                let c = (half + 0.5 - distance).clamp(0.0, 1.0) as f32;
                let at = &mut self.cover[y * self.width + x];
                *at = at.max(c);
            }
        }
    }

    /// Covers the inside of closed pieces, as the even-odd rule has it for each: exactly along a scan line, by
    /// several of them across.
    fn fill(&mut self, pieces: &Pieces) {
        for piece in pieces.iter().filter(|p| p.len() > 2) {
            let ends = |k: usize| {
                let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
                piece.iter().fold([low, high], |[l, h], p| [l.min(p[k]), h.max(p[k])])
            };
            let ([left, right], [top, bottom]) = (ends(0), ends(1));
            let Some((_, rows)) = self.within([left, top], [right, bottom]) else { continue };
            for y in rows[0]..rows[1] {
                for line in 0..LINES {
                    let level = y as f64 + (line as f64 + 0.5) / LINES as f64;
                    let next = piece.iter().cycle().skip(1);
                    let mut crossings: Vec<f64> = piece
                        .iter()
                        .zip(next)
                        .filter(|(a, b)| (a[1] <= level) != (b[1] <= level))
                        .map(|(a, b)| a[0] + (level - a[1]) / (b[1] - a[1]) * (b[0] - a[0]))
                        .collect();
                    crossings.sort_by(f64::total_cmp);
                    for pair in crossings.chunks_exact(2) {
                        self.span(y, pair[0], pair[1]);
                    }
                }
            }
        }
    }

    /// Adds one scan line from `from` to `to` in row `y`.
    fn span(&mut self, y: usize, from: f64, to: f64) {
        let (from, to) = (from.clamp(0.0, self.width as f64), to.clamp(0.0, self.width as f64));
        for x in from.floor() as usize..(to.ceil() as usize).min(self.width) {
            let inside = (to.min(x as f64 + 1.0) - from.max(x as f64)).max(0.0);
            self.cover[y * self.width + x] += inside as f32 / LINES as f32;
        }
    }

    /// Columns and rows of the pixels in a rectangle, as far as they are on the paper; remembers them.
    fn within(&mut self, low: [f64; 2], high: [f64; 2]) -> Option<([usize; 2], [usize; 2])> {
        let range = |i: usize, size: usize| {
            let end = |v: f64| v.clamp(0.0, size as f64) as usize;
            [end(low[i].floor()), end(high[i].ceil())]
        };
        let (x, y) = (range(0, self.width), range(1, self.height));
        if x[0] >= x[1] || y[0] >= y[1] {
            return None;
        }
        let t = &mut self.touched;
        let join = |old: [usize; 2], new: [usize; 2]| match old[0] < old[1] {
            true => [old[0].min(new[0]), old[1].max(new[1])],
            false => new,
        };
        (t.x, t.y) = (join(t.x, x), join(t.y, y));
        Some((x, y))
    }

    /// Lays the color over what is covered, and forgets the cover.
    fn blend(&mut self, color: Color, opacity: f64) {
        for y in self.touched.y[0]..self.touched.y[1] {
            for x in self.touched.x[0]..self.touched.x[1] {
                let at = y * self.width + x;
                let share = (std::mem::take(&mut self.cover[at]).min(1.0)) * opacity as f32;
                if share > 0.0 {
                    for (old, new) in self.rgb[3 * at..3 * at + 3].iter_mut().zip(color) {
                        *old = (f32::from(*old) + (f32::from(new) - f32::from(*old)) * share).round() as u8;
                    }
                }
            }
        }
        self.touched = Touched::default();
    }
}

/// A line cut into dashes.
fn dashes(line: &[[f64; 2]], [dash, gap]: [f64; 2]) -> Pieces {
    if !(dash > 0.1 && gap > 0.1) {
        return vec![line.to_vec()];
    }
    let mut out = Vec::new();
    let (mut left, mut is_down) = (dash, true);
    let mut piece: Vec<[f64; 2]> = line.first().copied().into_iter().collect();
    for e in line.windows(2) {
        let (mut a, b) = (e[0], e[1]);
        loop {
            let length = (b[0] - a[0]).hypot(b[1] - a[1]);
            if length <= left {
                left -= length;
                if is_down {
                    piece.push(b);
                }
                break;
            }
            let t = left / length;
            a = [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])];
            if is_down {
                piece.push(a);
                out.push(std::mem::take(&mut piece));
            } else {
                piece = vec![a];
            }
            is_down = !is_down;
            left = if is_down { dash } else { gap };
        }
    }
    if is_down && piece.len() > 1 {
        out.push(piece);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::BLACK;

    fn drawn(path: Path) -> Pixels {
        Drawing { size: [40.0, 30.0], marks: vec![Mark::Path(path)], ..Drawing::default() }.to_pixels(1.0)
    }

    /// Ink on the paper, in pixels.
    fn ink(p: &Pixels) -> f64 {
        p.rgb.iter().map(|&v| 1.0 - f64::from(v) / 255.0).sum::<f64>() / 3.0
    }

    /// The ink of a polygon is its area; half opacity, half the ink.
    #[test]
    fn analytic_areas() {
        let triangle = vec![vec![[5.3, 4.2], [31.7, 9.9], [12.4, 25.1]]];
        let area = 0.5 * ((31.7 - 5.3) * (25.1 - 4.2) - (12.4 - 5.3) * (9.9 - 4.2));
        for opacity in [1.0, 0.5] {
            let p = drawn(Path {
                pieces: triangle.clone(),
                closed: true,
                fill: Some((BLACK, opacity)),
                ..Path::default()
            });
            // Edges are off by what four scan lines miss, and by rounding to bytes.
            assert!((ink(&p) - opacity * area).abs() < 0.005 * area, "{} of {area}", ink(&p));
        }
    }

    /// The ink of a line is its length times its width, and its round ends; of a dashed one, that of its dashes.
    #[test]
    fn analytic_lines() {
        let line = vec![vec![[5.0, 6.0], [33.0, 27.0]]];
        let stroke = |dash| Path {
            pieces: line.clone(),
            stroke: Some(Stroke { color: BLACK, width: 3.0, dash }),
            ..Path::default()
        };
        let whole = 3.0 * 35.0 + std::f64::consts::PI * 2.25;
        let found = ink(&drawn(stroke(None)));
        assert!((found - whole).abs() < 0.02 * whole, "{found} of {whole}");
        // Four dashes of 5 in 35: 0-5, 10-15, 20-25, 30-35, each with round ends.
        let whole = 4.0 * (15.0 + std::f64::consts::PI * 2.25);
        let found = ink(&drawn(stroke(Some([5.0, 5.0]))));
        assert!((found - whole).abs() < 0.03 * whole, "{found} of {whole}");
    }

    /// What is outside of the paper, or nowhere, is not drawn and does no harm.
    #[test]
    fn analytic_anything_can_be_drawn() {
        let far = vec![
            vec![[-1e9, 5.0], [f64::NAN, 1.0], [50.0, 50.0], [60.0, 40.0], [70.0, 90.0]],
            vec![],
            vec![[-20.0, -20.0]],
        ];
        let pen = Some(Stroke { color: BLACK, width: 2.0, dash: Some([6.0, 3.0]) });
        let p = drawn(Path {
            pieces: far,
            closed: true,
            fill: Some((BLACK, 1.0)),
            stroke: pen,
            ..Path::default()
        });
        assert_eq!(ink(&p), 0.0);
        let text = Text { at: [1e12, f64::NAN], size: 12.0, text: "far".into(), ..Text::default() };
        Drawing { size: [0.0, f64::NAN], marks: vec![Mark::Text(text)], ..Drawing::default() }.to_pixels(2.0);
    }
}
