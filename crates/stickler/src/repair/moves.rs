//! Moves fields into the nested object that lists them, or out of an object that does not.
//!
//! Contract: a round moves the fields of one object, which is written anew from the text of its members;
//! the other objects keep their text. A moved field keeps the text of its value.

use std::collections::{BTreeMap, HashMap};

use super::Call;
use super::edit::{Edit, EditKind};
use super::names::{self, Rename};
use super::propose::Proposal;
use super::splice::Splices;
use crate::arguments::{Explanation, Place};
use crate::tape::{Kind, Node, quote, unescape_segment};

/// Returns the arguments with the fields of one object moved, or `None` if no field is moved.
pub(super) fn proposal(call: &Call<'_>, explanation: &Explanation) -> Option<Proposal> {
    let mut by_object: BTreeMap<&str, Vec<Rename<'_>>> = BTreeMap::new();
    for rename in names::renames(call, explanation) {
        let object = match rename.place {
            Place::Same => continue,
            Place::Inside(_) | Place::Unwrapped(_) => parent(rename.path),
            Place::Around => parent(parent(rename.path)),
        };
        by_object.entry(object).or_default().push(rename);
    }
    let (path, moves) = by_object.into_iter().next()?;
    let object = call.lookup.pointer(path).filter(|node| node.kind() == Kind::Object)?;
    let text = Rewrite::new(object, path, &moves).text();
    let mut splices = Splices::default();
    splices.replace(object.span(), text);
    let edits = moves.iter().map(|moved| {
        let to = match moved.place {
            Place::Inside(field) => format!("{field}/{}", moved.to),
            _ => moved.to.to_owned(),
        };
        let kind = match moved.place {
            Place::Unwrapped(_) => EditKind::UnwrapArguments,
            _ => EditKind::MoveField,
        };
        let to = if kind == EditKind::UnwrapArguments { String::new() } else { to };
        Edit::new(kind, moved.path, moved.from, to).unambiguous_if(false)
    });
    let edits = edits.collect();
    let root = call.root;
    Some(Proposal { text: splices.apply(root.raw(), root.span().start), edits })
}

/// An object and the fields that are moved within it.
struct Rewrite<'r, 't> {
    object: Node<'t>,
    path: &'r str,
    moves: &'r [Rename<'r>],
}

impl<'r, 't> Rewrite<'r, 't> {
    fn new(object: Node<'t>, path: &'r str, moves: &'r [Rename<'r>]) -> Self {
        Self { object, path, moves }
    }

    fn text(&self) -> String {
        let (mut members, mut moved_out) = (Vec::new(), Vec::new());
        // The moved fields by the nested object that they belong in, in the order of the call.
        let mut inner: HashMap<&str, Vec<String>> = HashMap::new();
        let mut order: Vec<&str> = Vec::new();
        for moved in self.moves {
            let value = self.value(moved.path);
            match (moved.place, value) {
                (Place::Inside(field), Some(value)) => {
                    let list = inner.entry(field).or_default();
                    if list.is_empty() {
                        order.push(field);
                    }
                    list.push(member(moved.to, value.raw()));
                }
                (Place::Around, Some(value)) => moved_out.push(member(moved.to, value.raw())),
                _ => {}
            }
        }
        for (key, value) in self.object.members() {
            let moved = self.moves.iter().find(|moved| self.names(moved.path) == [key.as_ref()]);
            match moved.map(|moved| moved.place) {
                Some(Place::Unwrapped(names)) => {
                    let unwrapped = value.members().zip(names);
                    members.extend(unwrapped.map(|((_, value), name)| member(name, value.raw())));
                }
                Some(_) => {}
                None => {
                    let added = inner.remove(key.as_ref()).unwrap_or_default();
                    members.extend(self.nested(&key, value, added));
                }
            }
        }
        let absent = order.into_iter().filter_map(|field| Some((field, inner.remove(field)?)));
        members.extend(absent.map(|(field, list)| member(field, &object(&list))));
        members.extend(moved_out);
        object(&members)
    }

    /// Returns a member without the fields that are moved out of it and with those that are moved in.
    /// An object that becomes empty is left out.
    fn nested(&self, key: &str, value: Node<'t>, added: Vec<String>) -> Option<String> {
        let leaves =
            |inner: &str| self.moves.iter().any(|moved| self.names(moved.path) == [key, inner]);
        if value.kind() != Kind::Object || added.is_empty() && !self.loses_fields(key) {
            return Some(member(key, value.raw()));
        }
        let stay = value.members().filter(|(inner, _)| !leaves(inner));
        let mut list: Vec<String> =
            stay.map(|(inner, value)| member(&inner, value.raw())).collect();
        list.extend(added);
        (!list.is_empty()).then(|| member(key, &object(&list)))
    }

    fn loses_fields(&self, key: &str) -> bool {
        self.moves.iter().any(|moved| {
            *moved.place == Place::Around
                && self.names(moved.path).first().is_some_and(|own| own == key)
        })
    }

    /// Returns the names on the way from this object to a field.
    fn names(&self, path: &str) -> Vec<String> {
        let rest = path.strip_prefix(self.path).unwrap_or_default();
        rest.split('/').skip(1).map(|segment| unescape_segment(segment).into_owned()).collect()
    }

    fn value(&self, path: &str) -> Option<Node<'t>> {
        self.names(path).iter().try_fold(self.object, |node, name| node.get(name))
    }
}

fn member(name: &str, value: &str) -> String {
    format!("{}:{value}", quote(name))
}

fn object(members: &[String]) -> String {
    format!("{{{}}}", members.join(","))
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}
