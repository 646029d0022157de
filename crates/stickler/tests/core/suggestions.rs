//! Suggestions and corrections by meaning: assignment, pairing with missing fields, moves and forms of
//! values.

use serde_json::{Value, json};
use stickler::{
    EditKind, McpValidator, Repair, ToolDefinition, ValidationConfig, ValidationResult,
};

fn validate_as(repair: Repair, tool: &str, schema: Value, arguments: Value) -> ValidationResult {
    let mut config = ValidationConfig::default();
    config.repair = repair;
    let validator = McpValidator::new(config);
    let definition = ToolDefinition::new(tool).with_input_schema(schema);
    validator.cache().populate("s", &[definition]);
    validator.validate("s", tool, &arguments)
}

fn validate(schema: Value, arguments: Value) -> ValidationResult {
    validate_as(Repair::Suggest, "tool", schema, arguments)
}

fn object(properties: Value, required: Value) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

fn corrected(result: &ValidationResult) -> Option<Value> {
    result.corrected.as_ref().map(|call| serde_json::from_str(call.arguments.get()).unwrap())
}

/// The first suggestion for the field at a path.
fn first(result: &ValidationResult, path: &str) -> Option<String> {
    let error = result.errors.iter().find(|error| error.path == path)?;
    error.suggestions().first().cloned()
}

fn excel() -> Value {
    object(
        json!({
            "path": { "type": "string", "description": "Path of the workbook" },
            "sheet": { "type": "string" },
            "axis": { "enum": ["rows", "columns"] },
            "start": { "type": "integer" }
        }),
        json!(["path", "sheet", "axis", "start"]),
    )
}

#[test]
fn missing_field_and_the_field_that_stands_for_it_are_one_problem() {
    let sent = json!({ "filepath": "b.xlsx", "sheet_name": "Budget", "axis": "rows", "start": 5 });
    let result = validate(excel(), sent);
    let messages: Vec<&str> = result.errors.iter().map(|error| error.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "`filepath` is not a known field; did you mean `path` (string, required)?",
            "`sheet_name` is not a known field; did you mean `sheet` (string, required)?",
        ]
    );
    let right = json!({ "path": "b.xlsx", "sheet": "Budget", "axis": "rows", "start": 5 });
    assert_eq!(corrected(&result), Some(right));
    assert_eq!(result.edits_in_words(), "renamed filepath → path, sheet_name → sheet");
}

#[test]
fn synonyms_and_longer_names_are_suggested_first() {
    let schema = || {
        object(
            json!({
                "query": { "type": "string" },
                "max_rows": { "type": "integer" },
                "from": { "type": "string" },
                "to": { "type": "string" },
                "target": { "type": "string" }
            }),
            json!([]),
        )
    };
    for (sent, meant) in [
        (json!({ "naturalLanguageQuery": "x" }), "query"),
        (json!({ "numResults": 5 }), "max_rows"),
        (json!({ "dateStart": "2025-06-01" }), "from"),
        (json!({ "dateEnd": "2025-06-01" }), "to"),
        (json!({ "ref": "e1" }), "target"),
    ] {
        let name = sent.as_object().unwrap().keys().next().unwrap().clone();
        let result = validate(schema(), sent);
        assert_eq!(first(&result, &format!("/{name}")).as_deref(), Some(meant), "{name}");
    }
}

#[test]
fn compound_takes_precedence_over_a_misspelling_of_half_the_name() {
    let schema = object(
        json!({ "vmid": { "type": "integer" }, "name": { "type": "string" } }),
        json!(["vmid", "name"]),
    );
    let result = validate(schema, json!({ "node": "pve1", "vmid": 101, "snapname": "upgrade" }));
    assert_eq!(first(&result, "/snapname").as_deref(), Some("name"));
    assert_ne!(first(&result, "/node").as_deref(), Some("name"), "{:?}", result.errors);
}

