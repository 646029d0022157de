//! Follows the pages of a tool list, in every client of a server.
//!
//! A list that does not end fails as a whole, because tools missing from the pages seen so far may exist.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Maximum number of pages.
const MAX_PAGES: usize = 1000;

/// The pages of a list that is being requested.
#[derive(Debug, Clone, Default)]
pub struct ListPages {
    cursor: Option<String>,
    /// Hashes of the cursors so far; a server chooses their length.
    seen: BTreeSet<u64>,
}

/// Why a list does not end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndlessList(Cause);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    OwnCursor,
    EarlierCursor,
    TooManyPages,
}

impl ListPages {
    /// Returns the cursor of the page to request; `None` for the first page.
    pub fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    /// Records a received page with the cursor that follows it. Returns whether there is another page to request.
    pub fn follow(&mut self, next: Option<String>) -> Result<bool, EndlessList> {
        let Some(next) = next else { return Ok(false) };
        let mut hasher = DefaultHasher::new();
        next.hash(&mut hasher);
        if self.cursor.as_ref() == Some(&next) {
            return Err(EndlessList(Cause::OwnCursor));
        }
        if !self.seen.insert(hasher.finish()) {
            return Err(EndlessList(Cause::EarlierCursor));
        }
        if self.seen.len() >= MAX_PAGES {
            return Err(EndlessList(Cause::TooManyPages));
        }
        self.cursor = Some(next);
        Ok(true)
    }
}

impl fmt::Display for EndlessList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Cause::OwnCursor => f.write_str("the next cursor of a page is its own cursor"),
            Cause::EarlierCursor => f.write_str("a page has the cursor of an earlier page"),
            Cause::TooManyPages => write!(f, "it has more than {MAX_PAGES} pages"),
        }
    }
}

impl std::error::Error for EndlessList {}

#[cfg(test)]
mod tests {
    use super::{ListPages, MAX_PAGES};

    #[test]
    fn pages_are_followed_to_the_end_and_endless_lists_fail() {
        let follow = |cursors: &[&str]| {
            let mut pages = ListPages::default();
            let mut results = cursors.iter().map(|next| pages.follow(Some((*next).to_owned())));
            results.find_map(Result::err).map(|error| error.to_string())
        };
        let mut pages = ListPages::default();
        assert_eq!(pages.cursor(), None);
        assert_eq!(pages.follow(Some("a".to_owned())), Ok(true));
        assert_eq!(pages.cursor(), Some("a"));
        assert_eq!(pages.follow(None), Ok(false));
        assert_eq!(follow(&["a", "b", "c"]), None);
        assert!(follow(&["a", "a"]).unwrap().contains("own cursor"));
        assert!(follow(&["a", "b", "a"]).unwrap().contains("earlier page"));
        let many: Vec<String> = (0..MAX_PAGES).map(|number| number.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(follow(&many).unwrap().contains("more than"));
        assert_eq!(follow(many.get(1..).unwrap()), None);
    }
}
