//! A dictionary with its bytes: built in memory, or saved to a file and mapped.
//!
//! ```text
//! bytes  0..16  header (see `crate::disk::format`), of kind SFUN (static function), KRNK (ranks), APXD (approximate
//!               dictionary) or FCLS (front-coded list)
//! bytes 16..24  u64 length of the contents
//! bytes 24..28  CRC-32 of the contents
//! bytes 28..32  CRC-32 of bytes 0..28
//! bytes 32..    the contents
//! ```
//!
//! all little-endian. A file is written atomically (temporary file, then rename). Opening verifies the
//! checksums, which reads the file once; after that it is read in place.

use std::fs::File;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::{Approximate, FrontCoded, Ranks, StaticFunction};
use crate::disk::format::Format;
use crate::disk::new_file::NewFile;
use crate::{Error, Result};

const START: usize = 32;
const HEADER_CHECKSUM: usize = 28;

/// A structure that is read from bytes in place.
pub trait Dictionary: Sized {
    /// The format of its files.
    const FORMAT: Format;

    /// Reads the header; `None` if the bytes are not such a dictionary.
    fn open(bytes: &[u8]) -> Option<Self>;
}

macro_rules! dictionary {
    ($type:ty, $kind:literal) => {
        impl Dictionary for $type {
            const FORMAT: Format = Format { kind: *$kind, version: 1 };

            fn open(bytes: &[u8]) -> Option<Self> {
                <$type>::open(bytes)
            }
        }
    };
}

dictionary!(StaticFunction, b"SFUN");
dictionary!(Ranks, b"KRNK");
dictionary!(Approximate, b"APXD");
dictionary!(FrontCoded, b"FCLS");

/// A dictionary and its bytes.
pub struct Kept<D> {
    dictionary: D,
    contents: Contents,
}

enum Contents {
    Memory(Vec<u8>),
    File(Mmap, PathBuf),
}

impl<D: Dictionary> Kept<D> {
    /// The dictionary with these bytes, as `build` returned them.
    pub fn built(bytes: Vec<u8>) -> Result<Kept<D>> {
        let dictionary = D::open(&bytes);
        let dictionary =
            dictionary.ok_or_else(|| Error::Invalid("these bytes are no dictionary".to_owned()))?;
        Ok(Kept { dictionary, contents: Contents::Memory(bytes) })
    }

    /// Maps a file, and verifies it.
    pub fn load(path: &Path) -> Result<Kept<D>> {
        let file = File::open(path).map_err(Error::io(path))?;
        let actual = file.metadata().map_err(Error::io(path))?.len();
        if actual < START as u64 {
            return Err(Error::corrupt(path, actual, "its header is cut off"));
        }
        // SAFETY: a saved dictionary is complete before it is renamed, and never written to again; deleting
        // it leaves the mapped pages alive, and its readers accept any bytes.
        let map = unsafe { Mmap::map(&file) }.map_err(Error::io(path))?;
        D::FORMAT.check(path, &map)?;
        let (header, contents) = map.split_at(START);
        if crc32fast::hash(&header[..HEADER_CHECKSUM]).to_le_bytes() != header[HEADER_CHECKSUM..] {
            return Err(Error::corrupt(
                path,
                HEADER_CHECKSUM as u64,
                "its header does not match its checksum",
            ));
        }
        if header[16..24] != (contents.len() as u64).to_le_bytes() {
            return Err(Error::corrupt(path, actual, "it ends here, and its header says otherwise"));
        }
        if crc32fast::hash(contents).to_le_bytes() != header[24..HEADER_CHECKSUM] {
            return Err(Error::corrupt(path, START as u64, "the contents do not match their checksum"));
        }
        let dictionary = D::open(contents)
            .ok_or_else(|| Error::corrupt(path, START as u64, "there is no such dictionary"))?;
        Ok(Kept { dictionary, contents: Contents::File(map, path.to_path_buf()) })
    }

    /// Writes it to a file atomically: written, synced, then renamed.
    pub fn save(&self, path: &Path) -> Result<()> {
        let contents = self.bytes();
        let mut file = NewFile::create(path)?;
        file.append(&header::<D>(contents.len() as u64, crc32fast::hash(contents)))?;
        file.append(contents)?;
        file.finish().map(|_| ())
    }

    /// The bytes that the dictionary reads.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match &self.contents {
            Contents::Memory(bytes) => bytes,
            Contents::File(map, _) => &map[START..],
        }
    }

    /// The error for bytes that turn out to be damaged after opening.
    pub fn damage(&self) -> Error {
        let reason = "the dictionary changed after it was opened";
        match &self.contents {
            Contents::Memory(_) => Error::Invalid(reason.to_owned()),
            Contents::File(_, path) => Error::corrupt(path, START as u64, reason),
        }
    }
}

/// The bytes before contents of a length and a checksum.
pub(super) fn header<D: Dictionary>(length: u64, checksum: u32) -> [u8; START] {
    let mut header = [0; START];
    header[..Format::HEADER].copy_from_slice(&D::FORMAT.header());
    header[16..24].copy_from_slice(&length.to_le_bytes());
    header[24..HEADER_CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
    let checksum = crc32fast::hash(&header[..HEADER_CHECKSUM]);
    header[HEADER_CHECKSUM..].copy_from_slice(&checksum.to_le_bytes());
    header
}

impl<D> Deref for Kept<D> {
    type Target = D;

    #[inline]
    fn deref(&self) -> &D {
        &self.dictionary
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pulse;
    use crate::dictionaries::{Construction, KeyHash};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn a_file_is_the_dictionary_and_damage_is_refused(n in 0u32..300, at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("ranks");
            let hashes: Vec<KeyHash> = (0..n).map(|key| KeyHash::of(&key.to_le_bytes())).collect();
            let bytes = Ranks::build(&hashes, Construction::Fuse, 8, false, &Pulse::STEADY).unwrap();
            let built = Kept::<Ranks>::built(bytes).unwrap();
            built.save(&path).unwrap();
            let loaded = Kept::<Ranks>::load(&path).unwrap();
            prop_assert_eq!(loaded.bytes(), built.bytes());
            prop_assert_eq!(*loaded, *built);
            let other_kind = Kept::<StaticFunction>::load(&path);
            let refused = matches!(other_kind, Err(Error::Corrupt { offset: 0, .. }));
            prop_assert!(refused);
            let whole = std::fs::read(&path).unwrap();
            let at = at.index(whole.len());
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << bit;
            for (index, damaged) in [&flipped[..], &whole[..at], &[&whole[..], &[0]].concat()].into_iter().enumerate() {
                let path = folder.path().join(index.to_string());
                std::fs::write(&path, damaged).unwrap();
                let refused = matches!(Kept::<Ranks>::load(&path), Err(Error::Corrupt { .. } | Error::Newer { .. }));
                prop_assert!(refused);
            }
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_an_error_of_the_system() {
        assert!(matches!(Kept::<Ranks>::load(Path::new("no/such/file")), Err(Error::Io { .. })));
    }
}
