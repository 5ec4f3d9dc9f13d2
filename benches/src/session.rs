//! The device, and the inputs on it that all cases share.

use gpu_core::{Buffer, Device, Kind, Stream};

use crate::cli::{Args, Target};
use crate::data::{self, Layout};
use crate::error::Error;
use crate::protocol::Effort;
use crate::report::Clock;

/// Inputs fill at least this many bytes …
pub const MIN_ROTATED_BYTES: u64 = 256 << 20;
/// … and at least so many times the second-level cache.
pub const ROTATED_CACHES: u64 = 4;

/// A device with inputs.
pub struct Session {
    /// The device.
    pub device: Device,
    /// Where everything is launched.
    pub stream: Stream,
    /// What tells the time of launches.
    pub clock: Clock,
    /// How much is done for a result.
    pub effort: Effort,
    /// Bytes that the rotated inputs fill at least.
    rotated_bytes: u64,
    /// The input's values …
    host: Vec<f32>,
    /// … on the device too.
    input: Option<Buffer<f32>>,
}

/// Opens the device that the command line names.
///
/// # Errors
/// [`Error::NoGpu`].
pub fn open(target: Target, ordinal: u32) -> Result<Device, Error> {
    match target {
        Target::Cpu => Ok(Device::cpu()),
        Target::Simulator => Ok(Device::simulator()),
        Target::Cuda => Device::cuda(ordinal as usize).map_err(Error::NoGpu),
    }
}

impl Session {
    /// A session as the command line asks for.
    ///
    /// # Errors
    /// [`Error::NoGpu`], and those of the device.
    pub fn new(args: &Args) -> Result<Self, Error> {
        let device = open(args.device, args.ordinal)?;
        let stream = device.stream()?;
        let (clock, effort, rotated_bytes) = match device.kind() {
            Kind::Cuda => {
                let caches = ROTATED_CACHES * u64::from(device.properties()?.l2_cache);
                let effort = if args.quick { Effort::QUICK } else { Effort::FULL };
                (Clock::Events, effort, caches.max(MIN_ROTATED_BYTES))
            }
            // Two inputs are enough where no cache is to be measured around.
            _ => (Clock::Wall, Effort::HOST, 0),
        };
        Ok(Self { device, stream, clock, effort, rotated_bytes, host: Vec::new(), input: None })
    }

    /// How inputs of `elements` elements lie in the shared memory.
    pub fn layout(&self, elements: usize) -> Layout {
        Layout::filling(elements, self.rotated_bytes)
    }

    /// Makes [`Session::inputs`] of this layout available. Call it before; it may replace the shared memory.
    ///
    /// # Errors
    /// Those of the device; then there are no inputs at all.
    pub fn prepare(&mut self, layout: Layout) -> Result<(), Error> {
        if self.input.as_ref().is_none_or(|input| input.len() < layout.len()) {
            // The old one first: the two need not fit beside each other.
            self.input = None;
            let mut input = self.device.alloc(layout.len())?;
            if self.host.len() < layout.len() {
                self.host = data::values(layout.len());
            }
            input.copy_from(&self.host[..layout.len()])?;
            self.input = Some(input);
        }
        Ok(())
    }

    /// Frees the memory of the inputs.
    pub fn release(&mut self) {
        self.input = None;
    }

    /// The inputs of this layout; `None` if they were not prepared.
    pub fn inputs(&self, layout: Layout) -> Option<Inputs<'_>> {
        let device = self.input.as_ref().filter(|input| input.len() >= layout.len())?;
        Some(Inputs { layout, host: &self.host[..layout.len()], device })
    }
}

/// Inputs on the device, with a copy on the host.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// Where each lies.
    pub layout: Layout,
    /// Their values.
    pub host: &'a [f32],
    /// The same on the device; it may be longer.
    pub device: &'a Buffer<f32>,
}

/// Outputs on the device, and where they are taken to be checked.
pub struct Outputs {
    layout: Layout,
    device: Buffer<f32>,
    host: Vec<f32>,
}

impl Outputs {
    /// Outputs laid out as `layout`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, layout: Layout) -> Result<Self, Error> {
        Ok(Self { layout, device: session.device.alloc(layout.len())?, host: Vec::new() })
    }

    /// The output of the input numbered `input`.
    pub fn of(&mut self, input: usize) -> gpu_core::ViewMut<'_, f32> {
        self.device.slice_mut(self.layout.range(input))
    }

    /// Poisons all.
    ///
    /// # Errors
    /// Those of the device.
    pub fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        Ok(stream.memset(&mut self.device, data::POISON_BYTE)?)
    }

    /// Checks all, as [`data::check`] does.
    ///
    /// # Errors
    /// As [`data::check`], and those of the device.
    pub fn check(&mut self, launched: &[bool], expected: impl FnMut(usize, &mut [f32])) -> Result<(), Error> {
        self.host.resize(self.device.len(), 0.0);
        self.device.copy_to(&mut self.host)?;
        data::check(self.layout, launched, &self.host, expected)
    }
}
