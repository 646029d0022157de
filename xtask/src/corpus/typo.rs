//! Generates typical misspellings of names.

use crate::random::Random;

/// Drops, doubles, swaps or replaces one letter. Returns `None` for names that are too short.
pub(super) fn misspell(name: &str, random: &mut Random) -> Option<String> {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() < 3 {
        return None;
    }
    let at = 1 + random.below(letters.len() - 1);
    let mut wrong = letters.clone();
    match random.below(4) {
        0 => {
            wrong.remove(at);
        }
        1 => wrong.insert(at, letters[at]),
        2 => wrong.swap(at - 1, at),
        _ => wrong[at] = if letters[at] == 'x' { 'y' } else { 'x' },
    }
    let wrong: String = wrong.into_iter().collect();
    (wrong != name).then_some(wrong)
}

/// Changes the naming convention, for example `file_path` to `filePath` or `FILE_PATH`.
pub(super) fn recase(name: &str, random: &mut Random) -> Option<String> {
    let words = words(name);
    let capital = |word: &String| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| {
            first.to_uppercase().chain(letters).collect::<String>()
        })
    };
    let (first, rest) = words.split_first()?;
    let forms = [
        words.join("_"),
        words.join("-"),
        first.clone() + &rest.iter().map(capital).collect::<String>(),
        words.iter().map(capital).collect::<String>(),
        words.join("_").to_uppercase(),
    ];
    let others: Vec<&String> = forms.iter().filter(|form| *form != name).collect();
    random.pick(&others).map(|form| (*form).clone())
}

fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut previous = ' ';
    for letter in name.chars() {
        let begins = letter.is_uppercase() && previous.is_lowercase();
        if (begins || matches!(letter, '_' | '-' | ' '))
            && words.last().is_some_and(|w| !w.is_empty())
        {
            words.push(String::new());
        }
        if !matches!(letter, '_' | '-' | ' ')
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        previous = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}
