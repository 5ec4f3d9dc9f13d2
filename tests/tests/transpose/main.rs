//! Transpositions and permutations of axes.

mod chained;
mod matrices;
mod permute;
mod variants;
mod wide;
