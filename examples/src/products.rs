//! Products of a matrix and a vector: a textbook's, and the fast one, of each type of elements.

use std::fmt::Debug;

use gpu_core::{Scratch, ScratchSize, Stream, View, ViewMut};
use gpu_linalg::variants::{GemvVariant, VariantElement};
use gpu_linalg::{Layout, Matrix, gemv, gemv_scratch};

/// Rows of a thread of the second variant.
pub const ROWS_PER_THREAD: u32 = 4;

/// A product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// One thread a row, a few rows or a column.
    Textbook(GemvVariant),
    /// [`gemv`].
    Fast,
}

/// All of them, the fast one last.
pub const WAYS: [Way; 4] = [
    Way::Textbook(GemvVariant::Row),
    Way::Textbook(GemvVariant::Rows(ROWS_PER_THREAD)),
    Way::Textbook(GemvVariant::Column),
    Way::Fast,
];

impl Way {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Textbook(GemvVariant::Row) => "row",
            Self::Textbook(GemvVariant::Rows(_)) => "rows",
            Self::Textbook(_) => "column",
            Self::Fast => "fast",
        }
    }
}

/// A type of elements.
pub trait Number: VariantElement + Debug {
    /// Its name.
    const NAME: &'static str;

    /// A small whole number: all sums of them are exact, in any order.
    fn whole(value: i8) -> Self;

    /// `sum + a * x`.
    fn add_product(sum: Self, a: Self, x: Self) -> Self;

    /// Scratch memory of the fast version; none where there is no such version.
    fn fast_scratch(_: Layout) -> Option<Result<ScratchSize, gpu_linalg::Error>> {
        None
    }

    /// Enqueues the fast version, if there is one.
    ///
    /// # Errors
    /// Those of [`gemv`].
    #[inline]
    fn fast(
        _: &Stream,
        _: Matrix<'_, Self>,
        _: View<'_, Self>,
        _: ViewMut<'_, Self>,
        _: &mut Scratch,
    ) -> Result<(), gpu_linalg::Error> {
        Ok(())
    }
}

/// Element `index` of a factor, as a hash decides: magnitudes up to 8, so that sums of 2^18 products are exact in 24
/// bits.
pub fn element<T: Number>(index: usize) -> T {
    T::whole(((index as u32).wrapping_mul(2_654_435_761) >> 28) as i8 - 8)
}

macro_rules! floats {
    ($($T:ty, $name:literal;)*) => { $(
        impl Number for $T {
            const NAME: &'static str = $name;

            fn whole(value: i8) -> Self {
                value.into()
            }

            fn add_product(sum: Self, a: Self, x: Self) -> Self {
                sum + a * x
            }

            #[inline]
            fn fast_scratch(layout: Layout) -> Option<Result<ScratchSize, gpu_linalg::Error>> {
                Some(gemv_scratch::<Self>(layout))
            }

            #[inline]
            fn fast(
                stream: &Stream,
                a: Matrix<'_, Self>,
                x: View<'_, Self>,
                y: ViewMut<'_, Self>,
                scratch: &mut Scratch,
            ) -> Result<(), gpu_linalg::Error> {
                gemv(stream, 1.0, a, x, 0.0, y, scratch)
            }
        }
    )* };
}
floats! {
    f32, "f32";
    f64, "f64";
}

impl Number for i32 {
    const NAME: &'static str = "i32";

    fn whole(value: i8) -> Self {
        value.into()
    }

    fn add_product(sum: Self, a: Self, x: Self) -> Self {
        sum + a * x
    }
}
