//! An index divided by terms that answers as one: shards that hold the posting lists, and a broker that holds the
//! documents.
//!
//! A shard ([`TermShard`]) has the whole posting lists of a range of terms; the broker ([`TermBroker`]) has what is
//! known of documents, and searches lists that it asks the shards for. It does so with the operators, scores and
//! pruning of one index, on the same lists: the answer is the same to the last bit.
//!
//! 1. **Whom to ask.** Every shard publishes an approximate dictionary of its terms
//!    ([`Approximate`](crate::dictionaries::Approximate)), once per commit: 1.12 r bits per term. A term is asked of the
//!    shards whose dictionary has it, so a shard without it is asked in vain with probability 2^-r, and a term that is
//!    nowhere costs nothing. The terms of patterns are asked of all shards.
//! 2. **Lists.** *Gathered*: all lists of the query in one round, without positions unless a phrase needs them.
//!    *Pipelined* from the rarest term: of a query with several required leaves, first the lists of the rarest; then
//!    those of the others, each restricted by its shard to the documents of the rarest. That takes a round more, or two
//!    if frequencies are not known, and saves most bytes of long lists.
//! 3. **Proximity** needs positions in the top documents only: they are asked for restricted to those.
//!
//! **Hot terms** are kept by every broker: whole lists, within a memory budget, the least recently used leave first. A
//! list that is only ever asked for in parts is fetched whole once the parts have cost as much (a rent that has reached
//! the price: at most twice the cost of knowing the future).
//!
//! A shard that does not answer is left out, with all of its terms, and the answer says so.
//!
//! (The notes, section 6; Moffat, Webber, Zobel and Baeza-Yates, *A pipelined architecture for distributed text query
//! evaluation*, 2007, where the bundle travels from shard to shard; here it returns to the broker in between, since
//! that has the document lengths.)

mod broker;
mod fetch;
mod hot;
mod message;
mod server;
mod vocabulary;

pub use broker::TermBroker;
pub use fetch::{TermOptions, Traffic};
pub use server::TermShard;
