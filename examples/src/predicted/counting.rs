//! What subjects count: simulated up to some size, scaled beyond.

use std::error::Error;
use std::thread;

use gpu_core::Device;
use gpu_linalg::variants::GemvVariant;
use gpu_model::units::Bytes;
use gpu_model::waves::{Counts, Sequence, scale, sequence, simulated};
use gpu_scan::variants::{TILE, Variant};
use gpu_sim::metrics::Architecture;
use gpu_sim::{Config, Report};
use gpu_std::launch::LaunchConfig;
use gpu_transpose::Layout;

use super::{Ready, Subject, ready};
use crate::products::Way;
use crate::transpositions::Transposition;
use crate::{reductions, scans};

/// How the counts of a launch are read out of the simulator's report.
pub type Read<'a> = &'a (dyn Fn(&Report) -> Result<Counts, gpu_model::Error> + Sync);

/// What subjects of these sizes count, launch by launch: simulated by what is given with them, or known already.
pub type Simulated<'a> = &'a dyn Fn(
    &[(Subject, usize)],
    &dyn Fn() -> Result<Vec<Vec<Counts>>, String>,
) -> Result<Vec<Vec<Counts>>, String>;

/// Blocks that are simulated of what takes too long otherwise and whose blocks do not wait for each other.
const BLOCKS: u32 = 8;
/// Lengths of the sums of products that are simulated: what a block does is something once, and something for each
/// element of its sums.
const LENGTHS: [usize; 2] = [128, 256];

/// A launch of a size.
struct Launch {
    /// It is one of those of this subject …
    of: Subject,
    /// … of this size …
    size: usize,
    /// … the one with this number, or all of them.
    number: Option<usize>,
    /// Its blocks, where they are known from its size alone.
    blocks: Option<u64>,
}

impl Subject {
    /// The largest size that is simulated itself.
    fn largest(self) -> usize {
        match self {
            Self::Transpose(_) => 512,
            // Of the textbook's, in which threads add a few elements each, half takes as long as all of the fast ones.
            Self::Sum(reductions::Summation::Textbook(_)) => 1 << 17,
            Self::Sum(_) | Self::SumOf(_) => 1 << 18,
            Self::Scan(_) => 1 << 16,
            // Whole blocks of a row a thread, and of four.
            Self::Gemv(..) => 8 * super::THREADS as usize,
            Self::Product(_) => LENGTHS[1],
            Self::Blur(..) => 1024,
        }
    }

    /// The smaller one that counts are scaled from beside it.
    fn smaller(self) -> usize {
        match self {
            Self::Transpose(_) | Self::Blur(..) => self.largest() / 4 * 3,
            _ => self.largest() / 2,
        }
    }

    /// Whether a block alone tells all: they do the same, and take long.
    fn is_alike(self) -> bool {
        matches!(self, Self::Gemv(Way::Textbook(GemvVariant::Rows(_)), _))
    }

    /// How many of its blocks are simulated, if not all.
    fn sample(self) -> Option<u32> {
        match self {
            // A block's rows are long, and these have several a thread.
            Self::Gemv(Way::Textbook(GemvVariant::Rows(_)), _) => Some(1),
            Self::Gemv(..) => Some(2),
            Self::Product(_) | Self::Blur(..) => Some(BLOCKS),
            _ => None,
        }
    }

