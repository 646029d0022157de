//! The tape and `serde_json` accept the same texts and see the same values.
#![no_main]

use std::collections::HashMap;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use stickler::tape::{Kind, Node, TapeBuffer};

/// Far deeper than `serde_json` goes.
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
            look(tape.root(), tape.root(), &value, &mut expected);
            expected.sort_unstable();
            let noted: Vec<usize> = tape.duplicate_keys().map(|key| key.span().start).collect();
            assert_eq!(noted, expected);
        }
        (Ok(_), Err(error)) => {
            // Meant: numbers past a double and halves of surrogate pairs are only text, and depth is
            // the caller's limit.
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
        (Err(error), Ok(_)) => panic!("serde_json alone accepts: {error}"),
        (Err(error), Err(_)) => assert!(error.offset() <= text.len()),
    }
});

/// The node is the value, in every way to look at it; notes where overridden keys stand.
fn look(root: Node<'_>, node: Node<'_>, value: &Value, overridden: &mut Vec<usize>) {
    let again: Value = serde_json::from_str(node.raw()).expect("a part of JSON is JSON");
    assert_eq!(&again, value);
    let pointer = root.pointer_to(node).expect("it is inside");
    assert_eq!(root.pointer(&pointer), Some(node));
    match value {
        Value::Array(items) => {
            assert_eq!((node.kind(), node.len()), (Kind::Array, items.len()));
            for (inner, item) in node.elements().zip(items) {
                look(root, inner, item, overridden);
            }
        }
        Value::Object(members) => {
            assert_eq!((node.kind(), node.len()), (Kind::Object, members.len()));
            for (key, inner) in node.members() {
                assert_eq!(node.get(&key), Some(inner));
                look(root, inner, &members[key.as_ref()], overridden);
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
