//! A value on the tape, and what can be asked of it.

#![allow(clippy::inline_always, reason = "measured: the engine's passes take a sixth less")]

use std::borrow::Cow;
use std::ops::Range;

use jsonschema::json::JsonNumber;
use serde_json::{Map, Value};

use super::number::TapeNumber;
use super::token::Token;
use super::{Kind, Tape, string};

/// One value of a [`Tape`]; as cheap to copy as a reference.
#[derive(Debug, Clone, Copy)]
pub struct Node<'t> {
    tape: &'t Tape<'t>,
    index: u32,
}

impl<'t> Node<'t> {
    pub(super) fn new(tape: &'t Tape<'t>, index: u32) -> Self {
        Self { tape, index }
    }

    /// The tape it is on.
    pub fn tape(self) -> &'t Tape<'t> {
        self.tape
    }

    /// What kind of value this is.
    pub fn kind(self) -> Kind {
        self.token().kind()
    }

    /// The name of its type as JSON Schema has it, a whole number being an `integer`.
    pub fn type_name(self) -> &'static str {
        match self.number() {
            Some(number) if number.is_integer() => "integer",
            _ => self.kind().name(),
        }
    }

    /// The characters of a string.
    pub fn as_str(self) -> Option<Cow<'t, str>> {
        let token = self.token();
        if token.kind() != Kind::String {
            return None;
        }
        let raw = self.tape.slice(token.start, token.end);
        Some(if token.flag() { string::decode(raw) } else { Cow::Borrowed(raw) })
    }

    /// `true` or `false`.
    pub fn as_bool(self) -> Option<bool> {
        let token = self.token();
        (token.kind() == Kind::Boolean).then_some(token.flag())
    }

    /// The members of an object, each key once.
    pub fn members(self) -> Members<'t> {
        let token = self.token();
        let is_object = token.kind() == Kind::Object;
        let end = if is_object { token.next } else { 0 };
        Members { tape: self.tape, next: self.index + 1, end, repeats: token.flag() }
    }

    /// The elements of an array.
    pub fn elements(self) -> Elements<'t> {
        let token = self.token();
        let end = if token.kind() == Kind::Array { token.next } else { 0 };
        Elements { tape: self.tape, next: self.index + 1, end }
    }

    /// The member of an object with that key; the last one if it is repeated.
    #[inline]
    pub fn get(self, key: &str) -> Option<Self> {
        let token = self.token();
        let end = if token.kind() == Kind::Object { token.next } else { 0 };
        let mut index = self.index + 1;
        while index < end {
            let name = self.tape.token(index);
            // The engine asks for every name that a schema has: most are not even as long.
            if (name.flag() || (name.end - name.start) as usize == key.len())
                && Node::new(self.tape, index).is_string(key)
                && !(token.flag() && self.tape.is_overridden(index))
            {
                return Some(Node::new(self.tape, index + 1));
            }
            index = self.tape.token(index + 1).next;
        }
        None
    }

    /// The number of elements or of members, a repeated key counted once.
    pub fn len(self) -> usize {
        let token = self.token();
        if token.kind() == Kind::Object && token.flag() {
            return self.count_members();
        }
        token.count() as usize
    }

    /// Apart, so that the question above stays small enough to be inlined.
    #[cold]
    fn count_members(self) -> usize {
        self.members().count()
    }

    /// Whether there are no elements or members.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The value as it is written, the quotes of a string included.
    pub fn raw(self) -> &'t str {
        self.tape.text.get(self.span()).unwrap_or_default()
    }

    /// Where the value stands in the text, in bytes, the quotes of a string included.
    pub fn span(self) -> Range<usize> {
        let token = self.token();
        let quotes = usize::from(token.kind() == Kind::String);
        (token.start as usize).saturating_sub(quotes)..token.end as usize + quotes
    }

    /// How many arrays and objects are open at once inside this value.
    pub fn depth(self) -> usize {
        let token = self.token();
        let mut open: Vec<u32> = Vec::new();
        let mut deepest = 0;
        for index in self.index..token.next {
            let inner = self.tape.token(index);
            while open.last().is_some_and(|&end| end <= index) {
                open.pop();
            }
            if matches!(inner.kind(), Kind::Array | Kind::Object) {
                open.push(inner.next);
                deepest = deepest.max(open.len());
            }
        }
        deepest
    }

    /// A tree of owned values. Recursive: for values whose depth is bounded.
    pub fn to_value(self) -> Value {
        match self.kind() {
            Kind::Null => Value::Null,
            Kind::Boolean => Value::Bool(self.token().flag()),
            Kind::Number => self
                .number()
                .map_or(Value::Null, |number| Value::Number(number.to_number().into_owned())),
            Kind::String => Value::String(self.as_str().unwrap_or_default().into_owned()),
            Kind::Array => Value::Array(self.elements().map(Node::to_value).collect()),
            Kind::Object => Value::Object(
                self.members()
                    .map(|(key, value)| (key.into_owned(), value.to_value()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }

    pub(super) fn number(self) -> Option<TapeNumber<'t>> {
        let token = self.token();
        (token.kind() == Kind::Number).then(|| TapeNumber {
            text: self.tape.slice(token.start, token.end),
            fractional: token.flag(),
        })
    }

    pub(super) fn is_string(self, expected: &str) -> bool {
        let token = self.token();
        if token.kind() != Kind::String {
            return false;
        }
        let raw = self.tape.slice(token.start, token.end);
        if token.flag() { string::decode(raw) == expected } else { raw == expected }
    }

    /// Which of the tape's tokens it begins with: no other value has that one.
    pub(crate) fn token_index(self) -> u32 {
        self.index
    }

    /// How many tokens it is made of.
    pub(crate) fn token_count(self) -> usize {
        self.tokens().len()
    }

    /// The key after the member with this value, in the object that the member is in.
    pub(crate) fn next_key(self, object: Self) -> Option<Self> {
        let next = self.token().next;
        (next < object.token().next).then(|| Self::new(self.tape, next))
    }

    /// Whether it is an array or object with more than so many elements or members, repeats counted.
    pub(super) fn has_more_children_than(self, few: usize) -> bool {
        self.token().count() as usize > few
    }

    /// The tokens that it is made of.
    pub(super) fn tokens(self) -> Range<u32> {
        self.index..self.token().next
    }

    /// Tells this node from every other one of the same tape.
    pub(super) fn identity(self) -> (usize, u32) {
        (self.tape.tokens.as_ptr() as usize, self.index)
    }

    fn token(self) -> Token {
        self.tape.token(self.index)
    }
}

/// Two handles on one place of one tape.
impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Node<'_> {}

/// The members of an object. Of a repeated key, only the last one is given.
#[derive(Debug, Clone)]
pub struct Members<'t> {
    tape: &'t Tape<'t>,
    next: u32,
    end: u32,
    repeats: bool,
}

impl<'t> Members<'t> {
    /// The members with their keys as nodes, repeated ones included.
    pub fn with_key_nodes(self) -> impl Iterator<Item = (Node<'t>, Node<'t>)> {
        let Members { tape, next, end, .. } = self;
        let mut index = next;
        std::iter::from_fn(move || {
            if index >= end {
                return None;
            }
            let (key, value) = (Node::new(tape, index), Node::new(tape, index + 1));
            index = value.token().next;
            Some((key, value))
        })
    }
}

impl<'t> Iterator for Members<'t> {
    type Item = (Cow<'t, str>, Node<'t>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let Tape { text, tokens, .. } = *self.tape;
        while self.next < self.end {
            let index = self.next;
            let (key, value) = (tokens.get(index as usize)?, tokens.get(index as usize + 1)?);
            super::work::count(1);
            self.next = value.next;
            if self.repeats && self.tape.is_overridden(index) {
                continue;
            }
            let raw = text.get(key.start as usize..key.end as usize)?;
            let name = if key.flag() { string::decode(raw) } else { Cow::Borrowed(raw) };
            return Some((name, Node::new(self.tape, index + 1)));
        }
        None
    }
}

/// The elements of an array.
#[derive(Debug, Clone)]
pub struct Elements<'t> {
    tape: &'t Tape<'t>,
    next: u32,
    end: u32,
}

impl<'t> Iterator for Elements<'t> {
    type Item = Node<'t>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.end {
            return None;
        }
        let element = Node::new(self.tape, self.next);
        self.next = element.token().next;
        Some(element)
    }
}
