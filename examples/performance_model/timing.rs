//! How the programs time what they call, which is part of what they measure; and what a call takes on their hosts.
//!
//! A batch of launches between two events takes as long as the host or the device, whichever is slower. A launch alone
//! between two events, as sparse matrices are timed, also takes what the host needs until it begins, and a call that is
//! waited for by the wall clock (orders of rows, transpositions) what it takes to notice its end, and what the host
//! reads on the way, as a sample and the size of the largest bucket of a transposition. A factorisation has a
//! fresh matrix each time, and the time of the copy alone is taken off: what the device does while the host issues the
//! copy is not seen.
//!
//! None of the numbers is from a row that is predicted. What waiting and copies take is in the calibration of the
//! device; what a launch alone takes beside its kernel, from single launches of the largest of 2^10 elements, of which
//! only batches are predicted. What a call takes on the host, where checks of its arguments and its plan come before
//! the launch, is the median of the program's smallest shapes in the same run that no row is of ([`Calls`]): hosts and
//! runs differ by half of it.

use std::collections::HashMap;
use std::error::Error;

use gpu_benches::report::{Mode, OURS, Record};
use gpu_benches::suite::{Case, Op, Shape as CaseShape, cases};
use gpu_model::calibrate::Row;
use gpu_model::units::{Bytes, BytesPerSecond, Seconds};
use gpu_model::waves::{Prediction, Sequence};
use serde::{Deserialize, Serialize};

use super::changed::moment;
use super::counter::Counter;
use super::quantile;
use super::recorded::{Kernel, Source};

/// How a program times a call.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Timing {
    /// Among many.
    Among,
    /// Between two events on an idle stream.
    Alone,
    /// By the wall clock, from the call until the host knows that it has ended.
    Waited,
    /// Among many, each behind a copy of so many bytes, of which the time is taken off.
    BehindCopy(Bytes),
}

/// What the host reads within a call, and waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Read {
    /// How many launches are before it.
    pub behind: usize,
    /// How much it is.
    pub bytes: Bytes,
}

/// What timing takes on a device and its host beside what is timed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beside {
    /// An empty launch between two events.
    alone: Seconds,
    /// An empty launch until the host knows that it has ended.
    waited: Seconds,
    /// Copies of so few bytes, of [`READ`], to memory that is not pinned, until they are there.
    reads: [Seconds; 2],
    /// The issue of a copy.
    copy: Seconds,
    /// How fast a device copies within itself.
    copied: BytesPerSecond,
    /// What a launch takes of the device at least.
    gap: Seconds,
}

/// Bytes of small copies to the host that the calibrations have.
const READ: [f64; 2] = [4096.0, 65_536.0];

/// The elements of which the largest is searched in single launches.
const FEW: usize = 1 << 10;

impl Beside {
    /// That of a device.
    ///
    /// # Errors
    /// Results that have no such rows; those of the simulator.
    pub fn of(
        source: &Source,
        device: &gpu_model::Device,
        counter: &mut Counter,
    ) -> Result<Self, Box<dyn Error>> {
        let lines = source.calibration.iter().flat_map(|text| text.lines());
        let rows = lines.map(serde_json::from_str).collect::<Result<Vec<Row>, _>>()?;
        let of = |measure: &str, of: &str, over: Option<f64>| -> Result<f64, String> {
            let rows = rows.iter().filter(|row| row.measure == measure && row.of == of);
            let rows = rows.filter(|row| over.is_none_or(|over| row.over == over));
            let mut values: Vec<f64> = rows.map(|row| row.value).collect();
            if values.is_empty() {
                Err(format!("no {measure} of {of}"))
            } else {
                Ok(quantile(&mut values, 0.5))
            }
        };
        let all = rows.iter().filter(|row| row.of == "within_device").map(|row| row.over);
        let (least, most) = (all.clone().fold(f64::INFINITY, f64::min), all.fold(0.0, f64::max));
        let copied = |bytes: f64| of("copy", "within_device", Some(bytes)).map(|speed| speed * 1e9);
        let read = |bytes: f64| -> Result<Seconds, String> {
            Ok(Seconds(bytes / (of("copy", "pageable_to_host", Some(bytes))? * 1e9)))
        };
        let gap = device.waves()?.gap;
        let mut own = Vec::new();
        for (case, time) in single(source)? {
            let found = counter.found(Kernel::Case(case), case.elements())?;
            let launch = &found.counted.predict(device, false)?.sequence.launches[0];
            own.push((time - (launch.device - launch.launch)).0);
        }
        if own.is_empty() {
            return Err(format!("no single launches on an {}", device.name).into());
        }
        Ok(Self {
            alone: Seconds(quantile(&mut own, 0.5)),
            waited: Seconds(of("launch_alone", "plain", None)? * 1e-6),
            reads: [read(READ[0])?, read(READ[1])?],
            copy: Seconds(least / copied(least)?),
            copied: BytesPerSecond(copied(most)?),
            gap,
        })
    }