    /// Its launches. A sum of partial results is a launch of each level, the longest first; so is a scan of tiles and
    /// of their sums, which are added to the tiles on the way back.
    fn launches(self, size: usize) -> Result<Vec<Launch>, Box<dyn Error>> {
        let all = |blocks| vec![Launch { of: self, size, number: None, blocks }];
        let blocks =
            |config: LaunchConfig| Some(config.grid.iter().map(|&one| u64::from(one)).product::<u64>());
        Ok(match self {
            Self::Transpose(Transposition::Textbook(variant)) => {
                all(blocks(variant.launch_config(Layout::row_major(size, size)?)))
            }
            Self::Blur(variant, radius) => {
                let side = u32::try_from(size)?;
                all(blocks(variant.launch_config(side, side, radius)))
            }
            Self::Sum(reductions::Summation::Textbook(variant)) => {
                let number = (variant.launches(size).count() > 1).then_some(0);
                let launch = |(size, blocks)| Launch { of: self, size, number, blocks: Some(blocks as u64) };
                variant.launches(size).map(launch).collect()
            }
            Self::Scan(scans::Summation::Textbook(variant)) => {
                let launch = |size: usize, number| {
                    let blocks = Some(size.div_ceil(TILE as usize) as u64);
                    Launch { of: self, size, number: Some(number), blocks }
                };
                let tiles = |size: usize| size.div_ceil(TILE as usize);
                match variant {
                    Variant::Recursive | Variant::RecursivePadded => {
                        let above = |&size: &usize| (tiles(size) > 1).then(|| tiles(size));
                        let levels: Vec<usize> = std::iter::successors(Some(size), above).collect();
                        // The last is one tile, to which nothing is added.
                        let back = levels.iter().rev().skip(1).map(|&size| launch(size, 2));
                        levels.iter().map(|&size| launch(size, 0)).chain(back).collect()
                    }
                    Variant::ReduceThenScan => {
                        let of = Self::Scan(scans::Summation::Textbook(Variant::Blelloch));
                        let sums = Launch { of, size: tiles(size), number: Some(0), blocks: Some(1) };
                        vec![launch(size, 0), sums, launch(size, 2)]
                    }
                    Variant::HillisSteele | Variant::Blelloch => all(Some(1)),
                    _ => all(None),
                }
            }
            Self::Gemv(Way::Textbook(variant), _) => {
                let threads = variant.threads(u32::try_from(size)?, super::COLUMNS as u32);
                all(Some(threads.div_ceil(super::THREADS.into())))
            }
            _ => all(None),
        })
    }

    /// What the simulator counts, launch by launch: of a product, with sums of `length`.
    fn simulate(
        self,
        size: usize,
        length: usize,
        sample: Option<u32>,
        caches: Architecture,
        read: Read<'_>,
    ) -> Result<Vec<Counts>, String> {
        let run = || -> Result<Vec<Counts>, Box<dyn Error>> {
            let device = Device::simulator_with(Config { sample, ..simulated::config(caches) });
            let mut ready: Ready = match self {
                Self::Product(variant) => ready::product(variant, &device, [size, size, length])?,
                _ => self.ready(&device, size)?,
            };
            let simulator = device.as_simulator().ok_or("the simulator is a simulator")?;
            ready.stream.synchronize()?;
            // What is done once, for all that are enqueued, is none of them.
            drop((simulator.take_reports(), simulator.take_fills()));
            ready.enqueue()?;
            ready.stream.synchronize()?;
            let mut counts = simulator.take_reports().iter().map(read).collect::<Result<Vec<_>, _>>()?;
            // Flags and sums that atomics add to are cleared before.
            counts.splice(0..0, simulator.take_fills().into_iter().map(simulated::fill));
            Ok(counts)
        };
        run().map_err(|error| format!("{self} of {size}: {error}"))
    }

    /// What it counts for any size: as simulated up to some size, scaled from two of those beyond.
    ///
    /// # Errors
    /// Those of the simulator.
    #[inline]
    pub fn count(self, size: usize, caches: Architecture) -> Result<Counted, Box<dyn Error>> {
        self.count_with(size, caches, &simulated::counts)
    }

    /// The same, where more is known of a kernel than the simulator's report says.
    ///
    /// # Errors
    /// Those of the simulator, and of `read`.
    pub fn count_with(
        self,
        size: usize,
        caches: Architecture,
        read: Read<'_>,
    ) -> Result<Counted, Box<dyn Error>> {
        self.count_by(size, caches, read, &|_, simulate| simulate())
    }

