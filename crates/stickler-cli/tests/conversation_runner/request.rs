//! Builds a request of the HTTP client: the headers of the step, and the default headers of its era.

use serde_json::Value;

use super::script::Step;
use super::template::{Bindings, fill};

pub(crate) struct Request<'a> {
    pub(crate) step: &'a Step,
    /// The body as JSON; null if it is not JSON.
    pub(crate) message: &'a Value,
    pub(crate) body: &'a [u8],
    /// The negotiated revision.
    pub(crate) revision: &'a Option<String>,
}

impl Request<'_> {
    pub(crate) fn method(&self) -> &str {
        self.step.options.method.as_deref().unwrap_or("POST")
    }

    pub(crate) fn bytes(&self, port: u16, bindings: &Bindings) -> Result<Vec<u8>, String> {
        let options = &self.step.options;
        let path = options.path.as_deref().unwrap_or("/mcp");
        let mut head = format!("{} {path} HTTP/1.1\r\nconnection: close\r\n", self.method());
        let mut defaults = self.default_headers(port, bindings);
        defaults.retain(|(name, _)| options.header(name).is_none());
        let defaults = defaults.into_iter().map(|(name, value)| (name.to_owned(), value));
        for (name, value) in defaults.chain(options.headers.iter().cloned()) {
            let value = fill(&value, bindings)?;
            if value != "-" {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        if options.header("content-length").is_none() {
            head.push_str(&format!("content-length: {}\r\n", self.body.len()));
        }
        Ok([head.as_bytes(), b"\r\n", self.body].concat())
    }

    fn default_headers(&self, port: u16, bindings: &Bindings) -> Vec<(&'static str, String)> {
        let (message, params) = (self.message, &self.message["params"]);
        let accept = match self.method() {
            "GET" => "text/event-stream",
            _ => "application/json, text/event-stream",
        };
        let host = format!("127.0.0.1:{port}");
        let mut headers = vec![("host", host), ("accept", accept.to_owned())];
        if self.method() == "POST" {
            headers.push(("content-type", "application/json".to_owned()));
        }
        if let Some(version) = params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str() {
            headers.push(("mcp-protocol-version", version.to_owned()));
            let method = message["method"].as_str();
            headers.extend(method.map(|method| ("mcp-method", method.to_owned())));
            let name = params["name"].as_str().or_else(|| params["uri"].as_str());
            headers.extend(name.map(|name| ("mcp-name", name.to_owned())));
        } else if message["method"] != "initialize" {
            let session = bindings.get("session");
            headers.extend(session.map(|session| ("mcp-session-id", session.clone())));
            // Older revisions do not have this header.
            let revision = self.revision.clone().filter(|one| one.as_str() >= "2025-06-18");
            headers.extend(revision.map(|revision| ("mcp-protocol-version", revision)));
        }
        headers
    }
}
