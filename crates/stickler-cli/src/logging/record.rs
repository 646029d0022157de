//! Collects the fields of spans and events and bounds each value when it is recorded.
//!
//! `Bounded` keeps the beginning of a value and counts the rest, so a value of 10 MB takes neither memory nor
//! space in a log line.

use std::fmt::{self, Write};

use tracing::field::{Field, Visit};

/// Bytes of a message that are kept.
const MAX_MESSAGE_BYTES: usize = 4096;

/// Characters of a field that are kept.
const MAX_FIELD_CHARS: usize = 200;

/// The beginning of a text, with the length of the whole text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bounded {
    pub(crate) text: String,
    /// Length of the whole text in bytes.
    pub(crate) total: usize,
    bytes: usize,
    characters: usize,
}

impl Bounded {
    pub(crate) fn message(text: &str) -> Self {
        Self::empty(MAX_MESSAGE_BYTES, MAX_MESSAGE_BYTES).with(text)
    }

    fn field() -> Self {
        Self::empty(MAX_FIELD_CHARS * 4, MAX_FIELD_CHARS)
    }

    fn empty(bytes: usize, characters: usize) -> Self {
        Self { text: String::new(), total: 0, bytes, characters }
    }

    fn with(mut self, text: &str) -> Self {
        let _ = self.write_str(text);
        self
    }
}

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let is_whole = self.text.len() == self.total;
        self.total += text.len();
        if is_whole {
            for character in text.chars() {
                if self.characters == 0 || self.text.len() + character.len_utf8() > self.bytes {
                    break;
                }
                self.characters -= 1;
                self.text.push(character);
            }
        }
        Ok(())
    }
}

/// Value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Text(Bounded),
    /// A number or a boolean in JSON syntax.
    Literal(String),
}

/// Fields of a span or an event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) message: Option<Bounded>,
    values: Vec<(&'static str, Value)>,
}

impl Fields {
    pub(crate) fn with_message(text: &str) -> Self {
        Self { message: Some(Bounded::message(text)), values: Vec::new() }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(one, _)| *one == name).map(|(_, value)| value)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Value::Text(text) => Some(&text.text),
            Value::Literal(text) => Some(text),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.values.iter().map(|(name, value)| (*name, value))
    }

    pub(crate) fn set(&mut self, name: &'static str, value: Value) {
        match self.values.iter_mut().find(|(one, _)| *one == name) {
            Some((_, old)) => *old = value,
            None => self.values.push((name, value)),
        }
    }

    pub(crate) fn set_number(&mut self, name: &'static str, number: impl ToString + Copy) {
        self.set(name, Value::Literal(number.to_string()));
    }

    /// Adds the fields of a span that the event does not have.
    pub(crate) fn inherit(&mut self, outer: &Self) {
        for (name, value) in &outer.values {
            if self.get(name).is_none() {
                self.values.push((name, value.clone()));
            }
        }
    }

    fn write(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        if field.name() == "message" {
            let mut message = Bounded::message("");
            let _ = message.write_fmt(value);
            self.message = Some(message);
        } else {
            let mut text = Bounded::field();
            let _ = text.write_fmt(value);
            self.set(field.name(), Value::Text(text));
        }
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.write(field, format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.write(field, format_args!("{value:?}"));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set_number(field.name(), value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set_number(field.name(), value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set_number(field.name(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::Bounded;
    use std::fmt::Write as _;

    #[test]
    fn long_value_keeps_its_beginning_and_its_length() {
        let mut field = Bounded::field();
        for _ in 0..3 {
            field.write_str(&"ä".repeat(150)).unwrap();
        }
        assert_eq!((field.text.chars().count(), field.total), (200, 900));
        assert_eq!(Bounded::message(&"x".repeat(10 << 20)).text.len(), 4096);
    }
}
