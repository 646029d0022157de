//! Views of a server: its tool list may depend on the identity and the capabilities of the client.
//!
//! The cache treats a view as a server whose name extends that of the server: `files#1f` is a view of `files`, and
//! `files#1f#2` is a view of both. A change of a server's tools makes the lists of its views stale.

/// Separator between the names of a server and a view.
const MARK: char = '#';

/// Returns the name of a view.
pub fn view_of(server: &str, view: u64) -> String {
    format!("{server}{MARK}{view:016x}")
}

/// Returns the name of the server that a view belongs to.
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

/// Whether a name is that of a server or of one of its views.
pub(super) fn is_of(name: &str, server: &str) -> bool {
    name.strip_prefix(server).is_some_and(|view| view.is_empty() || view.starts_with(MARK))
}

/// Returns a name and the names it is a view of.
pub(super) fn with_wider(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(name), |name| name.rsplit_once(MARK).map(|(wider, _)| wider))
}

#[cfg(test)]
mod tests {
    use super::{is_of, server_of, view_of, with_wider};

    #[test]
    fn views_are_recognised_by_name() {
        let view = view_of(&view_of("c#", 7), 8);
        assert_eq!(view, "c##0000000000000007#0000000000000008");
        assert_eq!((server_of(&view), server_of("c#"), server_of("files")), ("c#", "c#", "files"));
        assert!(is_of(&view, "c#") && is_of("files", "files") && !is_of("files2", "files"));
        assert!(with_wider(&view).any(|name| name == "c#"));
    }
}
