//! Parses YAML into the tree of values that TOML and JSON files are parsed into.

use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput};

use super::document::{Data, MAX_DEPTH, Member, Value};
use super::fault::Fault;

pub(super) fn read(text: &str) -> Result<Value, Fault> {
    let mut reader = Reader { text, offsets: offsets(text), parser: Parser::new_from_str(text) };
    let mut root = Value { span: 0..0, data: Data::Other("`null`") };
    loop {
        match reader.next()? {
            (Event::StreamEnd, _) => return Ok(root),
            (Event::DocumentStart(_), span) if root.span.end > 0 => {
                let message = "several YAML documents in one file are not supported";
                return Err(Fault::new(&reader.range(span), message));
            }
            (Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd, _) => {}
            (event, span) => root = reader.value(event, span, 0)?,
        }
    }
}

/// Byte offsets of the characters, by which the parser counts; empty if all characters are single bytes.
fn offsets(text: &str) -> Vec<usize> {
    if text.is_ascii() {
        return Vec::new();
    }
    text.char_indices().map(|(at, _)| at).chain([text.len()]).collect()
}

struct Reader<'t> {
    text: &'t str,
    offsets: Vec<usize>,
    parser: Parser<'t, StrInput<'t>>,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<(Event<'t>, Span), Fault> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(self.fault(&error)),
            None => {
                let end = self.text.len();
                Err(Fault::new(&(end..end), "unexpected end of the file"))
            }
        }
    }

    fn fault(&self, error: &ScanError) -> Fault {
        let at = self.offset(error.marker().index());
        Fault::new(&(at..at), format!("invalid YAML: {}", error.info()))
    }

    fn value(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Value, Fault> {
        let range = self.range(span);
        if depth > MAX_DEPTH {
            return Err(Fault::new(&range, "the file is nested too deeply"));
        }
        match event {
            Event::Scalar(text, style, ..) => Ok(self.scalar(&text, style, range)),
            Event::SequenceStart(..) => {
                let mut elements = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, end) => {
                            let end = self.end(&range, end, elements.last());
                            let span = self.dash(&range, elements.first())..end;
                            return Ok(Value { span, data: Data::List(elements) });
                        }
                        (event, span) => elements.push(self.value(event, span, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(..) => self.mapping(range, depth),
            _ => Ok(Value { span: range, data: Data::Other("an alias") }),
        }
    }

    fn mapping(&mut self, range: Range<usize>, depth: usize) -> Result<Value, Fault> {
        let mut members: Vec<Member> = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                let end = self.end(&range, span, members.last().map(|member| &member.value));
                return Ok(Value { span: range.start..end, data: Data::Table(members) });
            }
            let key = self.value(event, span, depth + 1)?;
            let (event, span) = self.next()?;
            let value = self.value(event, span, depth + 1)?;
            let name = match key.data {
                Data::Text(name) => name,
                _ => self.text.get(key.span.clone()).unwrap_or_default().to_owned(),
            };
            members.push(Member { key: name, key_span: key.span, value });
        }
    }

    /// Returns where a sequence starts: at its bracket, or at its first dash.
    fn dash(&self, range: &Range<usize>, first: Option<&Value>) -> usize {
        let before = first.and_then(|first| self.text.get(..first.span.start));
        let dash = before.filter(|_| range.is_empty()).and_then(|before| before.rfind('-'));
        dash.unwrap_or(range.start)
    }

    /// Returns where a container ends: at its bracket, or at its last value if it has none.
    fn end(&self, start: &Range<usize>, end: Span, last: Option<&Value>) -> usize {
        let has_bracket =
            self.text.get(start.clone()).is_some_and(|text| text.starts_with(['[', '{']));
        match last {
            // The end that the parser reports includes a comment after the bracket.
            _ if has_bracket => self.range(end).start + 1,
            Some(last) => last.span.end,
            None => start.end,
        }
    }

    fn scalar(&self, text: &str, style: ScalarStyle, span: Range<usize>) -> Value {
        let raw = self.text.get(span.clone()).unwrap_or_default();
        let length = match style {
            // The parser includes a comment after the closing quote.
            ScalarStyle::DoubleQuoted => quoted_length(raw, '"'),
            ScalarStyle::SingleQuoted => quoted_length(raw, '\''),
            _ => None,
        };
        let length = length.unwrap_or_else(|| raw.trim_end().len());
        let data = match style {
            ScalarStyle::Literal | ScalarStyle::Folded => Data::Other("a block of text"),
            ScalarStyle::Plain if matches!(text, "" | "~" | "null" | "Null" | "NULL") => {
                Data::Other("`null`")
            }
            ScalarStyle::Plain if matches!(text, "true" | "True" | "TRUE") => Data::Flag(true),
            ScalarStyle::Plain if matches!(text, "false" | "False" | "FALSE") => Data::Flag(false),
            ScalarStyle::Plain if is_number(text) => Data::Number(text.to_owned()),
            _ => Data::Text(text.to_owned()),
        };
        Value { span: span.start..span.start + length, data }
    }

    fn range(&self, span: Span) -> Range<usize> {
        self.offset(span.start.index())..self.offset(span.end.index())
    }

    fn offset(&self, character: usize) -> usize {
        match self.offsets.as_slice() {
            [] => character.min(self.text.len()),
            offsets => offsets.get(character).copied().unwrap_or(self.text.len()),
        }
    }
}

