//! A collection: one folder with everything about one crawl.
//!
//! [`layout`] names its files and the [`manifest`] says how much of each is committed. The [`archive`] has
//! the pages as they were received, in records of the [WARC format](crate::warc), and the [`table`] says what is
//! known of each URL at every time: its [`cells`] are found by sorted maps over a [`journal`]; [`documents`] are
//! made from both ([`document`]) and go to the index. [`feeds`] are cells too, and [`pings`] say what changed.
//!
//! Readers see a snapshot of the last commit; there is one writer, which holds the [`lock`].

mod archive;
mod captures;
pub mod cells;
mod day;
mod document;
mod documents;
mod feeds;
mod journal;
pub mod layout;
mod links;
mod lock;
mod manifest;
pub mod pings;
pub mod refresh;
mod row;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::Value;

pub use archive::{Archive, ArchiveWriter, Place};
pub use captures::Capture;
pub use document::{Document, Extractor};
pub use documents::{DocumentOptions, Documents, Selection};
pub use journal::{TableCommit, TableWriter};
pub use links::{GraphBase, merge_page_links, merged_page_links, page_links};
pub use lock::{Holder, Lock};
pub use manifest::{Change, Manifest};
pub use row::{Outcome, ROW_FORMAT, Row};
pub use table::{Cell, Cells, Rows, Since, Table, TableState};

use crate::disk::file::remove;
use crate::disk::new_file::NewFile;
use crate::{Error, Pulse, Result};

/// An open collection, for reading or as its one writer. Thread-safe.
pub struct Collection {
    folder: PathBuf,
    lock: Mutex<Option<Lock>>,
    snapshot: Mutex<Arc<Snapshot>>,
}

/// A snapshot of a collection at one commit.
pub struct Snapshot {
    /// The collection's folder.
    pub folder: PathBuf,
    /// The committed manifest.
    pub manifest: Manifest,
    /// The pages.
    pub archive: Archive,
    stamp: Stamp,
    table: OnceLock<Table>,
    opening: Mutex<()>,
}

/// Identifies a version of the manifest: its inode and modification time in nanoseconds since 1970.
type Stamp = (u64, i128);

impl Collection {
    /// Opens a collection for reading.
    pub fn read(folder: &Path) -> Result<Collection> {
        let snapshot = Mutex::new(Arc::new(Snapshot::read(folder)?));
        Ok(Collection { folder: folder.to_path_buf(), lock: Mutex::default(), snapshot })
    }

    /// Opens a collection for writing, after truncating what is not committed.
    pub fn write(folder: &Path) -> Result<Collection> {
        Manifest::read(folder)?;
        let lock = Lock::take(folder)?;
        let collection = Collection::read(folder)?;
        collection.snapshot().manifest.cut_back(folder)?;
        *locked(&collection.lock) = Some(lock);
        Ok(collection)
    }

    /// Creates a collection with these settings in a new or empty folder.
    pub fn create(folder: &Path, settings: &str) -> Result<()> {
        for part in layout::PARTS {
            let path = folder.join(part);
            fs::create_dir_all(&path).map_err(Error::io(&path))?;
        }
        let path = folder.join(layout::SETTINGS);
        // Existing settings were written before a full disk or a crash, and may have been edited since.
        if !path.exists() {
            let mut file = NewFile::create(&path)?;
            file.append(settings.as_bytes())?;
            file.finish()?;
        }
        Manifest::default().write(folder)
    }

    /// Closes the collection; a writer releases the lock.
    pub fn close(&self) {
        *locked(&self.lock) = None;
    }

    /// Whether this is the writer.
    pub fn is_writer(&self) -> bool {
        locked(&self.lock).is_some()
    }

    /// The last commit, as of the latest refresh.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&locked(&self.snapshot))
    }

    /// Checks for a new commit by the writer; returns whether there is one.
    pub fn refresh(&self) -> Result<bool> {
        let mut snapshot = locked(&self.snapshot);
        if stamp(&self.folder)? == snapshot.stamp {
            return Ok(false);
        }
        *snapshot = Arc::new(Snapshot::read(&self.folder)?);
        Ok(true)
    }

    /// Commits files that are already synced, and states of parts.
    pub fn commit(&self, files: &[Change], state: BTreeMap<String, Value>) -> Result<()> {
        let mut snapshot = locked(&self.snapshot);
        let manifest = snapshot.manifest.after(files, state);
        manifest.write(&self.folder)?;
        *snapshot = Arc::new(Snapshot::new(&self.folder, manifest, stamp(&self.folder)?));
        for (name, _) in files.iter().filter(|(_, length)| length.is_none()) {
            remove(&self.folder.join(name))?;
        }
        Ok(())
    }
}

impl Snapshot {
    fn read(folder: &Path) -> Result<Snapshot> {
        // If the manifest is replaced in between, the stamp is the older of the two, so the next refresh
        // reads it again.
        let stamp = stamp(folder);
        let manifest = Manifest::read(folder)?;
        Ok(Snapshot::new(folder, manifest, stamp?))
    }

    fn new(folder: &Path, manifest: Manifest, stamp: Stamp) -> Snapshot {
        let (folder, archive) = (folder.to_path_buf(), Archive::new(folder));
        Snapshot { folder, manifest, archive, stamp, table: OnceLock::new(), opening: Mutex::default() }
    }

    /// The committed length of a file; 0 if there is none.
    pub fn length(&self, name: &str) -> u64 {
        self.manifest.files.get(name).copied().unwrap_or(0)
    }

    /// The committed cells.
    pub fn table(&self, pulse: &Pulse) -> Result<&Table> {
        if let Some(table) = self.table.get() {
            return Ok(table);
        }
        // Held by the thread that opens it, so that the journal's tail is read only once.
        let _opening = locked(&self.opening);
        if let Some(table) = self.table.get() {
            return Ok(table);
        }
        let table =
            Table::open(&self.folder, self.length(layout::ROWS), &self.manifest.table_state()?, pulse)?;
        Ok(self.table.get_or_init(|| table))
    }

    /// When it was committed, in seconds since 1970.
    pub fn committed_at(&self) -> f64 {
        self.stamp.1 as f64 / 1e9
    }
}

fn stamp(folder: &Path) -> Result<Stamp> {
    let path = folder.join(layout::MANIFEST);
    let about = fs::metadata(&path).map_err(Error::io(path))?;
    Ok((about.ino(), i128::from(about.mtime()) * 1_000_000_000 + i128::from(about.mtime_nsec())))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
