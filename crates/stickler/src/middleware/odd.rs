//! What is no message: noise, bytes that cannot be read, too much of something.

use super::{Incoming, ValidationMiddleware};
use crate::envelope::{Glimpse, RequestId};
use crate::render::Reply;
use crate::rules::MessageRule;
use crate::side::Side;
use crate::tape::{Node, SyntaxError};
use crate::verdict::{Finding, Verdict};

/// Keys given twice that are told about one message.
const REPEATS_TOLD: usize = 10;

impl ValidationMiddleware {
    pub(super) fn empty(&self, side: Side) -> Verdict {
        let mut case = self.case(side);
        case.tell(Finding::new(MessageRule::EmptyLine, "a line without a message"));
        case.drop_or_forward()
    }

    /// Bytes that are not JSON. Of a client's, the client is told; a server's are kept off the wire.
    pub(super) fn unreadable(&self, side: Side, bytes: &[u8], error: &SyntaxError) -> Verdict {
        let mut case = self.case(side);
        if side == Side::Server && !is_broken_message(bytes) {
            case.tell(noise("a line on stdout that is not JSON"));
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
            Side::Server => case.drop_or_forward(),
        }
    }

    /// JSON that is no JSON-RPC message.
    pub(super) fn noise(&self, Incoming { side, node, .. }: Incoming<'_>) -> Verdict {
        let mut case = self.case(side);
        if side == Side::Server {
            case.tell(noise("JSON on stdout that is no JSON-RPC message"));
            return case.drop_or_forward();
        }
        let finding = Finding::new(
            MessageRule::BadEnvelope,
            "the message is not a JSON-RPC request, notification or response",
        );
        case.tell(finding.with("an object with `jsonrpc` and `method`", node.type_name()));
        let id = node.get("id").filter(|id| RequestId::of(*id).is_some()).map(Node::raw);
        case.answer_or_forward(Reply { id, revision: self.session.revision() })
    }

    pub(super) fn overlong(&mut self, side: Side, beginning: &[u8]) -> Verdict {
        let limit = self.limits().message_bytes;
        let message = format!("the message has more than the {limit} bytes that are allowed");
        let finding = Finding::new(MessageRule::TooLarge, message);
        self.beyond_a_limit(side, finding.with(format!("at most {limit} bytes"), "more"), beginning)
    }

    pub(super) fn too_deep(&mut self, side: Side, bytes: &[u8]) -> Verdict {
        let limit = self.limits().message_depth;
        let message = format!("the message nests deeper than the {limit} levels that are allowed");
        let finding = Finding::new(MessageRule::TooDeep, message);
        self.beyond_a_limit(side, finding.with(format!("at most {limit} levels"), "more"), bytes)
    }

    /// Whoever waits for this message's answer, or for this message as an answer, is told.
    fn beyond_a_limit(&mut self, side: Side, finding: Finding, bytes: &[u8]) -> Verdict {
        let Glimpse { id, is_response } = Glimpse::of(bytes);
        let mut case = self.case(side);
        case.tell(finding);
        if is_response {
            return self.unread_response(case, id.as_deref());
        }
        if side == Side::Server && id.is_none() {
            return case.drop_or_forward();
        }
        case.answer_or_forward(Reply { id: id.as_deref(), revision: self.session.revision() })
    }
}

/// Keys given twice: of the whole message, or of one message of a batch. The envelope's own are
/// told by the envelope, those of arguments by the arguments.
pub(super) fn repeated_keys(message: Node<'_>) -> impl Iterator<Item = String> {
    let outer = message.span();
    message
        .tape()
        .duplicate_keys()
        .filter(move |key| outer.contains(&key.span().start))
        .filter_map(move |key| message.pointer_to(key))
        .filter(|path| path.bytes().filter(|byte| *byte == b'/').count() > 1)
        .take(REPEATS_TOLD)
}

pub(super) fn repeated_key(path: String) -> Finding {
    let finding = Finding::new(MessageRule::DuplicateKey, format!("`{path}` is given twice"));
    finding.at(path).with("once", "twice or more")
}

fn noise(message: &str) -> Finding {
    Finding::new(MessageRule::StdoutNoise, message)
        .with("one JSON-RPC message a line", "other text")
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
