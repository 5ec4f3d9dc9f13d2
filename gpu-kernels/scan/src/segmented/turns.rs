//! The elements of a long vector, some at a time.

use gpu_std::rolled;

/// Elements of a vector that are taken at once: those of longer vectors, which are narrower than 4 bytes, in a loop.
pub(super) const EACH: usize = 4;

/// Calls `body` once for each [`EACH`] of `V` elements.
#[inline(always)]
pub(super) fn in_turns<const V: usize>(mut body: impl FnMut(u32)) {
    // Mutants: a loop of one turn does the same.
    if V <= EACH {
        return body(0);
    }
    let mut turn = 0;
    while turn < (V / EACH) as u32 {
        turn = rolled(turn);
        body(turn);
        turn += 1;
    }
}

/// The first words of `of_turn`, those of a turn of a vector of `V` elements in `N` words, behind the others, before
/// which as many are cut off.
#[inline(always)]
pub(super) fn with_words<const V: usize, const N: usize>(words: [u32; N], of_turn: [u32; N]) -> [u32; N] {
    // Mutants: a vector of one turn has all its words in it.
    let each = if V > EACH { N * EACH / V } else { N };
    core::array::from_fn(|word| if word + each < N { words[word + each] } else { of_turn[word + each - N] })
}

/// The same words from the next turn's on, those of this one behind them.
#[inline(always)]
pub(super) fn next_words<const V: usize, const N: usize>(words: [u32; N]) -> [u32; N] {
    with_words::<V, N>(words, words)
}
