//! Behaviour of the index over real files: growing, half-written, rotated, vanished, and foreign ones.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Source;
use crate::api::definitions::Definitions;
use crate::api::{call_check, exchange, rows, sessions, tools};
use crate::filter::Filter;
use crate::indexing::Indexing;
use crate::library::Library;
use crate::view::{Query, View};

struct Fixture {
    folder: TempDir,
    library: Arc<Library>,
    indexing: Indexing,
    definitions: Definitions,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let library = Arc::new(Library::new());
        let source = Source::Directory(folder.path().to_owned());
        let indexing = Indexing::new(source, Arc::clone(&library));
        Self { folder, library, indexing, definitions: Definitions::default() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Lets the index see the files as they are now.
    fn look(&mut self) {
        self.indexing.list();
        self.indexing.index_all();
    }

    fn rows(&self, filter: &str, folds: bool) -> Vec<Value> {
        let query = Query { scope: None, filter: Filter::parse(filter).unwrap(), folds };
        let mut view = View::new(query);
        let jobs = view.search.jobs(&self.library.read(), None);
        for job in &jobs {
            view.search.run(job);
        }
        let sessions = self.library.read();
        view.update(&sessions);
        rows::window(&view, &sessions, Some(0), 500)["rows"].as_array().unwrap().clone()
    }

    fn sessions(&self) -> Vec<Value> {
        sessions::list(&self.library.read())["sessions"].as_array().unwrap().clone()
    }

    fn detail(&self, row: &Value) -> Value {
        let number = |name: &str| u32::try_from(row[name].as_u64().unwrap()).unwrap();
        exchange::detail(&self.library, &self.definitions, (number("s"), number("r")), false)
            .unwrap()
    }
}

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn lines(records: &[Value]) -> String {
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

fn header(part: u32) -> Value {
    json!({ "stickler_recording": 1, "part": part, "session": "s1", "server": "files",
        "client": { "name": "agent", "version": "1" }, "revision": "2025-06-18", "mode": "enforce" })
}

fn sent(t: f64, message: &Value) -> Value {
    json!({ "t": 2e9 + t, "dir": "c2s", "msg": message.to_string() })
}

fn received(t: f64, message: &Value) -> Value {
    json!({ "t": 2e9 + t, "dir": "s2c", "msg": message.to_string(), "ms": 5.0 })
}

fn call(id: u32, arguments: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "read", "arguments": arguments } })
}

fn result(id: u32) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [{ "type": "text", "text": "the text" }] } })
}

fn tool_list() -> [Value; 2] {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
    let list = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [{ "name": "read", "inputSchema": schema }] } });
    [sent(0.0, &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })), received(0.1, &list)]
}

fn rejected(t: f64, id: u32, arguments: &Value) -> [Value; 2] {
    let mut request = sent(t, &call(id, arguments));
    let finding = json!({ "rule": "STK-107", "severity": "error", "path": "/params/arguments/pth",
        "message": "`pth` is not a known field; did you mean `path`?", "expected": "", "received": "" });
    request["verdict"] =
        json!({ "decision": "answer", "rule": "STK-107", "findings": [finding], "edits": [] });
    let help = json!({ "jsonrpc": "2.0", "id": id, "result": { "isError": true, "content": [] } });
    let mut answer = received(t + 0.01, &help);
    answer["by"] = json!("gateway");
    [request, answer]
}

