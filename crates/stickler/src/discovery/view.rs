//! Views of a server: what it lists may depend on who asks, and on what he can do.
//!
//! To the cache a view is a server of its own, by a name that says whose view it is: `files#1f` is one of
//! `files`, and `files#1f#2` one of both. What makes the tools of a server old makes those of its views old.

/// What stands between a server and a view of it.
const MARK: char = '#';

/// The name of a view.
pub fn view_of(server: &str, view: u64) -> String {
    format!("{server}{MARK}{view:016x}")
}

/// The server's own name, whatever view of it that is.
pub(crate) fn server_of(name: &str) -> &str {
    let mut server = name;
    while let Some((wider, view)) = server.rsplit_once(MARK) {
        let is_view = view.len() == 16 && view.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_view {
            break;
        }
        server = wider;
    }
    server
}

/// Whether a name is that of a server or of a view of it.
pub(super) fn is_of(name: &str, server: &str) -> bool {
    name.strip_prefix(server).is_some_and(|view| view.is_empty() || view.starts_with(MARK))
}

/// A name, and those of which it is a view.
pub(super) fn with_wider(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(name), |name| name.rsplit_once(MARK).map(|(wider, _)| wider))
}

#[cfg(test)]
mod tests {
    use super::{is_of, server_of, view_of, with_wider};

    #[test]
    fn views_are_known_by_their_names() {
        let view = view_of(&view_of("c#", 7), 8);
        assert_eq!(view, "c##0000000000000007#0000000000000008");
        assert_eq!((server_of(&view), server_of("c#"), server_of("files")), ("c#", "c#", "files"));
        assert!(is_of(&view, "c#") && is_of("files", "files") && !is_of("files2", "files"));
        assert!(with_wider(&view).any(|name| name == "c#"));
    }
}
