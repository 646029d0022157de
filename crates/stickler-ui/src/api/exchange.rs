//! One exchange in detail: both messages as recorded, the verdict, and the schema of the fields it is about.

use serde_json::{Value, json};
use stickler::{McpValidator, estimate_tokens};

use crate::api::definitions::{Definitions, SERVER, record};
use crate::api::{rows, schema_of_field, tools};
use crate::envelope::Envelope;
use crate::index::row::Place;
use crate::library::Library;
use crate::record::{Line, string};
use crate::verdict::{Corrected, Verdict};
use crate::view::find;

/// Longest text of a message that is sent to the page unless all of it is requested.
const MAX_SHOWN_BYTES: usize = 256 << 10;
/// JSON Pointer of the arguments within a `tools/call` request.
const ARGUMENTS: &str = "/params/arguments";

/// Returns an exchange; `None` if there is no such row.
pub(crate) fn detail(
    library: &Library,
    definitions: &Definitions,
    (session, row): (u32, u32),
    is_whole: bool,
) -> Option<Value> {
    let number = usize::try_from(session).ok()?;
    let (found, kept, attempts, origin) = {
        let sessions = library.read();
        let (indexed, found) = find(&sessions, (session, row))?;
        let attempts: Vec<Value> = rows::attempts(indexed, (session, found.thread)).collect();
        let header = indexed.header.as_ref();
        let origin = json!({
            "server": indexed.server,
            "file": indexed.file,
            "command": header.and_then(|header| header.command.clone()),
            "url": header.and_then(|header| header.url.clone()),
        });
        (*found, indexed.verdicts.get(&row).cloned(), attempts, origin)
    };
    let limit = if is_whole { usize::MAX } else { MAX_SHOWN_BYTES };
    let request = Loaded::read(library, number, found.request);
    let response = Loaded::read(library, number, found.response);
    let tool = request.as_ref().and_then(|request| request.tool.clone());
    let validator = tool.is_some().then(|| definitions.of(library, number)).flatten();
    let mut verdict = request.as_ref().and_then(|request| request.verdict.clone()).or(kept);
    if let (Some(tool), Some(validator), Some(request)) = (&tool, &validator, &request) {
        explain(verdict.as_mut(), validator, tool, request);
    }
    let definition = tools::definition(validator.as_deref(), tool.as_deref().unwrap_or_default());
    let schemas = field_schemas(&definition, verdict.as_ref());
    Some(json!({
        "s": session,
        "r": row,
        "tool": tool,
        "arguments": request.as_ref().map(Loaded::arguments),
        "origin": origin,
        "request": request.as_ref().map_or_else(|| unreadable(found.request), |one| one.to_json(limit)),
        "response": match (&response, found.response.exists()) {
            (Some(response), _) => response.to_json(limit),
            (None, true) => unreadable(found.response),
            (None, false) => Value::Null,
        },
        "verdict": verdict,
        "response_verdict": response.and_then(|response| response.verdict),
        "definition": definition,
        "field_schemas": schemas,
        "attempts": if attempts.len() > 1 { attempts } else { Vec::new() },
    }))
}

/// Adds help and the corrected call to a verdict that was computed here or recorded without them.
fn explain(verdict: Option<&mut Verdict>, validator: &McpValidator, tool: &str, request: &Loaded) {
    let Some(verdict) = verdict.filter(|verdict| verdict.corrected.is_none() && !request.redacted)
    else {
        return;
    };
    let envelope = Envelope::of(&request.text);
    let Ok(result) = validator.validate_text(SERVER, tool, envelope.member(b"arguments")) else {
        return;
    };
    if result.is_valid {
        return;
    }
    verdict.corrected = result.corrected.as_ref().map(|call| Corrected {
        name: call.name.clone(),
        arguments: serde_json::from_str(call.arguments.get()).unwrap_or_default(),
    });
    if verdict.edits.is_empty() {
        let edits = result.edits.iter();
        verdict.edits = edits
            .map(|edit| json!({ "edit": edit.kind.name(), "path": edit.path, "from": edit.from, "to": edit.to }))
            .collect();
    }
    verdict.help.get_or_insert_with(|| validator.build_help_prompt(SERVER, tool, &result).into());
}

/// Returns the schemas of the fields that findings are about, by path.
fn field_schemas(definition: &Value, verdict: Option<&Verdict>) -> Value {
    let schema =
        definition["schema"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let (Some(schema), Some(verdict)) = (schema, verdict) else { return json!({}) };
    let mut schemas = serde_json::Map::new();
    for finding in &verdict.findings {
        let Some(pointer) = finding.path.strip_prefix(ARGUMENTS) else { continue };
        // An unknown field has no schema; that of the object around it lists the known ones.
        let around = pointer.rsplit_once('/').map_or("", |(around, _)| around);
        let found = schema_of_field::find(&schema, pointer)
            .or_else(|| schema_of_field::find(&schema, around));
        if let Some(found) = found {
            let text = serde_json::to_string_pretty(found).unwrap_or_default();
            schemas.insert(finding.path.clone(), json!(text));
        }
    }
    Value::Object(schemas)
}

fn unreadable(place: Place) -> Value {
    json!({ "missing": format!("This part of the recording was removed or cannot be read (offset {}).", place.offset()) })
}

/// A message as recorded.
struct Loaded {
    text: Vec<u8>,
    sent: Option<String>,
    by_gateway: bool,
    redacted: bool,
    verdict: Option<Verdict>,
    time: Option<f64>,
    tool: Option<String>,
}

impl Loaded {
    fn read(library: &Library, session: usize, place: Place) -> Option<Self> {
        let line = record(library, session, place).filter(|_| place.exists())?;
        let Line::Message(message) = Line::read(&line) else { return None };
        Some(Self {
            sent: message.sent.and_then(string),
            by_gateway: message.by_gateway,
            redacted: message.redacted,
            verdict: message.verdict.and_then(Verdict::read),
            time: message.time,
            tool: Envelope::of(&message.text).tool,
            text: message.text,
        })
    }

    /// Returns the arguments of a call as written.
    fn arguments(&self) -> String {
        let arguments = Envelope::of(&self.text).member(b"arguments").unwrap_or(b"{}");
        String::from_utf8_lossy(arguments).into_owned()
    }

    fn to_json(&self, limit: usize) -> Value {
        let shown = self.text.get(..limit.min(self.text.len())).unwrap_or_default();
        let text = String::from_utf8_lossy(shown);
        json!({
            "text": text,
            "hex": str::from_utf8(&self.text).is_err().then(|| hex(shown)),
            "bytes": self.text.len(),
            "cut": self.text.len() > shown.len(),
            "tokens": estimate_tokens(&text),
            "sent": self.sent,
            "by_gateway": self.by_gateway,
            "redacted": self.redacted,
            "t": self.time,
        })
    }
}

/// Returns the first bytes of a message that is not UTF-8.
fn hex(bytes: &[u8]) -> String {
    let lines = bytes.chunks(16).take(256);
    let line =
        |line: &[u8]| line.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
    lines.map(line).collect::<Vec<_>>().join("\n")
}
