//! Small changes of files: of bits, numbers, names, lines, columns and elements.

use soleus_math::Random;

/// What a file is made of; it decides which changes make sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Elements with text.
    Xml,
    /// Lines of cells.
    Table,
    /// Words and numbers.
    Text,
    /// Numbers of one to eight bytes.
    Binary,
}

/// Longest file made; time and memory are compared with this.
const LONGEST: usize = 400_000;

/// Changes files, the same for the same seed.
pub struct Mutator {
    random: Random,
}

/// Numbers at the ends of what programs think of.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "100",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "-2147483648",
    "4294967296",
    "9223372036854775807",
    "18446744073709551616",
    "1e9",
    "1e19",
    "1e300",
    "-1e308",
    "1e309",
    "1e-320",
    "nan",
    "NaN",
    "inf",
    "-Infinity",
    "0.5",
    "1e",
    "--1",
    "1,5",
    "0x10",
    "",
    " ",
    "1 2",
    "99999999999999999999999999999999",
    "1e-16",
    "3.141592653589793",
];

/// Words that are names, words that are not, and what names should not hold.
const WORDS: &[&str] = &[
    "",
    " ",
    "time",
    "ground",
    "/",
    "..",
    "../..",
    "/ground",
    "a",
    "true",
    "false",
    "Unassigned",
    "all",
    "\t",
    "\n",
    "\u{1b}[31m",
    "\u{202e}",
    "ä",
    "𝄞",
    "%s",
    "&amp;",
    "&#0;",
    "\"",
    "'",
    ",",
    ";",
    "#",
    "=",
    "x y",
    "~[1,2,3]",
    "a/b",
    "jointset",
    "-",
    "*",
    ".*",
    "(",
    "[",
];

impl Mutator {
    /// A seed; 0 is one too.
    pub fn new(seed: u64) -> Self {
        Mutator { random: Random::new(seed) }
    }

