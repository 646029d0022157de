//! One schema node with its references followed and its `allOf` merged in.
//!
//! What cannot be merged because a decision is needed (`anyOf`, `oneOf`,
//! `if`/`then`/`else`) is kept as a list of choices for the builder. Older
//! drafts' spellings are turned into the newest ones on the way.

use serde_json::{Map, Value, json};

use super::merge::{merge, type_names};
use super::refs::Refs;

const MAX_NESTING: usize = 48;

/// The merged keywords of a node and what is left to decide.
#[derive(Clone, Debug, Default)]
pub(super) struct Flat {
    pub(super) keywords: Map<String, Value>,
    /// All patterns that apply, since two patterns have no merged form.
    pub(super) patterns: Vec<String>,
    pub(super) choices: Vec<Choice>,
    /// How many choices have been made on the way to this form.
    pub(super) decisions: usize,
    /// The references that were followed, by which recursion is noticed.
    pub(super) followed: Vec<String>,
}

/// Branches of which one is to be merged in.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) branches: Vec<Value>,
    /// Whether simple branches should come first; conditionals have an order of their own.
    pub(super) rank: bool,
}

impl Flat {
    /// Flattens `schema`; `None` when no value can satisfy it.
    pub(super) fn of(schema: &Value, refs: &Refs<'_>) -> Option<Self> {
        let mut flat = Self::default();
        flat.absorb(schema, refs, 0).then_some(flat)
    }

    /// This node with `branch` merged in; `None` when the two contradict each other.
    pub(super) fn with(&self, branch: &Value, refs: &Refs<'_>) -> Option<Self> {
        let mut flat = self.clone();
        flat.absorb(branch, refs, 0).then_some(flat)
    }

    fn absorb(&mut self, schema: &Value, refs: &Refs<'_>, nesting: usize) -> bool {
        let members = match schema {
            Value::Bool(allowed) => return *allowed,
            Value::Object(members) if nesting <= MAX_NESTING => members,
            _ => return true,
        };
        // References and `allOf` first, so that the node's own annotations win.
        self.absorb_references(members, refs, nesting)
            && self.absorb_all_of(members, refs, nesting)
            && self.absorb_own(members)
    }

    fn absorb_references(
        &mut self,
        members: &Map<String, Value>,
        refs: &Refs<'_>,
        nesting: usize,
    ) -> bool {
        ["$ref", "$dynamicRef", "$recursiveRef"]
            .into_iter()
            .filter_map(|keyword| members.get(keyword).and_then(Value::as_str))
            .all(|reference| {
                if self.followed.iter().any(|seen| seen == reference) {
                    return true;
                }
                self.followed.push(reference.to_owned());
                refs.resolve(reference).is_none_or(|target| self.absorb(target, refs, nesting + 1))
            })
    }

    fn absorb_all_of(
        &mut self,
        members: &Map<String, Value>,
        refs: &Refs<'_>,
        nesting: usize,
    ) -> bool {
        let Some(Value::Array(branches)) = members.get("allOf") else {
            return true;
        };
        branches.iter().all(|branch| self.absorb(branch, refs, nesting + 1))
    }

    fn absorb_own(&mut self, members: &Map<String, Value>) -> bool {
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = members.get(keyword) {
                self.choices.push(Choice { branches: branches.clone(), rank: true });
            }
        }
        if let Some(condition) = members.get("if") {
            self.choices.push(conditional(condition, members));
        }
        let pattern = members.get("pattern").and_then(Value::as_str);
        self.patterns.extend(pattern.map(str::to_owned));
        merge(&mut self.keywords, &modernised(members))
    }
}

/// The ways to satisfy `if`/`then`/`else`: untouched, taking the condition, or refusing it.
fn conditional(condition: &Value, members: &Map<String, Value>) -> Choice {
    let then = members.get("then").unwrap_or(&Value::Bool(true));
    let otherwise = members.get("else").unwrap_or(&Value::Bool(true));
    Choice {
        branches: vec![Value::Bool(true), json!({ "allOf": [condition, then] }), otherwise.clone()],
        rank: false,
    }
}

/// The mergeable keywords, spelled as in the newest draft.
fn modernised(members: &Map<String, Value>) -> Map<String, Value> {
    const DECIDED_ELSEWHERE: [&str; 15] = [
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
        .filter(|(keyword, _)| !DECIDED_ELSEWHERE.contains(&keyword.as_str()))
        .map(|(keyword, value)| (keyword.clone(), value.clone()))
        .collect();
    modernise_bound(&mut modern, "minimum", "exclusiveMinimum");
    modernise_bound(&mut modern, "maximum", "exclusiveMaximum");
    modernise_items(&mut modern);
    modern
}

/// Draft-04 says `minimum: 3, exclusiveMinimum: true` for `exclusiveMinimum: 3`.
fn modernise_bound(members: &mut Map<String, Value>, inclusive: &str, exclusive: &str) {
    let Some(&Value::Bool(is_exclusive)) = members.get(exclusive) else {
        return;
    };
    members.remove(exclusive);
    if is_exclusive && let Some(bound) = members.remove(inclusive) {
        members.insert(exclusive.to_owned(), bound);
    }
}

/// Before 2020-12 an array of `items` was what `prefixItems` is now.
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

/// How simple a branch is: lower sorts first.
pub(super) fn complexity(branch: &Value, refs: &Refs<'_>) -> (bool, u8, usize) {
    let Some(flat) = Flat::of(branch, refs) else {
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
    use super::{Flat, complexity};
    use serde_json::{Value, json};

    fn keywords(schema: &Value) -> Option<Value> {
        Flat::of(schema, &Refs::new(schema)).map(|flat| Value::Object(flat.keywords))
    }

    #[test]
    fn a_reference_is_merged_with_its_siblings() {
        let schema = json!({"$ref": "#/$defs/a", "default": 2, "$defs": {"a": {"type": "integer", "default": 1}}});
        assert_eq!(keywords(&schema), Some(json!({"type": "integer", "default": 2})));
    }

    #[test]
    fn older_spellings_become_the_newest() {
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
    fn a_reference_to_itself_ends() {
        assert_eq!(
            keywords(&json!({"allOf": [{"$ref": "#"}], "minimum": 1})),
            Some(json!({"minimum": 1}))
        );
    }

    #[test]
    fn contradictory_branches_have_no_flat_form() {
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
