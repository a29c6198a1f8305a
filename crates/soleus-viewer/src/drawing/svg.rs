//! SVG output. Fonts are those of the viewer; no system fonts are read.

use super::{Anchor, Color, Drawing, Mark, Path, Text};
use crate::text::{escape, short};
use std::fmt::Write as _;

impl Drawing {
    /// As a standalone file with a white background.
    pub fn to_svg(&self) -> String {
        self.write(" xmlns=\"http://www.w3.org/2000/svg\"")
    }

    /// As part of a page.
    pub fn inline_svg(&self) -> String {
        self.write("")
    }

    /// Writing to a `String` cannot fail, so the results of `write!` are dropped.
    fn write(&self, name_space: &str) -> String {
        let [w, h] = self.size.map(|v| short(v, 1));
        let mut s = String::new();
        let _ = write!(
            s,
            "<svg{name_space} class=\"{}\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" font-family=\"sans-serif\" \
             font-size=\"12\" stroke-linecap=\"round\" stroke-linejoin=\"round\" fill=\"none\" role=\"img\"",
            self.class
        );
        for (name, value) in &self.attributes {
            let _ = write!(s, " {name}=\"{value}\"");
        }
        let _ = writeln!(
            s,
            " aria-label=\"{}\">\n<rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>",
            escape(&self.label)
        );
        for mark in &self.marks {
            match mark {
                Mark::Path(p) => path(&mut s, p),
                Mark::Text(t) => text(&mut s, t),
            }
        }
        s.push_str("</svg>\n");
        s
    }
}

fn color([r, g, b]: Color) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn path(s: &mut String, p: &Path) {
    s.push_str("<path");
    if !p.class.is_empty() {
        let _ = write!(s, " class=\"{}\"", p.class);
    }
    if let Some(name) = &p.name {
        let _ = write!(s, " data-name=\"{}\"", escape(name));
    }
    s.push_str(" d=\"");
    for piece in &p.pieces {
        for (i, [x, y]) in piece.iter().enumerate() {
            let _ = write!(s, "{}{} {}", if i == 0 { 'M' } else { 'L' }, short(*x, 1), short(*y, 1));
        }
        // A stroke without length: its round ends make a dot.
        s.push_str(if p.closed {
            "z"
        } else if piece.len() == 1 {
            "h0"
        } else {
            ""
        });
    }
    s.push('"');
    if let Some((c, opacity)) = p.fill {
        let _ = write!(s, " fill=\"{}\"", color(c));
        if opacity < 1.0 {
            let _ = write!(s, " fill-opacity=\"{}\"", short(opacity, 2));
        }
    }
    if let Some(pen) = &p.stroke {
        let _ = write!(s, " stroke=\"{}\" stroke-width=\"{}\"", color(pen.color), short(pen.width, 2));
        if let Some([dash, gap]) = pen.dash {
            let _ = write!(s, " stroke-dasharray=\"{} {}\"", short(dash, 1), short(gap, 1));
        }
    }
    s.push_str("/>\n");
}

fn text(s: &mut String, t: &Text) {
    let [x, y] = t.at.map(|v| short(v, 1));
    let _ = match t.upwards {
        true => write!(s, "<text transform=\"translate({x} {y}) rotate(-90)\""),
        false => write!(s, "<text x=\"{x}\" y=\"{y}\""),
    };
    if t.size != 12.0 {
        let _ = write!(s, " font-size=\"{}\"", short(t.size, 1));
    }
    s.push_str(match t.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    });
    let _ = writeln!(s, " fill=\"{}\">{}</text>", color(t.color), escape(&t.text));
}
