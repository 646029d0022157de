//! Adds the `toolValidation` capability and the validation tool to server responses, by splicing.

use stickler::tape::{Insertion, Kind, Node, TapeBuffer, append, set_nested, splice};
use stickler::tool_validation::{EXPERIMENTAL, EXTENSION, ToolValidationCapability};

use super::Connection;
use super::service::TOOL;
use crate::protocol::{Era, Revision};

impl Connection {
    /// Returns the server's response with the gateway's additions; `None` if there are none.
    pub(super) fn announce(&mut self, method: &str, message: &[u8]) -> Option<Vec<u8>> {
        if !self.settings.announce
            || !matches!(method, "initialize" | "server/discover" | "tools/list")
        {
            return None;
        }
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(message, 1 << 16).ok()?;
        let result = tape.root().get("result")?;
        let insertions = if method == "tools/list" {
            if self.server_validates || self.lifecycle.server_has_tools() == Some(false) {
                return None;
            }
            vec![tool_entry(result)?]
        } else {
            let capabilities = result.get("capabilities")?;
            let announced = capabilities.get("experimental").and_then(|one| one.get(EXPERIMENTAL));
            self.server_capability = announced.and_then(read_capability);
            self.server_validates = self.server_capability.is_some();
            if self.server_validates || capabilities.get("tools").is_none() {
                return None;
            }
            capability(capabilities, self.revision())
        };
        Some(splice(tape.text(), insertions).into_bytes())
    }
}

/// Reads the `toolValidation` capability that a server announces.
fn read_capability(announced: Node<'_>) -> Option<ToolValidationCapability> {
    ToolValidationCapability::read(&serde_json::from_str(announced.raw()).ok()?)
}

fn capability(capabilities: Node<'_>, revision: Option<Revision>) -> Vec<Insertion> {
    let capability = ToolValidationCapability::new(TOOL).to_value().to_string();
    let is_modern = revision.is_none_or(|revision| revision.era() == Era::Modern);
    let missing = |name: &str| capabilities.get(name).is_none();
    if is_modern && missing("experimental") && missing("extensions") {
        // Both members end at the same position, so they form one insertion.
        let both = format!(
            "\"experimental\":{{\"{EXPERIMENTAL}\":{capability}}},\
             \"extensions\":{{\"{EXTENSION}\":{capability}}}"
        );
        return vec![append(capabilities, &both)];
    }
    let member = |name: &str, member: &str| set_nested(capabilities, name, member, &capability);
    let extensions = is_modern.then(|| member("extensions", EXTENSION)).flatten();
    member("experimental", EXPERIMENTAL).into_iter().chain(extensions).collect()
}

/// Appends the validation tool to the last page of the tool list.
fn tool_entry(result: Node<'_>) -> Option<Insertion> {
    let tools = result.get("tools").filter(|tools| tools.kind() == Kind::Array)?;
    let is_gateway_tool =
        |tool: Node<'_>| tool.get("name").and_then(Node::as_str).as_deref() == Some(TOOL);
    let is_last = result.get("nextCursor").and_then(Node::as_str).is_none();
    if !is_last || tools.elements().any(is_gateway_tool) {
        return None;
    }
    Some(append(tools, &super::service::tool_definition().to_string()))
}
