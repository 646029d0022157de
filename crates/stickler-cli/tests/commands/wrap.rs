//! `stickler wrap` and `unwrap` on real files, and the servers that a client then starts.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::folder::Folder;
use crate::support::http::{call, initialize, scripted_server};
use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_stickler");

/// A `PATH` on which `stickler` is found.
fn search_path() -> String {
    let folder = Path::new(PROGRAM).parent().unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

fn stickler(arguments: &[&str]) -> (i32, String, String) {
    output_of(Command::new(PROGRAM).args(arguments).env("PATH", search_path()))
}

fn output_of(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

const FILE: &str = "{\n\t\"mcpServers\": {\n\t\t\"files\": {\n\t\t\t\"command\": \"npx\",\n\t\t\t\"args\": [\"-y\", \"x\"],\n\t\t\t\"timeout\": 1.0\n\t\t},\n\t\t\"git\": { \"command\": \"uvx\" }\n\t}\n}";

#[test]
fn wrap_and_unwrap_restore_the_file_byte_for_byte() {
    let folder = Folder::new();
    let file = folder.file(".mcp.json", FILE);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    let link = folder.path("link.json");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let (status, stdout, _) = stickler(&["wrap", &link]);
    assert_eq!((status, stdout.as_str()), (0, "`files` wrapped\n`git` wrapped\n"));
    let wrapped = folder.read(".mcp.json");
    let program = Value::from(PROGRAM).to_string();
    let expected = FILE
        .replace("\"npx\"", &program)
        .replace(
            "[\"-y\"",
            "[\"run\", \"--name\", \"files\", \"--mode\", \"assist\", \"--\", \"npx\", \"-y\"",
        )
        .replace(
            "\"uvx\"",
            &format!(
                "{program}, \"args\": [\"run\",\"--name\",\"git\",\"--mode\",\"assist\",\"--\",\"uvx\"]"
            ),
        );
    assert_eq!(wrapped, expected);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink(), "a symlink stays a symlink");
    let (_, stdout, _) = stickler(&["wrap", &file]);
    assert!(stdout.contains("`files` unchanged: it already runs Stickler"), "{stdout}");
    assert_eq!(folder.read(".mcp.json"), wrapped, "a wrapped server is not wrapped again");
    let (status, stdout, _) = stickler(&["unwrap", &file]);
    assert_eq!((status, stdout.as_str()), (0, "`files` unwrapped\n`git` unwrapped\n"));
    assert_eq!(folder.read(".mcp.json"), FILE);
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640, "permissions are kept");
    let left = std::fs::read_dir(folder.path("")).unwrap().count();
    assert_eq!(left, 2, "no temporary files are left");
}

#[test]
fn only_option_selects_one_server_and_dry_run_changes_nothing() {
    let folder = Folder::new();
    let file = folder.file(".mcp.json", FILE);
    let (status, stdout, _) = stickler(&["wrap", "--dry-run", "--only", "files", &file]);
    assert_eq!(status, 0);
    for line in
        ["`files` would be wrapped:", "- \t\t\t\"command\": \"npx\",", "  \t\t\t\"timeout\": 1.0"]
    {
        assert!(stdout.lines().any(|one| one == line), "{line}: {stdout}");
    }
    assert!(stdout.contains(&format!("+ \t\t\t\"command\": \"{PROGRAM}\",")), "{stdout}");
    assert_eq!(folder.read(".mcp.json"), FILE);
    assert_eq!(stickler(&["wrap", "--only", "git", &file]).0, 0);
    let changed: Value = serde_json::from_str(&folder.read(".mcp.json")).unwrap();
    assert_eq!(changed["mcpServers"]["files"]["command"], "npx");
    assert_eq!(changed["mcpServers"]["git"]["command"], PROGRAM);
    let (status, _, stderr) = stickler(&["wrap", "--only", "fils", &file]);
    assert_eq!((status, stderr.contains("did you mean `files`?")), (2, true), "{stderr}");
}

#[test]
fn unrecognised_file_is_rejected_and_left_unchanged() {
    let folder = Folder::new();
    for (text, place) in [("{ \"a\": 1 }", ":1:1: "), ("{\n  \"mcpServers\": {,} }", ":2:18: ")] {
        let file = folder.file("invalid.json", text);
        let (status, _, stderr) = stickler(&["wrap", &file]);
        assert_eq!((status, stderr.contains(place)), (2, true), "{stderr}");
        assert_eq!(folder.read("invalid.json"), text);
    }
    let (status, _, stderr) = stickler(&["unwrap", &folder.path("none.json")]);
    assert_eq!((status, stderr.contains("cannot read")), (2, true), "{stderr}");
}

