//! The stream of one HTTP request: Envoy sends its parts in order and waits for a response to each.
//!
//! Contract: each part gets exactly one response. A request whose decision is an answer never reaches the upstream.
//! Response bodies that are not checked are not sent to the processor.

use std::sync::Arc;

use bytes::Bytes;
use envoy_types::pb::envoy::extensions::filters::http::ext_proc::v3::processing_mode::BodySendMode;
use envoy_types::pb::envoy::service::ext_proc::v3::processing_request::Request;
use envoy_types::pb::envoy::service::ext_proc::v3::processing_response::Response;
use envoy_types::pb::envoy::service::ext_proc::v3::{
    HttpBody, HttpHeaders, ProcessingRequest, ProcessingResponse,
};
use hyper::header::{ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use stickler_gateway::{
    ExternalExchange, ExternalRequest, ExternalServer, Judgement, ResponsePlan, is_same_secret,
};
use tonic::Status;

use crate::envoy::{
    Changes, Head, Next, body_response, headers_response, immediate, response, trailers_response,
};
use crate::{LEARN_HEADER, Routes};

/// Methods whose responses are checked. The header `Mcp-Method` tells before the body arrives that a response is not.
const CHECKED_METHODS: [&[u8]; 2] = [b"tools/call", b"tools/list"];

/// One HTTP request and its response.
pub(crate) struct Exchange {
    routes: Arc<Routes>,
    /// The settings that the route names.
    name: Option<String>,
    secret: Option<Arc<str>>,
    state: State,
}

/// What has been received.
enum State {
    Start,
    /// The headers of a POST.
    RequestHead(Arc<ExternalServer>, Box<Head>),
    /// A request whose response is checked.
    Forwarded(Box<ExternalExchange>),
    /// The headers of a response whose body is checked as one.
    Whole(Box<ExternalExchange>),
    /// The headers of an event stream.
    Events(Box<ExternalExchange>),
    /// Nothing more is checked.
    Pass,
}

impl Exchange {
    pub(crate) fn new(routes: Arc<Routes>, name: Option<String>, secret: Option<Arc<str>>) -> Self {
        Self { routes, name, secret, state: State::Start }
    }

    /// Handles a part; `None` for a part of an unknown kind.
    pub(crate) async fn handle(
        &mut self,
        message: ProcessingRequest,
    ) -> Result<Option<ProcessingResponse>, Status> {
        let ProcessingRequest { request, metadata_context, protocol_config, .. } = message;
        let Some(request) = request else { return Ok(None) };
        Ok(Some(match request {
            Request::RequestHeaders(headers) => {
                let mode = protocol_config.map(|config| config.request_body_mode);
                check_mode(mode)?;
                let name = self.name.as_deref();
                let server = self.routes.select(name, metadata_context.as_ref())?;
                self.request_head(server, headers).await
            }
            Request::RequestBody(body) => self.request_body(body.body.into()).await?,
            Request::ResponseHeaders(headers) => self.response_head(headers),
            Request::ResponseBody(body) => self.response_body(body).await,
            Request::RequestTrailers(_) => {
                response(Response::RequestTrailers(trailers_response()), Next::Configured)
            }
            Request::ResponseTrailers(_) => {
                response(Response::ResponseTrailers(trailers_response()), Next::Configured)
            }
        }))
    }

    async fn request_head(
        &mut self,
        server: Arc<ExternalServer>,
        HttpHeaders { headers, end_of_stream, .. }: HttpHeaders,
    ) -> ProcessingResponse {
        let mut head = Head::read(headers);
        let mut changes = Changes::default();
        let secret = head.headers.remove(LEARN_HEADER);
        if let Some(given) = &secret {
            changes = changes.remove(LEARN_HEADER);
            let is_own = |secret: &Arc<str>| is_same_secret(secret.as_bytes(), given.as_bytes());
            if self.secret.as_ref().is_some_and(is_own) {
                self.state = State::Pass;
                let continued = Response::RequestHeaders(headers_response(changes));
                return response(continued, Next::Nothing);
            }
        }
        if head.method != "POST" {
            self.state = State::Pass;
            return response(Response::RequestHeaders(headers_response(changes)), Next::Nothing);
        }
        if end_of_stream {
            return match self.judge(&server, head, Bytes::new()).await {
                Ok(_) => {
                    self.state = State::Pass;
                    response(Response::RequestHeaders(headers_response(changes)), Next::Nothing)
                }
                Err(answer) => answer,
            };
        }
        if head.headers.contains_key(ACCEPT_ENCODING) {
            // A compressed response cannot be checked.
            changes = changes.remove(ACCEPT_ENCODING.as_str());
        }
        let is_unchecked = head
            .headers
            .get("mcp-method")
            .is_some_and(|method| !CHECKED_METHODS.contains(&method.as_bytes()));
        let next = if is_unchecked { Next::RequestBodyOnly } else { Next::Configured };
        self.state = State::RequestHead(server, Box::new(head));
        response(Response::RequestHeaders(headers_response(changes)), next)
    }

    async fn request_body(&mut self, body: Bytes) -> Result<ProcessingResponse, Status> {
        let (server, head) = match std::mem::replace(&mut self.state, State::Pass) {
            State::RequestHead(server, head) => (server, head),
            // The headers of the request were not to be checked.
            State::Pass => {
                let unchanged = body_response(Changes::default(), None);
                return Ok(response(Response::RequestBody(unchanged), Next::Configured));
            }
            _ => return Err(Status::invalid_argument("a request body arrived out of order")),
        };
        Ok(match self.judge(&server, *head, body).await {
            Ok(body) => {
                let length = body.as_ref().map(|body| body.len().to_string());
                let changes = length.iter().fold(Changes::default(), |changes, length| {
                    changes.set(CONTENT_LENGTH.as_str(), length.as_bytes())
                });
                response(Response::RequestBody(body_response(changes, body)), Next::Configured)
            }
            Err(answer) => answer,
        })
    }

    /// Judges a request. Returns the body that replaces its own, if any, or the answer.
    async fn judge(
        &mut self,
        server: &ExternalServer,
        head: Head,
        body: Bytes,
    ) -> Result<Option<Bytes>, ProcessingResponse> {
        let Head { authority, path, headers, .. } = head;
        match server.judge(ExternalRequest { authority, path, headers, body }).await {
            Judgement::Answer(answer) => {
                self.state = State::Pass;
                Err(response(immediate(answer), Next::Configured))
            }
            Judgement::Forward { body, exchange } => {
                self.state = exchange.map_or(State::Pass, State::Forwarded);
                Ok(body)
            }
        }
    }

    fn response_head(
        &mut self,
        HttpHeaders { headers, end_of_stream, .. }: HttpHeaders,
    ) -> ProcessingResponse {
        let unchanged =
            |next| response(Response::ResponseHeaders(headers_response(Changes::default())), next);
        let State::Forwarded(exchange) = std::mem::replace(&mut self.state, State::Pass) else {
            return unchanged(Next::Nothing);
        };
        let head = Head::read(headers);
        match exchange.plan(&head.headers, !end_of_stream) {
            ResponsePlan::Pass => unchanged(Next::Nothing),
            ResponsePlan::Answer(answer) => response(immediate(answer), Next::Configured),
            ResponsePlan::Events => {
                self.state = State::Events(exchange);
                let changes = Changes::default().remove(CONTENT_LENGTH.as_str());
                let continued = Response::ResponseHeaders(headers_response(changes));
                response(continued, Next::ResponseStream)
            }
            ResponsePlan::Whole { becomes_events } => {
                self.state = State::Whole(exchange);
                let mut changes = Changes::default();
                if becomes_events {
                    changes = changes
                        .set(CONTENT_TYPE.as_str(), b"text/event-stream")
                        .set("cache-control", b"no-cache");
                }
                let continued = Response::ResponseHeaders(headers_response(changes));
                response(continued, Next::WholeResponse)
            }
        }
    }

    async fn response_body(
        &mut self,
        HttpBody { body, end_of_stream, .. }: HttpBody,
    ) -> ProcessingResponse {
        let body = Bytes::from(body);
        let replaced = match std::mem::replace(&mut self.state, State::Pass) {
            State::Whole(mut exchange) => exchange.whole(body, end_of_stream).await,
            State::Events(mut exchange) => {
                let events = Bytes::from(exchange.events(&body, end_of_stream));
                self.state = State::Events(exchange);
                Some(events).filter(|events| *events != body)
            }
            _ => None,
        };
        let is_stream = matches!(self.state, State::Events(_));
        let length = replaced.as_ref().filter(|_| !is_stream).map(|body| body.len().to_string());
        let changes = length.iter().fold(Changes::default(), |changes, length| {
            changes.set(CONTENT_LENGTH.as_str(), length.as_bytes())
        });
        response(Response::ResponseBody(body_response(changes, replaced)), Next::Configured)
    }
}

/// Fails an exchange of a filter that would forward a body before it is judged.
fn check_mode(mode: Option<i32>) -> Result<(), Status> {
    let judged_late =
        [BodySendMode::Streamed, BodySendMode::BufferedPartial, BodySendMode::FullDuplexStreamed];
    if mode.is_none_or(|mode| !judged_late.iter().any(|one| i32::from(*one) == mode)) {
        return Ok(());
    }
    let reason = "the filter must have `request_body_mode: BUFFERED`: a call is judged before it is forwarded";
    tracing::error!("{reason}");
    Err(Status::failed_precondition(reason))
}

#[cfg(test)]
mod tests;
