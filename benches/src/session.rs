//! The device, and the inputs on it that all cases share.

use std::any::Any;
use std::collections::BTreeMap;

use gpu_core::{Buffer, Device, Kind, Stream, View};

use crate::cli::{Args, Target};
use crate::data::{self, Element, Layout};
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
    /// Whether works are launched once, to be counted, and not timed.
    pub counts: bool,
    /// Bytes that the rotated inputs fill at least.
    rotated_bytes: u64,
    /// The input's values, by the type's name.
    numbers: BTreeMap<&'static str, Box<dyn Shared>>,
}

/// The input's values of one type, on the host and on the device.
struct Numbers<T: Element> {
    host: Vec<T>,
    device: Option<Buffer<T>>,
}

/// [`Numbers`] of any type.
trait Shared: Any {
    /// Frees the device's memory.
    fn release(&mut self);
}

impl<T: Element> Shared for Numbers<T> {
    fn release(&mut self) {
        self.device = None;
    }
}

/// Opens the device that the command line names.
///
/// # Errors
/// [`Error::NoGpu`].
pub fn open(target: Target, ordinal: u32) -> Result<Device, Error> {
    match target {
        Target::Cpu => Ok(Device::cpu()),
        Target::Simulator => Ok(Device::by_name(target.name())?),
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
                let rotated = if args.warm { 0 } else { caches.max(MIN_ROTATED_BYTES) };
                let effort = if args.quick { Effort::QUICK } else { Effort::FULL };
                (Clock::Events, effort, rotated)
            }
            // Two inputs are enough where no cache is to be measured around.
            Kind::Simulator => (Clock::Wall, Effort::SIMULATED, 0),
            _ => (Clock::Wall, Effort::HOST, 0),
        };
        Ok(Self { device, stream, clock, effort, counts: false, rotated_bytes, numbers: BTreeMap::new() })
    }

    /// A session in which works are launched once, to be counted, and not timed.
    ///
    /// # Errors
    /// Those of the device.
    pub fn counting(device: &Device) -> Result<Self, Error> {
        Ok(Self {
            device: device.clone(),
            stream: device.stream()?,
            clock: Clock::Wall,
            effort: Effort::SIMULATED,
            counts: true,
            rotated_bytes: 0,
            numbers: BTreeMap::new(),
        })
    }

    /// How inputs of `elements` elements lie in the shared memory.
    pub fn layout<T>(&self, elements: usize) -> Layout {
        Layout::filling::<T>(elements, self.rotated_bytes)
    }

    /// Makes [`Session::inputs`] of this layout available. Call it before; it may replace the shared memory.
    ///
    /// # Errors
    /// Those of the device; then there are no inputs of this type.
    pub fn prepare<T: Element>(&mut self, layout: Layout) -> Result<(), Error> {
        if self.inputs::<T>(layout).is_some() {
            return Ok(());
        }
        // The old one first: the two need not fit beside each other.
        self.numbers_mut::<T>().release();
        let device = self.device.clone();
        let alloc = || device.alloc::<T>(layout.len()).map_err(Error::from);
        let mut input = match alloc() {
            Err(error) if error.is_out_of_memory() => {
                self.release();
                alloc()
            }
            other => other,
        }?;
        let numbers = self.numbers_mut::<T>();
        if numbers.host.len() < layout.len() {
            numbers.host = data::values(layout.len());
        }
        input.copy_from(&numbers.host[..layout.len()])?;
        numbers.device = Some(input);
        Ok(())
    }

    /// Frees the device's memory of all inputs.
    pub fn release(&mut self) {
        self.numbers.values_mut().for_each(|numbers| numbers.release());
    }

    /// The inputs of this layout; `None` if they were not prepared.
    pub fn inputs<T: Element>(&self, layout: Layout) -> Option<Inputs<'_, T>> {
        let shared: &dyn Any = &**self.numbers.get(T::NAME)?;
        let numbers: &Numbers<T> = shared.downcast_ref()?;
        let device = numbers.device.as_ref().filter(|input| input.len() >= layout.len())?;
        Some(Inputs { layout, host: &numbers.host[..layout.len()], device })
    }

    fn numbers_mut<T: Element>(&mut self) -> &mut Numbers<T> {
        let none = || Box::new(Numbers::<T> { host: Vec::new(), device: None }) as Box<dyn Shared>;
        let shared: &mut dyn Any = &mut **self.numbers.entry(T::NAME).or_insert_with(none);
        shared.downcast_mut().expect("each type has a name of its own")
    }
}

/// Inputs on the device, with a copy on the host.
#[derive(Clone, Copy)]
pub struct Inputs<'a, T: Element> {
    /// Where each lies.
    pub layout: Layout,
    /// Their values.
    pub host: &'a [T],
    /// The same on the device; it may be longer.
    pub device: &'a Buffer<T>,
}

/// Outputs on the device, and where they are taken to be checked.
pub struct Outputs<T: Element> {
    layout: Layout,
    device: Buffer<T>,
    host: Vec<T>,
}

impl<T: Element> Outputs<T> {
    /// Outputs laid out as `layout`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(session: &Session, layout: Layout) -> Result<Self, Error> {
        Ok(Self { layout, device: session.device.alloc(layout.len())?, host: Vec::new() })
    }

    /// The output of the input numbered `input`.
    pub fn of(&mut self, input: usize) -> gpu_core::ViewMut<'_, T> {
        self.device.slice_mut(self.layout.range(input))
    }

    /// What is in that of the input numbered `input`, after everything enqueued.
    ///
    /// # Errors
    /// Those of the device.
    pub fn read(&self, input: usize) -> Result<Vec<T>, Error> {
        let range = self.layout.range(input);
        let mut values = vec![T::default(); range.len()];
        self.device.slice(range).copy_to(&mut values)?;
        Ok(values)
    }

    /// Poisons all.
    ///
    /// # Errors
    /// Those of the device.
    pub fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        Ok(stream.memset(&mut self.device, T::POISON)?)
    }

    /// Copies to each what `source` has for it, and poisons what lies between them: for what is done in place.
    ///
    /// # Errors
    /// Those of the device.
    pub fn set<'s>(&mut self, stream: &Stream, source: impl Fn(usize) -> View<'s, T>) -> Result<(), Error> {
        self.poison(stream)?;
        (0..self.layout.count).try_for_each(|number| Ok(stream.copy(self.of(number), source(number))?))
    }

    /// Checks all, as [`data::check`] does.
    ///
    /// # Errors
    /// As [`data::check`], and those of the device.
    pub fn check(&mut self, launched: &[bool], expected: impl FnMut(usize, &mut [T])) -> Result<(), Error> {
        self.host.resize(self.device.len(), T::default());
        self.device.copy_to(&mut self.host)?;
        data::check(self.layout, launched, &self.host, expected)
    }
}
