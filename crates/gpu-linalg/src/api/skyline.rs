//! Cholesky's factorisation of matrices whose rows begin with zeros.

use gpu_core::{Buffer, Device, Resources, Scratch, ScratchSize, Stream, ViewMut, Visitor};

use super::factor::expect_info;
use super::{Triangle, elements, expect_positive_definite, lend, of_kernels};
use crate::cpu;
use crate::error::Error;
use crate::factor::{FactorElement, tiled};
use crate::matrix::{Layout, MatrixMut};
use crate::plan::factor::tiled_scratch_len;
use crate::plan::skyline::Structure;

/// Which blocks of a symmetric matrix may be other than zero: in the lower triangle those of a block row from its first
/// one on, up to the diagonal; in the upper triangle those of a block column. Cholesky's factor has the same.
///
/// With blocks of one row it is the skyline, or envelope, of sparse direct solvers (Jennings, 1966; George and Liu,
/// *Computer Solution of Large Sparse Positive Definite Systems*, 1981, chapter 4).
///
/// ```
/// use gpu_linalg::BlockSkyline;
/// let device = gpu_core::Device::best();
/// // Rows 0 to 3, 4 to 7, and 8 and 9: of the last ones columns 0 to 3 are zero.
/// let skyline = BlockSkyline::new(&device, 10, 4, &[0, 0, 1])?;
/// assert_eq!((skyline.blocks(), skyline.share()), (5, 5.0 / 6.0));
/// assert!(BlockSkyline::new(&device, 10, 4, &[0, 2, 1]).is_err());
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
#[derive(Debug)]
pub struct BlockSkyline {
    side: usize,
    first: Vec<usize>,
    structure: Structure,
    tables: Buffer<u32>,
}

impl BlockSkyline {
    /// The skyline of `n` × `n` matrices in blocks of `side` rows and columns, the last ones smaller where `side` does
    /// not divide `n`: `first[i]` is the first block of block row `i`. Any side will do; the kernels' tiles are of 128,
    /// and what they have left of a skyline counts as zero. Copies tables to `device`: a word a row, two a tile.
    ///
    /// # Errors
    /// [`Error::SkylineSide`] of 0, [`Error::SkylineRows`] where `first` is not as long as there are block rows,
    /// [`Error::SkylineRow`] where a block row begins right of the diagonal, [`gpu_core::Error::ExtentTooLarge`];
    /// [`Error::Device`] where memory does not suffice.
    pub fn new(device: &Device, n: usize, side: usize, first: &[usize]) -> Result<Self, Error> {
        let structure = Structure::new(n, side, first)?;
        let tables = device.upload(&structure.tables())?;
        Ok(Self { side, first: first.to_vec(), structure, tables })
    }

    /// Rows, and columns, of a matrix.
    pub fn n(&self) -> usize {
        self.structure.size
    }

    /// Rows of a block.
    pub fn side(&self) -> usize {
        self.side
    }

    /// The first block of every block row.
    pub fn first(&self) -> &[usize] {
        &self.first
    }

    /// Blocks of the lower triangle that are there, those of the diagonal among them.
    pub fn blocks(&self) -> usize {
        self.first.iter().enumerate().map(|(row, first)| row + 1 - first).sum()
    }

    /// The share of the lower triangle's blocks that are there; 1 of an empty matrix.
    pub fn share(&self) -> f64 {
        let rows = self.first.len();
        if rows == 0 { 1.0 } else { self.blocks() as f64 / (rows * (rows + 1) / 2) as f64 }
    }

    /// Multiply-adds of a factorisation, to a third of `n`³ / 2 of a matrix without zeros: of every two rows the
    /// columns before the upper one's diagonal that both have.
    pub fn multiply_adds(&self) -> f64 {
        let (n, side) = (self.n(), self.side);
        let rows = |block: usize| (n - block * side).min(side) as f64;
        let mut sum = 0.0;
        for (row, &first) in self.first.iter().enumerate() {
            for column in first..=row {
                let before = (column - first.max(self.first[column])) as f64 * side as f64;
                let (height, width) = (rows(row), rows(column));
                // Half of a block of the diagonal, and within a block half of its columns before an element's.
                sum += if row == column {
                    height * (height + 1.0) / 2.0 * before + height * (height * height - 1.0) / 6.0
                } else {
                    height * width * before + height * width * (width - 1.0) / 2.0
                };
            }
        }
        sum
    }

    /// Scratch memory of a factorisation of elements of this type.
    pub fn scratch<T: FactorElement>(&self) -> ScratchSize {
        elements::<T>(tiled_scratch_len::<T>(self.n(), self.structure.tiles))
    }
}

