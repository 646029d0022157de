//! A schema node with its references resolved and its `allOf` merged.
//!
//! Keywords that need a decision (`anyOf`, `oneOf`, `if`/`then`/`else`) are kept as a list of
//! choices for the builder. Keywords of older drafts are converted to those of 2020-12.

use serde_json::{Map, Value, json};

use super::merge::{merge, type_names};
use super::refs::Refs;

/// Maximum nesting of references and `allOf`.
const MAX_NESTING: usize = 48;

/// The merged keywords of a node and the remaining choices.
#[derive(Clone, Debug, Default)]
pub(super) struct FlatSchema {
    pub(super) keywords: Map<String, Value>,
    /// All patterns that apply. Two patterns cannot be merged into one.
    pub(super) patterns: Vec<String>,
    pub(super) choices: Vec<Choice>,
    /// Number of choices that were made to obtain this form.
    pub(super) decisions: usize,
    /// The references that were followed, to detect recursion.
    pub(super) followed: Vec<String>,
}

/// Branches, one of which the builder merges.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) branches: Vec<Value>,
    /// Whether to sort the branches by complexity. The branches of a conditional keep their order.
    pub(super) sort_by_complexity: bool,
}

impl FlatSchema {
    /// Flattens `schema`; returns `None` if no value can satisfy it.
    pub(super) fn of(schema: &Value, refs: &Refs<'_>) -> Option<Self> {
        let mut flat = Self::default();
        flat.merge_schema(schema, refs, 0).then_some(flat)
    }

    /// Returns this node merged with `branch`; `None` if they contradict each other.
    pub(super) fn with(&self, branch: &Value, refs: &Refs<'_>) -> Option<Self> {
        let mut flat = self.clone();
        flat.merge_schema(branch, refs, 0).then_some(flat)
    }

    fn merge_schema(&mut self, schema: &Value, refs: &Refs<'_>, nesting: usize) -> bool {
        let members = match schema {
            Value::Bool(allowed) => return *allowed,
            Value::Object(members) if nesting <= MAX_NESTING => members,
            _ => return true,
        };
        // References and `allOf` come first, so that the annotations of this node take precedence.
        self.merge_references(members, refs, nesting)
            && self.merge_all_of(members, refs, nesting)
            && self.merge_keywords(members)
    }

    fn merge_references(
        &mut self,
        members: &Map<String, Value>,
        refs: &Refs<'_>,
        nesting: usize,
    ) -> bool {
        ["$ref", "$dynamicRef", "$recursiveRef"]
            .into_iter()
            .filter_map(|keyword| members.get(keyword).and_then(Value::as_str))
            .all(|reference| {
                if self.followed.iter().any(|followed| followed == reference) {
                    return true;
                }
                self.followed.push(reference.to_owned());
                refs.resolve(reference)
                    .is_none_or(|target| self.merge_schema(target, refs, nesting + 1))
            })
    }

    fn merge_all_of(
        &mut self,
        members: &Map<String, Value>,
        refs: &Refs<'_>,
        nesting: usize,
    ) -> bool {
        let Some(Value::Array(branches)) = members.get("allOf") else {
            return true;
        };
        branches.iter().all(|branch| self.merge_schema(branch, refs, nesting + 1))
    }

    fn merge_keywords(&mut self, members: &Map<String, Value>) -> bool {
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = members.get(keyword) {
                self.choices.push(Choice { branches: branches.clone(), sort_by_complexity: true });
            }
        }
        if let Some(condition) = members.get("if") {
            self.choices.push(conditional(condition, members));
        }
        let pattern = members.get("pattern").and_then(Value::as_str);
        self.patterns.extend(pattern.map(str::to_owned));
        merge(&mut self.keywords, &modernise(members))
    }
}

/// Returns the ways to satisfy `if`/`then`/`else`: unconstrained, with the condition, or without
/// it.
fn conditional(condition: &Value, members: &Map<String, Value>) -> Choice {
    let then = members.get("then").unwrap_or(&Value::Bool(true));
    let otherwise = members.get("else").unwrap_or(&Value::Bool(true));
    Choice {
        branches: vec![Value::Bool(true), json!({ "allOf": [condition, then] }), otherwise.clone()],
        sort_by_complexity: false,
    }
}

