//! The tiles' arithmetic with the widest vectors that the machine has, found out at run time: the only unsafe code
//! here.

use gpu_std::float::Float;

use super::{Column, Row, Tile};

macro_rules! dispatched {
    ($(#[doc = $doc:literal])* $name:ident: $call:ident($($argument:ident: $Type:ty),*) -> $Result:ty) => {
        $(#[doc = $doc])*
        pub(super) fn $name<T: Float>(column: &Column<T>, $($argument: $Type),*) -> $Result {
            /// 16 of 32 registers of 64 bytes for sums.
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f")]
            fn avx512<T: Float>(column: &Column<T>, $($argument: $Type),*) -> $Result {
                if size_of::<T>() == 4 { column.$call::<4, 64>($($argument),*) } else { column.$call::<4, 32>($($argument),*) }
            }
            /// 8 of 16 registers of 32 bytes.
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2<T: Float>(column: &Column<T>, $($argument: $Type),*) -> $Result {
                if size_of::<T>() == 4 { column.$call::<2, 32>($($argument),*) } else { column.$call::<2, 16>($($argument),*) }
            }
            #[cfg(target_arch = "x86_64")]
            {
                if std::is_x86_feature_detected!("avx512f") {
                    // SAFETY: the machine has these instructions.
                    return unsafe { avx512(column, $($argument),*) };
                }
                if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
                    // SAFETY: the machine has these instructions.
                    return unsafe { avx2(column, $($argument),*) };
                }
            }
            column.$call::<2, 8>($($argument),*)
        }
    };
}
dispatched! {
    /// [`Column::subtract`].
    subtract: subtract(row: &Row<T>, tile: &mut Tile<T>) -> ()
}
dispatched! {
    /// [`Column::solve`].
    solve: solve(row: &Row<T>) -> Tile<T>
}
