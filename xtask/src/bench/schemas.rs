//! The protocol schema of the benchmark: the official one of 2025-11-25 if it is present next to the
//! checkout, otherwise built-in definitions of the measured messages.

use serde_json::{Value, json};

use super::messages::Definition;
use crate::paths;

pub(super) enum Source {
    Official(Value),
    BuiltIn,
}

impl Source {
    pub(super) fn find() -> Self {
        let path = paths::shared("mcp-schema/2025-11-25/schema.json");
        let text = std::fs::read_to_string(path).ok();
        text.and_then(|text| serde_json::from_str(&text).ok()).map_or(Self::BuiltIn, Self::Official)
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Official(_) => "official, 2025-11-25",
            Self::BuiltIn => "built-in definitions of the measured messages",
        }
    }

    pub(super) fn schema(&self, definition: Definition) -> Value {
        let definitions = match self {
            Self::Official(schema) => schema.get("$defs").cloned().unwrap_or_default(),
            Self::BuiltIn => built_in(),
        };
        let mut schema = match definition {
            Definition::Call => json!({ "$ref": "#/$defs/CallToolRequest" }),
            Definition::List => response("ListToolsResult"),
            Definition::Result => response("CallToolResult"),
        };
        schema["$defs"] = definitions;
        schema
    }
}

fn response(result: &str) -> Value {
    json!({
        "type": "object",
        "properties": {
            "jsonrpc": { "const": "2.0" },
            "id": { "type": ["string", "integer"] },
            "result": { "$ref": format!("#/$defs/{result}") },
        },
        "required": ["jsonrpc", "id", "result"],
    })
}

/// Definitions with the names, types and required members that the measured messages use.
fn built_in() -> Value {
    let text = json!({ "type": "string" });
    let media = json!({ "data": { "type": "string", "format": "byte" }, "mimeType": text });
    json!({
        "CallToolRequest": {
            "type": "object",
            "properties": {
                "jsonrpc": { "type": "string", "const": "2.0" },
                "id": { "$ref": "#/$defs/RequestId" },
                "method": { "type": "string", "const": "tools/call" },
                "params": { "$ref": "#/$defs/CallToolRequestParams" },
            },
            "required": ["id", "jsonrpc", "method", "params"],
        },
        "CallToolRequestParams": {
            "type": "object",
            "properties": {
                "name": text,
                "arguments": { "type": "object", "additionalProperties": {} },
                "_meta": {
                    "type": "object",
                    "properties": { "progressToken": { "$ref": "#/$defs/RequestId" } },
                },
            },
            "required": ["name"],
        },
        "RequestId": { "type": ["string", "integer"] },
        "ListToolsResult": {
            "type": "object",
            "properties": {
                "_meta": { "type": "object", "additionalProperties": {} },
                "nextCursor": text,
                "tools": { "type": "array", "items": { "$ref": "#/$defs/Tool" } },
            },
            "required": ["tools"],
        },
        "Tool": tool(&text),
        "CallToolResult": {
            "type": "object",
            "properties": {
                "content": { "type": "array", "items": { "$ref": "#/$defs/ContentBlock" } },
                "isError": { "type": "boolean" },
                "structuredContent": { "type": "object", "additionalProperties": {} },
            },
            "required": ["content"],
        },
        "ContentBlock": {
            "anyOf": [
                block("text", json!({ "text": text }), &["text"]),
                block("image", media.clone(), &["data", "mimeType"]),
                block("audio", media, &["data", "mimeType"]),
                block("resource_link", json!({ "name": text, "uri": text }), &["name", "uri"]),
                block("resource", json!({ "resource": { "type": "object" } }), &["resource"]),
            ],
        },
    })
}

/// The definition of a content block.
fn block(kind: &str, mut properties: Value, required: &[&str]) -> Value {
    properties["type"] = json!({ "type": "string", "const": kind });
    properties["_meta"] = json!({ "type": "object", "additionalProperties": {} });
    let required: Vec<&str> = required.iter().copied().chain(["type"]).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// The definition of a tool.
fn tool(text: &Value) -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": text,
            "title": text,
            "description": text,
            "annotations": {
                "type": "object",
                "properties": {
                    "title": text,
                    "readOnlyHint": { "type": "boolean" },
                    "destructiveHint": { "type": "boolean" },
                    "idempotentHint": { "type": "boolean" },
                    "openWorldHint": { "type": "boolean" },
                },
            },
            "inputSchema": {
                "type": "object",
                "properties": {
                    "$schema": text,
                    "type": { "type": "string", "const": "object" },
                    "properties": {
                        "type": "object",
                        "additionalProperties": { "type": "object", "additionalProperties": true },
                    },
                    "required": { "type": "array", "items": text },
                },
                "required": ["type"],
            },
        },
        "required": ["inputSchema", "name"],
    })
}
