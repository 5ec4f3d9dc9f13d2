//! Devices: finding one, choosing one, and what it is asked for.

use core::fmt;
#[cfg(feature = "simulator")]
use std::any::Any;
use std::sync::{Arc, LazyLock};

use crate::backend::Backend;
use crate::buffer::Buffer;
use crate::capability::Capability;
use crate::cpu;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::capture;
use crate::pinned::Pinned;
use crate::properties::Properties;
#[cfg(feature = "simulator")]
use crate::simulator;
use crate::stream::Stream;

/// The environment variable that [`Device::from_env`] reads.
pub const ENVIRONMENT: &str = "GPU_DEVICE";

/// What a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// This machine's processor.
    Cpu,
    /// The SIMT simulator, on this machine's processor.
    Simulator,
    /// A GPU behind the CUDA driver.
    Cuda,
}

/// Something that holds buffers and, unless it is the CPU, runs kernels.
///
/// A handle: clones are the same device. It may be used from any thread and dropped before or after everything that
/// was made with it.
///
/// ```
/// use gpu_core::Device;
///
/// let device = Device::best();
/// println!("{}: {}", device.name(), device.why());
/// let buffer = device.upload(&[1.0_f32, 2.0, 3.0])?;
/// assert_eq!(buffer.to_vec()?, [1.0, 2.0, 3.0]);
/// # Ok::<(), gpu_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Device {
    pub(crate) backend: Arc<dyn Backend>,
    why: Arc<str>,
}

impl Device {
    pub(crate) fn new(backend: Arc<dyn Backend>, why: &str) -> Self {
        Self { backend, why: why.into() }
    }

    /// The first CUDA device if the feature `cuda` is on and a driver answers, else the CPU. [`Device::why`] says
    /// which it was and why. Never fails; the environment has no say (see [`Device::from_env`]).
    pub fn best() -> Self {
        match Self::cuda(0) {
            Ok(device) => Self { why: "the first CUDA device".into(), ..device },
            Err(error) => Self { why: format!("no CUDA device: {error}").into(), ..Self::cpu() },
        }
    }

    /// The device that the environment variable `GPU_DEVICE` names (`cpu`, `simulator`, `cuda`, `cuda:N`), or
    /// [`Device::best`] where it is unset or empty.
    ///
    /// # Errors
    /// Where it names a device that is not there, or nothing that is known.
    pub fn from_env() -> Result<Self> {
        match std::env::var_os(ENVIRONMENT) {
            Some(name) if !name.is_empty() => {
                let name = name.to_string_lossy();
                let device = Self::by_name(&name)?;
                Ok(Self { why: format!("{ENVIRONMENT}={name}").into(), ..device })
            }
            _ => Ok(Self::best()),
        }
    }

    /// The device of that name: `cpu`, `simulator`, `cuda` (the first one), or `cuda:N`.
    ///
    /// # Errors
    /// [`Error::UnknownDevice`], [`Error::NoSimulator`], or those of [`Device::cuda`].
    pub fn by_name(name: &str) -> Result<Self> {
        match name {
            "cpu" => Ok(Self::cpu()),
            #[cfg(feature = "simulator")]
            "simulator" => Ok(Self::simulator()),
            #[cfg(not(feature = "simulator"))]
            "simulator" => Err(Error::NoSimulator),
            "cuda" => Self::cuda(0),
            _ => match name.strip_prefix("cuda:").and_then(ordinal) {
                Some(ordinal) => Self::cuda(ordinal),
                None => Err(Error::UnknownDevice { asked: name.into() }),
            },
        }
    }

    /// This machine's processor. All handles to it are the same device.
    pub fn cpu() -> Self {
        Self::cpu_ref().clone()
    }

