//! Splices the addition into a response to `tools/call`, an error or a result with `isError`, and marks
//! the response.

use super::{ENHANCED_KEY, ErrorEnhancer};
use crate::render::VALIDATION_KEY;
use crate::tape::{Kind, Node, TapeBuffer, append, quote, set_nested, splice};

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
    let insertions = if let Some(error) = root.get("error") {
        let message = error.get("message").filter(|_| !is_marked(error, "data"))?;
        let text = message.as_str()?;
        let addition = enhancer.addition(server, tool, &text)?;
        let extended = (message.span(), quote(&format!("{text}\n\n{addition}")));
        [Some(extended), set_nested(error, "data", ENHANCED_KEY, "true")]
    } else {
        let result = root.get("result").filter(|result| !is_marked(*result, "_meta"))?;
        let content = failed_content(result)?;
        let addition = enhancer.addition(server, tool, &text_of(content))?;
        let block = format!("{{\"type\":\"text\",\"text\":{}}}", quote(&addition));
        [Some(append(content, &block)), set_nested(result, "_meta", ENHANCED_KEY, "true")]
    };
    let insertions = insertions.into_iter().flatten().collect();
    Some(splice(tape.text(), insertions).into_bytes())
}

/// Returns whether Stickler extended the response already, or wrote it.
fn is_marked(outcome: Node<'_>, member: &str) -> bool {
    let marks = outcome.get(member);
    marks.is_some_and(|marks| {
        marks.get(ENHANCED_KEY).is_some() || marks.get(VALIDATION_KEY).is_some()
    })
}

/// Returns the content of a tool result with `isError: true`.
fn failed_content(result: Node<'_>) -> Option<Node<'_>> {
    let is_error = result.get("isError").and_then(Node::as_bool) == Some(true);
    let content = result.get("content").filter(|node| node.kind() == Kind::Array)?;
    (is_error && !content.is_empty()).then_some(content)
}

/// Joins the text items, because some servers return one item per error.
fn text_of(content: Node<'_>) -> String {
    let texts = content.elements().filter_map(|item| item.get("text")?.as_str());
    texts.collect::<Vec<_>>().join("\n")
}
