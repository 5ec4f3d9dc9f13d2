//! The host's side of a kernel: what it is called, its PTX, and how it is launched.
//!
//! `#[kernel]` writes, beside the device function `f`, a type `f` that is a [`Kernel`], and a typed `launch` that takes
//! the same arguments and a [`LaunchTarget`]: a CUDA stream or the simulator. The target gets the arguments twice, as
//! bytes (for the driver) and as a closure that runs one thread (for the simulator).

use core::ffi::c_void;

/// The PTX of a kernel for one architecture.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    /// The compute capability it was compiled for, times ten: 75, 80, 90.
    pub arch: u32,
    /// Whether it runs on exactly that capability (`sm_90a`) or on every later one too.
    pub exact: bool,
    /// The text; empty in programs that were built without the feature `ptx` (`cuda` of the crates above).
    pub ptx: &'static str,
}

impl Image {
    /// The PTX version that the text states, times ten (`.version 7.4` is 74): with it the oldest driver that takes
    /// it. `None` where the text does not say.
    pub fn isa(&self) -> Option<u32> {
        let after = self.ptx.split_once(".version")?.1;
        let (major, minor) = after.split_whitespace().next()?.split_once('.')?;
        Some(major.parse::<u32>().ok()? * 10 + minor.parse::<u32>().ok()?)
    }

    /// The optimisation level that the driver's assembler is to use, from the comment `// -O1` at the head of the
    /// text. `None` where it says nothing: then the driver's own, its highest.
    pub fn opt_level(&self) -> Option<u32> {
        let mut comments = self.ptx.lines().take_while(|line| line.starts_with("//"));
        comments.find_map(|line| line.strip_prefix("// -O")?.parse().ok())
    }
}

/// What is known of a kernel before it is launched.
#[derive(Clone, Copy, Debug)]
pub struct KernelMeta {
    /// The name of the entry in the PTX.
    pub name: &'static str,
    /// Its PTX, for one or more architectures; the best one for a device is the largest `arch` that runs there. None
    /// for a kernel that only the simulator runs.
    pub images: &'static [Image],
    /// The sizes of its parameters in bytes.
    pub parameters: &'static [usize],
    /// The source file it was written in.
    pub file: &'static str,
    /// The line of its definition.
    pub line: u32,
    /// The most threads a block may have (`launch_bounds`), 1024 where none was given.
    pub max_threads: u32,
    /// Blocks that the compiler was asked to keep resident on a multiprocessor; 0 where not given.
    pub min_blocks: u32,
    /// Whether it waits for the kernels before it by itself, with
    /// [`grid_dependency_synchronize`](crate::thread::grid_dependency_synchronize), so that its blocks may be scheduled
    /// while they still run (programmatic dependent launch, capability 9.0).
    pub programmatic: bool,
}

/// A kernel as a type. `#[kernel]` implements it, nobody else.
///
/// ```
/// use gpu_std::launch::{Kernel, LaunchConfig, LaunchTarget};
/// use gpu_std::prelude::*;
///
/// #[kernel]
/// pub fn clear(values: GlobalMut<u32>, len: u32) {
///     let i = thread::index_1d();
///     if i < len {
///         values.write(i, 0);
///     }
/// }
/// #[kernel]
/// pub fn fill(values: GlobalMut<u32>, len: u32) {
///     let i = thread::index_1d();
///     if i < len {
///         values.write(i, 1);
///     }
/// }
///
/// /// Launches any kernel of an array and its length.
/// ///
/// /// # Safety
/// /// The array has `len` elements of the target, which nothing else uses until the kernel has ended.
/// unsafe fn of_array<K, L>(target: &L, array: GlobalMut<u32>, len: u32) -> Result<(), L::Error>
/// where
///     K: Kernel<Arguments = (GlobalMut<u32>, u32)>,
///     L: LaunchTarget,
/// {
///     // SAFETY: the caller's promise.
///     unsafe { K::launch_with(target, LaunchConfig::linear(len.div_ceil(32), 32), (array, len)) }
/// }
/// # let device = gpu_sim::Simulator::new(gpu_sim::Config::default());
/// # let array = device.alloc(4 * 40).unwrap();
/// # unsafe { of_array::<fill, _>(&device, GlobalMut::from_raw(array), 40).unwrap() };
/// # unsafe { of_array::<clear, _>(&device, GlobalMut::from_raw(array), 40).unwrap() };
/// assert_eq!(fill::META.name, "fill");
/// ```
pub trait Kernel {
    /// The parameters' types, in order.
    type Arguments;

