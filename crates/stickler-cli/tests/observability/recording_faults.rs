//! Recordings that rotate, expire, or cannot be written.

use std::io::Write as _;
use std::process::Command;
use std::time::{Duration, SystemTime};

use rustix::process::Signal;
use serde_json::json;

use crate::support::folder::Folder;
use crate::support::http::scripted_server;
use crate::support::stdio::{Gateway, wait_until};
use crate::{audit, lines, recordings};

fn start(options: &[&str], variables: &[(&str, &str)]) -> Gateway {
    let server = scripted_server();
    let mut arguments: Vec<&str> = options.to_vec();
    arguments.extend(["--", server.to_str().unwrap()]);
    Gateway::with_env(&arguments, variables)
}

/// Files of a folder with this ending.
fn files(folder: &Folder, ending: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path("r")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path().to_str().unwrap().to_owned());
    let mut paths: Vec<String> = paths.filter(|path| path.ends_with(ending)).collect();
    paths.sort();
    paths
}

#[test]
fn large_recording_is_rotated_and_compressed_and_stays_readable() {
    let folder = Folder::new();
    let mut gateway =
        start(&["--record", &folder.path("r")], &[("STICKLER_RECORD_ROTATE_BYTES", "6000")]);
    gateway.handshake();
    for id in 0..40 {
        gateway.call(id, "echo", &json!({ "txt": "x".repeat(300) }));
    }
    gateway.end();
    let parts = files(&folder, ".ndjson.zst");
    assert!(parts.len() >= 3, "{parts:?}");
    let mut all = parts;
    all.extend(files(&folder, ".ndjson"));
    let (found, _) = audit(&all);
    assert_eq!(found.iter().filter(|(_, rule)| rule == "STK-107").count(), 40);
    assert!(files(&folder, ".tmp").is_empty());
}

#[test]
fn killed_gateway_leaves_a_readable_recording() {
    let folder = Folder::new();
    let mut gateway = start(&["--record", &folder.path("r")], &[]);
    gateway.handshake();
    gateway.call(1, "echo", &json!({ "txt": "x" }));
    let is_written =
        || recordings(&folder, "r").first().is_some_and(|(_, text)| text.contains("STK-107"));
    wait_until("the rejection is recorded", is_written);
    gateway.signal(Signal::KILL);
    drop(gateway);
    let [(path, text)] = &recordings(&folder, "r")[..] else { panic!("one file") };
    assert!(lines(text).iter().all(|line| line["summary"].is_null()));
    // A crash of the machine may cut the last line.
    std::fs::write(path, &text.as_bytes()[..text.len() - 20]).unwrap();
    let (found, status) = audit(std::slice::from_ref(path));
    assert!(found.contains(&("c2s".to_owned(), "STK-107".to_owned())), "{found:?}");
    assert_eq!(status, 1);
}

#[test]
fn failed_write_stops_the_recording_with_one_line_and_not_the_traffic() {
    let folder = Folder::new();
    let mut gateway = start(&["--record", &folder.path("r")], &[]);
    gateway.handshake();
    std::fs::remove_dir_all(folder.path("r")).unwrap();
    gateway.call(1, "echo", &json!({ "text": "x" }));
    gateway.wait_for_log("recording stopped: cannot write to");
    let answer = gateway.call(2, "echo", &json!({ "text": "still here" }));
    assert_eq!(answer["result"]["content"][0]["text"], "still here");
    let log = gateway.end().stderr;
    assert_eq!(log.matches("recording stopped").count(), 1, "{log}");
}

/// Starts a gateway that records to a file system of 128 KiB, in a namespace of its own; `None` if this user may not
/// create one.
fn start_on_small_disk(directory: &str) -> Option<Gateway> {
    let namespace = ["--user", "--map-root-user", "--mount"];
    let can = Command::new("unshare").args(namespace).arg("true").output();
    if !can.is_ok_and(|output| output.status.success()) {
        return None;
    }
    let server = scripted_server();
    let mut command = Command::new("unshare");
    command.args(namespace).args(["sh", "-c"]);
    command.args(["mount -t tmpfs -o size=128k tmpfs \"$0\" && exec \"$@\"", directory]);
    command.args([env!("CARGO_BIN_EXE_stickler"), "run", "--record", directory, "--"]).arg(server);
    Some(Gateway::of(command))
}

#[test]
fn full_disk_stops_the_recording_with_one_line_and_not_the_traffic() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("r")).unwrap();
    let Some(mut gateway) = start_on_small_disk(&folder.path("r")) else {
        let _ = writeln!(std::io::stderr(), "skipped: no mount namespaces for this user");
        return;
    };
    gateway.handshake();
    let text = "x".repeat(4000);
    for id in 0..100 {
        let answer = gateway.call(id, "echo", &json!({ "text": text }));
        assert_eq!(answer["result"]["content"][0]["text"], text);
    }
    gateway.wait_for_log("recording stopped: cannot write to");
    let answer = gateway.call(100, "echo", &json!({ "text": "still here" }));
    assert_eq!(answer["result"]["content"][0]["text"], "still here");
    let exit = gateway.end();
    assert_eq!((exit.status, exit.stderr.matches("recording").count()), (0, 1), "{}", exit.stderr);
    assert!(exit.stderr.contains("No space left on device"), "{}", exit.stderr);
}

#[test]
fn directory_that_cannot_be_used_is_a_usage_error() {
    let folder = Folder::new();
    let file = folder.file("file", "");
    let exit = start(&["--record", &file], &[]).end();
    assert_eq!(exit.status, 2);
    assert!(exit.stderr.contains("error: cannot record in"), "{}", exit.stderr);
}

#[test]
fn old_recordings_are_deleted_and_other_files_stay() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("r")).unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(8 * 24 * 3600);
    for name in ["r/20200101T000000Z-s-01234567.ndjson", "r/notes.ndjson"] {
        let path = folder.file(name, "{}\n");
        std::fs::File::options().append(true).open(path).unwrap().set_modified(long_ago).unwrap();
    }
    let mut gateway = start(&["--record", &folder.path("r")], &[]);
    gateway.handshake();
    gateway.end();
    let left = files(&folder, ".ndjson");
    assert!(left.iter().any(|path| path.ends_with("notes.ndjson")));
    assert!(!left.iter().any(|path| path.contains("20200101")), "{left:?}");
}
