//! Assembles paginated tool lists that the client requests.

use std::borrow::Cow;
use std::collections::BTreeMap;

use stickler::ToolDefinition;
use stickler::tape::{Kind, Node};

/// Maximum number of unfinished lists.
const MAX_UNFINISHED_LISTS: usize = 16;

/// One page of a tool list.
#[derive(Debug)]
pub(crate) struct Page {
    /// The cursor of the request; `None` for the first page.
    pub(crate) cursor: Option<Box<str>>,
    /// The cursor of the next page.
    pub(crate) next: Option<Box<str>>,
    pub(crate) tools: Vec<ToolDefinition>,
    /// The size of the page's JSON.
    pub(crate) bytes: usize,
}

/// Maximum size of a list, as JSON.
pub(super) const MAX_LIST_BYTES: usize = 64 << 20;

/// The unfinished lists, by the cursor of their next page.
#[derive(Debug)]
pub(crate) struct Pages {
    limit: usize,
    unfinished: BTreeMap<Box<str>, Unfinished>,
}

#[derive(Debug, Default)]
struct Unfinished {
    tools: Vec<ToolDefinition>,
    bytes: usize,
}

impl Pages {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, unfinished: BTreeMap::new() }
    }

    /// Discards unfinished lists.
    pub(crate) fn clear(&mut self) {
        self.unfinished = BTreeMap::new();
    }

    /// Adds a page and returns the whole list if the page completes it. If earlier pages
    /// are unknown, it is ignored, because the list would be incomplete.
    pub(crate) fn add(&mut self, page: Page) -> Option<Vec<ToolDefinition>> {
        let Unfinished { mut tools, mut bytes } = match &page.cursor {
            None => Unfinished::default(),
            Some(cursor) => self.unfinished.remove(cursor)?,
        };
        bytes = bytes.saturating_add(page.bytes);
        if bytes > MAX_LIST_BYTES {
            return None;
        }
        tools.extend(page.tools);
        // One more than the limit, so that the cache can report the excess.
        tools.truncate(self.limit + 1);
        match page.next {
            None => Some(tools),
            Some(next) => {
                if self.unfinished.len() >= MAX_UNFINISHED_LISTS {
                    self.unfinished.clear();
                }
                self.unfinished.insert(next, Unfinished { tools, bytes });
                None
            }
        }
    }
}

/// Returns the cursor of the next page; `Err` if it is invalid, because the list may then be
/// incomplete.
pub(crate) fn next_cursor(result: Node<'_>) -> Result<Option<Cow<'_, str>>, ()> {
    match result.get("nextCursor") {
        None => Ok(None),
        Some(cursor) if cursor.kind() == Kind::Null => Ok(None),
        Some(cursor) => cursor.as_str().map(Some).ok_or(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Page, Pages};
    use stickler::ToolDefinition;

    fn page(cursor: Option<&str>, next: Option<&str>, tool: &str) -> Page {
        let tools = vec![ToolDefinition::new(tool)];
        Page { cursor: cursor.map(Into::into), next: next.map(Into::into), tools, bytes: 10 }
    }

    fn names(tools: Option<Vec<ToolDefinition>>) -> Option<Vec<String>> {
        Some(tools?.into_iter().map(|tool| tool.name).collect())
    }

    #[test]
    fn last_page_completes_the_list() {
        let mut pages = Pages::new(100);
        assert_eq!(names(pages.add(page(None, Some("2"), "a"))), None);
        assert_eq!(names(pages.add(page(Some("2"), Some("3"), "b"))), None);
        let whole = names(pages.add(page(Some("3"), None, "c")));
        assert_eq!(whole.as_deref(), Some(&["a".to_owned(), "b".to_owned(), "c".to_owned()][..]));
    }

    #[test]
    fn page_without_predecessors_is_ignored() {
        let mut pages = Pages::new(100);
        assert_eq!(names(pages.add(page(Some("9"), None, "c"))), None);
    }

    #[test]
    fn endless_pagination_is_bounded() {
        let mut pages = Pages::new(3);
        let mut cursor = None;
        for number in 0..50 {
            let next = number.to_string();
            assert!(pages.add(page(cursor.as_deref(), Some(&next), "t")).is_none());
            cursor = Some(next);
        }
        assert!(pages.unfinished.values().all(|one| one.tools.len() <= 4));
        assert!(pages.unfinished.len() <= 16);
    }
}
