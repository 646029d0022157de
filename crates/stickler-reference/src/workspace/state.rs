//! What a server remembers: a list of events in `.stickler/state.db` beneath the root.
//!
//! Nothing is ever taken out of it. What holds now follows from the events that were not undone, so
//! that every moment is a checkpoint that can be gone back to.

use rusqlite::{Connection, OpenFlags, Row, params};
use serde_json::{Value, json};

use super::Workspace;
use crate::trouble::Trouble;

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

/// The events of one root.
pub(crate) struct State {
    pub(crate) connection: Connection,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: i64,
    pub(crate) at: String,
    pub(crate) kind: String,
    pub(crate) task: Option<String>,
    pub(crate) data: Value,
    pub(crate) undone: bool,
}

/// Something that is to be remembered.
#[derive(Debug)]
pub(crate) struct NewEvent<'a> {
    pub(crate) kind: &'a str,
    pub(crate) task: Option<&'a str>,
    pub(crate) data: Value,
}

impl Workspace {
    /// For reading: where nothing was remembered yet, nothing is made for it either.
    pub(crate) fn recall(&self) -> Result<State, Trouble> {
        let connection = if self.dir.is_file(FILE) {
            Connection::open_with_flags(self.root().join(FILE), flags())
        } else {
            Connection::open_in_memory()
        };
        State::over(connection)
    }

    /// For adding to it.
    pub(crate) fn remember(&self) -> Result<State, Trouble> {
        let made = self.dir.create_dir_all(FOLDER);
        made.map_err(|error| Trouble::file(FOLDER, &error))?;
        // A link would put the state somewhere else.
        if !self.dir.symlink_metadata(FOLDER).is_ok_and(|about| about.is_dir()) {
            return Err(Trouble::outside(FOLDER));
        }
        let ignore = format!("{FOLDER}/.gitignore");
        if !self.dir.exists(&ignore) {
            self.dir.write(&ignore, "*\n").map_err(|error| Trouble::file(&ignore, &error))?;
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
    fn over(connection: rusqlite::Result<Connection>) -> Result<Self, Trouble> {
        let open = || {
            let connection = connection?;
            connection.busy_timeout(std::time::Duration::from_secs(10))?;
            connection.execute_batch(TABLES)?;
            Ok(Self { connection })
        };
        open().map_err(|error| trouble(&error))
    }

    /// Adds an event; gives its number.
    pub(crate) fn add(&self, event: &NewEvent<'_>) -> Result<i64, Trouble> {
        let added = self.connection.execute(
            "insert into events (kind, task, data) values (?1, ?2, ?3)",
            params![event.kind, event.task, event.data.to_string()],
        );
        added.map_err(|error| trouble(&error))?;
        Ok(self.connection.last_insert_rowid())
    }

    /// The events in their order, those that were undone included.
    pub(crate) fn events(&self) -> Result<Vec<Event>, Trouble> {
        let read = || {
            let mut statement = self
                .connection
                .prepare("select id, at, kind, task, data, undone from events order by id")?;
            statement.query_map([], Event::read)?.collect::<rusqlite::Result<Vec<Event>>>()
        };
        read().map_err(|error| trouble(&error))
    }

    /// The events that still hold.
    pub(crate) fn standing(&self) -> Result<Vec<Event>, Trouble> {
        Ok(self.events()?.into_iter().filter(|event| !event.undone).collect())
    }

    /// Undoes what came after an event; gives how many that were.
    pub(crate) fn undo_after(&self, id: i64) -> Result<usize, Trouble> {
        let undone = self
            .connection
            .execute("update events set undone = 1 where id > ?1 and undone = 0", [id]);
        undone.map_err(|error| trouble(&error))
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

    pub(crate) fn written(&self) -> Value {
        json!({
            "checkpoint": checkpoint(self.id), "at": self.at, "kind": self.kind,
            "task_id": self.task, "undone": self.undone, "data": self.data,
        })
    }
}

/// The name of the moment after an event.
pub(crate) fn checkpoint(id: i64) -> String {
    format!("cp-{id}")
}

pub(crate) fn trouble(error: &rusqlite::Error) -> Trouble {
    Trouble::runtime(format!("the server's own state cannot be used: {error}"))
}
