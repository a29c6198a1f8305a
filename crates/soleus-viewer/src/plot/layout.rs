//! Layout of a plot.

use super::axis::{Axis, is_drawn};
use super::thin::pieces;
use super::{Band, COLORS, Dash, Line, Plot};
use crate::drawing::{Anchor, BLACK, Color, Drawing, Mark, Path, Stroke, Text, hex};
use crate::text::short;

/// Size of a picture of its own, without the legend, and of one of two or three beside each other on a page, in pixels: about as wide as they are
/// shown, so that text keeps its size.
const ALONE: [f64; 2] = [900.0, 480.0];
const SMALL: [f64; 2] = [440.0, 270.0];
const THIRD: [f64; 2] = [310.0, 230.0];
/// Margins around the axes, in pixels.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 36.0;
const BOTTOM: f64 = 46.0;
/// Width of one letter, generously; height of a row of the legend; the sample of a line in it. In pixels.
const LETTER: f64 = 6.4;
const ROW: f64 = 18.0;
const SAMPLE: f64 = 26.0;
/// Pixels between ticks, about.
const TICK_X: f64 = 90.0;
const TICK_Y: f64 = 55.0;
/// Heights of text, in pixels.
const TITLE: f64 = 15.0;
const WORDS: f64 = 12.0;
const SMALL_WORDS: f64 = 10.0;
/// Grey of bands, of the grid and of events.
const BAND: Color = hex("#8a8a8a");
const GRID: Color = hex("#e0e0e0");
const EVENT: Color = hex("#707070");

impl Plot {
    /// The plot as a standalone SVG file.
    pub fn to_svg(&self) -> String {
        self.drawing(ALONE).to_svg()
    }

    /// The plot as a PNG file, with twice as many pixels in width and height as the SVG.
    pub fn to_png(&self) -> Vec<u8> {
        self.drawing(ALONE).to_png()
    }

    /// The plot as a part of a page, of so many beside each other.
    pub(crate) fn inline_svg(&self, beside: usize) -> String {
        let size = match beside {
            0 | 1 => ALONE,
            2 => SMALL,
            _ => THIRD,
        };
        self.drawing(size).inline_svg()
    }

