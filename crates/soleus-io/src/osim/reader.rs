//! XML reader for OpenSim's files.
//!
//! It accepts content of those files that a strict reader would refuse: tags such as
//! `HuntCrossleyForce::ContactParameters`, comments before the XML declaration, Latin-1 bytes in a file that calls
//! itself UTF-8, stray characters after the root. It refuses content that no model needs and that could take unlimited
//! time or memory: document type declarations, entities other than the five predefined ones, nesting beyond
//! [`MAX_DEPTH`].
//!
//! The time is linear in the length of the input, and the tree is built with an explicit stack.

use std::borrow::Cow;

use soleus_model::{Content, Diagnostics, Document, Element};

/// Maximum nesting depth. The deepest element in OpenSim's own models is at depth 22; the limit keeps recursive
/// traversal of the tree within a small stack.
pub const MAX_DEPTH: usize = 200;

/// After so many errors the rest of the file is not worth listing.
const MAX_ERRORS: usize = 20;

/// OpenSim's elements have one attribute or none. Each new one is compared with those before it,
/// so without a limit a hostile file could ask for quadratic work.
const MAX_ATTRIBUTES: usize = 100;

/// Lines named one by one in warnings about misencoded bytes; the rest are counted.
const MAX_ENCODING_WARNINGS: usize = 10;

/// Reads an OpenSim XML file.
///
/// `file` is the name used in messages; it is not opened. The document is `None` if the bytes are not an accepted XML
/// file; the diagnostics then contain at least one error with its line.
///
/// Files without an `OpenSimDocument` root (before OpenSim 1.6) give version 0.
pub fn read_document(bytes: &[u8], file: &str) -> (Option<Document>, Diagnostics) {
    read(bytes, file, true)
}

/// As [`read_document`], but without comments, which make up a third of many model files and are not needed to build a
/// model.
pub fn read_elements(bytes: &[u8], file: &str) -> (Option<Document>, Diagnostics) {
    read(bytes, file, false)
}

fn read(bytes: &[u8], file: &str, keep_comments: bool) -> (Option<Document>, Diagnostics) {
    let mut diags = Diagnostics::new(file);
    let Some(text) = decode(bytes, &mut diags) else {
        return (None, diags);
    };
    let mut lexer = Lexer { text: &text, at: 0, line: 1, keep_comments, diags };
    let document = lexer.document(file);
    let diags = lexer.diags;
    match document {
        Some(doc) if !diags.has_errors() => (Some(doc), diags),
        _ => (None, diags),
    }
}

/// The bytes as text: byte order mark removed, bytes that are not UTF-8 taken as Windows-1252.
fn decode<'a>(bytes: &'a [u8], diags: &mut Diagnostics) -> Option<Cow<'a, str>> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
        diags.error(1, "", "the file is encoded as UTF-16", "save it as UTF-8");
        return None;
    }
    if let Some(at) = memchr::memchr(0, bytes) {
        let line = line_at(bytes, at);
        diags.error(
            line,
            "",
            "the file contains a zero byte: it is not a text file",
            "check that it is an .osim or .xml file",
        );
        return None;
    }
    // An XML file starts with `<`; anything else is answered before more work is done on it.
    match bytes.iter().position(|b| !b.is_ascii_whitespace()) {
        None => {
            let hint = "it may be incomplete; export it again";
            diags.error(0, "", "the file is empty", hint);
            return None;
        }
        Some(at) if bytes[at] != b'<' => {
            let line = line_at(bytes, at);
            diags.error(
                line,
                "",
                "the file does not start with `<`: it is not XML",
                "check that it is an .osim or .xml file",
            );
            return None;
        }
        Some(_) => {}
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(Cow::Borrowed(text)),
        Err(_) => Some(Cow::Owned(decode_mixed(bytes, diags))),
    }
}

