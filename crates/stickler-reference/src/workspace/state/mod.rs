//! The state of a root: an append-only event log in `.stickler/state.db`.
//!
//! Events are never deleted. Each one has a parent, like a commit: the events from the head back to
//! the beginning are active, all others are undone. To rewind is to continue from an earlier event,
//! so that every event is a checkpoint and a rewind can itself be rewound.

mod schema;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rusqlite::{Connection, OpenFlags, Row, Transaction, TransactionBehavior, params};
use serde_json::{Value, json};

use super::Workspace;
use crate::tool_failure::ToolFailure;

/// The folder of the server's own files below the root.
pub(crate) const FOLDER: &str = ".stickler";
const FILE: &str = ".stickler/state.db";

/// The state database of one root.
pub(crate) struct State {
    pub(crate) connection: Connection,
}

/// A stored event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: i64,
    pub(crate) at: String,
    parent: i64,
    pub(crate) kind: String,
    pub(crate) task: Option<String>,
    pub(crate) data: Value,
    /// The snapshot of the files after the event, if they were captured.
    pub(crate) tree: Option<String>,
    pub(crate) undone: bool,
}

/// An event to store.
#[derive(Debug)]
pub(crate) struct NewEvent<'a> {
    pub(crate) kind: &'a str,
    pub(crate) task: Option<&'a str>,
    pub(crate) data: Value,
}

impl Workspace {
    /// Returns whether anything has been stored below this root.
    pub(crate) fn has_state(&self) -> bool {
        self.dir.is_file(FILE)
    }

    /// Opens the state for reading. Does not create the database if it is missing.
    pub(crate) fn open_state_read(&self) -> Result<State, ToolFailure> {
        let connection = if self.has_state() {
            Connection::open_with_flags(self.root().join(FILE), flags())
        } else {
            Connection::open_in_memory()
        };
        State::over(connection)
    }

    /// Opens the state for writing and creates the database if it is missing.
    pub(crate) fn open_state_write(&self) -> Result<State, ToolFailure> {
        self.create_state_folder()?;
        State::over(Connection::open_with_flags(self.root().join(FILE), flags()))
    }

    /// Creates the folder of the server's own files, which git ignores.
    pub(crate) fn create_state_folder(&self) -> Result<(), ToolFailure> {
        let made = self.dir.create_dir_all(FOLDER);
        made.map_err(|error| ToolFailure::file(FOLDER, &error))?;
        // A symbolic link would place the state outside the root.
        if !self.dir.symlink_metadata(FOLDER).is_ok_and(|about| about.is_dir()) {
            return Err(ToolFailure::outside(FOLDER));
        }
        let ignore = format!("{FOLDER}/.gitignore");
        if !self.dir.exists(&ignore) {
            self.dir.write(&ignore, "*\n").map_err(|error| ToolFailure::file(&ignore, &error))?;
        }
        Ok(())
    }
}

fn flags() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
}

impl State {
    fn over(connection: rusqlite::Result<Connection>) -> Result<Self, ToolFailure> {
        let open = || {
            let connection = connection?;
            connection.busy_timeout(std::time::Duration::from_secs(10))?;
            schema::prepare(&connection)?;
            Ok(Self { connection })
        };
        open().map_err(|error| failure(&error))
    }

