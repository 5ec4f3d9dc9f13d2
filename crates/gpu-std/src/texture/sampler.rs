//! Reads of textures on the host: what the texture units do, for the simulator and the CPU.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::{AddressMode, Descriptor, FilterMode};

/// A texture on the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampler {
    /// Axes: 1 to 3.
    dimensions: usize,
    /// Texels along x, y and z; 1 along an axis that it does not have.
    extents: [usize; 3],
    descriptor: Descriptor,
    /// Channels of a texel.
    channels: usize,
    /// Reads give `u32`.
    integers: bool,
    /// Each as it is read, zero in channels that it does not have. Integers of 16 bits are exact.
    texels: Vec<[f32; 4]>,
}

impl Sampler {
    /// The texture with these texels of 4 channels of floats, one extent for each axis, x first and running fastest.
    /// They are as they are read, divided already where that is to be.
    ///
    /// # Panics
    /// Where they are not as many as the extents say, or none, or the axes not 1 to 3.
    pub fn new(extents: &[usize], descriptor: Descriptor, texels: Vec<[f32; 4]>) -> Self {
        let count: usize = extents.iter().product();
        assert!((1..=3).contains(&extents.len()) && count > 0 && count == texels.len(), "{extents:?} texels");
        let mut all = [1; 3];
        all[..extents.len()].copy_from_slice(extents);
        Self { dimensions: extents.len(), extents: all, descriptor, channels: 4, integers: false, texels }
    }

    /// The same of texels with so many channels; others are zero.
    #[must_use]
    pub fn with_channels(self, channels: usize) -> Self {
        Self { channels: channels.min(4), ..self }
    }

    /// The same with reads of `u32`.
    #[must_use]
    pub fn of_integers(self) -> Self {
        Self { integers: true, ..self }
    }

    /// How many axes it has.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Channels of a texel.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Whether reads give `u32` and not `f32`.
    pub fn reads_integers(&self) -> bool {
        self.integers
    }

    /// How it is read.
    pub fn descriptor(&self) -> Descriptor {
        self.descriptor
    }

    /// The texture's value at a place; coordinates of axes that it does not have are not looked at.
    pub fn sample(&self, place: [f32; 3]) -> [f32; 4] {
        let mut axes = [Axis { first: Some(0), second: None, weight: 0.0 }; 3];
        for (k, axis) in axes.iter_mut().enumerate().take(self.dimensions) {
            *axis = Axis::of(place[k], self.extents[k], self.descriptor);
        }
        self.value(axes)
    }

    fn value(&self, [x, y, z]: [Axis; 3]) -> [f32; 4] {
        let texel = |x: Option<usize>, y: Option<usize>, z: Option<usize>| match (x, y, z) {
            (Some(x), Some(y), Some(z)) => self.texels[(z * self.extents[1] + y) * self.extents[0] + x],
            _ => [0.0; 4],
        };
        let row = |y, z| lerp(texel(x.first, y, z), || texel(x.second, y, z), x.weight);
        let slice = |z| lerp(row(y.first, z), || row(y.second, z), y.weight);
        lerp(slice(z.first), || slice(z.second), z.weight)
    }
}

/// `(1 - weight) · a + weight · b`; `b` is asked for where it has a weight.
fn lerp(a: [f32; 4], b: impl FnOnce() -> [f32; 4], weight: f32) -> [f32; 4] {
    if weight == 0.0 {
        return a;
    }
    let b = b();
    core::array::from_fn(|k| weight.mul_add(b[k], (1.0 - weight) * a[k]))
}

/// The texels that a coordinate reads, `None` being the border, and the weight of the second.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axis {
    first: Option<usize>,
    second: Option<usize>,
    weight: f32,
}

impl Axis {
    fn of(coordinate: f32, extent: usize, descriptor: Descriptor) -> Self {
        let length = extent as f64;
        // f64 holds the product of an f32 and an extent: the hardware's fixed point is finer than its coordinates too.
        let x = f64::from(coordinate) * if descriptor.normalized_coordinates { length } else { 1.0 };
        // Not a number reads texel 0, as the comparisons of the addressing make it.
        let x = if x.is_nan() { 0.0 } else { x };
        let index = |index: f64| match descriptor.address {
            AddressMode::Clamp => Some(index.clamp(0.0, length - 1.0) as usize),
            AddressMode::Wrap => Some(index.rem_euclid(length) as usize),
            AddressMode::Mirror => {
                let within = index.rem_euclid(2.0 * length);
                Some(within.min(2.0 * length - 1.0 - within) as usize)
            }
            AddressMode::Border => (index >= 0.0 && index < length).then_some(index as usize),
        };
        // Far outside all modes are at their ends, or of no meaning.
        let x = x.clamp(-1e15, 1e15);
        match descriptor.filter {
            FilterMode::Point => Self { first: index(x.floor()), second: None, weight: 0.0 },
            FilterMode::Linear => {
                let first = (x - 0.5).floor();
                let weight = ((x - 0.5 - first) * 256.0).round_ties_even() / 256.0;
                Self { first: index(first), second: index(first + 1.0), weight: weight as f32 }
            }
        }
    }
}

