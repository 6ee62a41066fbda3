//! Counts the distinct queries per path, in constant memory.
//!
//! A catalogue with filters (faceted navigation) has a page for every combination of them, each under the
//! same path with another query. [`QueryCounter`] counts per host and path with a count-min sketch (Cormode
//! and Muthukrishnan, 2005) under conservative update (Estan and Varghese, 2002): two rows of 2^20 counters
//! of 16 bits, 4 MiB. It never undercounts, so every crowded path is found. It overcounts by more than e N /
//! 2^20 with a probability below e^-2, for N queries in all: 26 after ten million, against a limit of
//! thousands. Two memory accesses per URL.

use crate::Signature;

const WIDTH: usize = 1 << 20;

/// Counts the queries of each path.
pub struct QueryCounter {
    first: Box<[u16]>,
    second: Box<[u16]>,
    queries: u16,
}

impl QueryCounter {
    /// A counter that reports a path as crowded after this many queries (at most 65,534).
    pub fn new(queries: u16) -> QueryCounter {
        let row = || vec![0; WIDTH].into_boxed_slice();
        QueryCounter { first: row(), second: row(), queries: queries.min(u16::MAX - 1) }
    }

    /// Whether the path of a canonical URL has reached the limit; if not, its query is counted. To be called
    /// once per distinct URL. A URL without a query is never crowded.
    pub fn crowded(&mut self, url: &str) -> bool {
        let Some(question) = memchr::memchr(b'?', url.as_bytes()) else { return false };
        let hash = Signature::of(&url.as_bytes()[..question]).0;
        let first = &mut self.first[hash as usize % WIDTH];
        let second = &mut self.second[(hash >> 32) as usize % WIDTH];
        let count = (*first).min(*second);
        if count >= self.queries {
            return true;
        }
        *first = (*first).max(count + 1);
        *second = (*second).max(count + 1);
        false
    }
}

impl Default for QueryCounter {
    fn default() -> QueryCounter {
        QueryCounter::new(5000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_crowded_after_its_limit() {
        let mut counter = QueryCounter::new(100);
        for number in 0..100 {
            assert!(!counter.crowded(&format!("http://a.example/shop?filter={number}")));
        }
        assert!(counter.crowded("http://a.example/shop?filter=100"));
        assert!(!counter.crowded("http://a.example/shop"));
        assert!(!counter.crowded("http://b.example/shop?filter=100"));
        assert!(!counter.crowded("http://a.example/shop/?filter=100"));
    }

    #[test]
    fn many_paths_do_not_crowd_each_other() {
        let mut counter = QueryCounter::new(20);
        let crowded = (0..1_000_000)
            .filter(|number| counter.crowded(&format!("http://a.example/{}?q={number}", number % 100_000)))
            .count();
        assert!(crowded < 1000, "{crowded}");
    }
}
