//! Whether a value could be meant for a field, judged by the field's schema.
//!
//! Contract: only the beginning of arrays and of long strings and a bounded number of subschemas are read,
//! because a value is compared with many fields. The result is a guess for ranking; a corrected call is
//! always validated in full.

use std::borrow::Cow;

use serde_json::Value;

use super::ComparisonBudget;
use crate::embedded;
use crate::schema::{CompiledSchema, NodeId};
use crate::tape::{Kind, Node};

/// The maximum number of nested subschemas that are followed for one value.
const MAX_DEPTH: usize = 8;

/// The maximum number of members or alternatives that are compared.
const MAX_COMPARED: usize = 32;

/// The maximum number of allowed values that are compared.
const MAX_ALLOWED: usize = 256;

/// The maximum length of a string that is parsed as JSON; a byte costs as much as a cell of a distance table.
const MAX_PARSED_BYTES: usize = 4096;

/// The number of bytes of other strings that are read.
const MAX_READ_BYTES: usize = 256;

/// How well a value fits a field, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// The schema rejects the value in every form.
    Conflicts,
    /// The schema accepts the value in another form: `"5"` for `5`, one value for a list.
    Converts,
    /// The schema accepts the value, as it accepts most values.
    Accepts,
    /// The schema accepts the value and values of few other types.
    HasType,
    /// The schema accepts few other values: an allowed value, a format, an object with the same fields.
    IsSpecific,
}

/// Judges values against the fields of one schema, within a budget.
#[derive(Clone, Copy)]
pub(crate) struct Fitting<'f> {
    pub(crate) schema: &'f CompiledSchema,
    pub(crate) budget: &'f ComparisonBudget,
}

