//! Sent and expected bytes with placeholders.
//!
//! `${name}` is a value that varies. In bytes to send it must be known. In expected bytes its first occurrence
//! captures the value, up to the text that follows; later occurrences must be equal. `${name~literal}` is a
//! placeholder if the gateway rewrites ids (clients share one process), and the literal otherwise. `${*N:text}` is
//! the text N times.

use std::collections::BTreeMap;

/// The values of placeholders, by name.
pub(crate) type Bindings = BTreeMap<String, String>;

/// Formats bytes on one line; line breaks and invalid UTF-8 become visible.
pub(crate) fn visible(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(&chunk.valid().replace('\n', "␊").replace('\r', "␍"));
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// Returns the bytes for a text of a script.
pub(crate) fn bytes_of(text: &str) -> Vec<u8> {
    text.replace('␊', "\n").replace('␍', "\r").into_bytes()
}

/// Replaces constants and repetitions.
pub(crate) fn expand(text: &str, constants: &Bindings) -> String {
    let mut text = text.to_owned();
    // A constant may refer to another one.
    for _ in 0..8 {
        let next = replace_each(&text, |name| match name.strip_prefix('*') {
            Some(repeat) => {
                let (count, what) = repeat.split_once(':')?;
                Some(what.repeat(count.parse().ok()?))
            }
            None => constants.get(name).cloned(),
        });
        if next == text {
            break;
        }
        text = next;
    }
    text
}

/// Replaces `${name~literal}` by the placeholder or the literal.
pub(crate) fn decide(text: &str, rewrites_ids: bool) -> String {
    replace_each(text, |name| {
        let (name, literal) = name.split_once('~')?;
        Some(if rewrites_ids { format!("${{{name}}}") } else { literal.to_owned() })
    })
}

/// Replaces all placeholders; fails with the name of the first one without a value.
pub(crate) fn fill(text: &str, bindings: &Bindings) -> Result<String, String> {
    let text = replace_each(text, |name| bindings.get(name).cloned());
    match text.split_once("${").and_then(|(_, rest)| rest.split_once('}')) {
        Some((name, _)) => Err(format!("the placeholder ${{{name}}} has no value yet")),
        None => Ok(text),
    }
}

/// Returns whether a text matches a template; if so, new placeholders get their values.
pub(crate) fn matches(template: &str, actual: &str, bindings: &mut Bindings) -> bool {
    let mut found = bindings.clone();
    let (mut template, mut actual) = (template, actual);
    while let Some((literal, rest)) = template.split_once("${") {
        let Some((name, rest)) = rest.split_once('}') else { return false };
        let Some(after) = actual.strip_prefix(literal) else { return false };
        let value = if let Some(value) = found.get(name) {
            value.clone()
        } else {
            let next = rest.split_once("${").map_or(rest, |(next, _)| next);
            let end = if next.is_empty() { Some(after.len()) } else { after.find(next) };
            let Some(end) = end.filter(|end| *end > 0) else { return false };
            after[..end].to_owned()
        };
        let Some(after) = after.strip_prefix(&value) else { return false };
        found.insert(name.to_owned(), value);
        (template, actual) = (rest, after);
    }
    let is_same = template == actual;
    if is_same {
        *bindings = found;
    }
    is_same
}

/// Shows the first difference, for texts that are too long to compare by eye.
pub(crate) fn difference(template: &str, actual: &str, bindings: &Bindings) -> String {
    const MAX_SHOWN_CHARS: usize = 60;
    let expected = replace_each(template, |name| bindings.get(name).cloned());
    let same = expected.chars().zip(actual.chars()).take_while(|(one, other)| one == other).count();
    let rest = |text: &str| text.chars().skip(same).take(MAX_SHOWN_CHARS).collect::<String>();
    let (expected, actual) = (rest(&expected), rest(actual));
    format!("from character {same} on: expected `{expected}`, received `{actual}`")
}

/// Converts an actual message to an expectation: known values that are long enough to be unmistakable, and the ids
/// of gateway requests, become placeholders.
pub(crate) fn record(actual: &str, bindings: &mut Bindings) -> String {
    let mut text = actual.to_owned();
    while let Some(start) = text.find("\"stickler:") {
        let end = text[start + 1..].find('"').map_or(text.len(), |end| start + end + 2);
        let id = text[start..end].to_owned();
        let known = bindings.iter().find(|(_, value)| **value == id).map(|(name, _)| name.clone());
        let own =
            |bindings: &Bindings| bindings.keys().filter(|key| key.starts_with("own")).count();
        let name = known.unwrap_or_else(|| format!("own{}", own(bindings) + 1));
        text = text.replace(&id, &format!("${{{name}}}"));
        bindings.insert(name, id);
    }
    for (name, value) in bindings.iter().filter(|(_, value)| value.len() >= 5) {
        text = text.replace(value.as_str(), &format!("${{{name}}}"));
    }
    text
}

/// Replaces each placeholder for which `value` returns a text.
fn replace_each(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let Some((name, after)) = after.split_once('}') else {
            out.push_str("${");
            rest = after;
            continue;
        };
        match value(name) {
            Some(value) => out.push_str(&value),
            None => out.push_str(&format!("${{{name}}}")),
        }
        rest = after;
    }
    out + rest
}
