//! Malformed input: noise on stdout, invalid JSON, and messages that exceed a limit.
//!
//! Malformed client messages are answered. Malformed server messages are dropped. A malformed response
//! with a readable id is replaced by an error, so that its request is still answered.

use std::collections::HashSet;

use std::sync::Arc;
use std::time::Duration;

use stickler::rules::MessageRule;
use stickler::tape::{Node, SyntaxError, TapeBuffer};

use super::{Case, Connection, Incoming};
use crate::envelope::{Header, MessageKind, PartialHeader, RequestId};
use crate::reply::Responder;
use crate::side::Side;
use crate::verdict::{Finding, Verdict};

/// The envelope members of JSON-RPC messages.
const ENVELOPE: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// Number of characters of a noise line to report.
const MAX_NOISE_CHARS: usize = 200;

/// Number of duplicate keys to report per message.
const MAX_DUPLICATE_KEYS: usize = 10;

impl Connection {
    pub(super) fn empty(&self, side: Side) -> Verdict {
        let mut case = self.case(side, Header::default());
        case.record(Finding::new(MessageRule::EmptyLine, "a line without a message"));
        case.drop_or_forward()
    }

    /// Rejects bytes that are not JSON.
    pub(super) fn invalid_json(
        &mut self,
        side: Side,
        bytes: &[u8],
        error: &SyntaxError,
        now: Duration,
    ) -> Verdict {
        let verdict = self.not_json(side, bytes, error);
        if side == Side::Server {
            self.note_unreadable(bytes, &verdict, now);
        }
        verdict
    }

    fn not_json(&mut self, side: Side, bytes: &[u8], error: &SyntaxError) -> Verdict {
        let mut case = self.case(side, Header::default());
        if side == Side::Server && !is_malformed_message(bytes) {
            case.record(noise("a line on stdout that is not JSON", bytes));
            return case.drop_or_forward();
        }
        let message = match bytes.strip_prefix(b"\xEF\xBB\xBF") {
            Some(_) => {
                "the message begins with a byte order mark, which JSON does not allow".into()
            }
            None => format!("the message is not JSON: {error}"),
        };
        let finding = Finding::new(MessageRule::JsonSyntax, message);
        case.record(finding.with("one JSON text", "something else"));
        match side {
            Side::Client => {
                case.answer_or_forward(Responder { id: None, revision: self.lifecycle.revision() })
            }
            // Forwarded unchanged; a valid response may still follow.
            Side::Server if !case.is_rejected() => {
                case.header = Arc::new(partial_header(&PartialHeader::of(bytes)));
                case.forward()
            }
            // Answer the pending request in place of the malformed response.
            Side::Server => {
                let PartialHeader { id, is_response, answers } = PartialHeader::of(bytes);
                if !answers.is_empty() {
                    return self.unparsed_batch(case, &answers);
                }
                self.unparsed_response(case, id.as_deref().filter(|_| is_response))
            }
        }
    }

    /// Rejects JSON that is not a JSON-RPC message.
    pub(super) fn noise(&mut self, Incoming { side, node, .. }: Incoming<'_>) -> Verdict {
        let mut case = self.case(side, Header::default());
        if side == Side::Server {
            let text = node.raw().as_bytes();
            case.record(noise("JSON on stdout that is not a JSON-RPC message", text));
            return case.drop_or_forward();
        }
        let finding = Finding::new(
            MessageRule::BadEnvelope,
            "the message is not a JSON-RPC request, notification or response",
        );
        case.record(finding.with("an object with `jsonrpc` and `method`", node.type_name()));
        let id = node.get("id").map(Node::raw).filter(|id| self.can_answer(side, id));
        case.answer_or_forward(Responder { id, revision: self.lifecycle.revision() })
    }

    /// Rejects a message that exceeds the size limit, regardless of the policy: its bytes are gone.
    pub(crate) fn oversized(&mut self, side: Side, partial: PartialHeader) -> Verdict {
        let limit = self.limits().message_bytes;
        let message = format!("the message exceeds the limit of {limit} bytes");
        let finding = Finding::new(MessageRule::TooLarge, message);
        let mut case = self.case(side, Header::default());
        case.reject(finding.with(format!("at most {limit} bytes"), "more"));
        self.unparsed(case, partial)
    }

