//! Exchanges without a network: the messages that Envoy sends, and the responses to them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use std::collections::HashMap;
use std::sync::Arc;

use envoy_types::pb::envoy::config::core::v3::{HeaderMap, HeaderValue};
use envoy_types::pb::envoy::service::ext_proc::v3::body_mutation::Mutation;
use envoy_types::pb::envoy::service::ext_proc::v3::processing_request::Request;
use envoy_types::pb::envoy::service::ext_proc::v3::processing_response::Response;
use envoy_types::pb::envoy::service::ext_proc::v3::{
    HttpBody, HttpHeaders, ImmediateResponse, ProcessingRequest, ProcessingResponse,
    ProtocolConfiguration,
};
use stickler::{Repair, ValidationConfig};
use stickler_gateway::{ConnectionFactory, ExternalServer, Log, SharedResources};
use stickler_protocol::{ConnectionSettings, Policy};

use super::Exchange;
use crate::Routes;

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"add","inputSchema":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}}]}}"#;

fn routes(validation: ValidationConfig) -> Arc<Routes> {
    let settings = ConnectionSettings::default();
    let shared = SharedResources::default();
    let factory =
        ConnectionFactory::new("s".into(), Policy::default(), validation, settings, shared);
    let default = ExternalServer::new(factory, Log::new("s".into()), None, 16).unwrap();
    Arc::new(Routes { default, named: HashMap::new() })
}

fn exchange(routes: &Arc<Routes>) -> Exchange {
    Exchange::new(Arc::clone(routes), None, Some("secret".into()))
}

fn headers(given: &[(&str, &str)], end_of_stream: bool) -> HttpHeaders {
    let header = |(key, value): &(&str, &str)| HeaderValue {
        key: (*key).to_owned(),
        raw_value: value.as_bytes().to_vec(),
        ..HeaderValue::default()
    };
    let headers = Some(HeaderMap { headers: given.iter().map(header).collect() });
    HttpHeaders { headers, end_of_stream, ..HttpHeaders::default() }
}

const POST: [(&str, &str); 6] = [
    (":method", "POST"),
    (":authority", "mcp.example"),
    (":path", "/mcp"),
    ("content-type", "application/json"),
    ("mcp-protocol-version", "2025-06-18"),
    ("mcp-session-id", "one"),
];

async fn send(exchange: &mut Exchange, request: Request) -> ProcessingResponse {
    let message = ProcessingRequest { request: Some(request), ..ProcessingRequest::default() };
    exchange.handle(message).await.unwrap().unwrap()
}

/// Sends a POST and returns the response to its body.
async fn post(exchange: &mut Exchange, given: &[(&str, &str)], body: &str) -> Response {
    send(exchange, Request::RequestHeaders(headers(given, false))).await;
    let body = HttpBody { body: body.into(), end_of_stream: true, ..HttpBody::default() };
    send(exchange, Request::RequestBody(body)).await.response.unwrap()
}

/// Sends the response of the server and returns the bodies that Envoy forwards.
async fn answer(exchange: &mut Exchange, content_type: &str, chunks: &[&str]) -> Vec<String> {
    let head = headers(&[(":status", "200"), ("content-type", content_type)], false);
    send(exchange, Request::ResponseHeaders(head)).await;
    let mut out = Vec::new();
    for (index, chunk) in chunks.iter().enumerate() {
        let end_of_stream = index + 1 == chunks.len();
        let body = HttpBody { body: (*chunk).into(), end_of_stream, ..HttpBody::default() };
        let response = send(exchange, Request::ResponseBody(body)).await.response.unwrap();
        out.push(mutated(&response).unwrap_or_else(|| (*chunk).to_owned()));
    }
    out
}

/// Returns the body that replaces the one of a request or response.
fn mutated(response: &Response) -> Option<String> {
    let (Response::RequestBody(body) | Response::ResponseBody(body)) = response else {
        panic!("no body: {response:?}")
    };
    match body.response.as_ref()?.body_mutation.as_ref()?.mutation.as_ref()? {
        Mutation::Body(body) => Some(String::from_utf8(body.clone()).unwrap()),
        Mutation::ClearBody(_) => Some(String::new()),
        Mutation::StreamedResponse(_) => panic!("not a streamed response"),
    }
}

