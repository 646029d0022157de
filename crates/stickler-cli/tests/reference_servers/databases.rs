//! Databases are read, and changed only where that is allowed.

use serde_json::json;

use crate::root::Root;
use crate::session::Session;

/// Statements that would change something, each in its own way.
fn changes(root: &Root) -> Vec<String> {
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
fn a_query_cannot_change_anything_whatever_is_allowed() {
    let root = Root::new();
    let before = root.snapshot();
    let mut session = Session::gateway("files", &root.path(), &["--allow-sql-writes"]);
    for sql in changes(&root) {
        let said = session.fails("db_query", json!({ "sql": sql }));
        let names_it = said.contains("would change") || said.contains("more than one statement");
        assert!(names_it, "{sql}: {said}");
    }
    assert_eq!(root.snapshot(), before);
}

#[test]
fn the_bridge_changes_only_where_it_is_allowed() {
    let root = Root::new();
    let before = root.snapshot();
    let insert = json!({
        "query": "insert into users values (?, ?)", "mode": "write", "parameters": [3, "Eve"],
    });
    let mut session = Session::gateway("project", &root.path(), &[]);
    let said = session.fails("db_bridge", insert.clone());
    assert!(said.contains("--allow-sql-writes"), "{said}");
    assert_eq!(root.snapshot(), before);
    let mut session = Session::gateway("project", &root.path(), &["--allow-sql-writes"]);
    assert_eq!(session.works("db_bridge", insert)["structuredContent"]["changes"], 1);
    let rows = session.works("db_bridge", json!({ "query": "select * from users where id = 3" }));
    assert_eq!(rows["structuredContent"]["rows"], json!([{ "id": 3, "name": "Eve" }]));
}

#[test]
fn no_statement_reaches_another_file() {
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
fn answers_are_bounded_and_mistakes_are_told() {
    let root = Root::new();
    let mut session = Session::gateway("files", &root.path(), &[]);
    let many = "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n";
    let result = session.works("db_query", json!({ "sql": many, "max_rows": 5 }));
    let data = &result["structuredContent"];
    assert_eq!((&data["row_count"], &data["truncated"]), (&json!(5), &json!(true)));
    for (sql, part) in [
        ("select * from nobody", "no such table: nobody"),
        ("selec 1", "syntax error"),
        ("select ?", "1 parameters, and 0 values"),
        ("select randomblob(1000000000)", "SQLite"),
    ] {
        let said = session.fails("db_query", json!({ "sql": sql }));
        assert!(said.contains(part), "{sql}: {said}");
    }
    let said = session.fails("db_query", json!({ "sql": "select 1", "database": "none.db" }));
    assert!(said.contains("there is no database `none.db`"), "{said}");
    assert!(!root.path().join("none.db").exists());
}