    /// What is known of it before it is launched.
    const META: KernelMeta;

    /// The same: one place in memory for each kernel.
    fn meta() -> &'static KernelMeta;

    /// Launches it. It may still be running on return.
    ///
    /// # Errors
    /// Those of the target.
    ///
    /// # Safety
    /// Until the kernel has ended, every accessor among the arguments must address memory of the target that is valid
    /// for all the accesses the kernel makes through it with this configuration, and nothing else may write what the
    /// kernel reads or writes.
    unsafe fn launch_with<L: LaunchTarget>(
        target: &L,
        config: LaunchConfig,
        arguments: Self::Arguments,
    ) -> Result<(), L::Error>;
}

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchConfig {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u32,
}

impl LaunchConfig {
    /// A one-dimensional launch without shared memory.
    pub const fn linear(blocks: u32, threads: u32) -> Self {
        Self { grid: [blocks, 1, 1], block: [threads, 1, 1], shared_bytes: 0 }
    }

    /// The same with `bytes` of dynamic shared memory a block.
    pub const fn shared(self, bytes: u32) -> Self {
        Self { shared_bytes: bytes, ..self }
    }
}

/// One argument, as bytes: what `cuLaunchKernel` takes.
#[derive(Clone, Copy, Debug)]
pub struct Arg {
    /// Where the argument lies; valid while the [`Invocation`] lives.
    pub pointer: *const c_void,
    /// Its size in bytes.
    pub size: usize,
}

impl Arg {
    /// The argument that lies at `value`.
    pub const fn new<T: crate::parameter::Parameter>(value: &T) -> Self {
        Self { pointer: core::ptr::from_ref(value).cast(), size: size_of::<T>() }
    }
}

/// A kernel with its arguments, ready to be launched.
pub struct Invocation<'a> {
    /// The kernel.
    pub kernel: &'static KernelMeta,
    /// Grid, block and shared memory.
    pub config: LaunchConfig,
    /// The arguments in order.
    pub args: &'a [Arg],
    /// Runs one thread of the kernel; only inside the simulator. It panics where the feature `simulator` is off.
    pub thread: &'a (dyn Fn() + Sync),
}

/// Something a kernel can be launched on.
///
/// # Safety
/// An implementation either runs the kernel with exactly these arguments and this configuration or returns an
/// error; it does not use the argument pointers after it has returned.
pub unsafe trait LaunchTarget {
    /// What can go wrong.
    type Error;

    /// Launches the kernel. It may still be running on return.
    ///
    /// # Safety
    /// Every accessor among the arguments must address memory of this target that is valid, until the kernel has
    /// ended, for all the accesses the kernel makes through it with this configuration; and nothing else may
    /// write what the kernel reads or writes meanwhile.
    unsafe fn launch(&self, invocation: &Invocation<'_>) -> Result<(), Self::Error>;
}

// SAFETY: the simulator runs `thread` for every thread of the grid before it returns.
#[cfg(feature = "simulator")]
unsafe impl LaunchTarget for gpu_sim::Simulator {
    type Error = gpu_sim::Fault;

    unsafe fn launch(&self, invocation: &Invocation<'_>) -> Result<(), gpu_sim::Fault> {
        let kernel = gpu_sim::Kernel {
            name: invocation.kernel.name,
            file: invocation.kernel.file,
            line: invocation.kernel.line,
        };
        let LaunchConfig { grid, block, shared_bytes } = invocation.config;
        let geometry = gpu_sim::Geometry { grid, block, shared_bytes };
        let (threads, thread) = (invocation.kernel.max_threads, invocation.thread);
        if invocation.kernel.programmatic {
            self.launch_programmatic(kernel, threads, geometry, thread).map(drop)
        } else {
            self.launch_bounded(kernel, threads, geometry, thread).map(drop)
        }
    }
}
