//! A server that is started: `npx -y x` becomes `stickler run --name NAME -- npx -y x`.

use stickler::tape::{Kind, Node};

use super::entry::{Member, Members, Refusal};
use super::program::quoted;
use super::splice::Change;

pub(super) fn wrap(
    text: &str,
    (name, program): (Node<'_>, &str),
    command: Member<'_>,
    members: &Members<'_>,
) -> Result<Vec<Change>, Refusal> {
    if command.value.kind() != Kind::String {
        return Err("its `command` is no text".to_owned());
    }
    if members.is_gateway() {
        return Err("it runs Stickler already".to_owned());
    }
    // The words as they are written: what comes back is then the same to the letter.
    let words = ["\"run\"", "\"--name\"", name.raw(), "\"--\"", command.value.raw()];
    let args = match members.args {
        Some(args) if args.value.kind() != Kind::Array => {
            return Err("its `args` are no list".to_owned());
        }
        Some(args) => before_others(text, args.value, &words),
        // Without blanks between them, so that it shows that there was no list.
        None => Change::insert(
            command.value.span().end,
            format!(",{}\"args\": [{}]", command.indent(text), words.join(",")),
        ),
    };
    Ok(vec![Change::replace(command.value.span(), quoted(program)), args])
}

/// Words at the beginning of a list, laid out as it is.
fn before_others(text: &str, list: Node<'_>, words: &[&str]) -> Change {
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