    pub(super) fn too_deep(&mut self, side: Side, bytes: &[u8]) -> Verdict {
        let case = self.too_deep_case(side);
        self.unparsed(case, PartialHeader::of(bytes))
    }

    pub(super) fn too_deep_case(&self, side: Side) -> Case {
        let mut case = self.case(side, Header::default());
        let limit = self.limits().message_depth;
        let message = format!("the message exceeds the limit of {limit} nesting levels");
        let finding = Finding::new(MessageRule::TooDeep, message);
        case.record(finding.with(format!("at most {limit} levels"), "more"));
        case
    }

    /// Answers the sender of an unparsed request, or the requester of an unparsed response.
    fn unparsed(&mut self, mut case: Case, partial: PartialHeader) -> Verdict {
        case.header = Arc::new(partial_header(&partial));
        let PartialHeader { id, is_response, answers } = partial;
        if !answers.is_empty() {
            return self.unparsed_batch(case, &answers);
        }
        if is_response {
            return self.unparsed_response(case, id.as_deref());
        }
        let side = case.side();
        let id = id.filter(|id| self.can_answer(side, id));
        if side == Side::Server && id.is_none() {
            return case.drop_or_forward();
        }
        case.answer_or_forward(Responder { id: id.as_deref(), revision: self.lifecycle.revision() })
    }

    /// Returns whether a response with this id cannot be mistaken for that of a pending request.
    pub(super) fn can_answer(&self, requester: Side, id: &str) -> bool {
        parse_id(id).is_some_and(|id| !self.pending.of(requester).is_pending(&id))
    }
}

/// Returns the header of a message of which only the ids are known.
fn partial_header(partial: &PartialHeader) -> Header {
    let id = partial.id.as_deref().and_then(parse_id);
    let response = |id: &String| Header::response(parse_id(id), None);
    if !partial.answers.is_empty() {
        return Header::of_batch(partial.answers.iter().map(response).collect());
    }
    match id {
        Some(_) if partial.is_response => Header::response(id, None),
        Some(_) => Header { kind: MessageKind::Request, id, ..Header::default() },
        None => Header::default(),
    }
}

/// Parses the raw JSON of an id.
pub(super) fn parse_id(text: &str) -> Option<RequestId> {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(text.as_bytes(), 1).ok()?;
    RequestId::of(tape.root())
}

/// Returns the paths of the first duplicate keys in a message, except those of the envelope itself,
/// which envelope identification reports.
pub(super) fn duplicate_keys(message: Node<'_>) -> Vec<String> {
    let mut repeated = message.tape().duplicate_keys_in(message).peekable();
    if repeated.peek().is_none() {
        return Vec::new();
    }
    let envelope_keys: HashSet<usize> = message
        .members()
        .with_key_nodes()
        .filter(|(key, _)| key.as_str().is_some_and(|key| ENVELOPE.contains(&key.as_ref())))
        .map(|(key, _)| key.span().start)
        .collect();
    let mut paths: Vec<String> = repeated
        .filter(|key| !envelope_keys.contains(&key.span().start))
        .take(MAX_DUPLICATE_KEYS)
        .filter_map(|key| message.pointer_to(key))
        .collect();
    paths.dedup();
    paths
}

pub(super) fn duplicate_key(path: String) -> Finding {
    let finding = Finding::new(MessageRule::DuplicateKey, format!("`{path}` is given twice"));
    finding.at(path).with("once", "twice or more")
}

/// Creates a finding with an excerpt of the noise, which often explains why a server fails.
fn noise(message: &str, text: &[u8]) -> Finding {
    let text = String::from_utf8_lossy(text.get(..MAX_NOISE_CHARS * 4).unwrap_or(text));
    let text = text.trim();
    let mut excerpt: String = text.chars().take(MAX_NOISE_CHARS).collect();
    if excerpt.len() < text.len() {
        excerpt.push('…');
    }
    Finding::new(MessageRule::StdoutNoise, message)
        .with("one JSON-RPC message per line", format!("`{excerpt}`"))
}

/// Returns whether invalid JSON was meant as a message. All other text is noise.
fn is_malformed_message(bytes: &[u8]) -> bool {
    let text = bytes.trim_ascii_start();
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    matches!(text.first(), Some(b'{' | b'[')) && contains(text, b"\"jsonrpc\"")
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(bytes, part).is_some()
}
