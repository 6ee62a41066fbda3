//! Damaged files: an error, or answers from the intact parts; with valid checksums, never a panic nor an
//! endless search.

use super::model::{some_model, some_query};
use super::*;
use crate::index::format::directory::Directory;
use crate::index::format::pages::{PAGE, reseal};
use crate::search::rank::Method;
use crate::search::score::Proximity;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(24)))]
    #[test]
    fn damage_is_an_error_and_never_an_answer(
        pages in some_pages(),
        at in any::<prop::sample::Index>(),
        flip in 1u8..,
        query in some_query(),
        cut in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let files = build(dir.path(), &[&pages], &Options::default());
        let text = query.text();
        let found = |searcher: &Searcher| hits(searcher, &everything(&text));
        let expected = found(&open(dir.path(), &files).unwrap()).unwrap();
        let path = dir.path().join(&files[0].name);
        let mut bytes = std::fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] ^= flip;
        }
        std::fs::write(&path, &bytes).unwrap();
        let damaged = open(dir.path(), &files).and_then(|searcher| {
            // A search that does not touch the damage may answer correctly; any other is an error.
            if let Ok(found) = found(&searcher) {
                assert_eq!(found, expected);
            }
            searcher.verify(&Pulse::STEADY)
        });
        assert!(matches!(damaged, Err(Error::Corrupt { .. } | Error::Newer { .. })));
        let cut_back = SegmentFile { name: files[0].name.clone(), length: bytes.len() as u64 };
        prop_assert!(open(dir.path(), &[cut_back]).and_then(|searcher| searcher.verify(&Pulse::STEADY)).is_err());
    }

    #[test]
    fn damage_under_right_checksums_harms_nobody(
        pages in prop::collection::vec(some_page(), 100..200),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        queries in prop::collection::vec((some_query(), some_model()), 3),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let pages: Vec<Page> =
            pages.into_iter().enumerate().map(|(number, page)| Page { url: number.to_string(), ..page }).collect();
        let files = build(dir.path(), &[&pages], &small_blocks());
        let path = dir.path().join(&files[0].name);
        let mut bytes = std::fs::read(&path).unwrap();
        // Everything but the header, the checksums and the directory.
        let body = bytes.len() - 4 - Directory::LENGTH;
        let body = body - body.div_ceil(PAGE + 4) * 4;
        for (place, byte) in damage {
            bytes[16 + place.index(body - 16)] = byte;
        }
        reseal(&mut bytes, Directory::LENGTH);
        std::fs::write(&path, &bytes).unwrap();
        let Ok(searcher) = open(dir.path(), &files) else { return Ok(()) };
        for (query, model) in &queries {
            let text = query.text();
            for (_, method) in Method::ALL {
                let request = everything_with(&text, |options| {
                    (options.model, options.method) = (*model, *method);
                    options.proximity = Proximity::default();
                });
                let request = Request { depth: 10, facets: 3, ..request };
                if let Ok(ranking) = searcher.rank(&request, &Pulse::STEADY) {
                    let _ = searcher.show(&ranking, 0..3, true);
                    if let Some(hit) = ranking.hits.first() {
                        let _ = searcher.explain(&request, &hit.ranked, &Pulse::STEADY);
                    }
                }
            }
            let _ = searcher.count(&everything(&text), &Pulse::STEADY);
            let _ = searcher.suggest(&text, "en");
        }
    }
}