    fn drawing(&self, [width, height]: [f64; 2]) -> Drawing {
        let (w, h) = (width - LEFT - RIGHT, height - TOP - BOTTOM);
        let (xs, ys) = (self.x_axis(w / TICK_X), self.y_axis(h / TICK_Y));
        let px = |x: f64| LEFT + w * xs.share(x);
        let py = |y: f64| TOP + h * (1.0 - ys.share(y));
        let at =
            |x: f64, y: f64| if is_drawn(x) && is_drawn(y) { (px(x), py(y)) } else { (f64::NAN, f64::NAN) };

        let text = |at: [f64; 2], size: f64, anchor: Anchor, text: &str| {
            Mark::Text(Text { at, size, anchor, text: text.to_string(), ..Text::default() })
        };
        let mut marks = vec![text([LEFT + w / 2.0, 22.0], TITLE, Anchor::Middle, &self.title)];
        marks.extend(self.bands.iter().map(|b| band(b, &at)));
        for t in xs.ticks() {
            marks.push(pen("grid", vec![[px(t), TOP], [px(t), TOP + h]], GRID, None));
            marks.push(text([px(t), TOP + h + 16.0], WORDS, Anchor::Middle, &xs.number(t)));
        }
        for t in ys.ticks() {
            marks.push(pen("grid", vec![[LEFT, py(t)], [LEFT + w, py(t)]], GRID, None));
            marks.push(text([LEFT - 7.0, py(t) + 4.0], WORDS, Anchor::End, &ys.number(t)));
        }
        let corners = vec![[LEFT, TOP], [LEFT + w, TOP], [LEFT + w, TOP + h], [LEFT, TOP + h], [LEFT, TOP]];
        marks.push(pen("frame", corners, BLACK, None));
        marks.push(text([LEFT + w / 2.0, height - 10.0], WORDS, Anchor::Middle, &self.x_label));
        marks.push(Mark::Text(Text {
            at: [16.0, TOP + h / 2.0],
            size: WORDS,
            anchor: Anchor::Middle,
            upwards: true,
            text: self.y_label.clone(),
            ..Text::default()
        }));
        for e in self.events.iter().filter(|e| is_drawn(e.x) && e.x >= xs.low && e.x <= xs.high) {
            let x = px(e.x);
            marks.push(pen("event", vec![[x, TOP], [x, TOP + h]], EVENT, Some([3.0, 3.0])));
            let (at, text) = ([x + 3.0, TOP + 10.0], e.name.clone());
            marks.push(Mark::Text(Text { at, size: SMALL_WORDS, color: EVENT, text, ..Text::default() }));
        }
        for (i, line) in self.lines.iter().enumerate() {
            let points = line.x.iter().zip(&line.y).map(|(&x, &y)| at(x, y));
            let pieces = match line.style.dots {
                true => points.filter(|p| is_drawn(p.0)).map(|p| vec![[p.0, p.1]]).collect(),
                false => {
                    pieces(points).into_iter().map(|p| p.into_iter().map(|(x, y)| [x, y]).collect()).collect()
                }
            };
            let (name, stroke) = (Some(line.name.clone()), Some(stroke(line, i)));
            marks.push(Mark::Path(Path { class: "line", name, pieces, stroke, ..Path::default() }));
        }
        let rows = self.legend([width, height], &mut marks);
        // What the script of a page needs to read values off the lines.
        let ends = [LEFT, LEFT + w].map(|v| short(v, 1)).join(" ");
        let levels = [TOP + h, TOP].map(|v| short(v, 1)).join(" ");
        let axes = format!("{ends} {:e} {:e} {levels} {:e} {:e}", xs.low, xs.high, ys.low, ys.high);
        let mut attributes = vec![("data-axes", axes)];
        attributes.extend(self.cycle.map(|[a, b]| ("data-cycle", format!("{a:e} {b:e}"))));
        Drawing {
            size: [width, height + if rows > 0 { ROW * rows as f64 + 8.0 } else { 0.0 }],
            class: if self.over_time || self.cycle.is_some() { "plot over-time" } else { "plot" }.to_string(),
            label: self.title.clone(),
            attributes,
            marks,
        }
    }

    fn x_axis(&self, ticks: f64) -> Axis {
        match self.x_range {
            Some(ends) => Axis::over(ends.into_iter(), ticks, false),
            None => {
                let lines = self.lines.iter().map(|l| &l.x);
                let all = lines.chain(self.bands.iter().map(|b| &b.x));
                Axis::over(all.flatten().copied(), ticks, false)
            }
        }
    }

    fn y_axis(&self, ticks: f64) -> Axis {
        match self.y_range {
            Some(ends) => Axis::over(ends.into_iter(), ticks, false),
            None => {
                let lines = self.lines.iter().map(|l| &l.y);
                let all = lines.chain(self.bands.iter().flat_map(|b| [&b.low, &b.high]));
                Axis::over(all.flatten().copied(), ticks, true)
            }
        }
    }

