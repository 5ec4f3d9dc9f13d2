//! Factorisations of matrices.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]

pub mod skyline;
pub mod variants;
