//! The index: from text to compressed, memory-mapped, checksummed segments.
//!
//! The flow, a file a step: documents gather in a [`chunk`]; a thread [`invert`]s it, looking each word up in the
//! chunk's [`vocabulary`], into a sorted [`run`]; the [`merge`] joins all runs, or whole segments ([`join()`]), as
//! [`source`]s of one kind; [`postings`] cuts the lists into blocks, written by the [`codes`] that were chosen for
//! them, with [`skips`] and [`maxima`]; the [`writer`] puts the segment together. [`segment`] opens it, [`cursor`]
//! walks a list, [`term_cursor`] a term in all its [`zone`]s, and the columns say what is known of a document beside
//! its words ([`facts`]).
//!
//! A segment is one immutable file; adding documents writes a new one, and joining makes one of many. Its parts, in
//! the order of the file:
//!
//! | section | what | cost |
//! | --- | --- | --- |
//! | documents | URL, id, title, body and language, in LZ4 blocks ([`documents`]) | about half of the text |
//! | document index | the first document of each LZ4 block | 12 bytes a block |
//! | order | the place of each document among the stored ones, where it is not its number ([`order`]) | 4 bytes a document |
//! | pointers | which documents hold a term, as gaps ([`postings`], [`cursor`]) | 4 to 6 bits a posting |
//! | counts | how often | 1 to 3 bits a posting |
//! | positions | and where | 8 to 10 bits an occurrence |
//! | skips | two levels, for lists of two blocks or more ([`skips`]) | half a bit a posting |
//! | terms | sorted, front-coded, with the place of each term's lists ([`terms`], [`lists`]) | about 10 bytes a term |
//! | term index | the first term of each block of terms | a thirty-second of the terms |
//! | ranks | from a term to its rank, by a minimal perfect hash with signatures | 1.13 log n + r bits a term |
//! | codes | which code each component has, and its models ([`codes`]) | some kilobytes |
//! | lengths | words of each zone of each document ([`rows`]) | 4 to 6 bytes a document |
//! | signatures | of each document's URL | 8 bytes a document |
//! | facts | site, language, kind and day of each document ([`facts`]) | 3 to 6 bytes a document |
//! | sites | the names of the hosts, sorted by their labels from the last to the first ([`sites`]) | the names and 3 bytes a host |
//! | simhashes | of each document's text ([`facts`]) | 8 bytes a document |
//! | deleted | signatures of URLs that are deleted from older segments | 8 bytes a deletion |
//! | checksums | CRC-32 of each page of 4 KiB of all that ([`pages`]) | 0.1 % |
//! | directory | where each section is, and the totals ([`directory`]) | 216 bytes |
//!
//! A document added again replaces the older one: the newer wins, in whatever segment it is ([`replaced`]), and joining
//! drops the older one for good.

pub(crate) mod build;
pub(crate) mod format;
pub(crate) mod read;
mod stats;

pub use build::builder::IndexBuilder;
pub use build::choose::{CodeChoice, Preference};
pub use build::chunk::NewDocument;
pub use build::join::join;
pub use build::options::Options;
pub use build::order::Order;
pub use format::DocId;
pub use format::facts::{Facts, Kind, language_number, language_tag};
pub use format::zone::Zone;
pub use read::segment::{Segment, SegmentFile};
pub use read::term_cursor::TermCursor;
pub use stats::{Stats, stats};
