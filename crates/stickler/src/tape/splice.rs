//! Replaces ranges of a text and keeps everything else byte for byte.

use std::ops::Range;

use super::{Kind, Node};

/// A byte range and the text that replaces it; an empty range inserts.
pub type Insertion = (Range<usize>, String);

/// Returns the insertion of a last element or member into an array or object.
pub fn append(container: Node<'_>, text: &str) -> Insertion {
    let comma = if container.is_empty() { "" } else { "," };
    let end = container.span().end.saturating_sub(1);
    (end..end, format!("{comma}{text}"))
}

/// Returns the insertion that sets `outer.name.member` to a JSON text and creates the inner object if it is
/// missing; `None` if `outer.name` is not an object, because a repeated member would hide it.
pub fn set_nested(outer: Node<'_>, name: &str, member: &str, value: &str) -> Option<Insertion> {
    let new = format!("\"{member}\":{value}");
    match outer.get(name) {
        Some(inner) if inner.kind() == Kind::Object => Some(match inner.get(member) {
            Some(old) => (old.span(), value.to_owned()),
            None => append(inner, &new),
        }),
        Some(_) => None,
        None => Some(append(outer, &format!("\"{name}\":{{{new}}}"))),
    }
}

/// Returns a text with ranges replaced; an empty range inserts. An insertion comes before a
/// replacement at the same position. Overlapping ranges are the caller's mistake: the text that they share is left out once.
pub fn splice<T: AsRef<str>>(text: &str, mut edits: Vec<(Range<usize>, T)>) -> String {
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    let added: usize = edits.iter().map(|(_, new)| new.as_ref().len()).sum();
    let mut spliced = String::with_capacity(text.len() + added);
    let mut done = 0;
    for (range, new) in &edits {
        spliced.push_str(text.get(done..range.start).unwrap_or_default());
        spliced.push_str(new.as_ref());
        done = done.max(range.end);
    }
    spliced.push_str(text.get(done..).unwrap_or_default());
    spliced
}

#[cfg(test)]
mod tests {
    use super::{append, set_nested, splice};
    use crate::tape::TapeBuffer;

    #[test]
    fn members_are_appended_replaced_and_never_repeated() {
        let set = |text: &str| {
            let mut buffer = TapeBuffer::new();
            let tape = buffer.read(text.as_bytes(), 8).unwrap();
            let insertion = set_nested(tape.root(), "a", "b", "1")?;
            Some(splice(text, vec![insertion]))
        };
        assert_eq!(set("{}").as_deref(), Some(r#"{"a":{"b":1}}"#));
        assert_eq!(set(r#"{"x":0}"#).as_deref(), Some(r#"{"x":0,"a":{"b":1}}"#));
        assert_eq!(set(r#"{"a":{}}"#).as_deref(), Some(r#"{"a":{"b":1}}"#));
        assert_eq!(set(r#"{"a":{"b":0}}"#).as_deref(), Some(r#"{"a":{"b":1}}"#));
        assert_eq!(set(r#"{"a":[]}"#), None);
        let mut buffer = TapeBuffer::new();
        let tape = buffer.read(b"[0]", 8).unwrap();
        assert_eq!(splice("[0]", vec![append(tape.root(), "1")]), "[0,1]");
    }

    #[test]
    fn ranges_are_replaced_in_text_order_and_empty_ranges_insert() {
        let edits = vec![(8..9, "y"), (3..3, "a"), (3..5, "b"), (0..1, "")];
        assert_eq!(splice("0123456789", edits), "12ab567y9");
        assert_eq!(splice("text", Vec::<(_, &str)>::new()), "text");
    }
}
