//! HTTP headers of 2026-07-28 requests: comparison with the body, and the headers for a body.
//!
//! The headers repeat parts of the body, so that intermediaries can route a request without parsing it. A request
//! whose headers differ from its body is rejected; otherwise the two could be processed differently.

mod base64;
mod param_headers;

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use serde_json::{Value, json};
use stickler::internal::{ParamHeader, param_header_values};
use stickler::rules::{MessageRule, json_rpc};
use stickler::tape::{Kind, Node, TapeBuffer};

use crate::envelope::Envelope;
use crate::protocol::{Era, Revision};
use crate::reply::Responder;
use crate::verdict::{Decision, Finding, Reply, Verdict};
pub use param_headers::ParamHeaders;

/// Header with the revision.
pub const VERSION: &str = "mcp-protocol-version";
/// Header that repeats the method.
pub const METHOD: &str = "mcp-method";
/// Header that repeats the name of the tool or prompt, or the URI of the resource.
pub const NAME: &str = "mcp-name";
/// Prefix of headers that repeat an argument.
pub const PARAM: &str = "mcp-param-";

/// Member of `_meta` with the revision of a request.
pub const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// Member of `_meta` with the id of the request that opened a subscription.
pub const SUBSCRIPTION_KEY: &str = "io.modelcontextprotocol/subscriptionId";

/// Member of `_meta` with the client's capabilities.
pub(crate) const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// Returns the HTTP status of an error response of a modern server or gateway, by its JSON-RPC code.
pub fn status_of_error(code: i32) -> u16 {
    match code {
        json_rpc::METHOD_NOT_FOUND => 404,
        json_rpc::HEADER_MISMATCH
        | json_rpc::MISSING_CLIENT_CAPABILITY
        | json_rpc::UNSUPPORTED_VERSION
        | json_rpc::PARSE_ERROR
        | json_rpc::INVALID_REQUEST => 400,
        _ => 200,
    }
}

/// Rejection of a request whose headers do not match its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderRejection {
    /// The JSON-RPC code.
    pub code: i32,
    /// One sentence that describes the mismatch.
    pub message: String,
    /// The JSON-RPC error response.
    pub answer: Box<Reply>,
}

impl HeaderRejection {
    /// Returns the HTTP status of the response. Every header error is an invalid HTTP request.
    pub fn status(&self) -> u16 {
        match self.code {
            json_rpc::INVALID_PARAMS => 400,
            code => status_of_error(code),
        }
    }
}

impl From<HeaderRejection> for Verdict {
    fn from(rejection: HeaderRejection) -> Self {
        let finding = Finding::new(MessageRule::HeaderMismatch, rejection.message);
        Self {
            decision: Decision::Answer(rejection.answer),
            findings: vec![finding],
            would_reject: false,
            edits: Vec::new(),
            header: Arc::default(),
            parts: Vec::new(),
        }
    }
}

/// Compares the headers of a request with its body, except those that repeat arguments (see [`ParamHeaders`]). Returns a
/// hash of the client's capabilities. A body that cannot be parsed is not compared.
pub fn check<'h>(
    body: &[u8],
    header: impl Fn(&str) -> Option<&'h str>,
) -> Result<u64, HeaderRejection> {
    let mut buffer = TapeBuffer::new();
    let Ok(tape) = buffer.read(body, 1 << 10) else { return Ok(0) };
    let envelope = Envelope::identify(tape.root());
    let Some(method) = envelope.method.as_deref() else { return Ok(0) };
    let outcome = check_version(&envelope, header(VERSION))
        .and_then(|()| compare("Mcp-Method", header(METHOD), method))
        .and_then(|()| match named(method, envelope.params) {
            Some(name) => compare("Mcp-Name", header(NAME), &name),
            None => Ok(()),
        });
    match outcome {
        Ok(()) => Ok(capabilities_hash(capabilities(envelope.params))),
        Err(fault) => Err(fault.rejection(envelope.answerable_id())),
    }
}

