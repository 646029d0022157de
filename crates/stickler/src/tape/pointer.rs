//! JSON Pointers (RFC 6901) on a tape.

use std::borrow::Cow;

use super::{Kind, Node};

impl<'t> Node<'t> {
    /// Returns the value at a JSON Pointer relative to this value.
    pub fn pointer(self, pointer: &str) -> Option<Self> {
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return None;
        }
        segments(pointer).try_fold(self, |node, segment| node.child(&segment))
    }

    /// Returns the key of the member at a JSON Pointer as a node; `None` for an element or this value.
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

    /// Returns the JSON Pointer from this value to another value of the same tape; `None` if it is not
    /// inside this value. A key has the pointer of its member.
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
        let contains_target = |node: Self| {
            let (outer, inner) = (node.span(), target.span());
            outer.start <= inner.start && inner.end <= outer.end
        };
        if self.kind() == Kind::Array {
            let mut elements = self.elements().enumerate();
            let (index, child) = elements.find(|(_, child)| contains_target(*child))?;
            return Some((Cow::Owned(index.to_string()), child));
        }
        let mut members = self.members().with_key_nodes();
        let (key, value) =
            members.find(|(key, value)| *key == target || contains_target(*value))?;
        // A key has no children.
        Some((key.as_str()?, if key == target { target } else { value }))
    }

    pub(super) fn child(self, segment: &str) -> Option<Self> {
        match self.kind() {
            Kind::Object => self.get(segment),
            Kind::Array => {
                let index: usize = segment.parse().ok()?;
                // `00` and `+0` are not valid indices.
                self.elements().nth(index).filter(|_| index.to_string() == segment)
            }
            _ => None,
        }
    }
}

/// Escapes a key for use as a segment of a JSON Pointer.
pub fn escape_segment(segment: &str) -> Cow<'_, str> {
    if segment.contains(['~', '/']) {
        Cow::Owned(segment.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(segment)
    }
}

/// Returns the key that a segment of a JSON Pointer denotes.
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
