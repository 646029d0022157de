//! One server in a client configuration file.

use stickler::tape::{Kind, Node};

use super::program::PROGRAM;
use super::splice::Change;
use super::{Direction, command, url};

/// Why a server is left unchanged.
pub(super) type SkipReason = String;

/// A member of an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member<'t> {
    pub(super) key: Node<'t>,
    pub(super) value: Node<'t>,
    /// Value of the preceding member, if any.
    pub(super) before: Option<Node<'t>>,
}

/// Members of a server that are relevant to wrapping.
#[derive(Debug, Default)]
pub(super) struct Members<'t> {
    pub(super) command: Option<Member<'t>>,
    pub(super) args: Option<Member<'t>>,
    pub(super) env: Option<Member<'t>>,
    pub(super) url: Option<Member<'t>>,
    pub(super) headers: Option<Member<'t>>,
    pub(super) kind: Option<Member<'t>>,
}

/// Returns the changes to a server, or why there are none.
pub(super) fn changes(
    text: &str,
    name: Node<'_>,
    entry: Node<'_>,
    direction: Direction<'_>,
) -> Result<Vec<Change>, SkipReason> {
    if entry.kind() != Kind::Object {
        return Err("it is not an object".to_owned());
    }
    let members = Members::of(entry)?;
    match direction {
        Direction::Wrap(program) => match (members.command, members.url) {
            (Some(_), Some(_)) => Err("it has both a `command` and a `url`".to_owned()),
            (Some(command), None) => command::wrap(text, (name, program), command, &members),
            (None, Some(url)) => url::wrap(text, (name, program), url, &members),
            (None, None) => Err("it has neither a `command` nor a `url`".to_owned()),
        },
        Direction::Unwrap => {
            let (Some(command), Some(args)) = (members.command, members.args) else {
                return Err("it is not wrapped".to_owned());
            };
            let elements: Vec<Node<'_>> = args.value.elements().collect();
            let word = |index: usize| elements.get(index).copied().and_then(Node::as_str);
            let is_gateway = members.is_gateway();
            let is_ours = is_gateway && word(1).as_deref() == Some("--name");
            match word(3).as_deref().filter(|_| is_ours && elements.len() > 4) {
                Some("--") => Ok(command::unwrap(text, command, args, &elements)),
                Some("--url") => url::unwrap(text, (command, args), &elements, &members),
                _ if is_gateway => {
                    Err("it runs Stickler, but was not written by `wrap`".to_owned())
                }
                _ => Err("it is not wrapped".to_owned()),
            }
        }
    }
}

impl<'t> Members<'t> {
    fn of(entry: Node<'t>) -> Result<Self, SkipReason> {
        let mut members = Self::default();
        let mut before = None;
        for (key, value) in entry.members().with_key_nodes() {
            let name = key.as_str().unwrap_or_default();
            let place = match &*name {
                "command" => Some(&mut members.command),
                "args" => Some(&mut members.args),
                "env" => Some(&mut members.env),
                "url" => Some(&mut members.url),
                "headers" => Some(&mut members.headers),
                "type" => Some(&mut members.kind),
                _ => None,
            };
            if let Some(place) = place
                && place.replace(Member { key, value, before }).is_some()
            {
                return Err(format!("it has `{name}` twice"));
            }
            before = Some(value);
        }
        Ok(members)
    }

    /// Whether the server is `stickler run`. Other commands of Stickler are wrapped like any server.
    pub(super) fn is_gateway(&self) -> bool {
        let first = self.args.and_then(|args| args.value.elements().next());
        self.command.is_some_and(|command| is_stickler(command.value))
            && first.and_then(Node::as_str).as_deref() == Some("run")
    }
}

impl Member<'_> {
    /// Removes the member and the comma that becomes superfluous.
    pub(super) fn remove(&self, text: &str) -> Change {
        if let Some(before) = self.before {
            return Change::remove(before.span().end..self.value.span().end);
        }
        let end = self.value.span().end;
        let rest = text.get(end..).unwrap_or_default();
        let comma = rest.find(|c: char| !c.is_ascii_whitespace()).unwrap_or_default();
        let comma = if rest.get(comma..=comma) == Some(",") { comma + 1 } else { 0 };
        Change::remove(self.key.span().start..end + comma)
    }

    /// Returns the text between key and value: a colon and optional whitespace.
    pub(super) fn colon<'s>(&self, text: &'s str) -> &'s str {
        text.get(self.key.span().end..self.value.span().start).unwrap_or(": ")
    }

    /// Returns the whitespace before the key.
    pub(super) fn indent<'s>(&self, text: &'s str) -> &'s str {
        let before = text.get(..self.key.span().start).unwrap_or_default();
        let blanks = before.trim_end_matches(|c: char| c.is_ascii_whitespace());
        before.get(blanks.len()..).unwrap_or_default()
    }
}

/// Whether a command is Stickler, in any folder.
fn is_stickler(command: Node<'_>) -> bool {
    let command = command.as_str().unwrap_or_default();
    let name = command.rsplit(['/', '\\']).next().unwrap_or_default();
    name == PROGRAM || name == "stickler.exe"
}
