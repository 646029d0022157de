//! Describes the values that a subschema accepts, with everything that a caller needs to write one: allowed values,
//! format, pattern, range, length, item type and the fields of an object.
//!
//! Contract: the work and the length of a description are bounded for every schema. Names and values of the
//! schema are cut, and only two levels of nesting are described.

use std::cell::Cell;
use std::collections::HashSet;

use serde_json::Value;

use super::phrases::{cut, literal};
use crate::schema::{CompiledSchema, Members, NodeId};

/// Maximum number of allowed values that a description lists.
const MAX_VALUES: usize = 20;

/// Maximum number of alternatives, and of subschemas that apply together.
const MAX_ALTERNATIVES: usize = 8;

/// Maximum number of fields of a nested object.
const MAX_FIELDS: usize = 8;

/// Maximum number of characters of a pattern; a longer one is cut.
const MAX_PATTERN_CHARS: usize = 80;

/// Levels of nesting that are described: the elements of an array, and the fields of an object in it.
const MAX_NESTING: usize = 2;

/// Maximum number of subschemas that one description visits.
const MAX_VISITS: usize = 64;

/// Describes the subschemas of one schema, within a number of visits.
struct Describer<'s> {
    schema: &'s CompiledSchema,
    visits_left: Cell<usize>,
}

/// The values that a subschema accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Accepted {
    base: Base,
    /// Constraints on values of that type.
    constraints: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Base {
    /// A type, or several joined by "or"; may name the element type or the fields.
    Type(String),
    /// Allowed values as JSON.
    Values { listed: Vec<String>, has_more: bool },
}

impl Accepted {
    /// Describes a subschema.
    pub(crate) fn of(schema: &CompiledSchema, id: NodeId) -> Self {
        Describer { schema, visits_left: Cell::new(MAX_VISITS) }.describe(id, 0)
    }

    /// Returns the form for lists: `"read" | "write"`, `integer, 1 to 100`, `array of string`.
    pub(crate) fn listed(&self) -> String {
        let base = match &self.base {
            Base::Type(name) => name.clone(),
            Base::Values { listed, has_more } => {
                let more = if *has_more { " | …" } else { "" };
                format!("{}{more}", listed.join(" | "))
            }
        };
        [base].iter().chain(&self.constraints).map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    /// Returns the form for sentences: `one of "read", "write"`, `integer (1 to 100)`.
    pub(crate) fn phrase(&self) -> String {
        let base = match &self.base {
            Base::Type(name) => name.clone(),
            Base::Values { listed, has_more: false } if listed.len() == 1 => listed.concat(),
            Base::Values { listed, has_more } => {
                let more = if *has_more { ", …" } else { "" };
                format!("one of {}{more}", listed.join(", "))
            }
        };
        match self.constraints.as_slice() {
            [] => base,
            constraints => format!("{base} ({})", constraints.join(", ")),
        }
    }

    /// Returns the form for a part of another description.
    fn as_part(&self) -> String {
        match &self.base {
            Base::Values { listed, .. } if listed.len() > 1 => format!("({})", self.listed()),
            _ => self.phrase(),
        }
    }
}

fn any() -> Base {
    Base::Type("a value".to_owned())
}

type Part<'s> = (NodeId, &'s Value);

impl<'s> Describer<'s> {
    fn describe(&self, id: NodeId, nesting: usize) -> Accepted {
        let Some(visits_left) = self.visits_left.get().checked_sub(1) else {
            return Accepted { base: any(), constraints: Vec::new() };
        };
        self.visits_left.set(visits_left);
        let parts = self.parts(id);
        if let Some(base) = parts.iter().find_map(|(_, keywords)| allowed_values(keywords)) {
            return Accepted { base, constraints: Vec::new() };
        }
        let types = parts.iter().map(|(_, keywords)| type_names(keywords));
        let types = types.into_iter().find(|types| !types.is_empty()).unwrap_or_default();
        if types.is_empty() {
            return self.describe_untyped(&parts, nesting);
        }
        let names = types.iter().map(|name| match *name {
            "array" => self.array(&parts, nesting),
            "object" => self.object(&parts, nesting),
            name => cut(name, MAX_PATTERN_CHARS),
        });
        let base = Base::Type(names.collect::<Vec<_>>().join(" or "));
        let constraints = parts.iter().flat_map(|(_, keywords)| constraints(keywords, &types));
        Accepted { base, constraints: constraints.collect() }
    }