#[test]
fn opposites_are_never_suggested() {
    for (sent, other) in [
        ("from", "to"),
        ("source", "target"),
        ("min_price", "max_price"),
        ("start", "end"),
        ("include_tags", "exclude_tags"),
        ("old_name", "new_name"),
    ] {
        let schema = object(json!({ other: { "type": "string" } }), json!([other]));
        let result = validate(schema, json!({ sent: "x" }));
        assert_eq!(first(&result, &format!("/{sent}")), None, "{sent} {other}");
        assert_eq!(result.errors.len(), 2, "the missing field stays a problem");
        assert!(result.corrected.is_none());
    }
}

#[test]
fn elimination_never_decides_alone() {
    let schema = object(json!({ "color": { "type": "string" } }), json!(["color"]));
    let result = validate(schema, json!({ "xyz": "x" }));
    assert_eq!(first(&result, "/xyz"), None);
    assert!(result.corrected.is_none());
}

#[test]
fn field_with_a_value_and_no_counterpart_ends_the_correction_and_is_named() {
    let schema = || object(json!({ "path": { "type": "string" } }), json!(["path"]));
    let result = validate(schema(), json!({ "filepath": "a", "dryRun": true }));
    assert!(result.corrected.is_none());
    let message = &result.errors.iter().find(|error| error.path == "/dryRun").unwrap().message;
    assert!(message.contains("no field corresponds to it"), "{message}");
    assert!(!message.contains("leave it out"), "{message}");
    for empty in [json!(null), json!(""), json!([]), json!({})] {
        let result = validate(schema(), json!({ "filepath": "a", "note": empty }));
        assert_eq!(corrected(&result), Some(json!({ "path": "a" })), "{empty}");
    }
}

#[test]
fn fields_are_moved_into_the_object_that_lists_them() {
    let style = json!({
        "type": "object",
        "properties": { "bold": { "type": "boolean" }, "font_size": { "type": "integer" } }
    });
    let schema = || {
        object(json!({ "range": { "type": "string" }, "style": style.clone() }), json!(["range"]))
    };
    let result = validate(schema(), json!({ "range": "A1", "bold": true, "font_size": 12 }));
    let right = json!({ "range": "A1", "style": { "bold": true, "font_size": 12 } });
    assert_eq!(corrected(&result), Some(right.clone()));
    assert_eq!(result.edits[0].kind, EditKind::MoveField);
    let result =
        validate(schema(), json!({ "style": { "font_size": 12 }, "bold": true, "range": "A1" }));
    assert_eq!(corrected(&result), Some(right));
}

#[test]
fn fields_are_moved_out_of_an_object_that_does_not_list_them() {
    let options = json!({ "type": "object", "properties": { "deep": { "type": "boolean" } } });
    let schema = || {
        object(json!({ "path": { "type": "string" }, "options": options.clone() }), json!(["path"]))
    };
    let result = validate(schema(), json!({ "options": { "path": "a", "deep": true } }));
    assert_eq!(corrected(&result), Some(json!({ "options": { "deep": true }, "path": "a" })));
    let wrapped = validate(schema(), json!({ "request": { "path": "a" } }));
    assert_eq!(corrected(&wrapped), Some(json!({ "path": "a" })));
    assert_eq!(wrapped.errors.len(), 1, "{:?}", wrapped.errors);
}

#[test]
fn object_whose_fields_are_listed_with_its_name_before_them_gets_advice() {
    let text = || json!({ "type": "string" });
    let schema = || {
        object(
            json!({ "id": text(), "ownerName": text(), "ownerEmail": text(), "notes": text() }),
            json!(["id", "ownerName"]),
        )
    };
    let result =
        validate(schema(), json!({ "id": "7", "owner": { "name": "Ada", "email": "a@b.c" } }));
    assert_eq!(corrected(&result), None, "other names are not sure enough");
    let messages: Vec<&str> = result.errors.iter().map(|error| error.message.as_str()).collect();
    assert_eq!(
        messages,
        ["`owner` is not a known field; put its fields directly into the object around it, as \
          `ownerName`, `ownerEmail`."]
    );
}

