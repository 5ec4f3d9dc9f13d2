//! Races between work on different streams: what a launch, a copy or a fill accessed is held against what earlier work
//! that it does not come after did to the same bytes.

use super::Caller;
use super::earlier::Earlier;
use crate::fault::{Direction, Fault, FaultDetails, FaultKind, OtherAccess, Space};
use crate::geometry::unflatten;
use crate::memory::alloc::Heap;
use crate::memory::cell::Cell;
use crate::memory::past::Access;
use crate::streams::{DEFAULT, Streams, Work};

/// Memory of the host for what streams did: where it takes more, all of it is forgotten.
const PAST_KEPT: usize = 512 << 20;

/// A race with earlier work.
struct Race {
    address: u64,
    /// This work's access.
    now: Access,
    /// The earlier one.
    then: Access,
}

fn direction(access: &Access) -> Direction {
    if access.write { Direction::Write } else { Direction::Read }
}

impl Race {
    /// What this work is blamed for, with the other side of it.
    fn details(&self, streams: &Streams, stream: u32, mut details: FaultDetails) -> FaultDetails {
        let direction_now = direction(&self.now);
        details.kind =
            FaultKind::Race { space: Space::Global, direction: direction_now, address: self.address };
        details.stream = stream;
        let Some(work) = streams.work(self.then.work) else { return details };
        let place = work.geometry.map(|geometry| {
            let per_block = geometry.threads_per_block();
            let (block, thread) = (self.then.gid / per_block, self.then.gid % per_block);
            (unflatten(block, geometry.grid), unflatten(thread, geometry.block))
        });
        let (block, thread) = place.unwrap_or_default();
        details.other = Some(OtherAccess {
            threads: work.geometry.is_some(),
            site: work.sites.get(usize::from(self.then.site)).copied().flatten().map(Into::into),
            block,
            thread,
            direction: direction(&self.then),
            atomic: self.then.atomic,
            kernel: Some(work.name.clone()),
            stream: Some(work.stream),
        });
        details
    }
}

/// What a launch did to a granule, a write first.
fn accesses(cell: &Cell, launch: &Earlier, work: u32) -> [Option<Access>; 2] {
    let plain = |(gid, site), write| Access { work, gid, site, write, ..Access::default() };
    if let Some((gid, _, site)) = cell.last_write() {
        // Whatever else was done there is ordered with it, and conflicts with no more.
        return [Some(plain((gid, site), true)), None];
    }
    let location = cell.atomic.checked_sub(1).and_then(|at| launch.locations.get(at as usize)?.as_ref());
    let atomic = location.and_then(|location| {
        let any = location.any(true)?;
        let write = any.direction == Direction::Write;
        let released = write && location.released;
        Some(Access { atomic: true, released, ..plain((any.gid, any.site), write) })
    });
    let read = cell.some_read(&launch.sets).map(|read| plain(read, false));
    match atomic {
        Some(access) if access.write => [atomic, read],
        _ => [read.or(atomic), None],
    }
}

/// A launch on a stream that is not the default one is over. What it did is held against what came before, and kept for what comes.
pub(crate) fn settle(
    heap: &mut Heap,
    streams: &mut Streams,
    stream: u32,
    launch: &Earlier,
    blank: FaultDetails,
) -> Result<(), Fault> {
    let number = streams.enqueue(stream);
    if !streams.knows_all(stream) {
        acquire(heap, streams, stream, launch);
        if let Some(race) = conflict(heap, streams, stream, launch, number) {
            let per_block = launch.geometry.threads_per_block();
            let (gid, site) = (race.now.gid, usize::from(race.now.site));
            let blank = FaultDetails {
                site: launch.sites.get(site).copied().flatten().map(Into::into),
                block: unflatten(gid / per_block, launch.geometry.grid),
                thread: unflatten(gid % per_block, launch.geometry.block),
                ..blank
            };
            return Err(Fault::new(race.details(streams, stream, blank)));
        }
    }
    // Where one stream does all the work, and its accesses replace each other, nothing has to be looked up.
    let size = if streams.knows_all(stream) {
        keep(heap, launch, number, |_| true)
    } else {
        keep(heap, launch, number, |number| streams.knows(stream, number))
    };
    let (geometry, sites) = (Some(launch.geometry), launch.sites.clone());
    streams.done(Work { stream, name: format!("kernel {}", launch.kernel), geometry, sites });
    if size > PAST_KEPT {
        all_ordered(heap, streams);
    }
    Ok(())
}

