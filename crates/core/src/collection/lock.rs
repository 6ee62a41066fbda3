//! One writer at a time: an advisory lock on a file of the collection, released when the process ends.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::{FlockOperation, flock};

use super::layout;
use crate::{Error, Result};

/// The exclusive right to write to a collection, released on drop.
pub struct Lock(#[allow(dead_code)] File);

/// The process that writes to a collection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Holder {
    /// Its process id, if it recorded one.
    pub process: Option<u32>,
    /// When it took the lock.
    pub since: SystemTime,
}

impl Lock {
    /// Takes the lock, if it is free.
    pub fn take(folder: &Path) -> Result<Lock> {
        let path = folder.join(layout::LOCK);
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(Error::io(&path))?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(Error::InUse { folder: folder.to_path_buf(), process: owner(&mut file) });
        }
        let written = file.set_len(0);
        let number = format!("{}\n", std::process::id());
        written.and_then(|()| file.write_all_at(number.as_bytes(), 0)).map_err(Error::io(&path))?;
        Ok(Lock(file))
    }

    /// Waits for the lock of another file, which is made if it is missing.
    pub fn wait(path: &Path) -> Result<Lock> {
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = opened.map_err(Error::io(path))?;
        flock(&file, FlockOperation::LockExclusive).map_err(|error| Error::io(path)(error.into()))?;
        Ok(Lock(file))
    }

    /// Who holds the lock of a collection; `None` if it is free.
    pub fn holder(folder: &Path) -> Option<Holder> {
        let mut file = File::open(folder.join(layout::LOCK)).ok()?;
        if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
            return None;
        }
        let since = file.metadata().and_then(|about| about.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        Some(Holder { process: owner(&mut file), since })
    }
}

fn owner(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(20).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_held_by_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Lock::holder(folder.path()), None);
        let lock = Lock::take(folder.path()).unwrap();
        let own = Some(std::process::id());
        assert!(matches!(Lock::take(folder.path()), Err(Error::InUse { process, .. }) if process == own));
        assert_eq!(Lock::holder(folder.path()).unwrap().process, own);
        drop(lock);
        assert_eq!(Lock::holder(folder.path()), None);
        Lock::take(folder.path()).unwrap();
    }
}
