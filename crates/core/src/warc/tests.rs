//! Files in every form in which archives come, whole and damaged.

use std::io::Write;
use std::path::Path;

use flate2::Compression as Level;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;
use crate::Pulse;

/// A record as text, with a body that no other record has.
fn record(number: usize, body: &[u8]) -> Vec<u8> {
    let mut text = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/{number}\r\n\
         WARC-Date: 2024-05-01T12:00:00Z\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    text.extend_from_slice(body);
    text.extend_from_slice(b"\r\n\r\n");
    text
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Level::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

/// The ways to store records in a file.
fn forms(records: &[Vec<u8>]) -> Vec<(&'static str, Vec<u8>)> {
    let whole = records.concat();
    let halves = whole.split_at(whole.len() / 2);
    vec![
        ("plain", whole.clone()),
        ("a gzip member each", records.iter().flat_map(|record| gzip(record)).collect()),
        ("one gzip member", gzip(&whole)),
        ("members across records", [gzip(halves.0), gzip(halves.1)].concat()),
        ("a frame each", records.iter().flat_map(|record| zstandard(record)).collect()),
        ("one frame", zstandard(&whole)),
    ]
}

struct Found {
    urls: Vec<String>,
    blocks: Vec<Vec<u8>>,
    damage: Vec<(u64, String)>,
    positions: Vec<Position>,
}

fn write(folder: &Path, bytes: &[u8]) -> std::path::PathBuf {
    let path = folder.join("archive");
    std::fs::write(&path, bytes).unwrap();
    path
}

fn read_from(path: &Path, at: Position) -> Found {
    let mut reader = Reader::resume(path, ReaderOptions::default(), at, &Pulse::STEADY).unwrap();
    let mut found = Found { urls: vec![], blocks: vec![], damage: vec![], positions: vec![] };
    while let Some(item) = reader.next().unwrap() {
        match item {
            Item::Record(entry) => {
                found.urls.push(entry.url().to_owned());
                found.blocks.push(entry.block);
            }
            Item::Damage { offset, reason } => found.damage.push((offset, reason)),
        }
        found.positions.push(reader.position());
    }
    found
}

fn read(bytes: &[u8]) -> Found {
    let folder = tempfile::tempdir().unwrap();
    read_from(&write(folder.path(), bytes), Position::default())
}

/// Bodies that look like records, line ends and nothing.
fn bodies() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let body = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..300),
        Just(b"WARC/1.0\r\n\r\nWARC-Type: x".to_vec()),
        Just(b"\r\n\r\n\r\n".to_vec()),
        (60_000usize..200_000).prop_map(|length| (0..length).map(|at| (at % 251) as u8).collect()),
    ];
    prop::collection::vec(body, 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_form_gives_every_record(bodies in bodies()) {
        let records: Vec<_> = bodies.iter().enumerate().map(|(number, body)| record(number, body)).collect();
        let folder = tempfile::tempdir().unwrap();
        for (form, bytes) in forms(&records) {
            let path = write(folder.path(), &bytes);
            let found = read_from(&path, Position::default());
            prop_assert_eq!(&found.damage, &vec![], "{}", form);
            prop_assert_eq!(&found.blocks, &bodies, "{}", form);
            for (done, position) in found.positions.iter().enumerate() {
                prop_assert_eq!(&read_from(&path, *position).blocks, &bodies[done + 1..], "{} from {}", form, done);
            }
        }
    }

    #[test]
    fn damage_costs_the_record_it_is_in(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..300), 3..6),
        place in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let records: Vec<_> = bodies.iter().enumerate().map(|(number, body)| {
            let fields = [("WARC-Target-URI".to_owned(), format!("http://a.example/{number}"))];
            warc_record("resource", &fields, b"", body).unwrap()
        }).collect();
        let second = records[0].len()..records[0].len() + records[1].len();
        let at = second.start + place.index(second.len());
        let mut bytes = records.concat();
        if cut {
            bytes.drain(at..second.end);
        } else {
            bytes[at] ^= 0x55;
        }
        let found = read(&bytes);
        let others: Vec<_> = found.blocks.iter().filter(|block| **block != bodies[1]).cloned().collect();
        let expected: Vec<_> = bodies.iter().filter(|body| **body != bodies[1]).cloned().collect();
        prop_assert_eq!(others, expected);
        let kept = found.blocks.len() == bodies.len();
        // A flipped byte of the gzip header may mean nothing; a member that is cut to nothing leaves no trace.
        prop_assert!(kept || !found.damage.is_empty() || at == second.start && cut);
        prop_assert!(found.damage.iter().all(|(offset, _)| second.contains(&(*offset as usize))));
    }

    #[test]
    fn any_bytes_end_in_a_result(
        start in prop::sample::select(vec![&b""[..], b"WARC/1.0\r\n", &[0x1f, 0x8b, 8], &[0x28, 0xb5, 0x2f, 0xfd],
            &[0x5d, 0x2a, 0x4d, 0x18, 4, 0, 0, 0], b"filedesc://a 0 20240101000000 text/plain 3\n"]),
        bytes in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), &[start, &bytes].concat());
        if let Ok(mut reader) = Reader::open(&path, ReaderOptions::default()) {
            while let Ok(Some(_)) = reader.next() {}
        }
    }
}

