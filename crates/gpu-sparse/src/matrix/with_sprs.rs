//! Matrices from and to those of sprs.

use gpu_core::Device;
use sprs::CsMat;

use super::{Csr, CsrView};
use crate::error::Error;
use crate::launch::Element;

impl<T: Element> Csr<T> {
    /// A matrix of sprs on `device`; one of compressed columns is compressed by rows on the way.
    ///
    /// # Errors
    /// [`gpu_core::Error::ExtentTooLarge`] where 32 bits do not suffice; [`Error::Device`] where the device's memory
    /// does not suffice.
    ///
    /// ```
    /// use gpu_sparse::Csr;
    /// let host = sprs::CsMat::new((2, 2), vec![0, 1, 2], vec![1, 0], vec![1.0, 2.0]);
    /// let a = Csr::from_sprs(&gpu_core::Device::best(), &host)?;
    /// assert_eq!(a.view().to_sprs()?, host);
    /// # Ok::<(), gpu_sparse::Error>(())
    /// ```
    pub fn from_sprs(device: &Device, matrix: &CsMat<T>) -> Result<Self, Error> {
        if matrix.is_csc() {
            return Self::from_sprs(device, &matrix.to_csr());
        }
        super::extents(matrix.rows(), matrix.cols())?;
        super::sizes(matrix.rows(), matrix.nnz())?;
        let narrow =
            |numbers: &[usize]| -> Vec<u32> { numbers.iter().map(|&number| number as u32).collect() };
        let offsets = narrow(matrix.indptr().to_proper().as_ref());
        let indices = narrow(matrix.indices());
        Self::upload(device, matrix.rows(), matrix.cols(), &offsets, &indices, matrix.data())
    }
}

impl<T: Element> CsrView<'_, T> {
    /// The matrix as one of sprs, on the host.
    ///
    /// # Errors
    /// [`Error::Device`] where it cannot be copied there.
    pub fn to_sprs(&self) -> Result<CsMat<T>, Error> {
        let mut offsets = vec![0; self.rows + 1];
        let (mut indices, mut values) = (vec![0; self.entries()], vec![T::ZERO; self.entries()]);
        self.offsets.copy_to(&mut offsets)?;
        self.indices.copy_to(&mut indices)?;
        self.values.copy_to(&mut values)?;
        let wide = |numbers: Vec<u32>| numbers.into_iter().map(|number| number as usize).collect();
        Ok(CsMat::new((self.rows, self.columns), wide(offsets), wide(indices), values))
    }
}
