//! Tool lists that come in pages.

use std::borrow::Cow;
use std::collections::BTreeMap;

use stickler::ToolDefinition;
use stickler::tape::{Kind, Node};

/// How many unfinished lists are remembered.
const UNFINISHED: usize = 16;

/// One page of a tool list, as it was asked for and answered.
#[derive(Debug)]
pub(crate) struct Page {
    /// What it was asked for with; the first page is asked for with nothing.
    pub(crate) cursor: Option<Box<str>>,
    /// What the next page is to be asked for with.
    pub(crate) next: Option<Box<str>>,
    pub(crate) tools: Vec<ToolDefinition>,
    /// How much text it was.
    pub(crate) bytes: usize,
}

/// Text of an unfinished list that is kept.
const MOST_BYTES: usize = 64 << 20;

/// What has been seen of lists whose last page has not come yet, by the cursor that continues them.
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

    /// Lists that are not finished are not waited for.
    pub(crate) fn forget(&mut self) {
        self.unfinished = BTreeMap::new();
    }

    /// The whole list, when this page completes it. A page whose beginning was never seen says
    /// nothing about the tools that are not on it.
    pub(crate) fn add(&mut self, page: Page) -> Option<Vec<ToolDefinition>> {
        let Unfinished { mut tools, mut bytes } = match &page.cursor {
            None => Unfinished::default(),
            Some(cursor) => self.unfinished.remove(cursor)?,
        };
        bytes = bytes.saturating_add(page.bytes);
        if bytes > MOST_BYTES {
            return None;
        }
        tools.extend(page.tools);
        // One more than the limit, so that the cache knows that the list went on.
        tools.truncate(self.limit + 1);
        match page.next {
            None => Some(tools),
            Some(next) => {
                if self.unfinished.len() >= UNFINISHED {
                    self.unfinished.clear();
                }
                self.unfinished.insert(next, Unfinished { tools, bytes });
                None
            }
        }
    }
}

/// What the next page of a list is to be asked for with; `Err` where that cannot be told, so that there
/// may be more tools than were seen.
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
    fn a_list_is_whole_with_its_last_page() {
        let mut pages = Pages::new(100);
        assert_eq!(names(pages.add(page(None, Some("2"), "a"))), None);
        assert_eq!(names(pages.add(page(Some("2"), Some("3"), "b"))), None);
        let whole = names(pages.add(page(Some("3"), None, "c")));
        assert_eq!(whole.as_deref(), Some(&["a".to_owned(), "b".to_owned(), "c".to_owned()][..]));
    }

    #[test]
    fn a_page_without_its_beginning_is_no_list() {
        let mut pages = Pages::new(100);
        assert_eq!(names(pages.add(page(Some("9"), None, "c"))), None);
    }

    #[test]
    fn endless_pages_are_bounded() {
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
