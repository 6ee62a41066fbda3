//! A crash or a full disk at any operation leaves what was committed intact; and durable writes happen only
//! in this module.

pub(crate) mod watch;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::format::Format;
use super::log::{LogReader, LogWriter};
use super::new_file::NewFile;
use super::rolling::RollingFile;
use crate::{Error, Pulse, Result, Signature};
use watch::{Loss, Watch, restore};

const FORMAT: Format = Format { kind: *b"TEST", version: 1 };
const COMMITS: u64 = 4;

fn rolled(number: u32) -> String {
    format!("rolled-{number}")
}

fn ranks(commit: u64) -> String {
    format!("ranks-{commit}")
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Manifest {
    commits: u64,
    log: u64,
    files: HashMap<String, u64>,
}

/// A miniature collection: a log, numbered files, a file for each commit, and the manifest that names them.
struct Small {
    folder: PathBuf,
    manifest: Manifest,
    log: LogWriter,
    rolling: RollingFile,
}

impl Small {
    fn open(folder: &Path) -> Result<Small> {
        let manifest: Manifest = match fs::read(folder.join("manifest")) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap(),
            Err(_) => Manifest::default(),
        };
        let log = LogWriter::open(&folder.join("log"), FORMAT, manifest.log)?;
        let rolling = RollingFile::open(folder, rolled, 40, &manifest.files)?;
        Ok(Small { folder: folder.to_path_buf(), manifest, log, rolling })
    }

    /// Writes something and commits it.
    fn step(&mut self) -> Result<()> {
        let commits = self.manifest.commits + 1;
        for number in 0..3 {
            self.log.append(Signature(commits), &[number; 9])?;
            self.log.flush()?;
            self.rolling.make_room()?;
            self.rolling.append(&[commits as u8; 10])?;
        }
        let mut file = NewFile::create(&self.folder.join(ranks(commits)))?;
        file.append(&[commits as u8; 100])?;
        let length = file.finish()?;
        let (files, handle) = self.rolling.flush()?;
        handle.sync()?;
        let mut manifest = Manifest { commits, log: self.log.sync()?, files: self.manifest.files.clone() };
        manifest.files.extend(files);
        manifest.files.insert(ranks(commits), length);
        let mut file = NewFile::create(&self.folder.join("manifest"))?;
        file.append(&serde_json::to_vec(&manifest).unwrap())?;
        file.finish()?;
        self.manifest = manifest;
        Ok(())
    }

    /// Reopens what is left, checks that the last commit is complete, and returns its number.
    fn check(folder: &Path) -> u64 {
        let small = Small::open(folder).unwrap();
        let Manifest { commits, log, files } = &small.manifest;
        if *commits > 0 {
            let reader = LogReader::open(small.log.path(), FORMAT, *log).unwrap();
            let mut keys = Vec::new();
            let scanned = reader.scan(0, &Pulse::STEADY, |record| {
                keys.push(record.key.0);
                Ok(())
            });
            scanned.unwrap();
            assert!(keys.into_iter().eq((1..=*commits).flat_map(|commit| [commit; 3])));
        }
        let mut bytes = Vec::new();
        for name in (1..).map(rolled).take_while(|name| files.contains_key(name)) {
            let mut file = fs::read(folder.join(&name)).unwrap();
            file.truncate(files[&name] as usize);
            assert_eq!(file.len() as u64, files[&name]);
            bytes.extend(file);
        }
        assert!(bytes.into_iter().eq((1..=*commits as u8).flat_map(|commit| [commit; 30])));
        for commit in 1..=*commits {
            assert_eq!(fs::read(folder.join(ranks(commit))).unwrap(), [commit as u8; 100]);
        }
        *commits
    }
}

#[test]
fn a_crash_at_any_operation_leaves_a_commit() {
    let folder = tempfile::tempdir().unwrap();
    let watch = Watch::record(folder.path());
    let mut small = Small::open(folder.path()).unwrap();
    let mut done = Vec::new();
    for _ in 0..COMMITS {
        small.step().unwrap();
        done.push(watch.len());
    }
    for count in 0..=watch.len() {
        let committed = done.iter().filter(|end| **end <= count).count() as u64;
        for loss in Loss::all() {
            let left = tempfile::tempdir().unwrap();
            restore(&watch.crash_after(count, loss), left.path());
            let found = Small::check(left.path());
            assert!(found == committed || found == committed + 1, "{found} after {count}, {loss:?}");
        }
    }
}

#[test]
fn a_full_disk_at_any_operation_leaves_a_commit() {
    for number in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let mut small = Small::open(folder.path()).unwrap();
        small.step().unwrap();
        let watch = Watch::fail(folder.path(), number);
        let result = (1..COMMITS).try_for_each(|_| small.step());
        let failed = watch.len() > number;
        let committed = small.manifest.commits;
        drop((small, watch));
        assert!(result.is_ok() || is_full(&result), "{result:?}");
        let found = Small::check(folder.path());
        assert!(found == committed || found == committed + 1, "{found} after {number}");
        let mut small = Small::open(folder.path()).unwrap();
        (found..COMMITS).try_for_each(|_| small.step()).unwrap();
        assert_eq!(Small::check(folder.path()), COMMITS);
        if !failed {
            return;
        }
    }
}

/// Whether a result is the error of a full disk.
pub(crate) fn is_full<T>(result: &Result<T>) -> bool {
    matches!(result, Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::StorageFull)
}

/// The calls allowed only in this module.
const DURABLE: &str = r"\.sync_all\(|\.sync_data\(|\.set_len\(|fs::rename\(|fs::remove_|fs::write\(|fs::copy\(|OpenOptions|\bFile::create|\bFile::options\(|MmapMut::map_mut\(";

/// Exceptions: files whose output need not be durable.
const SCRATCH: [(&str, &str); 3] = [
    ("collection/lock.rs", "the lock says which process has it, and ends with that"),
    (
        "frontier/blocks.rs",
        "the host queues lie in a file without a name, and are made again from the sieve's queue",
    ),
    ("stream/record.rs", "a file between this process and itself"),
];

#[test]
fn everything_durable_goes_through_this_module() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut files, mut for_tests) = (Vec::new(), HashSet::new());
    let declared = Regex::new(r"#\[cfg\(test\)\]\s+(?:pub(?:\(\w+\))? )?mod (\w+);").unwrap();
    let mut folders = vec![source.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let inside = match path.file_name().unwrap().to_str().unwrap() {
                "mod.rs" | "lib.rs" => path.parent().unwrap().to_path_buf(),
                _ => path.with_extension(""),
            };
            for_tests.extend(declared.captures_iter(&text).map(|name| inside.join(&name[1])));
            files.push((path, text));
        }
    }
    let durable = Regex::new(DURABLE).unwrap();
    let inline_tests = Regex::new(r"(?s)#\[cfg\(test\)\]\s+(?:pub(?:\(\w+\))? )?mod \w+ \{.*").unwrap();
    let mut calling = Vec::new();
    for (path, text) in files {
        let name = path.strip_prefix(&source).unwrap();
        let is_test = path.with_extension("").ancestors().any(|module| for_tests.contains(module));
        if !is_test && !name.starts_with("disk") && durable.is_match(&inline_tests.replace(&text, "")) {
            calling.push(name.to_str().unwrap().to_owned());
        }
    }
    calling.sort();
    assert_eq!(calling, SCRATCH.map(|(name, _)| name), "what is kept goes through crate::disk");
}
