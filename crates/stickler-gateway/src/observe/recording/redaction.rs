//! Removes values from a recorded message by splicing, so that the rest stays as it was received.

use std::borrow::Cow;
use std::collections::HashMap;

use stickler::tape::{Kind, Node, TapeBuffer, splice};
use stickler_protocol::Header;
use stickler_protocol::envelope::{MessageKind, RequestId};

use crate::observe::secrets::{REDACTED, is_credential_name};
use crate::observe::{MessageEvent, RecordedValues};

/// Maximum nesting depth of a message that is searched. It exceeds the limit of the core.
const MAX_DEPTH: usize = 1 << 10;

/// Maximum number of requests whose credentials are remembered until they are answered.
const MAX_REQUESTS: usize = 1000;

/// Shorter credentials are only replaced in quotes, because they occur in other words.
const MIN_SECRET_BYTES: usize = 4;

/// Members whose values describe data and are not data.
const SCHEMAS: [&str; 3] = ["inputSchema", "outputSchema", "requestedSchema"];

/// Members of `params` that describe the message and are kept if values are not recorded.
const KEPT_PARAMS: [&str; 13] = [
    "name",
    "_meta",
    "protocolVersion",
    "clientInfo",
    "capabilities",
    "cursor",
    "requestId",
    "progressToken",
    "progress",
    "total",
    "level",
    "logger",
    "uri",
];

/// Members of a result and of its content that are kept if values are not recorded.
const KEPT_RESULTS: [&str; 4] = ["isError", "resultType", "type", "mimeType"];

/// Methods whose results describe the server and are kept if values are not recorded.
const KEPT_METHODS: [&str; 7] = [
    "initialize",
    "server/discover",
    "ping",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
];

/// Redacts the messages of one session.
#[derive(Debug, Default)]
pub(super) struct Redaction {
    buffer: TapeBuffer,
    /// The credentials of pending requests: an answer may quote them.
    requests: HashMap<(u64, RequestId), Vec<String>>,
}

/// A message of which values may have been removed.
#[derive(Debug)]
pub(super) struct Redacted<'m> {
    pub(super) text: Cow<'m, str>,
    pub(super) is_redacted: bool,
}

