//! Checks statements of the documentation against real software: the example of the README, and the SARIF that
//! `check` writes for a running server.

use std::process::Command;

use serde_json::{Value, json};

use super::install::Installed;
use super::report::Job;
use super::server::Server;

/// The schema of SARIF 2.1.0, in the npm package of its validator.
const SARIF_SCHEMA: &str = "node/node_modules/@microsoft/sarif-multitool-linux/sarif-2.1.0.json";

pub(super) fn jobs(installed: &Installed) -> Vec<Job<'_>> {
    vec![
        Job::new("README: edit_file with dryrun", || readme_example(installed)),
        Job::new("SARIF of a running server", || sarif(installed)),
    ]
}

/// The server accepts the misspelt `dryrun` and changes the file; behind the gateway it does not.
fn readme_example(installed: &Installed) -> Result<String, String> {
    let folder = installed.folder.join("readme");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let file = folder.join("notes.txt");
    let server = installed.npm_program("mcp-server-filesystem");
    let server = [server, vec![folder.to_string_lossy().into_owned()]].concat();
    let gateway = [installed.stickler().to_string_lossy().into_owned(), "run".into(), "--".into()];
    let behind = [gateway.to_vec(), server.clone()].concat();
    for (command, is_rejected, expected) in [(server, false, "1\n"), (behind, true, "one\n")] {
        std::fs::write(&file, "one\n").map_err(|error| error.to_string())?;
        let edits = json!([{ "oldText": "one", "newText": "1" }]);
        let arguments = json!({ "path": file.to_string_lossy(), "edits": edits, "dryrun": true });
        let mut server = Server::start(&command)?;
        let call = json!({ "name": "edit_file", "arguments": arguments });
        let result = server.request("tools/call", &call)?;
        let content = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
        if (result["isError"] == true) != is_rejected || content != expected {
            return Err(format!("`{content}` after {result}"));
        }
    }
    Ok("accepted by the server, rejected by the gateway".to_owned())
}

/// The report matches the schema, and every result has a physical location.
fn sarif(installed: &Installed) -> Result<String, String> {
    let server = installed.npm_program("mcp-server-filesystem");
    let output = Command::new(installed.stickler())
        .args(["check", "--quiet", "--deny", "note", "--format", "sarif", "--artifact"])
        .arg("node/package.json")
        .arg("--")
        .args(server)
        .arg(&installed.folder)
        .current_dir(&installed.folder)
        .output()
        .map_err(|error| error.to_string())?;
    let log: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))?;
    let path = installed.folder.join(SARIF_SCHEMA);
    let schema = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let schema: Value = serde_json::from_slice(&schema).map_err(|error| error.to_string())?;
    let validator = jsonschema::validator_for(&schema).map_err(|error| error.to_string())?;
    if let Some(error) = validator.iter_errors(&log).next() {
        return Err(format!("{}: {error}", error.instance_path()));
    }
    let results = log["runs"][0]["results"].as_array().cloned().unwrap_or_default();
    let is_placed = |result: &Value| {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "node/package.json"
    };
    if results.is_empty() || !results.iter().all(is_placed) {
        return Err("a result has no physical location".to_owned());
    }
    Ok(format!("{} results match the schema", results.len()))
}