    /// What reading so many bytes takes the host from the call on: of few as long as the smallest copy.
    fn read(&self, bytes: Bytes) -> Seconds {
        let ([few, many], [small, large]) = (READ, self.reads);
        small + (large - small) * ((bytes.0 - few) / (many - few)).max(0.0)
    }

    /// What a program measures of launches that follow one another, where the host reads something in between if it is
    /// waited for; `call` is what a call of one launch takes there that has next to nothing to do.
    pub fn measured(
        &self,
        timing: Timing,
        sequence: &Sequence,
        call: Option<Seconds>,
        reads: &[Read],
    ) -> Seconds {
        let all = &sequence.launches[..];
        let Some(last) = all.last() else { return sequence.time };
        let more = call.map_or(Seconds(0.0), |call| (call - last.issue).max(Seconds(0.0)));
        let device: Seconds = all.iter().map(|launch| launch.device).sum();
        let issue: Seconds = all.iter().map(|launch| launch.issue).sum();
        let issue = issue + more;
        match timing {
            Timing::Among => issue.max(device),
            Timing::Alone => self.alone + begun(all, more),
            // The host waits for what is before a read, and for the read; then the device waits for the host.
            Timing::Waited => {
                let ends = reads.iter().map(|read| (read.behind, self.read(read.bytes), Seconds(0.0)));
                let (mut time, mut first) = (Seconds(0.0), 0);
                for (end, read, more) in ends.chain([(all.len(), Seconds(0.0), more)]) {
                    let launches = &all[first..end];
                    let launched = if launches.is_empty() { Seconds(0.0) } else { self.waited };
                    time = time + launched + begun(launches, more) + read;
                    first = end;
                }
                time
            }
            Timing::BehindCopy(bytes) => {
                let copy: Seconds = self.gap + bytes / self.copied;
                (self.copy + issue).max(copy + device) - self.copy.max(copy)
            }
        }
    }
}

/// What launches on an idle device take from when the first one has begun on, if issuing them takes so much more.
fn begun(launches: &[Prediction], more: Seconds) -> Seconds {
    let Some(first) = launches.first() else { return more };
    let device: Seconds = launches.iter().map(|launch| launch.device).sum();
    let issue: Seconds = launches.iter().map(|launch| launch.issue).sum();
    (issue + more - first.issue).max(device - first.launch)
}

/// Single launches of the largest of a few elements.
fn single(source: &Source) -> Result<Vec<(Case, Seconds)>, serde_json::Error> {
    let is_it = |case: &Case| case.op == Op::Max && case.shape == CaseShape::Vector(FEW);
    let few: Vec<Case> = cases(false).into_iter().filter(is_it).collect();
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); few.len()];
    for line in source.cases.iter().flat_map(|text| text.lines()) {
        let record: Record = serde_json::from_str(line)?;
        let place = few.iter().position(|case| case.subject() == record.subject);
        if let (OURS, Mode::Single, Some(place)) = (record.peer.as_str(), record.mode, place) {
            times[place].push(record.ms_median * 1e-3);
        }
    }
    let found = few.into_iter().zip(times).filter(|(_, times)| !times.is_empty());
    Ok(found.map(|(case, mut times)| (case, Seconds(quantile(&mut times, 0.5)))).collect())
}

/// What next to nothing is: the most rows, columns or elements of a sum.
const SMALL: usize = 16;

/// What calls take that have next to nothing to do, by program, operation, element type, and run.
#[derive(Default)]
pub struct Calls(HashMap<[String; 3], HashMap<u64, Vec<f64>>>);

#[derive(Deserialize)]
struct Line {
    suite: String,
    peer: String,
    shape: Option<String>,
    ms_median: f64,
    date: String,
}

