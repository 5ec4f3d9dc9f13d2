//! What is decided of a product before its kernel: parts, copies, and which factor is the first.

use gpu_core::Capability;
use gpu_tensor_kernels::part_leading;

use super::super::pack::Packs;
use super::parts::{is_thin, split, thin_saves};
use super::tf32;
use crate::matrix::BatchLayout;
use crate::variants::TensorVariant;

/// What of a kernel and of copies is decided by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The tile, where not the plan's.
    pub variant: Option<TensorVariant>,
    /// Which factors are copied.
    pub packs: Packs,
    /// Whether each sum is one chain.
    pub chains: bool,
}

impl Choice {
    /// That of a variant, or of none.
    pub const fn of(variant: Option<TensorVariant>) -> Self {
        let packs = match variant {
            None => Packs::WherePays,
            Some(TensorVariant::Packed) => Packs::Always,
            Some(
                TensorVariant::Lanes
                | TensorVariant::Narrow
                | TensorVariant::Wide
                | TensorVariant::Cluster
                | TensorVariant::Thin,
            ) => Packs::Never,
        };
        Self { variant, packs, chains: false }
    }

    /// That of a product of tf32: of its factors one or both are copied, as `tf32.rs` says, unless one is thin; of a
    /// variant none or both.
    pub const fn tf32(variant: Option<TensorVariant>) -> Self {
        let packs = match variant {
            Some(TensorVariant::Lanes | TensorVariant::Thin) => Packs::Never,
            _ => Packs::AlongInner,
        };
        Self { variant, packs, chains: false }
    }

    /// Whether factors of C = A · B of these layouts and addresses with C row-major change places, and which of them are
    /// copied then, where the product is not that of a thin one. `is_split` says that the sums are in parts.
    fn way(
        self,
        bytes: usize,
        factors: [BatchLayout; 2],
        addresses: [u64; 2],
        is_split: bool,
    ) -> (bool, Packs) {
        match self {
            Self { variant: None, packs: Packs::AlongInner, .. } if bytes == size_of::<f32>() => {
                tf32::way(factors, addresses, is_split)
            }
            _ => (false, self.packs),
        }
    }

    /// That of a product of `i8`, of whose factors those are copied that the tensor cores do not take, unless one
    /// is thin: they take bytes along `k` only.
    pub const fn i8(variant: Option<TensorVariant>) -> Self {
        let packs = match variant {
            Some(TensorVariant::Packed) => Packs::AlongInner,
            _ => Packs::AlongInnerWhereNeeded,
        };
        Self { variant, packs, chains: false }
    }

    /// That of products whose matrices start where a table says: each sum is one chain, and factors are read where they
    /// lie. Of bytes across `k` only the kernel for thin factors does that.
    pub const fn listed(bytes: usize, along_k: [bool; 2]) -> Self {
        let across = bytes == 1 && !(along_k[0] && along_k[1]);
        let variant = if across { Some(TensorVariant::Thin) } else { None };
        Self { variant, packs: Packs::Never, chains: true }
    }

    /// The same on a device of this capability: before 8.0 `f16` have one kernel, and other types none.
    pub fn on(self, capability: Option<Capability>) -> Self {
        if self.variant.is_none() && capability.is_some_and(|capability| capability < Capability::new(8, 0)) {
            return Self { variant: Some(TensorVariant::Lanes), packs: Packs::Never, ..self };
        }
        self
    }
}

/// How a product, C = A · B with C row-major, is computed, but for the kernel.
pub(super) struct Way {
    /// Into how many parts the sums are cut, of which length.
    pub(super) parts: u32,
    pub(super) part: u32,
    /// Whether the product is that of a thin factor, with factors that are read where they lie.
    pub(super) is_thin: bool,
    /// Whether the factors change places.
    pub(super) turned: bool,
    /// Which of them are copied after that.
    pub(super) packs: Packs,
    /// Sums in the scratch memory.
    pub(super) of_parts: usize,
}

impl Way {
    /// Without `sums` no factor is read.
    pub(super) fn new(
        bytes: usize,
        choice: Choice,
        [a, b]: [BatchLayout; 2],
        addresses: [u64; 2],
        [m, n, k]: [u32; 3],
        sums: bool,
    ) -> Self {
        let (parts, part) = if choice.chains { (1, k) } else { split(bytes, [m, n, k], a.count) };
        let (turned, packs) = choice.way(bytes, [a, b], addresses, parts > 1);
        let is_thin = match choice.variant {
            None => {
                let copied = if turned {
                    let [a, b] = packs.candidates(
                        bytes,
                        [b.transposed(), a.transposed()],
                        [addresses[1], addresses[0]],
                    );
                    [b, a]
                } else {
                    packs.candidates(bytes, [a, b], addresses)
                };
                is_thin([m, n, k]) || thin_saves(bytes, copied, [m, n, k], a.count)
            }
            variant => variant == Some(TensorVariant::Thin),
        };
        let (turned, packs) = if sums && !is_thin { (turned, packs) } else { (false, Packs::Never) };
        let lines = if turned { [n, m] } else { [m, n] };
        let of_parts = if parts > 1 || turned { parts_len(parts, lines, a.count) } else { 0 };
        Self { parts, part, is_thin, turned, packs, of_parts }
    }
}

/// Sums that the parts of products take.
fn parts_len(parts: u32, [m, n]: [u32; 2], count: usize) -> usize {
    parts as usize * m as usize * part_leading(n) as usize * count
}
