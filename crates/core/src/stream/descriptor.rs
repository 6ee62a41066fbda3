//! Interruptible I/O: reads and writes that respond to Ctrl-C.
//!
//! A read from a silent pipe, or a write to a full one, may block forever. So each first polls until the
//! descriptor is ready, a tenth of a second at a time, with a beat of the pulse in between.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::Pulse;

const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// A file, pipe or terminal. If the pulse stops, that is an I/O error that wraps [`crate::Error::Stopped`].
pub struct Descriptor<'a> {
    file: File,
    pulse: &'a Pulse<'a>,
}

impl<'a> Descriptor<'a> {
    /// An open file.
    pub fn new(file: File, pulse: &'a Pulse<'a>) -> Self {
        Descriptor { file, pulse }
    }

    /// The standard input, output or error, as a duplicated descriptor.
    pub fn standard(stream: impl AsFd, pulse: &'a Pulse<'a>) -> io::Result<Self> {
        Ok(Descriptor::new(File::from(stream.as_fd().try_clone_to_owned()?), pulse))
    }

    fn when(&self, ready: PollFlags, mut work: impl FnMut(&File) -> io::Result<usize>) -> io::Result<usize> {
        loop {
            self.pulse.beat().map_err(io::Error::other)?;
            match poll(&mut [PollFd::new(&self.file, ready)], Some(&PATIENCE)) {
                Ok(0) | Err(Errno::INTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(error.into()),
            }
            match work(&self.file) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }
}

impl Read for Descriptor<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.when(PollFlags::IN, |mut file| file.read(buffer))
    }
}

impl Write for Descriptor<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.when(PollFlags::OUT, |mut file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
