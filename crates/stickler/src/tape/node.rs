//! A value on the tape and its accessors.

#![allow(clippy::inline_always, reason = "measured: the engine's passes take a sixth less")]

use std::borrow::Cow;
use std::ops::Range;

use jsonschema::json::JsonNumber;
use serde_json::{Map, Value};

use super::number::TapeNumber;
use super::token::Token;
use super::{Kind, Tape, string};

/// One value of a [`Tape`]; cheap to copy.
#[derive(Debug, Clone, Copy)]
pub struct Node<'t> {
    tape: &'t Tape<'t>,
    index: u32,
}

impl<'t> Node<'t> {
    pub(super) fn new(tape: &'t Tape<'t>, index: u32) -> Self {
        Self { tape, index }
    }

    /// Returns the tape that contains this value.
    pub fn tape(self) -> &'t Tape<'t> {
        self.tape
    }

    /// Returns the type of this value.
    pub fn kind(self) -> Kind {
        self.token().kind()
    }

    /// Returns the JSON Schema name of the type; `integer` for a whole number.
    pub fn type_name(self) -> &'static str {
        match self.number() {
            Some(number) if number.is_integer() => "integer",
            _ => self.kind().name(),
        }
    }

    /// Returns the decoded string, if this is a string.
    pub fn as_str(self) -> Option<Cow<'t, str>> {
        let token = self.token();
        if token.kind() != Kind::String {
            return None;
        }
        let raw = self.tape.slice(token.start, token.end);
        Some(if token.flag() { string::decode(raw) } else { Cow::Borrowed(raw) })
    }

    /// Returns the boolean, if this is one.
    pub fn as_bool(self) -> Option<bool> {
        let token = self.token();
        (token.kind() == Kind::Boolean).then_some(token.flag())
    }

    /// Returns the members of an object; of a duplicate key, only the last one.
    pub fn members(self) -> Members<'t> {
        let token = self.token();
        let is_object = token.kind() == Kind::Object;
        let end = if is_object { token.next } else { 0 };
        Members { tape: self.tape, next: self.index + 1, end, has_duplicates: token.flag() }
    }

    /// Returns the elements of an array.
    pub fn elements(self) -> Elements<'t> {
        let token = self.token();
        let end = if token.kind() == Kind::Array { token.next } else { 0 };
        Elements { tape: self.tape, next: self.index + 1, end }
    }

    /// Returns the value of the member with the given key; of a duplicate key, the last one.
    #[inline]
    pub fn get(self, key: &str) -> Option<Self> {
        let token = self.token();
        let end = if token.kind() == Kind::Object { token.next } else { 0 };
        let mut index = self.index + 1;
        while index < end {
            let name = self.tape.token(index);
            // The engine looks up every property name of a schema; the length rules most of them out.
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

    /// Returns the number of elements or members; a duplicate key counts once.
    pub fn len(self) -> usize {
        let token = self.token();
        if token.kind() == Kind::Object && token.flag() {
            return self.count_members();
        }
        token.count() as usize
    }

    /// Separate from `len`, so that `len` is small enough to be inlined.
    #[cold]
    fn count_members(self) -> usize {
        self.members().count()
    }

    /// Whether there are no elements or members.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the text of the value, including the quotes of a string.
    pub fn raw(self) -> &'t str {
        self.tape.text.get(self.span()).unwrap_or_default()
    }

    /// Returns the byte range of the value in the text, including the quotes of a string.
    pub fn span(self) -> Range<usize> {
        let token = self.token();
        let quotes = usize::from(token.kind() == Kind::String);
        (token.start as usize).saturating_sub(quotes)..token.end as usize + quotes
    }

    /// Returns how deeply arrays and objects are nested in this value.
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

    /// Converts to a tree of owned values. Recursive, so the depth of the value must be limited.
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

    /// Returns the index of the first token, which identifies the value on its tape.
    pub(crate) fn token_index(self) -> u32 {
        self.index
    }

    /// Returns the number of tokens of the value.
    pub(crate) fn token_count(self) -> usize {
        self.tokens().len()
    }

    /// Returns the key that follows the member with this value in `object`.
    pub(crate) fn next_key(self, object: Self) -> Option<Self> {
        let next = self.token().next;
        (next < object.token().next).then(|| Self::new(self.tape, next))
    }

    /// Whether this is an array or object with more than `limit` elements or members, counting duplicates.
    pub(super) fn has_more_children_than(self, limit: usize) -> bool {
        self.token().count() as usize > limit
    }

    /// Returns the index range of the tokens of the value.
    pub(super) fn tokens(self) -> Range<u32> {
        self.index..self.token().next
    }

    /// Returns a key that is unique for each node of each live tape.
    pub(super) fn identity(self) -> (usize, u32) {
        (self.tape.tokens.as_ptr() as usize, self.index)
    }

    fn token(self) -> Token {
        self.tape.token(self.index)
    }
}

/// Nodes are equal if they are the same node of the same tape.
impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Node<'_> {}

/// An iterator over the members of an object; of a duplicate key, it returns only the last one.
#[derive(Debug, Clone)]
pub struct Members<'t> {
    tape: &'t Tape<'t>,
    next: u32,
    end: u32,
    has_duplicates: bool,
}

impl<'t> Members<'t> {
    /// Returns all members, including duplicates, with their keys as nodes.
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
            if self.has_duplicates && self.tape.is_overridden(index) {
                continue;
            }
            let raw = text.get(key.start as usize..key.end as usize)?;
            let name = if key.flag() { string::decode(raw) } else { Cow::Borrowed(raw) };
            return Some((name, Node::new(self.tape, index + 1)));
        }
        None
    }
}

/// An iterator over the elements of an array.
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