/// Text from bytes that are UTF-8 in places and Windows-1252 in others.
fn decode_mixed(bytes: &[u8], diags: &mut Diagnostics) -> String {
    let mut text = String::with_capacity(bytes.len() + bytes.len() / 8);
    let mut line = 1u32;
    let mut warned_line = 0u32;
    let mut warnings = 0usize;
    let mut unnamed = 0usize;
    for chunk in bytes.utf8_chunks() {
        line = line.saturating_add(count_newlines(chunk.valid().as_bytes()));
        text.push_str(chunk.valid());
        for &b in chunk.invalid() {
            let c = windows_1252(b);
            text.push(c);
            if line == warned_line {
                continue;
            }
            warned_line = line;
            if warnings < MAX_ENCODING_WARNINGS {
                warnings += 1;
                diags.warn(
                    line,
                    "",
                    format!("byte 0x{b:02X} is not UTF-8; it was read as `{c}` (Windows-1252)"),
                    "save the file as UTF-8",
                );
            } else {
                unnamed += 1;
            }
        }
    }
    if unnamed > 0 {
        diags.warn(
            0,
            "",
            format!("{unnamed} more lines contain bytes that are not UTF-8"),
            "save the file as UTF-8",
        );
    }
    text
}

/// The character of a byte in Windows-1252, which is Latin-1 outside 0x80..=0x9F. The five bytes
/// that Windows-1252 leaves undefined keep their Latin-1 meaning.
fn windows_1252(b: u8) -> char {
    // Source: WHATWG Encoding Standard, index windows-1252.
    const HIGH: [char; 32] = [
        '\u{20AC}', '\u{81}', '\u{201A}', '\u{192}', '\u{201E}', '\u{2026}', '\u{2020}', '\u{2021}',
        '\u{2C6}', '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8D}', '\u{17D}', '\u{8F}', '\u{90}',
        '\u{2018}', '\u{2019}', '\u{201C}', '\u{201D}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2DC}',
        '\u{2122}', '\u{161}', '\u{203A}', '\u{153}', '\u{9D}', '\u{17E}', '\u{178}',
    ];
    match b {
        0x80..=0x9F => HIGH[usize::from(b - 0x80)],
        _ => char::from(b),
    }
}

fn count_newlines(bytes: &[u8]) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', bytes).count()).unwrap_or(u32::MAX)
}

fn line_at(bytes: &[u8], at: usize) -> u32 {
    count_newlines(&bytes[..at]).saturating_add(1)
}

/// Lexing stopped: the reason is already among the diagnostics.
struct Stop;

