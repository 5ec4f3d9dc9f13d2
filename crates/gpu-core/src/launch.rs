//! Kernels are launched on streams.

use core::marker::PhantomData;
use core::mem::size_of;

use gpu_std::launch::{Invocation, Kernel, LaunchConfig, LaunchTarget};
use gpu_std::memory::{Global, GlobalMut};

use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::Element;
use crate::error::Error;
use crate::graph::capture;
use crate::stream::Stream;
use crate::view::{View, ViewMut};

/// A launch is checked first: [`Error::EmptyLaunch`] without a thread, [`Error::LaunchLimit`] beyond what the device
/// or the kernel's launch bounds allow. More than 48 KiB of shared memory is opted into. On the CPU it is
/// [`Error::Unsupported`]. In the simulator the kernel has run on return, and its fault is the error; on CUDA a fault
/// is reported by a later call.
// SAFETY: every queue checks, then runs the kernel with exactly these arguments, copying them before it returns; so
// does each launch of a graph that it is captured in.
unsafe impl LaunchTarget for Stream {
    type Error = Error;

    unsafe fn launch(&self, invocation: &Invocation<'_>) -> Result<(), Error> {
        if capture::launch(self, invocation)? {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe { self.queue.launch(invocation) }
    }
}

impl Stream {
    /// Enqueues a kernel. Where it takes an array, a view or a buffer may stand: in the simulator the rest of that
    /// buffer is then out of bounds to the kernel.
    ///
    /// ```
    /// use gpu_core::Device;
    /// use gpu_std::{launch::LaunchConfig, prelude::*};
    ///
    /// #[kernel]
    /// fn double(input: Global<u32>, output: GlobalMut<u32>) {
    ///     output.write(thread::index_1d(), 2 * input.read(thread::index_1d()));
    /// }
    ///
    /// let device = Device::simulator();
    /// let input = device.upload(&[1u32, 2, 3])?;
    /// let mut output = device.zeroed::<u32>(3)?;
    /// // SAFETY: three threads read and write an element each of three.
    /// unsafe { device.default_stream().launch::<double>(LaunchConfig::linear(1, 3), (&input, &mut output)) }?;
    /// assert_eq!(output.to_vec()?, [2, 4, 6]);
    /// # Ok::<(), gpu_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of this target's [`LaunchTarget::launch`].
    ///
    /// # Safety
    /// Until the kernel has ended, every array among the arguments must be memory of this device that is valid for all
    /// the accesses the kernel makes through it with this configuration, and nothing else may write what the kernel
    /// reads or writes. Buffers are freed only after the work enqueued before.
    ///
    /// Where it is captured in a [`Graph`](crate::Graph) the same goes for each launch of that. Buffers among the
    /// arguments are held by the graph, or refused; for other memory, and for textures, that is up to the caller.
    pub unsafe fn launch<K: Kernel>(
        &self,
        config: LaunchConfig,
        arguments: impl IntoArguments<K::Arguments>,
    ) -> Result<(), Error> {
        #[cfg(feature = "simulator")]
        let _noted = crate::simulator::given::Noted::from_here();
        // SAFETY: the caller's promise.
        unsafe { K::launch_on(self, config, arguments.into_arguments()) }
    }

    /// The same, of a kernel chosen at run time.
    ///
    /// # Errors
    /// Those of this target's [`LaunchTarget::launch`].
    ///
    /// # Safety
    /// As [`Stream::launch`].
    pub unsafe fn launch_any<A>(
        &self,
        kernel: AnyKernel<A>,
        config: LaunchConfig,
        arguments: impl IntoArguments<A>,
    ) -> Result<(), Error> {
        #[cfg(feature = "simulator")]
        let _noted = crate::simulator::given::Noted::from_here();
        // SAFETY: the caller's promise.
        unsafe { (kernel.launch)(self, config, arguments.into_arguments()) }
    }
}

/// A kernel with the parameters `A`, whichever: an entry of a table of kernels. [`Stream::launch_any`] launches it.
///
/// ```
/// use gpu_core::{AnyKernel, Device};
/// use gpu_std::{launch::LaunchConfig, prelude::*};
///
/// #[kernel]
/// fn double(values: GlobalMut<u32>) {
///     values.write(thread::index_1d(), 2 * values.read(thread::index_1d()));
/// }
/// #[kernel]
/// fn square(values: GlobalMut<u32>) {
///     values.write(thread::index_1d(), values.read(thread::index_1d()) * values.read(thread::index_1d()));
/// }
/// const KERNELS: [AnyKernel<(GlobalMut<u32>,)>; 2] = [AnyKernel::of::<double>(), AnyKernel::of::<square>()];
///
/// let device = Device::simulator();
/// let mut values = device.upload(&[1u32, 2, 3])?;
/// for kernel in KERNELS {
///     // SAFETY: three threads read and write an element each of three.
///     unsafe { device.default_stream().launch_any(kernel, LaunchConfig::linear(1, 3), (&mut values,)) }?;
/// }
/// assert_eq!(values.to_vec()?, [4, 16, 36]);
/// # Ok::<(), gpu_core::Error>(())
/// ```
pub struct AnyKernel<A> {
    launch: unsafe fn(&Stream, LaunchConfig, A) -> Result<(), Error>,
}

impl<A> AnyKernel<A> {
    /// The kernel `K`.
    pub const fn of<K: Kernel<Arguments = A>>() -> Self {
        Self { launch: K::launch_on::<Stream> }
    }
}

impl<A> Clone for AnyKernel<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for AnyKernel<A> {}

/// A view becomes an argument.
#[cfg_attr(
    not(feature = "simulator"),
    expect(unused_variables, reason = "only the simulator watches its end")
)]
fn given(device: &Device, address: u64, bytes: usize) {
    #[cfg(feature = "simulator")]
    crate::simulator::given::note(device, address, bytes);
}

