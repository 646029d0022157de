//! `stickler demo`: a bad call refused, explained and corrected, with nothing to set up.

use std::io::Write;

use serde_json::json;
use stickler::{McpValidator, ToolDefinition, ValidationConfig};

use super::validate::call::{Judged, judge_parts};
use super::validate::{SERVER, diagnostic};
use crate::exit::{Exit, Failure, Outcome};

/// What a model sends when it remembers the tool but not its fields.
const BAD_CALL: &str =
    r#"{"file_path":"notes.txt","edits":[{"oldText":"a","newtext":"b"}],"dryrun":"true"}"#;

pub(crate) fn run() -> Outcome {
    let validator = McpValidator::new(ValidationConfig::default());
    validator.cache().populate(SERVER, &[edit_file()]);
    let mut out = std::io::stdout().lock();
    let bad = judge_parts(&validator, "edit_file", Some(BAD_CALL));

    heading(&mut out, "1. A model calls a tool, with its fields half remembered")?;
    writeln!(out, "edit_file {BAD_CALL}\n")?;
    writeln!(out, "Most servers would drop `dryrun` without a word and change the file.\n")?;

    heading(&mut out, "2. What a person sees: stickler validate")?;
    diagnostic::print(&mut out, &validator, None, &bad)?;

    heading(&mut out, "3. What the model gets back, to correct itself from")?;
    let corrected = show_help(&mut out, &validator, &bad)?;

    heading(&mut out, "4. The corrected call passes")?;
    let good = judge_parts(&validator, "edit_file", Some(&corrected));
    diagnostic::print(&mut out, &validator, None, &good)?;

    writeln!(out)?;
    heading(&mut out, "5. On your own tools")?;
    writeln!(out, "{NEXT_STEPS}")?;
    Ok(if good.is_valid() { Exit::Fine } else { Exit::Findings })
}

const NEXT_STEPS: &str = "\
Save a server's `tools/list` result as tools.json, then:
  stickler validate --tools tools.json TOOL --args '{…}'
  stickler validate --tools tools.json --calls calls.ndjson --format json
  stickler explain unknown_field";

/// Prints the help prompt; the corrected arguments.
fn show_help(
    out: &mut impl Write,
    validator: &McpValidator,
    bad: &Judged,
) -> Result<String, Failure> {
    let Judged::Call { tool, result, .. } = bad else { return Ok(String::new()) };
    writeln!(out, "{}", validator.build_help_prompt(SERVER, tool, result))?;
    let corrected = result.corrected.as_ref();
    Ok(corrected.map(|call| call.arguments.get().to_owned()).unwrap_or_default())
}

fn heading(out: &mut impl Write, text: &str) -> std::io::Result<()> {
    writeln!(out, "── {text}\n")
}

/// A tool as file servers have it. Its schema says nothing about other fields, like most.
fn edit_file() -> ToolDefinition {
    ToolDefinition::new("edit_file")
        .with_description("Replaces lines of a text file.")
        .with_input_schema(json!({
            "type": "object",
            "properties": {
                "filePath": { "type": "string", "description": "Which file" },
                "edits": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "oldText": { "type": "string" },
                            "newText": { "type": "string" }
                        },
                        "required": ["oldText", "newText"]
                    }
                },
                "dryRun": { "type": "boolean", "description": "Only show what would change" }
            },
            "required": ["filePath", "edits"]
        }))
        .with_example(json!({
            "filePath": "README.md",
            "edits": [{ "oldText": "teh", "newText": "the" }],
            "dryRun": true
        }))
}