    /// Adds the legend below the axes; returns how many rows it takes.
    fn legend(&self, [width, height]: [f64; 2], marks: &mut Vec<Mark>) -> usize {
        let is_listed = |l: &Line| !l.name.is_empty() && !l.style.unlisted;
        let names = self.lines.iter().filter(|l| is_listed(l)).map(|l| &l.name);
        let shown: Vec<&String> =
            names.chain(self.bands.iter().map(|b| &b.name)).filter(|n| !n.is_empty()).collect();
        if shown.is_empty() || shown == [&self.title] {
            return 0;
        }
        let (mut x, mut row) = (LEFT, 0);
        // The place of the next entry.
        let mut next = |name: &str| {
            let needed = SAMPLE + 22.0 + LETTER * name.chars().count() as f64;
            if x > LEFT && x + needed > width {
                (x, row) = (LEFT, row + 1);
            }
            x += needed;
            [x - needed, height + 4.0 + ROW * row as f64]
        };
        let mut word = |[x, y]: [f64; 2], name: &str, sample: Path| {
            marks.push(Mark::Path(sample));
            let at = [x + SAMPLE + 6.0, y + 4.0];
            marks.push(Mark::Text(Text { at, size: WORDS, text: name.to_string(), ..Text::default() }));
        };
        for (i, l) in self.lines.iter().enumerate().filter(|(_, l)| is_listed(l)) {
            let [x, y] = next(&l.name);
            let piece =
                if l.style.dots { vec![[x + SAMPLE / 2.0, y]] } else { vec![[x, y], [x + SAMPLE, y]] };
            word(
                [x, y],
                &l.name,
                Path { pieces: vec![piece], stroke: Some(stroke(l, i)), ..Path::default() },
            );
        }
        for b in self.bands.iter().filter(|b| !b.name.is_empty()) {
            let [x, y] = next(&b.name);
            let piece = vec![[x, y - 5.0], [x + SAMPLE, y - 5.0], [x + SAMPLE, y + 5.0], [x, y + 5.0]];
            word(
                [x, y],
                &b.name,
                Path { pieces: vec![piece], closed: true, fill: Some(fill(b)), ..Path::default() },
            );
        }
        row + 1
    }
}

/// A thin line.
fn pen(class: &'static str, points: Vec<[f64; 2]>, color: Color, dash: Option<[f64; 2]>) -> Mark {
    let stroke = Some(Stroke { color, width: 1.0, dash });
    Mark::Path(Path { class, pieces: vec![points], stroke, ..Path::default() })
}

/// The pen of the line at place `i`.
fn stroke(line: &Line, i: usize) -> Stroke {
    let color = hex(COLORS[line.style.color.unwrap_or(i) % COLORS.len()]);
    if line.style.dots {
        return Stroke::solid(color, 4.0);
    }
    // Dashes tell lines apart once the colors are used up.
    let next = [Dash::Solid, Dash::Dashed, Dash::Dotted][i / COLORS.len() % 3];
    let dash = match line.style.dash.unwrap_or(if line.style.color.is_none() { next } else { Dash::Solid }) {
        Dash::Solid => None,
        Dash::Dashed => Some([6.0, 4.0]),
        Dash::Dotted => Some([1.0, 4.0]),
    };
    Stroke { color, width: 1.5, dash }
}

/// Color and opacity of a band.
fn fill(band: &Band) -> (Color, f64) {
    (band.color.map_or(BAND, |c| hex(COLORS[c % COLORS.len()])), 0.25)
}

