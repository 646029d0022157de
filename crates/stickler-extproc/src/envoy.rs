//! Builds and reads Envoy's messages.

use bytes::Bytes;
use envoy_types::pb::envoy::config::core::v3::header_value_option::HeaderAppendAction;
use envoy_types::pb::envoy::config::core::v3::{
    HeaderMap as EnvoyHeaders, HeaderValue, HeaderValueOption,
};
use envoy_types::pb::envoy::extensions::filters::http::ext_proc::v3::ProcessingMode;
use envoy_types::pb::envoy::extensions::filters::http::ext_proc::v3::processing_mode::{
    BodySendMode, HeaderSendMode,
};
use envoy_types::pb::envoy::service::ext_proc::v3::body_mutation::Mutation;
use envoy_types::pb::envoy::service::ext_proc::v3::processing_response::Response;
use envoy_types::pb::envoy::service::ext_proc::v3::{
    BodyMutation, BodyResponse, CommonResponse, HeaderMutation, HeadersResponse, ImmediateResponse,
    ProcessingResponse, TrailersResponse,
};
use envoy_types::pb::envoy::r#type::v3::HttpStatus;
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue as HttpValue};
use stickler_gateway::ExternalAnswer;

/// The headers of a message, its pseudo-headers apart.
#[derive(Debug, Default)]
pub(crate) struct Head {
    pub(crate) method: String,
    pub(crate) authority: String,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
}

impl Head {
    /// Reads headers. One that is not valid HTTP is left out; Envoy sends none.
    pub(crate) fn read(headers: Option<EnvoyHeaders>) -> Self {
        let mut head = Self::default();
        for HeaderValue { key, value, raw_value } in
            headers.map(|all| all.headers).unwrap_or_default()
        {
            let bytes = if raw_value.is_empty() { value.into_bytes() } else { raw_value };
            let text = || String::from_utf8_lossy(&bytes).into_owned();
            match key.as_str() {
                ":method" => head.method = text(),
                ":authority" => head.authority = text(),
                ":path" => head.path = text(),
                _ => {
                    let name = key.parse::<HeaderName>();
                    if let (Ok(name), Ok(value)) = (name, HttpValue::from_bytes(&bytes)) {
                        head.headers.append(name, value);
                    }
                }
            }
        }
        head
    }
}

/// Headers to set and to remove.
#[derive(Debug, Default)]
pub(crate) struct Changes(HeaderMutation);

impl Changes {
    pub(crate) fn set(mut self, name: &str, value: &[u8]) -> Self {
        let header = HeaderValue {
            key: name.to_owned(),
            raw_value: value.to_vec(),
            ..HeaderValue::default()
        };
        self.0.set_headers.push(HeaderValueOption {
            header: Some(header),
            append_action: HeaderAppendAction::OverwriteIfExistsOrAdd.into(),
            ..HeaderValueOption::default()
        });
        self
    }

    pub(crate) fn remove(mut self, name: &str) -> Self {
        self.0.remove_headers.push(name.to_owned());
        self
    }

    fn some(self) -> Option<HeaderMutation> {
        let is_empty = self.0.set_headers.is_empty() && self.0.remove_headers.is_empty();
        (!is_empty).then_some(self.0)
    }
}

/// Which further parts of an exchange Envoy sends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Next {
    /// Those of the filter's configuration.
    Configured,
    /// Nothing.
    Nothing,
    /// Only the body of the request.
    RequestBodyOnly,
    /// The response body, as one.
    WholeResponse,
    /// The response body, as it arrives.
    ResponseStream,
}

impl Next {
    fn mode(self) -> Option<ProcessingMode> {
        let (request, headers, response) = match self {
            Self::Configured => return None,
            Self::Nothing => (BodySendMode::None, HeaderSendMode::Skip, BodySendMode::None),
            Self::RequestBodyOnly => {
                (BodySendMode::Buffered, HeaderSendMode::Skip, BodySendMode::None)
            }
            // A body over Envoy's buffer limit arrives in part and passes, instead of failing the response.
            Self::WholeResponse => {
                (BodySendMode::None, HeaderSendMode::Send, BodySendMode::BufferedPartial)
            }
            Self::ResponseStream => {
                (BodySendMode::None, HeaderSendMode::Send, BodySendMode::Streamed)
            }
        };
        Some(ProcessingMode {
            request_body_mode: request.into(),
            response_header_mode: headers.into(),
            response_body_mode: response.into(),
            ..ProcessingMode::default()
        })
    }
}

/// Continues after the headers of a request or response.
pub(crate) fn headers_response(changes: Changes) -> HeadersResponse {
    let common = CommonResponse { header_mutation: changes.some(), ..CommonResponse::default() };
    HeadersResponse { response: Some(common) }
}

/// Continues after a body, which is replaced if there is another.
pub(crate) fn body_response(changes: Changes, body: Option<Bytes>) -> BodyResponse {
    let mutation = body.map(|body| {
        if body.is_empty() { Mutation::ClearBody(true) } else { Mutation::Body(body.into()) }
    });
    let common = CommonResponse {
        header_mutation: changes.some(),
        body_mutation: mutation.map(|one| BodyMutation { mutation: Some(one) }),
        ..CommonResponse::default()
    };
    BodyResponse { response: Some(common) }
}

/// Continues after trailers.
pub(crate) fn trailers_response() -> TrailersResponse {
    TrailersResponse::default()
}

/// Answers the client.
pub(crate) fn immediate(answer: ExternalAnswer) -> Response {
    let changes = answer.headers.iter().fold(Changes::default(), |changes, (name, value)| {
        changes.set(name.as_str(), value.as_bytes())
    });
    Response::ImmediateResponse(ImmediateResponse {
        status: Some(HttpStatus { code: i32::from(answer.status.as_u16()) }),
        headers: changes.some(),
        body: answer.body.into(),
        details: "stickler".to_owned(),
        ..ImmediateResponse::default()
    })
}

/// Wraps a response.
pub(crate) fn response(response: Response, next: Next) -> ProcessingResponse {
    ProcessingResponse {
        response: Some(response),
        mode_override: next.mode(),
        ..ProcessingResponse::default()
    }
}
