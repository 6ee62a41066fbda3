//! A worker process: reads documents one after another, and may die at any of them without harm.
//!
//! It talks over one socket, its standard input. A message is two frames: a JSON object and bytes, each
//! preceded by its length in four bytes, big-endian. A request has the URL, the media type and the charset of
//! a document, and its bytes; a reply what was found in it, and its content as HTML
//! (`python/crivello/convert/worker.py`). Every read and write has a deadline.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often a conversion checks whether the crawl is stopping.
const TICK: Duration = Duration::from_millis(50);

/// The most bytes of the JSON object of a reply.
const MAX_HEAD: usize = 16 << 20;

/// Why a worker gave no reply.
#[derive(Debug)]
pub enum Trouble {
    /// It took too long.
    Late,
    /// The crawl is stopping.
    Stopping,
    /// The reply is larger than allowed.
    TooLarge,
    /// The process has ended, or its reply makes no sense.
    Died(String),
}

/// A worker process.
pub struct Worker {
    child: Child,
    stream: UnixStream,
    reaped: bool,
    /// The number of documents it was given.
    pub served: u32,
}

impl Worker {
    /// Starts a process, as the leader of its group.
    pub fn start(command: &[String]) -> io::Result<Worker> {
        let (program, arguments) = command.split_first().ok_or(ErrorKind::InvalidInput)?;
        let (stream, theirs) = UnixStream::pair()?;
        stream.set_nonblocking(true)?;
        let child = Command::new(program)
            .args(arguments)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Worker { child, stream, reaped: false, served: 0 })
    }

    /// Sends a document, and waits for the two frames of the reply; the second has at most `output` bytes.
    /// After any trouble the worker is of no more use.
    pub fn ask(
        &mut self,
        head: &[u8],
        body: &[u8],
        output: usize,
        waiting: &Waiting<'_>,
    ) -> Result<(Vec<u8>, Vec<u8>), Trouble> {
        self.served += 1;
        for part in [head, body] {
            let length = u32::try_from(part.len()).map_err(|_| Trouble::TooLarge)?;
            self.write(&length.to_be_bytes(), waiting)?;
            self.write(part, waiting)?;
        }
        Ok((self.frame(MAX_HEAD, waiting)?, self.frame(output, waiting)?))
    }

    fn write(&mut self, mut bytes: &[u8], waiting: &Waiting<'_>) -> Result<(), Trouble> {
        while !bytes.is_empty() {
            match self.stream.write(bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(error) => self.wait(&error, libc::POLLOUT, waiting)?,
            }
        }
        Ok(())
    }

    fn frame(&mut self, limit: usize, waiting: &Waiting<'_>) -> Result<Vec<u8>, Trouble> {
        let mut length = [0; 4];
        self.read(&mut length, waiting)?;
        let length = u32::from_be_bytes(length) as usize;
        if length > limit {
            return Err(Trouble::TooLarge);
        }
        let mut frame = vec![0; length];
        self.read(&mut frame, waiting)?;
        Ok(frame)
    }

    fn read(&mut self, mut buffer: &mut [u8], waiting: &Waiting<'_>) -> Result<(), Trouble> {
        while !buffer.is_empty() {
            match self.stream.read(buffer) {
                Ok(0) => return Err(Trouble::Died(self.end())),
                Ok(length) => buffer = &mut buffer[length..],
                Err(error) => self.wait(&error, libc::POLLIN, waiting)?,
            }
        }
        Ok(())
    }

    /// After an interrupted read or write: waits until it can go on.
    fn wait(&mut self, error: &io::Error, events: i16, waiting: &Waiting<'_>) -> Result<(), Trouble> {
        match error.kind() {
            ErrorKind::Interrupted => return Ok(()),
            ErrorKind::WouldBlock => {}
            _ => return Err(Trouble::Died(self.end())),
        }
        if !(waiting.go_on)() {
            return Err(Trouble::Stopping);
        }
        let left = waiting.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Trouble::Late);
        }
        let mut asked = libc::pollfd { fd: self.stream.as_raw_fd(), events, revents: 0 };
        let milliseconds = left.min(TICK).as_millis() as libc::c_int;
        // SAFETY: `asked` is one valid `pollfd`, of a descriptor that is open. What poll returns does not
        // matter: the caller tries again.
        unsafe { libc::poll(&raw mut asked, 1, milliseconds.max(1)) };
        Ok(())
    }

    /// How the process ended, which it has if its socket is closed.
    fn end(&mut self) -> String {
        // Its exit may follow the end of its socket by a moment.
        let deadline = Instant::now() + TICK;
        while !self.has_exited() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
        let Ok(status) = self.reap() else { return "its reader ended".to_owned() };
        match (status.signal(), status.code()) {
            (Some(libc::SIGXCPU), _) => "it took more processor time than allowed".to_owned(),
            (Some(libc::SIGKILL), _) | (_, Some(0)) | (None, None) => "its reader ended".to_owned(),
            (Some(signal), _) => format!("its reader crashed (signal {signal})"),
            (_, Some(code)) => format!("its reader failed (exit code {code})"),
        }
    }

    /// Whether the process has exited, without reaping it.
    fn has_exited(&self) -> bool {
        // SAFETY: zero bytes are a valid `siginfo_t`, and waitid fills it in.
        unsafe {
            let mut found: libc::siginfo_t = std::mem::zeroed();
            let how = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
            libc::waitid(libc::P_PID, self.child.id(), &raw mut found, how) == 0 && found.si_signo != 0
        }
    }

    /// Kills the process and its descendants, which may hold its socket open.
    fn reap(&mut self) -> io::Result<ExitStatus> {
        if !self.reaped {
            // SAFETY: the call takes plain numbers. The process leads its group, and its id is not reused
            // before it is waited for.
            unsafe { libc::kill(-(self.child.id() as libc::pid_t), libc::SIGKILL) };
            self.reaped = true;
        }
        self.child.wait()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.reap());
    }
}

/// Until when a reply is waited for, and whether it still is wanted.
pub struct Waiting<'a> {
    pub deadline: Instant,
    pub go_on: &'a dyn Fn() -> bool,
}
