//! Safe programs of several streams have no race, whatever they do; without the automatic order the simulator finds one.

mod common;

use common::{fill_index, on_each_launching};
use gpu_core::{Buffer, Device, Error, Event, Result, Stream};
use gpu_sim::{Direction, FaultKind};

const LEN: usize = 96;
const HALF: usize = LEN / 2;

/// A generator for programs: xorshift.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}

/// Buffers, with what they hold if all work is done in the order of the calls.
struct Memory {
    buffers: Vec<Buffer<u32>>,
    expected: Vec<Vec<u32>>,
}

impl Memory {
    fn new(device: &Device) -> Self {
        let buffers = (0..4).map(|number| device.upload(&[number; LEN]).unwrap()).collect();
        Self { buffers, expected: (0..4).map(|number| vec![number; LEN]).collect() }
    }

    fn expect(&self, number: usize) {
        assert_eq!(self.buffers[number].to_vec().unwrap(), self.expected[number], "buffer {number}");
    }

    /// One random piece of work on a stream, of whole buffers and of halves.
    fn work(&mut self, stream: &Stream, draw: &mut Draw) -> Result<()> {
        let number = draw.below(4);
        let (start, end) = [(0, LEN), (0, HALF), (HALF, LEN)][draw.below(3)];
        match draw.below(4) {
            0 => {
                let value = draw.below(200) as u8;
                stream.memset(self.buffers[number].slice_mut(start..end), value)?;
                self.expected[number][start..end].fill(u32::from_ne_bytes([value; 4]));
            }
            1 => {
                fill_index(stream, self.buffers[number].slice_mut(start..end), 32)?;
                self.expected[number][start..end].iter_mut().zip(0..).for_each(|(to, index)| *to = index);
            }
            _ => {
                let from = (number + 1 + draw.below(3)) % 4;
                let [target, source] = self.buffers.get_disjoint_mut([number, from]).unwrap();
                let shift = if end - start == HALF { draw.below(2) * HALF } else { 0 };
                let begin = (start + shift) % LEN;
                stream.copy(target.slice_mut(start..end), source.slice(begin..begin + end - start))?;
                let piece = self.expected[from][begin..begin + end - start].to_vec();
                self.expected[number][start..end].copy_from_slice(&piece);
            }
        }
        Ok(())
    }
}

#[test]
fn safe_programs_have_no_race_and_results_as_if_one_after_the_other() {
    on_each_launching("safe_programs_have_no_race", |device| {
        for seed in 1..=300 {
            let mut draw = Draw(seed << 20 | 0x5EED);
            let mut memory = Memory::new(device);
            let mut streams: Vec<Stream> = (0..3).map(|_| device.stream().unwrap()).collect();
            let mut events: Vec<Event> = Vec::new();
            for _ in 0..40 {
                let number = draw.below(4);
                let at = draw.below(3);
                let stream = if draw.below(8) == 0 { device.default_stream() } else { streams[at].clone() };
                let done = match draw.below(16) {
                    0 => {
                        memory.buffers[number].copy_from(&[7; LEN]).map(|()| memory.expected[number].fill(7))
                    }
                    1 => {
                        memory.expect(number);
                        Ok(())
                    }
                    2 => {
                        // Dropped while in use, and its successor used at once.
                        memory.buffers[number] = device.zeroed(LEN).unwrap();
                        memory.expected[number].fill(0);
                        Ok(())
                    }
                    3 => device.stream().map(|new| streams[at] = new),
                    4 => stream.record().map(|event| events.push(event)),
                    5 => events.get(draw.below(events.len() + 1)).map_or(Ok(()), |event| stream.wait(event)),
                    6 => match draw.below(3) {
                        0 => stream.synchronize(),
                        1 => device.synchronize(),
                        _ => events.last().map_or(Ok(()), Event::synchronize),
                    },
                    7 => {
                        let mut pinned = device.pinned(LEN).unwrap();
                        pinned.fill(number as u32 + 50);
                        let buffer = std::mem::replace(&mut memory.buffers[number], device.alloc(0).unwrap());
                        let transfer = stream.upload(pinned, buffer).unwrap();
                        memory.expected[number].fill(number as u32 + 50);
                        let next = (number + 1) % 4;
                        streams[at].memset(&mut memory.buffers[next], 1).unwrap();
                        memory.expected[next].fill(0x0101_0101);
                        transfer.wait().map(|(_, buffer)| memory.buffers[number] = buffer)
                    }
                    _ => memory.work(&stream, &mut draw),
                };
                done.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            }
            (0..4).for_each(|number| memory.expect(number));
        }
    });
}

