//! MCP server for the gateway tests, over standard input and output, in both eras.
//!
//! Tools: `echo` returns its text; `slow` does so after `millis` milliseconds; `notify` sends progress and a log
//! message before its response, `later` a log message after it; `ask` sends a `ping` request to the client; `die`
//! exits with status 7. `--log FILE` appends every received line to a file.
//!
//! `--mode A,B` changes the behaviour; an unknown mode is an error:
//!
//! | mode | behaviour |
//! | --- | --- |
//! | `strict` | rejects invalid requests and names the field |
//! | `vague` | rejects invalid requests without naming the field |
//! | `silent` | does not respond to calls |
//! | `read-only` | sets `readOnlyHint` on every tool |
//! | `paginated` | lists one tool per page |
//! | `modern` | rejects the legacy handshake |
//! | `noise` | prints text to standard output at startup |
//! | `ignores-eof` | keeps running after the end of its input |
//! | `orphan` | leaves a child process behind when it exits |
//! | `no-descriptions` | lists tools without descriptions |
//! | `broken-schema` | lists one tool with an unusable schema |
//! | `no-tools` | does not announce the `tools` capability |
//! | `flood` | sends 10,000 log messages and noise lines before each response to a call |
//! | `duplicate-responses` | sends each response to a call twice, then one with an unknown id |
//! | `mutable-tools` | adds the tool `change`: afterwards `echo` requires `words`, and subscribers are notified |
//! | `no-subscriptions` | announces `listChanged` but rejects subscriptions |
//! | `manual-release` | adds `burst` (sends `millis` log messages after its response), `hold` (sends progress, then waits) and `release` (completes one `hold`) |
//! | `conditional-tools` | lists the tool `elicit` only to clients with the elicitation capability |
#![allow(clippy::unwrap_used, reason = "a panic is an acceptable failure of a test program")]

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, Write as _};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};

const MODES: [&str; 19] = [
    "failing",
    "strict",
    "vague",
    "silent",
    "read-only",
    "paginated",
    "modern",
    "noise",
    "ignores-eof",
    "orphan",
    "no-descriptions",
    "broken-schema",
    "no-tools",
    "flood",
    "duplicate-responses",
    "mutable-tools",
    "no-subscriptions",
    "manual-release",
    "conditional-tools",
];

static MODE: OnceLock<String> = OnceLock::new();

/// Ids of the subscriptions to tool list changes.
static SUBSCRIBERS: Mutex<Vec<Value>> = Mutex::new(Vec::new());

static HAS_CHANGED: AtomicBool = AtomicBool::new(false);
/// Whether the client of the last request has the elicitation capability.
static CAN_ELICIT: AtomicBool = AtomicBool::new(false);
/// Number of `hold` calls that may complete.
static RELEASES: (Mutex<u32>, Condvar) = (Mutex::new(0), Condvar::new());

