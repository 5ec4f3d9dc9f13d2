//! How a launch is timed. `peers/protocol.cuh` follows the same protocol with the same numbers (a test compares them).
//!
//! - Warm-up first: module load, compilation and the rise of the clocks stay out of the numbers.
//! - Launches take distinct inputs in turn, so that none finds its input in the cache.
//! - Outputs are poisoned before a set of timings and checked after it: what was timed is also what was right.
//! - *Single*: one launch on an idle stream, between two events; and one launch and a synchronisation by the wall
//!   clock, which is what a caller waits.
//! - *Batch*: many launches between two events, over their number. Gaps between launches hide behind the kernels, so
//!   this is what a launch costs in a busy stream.

use std::time::{Duration, Instant};

use gpu_core::Stream;

use crate::error::Error;
use crate::report::{Clock, Mode, Timing};
use crate::stats::Summary;

/// Something that can be launched, again and again.
pub trait Work {
    /// How many distinct inputs there are.
    fn inputs(&self) -> usize;

    /// Bytes that one launch reads and writes at least.
    fn bytes(&self) -> u64;

    /// Brings all outputs into a state that no launch leaves: fills them with [`POISON`](crate::data::Element::POISON),
    /// or, where the work is done in place, uploads what it is done on.
    ///
    /// # Errors
    /// Those of the device.
    fn poison(&mut self, stream: &Stream) -> Result<(), Error>;

    /// Launches it on one of the inputs, without waiting.
    ///
    /// # Errors
    /// Those of the device.
    fn launch(&mut self, stream: &Stream, input: usize) -> Result<(), Error>;

    /// Checks the outputs; `launched` says of each input whether it was launched since they were poisoned. The stream
    /// is idle.
    ///
    /// # Errors
    /// [`Error::Wrong`], [`Error::Strayed`] and those of the device.
    fn check(&mut self, launched: &[bool]) -> Result<(), Error>;
}

/// How much is done for a result.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// How long launches go on before the first timing.
    pub warm_up: Duration,
    /// Timings of single launches.
    pub singles: usize,
    /// Timings of batches.
    pub batches: usize,
    /// A batch moves about this many bytes …
    pub batch_bytes: u64,
    /// … in at least this many launches …
    pub min_launches: usize,
    /// … and at most this many: they fit the launch queue, so the host never waits inside a batch.
    pub max_launches: usize,
}

impl Effort {
    /// For figures.
    pub const FULL: Self = Self {
        warm_up: Duration::from_millis(100),
        singles: 101,
        batches: 31,
        batch_bytes: 1 << 32,
        min_launches: 10,
        max_launches: 200,
    };
    /// To see that everything works on a GPU.
    pub const QUICK: Self =
        Self { warm_up: Duration::from_millis(10), singles: 11, batches: 5, max_launches: 20, ..Self::FULL };
    /// The same where a launch takes the host's time.
    pub const HOST: Self = Self {
        warm_up: Duration::ZERO,
        singles: 3,
        batches: 3,
        batch_bytes: 0,
        min_launches: 2,
        max_launches: 2,
    };
    /// The same in the simulator, whose times say nothing.
    pub const SIMULATED: Self =
        Self { singles: 1, batches: 1, min_launches: 1, max_launches: 1, ..Self::HOST };

    /// The same for works that copy their input to the device in each launch: they take long and vary little.
    #[must_use]
    pub fn of_copies(self) -> Self {
        let (singles, batches) = (self.singles.min(Self::COPY_SINGLES), self.batches.min(Self::COPY_BATCHES));
        Self { warm_up: Duration::ZERO, singles, batches, min_launches: 1, max_launches: 1, ..self }
    }

    /// Timings of single launches with a copy.
    pub const COPY_SINGLES: usize = 9;
    /// Timings of batches of one with a copy.
    pub const COPY_BATCHES: usize = 3;