    /// 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.random.bits()
    }

    /// A number below `n`; 0 for 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.draw() % (n as u64).max(1)) as usize
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        let i = self.below(list.len());
        list[i]
    }

    /// A piece of `bytes`, short as a rule.
    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let from = self.below(length);
        let most = if self.below(4) == 0 { length - from } else { (length - from).min(40) };
        from..from + self.below(most + 1)
    }

    /// One to six changes of a file; some take parts of `others`.
    pub fn mutate(&mut self, file: &[u8], shape: Shape, others: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = file.to_vec();
        for _ in 0..1 + self.below(6) {
            let structured = self.below(5) != 0;
            match shape {
                Shape::Xml if structured => self.elements(&mut bytes),
                Shape::Table if structured => self.table(&mut bytes),
                Shape::Text if structured => self.text(&mut bytes),
                Shape::Binary if structured => self.binary(&mut bytes),
                _ => self.bytes(&mut bytes, others),
            }
            bytes.truncate(LONGEST);
        }
        bytes
    }

    /// Bits and pieces.
    fn bytes(&mut self, bytes: &mut Vec<u8>, others: &[Vec<u8>]) {
        let n = bytes.len();
        if n == 0 {
            bytes.push(self.draw() as u8);
            return;
        }
        match self.below(9) {
            0 => bytes[self.below(n)] ^= 1 << self.below(8),
            1 => bytes[self.below(n)] = [0, 1, 9, 10, 13, 0x7f, 0x80, 0xfe, 0xff][self.below(9)],
            2 => drop(bytes.drain(self.range(n))),
            3 => {
                let piece = bytes[self.range(n)].to_vec();
                let at = self.below(n + 1);
                bytes.splice(at..at, piece);
            }
            4 => bytes.truncate(self.below(n + 1)),
            5 => {
                // A piece of another file, or of this one.
                let other = if others.is_empty() { &*bytes } else { &others[self.below(others.len())] };
                let piece =
                    if other.is_empty() { Vec::new() } else { other[self.range(other.len())].to_vec() };
                let range = self.range(n);
                bytes.splice(range, piece);
            }
            6 => {
                let piece = bytes[self.range(n)].to_vec();
                let at = self.below(n + 1);
                let times = 1 + self.below(1 + 20_000 / piece.len().max(1));
                bytes.splice(at..at, piece.repeat(times));
            }
            7 => {
                let at = self.below(n + 1);
                let byte = self.draw() as u8;
                bytes.splice(at..at, [byte]);
            }
            _ => bytes[self.range(n)].reverse(),
        }
    }

    /// Numbers of one to eight bytes, from either end.
    fn binary(&mut self, bytes: &mut Vec<u8>) {
        const VALUES: [u64; 14] = [
            0,
            1,
            2,
            0x7f,
            0x80,
            0xff,
            0x7fff,
            0x8000,
            0xffff,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            1 << 40,
            u64::MAX,
        ];
        const FLOATS: [f64; 10] = [0.0, -1.0, 1.0, 1e5, 1e9, 1e19, -1e19, 1e300, f64::INFINITY, f64::NAN];
        let n = bytes.len();
        if self.below(3) == 0 || n < 8 {
            return self.bytes(bytes, &[]);
        }
        let at = self.below(n - 7);
        let at = if self.below(2) == 0 { at & !1 } else { at };
        let value = VALUES[self.below(VALUES.len())].wrapping_add(self.below(3) as u64).wrapping_sub(1);
        let float = FLOATS[self.below(FLOATS.len())];
        let new: Vec<u8> = match self.below(7) {
            0 => vec![value as u8],
            1 => (value as u16).to_le_bytes().into(),
            2 => (value as u16).to_be_bytes().into(),
            3 => (value as u32).to_le_bytes().into(),
            4 => (float as f32).to_le_bytes().into(),
            5 => float.to_le_bytes().into(),
            _ => value.to_le_bytes().into(),
        };
        bytes[at..at + new.len()].copy_from_slice(&new);
    }

    /// A number or a word becomes another.
    fn text(&mut self, bytes: &mut Vec<u8>) {
        if self.below(4) == 0 {
            return self.table(bytes);
        }
        let numbers = self.below(2) == 0;
        let words = words(bytes, numbers);
        if words.is_empty() {
            return self.bytes(bytes, &[]);
        }
        let range = words[self.below(words.len())].clone();
        let new = match self.below(8) {
            // Another word of the file: a reference to something else.
            0..3 => bytes[words[self.below(words.len())].clone()].to_vec(),
            3 => {
                let piece = bytes[range.clone()].to_vec();
                piece.repeat(1 + self.below(3000))
            }
            _ if numbers => self.pick(NUMBERS).into(),
            _ => self.pick(WORDS).into(),
        };
        bytes.splice(range, new);
    }

    /// Lines, columns and cells.
    fn table(&mut self, bytes: &mut Vec<u8>) {
        if self.below(3) == 0 {
            return match words(bytes, true).is_empty() {
                true => self.bytes(bytes, &[]),
                false => self.word(bytes),
            };
        }
        let mut lines: Vec<Vec<u8>> = bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
        let n = lines.len();
        let (i, j) = (self.below(n), self.below(n));
        match self.below(9) {
            0 => drop(lines.remove(i)),
            1 => lines.insert(j, lines[i].clone()),
            2 => lines.swap(i, j),
            3 => {
                let times = self.below(2000);
                let line = lines[i].clone();
                let most = 20_000 / line.len().max(1);
                lines.splice(i..i, std::iter::repeat_n(line, times.min(most)));
            }
            4 => lines[i].clear(),
            // A column of every line from here on: away, or twice.
            5 | 6 => {
                let separator = if lines[i].contains(&b'\t') { b'\t' } else { b',' };
                let column = self.below(1 + lines[i].iter().filter(|b| **b == separator).count());
                let twice = self.below(2) == 0;
                for line in &mut lines[i..] {
                    let mut cells: Vec<&[u8]> = line.split(|b| *b == separator).collect();
                    if column < cells.len() {
                        match twice {
                            true => cells.insert(column, cells[column]),
                            false => drop(cells.remove(column)),
                        }
                    }
                    *line = cells.join(&separator);
                }
            }
            // Another separator, or another end of lines.
            7 => {
                let (from, to) =
                    [(b'\t', b' '), (b'\t', b','), (b',', b';'), (b'.', b','), (b' ', b'\t')][self.below(5)];
                for line in &mut lines[i..] {
                    line.iter_mut().filter(|b| **b == from).for_each(|b| *b = to);
                }
            }
            _ => lines.iter_mut().for_each(|l| l.push(b'\r')),
        }
        *bytes = lines.join(&b'\n');
    }

    fn word(&mut self, bytes: &mut Vec<u8>) {
        let words = words(bytes, self.below(2) == 0);
        if words.is_empty() {
            return;
        }
        let range = words[self.below(words.len())].clone();
        let new = if self.below(3) == 0 { self.pick(WORDS) } else { self.pick(NUMBERS) };
        bytes.splice(range, new.bytes());
    }

    /// Elements: away, twice, many times, elsewhere, inside themselves; their names, attributes and text.
    fn elements(&mut self, bytes: &mut Vec<u8>) {
        if self.below(3) == 0 {
            return self.text(bytes);
        }
        let starts: Vec<usize> = (0..bytes.len().saturating_sub(1))
            .filter(|&i| bytes[i] == b'<' && bytes[i + 1].is_ascii_alphabetic())
            .collect();
        if starts.is_empty() {
            return self.bytes(bytes, &[]);
        }
        let a = element(bytes, starts[self.below(starts.len())]);
        let b = element(bytes, starts[self.below(starts.len())]);
        let piece = bytes[a.clone()].to_vec();
        match self.below(9) {
            0 => drop(bytes.drain(a)),
            1 => drop(bytes.splice(a.end..a.end, piece)),
            2 => {
                let most = 1 + 60_000 / piece.len().max(1);
                let times = 1 + self.below(most.min(1000));
                bytes.splice(a.end..a.end, piece.repeat(times));
            }
            // In the place of another, or before it.
            3 => drop(bytes.splice(b, piece)),
            4 => drop(bytes.splice(b.start..b.start, piece)),
            // Inside itself, behind its opening tag.
            5 => {
                let inside = piece.iter().position(|c| *c == b'>').map_or(a.end, |i| a.start + i + 1);
                let piece = piece.repeat(1 + self.below(3));
                bytes.splice(inside..inside, piece);
            }
            // Its content away, or other words.
            6 => {
                if let (Some(from), Some(to)) =
                    (piece.iter().position(|c| *c == b'>'), piece.windows(2).rposition(|w| w == b"</"))
                    && from < to
                {
                    let new = if self.below(2) == 0 { self.pick(WORDS) } else { self.pick(NUMBERS) };
                    bytes.splice(a.start + from + 1..a.start + to, new.bytes());
                }
            }
            // The tag of another.
            7 => {
                let tag = |e: &[u8]| {
                    e[1..].iter().position(|c| !c.is_ascii_alphanumeric() && *c != b'_').map_or(1, |n| n + 1)
                };
                let other = bytes[b.clone()][1..tag(&bytes[b])].to_vec();
                let old = piece[1..tag(&piece)].to_vec();
                let mut new = [b"<", &other[..], &piece[1 + old.len()..]].concat();
                let closing = [b"</", &old[..], b">"].concat();
                if new.ends_with(&closing) {
                    new.truncate(new.len() - closing.len());
                    new.extend([b"</", &other[..], b">"].concat());
                }
                bytes.splice(a, new);
            }
            // The version of the file, which decides about upgrades.
            _ => {
                const VERSIONS: &[&str] = &[
                    "10000", "10600", "10900", "11000", "20302", "30000", "30500", "30516", "40000", "40500",
                    "0", "-1", "99999",
                ];
                if let Some(at) = bytes.windows(9).position(|w| w == b"Version=\"") {
                    let end = bytes[at + 9..].iter().position(|b| *b == b'"').map_or(at + 9, |n| at + 9 + n);
                    bytes.splice(at + 9..end, self.pick(VERSIONS).bytes());
                }
            }
        }
    }
}

