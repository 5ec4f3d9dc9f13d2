//! A reduction of one's own: mean and variance in one pass.
//!
//! From T. F. Chan, G. H. Golub and R. J. LeVeque, *Algorithms for computing the sample variance: analysis and
//! recommendations*, The American Statistician 37 (1983): two parts' counts, means and sums of squared deviations
//! give those of both together, without the cancellation that a sum of squares suffers from.

use gpu_reduce_kernels::Reduction;

/// Count; mean and sum of the squared deviations from it. Six words, the most an accumulator may have.
pub type State = (u64, (f64, f64));

/// Mean, population variance and count: three outputs.
#[derive(Clone, Copy, Debug)]
pub struct Moments;

impl Reduction for Moments {
    type Item = f32;
    /// As [`State`], with a count of 32 bits.
    type Local = (u32, f64, f64);
    type Accumulator = State;
    type Output = f64;
    const NAME: &'static str = "moments";
    const OUTPUTS: u32 = 3;
    const IDENTITY: State = (0, (0.0, 0.0));
    const EMPTY: Option<f64> = None;
    #[inline(always)]
    fn start(_: u32) -> Self::Local {
        (0, 0.0, 0.0)
    }
    /// One element (B. P. Welford, Technometrics 4, 1962).
    #[inline(always)]
    fn take((count, mean, squares): Self::Local, item: f32, _: u32) -> Self::Local {
        let (value, count) = (item as f64, count + 1);
        let delta = value - mean;
        let mean = mean + delta / count as f64;
        (count, mean, squares + delta * (value - mean))
    }
    #[inline(always)]
    fn widen((count, mean, squares): Self::Local, _: u64) -> State {
        (count as u64, (mean, squares))
    }
    #[inline(always)]
    fn combine(a: State, b: State) -> State {
        let ((a_count, (a_mean, a_squares)), (b_count, (b_mean, b_squares))) = (a, b);
        // Bit for bit what is there, where the other has nothing.
        if a_count == 0 {
            return b;
        }
        if b_count == 0 {
            return a;
        }
        let count = a_count + b_count;
        let delta = b_mean - a_mean;
        let share = b_count as f64 / count as f64;
        let mean = a_mean + delta * share;
        (count, (mean, a_squares + b_squares + delta * delta * (a_count as f64 * share)))
    }
    #[inline(always)]
    fn output((count, (mean, squares)): State, index: u32) -> f64 {
        match index {
            0 => mean,
            1 => squares / count as f64,
            _ => count as f64,
        }
    }
}
