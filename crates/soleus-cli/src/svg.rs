//! Line charts as SVG text. Fonts are the viewer's own; nothing of the system is asked.

use std::fmt::Write as _;

/// One line of a chart.
pub struct Series<'a> {
    /// Name in the legend.
    pub name: &'a str,
    /// Abscissae.
    pub x: &'a [f64],
    /// Ordinates; NaN breaks the line.
    pub y: &'a [f64],
}

/// Colors that differ for color-blind readers too (Okabe and Ito 2008).
const COLORS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c8c00"];
/// Dashes tell lines apart once the colors are used up.
const DASHES: [&str; 3] = ["none", "6 3", "2 3"];

/// Size of the picture and the margins around the axes, in pixels.
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 480.0;
const LEFT: f64 = 80.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
/// Width of one letter of the legend, generously.
const LETTER: f64 = 7.2;

/// A chart of the series over a common abscissa.
pub fn chart(title: &str, x_label: &str, y_label: &str, series: &[Series]) -> String {
    let longest = series.iter().map(|s| s.name.chars().count()).max().unwrap_or(0) as f64;
    let right = 60.0 + (LETTER * longest).min(0.4 * WIDTH);
    let (w, h) = (WIDTH - LEFT - right, HEIGHT - TOP - BOTTOM);
    let xs = Axis::over(series.iter().flat_map(|s| s.x.iter().copied()), false);
    let ys = Axis::over(series.iter().flat_map(|s| s.y.iter().copied()), true);
    let px = |x: f64| LEFT + w * xs.share(x);
    let py = |y: f64| TOP + h * (1.0 - ys.share(y));

    // Writing to a `String` cannot fail, so the results are dropped.
    let mut s = String::new();
    let _ = writeln!(
        s,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
         height=\"{HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{:.1}\" y=\"24\" font-size=\"15\" text-anchor=\"middle\">{}</text>",
        LEFT + w / 2.0,
        escape(title)
    );

    // Grid, ticks and their numbers.
    for t in xs.ticks() {
        let x = px(t);
        let _ = writeln!(
            s,
            "<path d=\"M{x:.2} {TOP}V{:.1}\" stroke=\"#e0e0e0\"/><text x=\"{x:.2}\" y=\"{:.1}\" \
             text-anchor=\"middle\">{}</text>",
            TOP + h,
            TOP + h + 18.0,
            xs.number(t)
        );
    }
    for t in ys.ticks() {
        let y = py(t);
        let _ = writeln!(
            s,
            "<path d=\"M{LEFT} {y:.2}H{:.1}\" stroke=\"#e0e0e0\"/><text x=\"{:.1}\" y=\"{:.2}\" \
             text-anchor=\"end\">{}</text>",
            LEFT + w,
            LEFT - 8.0,
            y + 4.0,
            ys.number(t)
        );
    }
    let _ = writeln!(
        s,
        "<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{w:.1}\" height=\"{h:.1}\" fill=\"none\" stroke=\"black\"/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
         <text transform=\"translate(18 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        LEFT + w / 2.0,
        HEIGHT - 12.0,
        escape(x_label),
        TOP + h / 2.0,
        escape(y_label)
    );

    // Lines and legend.
    for (i, line) in series.iter().enumerate() {
        let style = format!(
            "stroke=\"{}\" stroke-width=\"1.5\" stroke-dasharray=\"{}\" fill=\"none\"",
            COLORS[i % COLORS.len()],
            DASHES[i / COLORS.len() % DASHES.len()]
        );
        let mut path = String::new();
        let mut pen_down = false;
        for (&x, &y) in line.x.iter().zip(line.y) {
            if is_drawn(x) && is_drawn(y) {
                let _ = write!(path, "{}{:.2} {:.2}", if pen_down { 'L' } else { 'M' }, px(x), py(y));
                pen_down = true;
            } else {
                pen_down = false;
            }
        }
        let (x, y) = (LEFT + w + 12.0, TOP + 12.0 + 18.0 * i as f64);
        let _ = writeln!(
            s,
            "<path d=\"{path}\" {style}/>\n<path d=\"M{x:.1} {y:.1}h24\" {style}/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            x + 30.0,
            y + 4.0,
            escape(line.name)
        );
    }
    s.push_str("</svg>\n");
    s
}

/// Beyond this, differences of values overflow.
const LARGEST: f64 = 1e300;

/// Whether a value can be drawn at all.
fn is_drawn(v: f64) -> bool {
    v.abs() < LARGEST
}

/// The range of one axis and the distance of its ticks.
struct Axis {
    low: f64,
    high: f64,
    step: f64,
}

impl Axis {
    /// Range of the finite values; `round`: widened to whole steps.
    fn over(values: impl Iterator<Item = f64>, round: bool) -> Axis {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for v in values.filter(|&v| is_drawn(v)) {
            low = low.min(v);
            high = high.max(v);
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        // A constant gets a band around it.
        if high - low <= (1e-12 * high.abs().max(low.abs())).max(1.0 / LARGEST) {
            let half = if high.abs() < 1.0 / LARGEST { 1.0 } else { 0.5 * high.abs() };
            (low, high) = (low - half, high + half);
        }
        // About six ticks at 1, 2 or 5 times a power of ten.
        let raw = (high - low) / 6.0;
        let power = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|&s| s >= raw).unwrap_or(raw);
        if round {
            low = (low / step).floor() * step;
            high = (high / step).ceil() * step;
        }
        Axis { low, high, step }
    }

    /// Where a value lies between the ends, 0 to 1.
    fn share(&self, v: f64) -> f64 {
        ((v - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    fn ticks(&self) -> Vec<f64> {
        let (first, last) = ((self.low / self.step - 1e-9).ceil(), (self.high / self.step + 1e-9).floor());
        // At most a dozen, whatever rounding does to huge ranges.
        (0..12).map(|i| first + f64::from(i)).take_while(|&k| k <= last).map(|k| k * self.step).collect()
    }

    /// A tick with as many decimals as the step needs.
    fn number(&self, v: f64) -> String {
        if self.step >= 1e6 || self.step < 1e-5 {
            return format!("{v:.2e}");
        }
        let decimals = (-self.step.log10().floor()).max(0.0) as usize;
        let text = format!("{v:.decimals$}");
        // No negative zero.
        if text.trim_start_matches('-').bytes().all(|b| b == b'0' || b == b'.') {
            text.trim_start_matches('-').to_string()
        } else {
            text
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_ticks_are_round() {
        let a = Axis::over([0.03, 0.97].into_iter(), true);
        assert_eq!((a.low, a.high, a.step), (0.0, 1.0, 0.2));
        let numbers: Vec<String> = a.ticks().iter().map(|&t| a.number(t)).collect();
        assert_eq!(numbers, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    }

    #[test]
    fn analytic_any_numbers_make_a_chart() {
        let x = [0.0, 1.0, 2.0, 3.0];
        for y in [
            [1.0; 4],
            [f64::NAN; 4],
            [f64::INFINITY, 1.0, f64::NAN, 2.0],
            [f64::MAX, f64::MIN, 0.0, 1.0],
            [5e-324, 0.0, 0.0, 0.0],
        ] {
            let s = chart("a < b", "time (s)", "", &[Series { name: "y&z", x: &x, y: &y }]);
            assert!(s.contains("a &lt; b") && s.contains("y&amp;z"));
            assert!(!s.contains("NaN") && !s.contains("inf"), "{s}");
        }
        chart("", "", "", &[]);
    }
}
