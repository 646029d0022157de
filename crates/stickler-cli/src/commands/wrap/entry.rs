//! One server in a client configuration file: its relevant members, and the changes to it.

use std::ops::Range;

use super::document::Document;
use super::servers::Server;
use super::splice::Change;
use super::{Direction, command, url};
use crate::config::{self, Data, Value};

/// Why a server is left unchanged.
pub(super) type SkipReason = String;

/// Reasons that are not failures: the server is as the user wants it.
pub(super) const DONE: [&str; 2] = [ALREADY_WRAPPED, NOT_WRAPPED];

pub(super) const ALREADY_WRAPPED: &str = "it already runs Stickler";

const NOT_WRAPPED: &str = "it is not wrapped";

/// A member of a server.
#[derive(Debug, Clone)]
pub(super) struct Member<'d> {
    pub(super) key: &'d str,
    pub(super) key_span: Range<usize>,
    pub(super) value: &'d Value,
    /// End of the preceding member, if any.
    pub(super) before: Option<usize>,
}

/// Members of a server that are relevant to wrapping.
#[derive(Debug, Default)]
pub(super) struct Members<'d> {
    /// The object that contains them.
    pub(super) entry: Option<&'d Value>,
    pub(super) command: Option<Member<'d>>,
    pub(super) args: Option<Member<'d>>,
    pub(super) env: Option<Member<'d>>,
    pub(super) url: Option<Member<'d>>,
    pub(super) headers: Option<Member<'d>>,
    pub(super) kind: Option<Member<'d>>,
    /// A member that lets the client sign in to the server.
    pub(super) sign_in: Option<&'d str>,
    /// Whether an extension of the client provides the command.
    pub(super) is_extension: bool,
    /// Whether a YAML merge key adds members.
    pub(super) is_merged: bool,
}

/// Returns the changes to a server, or why there are none.
pub(super) fn changes(
    document: &Document<'_>,
    server: &Server<'_>,
    direction: Direction<'_>,
) -> Result<Vec<Change>, SkipReason> {
    let members = Members::of(server.entry)?;
    let entry = members.entry.unwrap_or(server.entry);
    match direction {
        Direction::Wrap(wrapping) => match (&members.command, &members.url) {
            (Some(_), Some(_)) => Err("it has both a `command` and a `url`".to_owned()),
            (Some(one), None) => {
                command::wrap(document, (&server.name, entry), one, &members, wrapping)
            }
            (None, Some(one)) => url::wrap(document, server, one, &members, wrapping),
            (None, None) if members.is_extension => {
                Err("an extension of the client starts it".to_owned())
            }
            (None, None) if members.is_merged => {
                Err("its members come from an alias (`<<`); write them out to wrap it".to_owned())
            }
            (None, None) => Err("it has neither a `command` nor a `url`".to_owned()),
        },
        Direction::Unwrap => {
            let (Some(one), Some(args)) = (&members.command, &members.args) else {
                return Err(NOT_WRAPPED.to_owned());
            };
            let words = members.words();
            if !members.is_gateway() {
                return Err(NOT_WRAPPED.to_owned());
            }
            match Wrapped::of(&words) {
                Some(Wrapped::Command(at)) => Ok(command::unwrap(document, entry, one, args, at)),
                Some(Wrapped::Url) => url::unwrap(document, (one, args), &members),
                None => Err("it runs Stickler, but was not written by `wrap`".to_owned()),
            }
        }
    }
}

/// What a wrapped server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrapped {
    /// The command that begins at this argument.
    Command(usize),
    /// A URL.
    Url,
}

impl Wrapped {
    /// Recognises the arguments that `wrap` writes: `run --name NAME`, options, then `-- COMMAND` or `--url URL`.
    pub(super) fn of(words: &[Option<&str>]) -> Option<Self> {
        if words.get(..2) != Some(&[Some("run"), Some("--name")]) {
            return None;
        }
        let rest = words.get(3..)?;
        let end = rest.iter().position(|word| *word == Some("--"));
        match end {
            Some(end) => (end + 4 < words.len()).then_some(Self::Command(end + 4)),
            None => rest.contains(&Some("--url")).then_some(Self::Url),
        }
    }
}

