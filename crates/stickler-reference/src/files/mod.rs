//! The suite `files`: files, tests, a database and commits.

mod db_query;
mod git_commit;
mod read_file;
mod run_tests;
mod write_file;

use super::tool::Tool;

pub(super) fn tools() -> Vec<Tool> {
    vec![
        read_file::tool(),
        write_file::tool(),
        run_tests::tool(),
        db_query::tool(),
        git_commit::tool(),
    ]
}
