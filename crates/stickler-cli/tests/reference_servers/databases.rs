//! Database tools: reads are bounded, and writes need permission.

use serde_json::json;

use crate::root::Root;
use crate::session::Session;

/// Statements that would change something, each in a different way.
fn writing_statements(root: &Root) -> Vec<String> {
    let outside = root.beside("other/new.db").display().to_string();
    vec![
        "insert into users values (3, 'Eve')".to_owned(),
        "with x as (select 1) delete from users".to_owned(),
        "drop table users".to_owned(),
        "create temp table t (x)".to_owned(),
        "pragma user_version = 7".to_owned(),
        "pragma journal_mode = wal".to_owned(),
        format!("vacuum into '{outside}'"),
        format!("attach '{outside}' as other"),
        "select 1; drop table users".to_owned(),
    ]
}

#[test]
fn db_query_never_writes() {
    let root = Root::new();
    let before = root.snapshot();
    let mut session = Session::gateway("files", &root.path(), &["--allow-sql-writes"]);
    for sql in writing_statements(&root) {
        let message = session.fails("db_query", json!({ "sql": sql }));
        let is_explained =
            message.contains("would change") || message.contains("more than one statement");
        assert!(is_explained, "{sql}: {message}");
    }
    assert_eq!(root.snapshot(), before);
}

#[test]
fn db_bridge_writes_only_with_permission() {
    let root = Root::new();
    let before = root.snapshot();
    let insert = json!({
        "query": "insert into users values (?, ?)", "mode": "write", "parameters": [3, "Eve"],
    });
    let mut session = Session::gateway("project", &root.path(), &[]);
    let message = session.fails("db_bridge", insert.clone());
    assert!(message.contains("--allow-sql-writes"), "{message}");
    assert_eq!(root.snapshot(), before);
    let mut session = Session::gateway("project", &root.path(), &["--allow-sql-writes"]);
    assert_eq!(session.succeeds("db_bridge", insert)["structuredContent"]["changes"], 1);
    let rows =
        session.succeeds("db_bridge", json!({ "query": "select * from users where id = 3" }));
    assert_eq!(rows["structuredContent"]["rows"], json!([{ "id": 3, "name": "Eve" }]));
}

#[test]
fn sql_statements_cannot_reach_other_files() {
    let root = Root::new();
    let outside = root.beside("other/new.db");
    let mut session = Session::gateway("project", &root.path(), &["--allow-sql-writes"]);
    for sql in [
        format!("attach '{}' as other", outside.display()),
        format!("vacuum into '{}'", outside.display()),
    ] {
        session.fails("db_bridge", json!({ "query": sql, "mode": "write" }));
    }
    assert!(!outside.exists());
}

#[test]
fn query_results_are_bounded_and_sql_errors_are_reported() {
    let root = Root::new();
    let mut session = Session::gateway("files", &root.path(), &[]);
    let many = "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n";
    let result = session.succeeds("db_query", json!({ "sql": many, "max_rows": 5 }));
    let data = &result["structuredContent"];
    assert_eq!((&data["row_count"], &data["truncated"]), (&json!(5), &json!(true)));
    for (sql, part) in [
        ("select * from missing", "no such table: missing"),
        ("selec 1", "syntax error"),
        ("select ?", "1 parameters, but 0 values"),
        ("select randomblob(1000000000)", "SQLite"),
    ] {
        let message = session.fails("db_query", json!({ "sql": sql }));
        assert!(message.contains(part), "{sql}: {message}");
    }
    let message = session.fails("db_query", json!({ "sql": "select 1", "database": "none.db" }));
    assert!(message.contains("the database `none.db` does not exist"), "{message}");
    assert!(!root.path().join("none.db").exists());
}

#[test]
fn inspection_shows_the_tables_of_existing_databases() {
    let root = Root::new();
    root.write("broken.sqlite", "not a database, but long enough to look like one\n");
    let mut session = Session::gateway("project", &root.path(), &[]);
    let users = json!([{
        "type": "table", "name": "users", "row_count": 2,
        "columns": [{ "name": "id", "type": "INTEGER" }, { "name": "name", "type": "TEXT" }],
    }]);
    let lower = |mut tables: serde_json::Value| {
        for column in tables[0]["columns"].as_array_mut().unwrap() {
            column["type"] = column["type"].as_str().unwrap().to_uppercase().into();
        }
        tables
    };
    let all = session.succeeds("inspect_state", json!({}))["structuredContent"].clone();
    assert_eq!(all["databases"][1]["path"], "project.db", "{all}");
    assert_eq!(lower(all["databases"][1]["tables"].clone()), users);
    let error = all["databases"][0]["error"].as_str().unwrap();
    assert!(error.contains("not a database"), "{error}");
    let one = json!({ "scope": "database", "path": "project.db" });
    let one = session.succeeds("inspect_state", one)["structuredContent"].clone();
    assert_eq!(lower(one["databases"][0]["tables"].clone()), users);
    let missing = json!({ "scope": "database", "path": "no.db" });
    assert!(session.fails("inspect_state", missing).contains("`no.db` does not exist"));
}
