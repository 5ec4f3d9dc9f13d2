//! Transpositions and permutations of axes.

mod matrices;
mod permute;
mod variants;
mod wide;
