//! A small MCP server for the gateway's tests: both eras, over standard input and output.
//!
//! Tools: `echo` gives its text back, `slow` does so after a while, `notify` sends progress and a
//! log message first, `later` a log message afterwards, `ask` asks the client for its roots, `die` ends the process. With
//! `--log FILE` every message that comes is written to a file.
//!
//! `--mode A,B` makes it a better or a worse server: `strict` names the field that is wrong, `vague`
//! does not, `mute` does not answer calls, `reading` says that its tools only read, `pages` lists
//! one tool a page, `modern` knows no handshake, `noise` prints to standard output, `stays` does
//! not end with its input, `orphan` leaves a process behind, `bare` has tools without descriptions,
//! `broken` has a tool whose schema cannot be used, `toolless` has none, `flood` says ten thousand
//! things before each answer to a call, `twice` answers calls twice and once more under an id that
//! nobody has, `changing` has a tool `change` after which `echo` wants `words`, and tells those of it
//! who have subscribed; `unwilling` says that it would, and takes no subscriptions; `stepwise` has
//! three more tools: `burst` sends so many log messages afterwards, `hold` sends progress and answers
//! only when somebody has called `release`; `choosy` lists one more tool, `elicit`, to clients that can
//! elicit.
#![allow(clippy::unwrap_used, reason = "a test program may be blunt")]

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, Write as _};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};

static MODE: OnceLock<String> = OnceLock::new();

/// Who is told of changes.
static SUBSCRIBERS: Mutex<Vec<Value>> = Mutex::new(Vec::new());

static HAS_CHANGED: AtomicBool = AtomicBool::new(false);
/// Whether the client that spoke last can elicit.
static CAN_ELICIT: AtomicBool = AtomicBool::new(false);
/// How many of those who hold may go on.
static RELEASES: (Mutex<u32>, Condvar) = (Mutex::new(0), Condvar::new());

fn is(mode: &str) -> bool {
    MODE.get().is_some_and(|modes| modes.split(',').any(|one| one == mode))
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut log = None;
    while let (Some(option), Some(value)) = (arguments.next(), arguments.next()) {
        match option.as_str() {
            "--log" => {
                log = Some(OpenOptions::new().create(true).append(true).open(value).unwrap());
            }
            "--mode" => drop(MODE.set(value)),
            _ => {}
        }
    }
    if is("noise") {
        say_text("Server is ready!");
    }
    listen(log.as_ref());
    if is("orphan") {
        // Its output must not keep ours open.
        let mut command = std::process::Command::new("sleep");
        let _ = command.arg("60").stdin(Stdio::null()).stdout(Stdio::null()).spawn();
    }
    while is("stays") {
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn listen(log: Option<&File>) {
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
                answer(&message);
            })),
            Some("hold") => drop(std::thread::spawn(move || {
                progress(&message["params"]);
                let released = RELEASES.0.lock().unwrap();
                let mut released = RELEASES.1.wait_while(released, |one| *one == 0).unwrap();
                *released -= 1;
                drop(released);
                answer(&message);
            })),
            _ => answer(&message),
        }
    }
}

