//! A stroke font for pixel images, so that no system font is needed.
//!
//! A letter consists of lines through points of a grid, each point two digits: x from the left, y from two below the
//! base line. Base line 2, small letters to 6, capitals to 8. Lines are separated by `;`; a single point is a dot.

/// Grid step, relative to the font height: capitals are 0.72 of it.
pub const STEP: f64 = 0.12;
/// Room between letters, and the width of a space, in steps.
const GAP: f64 = 1.5;
const SPACE: f64 = 1.5;
/// Stroke width, relative to the font height.
pub const PEN: f64 = 0.095;
/// What is drawn for letters that are not there.
const UNKNOWN: &str = "02 08 38 32 02";

const LETTERS: &[(char, &str)] = &[
    ('A', "02 28 42;15 35"),
    ('B', "02 08 38 47 46 35 05;35 44 43 32 02"),
    ('C', "47 38 18 07 03 12 32 43"),
    ('D', "02 08 28 47 43 22 02"),
    ('E', "48 08 02 42;05 35"),
    ('F', "48 08 02;05 35"),
    ('G', "47 38 18 07 03 12 32 43 45 25"),
    ('H', "02 08;42 48;05 45"),
    ('I', "08 28;18 12;02 22"),
    ('J', "38 33 22 12 03"),
    ('K', "02 08;48 05 42"),
    ('L', "08 02 42"),
    ('M', "02 08 25 48 42"),
    ('N', "02 08 42 48"),
    ('O', "18 07 03 12 32 43 47 38 18"),
    ('P', "02 08 38 47 46 35 05"),
    ('Q', "18 07 03 12 32 43 47 38 18;24 41"),
    ('R', "02 08 38 47 46 35 05;25 42"),
    ('S', "47 38 18 07 06 15 35 44 43 32 12 03"),
    ('T', "08 48;28 22"),
    ('U', "08 03 12 32 43 48"),
    ('V', "08 22 48"),
    ('W', "08 12 26 32 48"),
    ('X', "02 48;08 42"),
    ('Y', "08 25 48;25 22"),
    ('Z', "08 48 02 42"),
    ('a', "06 26 35 32;34 14 03 12 22 33"),
    ('b', "08 02;05 16 26 35 33 22 12 03"),
    ('c', "35 26 16 05 03 12 22 33"),
    ('d', "38 32;35 26 16 05 03 12 22 33"),
    ('e', "04 34 35 26 16 05 03 12 32"),
    ('f', "38 28 17 12;06 26"),
    ('g', "36 31 20 10 01;35 26 16 05 03 12 22 33"),
    ('h', "08 02;05 16 26 35 32"),
    ('i', "06 02;08"),
    ('j', "16 11 00;18"),
    ('k', "08 02;36 04 32"),
    ('l', "08 03 12"),
    ('m', "02 06;05 16 25 22;25 36 45 42"),
    ('n', "02 06;05 16 26 35 32"),
    ('o', "16 05 03 12 22 33 35 26 16"),
    ('p', "06 00;05 16 26 35 33 22 12 03"),
    ('q', "36 30;35 26 16 05 03 12 22 33"),
    ('r', "02 06;05 16 26"),
    ('s', "36 16 05 14 24 33 22 02"),
    ('t', "18 13 22 32;06 26"),
    ('u', "06 03 12 22 33;36 32"),
    ('v', "06 12 22 36"),
    ('w', "06 12 25 32 46"),
    ('x', "06 32;02 36"),
    ('y', "06 03 12 22 33;36 31 20 10 01"),
    ('z', "06 36 02 32"),
    ('0', "18 07 03 12 22 33 37 28 18"),
    ('1', "06 18 12;02 22"),
    ('2', "07 18 28 37 36 02 32"),
    ('3', "07 18 28 37 36 25 15;25 34 33 22 12 03"),
    ('4', "22 28 04 34"),
    ('5', "38 08 05 25 34 33 22 02"),
    ('6', "37 28 18 07 03 12 22 33 34 25 05"),
    ('7', "08 38 12"),
    ('8', "15 06 07 18 28 37 36 25 15 04 03 12 22 33 34 25"),
    ('9', "03 12 22 33 37 28 18 07 06 15 35"),
    ('.', "02"),
    (',', "12 01"),
    (':', "02;05"),
    (';', "12 01;15"),
    ('-', "05 25"),
    ('−', "05 35"),
    ('–', "05 35"),
    ('—', "05 55"),
    ('_', "01 31"),
    ('+', "05 45;27 23"),
    ('=', "04 34;06 36"),
    ('(', "18 06 04 12"),
    (')', "08 16 14 02"),
    ('[', "18 08 02 12"),
    (']', "08 18 12 02"),
    ('{', "28 18 16 05 14 12 22"),
    ('}', "08 18 16 25 14 12 02"),
    ('/', "02 38"),
    ('\\', "08 32"),
    ('|', "09 01"),
    ('*', "14 36;16 34;05 45"),
    ('\'', "08 06"),
    ('"', "08 06;18 16"),
    ('%', "02 48;08 18 17 07 08;33 43 42 32 33"),
    ('&', "42 07 08 18 17 04 03 12 22 44"),
    ('#', "13 17;33 37;04 44;06 46"),
    ('@', "35 25 24 34 36 27 17 06 03 12 32"),
    ('!', "08 04;02"),
    ('?', "07 18 28 37 36 25 14;12"),
    ('<', "36 04 32"),
    ('>', "06 34 02"),
    ('^', "06 18 26"),
    ('`', "08 17"),
    ('~', "04 15 24 35"),
    ('$', "37 28 18 07 06 15 25 34 33 22 12 03;19 11"),
    ('°', "18 07 16 27 18"),
    ('·', "05"),
    ('×', "03 36;06 33"),
    ('µ', "06 00;03 12 22 33;36 32"),
    ('μ', "06 00;03 12 22 33;36 32"),
    ('²', "08 28 27 05 25"),
    ('³', "08 28 17 26 05"),
    ('±', "06 46;28 24;02 42"),
    ('…', "02;22;42"),
    ('’', "08 06"),
    ('α', "46 22 12 03 05 16 26 42"),
    ('π', "06 46;16 12;36 32"),
    ('Δ', "02 28 42 02"),
    ('ω', "06 03 12 24 32 43 46"),
];

