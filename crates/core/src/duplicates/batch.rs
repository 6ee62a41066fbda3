//! Many texts on all threads; the answers do not depend on how they are divided.

use rayon::prelude::*;

use super::{Normal, Signals, Windows, exact, lower_case};

/// A text on its way to its signals, with buffers that are used again.
#[derive(Default)]
pub struct Text {
    lower: Vec<u8>,
    signals: Vec<u64>,
}

impl Text {
    /// The signals of a text in any case, repeated ones too, in their order.
    pub fn signals(&mut self, signals: Signals, text: &str) -> &mut Vec<u64> {
        self.lower.clear();
        lower_case(&mut self.lower, text);
        // SAFETY: `lower_case` appends whole characters to what was empty.
        signals.of(unsafe { std::str::from_utf8_unchecked(&self.lower) }, &mut self.signals);
        &mut self.signals
    }
}

/// What `of` makes of the signals of each text.
pub fn map<S: AsRef<str> + Sync, T: Send>(
    texts: &[S],
    signals: Signals,
    of: impl Fn(&mut Vec<u64>) -> T + Sync,
) -> Vec<T> {
    texts.par_iter().map_init(Text::default, |text, from| of(text.signals(signals, from.as_ref()))).collect()
}

/// What `of` makes of the signals of both texts of each pair.
pub fn map_pairs<S: AsRef<str> + Sync, T: Send>(
    pairs: &[(S, S)],
    signals: Signals,
    of: impl Fn(&mut Vec<u64>, &mut Vec<u64>) -> T + Sync,
) -> Vec<T> {
    let of_pair = |[one, other]: &mut [Text; 2], (first, second): &(S, S)| {
        of(one.signals(signals, first.as_ref()), other.signals(signals, second.as_ref()))
    };
    pairs.par_iter().map_init(Default::default, of_pair).collect()
}

/// Runs work with a number of threads; 0, and more than there can be, is one for each core.
pub fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = (threads > 0).then(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build());
    match pool {
        Some(Ok(pool)) => pool.install(work),
        _ => work(),
    }
}

/// The windows of each text.
pub fn windows<S: AsRef<str> + Sync>(texts: &[S], size: usize) -> Vec<Windows> {
    texts.par_iter().map(|text| Windows::of(text.as_ref(), size)).collect()
}

/// The digest of the normal form of each text.
pub fn digests<S: AsRef<str> + Sync>(texts: &[S], normal: Normal) -> Vec<u128> {
    texts.par_iter().map(|text| exact::of_text(text.as_ref(), normal)).collect()
}