impl Calls {
    /// Those in such results, without the shapes of which there are rows.
    ///
    /// # Errors
    /// Where a line is no result.
    pub fn of(texts: &[&str], is_row: impl Fn(&str, &str) -> bool) -> Result<Self, serde_json::Error> {
        let mut calls = Self::default();
        for line in texts.iter().flat_map(|text| text.lines()) {
            let Line { suite, peer, shape: Some(shape), ms_median, date } = serde_json::from_str(line)?
            else {
                continue;
            };
            if peer == OURS && is_small(&suite, &shape) && !is_row(&suite, &shape) {
                let of_run = calls.0.entry(key(&suite, &shape)).or_default();
                of_run.entry(moment(&date)).or_default().push(ms_median * 1e-3);
            }
        }
        Ok(calls)
    }

    /// What such a call takes of a shape's program, operation and type, in the run of that moment: the median.
    pub fn time(&self, suite: &str, shape: &str, moment: u64) -> Option<Seconds> {
        let mut times = self.0.get(&key(suite, shape))?.get(&moment)?.clone();
        Some(Seconds(quantile(&mut times, 0.5)))
    }
}

/// Shapes begin with what is done and the elements' type.
fn key(suite: &str, shape: &str) -> [String; 3] {
    let mut words = shape.split(' ').map(str::to_owned);
    [suite.to_owned(), words.next().unwrap_or_default(), words.next().unwrap_or_default()]
}

/// Whether it is one matrix or product with next to nothing to do.
fn is_small(suite: &str, shape: &str) -> bool {
    let words: Vec<&str> = shape.split(' ').collect();
    // Where its extents are, and how many of them there are.
    let (extents, count) = match (suite, words[0]) {
        ("factor", "potrf") => (2..3, words.get(3)),
        ("level3", _) => (2..4, None),
        ("tensor", _) => (3..6, words.last()),
        _ => return false,
    };
    let is_short = |word: &&str| word.parse::<usize>().is_ok_and(|extent| extent <= SMALL);
    words.get(extents).is_some_and(|all| all.iter().all(is_short)) && count.is_none_or(|&count| count == "1")
}

#[cfg(test)]
mod tests {
    use gpu_model::Device;
    use gpu_model::waves::{Counts, sequence};

    use super::super::recorded::SOURCES;
    use super::super::tests::with_counters;
    use super::*;

    const BESIDE: Beside = Beside {
        alone: Seconds(5e-6),
        waited: Seconds(8e-6),
        reads: [Seconds(7e-6), Seconds(15e-6)],
        copy: Seconds(4e-6),
        copied: BytesPerSecond(1e12),
        gap: Seconds(1.5e-6),
    };

    fn microseconds(timing: Timing, sequence: &Sequence, call: Option<f64>) -> f64 {
        1e6 * BESIDE.measured(timing, sequence, call.map(|call| Seconds(call * 1e-6)), &[]).0
    }

    fn near(one: f64, other: f64) {
        assert!((one - other).abs() < 1e-9, "{one} is not {other}");
    }

    /// A launch that takes the host longer than the device, and one of which most of the device's time is the chain.
    #[test]
    fn what_is_measured_is_not_only_the_kernel() {
        let device = Device::by_name("h200").expect("it is described");
        let [short, long] = [0.0, 40.0].map(|chain| {
            let counts = Counts { chain, ..Counts::empty("empty", 1, 32) };
            sequence(&device, &[counts]).expect("it is predicted")
        });
        let [short_device, long_device] =
            [&short, &long].map(|found| 1e6 * (found.launches[0].device - found.launches[0].launch).0);
        let issue = 1e6 * short.launches[0].issue.0;
        assert!(short_device + 1.4 < issue && long_device > 10.0, "{short_device} {long_device} {issue}");
        near(microseconds(Timing::Among, &short, None), issue);
        near(microseconds(Timing::Among, &short, Some(issue + 1.0)), issue + 1.0);
        // A call that takes less than a launch of its own is one on a faster host: there is no telling.
        near(microseconds(Timing::Among, &short, Some(issue - 1.0)), issue);
        near(microseconds(Timing::Among, &long, Some(issue + 1.0)), long_device + 1.4);
        near(microseconds(Timing::Alone, &long, None), 5.0 + long_device);
        near(microseconds(Timing::Waited, &long, None), 8.0 + long_device);
        // The copy takes the host 4 µs and the device 2.5, and 1.5 of the kernel's time are hidden by that; a long copy
        // hides the host's time.
        near(microseconds(Timing::BehindCopy(Bytes(1e6)), &long, None), 1.4 + long_device - 1.5);
        near(microseconds(Timing::BehindCopy(Bytes(1e6)), &short, None), issue);
        near(microseconds(Timing::BehindCopy(Bytes(1e9)), &short, None), 1.4 + short_device);
    }