/// Returns the mergeable keywords, converted to 2020-12.
fn modernise(members: &Map<String, Value>) -> Map<String, Value> {
    const NOT_MERGED: [&str; 15] = [
        "$ref",
        "$dynamicRef",
        "$recursiveRef",
        "allOf",
        "anyOf",
        "oneOf",
        "if",
        "then",
        "else",
        "not",
        "pattern",
        "$defs",
        "definitions",
        "$id",
        "id",
    ];
    let mut modern: Map<String, Value> = members
        .iter()
        .filter(|(keyword, _)| !NOT_MERGED.contains(&keyword.as_str()))
        .map(|(keyword, value)| (keyword.clone(), value.clone()))
        .collect();
    modernise_bound(&mut modern, "minimum", "exclusiveMinimum");
    modernise_bound(&mut modern, "maximum", "exclusiveMaximum");
    modernise_items(&mut modern);
    modern
}

/// Draft-04 uses `minimum: 3, exclusiveMinimum: true` for `exclusiveMinimum: 3`.
fn modernise_bound(members: &mut Map<String, Value>, inclusive: &str, exclusive: &str) {
    let Some(&Value::Bool(is_exclusive)) = members.get(exclusive) else {
        return;
    };
    members.remove(exclusive);
    if is_exclusive && let Some(bound) = members.remove(inclusive) {
        members.insert(exclusive.to_owned(), bound);
    }
}

/// Before 2020-12, `items` with an array had the meaning of `prefixItems`.
fn modernise_items(members: &mut Map<String, Value>) {
    let rest = members.remove("additionalItems");
    if let Some(Value::Array(_)) = members.get("items") {
        if let Some(positions) = members.remove("items") {
            members.insert("prefixItems".to_owned(), positions);
        }
        if let Some(rest) = rest {
            members.insert("items".to_owned(), rest);
        }
    }
}

/// Returns the sort key of a branch; simple branches come first.
pub(super) fn complexity(branch: &Value, refs: &Refs<'_>) -> (bool, u8, usize) {
    let Some(flat) = FlatSchema::of(branch, refs) else {
        return (true, u8::MAX, usize::MAX);
    };
    let types = flat.keywords.get("type").map(type_names).unwrap_or_default();
    let only_null = types == ["null"] || flat.keywords.get("const") == Some(&Value::Null);
    let is_object = types.first() == Some(&"object") || flat.keywords.contains_key("properties");
    let is_array = types.first() == Some(&"array") || flat.keywords.contains_key("items");
    let kind = match (is_object, is_array) {
        (true, _) => 2,
        (false, true) => 1,
        (false, false) => 0,
    };
    let required = flat.keywords.get("required").and_then(Value::as_array);
    (only_null, kind, required.map_or(0, Vec::len))
}

#[cfg(test)]
mod tests {
    use super::super::refs::Refs;
    use super::{FlatSchema, complexity};
    use serde_json::{Value, json};

    fn keywords(schema: &Value) -> Option<Value> {
        FlatSchema::of(schema, &Refs::new(schema)).map(|flat| Value::Object(flat.keywords))
    }

    #[test]
    fn reference_is_merged_with_its_siblings() {
        let schema = json!({"$ref": "#/$defs/a", "default": 2, "$defs": {"a": {"type": "integer", "default": 1}}});
        assert_eq!(keywords(&schema), Some(json!({"type": "integer", "default": 2})));
    }

    #[test]
    fn keywords_of_older_drafts_are_converted() {
        assert_eq!(
            keywords(
                &json!({"minimum": 3, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false})
            ),
            Some(json!({"exclusiveMinimum": 3, "maximum": 9}))
        );
        assert_eq!(
            keywords(&json!({"items": [true], "additionalItems": false})),
            Some(json!({"prefixItems": [true], "items": false}))
        );
    }

    #[test]
    fn self_reference_terminates() {
        assert_eq!(
            keywords(&json!({"allOf": [{"$ref": "#"}], "minimum": 1})),
            Some(json!({"minimum": 1}))
        );
    }

    #[test]
    fn contradictory_branches_cannot_be_flattened() {
        assert_eq!(keywords(&json!({"allOf": [{"const": 1}, {"const": 2}]})), None);
        assert_eq!(keywords(&json!({"allOf": [false]})), None);
    }

    #[test]
    fn scalars_sort_before_objects_and_null_comes_last() {
        let refs_root = json!({});
        let refs = Refs::new(&refs_root);
        let rank = |schema: Value| complexity(&schema, &refs);
        assert!(rank(json!({"type": "string"})) < rank(json!({"type": "object"})));
        assert!(rank(json!({"type": "object", "required": ["a"]})) < rank(json!({"type": "null"})));
        assert!(rank(json!({"required": ["a"]})) < rank(json!({"required": ["a", "b"]})));
    }
}
