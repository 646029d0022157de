//! Finds definitions and tests in a Rust file by searching its lines.

/// Keywords that can precede the name of a definition.
const KEYWORDS: [&str; 9] =
    ["fn", "struct", "enum", "trait", "const", "static", "mod", "type", "macro_rules"];

/// The number of lines above a function that are searched for its attributes.
const MAX_ATTRIBUTE_LINES: usize = 12;

/// Returns whether a line of the text defines or implements an item with this name.
pub(super) fn defines(text: &str, name: &str) -> bool {
    text.lines().any(|line| {
        let words = words(line);
        let is_definition =
            |pair: &[&str]| matches!(pair, [word, named] if KEYWORDS.contains(word) && *named == name);
        words.windows(2).any(is_definition)
            || (words.first() == Some(&"impl") && words.contains(&name))
    })
}

/// The reason of tests that CI runs explicitly, where the reference data is present.
const NEEDS_DATA: &str = "#[ignore = \"needs ";

/// Returns why a function is not an active test.
pub(super) fn missing_test(text: &str, name: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let is_function = |line: &&str| words(line).windows(2).any(|pair| pair == ["fn", name]);
    let Some(at) = lines.iter().position(is_function) else {
        return Some(format!("has no test `{name}`"));
    };
    let above = lines.iter().take(at).rev().take(MAX_ATTRIBUTE_LINES).map(|line| line.trim());
    let attributes: Vec<&str> = above.take_while(|line| !ends_item(line)).collect();
    let is_inactive = |line: &&str| line.starts_with("#[ignore") && !line.starts_with(NEEDS_DATA);
    if attributes.iter().any(is_inactive) {
        return Some(format!("has `{name}`, which is ignored"));
    }
    let is_test = |line: &&str| line.starts_with("#[test]") || line.starts_with("#[tokio::test");
    (!attributes.iter().any(is_test)).then(|| format!("has `{name}`, which is not a test"))
}

/// Returns whether a line ends another item, so that lines above it cannot be attributes.
fn ends_item(line: &str) -> bool {
    line.is_empty() || line.ends_with(['{', '}', ';'])
}

/// Returns the words of a line of code; none for a comment.
fn words(line: &str) -> Vec<&str> {
    if line.trim_start().starts_with("//") {
        return Vec::new();
    }
    let between = |c: char| !c.is_alphanumeric() && c != '_';
    line.split(between).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::{defines, missing_test};

    const CODE: &str = "\
// struct Ghost;
pub struct Cache<'a> { call: fn(u8) }
impl<T> Watch for Guard<T> {}
pub(crate) const fn limit() -> usize { 1 }
static TABLE: &[u8] = &[];
let use_of = Used::new();

/// Words.
#[test]
#[allow(dead_code)]
fn a_test() {}
fn a_helper() {}

#[test]
#[ignore = \"slow\"]
fn a_slow_test() {}

#[test]
#[ignore = \"needs the suite\"]
fn a_comparison() {}
";

    #[test]
    fn definitions_of_every_kind_are_found() {
        for name in ["Cache", "Guard", "Watch", "limit", "TABLE", "a_helper"] {
            assert!(defines(CODE, name), "{name}");
        }
    }

    #[test]
    fn mentions_and_partial_names_are_not_definitions() {
        for name in ["Ghost", "Used", "call", "Cach", "lim"] {
            assert!(!defines(CODE, name), "{name}");
        }
    }

    #[test]
    fn function_with_the_test_attribute_is_a_test() {
        assert_eq!(missing_test(CODE, "a_test"), None);
        assert!(missing_test(CODE, "a_helper").is_some_and(|why| why.contains("is not a test")));
        assert!(missing_test(CODE, "nothing").is_some_and(|why| why.contains("no test `nothing`")));
    }

    #[test]
    fn ignored_test_is_reported_unless_it_needs_data() {
        assert_eq!(missing_test(CODE, "a_comparison"), None);
        assert!(missing_test(CODE, "a_slow_test").is_some_and(|why| why.contains("ignored")));
    }
}
