//! The server as a command: each process is a relay that connects to a socket of the test.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::inbox::Inbox;
use super::script::{Action, Step};
use super::template::{Bindings, bytes_of, fill, matches, visible};

pub(crate) struct Processes {
    inbox: Inbox<(usize, ProcessEvent)>,
    shared: Arc<Shared>,
    /// The highest process number in the script.
    expected: usize,
}

/// State shared with the reader threads.
struct Shared {
    sockets: Mutex<Vec<UnixStream>>,
    /// Processes that outlive their input until the script or the conversation ends them.
    outlives_input: Vec<usize>,
    is_over: AtomicBool,
}

#[derive(PartialEq)]
enum ProcessEvent {
    Start,
    Line(Vec<u8>),
    End,
}

impl Processes {
    pub(crate) fn listen(path: &Path, steps: &[Step]) -> Self {
        let listener = UnixListener::bind(path).unwrap();
        let of_servers = || {
            steps
                .iter()
                .filter(|step| matches!(step.action, Action::ServerReceives | Action::ServerSends))
        };
        let outlives_input = of_servers()
            .filter(|step| step.action == Action::ServerReceives && step.options.has("end"))
            .map(|step| step.server)
            .collect();
        let is_over = AtomicBool::new(false);
        let shared = Shared { sockets: Mutex::default(), outlives_input, is_over };
        let (inbox, shared) = (Inbox::default(), Arc::new(shared));
        let (events, state) = (inbox.clone(), Arc::clone(&shared));
        std::thread::spawn(move || {
            for (number, socket) in (1..).zip(listener.incoming().map_while(Result::ok)) {
                state.sockets.lock().unwrap().push(socket.try_clone().unwrap());
                events.push((number, ProcessEvent::Start));
                let (events, state) = (events.clone(), Arc::clone(&state));
                std::thread::spawn(move || state.read(number, socket, &events));
            }
        });
        let expected = of_servers().map(|step| step.server).max().unwrap_or(1);
        Self { inbox, shared, expected }
    }

    /// Returns the next line for a process; `None` if the step expects its start or the end of its input.
    pub(crate) fn receive(
        &self,
        step: &Step,
        bindings: &Bindings,
        deadline: Duration,
    ) -> Result<Option<String>, String> {
        let expects_start = step.options.has("start");
        let is_next = |(number, event): &(usize, ProcessEvent)| {
            let is_match = !step.options.has("any")
                || matches!(event, ProcessEvent::Line(line) if matches(&step.text, &visible(line), &mut bindings.clone()));
            *number == step.server && (expects_start || *event != ProcessEvent::Start) && is_match
        };
        let expects_end = step.options.has("end");
        match self.inbox.take(deadline, is_next) {
            None => Err("nothing was received".to_owned()),
            Some((_, ProcessEvent::Start)) => Ok(None),
            Some((_, ProcessEvent::End)) if expects_end => Ok(None),
            Some((_, ProcessEvent::End)) => Err("the input of the server was closed".to_owned()),
            Some((_, ProcessEvent::Line(line))) if expects_end => {
                Err(format!("received a message: {}", visible(&line)))
            }
            Some((_, ProcessEvent::Line(line))) => Ok(Some(visible(&line))),
        }
    }

    pub(crate) fn send(&self, step: &Step, bindings: &Bindings) -> Result<(), String> {
        let options = &step.options;
        let (kind, number, bytes) = if options.has("exit") {
            (b'x', u32::from(options.number.unwrap_or(0)), Vec::new())
        } else if options.has("kill") {
            (b'k', 0, Vec::new())
        } else {
            let mut bytes = bytes_of(&fill(&step.text, bindings)?);
            if !options.has("raw") {
                bytes.push(b'\n');
            }
            (b'o', u32::try_from(bytes.len()).unwrap(), bytes)
        };
        let sockets = self.shared.sockets.lock().unwrap();
        let mut socket =
            sockets.get(step.server - 1).ok_or("the server process has not started")?;
        let frame = [&[kind][..], &number.to_be_bytes(), &bytes].concat();
        socket.write_all(&frame).map_err(|error| format!("the server process has exited: {error}"))
    }

    /// From now on, every process exits at the end of its input.
    pub(crate) fn finish(&self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        let ended = self.inbox.unconsumed(|(number, event)| {
            (*event == ProcessEvent::End).then(|| number.to_string())
        });
        for number in ended.iter().filter_map(|number| number.parse::<usize>().ok()) {
            self.shared.end(number);
        }
    }

    /// Returns the lines and process starts that no step has consumed.
    pub(crate) fn unconsumed(&self) -> Vec<String> {
        self.inbox.unconsumed(|(number, event)| match event {
            ProcessEvent::Line(line) => Some(format!("S{number}: {}", visible(line))),
            ProcessEvent::Start => (*number > self.expected)
                .then(|| format!("S{number}: an unexpected server process")),
            ProcessEvent::End => None,
        })
    }
}

impl Shared {
    fn read(&self, number: usize, socket: UnixStream, events: &Inbox<(usize, ProcessEvent)>) {
        let mut reader = BufReader::new(socket);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            if line.ends_with(b"\n") {
                line.pop();
            }
            events.push((number, ProcessEvent::Line(std::mem::take(&mut line))));
        }
        events.push((number, ProcessEvent::End));
        if self.is_over.load(Ordering::SeqCst) || !self.outlives_input.contains(&number) {
            self.end(number);
        }
    }

    /// Closes the socket of a relay, which makes it exit with code 0.
    fn end(&self, number: usize) {
        if let Some(socket) = self.sockets.lock().unwrap().get(number - 1) {
            let _ = socket.shutdown(std::net::Shutdown::Both);
        }
    }
}