impl Redaction {
    /// Redacts the message of an event, and what was sent instead of it.
    pub(super) fn apply<'m>(
        &mut self,
        event: &MessageEvent,
        text: &'m str,
        values: RecordedValues,
    ) -> Redacted<'m> {
        if values == RecordedValues::Full {
            return Redacted { text: Cow::Borrowed(text), is_redacted: false };
        }
        let secrets = self.secrets(event, text, values);
        let Ok(tape) = self.buffer.read(text.as_bytes(), MAX_DEPTH) else {
            // Not JSON: it has no names by which to decide.
            let text = if values == RecordedValues::None { REDACTED } else { text };
            return Redacted {
                text: Cow::Borrowed(text),
                is_redacted: values == RecordedValues::None,
            };
        };
        let mut found = Vec::new();
        match values {
            RecordedValues::None => all_values(tape.root(), &event.header, &mut found),
            _ => credentials(tape.root(), &mut found),
        }
        let quoted = format!("\"{REDACTED}\"");
        let edits: Vec<_> = found.iter().map(|node| (node.span(), quoted.as_str())).collect();
        let mut text =
            if edits.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(splice(text, edits)) };
        let mut is_redacted = !found.is_empty();
        for secret in secrets {
            if text.contains(&secret) {
                text = Cow::Owned(text.replace(&secret, REDACTED));
                is_redacted = true;
            }
        }
        Redacted { text, is_redacted }
    }

    /// Redacts an answer that quotes the message of an event.
    pub(super) fn quoting(
        &mut self,
        event: &MessageEvent,
        answer: &str,
        values: RecordedValues,
    ) -> String {
        if values == RecordedValues::Full {
            return answer.to_owned();
        }
        let mut text = answer.to_owned();
        if let Ok(tape) = self.buffer.read(answer.as_bytes(), MAX_DEPTH) {
            let mut found = Vec::new();
            credentials(tape.root(), &mut found);
            let quoted = format!("\"{REDACTED}\"");
            text = splice(answer, found.iter().map(|one| (one.span(), quoted.as_str())).collect());
        }
        let id = event.header.id.clone();
        let secrets = id.and_then(|id| self.requests.get(&(event.connection, id)));
        for secret in secrets.into_iter().flatten() {
            text = text.replace(secret, REDACTED);
        }
        text
    }

    /// Returns the texts of the credentials in a request, or in the request that a message answers.
    fn secrets(&mut self, event: &MessageEvent, text: &str, values: RecordedValues) -> Vec<String> {
        let key = |id: &RequestId| (event.connection, id.clone());
        let id = event.header.id.as_ref();
        if values == RecordedValues::None {
            return Vec::new();
        }
        match event.header.kind {
            MessageKind::Request | MessageKind::Batch => {
                let Ok(tape) = self.buffer.read(text.as_bytes(), MAX_DEPTH) else {
                    return Vec::new();
                };
                let mut found = Vec::new();
                credentials(tape.root(), &mut found);
                let secrets: Vec<String> = found.into_iter().flat_map(texts).collect();
                if let Some(id) = id
                    && !secrets.is_empty()
                    && self.requests.len() < MAX_REQUESTS
                {
                    self.requests.insert(key(id), secrets);
                }
                Vec::new()
            }
            MessageKind::Response => {
                id.and_then(|id| self.requests.remove(&key(id))).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }
}

/// Returns the strings of a value in the forms in which another JSON text may quote them.
fn texts(node: Node<'_>) -> Vec<String> {
    let mut all = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        match node.kind() {
            Kind::Object => open.extend(node.members().map(|(_, value)| value)),
            Kind::Array => open.extend(node.elements()),
            Kind::String => {
                let escaped = node.raw().trim_matches('"');
                let twice = escaped.replace('\\', r"\\").replace('"', "\\\"");
                if escaped.len() < MIN_SECRET_BYTES {
                    all.push(format!("\\\"{escaped}\\\""));
                    all.push(format!("\"{escaped}\""));
                } else {
                    all.extend([twice, escaped.to_owned()]);
                }
            }
            Kind::Number if node.raw().len() >= MIN_SECRET_BYTES => all.push(node.raw().to_owned()),
            _ => {}
        }
    }
    all.retain(|text| !text.is_empty());
    all
}

/// Collects the argument and result values of a message or of the messages of a batch.
fn all_values<'t>(root: Node<'t>, header: &Header, found: &mut Vec<Node<'t>>) {
    if root.kind() == Kind::Array {
        root.elements().for_each(|one| all_values(one, &Header::default(), found));
        return;
    }
    if let Some(params) = root.get("params") {
        let is_value = |(key, _): &(Cow<'t, str>, Node<'t>)| !KEPT_PARAMS.contains(&&**key);
        params.members().filter(is_value).for_each(|(_, value)| leaves(value, found));
    }
    let is_kept = header.method.as_deref().is_some_and(|one| KEPT_METHODS.contains(&one));
    if let Some(result) = root.get("result").filter(|_| !is_kept) {
        leaves(result, found);
    }
    if let Some(error) = root.get("error") {
        let is_value = |(key, _): &(Cow<'t, str>, Node<'t>)| &**key != "code";
        error.members().filter(is_value).for_each(|(_, value)| leaves(value, found));
    }
}

fn leaves<'t>(node: Node<'t>, found: &mut Vec<Node<'t>>) {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        match node.kind() {
            Kind::Object => {
                let is_value =
                    |(key, _): &(Cow<'t, str>, Node<'t>)| !KEPT_RESULTS.contains(&&**key);
                open.extend(node.members().filter(is_value).map(|(_, value)| value));
            }
            Kind::Array => open.extend(node.elements()),
            Kind::Null => {}
            _ => found.push(node),
        }
    }
}

/// Collects the nodes of a message that are values of credentials.
fn credentials<'t>(node: Node<'t>, found: &mut Vec<Node<'t>>) {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        match node.kind() {
            Kind::Object => {
                for (key, value) in node.members() {
                    let is_scalar = matches!(value.kind(), Kind::Null | Kind::Boolean);
                    if SCHEMAS.contains(&&*key) || is_scalar {
                        continue;
                    }
                    if is_credential_name(&key) {
                        found.push(value);
                    } else {
                        open.push(value);
                    }
                }
            }
            Kind::Array => open.extend(node.elements()),
            _ => {}
        }
    }
}