/// Returns the length of a quoted scalar at the start of a text.
fn quoted_length(text: &str, quote: char) -> Option<usize> {
    let mut characters = text.char_indices().peekable();
    characters.next().filter(|(_, first)| *first == quote)?;
    while let Some((at, character)) = characters.next() {
        if character == '\\' && quote == '"' {
            characters.next();
        } else if character == quote {
            // Two single quotes stand for one.
            let is_escaped =
                quote == '\'' && characters.next_if(|(_, next)| *next == quote).is_some();
            if !is_escaped {
                return Some(at + 1);
            }
        }
    }
    None
}

/// Whether a plain scalar is a number and not a string such as `nan` or `1.2.3`.
fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
        && text.ends_with(|c: char| c.is_ascii_digit())
        && text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::{Data, Value, read};

    fn raw<'t>(text: &'t str, value: &Value) -> &'t str {
        &text[value.span.clone()]
    }

    #[test]
    fn values_have_the_spans_of_their_text() {
        let text = "# ü\nlist:\n  - -y\n  - \"ä\" # c\n  - 'it''s'\nflow: [a, \"b\", ] # d\nn: 8080\nt: yes\nnone:\n";
        let root = read(text).unwrap();
        let Data::Table(members) = &root.data else { panic!("{root:?}") };
        let keys: Vec<&str> = members.iter().map(|member| member.key.as_str()).collect();
        assert_eq!(keys, ["list", "flow", "n", "t", "none"]);
        let Data::List(items) = &members[0].value.data else { panic!("{root:?}") };
        let items: Vec<&str> = items.iter().map(|item| raw(text, item)).collect();
        assert_eq!(items, ["-y", "\"ä\"", "'it''s'"]);
        assert!(raw(text, &members[0].value).starts_with("- -y\n"));
        assert_eq!(raw(text, &members[1].value), "[a, \"b\", ]");
        assert_eq!(members[2].value.data, Data::Number("8080".to_owned()));
        assert_eq!(members[3].value.data, Data::Text("yes".to_owned()));
        assert_eq!(members[4].value.data, Data::Other("`null`"));
    }

    #[test]
    fn errors_have_positions() {
        for (text, at) in [("ü: [", 5), ("a:\n\tb: 1", 4)] {
            let fault = read(text).unwrap_err();
            assert_eq!(fault.span.start, at, "{text:?}: {}", fault.message);
        }
        assert!(read("a: 1\n---\nb: 2\n").unwrap_err().message.contains("several"));
        assert!(read(&"[".repeat(100_000)).is_err());
        assert!(read("").is_ok());
    }
}
