//! Folding: which page each node stands for.

use super::NONE;

/// The page that each node stands for, by the node it refers to (`u32::MAX`: none) and whether it is a page.
///
/// References are followed to the last page of the chain. A node whose chain leads to no page stands for
/// itself if it is a page, and for none (`u32::MAX`) otherwise. A chain that ends in a loop leads to the first page of
/// the loop, in node order. O(n).
pub fn fold(is_page: &[bool], refers_to: &[u32]) -> Vec<u32> {
    /// Not known yet; on the chain that is being followed; known.
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        Unknown,
        Open,
        Known,
    }
    let mut state = vec![State::Unknown; is_page.len()];
    let mut stands_for = vec![NONE; is_page.len()];
    let mut chain: Vec<u32> = Vec::new();
    for start in 0..is_page.len() as u32 {
        let mut node = start;
        let mut page = loop {
            if node == NONE {
                break NONE;
            }
            match state[node as usize] {
                State::Known => break stands_for[node as usize],
                State::Open => {
                    let first = chain.iter().position(|other| *other == node).unwrap_or_default();
                    let pages = chain[first..].iter().filter(|member| is_page[**member as usize]);
                    let page = pages.min().copied().unwrap_or(NONE);
                    for member in chain.drain(first..) {
                        (state[member as usize], stands_for[member as usize]) = (State::Known, page);
                    }
                    break page;
                }
                State::Unknown => {
                    state[node as usize] = State::Open;
                    chain.push(node);
                    node = refers_to[node as usize];
                }
            }
        };
        for node in chain.drain(..).rev() {
            if page == NONE && is_page[node as usize] {
                page = node;
            }
            (state[node as usize], stands_for[node as usize]) = (State::Known, page);
        }
    }
    stands_for
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition: follow the references until they end or repeat.
    fn slow(is_page: &[bool], refers_to: &[u32], node: u32) -> u32 {
        let mut chain = vec![node];
        loop {
            let next = refers_to[chain[chain.len() - 1] as usize];
            if let Some(first) = chain.iter().position(|other| *other == next) {
                let pages = chain[first..].iter().filter(|member| is_page[**member as usize]).min();
                if let Some(page) = pages {
                    return *page;
                }
                chain.truncate(first);
                break;
            }
            if next == NONE {
                break;
            }
            chain.push(next);
        }
        chain.into_iter().rev().find(|member| is_page[*member as usize]).unwrap_or(NONE)
    }

    proptest! {
        #[test]
        fn follows_chains_and_loops(nodes in prop::collection::vec((any::<bool>(), 0u32..16), 0..14)) {
            let is_page: Vec<bool> = nodes.iter().map(|node| node.0).collect();
            let refers_to: Vec<u32> = nodes.iter().map(|node| if (node.1 as usize) < nodes.len() { node.1 } else { NONE }).collect();
            let expected: Vec<u32> = (0..nodes.len() as u32).map(|node| slow(&is_page, &refers_to, node)).collect();
            prop_assert_eq!(fold(&is_page, &refers_to), expected);
        }
    }

    #[test]
    fn a_long_chain_is_followed_to_its_end() {
        let nodes = 1 << 20;
        let refers_to: Vec<u32> = (1..nodes).chain([NONE]).collect();
        let pages = vec![true; nodes as usize];
        assert!(fold(&pages, &refers_to).iter().all(|page| *page == nodes - 1));
    }
}