#[test]
fn without_the_automatic_order_some_of_these_race_and_events_mend_all() {
    let (mut races, mut runs) = (0, 0);
    for seed in 1..=300 {
        for mended in [false, true] {
            let device = Device::simulator();
            let mut draw = Draw(seed << 20 | 0xACE);
            let mut memory = Memory::new(&device);
            // SAFETY: nothing runs beside anything in the simulator; what is not ordered here is to be found.
            let free = || unsafe { device.stream().unwrap().unordered() };
            let streams = [free(), free(), free()];
            let mut last = None;
            let raced = (0..12).any(|_| {
                let stream = &streams[draw.below(3)];
                if let (true, Some(event)) = (mended, &last) {
                    stream.wait(event).unwrap();
                }
                let done = memory.work(stream, &mut draw);
                last = Some(stream.record().unwrap());
                match done {
                    Ok(()) => false,
                    Err(Error::Simulator(fault)) => {
                        assert!(matches!(fault.kind, FaultKind::Race { .. }), "{fault}");
                        true
                    }
                    Err(error) => panic!("{error}"),
                }
            });
            assert!(!(mended && raced), "seed {seed}");
            races += u32::from(raced);
            runs += u32::from(!mended);
        }
    }
    assert!(races > runs / 2, "{races} of {runs}");
}

#[test]
fn the_second_of_two_calls_names_both() {
    let device = Device::simulator();
    let mut x = device.upload(&[1_u32; LEN]).unwrap();
    let mut y = device.zeroed::<u32>(LEN).unwrap();
    // SAFETY: as above.
    let free = || unsafe { device.stream().unwrap().unordered() };
    let (a, b) = (free(), free());
    let line = line!() + 1;
    a.copy(&mut y, &x).unwrap();
    let fault = match b.memset(x.slice_mut(HALF..), 3) {
        Err(Error::Simulator(fault)) => fault,
        other => panic!("{other:?}"),
    };
    assert!(matches!(fault.kind, FaultKind::Race { direction: Direction::Write, .. }), "{fault}");
    let other = fault.other.as_ref().unwrap();
    let place = |site: &Option<gpu_sim::Site>| site.as_ref().map(|site| (site.file.clone(), site.line));
    assert_eq!(place(&other.site), Some((file!().into(), line)), "{fault}");
    assert_eq!(place(&fault.site), Some((file!().into(), line + 1)), "{fault}");
    assert_eq!((other.direction, other.kernel.as_deref()), (Direction::Read, Some("a copy of 384 bytes")));
    assert_eq!((other.stream, fault.stream), (Some(1), 2));
    // Behind an event it may.
    b.wait(&a.record().unwrap()).unwrap();
    b.memset(&mut x, 3).unwrap();
}

#[test]
fn what_is_ordered_on_one_side_only_is_found() {
    // The automatic order knows nothing of the other handle's work.
    let device = Device::simulator();
    let mut x = device.zeroed::<u32>(LEN).unwrap();
    let (a, b) = (device.stream().unwrap(), device.stream().unwrap());
    // SAFETY: as above.
    let free = unsafe { a.unordered() };
    fill_index(&free, x.view_mut(), 32).unwrap();
    b.memset(&mut x, 3).unwrap_err();
    // Transfers wait for all.
    assert_eq!(x.to_vec().unwrap()[7], 7);
    b.memset(&mut x, 3).unwrap();
}
