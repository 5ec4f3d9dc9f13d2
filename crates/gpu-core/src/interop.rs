//! For those who already hold CUDA objects, or need them: the driver's bare handles, which every binding to it can
//! give and take (`cudarc`'s, `cust`'s, CUDA's own). Contexts and streams are `*mut c_void` here, device addresses
//! `u64`.
//!
//! With the feature `cust` also `cust`'s contexts, streams and memory, with the feature `rustacuda` pointers of
//! `rustacuda_core`. This is the only place where types of theirs appear in a signature.

use core::ffi::c_void;
use std::any::Any;
use std::sync::Arc;

use crate::buffer::Buffer;
use crate::cuda::{self, Context, Queue};
use crate::device::{Device, Kind};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::stream::Stream;
use crate::view::{View, ViewMut};

#[cfg(feature = "cust")]
mod with_cust;
#[cfg(feature = "rustacuda")]
mod with_rustacuda;

#[cfg(feature = "cust")]
pub use with_cust::*;
#[cfg(feature = "rustacuda")]
pub use with_rustacuda::*;

/// The backend of a CUDA device.
fn backend(device: &Device) -> Result<Arc<Context>> {
    let backend: Arc<dyn Any + Send + Sync> = device.backend.clone();
    backend.downcast().map_err(|_| no_cuda("CUDA handles", device))
}

fn no_cuda(what: &'static str, device: &Device) -> Error {
    Error::Unsupported { what, device: device.to_string() }
}

/// The primary context of a CUDA device (`CUcontext`), valid until the process ends.
///
/// # Errors
/// [`Error::Unsupported`] elsewhere than on CUDA.
pub fn raw_context(device: &Device) -> Result<*mut c_void> {
    backend(device).map(|backend| backend.raw().cast())
}

/// The device of a context (`CUcontext`) that was made elsewhere.
///
/// # Safety
/// `context` is a context that lives.
///
/// # Errors
/// [`Error::Unsupported`] where it is not its device's primary context, which is the only one that is used here;
/// those of [`Device::cuda`] and of the driver.
pub unsafe fn device_from_raw_context(context: *mut c_void) -> Result<Device> {
    // SAFETY: the caller's promise.
    let ordinal = unsafe { cuda::ordinal_of(context.cast()) }?;
    let device = Device::cuda(ordinal)?;
    if raw_context(&device)? == context {
        Ok(device)
    } else {
        Err(no_cuda("contexts beside its primary one", &device))
    }
}

/// The handle of a stream (`CUstream`), valid while a clone of the stream lives. Null is the legacy default stream.
///
/// # Errors
/// [`Error::Unsupported`] elsewhere than on CUDA.
pub fn raw_stream(stream: &Stream) -> Result<*mut c_void> {
    let queue: &dyn Any = &*stream.queue;
    queue
        .downcast_ref()
        .map(|queue: &Queue| queue.raw().cast())
        .ok_or_else(|| no_cuda("CUDA handles", stream.device()))
}

/// A stream that was made elsewhere; dropping the result does not destroy it.
///
/// Its work is ordered with that of other streams as [`Stream`] says, also where it is a non-blocking one. What the caller
/// enqueues on it by other means is not.
///
/// # Safety
/// `stream` is a stream of the device's primary context and outlives the result and its clones.
///
/// # Errors
/// [`Error::Unsupported`] elsewhere than on CUDA.
pub unsafe fn stream_from_raw(device: &Device, stream: *mut c_void) -> Result<Stream> {
    let backend = backend(device)?;
    // SAFETY: the caller's promise.
    Ok(Stream::new(device.clone(), Arc::new(unsafe { Queue::borrowed(backend, stream.cast()) })))
}

/// The device address of a view; meaningless if the view is empty.
///
/// Where the device has memory pools the memory is there once the legacy default stream has come to its allocation:
/// blocking streams wait for that by themselves, others have to.
///
/// # Errors
/// [`Error::Unsupported`] elsewhere than on CUDA.
pub fn raw_pointer<'a, T: Element>(view: impl Into<View<'a, T>>) -> Result<u64> {
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
pub fn raw_pointer_mut<'a, T: Element>(view: impl Into<ViewMut<'a, T>>) -> Result<u64> {
    let view = view.into();
    match view.device().kind() {
        Kind::Cuda => Ok(view.address()),
        _ => Err(no_cuda("device addresses", view.device())),
    }
}

/// A view of memory that was allocated elsewhere.
///
/// # Safety
/// `pointer` has `len` elements of initialised memory of the device's primary context, aligned for `T`, that stay
/// allocated for `'a` and until work that uses the view has ended, and that nothing else writes meanwhile.
///
/// # Errors
/// [`Error::Unsupported`] elsewhere than on CUDA.
pub unsafe fn view_from_raw<T: Element>(device: &Device, pointer: u64, len: usize) -> Result<View<'_, T>> {
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
    pointer: u64,
    len: usize,
) -> Result<ViewMut<'_, T>> {
    backend(device)?;
    // SAFETY: the caller's promise.
    Ok(unsafe { ViewMut::from_parts(device, pointer, len) })
}

/// A buffer that takes over memory: it will be freed with `cuMemFree`.
///
/// # Safety
/// `pointer` came from `cuMemAlloc` in the device's primary context with exactly
/// the bytes of `len` elements, and nothing else uses or frees it. Where that is no bytes it is 0.
///
/// # Errors
/// [`Error::Unsupported`] elsewhere than on CUDA.
pub unsafe fn buffer_from_raw<T: Element>(device: &Device, pointer: u64, len: usize) -> Result<Buffer<T>> {
    let backend = backend(device)?;
    if pointer != 0 {
        backend.adopt(pointer, len * size_of::<T>());
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { Buffer::from_parts(device.clone(), pointer, len) })
}

/// Gives up a buffer's memory: address and length. The caller frees it with `cuMemFree`, once the work that uses it has
/// ended: of memory from a pool the driver does not wait for that.
///
/// # Errors
/// [`Error::Unsupported`] elsewhere than on CUDA; then the buffer is dropped.
pub fn buffer_into_raw<T: Element>(buffer: Buffer<T>) -> Result<(u64, usize)> {
    let raw = (raw_pointer(&buffer)?, buffer.len());
    backend(buffer.device())?.disown(raw.0);
    buffer.forget();
    Ok(raw)
}
