//! The tape and `serde_json` read every text alike.
//!
//! Arbitrary bytes, strings that are nearly JSON, and values written in odd ways: both accept the
//! same texts, see the same values, strings and pointers. Two differences are meant: a number past
//! the range of a double is accepted by the tape alone, and `serde_json` gives up at 128 levels.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::disallowed_methods,
    reason = "tests are blunt, and read files and start processes"
)]

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::Value;
use stickler::tape::{Kind, Node, TapeBuffer, escape_segment};

#[path = "support/json_texts.rs"]
mod json_texts;
#[path = "support/times.rs"]
mod times;

use json_texts::{Written, bytes, near_json, written};

/// Far deeper than `serde_json` goes.
const DEPTH: usize = 1 << 16;

/// The texts on which the two readers are meant to differ: the tape accepts, `serde_json` does not.
fn is_meant_to_differ(error: &serde_json::Error) -> bool {
    let message = error.to_string();
    let of_surrogates = ["lone leading surrogate", "unexpected end of hex escape"];
    ["number out of range", "recursion limit exceeded"]
        .iter()
        .chain(&of_surrogates)
        .any(|one| message.starts_with(one))
}

/// Everything that has to hold for one text.
fn compare(text: &[u8]) -> Result<(), TestCaseError> {
    let mut buffer = TapeBuffer::new();
    match (buffer.read(text, DEPTH), serde_json::from_slice::<Value>(text)) {
        (Ok(tape), Ok(value)) => {
            prop_assert_eq!(tape.oversized_numbers().count(), 0);
            prop_assert_eq!(tape.root().to_value(), value.clone());
            same_inside(tape.root(), &value)?;
            same_pointers(tape.root(), &value, tape.root(), "")
        }
        (Ok(_), Err(error)) => {
            prop_assert!(is_meant_to_differ(&error), "the tape alone accepts: {}", error);
            Ok(())
        }
        (Err(error), Ok(_)) => {
            prop_assert!(false, "serde_json alone accepts: {}", error);
            Ok(())
        }
        (Err(error), Err(_)) => {
            prop_assert!(error.offset() <= text.len(), "{} is outside of the text", error);
            Ok(())
        }
    }
}

/// The node says of itself what the value is, and its text alone reads to the same value.
fn same_inside(node: Node<'_>, value: &Value) -> Result<(), TestCaseError> {
    let span = node.span();
    let text = node.tape().text();
    prop_assert!(span.start < span.end && span.end <= text.len());
    prop_assert_eq!(Some(node.raw()), text.get(span));
    let again: Value = serde_json::from_str(node.raw())
        .map_err(|e| TestCaseError::fail(format!("{:?} does not read again: {e}", node.raw())))?;
    prop_assert_eq!(&again, value);
    let string = node.as_str();
    prop_assert_eq!(string.as_deref(), value.as_str());
    prop_assert_eq!(node.as_bool(), value.as_bool());
    match value {
        Value::Array(items) => {
            prop_assert_eq!(node.kind(), Kind::Array);
            prop_assert_eq!(node.len(), items.len());
            prop_assert_eq!(node.elements().count(), items.len());
            node.elements().zip(items).try_for_each(|(node, value)| same_inside(node, value))
        }
        Value::Object(map) => {
            prop_assert_eq!(node.kind(), Kind::Object);
            prop_assert_eq!(node.len(), map.len());
            prop_assert_eq!(node.members().count(), map.len());
            node.members().try_for_each(|(key, inner)| {
                prop_assert_eq!(node.get(&key), Some(inner));
                same_inside(inner, &map[key.as_ref()])
            })
        }
        _ => {
            prop_assert_eq!(node.len(), 0);
            Ok(())
        }
    }
}

/// Every pointer leads to the same place, there and back.
fn same_pointers(
    root: Node<'_>,
    whole: &Value,
    here: Node<'_>,
    pointer: &str,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(root.pointer(pointer), Some(here));
    prop_assert_eq!(Some(here.to_value()), whole.pointer(pointer).cloned());
    prop_assert_eq!(root.pointer_to(here), Some(pointer.to_owned()));
    for astray in ["a", "/nowhere", "/-", "/-1", "/99", "/00", "/01", "/+0", "/~", "/0/0"] {
        let pointer = format!("{pointer}{astray}");
        let (node, value) = (root.pointer(&pointer), whole.pointer(&pointer));
        prop_assert_eq!(node.map(Node::to_value), value.cloned(), "at {}", pointer);
    }
    for (index, inner) in here.elements().enumerate() {
        same_pointers(root, whole, inner, &format!("{pointer}/{index}"))?;
    }
    for (key, inner) in here.members() {
        same_pointers(root, whole, inner, &format!("{pointer}/{}", escape_segment(&key)))?;
    }
    Ok(())
}

