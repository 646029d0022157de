//! The two places where the gateway adds something to a server's answer, by splicing.

use super::Gatekeeper;
use super::service::TOOL;
use crate::protocol::{Era, Revision};
use crate::tape::{Kind, Node, TapeBuffer};
use crate::tool_validation::{EXTENSION, ToolValidationCapability};

impl Gatekeeper {
    /// The server's answer with what the gateway has to add; `None` when that is nothing.
    pub(super) fn announce(&mut self, method: &str, message: &[u8]) -> Option<Vec<u8>> {
        if !self.settings.announces
            || !matches!(method, "initialize" | "server/discover" | "tools/list")
        {
            return None;
        }
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(message, 1 << 16).ok()?;
        let result = tape.root().get("result")?;
        let insertions = if method == "tools/list" {
            if self.server_validates || self.middleware.server_has_tools() == Some(false) {
                return None;
            }
            vec![tool_entry(result)?]
        } else {
            let capabilities = result.get("capabilities")?;
            self.server_validates = capabilities
                .get("experimental")
                .and_then(|one| one.get("toolValidation"))
                .is_some();
            if self.server_validates || capabilities.get("tools").is_none() {
                return None;
            }
            capability(capabilities, self.middleware.revision())
        };
        Some(splice(tape.text(), insertions).into_bytes())
    }
}

/// Text to be put in at a place.
struct Insertion {
    at: usize,
    text: String,
}

fn splice(text: &str, mut insertions: Vec<Insertion>) -> String {
    insertions.sort_by_key(|insertion| insertion.at);
    let mut spliced = String::with_capacity(text.len() + 1024);
    let mut done = 0;
    for insertion in insertions {
        spliced.push_str(text.get(done..insertion.at).unwrap_or_default());
        spliced.push_str(&insertion.text);
        done = insertion.at;
    }
    spliced.push_str(text.get(done..).unwrap_or_default());
    spliced
}

/// A last element or member.
fn append(container: Node<'_>, text: &str) -> Insertion {
    let comma = if container.is_empty() { "" } else { "," };
    Insertion { at: container.span().end.saturating_sub(1), text: format!("{comma}{text}") }
}

/// A member of an object within an object, whether that is there already or not.
fn nested(outer: Node<'_>, name: &str, member: &str) -> Insertion {
    match outer.get(name).filter(|inner| inner.kind() == Kind::Object) {
        Some(inner) => append(inner, member),
        None => append(outer, &format!("\"{name}\":{{{member}}}")),
    }
}

fn capability(capabilities: Node<'_>, revision: Option<Revision>) -> Vec<Insertion> {
    let capability = ToolValidationCapability::new(TOOL).to_value();
    let is_modern = revision.is_none_or(|revision| revision.era() == Era::Modern);
    let experimental = format!("\"toolValidation\":{capability}");
    let extension = format!("\"{EXTENSION}\":{capability}");
    let missing = |name: &str| capabilities.get(name).is_none();
    if is_modern && missing("experimental") && missing("extensions") {
        // Two new members of one object are one insertion.
        let both = format!("\"experimental\":{{{experimental}}},\"extensions\":{{{extension}}}");
        return vec![append(capabilities, &both)];
    }
    let mut insertions = vec![nested(capabilities, "experimental", &experimental)];
    if is_modern {
        insertions.push(nested(capabilities, "extensions", &extension));
    }
    insertions
}

/// The added tool, at the end of the last page.
fn tool_entry(result: Node<'_>) -> Option<Insertion> {
    let tools = result.get("tools").filter(|tools| tools.kind() == Kind::Array)?;
    let is_ours = |tool: Node<'_>| tool.get("name").and_then(Node::as_str).as_deref() == Some(TOOL);
    if result.get("nextCursor").is_some() || tools.elements().any(is_ours) {
        return None;
    }
    Some(append(tools, &super::service::entry().to_string()))
}
