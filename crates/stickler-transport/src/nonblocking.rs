//! Reads and writes a pipe, socket or terminal without blocking the runtime.
//!
//! Contract: an operation waits for readiness as a task, never as a thread. Regular files and devices such as
//! `/dev/null` have no readiness; they never block, so they are read and written directly. The standard streams
//! are opened again where the system allows it: `O_NONBLOCK` belongs to the open file description, which another
//! process or standard error may share.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags, fcntl_getfl, fcntl_setfl, fstat, open};
use stickler_protocol::frame::{Frame, LineFramer};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;

use crate::child::has_error_or_hangup;

/// Bytes per read: the capacity of a pipe.
const READ_CHUNK_BYTES: usize = 64 << 10;

/// A descriptor that is read.
#[derive(Debug)]
pub struct Input(Kind<pipe::Receiver>);

/// A descriptor that is written.
#[derive(Debug)]
pub struct Output(Kind<pipe::Sender>);

#[derive(Debug)]
enum Kind<P> {
    Pollable(P),
    /// A file or device that is always ready.
    AlwaysReady(OwnedFd),
}

impl<P> Kind<P> {
    /// Registers the descriptor. Tokio's pipes use plain `read` and `write`, so they serve sockets and terminals too.
    fn register(fd: OwnedFd, register: impl FnOnce(OwnedFd) -> io::Result<P>) -> io::Result<Self> {
        fcntl_setfl(&fd, fcntl_getfl(&fd)? | OFlags::NONBLOCK)?;
        match register(fd.try_clone()?) {
            Ok(pipe) => Ok(Self::Pollable(pipe)),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                Ok(Self::AlwaysReady(fd))
            }
            Err(error) => Err(error),
        }
    }
}

impl Input {
    /// Opens a descriptor.
    pub fn new(fd: impl Into<OwnedFd>) -> io::Result<Self> {
        Kind::register(fd.into(), pipe::Receiver::from_owned_fd_unchecked).map(Self)
    }

    /// Opens standard input.
    pub fn standard() -> io::Result<Self> {
        Self::new(reopen(io::stdin().as_fd(), 0, OFlags::RDONLY)?)
    }

    /// Reads available bytes and waits for some if there are none. Returns 0 at the end of input.
    pub async fn read(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        loop {
            let outcome = match &mut self.0 {
                Kind::AlwaysReady(fd) => rustix::io::read(fd, &mut *chunk).map_err(io::Error::from),
                Kind::Pollable(pipe) => pipe.read(chunk).await,
            };
            match outcome {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => return outcome,
            }
        }
    }

    /// Whether the writer has closed its end, though unread bytes may be left.
    fn is_hung_up(&self) -> bool {
        match &self.0 {
            Kind::Pollable(pipe) => has_error_or_hangup(pipe),
            Kind::AlwaysReady(_) => false,
        }
    }
}

impl Output {
    /// Opens a descriptor.
    pub fn new(fd: impl Into<OwnedFd>) -> io::Result<Self> {
        Kind::register(fd.into(), pipe::Sender::from_owned_fd_unchecked).map(Self)
    }

    /// Opens standard output.
    pub fn standard() -> io::Result<Self> {
        Self::new(reopen(io::stdout().as_fd(), 1, OFlags::WRONLY)?)
    }

    /// Writes as many bytes as possible without waiting.
    pub(crate) fn try_write(&self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        loop {
            let outcome = match &self.0 {
                Kind::AlwaysReady(fd) => rustix::io::writev(fd, parts).map_err(io::Error::from),
                Kind::Pollable(pipe) => pipe.try_write_vectored(parts),
            };
            match outcome {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => return outcome,
            }
        }
    }

    /// Waits until the reader has made room, after a write that would have blocked.
    pub(crate) async fn writable(&self) -> io::Result<()> {
        match &self.0 {
            Kind::Pollable(pipe) => pipe.writable().await,
            Kind::AlwaysReady(_) => Ok(()),
        }
    }

    /// Whether the read end is open.
    pub(crate) fn has_reader(&self) -> bool {
        match &self.0 {
            Kind::Pollable(pipe) => !has_error_or_hangup(pipe),
            Kind::AlwaysReady(_) => true,
        }
    }
}

/// Opens a standard stream again, so that its flags are not shared; duplicates it if that is not possible, as for
/// a socket.
fn reopen(fd: BorrowedFd<'_>, number: u32, access: OFlags) -> io::Result<OwnedFd> {
    let path = format!("/proc/self/fd/{number}");
    match open(path, access | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK, Mode::empty()) {
        Ok(opened) if !is_regular_file(&opened) => Ok(opened),
        // A file opened again has its own offset.
        _ => fd.try_clone_to_owned(),
    }
}

fn is_regular_file(fd: &OwnedFd) -> bool {
    fstat(fd).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
}

/// Reads lines.
#[derive(Debug)]
pub struct LineReader {
    input: Input,
    framer: LineFramer,
    chunk: Vec<u8>,
    is_ended: bool,
}

impl LineReader {
    /// Creates a reader for lines of up to `limit` bytes.
    pub fn new(input: Input, limit: usize) -> Self {
        let (framer, chunk) = (LineFramer::new(limit), vec![0; READ_CHUNK_BYTES]);
        Self { input, framer, chunk, is_ended: false }
    }

    /// Reads more bytes. After that, [`Self::next_frame`] returns the complete lines. Returns false at the end of
    /// input and after an error; an incomplete last line counts as complete then.
    pub async fn fill(&mut self) -> bool {
        let read = self.input.read(&mut self.chunk).await.unwrap_or(0);
        self.framer.push(self.chunk.get(..read).unwrap_or_default());
        self.is_ended = read == 0;
        !self.is_ended
    }

    /// Returns the next line that was read.
    pub fn next_frame(&mut self) -> Option<Frame<'_>> {
        if self.is_ended { self.framer.finish() } else { self.framer.next_frame() }
    }

    /// Whether the writer has closed its end, though unread bytes may be left.
    pub fn is_hung_up(&self) -> bool {
        self.input.is_hung_up()
    }
}
