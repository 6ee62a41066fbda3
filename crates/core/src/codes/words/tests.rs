//! The codewords are those of dsi-bitstream, and those printed in the notes.

use super::*;
use crate::codes::bits::{BitReader, BitWriter};
use dsi_bitstream::prelude::{
    BitWrite, BufBitWriter, DeltaWrite, GammaWrite, GolombWrite, LE, MemWordWriterVec, MinimalBinaryWrite,
    OmegaWrite, PiWrite, RiceWrite, ZetaWrite,
};
use proptest::prelude::*;

type Peer = BufBitWriter<LE, MemWordWriterVec<u64, Vec<u64>>>;

type WriteByPeer<'a> = &'a dyn Fn(&mut Peer, u64);

fn by_peer(numbers: &[u64], write: impl Fn(&mut Peer, u64)) -> Vec<u8> {
    let mut peer = BufBitWriter::new(MemWordWriterVec::new(Vec::new()));
    numbers.iter().for_each(|number| write(&mut peer, *number));
    peer.flush().unwrap();
    peer.into_inner().unwrap().into_inner().into_iter().flat_map(u64::to_le_bytes).collect()
}

/// Checks the codewords of `numbers` that the code can encode: against the peer's, their lengths, and that
/// they decode.
fn check<W: Words>(words: W, numbers: &[u64], peer: Option<WriteByPeer>) {
    let numbers: Vec<u64> =
        numbers.iter().copied().filter(|number| words.length(*number).is_some()).collect();
    let mut bytes = Vec::new();
    let mut writer = BitWriter::new(&mut bytes);
    numbers.iter().for_each(|number| words.write(*number, &mut writer));
    writer.finish();
    let bits: u64 = numbers.iter().map(|number| words.length(*number).unwrap()).sum();
    assert_eq!(bytes.len() as u64, bits.div_ceil(8));
    if let Some(peer) = peer {
        let expected = by_peer(&numbers, peer);
        assert_eq!(bytes, expected[..bytes.len()]);
        assert!(expected[bytes.len()..].iter().all(|byte| *byte == 0));
    }
    let mut reader = BitReader::new(&bytes);
    for number in &numbers {
        let length = words.length(*number).unwrap();
        let (peeked, its_length) = words.peek(reader.window());
        if its_length <= crate::codes::bits::WINDOW {
            assert_eq!((peeked, u64::from(its_length)), (*number, length));
        } else {
            assert!(length > 40, "{number} is decoded slowly");
        }
        let before = reader.position().1;
        assert_eq!(words.read(&mut reader), Some(*number));
        assert_eq!((reader.position().1 - before) as u64, length);
    }
}

fn some_numbers() -> impl Strategy<Value = Vec<u64>> {
    let any_size = (any::<u64>(), 0u32..64).prop_map(|(number, shift)| number >> shift);
    let near_power = (0u32..64, 0u64..3).prop_map(|(log, less)| ((1u64 << log) + 1).wrapping_sub(less));
    let number = prop_oneof![any_size, near_power, 0u64..300, Just(u64::MAX - 1), Just(u64::MAX)];
    prop::collection::vec(number, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn words_are_those_of_the_peer(numbers in some_numbers(), k in 1u32..20, parameter in 0u32..64, modulus in 1u64.., shift in 0u32..64) {
        let modulus = (modulus >> shift).max(1);
        check(Unary, &numbers, Some(&|peer, number| { peer.write_unary(number).unwrap(); }));
        check(UnaryOrdered, &numbers, None);
        check(Gamma, &numbers, Some(&|peer, number| { peer.write_gamma(number).unwrap(); }));
        check(Delta, &numbers, Some(&|peer, number| { peer.write_delta(number).unwrap(); }));
        check(Omega, &numbers, Some(&|peer, number| { peer.write_omega(number).unwrap(); }));
        check(Zeta(k), &numbers, Some(&|peer, number| { peer.write_zeta(number, k as usize).unwrap(); }));
        check(Zeta(63), &numbers, Some(&|peer, number| { peer.write_zeta(number, 63).unwrap(); }));
        check(Pi(k % 5), &numbers, Some(&|peer, number| { peer.write_pi(number, (k % 5) as usize).unwrap(); }));
        check(Rice(parameter), &numbers, Some(&|peer, number| { peer.write_rice(number, parameter as usize).unwrap(); }));
        check(Golomb::new(modulus), &numbers, Some(&|peer, number| { peer.write_golomb(number, modulus).unwrap(); }));
        let rests: Vec<u64> = numbers.iter().map(|number| number % modulus).collect();
        check(Minimal::new(modulus), &rests, Some(&|peer, number| { peer.write_minimal_binary(number, modulus).unwrap(); }));
        for block in [4, 8] {
            check(Blocks(block), &numbers, None);
            check(Prefixed(block), &numbers, None);
        }
    }

    #[test]
    fn any_bytes_give_a_number_or_nothing(bytes in prop::collection::vec(any::<u8>(), 0..40), k in 1u32..64, modulus in 1u64.., shift in 0u32..64) {
        fn read<W: Words>(words: W, bytes: &[u8]) {
            let mut reader = BitReader::new(bytes);
            while reader.left() > 0 {
                words.peek(reader.window());
                let before = reader.position().1;
                if words.read(&mut reader).is_none() {
                    break;
                }
                assert!(reader.position().1 > before || words.length(0) == Some(0));
                if reader.position().1 == before {
                    break;
                }
            }
        }
        read(Unary, &bytes);
        read(UnaryOrdered, &bytes);
        read(Gamma, &bytes);
        read(Delta, &bytes);
        read(Omega, &bytes);
        read(Zeta(k), &bytes);
        read(Rice(k), &bytes);
        read(Golomb::new((modulus >> shift).max(1)), &bytes);
        read(Minimal::new((modulus >> shift).max(1)), &bytes);
        for block in [4, 8] {
            read(Blocks(block), &bytes);
            read(Prefixed(block), &bytes);
        }
    }
}
