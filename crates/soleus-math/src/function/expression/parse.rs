//! From the text of an expression to its program, in one pass and without a tree.

use super::super::{ExpressionProblem as Problem, FunctionError};
use super::program::{self, Call, MAX_OPS, Op, STACK};

/// Deepest nesting of parentheses, functions, signs and exponents; bounds the parser's own recursion.
const MAX_DEPTH: usize = 100;

/// Precedence of + and −, of × and ÷, of the sign, and of powers.
const SUM: u8 = 0;
const PRODUCT: u8 = 1;
const SIGN: u8 = 2;
const POWER: u8 = 3;

fn error(position: usize, problem: Problem) -> FunctionError {
    FunctionError::Expression { position, problem }
}

/// What a defined name stands for.
#[derive(Clone)]
enum Definition {
    Constant(f64),
    /// A place in the stack.
    Local(usize),
    /// It uses a name that means nothing; an error only if it is used itself, as in Lepton.
    Unknown(FunctionError),
}

/// Reads the formula `text` of `variables` into a program.
pub(super) fn compile(text: &str, variables: &[&str]) -> Result<Vec<Op>, FunctionError> {
    for (i, v) in variables.iter().enumerate() {
        if variables[..i].contains(v) {
            return Err(error(0, Problem::DuplicateVariable((*v).to_string())));
        }
    }

    // The parts between semicolons, with the places where they begin.
    let mut parts = Vec::new();
    let mut start = 0;
    for part in text.split(';') {
        parts.push((start, part));
        start += part.len() + 1;
    }

    let mut p =
        Parser { text, at: 0, end: 0, variables, definitions: Vec::new(), ops: Vec::new(), height: 0 };
    // Definitions from the last to the first, since each may use those after it; each leaves
    // its result on the stack, where it stays.
    for &(start, part) in parts[1..].iter().rev() {
        if part.trim().is_empty() {
            continue;
        }
        let Some(equals) = part.find('=') else {
            return Err(error(start, Problem::BadDefinition));
        };
        let name = part[..equals].trim();
        if name.is_empty() || !name.chars().all(in_name) || starts_number(name) {
            return Err(error(start, Problem::BadDefinition));
        }
        let (before, height) = (p.ops.len(), p.height);
        let meaning = match p.read(start + equals + 1, start + part.len()) {
            Err(e @ FunctionError::Expression { problem: Problem::UnknownName(_), .. }) => {
                p.ops.truncate(before);
                p.height = height;
                Definition::Unknown(e)
            }
            Err(e) => return Err(e),
            Ok(()) => match p.ops[before..] {
                // Constants are put in place, so that they can be an exponent.
                [Op::Constant(c)] => {
                    p.ops.pop();
                    p.height -= 1;
                    Definition::Constant(c)
                }
                _ => Definition::Local(p.height - 1),
            },
        };
        p.definitions.push((name, meaning));
    }
    let (start, part) = parts[0];
    p.read(start, start + part.len())?;
    Ok(p.ops)
}

/// Whether a character may stand in a name: all but operators, brackets, separators and space.
fn in_name(c: char) -> bool {
    !(c.is_whitespace() || matches!(c, '+' | '-' | '*' | '/' | '^' | '(' | ')' | ',' | ';' | '='))
}

fn starts_number(s: &str) -> bool {
    s.starts_with(|c: char| c.is_ascii_digit() || c == '.')
}

struct Parser<'a> {
    text: &'a str,
    /// The byte to read next, and where the part being read ends.
    at: usize,
    end: usize,
    variables: &'a [&'a str],
    definitions: Vec<(&'a str, Definition)>,
    ops: Vec<Op>,
    /// Numbers on the stack after `ops` have run.
    height: usize,
}

