//! A matrix that is used as it is, or transposed.

use gpu_core::{Buffer, Resources, View, Visitor};

use super::{Csr, CsrView};
use crate::api::transposed_with_order;
use crate::error::Error;
use crate::launch::{self, Element};
use crate::reference;

/// A matrix that was given, and, where its transposed one is what is used, that one.
#[derive(Debug)]
pub(crate) struct Held<'a, T: Element> {
    given: CsrView<'a, T>,
    transposed: Option<Transposed<T>>,
}

#[derive(Debug)]
struct Transposed<T: Element> {
    matrix: Csr<T>,
    /// Of each entry, where it was; empty on the CPU.
    order: Buffer<u32>,
}

impl<'a, T: Element> Held<'a, T> {
    pub(crate) fn as_it_is(given: CsrView<'a, T>) -> Self {
        Self { given, transposed: None }
    }

    /// Transposes it where it lives, and waits for that.
    pub(crate) fn transposed(given: CsrView<'a, T>) -> Result<Self, Error> {
        let (matrix, order) = transposed_with_order(given)?;
        Ok(Self { given, transposed: Some(Transposed { matrix, order }) })
    }

    /// What is used.
    pub(crate) fn view(&self) -> CsrView<'_, T> {
        self.transposed.as_ref().map_or(self.given, |transposed| transposed.matrix.view())
    }

    /// The same structure with other values, in the order of those of the matrix that was given.
    pub(crate) fn with_values<'b>(self, values: View<'b, T>) -> Result<Held<'b, T>, Error>
    where
        'a: 'b,
    {
        let given = self.given.with_values(values)?;
        let Some(Transposed { mut matrix, order }) = self.transposed else {
            return Ok(Held { given, transposed: None });
        };
        if let Some((offsets, indices, values)) = given.slices() {
            let (_, _, values) = reference::transpose(given.columns, offsets, indices, values);
            matrix.values = given.device().upload(&values)?;
        } else if !order.is_empty() {
            launch::gather_values(&given.device().default_stream(), &order, values, &mut matrix.values)?;
        }
        Ok(Held { given, transposed: Some(Transposed { matrix, order }) })
    }

    /// Refuses a matrix of another structure than the one that was given.
    pub(crate) fn expect_structure<U: Element>(&self, other: &CsrView<'_, U>) -> Result<(), Error> {
        let sizes = |rows: usize, entries: usize| (rows, entries);
        let expected = sizes(self.given.rows, self.given.entries());
        let actual = sizes(other.rows, other.entries());
        if expected != actual || self.given.columns != other.columns {
            return Err(Error::OtherPlan { expected, actual });
        }
        self.given.device().default_stream().expect("matrix of the same structure", other.device())?;
        if let Some(place) = first_difference(self.given.offsets, other.offsets)? {
            return Err(Error::OtherStructure { row: place.saturating_sub(1) });
        }
        if let Some(entry) = first_difference(self.given.indices, other.indices)? {
            let mut offsets = vec![0; other.rows + 1];
            other.offsets.copy_to(&mut offsets)?;
            let row = offsets.partition_point(|&start| start as usize <= entry) - 1;
            return Err(Error::OtherStructure { row });
        }
        Ok(())
    }
}

/// The first place where two arrays of one device and length differ.
pub(crate) fn first_difference(one: View<'_, u32>, other: View<'_, u32>) -> Result<Option<usize>, Error> {
    if one.is_empty() {
        return Ok(None);
    }
    match (one.as_slice(), other.as_slice()) {
        (Some(one), Some(other)) => Ok(one.iter().zip(other).position(|(one, other)| one != other)),
        _ => launch::differ(one, other),
    }
}

// SAFETY: it owns the transposed matrix; the one that was given is named by whoever holds that.
unsafe impl<T: Element> Resources for Held<'_, T> {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        if let Some(Transposed { matrix, order }) = &self.transposed {
            matrix.visit(visitor);
            visitor.buffer(order);
        }
    }
}
