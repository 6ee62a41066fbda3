//! Whether and how a URL was discovered, according to the sieve's files.

use std::collections::HashMap;
use std::path::Path;

use super::tag::{Layout, Tag};
use crate::collection::layout;
use crate::disk::log::LogStream;
use crate::sieve::{queue, unpack};
use crate::{Error, Pulse, Result, Signature};

/// The number of records read between two checks for Ctrl-C.
const BATCH: usize = 1 << 14;

/// How a URL was discovered, by the committed files of a collection's sieve; `None` if it was not.
pub fn tag_of(folder: &Path, files: &HashMap<String, u64>, url: &str, pulse: &Pulse) -> Result<Option<Tag>> {
    let tags = Layout::of(folder, files.get(layout::URLS).copied().unwrap_or(0))?;
    let mut names: Vec<_> = files.iter().filter(|(name, length)| is_entries(name) && **length > 0).collect();
    names.sort();
    for (name, committed) in names {
        if let Some(tag) = find(&folder.join(name), *committed, tags, url, pulse)? {
            return Ok(Some(tag));
        }
    }
    Ok(None)
}

/// Whether a file of this name may have entries.
fn is_entries(name: &str) -> bool {
    name.strip_prefix(layout::FRONTIER).is_some_and(|rest| rest.starts_with('/') && !rest.ends_with('/'))
}

/// One sequential scan of a file; one of another format has no entries.
fn find(path: &Path, committed: u64, tags: Layout, url: &str, pulse: &Pulse) -> Result<Option<Tag>> {
    let mut entries = match LogStream::open(path, queue::FORMAT, 0, committed) {
        Ok(entries) => entries,
        Err(Error::Corrupt { offset: 0, .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let key = Signature::of(url.as_bytes());
    let mut count = 0;
    while let Some(sealed) = entries.advance()? {
        count += 1;
        if count % BATCH == 0 {
            pulse.beat()?;
        }
        if !key.narrows_to(sealed.key()) {
            continue;
        }
        let record = sealed.open(path)?;
        let entry = unpack(record.payload).map_err(|reason| Error::corrupt(path, record.offset, reason))?;
        if entry.1 == url {
            return Ok(Some(Tag::unpack(entry.0, tags)));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::format::Format;
    use crate::disk::log::LogWriter;

    #[test]
    fn finds_a_url_by_itself_and_not_by_its_signature_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("urls");
        let mut writer = LogWriter::open(&path, queue::FORMAT, 0).unwrap();
        let mut push = |url: &str, signed: &str, depth| {
            let tag = Tag { depth, ..Tag::default() }.pack(Layout::WithSite).to_le_bytes();
            writer.append(Signature::of(signed.as_bytes()), &[&tag, url.as_bytes()].concat()).unwrap()
        };
        push("http://a.example/", "http://a.example/", 0);
        push("http://other.example/", "http://b.example/", 3);
        push("http://b.example/", "http://b.example/", 7);
        let committed = writer.sync().unwrap();
        let tag = |url| find(&path, committed, Layout::WithSite, url, &Pulse::STEADY).unwrap();
        let depth = |url| tag(url).map(|tag| tag.depth);
        assert_eq!(depth("http://a.example/"), Some(0));
        assert_eq!(depth("http://b.example/"), Some(7));
        assert_eq!(depth("http://c.example/"), None);
    }

    #[test]
    fn a_file_of_another_kind_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other");
        let mut writer = LogWriter::open(&path, Format { kind: *b"TEST", version: 1 }, 0).unwrap();
        let committed = writer.sync().unwrap();
        let tag = find(&path, committed, Layout::WithSite, "http://a.example/", &Pulse::STEADY).unwrap();
        assert_eq!(tag, None);
    }
}