/// The shape of a band: along its upper edge and back along the lower one, in each piece where both are known.
fn band(b: &Band, at: &dyn Fn(f64, f64) -> (f64, f64)) -> Mark {
    let known = |i: usize| is_drawn(b.x[i]) && is_drawn(b.low[i]) && is_drawn(b.high[i]);
    let n = b.x.len().min(b.low.len()).min(b.high.len());
    let (mut pieces, mut i) = (Vec::new(), 0);
    while i < n {
        let end = (i..n).find(|&k| !known(k)).unwrap_or(n);
        let there = (i..end).map(|k| at(b.x[k], b.high[k]));
        let back = (i..end).rev().map(|k| at(b.x[k], b.low[k]));
        if end > i {
            pieces.push(there.chain(back).map(|(x, y)| [x, y]).collect());
        }
        i = end + 1;
    }
    Mark::Path(Path { class: "band", pieces, closed: true, fill: Some(fill(b)), ..Path::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Event, Style};

    #[test]
    fn analytic_any_numbers_make_a_plot() {
        let x = vec![0.0, 1.0, 2.0, 3.0];
        for y in [
            vec![1.0; 4],
            vec![f64::NAN; 4],
            vec![f64::INFINITY, 1.0, f64::NAN, 2.0],
            vec![f64::MAX, f64::MIN, 0.0, 1.0],
            vec![5e-324, 0.0, 0.0, 0.0],
            vec![],
        ] {
            let dots = Style { dots: true, ..Style::default() };
            let plot = Plot {
                title: "a < b".into(),
                x_label: "time (s)".into(),
                lines: vec![
                    Line::new("y&z", x.clone(), y.clone()),
                    Line::new("", x.clone(), y.clone()).styled(dots),
                ],
                bands: vec![Band::new("band", x.clone(), y.clone(), y.clone())],
                events: vec![Event { x: y.first().copied().unwrap_or(0.0), name: "\"".into() }],
                x_range: Some([f64::NAN, 1.0]),
                ..Plot::default()
            };
            let s = plot.to_svg();
            assert!(s.contains("a &lt; b") && s.contains("y&amp;z"));
            assert!(!s.contains("NaN") && !s.contains("inf"), "{s}");
        }
        Plot::default().to_svg();
    }

    /// The middle of the ranges is drawn in the middle of the axes, and a band goes there and back.
    #[test]
    fn analytic_places_of_lines_and_bands() {
        let plot = Plot {
            lines: vec![Line::new("", vec![0.0, 1.0, 2.0], vec![0.0, 1.0, 2.0])],
            bands: vec![Band::new("", vec![0.0, 2.0], vec![0.0, 0.0], vec![2.0, 1.0])],
            x_range: Some([0.0, 2.0]),
            y_range: Some([0.0, 2.0]),
            ..Plot::default()
        };
        let s = plot.to_svg();
        let (left, right, top, bottom) = (LEFT, 900.0 - RIGHT, TOP, 480.0 - BOTTOM);
        let (x, y) = ((left + right) / 2.0, (top + bottom) / 2.0);
        assert!(s.contains(&format!("d=\"M{left} {bottom}L{x} {y}L{right} {top}\"")), "{s}");
        let there = format!("M{left} {top}L{right} {y}L{right} {bottom}L{left} {bottom}z");
        assert!(s.contains(&format!("d=\"{there}\"")), "{s}");
    }

    /// A line that another stands for is drawn and not listed; a cycle has its times with it.
    #[test]
    fn analytic_both_sides_with_one_entry() {
        let line = |name: &str| Line::new(name, vec![0.0, 1.0], vec![0.0, 1.0]);
        let left = Style { color: Some(0), unlisted: true, ..Style::default() };
        let plot = Plot {
            lines: vec![line("soleus"), line("soleus left").styled(left)],
            cycle: Some([0.5, 1.5]),
            ..Plot::default()
        };
        let s = plot.inline_svg(1);
        assert!(s.contains("data-name=\"soleus left\"") && !s.contains(">soleus left<"), "{s}");
        assert!(
            s.contains(">soleus<") && s.contains("data-cycle=\"5e-1 1.5e0\"") && s.contains("over-time"),
            "{s}"
        );
    }

    /// However many lines there are, the legend is inside the picture.
    #[test]
    fn analytic_legend_fits() {
        let line = |i| Line::new(format!("/forceset/muscle_{i}/activation"), vec![0.0, 1.0], vec![0.0, 1.0]);
        let plot = Plot { lines: (0..100).map(line).collect(), ..Plot::default() };
        let s = plot.to_svg();
        let height: f64 = s.split("height=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
        let lowest = s.split("y=\"").skip(1).filter_map(|t| t.split('"').next()?.parse::<f64>().ok());
        assert!(lowest.fold(0.0, f64::max) < height);
    }
}
