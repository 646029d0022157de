//! The messages of Go's `encoding/json` and of the Go SDK's schema validator.
//!
//! `json: cannot unmarshal number into Go struct field Args.name of type string`,
//! `validating "arguments": validating root: required: missing properties: ["name"]`.

use super::lead_in::Message;
use super::tokens::{name, quoted};
use super::{About, Complaint, place};

pub(super) fn recognise(message: &Message<'_>) -> Vec<Complaint> {
    if let Some(fault) = message.body.strip_prefix("json: ") {
        return from_decoder(fault, message).into_iter().collect();
    }
    let (path, fault) = without_schema_paths(message.body);
    if fault.len() == message.body.len() && !message.blames_the_call() {
        // Without `validating …` before it the fault must be the whole text.
        return if fault.ends_with(']') {
            from_validator(&path, fault, message)
        } else {
            Vec::new()
        };
    }
    from_validator(&path, fault, message)
}

fn from_decoder(fault: &str, message: &Message<'_>) -> Option<Complaint> {
    if let Some(field) = fault.strip_prefix("unknown field ") {
        let (field, rest) = name(field)?;
        let path = [field.to_owned()];
        return rest
            .is_empty()
            .then(|| place::complaint(&path, message.scope, About::UnknownField))?;
    }
    let (received, rest) = fault.strip_prefix("cannot unmarshal ")?.split_once(" into Go ")?;
    let (target, expected) = rest.rsplit_once("of type ")?;
    let path = match target.trim().strip_prefix("struct field ") {
        Some(field) => struct_field(field, message)?,
        None => message.blames_the_call().then(Vec::new)?,
    };
    let about = About::WrongType {
        expected: Some(expected.to_owned()),
        received: received.split(' ').next().map(str::to_owned),
    };
    place::complaint(&path, message.scope, about)
}

/// The field's segments without the name of its struct. Upstream answers are decoded into structs
/// as well, so an unintroduced one must be named for arguments.
fn struct_field(field: &str, message: &Message<'_>) -> Option<Vec<String>> {
    let (owner, field) = field.split_once('.')?;
    let endings = ["Args", "Arguments", "Params", "Input"];
    let holds_arguments = endings.iter().any(|ending| owner.ends_with(ending));
    (holds_arguments || message.blames_the_call()).then(|| place::segments(field))
}

/// Peels `validating root: validating /properties/a: ` and gives the field it leads to.
fn without_schema_paths(body: &str) -> (Vec<String>, &str) {
    let mut path = Vec::new();
    let mut rest = body;
    while let Some((step, tail)) = rest.strip_prefix("validating ").and_then(|r| r.split_once(": "))
    {
        path = instance_path(step);
        rest = tail;
    }
    (path, rest)
}

/// `/properties/a/properties/b` as `a`, `b`; a list's items have no index there, so it ends at one.
fn instance_path(schema_path: &str) -> Vec<String> {
    let mut path = Vec::new();
    let mut steps = place::segments(schema_path).into_iter();
    while steps.next().as_deref() == Some("properties") {
        path.extend(steps.next());
    }
    path
}

fn from_validator(parent: &[String], fault: &str, message: &Message<'_>) -> Vec<Complaint> {
    let at = |path: &[String], about| place::complaint(path, message.scope, about);
    let fault = fault.strip_prefix("required: ").unwrap_or(fault);
    let listed = [
        ("missing properties: [", About::MissingField),
        ("unexpected additional properties [", About::UnknownField),
    ];
    for (opening, about) in listed {
        if let Some(fields) = fault.strip_prefix(opening) {
            let child = |field| [parent, &[field]].concat();
            return quoted(fields)
                .into_iter()
                .filter_map(|f| at(&child(f), about.clone()))
                .collect();
        }
    }
    value_fault(fault).and_then(|about| at(parent, about)).into_iter().collect()
}

fn value_fault(fault: &str) -> Option<About> {
    if let Some(fault) = fault.strip_prefix("type: ") {
        let (_, types) = fault.rsplit_once(" has type ")?;
        let mut types = quoted(types).into_iter();
        return Some(About::WrongType { received: types.next(), expected: types.next() });
    }
    // Go prints the values side by side, so where one ends cannot be told.
    let is_enum = fault.starts_with("enum: ") && fault.contains(" does not equal any of: ");
    is_enum.then(|| About::NotInEnum { allowed: Vec::new() })
}

#[cfg(test)]
mod tests {
    use crate::enhance::complaint::{About, Complaint, recognise};

    fn at(path: &str, about: About) -> Complaint {
        Complaint { about, path: path.into() }
    }

    fn wrong(expected: &str, received: &str) -> About {
        About::WrongType { expected: Some(expected.into()), received: Some(received.into()) }
    }

    #[test]
    fn a_value_that_does_not_fit_its_field_is_of_the_wrong_type() {
        let text = "invalid params: json: cannot unmarshal string into Go struct field op.limit of type int";
        assert_eq!(recognise(text), [at("/limit", wrong("int", "string"))]);
        let unintroduced =
            "json: cannot unmarshal number into Go struct field FindArgs.a.b of type string";
        assert_eq!(recognise(unintroduced), [at("/a/b", wrong("string", "number"))]);
    }

    #[test]
    fn a_tool_name_that_is_no_string_names_no_tool() {
        let text = "unparsable tools/call request: json: cannot unmarshal number into Go struct field CallToolParams.params.name of type string";
        assert_eq!(recognise(text), [at("", About::UnknownTool { name: None })]);
    }

    #[test]
    fn an_unknown_field_is_named() {
        assert_eq!(recognise("json: unknown field \"x\""), [at("/x", About::UnknownField)]);
    }

    #[test]
    fn the_validators_lists_are_taken_apart() {
        let text = "validating \"arguments\": validating root: required: missing properties: [\"a\" \"b\"]";
        assert_eq!(recognise(text), [at("/a", About::MissingField), at("/b", About::MissingField)]);
        let text = "validating \"arguments\": validating root: validating /properties/o: unexpected additional properties [\"x\"]";
        assert_eq!(recognise(text), [at("/o/x", About::UnknownField)]);
        assert_eq!(recognise("missing properties: [\"q\"]"), [at("/q", About::MissingField)]);
    }

    #[test]
    fn the_validators_paths_become_those_of_the_instance() {
        let text = "validating \"arguments\": validating root: validating /properties/o: validating /properties/o/properties/n: type: x: y has type \"string\", want \"integer\"";
        assert_eq!(recognise(text), [at("/o/n", wrong("integer", "string"))]);
        let text = "validating \"arguments\": validating root: validating /properties/l: validating /properties/l/items: enum: z does not equal any of: [a b]";
        assert_eq!(recognise(text), [at("/l", About::NotInEnum { allowed: Vec::new() })]);
    }

    #[test]
    fn decoding_something_else_is_left() {
        for text in [
            "json: cannot unmarshal string into Go struct field Issue.id of type int",
            "json: cannot unmarshal array into Go value of type map[string]string",
            "missing properties: ask the estate agent",
            "json: unknown field \"x\" in settings",
        ] {
            assert_eq!(recognise(text), [], "{text}");
        }
    }
}
