//! Finds a text in the recorded messages by reading the files.
//!
//! Upper and lower case ASCII letters are the same. Messages are strings within records, so the text is looked for as
//! written and escaped once or twice.

use std::collections::{HashMap, HashSet};
use std::io::Read as _;
use std::path::PathBuf;

use crate::files::Text;
use crate::index::row::{Place, Row};
use crate::library::Sessions;

const PIECE_BYTES: usize = 1 << 20;
/// Longest line that is kept to find a text in it.
const MAX_LINE_BYTES: usize = 128 << 20;

/// The places at which texts were found so far.
#[derive(Debug, Default)]
pub(crate) struct TextSearch {
    /// Each text in its forms.
    texts: Vec<Vec<Vec<u8>>>,
    hits: HashSet<(u32, Place)>,
    /// Offset up to which a segment was searched, by session and segment.
    searched: HashMap<(u32, u16), u64>,
}

/// A piece of a file to search.
pub(crate) struct Job {
    session: u32,
    segment: u16,
    path: PathBuf,
    from: u64,
    to: u64,
}

impl TextSearch {
    pub(crate) fn new(texts: &[String]) -> Self {
        let texts = texts.iter().map(|text| forms(text)).collect();
        Self { texts, ..Self::default() }
    }

    pub(crate) fn matches(&self, session: u32, row: &Row) -> bool {
        self.texts.is_empty()
            || self.hits.contains(&(session, row.request))
            || self.hits.contains(&(session, row.response))
    }

    /// Returns what is still to be searched.
    pub(crate) fn jobs(&self, sessions: &Sessions, scope: Option<usize>) -> Vec<Job> {
        let mut jobs = Vec::new();
        let in_scope = |number: &usize| scope.is_none_or(|scope| scope == *number);
        for (number, session) in
            sessions.all.iter().enumerate().filter(|(number, _)| in_scope(number))
        {
            for (index, segment) in
                session.segments.iter().enumerate().filter(|(_, one)| !one.is_gone)
            {
                let (Ok(number), Ok(index)) = (u32::try_from(number), u16::try_from(index)) else {
                    continue;
                };
                let from = self.searched.get(&(number, index)).copied().unwrap_or(0);
                if !self.texts.is_empty() && from < segment.indexed {
                    let (path, to) = (segment.path.clone(), segment.indexed);
                    jobs.push(Job { session: number, segment: index, path, from, to });
                }
            }
        }
        jobs
    }

    /// Searches a piece. A file that cannot be read has no matches.
    pub(crate) fn run(&mut self, job: &Job) {
        self.searched.insert((job.session, job.segment), job.to);
        let Ok(text) = Text::open(&job.path, job.from) else { return };
        let mut text = text.take(job.to - job.from);
        let mut offset = job.from;
        let mut buffer = Vec::new();
        loop {
            let start = buffer.len();
            buffer.resize(start + PIECE_BYTES, 0);
            let read = text.read(buffer.get_mut(start..).unwrap_or_default()).unwrap_or(0);
            buffer.truncate(start + read);
            let end = match memchr::memrchr(b'\n', &buffer) {
                Some(end) if read > 0 => end + 1,
                None if read > 0 && buffer.len() < MAX_LINE_BYTES => continue,
                _ => buffer.len(),
            };
            let lines = buffer.get(..end).unwrap_or_default();
            for line in lines.split_inclusive(|byte| *byte == b'\n') {
                if self.texts.iter().all(|forms| forms.iter().any(|form| contains(line, form))) {
                    self.hits.insert((job.session, Place::new(job.segment, offset)));
                }
                offset += line.len() as u64;
            }
            if read == 0 {
                return;
            }
            buffer.drain(..end);
        }
    }
}

fn forms(text: &str) -> Vec<Vec<u8>> {
    let escape = |text: &str| {
        let quoted = serde_json::to_string(text).unwrap_or_default();
        quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
    };
    let once = escape(text);
    let twice = escape(&once);
    let mut forms =
        vec![text.to_ascii_lowercase(), once.to_ascii_lowercase(), twice.to_ascii_lowercase()];
    forms.dedup();
    forms.into_iter().map(String::into_bytes).collect()
}

/// Whether a text contains another, which is in lower case.
fn contains(text: &[u8], lower: &[u8]) -> bool {
    let Some((first, rest)) = lower.split_first() else { return true };
    let is_here = |at: usize| {
        text.get(at + 1..at + 1 + rest.len()).is_some_and(|found| found.eq_ignore_ascii_case(rest))
    };
    memchr::memchr2_iter(*first, first.to_ascii_uppercase(), text).any(is_here)
}

#[cfg(test)]
mod tests {
    use super::{contains, forms};

    #[test]
    fn text_is_found_in_any_case_and_escaped() {
        assert!(contains(b"say Hello", b"hello"));
        assert!(!contains(b"say Hell", b"hello"));
        let line = br#"{"msg":"{\"text\":\"she said \\\"Hi\\\"\"}"}"#;
        assert!(forms("said \"hi\"").iter().any(|form| contains(line, form)));
    }
}