impl<'a> Parser<'a> {
    /// Reads one whole formula between two places in the text.
    fn read(&mut self, start: usize, end: usize) -> Result<(), FunctionError> {
        (self.at, self.end) = (start, end);
        self.expression(SUM, 0)?;
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(error(self.at, Problem::ExpectedOperator(self.found()))),
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..self.end]
    }

    /// The next character that is not space.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        self.rest().chars().next()
    }

    /// Takes the next character if it is `c`.
    fn take(&mut self, c: char) -> bool {
        let yes = self.peek() == Some(c);
        if yes {
            self.at += c.len_utf8();
        }
        yes
    }

    /// The next thing, in words.
    fn found(&mut self) -> String {
        match self.peek() {
            None => "the end".to_string(),
            Some(_) if self.rest().starts_with(in_name) => {
                let rest = self.rest();
                let length = rest.find(|c| !in_name(c)).unwrap_or(rest.len());
                format!("`{}`", &rest[..length])
            }
            Some(c) => format!("`{c}`"),
        }
    }

    /// Reads operands joined by operators of at least the given precedence.
    fn expression(&mut self, lowest: u8, depth: usize) -> Result<(), FunctionError> {
        if depth > MAX_DEPTH {
            return Err(error(self.at, Problem::TooBig("deeply nested")));
        }
        self.operand(depth)?;
        while let Some(c) = self.peek() {
            let (op, precedence, right) = match c {
                '+' => (Op::Add, SUM, PRODUCT),
                '-' => (Op::Subtract, SUM, PRODUCT),
                '*' => (Op::Multiply, PRODUCT, SIGN),
                '/' => (Op::Divide, PRODUCT, SIGN),
                // Groups to the right: what follows may be another power.
                '^' => (Op::Power, POWER, POWER),
                _ => break,
            };
            if precedence < lowest {
                break;
            }
            let position = self.at;
            self.at += 1;
            self.expression(right, depth + 1)?;
            self.emit(op, position)?;
        }
        Ok(())
    }

    /// Reads a number, a name, a call, something in parentheses, or any of these behind a minus.
    fn operand(&mut self, depth: usize) -> Result<(), FunctionError> {
        let c = self.peek();
        let position = self.at;
        match c {
            Some('-') => {
                self.at += 1;
                self.expression(SIGN, depth + 1)?;
                self.emit(Op::Negate, position)
            }
            Some('(') => {
                self.at += 1;
                self.expression(SUM, depth + 1)?;
                self.close()
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if in_name(c) => self.name(depth),
            _ => Err(error(position, Problem::ExpectedOperand(self.found()))),
        }
    }

    fn close(&mut self) -> Result<(), FunctionError> {
        if self.take(')') { Ok(()) } else { Err(error(self.at, Problem::ExpectedClosing(self.found()))) }
    }

    /// Reads digits, point and exponent.
    fn number(&mut self) -> Result<(), FunctionError> {
        let bytes = self.rest().as_bytes();
        let mut length = bytes.iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
        if matches!(bytes.get(length), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
            let digits = bytes[length + 1 + sign..].iter().take_while(|b| b.is_ascii_digit()).count();
            length += 1 + sign + digits;
        }
        let position = self.at;
        let text = &self.rest()[..length];
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => {
                self.at += length;
                self.emit(Op::Constant(value), position)
            }
            _ => Err(error(position, Problem::BadNumber(text.to_string()))),
        }
    }

    /// Reads a variable, a defined name or a call.
    fn name(&mut self, depth: usize) -> Result<(), FunctionError> {
        let position = self.at;
        let rest = self.rest();
        let name = &rest[..rest.find(|c| !in_name(c)).unwrap_or(rest.len())];
        self.at += name.len();
        if self.take('(') {
            return self.call(name, position, depth);
        }
        // The definition read last is the one written first: it counts.
        let defined = self.definitions.iter().rev().find(|(n, _)| *n == name);
        let op = match defined {
            Some((_, Definition::Constant(c))) => Op::Constant(*c),
            Some((_, Definition::Local(i))) => Op::Local(*i),
            Some((_, Definition::Unknown(e))) => return Err(e.clone()),
            None => match self.variables.iter().position(|v| *v == name) {
                Some(i) => Op::Variable(i),
                None => return Err(error(position, Problem::UnknownName(name.to_string()))),
            },
        };
        self.emit(op, position)
    }

    /// Reads the arguments of a function, after the parenthesis.
    fn call(&mut self, name: &str, position: usize, depth: usize) -> Result<(), FunctionError> {
        let Some(call) = Call::from_name(name) else {
            return Err(error(position, Problem::UnknownFunction(name.to_string())));
        };
        let mut found = 0;
        if self.peek() != Some(')') {
            loop {
                self.expression(SUM, depth + 1)?;
                found += 1;
                if !self.take(',') {
                    break;
                }
            }
        }
        self.close()?;
        let needed = call.arguments();
        if found != needed {
            let name = name.to_string();
            return Err(error(position, Problem::WrongArguments { name, needed, found }));
        }
        self.emit(Op::Call(call), position)
    }

    /// Appends an instruction; what has only constants to work on is worked out now.
    fn emit(&mut self, op: Op, position: usize) -> Result<(), FunctionError> {
        let count = op.operands();
        self.height = self.height + 1 - count;
        if self.height > STACK {
            return Err(error(position, Problem::TooBig("deeply nested")));
        }
        // Operands that are constants are the last instructions, one each.
        let first = self.ops.len().saturating_sub(count);
        let constant = |op: &Op| matches!(op, Op::Constant(_));
        if count > 0 && self.ops[first..].iter().all(constant) {
            self.ops.push(op);
            let value = program::run_small(&self.ops[first..], &|_| f64::NAN);
            self.ops.truncate(first);
            self.ops.push(Op::Constant(value));
        } else if let (Op::Power, Some(Op::Constant(p))) = (op, self.ops.last().copied()) {
            self.ops.pop();
            self.ops.push(Op::power_by(p));
        } else {
            self.ops.push(op);
        }
        if self.ops.len() > MAX_OPS {
            return Err(error(position, Problem::TooBig("long")));
        }
        Ok(())
    }
}
