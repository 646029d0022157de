//! Replies to `tools/call`, in the two shapes in which servers complain.

use crate::tape::{Kind, Node, TapeBuffer, quote};

use super::ErrorEnhancer;

/// The reply with the addition spliced in; `None` when it stays as it is.
pub(super) fn enhance(
    enhancer: &ErrorEnhancer<'_>,
    server: &str,
    tool: &str,
    reply: &[u8],
) -> Option<Vec<u8>> {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(reply, enhancer.config.limits.message_depth).ok()?;
    let root = tape.root();
    let (place, insert) = if let Some(error) = root.get("error") {
        let message = error.get("message")?;
        let text = message.as_str()?;
        let addition = enhancer.addition(server, tool, &text)?;
        (message.span(), quote(&format!("{text}\n\n{addition}")))
    } else {
        let pieces = failed_content(root)?;
        let addition = enhancer.addition(server, tool, &text_of(pieces))?;
        let end = pieces.span().end.checked_sub(1)?;
        (end..end, format!(",{{\"type\":\"text\",\"text\":{}}}", quote(&addition)))
    };
    let mut bytes = reply.get(..place.start)?.to_vec();
    bytes.extend_from_slice(insert.as_bytes());
    bytes.extend_from_slice(reply.get(place.end..)?);
    Some(bytes)
}

/// The content of a tool result that says it is an error.
fn failed_content(root: Node<'_>) -> Option<Node<'_>> {
    let result = root.get("result")?;
    let is_error = result.get("isError").and_then(Node::as_bool) == Some(true);
    let content = result.get("content").filter(|node| node.kind() == Kind::Array)?;
    (is_error && !content.is_empty()).then_some(content)
}

/// Some servers give each complaint a piece of its own.
fn text_of(content: Node<'_>) -> String {
    let texts = content.elements().filter_map(|piece| piece.get("text")?.as_str());
    texts.collect::<Vec<_>>().join("\n")
}