    /// Runs `work` in a transaction that no other writer interrupts.
    pub(crate) fn atomically<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, ToolFailure> {
        let run = || {
            let behavior = TransactionBehavior::Immediate;
            let transaction = Transaction::new_unchecked(&self.connection, behavior)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        run().map_err(|error| failure(&error))
    }

    /// Appends an event to the head; returns its id.
    pub(crate) fn add(&self, event: &NewEvent<'_>) -> Result<i64, ToolFailure> {
        self.add_with_tree(event, None)
    }

    /// Appends an event with a snapshot of the files after it; returns its id.
    pub(crate) fn add_with_tree(
        &self,
        event: &NewEvent<'_>,
        tree: Option<&str>,
    ) -> Result<i64, ToolFailure> {
        self.atomically(|transaction| append_to_head(transaction, event, tree))
    }

    /// Appends a rewind event: it becomes the head and continues from the event `to`.
    pub(crate) fn rewind(
        &self,
        to: i64,
        event: &NewEvent<'_>,
        tree: Option<&str>,
    ) -> Result<i64, ToolFailure> {
        self.atomically(|transaction| append(transaction, to, event, tree))
    }

    /// Returns the snapshot of the files before the first change.
    pub(crate) fn baseline(&self) -> Result<Option<String>, ToolFailure> {
        let baseline = self.connection.query_row("select baseline from head", [], |row| row.get(0));
        baseline.map_err(|error| failure(&error))
    }

    pub(crate) fn set_baseline(&self, tree: &str) -> Result<(), ToolFailure> {
        let sql = "update head set baseline = ?1 where baseline is null";
        self.connection.execute(sql, [tree]).map(drop).map_err(|error| failure(&error))
    }

    /// Returns the ids of an event and its ancestors.
    pub(crate) fn chain(&self, id: i64) -> Result<BTreeSet<i64>, ToolFailure> {
        Ok(active(&self.events()?, id))
    }

    /// Returns the snapshot of the files at a checkpoint: that of the event or of its nearest
    /// ancestor with one.
    pub(crate) fn tree_at(&self, id: i64) -> Result<Option<String>, ToolFailure> {
        let events = self.events()?;
        let chain = active(&events, id);
        let nearest = events.iter().rev().filter(|event| chain.contains(&event.id));
        let tree = nearest.into_iter().find_map(|event| event.tree.clone());
        tree.map_or_else(|| self.baseline(), |tree| Ok(Some(tree)))
    }

    /// Returns all events in order, including those that are undone.
    pub(crate) fn events(&self) -> Result<Vec<Event>, ToolFailure> {
        let read = || {
            let mut statement = self
                .connection
                .prepare("select id, at, parent, kind, task, data, tree from events order by id")?;
            let events = statement.query_map([], Event::read)?;
            let mut events = events.collect::<rusqlite::Result<Vec<Event>>>()?;
            let head: i64 =
                self.connection.query_row("select event from head", [], |row| row.get(0))?;
            let active = active(&events, head);
            for event in &mut events {
                event.undone = !active.contains(&event.id);
            }
            Ok(events)
        };
        read().map_err(|error| failure(&error))
    }

    /// Returns the events that are not undone.
    pub(crate) fn active_events(&self) -> Result<Vec<Event>, ToolFailure> {
        Ok(self.events()?.into_iter().filter(|event| !event.undone).collect())
    }

    /// Returns the ids of the events that match a full-text query, best first.
    pub(crate) fn search(&self, query: &str) -> Result<Vec<i64>, ToolFailure> {
        let read = || {
            let mut statement = self.connection.prepare(
                "select rowid from memory where memory match ?1 order by rank, rowid desc",
            )?;
            statement.query_map([query], |row| row.get(0))?.collect::<rusqlite::Result<Vec<i64>>>()
        };
        read().map_err(|error| failure(&error))
    }
}

/// Appends an event to the head as a part of a transaction; returns its id.
pub(crate) fn append_to_head(
    transaction: &Transaction<'_>,
    event: &NewEvent<'_>,
    tree: Option<&str>,
) -> rusqlite::Result<i64> {
    let head = transaction.query_row("select event from head", [], |row| row.get(0))?;
    append(transaction, head, event, tree)
}

fn append(
    transaction: &Transaction<'_>,
    parent: i64,
    event: &NewEvent<'_>,
    tree: Option<&str>,
) -> rusqlite::Result<i64> {
    transaction.execute(
        "insert into events (parent, kind, task, data, tree) values (?1, ?2, ?3, ?4, ?5)",
        params![parent, event.kind, event.task, event.data.to_string(), tree],
    )?;
    let id = transaction.last_insert_rowid();
    transaction.execute("update head set event = ?1", [id])?;
    let mut text = format!("{} {}", event.kind, event.task.unwrap_or_default());
    collect_text(&event.data, &mut text);
    transaction.execute("insert into memory (rowid, text) values (?1, ?2)", params![id, text])?;
    Ok(id)
}

/// Appends the names and values of a JSON value, for the full-text index.
fn collect_text(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let _ = write!(text, " {name}");
                collect_text(member, text);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_text(item, text)),
        Value::String(value) => drop(write!(text, " {value}")),
        Value::Number(number) => drop(write!(text, " {number}")),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Returns the head and its ancestors. A parent has a lower id, so one pass backwards finds them.
fn active(events: &[Event], head: i64) -> BTreeSet<i64> {
    let mut next = head;
    let mut found = BTreeSet::new();
    for event in events.iter().rev() {
        if event.id == next {
            found.insert(event.id);
            next = event.parent;
        }
    }
    found
}

impl Event {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let data: String = row.get(5)?;
        Ok(Self {
            id: row.get(0)?,
            at: row.get(1)?,
            parent: row.get(2)?,
            kind: row.get(3)?,
            task: row.get(4)?,
            data: serde_json::from_str(&data).unwrap_or_default(),
            tree: row.get(6)?,
            undone: false,
        })
    }

    /// Returns the event without the arguments and the output of a call.
    pub(crate) fn brief(&self) -> Value {
        let mut json = self.to_json();
        if let Some(data) = json["data"].as_object_mut() {
            data.retain(|name, _| name != "arguments" && name != "output");
        }
        json
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "checkpoint": checkpoint(self.id), "at": self.at, "kind": self.kind,
            "task_id": self.task, "undone": self.undone, "data": self.data,
        })
    }
}

/// Returns the name of the checkpoint after an event.
pub(crate) fn checkpoint(id: i64) -> String {
    format!("cp-{id}")
}

pub(crate) fn failure(error: &rusqlite::Error) -> ToolFailure {
    ToolFailure::runtime(format!("cannot access the server's state: {error}"))
}
