//! Sums of segments and of columns.

use gpu_core::Stream;
use gpu_reduce::{Scratch, reduce_axis_into, reduce_segments_into, reference};

use crate::data::{Element, Layout};
use crate::error::Error;
use crate::protocol::Work;
use crate::session::{Inputs, Outputs, Session};

/// Elements of all segments together.
pub const ELEMENTS: usize = 1 << 26;
/// The same with `--quick`.
pub const QUICK_ELEMENTS: usize = 1 << 16;
/// The seed of the power law's lengths.
pub const POWER_LAW_SEED: u64 = 20_261_121;
/// The longest of them are between 2^20 and 2^21.
pub const POWER_LAW_DOUBLINGS: u64 = 20;

/// How long segments are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lengths {
    /// All the same; the last may be shorter.
    Equal(usize),
    /// P(length ≥ x) about 1 / x: 2^k with probability 2^-(k+1), k at most [`POWER_LAW_DOUBLINGS`], and up to as much
    /// again, uniformly. In integers alone, so that every machine and the peer program have the same.
    PowerLaw,
}

impl Lengths {
    /// Those of the figures.
    pub const ALL: [Self; 6] = [
        Self::Equal(8),
        Self::Equal(32),
        Self::Equal(256),
        Self::Equal(4096),
        Self::Equal(1 << 20),
        Self::PowerLaw,
    ];

    /// The name in cases (`segments/f32/2^3`) and, behind `segments_`, in records.
    pub fn name(self) -> String {
        match self {
            Self::Equal(len) if len.is_power_of_two() => format!("2^{}", len.trailing_zeros()),
            Self::Equal(len) => len.to_string(),
            Self::PowerLaw => "power_law".into(),
        }
    }

    /// Where the segments of `elements` elements start, and where the last one ends.
    ///
    /// # Panics
    /// Where the elements are more than 32 bits can count, or segments have none.
    pub fn offsets(self, elements: usize) -> Vec<u32> {
        assert!(u32::try_from(elements).is_ok() && self != Self::Equal(0));
        let mut offsets = vec![0];
        let (mut number, mut end) = (0, 0);
        while end < elements {
            end = elements.min(end + self.of(number));
            offsets.push(end as u32);
            number += 1;
        }
        offsets
    }

    /// The length of segment `number`.
    fn of(self, number: u64) -> usize {
        match self {
            Self::Equal(len) => len,
            Self::PowerLaw => {
                let bits = split_mix(POWER_LAW_SEED, number);
                let doublings = u64::from(bits.trailing_ones()).min(POWER_LAW_DOUBLINGS);
                ((1 << doublings) + (bits >> 32) % (1 << doublings)) as usize
            }
        }
    }
}

/// 64 bits from a seed and a number: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
fn split_mix(seed: u64, number: u64) -> u64 {
    let mut bits = seed.wrapping_add((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The sums of an input's parts, each into one element of its output.
pub struct Parts<'a, T: Element + gpu_reduce::Element> {
    inputs: Inputs<'a, T>,
    outputs: Outputs<T>,
    /// How many there are.
    len: usize,
    scratch: Scratch,
    kind: Kind,
}

enum Kind {
    Segments(gpu_reduce::Offsets, Vec<usize>),
    Columns([usize; 2]),
}

impl<'a, T: Element + gpu_reduce::Element> Parts<'a, T> {
    /// Sums of segments of `inputs`, between offsets.
    ///
    /// # Errors
    /// Those of the device.
    pub fn segments(session: &Session, inputs: Inputs<'a, T>, lengths: Lengths) -> Result<Self, Error> {
        let Layout { count, elements, .. } = inputs.layout;
        let offsets = lengths.offsets(elements);
        let len = offsets.len() - 1;
        let scratch =
            Scratch::with_size(&session.stream, gpu_reduce::reduce_segments_scratch::<T::Sum>(elements))?;
        let segments = gpu_reduce::Offsets::new(&session.device, &offsets)?;
        let kind = Kind::Segments(segments, offsets.into_iter().map(|offset| offset as usize).collect());
        let outputs = Outputs::new(session, Layout::new::<T>(count, len))?;
        Ok(Self { inputs, outputs, len, scratch, kind })
    }

    /// Sums of columns of `inputs`, which are matrices of that shape.
    ///
    /// # Errors
    /// Those of the device.
    pub fn columns(session: &Session, inputs: Inputs<'a, T>, shape: [usize; 2]) -> Result<Self, Error> {
        let scratch =
            Scratch::with_size(&session.stream, gpu_reduce::reduce_axis_scratch::<T::Sum>(&shape, 0)?)?;
        let outputs = Outputs::new(session, Layout::new::<T>(inputs.layout.count, shape[1]))?;
        Ok(Self { inputs, outputs, len: shape[1], scratch, kind: Kind::Columns(shape) })
    }
}

impl<T: Element + gpu_reduce::Element> Work for Parts<'_, T> {
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        let offsets = match self.kind {
            Kind::Segments(..) => (self.len + 1) * size_of::<u32>(),
            Kind::Columns(_) => 0,
        };
        ((self.inputs.layout.elements + self.len) * size_of::<T>() + offsets) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.outputs.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let view = T::one(self.inputs.device.slice(self.inputs.layout.range(input)));
        let (output, scratch) = (self.outputs.of(input), &mut self.scratch);
        Ok(match &self.kind {
            Kind::Segments(segments, _) => {
                reduce_segments_into::<T::Sum>(stream, view, segments, output, scratch)
            }
            Kind::Columns(shape) => reduce_axis_into::<T::Sum>(stream, view, shape, 0, output, scratch),
        }?)
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let Self { inputs, outputs, kind, .. } = self;
        let mut failure = None;
        let checked = outputs.check(launched, |input, output| {
            let view = T::one(gpu_core::View::from(&inputs.host[inputs.layout.range(input)]));
            let values = <T as gpu_reduce::Operand>::slices(&view).expect("a host slice is on the CPU");
            let computed = match kind {
                Kind::Segments(_, offsets) => {
                    reference::reduce_segments::<T::Sum, _>(values, offsets, output)
                }
                Kind::Columns([rows, columns]) => {
                    reference::reduce_axis::<T::Sum, _>(values, [1, *rows, *columns], output)
                }
            };
            failure = failure.take().or(computed.err());
        });
        failure.map_or(checked, |error| Err(error.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_rise_from_the_first_to_the_last_element() {
        for lengths in [Lengths::PowerLaw, Lengths::Equal(1), Lengths::Equal(7), Lengths::Equal(1 << 20)] {
            for elements in [0, 1, 7, 1000, 100_000] {
                let offsets = lengths.offsets(elements);
                assert_eq!((offsets[0], offsets[offsets.len() - 1]), (0, elements as u32), "{lengths:?}");
                assert!(offsets.windows(2).all(|ends| ends[0] < ends[1]), "{lengths:?}");
            }
        }
    }

    #[test]
    fn half_of_the_power_law_s_lengths_are_one_and_few_are_long() {
        let lengths: Vec<usize> = (0..1 << 16).map(|number| Lengths::PowerLaw.of(number)).collect();
        for doublings in 0..8 {
            let longer = lengths.iter().filter(|&&len| len >= 1 << doublings).count() as f64;
            // Of 2^16 trials with probability p the deviation is (2^16 p (1 - p))^1/2; six of them.
            let p = 0.5f64.powi(doublings);
            let deviation = 6.0 * (65536.0 * p * (1.0 - p)).sqrt();
            assert!((longer - 65536.0 * p).abs() <= deviation, "{longer} of at least 2^{doublings}");
        }
    }
}
