//! The image of a filter, in memory or in a mapped file.
//!
//! ```text
//! bytes  0..16  header (see `crate::disk::format`), of kind BLOM, BBLM or SBLM
//! bytes 16..24  u64 m: bits of a Bloom filter, cells of a stable one
//! bytes 24..32  u64 P: cells to decrement per key (0 if not stable)
//! bytes 32..40  u64 seed of the decrements (0 if not stable)
//! bytes 40..48  u64 keys added
//! bytes 48..50  u16 hash functions
//! byte  50      Max, to which cells are set (1 if not stable)
//! byte  51      1 while a mapped file is being changed, otherwise 0
//! bytes 52..56  CRC-32 of the contents
//! byte  56      hashing: 0 enhanced, 1 double
//! byte  57      cells to decrement: 0 consecutive, 1 independent
//! bytes 58..60  zero
//! bytes 60..64  CRC-32 of bytes 0..60
//! bytes 64..    the contents, padded to a multiple of the cache line, 64 bytes
//! ```
//!
//! all little-endian. Saving is atomic (temporary file, then rename). A mapped file is durably marked dirty
//! before its first change, and sealed with its checksum when it is flushed or closed; if neither happened (a
//! crash, a power cut) some of its pages may be older than others, so it is rejected from then on. Opening
//! verifies the checksums, which reads the file once; no memory is allocated before the file's length agrees
//! with its parameters. Bytes 56 and 57 are of version 2; in version 1 they are 0, which means the same.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use memmap2::MmapMut;

use super::probe::Hashing;
use super::stability::Decay;
use crate::disk::file;
use crate::disk::format::Format;
use crate::disk::new_file::NewFile;
use crate::{Error, Result};

/// The bytes per cache line: contents are aligned to it.
pub const LINE: usize = 64;

const START: usize = LINE;
const COUNT: usize = 40;
const CHANGING: usize = 51;
const CONTENTS_CHECKSUM: usize = 52;
const HASHING: usize = 56;
const DECAY: usize = 57;
const HEADER_CHECKSUM: usize = 60;

/// From this size on a filter requests huge pages, which save a TLB miss with almost every cache miss.
#[cfg(target_os = "linux")]
const HUGE: usize = 1 << 22;

/// The parameters of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// m: bits, or cells.
    pub places: u64,
    /// P: the number of cells decremented per key.
    pub decrements: u64,
    /// The seed for the choice of these cells.
    pub seed: u64,
    /// K or d: the number of hash functions.
    pub hashes: u32,
    /// The value that cells are set to.
    pub max: u8,
    /// How positions follow from two hashes.
    pub hashing: Hashing,
    /// Which cells are decremented.
    pub decay: Decay,
}

/// A kind of filter: its format, and the length of its contents (`None` for invalid parameters).
pub struct Kind {
    /// The format of its files.
    pub format: Format,
    /// The length of the contents, a multiple of the cache line.
    pub length: fn(&Parameters) -> Option<usize>,
}

/// `bits` in bytes, rounded up to a multiple of the cache line.
pub fn whole_lines(bits: u64) -> usize {
    bits.div_ceil(8 * LINE as u64) as usize * LINE
}

/// The number of set bits.
pub fn ones(bytes: &[u8]) -> u64 {
    bytes.as_chunks::<8>().0.iter().map(|word| u64::from(u64::from_le_bytes(*word).count_ones())).sum()
}

/// The image of a filter.
pub struct Storage {
    image: MmapMut,
    /// The mapped file, if any.
    path: Option<PathBuf>,
}

impl Storage {
    /// A filter in memory, all zeros.
    pub fn in_memory(kind: &Kind, parameters: &Parameters) -> Result<Storage> {
        let length = START + length_of(kind, parameters)?;
        let mut storage = Storage { image: anonymous(length)?, path: None };
        storage.write_header(kind, parameters);
        Ok(storage)
    }

    /// A filter in a new file, all zeros.
    pub fn in_file(kind: &Kind, parameters: &Parameters, path: &Path) -> Result<Storage> {
        let length = START + length_of(kind, parameters)?;
        // SAFETY: as in `map`.
        let image = unsafe { file::map_new(path, length as u64) }?;
        // Only the header is written: until then the file is not a valid filter; the rest is sparse zeros.
        let mut storage = Storage { image, path: Some(path.to_path_buf()) };
        storage.write_header(kind, parameters);
        storage.seal()?;
        Ok(storage)
    }

    /// Opens and verifies a filter; if `mapped`, it is used in place, otherwise copied to memory.
    pub fn open(kind: &Kind, path: &Path, mapped: bool) -> Result<(Storage, Parameters)> {
        let mut file = File::open(path).map_err(Error::io(path))?;
        let mut header = Vec::with_capacity(START);
        file.by_ref().take(START as u64).read_to_end(&mut header).map_err(Error::io(path))?;
        let parameters = check_header(kind, path, &header)?;
        let length = (kind.length)(&parameters)
            .ok_or_else(|| Error::corrupt(path, Format::HEADER as u64, "there is no such filter"))?;
        let actual = file.metadata().map_err(Error::io(path))?.len();
        if actual != (START + length) as u64 {
            let reason = format!("it ends here, and its filter has {} bytes", START + length);
            return Err(Error::corrupt(path, actual, reason));
        }
        let storage = match mapped {
            true => map(path)?,
            false => {
                let mut image = anonymous(START + length)?;
                file.seek(SeekFrom::Start(0))
                    .and_then(|_| file.read_exact(&mut image))
                    .map_err(Error::io(path))?;
                Storage { image, path: None }
            }
        };
        if u32_at(&storage.image, CONTENTS_CHECKSUM) != crc32fast::hash(storage.contents()) {
            return Err(Error::corrupt(path, START as u64, "the contents do not match their checksum"));
        }
        Ok((storage, parameters))
    }

