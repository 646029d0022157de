//! The tape and `serde_json` accept the same texts and parse the same values.
#![no_main]

use std::collections::HashMap;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use stickler::tape::{Kind, Node, TapeBuffer};

/// Far beyond the recursion limit of `serde_json`.
const DEPTH: usize = 1 << 16;

fuzz_target!(|text: &[u8]| {
    let mut buffer = TapeBuffer::new();
    match (
        buffer.read(text, DEPTH),
        serde_json::from_slice::<Value>(text),
    ) {
        (Ok(tape), Ok(value)) => {
            assert_eq!(tape.root().to_value(), value);
            assert_eq!(tape.oversized_numbers().count(), 0);
            let mut expected = Vec::new();
            assert_same_value(tape.root(), tape.root(), &value, &mut expected);
            expected.sort_unstable();
            let noted: Vec<usize> = tape.duplicate_keys().map(|key| key.span().start).collect();
            assert_eq!(noted, expected);
        }
        (Ok(_), Err(error)) => {
            // Intended: out-of-range numbers and lone surrogates stay text, and the depth is the
            // caller's limit.
            let message = error.to_string();
            let meant = [
                "number out of range",
                "recursion limit exceeded",
                "lone leading surrogate",
                "unexpected end of hex escape",
            ];
            assert!(
                meant.iter().any(|start| message.starts_with(start)),
                "{message}"
            );
        }
        (Err(error), Ok(_)) => panic!("only serde_json accepts the text: {error}"),
        (Err(error), Err(_)) => assert!(error.offset() <= text.len()),
    }
});

/// Asserts that the node equals the value; collects the offsets of overridden keys.
fn assert_same_value(root: Node<'_>, node: Node<'_>, value: &Value, overridden: &mut Vec<usize>) {
    let again: Value = serde_json::from_str(node.raw()).expect("a part of JSON is JSON");
    assert_eq!(&again, value);
    let pointer = root.pointer_to(node).expect("the node is inside the root");
    assert_eq!(root.pointer(&pointer), Some(node));
    match value {
        Value::Array(items) => {
            assert_eq!((node.kind(), node.len()), (Kind::Array, items.len()));
            for (inner, item) in node.elements().zip(items) {
                assert_same_value(root, inner, item, overridden);
            }
        }
        Value::Object(members) => {
            assert_eq!((node.kind(), node.len()), (Kind::Object, members.len()));
            for (key, inner) in node.members() {
                assert_eq!(node.get(&key), Some(inner));
                assert_same_value(root, inner, &members[key.as_ref()], overridden);
            }
            let mut last = HashMap::new();
            for (key, _) in node.members().with_key_nodes() {
                overridden.extend(last.insert(key.as_str().unwrap(), key.span().start));
            }
        }
        Value::String(text) => assert_eq!(node.as_str().as_deref(), Some(text.as_str())),
        _ => assert_eq!(node.len(), 0),
    }
}
