//! A plot as SVG text. Fonts are the reader's own; nothing of the system is asked.

use super::axis::{Axis, is_drawn};
use super::thin::pieces;
use super::{Band, COLORS, Dash, Line, Plot};
use crate::text::{escape, short};
use std::fmt::Write as _;

/// Size of a picture of its own, without the legend, and of one of several on a page, in pixels.
const ALONE: [f64; 2] = [900.0, 480.0];
const SMALL: [f64; 2] = [440.0, 270.0];
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
/// Grey of bands, of the grid and of events.
const BAND: &str = "#8a8a8a";
const GRID: &str = "#e0e0e0";
const EVENT: &str = "#707070";

impl Plot {
    /// The plot as a picture of its own.
    pub fn to_svg(&self) -> String {
        self.draw(ALONE, " xmlns=\"http://www.w3.org/2000/svg\"")
    }

    /// The plot as a part of a page; `wide`: over its whole width.
    pub(crate) fn inline_svg(&self, wide: bool) -> String {
        self.draw(if wide { ALONE } else { SMALL }, "")
    }

    /// Writing to a `String` cannot fail, so the results of `writeln!` are dropped.
    fn draw(&self, [width, height]: [f64; 2], name_space: &str) -> String {
        let (w, h) = (width - LEFT - RIGHT, height - TOP - BOTTOM);
        let xs = self.x_axis(w / TICK_X);
        let ys = self.y_axis(h / TICK_Y);
        let px = |x: f64| LEFT + w * xs.share(x);
        let py = |y: f64| TOP + h * (1.0 - ys.share(y));

        let (legend, rows) = self.legend(width, height);
        let total = height + ROW * rows as f64 + if rows > 0 { 8.0 } else { 0.0 };
        let mut s = String::new();
        // What the script of a page needs to read values off the lines.
        let _ = writeln!(
            s,
            "<svg{name_space} class=\"plot{}\" viewBox=\"0 0 {width} {total}\" width=\"{width}\" height=\"{total}\" \
             font-family=\"sans-serif\" font-size=\"12\" role=\"img\" aria-label=\"{}\" data-axes=\"{} {} {:e} {:e} {} {} {:e} {:e}\">\n\
             <rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"{}\" y=\"22\" font-size=\"15\" text-anchor=\"middle\">{}</text>",
            if self.over_time { " over-time" } else { "" },
            escape(&self.title),
            short(LEFT, 1),
            short(LEFT + w, 1),
            xs.low,
            xs.high,
            short(TOP + h, 1),
            short(TOP, 1),
            ys.low,
            ys.high,
            short(LEFT + w / 2.0, 1),
            escape(&self.title)
        );
        for b in &self.bands {
            let _ = writeln!(s, "{}", band(b, &px, &py));
        }
        grid(&mut s, &xs, &ys, [w, h]);
        let _ = writeln!(
            s,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            short(LEFT + w / 2.0, 1),
            short(height - 10.0, 1),
            escape(&self.x_label),
            short(TOP + h / 2.0, 1),
            escape(&self.y_label)
        );
        for e in self.events.iter().filter(|e| is_drawn(e.x) && e.x >= xs.low && e.x <= xs.high) {
            let x = short(px(e.x), 2);
            let _ = writeln!(
                s,
                "<path class=\"event\" d=\"M{x} {TOP}v{}\" stroke=\"{EVENT}\" stroke-dasharray=\"3 3\" fill=\"none\"/>\
                 <text x=\"{x}\" y=\"{}\" dx=\"3\" font-size=\"10\" fill=\"{EVENT}\">{}</text>",
                short(h, 1),
                short(TOP + 10.0, 1),
                escape(&e.name)
            );
        }
        for (i, line) in self.lines.iter().enumerate() {
            let inside = |v: f64, a: &Axis| if is_drawn(v) { v.clamp(a.low, a.high) } else { f64::NAN };
            let points = line.x.iter().zip(&line.y).map(|(&x, &y)| (px(inside(x, &xs)), py(inside(y, &ys))));
            let d = if line.style.dots { dots(points) } else { strokes(points) };
            let _ = writeln!(
                s,
                "<path class=\"line\" data-name=\"{}\" d=\"{d}\" {}/>",
                escape(&line.name),
                style(line, i)
            );
        }
        s.push_str(&legend);
        s.push_str("</svg>\n");
        s
    }

    pub(super) fn x_axis(&self, ticks: f64) -> Axis {
        match self.x_range {
            Some(ends) => Axis::over(ends.into_iter(), ticks, false),
            None => {
                let lines = self.lines.iter().map(|l| &l.x);
                let all = lines.chain(self.bands.iter().map(|b| &b.x));
                Axis::over(all.flatten().copied(), ticks, false)
            }
        }
    }

    pub(super) fn y_axis(&self, ticks: f64) -> Axis {
        match self.y_range {
            Some(ends) => Axis::over(ends.into_iter(), ticks, false),
            None => {
                let lines = self.lines.iter().map(|l| &l.y);
                let all = lines.chain(self.bands.iter().flat_map(|b| [&b.low, &b.high]));
                Axis::over(all.flatten().copied(), ticks, true)
            }
        }
    }

