//! No recording makes the readers panic or loop, and the scan of members agrees with parsing.
//!
//! Input: a file, plain or compressed.
#![no_main]

use std::io::Read as _;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use stickler::tape::{Kind, TapeBuffer};
use stickler_protocol::ProtocolSchemas;
use stickler_recording::{Directions, Outline, Senders, decompressed};

static SENDERS: LazyLock<Senders> = LazyLock::new(|| Senders::new(&ProtocolSchemas::new(), None));

/// A small file can contain a large text.
const MAX_TEXT: u64 = 1 << 16;

fn check_outline(line: &[u8]) {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(line, 64).ok();
    let root = tape.as_ref().map(|tape| tape.root());
    if let Some(mut outline) = Outline::of_object(line) {
        let mut members = Vec::new();
        while let Some(member) = outline.next_member() {
            members.push(member);
        }
        if let Some(root) = root.filter(|root| root.kind() == Kind::Object) {
            assert!(outline.is_whole(), "an object that can be parsed is whole");
            let parsed: Vec<&[u8]> = root.members().map(|(_, value)| value.raw().as_bytes()).collect();
            let scanned: Vec<&[u8]> = members.iter().map(|(_, value)| *value).collect();
            // The tape has one member for a key that is repeated.
            if parsed.len() == scanned.len() {
                assert_eq!(scanned, parsed);
            }
        }
    }
    if let Some(mut outline) = Outline::of_array(line) {
        let elements: Vec<&[u8]> = std::iter::from_fn(|| outline.next_element()).collect();
        if let Some(root) = root.filter(|root| root.kind() == Kind::Array) {
            let parsed: Vec<&[u8]> = root.elements().map(|one| one.raw().as_bytes()).collect();
            assert_eq!(elements, parsed);
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let mut text = Vec::new();
    if let Ok(reader) = decompressed(data) {
        let _ = reader.take(MAX_TEXT).read_to_end(&mut text);
    }
    let mut directions = Directions::new(&SENDERS);
    for line in text.split(|byte| *byte == b'\n') {
        check_outline(line);
        directions.sender(line);
    }
});
