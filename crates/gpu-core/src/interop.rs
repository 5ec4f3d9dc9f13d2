//! For those who already hold CUDA objects, or need them: `cust`'s, and the driver's bare handles.
//!
//! The only place where types of `cust` appear in a signature. With the feature `rustacuda`, also pointers of
//! `rustacuda_core`.

use std::any::Any;
use std::sync::Arc;

pub use cust;
use cust::sys::{CUdeviceptr, CUstream};

use crate::buffer::Buffer;
use crate::cuda::{Context, Queue};
use crate::device::{Device, Kind};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::stream::Stream;
use crate::view::{View, ViewMut};

/// The backend of a CUDA device.
fn backend(device: &Device) -> Result<Arc<Context>> {
    let backend: Arc<dyn Any + Send + Sync> = device.backend.clone();
    backend.downcast().map_err(|_| no_cuda("CUDA handles", device))
}

fn no_cuda(what: &'static str, device: &Device) -> Error {
    Error::Unsupported { what, device: device.to_string() }
}

/// The primary context of a CUDA device, retained once more: it may outlive the [`Device`].
///
/// # Errors
/// [`Error::Unsupported`] elsewhere than on CUDA.
pub fn context(device: &Device) -> Result<cust::context::Context> {
    backend(device).map(|backend| backend.cust().clone())
}

/// The handle of a stream, valid while a clone of the stream lives. Null is the legacy default stream.
///
/// # Errors
/// [`Error::Unsupported`] elsewhere than on CUDA.
pub fn raw_stream(stream: &Stream) -> Result<CUstream> {
    let queue: &dyn Any = &*stream.queue;
    queue.downcast_ref().map(Queue::raw).ok_or_else(|| no_cuda("CUDA handles", stream.device()))
}

/// A stream that was made elsewhere; dropping the result does not destroy it.
///
/// Of a non-blocking stream, wait for the work before plain transfers of buffers that it uses: they are not ordered
/// with it.
///
/// # Safety
/// `stream` is a stream of the device's primary context and outlives the result and its clones.
///
/// # Errors
/// [`Error::Unsupported`] elsewhere than on CUDA.
pub unsafe fn stream_from_raw(device: &Device, stream: CUstream) -> Result<Stream> {
    let backend = backend(device)?;
    // SAFETY: the caller's promise.
    Ok(Stream::new(device.clone(), Arc::new(unsafe { Queue::borrowed(backend, stream) })))
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
    unsafe { stream_from_raw(device, stream.as_inner()) }
}

/// The device address of a view; meaningless if the view is empty.
///
/// # Errors
/// [`Error::Unsupported`] elsewhere than on CUDA.
pub fn raw_pointer<'a, T: Element>(view: impl Into<View<'a, T>>) -> Result<CUdeviceptr> {
    let view = view.into();
    match view.device().kind() {
        Kind::Cuda => Ok(view.address()),
        _ => Err(no_cuda("device addresses", view.device())),
    }
}

/// The device address of a view, to write through; see [`raw_pointer`].
///
/// # Errors
/// As [`raw_pointer`].
pub fn raw_pointer_mut<'a, T: Element>(view: impl Into<ViewMut<'a, T>>) -> Result<CUdeviceptr> {
    let view = view.into();
    match view.device().kind() {
        Kind::Cuda => Ok(view.address()),
        _ => Err(no_cuda("device addresses", view.device())),
    }
}

/// The device address of a view, as `cust` has it.
///
/// # Errors
/// As [`raw_pointer`].
pub fn device_pointer<'a, T: Element + cust::memory::DeviceCopy>(
    view: impl Into<View<'a, T>>,
) -> Result<cust::memory::DevicePointer<T>> {
    raw_pointer(view).map(cust::memory::DevicePointer::from_raw)
}

/// A view of memory that was allocated elsewhere.
///
/// # Safety
/// `pointer` has `len` elements of initialised memory of the device's primary context, aligned for `T`, that stay
/// allocated for `'a` and until work that uses the view has ended, and that nothing else writes meanwhile.
///
/// # Errors
/// [`Error::Unsupported`] elsewhere than on CUDA.
pub unsafe fn view_from_raw<T: Element>(
    device: &Device,
    pointer: CUdeviceptr,
    len: usize,
) -> Result<View<'_, T>> {
    backend(device)?;
    // SAFETY: the caller's promise.
    Ok(unsafe { View::from_parts(device, pointer, len) })
}

/// A view to write of memory that was allocated elsewhere.
///
/// # Safety
/// As [`view_from_raw`], and nothing else reads the memory meanwhile either.
///
/// # Errors
/// [`Error::Unsupported`] elsewhere than on CUDA.
pub unsafe fn view_mut_from_raw<T: Element>(
    device: &Device,
    pointer: CUdeviceptr,
    len: usize,
) -> Result<ViewMut<'_, T>> {
    backend(device)?;
    // SAFETY: the caller's promise.
    Ok(unsafe { ViewMut::from_parts(device, pointer, len) })
}

/// A buffer that takes over memory: it will be freed with `cuMemFree`.
///
/// # Safety
/// `pointer` came from `cuMemAlloc` (or `cust::memory::cuda_malloc`) in the device's primary context with exactly
/// the bytes of `len` elements, and nothing else uses or frees it. Where that is no bytes it is 0.
///
/// # Errors
/// [`Error::Unsupported`] elsewhere than on CUDA.
pub unsafe fn buffer_from_raw<T: Element>(
    device: &Device,
    pointer: CUdeviceptr,
    len: usize,
) -> Result<Buffer<T>> {
    backend(device)?;
    // SAFETY: the caller's promise.
    Ok(unsafe { Buffer::from_parts(device.clone(), pointer, len) })
}

/// Gives up a buffer's memory: address and length. The caller frees it with `cuMemFree`.
///
/// # Errors
/// [`Error::Unsupported`] elsewhere than on CUDA; then the buffer is dropped.
pub fn buffer_into_raw<T: Element>(buffer: Buffer<T>) -> Result<(CUdeviceptr, usize)> {
    let raw = (raw_pointer(&buffer)?, buffer.len());
    buffer.forget();
    Ok(raw)
}

/// The device address of a view, as `rustacuda_core` has it.
///
/// # Errors
/// As [`raw_pointer`].
#[cfg(feature = "rustacuda")]
pub fn rustacuda_pointer<'a, T: Element>(
    view: impl Into<View<'a, T>>,
) -> Result<rustacuda_core::DevicePointer<T>> {
    let pointer = raw_pointer(view)?;
    // SAFETY: it is a device address, and kept as one.
    Ok(unsafe { rustacuda_core::DevicePointer::wrap(pointer as usize as *mut T) })
}
