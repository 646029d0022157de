//! The state of a server: an append-only event log in `.stickler/state.db` below the root.
//!
//! Events are never deleted, only marked as undone. The current state is derived from the events
//! that are not undone, so every event is a checkpoint that can be restored.

use rusqlite::{Connection, OpenFlags, Row, params};
use serde_json::{Value, json};

use super::Workspace;
use crate::tool_failure::ToolFailure;

const FOLDER: &str = ".stickler";
const FILE: &str = ".stickler/state.db";

const TABLES: &str = "
create table if not exists events (
    id integer primary key,
    at text not null default (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    kind text not null,
    task text,
    data text not null,
    undone integer not null default 0
);
create table if not exists jobs (
    name text primary key,
    schedule text not null,
    tool text not null,
    parameters text not null,
    next_run integer not null,
    runs integer not null default 0,
    last_outcome text
);";

/// The state database of one root.
pub(crate) struct State {
    pub(crate) connection: Connection,
}

/// A stored event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: i64,
    pub(crate) at: String,
    pub(crate) kind: String,
    pub(crate) task: Option<String>,
    pub(crate) data: Value,
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
    /// Opens the state for reading. Does not create the database if it is missing.
    pub(crate) fn open_state_read(&self) -> Result<State, ToolFailure> {
        let connection = if self.dir.is_file(FILE) {
            Connection::open_with_flags(self.root().join(FILE), flags())
        } else {
            Connection::open_in_memory()
        };
        State::over(connection)
    }

    /// Opens the state for writing and creates the database if it is missing.
    pub(crate) fn open_state_write(&self) -> Result<State, ToolFailure> {
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
        State::over(Connection::open_with_flags(self.root().join(FILE), flags()))
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
            connection.execute_batch(TABLES)?;
            Ok(Self { connection })
        };
        open().map_err(|error| failure(&error))
    }

    /// Appends an event; returns its id.
    pub(crate) fn add(&self, event: &NewEvent<'_>) -> Result<i64, ToolFailure> {
        let added = self.connection.execute(
            "insert into events (kind, task, data) values (?1, ?2, ?3)",
            params![event.kind, event.task, event.data.to_string()],
        );
        added.map_err(|error| failure(&error))?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Returns all events in order, including those that are undone.
    pub(crate) fn events(&self) -> Result<Vec<Event>, ToolFailure> {
        let read = || {
            let mut statement = self
                .connection
                .prepare("select id, at, kind, task, data, undone from events order by id")?;
            statement.query_map([], Event::read)?.collect::<rusqlite::Result<Vec<Event>>>()
        };
        read().map_err(|error| failure(&error))
    }

    /// Returns the events that are not undone.
    pub(crate) fn active_events(&self) -> Result<Vec<Event>, ToolFailure> {
        Ok(self.events()?.into_iter().filter(|event| !event.undone).collect())
    }

    /// Marks all events after `id` as undone; returns their number.
    pub(crate) fn undo_after(&self, id: i64) -> Result<usize, ToolFailure> {
        let undone = self
            .connection
            .execute("update events set undone = 1 where id > ?1 and undone = 0", [id]);
        undone.map_err(|error| failure(&error))
    }
}

impl Event {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let data: String = row.get(4)?;
        Ok(Self {
            id: row.get(0)?,
            at: row.get(1)?,
            kind: row.get(2)?,
            task: row.get(3)?,
            data: serde_json::from_str(&data).unwrap_or_default(),
            undone: row.get(5)?,
        })
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
