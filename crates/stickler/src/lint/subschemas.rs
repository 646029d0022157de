//! Collects all subschemas of a schema with their location and role.
//!
//! Every lint rule that inspects schemas iterates over this list. References are not followed: a
//! referenced schema occurs once, where it is defined.

use serde_json::Value;

use crate::tape::escape_segment;

/// A subschema with its location and role.
pub(super) struct Subschema<'s> {
    /// JSON Pointer into the tool's definition.
    pub(super) pointer: String,
    pub(super) schema: &'s Value,
    pub(super) role: Role<'s>,
    /// The value must satisfy the subschema if it is present. False inside `not` and `if`.
    pub(super) is_asserted: bool,
    /// Every valid call has a value at this location.
    pub(super) is_required: bool,
    /// Part of a branch or condition, so that other subschemas describe the same value too.
    pub(super) is_conditional: bool,
}

/// The part of the value that a subschema describes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role<'s> {
    Root,
    /// The value of a named field.
    Parameter(&'s str),
    /// The elements of an array.
    Element,
    /// The same value as the parent schema (an in-place applicator).
    InPlace,
    /// The target of references.
    Definition,
    Other,
}

/// How a keyword contains its subschemas.
enum Container {
    One,
    List,
    Map,
}

impl<'s> Subschema<'s> {
    pub(super) fn get(&self, keyword: &str) -> Option<&'s Value> {
        self.schema.get(keyword)
    }

    pub(super) fn has(&self, keywords: &[&str]) -> bool {
        keywords.iter().any(|keyword| self.schema.get(keyword).is_some())
    }

    /// Whether the path from the root consists of `properties` alone.
    pub(super) fn is_reached_through_properties(&self) -> bool {
        let mut segments = self.pointer.split('/').skip(2);
        // The pointer of a parameter alternates between `properties` and a name.
        std::iter::from_fn(|| Some((segments.next()?, segments.next())))
            .all(|(keyword, name)| keyword == "properties" && name.is_some())
    }

    /// Whether `type` is, or contains, the given type.
    pub(super) fn has_type(&self, expected: &str) -> bool {
        match self.get("type") {
            Some(Value::String(one)) => one == expected,
            Some(Value::Array(several)) => several.iter().any(|one| one == expected),
            _ => false,
        }
    }

    fn children(&self) -> Vec<Subschema<'s>> {
        let Value::Object(keywords) = self.schema else { return Vec::new() };
        let mut children = Vec::new();
        for (keyword, value) in keywords {
            let Some((role, container)) = keyword_role(keyword, value) else { continue };
            let pointer = format!("{}/{}", self.pointer, escape_segment(keyword));
            match (container, value) {
                (Container::One, _) => children.push(self.child(keyword, pointer, value, role)),
                (Container::List, Value::Array(list)) => {
                    for (index, schema) in list.iter().enumerate() {
                        let pointer = format!("{pointer}/{index}");
                        children.push(self.child(keyword, pointer, schema, role));
                    }
                }
                (Container::Map, Value::Object(map)) => {
                    for (name, schema) in map {
                        // `dependencies` may contain lists of names.
                        if schema.is_array() {
                            continue;
                        }
                        let pointer = format!("{pointer}/{}", escape_segment(name));
                        let role = match role {
                            Role::Parameter(_) => Role::Parameter(name),
                            other => other,
                        };
                        children.push(self.child(keyword, pointer, schema, role));
                    }
                }
                _ => {}
            }
        }
        children
    }

    fn child(
        &self,
        keyword: &str,
        pointer: String,
        schema: &'s Value,
        role: Role<'s>,
    ) -> Subschema<'s> {
        let is_required = match role {
            Role::Parameter(name) => self.is_required && self.requires(name),
            Role::InPlace => self.is_required && keyword == "allOf",
            _ => false,
        };
        let asserts = !matches!(keyword, "not" | "if" | "contains" | "propertyNames");
        Subschema {
            pointer,
            schema,
            role,
            is_asserted: self.is_asserted && asserts,
            is_required,
            is_conditional: role == Role::InPlace
                || (self.is_conditional && role != Role::Definition),
        }
    }

    fn requires(&self, name: &str) -> bool {
        let required = self.get("required").and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|one| one == name))
    }
}

/// Returns all subschemas in the order of the schema, parents before children.
pub(super) fn collect<'s>(schema: &'s Value, base: &str) -> Vec<Subschema<'s>> {
    let mut pending = vec![Subschema {
        pointer: base.to_owned(),
        schema,
        role: Role::Root,
        is_asserted: true,
        is_required: true,
        is_conditional: false,
    }];
    let mut subschemas = Vec::new();
    while let Some(subschema) = pending.pop() {
        pending.extend(subschema.children().into_iter().rev());
        subschemas.push(subschema);
    }
    subschemas
}

fn keyword_role<'s>(keyword: &str, value: &Value) -> Option<(Role<'s>, Container)> {
    let is_list = value.is_array();
    Some(match keyword {
        "properties" => (Role::Parameter(""), Container::Map),
        "patternProperties" => (Role::Other, Container::Map),
        "$defs" | "definitions" => (Role::Definition, Container::Map),
        "dependentSchemas" | "dependencies" => (Role::InPlace, Container::Map),
        "items" if is_list => (Role::Element, Container::List),
        "items" => (Role::Element, Container::One),
        "prefixItems" => (Role::Element, Container::List),
        "allOf" | "anyOf" | "oneOf" => (Role::InPlace, Container::List),
        "if" | "then" | "else" | "not" => (Role::InPlace, Container::One),
        "additionalProperties"
        | "unevaluatedProperties"
        | "additionalItems"
        | "unevaluatedItems"
        | "contains"
        | "propertyNames"
        | "contentSchema" => (Role::Other, Container::One),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Role, collect};
    use serde_json::json;

    #[test]
    fn subschemas_are_collected_with_their_pointers() {
        let schema = json!({
            "properties": { "a/b": { "items": { "anyOf": [{}, { "not": {} }] } }, "c": true },
            "required": ["a/b"],
            "$defs": { "properties": { "properties": { "x": {} } } },
            "default": { "properties": { "no": {} } }
        });
        let subschemas = collect(&schema, "/inputSchema");
        let pointers: Vec<&str> =
            subschemas.iter().map(|subschema| subschema.pointer.as_str()).collect();
        assert_eq!(
            pointers,
            [
                "/inputSchema",
                "/inputSchema/properties/a~1b",
                "/inputSchema/properties/a~1b/items",
                "/inputSchema/properties/a~1b/items/anyOf/0",
                "/inputSchema/properties/a~1b/items/anyOf/1",
                "/inputSchema/properties/a~1b/items/anyOf/1/not",
                "/inputSchema/properties/c",
                "/inputSchema/$defs/properties",
                "/inputSchema/$defs/properties/properties/x",
            ]
        );
        assert!(subschemas[1].is_required && subschemas[1].role == Role::Parameter("a/b"));
        assert!(!subschemas[2].is_required && !subschemas[6].is_required);
        assert!(!subschemas[5].is_asserted && subschemas[4].is_asserted);
    }
}