/// What may stand for a kernel's parameter `P`: one of that type, for an array also a view or a buffer.
pub trait IntoArgument<P> {
    /// The argument itself.
    fn into_argument(self) -> P;
}

impl<P> IntoArgument<P> for P {
    fn into_argument(self) -> P {
        self
    }
}

impl<T: Element> IntoArgument<Global<T>> for View<'_, T> {
    fn into_argument(self) -> Global<T> {
        let array = self.as_global();
        given(self.device(), array.address(), self.len() * size_of::<T>());
        array
    }
}

impl<T: Element> IntoArgument<Global<T>> for &Buffer<T> {
    fn into_argument(self) -> Global<T> {
        self.view().into_argument()
    }
}

impl<T: Element> IntoArgument<GlobalMut<T>> for ViewMut<'_, T> {
    fn into_argument(mut self) -> GlobalMut<T> {
        let array = self.as_global_mut();
        given(self.device(), array.address(), self.len() * size_of::<T>());
        array
    }
}

impl<T: Element> IntoArgument<GlobalMut<T>> for &mut Buffer<T> {
    fn into_argument(self) -> GlobalMut<T> {
        self.view_mut().into_argument()
    }
}

/// A view that stands for an array of any type: for kernels that move bytes, whatever they mean. What
/// [`View::untyped`] and [`ViewMut::untyped`] give.
pub struct Untyped<V>(pub(crate) V);

impl<T: Element, U: gpu_std::memory::Element> IntoArgument<Global<U>> for Untyped<View<'_, T>> {
    fn into_argument(self) -> Global<U> {
        let array: Global<T> = self.0.into_argument();
        array.cast()
    }
}

impl<T: Element, U: gpu_std::memory::Element> IntoArgument<GlobalMut<U>> for Untyped<ViewMut<'_, T>> {
    fn into_argument(self) -> GlobalMut<U> {
        let array: GlobalMut<T> = self.0.into_argument();
        array.cast()
    }
}

/// What may stand for a kernel's parameters `T`, a tuple: tuples with as many of [`IntoArgument`].
pub trait IntoArguments<T>: Sized {
    /// The arguments themselves.
    fn into_arguments(self) -> T;

    /// Those of another kernel, made of these.
    fn map<U, F: FnOnce(T) -> U>(self, other: F) -> MappedArguments<Self, T, F> {
        MappedArguments { arguments: self, other, of: PhantomData }
    }
}

/// What [`IntoArguments::map`] gives.
pub struct MappedArguments<A, T, F> {
    arguments: A,
    other: F,
    of: PhantomData<fn() -> T>,
}

impl<A: IntoArguments<T>, T, U, F: FnOnce(T) -> U> IntoArguments<U> for MappedArguments<A, T, F> {
    fn into_arguments(self) -> U {
        (self.other)(self.arguments.into_arguments())
    }
}

macro_rules! tuples {
    ($($first:ident $first_parameter:ident $(, $argument:ident $parameter:ident)*)?) => {
        impl<$($first: IntoArgument<$first_parameter>, $first_parameter, $($argument: IntoArgument<$parameter>, $parameter),*)?>
            IntoArguments<($($first_parameter, $($parameter,)*)?)> for ($($first, $($argument,)*)?)
        {
            #[allow(non_snake_case, clippy::unused_unit)]
            fn into_arguments(self) -> ($($first_parameter, $($parameter,)*)?) {
                $(let ($first, $($argument,)*) = self;)?
                ($($first.into_argument(), $($argument.into_argument(),)*)?)
            }
        }
        $(tuples!($($argument $parameter),*);)?
    };
}
tuples!(
    A0 P0, A1 P1, A2 P2, A3 P3, A4 P4, A5 P5, A6 P6, A7 P7, A8 P8, A9 P9, A10 P10, A11 P11, A12 P12, A13 P13, A14 P14,
    A15 P15, A16 P16, A17 P17, A18 P18, A19 P19, A20 P20, A21 P21, A22 P22, A23 P23
);