/// Lines of a text whose base line starts at the origin, in grid steps with y upwards, and its width.
pub fn strokes(text: &str) -> (Vec<Vec<[f64; 2]>>, f64) {
    let (mut lines, mut x) = (Vec::new(), 0.0);
    for c in text.chars() {
        if c.is_whitespace() {
            x += SPACE + GAP;
            continue;
        }
        let shape = LETTERS.iter().find(|l| l.0 == c).map_or(UNKNOWN, |l| l.1);
        let mut width = 0.0f64;
        for line in shape.split(';') {
            let point = |p: &str| {
                let digit = |i: usize| p.as_bytes().get(i).map_or(0.0, |b| f64::from(*b) - f64::from(b'0'));
                [digit(0), digit(1) - 2.0]
            };
            let points: Vec<[f64; 2]> = line.split(' ').map(point).collect();
            width = points.iter().fold(width, |w, p| w.max(p[0]));
            lines.push(points.into_iter().map(|[px, y]| [x + px, y]).collect());
        }
        x += width + GAP;
    }
    (lines, (x - GAP).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every letter of ASCII is there, once, on the grid; widths add up.
    #[test]
    fn analytic_letters_are_there() {
        for c in (33u8..127).map(char::from).chain("−°µ…".chars()) {
            assert_eq!(LETTERS.iter().filter(|l| l.0 == c).count(), 1, "{c}");
        }
        for (c, shape) in LETTERS {
            let well = |p: &str| p.len() == 2 && p.bytes().all(|b| b.is_ascii_digit());
            assert!(shape.split([';', ' ']).all(well), "{c}");
        }
        let width = |t: &str| strokes(t).1;
        assert_eq!([width(""), width("o"), width("oo"), width("o o")], [0.0, 3.0, 7.5, 10.5]);
        assert_eq!(strokes("字").0.len(), 1, "a box stands for what is not there");
    }
}
