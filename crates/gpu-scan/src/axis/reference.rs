//! The CPU's scans along columns, in the kernel's order: cores take columns side by side, vector instructions
//! neighbours.

use gpu_core::cores;
use gpu_scan_kernels::Scan;
use gpu_scan_kernels::columns::Shape;

use super::along::Along;
use crate::options::Options;
use crate::reference::identity;

/// Columns that a core takes at once: what is known of them stays in its first-level cache.
const COLUMNS: usize = 512;

/// Writes the scan of each column of `input` to `output`, which is as long.
pub(super) fn scan_columns<S: Scan>(
    input: &[S::Item],
    along: Along,
    options: &Options<S::Output>,
    output: &mut [S::Output],
) {
    let matrix = along.len * along.inner;
    cores::chunks(output, matrix, 1, |number, output| {
        let input = &input[number * matrix..][..output.len()];
        let mut parts: Vec<Vec<&mut [S::Output]>> = Vec::new();
        parts.resize_with(along.inner.div_ceil(COLUMNS), || Vec::with_capacity(along.len));
        for row in output.chunks_mut(along.inner) {
            row.chunks_mut(COLUMNS).zip(&mut parts).for_each(|(places, part)| part.push(places));
        }
        cores::elements(&mut parts, |number, places| {
            let row = |row: usize| &input[row * along.inner + number * COLUMNS..];
            some_columns::<S>(row, options, places);
        });
    });
}

/// Some columns side by side: `row` gives what is from there on in a row, `places` the results' places, row by row.
fn some_columns<'a, S: Scan>(
    row: impl Fn(usize) -> &'a [S::Item],
    options: &Options<S::Output>,
    places: &mut [&mut [S::Output]],
) {
    let shape = Shape::of::<S>();
    let (rows, width) = (places.len(), places[0].len());
    let (part, slab) = (shape.rows as usize, (shape.rows * shape.warps) as usize);
    // Before the slab, before the warp's part in it, of the rows of the part; and the last result.
    let mut prefix = vec![options.initial::<S>(); width];
    let mut before = vec![identity::<S>(); width];
    let mut own = before.clone();
    let mut previous = prefix.clone();
    for step in 0..rows {
        if step % slab == 0 {
            prefix.copy_from_slice(&previous);
            before.fill(identity::<S>());
        } else if step % part == 0 {
            before.iter_mut().zip(&own).for_each(|(before, own)| *before = S::combine(*before, *own));
        }
        let number = if options.reverse { rows - 1 - step } else { step };
        let items = &row(number)[..width];
        for (column, place) in places[number].iter_mut().enumerate() {
            let item = S::extend(items[column]);
            own[column] = if step % part == 0 { item } else { S::combine(own[column], item) };
            let result = S::combine(S::combine(prefix[column], before[column]), own[column]);
            *place = S::output(if options.exclusive { previous[column] } else { result });
            previous[column] = result;
        }
    }
}
