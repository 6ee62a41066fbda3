//! A segment is a function of its documents and their order: the number of threads and the memory budget have
//! no effect.

use proptest::prelude::*;

use super::*;
use crate::index::build::join::join;
use crate::index::{CodeChoice, Preference};

/// Pages with Zipf-distributed words, in several languages, some of them added twice.
fn some_pages(seed: u64) -> Vec<[String; 4]> {
    let mut random = seed | 1;
    let mut draw = |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    let page = |_| {
        let url = format!("https://{}.example/{}", draw(5), draw(600));
        let title = format!("page {} of {}", draw(50), draw(9));
        let language = ["en", "it", "", "xx", "en-GB"][draw(5) as usize];
        let words = 20 + draw(900);
        let mut body = String::new();
        for _ in 0..words {
            let rank = (6000f64).powf(draw(1 << 20) as f64 / f64::from(1 << 20)) as u32;
            body.push_str(&format!("w{rank:x} "));
        }
        [url, title, body, language.to_owned()]
    };
    (0..500).map(page).collect()
}

fn document([url, title, body, language]: &[String; 4]) -> NewDocument<'_> {
    NewDocument { url, title, body, language, kind: "text/html", ..NewDocument::default() }
}

fn build(folder: &Path, number: u64, pages: &[[String; 4]], options: &Options) -> SegmentFile {
    let mut builder = IndexBuilder::new(folder, number, *options);
    for batch in pages.chunks(64) {
        let batch: Vec<NewDocument<'_>> = batch.iter().map(document).collect();
        builder.add(&batch, &Pulse::STEADY).unwrap();
    }
    builder.finish(&Pulse::STEADY).unwrap().unwrap()
}

/// The bytes of a segment of all pages, and of the merge of two segments with half of the pages each.
fn bytes(pages: &[[String; 4]], options: &Options) -> [Vec<u8>; 2] {
    let folder = tempfile::tempdir().unwrap();
    let read = |file: SegmentFile| std::fs::read(folder.path().join(file.name)).unwrap();
    let whole = build(folder.path(), 1, pages, options);
    let halves = [&pages[..pages.len() / 2], &pages[pages.len() / 2..]];
    let halves = [2, 3].map(|number| build(folder.path(), number, halves[number as usize - 2], options));
    let joined = join(folder.path(), &halves, 4, true, options, &Pulse::STEADY).unwrap().remove(0);
    [read(whole), read(joined)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(2)))]

    #[test]
    fn threads_and_memory_leave_no_trace(
        seed: u64,
        order in prop::sample::select(vec![Order::Arrival, Order::Url, Order::Bisection]),
        prefer in prop::sample::select(vec![Preference::Balanced, Preference::Smallest, Preference::Fastest]),
    ) {
        let pages = some_pages(seed);
        let codes = CodeChoice { prefer, ..CodeChoice::default() };
        let with = |threads, memory| Options { threads, memory, order, codes, ..Options::default() };
        let expected = bytes(&pages, &with(1, 256 << 20));
        // The smaller budgets cut the pages into several chunks.
        for (threads, memory) in [(1, 0), (2, 0), (2, 40 << 20), (3, 0), (3, 20 << 20)] {
            prop_assert!(bytes(&pages, &with(threads, memory)) == expected, "{} threads, {} bytes", threads, memory);
        }
    }
}

#[test]
fn deletions_come_in_any_order() {
    let deleted = [7, 3, 9, 3].map(Signature);
    let segment = |deleted: &[Signature]| {
        let folder = tempfile::tempdir().unwrap();
        let mut builder = IndexBuilder::new(folder.path(), 1, Options::default());
        builder.delete(deleted.iter().copied());
        let file = builder.finish(&Pulse::STEADY).unwrap().unwrap();
        std::fs::read(folder.path().join(file.name)).unwrap()
    };
    assert_eq!(segment(&deleted), segment(&[3, 7, 9].map(Signature)));
}
