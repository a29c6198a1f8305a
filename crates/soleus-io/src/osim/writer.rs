//! Writes documents as text.

use soleus_model::{Content, Document, Element};

/// The document as an XML file: UTF-8, one tab per level, text-only elements on one line.
///
/// Elements with text are written without additional white space, so that the result reads back to the same tree. There
/// are two exceptions: `--` inside a comment is written as `- -`, and text of white space only is dropped by the
/// reader.
pub fn write_document(doc: &Document) -> String {
    let mut out = String::with_capacity(64 * 1024);
    out.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n");
    for c in &doc.preamble {
        write_comment(&mut out, c);
        out.push('\n');
    }
    push_element(&mut out, &doc.root, Some(0));
    out.push('\n');
    for c in &doc.epilogue {
        write_comment(&mut out, c);
        out.push('\n');
    }
    out
}

/// An element with its content as XML, in the format of [`write_document`].
pub fn write_element(e: &Element) -> String {
    let mut out = String::new();
    push_element(&mut out, e, Some(0));
    out
}

/// One element. `depth` is the indentation of its children less one; `None` inside mixed text,
/// where white space would become part of the text.
fn push_element(out: &mut String, e: &Element, depth: Option<usize>) {
    out.push('<');
    out.push_str(&e.tag);
    for (name, value) in &e.attributes {
        out.push(' ');
        out.push_str(name);
        out.push_str("=\"");
        escape(out, value, true);
        out.push('"');
    }
    if e.content.is_empty() {
        out.push_str(" />");
        return;
    }
    out.push('>');
    let holds_text = e.content.iter().any(|c| matches!(c, Content::Text(_)));
    let inner = if holds_text { None } else { depth.map(|d| d + 1) };
    for c in &e.content {
        new_line(out, inner);
        match c {
            Content::Element(child) => push_element(out, child, inner),
            Content::Text(t) => escape(out, t, false),
            Content::Comment(c) => write_comment(out, c),
        }
    }
    new_line(out, inner.and(depth));
    out.push_str("</");
    out.push_str(&e.tag);
    out.push('>');
}

fn new_line(out: &mut String, depth: Option<usize>) {
    if let Some(d) = depth {
        out.push('\n');
        out.extend(std::iter::repeat_n('\t', d));
    }
}

fn write_comment(out: &mut String, comment: &str) {
    out.push_str("<!--");
    let mut last = ' ';
    for c in comment.chars() {
        // `--` may not occur in a comment, and a comment may not end in `-` (XML 1.0, 2.5).
        if c == '-' && last == '-' {
            out.push(' ');
        }
        out.push(c);
        last = c;
    }
    if last == '-' {
        out.push(' ');
    }
    out.push_str("-->");
}

/// Writes text with the characters replaced that mean something in XML, and those that a reader
/// would change: carriage returns everywhere, tabs and line feeds in attributes.
pub(crate) fn escape(out: &mut String, text: &str, attribute: bool) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#13;"),
            '"' if attribute => out.push_str("&quot;"),
            '\n' if attribute => out.push_str("&#10;"),
            '\t' if attribute => out.push_str("&#9;"),
            _ => out.push(c),
        }
    }
}