/// Enqueues Cholesky's factorisation of a skyline matrix on `stream`, in place: `A = L · Lᵀ` of the lower triangle,
/// `A = Uᵀ · U` of the upper one, in time proportional to the work on blocks that are there.
///
/// A is `n` × `n`, row- or column-major with any leading dimension, of which `triangle` is read and overwritten by L
/// or U; what is outside the skyline counts as zero. It and the other triangle are neither read nor written. `info` is
/// one word: zero afterwards, or, where A is not positive definite, the order of its first leading minor that is not
/// positive, and then what is in the triangle is unspecified. `scratch` grows to
/// [`BlockSkyline::scratch`].
///
/// The factor has the bits of [`potrf`](crate::potrf)'s of one large matrix that has zeros outside the skyline (see
/// [`gpu_factor_kernels::tiled`]): every device, both triangles and both orders give the same. With unit roundoff `u`,
/// of a matrix that is positive definite `|A - L · Lᵀ| ≤ gamma_{n + 5} |L| |Lᵀ|`, element by element: Higham, *Accuracy
/// and Stability of Numerical Algorithms*, 2nd ed., theorem 10.3, for the roundings of the reciprocal, at most three,
/// and of its product. It does not wait, nor allocate but where `scratch` grows.
///
/// # Errors
/// [`Error::SkylineSize`], [`gpu_core::Error::LengthMismatch`]; [`Error::Device`] where memory is on another device
/// than the stream, where `scratch` is of another stream or too small, or where the launch failed. A is as it was then.
///
/// ```
/// use gpu_linalg::{BlockSkyline, Layout, MatrixMut, Scratch, Triangle, expect_positive_definite, potrf_skyline};
/// let device = gpu_core::Device::best();
/// // 4 2 .     2 . .   2 1 .
/// // 2 5 4  =  1 2 .   . 2 2
/// // . 4 5     . 2 1   . . 1
/// let mut a = device.upload(&[4.0, -1.0, -1.0, 2.0, 5.0, -1.0, -7.0, 4.0, 5.0])?;
/// let skyline = BlockSkyline::new(&device, 3, 1, &[0, 0, 1])?;
/// let (mut info, mut scratch) = (device.alloc(1)?, Scratch::new(&device.default_stream()));
/// let matrix = MatrixMut::new(&mut a, Layout::row_major(3, 3)?)?;
/// potrf_skyline(&device.default_stream(), Triangle::Lower, &skyline, matrix, &mut info, &mut scratch)?;
/// expect_positive_definite(&info)?;
/// assert_eq!(a.to_vec()?, [2.0, -1.0, -1.0, 1.0, 2.0, -1.0, -7.0, 2.0, 1.0]);
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn potrf_skyline<'i, T: FactorElement>(
    stream: &Stream,
    triangle: Triangle,
    skyline: &BlockSkyline,
    mut a: MatrixMut<'_, T>,
    info: impl Into<ViewMut<'i, u32>>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let mut info = info.into();
    let (expected, actual) = (skyline.n(), a.layout().shape());
    if actual != (expected, expected) {
        return Err(Error::SkylineSize { expected, actual });
    }
    expect_info(1, info.len())?;
    stream.expect("matrix of a factorisation", a.data().device())?;
    stream.expect("structure of a factorisation", skyline.tables.device())?;
    stream.expect("order of a minor", info.device())?;
    let layout = a.layout();
    let size = of_kernels(stream, skyline.scratch::<T>());
    lend(stream, scratch, ("factorisation", size), |room| {
        if let (Some(data), Some(info)) = (a.data_mut().as_mut_slice(), info.as_mut_slice()) {
            info[0] = cpu::potrf_skyline(&skyline.structure, data, lower(triangle, layout));
            return Ok(());
        }
        stream.memset(info.reborrow(), 0)?;
        if expected == 0 {
            return Ok(());
        }
        let structure = (skyline.tables.view(), skyline.structure.tiles);
        tiled(stream, triangle, (a.into_data(), layout.into()), Some(structure), room, info)
    })
}

/// The layout in which the triangle that is stored is the lower one.
fn lower(triangle: Triangle, layout: Layout) -> Layout {
    match triangle {
        Triangle::Lower => layout,
        Triangle::Upper => layout.transposed(),
    }
}

/// [`potrf_skyline`] where A lives, on the device's default stream; waits for the factor.
///
/// # Errors
/// As [`potrf_skyline`], and A is as it was then; [`Error::NotPositiveDefinite`], and then the triangle is unspecified.
///
/// ```
/// use gpu_linalg::{BlockSkyline, Error, Layout, MatrixMut, Triangle, cholesky_skyline};
/// let cpu = gpu_core::Device::cpu();
/// let diagonal = BlockSkyline::new(&cpu, 3, 1, &[0, 1, 2])?;
/// let mut a = vec![4.0, 0.0, 0.0, 0.0, -9.0, 0.0, 0.0, 0.0, 1.0];
/// let matrix = MatrixMut::new(&mut a, Layout::row_major(3, 3)?)?;
/// let failed = cholesky_skyline(Triangle::Lower, &diagonal, matrix);
/// assert!(matches!(failed, Err(Error::NotPositiveDefinite { matrix: 0, index: 2 })));
/// # Ok::<(), gpu_linalg::Error>(())
/// ```
pub fn cholesky_skyline<T: FactorElement>(
    triangle: Triangle,
    skyline: &BlockSkyline,
    a: MatrixMut<'_, T>,
) -> Result<(), Error> {
    let device = a.data().device().clone();
    let info = Scratch::computed(&device, 1, |stream, info, scratch| {
        potrf_skyline(stream, triangle, skyline, a, info, scratch)
    })?;
    expect_positive_definite(&info)
}

// SAFETY: it owns its memory.
unsafe impl Resources for BlockSkyline {
    fn visit(&self, visitor: &mut Visitor<'_>) {
        visitor.buffer(&self.tables);
    }
}
