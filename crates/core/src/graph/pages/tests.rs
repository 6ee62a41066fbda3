//! The union and its folding, against a model written from the definition.

mod merge;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::disk::log::LogWriter;
use crate::graph::{LINKS, PageLinks, order};
use crate::{Pulse, Signature};

/// URLs on a few hosts; some are never rows.
fn url(number: u8) -> String {
    format!("http://h{}.example/{number}", number % 3)
}

fn signature(number: u8) -> Signature {
    Signature::of(url(number).as_bytes())
}

/// What a crawl learns of a URL.
#[derive(Clone, Debug)]
enum Visit {
    Page { alias: Option<u8>, followed: Vec<u8>, nofollow: Vec<u8> },
    Redirect(u8),
    Gone,
}

fn visit() -> impl Strategy<Value = Visit> {
    let targets = || prop::collection::vec(0u8..14, 0..6);
    let page = (prop::option::weighted(0.2, 0u8..14), targets(), targets())
        .prop_map(|(alias, followed, nofollow)| Visit::Page { alias, followed, nofollow });
    prop_oneof![6 => page, 2 => (0u8..14).prop_map(Visit::Redirect), 1 => Just(Visit::Gone)]
}

fn visits() -> impl Strategy<Value = Vec<(u8, Visit)>> {
    prop::collection::vec((0u8..12, visit()), 0..12)
}

/// A log of links, and the rows that go with it.
struct Crawl {
    log: LogWriter,
    rows: Vec<PageRow>,
}

impl Crawl {
    fn new(folder: &Path) -> Crawl {
        Crawl { log: LogWriter::open(&folder.join("links.log"), LINKS, 0).unwrap(), rows: Vec::new() }
    }

    fn visit(&mut self, number: u8, visit: &Visit) {
        let signatures = |numbers: &[u8]| numbers.iter().copied().map(signature).collect();
        let (is_page, alias) = match visit {
            Visit::Page { alias, followed, nofollow } => {
                let links = PageLinks { followed: signatures(followed), nofollow: signatures(nofollow) };
                self.log.append(signature(number), &links.encode()).unwrap();
                (true, *alias)
            }
            Visit::Redirect(target) => {
                let links = PageLinks { followed: signatures(&[*target]), nofollow: Vec::new() };
                self.log.append(signature(number), &links.encode()).unwrap();
                (false, Some(*target))
            }
            Visit::Gone => (false, None),
        };
        let (key, alias) = (order::key(&url(number)), alias.map(signature));
        self.rows.push(PageRow { signature: signature(number), key, is_page, alias });
    }
}

type Arcs = BTreeMap<String, BTreeSet<String>>;

/// The definition, on the newest visit of each URL.
fn model(visits: &[(u8, Visit)], with_nofollow: bool) -> Arcs {
    let known: BTreeMap<u8, &Visit> = visits.iter().map(|(number, visit)| (*number, visit)).collect();
    let mut order: Vec<u8> = known.keys().copied().collect();
    order.sort_by_key(|number| order::key(&url(*number)));
    let place = |number: &u8| order.iter().position(|other| other == number);
    let is_page: Vec<bool> = order.iter().map(|number| matches!(known[number], Visit::Page { .. })).collect();
    let refers_to: Vec<u32> = order
        .iter()
        .map(|number| match known[number] {
            Visit::Page { alias, .. } => *alias,
            Visit::Redirect(target) => Some(*target),
            Visit::Gone => None,
        })
        .map(|alias| alias.and_then(|alias| place(&alias)).map_or(NONE, |place| place as u32))
        .collect();
    let pages = fold(&is_page, &refers_to);
    let page_of = |number: &u8| {
        let page = pages[place(number)?];
        (page != NONE).then(|| url(order[page as usize]))
    };
    let mut arcs: Arcs = order.iter().filter_map(&page_of).map(|page| (page, BTreeSet::new())).collect();
    for number in &order {
        let (Visit::Page { followed, nofollow, .. }, Some(source)) = (known[number], page_of(number)) else {
            continue;
        };
        let others: &[u8] = if with_nofollow { nofollow } else { &[] };
        let targets = followed.iter().chain(others).filter_map(&page_of).filter(|target| *target != source);
        let targets: Vec<String> = targets.collect();
        arcs.get_mut(&source).unwrap().extend(targets);
    }
    arcs
}

fn arcs_of(folded: &Folded) -> Arcs {
    let view = folded.arcs.view();
    let name = |node: u32| folded.names.get(node as usize).unwrap();
    let nodes = 0..view.nodes() as u32;
    let keys: Vec<Vec<u8>> = nodes.clone().map(|node| order::key(&name(node))).collect();
    assert!(keys.is_sorted_by(|one, other| one < other));
    nodes
        .map(|node| (name(node), view.successors(node as usize).iter().copied().map(name).collect()))
        .collect()
}

fn files(folder: &Path, number: usize) -> BaseFiles {
    let file = |what: &str| folder.join(format!("{what}-{number}"));
    BaseFiles {
        urls: file("urls"),
        nodes: file("nodes"),
        links: file("links"),
        nofollow: file("nofollow"),
        pending: file("pending"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(64)))]

    #[test]
    fn any_sequence_of_additions_gives_the_graph_built_at_once(
        batches in prop::collection::vec((visits(), any::<bool>()), 1..5),
        nofollow in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let links = folder.path().join("links.log");
        let mut crawl = Crawl::new(folder.path());
        let (mut base, mut covered) = (None, (0, 0));
        let mut all = Vec::new();
        for (number, (batch, writes)) in batches.iter().enumerate() {
            batch.iter().for_each(|(number, visit)| crawl.visit(*number, visit));
            all.extend(batch.iter().cloned());
            let committed = crawl.log.sync().unwrap();
            let open = |base: &Option<(BaseFiles, [u64; 4])>, rows: &[PageRow]| {
                let base = base.as_ref().map(|(files, lengths)| Base::open(files, *lengths, covered.0).unwrap());
                Union::open(base, rows.to_vec(), &links, committed, &Pulse::STEADY).unwrap()
            };
            let folded = Folded::new(open(&base, &crawl.rows[covered.1..]), nofollow, &Pulse::STEADY).unwrap();
            let expected = model(&all, nofollow);
            prop_assert_eq!(arcs_of(&folded), expected.clone());
            let at_once = Folded::new(open(&None, &crawl.rows), nofollow, &Pulse::STEADY).unwrap();
            prop_assert_eq!(arcs_of(&at_once), expected);
            for number in 0..14 {
                prop_assert_eq!(folded.names.find(&url(number)).unwrap(), at_once.names.find(&url(number)).unwrap());
            }
            let signatures = |folded: &Folded| {
                let mut signatures = folded.names.signatures(&Pulse::STEADY).unwrap();
                signatures.sort();
                signatures
            };
            prop_assert_eq!(signatures(&folded), signatures(&at_once));
            if *writes {
                let next = files(folder.path(), number);
                let written = folded.names.union().write(&next, &Pulse::STEADY).unwrap();
                let lengths = [written[1], written[2], written[3], written[4]];
                base = Some((next, lengths));
                covered = (committed, crawl.rows.len());
            }
        }
    }
}
