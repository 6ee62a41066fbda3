//! The inverted index: from text to compressed, memory-mapped, checksummed segments.
//!
//! The data flow, one file per step: documents are collected in a [`chunk`]; a thread [`invert`]s it, mapping
//! tokens to terms by the chunk's [`vocabulary`], into a sorted [`run`]; the [`merge`] combines all runs, or
//! whole segments ([`join()`]), as [`source`]s of one kind; [`postings`] cuts the posting lists into blocks,
//! encoded in the [`codes`] chosen for them, with [`skips`] and [`maxima`]; the [`writer`] assembles the
//! segment. [`segment`] opens it, [`cursor`] iterates over a posting list, [`term_cursor`] over a term in all
//! its [`zone`]s, and the columns hold the metadata of the documents ([`facts`]).
//!
//! A segment is one immutable file; adding documents writes a new one, and a segment merge makes one of many.
//! Its sections, in file order:
//!
//! | section | what | cost |
//! | --- | --- | --- |
//! | documents | URL, id, title, body and language, in LZ4 blocks ([`documents`]) | about half of the text |
//! | document index | the first document of each LZ4 block | 12 bytes per block |
//! | order | the place of each document among the stored ones, if it is not its id ([`order`]) | 4 bytes per document |
//! | pointers | document ids of posting lists, as gaps ([`postings`], [`cursor`]) | 4 to 6 bits per posting |
//! | counts | term frequencies | 1 to 3 bits per posting |
//! | positions | positions of the occurrences | 8 to 10 bits per occurrence |
//! | skips | two-level skip lists and block-max bounds, for lists of two blocks or more ([`skips`]) | half a bit per posting |
//! | terms | the term dictionary: sorted, front-coded, with the location of each term's posting lists ([`terms`], [`lists`]) | about 10 bytes per term |
//! | term index | the first term of each block of terms | a thirty-second of the terms |
//! | ranks | from a term to its rank, by a minimal perfect hash with signatures | 1.13 log n + r bits per term |
//! | codes | which code each component has, and its models ([`codes`]) | some kilobytes |
//! | lengths | length of each zone of each document, in tokens ([`rows`]) | 4 to 6 bytes per document |
//! | signatures | of each document's URL | 8 bytes per document |
//! | facts | site, language, kind and day of each document ([`facts`]) | 3 to 6 bytes per document |
//! | sites | the names of the hosts, sorted by their labels from the last to the first ([`sites`]) | the names and 3 bytes per host |
//! | simhashes | of each document's text ([`facts`]) | 8 bytes per document |
//! | deleted | tombstones: signatures of URLs that are deleted from older segments | 8 bytes per deletion |
//! | completions | phrases of titles, headings and anchor texts that a query may be completed to ([`format::completions`]) | about 17 bytes a phrase and word |
//! | checksums | CRC-32 of each 4 KiB page of all that ([`pages`]) | 0.1 % |
//! | directory | where each section is, and the totals ([`directory`]) | 224 bytes |
//!
//! A document added again replaces the older one: the newest wins, whatever segment it is in ([`replaced`]),
//! and a merge drops the older ones physically.

pub(crate) mod build;
mod ciff;
pub(crate) mod format;
pub(crate) mod read;
mod stats;

pub use build::builder::IndexBuilder;
pub use build::choose::{CodeChoice, Preference};
pub use build::chunk::NewDocument;
pub use build::join::join;
pub use build::options::{Assign, Options, Partition};
pub use build::order::Order;
pub use build::sharded::ShardedBuilder;
pub use ciff::{Written, write_ciff};
pub use format::DocId;
pub use format::facts::{Facts, Kind, language_number, language_tag};
pub use format::zone::Zone;
pub use read::segment::{Segment, SegmentFile};
pub use read::term_cursor::TermCursor;
pub use stats::{Stats, stats};