    /// The bits or cells.
    #[inline]
    pub fn contents(&self) -> &[u8] {
        &self.image[START..]
    }

    /// The bits or cells, mutable; marks a mapped file dirty.
    pub fn contents_mut(&mut self) -> Result<&mut [u8]> {
        if let Some(path) = self.path.as_ref().filter(|_| self.image[CHANGING] == 0) {
            self.image[CHANGING] = 1;
            self.image.flush_range(0, START).map_err(Error::io(path))?;
        }
        Ok(&mut self.image[START..])
    }

    /// The number of keys added.
    pub fn count(&self) -> u64 {
        u64_at(&self.image, COUNT)
    }

    /// Adds to the count of keys.
    pub fn count_more(&mut self, keys: u64) {
        let count = self.count() + keys;
        self.image[COUNT..COUNT + 8].copy_from_slice(&count.to_le_bytes());
    }

    /// Writes the image to a new file.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut header = [0; START];
        header.copy_from_slice(&self.image[..START]);
        sign(&mut header, self.contents());
        let mut file = NewFile::create(path)?;
        file.append(&header)?;
        file.append(self.contents())?;
        file.finish().map(drop)
    }

    /// A copy of the image in memory.
    pub fn copy(&self) -> Result<Storage> {
        let mut image = anonymous(self.image.len())?;
        image.copy_from_slice(&self.image);
        image[CHANGING] = 0;
        Ok(Storage { image, path: None })
    }

    /// Makes a mapped file durable and clean, so that it can be opened again.
    pub fn flush(&mut self) -> Result<()> {
        if self.path.is_some() && self.image[CHANGING] == 1 { self.seal() } else { Ok(()) }
    }

    /// The contents are synced before the header with their checksum.
    fn seal(&mut self) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        file::sync_map(&self.image, 0..self.image.len(), path)?;
        let (header, contents) = self.image.split_at_mut(START);
        sign(header, contents);
        file::sync_map(&self.image, 0..START, path)
    }

    fn write_header(&mut self, kind: &Kind, parameters: &Parameters) {
        let header = &mut self.image[..START];
        header[..16].copy_from_slice(&kind.format.header());
        header[16..24].copy_from_slice(&parameters.places.to_le_bytes());
        header[24..32].copy_from_slice(&parameters.decrements.to_le_bytes());
        header[32..40].copy_from_slice(&parameters.seed.to_le_bytes());
        header[48..50].copy_from_slice(&(parameters.hashes as u16).to_le_bytes());
        header[50] = parameters.max;
        header[HASHING] = u8::from(parameters.hashing == Hashing::Double);
        header[DECAY] = u8::from(parameters.decay == Decay::Independent);
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        // `drop` cannot report an error: a file that could not be sealed is rejected when it is opened.
        let _ = self.flush();
    }
}

fn length_of(kind: &Kind, parameters: &Parameters) -> Result<usize> {
    (kind.length)(parameters).ok_or_else(|| Error::Invalid("there is no such filter".to_owned()))
}

fn anonymous(length: usize) -> Result<MmapMut> {
    let image = MmapMut::map_anon(length)
        .map_err(|_| Error::Invalid(format!("there is no memory for a filter of {length} bytes")))?;
    #[cfg(target_os = "linux")]
    if length >= HUGE {
        // Without huge pages the filter is only slower.
        let _ = image.advise(memmap2::Advice::HugePage);
    }
    Ok(image)
}

fn map(path: &Path) -> Result<Storage> {
    // SAFETY: the file is exclusively ours from here on: `CHANGING` rejects opening it while it is being
    // changed, and a filter treats any bytes as bits, so that damage can only affect its answers.
    let image = unsafe { file::map(path) }?;
    Ok(Storage { image, path: Some(path.to_path_buf()) })
}

/// Writes both checksums into a header.
fn sign(header: &mut [u8], contents: &[u8]) {
    header[CHANGING] = 0;
    header[CONTENTS_CHECKSUM..CONTENTS_CHECKSUM + 4]
        .copy_from_slice(&crc32fast::hash(contents).to_le_bytes());
    let checksum = crc32fast::hash(&header[..HEADER_CHECKSUM]);
    header[HEADER_CHECKSUM..].copy_from_slice(&checksum.to_le_bytes());
}

fn check_header(kind: &Kind, path: &Path, header: &[u8]) -> Result<Parameters> {
    kind.format.check(path, header)?;
    if header.len() < START {
        return Err(Error::corrupt(path, header.len() as u64, "its header is cut off"));
    }
    if header[CHANGING] == 1 {
        let reason = "it was not closed after its last change, or another process is changing it";
        return Err(Error::corrupt(path, CHANGING as u64, reason));
    }
    if u32_at(header, HEADER_CHECKSUM) != crc32fast::hash(&header[..HEADER_CHECKSUM]) {
        return Err(Error::corrupt(path, HEADER_CHECKSUM as u64, "its header does not match its checksum"));
    }
    if header[HASHING] > 1 || header[DECAY] > 1 {
        return Err(Error::corrupt(path, HASHING as u64, "there is no such filter"));
    }
    Ok(Parameters {
        places: u64_at(header, 16),
        decrements: u64_at(header, 24),
        seed: u64_at(header, 32),
        hashes: u32::from(u16::from_le_bytes([header[48], header[49]])),
        max: header[50],
        hashing: if header[HASHING] == 0 { Hashing::Enhanced } else { Hashing::Double },
        decay: if header[DECAY] == 0 { Decay::Consecutive } else { Decay::Independent },
    })
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at + 4)) << 32 | u64::from(u32_at(bytes, at))
}