    /// Describes a subschema without a type by its alternatives, or by the type that its keywords imply.
    fn describe_untyped(&self, parts: &[Part<'s>], nesting: usize) -> Accepted {
        let choices = parts.iter().flat_map(|(id, _)| &self.schema.graph.node(*id).choices);
        let branches = choices.flat_map(|choice| &choice.branches).take(MAX_ALTERNATIVES);
        let mut alternatives: Vec<Accepted> = Vec::new();
        for branch in branches.filter(|_| nesting <= MAX_NESTING) {
            let alternative = self.describe(*branch, nesting + 1);
            if alternative.base != any() && !alternatives.contains(&alternative) {
                alternatives.push(alternative);
            }
        }
        if let [only] = alternatives.as_slice() {
            return only.clone();
        }
        let has = |keyword: &str| parts.iter().any(|(_, keywords)| keywords.get(keyword).is_some());
        let base = if !alternatives.is_empty() {
            let texts: Vec<String> = alternatives.iter().map(Accepted::as_part).collect();
            Base::Type(texts.join(" or "))
        } else if has("properties") {
            Base::Type(self.object(parts, nesting))
        } else if has("items") {
            Base::Type(self.array(parts, nesting))
        } else {
            any()
        };
        Accepted { base, constraints: Vec::new() }
    }

    /// Returns the subschemas that apply together: the subschema, `allOf` and `$ref`.
    fn parts(&self, id: NodeId) -> Vec<Part<'s>> {
        let (mut parts, mut seen) = (Vec::new(), HashSet::new());
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            if parts.len() >= MAX_ALTERNATIVES || !seen.insert(id) {
                continue;
            }
            let node = self.schema.graph.node(id);
            if let Some(keywords) = self.schema.at(&node.pointer) {
                parts.push((id, keywords));
            }
            pending.extend(node.all_of.iter().rev());
        }
        parts
    }

    fn array(&self, parts: &[Part<'s>], nesting: usize) -> String {
        let items = parts.iter().find_map(|(id, _)| self.schema.graph.node(*id).items);
        let element = items.filter(|_| nesting < MAX_NESTING);
        let element = element.map(|items| self.describe(items, nesting + 1));
        match element.filter(|element| element.base != any()) {
            Some(element) => format!("array of {}", element.as_part()),
            None => "array".to_owned(),
        }
    }

    /// Returns the fields of an object, optional ones with a question mark:
    /// `object {path: string, mode?: string}`.
    fn object(&self, parts: &[Part<'s>], nesting: usize) -> String {
        let required: HashSet<&str> = parts
            .iter()
            .filter_map(|(_, keywords)| keywords.get("required")?.as_array())
            .flat_map(|names| names.iter().filter_map(Value::as_str))
            .collect();
        let fields = parts.iter().flat_map(|(id, _)| &self.schema.graph.node(*id).properties);
        let mut fields: Vec<(&str, NodeId)> = fields.flat_map(Members::iter).collect();
        if fields.is_empty() || nesting >= MAX_NESTING {
            return "object".to_owned();
        }
        // Required fields are shown even if there are many optional ones.
        fields.sort_by_key(|(name, _)| !required.contains(name));
        let shown = fields.iter().take(MAX_FIELDS).map(|(name, id)| {
            let mark = if required.contains(name) { "" } else { "?" };
            let accepted = self.describe(*id, nesting + 1);
            let kind = if accepted.base == any() { "any".to_owned() } else { accepted.as_part() };
            format!("{}{mark}: {kind}", cut(name, MAX_PATTERN_CHARS))
        });
        let more = if fields.len() > MAX_FIELDS { ", …" } else { "" };
        format!("object {{{}{more}}}", shown.collect::<Vec<_>>().join(", "))
    }
}

fn type_names(keywords: &Value) -> Vec<&str> {
    match keywords.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => {
            several.iter().filter_map(Value::as_str).take(MAX_ALTERNATIVES).collect()
        }
        _ => Vec::new(),
    }
}

