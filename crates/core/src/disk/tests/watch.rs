//! Records, replays and fails durable operations, for tests.
//!
//! A [`Watch`] observes every operation on files below one folder, in any thread, so that tests can run in
//! parallel.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// An operation on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    Open { path: PathBuf },
    Append { path: PathBuf, bytes: Vec<u8> },
    Cut { path: PathBuf, length: u64 },
    Sync { path: PathBuf },
    Rename { from: PathBuf, to: PathBuf },
    Remove { path: PathBuf },
    SyncFolder { path: PathBuf },
}

impl Operation {
    fn path(&self) -> &Path {
        match self {
            Operation::Open { path }
            | Operation::Append { path, .. }
            | Operation::Cut { path, .. }
            | Operation::Sync { path }
            | Operation::Remove { path }
            | Operation::SyncFolder { path }
            | Operation::Rename { to: path, .. } => path,
        }
    }
}

#[derive(Debug)]
struct Heard {
    folder: PathBuf,
    operations: Mutex<Vec<Operation>>,
    /// The operation that fails with a full disk.
    fails: Option<usize>,
}

static WATCHES: Mutex<Vec<Arc<Heard>>> = Mutex::new(Vec::new());

fn watches() -> MutexGuard<'static, Vec<Arc<Heard>>> {
    WATCHES.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Reports an operation to the watch of its file; the error is the injected one.
pub fn before(operation: impl FnOnce() -> Operation) -> io::Result<()> {
    let watches = watches();
    if watches.is_empty() {
        return Ok(());
    }
    let operation = operation();
    let Some(heard) = watches.iter().find(|heard| operation.path().starts_with(&heard.folder)) else {
        return Ok(());
    };
    let mut operations = heard.operations.lock().unwrap();
    operations.push(operation);
    if heard.fails == Some(operations.len() - 1) {
        return Err(io::Error::from_raw_os_error(libc::ENOSPC));
    }
    Ok(())
}

/// Observes the operations on a folder for as long as it lives.
pub struct Watch(Arc<Heard>);

impl Watch {
    /// Records the operations.
    pub fn record(folder: &Path) -> Watch {
        Watch::start(folder, None)
    }

    /// Fails the n-th operation (from 0) with ENOSPC.
    pub fn fail(folder: &Path, number: usize) -> Watch {
        Watch::start(folder, Some(number))
    }

    fn start(folder: &Path, fails: Option<usize>) -> Watch {
        let heard = Arc::new(Heard { folder: folder.to_path_buf(), operations: Mutex::default(), fails });
        watches().push(Arc::clone(&heard));
        Watch(heard)
    }

    /// The number of operations so far.
    pub fn len(&self) -> usize {
        self.0.operations.lock().unwrap().len()
    }

    /// What a crash after the first `count` operations leaves in each file, given what is lost.
    pub fn crash_after(&self, count: usize, loss: Loss) -> Remains {
        let mut disk = Disk::default();
        for operation in &self.0.operations.lock().unwrap()[..count] {
            disk.apply(operation);
        }
        disk.remains(&self.0.folder, loss)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        watches().retain(|heard| !Arc::ptr_eq(heard, &self.0));
    }
}

/// What a crash loses of the changes that were not synced.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// Whether files revert to the names they had when their folder was last synced.
    pub names: bool,
    /// How much of the unsynced bytes is lost, in halves.
    pub halves: usize,
}

impl Loss {
    /// Nothing (a killed process), everything, and what lies between.
    pub fn all() -> impl Iterator<Item = Loss> {
        [false, true].into_iter().flat_map(|names| (0..=2).map(move |halves| Loss { names, halves }))
    }
}

/// The files left by a crash, by their names in the folder.
pub type Remains = BTreeMap<PathBuf, Vec<u8>>;

/// Writes what a crash left into a folder.
pub fn restore(remains: &Remains, folder: &Path) {
    for (name, bytes) in remains {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// A model of a file system that knows what is durable.
#[derive(Default)]
struct Disk {
    files: Vec<Contents>,
    names: BTreeMap<PathBuf, usize>,
    safe_names: BTreeMap<PathBuf, usize>,
}

#[derive(Clone, Default)]
struct Contents {
    safe: Vec<u8>,
    now: Vec<u8>,
}

impl Disk {
    fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Open { path } => {
                if !self.names.contains_key(path) {
                    self.names.insert(path.clone(), self.files.len());
                    self.files.push(Contents::default());
                }
            }
            Operation::Append { path, bytes } => self.change(path, |file| file.now.extend_from_slice(bytes)),
            Operation::Cut { path, length } => {
                self.change(path, |file| file.now.truncate(*length as usize));
            }
            Operation::Sync { path } => self.change(path, |file| file.safe.clone_from(&file.now)),
            Operation::Rename { from, to } => {
                let file = self.names.remove(from).expect("a file that was made");
                self.names.insert(to.clone(), file);
            }
            Operation::Remove { path } => drop(self.names.remove(path)),
            Operation::SyncFolder { path } => {
                let inside = |name: &Path| name.parent() == Some(path);
                self.safe_names.retain(|name, _| !inside(name));
                self.safe_names.extend(
                    self.names
                        .iter()
                        .filter(|(name, _)| inside(name))
                        .map(|(name, file)| (name.clone(), *file)),
                );
            }
        }
    }

    /// Operations through a handle of a removed file have no effect.
    fn change(&mut self, path: &Path, change: impl FnOnce(&mut Contents)) {
        if let Some(file) = self.names.get(path) {
            change(&mut self.files[*file]);
        }
    }

    fn remains(&self, folder: &Path, loss: Loss) -> Remains {
        let names = if loss.names { &self.safe_names } else { &self.names };
        let left = |file: &Contents| {
            let common = file.safe.iter().zip(&file.now).take_while(|(safe, now)| safe == now).count();
            match loss.halves {
                2 => file.safe.clone(),
                halves => file.now[..file.now.len() - (file.now.len() - common) * halves / 2].to_vec(),
            }
        };
        names
            .iter()
            .map(|(name, file)| (name.strip_prefix(folder).unwrap().to_path_buf(), left(&self.files[*file])))
            .collect()
    }
}
