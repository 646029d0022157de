//! Builds arrays: one telling element where the schema allows it, more where it must.

use std::ops::ControlFlow;

use serde_json::{Value, json};

use super::builder::{Builder, Spot};
use super::candidates::Take;
use super::flat::Flat;
use super::string::count;

/// More elements than this are not worth an example, however many a schema demands.
const MAX_ELEMENTS: usize = 256;

/// Offers arrays for `flat`: the telling length first, then the shortest, then longer ones.
pub(super) fn offer(
    builder: &Builder<'_>,
    flat: &Flat,
    spot: Spot<'_>,
    take: &mut Take<'_>,
) -> ControlFlow<()> {
    let shape = Shape::of(flat);
    if shape.least > MAX_ELEMENTS {
        return ControlFlow::Continue(());
    }
    let telling = shape.telling_length();
    let mut lengths = vec![telling, shape.least, telling + 1];
    lengths.retain(|length| (shape.least..=shape.most).contains(length));
    for variant in 0..=spot.variety {
        for &length in &lengths {
            let Some(elements) = shape.fill(builder, spot, length, variant) else {
                // A needed element has no value, and no other length would give it one.
                return ControlFlow::Continue(());
            };
            take(Value::Array(elements))?;
        }
    }
    ControlFlow::Continue(())
}

struct Shape<'f> {
    prefix: &'f [Value],
    rest: Option<&'f Value>,
    contains: Option<&'f Value>,
    least_contained: usize,
    least: usize,
    most: usize,
    unique: bool,
}

impl<'f> Shape<'f> {
    fn of(flat: &'f Flat) -> Self {
        let keywords = &flat.keywords;
        let contains = keywords.get("contains");
        let least_contained = match contains {
            Some(_) => count(keywords, "minContains").unwrap_or(1),
            None => 0,
        };
        let prefix = keywords.get("prefixItems").and_then(Value::as_array);
        Self {
            prefix: prefix.map(Vec::as_slice).unwrap_or_default(),
            rest: keywords.get("items"),
            contains,
            least_contained,
            least: count(keywords, "minItems").unwrap_or(0).max(least_contained),
            most: count(keywords, "maxItems").unwrap_or(usize::MAX),
            unique: keywords.get("uniqueItems") == Some(&Value::Bool(true)),
        }
    }

    /// A tuple in full, or one element where it is known what elements look like.
    fn telling_length(&self) -> usize {
        let described = match self.rest {
            Some(Value::Bool(_)) | None => self.prefix.len(),
            Some(_) => self.prefix.len().max(1),
        };
        let held = match self.least_contained {
            0 => 0,
            // Elements that a tuple has fixed need not be the ones that are looked for.
            contained => self.prefix.len().saturating_add(contained),
        };
        self.least.max(described).max(held).min(self.most)
    }

    /// `length` elements, or fewer where an element that is not needed has no value.
    fn fill(
        &self,
        builder: &Builder<'_>,
        spot: Spot<'_>,
        length: usize,
        variant: usize,
    ) -> Option<Vec<Value>> {
        let mut elements: Vec<Value> = Vec::new();
        for index in 0..length.min(MAX_ELEMENTS) {
            let path = format!("{}/{index}", spot.path);
            let mut below = spot.below(&path);
            if self.unique {
                below.variety = index + 1;
            }
            if index == 0 {
                below.skip = variant;
                below.variety = below.variety.max(spot.variety);
            }
            let taken = if self.unique { elements.as_slice() } else { &[] };
            match builder.build_distinct(&self.schema_at(index, length), below, taken) {
                Some(element) => elements.push(element),
                None if elements.len() >= self.least => break,
                None => return None,
            }
        }
        Some(elements)
    }

    fn schema_at(&self, index: usize, length: usize) -> Value {
        let own = match (self.prefix.get(index), self.rest) {
            (Some(schema), _) | (None, Some(schema)) => schema.clone(),
            (None, None) => Value::Bool(true),
        };
        match self.contains {
            // The last ones, so that tuple positions stay free where there is room.
            Some(wanted) if index.saturating_add(self.least_contained) >= length => {
                json!({ "allOf": [own, wanted] })
            }
            _ => own,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::example_of;
    use serde_json::json;

    #[test]
    fn one_element_is_shown_where_elements_are_described() {
        for (schema, expected) in [
            (json!({"type": "array", "items": {"type": "integer"}}), json!([1])),
            (json!({"type": "array", "items": {"type": "integer"}, "maxItems": 0}), json!([])),
            (json!({"type": "array", "items": {"type": "integer"}, "minItems": 2}), json!([1, 1])),
            (json!({"type": "array"}), json!([])),
            (json!({"type": "array", "items": false}), json!([])),
        ] {
            assert_eq!(example_of(&schema), Some(expected), "{schema}");
        }
    }

    #[test]
    fn tuples_of_either_spelling_are_filled_in_order() {
        let positions = json!([{"type": "string"}, {"type": "boolean"}]);
        let old = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "array", "items": positions, "additionalItems": false
        });
        let new = json!({"type": "array", "prefixItems": positions, "items": false});
        for schema in [old, new] {
            assert_eq!(example_of(&schema), Some(json!(["example", true])), "{schema}");
        }
    }

    #[test]
    fn unique_elements_differ() {
        for items in [
            json!({"type": "string"}),
            json!({"type": "integer"}),
            json!({"enum": ["a", "b", "c", "d"]}),
            json!({"type": "string", "pattern": "^[A-Z]{2}$"}),
            json!({"type": "string", "format": "uuid", "pattern": "-"}),
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}),
            json!({"type": "array", "items": {"type": "integer"}}),
            json!({"anyOf": [{"type": "string", "maxLength": 2}, {"type": "boolean"}]}),
        ] {
            let schema =
                json!({"type": "array", "items": items, "minItems": 3, "uniqueItems": true});
            assert!(example_of(&schema).is_some(), "{schema}");
        }
    }

    #[test]
    fn what_must_be_contained_is_contained() {
        let schema = json!({
            "type": "array",
            "items": {"type": "integer"},
            "contains": {"minimum": 7},
            "minContains": 2,
            "minItems": 3
        });
        assert_eq!(example_of(&schema), Some(json!([1, 7, 7])));
    }

    #[test]
    fn a_recursive_element_is_left_out() {
        let schema = json!({
            "type": "object",
            "properties": {"children": {"type": "array", "items": {"$ref": "#"}}},
            "required": ["children"]
        });
        assert_eq!(example_of(&schema), Some(json!({"children": []})));
    }
}