#[test]
fn time_is_not_a_time_zone() {
    let text = |description: &str| json!({ "type": "string", "description": description });
    let schema = object(
        json!({
            "schedule": text("When to run: a cron expression or a date"),
            "time_zone": text("The IANA time zone, such as Europe/Berlin")
        }),
        json!(["schedule"]),
    );
    let result = validate(schema.clone(), json!({ "when": "in 2 minutes" }));
    assert_eq!(first(&result, "/when").as_deref(), Some("schedule"), "{:?}", result.errors);
    let result = validate(schema, json!({ "schedule": "@daily", "tz": "Europe/Berlin" }));
    assert_eq!(first(&result, "/tz").as_deref(), Some("time_zone"), "{:?}", result.errors);
}

#[test]
fn field_with_a_generic_name_is_moved_into_the_object_that_requires_it() {
    let nested = json!({
        "type": "object",
        "properties": { "field": { "type": "object", "description": "Field definition" } },
        "required": ["field"]
    });
    let schema =
        object(json!({ "id": { "type": "string" }, "nested": nested }), json!(["id", "nested"]));
    let result = validate(schema, json!({ "id": "7", "field": { "name": "Priority" } }));
    let right = json!({ "id": "7", "nested": { "field": { "name": "Priority" } } });
    assert_eq!(corrected(&result), Some(right));
}

#[test]
fn apply_never_renames_by_meaning_and_never_moves() {
    let style = json!({ "type": "object", "properties": { "bold": { "type": "boolean" } } });
    let schema =
        || object(json!({ "path": { "type": "string" }, "style": style.clone() }), json!(["path"]));
    for sent in [json!({ "filepath": "a" }), json!({ "path": "a", "bold": true })] {
        let result = validate_as(Repair::Apply, "tool", schema(), sent.clone());
        assert!(!result.is_valid && !result.repaired && result.corrected.is_some(), "{sent}");
    }
    let by_style = validate_as(Repair::Apply, "tool", schema(), json!({ "Path": "a" }));
    assert!(by_style.is_valid && by_style.repaired);
}

#[test]
fn values_in_another_form_are_converted() {
    let schema = |field: Value| object(json!({ "v": field }), json!([]));
    let words = json!({ "type": "array", "items": { "type": "string" } });
    let numbers = json!({ "type": "array", "items": { "type": "integer" } });
    let profiles = json!({ "enum": ["mapbox/driving", "mapbox/walking"] });
    for (field, sent, right) in [
        (words.clone(), json!("duration,distance"), json!(["duration", "distance"])),
        (numbers, json!("1, 2"), json!([1, 2])),
        (words.clone(), json!("one, with spaces here"), json!(["one, with spaces here"])),
        (words.clone(), json!("Hello, world"), json!(["Hello, world"])),
        (words.clone(), json!("Main,docs"), json!(["Main", "docs"])),
        (words, json!("Paris, London"), json!(["Paris", "London"])),
        (json!({ "type": "string" }), json!(["failed"]), json!("failed")),
        (json!({ "enum": ["failed", "passed"] }), json!(["failed"]), json!("failed")),
        (profiles, json!("walking"), json!("mapbox/walking")),
        (json!({ "enum": ["comma", "semicolon"] }), json!(";"), json!("semicolon")),
        (json!({ "enum": ["ascending", "descending"] }), json!("desc"), json!("descending")),
        (json!({ "type": "object" }), json!("```json\n{\"a\":1}\n```"), json!({ "a": 1 })),
        (json!({ "type": "object" }), json!("{'a': True}"), json!({ "a": true })),
    ] {
        let result = validate(schema(field), json!({ "v": sent }));
        assert_eq!(corrected(&result), Some(json!({ "v": right })), "{sent}");
    }
}

#[test]
fn empty_text_is_dropped_from_an_optional_field_that_does_not_admit_it() {
    let fields = json!({ "id": { "type": "integer" }, "sort": { "enum": ["asc", "desc"] } });
    let result = validate(object(fields.clone(), json!([])), json!({ "id": 1, "sort": "" }));
    assert_eq!(corrected(&result), Some(json!({ "id": 1 })));
    let result = validate(object(fields, json!(["sort"])), json!({ "id": 1, "sort": "" }));
    assert_eq!(corrected(&result), None);
}

