//! A block: the equations of consecutive nodes, and a sweep over them.

/// A value for each of the right-hand sides that are solved together.
pub(super) type Lanes<const L: usize> = [f64; L];

/// Adds a multiple of the values of one to those of another.
#[inline]
pub(super) fn add<const L: usize>(sum: &mut Lanes<L>, factor: f64, term: &Lanes<L>) {
    for lane in 0..L {
        sum[lane] += factor * term[lane];
    }
}

/// The equations of consecutive nodes.
#[derive(Default)]
pub(super) struct Block<const L: usize> {
    /// Its first node.
    pub start: usize,
    /// Where the list of each node ends: first the predecessors in other blocks, then those in this one.
    pub ends: Vec<(u32, u32)>,
    /// The predecessors: those in other blocks by number, those in this one counted from its first node.
    pub sources: Vec<u32>,
    /// Their weights, if the graph has any.
    pub weights: Vec<u32>,
    /// b: what a node receives from outside the system.
    pub base: Vec<Lanes<L>>,
    /// 1/c.
    pub divisors: Vec<f64>,
    /// What of a node's value does not go to other nodes, as a multiple of its share.
    pub leaks: Vec<f64>,
    /// The newest shares.
    pub shares: Vec<Lanes<L>>,
    /// Their changes in the last sweep.
    pub changes: Vec<Lanes<L>>,
}

/// What a sweep did.
#[derive(Clone, Copy)]
pub(super) struct Swept<const L: usize> {
    /// δ: the sum of the absolute changes of the sums in brackets.
    pub change: Lanes<L>,
    /// The sum of the sums in brackets, at most that of the values.
    pub total: Lanes<L>,
    /// The sum of what does not go to other nodes.
    pub leak: Lanes<L>,
    /// The product of the change, and its difference from that of the sweep before.
    pub product: Lanes<L>,
    /// The square of that difference.
    pub square: Lanes<L>,
}

impl<const L: usize> Swept<L> {
    pub const NOTHING: Swept<L> =
        Swept { change: [0.0; L], total: [0.0; L], leak: [0.0; L], product: [0.0; L], square: [0.0; L] };

    /// Adds what another part of the sweep did.
    pub fn add(&mut self, other: &Swept<L>) {
        add(&mut self.change, 1.0, &other.change);
        add(&mut self.total, 1.0, &other.total);
        add(&mut self.leak, 1.0, &other.leak);
        add(&mut self.product, 1.0, &other.product);
        add(&mut self.square, 1.0, &other.square);
    }
}

impl<const L: usize> Block<L> {
    /// Solves the equation of every node once, the right-hand sides times `scale`; `others` are the shares of
    /// all nodes.
    pub fn sweep(&mut self, scale: &Lanes<L>, others: &[Lanes<L>]) -> Swept<L> {
        if self.weights.is_empty() {
            self.sweep_lists::<false>(scale, others)
        } else {
            self.sweep_lists::<true>(scale, others)
        }
    }

    fn sweep_lists<const WEIGHTED: bool>(&mut self, scale: &Lanes<L>, others: &[Lanes<L>]) -> Swept<L> {
        let mut swept = Swept::NOTHING;
        let mut start = 0;
        for node in 0..self.base.len() {
            let (middle, end) = (self.ends[node].0 as usize, self.ends[node].1 as usize);
            let outside = self.gather::<WEIGHTED>(start, middle, others);
            let inside = self.gather::<WEIGHTED>(middle, end, &self.shares);
            let (divisor, leak, base) = (self.divisors[node], self.leaks[node], &self.base[node]);
            let (share, change) = (&mut self.shares[node], &mut self.changes[node]);
            for lane in 0..L {
                let sum = base[lane] * scale[lane] + outside[lane] + inside[lane];
                let new = sum / divisor;
                let step = new - share[lane];
                let difference = step - change[lane];
                swept.change[lane] += (step * divisor).abs();
                swept.total[lane] += sum;
                swept.leak[lane] += new * leak;
                swept.product[lane] += step * difference * divisor;
                swept.square[lane] += difference * difference * divisor;
                (share[lane], change[lane]) = (new, step);
            }
            start = end;
        }
        swept
    }

    /// The sum of the shares of a stretch of predecessors.
    #[inline]
    fn gather<const WEIGHTED: bool>(&self, start: usize, end: usize, shares: &[Lanes<L>]) -> Lanes<L> {
        let mut sum = [0.0; L];
        let sources = &self.sources[start..end];
        if WEIGHTED {
            for (source, weight) in sources.iter().zip(&self.weights[start..end]) {
                add(&mut sum, f64::from(*weight), &shares[*source as usize]);
            }
        } else {
            sources.iter().for_each(|source| add(&mut sum, 1.0, &shares[*source as usize]));
        }
        sum
    }

    /// Continues the last change by a multiple of it.
    pub fn extrapolate(&mut self, factor: &Lanes<L>) {
        for (share, change) in self.shares.iter_mut().zip(&self.changes) {
            for lane in 0..L {
                share[lane] += factor[lane] * change[lane];
            }
        }
    }
}
