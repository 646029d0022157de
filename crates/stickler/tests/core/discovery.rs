//! Layer 1: the schema cache stores the tools of a list and quarantines unusable schemas.

use serde_json::{Value, json};
use stickler::{
    Formats, Limits, McpValidator, SchemaStore, ToolDefinition, ToolList, ToolSchemaCache,
    ValidationConfig,
};

fn tool(name: &str, schema: Value) -> ToolDefinition {
    ToolDefinition::new(name).with_input_schema(schema)
}

fn quarantine_reason(schema: Value) -> String {
    let cache = ToolSchemaCache::new();
    let good = tool("good", json!({ "type": "object" }));
    cache.populate("s", &[tool("bad", schema), good]);
    assert!(cache.get("s", "good").is_some(), "the other tool is usable");
    assert!(cache.get("s", "bad").is_none());
    let quarantined = cache.quarantined("s");
    assert_eq!(quarantined, cache.compile_all("s"), "the error is available after the lookup");
    let [error] = quarantined.as_slice() else { panic!("one tool in quarantine") };
    error.to_string()
}

#[test]
fn new_cache_is_empty() {
    let stats = ToolSchemaCache::new().stats();
    assert_eq!((stats.tool_count, stats.servers), (0, 0));
}

#[test]
fn populate_stores_the_tools_of_a_list() {
    let cache = ToolSchemaCache::new();
    let schema =
        json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] });
    let discovery = cache.populate("server", &[tool("tool1", schema)]);
    assert_eq!(discovery.usable, 1);
    assert!(cache.get("server", "tool1").is_some());
}

#[test]
fn tools_without_a_schema_are_known_but_unchecked() {
    let cache = ToolSchemaCache::new();
    let tools = [ToolDefinition::new("no_schema"), tool("has_schema", json!({ "type": "object" }))];
    let discovery = cache.populate("server", &tools);
    assert_eq!((discovery.usable, discovery.without_schema), (1, 1));
    assert!(cache.get("server", "no_schema").is_none());
    assert_eq!(cache.tool_names("server"), ["no_schema", "has_schema"]);
    let validator = McpValidator::new(ValidationConfig::default());
    validator.cache().populate("server", &tools);
    let result = validator.validate("server", "no_schema", &json!({ "anything": 1 }));
    assert!(result.is_valid, "{:?}", result.errors);
}

#[test]
fn get_returns_the_schema_of_one_tool_of_one_server() {
    let cache = ToolSchemaCache::new();
    for (server, field) in [("one", "a"), ("two", "b")] {
        let schema = |field: &str| json!({ "properties": { field: {} } });
        cache.populate(server, &[tool("t", schema(field)), tool("other", schema("c"))]);
    }
    assert_eq!(cache.get("one", "t").unwrap().properties, ["a"]);
    assert_eq!(cache.get("two", "t").unwrap().properties, ["b"]);
    assert!(cache.get("two", "none").is_none());
}

#[test]
fn names_of_alternatives_are_listed_but_not_required() {
    let cache = ToolSchemaCache::new();
    let schema = json!({ "required": ["a"], "properties": { "a": {} }, "anyOf": [
        { "properties": { "b": {} }, "required": ["b"] },
        { "properties": { "c": {} }, "required": ["c"] }
    ] });
    cache.populate("s", &[tool("t", schema)]);
    let cached = cache.get("s", "t").unwrap();
    assert_eq!(cached.required, ["a"]);
    assert_eq!(cached.properties, ["a", "b", "c"]);
}

#[test]
fn unknown_tool_is_not_in_the_cache() {
    assert!(ToolSchemaCache::new().get("server", "tool").is_none());
}

#[test]
fn clear_removes_all_entries() {
    let cache = ToolSchemaCache::new();
    cache.populate("s", &[tool("t", json!({}))]);
    assert_eq!(cache.stats().tool_count, 1);
    cache.clear();
    assert_eq!(cache.stats().tool_count, 0);
}

#[test]
fn required_and_property_names_are_available() {
    let cache = ToolSchemaCache::new();
    let schema = json!({
        "type": "object",
        "properties": { "entity": { "type": "string" }, "locale": { "type": "string" } },
        "required": ["entity"]
    });
    cache.populate("s", &[tool("t", schema.clone())]);
    let cached = cache.get("s", "t").unwrap();
    assert_eq!(cached.required, ["entity"]);
    assert_eq!(cached.properties, ["entity", "locale"]);
    assert_eq!(cached.raw, schema);
    assert!(cached.accepts(&json!({ "entity": "a" })), "the compiled form");
    assert!(!cached.accepts(&json!({ "locale": "a" })), "the compiled form");
}

