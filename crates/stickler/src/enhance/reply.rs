//! Splices the addition into a response to `tools/call`, an error or a result with `isError`.

use crate::tape::{Kind, Node, TapeBuffer, quote};

use super::ErrorEnhancer;

/// Returns the response with the addition; `None` if it is unchanged.
pub(super) fn enhance(
    enhancer: &ErrorEnhancer<'_>,
    server: &str,
    tool: &str,
    reply: &[u8],
) -> Option<Vec<u8>> {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(reply, enhancer.config.limits.message_depth).ok()?;
    let root = tape.root();
    let (range, insert) = if let Some(error) = root.get("error") {
        let message = error.get("message")?;
        let text = message.as_str()?;
        let addition = enhancer.addition(server, tool, &text)?;
        (message.span(), quote(&format!("{text}\n\n{addition}")))
    } else {
        let content = failed_content(root)?;
        let addition = enhancer.addition(server, tool, &text_of(content))?;
        let end = content.span().end.checked_sub(1)?;
        (end..end, format!(",{{\"type\":\"text\",\"text\":{}}}", quote(&addition)))
    };
    let mut bytes = reply.get(..range.start)?.to_vec();
    bytes.extend_from_slice(insert.as_bytes());
    bytes.extend_from_slice(reply.get(range.end..)?);
    Some(bytes)
}

/// Returns the content of a tool result with `isError: true`.
fn failed_content(root: Node<'_>) -> Option<Node<'_>> {
    let result = root.get("result")?;
    let is_error = result.get("isError").and_then(Node::as_bool) == Some(true);
    let content = result.get("content").filter(|node| node.kind() == Kind::Array)?;
    (is_error && !content.is_empty()).then_some(content)
}

/// Joins the text items, because some servers return one item per error.
fn text_of(content: Node<'_>) -> String {
    let texts = content.elements().filter_map(|item| item.get("text")?.as_str());
    texts.collect::<Vec<_>>().join("\n")
}
