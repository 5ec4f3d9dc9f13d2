//! Transpositions and permutations of axes.

mod chained;
mod matrices;
mod permute;
mod rounds;
mod variants;
mod wide;
