//! HTML of a page. It is also well-formed XML, so that it can be checked.

use super::{Part, Report, Table};
use crate::Plot;
use crate::scene::base64;
use crate::text::escape;
use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The program that draws figures, compressed: that of Studio, built by `scripts/build-studio`. A page that is made inside a browser does
/// without it, and shows figures as they are in its first frame.
#[cfg(not(target_arch = "wasm32"))]
const FIGURE: &[u8] = include_bytes!("figure.js.gz");
#[cfg(target_arch = "wasm32")]
const FIGURE: &[u8] = &[];

/// The switches of an animation: the layer, the word beside it, and whether it is on. Wrap objects are many and large,
/// so they wait to be asked for; the script decides about following.
const LAYERS: [(&str, &str, bool); 7] = [
    ("bodies", "bodies", true),
    ("muscles", "muscles", true),
    ("markers", "markers", true),
    ("wraps", "wrap objects", false),
    ("contacts", "contact", true),
    ("forces", "forces", true),
    ("follow", "follow the figure", false),
];

/// Writing to a `String` cannot fail, so the results of `writeln!` are dropped.
pub fn html(report: &Report) -> String {
    let title = escape(&report.title);
    let s = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"generator\" content=\"Soleus {}\"/>\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n{}<main>\n<h1>{title}</h1>\n",
        env!("CARGO_PKG_VERSION"),
        contents(&report.parts)
    );
    let mut writer = Writer { s, headings: 0, scenes: 0 };
    report.parts.iter().for_each(|p| writer.part(p));
    let mut s = writer.s;
    s.push_str("</main>\n");
    if has_figure(&report.parts) && !FIGURE.is_empty() {
        let _ = writeln!(s, "<script type=\"text/plain\" id=\"soleus-figure\">{}</script>", base64(FIGURE));
    }
    if has_script(&report.parts) {
        let _ = writeln!(s, "<script>//<![CDATA[\n{SCRIPT}//]]></script>");
    }
    s.push_str("</body>\n</html>\n");
    s
}

/// Whether anything on the page moves or answers the pointer.
fn has_script(parts: &[Part]) -> bool {
    parts.iter().any(|p| match p {
        Part::Animation(..) | Part::Plots(_) | Part::Wide(_) | Part::Grid(_) => true,
        Part::Folded(_, inside) => has_script(inside),
        _ => false,
    })
}

/// Whether there is an animation on the page.
fn has_figure(parts: &[Part]) -> bool {
    parts.iter().any(|p| match p {
        Part::Animation(..) => true,
        Part::Folded(_, inside) => has_figure(inside),
        _ => false,
    })
}

