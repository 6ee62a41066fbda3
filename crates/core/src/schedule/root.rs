//! The root of an increasing function: Newton's method, which falls back to bisection outside the bracket.

/// Steps after which the bracket is narrower than any use of it.
const STEPS: usize = 60;

/// The root in `low..=high` of an increasing function, given as its value and its derivative, to nine digits.
pub(super) fn root(mut low: f64, mut high: f64, function: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut at = 0.5 * (low + high);
    for _ in 0..STEPS {
        let (value, slope) = function(at);
        if value > 0.0 {
            high = at;
        } else {
            low = at;
        }
        let step = at - value / slope;
        let next = if step > low && step < high { step } else { 0.5 * (low + high) };
        if (next - at).abs() <= 1e-9 * at.abs() {
            return next;
        }
        at = next;
    }
    at
}