    /// Two long launches, between which 4 bytes are read, and behind which 34 816.
    #[test]
    fn the_host_waits_for_what_it_reads() {
        let device = Device::by_name("h200").expect("it is described");
        let counts = Counts { chain: 40.0, ..Counts::empty("empty", 1, 32) };
        let both = sequence(&device, &[counts.clone(), counts]).expect("it is predicted");
        let [first, second] = [0, 1].map(|launch| &both.launches[launch]);
        let one = 1e6 * (first.device - first.launch).0;
        let time = |reads: &[(usize, f64)]| {
            let read = |&(behind, bytes): &(usize, f64)| Read { behind, bytes: Bytes(bytes) };
            let reads: Vec<Read> = reads.iter().map(read).collect();
            1e6 * BESIDE.measured(Timing::Waited, &both, None, &reads).0
        };
        near(time(&[]), 8.0 + one + 1e6 * second.device.0);
        near(time(&[(1, 4.0)]), 2.0 * (8.0 + one) + 7.0);
        near(time(&[(1, 4.0), (2, 34_816.0)]), 2.0 * (8.0 + one) + 7.0 + 11.0);
    }

    /// The median of what the same program did in the same run, without rows.
    #[test]
    fn calls_are_those_of_the_run_that_no_row_is_of() {
        let line = |shape: &str, ms: f64, date: &str| {
            format!(
                r#"{{"suite":"factor","peer":"ours","shape":"potrf {shape}","ms_median":{ms},"date":"{date}"}}"#
            )
        };
        let text = [
            line("f32 4 1 l 0 0 1", 3e-3, "1"),
            line("f32 5 1 l 0 0 1", 9e-3, "1"),
            line("f32 6 1 l 0 0 1", 4e-3, "1"),
            line("f32 7 1 l 0 0 1", 5e-3, "1"),
            line("f32 8 1 l 0 0 1", 8e-3, "2"),
            line("f32 300 1 l 0 0 1", 20e-3, "1"),
            line("f32 8 2 l 0 0 1", 20e-3, "1"),
            line("f64 8 1 l 0 0 1", 6e-3, "1"),
        ]
        .join("\n");
        let calls = Calls::of(&[&text], |_, shape| shape == "potrf f32 5 1 l 0 0 1").expect("they are lines");
        let of = |shape: &str, moment| calls.time("factor", shape, moment).map(|time| time.0 * 1e6);
        near(of("potrf f32 5 1 l 0 0 1", 1).expect("there are three"), 4.0);
        near(of("potrf f32 700 1 l 0 0 1", 2).expect("there is one"), 8.0);
        near(of("potrf f64 9 1 l 0 0 1", 1).expect("there is one"), 6.0);
        assert_eq!(of("potrf f64 9 1 l 0 0 1", 2), None);
        assert!(is_small("tensor", "gemm_tensor bf16 bf16 1 2 16 nn 1"));
        assert!(!is_small("tensor", "gemm_tensor bf16 bf16 1 2 17 nn 1"));
        assert!(!is_small("tensor", "gemm_tensor bf16 bf16 1 2 16 nn 9"));
        assert!(is_small("level3", "trsm f32 3 6 lun 9 1") && !is_small("level3", "trsm f32 3 60 lun 9 1"));
    }

    /// By the calibrations and the single launches of both devices.
    #[test]
    fn timing_takes_some_microseconds_on_both() {
        for source in &SOURCES {
            let device = Device::by_name(source.device).expect("it is described");
            let beside = with_counters(|counters| {
                let counter = crate::counter(counters, source, &device).expect("it has caches");
                Beside::of(source, &device, counter).expect("it was measured")
            });
            let Beside { alone, waited, reads, copy, copied, gap } = beside;
            assert!((3e-6..8e-6).contains(&alone.0) && (alone.0..12e-6).contains(&waited.0), "{beside:?}");
            assert!(
                (5e-6..10e-6).contains(&reads[0].0) && (reads[0].0..20e-6).contains(&reads[1].0),
                "{beside:?}"
            );
            assert!((2e-6..6e-6).contains(&copy.0) && (1e-6..2e-6).contains(&gap.0), "{beside:?}");
            assert!((1e12..3e12).contains(&copied.0), "{beside:?}");
        }
    }
}