/// The text, how far it has been read, and what was wrong with it.
struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    keep_comments: bool,
    diags: Diagnostics,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Moves on by `n` bytes, counting lines.
    fn advance(&mut self, n: usize) -> &'a str {
        let taken = &self.text[self.at..self.at + n];
        self.line = self.line.saturating_add(count_newlines(taken.as_bytes()));
        self.at += n;
        taken
    }

    fn skip_white_space(&mut self) {
        let bytes = self.rest().as_bytes();
        let n = bytes.iter().position(|b| !is_white(*b)).unwrap_or(bytes.len());
        self.advance(n);
    }

    /// White space before a tag; text that begins with white space is left as it is.
    fn skip_indentation(&mut self) {
        let bytes = self.rest().as_bytes();
        let mut lines = 0;
        for (n, &b) in bytes.iter().enumerate() {
            match b {
                b'\n' => lines += 1,
                b' ' | b'\t' | b'\r' => {}
                b'<' => {
                    self.at += n;
                    self.line = self.line.saturating_add(lines);
                    return;
                }
                _ => return,
            }
        }
    }

    fn error(&mut self, line: u32, message: impl Into<String>, hint: &str) -> Stop {
        self.diags.error(line, "", message, hint);
        Stop
    }

    /// The file ends inside an element.
    fn never_closed(&mut self, tag: &str, from: u32) -> Stop {
        let message =
            format!("`<{tag}>` opened on line {from} is never closed: the file ends on line {}", self.line);
        self.error(from, message, "the file may be truncated")
    }

    /// Takes everything up to `end`, and `end` itself.
    fn until(&mut self, end: &str, what: &str) -> Result<&'a str, Stop> {
        match memchr::memmem::find(self.rest().as_bytes(), end.as_bytes()) {
            Some(n) => {
                let inner = self.advance(n);
                self.advance(end.len());
                Ok(inner)
            }
            None => {
                let line = self.line;
                Err(self.error(
                    line,
                    format!("the {what} that starts here is not closed (`{end}` is missing)"),
                    "",
                ))
            }
        }
    }

    /// The whole file.
    fn document(&mut self, file: &str) -> Option<Document> {
        let mut doc = Document { file: file.to_string(), ..Default::default() };
        // Before the root: declaration, comments, processing instructions, white space.
        loop {
            self.skip_white_space();
            let rest = self.rest();
            if rest.is_empty() {
                let line = self.line;
                self.error(line, "the file contains no element", "");
                return None;
            }
            match self.misc().ok()? {
                Misc::Comment(c) => doc.preamble.push(c),
                Misc::Skipped => {}
                Misc::None if rest.as_bytes()[0] == b'<' => break,
                Misc::None => {
                    let line = self.line;
                    self.error(line, "text before the first element", "remove it");
                    return None;
                }
            }
        }
        doc.root = self.tree().ok()?;
        self.after_root(&mut doc);
        self.version(&mut doc);
        Some(doc)
    }

    /// A comment or a processing instruction, if one starts here.
    fn misc(&mut self) -> Result<Misc, Stop> {
        let rest = self.rest();
        if rest.starts_with("<!--") {
            let comment = self.comment()?;
            return Ok(if self.keep_comments { Misc::Comment(comment) } else { Misc::Skipped });
        }
        if rest.starts_with("<?") {
            self.until("?>", "processing instruction")?;
            return Ok(Misc::Skipped);
        }
        if rest.starts_with("<!") {
            self.refuse_declaration()?;
        }
        Ok(Misc::None)
    }

    /// A comment, empty if it is not to be kept.
    fn comment(&mut self) -> Result<String, Stop> {
        self.advance("<!--".len());
        let text = self.until("-->", "comment")?;
        Ok(if self.keep_comments { line_ends(text).into_owned() } else { String::new() })
    }

    /// `<!` that is neither a comment nor character data.
    fn refuse_declaration(&mut self) -> Result<(), Stop> {
        let line = self.line;
        let rest = self.rest();
        if rest.starts_with("<!DOCTYPE") || rest.starts_with("<!ENTITY") || rest.starts_with("<!doctype") {
            return Err(self.error(
                line,
                "the file declares a document type; document types and entities are not supported",
                "remove the declaration, and replace the entities it defines by their text",
            ));
        }
        Err(self.error(line, "`<!` is followed by neither a comment nor character data", ""))
    }

    /// Comments after the root are kept, other text is reported and dropped.
    fn after_root(&mut self, doc: &mut Document) {
        loop {
            self.skip_white_space();
            let rest = self.rest();
            if rest.is_empty() {
                return;
            }
            if rest.starts_with("<!--") || rest.starts_with("<?") {
                match self.misc() {
                    Ok(Misc::Comment(c)) => doc.epilogue.push(c),
                    Ok(_) => {}
                    Err(Stop) => return,
                }
                continue;
            }
            let line = self.line;
            if rest.as_bytes()[0] == b'<' && rest[1..].chars().next().is_some_and(is_name_start) {
                self.error(
                    line,
                    "there is a second root element; a file has only one",
                    "put both inside one `OpenSimDocument`",
                );
            } else {
                let shown: String = rest.chars().take(20).collect();
                self.diags.warn(
                    line,
                    "",
                    format!("text after the end of the root element was ignored: {shown:?}"),
                    "remove it",
                );
            }
            return;
        }
    }

    /// The file version from the root.
    fn version(&mut self, doc: &mut Document) {
        if doc.root.tag != "OpenSimDocument" {
            return;
        }
        let line = doc.root.line;
        match doc.root.attribute("Version").map(|v| (v, v.trim().parse::<u32>())) {
            Some((_, Ok(v))) => doc.version = v,
            Some((v, Err(_))) => {
                let message = format!("the Version of the OpenSimDocument is `{v}`, not a number");
                self.error(
                    line,
                    message,
                    "write Version=\"40600\" or the version of the program that wrote the file",
                );
            }
            None => {
                self.error(
                    line,
                    "the OpenSimDocument has no Version",
                    "write Version=\"40600\" or the version of the program that wrote the file",
                );
            }
        }
    }

    /// The root element and all it holds.
    fn tree(&mut self) -> Result<Element, Stop> {
        let mut open: Vec<Element> = Vec::new();
        loop {
            // Between two tags there is white space as a rule. What follows a tag is looked at again below.
            if !open.is_empty() {
                self.skip_indentation();
            }
            let rest = self.rest();
            // Text between tags belongs to the innermost open element.
            if rest.as_bytes().first() != Some(&b'<') {
                let n = memchr::memchr(b'<', rest.as_bytes()).unwrap_or(rest.len());
                let line = self.line;
                let raw = self.advance(n);
                let Some(e) = open.last_mut() else { return Err(Stop) };
                if n == rest.len() {
                    let (tag, from) = (e.tag.clone(), e.line);
                    return Err(self.never_closed(&tag, from));
                }
                if !raw.bytes().all(is_white) {
                    let text = unescape(raw, line, &mut self.diags);
                    push_text(e, &text);
                }
                self.give_up_when_hopeless()?;
                continue;
            }
            if rest.starts_with("</") {
                let line = self.line;
                let tag = match open.last().filter(|e| closes(rest, &e.tag)) {
                    Some(e) => {
                        self.at += e.tag.len() + 3;
                        None
                    }
                    None => {
                        self.advance(2);
                        let inner = self.until(">", "closing tag")?;
                        Some(inner.trim_matches(|c: char| c.is_ascii() && is_white(c as u8)))
                    }
                };
                let Some(e) = open.pop() else {
                    let tag = tag.unwrap_or("");
                    return Err(self.error(line, format!("`</{}>` closes nothing", short(tag)), ""));
                };
                if let Some(tag) = tag.filter(|t| *t != e.tag) {
                    return Err(self.error(
                        line,
                        format!(
                            "`</{}>` closes `<{}>`, which was opened on line {}",
                            short(tag),
                            e.tag,
                            e.line
                        ),
                        "a closing tag is missing or misspelled",
                    ));
                }
                match open.last_mut() {
                    Some(parent) => parent.content.push(Content::Element(e)),
                    None => return Ok(e),
                }
            } else if rest.starts_with("<!--") {
                let c = self.comment()?;
                if let Some(e) = open.last_mut().filter(|_| self.keep_comments) {
                    e.content.push(Content::Comment(c));
                }
            } else if rest.starts_with("<![CDATA[") {
                self.advance("<![CDATA[".len());
                let raw = self.until("]]>", "character data")?;
                if let Some(e) = open.last_mut()
                    && !raw.bytes().all(is_white)
                {
                    push_text(e, &line_ends(raw));
                }
            } else if rest.starts_with("<?") {
                self.until("?>", "processing instruction")?;
            } else if rest.starts_with("<!") {
                self.refuse_declaration()?;
            } else {
                let (e, closed) = self.open_tag()?;
                if closed {
                    match open.last_mut() {
                        Some(parent) => parent.content.push(Content::Element(e)),
                        None => return Ok(e),
                    }
                } else if open.len() >= MAX_DEPTH {
                    let line = e.line;
                    return Err(self.error(
                        line,
                        format!("elements are nested more than {MAX_DEPTH} deep"),
                        "",
                    ));
                } else {
                    open.push(e);
                }
            }
            if self.rest().is_empty()
                && let Some(e) = open.last()
            {
                return Err(self.never_closed(&e.tag, e.line));
            }
            self.give_up_when_hopeless()?;
        }
    }

    fn give_up_when_hopeless(&self) -> Result<(), Stop> {
        match self.diags.has_errors() && self.diags.list.len() > MAX_ERRORS {
            true => Err(Stop),
            false => Ok(()),
        }
    }

    /// An opening tag with its attributes; `true` when it closes itself.
    fn open_tag(&mut self) -> Result<(Element, bool), Stop> {
        let line = self.line;
        self.advance(1);
        let tag = self.name();
        if tag.is_empty() {
            let shown: String = self.rest().chars().take(10).collect();
            return Err(self.error(
                line,
                format!("`<` is followed by {shown:?}, not by a name"),
                "write `&lt;` for the character itself",
            ));
        }
        let mut e = Element::new(tag, line);
        loop {
            if !self.rest().starts_with('>') {
                self.skip_white_space();
            }
            let rest = self.rest();
            if rest.starts_with('>') {
                self.at += 1;
                return Ok((e, false));
            }
            if rest.starts_with("/>") {
                self.at += 2;
                return Ok((e, true));
            }
            if rest.is_empty() {
                return Err(self.error(
                    line,
                    format!("the tag `<{tag}` is not closed"),
                    "the file may be truncated",
                ));
            }
            let name = self.name();
            self.skip_white_space();
            if name.is_empty() || !self.rest().starts_with('=') {
                let at = self.line;
                return Err(self.error(
                    at,
                    format!("the tag `<{tag}>` is malformed"),
                    "attributes are written name=\"value\"",
                ));
            }
            self.advance(1);
            self.skip_white_space();
            let at = self.line;
            let quote = match self.rest().as_bytes().first() {
                Some(b'"') => "\"",
                Some(b'\'') => "'",
                _ => {
                    return Err(self.error(
                        at,
                        format!("attribute `{name}` of `<{tag}>` has no quoted value"),
                        "",
                    ));
                }
            };
            self.advance(1);
            let raw = self.until(quote, "attribute value")?;
            if raw.contains('<') {
                return Err(self.error(
                    at,
                    format!("the value of attribute `{name}` of `<{tag}>` contains `<`"),
                    "a closing quote may be missing; write `&lt;` for the character itself",
                ));
            }
            if e.attributes.len() >= MAX_ATTRIBUTES {
                return Err(self.error(
                    at,
                    format!("`<{tag}>` has more than {MAX_ATTRIBUTES} attributes"),
                    "",
                ));
            }
            if e.attribute(name).is_some() {
                self.error(at, format!("attribute `{name}` of `<{tag}>` is given twice"), "keep one of them");
            } else {
                // In attributes, line ends and tabs count as spaces (XML 1.0, 3.3.3).
                let flat = match raw.contains(['\n', '\r', '\t']) {
                    true => Cow::Owned(line_ends(raw).replace(['\n', '\t'], " ")),
                    false => Cow::Borrowed(raw),
                };
                let value = unescape(&flat, at, &mut self.diags).into_owned();
                e.attributes.push((name.to_string(), value));
            }
        }
    }

    /// A tag or attribute name, possibly empty.
    fn name(&mut self) -> &'a str {
        let rest = self.rest();
        // Nearly all names are letters, digits and underscores; a name holds no line end.
        let plain =
            rest.bytes().position(|b| !(b.is_ascii_alphanumeric() || b == b'_')).unwrap_or(rest.len());
        let first = rest.as_bytes().first().copied().unwrap_or(b'0');
        let next = rest.as_bytes().get(plain).copied().unwrap_or(b' ');
        if plain > 0 && !first.is_ascii_digit() && next.is_ascii() && !is_name(char::from(next)) {
            self.at += plain;
            return &rest[..plain];
        }
        let mut chars = rest.char_indices();
        match chars.next() {
            Some((_, c)) if is_name_start(c) => {}
            _ => return "",
        }
        let n = chars.find(|&(_, c)| !is_name(c)).map_or(rest.len(), |(i, _)| i);
        self.advance(n)
    }
}

