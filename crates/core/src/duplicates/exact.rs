//! Digests: equal documents have equal ones, and others differ but for n² / 2¹²⁹ of n documents (XXH3-128).

use twox_hash::XxHash3_128;

use super::Normal;

/// The size of each sample, and the number of samples, of a sampled digest.
const SAMPLE: usize = 16 << 10;
const SAMPLES: usize = 3;

/// The digest of bytes.
pub fn of_bytes(bytes: &[u8]) -> u128 {
    XxHash3_128::oneshot(bytes)
}

/// The digest of what is left of a text by its normal form.
pub fn of_text(text: &str, normal: Normal) -> u128 {
    of_bytes(normal.of(text).as_bytes())
}

/// The digest of the length and of three samples of 16 KiB: the start, the middle and the end. Bytes of up to three
/// samples are read whole. Of large files it costs a constant, and it takes those for equal that differ between the
/// samples alone.
pub fn sampled(bytes: &[u8]) -> u128 {
    if bytes.len() <= SAMPLES * SAMPLE {
        return of_bytes(bytes);
    }
    let mut sampled = Vec::with_capacity(8 + SAMPLES * SAMPLE);
    sampled.extend((bytes.len() as u64).to_le_bytes());
    for sample in 0..SAMPLES {
        let start = (bytes.len() - SAMPLE) / (SAMPLES - 1) * sample;
        let start = if sample == SAMPLES - 1 { bytes.len() - SAMPLE } else { start };
        sampled.extend(&bytes[start..start + SAMPLE]);
    }
    of_bytes(&sampled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_of_the_start_the_middle_the_end_and_the_length() {
        let bytes = vec![1; 200_000];
        for changed in [0, 100_000, 199_999] {
            let mut other = bytes.clone();
            other[changed] = 2;
            assert_ne!(sampled(&bytes), sampled(&other));
        }
        let mut between = bytes.clone();
        between[40_000] = 2;
        assert_eq!(sampled(&bytes), sampled(&between));
        assert_ne!(sampled(&bytes), sampled(&bytes[1..]));
        assert_eq!(sampled(&bytes[..SAMPLES * SAMPLE]), of_bytes(&bytes[..SAMPLES * SAMPLE]));
    }
}