    /// The legend below the axes, and how many rows it takes.
    fn legend(&self, width: f64, height: f64) -> (String, usize) {
        let lines = self.lines.iter().enumerate().map(|(i, l)| {
            let d = if l.style.dots { format!("m{} 0h0", SAMPLE / 2.0) } else { format!("h{SAMPLE}") };
            (&l.name, d, style(l, i))
        });
        let bands = self.bands.iter().map(|b| (&b.name, format!("v-5h{SAMPLE}v10h-{SAMPLE}z"), fill(b)));
        let entries: Vec<_> = lines.chain(bands).filter(|(name, ..)| !name.is_empty()).collect();
        if entries.is_empty() || (entries.len() == 1 && *entries[0].0 == self.title) {
            return (String::new(), 0);
        }
        let (mut s, mut x, mut row) = (String::new(), LEFT, 0);
        for (name, d, style) in entries {
            let needed = SAMPLE + 22.0 + LETTER * name.chars().count() as f64;
            if x > LEFT && x + needed > width {
                (x, row) = (LEFT, row + 1);
            }
            let y = height + 4.0 + ROW * row as f64;
            let _ = writeln!(
                s,
                "<path d=\"M{} {}{d}\" {style}/><text x=\"{}\" y=\"{}\">{}</text>",
                short(x, 1),
                short(y, 1),
                short(x + SAMPLE + 6.0, 1),
                short(y + 4.0, 1),
                escape(name)
            );
            x += needed;
        }
        (s, row + 1)
    }
}

/// Grid, ticks, their numbers and the frame.
fn grid(s: &mut String, xs: &Axis, ys: &Axis, [w, h]: [f64; 2]) {
    for t in xs.ticks() {
        let x = short(LEFT + w * xs.share(t), 2);
        let _ = writeln!(
            s,
            "<path class=\"grid\" d=\"M{x} {TOP}v{}\" stroke=\"{GRID}\" fill=\"none\"/><text x=\"{x}\" y=\"{}\" \
             text-anchor=\"middle\">{}</text>",
            short(h, 1),
            short(TOP + h + 16.0, 1),
            xs.number(t)
        );
    }
    for t in ys.ticks() {
        let y = TOP + h * (1.0 - ys.share(t));
        let _ = writeln!(
            s,
            "<path class=\"grid\" d=\"M{LEFT} {}h{}\" stroke=\"{GRID}\" fill=\"none\"/><text x=\"{}\" y=\"{}\" \
             text-anchor=\"end\">{}</text>",
            short(y, 2),
            short(w, 1),
            short(LEFT - 7.0, 1),
            short(y + 4.0, 2),
            ys.number(t)
        );
    }
    let _ = writeln!(
        s,
        "<rect class=\"frame\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"black\"/>",
        short(w, 1),
        short(h, 1)
    );
}

/// Stroke of the line at place `i`.
fn style(line: &Line, i: usize) -> String {
    let color = COLORS[line.style.color.unwrap_or(i) % COLORS.len()];
    if line.style.dots {
        return format!("stroke=\"{color}\" stroke-width=\"4\" stroke-linecap=\"round\" fill=\"none\"");
    }
    // Dashes tell lines apart once the colors are used up.
    let next = [Dash::Solid, Dash::Dashed, Dash::Dotted][i / COLORS.len() % 3];
    let dash = match line.style.dash.unwrap_or(if line.style.color.is_none() { next } else { Dash::Solid }) {
        Dash::Solid => "none",
        Dash::Dashed => "6 3",
        Dash::Dotted => "2 3",
    };
    format!("stroke=\"{color}\" stroke-width=\"1.5\" stroke-dasharray=\"{dash}\" fill=\"none\"")
}

/// Fill of a band.
fn fill(band: &Band) -> String {
    let color = band.color.map_or(BAND, |c| COLORS[c % COLORS.len()]);
    format!("fill=\"{color}\" fill-opacity=\"0.25\"")
}

/// The shape of a band: along its upper edge and back along the lower one, in each piece where both are known.
fn band(b: &Band, px: &dyn Fn(f64) -> f64, py: &dyn Fn(f64) -> f64) -> String {
    let mut d = String::new();
    let known = |i: usize| is_drawn(b.x[i]) && is_drawn(b.low[i]) && is_drawn(b.high[i]);
    let n = b.x.len().min(b.low.len()).min(b.high.len());
    let mut i = 0;
    while i < n {
        let end = (i..n).find(|&k| !known(k)).unwrap_or(n);
        let there = (i..end).map(|k| (b.x[k], b.high[k]));
        let back = (i..end).rev().map(|k| (b.x[k], b.low[k]));
        for (k, (x, y)) in there.chain(back).enumerate() {
            let pen = if k == 0 { 'M' } else { 'L' };
            let _ = write!(d, "{pen}{} {}", short(px(x), 2), short(py(y), 2));
        }
        if end > i {
            d.push('z');
        }
        i = end + 1;
    }
    format!("<path class=\"band\" d=\"{d}\" {}/>", fill(b))
}

/// Path data of a line.
fn strokes(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut d = String::new();
    for piece in pieces(points) {
        for (k, (x, y)) in piece.into_iter().enumerate() {
            let pen = if k == 0 { 'M' } else { 'L' };
            let _ = write!(d, "{pen}{} {}", short(x, 2), short(y, 2));
        }
    }
    d
}

/// Path data of points: strokes of no length, which round ends make dots.
fn dots(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut d = String::new();
    for (x, y) in points.filter(|p| is_drawn(p.0) && is_drawn(p.1)) {
        let _ = write!(d, "M{} {}h0", short(x, 2), short(y, 2));
    }
    d
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
