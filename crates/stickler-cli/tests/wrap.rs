//! `stickler wrap` and `unwrap` on real files, and what they make a client start.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::format_push_string,
    clippy::print_stdout,
    reason = "tests are blunt, start processes, and say why they were skipped"
)]

mod support {
    pub(crate) mod folder;
    pub(crate) mod http;
}

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use support::folder::Folder;
use support::http::{call, initialize, scripted_server};

const PROGRAM: &str = env!("CARGO_BIN_EXE_stickler");

/// Where `stickler` is found by its name.
fn search_path() -> String {
    let folder = Path::new(PROGRAM).parent().unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

fn stickler(arguments: &[&str]) -> (i32, String, String) {
    told(Command::new(PROGRAM).args(arguments).env("PATH", search_path()))
}

fn told(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

const FILE: &str = "{\n\t\"mcpServers\": {\n\t\t\"files\": {\n\t\t\t\"command\": \"npx\",\n\t\t\t\"args\": [\"-y\", \"x\"],\n\t\t\t\"timeout\": 1.0\n\t\t},\n\t\t\"git\": { \"command\": \"uvx\" }\n\t}\n}";

#[test]
fn a_file_is_changed_and_given_back_byte_for_byte() {
    let folder = Folder::new();
    let file = folder.file(".mcp.json", FILE);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    let link = folder.path("link.json");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let (status, told, _) = stickler(&["wrap", &link]);
    assert_eq!((status, told.as_str()), (0, "`files` wrapped\n`git` wrapped\n"));
    let wrapped = folder.read(".mcp.json");
    let expected = FILE
        .replace("\"npx\"", "\"stickler\"")
        .replace("[\"-y\"", "[\"run\", \"--name\", \"files\", \"--\", \"npx\", \"-y\"")
        .replace("\"uvx\"", "\"stickler\", \"args\": [\"run\",\"--name\",\"git\",\"--\",\"uvx\"]");
    assert_eq!(wrapped, expected);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink(), "a link stays one");
    let (_, told, _) = stickler(&["wrap", &file]);
    assert!(told.contains("`files` left as it is: it runs Stickler already"), "{told}");
    assert_eq!(folder.read(".mcp.json"), wrapped, "once is enough");
    let (status, told, _) = stickler(&["unwrap", &file]);
    assert_eq!((status, told.as_str()), (0, "`files` unwrapped\n`git` unwrapped\n"));
    assert_eq!(folder.read(".mcp.json"), FILE);
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640, "permissions stay");
    let left = std::fs::read_dir(folder.path("")).unwrap().count();
    assert_eq!(left, 2, "nothing is left behind");
}

#[test]
fn one_server_can_be_chosen_and_a_rehearsal_changes_nothing() {
    let folder = Folder::new();
    let file = folder.file(".mcp.json", FILE);
    let (status, told, _) = stickler(&["wrap", "--dry-run", "--only", "files", &file]);
    assert_eq!(status, 0);
    for line in
        ["`files` would be wrapped:", "- \t\t\t\"command\": \"npx\",", "  \t\t\t\"timeout\": 1.0"]
    {
        assert!(told.lines().any(|one| one == line), "{line}: {told}");
    }
    assert!(told.contains("+ \t\t\t\"command\": \"stickler\","), "{told}");
    assert_eq!(folder.read(".mcp.json"), FILE);
    assert_eq!(stickler(&["wrap", "--only", "git", &file]).0, 0);
    let changed: Value = serde_json::from_str(&folder.read(".mcp.json")).unwrap();
    assert_eq!(changed["mcpServers"]["files"]["command"], "npx");
    assert_eq!(changed["mcpServers"]["git"]["command"], "stickler");
    let (status, _, complaint) = stickler(&["wrap", "--only", "fils", &file]);
    assert_eq!((status, complaint.contains("did you mean `files`?")), (2, true), "{complaint}");
}

#[test]
fn what_is_no_file_of_a_client_stays_as_it_is() {
    let folder = Folder::new();
    for (text, place) in [("{ \"a\": 1 }", ":1:1: "), ("{\n  \"mcpServers\": {,} }", ":2:18: ")] {
        let file = folder.file("odd.json", text);
        let (status, _, complaint) = stickler(&["wrap", &file]);
        assert_eq!((status, complaint.contains(place)), (2, true), "{complaint}");
        assert_eq!(folder.read("odd.json"), text);
    }
    let (status, _, complaint) = stickler(&["unwrap", &folder.path("none.json")]);
    assert_eq!((status, complaint.contains("cannot read")), (2, true), "{complaint}");
}

#[test]
fn a_byte_order_mark_stays_where_it_is() {
    let folder = Folder::new();
    let text = format!("{}{FILE}", '\u{feff}');
    let file = folder.file(".mcp.json", &text);
    let (status, told, complaint) = stickler(&["wrap", &file]);
    assert_eq!((status, told.contains("`files` wrapped")), (0, true), "{complaint}");
    let wrapped = folder.read(".mcp.json");
    assert!(wrapped.starts_with("\u{feff}{\n") && wrapped != text, "{wrapped}");
    assert_eq!(stickler(&["unwrap", &file]).0, 0);
    assert_eq!(folder.read(".mcp.json"), text);
}