fn is(mode: &str) -> bool {
    debug_assert!(MODES.contains(&mode), "unlisted mode {mode}");
    MODE.get().is_some_and(|modes| modes.split(',').any(|one| one == mode))
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (mut log, mut log_path) = (None, "/dev/null".to_owned());
    while let (Some(option), Some(value)) = (arguments.next(), arguments.next()) {
        match option.as_str() {
            "--log" => {
                log = Some(OpenOptions::new().create(true).append(true).open(&value).unwrap());
                log_path = value;
            }
            "--mode" => {
                let unknown = value.split(',').find(|one| !one.is_empty() && !MODES.contains(one));
                assert_eq!(unknown, None, "unknown mode");
                drop(MODE.set(value));
            }
            _ => {}
        }
    }
    if is("noise") {
        write_line("Server is ready!");
    }
    serve(log.as_ref());
    if is("orphan") {
        // The log path on its command line identifies the orphan, which must not hold stdout open.
        let mut command = std::process::Command::new("tail");
        command.args(["-f", &log_path]).stdin(Stdio::null()).stdout(Stdio::null());
        drop(command.spawn().unwrap());
    }
    while is("ignores-eof") {
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn serve(log: Option<&File>) {
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        if let Some(mut log) = log {
            writeln!(log, "{line}").unwrap();
        }
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let tool = message["params"]["name"].as_str().filter(|_| message["method"] == "tools/call");
        match tool {
            Some("slow") => drop(std::thread::spawn(move || {
                let millis = message["params"]["arguments"]["millis"].as_u64().unwrap_or(300);
                std::thread::sleep(Duration::from_millis(millis));
                respond(&message);
            })),
            Some("hold") => drop(std::thread::spawn(move || {
                progress(&message["params"]);
                let released = RELEASES.0.lock().unwrap();
                let mut released = RELEASES.1.wait_while(released, |one| *one == 0).unwrap();
                *released -= 1;
                drop(released);
                respond(&message);
            })),
            _ => respond(&message),
        }
    }
}

fn respond(message: &Value) {
    let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) else { return };
    let params = &message["params"];
    let is_modern = params["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string();
    if is("silent") && method == "tools/call" {
        return;
    }
    if let Some(error) = rejection(method, params, is_modern) {
        return send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    }
    let capabilities = match params.get("_meta") {
        Some(meta) => meta.get("io.modelcontextprotocol/clientCapabilities"),
        None => params.get("capabilities"),
    };
    if let Some(capabilities) = capabilities {
        CAN_ELICIT.store(capabilities.get("elicitation").is_some(), Ordering::SeqCst);
    }
    if is("mutable-tools") && method == "subscriptions/listen" {
        return subscribe(id, params);
    }
    let Some(mut result) = result_of(method, params) else {
        let error = json!({ "code": -32601, "message": "Method not found" });
        return send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    };
    if is_modern {
        result["resultType"] = "complete".into();
        if method == "tools/list" {
            result["ttlMs"] = if is("conditional-tools") { 0 } else { 3_600_000 }.into();
            result["cacheScope"] = "public".into();
        }
    }
    send_result(method, params, &json!({ "jsonrpc": "2.0", "id": id, "result": result }));
}

/// Returns the result of a request; `None` for an unknown method.
fn result_of(method: &str, params: &Value) -> Option<Value> {
    Some(match method {
        "initialize" => json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": if is("no-tools") { json!({}) } else { json!({ "tools": {}, "logging": {} }) },
            "serverInfo": { "name": "scripted", "version": "1" },
        }),
        "server/discover" => json!({
            "supportedVersions": ["2026-07-28"],
            "capabilities": if announces_list_changed() {
                json!({ "tools": { "listChanged": true } })
            } else {
                json!({ "tools": {} })
            },
            "ttlMs": 60_000, "cacheScope": "public",
        }),
        "ping" => json!({}),
        "tools/list" => page(params),
        "tools/call" => call(params),
        _ => return None,
    })
}

/// Sends a response, with the messages that the mode or the tool adds.
fn send_result(method: &str, params: &Value, response: &Value) {
    if is("flood") && method == "tools/call" {
        for number in 0..10_000 {
            notify("notifications/message", &json!({ "level": "info", "data": number }));
            write_line("noise between two messages");
        }
    }
    send(response);
    if is("duplicate-responses") && method == "tools/call" {
        send(response);
        send(&json!({ "jsonrpc": "2.0", "id": "unknown", "result": {} }));
    }
    if params["name"] == "later" {
        notify("notifications/message", &json!({ "level": "info", "data": "later" }));
    }
    if params["name"] == "burst" {
        for number in 0..params["arguments"]["millis"].as_u64().unwrap_or(1) {
            notify("notifications/message", &json!({ "level": "info", "data": number }));
        }
    }
}

fn announces_list_changed() -> bool {
    is("mutable-tools") || is("no-subscriptions")
}

fn subscribe(id: &Value, params: &Value) {
    let mut granted = json!({ "notifications": params["notifications"] });
    granted["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": id });
    notify("notifications/subscriptions/acknowledged", &granted);
    SUBSCRIBERS.lock().unwrap().push(id.clone());
}

fn change() {
    HAS_CHANGED.store(true, Ordering::SeqCst);
    for id in SUBSCRIBERS.lock().unwrap().iter() {
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": id });
        notify("notifications/tools/list_changed", &json!({ "_meta": meta }));
    }
}

