//! Resolves local `$ref`s to subschemas.
//!
//! Only the given schema is searched. Remote references are not resolved, because generating an
//! example must not access the network or the file system.

use std::collections::BTreeMap;

use serde_json::Value;

/// Maximum nesting of a schema that is searched. Schemas may be built in memory, so the limit of
/// the parser does not apply.
const MAX_WALK_DEPTH: usize = 128;

/// Keywords with data as their value, in which `$id` has no meaning.
const DATA_KEYWORDS: [&str; 5] = ["enum", "const", "default", "examples", "example"];

/// Keywords with members that are named by the author of the schema.
const NAME_MAPS: [&str; 6] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];

/// The subschemas of a document that references can address.
pub(super) struct Refs<'a> {
    root: &'a Value,
    named: BTreeMap<String, &'a Value>,
}

impl<'a> Refs<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        let mut named = BTreeMap::new();
        collect_names(root, false, 0, &mut named);
        Self { root, named }
    }

    /// Returns the target of `reference`, or `None` if it is not in this document.
    pub(super) fn resolve(&self, reference: &str) -> Option<&'a Value> {
        if let Some(target) = self.named.get(reference) {
            return Some(target);
        }
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let document = if base.is_empty() { self.root } else { self.named.get(base)? };
        let pointer = percent_decode(fragment)?;
        // `Value::pointer` decodes `~0` and `~1`, and returns `None` for other texts.
        document.pointer(&pointer)
    }
}

fn collect_names<'a>(
    schema: &'a Value,
    members_are_names: bool,
    depth: usize,
    named: &mut BTreeMap<String, &'a Value>,
) {
    if depth > MAX_WALK_DEPTH {
        return;
    }
    match schema {
        Value::Array(entries) => {
            for entry in entries {
                collect_names(entry, false, depth + 1, named);
            }
        }
        Value::Object(members) => {
            if !members_are_names {
                for address in addresses(members) {
                    named.entry(address).or_insert(schema);
                }
            }
            for (key, member) in members {
                if members_are_names || !DATA_KEYWORDS.contains(&key.as_str()) {
                    let names_below = !members_are_names && NAME_MAPS.contains(&key.as_str());
                    collect_names(member, names_below, depth + 1, named);
                }
            }
        }
        _ => {}
    }
}

/// Returns all references that address the subschema with these members.
fn addresses(members: &serde_json::Map<String, Value>) -> Vec<String> {
    let text = |key: &str| members.get(key).and_then(Value::as_str);
    let anchors = ["$anchor", "$dynamicAnchor"]
        .into_iter()
        .filter_map(|key| text(key).map(|name| format!("#{name}")));
    let ids = ["$id", "id"]
        .into_iter()
        .filter_map(|key| text(key).map(|id| id.strip_suffix('#').unwrap_or(id).to_owned()));
    anchors.chain(ids).filter(|address| !address.is_empty()).collect()
}

fn percent_decode(text: &str) -> Option<String> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let high = hex_digit(bytes.next()?)?;
            let low = hex_digit(bytes.next()?)?;
            decoded.push(high * 16 + low);
        } else {
            decoded.push(byte);
        }
    }
    String::from_utf8(decoded).ok()
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::Refs;
    use serde_json::json;

    #[test]
    fn pointer_is_percent_decoded_and_unescaped() {
        let schema = json!({"$defs": {"a/b~c d": {"type": "null"}}});
        let refs = Refs::new(&schema);
        assert_eq!(refs.resolve("#/$defs/a~1b~0c%20d"), Some(&json!({"type": "null"})));
    }

    #[test]
    fn empty_fragment_is_the_root() {
        let schema = json!({"type": "object"});
        assert_eq!(Refs::new(&schema).resolve("#"), Some(&schema));
    }

    #[test]
    fn anchors_and_ids_of_every_draft_are_found() {
        let schema = json!({"$defs": {
            "a": {"$anchor": "one", "const": 1},
            "b": {"id": "#two", "const": 2},
            "c": {"$id": "https://example.com/three", "$defs": {"x": {"const": 4}}},
            "d": {"$dynamicAnchor": "five", "const": 5},
        }});
        let refs = Refs::new(&schema);
        for reference in ["#one", "#two", "https://example.com/three", "#five"] {
            assert!(refs.resolve(reference).is_some(), "{reference}");
        }
        assert_eq!(refs.resolve("https://example.com/three#/$defs/x"), Some(&json!({"const": 4})));
    }

    #[test]
    fn id_inside_data_is_not_an_address() {
        let schema = json!({"default": {"$id": "trap"}});
        assert_eq!(Refs::new(&schema).resolve("trap"), None);
    }

    #[test]
    fn property_named_like_a_data_keyword_is_searched() {
        let schema = json!({"properties": {"default": {"$anchor": "here"}}});
        assert!(Refs::new(&schema).resolve("#here").is_some());
    }

    #[test]
    fn unresolvable_references_yield_none() {
        let schema = json!({});
        let refs = Refs::new(&schema);
        for reference in ["#/nowhere", "#%", "#%zz", "other.json", "#name"] {
            assert_eq!(refs.resolve(reference), None, "{reference}");
        }
    }
}
