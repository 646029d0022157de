//! The sentences of Python's `jsonschema` (and of the Rust crate of that name).
//!
//! `Input validation error: 'name' is a required property`, `12 is not of type 'string'`,
//! `'v' is not one of ['a', 'b']`,
//! `Additional properties are not allowed ('x' was unexpected)`.

use super::lead_in::Message;
use super::tokens::{name, names, quoted};
use super::{About, Complaint, place};

pub(super) fn recognise(message: &Message<'_>) -> Vec<Complaint> {
    let mut lines = message.body.lines();
    let Some(sentence) = lines.next() else {
        return Vec::new();
    };
    let rest = message.body.get(sentence.len()..).unwrap_or_default().trim();
    // Alone, or followed by what this library appends: anything else is somebody's prose.
    if !rest.is_empty() && !rest.starts_with("Failed validating") && !message.blames_the_call() {
        return Vec::new();
    }
    let parent = instance_path(rest);
    let found = missing(sentence).or_else(|| unknown(sentence)).or_else(|| bad_value(sentence));
    found.map(|found| found.complaints(&parent, message)).unwrap_or_default()
}

/// What is wrong, and the fields that the sentence names as children of the instance.
struct Fault {
    about: About,
    children: Vec<String>,
}

impl Fault {
    fn complaints(&self, parent: &[String], message: &Message<'_>) -> Vec<Complaint> {
        let at = |path: &[String]| place::complaint(path, message.scope, self.about.clone());
        if self.children.is_empty() {
            return at(parent).into_iter().collect();
        }
        let child = |name: &String| [parent, std::slice::from_ref(name)].concat();
        self.children.iter().filter_map(|name| at(&child(name))).collect()
    }
}

fn missing(sentence: &str) -> Option<Fault> {
    let (field, rest) = quoted_name(sentence)?;
    (rest.trim_end_matches('.') == " is a required property")
        .then(|| Fault { about: About::MissingField, children: vec![field.to_owned()] })
}

fn unknown(sentence: &str) -> Option<Fault> {
    let rest = sentence.strip_prefix("Additional properties are not allowed (")?;
    let (children, rest) = names(rest);
    let ends_well = rest.starts_with(" was unexpected)") || rest.starts_with(" were unexpected)");
    (ends_well && !children.is_empty()).then_some(Fault { about: About::UnknownField, children })
}

fn bad_value(sentence: &str) -> Option<Fault> {
    let about = if let Some((value, types)) = sentence.rsplit_once(" is not of type ") {
        let types = quoted(types.starts_with(['\'', '"']).then_some(types)?);
        About::WrongType { expected: Some(types.join(" | ")), received: Some(type_of(value)?) }
    } else {
        let (value, allowed) = sentence.rsplit_once(" is not one of ")?;
        type_of(value)?;
        let is_list = allowed.starts_with(['[', '\'', '"']);
        About::NotInEnum { allowed: is_list.then(|| quoted(allowed))? }
    };
    Some(Fault { about, children: Vec::new() })
}

fn quoted_name(text: &str) -> Option<(&str, &str)> {
    text.starts_with(['\'', '"']).then(|| name(text))?
}

/// The JSON type of a value as Python or JSON prints it; none for what is not such a value.
fn type_of(value: &str) -> Option<String> {
    let type_name = match value {
        "None" | "null" => "null",
        "True" | "False" | "true" | "false" => "boolean",
        _ if is_within(value, '\'', '\'') || is_within(value, '"', '"') => "string",
        _ if is_within(value, '[', ']') => "array",
        _ if is_within(value, '{', '}') => "object",
        _ if value.parse::<f64>().is_ok() => "number",
        _ => return None,
    };
    Some(type_name.to_owned())
}

fn is_within(value: &str, open: char, close: char) -> bool {
    value.len() >= 2 && value.starts_with(open) && value.ends_with(close)
}

/// The path of `On instance['a'][0]:`, which the long form of an error ends with.
fn instance_path(appended: &str) -> Vec<String> {
    let line = appended.lines().find_map(|line| line.trim().strip_prefix("On instance"));
    line.and_then(|line| line.split_once("]:"))
        .map_or_else(Vec::new, |(path, _)| place::segments(&format!("{path}]")))
}

#[cfg(test)]
mod tests {
    use crate::enhance::complaint::{About, Complaint, recognise};

    fn wrong(expected: &str, received: &str) -> About {
        About::WrongType { expected: Some(expected.into()), received: Some(received.into()) }
    }

    #[test]
    fn a_required_property_is_missing_with_or_without_lead_in() {
        let missing = Complaint { about: About::MissingField, path: "/name".into() };
        for text in [
            "'name' is a required property",
            "Input validation error: \"name\" is a required property",
        ] {
            assert_eq!(recognise(text), std::slice::from_ref(&missing), "{text}");
        }
    }

    #[test]
    fn every_additional_property_is_named() {
        let text = "Input validation error: Additional properties are not allowed ('x', 'y' were unexpected)";
        let paths: Vec<String> = recognise(text).into_iter().map(|c| c.path).collect();
        assert_eq!(paths, ["/x", "/y"]);
    }

    #[test]
    fn a_wrong_type_tells_what_the_value_was() {
        for (value, received) in
            [("12", "number"), ("None", "null"), ("'a is b'", "string"), ("[1]", "array")]
        {
            let found = recognise(&format!("{value} is not of type 'boolean'"));
            assert_eq!(
                found,
                [Complaint { about: wrong("boolean", received), path: String::new() }]
            );
        }
        let either = recognise("Input validation error: [] is not of type 'string', 'null'");
        assert_eq!(either.first().map(|c| c.about.clone()), Some(wrong("string | null", "array")));
    }

    #[test]
    fn the_allowed_values_are_listed() {
        let found = recognise("Input validation error: 'v' is not one of ['a', 'b c']");
        let about = About::NotInEnum { allowed: vec!["a".into(), "b c".into()] };
        assert_eq!(found, [Complaint { about, path: String::new() }]);
    }

    #[test]
    fn the_long_form_gives_the_path() {
        let text = "'name' is a required property\n\nFailed validating 'required' in schema['items']:\n    \
                    {'type': 'object'}\n\nOn instance['items'][0]:\n    {}";
        assert_eq!(
            recognise(text),
            [Complaint { about: About::MissingField, path: "/items/0/name".into() }]
        );
    }

    #[test]
    fn prose_with_the_same_words_is_left() {
        for text in [
            "The deed is a required property of the estate",
            "'deed' is a required property\nfor all estates in the county",
            "This dog is not one of 'ours'",
            "The input is not of type we like",
            "Column 'a' is not of type 'string'",
            "'a' in the sheet is not one of 'the best'",
        ] {
            assert_eq!(recognise(text), [], "{text}");
        }
    }
}
