//! Building an index that is divided by documents: a builder for each shard, and the assignment of documents.
//!
//! A document that is added again goes to the shard it is in, so that a shard knows by itself which of its
//! documents are replaced: hashed assignment does so without memory; contiguous assignment keeps the signatures
//! of each shard, 10.7 to 21.3 bytes per document. Deletions go to every shard. The builders share the memory
//! budget.

use std::path::Path;

use super::builder::IndexBuilder;
use super::chunk::NewDocument;
use super::options::Assign;
use crate::index::Options;
use crate::index::format::Piece;
use crate::index::read::segment::SegmentFile;
use crate::signature::SignatureSet;
use crate::{Pulse, Result, Signature};

/// The number of consecutive documents of a shard, if assignment is contiguous.
const RUN: u64 = 1024;

/// Builds a generation of segments, one for each shard. It must be dropped after an error.
pub struct ShardedBuilder {
    builders: Vec<IndexBuilder>,
    /// If assignment is contiguous: the documents of each shard.
    homes: Option<Vec<SignatureSet>>,
    documents: u64,
}

impl ShardedBuilder {
    /// A builder of the generation `number` in `folder`; `older` are the files of the index so far.
    pub fn new(
        folder: &Path,
        number: u64,
        options: Options,
        older: &[SegmentFile],
        pulse: &Pulse,
    ) -> Result<ShardedBuilder> {
        let shards = options.shards_of_documents();
        if shards == 1 {
            let builders = vec![IndexBuilder::new(folder, number, options)];
            return Ok(ShardedBuilder { builders, homes: None, documents: 0 });
        }
        // With a thread of its own, a builder inverts while the others are fed.
        let threads = if options.threads > 1 { (options.threads / shards).max(2) } else { 1 };
        let own = Options { memory: options.memory / shards, threads, ..options };
        let builder = |shard| IndexBuilder::of_piece(folder, number, Piece::Shard(shard as u16), own);
        let homes = match options.assign {
            Assign::Hashed => None,
            Assign::Contiguous => Some(homes(folder, older, shards, pulse)?),
        };
        Ok(ShardedBuilder { builders: (0..shards).map(builder).collect(), homes, documents: 0 })
    }

    /// Adds documents. A document whose URL was added before replaces the earlier one.
    pub fn add(&mut self, documents: &[NewDocument<'_>], pulse: &Pulse) -> Result<()> {
        if let [only] = self.builders.as_mut_slice() {
            return only.add(documents, pulse);
        }
        let mut divided: Vec<Vec<NewDocument<'_>>> = vec![Vec::new(); self.builders.len()];
        for document in documents {
            divided[self.home(Signature::of(document.url.as_bytes()))].push(*document);
            self.documents += 1;
        }
        self.builders.iter_mut().zip(divided).try_for_each(|(builder, own)| builder.add(&own, pulse))
    }

    /// Deletes the documents of these URLs from all older segments.
    pub fn delete(&mut self, urls: impl Iterator<Item = Signature> + Clone) {
        self.builders.iter_mut().for_each(|builder| builder.delete(urls.clone()));
    }

    /// The number of documents added.
    pub fn documents(&self) -> u64 {
        self.builders.iter().map(IndexBuilder::documents).sum()
    }

    /// Writes the segments; returns their files, of which there are none if there is nothing to write.
    pub fn finish(&mut self, pulse: &Pulse) -> Result<Vec<SegmentFile>> {
        let mut files = Vec::new();
        for builder in &mut self.builders {
            files.extend(builder.finish_all(pulse)?);
        }
        Ok(files)
    }

    /// The shard of a document.
    fn home(&mut self, signature: Signature) -> usize {
        let shards = self.builders.len();
        let Some(homes) = &mut self.homes else {
            // The high bits decide, so that a shard has a range of signatures.
            return ((u128::from(signature.0) * shards as u128) >> 64) as usize;
        };
        if let Some(home) = homes.iter().position(|home| home.contains(signature)) {
            return home;
        }
        let home = (self.documents / RUN) as usize % shards;
        homes[home].insert(signature);
        home
    }
}

/// The signatures of the documents of each shard.
fn homes(folder: &Path, older: &[SegmentFile], shards: usize, pulse: &Pulse) -> Result<Vec<SignatureSet>> {
    let mut homes: Vec<SignatureSet> = (0..shards).map(|_| SignatureSet::default()).collect();
    for file in older {
        let Some((_, Piece::Shard(shard))) = Piece::parse(&file.name) else { continue };
        let Some(home) = homes.get_mut(shard as usize) else { continue };
        let segment = file.open(folder)?;
        for document in segment.documents() {
            if document.0.is_multiple_of(1 << 14) {
                pulse.beat()?;
            }
            home.insert(segment.signature(document)?);
        }
    }
    Ok(homes)
}