/// The keys that a later one overrides, found the slow way.
fn overridden(node: Node<'_>, found: &mut Vec<usize>) {
    let mut last: HashMap<String, usize> = HashMap::new();
    for (key, inner) in node.members().with_key_nodes() {
        let name = key.as_str().unwrap_or_default().into_owned();
        found.extend(last.insert(name, key.span().start));
        overridden(inner, found);
    }
    node.elements().for_each(|inner| overridden(inner, found));
}

proptest! {
    #![proptest_config(times::times(6))]

    #[test]
    fn arbitrary_bytes_are_read_alike(text in bytes()) {
        compare(&text)?;
    }

    #[test]
    fn strings_that_are_nearly_json_are_read_alike(text in near_json()) {
        compare(text.as_bytes())?;
    }
}

proptest! {
    #![proptest_config(times::times(3))]

    #[test]
    fn values_written_in_odd_ways_are_read_alike(Written(text) in written()) {
        compare(text.as_bytes())?;
        let mut buffer = TapeBuffer::new();
        prop_assert!(buffer.read(text.as_bytes(), DEPTH).is_ok());
    }

    #[test]
    fn exactly_the_overridden_keys_are_noted(Written(text) in written()) {
        let mut buffer = TapeBuffer::new();
        let Ok(tape) = buffer.read(text.as_bytes(), DEPTH) else {
            return Err(TestCaseError::fail("a written value is JSON"));
        };
        let noted: Vec<usize> = tape.duplicate_keys().map(|key| key.span().start).collect();
        let mut expected = Vec::new();
        overridden(tape.root(), &mut expected);
        expected.sort_unstable();
        prop_assert_eq!(noted, expected);
    }

    #[test]
    fn one_byte_changed_is_read_alike(
        Written(text) in written(),
        at in any::<prop::sample::Index>(),
        by in prop::sample::select(&b"\"\\{}[]:,0-.eE tfnu\x00\x7f\x80\xff"[..]),
        instead in any::<bool>(),
    ) {
        let mut text = text.into_bytes();
        let at = at.index(text.len());
        if instead { text[at] = by } else { text.insert(at, by) }
        compare(&text)?;
    }

    #[test]
    fn a_buffer_used_again_remembers_nothing(first in near_json(), Written(second) in written()) {
        let (mut used, mut fresh) = (TapeBuffer::new(), TapeBuffer::new());
        let _ = used.read(first.as_bytes(), DEPTH);
        let (Ok(again), Ok(once)) =
            (used.read(second.as_bytes(), DEPTH), fresh.read(second.as_bytes(), DEPTH))
        else {
            return Err(TestCaseError::fail("a written value is JSON"));
        };
        prop_assert_eq!(again.root().to_value(), once.root().to_value());
        prop_assert_eq!(again.duplicate_keys().count(), once.duplicate_keys().count());
    }
}

#[test]
fn numbers_past_a_double_are_the_only_ones_that_the_tape_accepts_alone() {
    for (text, past) in [
        ("1e308", false),
        ("1e309", true),
        ("-1e400", true),
        ("1.7976931348623157e308", false),
        ("1.7976931348623159e308", true),
        ("1e-400", false),
        ("-0", false),
        ("18446744073709551616", false),
    ] {
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(text.as_bytes(), 1).expect(text);
        assert_eq!(tape.oversized_numbers().count(), usize::from(past), "{text}");
        let value = serde_json::from_str::<Value>(text).ok();
        assert_eq!(value.is_none(), past, "{text}");
        if let Some(value) = value {
            assert_eq!(tape.root().to_value(), value, "{text}");
        }
    }
    let whole = "9".repeat(309);
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(whole.as_bytes(), 1).expect("digits are a number");
    assert_eq!(tape.oversized_numbers().count(), 1);
}

#[test]
fn nesting_past_128_is_the_tapes_alone_and_only_up_to_its_own_limit() {
    for depth in [127, 128, 129, 5000] {
        let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(serde_json::from_str::<Value>(&text).is_ok(), depth < 128);
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(text.as_bytes(), depth).expect("within the limit");
        assert_eq!(tape.root().depth(), depth);
        assert!(TapeBuffer::new().read(text.as_bytes(), depth - 1).is_err());
    }
}
