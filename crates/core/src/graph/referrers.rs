//! Backlinks: which pages link to a page, by one pass over the log of links, which is keyed by source.

use std::path::Path;

use super::{LINKS, targets_of};
use crate::disk::log::LogReader;
use crate::{Pulse, Result};

/// The signatures of at most `limit` pages that link to the page with a signature, in log order.
pub fn pages_linking_to(
    links: &Path,
    committed: u64,
    signature: u64,
    limit: usize,
    pulse: &Pulse,
) -> Result<Vec<u64>> {
    let mut found = Vec::new();
    LogReader::open(links, LINKS, committed)?.scan(0, pulse, |record| {
        if found.len() < limit {
            let (followed, nofollow) = targets_of(links, &record)?;
            if followed.chain(nofollow).any(|target| target.0 == signature) {
                found.push(record.key.0);
            }
        }
        Ok(())
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Signature;
    use crate::disk::log::LogWriter;

    #[test]
    fn the_first_finders_come_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("links");
        let mut writer = LogWriter::open(&path, LINKS, 0).unwrap();
        for (page, targets) in [(1, vec![7, 8]), (2, vec![8]), (3, vec![]), (4, vec![8, 7])] {
            let payload: Vec<u8> = targets.iter().flat_map(|target: &u64| target.to_le_bytes()).collect();
            writer.append(Signature(page), &payload).unwrap();
        }
        let committed = writer.sync().unwrap();
        let linking =
            |signature, limit| pages_linking_to(&path, committed, signature, limit, &Pulse::STEADY).unwrap();
        assert_eq!(linking(8, 2), [1, 2]);
        assert_eq!(linking(7, 9), [1, 4]);
        assert!(linking(9, 9).is_empty());
    }
}
