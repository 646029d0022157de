//! The current location during a walk over the arguments.

use crate::tape::{INDEX_SEGMENT_BYTES, escape_segment, work};

/// A linked list from the current value to the root; the JSON Pointer is only built on demand.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Location<'a> {
    Root,
    Member(&'a Location<'a>, &'a str),
    Element(&'a Location<'a>, usize),
}

impl Location<'_> {
    pub(crate) fn pointer(&self) -> String {
        let mut pointer = String::new();
        self.write(&mut pointer);
        work::count(pointer.len() / 16);
        pointer
    }

    /// Returns the approximate length of the pointer in bytes, without building it.
    pub(crate) fn pointer_length(&self) -> usize {
        match self {
            Self::Root => 0,
            Self::Member(parent, key) => parent.pointer_length() + 1 + key.len(),
            Self::Element(parent, _) => parent.pointer_length() + INDEX_SEGMENT_BYTES,
        }
    }

    fn write(&self, pointer: &mut String) {
        match self {
            Self::Root => {}
            Self::Member(parent, key) => {
                parent.write(pointer);
                pointer.push('/');
                pointer.push_str(&escape_segment(key));
            }
            Self::Element(parent, index) => {
                parent.write(pointer);
                pointer.push('/');
                pointer.push_str(&index.to_string());
            }
        }
    }
}

/// Returns the JSON Pointer of a member of the object at `pointer`.
pub(crate) fn join(pointer: &str, key: &str) -> String {
    work::count((pointer.len() + key.len()) / 16);
    format!("{pointer}/{}", escape_segment(key))
}
