//! What is no message: noise, bytes that cannot be read, too much of something.

use std::collections::HashSet;

use stickler::rules::MessageRule;
use stickler::tape::{Node, SyntaxError, TapeBuffer};

use super::case::Case;
use super::{Incoming, ValidationMiddleware};
use crate::envelope::{Glimpse, RequestId};
use crate::reply::Reply;
use crate::side::Side;
use crate::verdict::{Finding, Verdict};

/// The members of an envelope.
const ENVELOPE: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// Characters of a line that is no message that are told.
const NOISE_TOLD: usize = 200;

/// Keys given twice that are told about one message.
const REPEATS_TOLD: usize = 10;

impl ValidationMiddleware {
    pub(super) fn empty(&self, side: Side) -> Verdict {
        let mut case = self.case(side);
        case.tell(Finding::new(MessageRule::EmptyLine, "a line without a message"));
        case.drop_or_forward()
    }

    /// Bytes that are not JSON. Of a client's, the client is told; a server's are kept off the wire.
    pub(super) fn unreadable(&mut self, side: Side, bytes: &[u8], error: &SyntaxError) -> Verdict {
        let mut case = self.case(side);
        if side == Side::Server && !is_broken_message(bytes) {
            case.tell(noise("a line on stdout that is not JSON", bytes));
            return case.drop_or_forward();
        }
        let message = match bytes.strip_prefix(b"\xEF\xBB\xBF") {
            Some(_) => "the message begins with a byte order mark, which JSON does not have".into(),
            None => format!("the message is not JSON: {error}"),
        };
        let finding = Finding::new(MessageRule::JsonSyntax, message);
        case.tell(finding.with("one JSON text", "something else"));
        match side {
            Side::Client => {
                case.answer_or_forward(Reply { id: None, revision: self.session.revision() })
            }
            // It goes on as it is, and the answer may still come.
            Side::Server if !case.is_refused() => case.forward(),
            // Whoever waits for a broken answer is told.
            Side::Server => {
                let Glimpse { id, is_response, answers } = Glimpse::of(bytes);
                if !answers.is_empty() {
                    return self.unread_batch(case, &answers);
                }
                self.unread_response(case, id.as_deref().filter(|_| is_response))
            }
        }
    }

    /// JSON that is no JSON-RPC message.
    pub(super) fn noise(&mut self, Incoming { side, node, .. }: Incoming<'_>) -> Verdict {
        let mut case = self.case(side);
        if side == Side::Server {
            let text = node.raw().as_bytes();
            case.tell(noise("JSON on stdout that is no JSON-RPC message", text));
            return case.drop_or_forward();
        }
        let finding = Finding::new(
            MessageRule::BadEnvelope,
            "the message is not a JSON-RPC request, notification or response",
        );
        case.tell(finding.with("an object with `jsonrpc` and `method`", node.type_name()));
        let id = node.get("id").map(Node::raw).filter(|id| self.may_answer(side, id));
        case.answer_or_forward(Reply { id, revision: self.session.revision() })
    }

    /// A message of which most was never kept: it cannot go on, whatever the policy.
    pub(super) fn overlong(&mut self, side: Side, glimpse: Glimpse) -> Verdict {
        let limit = self.limits().message_bytes;
        let message = format!("the message has more than the {limit} bytes that are allowed");
        let finding = Finding::new(MessageRule::TooLarge, message);
        let mut case = self.case(side);
        case.refuse(finding.with(format!("at most {limit} bytes"), "more"));
        self.unread(case, glimpse)
    }

    pub(super) fn too_deep(&mut self, side: Side, bytes: &[u8]) -> Verdict {
        let case = self.case_of_depth(side);
        self.unread(case, Glimpse::of(bytes))
    }

    pub(super) fn case_of_depth(&self, side: Side) -> Case {
        let mut case = self.case(side);
        let limit = self.limits().message_depth;
        let message = format!("the message nests deeper than the {limit} levels that are allowed");
        let finding = Finding::new(MessageRule::TooDeep, message);
        case.tell(finding.with(format!("at most {limit} levels"), "more"));
        case
    }

    /// Whoever waits for this message's answer, or for this message as an answer, is told.
    fn unread(&mut self, case: Case, glimpse: Glimpse) -> Verdict {
        let Glimpse { id, is_response, answers } = glimpse;
        if !answers.is_empty() {
            return self.unread_batch(case, &answers);
        }
        if is_response {
            return self.unread_response(case, id.as_deref());
        }
        let side = case.side();
        let id = id.filter(|id| self.may_answer(side, id));
        if side == Side::Server && id.is_none() {
            return case.drop_or_forward();
        }
        case.answer_or_forward(Reply { id: id.as_deref(), revision: self.session.revision() })
    }

    /// Whether an id can be answered without answering another request that has it.
    pub(super) fn may_answer(&mut self, requester: Side, id: &str) -> bool {
        parse_id(id).is_some_and(|id| !self.session.flights(requester).is_open(&id))
    }
}

/// An id from its text.
pub(super) fn parse_id(text: &str) -> Option<RequestId> {
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(text.as_bytes(), 1).ok()?;
    RequestId::of(tape.root())
}

/// The places of keys given twice in a message, the first few of them. Those of the envelope itself
/// are told by the envelope.
pub(super) fn repeated_keys(message: Node<'_>) -> Vec<String> {
    let mut repeated = message.tape().duplicate_keys_in(message).peekable();
    if repeated.peek().is_none() {
        return Vec::new();
    }
    let of_envelope: HashSet<usize> = message
        .members()
        .with_key_nodes()
        .filter(|(key, _)| key.as_str().is_some_and(|key| ENVELOPE.contains(&key.as_ref())))
        .map(|(key, _)| key.span().start)
        .collect();
    let mut paths: Vec<String> = repeated
        .filter(|key| !of_envelope.contains(&key.span().start))
        .take(REPEATS_TOLD)
        .filter_map(|key| message.pointer_to(key))
        .collect();
    paths.dedup();
    paths
}

pub(super) fn repeated_key(path: String) -> Finding {
    let finding = Finding::new(MessageRule::DuplicateKey, format!("`{path}` is given twice"));
    finding.at(path).with("once", "twice or more")
}

/// What a server prints may be why it does not work, and nobody else will see it.
fn noise(message: &str, text: &[u8]) -> Finding {
    let text = String::from_utf8_lossy(text.get(..NOISE_TOLD * 4).unwrap_or(text));
    let text = text.trim();
    let mut told: String = text.chars().take(NOISE_TOLD).collect();
    if told.len() < text.len() {
        told.push('…');
    }
    Finding::new(MessageRule::StdoutNoise, message)
        .with("one JSON-RPC message a line", format!("`{told}`"))
}

/// Whether text that is not JSON was meant to be a message. Text that merely looks odd is noise.
fn is_broken_message(bytes: &[u8]) -> bool {
    let text = bytes.trim_ascii_start();
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    matches!(text.first(), Some(b'{' | b'[')) && contains(text, b"\"jsonrpc\"")
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(bytes, part).is_some()
}