impl Fitting<'_> {
    /// Returns how well the value fits the subschema.
    pub(crate) fn fit(self, id: NodeId, value: Node<'_>) -> Fit {
        if is_empty(value) {
            return Fit::Accepts;
        }
        self.fit_at(id, value, MAX_DEPTH)
    }

    fn fit_at(self, id: NodeId, value: Node<'_>, depth: usize) -> Fit {
        let node = self.schema.graph.node(id);
        let Some(deeper) = depth.checked_sub(1).filter(|_| self.budget.take_cells(1)) else {
            return Fit::Accepts;
        };
        let Some(keywords) = self.schema.at(&node.pointer) else { return Fit::Accepts };
        if keywords == &Value::Bool(false) {
            return Fit::Conflicts;
        }
        let mut parts: Vec<Fit> = Vec::new();
        parts.extend(self.fit_values(keywords, value));
        parts.extend(self.fit_type(id, keywords, value, deeper));
        for part in node.all_of.iter().take(MAX_COMPARED) {
            parts.push(self.fit_at(*part, value, deeper));
        }
        for choice in &node.choices {
            let branches = choice.branches.iter().take(MAX_COMPARED);
            parts.extend(branches.map(|branch| self.fit_at(*branch, value, deeper)).max());
        }
        if parts.contains(&Fit::Conflicts) {
            return Fit::Conflicts;
        }
        if parts.contains(&Fit::Converts) {
            return Fit::Converts;
        }
        parts.into_iter().max().unwrap_or(Fit::Accepts)
    }

    /// Compares the value with those that `enum` or `const` allows.
    fn fit_values(self, keywords: &Value, value: Node<'_>) -> Option<Fit> {
        let allowed: Vec<&Value> = match (keywords.get("enum"), keywords.get("const")) {
            (Some(Value::Array(values)), _) => values.iter().collect(),
            (_, Some(only)) => vec![only],
            _ => return None,
        };
        let given = beginning(value);
        let given = given.as_deref().unwrap_or_else(|| cut(value.raw()));
        let mut best = Fit::Conflicts;
        for (index, option) in allowed.into_iter().enumerate() {
            if index == MAX_ALLOWED {
                return Some(Fit::Accepts);
            }
            let text = option.as_str().map_or_else(|| option.to_string(), str::to_owned);
            if !self.budget.take_cells(text.len() / 8 + 1) {
                return Some(Fit::Accepts);
            }
            if text == given {
                return Some(Fit::IsSpecific);
            }
            if text.len() < 64 && given.len() < 64 && super::same_ignoring_style(&text, given) {
                best = Fit::Converts;
            }
        }
        if best == Fit::Conflicts && self.stands_for_one(keywords, value) {
            return Some(Fit::Converts);
        }
        if best == Fit::Conflicts && value.kind() == Kind::Array && value.len() == 1 {
            let only = value.elements().next()?;
            return Some(self.fit_values(keywords, only)?.min(Fit::Converts));
        }
        Some(best)
    }

    /// Returns whether the value stands for one of the allowed ones by its words.
    fn stands_for_one(self, keywords: &Value, value: Node<'_>) -> bool {
        let options = keywords.get("enum").and_then(Value::as_array);
        let options: Vec<&str> =
            options.into_iter().flatten().take(MAX_COMPARED).filter_map(Value::as_str).collect();
        let text = beginning(value).filter(|_| self.budget.take_cells(8 * options.len()));
        text.is_some_and(|text| super::allowed_value::meant(&text, &options).is_some())
    }

    fn fit_type(self, id: NodeId, keywords: &Value, value: Node<'_>, depth: usize) -> Option<Fit> {
        let types: Vec<&str> = match keywords.get("type")? {
            Value::String(one) => vec![one],
            Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
            _ => return None,
        };
        let accepts = |name: &str| types.contains(&name);
        let named = value.type_name();
        if accepts(named) || named == "integer" && accepts("number") {
            return Some(match value.kind() {
                Kind::String => fit_format(keywords, value),
                Kind::Number => fit_range(keywords, value),
                Kind::Array => self.fit_elements(id, value, depth),
                Kind::Object => self.fit_members(id, value),
                _ => Fit::HasType,
            });
        }
        Some(self.fit_converted(id, &types, value, depth))
    }

    fn fit_converted(self, id: NodeId, types: &[&str], value: Node<'_>, depth: usize) -> Fit {
        let accepts = |name: &str| types.contains(&name);
        let elements_fit = |element: Node<'_>| {
            let items = self.schema.graph.node(id).element(0);
            items.is_none_or(|items| self.fit_at(items, element, depth) != Fit::Conflicts)
        };
        let is_json = |kinds: &[&str]| {
            let length = value.raw().len();
            length <= MAX_PARSED_BYTES
                && self.budget.take_cells(length)
                && value.as_str().is_some_and(|text| embedded::parse_as(&text, kinds).is_some())
        };
        let converts = match value.kind() {
            Kind::Number | Kind::Boolean if accepts("string") => true,
            Kind::String if is_json(types) => true,
            Kind::String | Kind::Number | Kind::Boolean | Kind::Object if accepts("array") => {
                elements_fit(value)
            }
            Kind::Array if value.len() == 1 && !accepts("object") => {
                let only = value.elements().next();
                only.is_some_and(|only| types.contains(&only.type_name()))
            }
            _ => false,
        };
        if converts { Fit::Converts } else { Fit::Conflicts }
    }

    fn fit_elements(self, id: NodeId, value: Node<'_>, depth: usize) -> Fit {
        let items = self.schema.graph.node(id).element(0);
        let first = value.elements().next();
        match (items, first) {
            (Some(items), Some(first)) => match self.fit_at(items, first, depth) {
                Fit::IsSpecific => Fit::IsSpecific,
                Fit::Accepts | Fit::HasType => Fit::HasType,
                worse => worse,
            },
            _ => Fit::HasType,
        }
    }

    /// Judges an object by how many of its fields the schema lists.
    fn fit_members(self, id: NodeId, value: Node<'_>) -> Fit {
        let node = self.schema.graph.node(id);
        if node.properties.is_none() || value.is_empty() {
            return Fit::HasType;
        }
        let members = value.members().take(MAX_COMPARED);
        let (mut known, mut total) = (0, 0);
        for (key, _) in members {
            total += 1;
            known += usize::from(node.evaluates(&key) && self.budget.take_cells(1));
        }
        match known {
            0 if !node.explicit => Fit::Conflicts,
            all if all == total => Fit::IsSpecific,
            _ => Fit::Accepts,
        }
    }
}

