//! A pseudo-terminal in which a command runs as in front of a person.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Runs `stickler` with a terminal in which `typed` is entered line by line, each after a prompt that ends with
/// `: `. Returns the exit code and what the terminal shows.
pub(crate) fn run(arguments: &[&str], typed: &[&str]) -> (Option<i32>, String) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let path = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let slave = || Stdio::from(File::options().read(true).write(true).open(&path).unwrap());
    let mut child = Command::new("setsid")
        .args(["--ctty", "--wait", env!("CARGO_BIN_EXE_stickler")])
        .args(arguments)
        .stdin(slave())
        .stdout(slave())
        .stderr(slave())
        .spawn()
        .unwrap();
    let mut master = File::from(master);
    let mut shown = String::new();
    for line in typed {
        let mut byte = [0];
        // The end of the terminal is reported as an error.
        while matches!(master.read(&mut byte), Ok(1)) {
            shown.push(char::from(byte[0]));
            if shown.ends_with(": ") {
                // The prompt is shown just before the echo is switched off and typed text discarded.
                std::thread::sleep(std::time::Duration::from_millis(200));
                writeln!(master, "{line}").unwrap();
                break;
            }
        }
    }
    let mut rest = Vec::new();
    let _ = master.read_to_end(&mut rest);
    shown.push_str(&String::from_utf8_lossy(&rest));
    (child.wait().unwrap().code(), shown)
}