fn call(params: &Value) -> Value {
    if is("failing") {
        let text = "The browser `chrome` is not installed";
        return json!({ "isError": true, "content": [{ "type": "text", "text": text }] });
    }
    let text = params["arguments"]["text"].as_str().unwrap_or_default();
    match params["name"].as_str().unwrap_or_default() {
        "die" => std::process::exit(7),
        "change" => change(),
        "notify" => {
            progress(params);
            notify("notifications/message", &json!({ "level": "info", "data": text }));
        }
        "release" => {
            *RELEASES.0.lock().unwrap() += 1;
            RELEASES.1.notify_one();
        }
        "ask" => send(&json!({ "jsonrpc": "2.0", "id": "from-server", "method": "ping" })),
        _ => {}
    }
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// The error for an invalid request in the modes `strict`, `vague` and `modern`.
fn rejection(method: &str, params: &Value, is_modern: bool) -> Option<Value> {
    if is("modern") && !is_modern {
        return Some(json!({ "code": -32022, "message": "Unsupported protocol version",
            "data": { "supported": ["2026-07-28"], "requested": "2025-11-25" } }));
    }
    if !is("strict") && !is("vague") {
        return None;
    }
    let problem = match method {
        "tools/call" => invalid_call(params)?,
        "tools/list" if !params["cursor"].is_null() && !params["cursor"].is_string() => {
            "`cursor` must be a string".to_owned()
        }
        _ => return None,
    };
    let message = if is("vague") { "Something is wrong".to_owned() } else { problem };
    Some(json!({ "code": -32602, "message": message }))
}

fn invalid_call(params: &Value) -> Option<String> {
    let name = params["name"].as_str().unwrap_or_default();
    let arguments = params["arguments"].as_object().cloned().unwrap_or_default();
    let known = ["text", "millis"];
    if params["name"].is_null() {
        return Some("`name` is missing".to_owned());
    }
    if !tools().as_array().unwrap().iter().any(|tool| tool["name"] == name) {
        return Some(format!("Unknown tool: {name}"));
    }
    if let Some(unknown) = arguments.keys().find(|key| !known.contains(&key.as_str())) {
        return Some(format!("`{unknown}` is not known"));
    }
    let is_text = arguments.get("text").is_some_and(Value::is_string);
    (!is_text).then(|| "`text` must be a string".to_owned())
}

fn page(params: &Value) -> Value {
    let Value::Array(tools) = tools() else { return Value::Null };
    if !is("paginated") {
        return json!({ "tools": tools });
    }
    let index: usize = params["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
    let mut page = json!({ "tools": [tools[index]] });
    if index + 1 < tools.len() {
        page["nextCursor"] = (index + 1).to_string().into();
    }
    page
}

fn tools() -> Value {
    let mut tools = all_tools();
    for tool in tools.as_array_mut().unwrap() {
        if is("read-only") {
            tool["annotations"] = json!({ "readOnlyHint": true });
        }
        if is("no-descriptions") {
            tool.as_object_mut().unwrap().remove("description");
        }
    }
    if is("broken-schema") {
        tools[0]["inputSchema"]["properties"]["text"]["$ref"] = "#/$defs/missing".into();
    }
    if is("strict") || is("vague") || is("silent") {
        // The other tools misbehave on purpose.
        tools.as_array_mut().unwrap().truncate(1);
    }
    tools
}

fn all_tools() -> Value {
    let tool = |name: &str| {
        json!({
            "name": name,
            "description": "Returns its text",
            "inputSchema": {
                "type": "object",
                "properties": { "text": { "type": "string" }, "millis": { "type": "integer" } },
                "required": ["text"],
            },
        })
    };
    let mut echo = tool("echo");
    if HAS_CHANGED.load(Ordering::SeqCst) {
        echo["inputSchema"]["properties"] = json!({ "words": { "type": "string" } });
        echo["inputSchema"]["required"] = json!(["words"]);
    }
    let mut region = tool("region");
    region["inputSchema"]["properties"]["text"]["x-mcp-header"] = "Text".into();
    let always = ["slow", "notify", "later", "ask", "die"].into_iter();
    let manual = ["burst", "hold", "release"].into_iter().filter(|_| is("manual-release"));
    let mutable = ["change"].into_iter().filter(|_| announces_list_changed());
    let has_elicit = is("conditional-tools") && CAN_ELICIT.load(Ordering::SeqCst);
    let conditional = ["elicit"].into_iter().filter(|_| has_elicit);
    let others = always.chain(manual).chain(mutable).chain(conditional).map(tool);
    [echo].into_iter().chain(others).chain([region]).collect()
}

/// Sends a progress notification if the request has a progress token.
fn progress(params: &Value) {
    if let Some(token) = params["_meta"].get("progressToken") {
        notify("notifications/progress", &json!({ "progressToken": token, "progress": 1 }));
    }
}

fn notify(method: &str, params: &Value) {
    send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
}

fn send(message: &Value) {
    write_line(&message.to_string());
}

fn write_line(line: &str) {
    let mut out = std::io::stdout().lock();
    // A closed stdout is not an error: the client may disconnect first.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
