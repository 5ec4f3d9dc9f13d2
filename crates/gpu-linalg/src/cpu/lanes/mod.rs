//! Vectors as registers of the machine's instructions, for the tiles of products, where the compiler left to itself
//! takes vectors along the wrong extent: with tiles of 12 × 16 `f32` it gathered, and 100³ took eight times as long.

use core::marker::PhantomData;

use gpu_std::float::Float;

mod block;
#[cfg(target_arch = "x86_64")]
mod line;
#[cfg(target_arch = "x86_64")]
mod tile;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use block::{Across, Beside, Block};

/// Says that the machine has the instructions of a kind of register: without it there is no such register.
pub struct Has<V>(PhantomData<V>);

impl<V> Has<V> {
    /// # Safety
    /// The machine has them.
    pub unsafe fn new() -> Self {
        Self(PhantomData)
    }
}

impl<V> Clone for Has<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Has<V> {}

/// A register of some elements. In functions that are not compiled for its instructions it is right, and slow.
pub trait Lanes<T>: Copy {
    /// Elements of it.
    const LEN: usize;

    /// As many times `value`.
    fn splat(has: Has<Self>, value: T) -> Self;

    /// The first elements of `values`.
    ///
    /// # Panics
    /// If there are fewer.
    fn load(has: Has<Self>, values: &[T]) -> Self;

    /// Writes the first elements of `values`.
    ///
    /// # Panics
    /// If there are fewer.
    fn store(self, values: &mut [T]);

    /// `a · self + sum`, rounded once.
    fn mul_add(self, a: Self, sum: Self) -> Self;

    /// The product.
    fn times(self, other: Self) -> Self;

    /// The sum.
    fn plus(self, other: Self) -> Self;

    /// The elements of `values`, and zeros behind them where there are fewer.
    fn load_some(has: Has<Self>, values: &[T]) -> Self;

    /// Writes its first elements to `values`, as many as those are.
    fn store_some(self, values: &mut [T]);

    /// The first 16 bytes of as many `pieces` as it has room for.
    ///
    /// # Panics
    /// If one has fewer.
    fn load_pieces(has: Has<Self>, pieces: [&[T]; 4]) -> Self;

    /// Of every 16 bytes the element at `place`, as often as they have elements.
    ///
    /// # Panics
    /// If they have fewer, or the element is another one.
    fn every(self, place: usize) -> Self;

    /// Adds to the sums of `M` rows, each of `N` registers, the products of an element of the row and a line, k after
    /// k. The nearest cache is asked for what is `ahead` elements behind those of the first row, if that is not 0.
    ///
    /// # Panics
    /// If lines are shorter than the registers, or there are not as many as elements of the rows.
    #[inline(always)]
    fn add_products<const M: usize, const N: usize>(
        has: Has<Self>,
        lines: Block<'_, T>,
        rows: Across<'_, T, M>,
        ahead: usize,
        sums: &mut [[Self; N]; M],
    ) where
        T: Copy,
    {
        add_products(has, lines, rows, ahead, sums);
    }

    /// Adds to `G` registers of sums the products of a line and `x`, whose rounds are in order and the last one is
    /// filled up; of each round the registers' lanes have 16 bytes each. Says whether it has: the compiler does it as
    /// well but for 32 lanes in registers of 32 bytes.
    ///
    /// # Panics
    /// If `x` has fewer rounds than the line.
    #[inline(always)]
    fn add_line<const G: usize>(_: Has<Self>, _line: &[T], _x: &[T], _sums: &mut [Self; G]) -> bool {
        false
    }

    /// Of every 16 bytes: the even elements of this register's and of the other's, and the odd ones of both.
    fn halves(self, other: Self) -> (Self, Self);
}

/// [`Lanes::add_products`], as the compiler orders it.
#[inline(always)]
fn add_products<T: Copy, V: Lanes<T>, const M: usize, const N: usize>(
    has: Has<V>,
    lines: Block<'_, T>,
    rows: Across<'_, T, M>,
    ahead: usize,
    sums: &mut [[V; N]; M],
) {
    assert!(lines.lines() == rows.count, "lines are those of the rows");
    for k in 0..lines.lines() {
        let values = lines.rest(k, 0);
        if ahead > 0 {
            rows.ask(k, ahead);
        }
        let mut line = [V::load(has, values); N];
        for j in 1..N {
            line[j] = V::load(has, &values[j * V::LEN..]);
        }
        for (i, sums) in sums.iter_mut().enumerate() {
            let element = V::splat(has, rows.at(i, k));
            for j in 0..N {
                sums[j] = line[j].mul_add(element, sums[j]);
            }
        }
    }
}

/// Lines of a block that is turned, and elements of each.
pub const TURNED: usize = 4;

/// A type that registers hold.
pub trait Registers: Float {
    /// Writes the transpose of a block of [`TURNED`] lines to `to`, whose lines are `step` elements apart, and are
    /// written one after the other: where they overlap it is the later one's elements that stay.
    ///
    /// # Panics
    /// If the memory ends before.
    #[inline(always)]
    fn turn(lines: [&[Self; TURNED]; TURNED], to: &mut [Self], step: usize) {
        for column in 0..TURNED {
            for (line, to) in lines.iter().zip(&mut to[column * step..][..TURNED]) {
                *to = line[column];
            }
        }
    }

