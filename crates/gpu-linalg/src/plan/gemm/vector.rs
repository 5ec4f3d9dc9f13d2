//! Products of matrices that are one of a matrix and a vector.

use crate::launch::RealElement;
use crate::matrix::{BatchLayout, Layout, Order};
use crate::plan::gemv;

/// A product whose C has one row or one column, of vectors without gaps: it is computed as one of a matrix and a vector, in that one's
/// order of operations. Tiles would compute rows that nobody wants.
///
/// ```
/// use gpu_linalg::Layout;
/// use gpu_linalg::plan::gemm::AsVector;
/// let a = Layout::row_major(30, 500)?;
/// let [x, y] = [Layout::column_major(500, 1)?, Layout::column_major(30, 1)?];
/// let product = AsVector::of::<f32>([a.into(), x.into(), y.into()]).expect("a vector");
/// assert_eq!((product.matrix, product.is_left), (a, true));
/// let apart = Layout::row_major(500, 1)?.with_leading_dimension(2)?;
/// assert!(AsVector::of::<f32>([a.into(), apart.into(), y.into()]).is_none());
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsVector {
    /// The matrix, so transposed that the vector stands to its right.
    pub matrix: Layout,
    /// Whether A is the matrix, and B the vector.
    pub is_left: bool,
}

impl AsVector {
    /// That of A, B and C with these layouts, which fit together, if it is one.
    pub fn of<T: RealElement>([a, b, c]: [BatchLayout; 3]) -> Option<Self> {
        if c.count != 1 || c.matrix.is_empty() {
            return None;
        }
        let (matrix, vector, is_left) = match c.matrix.shape() {
            (_, 1) => (a.matrix, b.matrix, true),
            (1, _) => (b.matrix.transposed(), a.matrix.transposed(), false),
            _ => return None,
        };
        // What is too large for one is an error of the other, or the CPU's to compute.
        let is_one =
            has_no_gaps(vector) && has_no_gaps(c.matrix) && gemv::Plan::new::<T>(matrix, 0, 0, true).is_ok();
        is_one.then_some(Self { matrix, is_left })
    }
}

/// Whether the elements of a matrix of one row or one column follow each other.
fn has_no_gaps(vector: Layout) -> bool {
    vector.lines() <= 1 || vector.leading_dimension() == 1
}

/// Elements of scratch memory of such a product with this C and sums of `k` products, however its matrix lies.
pub fn scratch_len<T: RealElement>(k: usize, c: BatchLayout) -> usize {
    let (m, n) = c.matrix.shape();
    if c.count != 1 || m.min(n) != 1 {
        return 0;
    }
    [Order::RowMajor, Order::ColumnMajor]
        .into_iter()
        .filter_map(|order| {
            let layout = Layout::new(order, m.max(n), k).ok()?;
            Some(gemv::Plan::new::<T>(layout, 0, 0, true).ok()?.scratch_len())
        })
        .max()
        .unwrap_or(0)
}
