//! One error type for the whole core; `crates/python` maps each kind to one Python exception.

use std::io;
use std::path::{Path, PathBuf};

/// What can go wrong in the core.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused: a full disk, a missing file, a permission.
    #[error("{}: {}", path.display(), said(source))]
    Io {
        /// The file it happened to.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file does not hold what was written to it.
    #[error("{} is damaged at byte {offset}: {reason}", path.display())]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// Where the damage was noticed.
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
    /// A file was written by an earlier version of Crivello in a format that is not read any more.
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
        /// The file that a collection has.
        missing: &'static str,
    },
    /// Another process writes to a collection.
    #[error("{} is in use: {} is writing to it", folder.display(), writing(*process))]
    InUse {
        /// The folder.
        folder: PathBuf,
        /// The process, if it said its number.
        process: Option<u32>,
    },
    /// A query does not parse.
    #[error("the query does not parse at character {}: {reason}", position + 1)]
    Query {
        /// The character (not byte) of the query where it went wrong, from 0.
        position: usize,
        /// What was expected there.
        reason: String,
        /// What to try, where there is something to try.
        hint: Option<&'static str>,
    },
    /// An argument is not acceptable.
    #[error("{0}")]
    Invalid(String),
    /// The caller asked to stop (Ctrl-C); nothing is broken.
    #[error("stopped")]
    Stopped,
}

/// What the system said, without the number of the error.
fn said(source: &io::Error) -> String {
    let text = source.to_string();
    text.rsplit_once(" (os error").map_or(text.clone(), |(said, _)| said.to_owned())
}

fn writing(process: Option<u32>) -> String {
    process.map_or("another process".to_owned(), |process| format!("process {process}"))
}

/// The result of everything in the core that can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An I/O error with the path it happened to.
    pub fn io(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Error {
        let path = path.as_ref().to_path_buf();
        move |source| Error::Io { path, source }
    }

    /// Damage at a place in a file.
    pub fn corrupt(path: impl AsRef<Path>, offset: u64, reason: impl Into<String>) -> Error {
        Error::Corrupt { path: path.as_ref().to_path_buf(), offset, reason: reason.into() }
    }
}