    /// Launches of a batch of a work that moves `bytes` bytes.
    pub fn launches_a_batch(&self, bytes: u64) -> usize {
        let launches = self.batch_bytes / bytes.max(1);
        usize::try_from(launches).unwrap_or(usize::MAX).clamp(self.min_launches, self.max_launches)
    }
}

/// Times `work`: by events in modes single, single_wall and batch, or by the wall clock in the last two.
///
/// # Errors
/// Those of the work and of the device; [`Error::Wrong`] where what was timed was wrong.
pub fn measure(
    work: &mut dyn Work,
    stream: &Stream,
    clock: Clock,
    effort: &Effort,
) -> Result<Vec<Timing>, Error> {
    let launches = effort.launches_a_batch(work.bytes());
    let mut turn = Turn { next: 0, launched: vec![false; work.inputs()] };

    // ---- warm-up
    let start = Instant::now();
    loop {
        for _ in 0..launches.min(effort.min_launches) {
            turn.launch(work, stream)?;
        }
        stream.synchronize()?;
        if start.elapsed() >= effort.warm_up {
            break;
        }
    }

    // ---- single launches
    turn.poison(work, stream)?;
    let (mut by_events, mut by_wall) = (Vec::new(), Vec::new());
    for _ in 0..effort.singles {
        if clock == Clock::Events {
            let before = stream.record()?;
            turn.launch(work, stream)?;
            let after = stream.record()?;
            by_events.push(f64::from(after.elapsed_ms(&before)?));
            stream.synchronize()?;
        }
        let start = Instant::now();
        turn.launch(work, stream)?;
        stream.synchronize()?;
        by_wall.push(milliseconds(start.elapsed()));
    }
    work.check(&turn.launched)?;

    // ---- batches
    turn.poison(work, stream)?;
    let mut batches = Vec::new();
    for _ in 0..effort.batches {
        let time = match clock {
            Clock::Events => {
                let before = stream.record()?;
                turn.launches(work, stream, launches)?;
                let after = stream.record()?;
                f64::from(after.elapsed_ms(&before)?)
            }
            Clock::Wall => {
                let start = Instant::now();
                turn.launches(work, stream, launches)?;
                stream.synchronize()?;
                milliseconds(start.elapsed())
            }
        };
        batches.push(time / launches as f64);
    }
    stream.synchronize()?;
    work.check(&turn.launched)?;

    let timing = |mode, clock, samples: &[f64], launches| {
        let summary = Summary::of(samples).ok_or(Error::Clock)?;
        Ok::<_, Error>(Timing { mode, clock, summary, launches })
    };
    let mut timings = Vec::new();
    if clock == Clock::Events {
        timings.push(timing(Mode::Single, clock, &by_events, 1)?);
    }
    timings.push(timing(Mode::SingleWall, Clock::Wall, &by_wall, 1)?);
    timings.push(timing(Mode::Batch, clock, &batches, launches)?);
    Ok(timings)
}

