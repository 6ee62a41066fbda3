//! A merge of several parts, against the model of one collection with all their pages.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::{Crawl, Visit, arcs_of, files, model, signature, visit};
use crate::graph::pages::{Base, Folded, KeyRange, Merge, Part, Text, Union, Version};
use crate::{Error, Pulse, Result};

/// A part in memory: the newest version of each URL, by key.
struct Visited {
    versions: BTreeMap<Vec<u8>, Version>,
    links: (PathBuf, u64),
}

impl Part for Visited {
    fn pieces(&self, _: usize) -> Result<Vec<(Vec<u8>, u64)>> {
        Ok(self.versions.keys().map(|key| (key.clone(), 1)).collect())
    }

    fn versions(&self, keys: &KeyRange) -> Result<Box<dyn Iterator<Item = Result<Version>> + '_>> {
        let to = keys.to.clone();
        let from = self.versions.range(keys.from.clone()..);
        let within = from.take_while(move |(key, _)| to.as_ref().is_none_or(|to| *key < to));
        Ok(Box::new(within.map(|(_, version)| Ok(version.clone()))))
    }

    fn links(&self) -> (PathBuf, u64) {
        self.links.clone()
    }
}

/// A visit by one of the agents; the text of a page, and whether it is no copy there.
type Divided = (u8, Visit, usize, Option<(u8, bool)>);

fn visited(folder: &Path, part: usize, visits: &[Divided]) -> Visited {
    let folder = folder.join(part.to_string());
    std::fs::create_dir(&folder).unwrap();
    let (mut crawl, mut versions) = (Crawl::new(&folder), BTreeMap::new());
    for (time, (number, visit, owner, text)) in visits.iter().enumerate() {
        if *owner == part {
            crawl.visit(*number, visit);
            let row = crawl.rows.last().unwrap().clone();
            let text = text.filter(|_| row.is_page).map(|(text, is_own)| Text {
                digest: u128::from(text),
                is_own,
                canonical: row.alias.filter(|_| is_own),
            });
            versions.insert(row.key.clone(), Version { row, time: time as u64, text });
        }
    }
    let links = (folder.join("links.log"), crawl.log.sync().unwrap());
    Visited { versions, links }
}

/// The text of a page, and whether it is no copy.
fn text_of(visited: &Divided) -> Option<(u8, bool)> {
    visited.3.filter(|_| matches!(visited.1, Visit::Page { .. }))
}

/// The newest visit of each URL, as one crawler would know it: a page with the text of an earlier part's stands for that.
fn as_one(visits: &[Divided]) -> Vec<(u8, Visit)> {
    let newest: BTreeMap<u8, &Divided> = visits.iter().map(|visit| (visit.0, visit)).collect();
    let in_parts: BTreeMap<(u8, usize), &Divided> =
        visits.iter().map(|visit| ((visit.0, visit.2), visit)).collect();
    let first = |visited: &Divided| {
        let own = (text_of(visited)?.0, true);
        let same = in_parts.values().filter(|other| other.0 == visited.0 && text_of(other) == Some(own));
        same.map(|other| other.2).min()
    };
    let original = |text: u8| {
        let same = newest.values().filter(|other| text_of(other).is_some_and(|other| other.0 == text));
        let known = same.filter_map(|other| Some((first(other)?, signature(other.0), other.0)));
        known.min().map(|(part, _, number)| (part, number))
    };
    let as_one = |visited: &&Divided| {
        let (number, visit, part, _) = *visited;
        let original = text_of(visited).and_then(|text| original(text.0));
        let (Visit::Page { alias, followed, nofollow }, Some((home, original))) = (visit, original) else {
            return (*number, visit.clone());
        };
        let alias = if original == *number {
            alias.filter(|_| text_of(visited).is_some_and(|text| text.1))
        } else if first(visited).unwrap_or(*part) == home {
            *alias
        } else {
            Some(original)
        };
        (*number, Visit::Page { alias, followed: followed.clone(), nofollow: nofollow.clone() })
    };
    newest.values().map(as_one).collect()
}

fn divided() -> impl Strategy<Value = (usize, Vec<Divided>)> {
    (1usize..5).prop_flat_map(|parts| {
        let text = prop::option::weighted(0.4, (0u8..4, prop::bool::weighted(0.7)));
        (Just(parts), prop::collection::vec((0u8..12, visit(), 0..parts, text), 0..40))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(64)))]

    #[test]
    fn the_graph_of_all_parts_is_that_of_one_collection(
        (parts, visits) in divided(),
        nofollow in any::<bool>(),
        memory in prop_oneof![Just(1usize), 1usize..10_000, Just(1 << 30)],
    ) {
        let folder = tempfile::tempdir().unwrap();
        let parts: Vec<Visited> = (0..parts).map(|part| visited(folder.path(), part, &visits)).collect();
        let parts: Vec<&dyn Part> = parts.iter().map(|part| part as &dyn Part).collect();
        for (number, folds_copies) in [false, true].into_iter().enumerate() {
            let files = files(folder.path(), number);
            let [_, lengths @ ..] =
                Merge { parts: &parts, folds_copies, memory }.write(&files, &Pulse::STEADY).unwrap();
            let base = Base::open(&files, lengths, 0).unwrap();
            let union = Union::open(Some(base), Vec::new(), Path::new(""), 0, &Pulse::STEADY).unwrap();
            let folded = Folded::new(union, nofollow, &Pulse::STEADY).unwrap();
            let expected = match folds_copies {
                true => as_one(&visits),
                false => visits.iter().map(|visited| (visited.0, visited.1.clone())).collect(),
            };
            prop_assert_eq!(arcs_of(&folded), model(&expected, nofollow));
        }
        let merge = Merge { parts: &parts, folds_copies: true, memory };
        let stopped = merge.write(&files(folder.path(), 2), &Pulse::new(&|| false));
        prop_assert!(matches!(stopped, Err(Error::Stopped)));
    }

    #[test]
    fn pages_that_come_later_find_the_links_of_a_merged_base(
        (parts, visits) in divided(),
        later in prop::collection::vec((0u8..14, visit()), 0..12),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let parts: Vec<Visited> = (0..parts).map(|part| visited(folder.path(), part, &visits)).collect();
        let parts: Vec<&dyn Part> = parts.iter().map(|part| part as &dyn Part).collect();
        let files = files(folder.path(), 0);
        let merge = Merge { parts: &parts, folds_copies: false, memory: 1 };
        let [_, lengths @ ..] = merge.write(&files, &Pulse::STEADY).unwrap();
        let mut crawl = Crawl::new(folder.path());
        later.iter().for_each(|(number, visit)| crawl.visit(*number, visit));
        let committed = crawl.log.sync().unwrap();
        let base = Base::open(&files, lengths, 0).unwrap();
        let links = folder.path().join("links.log");
        let union = Union::open(Some(base), crawl.rows, &links, committed, &Pulse::STEADY).unwrap();
        let folded = Folded::new(union, true, &Pulse::STEADY).unwrap();
        let all: Vec<(u8, Visit)> = visits.into_iter().map(|visited| (visited.0, visited.1)).chain(later).collect();
        prop_assert_eq!(arcs_of(&folded), model(&all, true));
    }
}