#[test]
fn a_plain_file_loses_no_whole_record() {
    let mut records: Vec<_> = (0..4).map(|number| record(number, b"some text")).collect();
    for (from, to, reason) in [
        ("Content-Length: 9", "Content-Length: 7", "it is longer than it says"),
        ("Content-Length: 9", "Content-Length: 99", "it is longer than it says"),
        ("Content-Length: 9", "Content-Length: 9999", "it is longer than the rest of the file"),
        ("Content-Length", "Content-Longth", "its header has no type or no length"),
        ("WARC/1.0", "WERC/1.0", "there is no record"),
    ] {
        let whole = records[1].clone();
        records[1] = String::from_utf8(whole.clone()).unwrap().replacen(from, to, 1).into_bytes();
        let found = read(&records.concat());
        assert_eq!(found.urls, ["http://a.example/0", "http://a.example/2", "http://a.example/3"], "{to}");
        assert_eq!(found.damage, [(records[0].len() as u64, reason.to_owned())], "{to}");
        records[1] = whole;
    }
    let mut cut = records.concat();
    cut.truncate(cut.len() - 9);
    let found = read(&cut);
    assert_eq!((found.urls.len(), found.damage.len()), (3, 1));
}

#[test]
fn a_block_over_the_limit_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    for (form, bytes) in forms(&[record(0, &[b'a'; 200_000]), record(1, b"b")]) {
        let path = write(folder.path(), &bytes);
        let options = ReaderOptions { limit: 100, ..ReaderOptions::default() };
        let mut reader = Reader::open(&path, options).unwrap();
        let Some(Item::Record(first)) = reader.next().unwrap() else { panic!("{form}") };
        assert_eq!((first.block.len(), first.length, first.is_cut()), (100, 200_000, true));
        let Some(Item::Record(second)) = reader.next().unwrap() else { panic!("{form}") };
        assert_eq!((second.block.as_slice(), second.is_cut()), (&b"b"[..], false));
        assert!(reader.next().unwrap().is_none());
    }
}

#[test]
fn a_digest_is_compared() {
    let digest = "WARC-Block-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\r\nContent-Length";
    for (digest, body, damage) in [
        (digest.to_owned(), "hello", 0),
        (digest.to_owned(), "hallo", 1),
        (
            digest.replace("VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N", "AAF4C61DDCC5E8A2DABEDE0F3B482CD9AEA9434D"),
            "hello",
            0,
        ),
        (digest.replace("sha1", "md5"), "hallo", 0),
    ] {
        let text = String::from_utf8(record(0, body.as_bytes())).unwrap();
        let first = text.replacen("Content-Length", &digest, 1).into_bytes();
        let found = read(&[first, record(1, b"next")].concat());
        assert_eq!((found.damage.len(), found.urls.len()), (damage, 2 - damage));
    }
}

#[test]
fn arc_records_are_read_like_others() {
    let response = b"HTTP/1.1 200 OK\r\n\r\n<p>text";
    let first = b"filedesc://a.arc 0.0.0.0 20010203040506 text/plain 9\n1 0 Test\n\n".to_vec();
    let one = |url: &str| {
        let line = format!("{url} 192.0.2.1 20010203040506 text/html {}\n", response.len());
        [line.as_bytes(), response, b"\n"].concat()
    };
    let parts = [first, one("http://a.example/"), one("http://b.example/")];
    for bytes in [parts.concat(), parts.iter().flat_map(|part| gzip(part)).collect()] {
        let found = read(&bytes);
        assert_eq!(found.urls[1..], ["http://a.example/", "http://b.example/"]);
        assert_eq!(Http::read(&found.blocks[2]).unwrap().body, b"<p>text");
        assert_eq!(found.damage, []);
    }
}

#[test]
fn a_digest_that_is_given_is_kept() {
    let given = [(PAYLOAD_DIGEST.to_owned(), format!("sha1:{}", payload_digest(b"hello")))];
    let member = warc_record("revisit", &given, b"HTTP/1.1 304 Not Modified\r\n\r\n", b"").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut reader = Reader::open(&write(folder.path(), &member), ReaderOptions::default()).unwrap();
    let Some(Item::Record(entry)) = reader.next().unwrap() else { panic!() };
    assert_eq!(entry.field("warc-payload-digest"), Some("sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N"));
    assert_eq!(entry.fields.iter().filter(|(name, _)| name == "warc-payload-digest").count(), 1);
}
