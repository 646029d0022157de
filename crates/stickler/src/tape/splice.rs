//! Replaces ranges of a text and keeps everything else byte for byte.

use std::ops::Range;

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
    use super::splice;

    #[test]
    fn ranges_are_replaced_in_text_order_and_empty_ranges_insert() {
        let edits = vec![(8..9, "y"), (3..3, "a"), (3..5, "b"), (0..1, "")];
        assert_eq!(splice("0123456789", edits), "12ab567y9");
        assert_eq!(splice("text", Vec::<(_, &str)>::new()), "text");
    }
}
