//! Rewrites request ids for a server process that many clients share.
//!
//! The id and the progress token of a request are replaced by an internal id, which is unique for the process;
//! messages from the server get the original values back. All other bytes of a message stay the same.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use stickler::tape::{Node, Tape, splice};
use stickler_protocol::envelope::{PartialHeader, RequestId, RoutingHeader};
use stickler_protocol::headers::SUBSCRIPTION_KEY;

/// The internal ids of a driver's active requests; `None` once its client has disconnected.
pub(crate) type ActiveIds = Arc<Mutex<Option<Vec<u64>>>>;

/// The JSON text of the values that an internal id replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OriginalIds {
    id: Box<str>,
    token: Option<Box<str>>,
}

/// Replaces the id and progress token of a request. Returns `None` if the message is not a request.
pub(crate) fn to_internal(tape: &Tape<'_>, internal_id: u64) -> Option<(Vec<u8>, OriginalIds)> {
    let root = tape.root();
    let id = root.get("id").filter(|_| root.get("method").is_some())?;
    // Parsers disagree on duplicate members, so all of them are replaced: none may match the token of
    // another client.
    let metas = root.get("params").into_iter().flat_map(|params| all(params, "_meta"));
    let tokens: Vec<Node<'_>> = metas.flat_map(|meta| all(meta, "progressToken")).collect();
    let internal_id = internal_id.to_string();
    let mut edits = vec![(id.span(), internal_id.as_str())];
    edits.extend(tokens.iter().map(|token| (token.span(), internal_id.as_str())));
    let token = tokens.last().map(|token| token.raw().into());
    let original = OriginalIds { id: id.raw().into(), token };
    Some((splice(tape.text(), edits).into_bytes(), original))
}

/// Returns all members with that name, including duplicates.
fn all<'t>(object: Node<'t>, name: &str) -> impl Iterator<Item = Node<'t>> {
    let members = object.members().with_key_nodes();
    members.filter(move |(key, _)| key.as_str().as_deref() == Some(name)).map(|(_, value)| value)
}

/// Returns the internal id that a server message refers to, and whether it is the last message for it.
pub(crate) fn internal_id(tape: &Tape<'_>) -> Option<(u64, bool)> {
    let root = tape.root();
    if root.get("method").is_none() {
        return Some((parse_internal_id(root.get("id")?)?, true));
    }
    let params = root.get("params")?;
    if is_cancellation(tape) {
        return Some((parse_internal_id(params.get("requestId")?)?, true));
    }
    let subscription = || params.get("_meta")?.get(SUBSCRIPTION_KEY);
    let named = params.get("progressToken").or_else(subscription)?;
    Some((parse_internal_id(named)?, false))
}

/// Returns the internal id of a response that was not parsed.
pub(crate) fn internal_id_in(partial: &PartialHeader) -> Option<u64> {
    let id = partial.id.as_deref().filter(|_| partial.is_response)?;
    id.trim_matches('"').parse().ok()
}

/// Restores the original values in a server message.
pub(crate) fn to_original(tape: &Tape<'_>, original: &OriginalIds) -> Vec<u8> {
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
    splice(tape.text(), edits).into_bytes()
}

/// Builds the notification that cancels a request.
pub(crate) fn cancellation(id: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    )
}

pub(crate) fn is_cancellation(tape: &Tape<'_>) -> bool {
    let method = tape.root().get("method").and_then(Node::as_str);
    method.as_deref() == Some("notifications/cancelled")
}

/// Whether a message is a log notification. Log notifications do not name the request that caused them.
pub(crate) fn is_log(message: &[u8]) -> bool {
    RoutingHeader::of(message).has_method(message, "notifications/message")
}

fn parse_internal_id(node: Node<'_>) -> Option<u64> {
    // Some servers return a number as a string or with a fraction.
    match RequestId::of(node)? {
        RequestId::Integer(number) => number.try_into().ok(),
        RequestId::Large(text) | RequestId::String(text) => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::{internal_id, to_internal, to_original};
    use stickler::tape::TapeBuffer;

    #[test]
    fn rewrite_changes_only_the_ids() {
        let request = r#"{"jsonrpc":"2.0", "id":"é\u0041","method":"tools/call","params":{"n":1.0,"_meta":{"progressToken":"t","x":1}}}"#;
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(request.as_bytes(), 8).unwrap();
        let (rewritten, original) = to_internal(&tape, 42).unwrap();
        let expected = r#"{"jsonrpc":"2.0", "id":42,"method":"tools/call","params":{"n":1.0,"_meta":{"progressToken":42,"x":1}}}"#;
        assert_eq!(String::from_utf8(rewritten).unwrap(), expected);
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
            assert_eq!(internal_id(&tape), Some((42, is_last)));
            assert_eq!(String::from_utf8(to_original(&tape, &original)).unwrap(), restored);
        }
    }

    #[test]
    fn rewrite_replaces_duplicate_progress_tokens() {
        let request = r#"{"id":1,"method":"x","params":{"_meta":{"progressToken":7},"_meta":{"progressToken":8,"progressToken":"a"}}}"#;
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(request.as_bytes(), 8).unwrap();
        let (rewritten, _) = to_internal(&tape, 42).unwrap();
        let expected = r#"{"id":42,"method":"x","params":{"_meta":{"progressToken":42},"_meta":{"progressToken":42,"progressToken":42}}}"#;
        assert_eq!(String::from_utf8(rewritten).unwrap(), expected);
    }
}
