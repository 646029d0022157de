//! JSON Pointers (RFC 6901) into a tape.

use std::borrow::Cow;

use super::{Kind, Node};

impl<'t> Node<'t> {
    /// The value at a JSON Pointer, seen from this one.
    pub fn pointer(self, pointer: &str) -> Option<Self> {
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return None;
        }
        segments(pointer).try_fold(self, |node, segment| node.child(&segment))
    }

    /// The key of the member at a JSON Pointer, as a node; `None` for an element or the whole.
    pub fn key_at(self, pointer: &str) -> Option<Self> {
        let (parent, last) = pointer.rsplit_once('/')?;
        let last = unescape_segment(last);
        self.pointer(parent)?
            .members()
            .with_key_nodes()
            .filter(|(key, _)| key.is_string(&last))
            .last()
            .map(|(key, _)| key)
    }

    /// The JSON Pointer of another value of the same tape, seen from this one; `None` when it is
    /// not inside. A key has the pointer of its member.
    pub fn pointer_to(self, target: Self) -> Option<String> {
        let mut pointer = String::new();
        let mut here = self;
        while here != target {
            let (segment, child) = here.step_towards(target)?;
            pointer.push('/');
            pointer.push_str(&escape_segment(&segment));
            here = child;
        }
        Some(pointer)
    }

    pub(super) fn step_towards(self, target: Self) -> Option<(Cow<'t, str>, Self)> {
        let holds = |node: Self| {
            let (outer, inner) = (node.span(), target.span());
            outer.start <= inner.start && inner.end <= outer.end
        };
        if self.kind() == Kind::Array {
            let mut elements = self.elements().enumerate();
            let (index, child) = elements.find(|(_, child)| holds(*child))?;
            return Some((Cow::Owned(index.to_string()), child));
        }
        let (key, value) =
            self.members().with_key_nodes().find(|(key, value)| *key == target || holds(*value))?;
        // From a key there is no further to go.
        Some((key.as_str()?, if key == target { target } else { value }))
    }

    pub(super) fn child(self, segment: &str) -> Option<Self> {
        match self.kind() {
            Kind::Object => self.get(segment),
            Kind::Array => {
                let index: usize = segment.parse().ok()?;
                // `00` and `+0` are no indices.
                self.elements().nth(index).filter(|_| index.to_string() == segment)
            }
            _ => None,
        }
    }
}

/// A key as it stands between two slashes of a JSON Pointer.
pub fn escape_segment(segment: &str) -> Cow<'_, str> {
    if segment.contains(['~', '/']) {
        Cow::Owned(segment.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(segment)
    }
}

/// The key that a part of a JSON Pointer stands for.
pub fn unescape_segment(segment: &str) -> Cow<'_, str> {
    if segment.contains('~') {
        Cow::Owned(segment.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(segment)
    }
}

pub(super) fn segments(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    pointer.split('/').skip(1).map(unescape_segment)
}
