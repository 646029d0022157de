//! Beneath rmcp: what it cannot read is answered, and what it can goes on.

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

    async fn ready() -> Self {
        let mut pipe = Self::new();
        let answer = pipe
            .ask(&json!({
                "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize()
            }))
            .await;
        assert_eq!(answer["id"], 0);
        pipe.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        pipe
    }

    async fn send(&mut self, line: &str) {
        self.writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap().expect("the server went away");
        serde_json::from_str(&line).unwrap()
    }

    async fn ask(&mut self, message: &Value) -> Value {
        self.send(&message.to_string()).await;
        self.next().await
    }
}

/// Malformed messages, with the code and the id of what they are to be answered with.
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
async fn a_malformed_line_is_answered_and_the_next_is_served() {
    let mut pipe = Pipe::ready().await;
    for (line, code, id) in malformed() {
        pipe.send(line).await;
        let answer = pipe.next().await;
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
        assert_eq!(answer["id"], id, "{line}: {answer}");
        let call = json!({ "name": "write_note", "arguments": { "path": "a", "content": "b" } });
        let request =
            json!({ "jsonrpc": "2.0", "id": 100, "method": "tools/call", "params": call });
        let answer = pipe.ask(&request).await;
        assert_eq!(answer["result"]["content"][0]["text"], "wrote 1 characters to a", "{answer}");
    }
}

#[tokio::test]
async fn a_malformed_line_at_the_very_end_is_answered() {
    let mut pipe = Pipe::ready().await;
    pipe.writer.write_all(b"garbage").await.unwrap();
    pipe.writer.shutdown().await.unwrap();
    let mut rest = String::new();
    pipe.lines.into_inner().read_to_string(&mut rest).await.unwrap();
    let answer: Value = serde_json::from_str(rest.trim()).unwrap();
    assert_eq!(answer["error"]["code"], -32700);
}

#[tokio::test]
async fn a_line_that_is_too_long_is_answered_with_its_id() {
    let mut pipe = Pipe::ready().await;
    let filler = "x".repeat(17 << 20);
    let line =
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"a":"{filler}"}}}}"#);
    pipe.send(&line).await;
    let answer = pipe.next().await;
    assert_eq!(answer["id"], 7);
    assert!(answer["error"]["message"].as_str().unwrap().contains("16777216 bytes"), "{answer}");
}

#[tokio::test]
async fn malformed_bodies_are_answered_over_http() {
    for web in [
        Web::legacy(wrapped(), Some(RawSettings::default())).await,
        Web::modern(wrapped(), Some(RawSettings::default())).await,
    ] {
        let answer = web.post("{\"jsonrpc\":").await;
        assert_eq!((answer.status, &answer.message()["error"]["code"]), (400, &json!(-32700)));
        let params = json!({ "name": "read_note", "arguments": ["a"] });
        let answer = web.call_params(params).await;
        assert_eq!(answer.message()["error"]["code"], -32602, "{answer:?}");
        assert_eq!(answer.message()["id"], 5);
        let params = json!({ "name": "read_note", "arguments": { "path": "a" } });
        let answer = web.call_params(params).await;
        assert_eq!(answer.message()["result"]["content"][0]["text"], "no note at a", "{answer:?}");
    }
}

#[tokio::test]
async fn arguments_that_are_no_object_get_help_where_the_tools_are_known() {
    let server = wrapped();
    server.check_tools().await.unwrap();
    let raw = || Some(server.raw_settings());
    let legacy = Web::legacy(server.clone(), raw()).await;
    for web in [&legacy, &Web::modern(server.clone(), raw()).await] {
        let written = r#"{"path":"a"}"#;
        let answer = web.call_params(json!({ "name": "read_note", "arguments": written })).await;
        let result = &answer.message()["result"];
        assert_eq!(result["isError"], true, "{answer:?}");
        let told = &result["_meta"]["dev.stickler/validation"];
        assert_eq!(told["corrected"]["arguments"], json!({ "path": "a" }), "{answer:?}");
        assert_eq!(answer.message()["id"], 5);
    }
}

#[tokio::test]
async fn modern_requests_get_the_statuses_that_they_get_without_the_layer() {
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
            let answer = web.post(request.to_string()).await;
            let told = (answer.status, answer.message()["error"]["code"].clone());
            assert_eq!(told, (status, json!(code)), "{request}: {answer:?}");
        }
    }
}
