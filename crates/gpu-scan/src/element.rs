//! Which scans there are of which elements.

use gpu_scan_kernels as kernels;
use gpu_scan_kernels::{Bounds, Widen};
use gpu_std::half::{bf16, f16};

use crate::instance::{AlongColumns, Instance, Segmented};

/// A type of elements that can be scanned: `f32`, `f64`, `f16`, `bf16`, `i8` to `i64`, `u8` to `u64`.
pub trait Element: gpu_core::Element + Bounds {
    /// Sums; integers wrap.
    type Sum: Instance<Item = Self, Output = Self>;
    /// Products; integers wrap.
    type Product: Instance<Item = Self, Output = Self>;
    /// The smallest so far.
    type Min: Instance<Item = Self, Output = Self>;
    /// The largest so far.
    type Max: Instance<Item = Self, Output = Self>;
}

/// `i8` to `i64`, `u8` to `u64`.
pub trait IntegerElement: Element {
    /// The bits that all so far have.
    type And: Instance<Item = Self, Output = Self>;
    /// The bits that any so far has.
    type Or: Instance<Item = Self, Output = Self>;
    /// The bits that an odd number so far has.
    type Xor: Instance<Item = Self, Output = Self>;
}

/// Elements that can be summed up in a wider type: integers of up to 32 bits, `f16`, `bf16` and `f32`.
pub trait WideElement: Element + Widen<Wide: gpu_core::Element> {
    /// Sums in the wider type.
    type WideSum: Instance<Item = Self, Output = Self::Wide> + Segmented + AlongColumns;
}

macro_rules! elements {
    ($($t:ty)*) => { $(
        impl Element for $t {
            type Sum = kernels::Sum<$t>;
            type Product = kernels::Product<$t>;
            type Min = kernels::Min<$t>;
            type Max = kernels::Max<$t>;
        }
    )* };
}
elements!(f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! integers {
    ($($t:ty)*) => { $(
        impl IntegerElement for $t {
            type And = kernels::And<$t>;
            type Or = kernels::Or<$t>;
            type Xor = kernels::Xor<$t>;
        }
    )* };
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! wide {
    ($($t:ty)*) => { $(
        impl WideElement for $t {
            type WideSum = kernels::WideSum<$t>;
        }
    )* };
}
wide!(i8 u8 i16 u16 i32 u32 f16 bf16 f32);
