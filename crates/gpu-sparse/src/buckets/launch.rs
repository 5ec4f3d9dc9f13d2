//! The launches of a transposition by buckets.

use gpu_core::{Buffer, Stream};
use gpu_sparse_kernels::THREADS;
use gpu_sparse_kernels::buckets::{
    MOST_BUCKETS, RECORD, Split, sparse_bucket_counts, sparse_from_buckets, sparse_to_buckets,
};
use gpu_std::launch::LaunchConfig;

use crate::error::Error;
use crate::launch::Element;
use crate::matrix::CsrView;

/// Words of the counts, and of their sums.
pub(crate) fn words(split: Split) -> usize {
    (split.buckets() * split.tiles()) as usize + 1
}

/// Words of the records.
pub(crate) fn record_words(split: Split) -> usize {
    RECORD as usize * split.entries as usize
}

/// That the matrix is cut so.
fn expect<T: Element>(a: &CsrView<'_, T>, split: Split) {
    let cut = (split.rows as usize, split.columns as usize, split.entries as usize, 4 * split.words as usize);
    assert_eq!(cut, (a.rows, a.columns, a.entries(), size_of::<T>()));
    assert!(split.entries > 0 && split.buckets() <= MOST_BUCKETS);
}

/// Enqueues how many entries of each tile each bucket has.
pub(crate) fn counts<T: Element>(
    stream: &Stream,
    a: &CsrView<'_, T>,
    split: Split,
    counts: &mut Buffer<u32>,
) -> Result<(), Error> {
    expect(a, split);
    assert_eq!(counts.len(), words(split));
    let launch = LaunchConfig::linear(split.tiles(), THREADS).shared(split.count_bytes());
    // SAFETY: the matrix was checked, so that its columns are in the buckets; there is a count for each of them and
    // each tile, and one behind.
    unsafe { stream.launch::<sparse_bucket_counts>(launch, (a.indices, counts, split))? };
    Ok(())
}

/// Brings entries to their buckets, as the exclusive sums of the counts say, and waits for it: the most entries of a
/// bucket.
pub(crate) fn to_buckets<T: Element>(
    stream: &Stream,
    a: &CsrView<'_, T>,
    split: Split,
    starts: &Buffer<u32>,
    records: &mut Buffer<u32>,
) -> Result<u32, Error> {
    expect(a, split);
    assert_eq!((starts.len(), records.len()), (words(split), record_words(split)));
    let mut largest = stream.device().zeroed::<u32>(1)?;
    let launch = LaunchConfig::linear(split.tiles(), THREADS).shared(split.to_bytes());
    let values = a.values.untyped();
    let arguments = (a.offsets, a.indices, values, starts, records, &mut largest, split);
    // SAFETY: the matrix was checked, and the starts are the sums of its counts, so that its entries have places among
    // the records, of which there are as many; of its values the kernel reads as many words as they have.
    unsafe { stream.launch::<sparse_to_buckets>(launch, arguments)? };
    let mut word = [0];
    largest.copy_to(&mut word)?;
    Ok(word[0])
}

/// Enqueues where columns start, and the rows and values of their entries, from the records and starts of
/// [`to_buckets`].
pub(crate) fn from_buckets<T: Element>(
    stream: &Stream,
    split: Split,
    (records, starts): (&Buffer<u32>, &Buffer<u32>),
    (offsets, rows, values): (&mut Buffer<u32>, &mut Buffer<u32>, &mut Buffer<T>),
) -> Result<(), Error> {
    let len = split.entries as usize;
    assert_eq!((starts.len(), records.len()), (words(split), record_words(split)));
    assert_eq!((offsets.len(), rows.len(), values.len()), (split.columns as usize + 1, len, len));
    assert_eq!(4 * split.words as usize, size_of::<T>());
    let launch = LaunchConfig::linear(split.buckets(), THREADS).shared(split.from_bytes());
    let values = values.view_mut().untyped();
    // SAFETY: the records are those of the starts, in their buckets; there is an offset more than columns, and room for
    // as many rows and values as there are entries.
    unsafe { stream.launch::<sparse_from_buckets>(launch, (records, starts, offsets, rows, values, split))? };
    Ok(())
}