#[test]
fn comments_and_misspelt_names_are_told_as_such() {
    let folder = Folder::new();
    for (text, expected) in [
        ("{\n // mine\n}", ":2:2: "),
        ("// mine\n{}", "; comments are not JSON"),
        ("{\n // mine\n}", "; comments are not JSON"),
        ("{\"mcpservers\":{}}", ":1:2: `mcpservers` is not where clients keep their servers"),
    ] {
        let file = folder.file("odd.json", text);
        let (status, _, complaint) = stickler(&["wrap", &file]);
        assert_eq!((status, complaint.contains(expected)), (2, true), "{complaint}");
        assert_eq!(folder.read("odd.json"), text);
    }
}

#[test]
fn where_the_name_leads_nowhere_the_file_says_where_the_program_is() {
    let folder = Folder::new();
    let file = folder.file(".mcp.json", FILE);
    let (status, _, complaint) =
        told(Command::new(PROGRAM).args(["wrap", &file]).env("PATH", folder.path("")));
    assert_eq!(status, 0, "{complaint}");
    let wrapped = folder.read(".mcp.json");
    let changed: Value = serde_json::from_str(&wrapped).unwrap();
    let program = Path::new(PROGRAM).canonicalize().unwrap();
    assert_eq!(changed["mcpServers"]["git"]["command"], program.to_str().unwrap());
    assert_eq!(stickler(&["wrap", &file]).0, 0);
    assert_eq!(folder.read(".mcp.json"), wrapped, "once is enough, by any name");
    assert_eq!(stickler(&["unwrap", &file]).0, 0);
    assert_eq!(folder.read(".mcp.json"), FILE);
}

/// Somebody who is not the one that runs the tests.
const SOMEBODY: u32 = 54_321;

#[test]
fn the_file_stays_with_its_owner() {
    let folder = Folder::new();
    let file = folder.file(".mcp.json", FILE);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    if std::os::unix::fs::chown(&file, Some(SOMEBODY), Some(SOMEBODY)).is_err() {
        println!("skipped: only root can give files away");
        return;
    }
    assert_eq!(stickler(&["wrap", &file]).0, 0);
    assert_ne!(folder.read(".mcp.json"), FILE);
    let about = std::fs::metadata(&file).unwrap();
    assert_eq!((about.uid(), about.gid(), about.mode() & 0o777), (SOMEBODY, SOMEBODY, 0o600));
}

#[test]
fn a_file_that_cannot_stay_with_its_owner_stays_as_it_is() {
    let folder = Folder::new();
    let file = folder.file(".mcp.json", FILE);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    std::fs::set_permissions(folder.path(""), std::fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = Command::new(PROGRAM);
    command.args(["wrap", &file]).uid(SOMEBODY).gid(SOMEBODY).env("PATH", search_path());
    if command.output().is_err() {
        println!("skipped: only root can be somebody else, who must be able to run the program");
        return;
    }
    let (status, _, complaint) = told(&mut command);
    if complaint.contains("cannot read") {
        println!("skipped: somebody else cannot reach this folder");
        return;
    }
    assert_eq!((status, complaint.contains("let its owner do this")), (2, true), "{complaint}");
    assert_eq!(folder.read(".mcp.json"), FILE);
    assert_eq!(std::fs::read_dir(folder.path("")).unwrap().count(), 1, "nothing is left behind");
}

/// Starts a server as a client would, and calls a tool badly.
fn refused(folder: &Folder, name: &str) -> Value {
    let file: Value = serde_json::from_str(&folder.read(".mcp.json")).unwrap();
    let server = &file["mcpServers"][name];
    let words = |value: &Value| -> Vec<String> { serde_json::from_value(value.clone()).unwrap() };
    let mut command = Command::new(server["command"].as_str().unwrap());
    for (name, value) in server["env"].as_object().into_iter().flatten() {
        command.env(name, value.as_str().unwrap());
    }
    let mut child = command
        .args(words(&server["args"]))
        .env("PATH", search_path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
    writeln!(stdin, "{}", initialize()).unwrap();
    stdout.next().unwrap().unwrap();
    writeln!(stdin, r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#).unwrap();
    writeln!(stdin, "{}", call(1, "echo", &json!({ "txt": "hi" }))).unwrap();
    let answer = stdout.next().unwrap().unwrap();
    drop(stdin);
    child.wait().unwrap();
    serde_json::from_str(&answer).unwrap()
}

#[test]
fn what_the_client_starts_then_is_a_gateway_in_front_of_its_server() {
    let gateway = support::http::Gateway::scripted(&["--bearer-token-env", "STICKLER_TEST_TOKEN"]);
    let folder = Folder::new();
    let file = json!({ "mcpServers": {
        "local": { "command": scripted_server(), "args": [] },
        "remote": {
            "type": "http", "url": format!("http://127.0.0.1:{}/mcp", gateway.port),
            "headers": { "Authorization": "Bearer secret" },
        },
    } });
    let path = folder.file(".mcp.json", &file.to_string());
    let (status, told, _) = stickler(&["wrap", &path]);
    assert_eq!((status, told.contains("OAuth")), (0, true), "{told}");
    for name in ["local", "remote"] {
        let answer = refused(&folder, name);
        let help = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(help.contains("did you mean `text`?"), "{help}");
    }
    assert_eq!(stickler(&["unwrap", &path]).0, 0);
    assert_eq!(folder.read(".mcp.json"), file.to_string());
}