#[test]
fn rejected_call_and_its_correction_are_one_thread() {
    let mut fixture = Fixture::new();
    let mut records = vec![header(0)];
    records.extend(tool_list());
    records.extend(rejected(1.0, 2, &json!({ "pth": "a" })));
    records.extend([sent(2.0, &call(3, &json!({ "path": "a" }))), received(2.1, &result(3))]);
    records.extend([sent(3.0, &call(4, &json!({ "path": "b" }))), received(3.1, &result(4))]);
    append(&fixture.path("a.ndjson"), &lines(&records));
    fixture.look();
    let folded = fixture.rows("tool:read", true);
    assert_eq!(folded.len(), 2);
    let outcomes: Vec<&str> = folded[0]["attempts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes, ["rejected", "passed"]);
    assert_eq!(fixture.rows("tool:read", false).len(), 3);
    assert_eq!(fixture.rows("rule:107", true).len(), 1);
    assert_eq!(fixture.rows("-verdict:rejected tool:read", false).len(), 2);
    assert_eq!(fixture.rows("text:\"THE text\"", false).len(), 2);

    let session = &fixture.sessions()[0];
    assert_eq!((session["calls"].as_u64(), session["rejected"].as_u64()), (Some(3), Some(1)));
    assert_eq!(session["client"]["name"], "agent");
}

#[test]
fn detail_has_schema_help_and_corrected_call() {
    let mut fixture = Fixture::new();
    let mut records = vec![header(0)];
    records.extend(tool_list());
    records.extend(rejected(1.0, 2, &json!({ "pth": "a" })));
    append(&fixture.path("a.ndjson"), &lines(&records));
    fixture.look();
    let detail = fixture.detail(&fixture.rows("tool:read", true)[0]);
    assert_eq!(detail["verdict"]["corrected"]["arguments"], json!({ "path": "a" }));
    assert!(detail["verdict"]["help"].as_str().unwrap().starts_with("Tool call failed for: read"));
    assert!(
        detail["field_schemas"]["/params/arguments/pth"].as_str().unwrap().contains("properties")
    );
    assert_eq!(detail["arguments"], "{\"pth\":\"a\"}");
    let list = tools::list(&fixture.library, &fixture.definitions, None);
    assert_eq!(list["tools"][0]["mistakes"][0]["count"], 1);
    assert_eq!(list["tools"][0]["listed"], true);

    let edited = call_check::EditedCall {
        session: 0,
        tool: "read".into(),
        arguments: r#"{"path":7}"#.into(),
    };
    let validator = fixture.definitions.of(&fixture.library, 0);
    let checked = call_check::check(validator.as_deref(), &edited);
    assert_eq!(checked["corrected"]["arguments"], r#"{"path":"7"}"#);
}

#[test]
fn growing_file_with_a_half_written_line_is_followed() {
    let mut fixture = Fixture::new();
    let path = fixture.path("a.ndjson");
    append(&path, &lines(&[header(0), sent(0.0, &call(1, &json!({})))]));
    let response = format!("{}\n", received(0.5, &result(1)));
    let (first, second) = response.split_at(40);
    append(&path, first);
    fixture.look();
    assert_eq!(fixture.rows("", false)[0]["outcome"], "pending");
    append(&path, second);
    fixture.look();
    let rows = fixture.rows("", false);
    assert_eq!(
        (rows.len(), rows[0]["outcome"].as_str(), rows[0]["ms"].as_f64()),
        (1, Some("passed"), Some(5.0))
    );
    append(&path, "not a record\n{\"dir\":\"c2s\",\"msg\":\"{cut\n\n\u{0}\u{1}\n");
    fixture.look();
    assert_eq!(fixture.sessions()[0]["foreign"], 1);
}

#[test]
fn rotated_and_compressed_part_stays_readable() {
    let mut fixture = Fixture::new();
    let live = fixture.path("s.ndjson");
    append(&live, &lines(&[header(0), sent(0.0, &call(1, &json!({ "path": "a" })))]));
    fixture.look();
    // Written just before the rotation, and not indexed yet.
    append(&live, &lines(&[received(0.5, &result(1))]));
    let old = fs::read(&live).unwrap();
    let compressed =
        ruzstd::encoding::compress_to_vec(&old[..], ruzstd::encoding::CompressionLevel::Fastest);
    fs::write(fixture.path("s.1.ndjson.zst"), compressed).unwrap();
    fs::remove_file(&live).unwrap();
    append(
        &live,
        &lines(&[
            header(1),
            sent(1.0, &call(2, &json!({ "path": "b" }))),
            received(1.1, &result(2)),
        ]),
    );
    fixture.look();
    assert_eq!(fixture.sessions().len(), 1);
    let rows = fixture.rows("", false);
    let outcomes: Vec<&str> = rows.iter().map(|row| row["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["passed", "passed"]);
    assert!(fixture.detail(&rows[0])["response"]["text"].as_str().unwrap().contains("the text"));
    assert_eq!(fixture.rows("text:\"path\\\":\\\"a\"", false).len(), 0);
    assert_eq!(fixture.rows("text:\"the text\"", false).len(), 2);
}

#[test]
fn vanished_files_leave_no_session_and_no_rows() {
    let mut fixture = Fixture::new();
    let (one, other) = (fixture.path("a.ndjson"), fixture.path("b.ndjson"));
    append(&one, &lines(&[header(0), sent(0.0, &call(1, &json!({})))]));
    append(&other, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
    fixture.look();
    assert_eq!(fixture.sessions().len(), 2);
    let row = fixture.rows("tool:read", false)[0].clone();
    fs::remove_file(&one).unwrap();
    assert!(fixture.detail(&row)["request"]["missing"].is_string());
    fixture.look();
    assert_eq!(fixture.sessions().len(), 1);
    assert_eq!(fixture.rows("", false).len(), 1);
    fs::write(&other, "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"a\"}\n").unwrap();
    fixture.look();
    assert_eq!(fixture.rows("", false)[0]["label"], "a");
}

#[test]
fn links_and_other_files_are_not_read() {
    let mut fixture = Fixture::new();
    let outside = tempfile::NamedTempFile::new().unwrap();
    fs::write(outside.path(), "{\"jsonrpc\":\"2.0\",\"method\":\"secret\"}\n").unwrap();
    std::os::unix::fs::symlink(outside.path(), fixture.path("link.ndjson")).unwrap();
    fs::create_dir(fixture.path("folder.ndjson")).unwrap();
    append(&fixture.path("notes.txt"), "{}\n");
    fixture.look();
    assert!(fixture.sessions().is_empty());
}

#[test]
fn raw_messages_are_checked_and_paired() {
    let mut fixture = Fixture::new();
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } } });
    let initialized = json!({ "jsonrpc": "2.0", "id": 0, "result": {
        "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "serverInfo": { "name": "s", "version": "1" } } });
    let raw = [
        initialize.to_string(),
        initialized.to_string(),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        "Server started on port 80".to_owned(),
        tool_list()[0]["msg"].as_str().unwrap().to_owned(),
        tool_list()[1]["msg"].as_str().unwrap().to_owned(),
        call(2, &json!({ "pth": 1 })).to_string(),
        result(2).to_string(),
    ];
    append(&fixture.path("raw.jsonl"), &raw.join("\n"));
    fixture.look();
    let rows = fixture.rows("", false);
    let outcomes: Vec<&str> = rows.iter().map(|row| row["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["passed", "passed", "noise", "passed", "would-reject"]);
    assert_eq!(rows[4]["rule"], "STK-107");
    let detail = fixture.detail(&rows[4]);
    assert!(!detail["verdict"]["findings"].as_array().unwrap().is_empty());
    assert_eq!(detail["response"]["bytes"].as_u64(), Some(raw[7].len() as u64));
}
