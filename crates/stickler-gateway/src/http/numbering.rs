//! Numbers in the place of ids, on a pipe that many share.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use stickler::tape::{Node, Tape};
use stickler_protocol::envelope::{Address, Glimpse, RequestId};
use stickler_protocol::headers::SUBSCRIPTION_KEY;

/// The numbers that a conversation has in use; `None` once its client has gone.
pub(super) type Numbers = Arc<Mutex<Option<Vec<u64>>>>;

/// What a number stands for, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Numbered {
    id: Box<str>,
    token: Option<Box<str>>,
}

/// A request with a number for its id and its progress token. `None` for what is no request.
pub(super) fn outward(tape: &Tape<'_>, number: u64) -> Option<(Vec<u8>, Numbered)> {
    let root = tape.root();
    let id = root.get("id").filter(|_| root.get("method").is_some())?;
    // Given twice, the one that counts is not the same for all: none may be left that is another's.
    let metas = root.get("params").into_iter().flat_map(|params| all(params, "_meta"));
    let tokens: Vec<Node<'_>> = metas.flat_map(|meta| all(meta, "progressToken")).collect();
    let number = number.to_string();
    let mut edits = vec![(id.span(), number.as_str())];
    edits.extend(tokens.iter().map(|token| (token.span(), number.as_str())));
    let token = tokens.last().map(|token| token.raw().into());
    let original = Numbered { id: id.raw().into(), token };
    Some((splice(tape.text(), edits), original))
}

/// All members of that name, those included that a later one replaces.
fn all<'t>(object: Node<'t>, name: &str) -> impl Iterator<Item = Node<'t>> {
    let members = object.members().with_key_nodes();
    members.filter(move |(key, _)| key.as_str().as_deref() == Some(name)).map(|(_, value)| value)
}

/// The number that a message of the server's is about, and whether it is the last about it.
pub(super) fn number_of(tape: &Tape<'_>) -> Option<(u64, bool)> {
    let root = tape.root();
    if root.get("method").is_none() {
        return Some((number(root.get("id")?)?, true));
    }
    let params = root.get("params")?;
    if is_cancellation(tape) {
        return Some((number(params.get("requestId")?)?, true));
    }
    let subscription = || params.get("_meta")?.get(SUBSCRIPTION_KEY);
    let named = params.get("progressToken").or_else(subscription)?;
    Some((number(named)?, false))
}

/// The number of an answer that was not read.
pub(super) fn number_in(glimpse: &Glimpse) -> Option<u64> {
    let id = glimpse.id.as_deref().filter(|_| glimpse.is_response)?;
    id.trim_matches('"').parse().ok()
}

/// The message with what its number stands for.
pub(super) fn inward(tape: &Tape<'_>, original: &Numbered) -> Vec<u8> {
    let root = tape.root();
    let mut edits: Vec<(Range<usize>, &str)> = Vec::new();
    if root.get("method").is_none() {
        edits.extend(root.get("id").map(|id| (id.span(), &*original.id)));
    }
    let subscription = |part: &str| root.get(part)?.get("_meta")?.get(SUBSCRIPTION_KEY);
    for node in [subscription("params"), subscription("result")].into_iter().flatten() {
        edits.push((node.span(), &original.id));
    }
    let params = root.get("params");
    let token = params.and_then(|params| params.get("progressToken"));
    if let Some((token, written)) = token.zip(original.token.as_deref()) {
        edits.push((token.span(), written));
    }
    let cancelled = params.filter(|_| is_cancellation(tape));
    let cancelled = cancelled.and_then(|params| params.get("requestId"));
    edits.extend(cancelled.map(|id| (id.span(), &*original.id)));
    splice(tape.text(), edits)
}

/// What tells the server that nobody waits for an answer any more.
pub(super) fn cancellation(number: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{number}}}}}"#
    )
}

pub(super) fn is_cancellation(tape: &Tape<'_>) -> bool {
    let method = tape.root().get("method").and_then(Node::as_str);
    method.as_deref() == Some("notifications/cancelled")
}

/// Whether a message is one that a request asks for without being named in it.
pub(super) fn is_log(message: &[u8]) -> bool {
    Address::of(message).has_method(message, "notifications/message")
}

fn number(node: Node<'_>) -> Option<u64> {
    // Some servers make strings of numbers, others fractions.
    match RequestId::of(node)? {
        RequestId::Integer(number) => number.try_into().ok(),
        RequestId::Large(text) | RequestId::String(text) => text.parse().ok(),
    }
}

fn splice(text: &str, mut edits: Vec<(Range<usize>, &str)>) -> Vec<u8> {
    edits.sort_by_key(|(span, _)| span.start);
    let mut spliced = Vec::with_capacity(text.len() + 64);
    let mut done = 0;
    for (span, replacement) in edits {
        spliced.extend_from_slice(text.get(done..span.start).unwrap_or_default().as_bytes());
        spliced.extend_from_slice(replacement.as_bytes());
        done = span.end;
    }
    spliced.extend_from_slice(text.get(done..).unwrap_or_default().as_bytes());
    spliced
}

#[cfg(test)]
mod tests {
    use super::{inward, number_of, outward};
    use stickler::tape::TapeBuffer;

    #[test]
    fn only_the_numbered_bytes_change() {
        let request = r#"{"jsonrpc":"2.0", "id":"é\u0041","method":"tools/call","params":{"n":1.0,"_meta":{"progressToken":"t","x":1}}}"#;
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(request.as_bytes(), 8).unwrap();
        let (numbered, original) = outward(&tape, 42).unwrap();
        let expected = r#"{"jsonrpc":"2.0", "id":42,"method":"tools/call","params":{"n":1.0,"_meta":{"progressToken":42,"x":1}}}"#;
        assert_eq!(String::from_utf8(numbered).unwrap(), expected);
        for (message, restored, is_last) in [
            (
                r#"{"id":42,"result":{"big":123456789012345678901}}"#,
                r#"{"id":"é\u0041","result":{"big":123456789012345678901}}"#,
                true,
            ),
            (
                r#"{"method":"notifications/progress","params":{"progressToken":42,"progress":1}}"#,
                r#"{"method":"notifications/progress","params":{"progressToken":"t","progress":1}}"#,
                false,
            ),
            (
                r#"{"method":"n","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":42}}}"#,
                r#"{"method":"n","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"é\u0041"}}}"#,
                false,
            ),
            (
                r#"{"method":"notifications/cancelled","params":{"requestId":42}}"#,
                r#"{"method":"notifications/cancelled","params":{"requestId":"é\u0041"}}"#,
                true,
            ),
        ] {
            let mut buffer = TapeBuffer::new();
            let tape = buffer.read(message.as_bytes(), 8).unwrap();
            assert_eq!(number_of(&tape), Some((42, is_last)));
            assert_eq!(String::from_utf8(inward(&tape, &original)).unwrap(), restored);
        }
    }

    #[test]
    fn no_token_is_left_that_could_be_anothers() {
        let request = r#"{"id":1,"method":"x","params":{"_meta":{"progressToken":7},"_meta":{"progressToken":8,"progressToken":"a"}}}"#;
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(request.as_bytes(), 8).unwrap();
        let (numbered, _) = outward(&tape, 42).unwrap();
        let expected = r#"{"id":42,"method":"x","params":{"_meta":{"progressToken":42},"_meta":{"progressToken":42,"progressToken":42}}}"#;
        assert_eq!(String::from_utf8(numbered).unwrap(), expected);
    }
}