async fn learn(routes: &Arc<Routes>, given: &[(&str, &str)]) {
    let mut listing = exchange(routes);
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    assert_eq!(mutated(&post(&mut listing, given, request).await), None);
    assert_eq!(answer(&mut listing, "application/json", &[LIST]).await, [LIST]);
}

fn call(arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"add","arguments":{arguments}}}}}"#
    )
}

fn rejection(response: Response) -> Option<ImmediateResponse> {
    match response {
        Response::ImmediateResponse(answer) => Some(answer),
        _ => None,
    }
}

#[tokio::test]
async fn call_is_rejected_by_a_list_that_passed_before() {
    let routes = routes(ValidationConfig::default());
    learn(&routes, &POST).await;
    let answer = rejection(post(&mut exchange(&routes), &POST, &call("{}")).await).unwrap();
    assert_eq!(answer.status.unwrap().code, 200);
    let body = String::from_utf8(answer.body).unwrap();
    assert!(body.contains(r#""id":7"#) && body.contains("isError"), "{body}");
    let valid = post(&mut exchange(&routes), &POST, &call(r#"{"a":1}"#)).await;
    assert_eq!(mutated(&valid), None);
}

#[tokio::test]
async fn replica_that_has_seen_no_list_rejects_nothing() {
    let routes = routes(ValidationConfig::default());
    assert!(rejection(post(&mut exchange(&routes), &POST, &call("{}")).await).is_none());
}

#[tokio::test]
async fn list_is_not_used_for_another_authority_path_identity_or_session() {
    let routes = routes(ValidationConfig::default());
    learn(&routes, &POST).await;
    for (name, value) in [
        (":authority", "other.example"),
        (":path", "/other"),
        ("authorization", "Bearer b"),
        ("mcp-session-id", "two"),
    ] {
        let mut given: Vec<(&str, &str)> = POST.to_vec();
        given.retain(|(one, _)| *one != name);
        given.push((name, value));
        let response = post(&mut exchange(&routes), &given, &call("{}")).await;
        assert!(rejection(response).is_none(), "{name}");
    }
}

#[tokio::test]
async fn old_list_that_cannot_be_refreshed_rejects_nothing() {
    let mut settings = ConnectionSettings::default();
    settings.max_list_age = std::time::Duration::ZERO;
    let factory = ConnectionFactory::new(
        "s".into(),
        Policy::default(),
        ValidationConfig::default(),
        settings,
        SharedResources::default(),
    );
    let default = ExternalServer::new(factory, Log::new("s".into()), None, 16).unwrap();
    let routes = Arc::new(Routes { default, named: HashMap::new() });
    learn(&routes, &POST).await;
    assert!(rejection(post(&mut exchange(&routes), &POST, &call("{}")).await).is_none());
}

#[tokio::test]
async fn repaired_call_replaces_the_body_and_its_length() {
    let validation = ValidationConfig { repair: Repair::Apply, ..ValidationConfig::default() };
    let routes = routes(validation);
    learn(&routes, &POST).await;
    let response = post(&mut exchange(&routes), &POST, &call(r#"{"a":"1"}"#)).await;
    assert_eq!(mutated(&response).unwrap(), call(r#"{"a":1}"#));
    let Response::RequestBody(body) = response else { panic!() };
    let mutation = body.response.unwrap().header_mutation.unwrap();
    let header = mutation.set_headers[0].header.clone().unwrap();
    assert_eq!(header.key, "content-length");
    assert_eq!(header.raw_value, call(r#"{"a":1}"#).len().to_string().into_bytes());
}

#[tokio::test]
async fn events_leave_as_soon_as_they_are_complete() {
    let routes = routes(ValidationConfig::default());
    let mut streamed = exchange(&routes);
    post(&mut streamed, &POST, &call(r#"{"a":1}"#)).await;
    let progress =
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
    let result = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#;
    let (first, second) = (format!("data: {progress}\n\n"), format!("data: {result}\n\n"));
    let (beginning, rest) = second.split_at(20);
    let forwarded =
        answer(&mut streamed, "text/event-stream", &[&first, beginning, rest, ""]).await;
    assert_eq!(forwarded, [first, String::new(), second, String::new()]);
}

#[tokio::test]
async fn response_over_the_buffer_limit_of_envoy_passes_unchanged() {
    let routes = routes(ValidationConfig::default());
    let mut partial = exchange(&routes);
    post(&mut partial, &POST, &call(r#"{"a":1}"#)).await;
    let head = headers(&[(":status", "200"), ("content-type", "application/json")], false);
    send(&mut partial, Request::ResponseHeaders(head)).await;
    let body = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"te"#;
    let body = HttpBody { body: body.into(), ..HttpBody::default() };
    let response = send(&mut partial, Request::ResponseBody(body)).await.response.unwrap();
    assert_eq!(mutated(&response), None);
}

#[tokio::test]
async fn secret_takes_a_request_out_of_the_checks_and_is_removed() {
    let routes = routes(ValidationConfig::default());
    learn(&routes, &POST).await;
    for (secret, is_checked) in [("secret", false), ("guess", true)] {
        let mut given = POST.to_vec();
        given.push(("x-stickler-learn", secret));
        let mut listing = exchange(&routes);
        let response = send(&mut listing, Request::RequestHeaders(headers(&given, false))).await;
        assert_eq!(response.mode_override.is_none(), is_checked, "{secret}");
        let Some(Response::RequestHeaders(head)) = response.response else { panic!() };
        let removed = head.response.unwrap().header_mutation.unwrap().remove_headers;
        assert_eq!(removed, ["x-stickler-learn"]);
        let response = post(&mut exchange(&routes), &given, &call("{}")).await;
        if is_checked {
            assert!(rejection(response).is_some());
        }
    }
}

#[tokio::test]
async fn header_that_differs_from_the_body_is_rejected_as_by_the_gateway() {
    let routes = routes(ValidationConfig::default());
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"add","_meta":{meta}}}}}"#
    );
    let given = [
        (":method", "POST"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "other"),
    ];
    let answer = rejection(post(&mut exchange(&routes), &given, &body).await).unwrap();
    assert_eq!(answer.status.unwrap().code, 400);
    assert!(String::from_utf8(answer.body).unwrap().contains("-32020"));
}

#[tokio::test]
async fn post_without_a_body_and_text_that_is_not_json_are_answered() {
    let routes = routes(ValidationConfig::default());
    let response =
        send(&mut exchange(&routes), Request::RequestHeaders(headers(&POST, true))).await;
    assert_eq!(rejection(response.response.unwrap()).unwrap().status.unwrap().code, 400);
    let compressed = post(&mut exchange(&routes), &POST, "\u{1f}\u{8b}").await;
    assert!(String::from_utf8(rejection(compressed).unwrap().body).unwrap().contains("-32700"));
}

#[tokio::test]
async fn configuration_that_forwards_bodies_before_the_verdict_fails() {
    let routes = routes(ValidationConfig::default());
    let message = ProcessingRequest {
        request: Some(Request::RequestHeaders(headers(&POST, false))),
        protocol_config: Some(ProtocolConfiguration {
            request_body_mode: 1,
            ..ProtocolConfiguration::default()
        }),
        ..ProcessingRequest::default()
    };
    let status = exchange(&routes).handle(message).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::FailedPrecondition);
}

#[tokio::test]
async fn part_of_an_unknown_kind_and_parts_out_of_order_do_no_harm() {
    let routes = routes(ValidationConfig::default());
    let mut odd = exchange(&routes);
    assert!(odd.handle(ProcessingRequest::default()).await.unwrap().is_none());
    let body = Request::RequestBody(HttpBody::default());
    let message = ProcessingRequest { request: Some(body), ..ProcessingRequest::default() };
    assert_eq!(odd.handle(message).await.unwrap_err().code(), tonic::Code::InvalidArgument);
    let head = headers(&[(":status", "200")], false);
    send(&mut exchange(&routes), Request::ResponseHeaders(head)).await;
    let mut unnamed = Exchange::new(Arc::clone(&routes), Some("missing".to_owned()), None);
    let head = Request::RequestHeaders(headers(&POST, false));
    let message = ProcessingRequest { request: Some(head), ..ProcessingRequest::default() };
    let status = unnamed.handle(message).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::FailedPrecondition);
}
