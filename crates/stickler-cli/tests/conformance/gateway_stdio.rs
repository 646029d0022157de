//! The gateway on standard input and output, in front of a command.

use crate::process::{Client, TableServer};
use crate::table::{Differences, all};
use crate::{compare, variables};

#[test]
fn gateway_over_stdio_conforms_to_the_table() {
    let mut differences = Differences::default();
    let cases = all();
    for case in &cases {
        let server = TableServer::new(case);
        let command = server.command();
        let mut arguments = vec!["run", "--quiet-capability", "--"];
        arguments.extend(command.iter().map(String::as_str));
        let mut client = Client::start(&arguments, &variables(case));
        let response = client.run(case);
        compare(&mut differences, case, &server.last(), &response);
    }
    differences.finish(cases.len());
}
