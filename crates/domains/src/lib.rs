//! Registrable domains, by the Public Suffix List.
//!
//! The list is code, half a million lines of LLVM's, and is inlined into whoever calls it: a seventh of the core, which is
//! compiled twice, for Python and for its tests. A crate of its own is compiled once, beside other dependencies.

/// The registrable domain of a host: its public suffix and the label before it, if it has both.
#[inline(never)]
pub fn registrable(host: &str) -> Option<&str> {
    psl::domain_str(host)
}

#[cfg(test)]
mod tests {
    use super::registrable;

    #[test]
    fn a_domain_is_a_suffix_and_a_label() {
        assert_eq!(registrable("www.example.co.uk"), Some("example.co.uk"));
        assert_eq!(registrable("co.uk"), None);
    }
}
