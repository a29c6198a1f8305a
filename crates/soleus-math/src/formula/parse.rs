//! Parses the text of a formula.

use super::{Expr, ExprKind, FormulaError, FormulaProblem as Problem, Operator, Place, TableKind};
use std::collections::HashMap;
use std::convert::Infallible;

/// Deepest nesting of brackets, signs and exponents, and longest chain of factors; bounds recursion here and later, so that the smallest
/// stacks of threads, 2 MB, are enough without optimization too.
const MAX_DEPTH: usize = 60;
pub(super) const MAX_CHAIN: usize = 150;

/// Longest text. A formula of a goal has a hundred letters; one traced from a program some thousands.
const MAX_LENGTH: usize = 1_000_000;

/// Precedence, lowest first.
const OR: u8 = 0;
const AND: u8 = 1;
const NOT: u8 = 2;
const COMPARISON: u8 = 3;
const SUM: u8 = 4;
const PRODUCT: u8 = 5;
const SIGN: u8 = 6;
const POWER: u8 = 7;

/// Reads a formula with its definitions.
pub(super) fn parse(text: &str) -> Result<Expr, FormulaError> {
    if text.len() > MAX_LENGTH {
        return Err(FormulaError::new(Place::default(), Problem::TooBig("long")));
    }
    let mut p = Parser { text, at: 0, end: 0, seen: (0, Place { line: 1, column: 1 }) };
    // The parts between semicolons with their names; the first has none.
    let mut parts: Vec<(&str, Expr)> = Vec::new();
    let mut start = 0;
    for (i, part) in text.split(';').enumerate() {
        (p.at, p.end) = (start, start + part.len());
        start += part.len() + 1;
        let mut name = "";
        if i > 0 {
            if p.peek().is_none() {
                continue;
            }
            let found = p.found();
            name = p.word();
            if name.is_empty() || !p.take("=") {
                let found = if name.is_empty() { found } else { p.found() };
                return Err(p.unexpected("a definition `name = …`", found));
            }
        }
        let e = p.expression(OR, 0)?;
        if p.peek().is_some() {
            let found = p.found();
            return Err(p.unexpected("an operator", found));
        }
        parts.push((name, e));
    }
    // From the last to the first, since each may use those after it. Of two of one name the first counts.
    let mut known: HashMap<&str, Expr> = HashMap::new();
    let mut result = None;
    for (name, e) in parts.into_iter().rev() {
        let mut meaning = |part: &Expr| match part.kind() {
            ExprKind::Input(n, None) => Ok::<_, Infallible>(known.get(n.as_str()).cloned()),
            _ => Ok(None),
        };
        let e = match e.replaced(&mut meaning) {
            Ok(e) => e,
            Err(never) => match never {},
        };
        if e.depth() > MAX_CHAIN {
            return Err(FormulaError::new(e.place(), Problem::TooBig("deeply nested")));
        }
        if name.is_empty() {
            result = Some(e);
        } else {
            known.insert(name, e);
        }
    }
    result.ok_or_else(|| p.unexpected("a formula", "nothing".to_string()))
}

/// Whether a character may stand in a name.
pub(super) fn in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