impl<'d> Members<'d> {
    /// Reads the members of a server, or those of its command in the nested form of Zed.
    pub(super) fn of(entry: &'d Value) -> Result<Self, SkipReason> {
        let outer = Self::read(entry, "command")?;
        match outer.command.as_ref().map(|command| command.value) {
            Some(inner) if matches!(inner.data, Data::Table(_)) => Self::read(inner, "path"),
            _ => Ok(outer),
        }
    }

    fn read(entry: &'d Value, command: &str) -> Result<Self, SkipReason> {
        let Data::Table(all) = &entry.data else { return Err("it is not an object".to_owned()) };
        let mut members = Self { entry: Some(entry), ..Self::default() };
        let mut before = None;
        for config::Member { key, key_span, value } in all {
            let place = match key.as_str() {
                key if key == command => Some(&mut members.command),
                "args" => Some(&mut members.args),
                "env" => Some(&mut members.env),
                "url" | "serverUrl" | "httpUrl" => Some(&mut members.url),
                "headers" => Some(&mut members.headers),
                "type" | "transport" => Some(&mut members.kind),
                _ => None,
            };
            let member = Member { key, key_span: key_span.clone(), value, before };
            if let Some(place) = place
                && let Some(first) = place.replace(member)
            {
                let other = if first.key == key { String::new() } else { format!(" and `{key}`") };
                let twice = if other.is_empty() { " twice" } else { "" };
                return Err(format!("it has `{}`{other}{twice}", first.key));
            }
            match key.as_str() {
                "oauth"
                | "auth"
                | "authProviderType"
                | "headersHelper"
                | "bearer_token_env_var"
                | "env_http_headers"
                | "http_headers"
                | "requestOptions" => {
                    members.sign_in = Some(key);
                }
                "settings" | "source" => members.is_extension = true,
                "<<" => members.is_merged = true,
                _ => {}
            }
            before = Some(value.span.end);
        }
        Ok(members)
    }

    /// Returns the arguments; those that are not strings are `None`.
    pub(super) fn words(&self) -> Vec<Option<&'d str>> {
        let elements = self.args.as_ref().map(|args| elements(args.value)).unwrap_or_default();
        elements.iter().map(text).collect()
    }

    /// Whether the server is `stickler run`. Other commands of Stickler are wrapped like any server.
    pub(super) fn is_gateway(&self) -> bool {
        let command = self.command.as_ref().and_then(|command| text(command.value));
        command.is_some_and(is_stickler) && self.words().first() == Some(&Some("run"))
    }
}

/// Returns the elements of a list.
pub(super) fn elements(value: &Value) -> &[Value] {
    match &value.data {
        Data::List(elements) => elements,
        _ => &[],
    }
}

/// Returns the text of a string.
pub(super) fn text(value: &Value) -> Option<&str> {
    match &value.data {
        Data::Text(text) => Some(text),
        _ => None,
    }
}

impl Member<'_> {
    /// Removes the member and the comma that becomes superfluous.
    pub(super) fn remove(&self, document: &Document<'_>) -> Change {
        if let Some(before) = self.before {
            return Change::remove(before..self.value.span.end);
        }
        let end = self.value.span.end;
        let rest = document.text.get(end..).unwrap_or_default();
        let comma = rest.find(|c: char| !c.is_ascii_whitespace()).unwrap_or_default();
        let comma = if rest.get(comma..=comma) == Some(",") { comma + 1 } else { 0 };
        Change::remove(self.key_span.start..end + comma)
    }

    /// Returns the text between key and value: a colon and optional whitespace.
    pub(super) fn colon<'s>(&self, document: &Document<'s>) -> &'s str {
        document.raw(&(self.key_span.end..self.value.span.start))
    }
}

/// Whether a command is Stickler, in any folder.
fn is_stickler(command: &str) -> bool {
    let name = command.rsplit(['/', '\\']).next().unwrap_or_default();
    name == super::program::PROGRAM || name == "stickler.exe"
}