fn fit_format(keywords: &Value, value: Node<'_>) -> Fit {
    let wanted = match keywords.get("format").and_then(Value::as_str) {
        Some("date" | "date-time") => Look::Date,
        Some("uri" | "url" | "uri-reference" | "iri") => Look::Url,
        Some("email") => Look::Email,
        Some("uuid") => Look::Uuid,
        _ => return Fit::Accepts,
    };
    if Look::of(value) == Some(wanted) { Fit::IsSpecific } else { Fit::Conflicts }
}

fn fit_range(keywords: &Value, value: Node<'_>) -> Fit {
    let number: Option<f64> = value.raw().parse().ok();
    let limit = |keyword: &str| keywords.get(keyword).and_then(Value::as_f64);
    let above = limit("maximum").zip(number).is_some_and(|(limit, number)| number > limit);
    let below = limit("minimum").zip(number).is_some_and(|(limit, number)| number < limit);
    if above || below { Fit::Conflicts } else { Fit::HasType }
}

/// Returns whether a value says nothing: `null`, `""`, `[]`, `{}`.
pub(crate) fn is_empty(value: Node<'_>) -> bool {
    match value.kind() {
        Kind::Null => true,
        Kind::String => value.raw() == "\"\"",
        Kind::Array | Kind::Object => value.is_empty(),
        _ => false,
    }
}

/// What a text looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Date,
    Url,
    Email,
    Uuid,
    Path,
}

impl Look {
    /// Returns what the beginning of a string looks like.
    pub(crate) fn of(value: Node<'_>) -> Option<Self> {
        let text = beginning(value)?;
        let text = cut(&text);
        let bytes = text.as_bytes();
        let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let is = |at: usize, byte: u8| bytes.get(at) == Some(&byte);
        if (0..4).all(digit) && is(4, b'-') && digit(5) && digit(6) {
            return Some(Self::Date);
        }
        if text.contains("://") {
            return Some(Self::Url);
        }
        if bytes.len() == 36 && [8, 13, 18, 23].iter().all(|at| is(*at, b'-')) {
            return Some(Self::Uuid);
        }
        if text.contains(char::is_whitespace) {
            return None;
        }
        if text.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.')) {
            return Some(Self::Email);
        }
        let extension = text.rsplit_once('.').map_or("", |(_, extension)| extension);
        let has_extension = (2..=5).contains(&extension.len())
            && extension.chars().all(|letter| letter.is_ascii_alphanumeric())
            && extension.chars().any(|letter| letter.is_ascii_alphabetic());
        let is_path = ["/", "./", "../", "~/"].iter().any(|start| text.starts_with(start));
        (is_path || has_extension).then_some(Self::Path)
    }

    /// Returns the words that names of fields for such texts contain.
    pub(crate) fn words(self) -> &'static [&'static str] {
        match self {
            Self::Date => &["date", "time", "from", "to", "since", "until", "start", "end", "day"],
            Self::Url => &["url", "uri", "link", "href", "endpoint", "website"],
            Self::Email => &["email", "mail", "recipient", "to", "cc", "user"],
            Self::Uuid => &["id", "uuid", "uid", "identifier", "guid"],
            Self::Path => &["path", "file", "directory", "folder", "filename"],
        }
    }
}

/// Returns a short string, or the beginning of a long one with its escapes as they are written.
fn beginning(value: Node<'_>) -> Option<Cow<'_, str>> {
    let raw = value.raw();
    if raw.len() <= MAX_READ_BYTES {
        return value.as_str();
    }
    (value.kind() == Kind::String).then(|| Cow::Borrowed(cut(raw.trim_start_matches('"'))))
}

/// Returns the beginning of a text.
fn cut(text: &str) -> &str {
    let end = (0..=text.len().min(MAX_READ_BYTES)).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}
