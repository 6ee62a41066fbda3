//! A collection: the archive of pages, and a row for each URL.

mod archive;
mod row;
mod warc;

pub use archive::{ArchiveWriter, Place};
pub use row::{Outcome, ROW_FORMAT, ROWS, Row};
pub use warc::{warc_date, warc_record};