    /// The CPU by reference, for views of host slices.
    pub(crate) fn cpu_ref() -> &'static Self {
        static CPU: LazyLock<Device> = LazyLock::new(|| Device::new(Arc::new(cpu::Cpu), "asked for by name"));
        &CPU
    }

    /// A new simulator with its default configuration. Each call makes one of its own, with its own memory. With the
    /// feature `simulator`: without it kernels are not compiled for the host.
    #[cfg(feature = "simulator")]
    pub fn simulator() -> Self {
        Self::simulator_with(gpu_sim::Config::default())
    }

    /// A new simulator with this configuration. With the feature `simulator`.
    #[cfg(feature = "simulator")]
    pub fn simulator_with(config: gpu_sim::Config) -> Self {
        Self::new(Arc::new(simulator::Device::new(config)), "asked for by name")
    }

    /// The CUDA device with this number, counted from 0.
    ///
    /// # Errors
    /// [`Error::NoDriver`] without a driver, or in a build without the feature `cuda`; [`Error::NoSuchDevice`];
    /// [`Error::Cuda`] where the driver cannot give its context.
    pub fn cuda(ordinal: usize) -> Result<Self> {
        #[cfg(feature = "cuda")]
        {
            Ok(Self::new(crate::cuda::context(ordinal)?, "asked for by name"))
        }
        #[cfg(not(feature = "cuda"))]
        {
            let _ = ordinal;
            Err(Error::NoDriver { why: "gpu-core was built without its feature `cuda`".into() })
        }
    }

    /// Every CUDA device; none is an empty list if there is a driver.
    ///
    /// # Errors
    /// As [`Device::cuda`].
    pub fn all_cuda() -> Result<Vec<Self>> {
        #[cfg(feature = "cuda")]
        {
            (0..crate::cuda::count()?).map(Self::cuda).collect()
        }
        #[cfg(not(feature = "cuda"))]
        {
            Self::cuda(0).map(|device| vec![device])
        }
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        self.backend.kind()
    }

    /// Its name: the GPU's, the processor's, or `simulator`.
    pub fn name(&self) -> String {
        self.backend.name()
    }

    /// Why this device was chosen.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// What the driver knows of a CUDA device.
    ///
    /// # Errors
    /// [`Error::Unsupported`] on the CPU and the simulator.
    pub fn properties(&self) -> Result<Properties> {
        self.backend.properties()
    }

    /// The compute capability of a CUDA device; `None` on the CPU and the simulator, which run every kernel. The driver
    /// is not asked: it is known since the device was first used.
    ///
    /// ```
    /// assert_eq!(gpu_core::Device::simulator().capability(), None);
    /// ```
    pub fn capability(&self) -> Option<Capability> {
        self.backend.capability()
    }

    /// The multiprocessors of a CUDA device; `None` on the CPU and the simulator, which have none, and where the
    /// driver does not say.
    ///
    /// One question to the driver, where [`properties`](Self::properties) asks for all that it knows: cheap enough
    /// for every launch of a kernel whose blocks take work in turn, one on each multiprocessor.
    pub fn multiprocessors(&self) -> Option<u32> {
        self.backend.multiprocessors()
    }

    /// The multiprocessors that a launch is cut for: the device's, of the simulator those of its configuration, and
    /// elsewhere an H200's 132, which are the simulator's, too, unless it is told otherwise.
    pub fn planned_multiprocessors(&self) -> u32 {
        const H200: u32 = 132;
        #[cfg(feature = "simulator")]
        if let Some(simulator) = self.as_simulator() {
            return simulator.config().multiprocessors.max(1);
        }
        self.multiprocessors().unwrap_or(H200).max(1)
    }

    /// Blocks that take pieces of work until none is left: `each` on every multiprocessor that a launch is cut for
    /// ([`planned_multiprocessors`](Self::planned_multiprocessors)), as many as it holds, and no more than there are
    /// pieces.
    ///
    /// ```
    /// let device = gpu_core::Device::simulator();
    /// assert_eq!((device.blocks_for(4, 100), device.blocks_for(4, 100_000)), (100, 528));
    /// ```
    pub fn blocks_for(&self, each: u32, pieces: u64) -> u32 {
        let most = each.saturating_mul(self.planned_multiprocessors());
        u32::try_from(pieces).map_or(most, |pieces| pieces.min(most))
    }

    /// Its memory in bytes: free and in total. Zeros where that cannot be known.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn memory_info(&self) -> Result<(u64, u64)> {
        self.backend.memory_info()
    }

    /// The simulator behind this device, if it is one: for its reports and its seed. With the feature `simulator`.
    #[cfg(feature = "simulator")]
    pub fn as_simulator(&self) -> Option<&gpu_sim::Simulator> {
        let backend: &dyn Any = &*self.backend;
        backend.downcast_ref::<simulator::Device>().map(simulator::Device::simulator)
    }

    /// The number of the simulator behind this device, if it is one.
    pub(crate) fn simulator_id(&self) -> Option<u64> {
        #[cfg(feature = "simulator")]
        return self.as_simulator().map(gpu_sim::Simulator::id);
        #[cfg(not(feature = "simulator"))]
        None
    }

    /// A new stream. Streams of one device run beside each other; see [`Stream`] for what is ordered.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn stream(&self) -> Result<Stream> {
        Ok(Stream::new(self.clone(), Arc::clone(&self.backend).create_queue()?))
    }

    /// The stream that every device has: on CUDA the legacy default stream, which waits for all others.
    pub fn default_stream(&self) -> Stream {
        Stream::default_of(self.clone(), Arc::clone(&self.backend).default_queue())
    }

    /// Waits until all work on all streams of the device has ended.
    ///
    /// # Errors
    /// A fault in a kernel that ran meanwhile.
    pub fn synchronize(&self) -> Result<()> {
        capture::refuse(self, "a wait for the device")?;
        self.backend.synchronize()
    }

    /// A buffer of `len` elements with undefined content: on the CPU zeros, in the simulator bytes that it is a
    /// fault to read before they are written.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; those of the driver.
    pub fn alloc<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        Buffer::allocate(self, len, false)
    }

    /// A buffer of `len` zeros.
    ///
    /// # Errors
    /// As [`Device::alloc`].
    pub fn zeroed<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        Buffer::allocate(self, len, true)
    }

    /// A buffer with a copy of `data`.
    ///
    /// # Errors
    /// As [`Device::alloc`].
    pub fn upload<T: Element>(&self, data: &[T]) -> Result<Buffer<T>> {
        let mut buffer = Buffer::allocate(self, data.len(), false)?;
        buffer.copy_from(data)?;
        Ok(buffer)
    }

    /// Host memory of `len` zeros that this device transfers from and to without staging.
    ///
    /// # Errors
    /// As [`Device::alloc`].
    pub fn pinned<T: Element>(&self, len: usize) -> Result<Pinned<T>> {
        Pinned::allocate(self, len)
    }

    /// Refuses `what` if it lives elsewhere.
    pub(crate) fn expect(&self, what: &'static str, actual: &Self) -> Result<()> {
        if self == actual {
            return Ok(());
        }
        Err(Error::WrongDevice { what, expected: self.to_string(), actual: actual.to_string() })
    }
}

/// The number that a text is, written as it is printed: no sign, no zeros before it.
fn ordinal(text: &str) -> Option<usize> {
    text.parse().ok().filter(|number: &usize| number.to_string() == text)
}

/// Whether both are handles to the same device.
impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.backend, &other.backend)
    }
}

impl Eq for Device {}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            Kind::Cpu => write!(f, "CPU ({})", self.name()),
            Kind::Simulator => f.write_str("simulator"),
            Kind::Cuda => f.write_str(&self.name()),
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device")
            .field("kind", &self.kind())
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}
