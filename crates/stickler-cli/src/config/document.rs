//! Parses a TOML, JSON or YAML file into one tree of values with source spans.

use std::ops::Range;

use stickler::tape::{Kind, Node, TapeBuffer};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::{Fault, Source, invalid_json};
use super::{jsonc, yaml};

/// Maximum nesting depth of a configuration file. Some clients store much else in their files.
pub(super) const MAX_DEPTH: usize = 256;

/// Syntax of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Toml,
    /// With comments and trailing commas.
    Json,
    Yaml,
}

/// A value with its position in the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Value {
    pub(crate) span: Range<usize>,
    pub(crate) data: Data,
}

/// Content of a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Data {
    Text(String),
    /// In a form that Rust can parse.
    Number(String),
    Flag(bool),
    List(Vec<Value>),
    Table(Vec<Member>),
    /// A type that no setting has, such as a date or `null`.
    Other(&'static str),
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: Value,
}

impl Format {
    /// Detects the syntax by the file name or by the first characters: TOML never starts with a brace or a slash.
    pub(crate) fn of(source: &Source) -> Self {
        let text = source.text.trim_start();
        let begins_like_json =
            text.starts_with(['{', '/']) || text.strip_prefix('[').is_some_and(is_array);
        if source.has_extension(&["yaml", "yml"]) {
            Self::Yaml
        } else if source.has_extension(&["json", "jsonc"]) || begins_like_json {
            Self::Json
        } else {
            Self::Toml
        }
    }
}

/// Whether an opening bracket followed by `rest` starts a JSON array: a TOML table name is neither
/// empty nor an object.
fn is_array(rest: &str) -> bool {
    rest.trim_start().starts_with(['{', ']'])
}

impl Value {
    /// Returns the type for an error message.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.data {
            Data::Text(_) => "a string",
            Data::Number(_) => "a number",
            Data::Flag(_) => "a boolean",
            Data::List(_) => "an array",
            Data::Table(_) => "a table",
            Data::Other(kind) => kind,
        }
    }

    /// Returns the members in file order, or an error if the value is not a table.
    pub(super) fn table(&self, what: &str) -> Result<&[Member], Fault> {
        if let Data::Table(members) = &self.data {
            return Ok(members);
        }
        let message = format!("{what} is {}, expected a table", self.kind());
        Err(Fault::new(&self.span, message))
    }
}

pub(super) fn read(source: &Source) -> Result<Value, Vec<Fault>> {
    read_text(&source.text, Format::of(source)).map_err(|fault| vec![fault])
}

/// Parses a text.
pub(crate) fn read_text(text: &str, format: Format) -> Result<Value, Fault> {
    match format {
        Format::Json => read_json(text),
        Format::Toml => read_toml(text),
        Format::Yaml => yaml::read(text),
    }
}

fn read_toml(text: &str) -> Result<Value, Fault> {
    let table = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or_default();
        if is_bare_word(text, span.start) {
            return Fault::new(&span, "invalid TOML: a string needs quotes");
        }
        Fault::new(&span, format!("invalid TOML: {}", error.message().trim_end()))
    })?;
    let span = table.span();
    Ok(Value { span, data: toml_table(table.get_ref()) })
}

/// Whether a value at this offset is a word without quotes.
fn is_bare_word(text: &str, offset: usize) -> bool {
    let (before, rest) = text.split_at_checked(offset).unwrap_or((text, ""));
    before.trim_end_matches([' ', '\t']).ends_with('=')
        && rest.starts_with(|c: char| c.is_alphabetic() || matches!(c, '/' | '.' | '@' | '~'))
}

fn toml_table(table: &DeTable<'_>) -> Data {
    let mut members: Vec<Member> = table
        .iter()
        .map(|(key, value)| Member {
            key: key.get_ref().to_string(),
            key_span: key.span(),
            value: toml_value(value),
        })
        .collect();
    // The parser sorts by name; errors are reported in file order.
    members.sort_by_key(|member| member.key_span.start);
    Data::Table(members)
}

fn toml_value(value: &Spanned<DeValue<'_>>) -> Value {
    let data = match value.get_ref() {
        DeValue::String(text) => Data::Text(text.to_string()),
        DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Data::Number(number.to_string()),
            Err(_) => Data::Other("a number that is too large"),
        },
        DeValue::Float(number) => Data::Number(number.as_str().to_owned()),
        DeValue::Boolean(flag) => Data::Flag(*flag),
        DeValue::Datetime(_) => Data::Other("a date"),
        DeValue::Array(elements) => Data::List(elements.iter().map(toml_value).collect()),
        DeValue::Table(table) => toml_table(table),
    };
    Value { span: value.span(), data }
}

fn read_json(text: &str) -> Result<Value, Fault> {
    let blanked = jsonc::blank(text);
    let mut buffer = TapeBuffer::new();
    let tape = buffer.read(blanked.as_bytes(), MAX_DEPTH).map_err(invalid_json)?;
    Ok(json_value(tape.root()))
}

/// Converts a node recursively; the parser has bounded the depth.
fn json_value(node: Node<'_>) -> Value {
    let data = match node.kind() {
        Kind::Object => Data::Table(
            node.members()
                .with_key_nodes()
                .map(|(key, value)| Member {
                    key: key.as_str().unwrap_or_default().into_owned(),
                    key_span: key.span(),
                    value: json_value(value),
                })
                .collect(),
        ),
        Kind::Array => Data::List(node.elements().map(json_value).collect()),
        _ => match (node.as_str(), node.as_bool()) {
            (Some(text), _) => Data::Text(text.into_owned()),
            (_, Some(flag)) => Data::Flag(flag),
            _ if node.raw() == "null" => Data::Other("`null`"),
            _ => Data::Number(node.raw().to_owned()),
        },
    };
    Value { span: node.span(), data }
}

#[cfg(test)]
mod tests {
    use super::{Data, read};
    use crate::config::fault::Source;

    #[test]
    fn members_keep_the_file_order_and_have_positions() {
        for text in ["b = 1\na = 'x'\n", "{\"b\": 1,\n\"a\": \"x\"}"] {
            let root = read(&Source::of(text)).unwrap();
            let members = root.table("the file").unwrap();
            let keys: Vec<&str> = members.iter().map(|member| member.key.as_str()).collect();
            assert_eq!(keys, ["b", "a"]);
            assert_eq!(members[1].value.data, Data::Text("x".to_owned()));
            assert!(text[members[1].key_span.clone()].contains('a'));
            assert!(text[members[1].value.span.clone()].contains('x'));
        }
    }

    #[test]
    fn syntax_errors_have_positions() {
        for (text, place) in [
            ("a = 1\nb = = 2\n", "test.toml:2:5: "),
            ("{\n  \"a\": tru\n}", "test.toml:2:"),
            ("{ // why\n  a }", "test.toml:2:3: "),
            ("{\n  /* why }", "test.toml:2:3: "),
        ] {
            let source = Source::of(text);
            let faults = read(&source).unwrap_err();
            let message = source.describe(&faults[0]);
            assert!(message.starts_with(place), "{message}");
            assert!(!message.contains('\n'), "{message}");
        }
    }
}
