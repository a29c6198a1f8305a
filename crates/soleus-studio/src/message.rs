//! Messages between a page and its engine: JSON, and a block of bytes for numbers.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | length of the JSON, low byte first |
//! | … | the JSON, in UTF-8, and spaces until the block begins at a multiple of 8 |
//! | … | the block |
//!
//! Numbers in the block are little-endian; `{"f32": [at, count]}` in the JSON says where a list of them is.

use serde_json::{Value, json};
use soleus::{Diagnostic, Error, Severity};

/// What is answered: JSON, and numbers.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The JSON.
    pub value: Value,
    /// The numbers that it speaks of.
    pub block: Block,
}

impl From<Value> for Answer {
    fn from(value: Value) -> Self {
        Answer { value, block: Block::default() }
    }
}

/// Numbers one after the other.
#[derive(Clone, Debug, Default)]
pub struct Block(pub Vec<u8>);

impl Block {
    /// Room for a list, from a multiple of eight on.
    fn begin(&mut self) -> usize {
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        self.0.len()
    }

    /// Adds numbers in single precision; where they are.
    pub fn f32s(&mut self, list: impl IntoIterator<Item = f64>) -> Value {
        let at = self.begin();
        list.into_iter().for_each(|x| self.0.extend((x as f32).to_le_bytes()));
        json!({ "f32": [at, (self.0.len() - at) / 4] })
    }

    /// Adds numbers in double precision; where they are.
    pub fn f64s(&mut self, list: impl IntoIterator<Item = f64>) -> Value {
        let at = self.begin();
        list.into_iter().for_each(|x| self.0.extend(x.to_le_bytes()));
        json!({ "f64": [at, (self.0.len() - at) / 8] })
    }

    /// Adds counts; where they are.
    pub fn u32s(&mut self, list: impl IntoIterator<Item = u32>) -> Value {
        let at = self.begin();
        list.into_iter().for_each(|x| self.0.extend(x.to_le_bytes()));
        json!({ "u32": [at, (self.0.len() - at) / 4] })
    }

    /// Adds bytes; where they are.
    pub fn bytes(&mut self, bytes: &[u8]) -> Value {
        let at = self.begin();
        self.0.extend(bytes);
        json!({ "u8": [at, bytes.len()] })
    }
}

/// A message as bytes.
pub fn write(value: &Value, block: &[u8]) -> Vec<u8> {
    let mut json = value.to_string();
    while !(4 + json.len()).is_multiple_of(8) {
        json.push(' ');
    }
    let mut bytes = Vec::with_capacity(4 + json.len() + block.len());
    bytes.extend((json.len() as u32).to_le_bytes());
    bytes.extend(json.as_bytes());
    bytes.extend(block);
    bytes
}

/// The JSON and the block of a message; `None` if it is none.
pub fn read(bytes: &[u8]) -> Option<(Value, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (json, block) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some((serde_json::from_slice(json).ok()?, block))
}

/// The bytes that a field of a message speaks of.
pub fn bytes_of<'b>(value: &Value, block: &'b [u8]) -> Option<&'b [u8]> {
    let list = value.get("u8")?.as_array()?;
    let number = |i: usize| usize::try_from(list.get(i)?.as_u64()?).ok();
    let (at, count) = (number(0)?, number(1)?);
    block.get(at..at.checked_add(count)?)
}

/// What was odd about an input.
pub fn told(d: &Diagnostic) -> Value {
    let severity = match d.severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    json!({ "severity": severity, "file": d.file, "line": d.line, "component": d.component, "message": d.message, "hint": d.hint })
}

/// An error.
pub fn failed(e: &Error) -> Value {
    let diagnostics: Vec<Value> = e.diagnostics().iter().map(told).collect();
    json!({ "error": e.to_string(), "kind": format!("{:?}", e.kind()), "diagnostics": diagnostics })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_messages_come_back() {
        let mut block = Block::default();
        block.f32s([1.5]);
        let place = block.bytes(b"abc");
        let message = write(&json!({ "method": "put", "file": place }), &block.0);
        let (value, numbers) = read(&message).unwrap();
        assert_eq!(value["method"], "put");
        assert_eq!(bytes_of(&value["file"], numbers).unwrap(), b"abc");
        // Whatever its length, numbers begin where an array of doubles may.
        for n in 0..20 {
            let message = write(&json!("x".repeat(n)), &[]);
            assert!(message.len().is_multiple_of(8));
        }
    }

    #[test]
    fn analytic_messages_that_lie_are_none() {
        assert!(read(&[]).is_none());
        assert!(read(&[1, 2, 3]).is_none());
        assert!(read(&[255, 255, 255, 255, b'1']).is_none());
        assert!(read(&[1, 0, 0, 0, b'{']).is_none());
        for lie in
            [json!({ "u8": [0, 9] }), json!({ "u8": [u64::MAX, 2] }), json!({ "u8": [-1, 2] }), json!(3)]
        {
            assert!(bytes_of(&lie, b"abc").is_none(), "{lie}");
        }
    }
}