    /// The same, where several sizes of a subject may be scaled from the same ones: those are simulated by `simulated`.
    ///
    /// # Errors
    /// Those of the simulator, and of `read`.
    pub fn count_by(
        self,
        size: usize,
        caches: Architecture,
        read: Read<'_>,
        simulated: Simulated<'_>,
    ) -> Result<Counted, Box<dyn Error>> {
        let mut counted = match self {
            Self::Product(_) => self.count_product(size, caches, read)?,
            _ => self.count_launches(size, caches, read, simulated)?,
        };
        for launches in [&mut counted.launches, &mut counted.smaller] {
            // The longest launch does all of them: where there are some, the others only clear.
            if let Some(longest) = launches.iter_mut().max_by(|one, other| one.lines.total_cmp(&other.lines))
            {
                longest.operations = self.operations(size);
            }
            // Sampled blocks are far apart, so that what neighbours share each reads from memory: where that is more
            // than there is, it is read once.
            if let (Some(_), [.., launch]) = (self.sample(), &mut launches[..]) {
                let all = self.demand(size).bytes[0].0 - launch.memory_written.0;
                launch.memory_read = Bytes(launch.memory_read.0.min(all.max(0.0)));
            }
        }
        Ok(counted)
    }

    fn count_launches(
        self,
        size: usize,
        caches: Architecture,
        read: Read<'_>,
        known: Simulated<'_>,
    ) -> Result<Counted, Box<dyn Error>> {
        let launches = self.launches(size)?;
        let mut wanted: Vec<(Self, usize)> = Vec::new();
        for &Launch { of, size, .. } in &launches {
            let sizes = match () {
                _ if size <= of.largest() => vec![size],
                _ if of.is_alike() => vec![of.largest()],
                _ => vec![of.smaller(), of.largest()],
            };
            wanted.extend(sizes.into_iter().map(|size| (of, size)));
        }
        wanted.dedup();
        let simulate = |(of, size): (Self, usize)| of.simulate(size, 0, of.sample(), caches, read);
        let all = || {
            thread::scope(|scope| {
                let all: Vec<_> = wanted.iter().map(|&one| scope.spawn(move || simulate(one))).collect();
                let joined =
                    all.into_iter().map(|one| one.join().map_err(|_| "the simulator panicked".to_owned())?);
                joined.collect::<Result<Vec<_>, String>>()
            })
        };
        let found = known(&wanted, &all)?;
        let of = |of: Self, size: usize, number: Option<usize>| -> Result<&[Counts], String> {
            let place = wanted.iter().position(|&one| one == (of, size)).ok_or("it was simulated")?;
            let all = &found[place][..];
            let chosen = number.map_or(Some(all), |number| all.get(number..=number));
            chosen.ok_or_else(|| format!("{of} of {size} has {} launches", all.len()))
        };
        let simulated = size.min(self.largest());
        let mut counted = Counted { launches: Vec::new(), smaller: Vec::new(), simulated };
        for launch in launches {
            let Launch { of: one, size, number, blocks } = launch;
            let [small, large] = [one.smaller(), one.largest()];
            if size <= large {
                let as_it_is = of(one, size, number)?;
                counted.smaller.extend_from_slice(as_it_is);
                counted.launches.extend_from_slice(as_it_is);
                continue;
            }
            if one.is_alike() {
                for launch in of(one, large, number)? {
                    let work = one.work(large);
                    let scaled = scale((launch, work / 2.0), (launch, work), one.work(size), None)?.counts;
                    let scaled = Counts { blocks: blocks.unwrap_or(scaled.blocks), ..scaled };
                    counted.smaller.push(scaled.clone());
                    counted.launches.push(scaled);
                }
                continue;
            }
            let (of_small, of_large) = (of(one, small, number)?, of(one, large, number)?);
            if of_small.len() != of_large.len() {
                return Err(format!("{self}: {small} and {large} differ in their launches").into());
            }
            for (of_small, of_large) in of_small.iter().zip(of_large) {
                // One block that clears a few words stays one.
                let alone = (of_small.blocks == 1 && of_large.blocks == 1).then_some(1);
                let (of_small, of_large) = ((of_small, one.work(small)), (of_large, one.work(large)));
                counted.push_scaled(of_small, of_large, one.work(size), blocks.or(alone))?;
            }
        }
        Ok(counted)
    }