enum Misc {
    Comment(String),
    Skipped,
    None,
}

/// The beginning of a string that may be long.
fn short(s: &str) -> String {
    s.chars().take(60).collect()
}

/// Whether a closing tag of that name, without blanks in it, stands at the beginning.
fn closes(rest: &str, tag: &str) -> bool {
    let rest = &rest.as_bytes()[2..];
    rest.starts_with(tag.as_bytes()) && rest.get(tag.len()) == Some(&b'>')
}

fn is_white(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r' | b'\n')
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == ':' || !c.is_ascii()
}

fn is_name(c: char) -> bool {
    is_name_start(c) || c.is_ascii_digit() || c == '-' || c == '.'
}

/// Line ends as `\n` (XML 1.0, 2.11).
fn line_ends(s: &str) -> Cow<'_, str> {
    match s.contains('\r') {
        true => Cow::Owned(s.replace("\r\n", "\n").replace('\r', "\n")),
        false => Cow::Borrowed(s),
    }
}

/// Appends text, joined with text that is already last.
fn push_text(e: &mut Element, text: &str) {
    match e.content.last_mut() {
        Some(Content::Text(t)) => t.push_str(text),
        last => {
            // Most elements that hold text hold nothing else, and there are many.
            if last.is_none() {
                e.content.reserve_exact(1);
            }
            e.content.push(Content::Text(text.to_string()));
        }
    }
}

