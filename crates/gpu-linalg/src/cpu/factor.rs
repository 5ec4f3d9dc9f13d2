//! Steps of large Cholesky factorisations.

use crate::api::Triangle;
use crate::factor::launch::FactorElement;
use crate::matrix::Layout;
use crate::reference::factor;

use super::launch;

/// [`factor::step`] with the widest vectors that the machine has.
pub(crate) fn step<T: FactorElement>(
    triangle: Triangle,
    a: (&mut [T], Layout),
    place: (usize, usize),
    added: (&[T], usize),
) -> u32 {
    factor::step(triangle, a, place, added, &launch::factor_ways::<T>())
}