fn answer(message: &Value) {
    let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) else { return };
    let params = &message["params"];
    let is_modern = params["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string();
    if is("mute") && method == "tools/call" {
        return;
    }
    if let Some(error) = refusal(method, params, is_modern) {
        return say(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    }
    let can_do = match params.get("_meta") {
        Some(meta) => meta.get("io.modelcontextprotocol/clientCapabilities"),
        None => params.get("capabilities"),
    };
    if let Some(can_do) = can_do {
        CAN_ELICIT.store(can_do.get("elicitation").is_some(), Ordering::SeqCst);
    }
    let mut result = match method {
        "initialize" => json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": if is("toolless") { json!({}) } else { json!({ "tools": {}, "logging": {} }) },
            "serverInfo": { "name": "scripted", "version": "1" },
        }),
        "server/discover" => json!({
            "supportedVersions": ["2026-07-28"],
            "capabilities": if tells_of_changes() {
                json!({ "tools": { "listChanged": true } })
            } else {
                json!({ "tools": {} })
            },
            "ttlMs": 60_000, "cacheScope": "public",
        }),
        "ping" => json!({}),
        "tools/list" => page(params),
        "tools/call" => call(params),
        "subscriptions/listen" if is("changing") => return subscribe(id, params),
        _ => {
            let error = json!({ "code": -32601, "message": "Method not found" });
            return say(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
    };
    if is_modern {
        result["resultType"] = "complete".into();
        if method == "tools/list" {
            result["ttlMs"] = if is("choosy") { 0 } else { 3_600_000 }.into();
            result["cacheScope"] = "public".into();
        }
    }
    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    if is("flood") && method == "tools/call" {
        for number in 0..10_000 {
            notify("notifications/message", &json!({ "level": "info", "data": number }));
            say_text("and this is on the wire too");
        }
    }
    say(&answer);
    if is("twice") && method == "tools/call" {
        say(&answer);
        say(&json!({ "jsonrpc": "2.0", "id": "nobody's", "result": {} }));
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

fn tells_of_changes() -> bool {
    is("changing") || is("unwilling")
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
        "ask" => say(&json!({ "jsonrpc": "2.0", "id": "from-server", "method": "ping" })),
        _ => {}
    }
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// What this server has against a request, as well as it can tell it.
fn refusal(method: &str, params: &Value, is_modern: bool) -> Option<Value> {
    if is("modern") && !is_modern {
        return Some(json!({ "code": -32022, "message": "Unsupported protocol version",
            "data": { "supported": ["2026-07-28"], "requested": "2025-11-25" } }));
    }
    if !is("strict") && !is("vague") {
        return None;
    }
    let problem = match method {
        "tools/call" => wrong_call(params)?,
        "tools/list" if !params["cursor"].is_null() && !params["cursor"].is_string() => {
            "`cursor` must be a string".to_owned()
        }
        _ => return None,
    };
    let message = if is("vague") { "Something is wrong".to_owned() } else { problem };
    Some(json!({ "code": -32602, "message": message }))
}

fn wrong_call(params: &Value) -> Option<String> {
    let name = params["name"].as_str().unwrap_or_default();
    let arguments = params["arguments"].as_object().cloned().unwrap_or_default();
    let known = ["text", "millis"];
    if params["name"].is_null() {
        return Some("`name` is missing".to_owned());
    }
    if !tools().as_array().unwrap().iter().any(|tool| tool["name"] == name) {
        return Some(format!("Unknown tool: {name}"));
    }
    if let Some(odd) = arguments.keys().find(|key| !known.contains(&key.as_str())) {
        return Some(format!("`{odd}` is not known"));
    }
    let is_text = arguments.get("text").is_some_and(Value::is_string);
    (!is_text).then(|| "`text` must be a string".to_owned())
}

fn page(params: &Value) -> Value {
    let Value::Array(tools) = tools() else { return Value::Null };
    if !is("pages") {
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
        if is("reading") {
            tool["annotations"] = json!({ "readOnlyHint": true });
        }
        if is("bare") {
            tool.as_object_mut().unwrap().remove("description");
        }
    }
    if is("broken") {
        tools[0]["inputSchema"]["properties"]["text"]["$ref"] = "#/$defs/nowhere".into();
    }
    if is("strict") || is("vague") || is("mute") {
        // The others are there to be odd.
        tools.as_array_mut().unwrap().truncate(1);
    }
    tools
}

fn all_tools() -> Value {
    let tool = |name: &str| {
        json!({
            "name": name,
            "description": "Gives its text back",
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
    let usual = ["slow", "notify", "later", "ask", "die"].into_iter();
    let stepwise = ["burst", "hold", "release"].into_iter().filter(|_| is("stepwise"));
    let changing = ["change"].into_iter().filter(|_| tells_of_changes());
    let choosy = is("choosy") && CAN_ELICIT.load(Ordering::SeqCst);
    let choosy = ["elicit"].into_iter().filter(|_| choosy);
    let others = usual.chain(stepwise).chain(changing).chain(choosy).map(tool);
    [echo].into_iter().chain(others).chain([region]).collect()
}

/// Tells whoever wants to know that it goes on.
fn progress(params: &Value) {
    if let Some(token) = params["_meta"].get("progressToken") {
        notify("notifications/progress", &json!({ "progressToken": token, "progress": 1 }));
    }
}

fn notify(method: &str, params: &Value) {
    say(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
}

fn say(message: &Value) {
    say_text(&message.to_string());
}

fn say_text(line: &str) {
    let mut out = std::io::stdout().lock();
    // Nobody there to hear it is no reason to make noise.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
