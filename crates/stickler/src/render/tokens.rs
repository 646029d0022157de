//! Estimates token counts without a tokenizer, erring on the high side.
//!
//! Tokenizer vocabularies take megabytes, but a budget only needs an upper bound. Byte-pair tokenizers
//! split a text into words first, and a common word into few tokens. Pronounceable words therefore count
//! as a third of their letters, other words as two thirds, digits in groups of three, punctuation
//! individually, and everything outside ASCII by its bytes, which no tokenizer exceeds. The corpus run
//! compares the estimate with real tokenizers for every tool.

/// Returns the estimated number of tokens of a text, in practice an upper bound.
pub fn estimate(text: &str) -> usize {
    let mut total = 0;
    let mut rest = text;
    while let Some((run, after)) = next_run(rest) {
        total += cost(run, after);
        rest = after;
    }
    total
}

/// Returns whether a text takes more than `max_tokens` tokens. A text that is longer than
/// [`MAX_BYTES_PER_TOKEN`] allows is not scanned.
pub(crate) fn exceeds(text: &str, max_tokens: usize) -> bool {
    text.len() > max_tokens.saturating_mul(MAX_BYTES_PER_TOKEN) || estimate(text) > max_tokens
}

/// Maximum number of bytes per token, reached by a run of spaces.
const MAX_BYTES_PER_TOKEN: usize = 16;

/// Cuts a text to `max_tokens` tokens and marks the cut with an ellipsis.
pub(crate) fn cut(text: &str, max_tokens: usize) -> String {
    if !exceeds(text, max_tokens) {
        return text.to_owned();
    }
    // The ellipsis is three bytes.
    let room = max_tokens.saturating_sub(3);
    // Twice what can be kept: a run that is cut by this limit does not fit in any case.
    let text = prefix(text, max_tokens.saturating_mul(2 * MAX_BYTES_PER_TOKEN).saturating_add(64));
    let mut total = 0;
    let mut rest = text;
    while let Some((run, after)) = next_run(rest) {
        total += cost(run, after);
        if total > room {
            break;
        }
        rest = after;
    }
    let kept = text.get(..text.len() - rest.len()).unwrap_or_default();
    format!("{}…", kept.trim_end())
}

/// Returns the longest prefix of at most `bytes` bytes.
fn prefix(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let end = (0..=bytes).rev().find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    Lower,
    Digit,
    Space,
    Punctuation,
    Other,
}

fn class(c: char) -> Class {
    match c {
        'a'..='z' => Class::Lower,
        'A'..='Z' => Class::Upper,
        '0'..='9' => Class::Digit,
        ' ' | '\n' | '\r' | '\t' => Class::Space,
        _ if c.is_ascii() => Class::Punctuation,
        _ => Class::Other,
    }
}

/// Splits off the longest run of characters of one class.
fn next_run(text: &str) -> Option<(&str, &str)> {
    let mut characters = text.char_indices();
    let (_, first) = characters.next()?;
    let mut previous = class(first);
    let end = characters.find(|(_, c)| {
        let next = class(*c);
        let continues = match (previous, next) {
            // A capital letter can start a lower-case word.
            (Class::Upper, Class::Lower) => true,
            (Class::Punctuation | Class::Other, _) => false,
            _ => previous == next,
        };
        previous = next;
        !continues
    });
    Some(text.split_at(end.map_or(text.len(), |(position, _)| position)))
}

fn cost(run: &str, after: &str) -> usize {
    let Some(first) = run.chars().next() else {
        return 0;
    };
    let length = run.len();
    match class(first) {
        Class::Upper | Class::Lower if is_pronounceable(run) => length.div_ceil(3),
        Class::Upper | Class::Lower => (length * 2).div_ceil(3),
        Class::Digit => length.div_ceil(3),
        // A single space is part of the word after it.
        Class::Space => {
            let joins = after.chars().next().is_some_and(|next| next.is_ascii_alphabetic());
            if run == " " && joins { 0 } else { 1 + length / 16 }
        }
        Class::Punctuation => 1,
        Class::Other => length,
    }
}

fn is_pronounceable(word: &str) -> bool {
    let vowels = word
        .bytes()
        .filter(|byte| matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u' | b'y'))
        .count();
    word.len() <= 3 || vowels * 4 >= word.len()
}

#[cfg(test)]
mod tests {
    use super::{MAX_BYTES_PER_TOKEN, cut, estimate};

    #[test]
    fn words_cost_less_than_random_letters() {
        assert!(estimate("please correct the arguments") < estimate("xkqzt wrtpl kjhgf dsqwrtzx"));
    }

    #[test]
    fn cut_text_is_within_the_token_limit() {
        let text = "one two three, four! Fünf 123456789 sechs \u{4f60}\u{597d}".repeat(20);
        for max_tokens in [4, 10, 50, 200] {
            assert!(estimate(&cut(&text, max_tokens)) <= max_tokens, "{max_tokens}");
        }
    }

    #[test]
    fn text_within_the_limit_is_not_cut() {
        assert_eq!(cut("short", 10), "short");
    }

    #[test]
    fn cut_never_splits_a_character() {
        assert_eq!(cut(&"é".repeat(50), 9), "ééé…");
    }

    #[test]
    fn estimated_tokens_never_exceed_the_maximum_bytes_per_token() {
        let pieces = ["a", "xkqz", " ", "  ", "\n", "7", "é", "-", "A"];
        for (first, second) in pieces.iter().flat_map(|one| pieces.map(|other| (one, other))) {
            for length in 1..70 {
                let text = format!("{}{second}", first.repeat(length));
                assert!(estimate(&text) * MAX_BYTES_PER_TOKEN >= text.len(), "{text:?}");
                let mixed = format!("{first}{second}").repeat(length);
                assert!(estimate(&mixed) * MAX_BYTES_PER_TOKEN >= mixed.len(), "{mixed:?}");
            }
        }
    }

    #[test]
    fn long_run_is_cut_as_a_whole() {
        for run in ["k", " ", "7"] {
            let text = format!("begin {}", run.repeat(10_000));
            assert_eq!(cut(&text, 20), "begin…", "{run:?}");
        }
    }
}