fn allowed_values(keywords: &Value) -> Option<Base> {
    if let Some(constant) = keywords.get("const") {
        return Some(Base::Values { listed: vec![literal(constant)], has_more: false });
    }
    let values = keywords.get("enum")?.as_array().filter(|values| !values.is_empty())?;
    let listed = values.iter().take(MAX_VALUES).map(literal).collect();
    Some(Base::Values { listed, has_more: values.len() > MAX_VALUES })
}

/// Returns the constraints of one subschema on values of these types.
fn constraints(keywords: &Value, types: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    if types.contains(&"string") {
        let text = |keyword: &str| keywords.get(keyword).and_then(Value::as_str);
        found.extend(text("format").map(|format| format!("format {}", cut(format, 40))));
        let pattern = text("pattern");
        found.extend(pattern.map(|source| format!("pattern `{}`", cut(source, MAX_PATTERN_CHARS))));
        found.extend(count(keywords, ("minLength", "maxLength"), "character"));
    }
    if types.iter().any(|name| matches!(*name, "integer" | "number")) {
        found.extend(range(keywords));
        let step = keywords.get("multipleOf").filter(|step| step.is_number());
        found.extend(step.map(|step| format!("multiple of {step}")));
    }
    if types.contains(&"array") {
        found.extend(count(keywords, ("minItems", "maxItems"), "item"));
        let is_unique = keywords.get("uniqueItems") == Some(&Value::Bool(true));
        found.extend(is_unique.then(|| "no duplicates".to_owned()));
    }
    found
}

fn range(keywords: &Value) -> Option<String> {
    let bound = |keyword: &str| keywords.get(keyword).filter(|bound| bound.is_number());
    let (low, above) = (bound("minimum"), bound("exclusiveMinimum"));
    let (high, below) = (bound("maximum"), bound("exclusiveMaximum"));
    match (low, high) {
        (Some(low), Some(high)) if above.is_none() && below.is_none() => {
            return Some(format!("{low} to {high}"));
        }
        _ => {}
    }
    let bounds = [
        low.map(|low| format!("at least {low}")),
        above.map(|above| format!("greater than {above}")),
        high.map(|high| format!("at most {high}")),
        below.map(|below| format!("less than {below}")),
    ];
    let bounds: Vec<String> = bounds.into_iter().flatten().collect();
    (!bounds.is_empty()).then(|| bounds.join(", "))
}

