//! SQL against a database beneath the root.
//!
//! What a statement may do is decided by SQLite itself, not by looking at its text: the file is
//! opened for reading only, an authorizer refuses what leads to other files, and SQLite says whether
//! the statement it has compiled changes anything.

use std::time::{Duration, Instant};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, Value as SqlValue, ValueRef};
use rusqlite::{Connection, OpenFlags, ToSql};
use serde_json::{Map, Value, json};

use super::{Place, Workspace};
use crate::trouble::Trouble;

/// How long a statement may take.
const TIME: Duration = Duration::from_secs(10);

/// How much an answer holds.
const MOST_BYTES: usize = 256 << 10;

/// How long one value or statement may be.
const LONGEST_VALUE: i32 = 8 << 20;

/// What a statement may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// A statement, and what goes into it.
#[derive(Debug)]
pub(crate) struct Query<'a> {
    pub(crate) sql: &'a str,
    pub(crate) parameters: &'a [Value],
    pub(crate) most_rows: usize,
    pub(crate) access: Access,
}

impl Workspace {
    /// An error unless databases may be changed.
    pub(crate) fn require_sql_writes(&self) -> Result<(), Trouble> {
        if self.permissions.sql_writes {
            return Ok(());
        }
        Err(Trouble::security(
            "databases can only be read here. The person who starts the server can allow changes \
             with `--allow-sql-writes`",
        ))
    }

    /// Runs one statement.
    pub(crate) fn query(&self, place: &Place, query: &Query<'_>) -> Result<Value, Trouble> {
        let connection = self.connect(place, query.access)?;
        let mut statement = connection.prepare(query.sql).map_err(|error| in_words(&error))?;
        if query.access == Access::Read && !statement.readonly() {
            return Err(in_words_of_a_change());
        }
        let expected = statement.parameter_count();
        if expected != query.parameters.len() {
            let given = query.parameters.len();
            return Err(Trouble::semantic(format!(
                "the statement has {expected} parameters, and {given} values were given"
            )));
        }
        let columns: Vec<String> =
            statement.column_names().into_iter().map(str::to_owned).collect();
        let values = query.parameters.iter().map(Parameter);
        let mut rows = statement
            .query(rusqlite::params_from_iter(values))
            .map_err(|error| in_words(&error))?;
        let mut found = Vec::new();
        let mut bytes = 0;
        let mut is_cut = false;
        while let Some(row) = rows.next().map_err(|error| in_words(&error))? {
            if found.len() >= query.most_rows || bytes > MOST_BYTES {
                is_cut = true;
                break;
            }
            let mut entry = Map::new();
            for (index, column) in columns.iter().enumerate() {
                let value = row.get_ref(index).map_err(|error| in_words(&error))?;
                entry.insert(column.clone(), written(value, &mut bytes));
            }
            found.push(Value::Object(entry));
        }
        drop(rows);
        let changes = if query.access == Access::Write { connection.changes() } else { 0 };
        let count = found.len();
        Ok(json!({
            "columns": columns, "rows": found, "row_count": count, "truncated": is_cut,
            "changes": changes,
        }))
    }

    fn connect(&self, place: &Place, access: Access) -> Result<Connection, Trouble> {
        let mut flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        flags |= match access {
            Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        };
        if access == Access::Read && !self.dir.is_file(&place.path) {
            let given = &place.given;
            return Err(Trouble::runtime(format!(
                "there is no database `{given}`; name one with `database`"
            )));
        }
        let connection = Connection::open_with_flags(self.full_path(place), flags)
            .map_err(|error| in_words(&error))?;
        bound(&connection, access).map_err(|error| in_words(&error))?;
        Ok(connection)
    }
}

/// Keeps a connection to its own file, its time and its memory.
fn bound(connection: &Connection, access: Access) -> rusqlite::Result<()> {
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    let deadline = Instant::now() + TIME;
    connection.progress_handler(1000, Some(move || Instant::now() >= deadline))?;
    connection.authorizer(Some(move |context: AuthContext<'_>| match context.action {
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => Authorization::Deny,
        // Those with a value can change settings of the file or of the process.
        AuthAction::Pragma { pragma_name, pragma_value } => {
            let asks_about = ["table_info", "table_xinfo", "index_list", "index_info"];
            let is_question = pragma_value.is_none() || asks_about.contains(&pragma_name);
            if is_question { Authorization::Allow } else { Authorization::Deny }
        }
        AuthAction::Select
        | AuthAction::Read { .. }
        | AuthAction::Function { .. }
        | AuthAction::Recursive => Authorization::Allow,
        _ if access == Access::Write => Authorization::Allow,
        _ => Authorization::Deny,
    }))
}

/// A JSON value as SQLite takes it.
struct Parameter<'a>(&'a Value);

impl ToSql for Parameter<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self.0 {
            Value::Null => SqlValue::Null,
            Value::Bool(flag) => SqlValue::Integer(i64::from(*flag)),
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => SqlValue::Integer(whole),
                (None, Some(real)) => SqlValue::Real(real),
                (None, None) => SqlValue::Text(number.to_string()),
            },
            Value::String(text) => SqlValue::Text(text.clone()),
            Value::Array(_) | Value::Object(_) => SqlValue::Text(self.0.to_string()),
        };
        Ok(ToSqlOutput::Owned(value))
    }
}

fn written(value: ValueRef<'_>, bytes: &mut usize) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(whole) => whole.into(),
        ValueRef::Real(real) => real.into(),
        ValueRef::Text(text) => {
            let text = String::from_utf8_lossy(text);
            let room = MOST_BYTES.saturating_sub(*bytes);
            let shown = super::clip(&text, room);
            *bytes += text.len();
            if shown.len() < text.len() { format!("{shown}…").into() } else { shown.into() }
        }
        ValueRef::Blob(blob) => json!({ "blob_bytes": blob.len() }),
    }
}

fn in_words_of_a_change() -> Trouble {
    Trouble::security(
        "the statement would change the database, and this is for reading; write a `SELECT`",
    )
}

/// SQLite's own words, which name the table or the place in the statement.
fn in_words(error: &rusqlite::Error) -> Trouble {
    match error {
        rusqlite::Error::MultipleStatement => {
            Trouble::semantic("there is more than one statement; give one a call")
        }
        rusqlite::Error::SqliteFailure(failure, text) => match failure.code {
            rusqlite::ErrorCode::AuthorizationForStatementDenied
            | rusqlite::ErrorCode::ReadOnly => in_words_of_a_change(),
            rusqlite::ErrorCode::OperationInterrupted => {
                Trouble::runtime(format!("the statement took more than {} s", TIME.as_secs()))
            }
            _ => Trouble::runtime(format!("SQLite: {}", text.as_deref().unwrap_or("failed"))),
        },
        rusqlite::Error::SqlInputError { msg, .. } => Trouble::runtime(format!("SQLite: {msg}")),
        other => Trouble::runtime(format!("SQLite: {other}")),
    }
}
