//! Where we are in the arguments, on the way down.

use crate::tape::escape_segment;

/// A step down from a parent; costs nothing until someone asks for the pointer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'a> {
    Root,
    Member(&'a Place<'a>, &'a str),
    Element(&'a Place<'a>, usize),
}

impl Place<'_> {
    pub(crate) fn pointer(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Member(parent, key) => join(&parent.pointer(), key),
            Self::Element(parent, index) => format!("{}/{index}", parent.pointer()),
        }
    }
}

/// The pointer of a member.
pub(crate) fn join(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", escape_segment(key))
}
