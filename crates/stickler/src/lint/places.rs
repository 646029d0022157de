//! Every subschema of a schema, with its place.

use serde_json::Value;

use crate::tape::escape_segment;

/// One subschema.
pub(super) struct Place<'s> {
    /// JSON Pointer within the tool's definition.
    pub(super) pointer: String,
    pub(super) schema: &'s Value,
    pub(super) role: Role<'s>,
    /// The value must satisfy it, as far as the value is there; not so inside of `not` or `if`.
    pub(super) is_asserted: bool,
    /// No call is valid without a value in this place.
    pub(super) is_required: bool,
    /// It stands in a branch or condition beside which others speak of the same value.
    pub(super) is_conditional: bool,
}

/// What a subschema is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role<'s> {
    Root,
    /// The value of a named field.
    Parameter(&'s str),
    /// The elements of an array.
    Element,
    /// The same value as the schema that it is in.
    InPlace,
    /// Something to refer to.
    Definition,
    Other,
}

/// How a keyword holds its subschemas.
enum Held {
    One,
    List,
    Map,
}

impl<'s> Place<'s> {
    pub(super) fn get(&self, keyword: &str) -> Option<&'s Value> {
        self.schema.get(keyword)
    }

    pub(super) fn has(&self, keywords: &[&str]) -> bool {
        keywords.iter().any(|keyword| self.schema.get(keyword).is_some())
    }

    /// Whether it is reached from the root through `properties` alone.
    pub(super) fn is_plain(&self) -> bool {
        let mut segments = self.pointer.split('/').skip(2);
        // A pointer alternates between the keyword and names.
        std::iter::from_fn(|| Some((segments.next()?, segments.next())))
            .all(|(keyword, name)| keyword == "properties" && name.is_some())
    }

    /// Whether its `type` says, or one of them does, what is asked for.
    pub(super) fn has_type(&self, wanted: &str) -> bool {
        match self.get("type") {
            Some(Value::String(one)) => one == wanted,
            Some(Value::Array(several)) => several.iter().any(|one| one == wanted),
            _ => false,
        }
    }

    fn children(&self) -> Vec<Place<'s>> {
        let Value::Object(keywords) = self.schema else { return Vec::new() };
        let mut children = Vec::new();
        for (keyword, value) in keywords {
            let Some((role, held)) = keyword_role(keyword, value) else { continue };
            let pointer = format!("{}/{}", self.pointer, escape_segment(keyword));
            match (held, value) {
                (Held::One, _) => children.push(self.child(keyword, pointer, value, role)),
                (Held::List, Value::Array(list)) => {
                    for (index, schema) in list.iter().enumerate() {
                        let pointer = format!("{pointer}/{index}");
                        children.push(self.child(keyword, pointer, schema, role));
                    }
                }
                (Held::Map, Value::Object(map)) => {
                    for (name, schema) in map {
                        // `dependencies` may list names instead.
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
    ) -> Place<'s> {
        let is_required = match role {
            Role::Parameter(name) => self.is_required && self.requires(name),
            Role::InPlace => self.is_required && keyword == "allOf",
            _ => false,
        };
        let asserts = !matches!(keyword, "not" | "if" | "contains" | "propertyNames");
        Place {
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

/// All subschemas, outer ones before inner ones, in the order of the schema.
pub(super) fn of<'s>(schema: &'s Value, base: &str) -> Vec<Place<'s>> {
    let mut pending = vec![Place {
        pointer: base.to_owned(),
        schema,
        role: Role::Root,
        is_asserted: true,
        is_required: true,
        is_conditional: false,
    }];
    let mut places = Vec::new();
    while let Some(place) = pending.pop() {
        pending.extend(place.children().into_iter().rev());
        places.push(place);
    }
    places
}

fn keyword_role<'s>(keyword: &str, value: &Value) -> Option<(Role<'s>, Held)> {
    let is_list = value.is_array();
    Some(match keyword {
        "properties" => (Role::Parameter(""), Held::Map),
        "patternProperties" => (Role::Other, Held::Map),
        "$defs" | "definitions" => (Role::Definition, Held::Map),
        "dependentSchemas" | "dependencies" => (Role::InPlace, Held::Map),
        "items" if is_list => (Role::Element, Held::List),
        "items" => (Role::Element, Held::One),
        "prefixItems" => (Role::Element, Held::List),
        "allOf" | "anyOf" | "oneOf" => (Role::InPlace, Held::List),
        "if" | "then" | "else" | "not" => (Role::InPlace, Held::One),
        "additionalProperties"
        | "unevaluatedProperties"
        | "additionalItems"
        | "unevaluatedItems"
        | "contains"
        | "propertyNames"
        | "contentSchema" => (Role::Other, Held::One),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Role, of};
    use serde_json::json;

    #[test]
    fn every_subschema_has_its_place() {
        let schema = json!({
            "properties": { "a/b": { "items": { "anyOf": [{}, { "not": {} }] } }, "c": true },
            "required": ["a/b"],
            "$defs": { "properties": { "properties": { "x": {} } } },
            "default": { "properties": { "no": {} } }
        });
        let places = of(&schema, "/inputSchema");
        let pointers: Vec<&str> = places.iter().map(|place| place.pointer.as_str()).collect();
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
        assert!(places[1].is_required && places[1].role == Role::Parameter("a/b"));
        assert!(!places[2].is_required && !places[6].is_required);
        assert!(!places[5].is_asserted && places[4].is_asserted);
    }
}
