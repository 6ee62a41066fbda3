//! The contract of list coding, for every code.

use super::*;
use crate::codes::words::LONGEST;
use proptest::prelude::*;

/// Codes with a parameter, which cannot encode every list.
fn others() -> Vec<Code> {
    [
        "unary",
        "unary-ordered",
        "golomb-of:1",
        "golomb-of:100000",
        "zeta1",
        "zeta20",
        "golomb:1",
        "golomb:13",
        "golomb:1000003",
        "rice:0",
        "rice:4",
        "rice:63",
        "minimal:2",
        "minimal:1000",
        "minimal:4294967296",
    ]
    .map(|name| name.parse().unwrap())
    .to_vec()
}

fn coders() -> Vec<Coder> {
    let trained =
        Coder::train(Code::Ans, &[vec![1, 2, 3, 1, 1, 700], vec![0; 50], (0..300).collect()]).unwrap();
    let codes = Code::all().into_iter().chain(others());
    codes.map(|code| Coder::new(code).unwrap()).chain([trained]).collect()
}

/// Lists like those of an index: most are short, all sizes of numbers occur, some lists are constant.
fn some_list() -> impl Strategy<Value = Vec<u32>> {
    let length = prop_oneof![0usize..9, 0usize..140, 250usize..700];
    let number = (any::<u32>(), any::<u32>());
    let mixed = (length.clone(), 0u32..33).prop_flat_map(move |(length, shift)| {
        prop::collection::vec(number, length).prop_map(move |numbers| {
            let shifted = |(number, more): (u32, u32)| number.checked_shr(shift.max(more % 40)).unwrap_or(0);
            numbers.into_iter().map(shifted).collect::<Vec<u32>>()
        })
    });
    let even = (length.clone(), 0u32..32)
        .prop_flat_map(|(length, shift)| prop::collection::vec(0..=u32::MAX >> shift, length));
    let equal = (length, any::<u32>(), 0u32..33)
        .prop_map(|(length, number, shift)| vec![number.checked_shr(shift).unwrap_or(0); length]);
    prop_oneof![4 => mixed, 2 => even, 1 => equal]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(24)))]

    #[test]
    fn gives_back_what_was_written(numbers in some_list(), before in any::<u8>(), after in prop::collection::vec(any::<u8>(), 0..12)) {
        for coder in coders() {
            let mut bytes = vec![before];
            let written = coder.write(&numbers, &mut bytes);
            if written.is_err() {
                prop_assert!(others().contains(&coder.code()), "{} refused", coder.code());
                prop_assert_eq!(&bytes, &[before]);
                prop_assert!(coder.bits(&numbers).is_err());
                continue;
            }
            prop_assert_eq!(coder.bits(&numbers).unwrap(), (bytes.len() as u64 - 1) * 8, "{}", coder.code());
            bytes.extend(&after);
            let mut rest = &bytes[1..];
            let mut decoded = vec![7; 3];
            prop_assert_eq!(coder.read(&mut rest, numbers.len(), &mut decoded), Some(()), "{}", coder.code());
            prop_assert_eq!(&decoded, &numbers, "{}", coder.code());
            prop_assert_eq!(rest, &after, "{}", coder.code());
        }
    }

    #[test]
    fn damaged_bytes_give_numbers_or_nothing(
        numbers in some_list(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        cut in any::<prop::sample::Index>(),
        n in prop_oneof![0usize..700, any::<usize>()],
    ) {
        for coder in coders() {
            let mut bytes = Vec::new();
            if coder.write(&numbers, &mut bytes).is_err() || bytes.is_empty() {
                continue;
            }
            let mut decoded = Vec::new();
            let whole = cut.index(bytes.len());
            let shorter = coder.read(&mut &bytes[..whole], numbers.len(), &mut decoded);
            prop_assert!(shorter.is_none() || decoded == numbers || decoded.len() == numbers.len());
            for (place, byte) in &flips {
                let place = place.index(bytes.len());
                bytes[place] ^= byte;
            }
            for n in [n, numbers.len()] {
                let mut rest = bytes.as_slice();
                if coder.read(&mut rest, n, &mut decoded).is_some() {
                    prop_assert_eq!(decoded.len(), n);
                }
                prop_assert!(decoded.capacity() <= 700.max(256 * bytes.len()) + 700);
            }
        }
    }

    #[test]
    fn random_bytes_give_numbers_or_nothing(bytes in prop::collection::vec(any::<u8>(), 0..200), n in prop_oneof![0usize..700, any::<usize>()]) {
        for coder in coders() {
            let mut decoded = Vec::new();
            if coder.read(&mut bytes.as_slice(), n, &mut decoded).is_some() {
                prop_assert_eq!(decoded.len(), n);
            }
            Coder::from_bytes(coder.code(), &bytes);
        }
    }

    #[test]
    fn trained_coders_come_back(sample in prop::collection::vec(some_list(), 0..12), flip in any::<(prop::sample::Index, u8)>()) {
        let coder = Coder::train(Code::Ans, &sample).unwrap();
        let mut kept = coder.to_bytes();
        let again = Coder::from_bytes(Code::Ans, &kept).unwrap();
        prop_assert_eq!(again.to_bytes(), kept.clone());
        for list in &sample {
            let mut bytes = Vec::new();
            coder.write(list, &mut bytes).unwrap();
            let mut decoded = Vec::new();
            prop_assert_eq!(again.read(&mut bytes.as_slice(), list.len(), &mut decoded), Some(()));
            prop_assert_eq!(&decoded, list);
        }
        let place = flip.0.index(kept.len());
        kept[place] ^= flip.1;
        if let Some(other) = Coder::from_bytes(Code::Ans, &kept) {
            prop_assert_eq!(other.to_bytes(), kept);
        }
    }
}

#[test]
fn zeros_take_a_byte_and_nothing_takes_none() {
    for coder in coders() {
        assert_eq!(coder.bits(&[]).unwrap(), 0, "{}", coder.code());
        let blocks = [Code::Simd128, Code::Simd256, Code::Pfor128, Code::Pfor256, Code::Ans];
        if blocks.contains(&coder.code()) {
            for n in [1, 2, 7, 100, 128] {
                assert_eq!(coder.bits(&vec![0; n]).unwrap(), 8, "{} of {n}", coder.code());
            }
        }
    }
}

#[test]
fn absurd_words_are_refused() {
    let longest = LONGEST as u32;
    for (name, held, refused) in [
        ("unary", longest - 1, longest),
        ("golomb:1", longest - 1, longest),
        ("rice:0", longest - 1, longest),
        ("rice:4", ((longest - 5) << 4) + 15, (longest - 4) << 4),
        ("minimal:1000", 999, 1000),
    ] {
        let coder = Coder::new(name.parse().unwrap()).unwrap();
        assert!(coder.write(&[held], &mut Vec::new()).is_ok(), "{name}");
        assert!(matches!(coder.write(&[held, refused], &mut Vec::new()), Err(Error::Invalid(_))), "{name}");
    }
}

#[test]
fn a_far_number_among_many_small_ones_is_held() {
    let mut numbers = vec![1; 100_000];
    numbers[50_000] = u32::MAX;
    for code in Code::all() {
        let coder = Coder::new(code).unwrap();
        let (mut bytes, mut decoded) = (Vec::new(), Vec::new());
        coder.write(&numbers, &mut bytes).unwrap();
        assert_eq!(coder.read(&mut bytes.as_slice(), numbers.len(), &mut decoded), Some(()), "{code}");
        assert_eq!(decoded, numbers, "{code}");
    }
}
