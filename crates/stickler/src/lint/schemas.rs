//! Whether schemas can be used, and what is in the way.

use std::collections::HashSet;

use serde_json::Value;

use super::places::{self, Place};
use super::report::Findings;
use super::subject::{self, Subject};
use crate::config::Limits;
use crate::rules::{Severity, UNUSABLE_SCHEMA, tools};
use crate::schema::SchemaRefusal;
use crate::tape::unescape_segment;

/// A schema of more bytes than this is worth a word.
const LARGE: usize = 64 << 10;

pub(super) fn check(subject: &Subject, limits: &Limits, findings: &mut Findings) {
    if let Some(Err(refusal)) = &subject.compiled {
        unusable("/inputSchema", refusal, findings);
        if let Some(schema) = subject.input() {
            causes(schema, "/inputSchema", findings);
        }
    }
    if let Some(schema) = subject.output()
        && let Err(refusal) = subject::compile(schema, limits)
    {
        unusable("/outputSchema", &refusal, findings);
        causes(schema, "/outputSchema", findings);
    }
    for (base, schema) in subject.schemas() {
        let bytes = schema.to_string().len();
        if bytes > LARGE && bytes <= limits.schema_bytes {
            let message = format!("the schema has {} KiB", bytes >> 10);
            findings.add(&tools::LARGE_SCHEMA, base, message);
        }
    }
}

fn unusable(base: &str, refusal: &SchemaRefusal, findings: &mut Findings) {
    let name = base.trim_start_matches('/');
    let message = format!("its `{name}` cannot be used: {refusal}");
    // What is only too much for us may work for others.
    let severity = if refusal.is_over_limit() { Severity::Warning } else { Severity::Error };
    findings.add(&UNUSABLE_SCHEMA, base, message).severity(severity);
}

/// Places that explain why a schema cannot be used.
fn causes(schema: &Value, base: &str, findings: &mut Findings) {
    if let Some(Value::String(dialect)) = schema.get("$schema")
        && !is_known_dialect(dialect)
    {
        let message = format!("`{dialect}` is no dialect that is known here");
        findings.add(&tools::UNKNOWN_DIALECT, format!("{base}/$schema"), message);
    }
    let places = places::of(schema, base);
    let ids: HashSet<&str> = places.iter().filter_map(id_of).collect();
    for place in &places {
        let Some(Value::String(reference)) = place.get("$ref") else { continue };
        let path = format!("{}/$ref", place.pointer);
        match standing(schema, reference, &ids, &places) {
            Standing::Fine => {}
            Standing::Nowhere => {
                let message = format!("`{reference}` leads nowhere");
                findings.add(&tools::UNRESOLVABLE_REF, path, message);
            }
            Standing::Remote => {
                let message = format!("`{reference}` lies outside of the schema");
                findings.add(&tools::REMOTE_REF, path, message);
            }
        }
    }
}

enum Standing {
    Fine,
    Nowhere,
    Remote,
}

fn standing(
    schema: &Value,
    reference: &str,
    ids: &HashSet<&str>,
    places: &[Place<'_>],
) -> Standing {
    let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    if !address.is_empty() {
        let is_inside = ids.iter().any(|id| id.trim_end_matches('#').ends_with(address));
        let is_metaschema = address.contains("json-schema.org/");
        return if is_inside || is_metaschema { Standing::Fine } else { Standing::Remote };
    }
    // With an `$id` further in, pointers may be meant from there.
    let is_found = fragment.is_empty()
        || ids.len() > 1
        || (fragment.starts_with('/') && find(schema, fragment))
        || places.iter().any(|place| is_anchor(place, fragment));
    if is_found { Standing::Fine } else { Standing::Nowhere }
}

fn find(schema: &Value, fragment: &str) -> bool {
    // A key may be written percent-encoded; those with such characters are left alone.
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

fn is_anchor(place: &Place<'_>, name: &str) -> bool {
    let anchors = ["$anchor", "$dynamicAnchor"].map(|keyword| place.get(keyword));
    anchors.into_iter().flatten().any(|anchor| anchor == name)
        || id_of(place).and_then(|id| id.strip_prefix('#')) == Some(name)
}

fn id_of<'s>(place: &Place<'s>) -> Option<&'s str> {
    place.get("$id").or_else(|| place.get("id"))?.as_str()
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
    use super::super::testing::{found, tool, with_parameter};
    use serde_json::{Value, json};

    fn rules(tool: Value) -> Vec<(&'static str, String)> {
        found(tool).into_iter().map(|(rule, severity, _)| (rule, severity)).collect()
    }

    fn error(rule: &'static str) -> (&'static str, String) {
        (rule, "error".to_owned())
    }

    #[test]
    fn a_schema_that_is_no_schema() {
        assert_eq!(rules(with_parameter(json!({ "type": "strin" }))), [error("STK-108")]);
        let mut tool = with_parameter(json!({ "type": "string" }));
        tool["outputSchema"] = json!({ "type": "object", "properties": { "a": 3 } });
        let found = found(tool);
        assert!(found.iter().any(|(rule, _, at)| *rule == "STK-108" && at == "/outputSchema"));
    }

    #[test]
    fn references() {
        let leads = |reference: &str| {
            let mut tool = with_parameter(json!({ "$ref": reference }));
            tool["inputSchema"]["$defs"] =
                json!({ "a/b": { "type": "string", "$anchor": "here" }, "p%": true });
            rules(tool)
        };
        let note = ("client-reference", "note".to_owned());
        let only_note = vec![note.clone()];
        assert_eq!(leads("#/$defs/a~1b"), only_note);
        assert_eq!(leads("#here"), only_note);
        for lost in ["#/$defs/b", "#there"] {
            let expected = [error("STK-108"), error("unresolvable-ref"), note.clone()];
            assert_eq!(leads(lost), expected, "{lost}");
        }
        for remote in ["https://example.com/a.json", "other.json#/$defs/a"] {
            let expected = [error("STK-108"), error("remote-ref"), note.clone()];
            assert_eq!(leads(remote), expected, "{remote}");
        }
    }

    #[test]
    fn dialects() {
        let mut tool = with_parameter(json!({ "type": "string" }));
        tool["inputSchema"]["$schema"] = "http://json-schema.org/draft-07/schema#".into();
        assert_eq!(rules(tool.clone()), []);
        tool["inputSchema"]["$schema"] = "https://example.com/dialect".into();
        assert_eq!(rules(tool), [error("STK-108"), error("unknown-dialect")]);
    }

    #[test]
    fn what_is_only_too_much_is_a_warning() {
        let deep = (0..80).fold(json!({ "type": "string" }), |inner, _| {
            json!({ "type": "object", "properties": { "a": inner }, "additionalProperties": false })
        });
        let found = rules(tool(&deep));
        assert_eq!(found.first(), Some(&("STK-108", "warning".to_owned())), "{found:?}");
    }

    #[test]
    fn large_schemas() {
        let long =
            with_parameter(json!({ "type": "string", "description": "word ".repeat(20_000) }));
        let found = rules(long);
        assert!(found.contains(&("large-schema", "warning".to_owned())), "{found:?}");
    }
}
