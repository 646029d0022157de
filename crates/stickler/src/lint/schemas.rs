//! Checks whether the schemas of a tool can be used, and reports the causes if not.

use std::collections::HashSet;

use serde_json::Value;

use super::report::Findings;
use super::subject::{self, Subject};
use super::subschemas::{self, Subschema};
use crate::config::Limits;
use crate::rules::{Severity, UNUSABLE_SCHEMA, tools};
use crate::schema::SchemaRejection;
use crate::tape::unescape_segment;

/// Size above which a schema is reported as large.
const LARGE_SCHEMA_BYTES: usize = 64 << 10;

pub(super) fn check(subject: &Subject, limits: &Limits, findings: &mut Findings) {
    if let Some(Err(rejection)) = &subject.compiled {
        unusable("/inputSchema", rejection, findings);
        if let Some(schema) = subject.input() {
            causes(schema, "/inputSchema", findings);
        }
    }
    if let Some(schema) = subject.output()
        && let Err(rejection) = subject::compile(schema, limits)
    {
        unusable("/outputSchema", &rejection, findings);
        causes(schema, "/outputSchema", findings);
    }
    for (base, schema) in subject.schemas() {
        let bytes = schema.to_string().len();
        if bytes > LARGE_SCHEMA_BYTES && bytes <= limits.schema_bytes {
            let message = format!("the schema has a size of {} KiB", bytes >> 10);
            findings.add(&tools::LARGE_SCHEMA, base, message);
        }
    }
}

fn unusable(base: &str, rejection: &SchemaRejection, findings: &mut Findings) {
    let name = base.trim_start_matches('/');
    let message = format!("the `{name}` cannot be used: {rejection}");
    // Other programs may accept a schema that only exceeds our limits.
    let severity = if rejection.is_over_limit() { Severity::Warning } else { Severity::Error };
    findings.add(&UNUSABLE_SCHEMA, base, message).severity(severity);
}

/// Reports the locations that make a schema unusable.
fn causes(schema: &Value, base: &str, findings: &mut Findings) {
    if let Some(Value::String(dialect)) = schema.get("$schema")
        && !is_known_dialect(dialect)
    {
        let message = format!("`{dialect}` is not a supported dialect");
        findings.add(&tools::UNKNOWN_DIALECT, format!("{base}/$schema"), message);
    }
    let subschemas = subschemas::collect(schema, base);
    let ids: HashSet<&str> = subschemas.iter().filter_map(id_of).collect();
    for subschema in &subschemas {
        let Some(Value::String(reference)) = subschema.get("$ref") else { continue };
        let path = format!("{}/$ref", subschema.pointer);
        match resolve(schema, reference, &ids, &subschemas) {
            Resolution::Resolved => {}
            Resolution::Missing => {
                let message = format!("`{reference}` cannot be resolved");
                findings.add(&tools::UNRESOLVABLE_REF, path, message);
            }
            Resolution::Remote => {
                let message = format!("`{reference}` is outside the schema");
                findings.add(&tools::REMOTE_REF, path, message);
            }
        }
    }
}

/// Result of looking up the target of a reference.
enum Resolution {
    Resolved,
    Missing,
    Remote,
}

fn resolve(
    schema: &Value,
    reference: &str,
    ids: &HashSet<&str>,
    subschemas: &[Subschema<'_>],
) -> Resolution {
    let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    if !address.is_empty() {
        let is_inside = ids.iter().any(|id| id.trim_end_matches('#').ends_with(address));
        let is_metaschema = address.contains("json-schema.org/");
        return if is_inside || is_metaschema { Resolution::Resolved } else { Resolution::Remote };
    }
    // A nested `$id` changes the base URI, so a pointer may be relative to that subschema.
    let is_found = fragment.is_empty()
        || ids.len() > 1
        || (fragment.starts_with('/') && pointer_exists(schema, fragment))
        || subschemas.iter().any(|subschema| is_anchor(subschema, fragment));
    if is_found { Resolution::Resolved } else { Resolution::Missing }
}

fn pointer_exists(schema: &Value, fragment: &str) -> bool {
    // Keys may be percent-encoded; these fragments are not checked.
    fragment.contains('%')
        || fragment
            .split('/')
            .skip(1)
            .map(unescape_segment)
            .try_fold(schema, |value, segment| match value {
                Value::Array(items) => items.get(segment.parse::<usize>().ok()?),
                other => other.get(segment.as_ref()),
            })
            .is_some()
}

fn is_anchor(subschema: &Subschema<'_>, name: &str) -> bool {
    let anchors = ["$anchor", "$dynamicAnchor"].map(|keyword| subschema.get(keyword));
    anchors.into_iter().flatten().any(|anchor| anchor == name)
        || id_of(subschema).and_then(|id| id.strip_prefix('#')) == Some(name)
}

fn id_of<'s>(subschema: &Subschema<'s>) -> Option<&'s str> {
    subschema.get("$id").or_else(|| subschema.get("id"))?.as_str()
}

