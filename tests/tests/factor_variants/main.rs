//! Cholesky's factorisation of skyline matrices, and the textbook's versions of it.

mod skyline;
mod support;
mod variants;
