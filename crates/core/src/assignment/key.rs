//! Keys: what of a URL is assigned, and its hash.

use twox_hash::XxHash3_64;

use crate::settings::choices;
use crate::url::{domain_of, host_of};

/// The seed of the keys' hash. It differs from that of signatures, so that what an agent keeps is not
/// confined to a part of their range. Part of the protocol.
pub const KEY_SEED: u64 = 0x6372_6976_656c_6c6f;

choices! {
    /// What of a URL is assigned to an agent.
    pub enum By, "key of assignment" {
        /// The host: the pages of one host have one agent.
        Host = "host",
        /// The registrable domain: so have those of all its subdomains.
        Domain = "domain",
    }
}

/// The key of a canonical URL: its host without the port, or the registrable domain of its host.
pub fn key_of(url: &str, by: By) -> &[u8] {
    match by {
        By::Host => host_of(url),
        By::Domain => domain_of(url),
    }
    .as_bytes()
}

/// The hash of a key, from which all methods start.
#[inline]
pub fn hash_of(key: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(KEY_SEED, key)
}
