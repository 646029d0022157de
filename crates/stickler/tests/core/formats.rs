//! The `format` keyword: what each setting accepts, and how `Lenient` compares with the libraries that servers
//! are written with.
//!
//! `formats/values.json` is the contract: texts that `Lenient` accepts and rejects. `formats/libraries.json` has the
//! texts among them that pydantic, zod and ajv-formats accept, with their versions; `formats/regenerate.sh` obtains
//! it by running them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json};
use stickler::{Formats, McpValidator, ToolDefinition, ValidationConfig};

#[derive(Deserialize)]
struct Texts {
    accepted: Vec<String>,
    rejected: Vec<String>,
}

#[derive(Deserialize)]
struct Library {
    version: String,
    accepted: BTreeMap<String, BTreeSet<String>>,
}

fn contract() -> BTreeMap<String, Texts> {
    serde_json::from_str(include_str!("formats/values.json")).unwrap()
}

fn libraries() -> BTreeMap<String, Library> {
    serde_json::from_str(include_str!("formats/libraries.json")).unwrap()
}

fn validator(schema: Value, formats: Formats) -> McpValidator {
    let mut config = ValidationConfig::default();
    config.formats = formats;
    let validator = McpValidator::new(config);
    let schema = json!({ "type": "object", "properties": { "value": schema } });
    validator.cache().populate("s", &[ToolDefinition::new("t").with_input_schema(schema)]);
    assert_eq!(validator.cache().compile_all("s"), []);
    validator
}

fn accepts(schema: Value, formats: Formats, text: &str) -> bool {
    validator(schema, formats).validate("s", "t", &json!({ "value": text })).is_valid
}

fn with_format(format: &str) -> Value {
    json!({ "type": "string", "format": format })
}

/// Texts that a library accepts and `Lenient` rejects, because the contract does not list them.
const NOT_FOLLOWED: [(&str, &str, &str); 11] = [
    ("date-time", "1705311000", "a number of seconds is not a date"),
    ("date", "1705276800", "a number of seconds is not a date"),
    ("date", "2024-01-15T00:00:00", "a date has no time"),
    ("uri", "https://", "a WHATWG parser requires a host"),
    ("uri", "http://host:99999/", "a WHATWG parser limits the port"),
    ("uri", "http://256.256.256.256/", "a WHATWG parser reads it as an IPv4 address"),
    ("email", "John Doe <john@example.com>", "an address has no spaces"),
    ("email", " user@example.com", "an address has no spaces"),
    ("uuid", "urn:uuid:123e4567-e89b-12d3-a456-426614174000", "not only digits and hyphens"),
    ("uuid", "{123e4567-e89b-12d3-a456-426614174000}", "not only digits and hyphens"),
    ("ipv6", "fe80::1%eth0", "the standard parser does not accept a zone"),
];

#[test]
fn lenient_formats_accept_and_reject_what_the_contract_lists() {
    for (format, texts) in contract() {
        let validator = validator(with_format(&format), Formats::Lenient);
        let is_valid =
            |text: &str| validator.validate("s", "t", &json!({ "value": text })).is_valid;
        for text in &texts.accepted {
            assert!(is_valid(text), "{format} must accept {text:?}");
        }
        for text in &texts.rejected {
            assert!(!is_valid(text), "{format} must reject {text:?}");
        }
    }
}

#[test]
fn lenient_formats_accept_what_pydantic_zod_and_ajv_accept_except_listed_texts() {
    let libraries = libraries();
    assert_eq!(libraries.keys().collect::<Vec<_>>(), ["ajv", "pydantic", "zod"]);
    let mut exceptions = BTreeSet::new();
    for (format, texts) in contract() {
        for text in texts.rejected {
            let accepts = |library: &&Library| {
                library.accepted.get(&format).is_some_and(|accepted| accepted.contains(&text))
            };
            if let Some(library) = libraries.values().find(accepts) {
                let version = &library.version;
                let is_listed = NOT_FOLLOWED.iter().any(|(f, t, _)| (*f, *t) == (&format, &text));
                assert!(is_listed, "{format}: version {version} accepts {text:?}");
                exceptions.insert((format.clone(), text));
            }
        }
    }
    assert_eq!(exceptions.len(), NOT_FOLLOWED.len(), "{exceptions:?}");
}

#[test]
fn strict_formats_follow_the_specification() {
    for (format, text) in [
        ("date-time", "2024-01-15"),
        ("date-time", "2024-01-15T09:30:00"),
        ("time", "09:30"),
        ("uri", "https://example.com/with space"),
        ("uuid", "123e4567e89b12d3a456426614174000"),
        ("duration", "1 hour"),
        ("hostname", "-bad-"),
        ("regex", "(unclosed"),
        ("url", "example.com"),
    ] {
        assert!(!accepts(with_format(format), Formats::Strict, text), "{format}: {text}");
    }
    assert!(accepts(with_format("date-time"), Formats::Strict, "2024-01-15T09:30:00Z"));
    assert!(accepts(with_format("url"), Formats::Strict, "https://example.com"));
}

#[test]
fn ignored_formats_accept_every_text() {
    for format in contract().keys() {
        assert!(accepts(with_format(format), Formats::Ignore, "anything"), "{format}");
    }
}

#[test]
fn date_satisfies_a_one_of_with_date_and_date_time() {
    let schema = json!({ "oneOf": [with_format("date"), with_format("date-time")] });
    for text in ["2024-01-15", "2024-01-15T09:30:00Z", "2024-01-15T09:30"] {
        assert!(accepts(schema.clone(), Formats::Lenient, text), "{text}");
    }
    assert!(!accepts(schema, Formats::Lenient, "tomorrow"));
}

#[test]
fn text_that_is_not_a_host_name_satisfies_a_negated_format() {
    let schema = json!({ "type": "string", "not": { "format": "hostname" } });
    assert!(accepts(schema, Formats::Lenient, "-not a host-"));
}

#[test]
fn formats_are_asserted_in_every_dialect() {
    for dialect in ["draft-04", "draft-07"] {
        let mut config = ValidationConfig::default();
        config.formats = Formats::Lenient;
        let validator = McpValidator::new(config);
        let schema = json!({
            "$schema": format!("http://json-schema.org/{dialect}/schema#"),
            "properties": { "value": with_format("uuid") }
        });
        validator.cache().populate("s", &[ToolDefinition::new("t").with_input_schema(schema)]);
        let is_valid = |text| validator.validate("s", "t", &json!({ "value": text })).is_valid;
        assert!(is_valid("123e4567e89b12d3a456426614174000") && !is_valid("x"), "{dialect}");
    }
}