/// The textures that kernels in the simulator read, by their handles.
pub struct Samplers {
    all: RwLock<Registered>,
}

/// Each with the number of the simulator that it is on.
struct Registered {
    textures: BTreeMap<u64, (u64, Arc<Sampler>)>,
    /// The last handle given.
    last: u64,
}

static SAMPLERS: Samplers = Samplers { all: RwLock::new(Registered { textures: BTreeMap::new(), last: 0 }) };

impl Samplers {
    /// Those of this process.
    pub fn get() -> &'static Self {
        &SAMPLERS
    }

    /// Adds one on a simulator, [`gpu_sim::Simulator::id`], and gives its handle: a number that no other one ever
    /// had, never zero.
    pub fn add(&self, simulator: u64, sampler: Arc<Sampler>) -> u64 {
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        all.last += 1;
        let handle = all.last;
        all.textures.insert(handle, (simulator, sampler));
        handle
    }

    /// Takes one away.
    pub fn remove(&self, handle: u64) -> Option<Arc<Sampler>> {
        self.all.write().unwrap_or_else(PoisonError::into_inner).textures.remove(&handle).map(|of| of.1)
    }

    /// The one with this handle on a simulator.
    ///
    /// # Panics
    /// Where there is none, or on another simulator: the kernel's fault.
    #[track_caller]
    pub fn find(&self, simulator: u64, handle: u64) -> Arc<Sampler> {
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        match all.textures.get(&handle) {
            Some((on, sampler)) if *on == simulator => Arc::clone(sampler),
            Some(_) => panic!("the texture with the handle {handle} is on another simulator"),
            None => panic!("no texture has the handle {handle}: it was dropped, or never was"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(descriptor: Descriptor) -> Sampler {
        let texels = [10.0, 20.0, 40.0, 80.0].map(|value| [value, 0.0, 0.0, 0.0]);
        Sampler::new(&[4], descriptor, texels.to_vec())
    }

    fn at(sampler: &Sampler, x: f32) -> f32 {
        sampler.sample([x, 0.0, 0.0])[0]
    }

    #[test]
    fn points_are_texels_and_outside_is_as_addressed() {
        for (address, before, after) in [
            (AddressMode::Clamp, 10.0, 80.0),
            (AddressMode::Wrap, 80.0, 10.0),
            (AddressMode::Mirror, 10.0, 80.0),
            (AddressMode::Border, 0.0, 0.0),
        ] {
            let descriptor = Descriptor { address, ..Descriptor::default() };
            let sampler = line(descriptor);
            assert_eq!([0.0, 0.99, 1.0, 3.5].map(|x| at(&sampler, x)), [10.0, 10.0, 20.0, 80.0]);
            assert_eq!((at(&sampler, -0.01), at(&sampler, 4.0)), (before, after), "{address:?}");
            let normalised = line(Descriptor { normalized_coordinates: true, ..descriptor });
            assert_eq!((at(&normalised, 0.3), at(&normalised, -0.01)), (20.0, before));
        }
        let mirror = line(Descriptor { address: AddressMode::Mirror, ..Descriptor::default() });
        assert_eq!([-1.5, 5.5, 8.5, -5.0].map(|x| at(&mirror, x)), [20.0, 40.0, 10.0, 80.0]);
    }

    #[test]
    fn between_centres_weights_have_eight_bits() {
        let linear = line(Descriptor { filter: FilterMode::Linear, ..Descriptor::default() });
        assert_eq!(
            [0.5, 1.0, 1.5, 1.75, 3.9, 0.1].map(|x| at(&linear, x)),
            [10.0, 15.0, 20.0, 25.0, 80.0, 10.0]
        );
        // 1/3 is 85.33 of 256.
        assert_eq!(at(&linear, 1.5 + 1.0 / 3.0), 20.0 + 20.0 * 85.0 / 256.0);
        // Less than half a unit away from a centre.
        assert_eq!(at(&linear, 1.5 + 0.0019), 20.0);
        assert_eq!(at(&linear, 1.5 - 0.0019), 20.0);
        let border = line(Descriptor {
            address: AddressMode::Border,
            filter: FilterMode::Linear,
            ..Descriptor::default()
        });
        assert_eq!((at(&border, 0.0), at(&border, 4.0)), (5.0, 40.0));
    }

    #[test]
    fn handles_are_never_zero_and_end_with_their_texture() {
        let sampler = Arc::new(line(Descriptor::default()));
        let handle = Samplers::get().add(7, Arc::clone(&sampler));
        assert_ne!(handle, 0);
        assert_eq!(Samplers::get().find(7, handle), sampler);
        assert!(Samplers::get().remove(handle).is_some() && Samplers::get().remove(handle).is_none());
        assert!(Samplers::get().add(7, sampler) > handle, "no handle is given twice");
    }
}