struct Parser<'a> {
    text: &'a str,
    /// The byte to read next, and where the part being read ends.
    at: usize,
    end: usize,
    /// A byte and its place, from which others are counted.
    seen: (usize, Place),
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..self.end]
    }

    /// The next character that is not space.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        self.rest().chars().next()
    }

    /// Takes the next characters if they are `what`.
    fn take(&mut self, what: &str) -> bool {
        self.peek();
        let yes = self.rest().starts_with(what);
        if yes {
            self.at += what.len();
        }
        yes
    }

    /// Takes a name, empty if there is none.
    fn word(&mut self) -> &'a str {
        if !self.peek().is_some_and(|c| in_name(c) && !c.is_ascii_digit()) {
            return "";
        }
        let rest = self.rest();
        let word = &rest[..rest.find(|c| !in_name(c)).unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    /// The name that comes next, without taking it.
    fn next_word(&mut self) -> &'a str {
        let at = self.at;
        let word = self.word();
        self.at = at;
        word
    }

    /// Where the parser is.
    fn place(&mut self) -> Place {
        self.peek();
        let (from, mut place) = self.seen;
        if from > self.at {
            (self.seen.0, place) = (0, Place { line: 1, column: 1 });
        }
        for c in self.text[self.seen.0..self.at].chars() {
            if c == '\n' {
                place = Place { line: place.line + 1, column: 1 };
            } else {
                place.column += 1;
            }
        }
        self.seen = (self.at, place);
        place
    }

    fn error(&mut self, problem: Problem) -> FormulaError {
        FormulaError::new(self.place(), problem)
    }

    fn unexpected(&mut self, expected: &'static str, found: String) -> FormulaError {
        self.error(Problem::Unexpected { expected, found })
    }

    /// The next thing, in words.
    fn found(&mut self) -> String {
        match self.peek() {
            None => "the end".to_string(),
            Some(c) => match self.next_word() {
                "" => format!("`{c}`"),
                word => format!("`{word}`"),
            },
        }
    }

    /// The operator that comes next, with its precedence, that of what follows it, and its length.
    fn operator(&mut self) -> Option<(Sign, u8, u8, usize)> {
        use Sign::{Minus, Of, Plus, Swapped};
        self.peek()?;
        match self.next_word() {
            "or" => return Some((Of(Operator::Or), OR, AND, 2)),
            "and" => return Some((Of(Operator::And), AND, NOT, 3)),
            _ => {}
        }
        // Longer signs before those that they begin with.
        let list = [
            ("<=", Of(Operator::LessEqual), COMPARISON, SUM),
            (">=", Swapped(Operator::LessEqual), COMPARISON, SUM),
            ("==", Of(Operator::Equal), COMPARISON, SUM),
            ("!=", Of(Operator::NotEqual), COMPARISON, SUM),
            ("<", Of(Operator::Less), COMPARISON, SUM),
            (">", Swapped(Operator::Less), COMPARISON, SUM),
            ("+", Plus, SUM, PRODUCT),
            ("-", Minus, SUM, PRODUCT),
            // Groups to the right: what follows may be another power.
            ("**", Of(Operator::Power), POWER, SIGN),
            ("*", Of(Operator::Multiply), PRODUCT, SIGN),
            ("/", Of(Operator::Divide), PRODUCT, SIGN),
            ("^", Of(Operator::Power), POWER, SIGN),
        ];
        let rest = self.rest();
        list.into_iter()
            .find(|l| rest.starts_with(l.0))
            .map(|(sign, o, own, right)| (o, own, right, sign.len()))
    }

    /// Reads operands joined by operators of at least the given precedence.
    fn expression(&mut self, lowest: u8, depth: usize) -> Result<Expr, FormulaError> {
        if depth > MAX_DEPTH {
            return Err(self.error(Problem::TooBig("deeply nested")));
        }
        let mut left = self.operand(lowest, depth)?;
        // A sum goes on as long as it was begun here; one in parentheses is a term of another.
        let mut is_open = false;
        while let Some((sign, precedence, right, length)) = self.operator() {
            if precedence < lowest {
                break;
            }
            let place = self.place();
            self.at += length;
            let other = self.expression(right, depth + 1)?;
            left = match sign {
                Sign::Plus | Sign::Minus => {
                    let other = if let Sign::Minus = sign { negative(other, place) } else { other };
                    match is_open {
                        true => left.plus(other, place),
                        false => Expr::make(ExprKind::Sum(vec![left, other]), place),
                    }
                }
                Sign::Of(o) => Expr::make(ExprKind::Binary(o, left, other), place),
                Sign::Swapped(o) => Expr::make(ExprKind::Binary(o, other, left), place),
            };
            is_open = matches!(sign, Sign::Plus | Sign::Minus);
            if left.depth() > MAX_CHAIN {
                return Err(FormulaError::new(place, Problem::TooBig("deeply nested")));
            }
            if precedence == COMPARISON
                && matches!(self.operator(), Some((_, COMPARISON, ..)))
                && lowest <= COMPARISON
            {
                let found = self.found();
                return Err(self.unexpected("`and` between comparisons", found));
            }
        }
        Ok(left)
    }

    /// Reads a number, a name, a call, a vector, something in parentheses, or any of these behind a sign, and their components.
    fn operand(&mut self, lowest: u8, depth: usize) -> Result<Expr, FormulaError> {
        let place = self.place();
        let mut e = match self.peek() {
            Some('-') => {
                self.at += 1;
                let e = self.expression(SIGN, depth + 1)?;
                return Ok(negative(e, place));
            }
            Some('+') => {
                self.at += 1;
                return self.expression(SIGN, depth + 1);
            }
            Some('(') => {
                self.at += 1;
                let e = self.expression(OR, depth + 1)?;
                self.close(")", "`)`")?;
                e
            }
            Some('[') => {
                self.at += 1;
                let list = self.list("]", "`,` or `]`", depth)?;
                let found = list.len();
                match <[Expr; 3]>::try_from(list) {
                    Ok(list) => Expr::make(ExprKind::Vector(list), place),
                    Err(_) => {
                        let name = "[…]".to_string();
                        let problem = Problem::WrongArguments { name, needed: "three numbers", found };
                        return Err(FormulaError::new(place, problem));
                    }
                }
            }
            Some(c) if c.is_ascii_digit() || c == '.' => Expr::make(ExprKind::Number(self.number()?), place),
            Some(c) if in_name(c) => match self.word() {
                "not" if lowest <= NOT => {
                    let e = self.expression(NOT, depth + 1)?;
                    return Ok(Expr::make(ExprKind::Not(e), place));
                }
                word @ ("not" | "and" | "or") => {
                    let found = format!("`{word}`");
                    let expected = "a number, a name or `(`";
                    return Err(FormulaError::new(place, Problem::Unexpected { expected, found }));
                }
                word => self.named(word, place, depth)?,
            },
            _ => {
                let found = self.found();
                return Err(self.unexpected("a number, a name or `(`", found));
            }
        };
        // `.x` and the like; a space may not come between.
        while let Some(after) = self.rest().strip_prefix('.') {
            let axis = after.chars().next().and_then(|c| "xyz".find(c));
            let ends = !after.chars().nth(1).is_some_and(in_name);
            match axis {
                Some(i) if ends => {
                    self.at += 2;
                    e = Expr::make(ExprKind::Component(e, i), place);
                    if e.depth() > MAX_CHAIN {
                        return Err(FormulaError::new(place, Problem::TooBig("deeply nested")));
                    }
                }
                _ => {
                    self.at += 1;
                    let found = self.found();
                    return Err(self.unexpected("a component `.x`, `.y` or `.z`", found));
                }
            }
        }
        Ok(e)
    }

    fn close(&mut self, bracket: &str, expected: &'static str) -> Result<(), FormulaError> {
        if self.take(bracket) {
            return Ok(());
        }
        let found = self.found();
        Err(self.unexpected(expected, found))
    }

    /// Reads expressions between commas, up to a bracket.
    fn list(
        &mut self,
        bracket: &str,
        expected: &'static str,
        depth: usize,
    ) -> Result<Vec<Expr>, FormulaError> {
        let mut list = Vec::new();
        if self.take(bracket) {
            return Ok(list);
        }
        loop {
            list.push(self.expression(OR, depth + 1)?);
            if !self.take(",") {
                self.close(bracket, expected)?;
                return Ok(list);
            }
        }
    }

    /// Reads digits, point and exponent.
    fn number(&mut self) -> Result<f64, FormulaError> {
        let bytes = self.rest().as_bytes();
        let mut length = bytes.iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
        if matches!(bytes.get(length), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
            let digits = bytes[length + 1 + sign..].iter().take_while(|b| b.is_ascii_digit()).count();
            length += 1 + sign + digits;
        }
        let text = &self.rest()[..length];
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => {
                self.at += length;
                Ok(value)
            }
            _ => Err(self.error(Problem::BadNumber(text.to_string()))),
        }
    }

    /// Reads what follows a name: the arguments of a call, or of which thing it is.
    fn named(&mut self, word: &'a str, place: Place, depth: usize) -> Result<Expr, FormulaError> {
        if self.peek() == Some('(') {
            self.at += 1;
            if let "linear" | "spline" = word {
                return self.table(word, place, depth);
            }
            let arguments = self.list(")", "`,` or `)`", depth)?;
            return Expr::call_at(word, arguments, place);
        }
        if self.rest().starts_with('[') {
            let rest = self.rest();
            let Some(length) = rest.find(']') else {
                self.at = self.end;
                return Err(self.unexpected("`]`", "the end".to_string()));
            };
            let item = rest[1..length].trim();
            if item.is_empty() {
                self.at += 1;
                return Err(self.unexpected("a name or a pattern", "`]`".to_string()));
            }
            self.at += length + 1;
            return Ok(Expr::make(ExprKind::Input(word.to_string(), Some(item.to_string())), place));
        }
        let kind = match word {
            "pi" => ExprKind::Number(std::f64::consts::PI),
            _ => ExprKind::Input(word.to_string(), None),
        };
        Ok(Expr::make(kind, place))
    }

    /// Reads `x, [numbers], [numbers])`.
    fn table(&mut self, word: &str, place: Place, depth: usize) -> Result<Expr, FormulaError> {
        let of = self.expression(OR, depth + 1)?;
        let x = self.numbers()?;
        let y = self.numbers()?;
        self.close(")", "`)`")?;
        let kind = if word == "linear" { TableKind::Linear(x, y) } else { TableKind::Spline(x, y) };
        Expr::table_at(of, kind, place)
    }

    fn numbers(&mut self) -> Result<Vec<f64>, FormulaError> {
        self.close(",", "`,` and a list of numbers")?;
        self.close("[", "a list of numbers")?;
        let mut list = Vec::new();
        loop {
            let sign = if self.take("-") { -1.0 } else { 1.0 };
            match self.peek() {
                Some(c) if c.is_ascii_digit() || c == '.' => list.push(sign * self.number()?),
                _ => {
                    let found = self.found();
                    return Err(self.unexpected("a number", found));
                }
            }
            if !self.take(",") {
                self.close("]", "`,` or `]`")?;
                return Ok(list);
            }
        }
    }
}

/// What a sign makes of two operands.
#[derive(Clone, Copy)]
enum Sign {
    Plus,
    Minus,
    Of(Operator),
    /// The operands change places.
    Swapped(Operator),
}

fn negative(e: Expr, place: Place) -> Expr {
    match e.kind() {
        // Zero has no sign.
        ExprKind::Number(x) => Expr::make(ExprKind::Number(0.0 - x), place),
        _ => Expr::make(ExprKind::Negate(e), place),
    }
}
