//! Sums of segments and of columns: the lengths, and the works. What launches them is handed in.

use gpu_core::{Buffer, Stream, View, ViewMut};
use gpu_reduce::reference;
use rayon::prelude::*;

use crate::data::Layout;
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

/// Sums of segments by `L`, which gets the elements, the offsets and room for the sums. A sum must have the bits of
/// [`reference::sum`] of its segment.
pub struct Segments<'a, L> {
    inputs: Inputs<'a, f32>,
    offsets: Vec<u32>,
    device_offsets: Buffer<u32>,
    sums: Layout,
    outputs: Outputs<f32>,
    launch: L,
    /// What the reference computes, where it was asked.
    expected: Vec<Option<Vec<f32>>>,
}

impl<'a, L> Segments<'a, L>
where
    L: FnMut(&Stream, View<'_, f32>, View<'_, u32>, ViewMut<'_, f32>) -> Result<(), Error>,
{
    /// Sums of the segments of `inputs`.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(
        session: &Session,
        inputs: Inputs<'a, f32>,
        lengths: Lengths,
        launch: L,
    ) -> Result<Self, Error> {
        let offsets = lengths.offsets(inputs.layout.elements);
        let sums = Layout::new::<f32>(inputs.layout.count, offsets.len() - 1);
        Ok(Self {
            inputs,
            device_offsets: session.device.upload(&offsets)?,
            offsets,
            sums,
            outputs: Outputs::new(session, sums)?,
            launch,
            expected: vec![None; inputs.layout.count],
        })
    }
}

impl<L> Work for Segments<'_, L>
where
    L: FnMut(&Stream, View<'_, f32>, View<'_, u32>, ViewMut<'_, f32>) -> Result<(), Error>,
{
    fn inputs(&self) -> usize {
        self.sums.count
    }

    /// Every element and every offset is read, every sum written.
    fn bytes(&self) -> u64 {
        ((self.inputs.layout.elements + self.offsets.len() + self.sums.elements) * size_of::<f32>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.outputs.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let values = self.inputs.device.slice(self.inputs.layout.range(input));
        (self.launch)(stream, values, self.device_offsets.view(), self.outputs.of(input))
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let Self { inputs, offsets, outputs, expected, .. } = self;
        outputs.check(launched, |input, output| {
            let values = &inputs.host[inputs.layout.range(input)];
            let sums = expected[input].get_or_insert_with(|| {
                let segments = offsets.par_windows(2);
                segments.map(|ends| reference::sum(&values[ends[0] as usize..ends[1] as usize])).collect()
            });
            output.copy_from_slice(sums);
        })
    }
}

/// Sums of the columns of row-major matrices by `L`, which gets a matrix and room for its sums; `E` computes on the host
/// what bits they must have.
pub struct Columns<'a, L, E> {
    inputs: Inputs<'a, f32>,
    columns: usize,
    outputs: Outputs<f32>,
    launch: L,
    by_reference: E,
    expected: Vec<Option<Vec<f32>>>,
}

impl<'a, L, E> Columns<'a, L, E>
where
    L: FnMut(&Stream, View<'_, f32>, ViewMut<'_, f32>) -> Result<(), Error>,
    E: Fn(&[f32]) -> Vec<f32>,
{
    /// Sums of the columns of `inputs`, matrices of `columns` columns.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(
        session: &Session,
        inputs: Inputs<'a, f32>,
        columns: usize,
        launch: L,
        by_reference: E,
    ) -> Result<Self, Error> {
        let count = inputs.layout.count;
        let outputs = Outputs::new(session, Layout::new::<f32>(count, columns))?;
        Ok(Self { inputs, columns, outputs, launch, by_reference, expected: vec![None; count] })
    }
}

impl<L, E> Work for Columns<'_, L, E>
where
    L: FnMut(&Stream, View<'_, f32>, ViewMut<'_, f32>) -> Result<(), Error>,
    E: Fn(&[f32]) -> Vec<f32>,
{
    fn inputs(&self) -> usize {
        self.inputs.layout.count
    }

    fn bytes(&self) -> u64 {
        ((self.inputs.layout.elements + self.columns) * size_of::<f32>()) as u64
    }

    fn poison(&mut self, stream: &Stream) -> Result<(), Error> {
        self.outputs.poison(stream)
    }

    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error> {
        let matrix = self.inputs.device.slice(self.inputs.layout.range(input));
        (self.launch)(stream, matrix, self.outputs.of(input))
    }

    fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
        let Self { inputs, outputs, by_reference, expected, .. } = self;
        outputs.check(launched, |input, output| {
            let values = &inputs.host[inputs.layout.range(input)];
            output.copy_from_slice(expected[input].get_or_insert_with(|| by_reference(values)));
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Args;

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

    /// A session on the CPU and how inputs of so many elements lie in it.
    fn session(elements: usize) -> (Session, Layout) {
        let args = Args::try_parse_from(["bench-gpu", "--device", "cpu"]).expect("valid");
        let mut session = Session::new(&args).expect("the CPU is there");
        let layout = session.layout::<f32>(elements);
        session.prepare::<f32>(layout).expect("it is small");
        (session, layout)
    }

    #[test]
    fn right_sums_of_segments_pass_and_one_wrong_one_does_not() {
        let (session, layout) = session(10_000);
        let inputs = session.inputs::<f32>(layout).expect("they were prepared");
        for (lengths, off) in [(Lengths::PowerLaw, 0.0), (Lengths::Equal(64), 0.0), (Lengths::PowerLaw, 1.0)]
        {
            let mut work = Segments::new(&session, inputs, lengths, |_, values, offsets, mut sums| {
                let (values, offsets) = (values.as_slice().expect("CPU"), offsets.as_slice().expect("CPU"));
                let sums = sums.as_mut_slice().expect("CPU");
                for (sum, ends) in sums.iter_mut().zip(offsets.windows(2)) {
                    *sum = reference::sum(&values[ends[0] as usize..ends[1] as usize]);
                }
                sums[100] += off;
                Ok(())
            })
            .expect("it is small");
            work.poison(&session.stream).expect("it works");
            work.launch(&session.stream, 1).expect("it works");
            let result = work.check(&[false, true]);
            match off {
                0.0 => result.expect("all is right"),
                _ => assert!(matches!(result, Err(Error::Wrong { input: 1, index: 100, .. })), "{result:?}"),
            }
        }
    }

    #[test]
    fn right_sums_of_columns_pass_and_a_missing_one_does_not() {
        let (session, layout) = session(30 * 20);
        let inputs = session.inputs::<f32>(layout).expect("they were prepared");
        let sums = |matrix: &[f32]| -> Vec<f32> {
            (0..20).map(|column| matrix.iter().skip(column).step_by(20).sum()).collect()
        };
        for written in [20, 19] {
            let launch = |_: &Stream, matrix: View<'_, f32>, mut output: ViewMut<'_, f32>| {
                let sums = sums(matrix.as_slice().expect("CPU"));
                output.as_mut_slice().expect("CPU")[..written].copy_from_slice(&sums[..written]);
                Ok(())
            };
            let mut work = Columns::new(&session, inputs, 20, launch, sums).expect("it is small");
            work.poison(&session.stream).expect("it works");
            work.launch(&session.stream, 0).expect("it works");
            let result = work.check(&[true, false]);
            match written {
                20 => result.expect("all is right"),
                _ => assert!(
                    matches!(result, Err(Error::Wrong { index: 19, unwritten: true, .. })),
                    "{result:?}"
                ),
            }
        }
    }
}
