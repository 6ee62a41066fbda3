//! The contract of a stream, through files: the recorded verdicts are those of a set of the lines.

use std::collections::HashSet;
use std::io::Write;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::Error;

fn sifted(content: &[u8], key: KeyOf) -> (Counts, Vec<u8>) {
    let folder = TempDir::new().unwrap();
    let (path, record) = (folder.path().join("lines"), folder.path().join("record"));
    std::fs::write(&path, content).unwrap();
    let mut exact = Exact::new(1 << 20);
    let inputs = [Input { path: Some(path), key: Some(key) }];
    let counts = sift(&inputs, &mut exact, Emit::Nothing, Some(&record), &Pulse::STEADY).unwrap();
    (counts, std::fs::read(record).unwrap())
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_line_is_judged_once(lines in prop::collection::vec("[ab\r]{0,3}", 0..60), cut in any::<prop::sample::Index>()) {
        let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes();
        let mut known = HashSet::new();
        let mut expected = Vec::new();
        for line in &lines {
            let key = line.strip_suffix('\r').unwrap_or(line);
            expected.extend_from_slice(&Signature::of(key.as_bytes()).0.to_le_bytes());
            expected.push(u8::from(!known.insert(key)));
        }
        let (counts, record) = sifted(&text, KeyOf::Line);
        prop_assert_eq!(&record, &expected);
        prop_assert_eq!((counts.lines, counts.new), (lines.len() as u64, known.len() as u64));
        prop_assert_eq!((counts.new + counts.duplicates, counts.bytes), (counts.lines, text.len() as u64));
        let cut = if text.is_empty() { 0 } else { cut.index(text.len()) };
        let members = [gzip(&text[..cut]), gzip(&text[cut..])].concat();
        prop_assert_eq!(sifted(&members, KeyOf::Line), (counts, record));
    }
}

#[test]
fn lines_are_judged_up_to_the_bound_and_passed_on_beyond() {
    for (length, long) in [(LONGEST - 1, false), (LONGEST, false), (LONGEST + 1, true), (5 * LONGEST, true)] {
        let line = vec![b'x'; length];
        for end in [&b"\n"[..], b""] {
            let text = [b"a\n", &line[..], b"\na\n", &line, end].concat();
            let (counts, record) = sifted(&text, KeyOf::Line);
            let judged = if long { 2 } else { 4 };
            assert_eq!(counts.lines, 4, "{length}");
            assert_eq!((counts.long, counts.duplicates), (4 - judged, judged / 2), "{length}");
            assert_eq!((record.len() as u64, counts.bytes), (9 * judged, text.len() as u64));
        }
    }
}

#[test]
fn damage_is_named_and_what_came_before_is_judged() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("lines.gz");
    let whole = gzip(b"a\nb\n");
    for damaged in [&whole[..whole.len() - 3], &[&whole[..], b"rubbish"].concat()] {
        std::fs::write(&path, damaged).unwrap();
        let mut exact = Exact::new(1 << 20);
        let inputs = [Input { path: Some(path.clone()), key: None }];
        let outcome = sift(&inputs, &mut exact, Emit::Nothing, None, &Pulse::STEADY);
        assert!(matches!(outcome, Err(Error::Corrupt { .. })), "{outcome:?}");
        assert_eq!(exact.len(), 2);
    }
}

#[test]
fn a_warc_file_is_told_unless_its_lines_are_asked_for() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("pages");
    for content in [b"WARC/1.0\r\n".to_vec(), gzip(b"WARC/1.1\r\nWARC-Type: warcinfo\r\n")] {
        std::fs::write(&path, content).unwrap();
        let sifted = |key| {
            let inputs = [Input { path: Some(path.clone()), key }];
            sift(&inputs, &mut Exact::new(1 << 20), Emit::Nothing, None, &Pulse::STEADY)
        };
        assert!(matches!(sifted(None), Err(Error::Invalid(_))));
        assert!(sifted(Some(KeyOf::Line)).unwrap().lines > 0);
    }
}
