//! The measured messages, in typical sizes.

use serde_json::{Value, json};

use crate::paths;
use crate::random::Random;

pub(super) struct Message {
    pub(super) name: &'static str,
    pub(super) bytes: Vec<u8>,
    pub(super) definition: Definition,
}

/// The type of a message.
#[derive(Clone, Copy)]
pub(super) enum Definition {
    /// A `tools/call` request.
    Call,
    /// The response to `tools/list`.
    List,
    /// The response to `tools/call`.
    Result,
}

const LIST_BYTES: usize = 64 << 10;

pub(super) fn all() -> [Message; 4] {
    [
        Message { name: "400 B call", bytes: call(2), definition: Definition::Call },
        Message { name: "4 KB call", bytes: call(40), definition: Definition::Call },
        Message { name: "64 KB list", bytes: list(LIST_BYTES), definition: Definition::List },
        Message { name: "1 MB text", bytes: text(1 << 20), definition: Definition::Result },
    ]
}

/// Returns a call with the given number of edits.
fn call(edits: usize) -> Vec<u8> {
    let message = json!({
        "jsonrpc": "2.0",
        "id": 1742,
        "method": "tools/call",
        "params": call_params(edits),
    });
    message.to_string().into_bytes()
}

/// Returns the parameters of a call with the given number of edits.
pub(super) fn call_params(edits: usize) -> Value {
    let edits: Vec<Value> = (0..edits)
        .map(|index| {
            json!({
                "line": 10 + index * 7,
                "replace": index % 2 == 0,
                "oldText": format!("let value_{index} = read();"),
                "newText": format!("let value_{index} = read()?;"),
            })
        })
        .collect();
    json!({
        "name": "edit_file",
        "arguments": { "path": "src/main.rs", "edits": edits, "dryRun": false },
        "_meta": { "progressToken": "edit-1742" },
    })
}

/// The schema of the tool that is called.
pub(super) fn tool_schema() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "path": { "type": "string", "minLength": 1 },
            "edits": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "line": { "type": "integer", "minimum": 1 },
                        "replace": { "type": "boolean" },
                        "oldText": { "type": "string" },
                        "newText": { "type": "string" },
                    },
                    "required": ["oldText", "newText"],
                },
            },
            "dryRun": { "type": "boolean" },
        },
        "required": ["path", "edits"],
    })
}

/// Describes where the measured tool list comes from.
pub(super) fn list_source() -> String {
    match real_list(LIST_BYTES) {
        Some((server, _)) => format!("from a real server ({server})"),
        None => "generated tools".to_owned(),
    }
}

fn list(bytes: usize) -> Vec<u8> {
    let tools = real_list(bytes).map_or_else(|| made_up_tools(bytes), |(_, tools)| tools);
    list_message(&tools).into_bytes()
}

fn list_message(tools: &[Value]) -> String {
    json!({ "jsonrpc": "2.0", "id": 2, "result": { "tools": tools } }).to_string()
}

/// Returns the captured list that is nearest in size, if captured lists exist next to the checkout.
fn real_list(bytes: usize) -> Option<(String, Vec<Value>)> {
    let files = std::fs::read_dir(paths::shared("corpus/tools")).ok()?;
    let lists = files.filter_map(|entry| {
        let path = entry.ok()?.path();
        let list: Value = serde_json::from_slice(&std::fs::read(&path).ok()?).ok()?;
        let server = path.file_stem()?.to_string_lossy().into_owned();
        Some((server, list.get("tools")?.as_array()?.clone()))
    });
    lists.min_by_key(|(_, tools)| list_message(tools).len().abs_diff(bytes))
}

/// Returns distinct tools with the text density of real lists: one or two sentences per tool, one per
/// field, about 18 bytes per token.
fn made_up_tools(bytes: usize) -> Vec<Value> {
    let mut random = Random::new(64, "list");
    let mut tools = Vec::new();
    let mut size = 0;
    while size < bytes {
        let mut tool = json!({
            "name": words(&mut random, 2).replace(' ', "_"),
            "description": words(&mut random, 45),
            "inputSchema": schema(&mut random),
        });
        if random.chance(70) {
            tool["annotations"] = json!({ "readOnlyHint": random.chance(50) });
        }
        size += tool.to_string().len();
        tools.push(tool);
    }
    tools
}

fn schema(random: &mut Random) -> Value {
    let mut properties = serde_json::Map::new();
    let mut required = Vec::new();
    for _ in 0..=random.below(7) {
        let name = words(random, 2).replace(' ', "_");
        let mut property = match random.below(5) {
            0 => json!({ "type": "integer", "minimum": 0 }),
            1 => json!({ "type": "boolean", "default": false }),
            2 => json!({ "type": "array", "items": { "type": "string" } }),
            3 => json!({ "type": "string", "enum": [words(random, 1), words(random, 1)] }),
            _ => json!({ "type": "string" }),
        };
        property["description"] = json!(words(random, 12));
        if random.chance(40) {
            required.push(name.clone());
        }
        properties.insert(name, property);
    }
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": properties,
        "required": required,
    })
}

/// Returns between `max / 2` and `max` words.
fn words(random: &mut Random, max: usize) -> String {
    const WORDS: [&str; 24] = [
        "a",
        "of",
        "the",
        "file",
        "path",
        "name",
        "which",
        "project",
        "returns",
        "identifier",
        "list",
        "only",
        "when",
        "given",
        "query",
        "results",
        "maximum",
        "number",
        "optional",
        "repository",
        "content",
        "to",
        "directory",
        "configuration",
    ];
    let count = max.div_ceil(2) + random.below(max / 2 + 1);
    let words: Vec<&str> = (0..count).filter_map(|_| random.pick(&WORDS).copied()).collect();
    words.join(" ")
}

fn text(bytes: usize) -> Vec<u8> {
    let message = json!({
        "jsonrpc": "2.0",
        "id": 3,
        "result": { "content": [{ "type": "text", "text": filler(bytes) }], "isError": false },
    });
    message.to_string().into_bytes()
}

/// Returns the given number of characters of text.
pub(super) fn filler(characters: usize) -> String {
    let line = "The quick brown fox jumps over the lazy dog, 1234567890 times over. ";
    line.chars().cycle().take(characters).collect()
}
