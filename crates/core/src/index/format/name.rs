//! The names of an index's files.
//!
//! ```text
//! segment-000001.seg            a whole segment, or the documents of one that is divided by terms
//! segment-000001.shard-2.seg    the documents of shard 2, if the index is divided by documents
//! segment-000001.terms-2.seg    the terms of shard 2, if the index is divided by terms
//! ```
//!
//! Files with the same number are a generation: what one segment would hold.

/// Which part of a generation a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Piece {
    /// All of it, or its documents without the terms.
    Whole,
    /// The documents of a shard.
    Shard(u16),
    /// The terms of a shard.
    Terms(u16),
}

impl Piece {
    /// The file name of this piece of a generation.
    pub fn name(self, number: u64) -> String {
        match self {
            Piece::Whole => format!("segment-{number:06}.seg"),
            Piece::Shard(shard) => format!("segment-{number:06}.shard-{shard}.seg"),
            Piece::Terms(shard) => format!("segment-{number:06}.terms-{shard}.seg"),
        }
    }

    /// The number and the piece that a file name stands for; `None` if it is no such name.
    pub fn parse(name: &str) -> Option<(u64, Piece)> {
        let inside = name.strip_prefix("segment-")?.strip_suffix(".seg")?;
        let (digits, piece) = match inside.split_once('.') {
            None => (inside, Piece::Whole),
            Some((digits, piece)) => match piece.split_once('-')? {
                ("shard", shard) => (digits, Piece::Shard(shard.parse().ok()?)),
                ("terms", shard) => (digits, Piece::Terms(shard.parse().ok()?)),
                _ => return None,
            },
        };
        let number = digits.parse().ok()?;
        (piece.name(number) == name).then_some((number, piece))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_one_piece() {
        for number in [0, 1, 999_999, 1_000_000, u64::MAX] {
            for piece in [Piece::Whole, Piece::Shard(0), Piece::Shard(65_535), Piece::Terms(12)] {
                assert_eq!(Piece::parse(&piece.name(number)), Some((number, piece)));
            }
        }
        let strange = ["segment-1.seg", "segment-+00001.seg", "segment-000001.seg.new", "other"];
        for name in strange.into_iter().chain(["segment-000001.shard-02.seg", "segment-000001.part-2.seg"]) {
            assert_eq!(Piece::parse(name), None, "{name}");
        }
    }
}
