//! One error type for the whole core; `crates/python` maps each kind to one Python exception.

use std::io;
use std::path::{Path, PathBuf};

/// The errors of the core.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An I/O error of the operating system: a full disk, a missing file, a permission.
    #[error("{}: {}", path.display(), said(source))]
    Io {
        /// The file concerned.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file whose content is not what was written to it.
    #[error("{} is damaged at byte {offset}: {reason}", path.display())]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// The offset at which the damage was detected.
        offset: u64,
        /// What is wrong there.
        reason: String,
    },
    /// A file was written by a later version of Crivello.
    #[error("{} has format version {found}, and this version of Crivello reads up to {supported}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version it has.
        found: u32,
        /// The newest version known here.
        supported: u32,
    },
    /// A file was written by an earlier version of Crivello, in a format that is no longer read.
    #[error("{} has format version {found}, and this version of Crivello reads {supported} only", path.display())]
    Older {
        /// The file.
        path: PathBuf,
        /// The version it has.
        found: u32,
        /// The version that is read.
        supported: u32,
    },
    /// There is no collection in a folder.
    #[error("{} is not a collection: it has no {}", folder.display(), missing)]
    NotACollection {
        /// The folder.
        folder: PathBuf,
        /// The file that makes a folder a collection.
        missing: &'static str,
    },
    /// Another process is writing to a collection.
    #[error("{} is in use: {} is writing to it", folder.display(), writing(*process))]
    InUse {
        /// The folder.
        folder: PathBuf,
        /// The process id, if it is known.
        process: Option<u32>,
    },
    /// A query does not parse.
    #[error("the query does not parse at character {}: {reason}", position + 1)]
    Query {
        /// The character (not byte) of the query at which the error is, from 0.
        position: usize,
        /// What was expected there.
        reason: String,
        /// A hint, if there is one.
        hint: Option<&'static str>,
    },
    /// An argument is not acceptable.
    #[error("{0}")]
    Invalid(String),
    /// The caller requested a stop (Ctrl-C); nothing is broken.
    #[error("stopped")]
    Stopped,
}

/// The system's message, without the error number.
fn said(source: &io::Error) -> String {
    let text = source.to_string();
    text.rsplit_once(" (os error").map_or(text.clone(), |(said, _)| said.to_owned())
}

fn writing(process: Option<u32>) -> String {
    process.map_or("another process".to_owned(), |process| format!("process {process}"))
}

/// The result of every fallible function of the core.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An I/O error with the path concerned.
    pub fn io(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Error {
        let path = path.as_ref().to_path_buf();
        move |source| Error::Io { path, source }
    }

    /// Damage at an offset of a file.
    pub fn corrupt(path: impl AsRef<Path>, offset: u64, reason: impl Into<String>) -> Error {
        Error::Corrupt { path: path.as_ref().to_path_buf(), offset, reason: reason.into() }
    }
}