    /// Of 16 bytes, whatever the machine.
    type Sixteen: Lanes<Self>;
    /// Every machine has those.
    const HAS_SIXTEEN: Has<Self::Sixteen>;

    /// Of 64 bytes.
    #[cfg(target_arch = "x86_64")]
    type Avx512: Lanes<Self>;
    /// Of 32 bytes.
    #[cfg(target_arch = "x86_64")]
    type Avx2: Lanes<Self>;
    /// Of 16 bytes, with the instructions of those of 32.
    #[cfg(target_arch = "x86_64")]
    type Avx128: Lanes<Self>;
}

impl Registers for f32 {
    type Sixteen = Portable<f32, 4>;
    const HAS_SIXTEEN: Has<Self::Sixteen> = Portable::HAS;

    #[cfg(target_arch = "x86_64")]
    type Avx512 = core::arch::x86_64::__m512;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = core::arch::x86_64::__m256;
    #[cfg(target_arch = "x86_64")]
    type Avx128 = core::arch::x86_64::__m128;

    // Element by element a core takes three times as long.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn turn(lines: [&[Self; TURNED]; TURNED], to: &mut [Self], step: usize) {
        x86::turn_f32(lines, to, step);
    }
}

impl Registers for f64 {
    type Sixteen = Portable<f64, 2>;
    const HAS_SIXTEEN: Has<Self::Sixteen> = Portable::HAS;

    #[cfg(target_arch = "x86_64")]
    type Avx512 = core::arch::x86_64::__m512d;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = core::arch::x86_64::__m256d;
    #[cfg(target_arch = "x86_64")]
    type Avx128 = core::arch::x86_64::__m128d;

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn turn(lines: [&[Self; TURNED]; TURNED], to: &mut [Self], step: usize) {
        x86::turn_f64(lines, to, step);
    }
}

/// Some elements, whatever the machine: four, or another power of two of them.
#[derive(Clone, Copy)]
pub struct Portable<T, const N: usize = 4>([T; N]);

impl<T, const N: usize> Portable<T, N> {
    /// Every machine has what this takes.
    pub(super) const HAS: Has<Self> = Has(PhantomData);
}

impl<T: Float, const N: usize> Lanes<T> for Portable<T, N> {
    const LEN: usize = N;

    #[inline(always)]
    fn splat(_: Has<Self>, value: T) -> Self {
        Self([value; N])
    }

    #[inline(always)]
    fn load(_: Has<Self>, values: &[T]) -> Self {
        Self(*values.first_chunk().expect("as many elements"))
    }

    #[inline(always)]
    fn store(self, values: &mut [T]) {
        *values.first_chunk_mut().expect("as many elements") = self.0;
    }

    #[inline(always)]
    fn mul_add(self, a: Self, sum: Self) -> Self {
        Self(core::array::from_fn(|lane| a.0[lane].mul_add(self.0[lane], sum.0[lane])))
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Self(core::array::from_fn(|lane| self.0[lane] * other.0[lane]))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self(core::array::from_fn(|lane| self.0[lane] + other.0[lane]))
    }

    #[inline(always)]
    fn load_some(_: Has<Self>, values: &[T]) -> Self {
        let mut some = [T::ZERO; N];
        some.iter_mut().zip(values).for_each(|(some, &value)| *some = value);
        Self(some)
    }

    #[inline(always)]
    fn store_some(self, values: &mut [T]) {
        values.iter_mut().zip(self.0).for_each(|(to, value)| *to = value);
    }

    #[inline(always)]
    fn load_pieces(_: Has<Self>, pieces: [&[T]; 4]) -> Self {
        let places = 16 / size_of::<T>();
        Self(core::array::from_fn(|at| pieces[at / places][at % places]))
    }

    #[inline(always)]
    fn every(self, place: usize) -> Self {
        let places = 16 / size_of::<T>();
        assert!(place < places, "16 bytes have the element");
        Self(core::array::from_fn(|at| self.0[at / places * places + place]))
    }

    #[inline(always)]
    fn halves(self, other: Self) -> (Self, Self) {
        let vector = 16 / size_of::<T>();
        // The element at `at` of the even or odd ones.
        let of = |at: usize, odd: usize| {
            let (first, place) = (at / vector * vector, at % vector);
            let from = if place < vector / 2 { &self.0 } else { &other.0 };
            from[first + place % (vector / 2) * 2 + odd]
        };
        (Self(core::array::from_fn(|at| of(at, 0))), Self(core::array::from_fn(|at| of(at, 1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_16_bytes_have_one_element() {
        let some = Portable([0f32, 1., 2., 3., 4., 5., 6., 7.]);
        assert_eq!(some.every(2).0, [2., 2., 2., 2., 6., 6., 6., 6.]);
        assert_eq!(Portable([0f64, 1., 2., 3.]).every(1).0, [1., 1., 3., 3.]);
    }

    #[test]
    fn halves_are_of_16_bytes() {
        let (even, odd) = Portable([0f32, 1., 2., 3.]).halves(Portable([4., 5., 6., 7.]));
        assert_eq!((even.0, odd.0), ([0., 2., 4., 6.], [1., 3., 5., 7.]));
        let (even, odd) = Portable([0f64, 1., 2., 3.]).halves(Portable([4., 5., 6., 7.]));
        assert_eq!((even.0, odd.0), ([0., 4., 2., 6.], [1., 5., 3., 7.]));
    }
}
