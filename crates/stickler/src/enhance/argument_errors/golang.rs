//! Recognises the messages of Go's `encoding/json` and of the schema validator of the Go SDK.
//!
//! `json: cannot unmarshal number into Go struct field Args.name of type string`,
//! `validating "arguments": validating root: required: missing properties: ["name"]`.

use super::prefix::ErrorMessage;
use super::tokens::{quoted_words, take_name};
use super::{ArgumentError, ErrorKind, field_path};

pub(super) fn recognise(message: &ErrorMessage<'_>) -> Vec<ArgumentError> {
    if let Some(fault) = message.body.strip_prefix("json: ") {
        return from_decoder(fault, message).into_iter().collect();
    }
    let (path, fault) = without_schema_paths(message.body);
    if fault.len() == message.body.len() && !message.is_about_the_call() {
        // Without the prefix `validating …`, the fault must be the whole text.
        return if fault.ends_with(']') {
            from_validator(&path, fault, message)
        } else {
            Vec::new()
        };
    }
    from_validator(&path, fault, message)
}

fn from_decoder(fault: &str, message: &ErrorMessage<'_>) -> Option<ArgumentError> {
    if let Some(field) = fault.strip_prefix("unknown field ") {
        let (field, rest) = take_name(field)?;
        let path = [field.to_owned()];
        return rest
            .is_empty()
            .then(|| field_path::error_at(&path, message.scope, ErrorKind::UnknownField))?;
    }
    let (received, rest) = fault.strip_prefix("cannot unmarshal ")?.split_once(" into Go ")?;
    let (target, expected) = rest.rsplit_once("of type ")?;
    let path = match target.trim().strip_prefix("struct field ") {
        Some(field) => struct_field(field, message)?,
        None => message.is_about_the_call().then(Vec::new)?,
    };
    let kind = ErrorKind::WrongType {
        expected: Some(expected.to_owned()),
        received: received.split(' ').next().map(str::to_owned),
    };
    field_path::error_at(&path, message.scope, kind)
}

/// Returns the segments of the field without the name of its struct. Servers also decode the
/// responses of other services into structs, so without a prefix the struct must be named after
/// arguments.
fn struct_field(field: &str, message: &ErrorMessage<'_>) -> Option<Vec<String>> {
    let (owner, field) = field.split_once('.')?;
    let endings = ["Args", "Arguments", "Params", "Input"];
    let is_argument_struct = endings.iter().any(|ending| owner.ends_with(ending));
    (is_argument_struct || message.is_about_the_call()).then(|| field_path::segments(field))
}

/// Strips `validating root: validating /properties/a: ` and returns the field and the rest.
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

/// Converts `/properties/a/properties/b` to `a`, `b`. The path ends at the first array, because the
/// schema path does not contain the index of the item.
fn instance_path(schema_path: &str) -> Vec<String> {
    let mut path = Vec::new();
    let mut steps = field_path::segments(schema_path).into_iter();
    while steps.next().as_deref() == Some("properties") {
        path.extend(steps.next());
    }
    path
}

fn from_validator(
    parent: &[String],
    fault: &str,
    message: &ErrorMessage<'_>,
) -> Vec<ArgumentError> {
    let at = |path: &[String], kind| field_path::error_at(path, message.scope, kind);
    let fault = fault.strip_prefix("required: ").unwrap_or(fault);
    let listed = [
        ("missing properties: [", ErrorKind::MissingField),
        ("unexpected additional properties [", ErrorKind::UnknownField),
    ];
    for (opening, kind) in listed {
        if let Some(fields) = fault.strip_prefix(opening) {
            let child = |field| [parent, &[field]].concat();
            return quoted_words(fields)
                .into_iter()
                .filter_map(|f| at(&child(f), kind.clone()))
                .collect();
        }
    }
    value_fault(fault).and_then(|kind| at(parent, kind)).into_iter().collect()
}

fn value_fault(fault: &str) -> Option<ErrorKind> {
    if let Some(fault) = fault.strip_prefix("type: ") {
        let (_, types) = fault.rsplit_once(" has type ")?;
        let mut types = quoted_words(types).into_iter();
        return Some(ErrorKind::WrongType { received: types.next(), expected: types.next() });
    }
    // Go prints the values without separators, so they cannot be split.
    let is_enum = fault.starts_with("enum: ") && fault.contains(" does not equal any of: ");
    is_enum.then(|| ErrorKind::NotInEnum { allowed: Vec::new() })
}

#[cfg(test)]
mod tests {
    use crate::enhance::argument_errors::{ArgumentError, ErrorKind, recognise};

    fn at(path: &str, kind: ErrorKind) -> ArgumentError {
        ArgumentError { kind, path: path.into() }
    }

    fn wrong(expected: &str, received: &str) -> ErrorKind {
        ErrorKind::WrongType { expected: Some(expected.into()), received: Some(received.into()) }
    }

    #[test]
    fn value_that_cannot_be_unmarshalled_has_the_wrong_type() {
        let text = "invalid params: json: cannot unmarshal string into Go struct field op.limit of type int";
        assert_eq!(recognise(text), [at("/limit", wrong("int", "string"))]);
        let without_prefix =
            "json: cannot unmarshal number into Go struct field FindArgs.a.b of type string";
        assert_eq!(recognise(without_prefix), [at("/a/b", wrong("string", "number"))]);
    }

    #[test]
    fn non_string_tool_name_is_an_unknown_tool() {
        let text = "unparsable tools/call request: json: cannot unmarshal number into Go struct field CallToolParams.params.name of type string";
        assert_eq!(recognise(text), [at("", ErrorKind::UnknownTool { name: None })]);
    }

    #[test]
    fn go_unknown_field_is_recognised() {
        assert_eq!(recognise("json: unknown field \"x\""), [at("/x", ErrorKind::UnknownField)]);
    }

    #[test]
    fn property_lists_of_the_validator_are_split() {
        let text = "validating \"arguments\": validating root: required: missing properties: [\"a\" \"b\"]";
        assert_eq!(
            recognise(text),
            [at("/a", ErrorKind::MissingField), at("/b", ErrorKind::MissingField)]
        );
        let text = "validating \"arguments\": validating root: validating /properties/o: unexpected additional properties [\"x\"]";
        assert_eq!(recognise(text), [at("/o/x", ErrorKind::UnknownField)]);
        assert_eq!(recognise("missing properties: [\"q\"]"), [at("/q", ErrorKind::MissingField)]);
    }

    #[test]
    fn schema_paths_become_instance_paths() {
        let text = "validating \"arguments\": validating root: validating /properties/o: validating /properties/o/properties/n: type: x: y has type \"string\", want \"integer\"";
        assert_eq!(recognise(text), [at("/o/n", wrong("integer", "string"))]);
        let text = "validating \"arguments\": validating root: validating /properties/l: validating /properties/l/items: enum: z does not equal any of: [a b]";
        assert_eq!(recognise(text), [at("/l", ErrorKind::NotInEnum { allowed: Vec::new() })]);
    }

    #[test]
    fn decoding_errors_of_other_data_are_ignored() {
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