#[test]
fn cache_is_shared_between_threads() {
    let cache = ToolSchemaCache::new();
    std::thread::scope(|scope| {
        for server in ["a", "b", "c", "d"] {
            let cache = &cache;
            scope.spawn(move || {
                for round in 0..50 {
                    cache.populate(server, &[tool("t", json!({ "minProperties": round }))]);
                    assert_eq!(cache.get(server, "t").unwrap().raw["minProperties"], round);
                }
            });
        }
    });
    assert_eq!((cache.stats().servers, cache.stats().tool_count), (4, 4));
}

#[test]
fn names_behind_references_and_all_of_are_collected() {
    let cache = ToolSchemaCache::new();
    let schema = json!({
        "allOf": [{ "$ref": "#/$defs/base" }, { "properties": { "b": {} }, "required": ["b"] }],
        "$defs": { "base": { "properties": { "a": {} }, "required": ["a"] } }
    });
    cache.populate("s", &[tool("t", schema)]);
    let cached = cache.get("s", "t").unwrap();
    assert_eq!(cached.required, ["a", "b"]);
    assert_eq!(cached.properties, ["a", "b"]);
}

#[test]
fn new_list_replaces_only_the_list_of_its_server() {
    let cache = ToolSchemaCache::new();
    cache.populate("s", &[tool("old", json!({}))]);
    cache.populate("other", &[tool("kept", json!({}))]);
    cache.populate("s", &[tool("new", json!({}))]);
    assert!(cache.get("s", "old").is_none());
    assert!(cache.get("s", "new").is_some());
    assert!(cache.get("other", "kept").is_some());
    assert_eq!((cache.stats().tool_count, cache.stats().servers), (2, 2));
}

#[test]
fn single_tools_can_be_registered_and_servers_removed() {
    let validator = McpValidator::new(ValidationConfig::default());
    validator.cache().populate("s", &[tool("a", json!({}))]);
    let schema = json!({ "properties": { "x": { "type": "string" } }, "required": ["x"] });
    let more = tool("b", schema).with_description("Does b").with_example(json!({ "x": "y" }));
    validator.register_tool_schema("s", &more).unwrap();
    assert_eq!(validator.cache().tool_names("s"), ["a", "b"]);
    let cached = validator.cache().get("s", "b").unwrap();
    assert_eq!(cached.description.as_deref(), Some("Does b"));
    assert_eq!(cached.example(), Some(&json!({ "x": "y" })));
    assert!(validator.cache().remove_server("s"));
    assert!(!validator.cache().remove_server("s"));
    assert_eq!(validator.cache().stats().tool_count, 0);
}

#[test]
fn invalid_registered_example_is_not_shown() {
    let cache = ToolSchemaCache::new();
    let schema = json!({ "properties": { "x": { "type": "integer" } }, "required": ["x"] });
    cache.populate("s", &[tool("t", schema).with_example(json!({ "x": "no" }))]);
    let cached = cache.get("s", "t").unwrap();
    assert!(cached.accepts(cached.example().unwrap()));
}

#[test]
fn invalid_example_is_an_error_at_registration() {
    let validator = McpValidator::new(ValidationConfig::default());
    let schema = json!({ "properties": { "x": { "type": "integer" } }, "required": ["x"] });
    let wrong = tool("t", schema.clone()).with_example(json!({ "x": "no" }));
    let error = validator.register_tool_schema("s", &wrong).unwrap_err().to_string();
    let expected = "[STK-108] the schema of tool `t` cannot be used: its example is invalid: `x` must be an integer";
    assert!(error.starts_with(expected), "{error}");
    let right = tool("t", schema).with_example(json!({ "x": 1 }));
    assert_eq!(validator.register_tool_schema("s", &right), Ok(()));
}

#[test]
fn equal_schemas_are_compiled_once() {
    let cache = ToolSchemaCache::new();
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
    let tools: Vec<_> = (0..50).map(|n| tool(&format!("t{n}"), schema.clone())).collect();
    cache.populate("one", &tools);
    cache.populate("two", &tools);
    assert_eq!(cache.compile_all("one").len() + cache.compile_all("two").len(), 0);
    let stats = cache.stats();
    assert_eq!((stats.tool_count, stats.distinct_schemas), (100, 1));
    assert_eq!((stats.compiled_schemas, stats.compilations), (1, 1));
}

