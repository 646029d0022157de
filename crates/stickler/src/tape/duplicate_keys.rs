//! Detection of duplicate keys during parsing.
//!
//! Most objects have few keys and no duplicates. Each open object therefore has a 64-bit Bloom filter of
//! its keys; a key is compared with the earlier ones only if the filter may contain it. An object with
//! many keys is sorted once, when it is closed, so that no input takes quadratic time.

use std::borrow::Cow;

use super::string;
use super::token::Token;

/// Objects with more keys are sorted when they are closed, which is cheaper than pairwise comparison.
pub(super) const MAX_COMPARED_KEYS: u32 = 32;

/// A 64-bit Bloom filter of the keys of an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyFilter(u64);

impl KeyFilter {
    pub(super) const EMPTY: Self = Self(0);

    /// Adds a key. Returns whether the filter may have contained it before.
    #[inline]
    pub(super) fn insert(&mut self, bytes: &[u8], start: usize, end: usize) -> bool {
        let bit = 1_u64 << hash(bytes, start, end);
        let seen = self.0 & bit != 0;
        self.0 |= bit;
        seen
    }
}

/// Hashes the length and the outer bytes of a key to 6 bits. For an empty key it reads the quotes around it.
#[inline]
fn hash(bytes: &[u8], start: usize, end: usize) -> usize {
    let at = |position: usize| usize::from(bytes.get(position).copied().unwrap_or(0));
    let (first, last) = (at(start), at(end.wrapping_sub(1)));
    (first.wrapping_mul(5) ^ last).wrapping_add((end - start).wrapping_mul(7)) & 63
}

/// Returns the last of the first `count` keys of an object that equals `key`. Only for keys without escapes.
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

/// Returns the keys of a complete object that a later key repeats.
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

/// Returns the keys of an object in which every key already has a value.
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
