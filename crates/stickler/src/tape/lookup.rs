//! Finds values of a tape by their place, many times over.
//!
//! A tape has no index: a member or element is found by walking over those before it. That is right for
//! the few questions that a valid call asks, but what explains a rejected call asks for hundreds of
//! places, and then the walks together take the square of the call's size. A [`Lookup`] indexes a large
//! array or object when it is first asked about it.
//!
//! Contract: it gives the same answers as [`Node::pointer`], [`Node::get`], [`Node::key_at`] and
//! [`Node::pointer_to`]. All indexes together take time in proportion to the value, and each question
//! time in proportion to the length of its pointer.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::pointer::{escape_segment, segments};
use super::{Kind, Node};

/// Containers with at most so many children are walked over.
const FEW: usize = 16;

/// The indexes of one value.
#[derive(Debug)]
pub(crate) struct Lookup<'t> {
    root: Node<'t>,
    known: RefCell<HashMap<u32, Rc<Children<'t>>>>,
}

/// What a large array or object has in it.
#[derive(Debug)]
struct Children<'t> {
    /// The elements, or the keys, in their order.
    tokens: Vec<u32>,
    /// The values by their keys; of a repeated key the last.
    by_name: HashMap<Cow<'t, str>, u32>,
}

impl<'t> Lookup<'t> {
    pub(crate) fn new(root: Node<'t>) -> Self {
        Self { root, known: RefCell::default() }
    }

    /// The value at a JSON Pointer.
    pub(crate) fn pointer(&self, pointer: &str) -> Option<Node<'t>> {
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return None;
        }
        segments(pointer).try_fold(self.root, |node, segment| self.child(node, &segment))
    }

    /// The key of the member at a JSON Pointer; `None` for an element or the whole.
    pub(crate) fn key_at(&self, pointer: &str) -> Option<Node<'t>> {
        let (parent, _) = pointer.rsplit_once('/')?;
        let object = self.pointer(parent).filter(|node| node.kind() == Kind::Object)?;
        let value = self.pointer(pointer)?;
        // A key stands right before its value.
        Some(Node::new(object.tape(), value.token_index().checked_sub(1)?))
    }

    /// The member of an object with that key.
    pub(crate) fn get(&self, object: Node<'t>, key: &str) -> Option<Node<'t>> {
        match self.children(object) {
            Some(children) => {
                children.by_name.get(key).map(|&index| Node::new(object.tape(), index))
            }
            None => object.get(key),
        }
    }

    /// The JSON Pointer of a value or key in the root; `None` when it is not inside.
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
        let wanted = target.token_index();
        let place = children.tokens.partition_point(|&token| token <= wanted).checked_sub(1)?;
        let token = Node::new(here.tape(), *children.tokens.get(place)?);
        if !here.tokens().contains(&wanted) {
            return None;
        }
        if here.kind() == Kind::Array {
            return Some((Cow::Owned(place.to_string()), token));
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

    /// The index of a large array or object.
    fn children(&self, node: Node<'t>) -> Option<Rc<Children<'t>>> {
        if !node.has_more_children_than(FEW) {
            return None;
        }
        let mut known = self.known.borrow_mut();
        let children = known.entry(node.token_index()).or_insert_with(|| {
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

    /// Small and large arrays and objects, in each other, with keys that have escapes and repeats.
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
    fn it_finds_what_walking_finds() {
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
        for nowhere in
            ["x", "/", "/few/2", "/many/k30", "/list/00", "/list/40", "/list/1/x", "/few/+1"]
        {
            assert_eq!(lookup.pointer(nowhere), root.pointer(nowhere), "{nowhere}");
        }
    }
}
