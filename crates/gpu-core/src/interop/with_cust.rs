//! `cust`'s contexts, streams and memory.

pub use cust;
use cust::error::CudaError;
use cust::memory::{DeviceBuffer, DeviceCopy, DevicePointer, DeviceSlice};

use super::{backend, buffer_from_raw, buffer_into_raw, device_from_raw_context, raw_pointer};
use super::{stream_from_raw, view_from_raw, view_mut_from_raw};
use crate::buffer::Buffer;
use crate::cuda::failure;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::stream::Stream;
use crate::view::{View, ViewMut};

// Defines the driver's functions that `cust` is linked against.
extern crate cuda_link as _;

/// The error of a call that `cust` made.
fn failed(call: &'static str, error: CudaError) -> Error {
    let code = match error as i32 {
        // Stands for all codes that `cust` does not know.
        cuda_link::UNKNOWN => cuda_link::last_code(),
        code => code,
    };
    Error::Cuda(failure(call, code))
}

/// The primary context of a CUDA device, retained once more: it may outlive the [`Device`].
///
/// # Errors
/// [`Error::Unsupported`] elsewhere than on CUDA; those of the driver.
pub fn context(device: &Device) -> Result<cust::context::Context> {
    let ordinal = backend(device)?.ordinal() as u32;
    let device = cust::device::Device::get_device(ordinal).map_err(|error| failed("cuDeviceGet", error))?;
    cust::context::Context::new(device).map_err(|error| failed("cuDevicePrimaryCtxRetain", error))
}

/// The device of a context of `cust`'s.
///
/// # Errors
/// As [`device_from_raw_context`]. It is the primary context: others are of another type,
/// `cust::context::legacy::Context`.
pub fn device_from_cust(context: &cust::context::Context) -> Result<Device> {
    // SAFETY: a context of `cust`'s is alive as long as its handle.
    unsafe { device_from_raw_context(context.as_raw().cast()) }
}

/// A stream of `cust`'s, borrowed.
///
/// # Safety
/// As [`stream_from_raw`].
///
/// # Errors
/// As [`stream_from_raw`].
pub unsafe fn stream_from_cust(device: &Device, stream: &cust::stream::Stream) -> Result<Stream> {
    // SAFETY: the caller's promise.
    unsafe { stream_from_raw(device, stream.as_inner().cast()) }
}

/// The device address of a view, as `cust` has it.
///
/// # Errors
/// As [`raw_pointer`].
pub fn device_pointer<'a, T: Element + DeviceCopy>(view: impl Into<View<'a, T>>) -> Result<DevicePointer<T>> {
    raw_pointer(view).map(DevicePointer::from_raw)
}

/// A view of a `DeviceSlice`, or of all of a `DeviceBuffer`.
///
/// # Safety
/// As [`view_from_raw`]. The borrow of the slice does not promise it: `cust`'s slices can be copied, and its buffers
/// freed while work that uses them is under way.
///
/// # Errors
/// As [`view_from_raw`].
pub unsafe fn view_from_cust<'a, T: Element + DeviceCopy>(
    device: &'a Device,
    slice: &'a DeviceSlice<T>,
) -> Result<View<'a, T>> {
    // SAFETY: the caller's promise.
    unsafe { view_from_raw(device, slice.as_device_ptr().as_raw(), slice.len()) }
}

/// A view to write of a `DeviceSlice`, or of all of a `DeviceBuffer`.
///
/// # Safety
/// As [`view_mut_from_raw`]; see [`view_from_cust`].
///
/// # Errors
/// As [`view_mut_from_raw`].
pub unsafe fn view_mut_from_cust<'a, T: Element + DeviceCopy>(
    device: &'a Device,
    slice: &'a mut DeviceSlice<T>,
) -> Result<ViewMut<'a, T>> {
    // SAFETY: the caller's promise.
    unsafe { view_mut_from_raw(device, slice.as_device_ptr().as_raw(), slice.len()) }
}

/// A buffer that takes over the memory of a `DeviceBuffer`.
///
/// # Safety
/// The memory was allocated in the device's primary context, by other means than those that end in `_async`, and
/// nothing else uses or frees it.
///
/// # Errors
/// [`Error::Unsupported`] elsewhere than on CUDA; then the memory is freed.
pub unsafe fn buffer_from_cust<T: Element + DeviceCopy>(
    device: &Device,
    buffer: DeviceBuffer<T>,
) -> Result<Buffer<T>> {
    backend(device)?;
    let buffer = core::mem::ManuallyDrop::new(buffer);
    // Without bytes there is no allocation, and `cust` has a pointer that is none.
    let address = if buffer.is_empty() || size_of::<T>() == 0 { 0 } else { buffer.as_device_ptr().as_raw() };
    // SAFETY: the caller's promise, and `buffer` does not free it.
    unsafe { buffer_from_raw(device, address, buffer.len()) }
}

/// A `DeviceBuffer` that takes over a buffer's memory, after all work of the device: `cust` does not wait for it when
/// it frees.
///
/// # Errors
/// [`Error::Unsupported`] elsewhere than on CUDA, and those of the driver; then the buffer is dropped.
pub fn buffer_into_cust<T: Element + DeviceCopy>(buffer: Buffer<T>) -> Result<DeviceBuffer<T>> {
    backend(buffer.device())?;
    buffer.device().synchronize()?;
    let (address, len) = buffer_into_raw(buffer)?;
    // SAFETY: the memory came from `cuMemAlloc` with the bytes of `len` elements, and is owned by nothing else now.
    Ok(unsafe { DeviceBuffer::from_raw_parts(DevicePointer::from_raw(address), len) })
}
