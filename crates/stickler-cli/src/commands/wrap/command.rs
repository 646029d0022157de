//! Wraps a server that the client starts: `npx -y x` becomes `stickler run --name NAME -- npx -y x`.

use stickler::tape::{Kind, Node};

use super::entry::{Member, Members, SkipReason};
use super::program::quoted;
use super::splice::Change;

pub(super) fn wrap(
    text: &str,
    (name, program): (Node<'_>, &str),
    command: Member<'_>,
    members: &Members<'_>,
) -> Result<Vec<Change>, SkipReason> {
    if command.value.kind() != Kind::String {
        return Err("its `command` is not a string".to_owned());
    }
    if members.is_gateway() {
        return Err("it already runs Stickler".to_owned());
    }
    // Strings are copied as written, so that `unwrap` restores them byte for byte.
    let words = ["\"run\"", "\"--name\"", name.raw(), "\"--\"", command.value.raw()];
    let args = match members.args {
        Some(args) if args.value.kind() != Kind::Array => {
            return Err("its `args` are not an array".to_owned());
        }
        Some(args) => prepend(text, args.value, &words),
        // No spaces between the elements: `unwrap` recognises by this that there was no `args`.
        None => Change::insert(
            command.value.span().end,
            format!(",{}\"args\": [{}]", command.indent(text), words.join(",")),
        ),
    };
    Ok(vec![Change::replace(command.value.span(), quoted(program)), args])
}

/// Inserts elements at the start of an array, in its layout.
fn prepend(text: &str, list: Node<'_>, words: &[&str]) -> Change {
    let begin = list.span().start + 1;
    let first = list.elements().next();
    let blanks = first.and_then(|first| text.get(begin..first.span().start)).unwrap_or_default();
    let words = match (first, blanks) {
        (None, _) => words.join(", "),
        (Some(_), "") => words.join(", ") + ", ",
        (Some(_), blanks) => format!("{blanks}{},", words.join(&format!(",{blanks}"))),
    };
    Change::insert(begin, words)
}

pub(super) fn unwrap(
    text: &str,
    command: Member<'_>,
    args: Member<'_>,
    elements: &[Node<'_>],
) -> Vec<Change> {
    let [first, second, _, _, original, others @ ..] = elements else { return Vec::new() };
    let back = Change::replace(command.value.span(), original.raw());
    let between = text.get(first.span().end..second.span().start);
    let args = match others {
        [] if between == Some(",") => args.remove(text),
        [] => Change::remove(first.span().start..original.span().end),
        [other, ..] => Change::remove(first.span().start..other.span().start),
    };
    vec![back, args]
}
