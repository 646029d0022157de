//! Where we are in the arguments, on the way down.

use crate::tape::{escape_segment, work};

/// A step down from a parent; costs nothing until someone asks for the pointer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'a> {
    Root,
    Member(&'a Place<'a>, &'a str),
    Element(&'a Place<'a>, usize),
}

impl Place<'_> {
    pub(crate) fn pointer(&self) -> String {
        let mut pointer = String::new();
        self.write(&mut pointer);
        work::count(pointer.len() / 16);
        pointer
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

/// The pointer of a member.
pub(crate) fn join(pointer: &str, key: &str) -> String {
    work::count((pointer.len() + key.len()) / 16);
    format!("{pointer}/{}", escape_segment(key))
}