/// Decodes the five predefined entities and numeric references; normalizes line ends.
/// Anything else after `&` is an error, and is kept as written.
fn unescape<'s>(raw: &'s str, first_line: u32, diags: &mut Diagnostics) -> Cow<'s, str> {
    if memchr::memchr2(b'&', b'\r', raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    let raw = line_ends(raw);
    let mut out = String::with_capacity(raw.len());
    let mut rest: &str = &raw;
    let mut line = first_line;
    while let Some(i) = rest.find('&') {
        out.push_str(&rest[..i]);
        line = line.saturating_add(count_newlines(&rest.as_bytes()[..i]));
        rest = &rest[i..];
        // The longest reference we decode is `&#x0010FFFF;`; names of entities are not looked up.
        let end = rest.bytes().take(32).position(|b| b == b';');
        let decoded = end.and_then(|n| reference(&rest[1..n]).map(|c| (c, n + 1)));
        match decoded {
            Some((c, n)) => {
                out.push(c);
                rest = &rest[n..];
            }
            None => {
                if diags.list.len() <= MAX_ERRORS {
                    let shown = match end {
                        Some(n) => short(&rest[..=n]),
                        None => "&".to_string(),
                    };
                    diags.error(
                        line,
                        "",
                        format!("`{shown}` is neither one of the entities &amp; &lt; &gt; &quot; &apos; nor a character reference"),
                        "write `&amp;` for the character `&` itself",
                    );
                }
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character that `&name;` stands for.
fn reference(name: &str) -> Option<char> {
    match name {
        "amp" => return Some('&'),
        "lt" => return Some('<'),
        "gt" => return Some('>'),
        "quot" => return Some('"'),
        "apos" => return Some('\''),
        _ => {}
    }
    let digits = name.strip_prefix('#')?;
    let (digits, radix) = match digits.strip_prefix(['x', 'X']) {
        Some(hex) => (hex, 16),
        None => (digits, 10),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let c = char::from_u32(u32::from_str_radix(digits, radix).ok()?)?;
    // Characters that XML 1.0 excludes (2.2).
    match c {
        '\t' | '\n' | '\r' => Some(c),
        '\0'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}' => None,
        _ => Some(c),
    }
}