#[test]
fn byte_order_mark_is_preserved() {
    let folder = Folder::new();
    let text = format!("{}{FILE}", '\u{feff}');
    let file = folder.file(".mcp.json", &text);
    let (status, stdout, stderr) = stickler(&["wrap", &file]);
    assert_eq!((status, stdout.contains("`files` wrapped")), (0, true), "{stderr}");
    let wrapped = folder.read(".mcp.json");
    assert!(wrapped.starts_with("\u{feff}{\n") && wrapped != text, "{wrapped}");
    assert_eq!(stickler(&["unwrap", &file]).0, 0);
    assert_eq!(folder.read(".mcp.json"), text);
}

#[test]
fn misspelt_keys_and_wrong_files_are_explained() {
    let folder = Folder::new();
    for (name, text, expected) in [
        (
            "a.json",
            "{\"mcpservers\":{}}",
            ":1:2: unknown member `mcpservers`; did you mean `mcpServers`?",
        ),
        ("a.json", "// mine\n{ 'a': 1 }", ":2:3: invalid JSON: "),
        ("a.toml", "model = gpt\n", ":1:9: invalid TOML: a string needs quotes"),
        ("a.yaml", "a:\n\tb: 1\n", ":2:2: invalid YAML: tabs"),
        ("settings.json", "{\"editor.fontSize\": 12}", "no servers found: expected `mcpServers`"),
    ] {
        let file = folder.file(name, text);
        let (status, _, stderr) = stickler(&["wrap", &file]);
        assert_eq!((status, stderr.contains(expected)), (2, true), "{stderr}");
        assert_eq!(folder.read(name), text);
    }
}

/// Runs a command with a home folder of its own, in the subfolder `project`.
fn at_home(folder: &Folder, arguments: &[&str]) -> (i32, String, String) {
    let home = folder.path("");
    let mut command = Command::new(PROGRAM);
    command
        .args(arguments)
        .env("HOME", &home)
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("CODEX_HOME");
    command.current_dir(folder.path("project")).stdin(Stdio::null());
    output_of(&mut command)
}

const CODEX: &str = "[mcp_servers.docs]\ncommand = \"npx\" # from npm\nargs = [\"-y\", \"docs\"]\n";

/// A home folder with the files of four clients.
fn home() -> Folder {
    let folder = Folder::new();
    for path in ["project/.vscode", ".codex", ".config/zed", ".cursor", ".config/Claude"] {
        std::fs::create_dir_all(folder.path(path)).unwrap();
    }
    folder.file("project/.mcp.json", FILE);
    folder.file(".codex/config.toml", CODEX);
    folder.file(".config/zed/settings.json", "{ \"theme\": \"One\" } // no servers\n");
    folder.file(
        ".cursor/mcp.json",
        "{ \"mcpServers\": { \"hf\": { \"url\": \"https://huggingface.co/mcp\" } } }",
    );
    folder
}

