//! Where elements come from, and where results go.

use gpu_core::vectors::{self, Streamed};
use gpu_scan_kernels::Scan;

use super::LANES;

/// Some consecutive elements, and what takes their results a row of vectors of `V` at a time.
pub(super) trait Rows<S: Scan> {
    fn items(&self) -> &[S::Item];

    /// Puts the results that `give` writes where the row is whose first element is number `start`; elements that are
    /// not there have none.
    fn put<const V: usize>(&mut self, start: usize, give: impl FnOnce(&mut [[S::Output; V]; LANES]));

    /// Asks for the memory of `len` bytes of results, `ahead` bytes behind the first, where that helps.
    fn ask(&self, ahead: usize, len: usize) {
        let _ = (ahead, len);
    }
}

/// Elements and the places of their results.
pub(super) trait Part<S: Scan>: Rows<S> + Send + Sync + Sized {
    fn len(&self) -> usize {
        self.items().len()
    }

    fn results(&mut self) -> &mut [S::Output];

    fn split_at(self, middle: usize) -> (Self, Self);

    /// Both, where they are not the same memory.
    fn apart(&mut self) -> Option<Apart<'_, S::Item, S::Output>>;
}

/// Two arrays.
pub(super) struct Apart<'a, I, O> {
    pub(super) input: &'a [I],
    pub(super) output: &'a mut [O],
}

impl<S: Scan> Rows<S> for Apart<'_, S::Item, S::Output> {
    fn items(&self) -> &[S::Item] {
        self.input
    }

    #[inline(always)]
    fn put<const V: usize>(&mut self, start: usize, give: impl FnOnce(&mut [[S::Output; V]; LANES])) {
        put::<S, V>(self.output, start, give);
    }

    #[inline(always)]
    fn ask(&self, ahead: usize, len: usize) {
        vectors::prefetch(self.output, ahead as isize, len);
    }
}

impl<S: Scan> Part<S> for Apart<'_, S::Item, S::Output> {
    fn results(&mut self) -> &mut [S::Output] {
        self.output
    }

    fn split_at(self, middle: usize) -> (Self, Self) {
        let (input, output) = (self.input.split_at(middle), self.output.split_at_mut(middle));
        (Self { input: input.0, output: output.0 }, Self { input: input.1, output: output.1 })
    }

    fn apart(&mut self) -> Option<Apart<'_, S::Item, S::Output>> {
        Some(Apart { input: self.input, output: self.output })
    }
}

/// One array, which the results replace.
pub(super) struct Same<'a, T> {
    pub(super) data: &'a mut [T],
}

impl<S: Scan<Output = <S as Scan>::Item>> Rows<S> for Same<'_, S::Output> {
    fn items(&self) -> &[S::Item] {
        self.data
    }

    #[inline(always)]
    fn put<const V: usize>(&mut self, start: usize, give: impl FnOnce(&mut [[S::Output; V]; LANES])) {
        put::<S, V>(self.data, start, give);
    }
}

impl<S: Scan<Output = <S as Scan>::Item>> Part<S> for Same<'_, S::Output> {
    fn results(&mut self) -> &mut [S::Output] {
        self.data
    }

    fn split_at(self, middle: usize) -> (Self, Self) {
        let (first, second) = self.data.split_at_mut(middle);
        (Self { data: first }, Self { data: second })
    }

    fn apart(&mut self) -> Option<Apart<'_, S::Item, S::Output>> {
        None
    }
}

/// Two arrays of which the second is written past the caches.
pub(super) struct Past<'a, 'b, I, O> {
    pub(super) input: &'a [I],
    pub(super) results: &'a mut Streamed<'b, O>,
}

impl<S: Scan> Rows<S> for Past<'_, '_, S::Item, S::Output> {
    fn items(&self) -> &[S::Item] {
        self.input
    }

    #[inline(always)]
    fn put<const V: usize>(&mut self, start: usize, give: impl FnOnce(&mut [[S::Output; V]; LANES])) {
        let mut row = [[S::EMPTY; V]; LANES];
        give(&mut row);
        let len = self.results.len().saturating_sub(start).min(V * LANES);
        if len == V * LANES {
            // Of a length that is known the compiler makes better code.
            self.results.write(start, row.as_flattened());
        } else if len > 0 {
            self.results.write(start, &row.as_flattened()[..len]);
        }
    }
}

/// A tile that is scanned backwards, into a buffer.
pub(super) struct Backwards<'a, I, O> {
    pub(super) input: &'a [I],
    pub(super) buffer: &'a mut [O],
}

impl<S: Scan> Rows<S> for Backwards<'_, S::Item, S::Output> {
    fn items(&self) -> &[S::Item] {
        self.input
    }

    #[inline(always)]
    fn put<const V: usize>(&mut self, start: usize, give: impl FnOnce(&mut [[S::Output; V]; LANES])) {
        let mut row = [[S::EMPTY; V]; LANES];
        give(&mut row);
        let row = row.as_flattened_mut();
        row.reverse();
        let places = self.buffer.get_mut(start..).unwrap_or_default();
        let len = places.len().min(row.len());
        places[..len].copy_from_slice(&row[..len]);
    }
}

/// Puts a row where it belongs.
#[inline(always)]
fn put<S: Scan, const V: usize>(
    results: &mut [S::Output],
    start: usize,
    give: impl FnOnce(&mut [[S::Output; V]; LANES]),
) {
    let places = results.get_mut(start..).unwrap_or_default();
    if let Some(row) = places.as_chunks_mut::<V>().0.first_chunk_mut::<LANES>() {
        return give(row);
    }
    let mut row = [[S::EMPTY; V]; LANES];
    give(&mut row);
    places.copy_from_slice(&row.as_flattened()[..places.len()]);
}
