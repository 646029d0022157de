//! The tape and `serde_json` parse every text to the same value.
//!
//! For arbitrary bytes, near-JSON strings and unusually formatted values, both accept the same texts
//! and agree on values, strings and pointers. Intended differences: the tape accepts numbers beyond
//! the range of a double and lone surrogates, and `serde_json` stops at 128 levels.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::Value;
use stickler::tape::{Kind, Node, TapeBuffer, escape_segment};

use crate::support::json_texts::{Written, bytes, near_json, written};

/// Far beyond the recursion limit of `serde_json`.
const DEPTH: usize = 1 << 16;

/// Returns whether `serde_json` rejects a text that the tape accepts by design.
fn is_intended_difference(error: &serde_json::Error) -> bool {
    let message = error.to_string();
    let of_surrogates = ["lone leading surrogate", "unexpected end of hex escape"];
    ["number out of range", "recursion limit exceeded"]
        .iter()
        .chain(&of_surrogates)
        .any(|one| message.starts_with(one))
}

/// Asserts that both parsers agree on one text.
fn compare(text: &[u8]) -> Result<(), TestCaseError> {
    let mut buffer = TapeBuffer::new();
    match (buffer.read(text, DEPTH), serde_json::from_slice::<Value>(text)) {
        (Ok(tape), Ok(value)) => {
            prop_assert_eq!(tape.oversized_numbers().count(), 0);
            prop_assert_eq!(tape.root().to_value(), value.clone());
            assert_same_value(tape.root(), &value)?;
            assert_same_pointers(tape.root(), &value, tape.root(), "")
        }
        (Ok(_), Err(error)) => {
            prop_assert!(
                is_intended_difference(&error),
                "only the tape accepts the text: {}",
                error
            );
            Ok(())
        }
        (Err(error), Ok(_)) => {
            prop_assert!(false, "only serde_json accepts the text: {}", error);
            Ok(())
        }
        (Err(error), Err(_)) => {
            prop_assert!(error.offset() <= text.len(), "{} is outside of the text", error);
            Ok(())
        }
    }
}

/// Asserts that the node has the value, and that its raw text parses to the same value.
fn assert_same_value(node: Node<'_>, value: &Value) -> Result<(), TestCaseError> {
    let span = node.span();
    let text = node.tape().text();
    prop_assert!(span.start < span.end && span.end <= text.len());
    prop_assert_eq!(Some(node.raw()), text.get(span));
    let again: Value = serde_json::from_str(node.raw())
        .map_err(|e| TestCaseError::fail(format!("{:?} does not parse again: {e}", node.raw())))?;
    prop_assert_eq!(&again, value);
    let string = node.as_str();
    prop_assert_eq!(string.as_deref(), value.as_str());
    prop_assert_eq!(node.as_bool(), value.as_bool());
    match value {
        Value::Array(items) => {
            prop_assert_eq!(node.kind(), Kind::Array);
            prop_assert_eq!(node.len(), items.len());
            prop_assert_eq!(node.elements().count(), items.len());
            node.elements().zip(items).try_for_each(|(node, value)| assert_same_value(node, value))
        }
        Value::Object(map) => {
            prop_assert_eq!(node.kind(), Kind::Object);
            prop_assert_eq!(node.len(), map.len());
            prop_assert_eq!(node.members().count(), map.len());
            node.members().try_for_each(|(key, inner)| {
                prop_assert_eq!(node.get(&key), Some(inner));
                assert_same_value(inner, &map[key.as_ref()])
            })
        }
        _ => {
            prop_assert_eq!(node.len(), 0);
            Ok(())
        }
    }
}

/// Asserts that pointers resolve to the same nodes, in both directions.
fn assert_same_pointers(
    root: Node<'_>,
    whole: &Value,
    here: Node<'_>,
    pointer: &str,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(root.pointer(pointer), Some(here));
    prop_assert_eq!(Some(here.to_value()), whole.pointer(pointer).cloned());
    prop_assert_eq!(root.pointer_to(here), Some(pointer.to_owned()));
    for invalid in ["a", "/nowhere", "/-", "/-1", "/99", "/00", "/01", "/+0", "/~", "/0/0"] {
        let pointer = format!("{pointer}{invalid}");
        let (node, value) = (root.pointer(&pointer), whole.pointer(&pointer));
        prop_assert_eq!(node.map(Node::to_value), value.cloned(), "at {}", pointer);
    }
    for (index, inner) in here.elements().enumerate() {
        assert_same_pointers(root, whole, inner, &format!("{pointer}/{index}"))?;
    }
    for (key, inner) in here.members() {
        assert_same_pointers(root, whole, inner, &format!("{pointer}/{}", escape_segment(&key)))?;
    }
    Ok(())
}

/// The keys overridden by a later duplicate, computed with a hash map.
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
    #![proptest_config(crate::support::times::times(6))]

    #[test]
    fn arbitrary_bytes_are_parsed_identically(text in bytes()) {
        compare(&text)?;
    }

    #[test]
    fn near_json_strings_are_parsed_identically(text in near_json()) {
        compare(text.as_bytes())?;
    }
}

proptest! {
    #![proptest_config(crate::support::times::times(3))]

    #[test]
    fn unusually_formatted_values_are_parsed_identically(Written(text) in written()) {
        compare(text.as_bytes())?;
        let mut buffer = TapeBuffer::new();
        prop_assert!(buffer.read(text.as_bytes(), DEPTH).is_ok());
    }

    #[test]
    fn overridden_keys_are_recorded_exactly(Written(text) in written()) {
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
    fn texts_with_one_changed_byte_are_parsed_identically(
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
    fn reused_buffer_keeps_no_state(first in near_json(), Written(second) in written()) {
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
fn only_out_of_range_numbers_are_accepted_by_the_tape_alone() {
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
fn nesting_beyond_128_is_accepted_by_the_tape_up_to_its_limit() {
    for depth in [127, 128, 129, 5000] {
        let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(serde_json::from_str::<Value>(&text).is_ok(), depth < 128);
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(text.as_bytes(), depth).expect("within the limit");
        assert_eq!(tape.root().depth(), depth);
        assert!(TapeBuffer::new().read(text.as_bytes(), depth - 1).is_err());
    }
}