#[test]
fn files_of_all_clients_are_found_and_changed_only_after_confirmation() {
    let folder = home();
    let (status, stdout, stderr) = at_home(&folder, &["wrap"]);
    assert_eq!(status, 2, "{stderr}");
    assert!(
        stderr.contains("nothing was changed: `--yes` changes 3 servers in 2 files"),
        "{stderr}"
    );
    for line in [
        "config.toml (Codex)\n  `docs` will be wrapped\n",
        "mcp.json (Cursor)\n  `hf` unchanged: the client may sign in to it by OAuth",
        ".mcp.json (Claude Code)\n  `files` will be wrapped\n  `git` will be wrapped\n",
    ] {
        assert!(stdout.contains(line), "{line}: {stdout}");
    }
    assert!(!stdout.contains("zed"), "{stdout}");
    assert_eq!(folder.read(".codex/config.toml"), CODEX);
    let (status, stdout, stderr) =
        at_home(&folder, &["wrap", "--yes", "--mode", "observe", "--record", "logs"]);
    assert_eq!((status, stdout.contains("3 servers wrapped")), (0, true), "{stdout}{stderr}");
    let record = folder.path("project/logs");
    let expected = format!("\"--mode\", \"observe\", \"--record\", \"{record}\", \"--\", \"npx\"");
    let codex = folder.read(".codex/config.toml");
    assert!(codex.contains(&expected) && codex.contains("# from npm"), "{codex}");
    let (status, stdout, _) = at_home(&folder, &["wrap", "--status"]);
    assert_eq!(status, 0);
    for line in [
        "  `docs`: wrapped, mode observe",
        "  `git`: wrapped, mode observe",
        "  `hf`: not wrapped (remote)",
    ] {
        assert!(stdout.lines().any(|one| one == line), "{line}: {stdout}");
    }
    let (_, stdout, _) = at_home(&folder, &["wrap", "--status", "--format", "json"]);
    let listed: Vec<Value> =
        stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (listed.len(), &listed[0]["state"], &listed[0]["server"]),
        (4, &json!("not wrapped (remote)"), &json!("hf"))
    );
    let (status, _, stderr) = at_home(&folder, &["unwrap", "--yes"]);
    assert_eq!(status, 0, "{stderr}");
    assert_eq!(
        (folder.read(".codex/config.toml").as_str(), folder.read("project/.mcp.json").as_str()),
        (CODEX, FILE)
    );
}

#[test]
fn unreadable_file_of_one_client_does_not_stop_the_others() {
    let folder = home();
    folder.file(".cursor/mcp.json", "{ broken");
    let (status, stdout, stderr) = at_home(&folder, &["wrap", "--yes"]);
    assert_eq!(status, 2);
    assert!(stderr.contains("mcp.json:1:3: invalid JSON"), "{stderr}");
    assert!(stdout.contains("3 servers wrapped"), "{stdout}");
    assert_eq!(folder.read(".cursor/mcp.json"), "{ broken");
}

#[test]
fn gateway_options_are_checked_and_passed_through() {
    let folder = Folder::new();
    let file = folder.file(".mcp.json", FILE);
    for (options, expected) in [
        (vec!["--", "--lg", "info"], "unexpected argument '--lg'"),
        (vec!["--", "info"], "options of `run`"),
        (vec!["--", "--url", "http://x"], "`--url` cannot be passed"),
    ] {
        let (status, _, stderr) = stickler(&[&["wrap", &file], options.as_slice()].concat());
        assert_eq!((status, stderr.contains(expected)), (2, true), "{stderr}");
        assert_eq!(folder.read(".mcp.json"), FILE);
    }
    assert_eq!(stickler(&["wrap", &file, "--", "--log", "info", "--strict"]).0, 0);
    let wrapped = folder.read(".mcp.json");
    assert!(wrapped.contains(r#""assist", "--log", "info", "--strict", "--", "npx""#), "{wrapped}");
    assert_eq!(stickler(&["unwrap", &file]).0, 0);
    assert_eq!(folder.read(".mcp.json"), FILE);
}

#[test]
fn read_only_file_is_left_unchanged() {
    let folder = Folder::new();
    let file = folder.file(".mcp.json", FILE);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o444)).unwrap();
    let (status, _, stderr) = stickler(&["wrap", &file]);
    assert_eq!((status, stderr.contains("read-only")), (2, true), "{stderr}");
    assert_eq!(folder.read(".mcp.json"), FILE);
}

#[test]
fn absolute_program_path_is_written_when_stickler_is_not_on_the_path() {
    let folder = Folder::new();
    let file = folder.file(".mcp.json", FILE);
    let (status, _, stderr) =
        output_of(Command::new(PROGRAM).args(["wrap", &file]).env("PATH", folder.path("")));
    assert_eq!(status, 0, "{stderr}");
    let wrapped = folder.read(".mcp.json");
    let changed: Value = serde_json::from_str(&wrapped).unwrap();
    let program = Path::new(PROGRAM).canonicalize().unwrap();
    assert_eq!(changed["mcpServers"]["git"]["command"], program.to_str().unwrap());
    assert_eq!(stickler(&["wrap", &file]).0, 0);
    assert_eq!(
        folder.read(".mcp.json"),
        wrapped,
        "a server wrapped by absolute path is not wrapped again"
    );
    assert_eq!(stickler(&["unwrap", &file]).0, 0);
    assert_eq!(folder.read(".mcp.json"), FILE);
}