    /// A product is launched as large as it is, with short sums, and few of its blocks are simulated.
    fn count_product(
        self,
        size: usize,
        caches: Architecture,
        read: Read<'_>,
    ) -> Result<Counted, Box<dyn Error>> {
        let short = size <= LENGTHS[1];
        let runs =
            if short { [(size, BLOCKS / 2), (size, BLOCKS)] } else { LENGTHS.map(|one| (one, BLOCKS)) };
        let simulate = |(length, blocks)| self.simulate(size, length, Some(blocks), caches, read);
        let [small, large] = side_by_side(runs, simulate)?;
        if short {
            return Ok(Counted { launches: large, smaller: small, simulated: size });
        }
        let mut counted = Counted { launches: Vec::new(), smaller: Vec::new(), simulated: LENGTHS[1] };
        let [of_small, of_large] = LENGTHS.map(|one| one as f64);
        for (small, large) in small.iter().zip(&large) {
            counted.push_scaled((small, of_small), (large, of_large), size as f64, Some(large.blocks))?;
        }
        Ok(counted)
    }
}

/// What two simulations give, which run at the same time.
///
/// # Errors
/// Those of the simulations; one that panicked.
pub fn side_by_side<I: Copy + Send + Sync, T: Send>(
    [one, other]: [I; 2],
    simulate: impl Fn(I) -> Result<T, String> + Sync,
) -> Result<[T; 2], String> {
    let (one, other) = thread::scope(|scope| {
        let one = scope.spawn(|| simulate(one));
        let other = simulate(other);
        (one.join().unwrap_or_else(|_| Err("the simulator panicked".to_owned())), other)
    });
    Ok([one?, other?])
}

/// What is counted of an operation.
pub struct Counted {
    /// Launch by launch.
    pub launches: Vec<Counts>,
    /// The same from a smaller simulation: what the times of both differ by is what scaling may have cost.
    pub smaller: Vec<Counts>,
    /// The size that was simulated, of products the length of their sums; beyond it counts are scaled.
    pub simulated: usize,
}

/// A predicted time.
pub struct Predicted {
    /// The launches, and all of them.
    pub sequence: Sequence,
    /// By what part of it the time differs where the counts are scaled from a smaller size; 0 where none are scaled.
    pub error: f64,
}

impl Counted {
    /// One launch more: of work `to`, scaled from two smaller ones, as [`scale`] does it.
    ///
    /// # Errors
    /// Those of [`scale`].
    pub fn push_scaled(
        &mut self,
        small: (&Counts, f64),
        large: (&Counts, f64),
        to: f64,
        blocks: Option<u64>,
    ) -> Result<(), gpu_model::Error> {
        let scaled = scale(small, large, to, blocks)?;
        self.launches.push(scaled.counts);
        self.smaller.push(scaled.smaller);
        Ok(())
    }

    /// How long it takes on `device`; `cached`: with all data in the second-level cache already.
    ///
    /// # Errors
    /// Those of the model.
    pub fn predict(&self, device: &gpu_model::Device, cached: bool) -> Result<Predicted, gpu_model::Error> {
        let of = |launches: &[Counts]| {
            let launches = launches.iter().cloned();
            let launches: Vec<Counts> =
                if cached { launches.map(Counts::cached).collect() } else { launches.collect() };
            sequence(device, &launches)
        };
        let (sequence, smaller) = (of(&self.launches)?, of(&self.smaller)?);
        let error = (smaller.time.0 - sequence.time.0).abs() / sequence.time.0;
        Ok(Predicted { sequence, error })
    }
}