/// Links to the headings, where there are several.
fn contents(parts: &[Part]) -> String {
    let headings: Vec<&str> = parts
        .iter()
        .filter_map(|p| match p {
            Part::Heading(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    if headings.len() < 4 {
        return String::new();
    }
    let link = |(i, text): (usize, &&str)| format!("<li><a href=\"#part-{i}\">{}</a></li>\n", escape(text));
    let links: String = headings.iter().enumerate().map(link).collect();
    format!("<nav aria-label=\"Contents\">\n<ul>\n{links}</ul>\n</nav>\n")
}

/// What has been written, and how many headings and animations are in it.
struct Writer {
    s: String,
    headings: usize,
    scenes: usize,
}

impl Writer {
    fn part(&mut self, part: &Part) {
        let s = &mut self.s;
        match part {
            Part::Heading(text) => {
                let _ = writeln!(s, "<h2 id=\"part-{}\">{}</h2>", self.headings, escape(text));
                self.headings += 1;
            }
            Part::Subheading(text) => {
                let _ = writeln!(s, "<h3>{}</h3>", escape(text));
            }
            Part::Text(text) => {
                let _ = writeln!(s, "<p>{}</p>", paragraph(text));
            }
            Part::Table(t) => table(s, t),
            Part::Plots(list) => plots(s, "plots", list, 2),
            Part::Wide(plot) => plots(s, "wide", std::slice::from_ref(plot), 1),
            Part::Grid(list) => plots(s, "grid", list, 3),
            Part::Cards(cards) => {
                s.push_str("<div class=\"cards\">\n");
                cards.iter().for_each(|c| c.write(s));
                s.push_str("</div>\n");
            }
            Part::Animation(json, still) => {
                animation(s, self.scenes, json, still);
                self.scenes += 1;
            }
            Part::Folded(title, inside) => {
                let _ = writeln!(s, "<details>\n<summary>{}</summary>", escape(title));
                for part in inside {
                    // What is folded away is not listed in the contents.
                    match part {
                        Part::Heading(text) => self.part(&Part::Subheading(text.clone())),
                        other => self.part(other),
                    }
                }
                self.s.push_str("</details>\n");
            }
        }
    }
}

/// Text of a paragraph; names between backticks are set as code.
fn paragraph(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escape(text);
    }
    let set = |(i, part): (usize, &&str)| match i % 2 {
        0 => escape(part),
        _ => format!("<code>{}</code>", escape(part)),
    };
    parts.iter().enumerate().map(set).collect()
}

fn plots(s: &mut String, class: &str, list: &[Plot], beside: usize) {
    let _ = writeln!(s, "<div class=\"{class}\">");
    list.iter().for_each(|p| s.push_str(&p.inline_svg(beside)));
    s.push_str("</div>\n");
}

fn table(s: &mut String, t: &Table) {
    s.push_str("<table>\n");
    if !t.title.is_empty() {
        let _ = writeln!(s, "<caption>{}</caption>", escape(&t.title));
    }
    if !t.head.is_empty() {
        // The head of a column of numbers stands on the right too.
        let side = |i: usize| {
            let mut cells = t.rows.iter().filter_map(|r| r.get(i)).map(|c| align(c));
            cells.next().filter(|first| cells.all(|c| c == *first)).unwrap_or("")
        };
        let heads = t.head.iter().enumerate();
        let cells: String =
            heads.map(|(i, h)| format!("<th scope=\"col\"{}>{}</th>", side(i), escape(h))).collect();
        let _ = writeln!(s, "<thead><tr>{cells}</tr></thead>");
    }
    s.push_str("<tbody>\n");
    for row in &t.rows {
        let cells: String = row.iter().map(|c| format!("<td{}>{}</td>", align(c), escape(c))).collect();
        let _ = writeln!(s, "<tr>{cells}</tr>");
    }
    s.push_str("</tbody>\n</table>\n");
}

/// Numbers, also with a unit behind them, stand on the right.
fn align(cell: &str) -> &'static str {
    let first = cell.split_whitespace().next().unwrap_or_default().replace('−', "-");
    if first.trim_end_matches('%').parse::<f64>().is_ok() { " class=\"number\"" } else { "" }
}

fn animation(s: &mut String, i: usize, json: &str, still: &str) {
    let switches: String = LAYERS
        .iter()
        .map(|(layer, word, is_on)| {
            let checked = if *is_on { " checked=\"checked\"" } else { "" };
            format!("<label><input type=\"checkbox\" data-layer=\"{layer}\"{checked}/> {word}</label>\n")
        })
        .collect();
    let speeds: String = [("0.1", ""), ("0.25", ""), ("0.5", ""), ("1", " selected=\"selected\""), ("2", "")]
        .iter()
        .map(|(v, selected)| format!("<option value=\"{v}\"{selected}>{v}×</option>"))
        .collect();
    let _ = writeln!(
        s,
        "<figure class=\"animation\" data-scene=\"scene-{i}\">\n<div class=\"still\">{still}</div>\n\
         <canvas tabindex=\"0\" role=\"img\" aria-label=\"Animated figure. Arrow keys turn it, plus and minus zoom, \
         space plays and pauses, comma and period step.\" hidden=\"hidden\"></canvas>\n\
         <div class=\"controls\" hidden=\"hidden\">\n<button type=\"button\" data-do=\"play\">Play</button>\n\
         <input type=\"range\" data-do=\"frame\" min=\"0\" value=\"0\" step=\"1\" aria-label=\"Time\"/>\n\
         <output>0 s</output>\n<label>Speed <select data-do=\"speed\">{speeds}</select></label>\n\
         <button type=\"button\" data-view=\"side\">Side</button>\n<button type=\"button\" data-view=\"front\">Front</button>\n\
         <button type=\"button\" data-view=\"top\">Top</button>\n<button type=\"button\" data-view=\"three-quarters\">Oblique</button>\n\
         </div>\n<div class=\"controls layers\" hidden=\"hidden\">\n{switches}</div>\n</figure>\n\
         <script type=\"application/json\" id=\"scene-{i}\">{json}</script>"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_numbers_stand_on_the_right() {
        assert!(["1", "−2.5", "3 mm", "1.0e-3", "50%"].iter().all(|c| !align(c).is_empty()));
        assert!(["", "mm", "knee 3", "-"].iter().all(|c| align(c).is_empty()));
    }

    #[test]
    fn analytic_names_in_backticks_are_code() {
        assert_eq!(paragraph("for `a<b`: 1"), "for <code>a&lt;b</code>: 1");
        assert_eq!(paragraph("an odd ` stays"), "an odd ` stays");
    }

    /// The script holds nothing that would end it early or leave the page.
    #[test]
    fn analytic_script_is_small_and_keeps_to_itself() {
        assert!(SCRIPT.len() < 20_000, "{} bytes", SCRIPT.len());
        for word in ["</", "]]>", "http:", "https:", "fetch(", "XMLHttp", "import ", "eval(", "innerHTML"] {
            assert!(!SCRIPT.contains(word), "{word}");
        }
        for word in ["url(", "@import", "</"] {
            assert!(!STYLE.contains(word), "{word}");
        }
    }
}