/// A user id other than that of the test process.
const OTHER_USER: u32 = 54_321;

#[test]
fn wrapped_file_keeps_its_owner() {
    let folder = Folder::new();
    let file = folder.file(".mcp.json", FILE);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    if std::os::unix::fs::chown(&file, Some(OTHER_USER), Some(OTHER_USER)).is_err() {
        println!("skipped: only root can change the owner of a file");
        return;
    }
    assert_eq!(stickler(&["wrap", &file]).0, 0);
    assert_ne!(folder.read(".mcp.json"), FILE);
    let metadata = std::fs::metadata(&file).unwrap();
    assert_eq!(
        (metadata.uid(), metadata.gid(), metadata.mode() & 0o777),
        (OTHER_USER, OTHER_USER, 0o600)
    );
}

#[test]
fn file_of_another_owner_is_left_unchanged() {
    let folder = Folder::new();
    let file = folder.file(".mcp.json", FILE);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    std::fs::set_permissions(folder.path(""), std::fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = Command::new(PROGRAM);
    command.args(["wrap", &file]).uid(OTHER_USER).gid(OTHER_USER).env("PATH", search_path());
    if command.output().is_err() {
        println!("skipped: only root can run the program as another user");
        return;
    }
    let (status, _, stderr) = output_of(&mut command);
    if stderr.contains("cannot read") {
        println!("skipped: the other user cannot access this folder");
        return;
    }
    assert_eq!((status, stderr.contains("run the command as its owner")), (2, true), "{stderr}");
    assert_eq!(folder.read(".mcp.json"), FILE);
    assert_eq!(
        std::fs::read_dir(folder.path("")).unwrap().count(),
        1,
        "no temporary files are left"
    );
}

/// Starts a server as a client would, makes an invalid call and returns the response.
fn invalid_call(folder: &Folder, name: &str) -> Value {
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
    let response = stdout.next().unwrap().unwrap();
    drop(stdin);
    child.wait().unwrap();
    serde_json::from_str(&response).unwrap()
}

#[test]
fn wrapped_servers_run_behind_the_gateway() {
    let gateway =
        crate::support::http::Gateway::scripted(&["--bearer-token-env", "STICKLER_TEST_TOKEN"]);
    let folder = Folder::new();
    let file = json!({ "mcpServers": {
        "local": { "command": scripted_server(), "args": [] },
        "remote": {
            "type": "http", "url": format!("http://127.0.0.1:{}/mcp", gateway.port),
            "headers": { "Authorization": "Bearer secret" },
        },
    } });
    let path = folder.file(".mcp.json", &file.to_string());
    let (status, stdout, _) = stickler(&["wrap", &path]);
    assert_eq!((status, stdout.contains("OAuth")), (0, true), "{stdout}");
    for name in ["local", "remote"] {
        let response = invalid_call(&folder, name);
        let help = response["result"]["content"][0]["text"].as_str().unwrap();
        assert!(help.contains("did you mean `text` (string, required)?"), "{help}");
    }
    assert_eq!(stickler(&["unwrap", &path]).0, 0);
    assert_eq!(folder.read(".mcp.json"), file.to_string());
}

#[test]
fn named_server_that_is_not_wrapped_sets_the_exit_code() {
    let folder = Folder::new();
    let text = r#"{"mcpServers":{"old":{"type":"sse","url":"https://x/sse"},"a":{"command":"x"}}}"#;
    let file = folder.file("mcp.json", text);
    let (code, output, _) = stickler(&["wrap", &file, "--only", "old"]);
    assert_eq!(code, 2, "{output}");
    assert!(output.contains("set `type` to `http`"), "{output}");
    assert_eq!(stickler(&["wrap", &file]).0, 0, "servers that are not named may stay unchanged");
    assert_eq!(stickler(&["wrap", &file, "--only", "a"]).0, 0, "it is wrapped already");
}

#[test]
fn utf_16_file_is_named_as_such() {
    let folder = Folder::new();
    let file = folder.file("mcp.json", "");
    std::fs::write(&file, b"\xff\xfe{\0}\0").unwrap();
    let (code, _, errors) = stickler(&["wrap", &file]);
    assert_eq!((code, errors.contains("UTF-16; save it as UTF-8")), (2, true), "{errors}");
}
