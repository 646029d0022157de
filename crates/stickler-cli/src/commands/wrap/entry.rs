//! One server of a client's file.

use stickler::tape::{Kind, Node};

use super::program::PROGRAM;
use super::splice::Change;
use super::{Direction, command, url};

/// Why a server stays as it is.
pub(super) type Refusal = String;

/// A member of an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member<'t> {
    pub(super) key: Node<'t>,
    pub(super) value: Node<'t>,
    /// The member before it, if it is not the first.
    pub(super) before: Option<Node<'t>>,
}

/// The members of a server that are concerned.
#[derive(Debug, Default)]
pub(super) struct Members<'t> {
    pub(super) command: Option<Member<'t>>,
    pub(super) args: Option<Member<'t>>,
    pub(super) env: Option<Member<'t>>,
    pub(super) url: Option<Member<'t>>,
    pub(super) headers: Option<Member<'t>>,
    pub(super) kind: Option<Member<'t>>,
}

/// The changes to a server, or why there are none.
pub(super) fn changes(
    text: &str,
    name: Node<'_>,
    entry: Node<'_>,
    direction: Direction<'_>,
) -> Result<Vec<Change>, Refusal> {
    if entry.kind() != Kind::Object {
        return Err("it is no object".to_owned());
    }
    let members = Members::of(entry)?;
    match direction {
        Direction::Wrap(program) => match (members.command, members.url) {
            (Some(_), Some(_)) => Err("it has both a `command` and a `url`".to_owned()),
            (Some(command), None) => command::wrap(text, (name, program), command, &members),
            (None, Some(url)) => url::wrap(text, (name, program), url, &members),
            (None, None) => Err("it has no `command` and no `url`".to_owned()),
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
                    Err("it runs Stickler, but not in the way that `wrap` writes".to_owned())
                }
                _ => Err("it is not wrapped".to_owned()),
            }
        }
    }
}

impl<'t> Members<'t> {
    fn of(entry: Node<'t>) -> Result<Self, Refusal> {
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

    /// Whether it is `stickler run` already. All that Stickler does besides is a server like others.
    pub(super) fn is_gateway(&self) -> bool {
        let first = self.args.and_then(|args| args.value.elements().next());
        self.command.is_some_and(|command| is_stickler(command.value))
            && first.and_then(Node::as_str).as_deref() == Some("run")
    }
}

impl Member<'_> {
    /// Takes the whole member out, with the comma that is then too many.
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

    /// What stands between the key and the value: a colon and perhaps blanks.
    pub(super) fn colon<'s>(&self, text: &'s str) -> &'s str {
        text.get(self.key.span().end..self.value.span().start).unwrap_or(": ")
    }

    /// The blanks before the key.
    pub(super) fn indent<'s>(&self, text: &'s str) -> &'s str {
        let before = text.get(..self.key.span().start).unwrap_or_default();
        let blanks = before.trim_end_matches(|c: char| c.is_ascii_whitespace());
        before.get(blanks.len()..).unwrap_or_default()
    }
}

/// Whether a command is Stickler, wherever it is.
fn is_stickler(command: Node<'_>) -> bool {
    let command = command.as_str().unwrap_or_default();
    let name = command.rsplit(['/', '\\']).next().unwrap_or_default();
    name == PROGRAM || name == "stickler.exe"
}