/// Keeps what a launch did; the memory of the host that this and what was there takes.
fn keep(heap: &mut Heap, launch: &Earlier, number: u32, known: impl Fn(u32) -> bool) -> usize {
    let mut size = 0;
    for (_, region) in heap.regions() {
        let (shadow, past) = (&region.shadow, &mut region.past);
        let bytes = shadow.has_bytes();
        for (granule, cell) in shadow.touched() {
            if bytes {
                past.split();
            }
            for access in accesses(cell, launch, number).into_iter().flatten() {
                past.add(granule, bytes, access, &known);
            }
        }
        size += past.size();
    }
    size
}

/// An atomic read of what earlier work released may have acquired it: then the launch comes after that.
fn acquire(heap: &mut Heap, streams: &mut Streams, stream: u32, launch: &Earlier) {
    for (_, region) in heap.regions().filter(|(_, region)| !region.past.is_empty()) {
        let bytes = region.shadow.has_bytes();
        if bytes {
            region.past.split();
        }
        for (granule, cell) in region.shadow.touched().filter(|(_, cell)| cell.atomic != 0) {
            let location = launch.locations.get(cell.atomic as usize - 1).and_then(Option::as_ref);
            if location.is_some_and(|location| location.is_read())
                && let Some(work) = region.past.released(granule, bytes)
            {
                streams.learn(stream, work);
            }
        }
    }
}

/// The first byte where a launch is in a race with earlier work.
fn conflict(heap: &mut Heap, streams: &Streams, stream: u32, launch: &Earlier, number: u32) -> Option<Race> {
    let known = |number| streams.knows(stream, number);
    for (start, region) in heap.regions().filter(|(_, region)| !region.past.is_empty()) {
        let bytes = region.shadow.has_bytes();
        if bytes {
            region.past.split();
        }
        for (granule, cell) in region.shadow.touched() {
            for now in accesses(cell, launch, number).into_iter().flatten() {
                if let Some(then) = region.past.conflict(granule, bytes, &now, known) {
                    let address = start + (granule * if bytes { 1 } else { 4 }) as u64;
                    return Some(Race { address, now, then });
                }
            }
        }
    }
    None
}

/// Work of the host's making that uses ranges of memory, each its first address, its bytes and whether it is written:
/// all of them in bounds. It is held against what came before, and kept for what comes.
pub(crate) fn settle_ranges(
    heap: &mut Heap,
    streams: &mut Streams,
    stream: u32,
    name: &str,
    ranges: &[(u64, usize, bool)],
    (caller, blank): (Caller, FaultDetails),
) -> Result<(), Fault> {
    if stream == DEFAULT {
        all_ordered(heap, streams);
        return Ok(());
    }
    let work = streams.enqueue(stream);
    let known = |number| streams.knows(stream, number);
    let access = |write| Access { work, site: 1, write, ..Access::default() };
    for &(start, bytes, write) in ranges {
        let Some((region, offset)) = heap.locate(start, bytes) else { continue };
        let (len, now) = (region.len(), access(write));
        if let Some((at, then)) = region.past.range_conflict((offset, bytes), len, &now, known) {
            let race = Race { address: start + at.saturating_sub(offset) as u64, now, then };
            return Err(Fault::new(race.details(streams, stream, blank)));
        }
    }
    for &(start, bytes, write) in ranges {
        let Some((region, offset)) = heap.locate(start, bytes) else { continue };
        let len = region.len();
        region.past.add_range((offset, bytes), len, access(write), known);
    }
    let name = format!("a {name}");
    streams.done(Work { stream, name, geometry: None, sites: vec![None, Some(caller)] });
    Ok(())
}

/// All that comes is ordered behind all there was.
pub(crate) fn all_ordered(heap: &mut Heap, streams: &mut Streams) {
    if !streams.is_empty() {
        heap.regions().for_each(|(_, region)| region.past = Default::default());
    }
    streams.forget();
}
