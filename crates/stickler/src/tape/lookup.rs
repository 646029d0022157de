//! Indexed access to the values of a tape.
//!
//! A tape has no index: finding a member or element takes a linear scan. That is sufficient for the few
//! lookups of a valid call. Explaining a rejected call takes hundreds of lookups, which together would be
//! quadratic in the size of the call. A [`Lookup`] indexes a large array or object on first access.
//!
//! Contract: it returns the same results as [`Node::pointer`], [`Node::get`], [`Node::key_at`] and
//! [`Node::pointer_to`]. Building all indexes takes time linear in the size of the value; each lookup takes
//! time linear in the length of its pointer.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::pointer::{escape_segment, segments};
use super::{Kind, Node};

/// Arrays and objects with more children are indexed; smaller ones are scanned.
const MAX_SCANNED_CHILDREN: usize = 16;

/// The indexes of the large arrays and objects in one value.
#[derive(Debug)]
pub(crate) struct Lookup<'t> {
    root: Node<'t>,
    indexes: RefCell<HashMap<u32, Rc<Children<'t>>>>,
}

/// The index of a large array or object.
#[derive(Debug)]
struct Children<'t> {
    /// The tokens of the elements, or of the keys, in text order.
    tokens: Vec<u32>,
    /// The values by key; for a duplicate key, the last one.
    by_name: HashMap<Cow<'t, str>, u32>,
}

impl<'t> Lookup<'t> {
    pub(crate) fn new(root: Node<'t>) -> Self {
        Self { root, indexes: RefCell::default() }
    }

    /// Returns the value at a JSON Pointer.
    pub(crate) fn pointer(&self, pointer: &str) -> Option<Node<'t>> {
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return None;
        }
        segments(pointer).try_fold(self.root, |node, segment| self.child(node, &segment))
    }

    /// Returns the key of the member at a JSON Pointer; `None` for an element or the root.
    pub(crate) fn key_at(&self, pointer: &str) -> Option<Node<'t>> {
        let (parent, _) = pointer.rsplit_once('/')?;
        let object = self.pointer(parent).filter(|node| node.kind() == Kind::Object)?;
        let value = self.pointer(pointer)?;
        // The token of a key directly precedes that of its value.
        Some(Node::new(object.tape(), value.token_index().checked_sub(1)?))
    }

    /// Returns the value of the member with the given key.
    pub(crate) fn get(&self, object: Node<'t>, key: &str) -> Option<Node<'t>> {
        match self.children(object) {
            Some(children) => {
                children.by_name.get(key).map(|&index| Node::new(object.tape(), index))
            }
            None => object.get(key),
        }
    }

    /// Returns the JSON Pointer from the root to a value or key; `None` if it is not inside the root.
    pub(crate) fn pointer_to(&self, target: Node<'t>) -> Option<String> {
        let mut pointer = String::new();
        let mut here = self.root;
        while here != target {
            let (segment, child) = self.step_towards(here, target)?;
            pointer.push('/');
            pointer.push_str(&escape_segment(&segment));
            here = child;
        }
        Some(pointer)
    }

    fn step_towards(&self, here: Node<'t>, target: Node<'t>) -> Option<(Cow<'t, str>, Node<'t>)> {
        let Some(children) = self.children(here) else {
            return here.step_towards(target);
        };
        let target_index = target.token_index();
        let position =
            children.tokens.partition_point(|&token| token <= target_index).checked_sub(1)?;
        let token = Node::new(here.tape(), *children.tokens.get(position)?);
        if !here.tokens().contains(&target_index) {
            return None;
        }
        if here.kind() == Kind::Array {
            return Some((Cow::Owned(position.to_string()), token));
        }
        let value = Node::new(here.tape(), token.token_index() + 1);
        Some((token.as_str()?, if token == target { target } else { value }))
    }

    fn child(&self, node: Node<'t>, segment: &str) -> Option<Node<'t>> {
        match (node.kind(), self.children(node)) {
            (Kind::Object, _) => self.get(node, segment),
            (Kind::Array, Some(children)) => {
                let index: usize = segment.parse().ok()?;
                let token = children.tokens.get(index).filter(|_| index.to_string() == segment)?;
                Some(Node::new(node.tape(), *token))
            }
            _ => node.child(segment),
        }
    }

    /// Returns the index of an array or object; `None` if it is too small to be indexed.
    fn children(&self, node: Node<'t>) -> Option<Rc<Children<'t>>> {
        if !node.has_more_children_than(MAX_SCANNED_CHILDREN) {
            return None;
        }
        let mut indexes = self.indexes.borrow_mut();
        let children = indexes.entry(node.token_index()).or_insert_with(|| {
            let (mut tokens, mut by_name) = (Vec::new(), HashMap::new());
            for (key, value) in node.members().with_key_nodes() {
                tokens.push(key.token_index());
                by_name.insert(key.as_str().unwrap_or_default(), value.token_index());
            }
            tokens.extend(node.elements().map(Node::token_index));
            Rc::new(Children { tokens, by_name })
        });
        Some(Rc::clone(children))
    }
}

#[cfg(test)]
mod tests {
    use super::Lookup;
    use crate::tape::TapeBuffer;

    /// Nested small and large arrays and objects, with escaped and duplicate keys.
    fn text() -> String {
        let members: Vec<String> =
            (0..40).map(|index| format!(r#""k{}":{{"a/b":[{index}]}}"#, index % 30)).collect();
        let elements: Vec<String> = (0..40).map(|index| format!(r#"{{"x~":{index}}}"#)).collect();
        format!(
            r#"{{"few":[1,{{"\u0061":2}}],"many":{{{}}},"list":[{}]}}"#,
            members.join(","),
            elements.join(",")
        )
    }

    #[test]
    fn lookup_agrees_with_linear_scan() {
        let (text, mut buffer) = (text(), TapeBuffer::new());
        let tape = buffer.read(text.as_bytes(), 128).unwrap();
        let root = tape.root();
        let lookup = Lookup::new(root);
        let mut seen = 0;
        for index in root.tokens() {
            let node = super::Node::new(&tape, index);
            let pointer = root.pointer_to(node);
            assert_eq!(lookup.pointer_to(node), pointer);
            let Some(pointer) = pointer else { continue };
            assert_eq!(lookup.pointer(&pointer), root.pointer(&pointer), "{pointer}");
            assert_eq!(lookup.key_at(&pointer), root.key_at(&pointer), "{pointer}");
            seen += 1;
        }
        assert!(seen > 200, "{seen}");
        for missing in
            ["x", "/", "/few/2", "/many/k30", "/list/00", "/list/40", "/list/1/x", "/few/+1"]
        {
            assert_eq!(lookup.pointer(missing), root.pointer(missing), "{missing}");
        }
    }
}
