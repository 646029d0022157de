//! Classifies a JSON value as a message and checks its envelope.

use std::borrow::Cow;

use stickler::tape::{Kind, Node};

use super::RequestId;

/// Kind of a parsed message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A method with an id.
    Request,
    /// A method without an id.
    Notification,
    /// A response with a result.
    Result,
    /// A response with an error.
    Error,
    /// An array of messages.
    Batch,
    /// JSON that is not meant to be a JSON-RPC message.
    Noise,
}

/// The members of a message and the faults of its envelope.
#[derive(Debug, Clone)]
pub struct Envelope<'t> {
    /// Kind of the message.
    pub shape: Shape,
    /// The `id` member, valid or not.
    pub id: Option<Node<'t>>,
    /// The method, if it is a string.
    pub method: Option<Cow<'t, str>>,
    /// The `params` member.
    pub params: Option<Node<'t>>,
    /// The `result` or `error` member.
    pub outcome: Option<Node<'t>>,
    /// Faults of the envelope.
    pub faults: Vec<EnvelopeFault>,
}

/// A fault of an envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvelopeFault {
    /// JSON Pointer to the member; empty for the whole message.
    pub path: &'static str,
    /// One sentence for the sender.
    pub message: Cow<'static, str>,
    /// What was expected.
    pub expected: &'static str,
    /// What was received.
    pub received: Cow<'static, str>,
}

#[derive(Default)]
struct Parts<'t> {
    jsonrpc: Option<Node<'t>>,
    id: Option<Node<'t>>,
    method: Option<Node<'t>>,
    params: Option<Node<'t>>,
    result: Option<Node<'t>>,
    error: Option<Node<'t>>,
}

impl<'t> Envelope<'t> {
    /// Reads the outermost members of a message.
    pub fn identify(message: Node<'t>) -> Self {
        let noise = Self {
            shape: Shape::Noise,
            id: None,
            method: None,
            params: None,
            outcome: None,
            faults: Vec::new(),
        };
        match message.kind() {
            Kind::Array => Self { shape: Shape::Batch, ..noise },
            Kind::Object => {
                let mut faults = Vec::new();
                match Parts::of(message, &mut faults).envelope(faults) {
                    Some(envelope) => envelope,
                    None => noise,
                }
            }
            _ => noise,
        }
    }

    /// Returns the id that correlates a request with its response.
    pub fn request_id(&self) -> Option<RequestId> {
        RequestId::of(self.id?)
    }

    /// Returns the id as written if a response can use it: a string or an integer that is not repeated.
    pub fn answerable_id(&self) -> Option<&'t str> {
        let id = self.id.filter(|id| RequestId::is_valid(*id))?;
        let is_doubtful = self.faults.iter().any(|fault| fault.path == "/id");
        (!is_doubtful).then(|| id.raw())
    }

    /// Whether the message has neither a method nor an outcome.
    pub(crate) fn lacks_method_and_outcome(&self) -> bool {
        let whole = self.faults.iter().any(|fault| fault.path.is_empty());
        self.method.is_none() && self.outcome.is_none() && whole
    }
}

impl<'t> Parts<'t> {
    fn of(message: Node<'t>, faults: &mut Vec<EnvelopeFault>) -> Self {
        let mut parts = Self::default();
        let mut reported: Vec<&str> = Vec::new();
        for (key, value) in message.members().with_key_nodes() {
            let Some(key) = key.as_str() else { continue };
            let (member, path, twice) = match key.as_ref() {
                "jsonrpc" => (&mut parts.jsonrpc, "/jsonrpc", "`jsonrpc` is given twice"),
                "id" => (&mut parts.id, "/id", "`id` is given twice"),
                "method" => (&mut parts.method, "/method", "`method` is given twice"),
                "params" => (&mut parts.params, "/params", "`params` is given twice"),
                "result" => (&mut parts.result, "/result", "`result` is given twice"),
                "error" => (&mut parts.error, "/error", "`error` is given twice"),
                _ => continue,
            };
            // Report a repeated member once.
            if member.replace(value).is_some() && !reported.contains(&path) {
                reported.push(path);
                faults.push(fault(path, twice, "once", "twice"));
            }
        }
        parts
    }

