//! Wraps a server that the client starts: `npx -y x` becomes `stickler run --name NAME OPTIONS -- npx -y x`.

use super::Wrapping;
use super::document::{Document, line_start, quoted};
use super::entry::{ALREADY_WRAPPED, Member, Members, SkipReason, elements, text};
use super::splice::Change;
use crate::config::{Data, Value};

pub(super) fn wrap(
    document: &Document<'_>,
    (name, entry): (&str, &Value),
    command: &Member<'_>,
    members: &Members<'_>,
    wrapping: &Wrapping,
) -> Result<Vec<Change>, SkipReason> {
    if text(command.value).is_none() {
        return Err(format!("its `{}` is {}, not a string", command.key, command.value.kind()));
    }
    if members.is_gateway() {
        return Err(ALREADY_WRAPPED.to_owned());
    }
    let mut words = vec![quoted("run"), quoted("--name"), quoted(name)];
    words.extend(wrapping.options.iter().map(|option| quoted(option)));
    // The command is copied as written, so that `unwrap` restores it byte for byte.
    words.extend([quoted("--"), document.raw(&command.value.span).to_owned()]);
    let args = match &members.args {
        Some(args) if !matches!(args.value.data, Data::List(_)) => {
            return Err(format!("its `args` are {}, not an array", args.value.kind()));
        }
        Some(args) => prepend(document, args.value, &words),
        // No spaces between the elements: `unwrap` recognises by this that there was no `args`.
        None => {
            let separator = document.separator(entry, command, "args");
            Change::insert(command.value.span.end, format!("{separator}[{}]", words.join(",")))
        }
    };
    Ok(vec![Change::replace(command.value.span.clone(), quoted(&wrapping.program)), args])
}

/// Inserts elements at the start of an array, in its layout.
fn prepend(document: &Document<'_>, list: &Value, words: &[String]) -> Change {
    let start = list.span.start;
    if is_block(document, list) {
        let before = document.text.get(..start).unwrap_or_default();
        let indent = " ".repeat(line_start(before).chars().count());
        let line_break = document.line_break();
        let items = words.iter().map(|word| format!("- {word}{line_break}{indent}"));
        return Change::insert(start, items.collect::<String>());
    }
    let first = elements(list).first();
    let blanks = first.map_or("", |first| document.raw(&(start + 1..first.span.start)));
    let words = match first {
        None => words.join(", "),
        Some(_) if blanks.is_empty() => words.join(", ") + ", ",
        // A comment before the first element stays before it.
        Some(_) if !is_blank(blanks) => words.join(", ") + ",",
        Some(_) => format!("{blanks}{},", words.join(&format!(",{blanks}"))),
    };
    Change::insert(start + 1, words)
}

/// Whether a list is a YAML block sequence, with a dash before each element.
fn is_block(document: &Document<'_>, list: &Value) -> bool {
    !document.raw(&list.span).starts_with('[')
}

fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_whitespace())
}

/// Restores the command at the index `at` of the arguments.
pub(super) fn unwrap(
    document: &Document<'_>,
    entry: &Value,
    command: &Member<'_>,
    args: &Member<'_>,
    at: usize,
) -> Vec<Change> {
    let all = elements(args.value);
    let (Some(first), Some(second), Some(original)) = (all.first(), all.get(1), all.get(at)) else {
        return Vec::new();
    };
    let back = Change::replace(command.value.span.clone(), document.raw(&original.span));
    let is_compact = document.raw(&(first.span.end..second.span.start)) == ",";
    let separator = document.separator(entry, command, "args");
    let between = document.raw(&(command.value.span.end..args.value.span.start));
    let removed = match all.get(at + 1) {
        None if is_compact && between == separator => command.value.span.end..args.value.span.end,
        None if is_compact && !is_block(document, args.value) => {
            return vec![back, args.remove(document)];
        }
        None => first.span.start..original.span.end,
        Some(next) if is_block(document, args.value) => {
            let before = document.text.get(..next.span.start).unwrap_or_default();
            args.value.span.start..before.rfind('-').unwrap_or(next.span.start)
        }
        Some(next) => {
            let lead = document.raw(&(args.value.span.start + 1..first.span.start));
            let gap = document.raw(&(original.span.end..next.span.start));
            // Without a blank before the first element, `wrap` has added one only where there was none.
            let is_own = !lead.is_empty() || gap == ", " || !gap.starts_with(',');
            let end = if is_own { next.span.start } else { original.span.end + 1 };
            first.span.start..end
        }
    };
    vec![back, Change::remove(removed)]
}