/// Launches `work` once, on its first input. On a simulated device the reports are then those of this launch alone.
///
/// # Errors
/// Those of the work and of the device.
pub fn once(work: &mut dyn Work, stream: &Stream) -> Result<(), Error> {
    work.poison(stream)?;
    stream.synchronize()?;
    #[cfg(feature = "simulator")]
    if let Some(simulator) = stream.device().as_simulator() {
        simulator.take_reports();
        simulator.take_fills();
    }
    work.launch(stream, 0)?;
    Ok(stream.synchronize()?)
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Which input is next, and which had their turn.
struct Turn {
    next: usize,
    launched: Vec<bool>,
}

impl Turn {
    fn launch(&mut self, work: &mut dyn Work, stream: &Stream) -> Result<(), Error> {
        work.launch(stream, self.next)?;
        self.launched[self.next] = true;
        self.next = (self.next + 1) % self.launched.len();
        Ok(())
    }

    fn launches(&mut self, work: &mut dyn Work, stream: &Stream, count: usize) -> Result<(), Error> {
        (0..count).try_for_each(|_| self.launch(work, stream))
    }

    fn poison(&mut self, work: &mut dyn Work, stream: &Stream) -> Result<(), Error> {
        work.poison(stream)?;
        stream.synchronize()?;
        self.launched.fill(false);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use gpu_core::Device;

    use super::*;
    use crate::data::{self, Layout, poison};

    /// Writes its input's number into its output, on the host; leaves out the launches that `skips` names.
    struct Host {
        layout: Layout,
        outputs: Vec<f32>,
        launches: usize,
        skips: Option<usize>,
    }

    impl Host {
        fn new(skips: Option<usize>) -> Self {
            let layout = Layout::new::<f32>(5, 3);
            Self { layout, outputs: vec![0.0; layout.len()], launches: 0, skips }
        }
    }

    impl Work for Host {
        fn inputs(&self) -> usize {
            self.layout.count
        }

        fn bytes(&self) -> u64 {
            100
        }

        fn poison(&mut self, _: &Stream) -> Result<(), Error> {
            self.outputs.fill(poison());
            Ok(())
        }

        fn launch(&mut self, _: &Stream, input: usize) -> Result<(), Error> {
            if self.skips != Some(self.launches) {
                self.outputs[self.layout.range(input)].fill(input as f32);
            }
            self.launches += 1;
            Ok(())
        }

        fn check(&mut self, launched: &[bool]) -> Result<(), Error> {
            data::check(self.layout, launched, &self.outputs, |input, expected| expected.fill(input as f32))
        }
    }

    fn effort() -> Effort {
        Effort { singles: 3, batches: 2, batch_bytes: 1000, min_launches: 1, max_launches: 4, ..Effort::HOST }
    }

    #[test]
    fn the_wall_clock_gives_two_modes_and_every_launch_is_counted() {
        let stream = Device::cpu().stream().expect("the CPU has streams");
        let mut work = Host::new(None);
        let timings = measure(&mut work, &stream, Clock::Wall, &effort()).expect("it works");
        let modes: Vec<_> =
            timings.iter().map(|t| (t.mode, t.clock, t.summary.samples, t.launches)).collect();
        assert_eq!(modes, [(Mode::SingleWall, Clock::Wall, 3, 1), (Mode::Batch, Clock::Wall, 2, 4)]);
        assert_eq!(work.launches, 1 + 3 + 2 * 4);
    }

    #[test]
    fn events_give_three_modes() {
        let stream = Device::cpu().stream().expect("the CPU has streams");
        let timings = measure(&mut Host::new(None), &stream, Clock::Events, &effort()).expect("it works");
        let modes: Vec<_> = timings.iter().map(|t| (t.mode, t.clock)).collect();
        let expected =
            [(Mode::Single, Clock::Events), (Mode::SingleWall, Clock::Wall), (Mode::Batch, Clock::Events)];
        assert_eq!(modes, expected);
    }

    #[test]
    fn a_launch_that_writes_nothing_is_not_timed_as_a_fast_one() {
        let stream = Device::cpu().stream().expect("the CPU has streams");
        // The second single launch; the first launch of a batch (the warm-up is the first launch of all).
        for skipped in [2, 4] {
            let error = measure(
                &mut Host::new(Some(skipped)),
                &stream,
                Clock::Wall,
                &Effort { batches: 1, ..effort() },
            )
            .expect_err("an output was left as it was");
            assert!(matches!(error, Error::Wrong { unwritten: true, .. }), "{error}");
        }
    }

    #[test]
    fn batches_are_long_for_small_works_and_short_for_large_ones() {
        let launches = |bytes| Effort::FULL.launches_a_batch(bytes);
        assert_eq!(launches(0), 200);
        assert_eq!(launches(4 << 10), 200);
        assert_eq!(launches(64 << 20), 64);
        assert_eq!(launches(2 << 30), 10);
    }
}