/// Returns the allowed length; a minimum of 0 is not a constraint.
fn count(keywords: &Value, (min, max): (&str, &str), noun: &str) -> Option<String> {
    let bound = |keyword: &str| {
        let bound = keywords.get(keyword)?;
        let is_zero = bound.as_f64().is_none_or(|bound| bound <= 0.0);
        (!is_zero || keyword == max).then(|| bound.to_string())
    };
    let plural = |count: &str| if count == "1" { "" } else { "s" };
    match (bound(min), bound(max)) {
        (Some(min), Some(max)) if min == max => Some(format!("{min} {noun}{}", plural(&min))),
        (Some(min), Some(max)) => Some(format!("{min} to {max} {noun}s")),
        (Some(min), None) if min == "1" => Some("not empty".to_owned()),
        (Some(min), None) => Some(format!("at least {min} {noun}s")),
        (None, Some(max)) => Some(format!("at most {max} {noun}{}", plural(&max))),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Accepted;
    use crate::config::Limits;
    use crate::schema::{CompiledSchema, SchemaGraph};

    fn accepted(schema: &Value) -> Accepted {
        let compiled = CompiledSchema::compile(schema, &Limits::default()).unwrap();
        Accepted::of(&compiled, SchemaGraph::ROOT)
    }

    #[test]
    fn list_form_shows_values_formats_ranges_and_items() {
        for (schema, expected) in [
            (json!({ "enum": ["read", "write"] }), r#""read" | "write""#),
            (json!({ "type": "string", "enum": ["a", 1, null] }), r#""a" | 1 | null"#),
            (json!({ "const": "v1" }), r#""v1""#),
            (json!({ "type": "string", "format": "date-time" }), "string, format date-time"),
            (json!({ "type": "string", "pattern": "^[A-Z]+$" }), "string, pattern `^[A-Z]+$`"),
            (json!({ "type": "string", "minLength": 1 }), "string, not empty"),
            (
                json!({ "type": "string", "minLength": 2, "maxLength": 8 }),
                "string, 2 to 8 characters",
            ),
            (json!({ "type": "integer", "minimum": 1, "maximum": 100 }), "integer, 1 to 100"),
            (json!({ "type": "number", "exclusiveMinimum": 0 }), "number, greater than 0"),
            (json!({ "type": "integer", "multipleOf": 5 }), "integer, multiple of 5"),
            (json!({ "type": "array", "items": { "type": "string" } }), "array of string"),
            (
                json!({ "type": "array", "items": { "enum": ["a", "b"] }, "maxItems": 3 }),
                r#"array of ("a" | "b"), at most 3 items"#,
            ),
            (
                json!({ "type": ["string", "null"], "format": "date" }),
                "string or null, format date",
            ),
            (
                json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "null" }] }),
                "integer (at least 1) or null",
            ),
            (json!({ "allOf": [{ "type": "string" }], "format": "uri" }), "string, format uri"),
            (json!({}), "a value"),
        ] {
            assert_eq!(accepted(&schema).listed(), expected, "{schema}");
        }
    }

    #[test]
    fn fields_of_nested_objects_are_listed_required_ones_first() {
        let point = json!({
            "type": "object",
            "properties": { "z": {}, "x": { "type": "number" }, "y": { "enum": [1, 2] } },
            "required": ["x", "y"]
        });
        let text = "object {x: number, y: (1 | 2), z?: any}";
        assert_eq!(accepted(&point).listed(), text);
        let points = json!({ "type": "array", "items": point });
        assert_eq!(accepted(&points).listed(), format!("array of {text}"));
    }

    #[test]
    fn sentence_form_names_one_of_the_values() {
        assert_eq!(accepted(&json!({ "enum": ["a", "b"] })).phrase(), r#"one of "a", "b""#);
        assert_eq!(accepted(&json!({ "const": 3 })).phrase(), "3");
        let range = json!({ "type": "integer", "minimum": 1, "maximum": 9 });
        assert_eq!(accepted(&range).phrase(), "integer (1 to 9)");
    }

    #[test]
    fn descriptions_of_recursive_and_wide_schemas_are_bounded() {
        let recursive = json!({
            "type": "object",
            "properties": { "child": { "$ref": "#" }, "children": { "type": "array", "items": { "$ref": "#" } } }
        });
        assert!(accepted(&recursive).listed().len() < 1_000);
        let choice = json!({ "anyOf": [{ "$ref": "#/$defs/c" }, { "$ref": "#/$defs/c" }] });
        let cyclic = json!({ "$ref": "#/$defs/c", "$defs": { "c": choice } });
        assert_eq!(accepted(&cyclic).listed(), "a value");
        let values: Vec<String> = (0..10_000).map(|n| format!("value_{n}")).collect();
        let wide = accepted(&json!({ "enum": values })).listed();
        assert!(wide.ends_with(" | …") && wide.len() < 1_000, "{wide}");
    }
}
