//! Web archives: records of the WARC format (ISO 28500:2017), written and read.
//!
//! [`record`] encodes a record as a gzip member of its own and reads one back by its place; [`reader`] reads
//! whole files that anybody wrote, compressed in any way and possibly damaged. [`http`] is the response in a
//! block.

mod arc;
mod gzip;
mod http;
mod members;
mod raw;
mod reader;
mod record;
#[cfg(test)]
mod tests;

pub use http::Http;
pub use members::Compression;
pub use reader::{Entry, Item, Position, Reader, ReaderOptions};
pub use record::{
    PAYLOAD_DIGEST, Record, payload_digest, read_record, record_parts, record_with_id, stated_sha1,
    warc_record,
};
