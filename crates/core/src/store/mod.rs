//! Where pages are kept: records and content encodings per byte, the archive they go to, and the rows that
//! say what became of each URL.

mod archive;
mod encoding;
mod row;
mod warc;

pub use archive::{ArchiveWriter, Place};
pub use encoding::{ACCEPTED, Undecodable, decode};
pub use row::{Outcome, ROW_FORMAT, ROWS, Row};
pub use warc::{warc_date, warc_record};
