//! The host's side of a kernel: what it is called, its PTX, and how it is launched.
//!
//! `#[kernel]` writes, beside the device function `f`, a type `f` that is a [`Kernel`]: it knows its [`KernelMeta`] and
//! the types of its arguments, and is launched on a [`LaunchTarget`], a CUDA stream or the simulator. The target gets
//! the arguments twice, as bytes (for the driver) and as a closure that runs one thread (for the simulator).

use core::ffi::c_void;
use std::borrow::Cow;
use std::sync::Arc;

use crate::edits;

/// The PTX of a kernel for one architecture.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    /// The compute capability it was compiled for, times ten: 75, 80, 90.
    pub arch: u32,
    /// Whether it runs on exactly that capability (`sm_90a`) or on every later one too.
    pub exact: bool,
    /// The text, or its [edits] to that of another image; empty in programs that were built without the feature `ptx` (`cuda` of
    /// the crates above).
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
    /// Blocks of a [cluster](crate::cluster), neighbours in x; 1 where it has none.
    pub cluster: u32,
    /// Whether it waits for the kernels before it by itself, with
    /// [`grid_dependency_synchronize`](crate::thread::grid_dependency_synchronize), so that its blocks may be scheduled
    /// while they still run (programmatic dependent launch, capability 9.0).
    pub programmatic: bool,
}

impl KernelMeta {
    /// The whole text of one of its images; `None` where that is edits which do not fit the image that they are for.
    pub fn text(&self, image: &Image) -> Option<Cow<'static, str>> {
        let Some(arch) = edits::edited(image.ptx) else { return Some(Cow::Borrowed(image.ptx)) };
        let base = self.images.iter().find(|base| base.arch == arch && edits::edited(base.ptx).is_none())?;
        edits::apply(base.ptx, image.ptx).map(Cow::Owned)
    }
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
    /// Whether it is an array that the kernel only reads.
    pub read_only: bool,
    /// The address of the memory that it describes, where it is none itself; else 0.
    pub described: u64,
}

impl Arg {
    /// The argument that lies at `value`.
    pub fn new<T: crate::parameter::Parameter>(value: &T) -> Self {
        Self {
            pointer: core::ptr::from_ref(value).cast(),
            size: T::BYTES,
            read_only: T::READ_ONLY,
            described: value.described(),
        }
    }
}

impl Invocation<'_> {
    /// The addresses that may be among the arguments, each with whether the kernel may write there: every argument of
    /// eight bytes, so that some are numbers and no addresses, and what others describe. Structures hold none.
    pub fn addresses(&self) -> impl Iterator<Item = (u64, bool)> {
        self.args.iter().filter(|arg| arg.size == 8 || arg.described != 0).map(|arg| {
            let address = match arg.described {
                // SAFETY: eight bytes lie there while this lives.
                0 => unsafe { arg.pointer.cast::<u64>().read_unaligned() },
                described => described,
            };
            (address, !arg.read_only)
        })
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
    pub thread: &'a dyn Thread,
}

/// What one thread of a kernel runs, arguments and all: every closure that holds nothing but plain values.
pub trait Thread: Sync {
    /// Runs it.
    fn run(&self);

    /// A copy that outlives the arguments, for launches that come later.
    fn keep(&self) -> Arc<dyn Thread + Send>;
}

impl<F: Fn() + Copy + Send + Sync + 'static> Thread for F {
    fn run(&self) {
        self();
    }

    fn keep(&self) -> Arc<dyn Thread + Send> {
        Arc::new(*self)
    }
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

/// A kernel as a type, which `#[kernel]` makes.
///
/// ```
/// use gpu_std::launch::Kernel;
/// use gpu_std::prelude::*;
///
/// #[kernel]
/// pub fn fill(target: GlobalMut<f32>, value: f32) {
///     target.write(thread::index_1d(), value);
/// }
///
/// /// Any kernel with these parameters.
/// fn name_of<K: Kernel<Arguments = (GlobalMut<f32>, f32)>>() -> &'static str {
///     K::meta().name
/// }
/// assert_eq!(name_of::<fill>(), "fill");
/// ```
///
/// # Safety
/// [`Kernel::launch_on`] hands the target exactly the arguments, in the order of the entry's parameters, and the
/// metadata of [`Kernel::meta`], which always is the same static.
pub unsafe trait Kernel {
    /// The parameters in order, as a tuple.
    type Arguments;

    /// What is known of the kernel before it is launched.
    const META: KernelMeta;

    /// The same, in one place in memory for each kernel.
    fn meta() -> &'static KernelMeta;

    /// Launches the kernel. It may still be running on return.
    ///
    /// # Errors
    /// Those of the target.
    ///
    /// # Safety
    /// As [`LaunchTarget::launch`].
    unsafe fn launch_on<L: LaunchTarget>(
        target: &L,
        config: LaunchConfig,
        arguments: Self::Arguments,
    ) -> Result<(), L::Error>;
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
        let compiled = (invocation.kernel.max_threads, invocation.kernel.cluster);
        let body = || invocation.thread.run();
        if invocation.kernel.programmatic {
            self.launch_programmatic(kernel, compiled, geometry, &body).map(drop)
        } else {
            self.launch_clustered(kernel, compiled, geometry, &body).map(drop)
        }
    }
}
