//! `RawTransport` and `RawLayer`: messages that rmcp cannot parse are answered, all others are forwarded.

use rmcp::ServiceExt as _;
use serde_json::{Value, json};
use stickler_rmcp::{RawSettings, RawTransport, Validated, ValidationConfig};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines};

use crate::http::Web;
use crate::notes::Notes;
use crate::support::{initialize, modern_meta};

fn wrapped() -> Validated<Notes> {
    Validated::new(Notes::default(), ValidationConfig::default())
}

struct Pipe {
    lines: Lines<BufReader<tokio::io::DuplexStream>>,
    writer: tokio::io::DuplexStream,
}

impl Pipe {
    fn new() -> Self {
        let (to_server, from_client) = tokio::io::duplex(1 << 20);
        let (to_client, from_server) = tokio::io::duplex(1 << 20);
        tokio::spawn(async move {
            let transport = RawTransport::new(from_client, to_client, &RawSettings::default());
            if let Ok(running) = wrapped().serve(transport).await {
                let _ = running.waiting().await;
            }
        });
        Self { lines: BufReader::new(from_server).lines(), writer: to_server }
    }

    async fn after_handshake() -> Self {
        let mut pipe = Self::new();
        let response = pipe
            .request(&json!({
                "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize()
            }))
            .await;
        assert_eq!(response["id"], 0);
        pipe.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        pipe
    }

    async fn send(&mut self, line: &str) {
        self.writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap().expect("the server closed the connection");
        serde_json::from_str(&line).unwrap()
    }

    async fn request(&mut self, message: &Value) -> Value {
        self.send(&message.to_string()).await;
        self.next().await
    }
}

/// Malformed messages with the code and the id of the expected error.
fn malformed() -> [(&'static str, i64, Value); 5] {
    [
        ("{\"jsonrpc\":\"2.0\",\"id\":9,", -32700, Value::Null),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, Value::Null),
        (r#"{"id":3,"method":"ping"}"#, -32600, json!(3)),
        (
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"read_note","arguments":["a"]}}"#,
            -32602,
            json!(4),
        ),
        (
            r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"arguments":{}}}"#,
            -32602,
            json!("x"),
        ),
    ]
}

#[tokio::test]
async fn malformed_line_is_answered_and_the_next_is_served() {
    let mut pipe = Pipe::after_handshake().await;
    for (line, code, id) in malformed() {
        pipe.send(line).await;
        let response = pipe.next().await;
        assert_eq!(response["error"]["code"], code, "{line}: {response}");
        assert_eq!(response["id"], id, "{line}: {response}");
        let call = json!({ "name": "write_note", "arguments": { "path": "a", "content": "b" } });
        let request =
            json!({ "jsonrpc": "2.0", "id": 100, "method": "tools/call", "params": call });
        let response = pipe.request(&request).await;
        assert_eq!(
            response["result"]["content"][0]["text"], "wrote 1 characters to a",
            "{response}"
        );
    }
}

#[tokio::test]
async fn malformed_line_at_end_of_input_is_answered() {
    let mut pipe = Pipe::after_handshake().await;
    pipe.writer.write_all(b"garbage").await.unwrap();
    pipe.writer.shutdown().await.unwrap();
    let mut rest = String::new();
    pipe.lines.into_inner().read_to_string(&mut rest).await.unwrap();
    let response: Value = serde_json::from_str(rest.trim()).unwrap();
    assert_eq!(response["error"]["code"], -32700);
}

#[tokio::test]
async fn oversized_line_is_answered_with_its_id() {
    let mut pipe = Pipe::after_handshake().await;
    let filler = "x".repeat(17 << 20);
    let line =
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"a":"{filler}"}}}}"#);
    pipe.send(&line).await;
    let response = pipe.next().await;
    assert_eq!(response["id"], 7);
    assert!(
        response["error"]["message"].as_str().unwrap().contains("16777216 bytes"),
        "{response}"
    );
}

#[tokio::test]
async fn malformed_bodies_are_answered_over_http() {
    for web in [
        Web::legacy(wrapped(), Some(RawSettings::default())).await,
        Web::modern(wrapped(), Some(RawSettings::default())).await,
    ] {
        let response = web.post("{\"jsonrpc\":").await;
        assert_eq!((response.status, &response.message()["error"]["code"]), (400, &json!(-32700)));
        let params = json!({ "name": "read_note", "arguments": ["a"] });
        let response = web.call_params(params).await;
        assert_eq!(response.message()["error"]["code"], -32602, "{response:?}");
        assert_eq!(response.message()["id"], 5);
        let params = json!({ "name": "read_note", "arguments": { "path": "a" } });
        let response = web.call_params(params).await;
        assert_eq!(
            response.message()["result"]["content"][0]["text"],
            "no note at a",
            "{response:?}"
        );
    }
}

#[tokio::test]
async fn non_object_arguments_get_help_when_the_tools_are_known() {
    let server = wrapped();
    server.check_tools().await.unwrap();
    let raw = || Some(server.raw_settings());
    let legacy = Web::legacy(server.clone(), raw()).await;
    for web in [&legacy, &Web::modern(server.clone(), raw()).await] {
        let stringified = r#"{"path":"a"}"#;
        let response =
            web.call_params(json!({ "name": "read_note", "arguments": stringified })).await;
        let result = &response.message()["result"];
        assert_eq!(result["isError"], true, "{response:?}");
        let report = &result["_meta"]["dev.stickler/validation"];
        assert_eq!(report["corrected"]["arguments"], json!({ "path": "a" }), "{response:?}");
        assert_eq!(response.message()["id"], 5);
    }
}

#[tokio::test]
async fn raw_layer_preserves_the_http_statuses_of_modern_requests() {
    let meta = modern_meta();
    let version = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    let handshake = json!({ "_meta": meta, "protocolVersion": "2026-07-28" });
    for raw in [None, Some(RawSettings::default())] {
        let web = Web::modern(wrapped(), raw).await;
        for (method, params, status, code) in [
            ("tools/list", json!({}), 400, -32602),
            ("tools/list", json!({ "_meta": {} }), 400, -32602),
            ("tools/list", json!({ "_meta": version }), 400, -32602),
            ("initialize", handshake.clone(), 404, -32601),
        ] {
            let request = json!({ "jsonrpc": "2.0", "id": 5, "method": method, "params": params });
            let response = web.post(request.to_string()).await;
            let actual = (response.status, response.message()["error"]["code"].clone());
            assert_eq!(actual, (status, json!(code)), "{request}: {response:?}");
        }
    }
}