    fn envelope(self, mut faults: Vec<EnvelopeFault>) -> Option<Envelope<'t>> {
        if self.is_noise() {
            return None;
        }
        self.check_version(&mut faults);
        let shape = self.shape(&mut faults);
        self.check_id(shape, &mut faults);
        let outcome = match shape {
            Shape::Result => self.result,
            Shape::Error => self.error,
            _ => None,
        };
        let method = self.method.and_then(Node::as_str);
        Some(Envelope { shape, id: self.id, method, params: self.params, outcome, faults })
    }

    /// Whether the value is not meant to be a message, such as a log line in JSON.
    fn is_noise(&self) -> bool {
        let is_named_like_one = |method: Node<'_>| {
            let name = method.as_str().unwrap_or_default();
            self.id.is_some() || self.params.is_some() || name.contains('/')
        };
        self.jsonrpc.is_none()
            && !self.method.is_some_and(is_named_like_one)
            && (self.id.is_none() || (self.result.is_none() && self.error.is_none()))
    }

    fn check_version(&self, faults: &mut Vec<EnvelopeFault>) {
        const EXPECTED: &str = "the string \"2.0\"";
        match self.jsonrpc {
            None => {
                faults.push(fault("/jsonrpc", "`jsonrpc` is missing", EXPECTED, "nothing"));
            }
            Some(version) if version.as_str().as_deref() != Some("2.0") => {
                let received = match version.as_str() {
                    Some(_) => "another string",
                    None => version.type_name(),
                };
                faults.push(fault("/jsonrpc", "`jsonrpc` must be \"2.0\"", EXPECTED, received));
            }
            Some(_) => {}
        }
    }

    fn shape(&self, faults: &mut Vec<EnvelopeFault>) -> Shape {
        if let Some(method) = self.method {
            if method.kind() != Kind::String {
                let received = method.type_name();
                faults.push(fault("/method", "`method` must be a string", "a string", received));
            }
            if self.result.is_some() || self.error.is_some() {
                let message = "a message with a `method` must not have a `result` or an `error`";
                faults.push(fault("", message, "a request or a response", "both in one"));
            }
            return if self.id.is_some() { Shape::Request } else { Shape::Notification };
        }
        match (self.result, self.error) {
            (Some(_), Some(error)) => {
                let message = "a response has either a `result` or an `error`, not both";
                faults.push(fault("", message, "one of them", "both"));
                // Some implementations write both members, with null for the absent one.
                if error.kind() == Kind::Null { Shape::Result } else { Shape::Error }
            }
            (Some(_), None) => Shape::Result,
            (None, Some(_)) => Shape::Error,
            (None, None) => {
                let message = "the message has no `method`, no `result` and no `error`";
                faults.push(fault("", message, "one of them", "none"));
                // A sender that gives an id may expect a response.
                if self.id.is_some() { Shape::Request } else { Shape::Notification }
            }
        }
    }

    fn check_id(&self, shape: Shape, faults: &mut Vec<EnvelopeFault>) {
        const EXPECTED: &str = "a string or a whole number";
        match self.id {
            // Whether an error may omit the id depends on the revision.
            None if shape == Shape::Result => {
                faults.push(fault(
                    "/id",
                    "a result must have the `id` of its request",
                    EXPECTED,
                    "nothing",
                ));
            }
            Some(id) if id.kind() == Kind::Null && shape == Shape::Error => {}
            Some(id) if !RequestId::is_valid(id) => {
                let message = match id.kind() {
                    Kind::Null => "`id` must not be null: a request has an id, a notification none",
                    Kind::Number => "`id` must be a whole number or a string",
                    _ => "`id` must be a string or a whole number",
                };
                faults.push(fault("/id", message, EXPECTED, id.type_name()));
            }
            _ => {}
        }
    }
}

fn fault(
    path: &'static str,
    message: &'static str,
    expected: &'static str,
    received: &'static str,
) -> EnvelopeFault {
    EnvelopeFault { path, message: message.into(), expected, received: received.into() }
}

#[cfg(test)]
mod tests {
    use super::{Envelope, Shape};
    use stickler::tape::TapeBuffer;

    /// Returns the shape and the paths of the faults.
    fn identify(text: &str) -> (Shape, Vec<&'static str>) {
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(text.as_bytes(), 64).unwrap();
        let envelope = Envelope::identify(tape.root());
        (envelope.shape, envelope.faults.iter().map(|fault| fault.path).collect())
    }

    #[test]
    fn valid_messages_have_no_faults() {
        for (text, shape) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, Shape::Request),
            (r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":{}}"#, Shape::Request),
            (r#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#, Shape::Request),
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, Shape::Notification),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, Shape::Result),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#, Shape::Error),
            (r#"{"jsonrpc":"2.0","error":{"code":1,"message":""}}"#, Shape::Error),
            (r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#, Shape::Error),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Shape::Batch),
            ("[]", Shape::Batch),
        ] {
            assert_eq!(identify(text), (shape, vec![]), "{text}");
        }
    }

    #[test]
    fn faulty_messages_are_still_classified() {
        for (text, shape, path) in [
            (r#"{"id":1,"method":"ping"}"#, Shape::Request, "/jsonrpc"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, Shape::Request, "/jsonrpc"),
            (r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, Shape::Request, "/jsonrpc"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Shape::Request, "/id"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Shape::Request, "/id"),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, Shape::Request, "/id"),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, Shape::Request, "/method"),
            (r#"{"jsonrpc":"2.0","id":1,"method":null}"#, Shape::Request, "/method"),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, Shape::Request, "/id"),
            (r#"{"jsonrpc":"2.0","id":1,"\u0069d":2,"method":"ping"}"#, Shape::Request, "/id"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#, Shape::Request, "/method"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","result":{}}"#, Shape::Request, ""),
            (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, Shape::Error, ""),
            (r#"{"jsonrpc":"2.0","id":1}"#, Shape::Request, ""),
            (r#"{"jsonrpc":"2.0","result":{}}"#, Shape::Result, "/id"),
            (r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, Shape::Result, "/id"),
            (r#"{"jsonrpc":"2.0"}"#, Shape::Notification, ""),
            (r#"{"method":"notifications/initialized"}"#, Shape::Notification, "/jsonrpc"),
        ] {
            assert_eq!(identify(text), (shape, vec![path]), "{text}");
        }
    }

    #[test]
    fn noise_is_distinguished_from_messages() {
        for text in [
            "1",
            "\"text\"",
            "null",
            "{}",
            r#"{"level":30,"msg":"started"}"#,
            r#"{"id":5,"name":"worker"}"#,
            r#"{"method":"GET"}"#,
            r#"{"error":"no such file"}"#,
        ] {
            assert_eq!(identify(text).0, Shape::Noise, "{text}");
        }
    }
}