#[test]
fn caches_of_a_store_compile_a_schema_once_and_keep_it_between_sessions() {
    let store = SchemaStore::new();
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
    let session = |server: &str| {
        let validator = McpValidator::new(ValidationConfig::default()).with_schema_store(&store);
        validator.cache().populate(server, &[tool("t", schema.clone()), tool("u", json!(3))]);
        assert!(validator.validate(server, "t", &json!({ "a": "x" })).is_valid);
        assert!(!validator.validate(server, "t", &json!({ "a": 1 })).is_valid);
        assert_eq!(validator.cache().quarantined(server).len(), 1);
        validator
    };
    let first = session("one");
    assert_eq!(session("two").cache().stats().compilations, 1, "shared with a live cache");
    drop(first);
    let later = session("three");
    assert_eq!(later.cache().stats().compilations, 1, "kept although no list used it");
    assert_eq!(later.cache().stats().servers, 1, "lists are not shared");
    let mut other = ValidationConfig::default();
    other.formats = Formats::Strict;
    let other = McpValidator::new(other).with_schema_store(&store);
    other.cache().populate("s", &[tool("t", schema.clone())]);
    assert!(other.cache().compile_all("s").is_empty());
    assert_eq!(other.cache().stats().compilations, 1, "other settings compile separately");
}

#[test]
fn kept_schemas_give_way_to_schemas_in_use() {
    let store = SchemaStore::new();
    let mut config = ValidationConfig::default();
    let schema = |n: usize| json!({ "type": "object", "properties": { format!("f{n}"): {} } });
    let compile = |config: &ValidationConfig, n: usize| {
        let validator = McpValidator::new(config.clone()).with_schema_store(&store);
        validator.cache().populate("s", &[tool("t", schema(n))]);
        let failures = validator.cache().compile_all("s");
        (failures.len(), validator.cache().stats().compiled_bytes)
    };
    let (_, bytes) = compile(&config, 0);
    config.limits.compiled_bytes = bytes + bytes / 2;
    for n in 0..4 {
        let (failures, bytes) = compile(&config, n);
        assert_eq!(failures, 0, "schema {n}");
        assert!(bytes <= config.limits.compiled_bytes);
    }
}

#[test]
fn dialects_from_draft_4_are_supported() {
    for (dialect, exclusive) in [
        ("http://json-schema.org/draft-04/schema#", json!(true)),
        ("http://json-schema.org/draft-06/schema#", json!(5)),
        ("http://json-schema.org/draft-07/schema#", json!(5)),
        ("https://json-schema.org/draft/2019-09/schema", json!(5)),
        ("https://json-schema.org/draft/2020-12/schema", json!(5)),
    ] {
        let validator = McpValidator::new(ValidationConfig::default());
        let schema = json!({
            "$schema": dialect,
            "properties": { "n": { "minimum": 5, "exclusiveMinimum": exclusive } }
        });
        validator.cache().populate("s", &[tool("t", schema)]);
        assert_eq!(validator.cache().compile_all("s"), [], "{dialect}");
        assert!(!validator.validate("s", "t", &json!({ "n": 5 })).is_valid, "{dialect}");
        assert!(validator.validate("s", "t", &json!({ "n": 6 })).is_valid, "{dialect}");
    }
}

#[test]
fn unknown_dialect_is_rejected_by_name() {
    let reason = quarantine_reason(json!({ "$schema": "https://example.com/my-dialect" }));
    assert!(reason.starts_with("[STK-108]"), "{reason}");
    assert!(reason.contains("`https://example.com/my-dialect`"), "{reason}");
}

#[test]
fn dangling_and_external_references_are_rejected() {
    for target in ["#/$defs/missing", "https://example.com/schema.json", "file:///etc/passwd"] {
        let reason = quarantine_reason(json!({ "properties": { "a": { "$ref": target } } }));
        assert!(reason.contains("cannot be resolved"), "{target}: {reason}");
    }
}

#[test]
fn invalid_schema_is_rejected_with_its_path() {
    let reason = quarantine_reason(json!({ "properties": { "a": { "type": "strnig" } } }));
    assert!(reason.contains("`/properties/a/type`"), "{reason}");
    assert!(quarantine_reason(json!([1, 2])).contains("neither an object nor a boolean"));
}

