//! Formats the failure of a run, and writes recorded expectations to a file.

use std::path::Path;

use super::player::{Failure, Recorded};
use super::script::{Conversation, Pairing};
use super::template::Bindings;

/// `file: name [pairing]`.
pub(crate) fn title(folder: &Path, conversation: &Conversation, pairing: Pairing) -> String {
    let file = conversation.file.strip_prefix(folder).unwrap_or(&conversation.file);
    format!("{}: {} [{}]", file.display(), conversation.name, pairing.name())
}

pub(crate) fn failure(
    folder: &Path,
    conversation: &Conversation,
    pairing: Pairing,
    failure: &Failure,
) -> String {
    let Failure { step, line, expected, actual, context } = failure;
    let file = conversation.file.strip_prefix(folder).unwrap_or(&conversation.file);
    let (name, pairing) = (&conversation.name, pairing.name());
    format!(
        "{file}:{line}: {name} [{pairing}], step {step}\n  expected: {expected}\n  received: {actual}\n{context}\n  \
         To run only this conversation: STICKLER_CONVERSATION='{name} [{pairing}]' cargo test -p stickler-cli --test \
         conversations. To record the actual messages, set STICKLER_UPDATE_CONVERSATIONS=1 as well, then review the \
         difference.",
        file = file.display()
    )
}

/// Replaces the texts of the recorded lines; constants replace their values.
pub(crate) fn rewrite(file: &Path, recorded: &Recorded, constants: &Bindings) {
    let mut constants: Vec<_> = constants.iter().collect();
    constants.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    let shorten = |text: &str| {
        let replace = |text: String, (name, value): &(&String, &String)| {
            text.replace(value.as_str(), &format!("${{{name}}}"))
        };
        constants.iter().fold(text.to_owned(), replace)
    };
    let text = std::fs::read_to_string(file).unwrap();
    let lines = (1..).zip(text.lines()).map(|(number, line)| match recorded.get(&number) {
        None => format!("{line}\n"),
        Some(text) => format!("{} {}\n", &line[..head_length(line)], shorten(text)),
    });
    let lines: String = lines.collect();
    std::fs::write(file, lines).unwrap();
}

/// Returns the length of the part of a line before its text: filters, the arrow and the options.
fn head_length(line: &str) -> usize {
    let arrow = line.find(['<', '>']).map_or(line.len(), |arrow| arrow + 1);
    let options = line[arrow..].starts_with('(').then(|| line[arrow..].find(')')).flatten();
    options.map_or(arrow, |end| arrow + end + 1)
}
