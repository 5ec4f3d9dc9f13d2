//! Kernels are launched on streams.

use gpu_std::launch::{Invocation, LaunchTarget};

use crate::error::Error;
use crate::stream::Stream;

/// A launch is checked first: [`Error::EmptyLaunch`] without a thread, [`Error::LaunchLimit`] beyond what the device
/// or the kernel's launch bounds allow. More than 48 KiB of shared memory is opted into. On the CPU it is
/// [`Error::Unsupported`]. In the simulator the kernel has run on return, and its fault is the error; on CUDA a fault
/// is reported by a later call.
// SAFETY: every queue checks, then runs the kernel with exactly these arguments, copying them before it returns.
unsafe impl LaunchTarget for Stream {
    type Error = Error;

    unsafe fn launch(&self, invocation: &Invocation<'_>) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { self.queue.launch(invocation) }
    }
}
