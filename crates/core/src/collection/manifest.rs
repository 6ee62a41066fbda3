//! The manifest: the commit point that makes a collection crash-safe.
//!
//! Every durable file of a collection is append-only, or written completely and renamed. A commit first syncs
//! the files, then replaces the manifest, which names each with its committed length. Opening for writing
//! truncates every file to its committed length, so whatever a crash left behind is gone. A name that ends in
//! `/` is a folder managed by its owner (a database with its own write-ahead log): it must exist, and is not
//! touched.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Value};

use super::layout;
use super::table::TableState;
use crate::disk::file::{DurableFile, remove};
use crate::disk::new_file::NewFile;
use crate::{Error, Result};

/// The newest format version that is read and written.
const FORMAT: u32 = 1;

/// A file with its new length; `None` if it was removed.
pub type Change = (String, Option<u64>);

/// The committed files with their lengths, and the state of each part.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Manifest {
    /// The version of the manifest's format.
    pub format: u32,
    /// The number of commits.
    pub commits: u64,
    /// The committed length of each file.
    pub files: BTreeMap<String, u64>,
    /// The state of each part: any JSON.
    pub state: BTreeMap<String, Value>,
}

impl Default for Manifest {
    fn default() -> Manifest {
        Manifest { format: FORMAT, commits: 0, files: BTreeMap::new(), state: BTreeMap::new() }
    }
}

impl Manifest {
    /// Reads the manifest of a collection.
    pub fn read(folder: &Path) -> Result<Manifest> {
        let path = folder.join(layout::MANIFEST);
        let content = fs::read(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                Error::NotACollection { folder: folder.to_path_buf(), missing: layout::MANIFEST }
            }
            _ => Error::io(&path)(error),
        })?;
        let damaged = |error: serde_json::Error| Error::corrupt(&path, 0, error.to_string());
        // A later format may have other fields, so its version is read first.
        let fields: Map<String, Value> = serde_json::from_slice(&content).map_err(damaged)?;
        let format = fields.get("format").and_then(Value::as_u64).unwrap_or_default();
        if format > u64::from(FORMAT) {
            let found = u32::try_from(format).unwrap_or(u32::MAX);
            return Err(Error::Newer { path, found, supported: FORMAT });
        }
        serde_json::from_value(Value::Object(fields)).map_err(damaged)
    }

    /// The state of the table.
    pub fn table_state(&self) -> Result<TableState> {
        let state = self.state.get(layout::TABLE).cloned();
        let damaged = |error: serde_json::Error| {
            Error::corrupt(layout::MANIFEST, 0, format!("the state of the table: {error}"))
        };
        state
            .map_or_else(|| Ok(TableState::default()), |state| serde_json::from_value(state).map_err(damaged))
    }

    /// The manifest after the next commit; a part's new state replaces its old one.
    pub fn after(&self, files: &[Change], state: BTreeMap<String, Value>) -> Manifest {
        let mut next = self.clone();
        next.format = FORMAT;
        next.commits += 1;
        for (name, length) in files {
            match length {
                Some(length) => next.files.insert(name.clone(), *length),
                None => next.files.remove(name),
            };
        }
        next.state.extend(state);
        next
    }

    /// Replaces the manifest durably: once this returns, a crash recovers to this commit.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let mut content = Vec::new();
        let mut serializer = Serializer::with_formatter(&mut content, PrettyFormatter::with_indent(b" "));
        self.serialize(&mut serializer).map_err(|error| Error::Invalid(error.to_string()))?;
        let mut file = NewFile::create(&folder.join(layout::MANIFEST))?;
        file.append(&content)?;
        file.finish().map(drop)
    }

    /// Truncates every file to its committed length, and removes those that the manifest does not name.
    pub fn cut_back(&self, folder: &Path) -> Result<()> {
        for (name, length) in &self.files {
            let path = folder.join(name);
            if name.ends_with('/') {
                if !path.is_dir() {
                    return Err(Error::corrupt(path, 0, "it is missing, and was committed"));
                }
                continue;
            }
            let actual = match fs::metadata(&path) {
                Ok(found) => found.len(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
                Err(error) => return Err(Error::io(path)(error)),
            };
            if actual < *length {
                let reason = format!("it ends here, and {length} bytes were committed");
                return Err(Error::corrupt(path, actual, reason));
            }
            if actual > *length {
                DurableFile::open(&path)?.cut(*length)?;
            }
        }
        layout::PARTS.iter().try_for_each(|part| self.remove_unnamed(folder, &format!("{part}/")))
    }

    /// Removes the files in the folder `within` that the manifest does not name; folders managed by their
    /// owners are not touched.
    fn remove_unnamed(&self, folder: &Path, within: &str) -> Result<()> {
        let path = folder.join(within);
        let entries = match fs::read_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(Error::io(&path))?,
        };
        for entry in entries {
            let entry = entry.map_err(Error::io(&path))?;
            let name = format!("{within}{}", entry.file_name().to_string_lossy());
            if entry.file_type().map_err(Error::io(&path))?.is_dir() {
                let name = format!("{name}/");
                if !self.files.contains_key(&name) {
                    self.remove_unnamed(folder, &name)?;
                }
            } else if !self.files.contains_key(&name) {
                remove(&entry.path())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn comes_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(Manifest::read(folder.path()), Err(Error::NotACollection { .. })));
        let state = |value: Value| BTreeMap::from([("part".to_owned(), value)]);
        let files = [("table/a".to_owned(), Some(7)), ("table/b".to_owned(), Some(u64::MAX))];
        let first = Manifest::default().after(&files, state(json!({"x": 1, "y": [0.1, null]})));
        let second = first.after(&[("table/a".to_owned(), None)], state(json!({"z": "Città"})));
        second.write(folder.path()).unwrap();
        assert_eq!(Manifest::read(folder.path()).unwrap(), second);
        assert_eq!((second.commits, second.files.len()), (2, 1));
        assert_eq!(second.state["part"], json!({"z": "Città"}));
    }

    #[test]
    fn reads_what_earlier_versions_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let written = "{\n \"format\": 1,\n \"commits\": 3,\n \"files\": {\n  \"table/rows.log\": 16\n },\n \"state\": {}\n}";
        fs::write(folder.path().join(layout::MANIFEST), written).unwrap();
        let manifest = Manifest::read(folder.path()).unwrap();
        assert_eq!((manifest.commits, manifest.files[layout::ROWS]), (3, 16));
        manifest.write(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join(layout::MANIFEST)).unwrap(), written);
    }
}
