//! The tables of the state database and their versions.
//!
//! `user_version` is the version of the tables. An older database is converted in one transaction
//! when it is opened for writing; a reader converts a copy in memory.

use rusqlite::{Connection, Transaction, TransactionBehavior};

const VERSION: i64 = 1;

const TABLES: &str = "
create table events (
    id integer primary key,
    at text not null default (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    parent integer not null,
    kind text not null,
    task text,
    data text not null,
    tree text
);
create table head (
    one integer primary key check (one = 1),
    event integer not null,
    baseline text
);
insert into head values (1, 0, null);
create virtual table memory using fts5(text, tokenize = 'porter unicode61');
create table scheduled_jobs (
    id integer primary key autoincrement,
    name text not null unique,
    schedule text not null,
    time_zone text not null,
    tool text not null,
    parameters text not null,
    next_run integer
);
create table job_runs (
    id integer primary key autoincrement,
    job integer not null,
    due integer not null,
    state text not null,
    skipped integer not null,
    claimed_at text not null,
    called_at text,
    finished_at text,
    outcome text,
    unique (job, due)
);";

/// Copies the data of version 0, in which events had a mark instead of a parent.
const FROM_VERSION_0: &str = "
insert into events (id, at, parent, kind, task, data)
    select id, at, coalesce((select max(before.id) from old_events before
        where before.id < old.id and before.undone = 0), 0), kind, task, data
    from old_events old order by id;
update head set event = coalesce((select max(id) from old_events where undone = 0), 0);
insert into memory (rowid, text)
    select id, kind || ' ' || coalesce(task, '') || ' ' || data from events;
insert into scheduled_jobs (name, schedule, time_zone, tool, parameters, next_run)
    select name, schedule, 'UTC', tool, parameters, next_run from old_jobs;
drop table old_events;
drop table old_jobs;";

/// Creates or converts the tables.
pub(super) fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    if version(connection)? >= VERSION {
        return Ok(());
    }
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    // Another server may have converted the database in the meantime.
    if version(&transaction)? < VERSION {
        let is_old: bool = transaction.query_row(
            "select count(*) = 2 from sqlite_master where name in ('events', 'jobs')",
            [],
            |row| row.get(0),
        )?;
        if is_old {
            transaction.execute_batch(
                "alter table events rename to old_events; alter table jobs rename to old_jobs;",
            )?;
        }
        transaction.execute_batch(TABLES)?;
        if is_old {
            transaction.execute_batch(FROM_VERSION_0)?;
        }
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("pragma user_version", [], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::prepare;
    use rusqlite::Connection;

    /// The tables of version 0 with a directive, an undone gate, and a job.
    const VERSION_0: &str = "
        create table events (id integer primary key, at text not null, kind text not null,
            task text, data text not null, undone integer not null default 0);
        create table jobs (name text primary key, schedule text not null, tool text not null,
            parameters text not null, next_run integer not null, runs integer, last_outcome text);
        insert into events values (1, 'x', 'directive', null, '{\"directive\":\"ask\"}', 0);
        insert into events values (2, 'x', 'gate_opened', null, '{}', 1);
        insert into events values (3, 'x', 'directive', 't', '{\"directive\":\"test\"}', 0);
        insert into jobs values ('note', '@daily', 'files:write_file', '{}', 600, 1, null);";

    #[test]
    fn version_0_is_converted() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(VERSION_0).unwrap();
        prepare(&connection).unwrap();
        prepare(&connection).unwrap();
        let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(number("select event from head"), 3);
        assert_eq!(number("select parent from events where id = 3"), 1);
        assert_eq!(number("select rowid from memory where memory match 'test'"), 3);
        assert_eq!(number("select next_run from scheduled_jobs where time_zone = 'UTC'"), 600);
    }
}