fn is_known_dialect(uri: &str) -> bool {
    let uri = uri.trim_end_matches('#').trim_end_matches('/');
    let name = uri.trim_start_matches("https://").trim_start_matches("http://");
    matches!(
        name,
        "json-schema.org/draft-04/schema"
            | "json-schema.org/draft-06/schema"
            | "json-schema.org/draft-07/schema"
            | "json-schema.org/draft/2019-09/schema"
            | "json-schema.org/draft/2020-12/schema"
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::{tool, tool_findings, with_parameter};
    use serde_json::{Value, json};

    fn rules(tool: Value) -> Vec<(&'static str, String)> {
        tool_findings(tool).into_iter().map(|(rule, severity, _)| (rule, severity)).collect()
    }

    fn error(rule: &'static str) -> (&'static str, String) {
        (rule, "error".to_owned())
    }

    #[test]
    fn invalid_schemas_are_reported() {
        assert_eq!(rules(with_parameter(json!({ "type": "strin" }))), [error("STK-108")]);
        let mut tool = with_parameter(json!({ "type": "string" }));
        tool["outputSchema"] = json!({ "type": "object", "properties": { "a": 3 } });
        let found = tool_findings(tool);
        assert!(found.iter().any(|(rule, _, at)| *rule == "STK-108" && at == "/outputSchema"));
    }

    #[test]
    fn unresolvable_and_remote_references_are_reported() {
        let lint_reference = |reference: &str| {
            let mut tool = with_parameter(json!({ "$ref": reference }));
            tool["inputSchema"]["$defs"] =
                json!({ "a/b": { "type": "string", "$anchor": "here" }, "p%": true });
            rules(tool)
        };
        let note = ("client-reference", "note".to_owned());
        let only_note = vec![note.clone()];
        assert_eq!(lint_reference("#/$defs/a~1b"), only_note);
        assert_eq!(lint_reference("#here"), only_note);
        for missing in ["#/$defs/b", "#there"] {
            let expected = [error("STK-108"), error("unresolvable-ref"), note.clone()];
            assert_eq!(lint_reference(missing), expected, "{missing}");
        }
        for remote in ["https://example.com/a.json", "other.json#/$defs/a"] {
            let expected = [error("STK-108"), error("remote-ref"), note.clone()];
            assert_eq!(lint_reference(remote), expected, "{remote}");
        }
    }

    #[test]
    fn unknown_dialects_are_reported() {
        let mut tool = with_parameter(json!({ "type": "string" }));
        tool["inputSchema"]["$schema"] = "http://json-schema.org/draft-07/schema#".into();
        assert_eq!(rules(tool.clone()), []);
        tool["inputSchema"]["$schema"] = "https://example.com/dialect".into();
        assert_eq!(rules(tool), [error("STK-108"), error("unknown-dialect")]);
    }

    #[test]
    fn schema_above_a_limit_is_a_warning() {
        let deep = (0..80).fold(json!({ "type": "string" }), |inner, _| {
            json!({ "type": "object", "properties": { "a": inner }, "additionalProperties": false })
        });
        let found = rules(tool(&deep));
        assert_eq!(found.first(), Some(&("STK-108", "warning".to_owned())), "{found:?}");
    }

    #[test]
    fn large_schemas_are_reported() {
        let long =
            with_parameter(json!({ "type": "string", "description": "word ".repeat(20_000) }));
        let found = rules(long);
        assert!(found.contains(&("large-schema", "warning".to_owned())), "{found:?}");
    }
}