/// The words of a file that are numbers, or those that are not.
fn words(bytes: &[u8], numbers: bool) -> Vec<std::ops::Range<usize>> {
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'+' | b'_');
    let mut list = Vec::new();
    let mut from = 0;
    for i in 0..=bytes.len() {
        if i < bytes.len() && part(bytes[i]) {
            continue;
        }
        if i > from && numbers == matches!(bytes[from], b'0'..=b'9' | b'-' | b'.') {
            list.push(from..i);
        }
        from = i + 1;
    }
    list
}

/// From an opening tag to its end; to the end of the tag if there is none.
fn element(bytes: &[u8], start: usize) -> std::ops::Range<usize> {
    let name = bytes[start + 1..].iter().take_while(|c| c.is_ascii_alphanumeric() || **c == b'_').count();
    let tag = &bytes[start + 1..start + 1 + name];
    let Some(close) = bytes[start..].iter().position(|c| *c == b'>') else { return start..bytes.len() };
    if bytes[start + close - 1] == b'/' {
        return start..start + close + 1;
    }
    let mut depth = 0;
    let mut at = start;
    while let Some(next) = bytes[at..].iter().position(|c| *c == b'<') {
        at += next + 1;
        let closing = bytes.get(at) == Some(&b'/');
        let rest = &bytes[at + usize::from(closing)..];
        if rest.starts_with(tag) && rest.get(tag.len()).is_none_or(|c| matches!(c, b'>' | b' ' | b'/')) {
            // `<b/>` opens and closes.
            let end = rest.iter().position(|c| *c == b'>').unwrap_or(0);
            let empty = end > 0 && rest[end - 1] == b'/';
            depth += if closing { -1 } else { i32::from(!empty) };
        }
        if depth == 0 {
            let end = bytes[at..].iter().position(|c| *c == b'>').map_or(bytes.len(), |n| at + n + 1);
            return start..end;
        }
    }
    start..start + close + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analytic_elements_are_found_whole() {
        let text = b"<a><b x=\"1\"><b/>t<b>2</b></b><bc/></a>";
        assert_eq!(element(text, 0), 0..text.len());
        assert_eq!(&text[element(text, 3)], b"<b x=\"1\"><b/>t<b>2</b></b>");
    }

    #[test]
    fn identity_same_seed_same_file() {
        let files = crate::corpus::files("osim");
        for seed in 0..50 {
            let made = || Mutator::new(seed).mutate(&files[0], Shape::Xml, &files);
            assert_eq!(made(), made());
        }
        assert_ne!(
            Mutator::new(1).mutate(&files[0], Shape::Xml, &files),
            Mutator::new(2).mutate(&files[0], Shape::Xml, &files)
        );
    }
}