#[test]
fn schema_over_a_limit_is_rejected() {
    let mut deep = json!({});
    for _ in 0..100 {
        deep = json!({ "not": deep });
    }
    assert!(quarantine_reason(deep).contains("64 levels"));
    let long = json!({ "description": "x".repeat(1 << 20) });
    assert!(quarantine_reason(long).contains("bytes"));
}

#[test]
fn shared_references_are_counted_per_use() {
    let mut definitions = serde_json::Map::new();
    for level in 0..20 {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        definitions.insert(format!("d{level}"), json!({ "allOf": [next.clone(), next] }));
    }
    definitions.insert("d20".into(), json!({ "type": "object" }));
    let schema = json!({ "$ref": "#/$defs/d0", "$defs": definitions });
    assert!(quarantine_reason(schema).contains("more than 10000 subschemas"));
}

#[test]
fn endless_reference_chain_is_rejected() {
    let mut definitions = serde_json::Map::new();
    for level in 0..5_000 {
        definitions
            .insert(format!("d{level}"), json!({ "$ref": format!("#/$defs/d{}", level + 1) }));
    }
    definitions.insert("d5000".into(), json!({ "type": "object" }));
    let schema = json!({ "$ref": "#/$defs/d0", "$defs": definitions });
    assert!(quarantine_reason(schema).contains("chain of references is too long"));
}

#[test]
fn recursive_schema_is_usable() {
    let validator = McpValidator::new(ValidationConfig::default());
    let schema = json!({
        "properties": { "child": { "$ref": "#" }, "name": { "type": "string" } }
    });
    validator.cache().populate("s", &[tool("t", schema)]);
    assert_eq!(validator.cache().compile_all("s"), []);
    let good = json!({ "child": { "child": { "name": "x" } } });
    assert!(validator.validate("s", "t", &good).is_valid);
    let bad = validator.validate("s", "t", &json!({ "child": { "child": { "nmae": "x" } } }));
    assert_eq!(bad.errors[0].path, "/child/child/nmae");
}

#[test]
fn tools_over_the_limit_are_accepted_unchecked() {
    let mut config = ValidationConfig::default();
    config.limits.tools_per_server = 3;
    let validator = McpValidator::new(config);
    let tools: Vec<_> = (0..5).map(|n| tool(&format!("t{n}"), json!({}))).collect();
    assert_eq!(validator.cache().populate("s", &tools).over_limit, 2);
    assert!(validator.validate("s", "t4", &json!({})).is_valid);
}

#[test]
fn lists_are_read_in_three_shapes_and_bad_entries_are_skipped() {
    let tools = r#"[{"name":"a","inputSchema":{"type":"object"}},{"nome":"b"},7]"#;
    for text in [
        tools.to_owned(),
        format!("{{\"tools\":{tools}}}"),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"tools\":{tools}}}}}"),
    ] {
        let list = ToolList::read(text.as_bytes(), &Limits::default()).unwrap();
        assert_eq!((list.tools.len(), list.nameless), (1, 2), "{text}");
    }
    assert!(ToolList::read(b"{\"tols\":[]}", &Limits::default()).is_err());
    assert!(ToolList::read(b"not json", &Limits::default()).is_err());
}

#[test]
fn schema_of_five_thousand_levels_quarantines_only_its_tool() {
    let deep = "{\"not\":".repeat(5_000) + "{}" + &"}".repeat(5_000);
    let text = format!(
        "[{{\"name\":\"deep\",\"inputSchema\":{deep}}},{{\"name\":\"good\",\"inputSchema\":{{}}}}]"
    );
    let list = ToolList::read(text.as_bytes(), &Limits::default()).unwrap();
    let discovery = ToolSchemaCache::new().populate("s", &list.tools);
    assert_eq!((discovery.usable, discovery.quarantined.len()), (1, 1));
    assert!(discovery.quarantined[0].reason.contains("64 levels"));
}

#[test]
fn documentation_link_is_read_from_meta() {
    let text = br#"[{"name":"a","_meta":{"docs":"https://example.com/a"}},
                    {"name":"b","_meta":{"docs":"javascript:alert(1)"}}]"#;
    let list = ToolList::read(text, &Limits::default()).unwrap();
    assert_eq!(list.tools[0].documentation.as_deref(), Some("https://example.com/a"));
    assert_eq!(list.tools[1].documentation, None);
}
