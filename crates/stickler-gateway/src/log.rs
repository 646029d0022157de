//! The first observer: one line a finding on standard error, argument values kept out.

use std::io::Write as _;
use std::sync::Arc;

use stickler::{Edit, Severity};
use stickler_protocol::{Decision, Event, Side, Verdict};

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing
    Off,
    /// What was refused, and what the server does wrong
    Warn,
    /// Notes too
    Info,
    /// Every message
    Debug,
}

/// Writes events for people.
#[derive(Debug, Clone)]
pub struct Log {
    /// How much is told.
    pub level: Level,
    /// What the server is called.
    pub server: Arc<str>,
}

impl Log {
    /// Writes an event, when it is wanted.
    pub fn event(&self, event: &Event) {
        match event {
            Event::Judged { sender, verdict } => self.judged(*sender, verdict),
            Event::Learnt { discovery } => {
                let tools = if discovery.usable == 1 { "tool" } else { "tools" };
                self.say(Level::Info, &format!("learnt {} {tools}", discovery.usable));
                if discovery.nameless > 0 {
                    let odd = discovery.nameless;
                    let text = format!("the server's tool list has {odd} entries without a name");
                    self.say(Level::Warn, &text);
                }
                if discovery.over_limit > 0 {
                    let others = discovery.over_limit;
                    let text = format!(
                        "the server lists more tools than are allowed; calls of the other {others} are not checked"
                    );
                    self.say(Level::Warn, &text);
                }
                for refused in &discovery.quarantined {
                    self.say(Level::Warn, &refused.to_string());
                }
            }
            Event::Subscription { news } => self.say(Level::Info, news),
            Event::Degraded { reason } => {
                self.say(Level::Warn, &format!("calls go on unchecked for now: {reason}"));
            }
            _ => {}
        }
    }

    fn judged(&self, sender: Side, verdict: &Verdict) {
        // Nearly every message: nothing is made up that nobody will read.
        if verdict.findings.is_empty() && self.level < Level::Debug {
            return;
        }
        let what = subject(sender, verdict);
        let fate = match &verdict.decision {
            Decision::Forward => "forwarded",
            Decision::Rewrite(_) if sender == Side::Server => "replaced by an error",
            Decision::Rewrite(_) => "changed",
            // Nothing is refused for what is only worth a note: such a call was for the gateway itself.
            Decision::Answer(_) if is_sound(verdict) => "answered",
            Decision::Answer(_) => "refused",
            Decision::Split { .. } => "refused in part",
            Decision::Drop => "kept off the wire",
        };
        if verdict.findings.is_empty() {
            self.say(Level::Debug, &format!("{what} from the {sender}: {fate}"));
        }
        for edit in &verdict.edits {
            // What somebody else wrote was changed: whoever reads the log must be able to see it.
            self.say(Level::Warn, &format!("{what} from the {sender} repaired: {}", done(edit)));
        }
        for finding in &verdict.findings {
            let told = finding.masked();
            match finding.severity {
                // It is not why anything became of the message.
                Severity::Note => {
                    self.say(Level::Info, &format!("{what} from the {sender}: {told}"));
                }
                Severity::Warning | Severity::Error => {
                    self.say(Level::Warn, &format!("{what} from the {sender} {fate}: {told}"));
                }
            }
        }
    }

    /// A line, when it is wanted.
    pub fn say(&self, level: Level, text: &str) {
        if level <= self.level {
            let label = match level {
                Level::Off | Level::Warn => "WARN",
                Level::Info => "INFO",
                Level::Debug => "DEBUG",
            };
            self.write(label, text);
        }
    }

    /// What everybody wants to know who wants to know anything.
    pub fn announce(&self, text: &str) {
        if self.level > Level::Off {
            self.write("INFO", text);
        }
    }

    fn write(&self, label: &str, text: &str) {
        let line = on_one_line(&format!("stickler {label} {}: {text}", self.server));
        // Nothing can be done about a standard error that is gone.
        let _ = writeln!(std::io::stderr(), "{line}");
    }
}

fn is_sound(verdict: &Verdict) -> bool {
    verdict.findings.iter().all(|finding| finding.severity == Severity::Note)
}

/// Names that peers choose are in it: none of them may begin a line of its own, or tell a terminal what to
/// do.
fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

fn subject(sender: Side, verdict: &Verdict) -> String {
    let subject = &verdict.subject;
    match (&subject.method, &subject.tool, sender) {
        (_, Some(tool), Side::Client) => format!("call of `{tool}`"),
        (_, Some(tool), Side::Server) => format!("answer to a call of `{tool}`"),
        (Some(method), None, _) => format!("`{method}`"),
        (None, None, _) => "message".to_owned(),
    }
}

/// An edit, by the names that it is about; values are left out of it already.
fn done(edit: &Edit) -> String {
    let Edit { path, from, to, .. } = edit;
    let kind = edit.kind.name();
    let place = if path.is_empty() { "arguments" } else { path };
    match (from.is_empty(), to.is_empty()) {
        (false, false) if from != to => format!("{kind} at {place}: {from} to {to}"),
        _ => format!("{kind} at {place}"),
    }
}

#[cfg(test)]
mod tests {
    use super::on_one_line;

    #[test]
    fn nobody_writes_a_line_of_his_own() {
        let forged = on_one_line("call of `x\nstickler WARN y: \u{1b}[2J\u{9b}\r` refused: ä “q”");
        assert_eq!(forged, r"call of `x\nstickler WARN y: \u{1b}[2J\u{9b}\r` refused: ä “q”");
    }
}
