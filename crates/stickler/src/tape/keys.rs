//! Repeated keys, found on the way.
//!
//! Most objects have few keys and none twice, so each open object carries 64 bits in which every
//! key leaves a mark; only a key whose mark is there already is compared with the earlier ones. An
//! object with many keys is sorted once, when it closes: no input makes this quadratic.

use std::borrow::Cow;

use super::string;
use super::token::Token;

/// Above this number of keys comparing one by one costs more than one sort.
pub(super) const FEW: u32 = 32;

#[derive(Debug, Clone, Copy)]
pub(super) struct KeyFilter(u64);

impl KeyFilter {
    pub(super) const NEW: Self = Self(0);

    /// Leaves the mark of a key; whether it was there already.
    #[inline]
    pub(super) fn was_marked(&mut self, bytes: &[u8], start: usize, end: usize) -> bool {
        let mark = 1_u64 << mark_of(bytes, start, end);
        let seen = self.0 & mark != 0;
        self.0 |= mark;
        seen
    }
}

/// One of 64 marks, from what is cheap to look at: of an empty key, the quotes around it.
#[inline]
fn mark_of(bytes: &[u8], start: usize, end: usize) -> usize {
    let at = |place: usize| usize::from(bytes.get(place).copied().unwrap_or(0));
    let (first, last) = (at(start), at(end.wrapping_sub(1)));
    (first.wrapping_mul(5) ^ last).wrapping_add((end - start).wrapping_mul(7)) & 63
}

/// The last of the first `count` keys of the object that is `key`. Only for keys without escapes.
pub(super) fn last_equal(
    tokens: &[Token],
    bytes: &[u8],
    object: u32,
    count: u32,
    key: &[u8],
) -> Option<u32> {
    key_indices(tokens, object)
        .take(count as usize)
        .filter(|(_, token)| bytes.get(token.start as usize..token.end as usize) == Some(key))
        .last()
        .map(|(index, _)| index)
}

/// The keys of a whole object that a later one repeats.
pub(super) fn overridden(tokens: &[Token], bytes: &[u8], object: u32) -> Vec<u32> {
    let mut keys: Vec<(Cow<'_, str>, u32)> =
        key_indices(tokens, object).map(|(index, token)| (decoded(bytes, token), index)).collect();
    keys.sort_unstable();
    let repeated = keys.windows(2).filter_map(|pair| match pair {
        [(a, index), (b, _)] if a == b => Some(*index),
        _ => None,
    });
    repeated.collect()
}

/// The keys of an object whose members so far are complete.
fn key_indices(tokens: &[Token], object: u32) -> impl Iterator<Item = (u32, Token)> {
    let mut index = object + 1;
    std::iter::from_fn(move || {
        let key = *tokens.get(index as usize)?;
        let here = index;
        index = tokens.get(index as usize + 1).map_or(u32::MAX, |value| value.next);
        Some((here, key))
    })
}

fn decoded(bytes: &[u8], token: Token) -> Cow<'_, str> {
    let raw = bytes.get(token.start as usize..token.end as usize).unwrap_or_default();
    let text = std::str::from_utf8(raw).unwrap_or_default();
    if token.flag() { string::decode(text) } else { Cow::Borrowed(text) }
}
