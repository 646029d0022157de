//! SIGHUP, `--watch` and `Type=notify`.

use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::folder::Folder;
use crate::support::http::{Gateway, call, scripted_server};
use crate::support::stdio::wait_until;

fn config(answer: &str) -> String {
    let server = scripted_server();
    format!("answer = \"{answer}\"\n[servers.s]\ncommand = {:?}\n", server.to_str().unwrap())
}

/// Whether a rejected call of a new session is answered with a JSON-RPC error.
fn new_session_answers_with_error(gateway: &Gateway) -> bool {
    let session = gateway.session();
    let is_error = answers_with_error(gateway, &session);
    gateway.open("DELETE", "/mcp", &[("mcp-session-id", &session)], "").finish();
    is_error
}

/// Whether a rejected call is answered with a JSON-RPC error.
fn answers_with_error(gateway: &Gateway, session: &str) -> bool {
    let headers = [("mcp-session-id", session)];
    let answer: Value = gateway.post(&headers, &call(1, "echo", &json!({ "txt": "x" }))).json();
    answer["error"].is_object()
}

#[test]
fn hangup_reloads_for_new_sessions_and_keeps_old_ones() {
    let folder = Folder::new();
    let file = folder.file("stickler.toml", &config("tool-result"));
    let gateway = Gateway::start(&["--config", &file]);
    let old = gateway.session();
    assert!(!answers_with_error(&gateway, &old));
    folder.file("stickler.toml", &config("json-rpc-error"));
    kill_process(Pid::from_child(&gateway.child), Signal::HUP).unwrap();
    wait_until("new sessions use the new settings", || new_session_answers_with_error(&gateway));
    assert!(!answers_with_error(&gateway, &old), "the open session keeps its settings");
    // An invalid file is reported, and the settings stay.
    folder.file("stickler.toml", "answer = 7");
    kill_process(Pid::from_child(&gateway.child), Signal::HUP).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert!(new_session_answers_with_error(&gateway));
    assert_eq!(gateway.end(), 0);
}

#[test]
fn changed_file_is_reloaded_with_watch() {
    let folder = Folder::new();
    let file = folder.file("stickler.toml", &config("tool-result"));
    let gateway = Gateway::start(&["--config", &file, "--watch"]);
    assert!(!new_session_answers_with_error(&gateway));
    folder.file("stickler.toml", &config("json-rpc-error"));
    wait_until("the file is reloaded", || new_session_answers_with_error(&gateway));
}

#[test]
fn service_manager_is_notified() {
    let folder = Folder::new();
    let path = folder.path("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let file = folder.file("stickler.toml", &config("tool-result"));
    let gateway = Gateway::start_with(&["--config", &file], &[("NOTIFY_SOCKET", &path)]);
    let receive = || {
        let mut buffer = [0; 256];
        let length = socket.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    };
    assert_eq!(receive(), "READY=1");
    kill_process(Pid::from_child(&gateway.child), Signal::HUP).unwrap();
    assert!(receive().starts_with("RELOADING=1\nMONOTONIC_USEC="));
    assert_eq!(receive(), "READY=1");
    gateway.end();
    assert_eq!(receive(), "STOPPING=1");
}
