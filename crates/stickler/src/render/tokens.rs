//! How many tokens a text takes, told without a tokenizer and rather too many than too few.
//!
//! The vocabularies of language models are megabytes; a budget only needs a bound. Byte-pair
//! tokenizers split a text into words first, and a word into few pieces when it is common. So
//! pronounceable words count a third of their letters, others two thirds, digits go by threes,
//! punctuation one by one, and everything beyond ASCII by its bytes, which no tokenizer exceeds.
//! The corpus run compares this with real tokenizers for every tool.

/// An upper bound, in practice, of the tokens of a text.
pub fn estimate(text: &str) -> usize {
    let mut total = 0;
    let mut rest = text;
    while let Some((run, after)) = next_run(rest) {
        total += cost(run, after);
        rest = after;
    }
    total
}

/// Whether a text takes more than a number of tokens. No token has more than [`MOST_BYTES`], so that a
/// long text is not looked at.
pub(crate) fn exceeds(text: &str, most: usize) -> bool {
    text.len() > most.saturating_mul(MOST_BYTES) || estimate(text) > most
}

/// Bytes of one token, at most: a run of blanks has that many.
const MOST_BYTES: usize = 16;

/// The beginning of a text that stays within a number of tokens, with a mark where it was cut.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if !exceeds(text, most) {
        return text.to_owned();
    }
    // The mark is three bytes.
    let room = most.saturating_sub(3);
    // Twice what can be kept: a run of characters that is cut here is too long all the same.
    let text = beginning(text, most.saturating_mul(2 * MOST_BYTES).saturating_add(64));
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

/// The characters within the first so many bytes.
fn beginning(text: &str, bytes: usize) -> &str {
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

/// The longest piece at the beginning whose characters belong together.
fn next_run(text: &str) -> Option<(&str, &str)> {
    let mut characters = text.char_indices();
    let (_, first) = characters.next()?;
    let mut previous = class(first);
    let end = characters.find(|(_, c)| {
        let next = class(*c);
        let together = match (previous, next) {
            // A capital begins a word, it does not end one.
            (Class::Upper, Class::Lower) => true,
            (Class::Punctuation | Class::Other, _) => false,
            _ => previous == next,
        };
        previous = next;
        !together
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
        // One space belongs to the word after it.
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
    use super::{MOST_BYTES, cut, estimate};

    #[test]
    fn plain_words_cost_less_than_noise() {
        assert!(estimate("please correct the arguments") < estimate("xkqzt wrtpl kjhgf dsqwrtzx"));
    }

    #[test]
    fn cutting_keeps_within_the_number_of_tokens() {
        let text = "one two three, four! Fünf 123456789 sechs \u{4f60}\u{597d}".repeat(20);
        for most in [4, 10, 50, 200] {
            assert!(estimate(&cut(&text, most)) <= most, "{most}");
        }
    }

    #[test]
    fn what_fits_is_not_cut() {
        assert_eq!(cut("short", 10), "short");
    }

    #[test]
    fn cutting_never_splits_a_character() {
        assert_eq!(cut(&"é".repeat(50), 9), "ééé…");
    }

    #[test]
    fn no_token_has_more_bytes_than_are_counted_on() {
        let pieces = ["a", "xkqz", " ", "  ", "\n", "7", "é", "-", "A"];
        for (first, second) in pieces.iter().flat_map(|one| pieces.map(|other| (one, other))) {
            for length in 1..70 {
                let text = format!("{}{second}", first.repeat(length));
                assert!(estimate(&text) * MOST_BYTES >= text.len(), "{text:?}");
                let mixed = format!("{first}{second}").repeat(length);
                assert!(estimate(&mixed) * MOST_BYTES >= mixed.len(), "{mixed:?}");
            }
        }
    }

    #[test]
    fn a_long_run_is_cut_as_a_whole() {
        for run in ["k", " ", "7"] {
            let text = format!("begin {}", run.repeat(10_000));
            assert_eq!(cut(&text, 20), "begin…", "{run:?}");
        }
    }
}
