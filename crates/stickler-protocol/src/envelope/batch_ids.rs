//! Collects the ids of all requests or responses in a message, single or batch.

use stickler::tape::{Kind, Node, TapeBuffer};

use super::RequestId;

/// Nesting limit while collecting ids. It exceeds the limit for messages, which is enforced elsewhere.
const MAX_DEPTH: usize = 1 << 10;

/// Returns the ids of the requests in a message.
pub fn requests_in(message: &[u8]) -> Vec<RequestId> {
    ids_in(message, |one| one.get("method").is_some())
}

/// Returns the ids of the requests that a message answers.
pub fn answers_in(message: &[u8]) -> Vec<RequestId> {
    ids_in(message, |one| one.get("method").is_none())
}

fn ids_in(message: &[u8], is_match: impl Fn(Node<'_>) -> bool) -> Vec<RequestId> {
    let mut buffer = TapeBuffer::new();
    let Ok(tape) = buffer.read(message, MAX_DEPTH) else { return Vec::new() };
    let root = tape.root();
    let id = |one: Node<'_>| RequestId::of(one.get("id").filter(|_| is_match(one))?);
    match root.kind() {
        Kind::Array => root.elements().filter_map(id).collect(),
        _ => id(root).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{RequestId, answers_in, requests_in};

    #[test]
    fn requests_are_distinguished_from_responses() {
        let id = |number| RequestId::Integer(number);
        let batch = br#"[{"id":1,"method":"a"},{"method":"b"},{"id":2,"result":{}},{"id":null,"method":"c"},7,{"id":3,"method":"d"}]"#;
        assert_eq!(requests_in(batch), [id(1), id(3)]);
        assert_eq!(answers_in(batch), [id(2)]);
        assert_eq!(requests_in(br#"{"id":4,"method":"a"}"#), [id(4)]);
        assert_eq!(answers_in(br#"{"id":4,"error":{}}"#), [id(4)]);
        for nothing in [&b"{"[..], b"[]", b"1", b"", br#"{"method":"a"}"#] {
            assert_eq!((requests_in(nothing), answers_in(nothing)), (vec![], vec![]));
        }
    }
}
