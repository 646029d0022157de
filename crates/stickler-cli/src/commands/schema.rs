//! `stickler schema`: prints the JSON Schemas of the protocol messages.

use std::io::Write as _;

use serde_json::{Value, json};
use stickler_protocol::SchemaValidator;

use crate::cli::{Format, SchemaOptions};
use crate::exit::{Exit, Failure, Outcome};

pub(crate) fn run(options: &SchemaOptions) -> Outcome {
    let validator = SchemaValidator::built_in(options.revision);
    let mut out = std::io::stdout().lock();
    if options.list {
        for name in validator.definition_names() {
            match options.format {
                Format::Text => writeln!(out, "{name}")?,
                Format::Json => writeln!(out, "{}", json!({ "definition": name }))?,
            }
        }
        return Ok(Exit::Success);
    }
    let schema = match &options.definition {
        None => validator.schema(),
        Some(name) => validator.definition_schema(name).ok_or_else(|| unknown(&validator, name))?,
    };
    match options.format {
        Format::Text => writeln!(out, "{}", pretty(&schema))?,
        Format::Json => writeln!(out, "{schema}")?,
    }
    Ok(Exit::Success)
}

fn pretty(schema: &Value) -> String {
    serde_json::to_string_pretty(schema).unwrap_or_default()
}

fn unknown(validator: &SchemaValidator, name: &str) -> Failure {
    let nearest = validator.nearest_definitions(name);
    let meant =
        nearest.first().map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"));
    let revision = validator.revision();
    Failure::Usage(format!(
        "{revision} has no definition `{name}`{meant}\n\nhint: `stickler schema --revision \
         {revision} --list` lists them all"
    ))
}