#[test]
fn field_with_another_unit_is_suggested_and_not_renamed() {
    let schema = object(json!({ "timeout_ms": { "type": "integer" } }), json!(["timeout_ms"]));
    let result = validate(schema, json!({ "timeout_seconds": 5 }));
    assert_eq!(first(&result, "/timeout_seconds").as_deref(), Some("timeout_ms"));
    assert!(result.corrected.is_none());
}

#[test]
fn misspelt_field_of_any_branch_is_renamed() {
    let branch = |kind: &str| {
        let fields = json!({ "type": { "const": kind }, "label": { "type": "string" } });
        let mut branch = object(fields, json!(["type", "label"]));
        branch["additionalProperties"] = json!(false);
        branch
    };
    let choice = json!({ "oneOf": [branch("marker"), branch("area"), branch("line")] });
    let shapes = json!({ "type": "array", "items": choice });
    let schema = object(json!({ "shapes": shapes }), json!(["shapes"]));
    for name in ["Type", "typee", "tyxe"] {
        let result =
            validate(schema.clone(), json!({ "shapes": [{ name: "marker", "label": "a" }] }));
        let right = json!({ "shapes": [{ "type": "marker", "label": "a" }] });
        assert_eq!(corrected(&result), Some(right), "{name}");
    }
}

#[test]
fn value_at_the_end_of_a_long_enum_fits() {
    let mut allowed: Vec<String> = (0..100).map(|index| format!("kind{index}")).collect();
    allowed.push("vote".to_owned());
    let schema = object(json!({ "columnType": { "enum": allowed } }), json!(["columnType"]));
    let result = validate(schema, json!({ "column_typ": "vote" }));
    assert_eq!(corrected(&result), Some(json!({ "columnType": "vote" })));
}

#[test]
fn list_of_empty_objects_fits_a_list_of_objects() {
    let item = json!({ "type": "object", "properties": { "bold": { "type": "boolean" } } });
    let styles = json!({ "type": "array", "items": item });
    let schema = object(json!({ "styles": styles }), json!(["styles"]));
    let result = validate(schema, json!({ "styls": [{}] }));
    assert_eq!(corrected(&result), Some(json!({ "styles": [{}] })));
}

#[test]
fn name_in_another_case_wins_over_a_longer_name() {
    let fields = json!({
        "resource": { "enum": ["processor", "workspace"] },
        "resourceName": { "type": "string", "description": "Name of the resource, a processor" }
    });
    let schema = object(fields, json!(["resource"]));
    let result = validate(schema, json!({ "Resource": "processor" }));
    assert_eq!(corrected(&result), Some(json!({ "resource": "processor" })));
}

#[test]
fn problems_inside_a_renamed_field_are_reported_at_once() {
    let item = object(
        json!({ "entityId": { "type": "string" }, "role": { "type": "string" } }),
        json!(["entityId"]),
    );
    let entities = json!({ "type": "array", "items": item });
    let schema = object(json!({ "entities": entities }), json!(["entities"]));
    let result = validate(schema, json!({ "entityList": [{ "id": "7", "role": "x" }] }));
    assert_eq!(first(&result, "/entityList").as_deref(), Some("entities"));
    assert_eq!(first(&result, "/entityList/0/id").as_deref(), Some("entityId"));
    let right = json!({ "entities": [{ "entityId": "7", "role": "x" }] });
    assert_eq!(corrected(&result), Some(right));
}

#[test]
fn suggestions_are_deterministic() {
    let sent = json!({ "file": "a", "sheets": "b", "dimension": "rows", "begin": 1, "note": "x" });
    let report = || {
        let result = validate(excel(), sent.clone());
        let errors = result.errors.iter().map(|error| error.message.clone());
        (errors.collect::<Vec<_>>(), corrected(&result))
    };
    let expected = report();
    for _ in 0..5 {
        assert_eq!(report(), expected);
    }
}