fn capabilities(params: Option<Node<'_>>) -> Option<Node<'_>> {
    params?.get("_meta")?.get(CAPABILITIES_KEY)
}

/// Hashes the capabilities; 0 if there are none.
fn capabilities_hash(capabilities: Option<Node<'_>>) -> u64 {
    let Some(capabilities) = capabilities.filter(|one| !one.is_empty()) else { return 0 };
    let mut hasher = DefaultHasher::new();
    capabilities.raw().hash(&mut hasher);
    hasher.finish()
}

/// Returns the headers that a body requires.
pub fn for_body(body: &[u8], schema_of: impl Fn(&str) -> Option<Value>) -> Vec<(String, String)> {
    let mut buffer = TapeBuffer::new();
    let Ok(tape) = buffer.read(body, 1 << 10) else { return Vec::new() };
    let envelope = Envelope::identify(tape.root());
    let Some(method) = envelope.method.as_deref() else { return Vec::new() };
    let mut headers = vec![(METHOD.to_owned(), base64::encode_if_needed(method))];
    let version = declared(envelope.params).unwrap_or(Cow::Borrowed(Revision::LATEST.as_str()));
    headers.push((VERSION.to_owned(), base64::encode_if_needed(&version)));
    if let Some(name) = named(method, envelope.params) {
        headers.push((NAME.to_owned(), base64::encode_if_needed(&name)));
    }
    let schema = named("tools/call", envelope.params).filter(|_| method == "tools/call");
    let param_headers =
        schema.and_then(|tool| schema_of(&tool)).map(|schema| ParamHeader::of(&schema));
    for (name, value) in param_header_values(&param_headers.unwrap_or_default(), envelope.params) {
        headers.push((format!("{PARAM}{name}"), base64::encode_if_needed(&value)));
    }
    headers
}

struct Fault {
    code: i32,
    message: String,
    data: Value,
}

impl Fault {
    fn mismatch(message: String) -> Self {
        Self { code: json_rpc::HEADER_MISMATCH, message, data: json!({}) }
    }

    fn differs(name: &str) -> Self {
        Self::mismatch(format!("the header `{name}` differs from the body"))
    }

    fn missing_member(key: &str) -> Self {
        Self {
            code: json_rpc::INVALID_PARAMS,
            message: format!("Invalid params: `_meta` must have `{key}`"),
            data: json!({ "path": "/params/_meta" }),
        }
    }

    fn rejection(self, id: Option<&str>) -> HeaderRejection {
        let responder = Responder { id, revision: Some(Revision::LATEST) };
        let answer = Box::new(responder.error(self.code, &self.message, &self.data));
        HeaderRejection { code: self.code, message: self.message, answer }
    }
}

fn check_version(envelope: &Envelope<'_>, header: Option<&str>) -> Result<(), Fault> {
    let Some(header) = header else {
        return Err(Fault::mismatch("the header `MCP-Protocol-Version` is missing".to_owned()));
    };
    if Revision::parse(header).is_none() {
        // Other revisions require a handshake.
        let modern = Revision::ALL.into_iter().filter(|one| one.era() == Era::Modern);
        let supported: Vec<&str> = modern.map(Revision::as_str).collect();
        return Err(Fault {
            code: json_rpc::UNSUPPORTED_VERSION,
            message: "Unsupported protocol version".to_owned(),
            data: json!({ "supported": supported, "requested": header }),
        });
    }
    if envelope.id.is_none() {
        return Ok(());
    }
    match declared(envelope.params) {
        Some(version) if version == header => check_capabilities(envelope.params),
        Some(version) => Err(Fault::mismatch(format!(
            "the header `MCP-Protocol-Version` is `{header}`, but the body has `{version}`"
        ))),
        None => Err(Fault::missing_member(VERSION_KEY)),
    }
}

fn check_capabilities(params: Option<Node<'_>>) -> Result<(), Fault> {
    match capabilities(params).map(Node::kind) {
        Some(Kind::Object) => Ok(()),
        _ => Err(Fault::missing_member(CAPABILITIES_KEY)),
    }
}

fn declared(params: Option<Node<'_>>) -> Option<Cow<'_, str>> {
    params?.get("_meta")?.get(VERSION_KEY)?.as_str()
}

fn compare(name: &str, header: Option<&str>, body: &str) -> Result<(), Fault> {
    let Some(header) = header else {
        return Err(Fault::mismatch(format!("the header `{name}` is missing")));
    };
    match base64::decode(header) {
        Some(value) if value == body || is_same_number(&value, body) => Ok(()),
        Some(_) => Err(Fault::differs(name)),
        None => Err(Fault::mismatch(format!("the header `{name}` is not encoded correctly"))),
    }
}

fn is_same_number(one: &str, other: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    number(one).zip(number(other)).is_some_and(|(one, other)| one.to_bits() == other.to_bits())
}

/// Returns the value that `Mcp-Name` repeats.
fn named<'t>(method: &str, params: Option<Node<'t>>) -> Option<Cow<'t, str>> {
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return None,
    };
    params?.get(member)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::{Envelope, ParamHeaders, TapeBuffer, check, for_body};
    use serde_json::{Value, json};
    use stickler::{ToolDefinition, ToolSchemaCache};

    const BODY: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{
        "name":"sql","arguments":{"region":"zürich","limit":5},
        "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientCapabilities":{}}}}"#;

    fn schema(tool: &str) -> Option<Value> {
        (tool == "sql").then(|| {
            json!({ "properties": {
                "region": { "type": "string", "x-mcp-header": "Region" },
                "limit": { "type": "integer", "x-mcp-header": "Limit" },
                "other": { "type": "string", "x-mcp-header": "Other" },
            } })
        })
    }

    fn code(body: &str, headers: &[(String, String)]) -> Option<i32> {
        let header = |name: &str| {
            let found = headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.as_str())
        };
        let params: Vec<_> = headers
            .iter()
            .map(|(name, value)| (name.to_lowercase(), Some(value.clone())))
            .collect();
        let tool = |name: &str| {
            let tool = ToolDefinition::new(name).with_input_schema(schema(name)?);
            let cache = ToolSchemaCache::new();
            cache.populate("s", &[tool]);
            cache.get("s", name)
        };
        let checked = check(body.as_bytes(), header).map(|_| ());
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(body.as_bytes(), 16);
        let checked = checked.and_then(|()| match &tape {
            Ok(tape) => ParamHeaders::new(params).check(&Envelope::identify(tape.root()), tool),
            Err(_) => Ok(()),
        });
        checked.err().map(|rejection| rejection.code)
    }

    #[test]
    fn generated_headers_match_their_body() {
        let headers = for_body(BODY.as_bytes(), schema);
        assert_eq!(headers.len(), 5);
        assert!(headers.iter().any(|(_, value)| value == "=?base64?esO8cmljaA==?="));
        assert_eq!(code(BODY, &headers), None);
    }

    #[test]
    fn missing_or_different_header_is_rejected() {
        let headers = for_body(BODY.as_bytes(), schema);
        for index in 0..headers.len() {
            let mut changed = headers.clone();
            changed.remove(index);
            assert_eq!(code(BODY, &changed), Some(-32020), "without {:?}", headers[index]);
            let mut changed = headers.clone();
            changed[index].1 = "2025-11-25".to_owned();
            assert_eq!(code(BODY, &changed), Some(-32020), "changed {:?}", headers[index]);
        }
    }

    #[test]
    fn version_header_is_validated() {
        let mut headers = for_body(BODY.as_bytes(), schema);
        headers[1].1 = "2099-01-01".to_owned();
        assert_eq!(code(BODY, &headers), Some(-32022));
        let bare = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        assert_eq!(code(bare, &for_body(bare.as_bytes(), schema)), Some(-32602));
        assert_eq!(code("no json", &[]), None);
        let headers = for_body(BODY.as_bytes(), schema);
        assert_eq!(code(&BODY.replace("clientCapabilities\":{}", "x\":1"), &headers), Some(-32602));
        assert_eq!(code(&BODY.replace(":{}}", ":1}"), &headers), Some(-32602));
    }
}
