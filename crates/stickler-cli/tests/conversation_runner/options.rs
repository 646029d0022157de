//! Parses the options in parentheses after the arrow of a step: keywords, a label, a status and headers.

/// Keywords; any other lower-case word is a label.
const KEYWORDS: [&str; 15] = [
    "any",
    "broken",
    "bytes",
    "close",
    "empty",
    "end",
    "event",
    "exit",
    "get",
    "half-close",
    "hex",
    "kill",
    "raw",
    "start",
    "stream",
];

#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// The label of an HTTP exchange.
    pub(crate) label: Option<String>,
    /// An HTTP status or an exit code.
    pub(crate) number: Option<u16>,
    /// An HTTP method or the name of a signal.
    pub(crate) method: Option<String>,
    pub(crate) path: Option<String>,
    /// `name: value`; the value `-` means that the header is absent.
    pub(crate) headers: Vec<(String, String)>,
    words: Vec<String>,
    text: String,
}

impl std::fmt::Display for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Options {
    pub(crate) fn read(text: &str) -> Self {
        let mut options = Self { text: text.to_owned(), ..Self::default() };
        for part in text.split(';').map(str::trim) {
            if let Some((name, value)) = part.split_once(": ") {
                options.headers.push((name.to_ascii_lowercase(), value.to_owned()));
                continue;
            }
            for word in part.split_whitespace() {
                options.take(word);
            }
        }
        options
    }

    fn take(&mut self, word: &str) {
        if KEYWORDS.contains(&word) {
            self.words.push(word.to_owned());
        } else if let Ok(number) = word.parse() {
            self.number = Some(number);
        } else if word.starts_with('/') {
            self.path = Some(word.to_owned());
        } else if word.bytes().all(|byte| byte.is_ascii_uppercase()) {
            self.method = Some(word.to_owned());
        } else {
            self.label = Some(word.to_owned());
        }
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        self.words.iter().any(|one| one == word)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str())
    }
}
