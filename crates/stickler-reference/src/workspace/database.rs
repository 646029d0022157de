//! Runs SQL statements on a database below the root.
//!
//! SQLite itself enforces what a statement may do; its text is not inspected. The file is opened
//! read-only, an authorizer denies access to other files, and SQLite reports whether the compiled
//! statement would change anything.

use std::time::{Duration, Instant};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, Value as SqlValue, ValueRef};
use rusqlite::{Connection, OpenFlags, ToSql};
use serde_json::{Map, Value, json};

use super::{Place, Workspace};
use crate::tool_failure::ToolFailure;

/// Time limit for a statement.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Limit on the text of one result, in bytes.
const MAX_BYTES: usize = 256 << 10;

/// Limit on one value or statement, in bytes.
const MAX_VALUE_BYTES: i32 = 8 << 20;

/// The access that a statement requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// A statement with its parameters and limits.
#[derive(Debug)]
pub(crate) struct Query<'a> {
    pub(crate) sql: &'a str,
    pub(crate) parameters: &'a [Value],
    pub(crate) max_rows: usize,
    pub(crate) access: Access,
}

impl Workspace {
    /// Fails unless databases may be changed.
    pub(crate) fn require_sql_writes(&self) -> Result<(), ToolFailure> {
        if self.permissions.sql_writes {
            return Ok(());
        }
        Err(ToolFailure::security(
            "databases are read-only on this server. The operator of the server can allow changes \
             with `--allow-sql-writes`",
        ))
    }

    /// Runs one statement.
    pub(crate) fn query(&self, place: &Place, query: &Query<'_>) -> Result<Value, ToolFailure> {
        let connection = self.connect(place, query.access)?;
        let mut statement =
            connection.prepare(query.sql).map_err(|error| sqlite_failure(&error))?;
        if query.access == Access::Read && !statement.readonly() {
            return Err(read_only_failure());
        }
        let expected = statement.parameter_count();
        if expected != query.parameters.len() {
            let given = query.parameters.len();
            return Err(ToolFailure::semantic(format!(
                "the statement has {expected} parameters, but {given} values were given"
            )));
        }
        let columns: Vec<String> =
            statement.column_names().into_iter().map(str::to_owned).collect();
        let values = query.parameters.iter().map(Parameter);
        let mut rows = statement
            .query(rusqlite::params_from_iter(values))
            .map_err(|error| sqlite_failure(&error))?;
        let mut found = Vec::new();
        let mut bytes = 0;
        let mut is_cut = false;
        while let Some(row) = rows.next().map_err(|error| sqlite_failure(&error))? {
            if found.len() >= query.max_rows || bytes > MAX_BYTES {
                is_cut = true;
                break;
            }
            let mut entry = Map::new();
            for (index, column) in columns.iter().enumerate() {
                let value = row.get_ref(index).map_err(|error| sqlite_failure(&error))?;
                entry.insert(column.clone(), to_json(value, &mut bytes));
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

    fn connect(&self, place: &Place, access: Access) -> Result<Connection, ToolFailure> {
        let mut flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        flags |= match access {
            Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        };
        if access == Access::Read && !self.dir.is_file(&place.path) {
            let given = &place.given;
            return Err(ToolFailure::runtime(format!(
                "the database `{given}` does not exist; name one with `database`"
            )));
        }
        let connection = Connection::open_with_flags(self.full_path(place), flags)
            .map_err(|error| sqlite_failure(&error))?;
        bound(&connection, access).map_err(|error| sqlite_failure(&error))?;
        Ok(connection)
    }
}

/// Restricts a connection to its file and sets the limits on time and memory.
fn bound(connection: &Connection, access: Access) -> rusqlite::Result<()> {
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    let deadline = Instant::now() + TIME_LIMIT;
    connection.progress_handler(1000, Some(move || Instant::now() >= deadline))?;
    connection.authorizer(Some(move |context: AuthContext<'_>| match context.action {
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => Authorization::Deny,
        // A pragma with a value can change settings of the file or of the process.
        AuthAction::Pragma { pragma_name, pragma_value } => {
            let queries = ["table_info", "table_xinfo", "index_list", "index_info"];
            let is_query = pragma_value.is_none() || queries.contains(&pragma_name);
            if is_query { Authorization::Allow } else { Authorization::Deny }
        }
        AuthAction::Select
        | AuthAction::Read { .. }
        | AuthAction::Function { .. }
        | AuthAction::Recursive => Authorization::Allow,
        _ if access == Access::Write => Authorization::Allow,
        _ => Authorization::Deny,
    }))
}

/// A JSON value as a parameter of a statement.
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

fn to_json(value: ValueRef<'_>, bytes: &mut usize) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(whole) => whole.into(),
        ValueRef::Real(real) => real.into(),
        ValueRef::Text(text) => {
            let text = String::from_utf8_lossy(text);
            let room = MAX_BYTES.saturating_sub(*bytes);
            let shown = super::clip(&text, room);
            *bytes += text.len();
            if shown.len() < text.len() { format!("{shown}…").into() } else { shown.into() }
        }
        ValueRef::Blob(blob) => json!({ "blob_bytes": blob.len() }),
    }
}

fn read_only_failure() -> ToolFailure {
    ToolFailure::security(
        "the statement would change the database, but only reading is allowed; use `SELECT`",
    )
}

/// Converts an error of SQLite and keeps its message, which names the table or the position.
fn sqlite_failure(error: &rusqlite::Error) -> ToolFailure {
    match error {
        rusqlite::Error::MultipleStatement => {
            ToolFailure::semantic("there is more than one statement; use one statement per call")
        }
        rusqlite::Error::SqliteFailure(failure, text) => match failure.code {
            rusqlite::ErrorCode::AuthorizationForStatementDenied
            | rusqlite::ErrorCode::ReadOnly => read_only_failure(),
            rusqlite::ErrorCode::OperationInterrupted => ToolFailure::runtime(format!(
                "the statement took more than {} s",
                TIME_LIMIT.as_secs()
            )),
            _ => ToolFailure::runtime(format!("SQLite: {}", text.as_deref().unwrap_or("failed"))),
        },
        rusqlite::Error::SqlInputError { msg, .. } => {
            ToolFailure::runtime(format!("SQLite: {msg}"))
        }
        other => ToolFailure::runtime(format!("SQLite: {other}")),
    }
}
