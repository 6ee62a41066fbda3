//! The operations that make anything durable. All durable writes of the core go through these few, and a test
//! can record, replay and fail each (`tests/watch.rs`); release builds contain none of that.
//!
//! What a file system guarantees after a power cut: bytes are safe once their file is synced, names once
//! their folder is. A new file therefore needs both syncs, which [`DurableFile::sync`] does.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memmap2::MmapMut;

#[cfg(test)]
use super::tests::watch::{self, Operation};
use crate::{Error, Result};

/// Reports an operation to a test before it happens; the test may make it fail.
macro_rules! about_to {
    ($operation:ident $fields:tt) => {
        #[cfg(test)]
        watch::before(|| Operation::$operation $fields)?;
    };
}

/// An append-only file.
#[derive(Debug)]
pub struct DurableFile {
    file: File,
    shared: Arc<Shared>,
}

/// The state shared by all handles of a file.
#[derive(Debug)]
struct Shared {
    path: PathBuf,
    /// Whether its name is durable (its folder was synced).
    is_named: AtomicBool,
}

impl DurableFile {
    /// Creates a file, or truncates it.
    pub fn create(path: &Path) -> Result<DurableFile> {
        let mut file = DurableFile::open(path)?;
        file.cut(0)?;
        Ok(file)
    }

    /// Opens or creates a file; [`DurableFile::cut`] sets where writing continues.
    pub fn open(path: &Path) -> Result<DurableFile> {
        let open = || {
            about_to!(Open { path: path.into() });
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
        };
        let file = open().map_err(Error::io(path))?;
        let shared = Shared { path: path.to_path_buf(), is_named: AtomicBool::new(false) };
        Ok(DurableFile { file, shared: Arc::new(shared) })
    }

    /// Truncates the file to `length`, and continues there.
    pub fn cut(&mut self, length: u64) -> Result<()> {
        let path = &self.shared.path;
        let actual = self.file.metadata().map_err(Error::io(path))?.len();
        if actual < length {
            let reason = format!("it ends here, and {length} bytes were committed");
            return Err(Error::corrupt(path, actual, reason));
        }
        let mut cut = || {
            about_to!(Cut { path: path.clone(), length });
            self.file.set_len(length)?;
            self.file.seek(SeekFrom::Start(length))
        };
        cut().map(drop).map_err(Error::io(path))
    }

    /// Syncs its bytes.
    pub(super) fn sync_contents(&self) -> Result<()> {
        let sync = || {
            about_to!(Sync { path: self.shared.path.clone() });
            self.file.sync_data()
        };
        sync().map_err(Error::io(&self.shared.path))
    }

    /// Syncs its bytes, and its name if it is new.
    pub fn sync(&self) -> Result<()> {
        self.sync_contents()?;
        let Shared { path, is_named } = &*self.shared;
        if !is_named.load(Ordering::Relaxed) {
            sync_folder_of(path)?;
            is_named.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Another handle, to sync the file while it is being written to.
    pub fn handle(&self) -> Result<DurableFile> {
        let file = self.file.try_clone().map_err(Error::io(&self.shared.path))?;
        Ok(DurableFile { file, shared: Arc::clone(&self.shared) })
    }
}

impl Write for DurableFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        about_to!(Append { path: self.shared.path.clone(), bytes: bytes.to_vec() });
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Renames a file, replacing the target; durable when this returns.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    let rename = || {
        about_to!(Rename { from: from.into(), to: to.into() });
        fs::rename(from, to)
    };
    rename().map_err(Error::io(to))?;
    sync_folder_of(to)
}

/// Removes a file, if it exists. This is not made durable: opening a collection removes what the manifest
/// does not name.
pub fn remove(path: &Path) -> Result<()> {
    let remove = || {
        about_to!(Remove { path: path.into() });
        fs::remove_file(path)
    };
    match remove() {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(path)(error)),
        _ => Ok(()),
    }
}

/// Creates and maps a file of `length` zeros, whose name is durable.
///
/// # Safety
///
/// See [`map`].
pub unsafe fn map_new(path: &Path, length: u64) -> Result<MmapMut> {
    let make = || {
        about_to!(Open { path: path.into() });
        OpenOptions::new().read(true).write(true).create_new(true).open(path)
    };
    let file = make().map_err(Error::io(path))?;
    let grow = || {
        about_to!(Cut { path: path.into(), length });
        file.set_len(length)?;
        // SAFETY: upheld by the caller.
        unsafe { MmapMut::map_mut(&file) }
    };
    let image = grow().map_err(Error::io(path)).and_then(|image| sync_folder_of(path).map(|()| image));
    image.inspect_err(|_| drop(remove(path)))
}

/// Maps a file: changes in memory reach it eventually, and are durable after [`sync_map`].
///
/// # Safety
///
/// Nothing else may change the file while it is mapped, or bytes may change under a reference.
pub unsafe fn map(path: &Path) -> Result<MmapMut> {
    let file = OpenOptions::new().read(true).write(true).open(path).map_err(Error::io(path))?;
    // SAFETY: upheld by the caller.
    unsafe { MmapMut::map_mut(&file) }.map_err(Error::io(path))
}

/// Syncs bytes of a mapped file.
pub fn sync_map(image: &MmapMut, bytes: Range<usize>, path: &Path) -> Result<()> {
    let sync = || {
        about_to!(Sync { path: path.into() });
        image.flush_range(bytes.start, bytes.len())
    };
    sync().map_err(Error::io(path))
}

fn sync_folder_of(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let sync = || {
        about_to!(SyncFolder { path: folder.into() });
        File::open(folder)?.sync_all()
    };
    sync().map_err(Error::io(folder))
}
