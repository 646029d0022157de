//! Announced capabilities, and the capability that each method requires.

use stickler::tape::{Kind, Node};

use crate::protocol::Revision;
use crate::side::Side;

/// The capabilities that checks depend on, by dotted path. Nothing else of an announcement is kept,
/// so its size does not matter.
const PATHS: [&str; 16] = [
    "completions",
    "elicitation",
    "logging",
    "prompts",
    "prompts.listChanged",
    "resources",
    "resources.listChanged",
    "resources.subscribe",
    "roots",
    "roots.listChanged",
    "sampling",
    "tasks",
    "tasks.cancel",
    "tasks.list",
    "tools",
    "tools.listChanged",
];

/// The capabilities that a peer announced, as a bit set over `PATHS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Capabilities(u16);

impl Capabilities {
    /// Reads a `capabilities` member. Only object values count as announced.
    pub(crate) fn read(announced: Node<'_>) -> Self {
        let is_announced = |path: &&str| {
            let (name, detail) = path.split_once('.').map_or((*path, None), |(a, b)| (a, Some(b)));
            let feature = announced.get(name).filter(|node| node.kind() == Kind::Object);
            match (feature, detail) {
                (Some(feature), Some(detail)) => feature.get(detail).is_some_and(is_on),
                (feature, _) => feature.is_some(),
            }
        };
        let bits = PATHS.iter().enumerate().filter(|(_, path)| is_announced(path));
        Self(bits.fold(0, |bits, (index, _)| bits | 1 << index))
    }

    pub(crate) fn has(self, path: &str) -> bool {
        PATHS
            .iter()
            .position(|known| *known == path)
            .is_some_and(|index| self.0 & (1 << index) != 0)
    }
}

fn is_on(setting: Node<'_>) -> bool {
    setting.kind() != Kind::Null && setting.as_bool() != Some(false)
}

/// Returns the capability that a method requires: of the receiver for a request, of the sender for a
/// notification.
pub(crate) fn required_capability(
    method: &str,
    sender: Side,
    revision: Revision,
) -> Option<(Side, &'static str)> {
    let client = |path| Some((Side::Client, path));
    let server = |path| Some((Side::Server, path));
    match (sender, method) {
        (Side::Client, "tools/list" | "tools/call") => server("tools"),
        (Side::Client, "prompts/list" | "prompts/get") => server("prompts"),
        (Side::Client, "resources/subscribe" | "resources/unsubscribe") => {
            server("resources.subscribe")
        }
        (Side::Client, "resources/list" | "resources/read" | "resources/templates/list") => {
            server("resources")
        }
        // The first revision had no capability for completion.
        (Side::Client, "completion/complete") if revision > Revision::V2024_11_05 => {
            server("completions")
        }
        (Side::Client, "logging/setLevel") | (Side::Server, "notifications/message") => {
            server("logging")
        }
        (Side::Client, "tasks/list") => server("tasks.list"),
        (Side::Client, "tasks/cancel") => server("tasks.cancel"),
        (Side::Client, "tasks/get" | "tasks/result") => server("tasks"),
        (Side::Client, "notifications/roots/list_changed") => client("roots.listChanged"),
        (Side::Server, "sampling/createMessage") => client("sampling"),
        (Side::Server, "roots/list") => client("roots"),
        (Side::Server, "elicitation/create") => client("elicitation"),
        (Side::Server, "tasks/list") => client("tasks.list"),
        (Side::Server, "tasks/cancel") => client("tasks.cancel"),
        (Side::Server, "tasks/get" | "tasks/result") => client("tasks"),
        (Side::Server, "notifications/tools/list_changed") => server("tools.listChanged"),
        (Side::Server, "notifications/prompts/list_changed") => server("prompts.listChanged"),
        (Side::Server, "notifications/resources/list_changed") => server("resources.listChanged"),
        (Side::Server, "notifications/resources/updated") => server("resources.subscribe"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Capabilities;
    use stickler::tape::TapeBuffer;

    #[test]
    fn disabled_capabilities_are_not_announced() {
        let text = br#"{"tools":{"listChanged":true},"prompts":{"listChanged":false},
            "resources":null,"tasks":{"list":{}}}"#;
        let mut buffer = TapeBuffer::new();
        let capabilities = Capabilities::read(buffer.read(text, 8).unwrap().root());
        for path in ["tools", "tools.listChanged", "prompts", "tasks", "tasks.list"] {
            assert!(capabilities.has(path), "{path}");
        }
        for path in ["prompts.listChanged", "resources", "logging", "tasks.cancel", ""] {
            assert!(!capabilities.has(path), "{path}");
        }
    }
}
