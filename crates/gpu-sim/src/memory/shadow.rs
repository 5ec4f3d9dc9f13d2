//! Shadow cells: the last accesses of every granule, for races by happens-before.
//!
//! After FastTrack: the last plain write is one epoch; plain reads are one as long as each is ordered after the one
//! before, or one of neighbouring threads that read at the same line with the same clock, as lanes do that come by one
//! after the other, or of a few threads as far apart, as the same lane of several warps; and a set of runs otherwise,
//! which lies elsewhere. Atomic accesses are kept apart (see `history`), because they do not race with each other. A
//! granule is four bytes until the region sees its first smaller access, then one.

use super::cell::{Cell, Conflict, READ_ONLY, SHARED};
use super::runs::Runs;
use crate::clock::Who;
use crate::fault::Direction;

const PAGE: usize = 1024;

struct Page {
    generation: u32,
    /// Some cell refers to a set of reads or to an atomic location.
    refers: bool,
    cells: [Cell; PAGE],
}

/// The cells of one region, in pages that exist once touched.
#[derive(Default)]
pub(crate) struct Shadow {
    pages: Vec<Option<Box<Page>>>,
    /// Cells of another generation are void.
    generation: u32,
    /// Sub-word accesses have been seen: granules are bytes.
    bytes: bool,
}

/// A set of reads per granule that many read. Freed ones are used again.
#[derive(Default)]
pub(crate) struct ReadSets {
    pub(super) sets: Vec<Runs>,
    free: Vec<u32>,
}

impl ReadSets {
    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.sets.push(Runs::default());
            self.sets.len() as u32 - 1
        })
    }

    fn give(&mut self, set: u32) {
        self.sets[set as usize].clear();
        self.free.push(set);
    }
}

impl Shadow {
    /// Where it was taken from: what is there instead is empty, and not looked through to be dropped.
    #[inline]
    pub(crate) fn put_back(&mut self, taken: Self) {
        std::mem::forget(std::mem::replace(self, taken));
    }

    /// Starts a launch: everything recorded is void.
    pub(crate) fn begin(&mut self, generation: u32) {
        self.generation = generation;
    }

    /// Voids everything and gives back what cells refer to (shared memory between two blocks).
    pub(crate) fn recycle(&mut self, sets: &mut ReadSets, mut free_atomic: impl FnMut(u32)) {
        for page in self.pages.iter_mut().flatten() {
            if page.refers && page.generation == self.generation {
                let mut last = 0;
                for cell in &page.cells {
                    if cell.read_clock == SHARED {
                        sets.give(cell.read_gid);
                    }
                    // The two granules of a 64-bit location refer to it both.
                    if cell.atomic != 0 && cell.atomic != last {
                        free_atomic(cell.atomic - 1);
                        last = cell.atomic;
                    }
                }
            }
        }
        self.generation = self.generation.wrapping_add(1);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.pages.iter().flatten().count() * size_of::<Page>()
    }

    pub(crate) fn clear(&mut self) {
        self.pages = Vec::new();
    }

    /// Whether cells near these bytes refer to anything, as to atomic locations.
    #[inline]
    pub(crate) fn refers(&self, offset: usize, size: usize) -> bool {
        let bytes = if self.bytes { PAGE } else { 4 * PAGE };
        (offset / bytes..=(offset + size - 1) / bytes).any(|number| {
            let page = self.pages.get(number).and_then(Option::as_ref);
            page.is_some_and(|page| page.refers && page.generation == self.generation)
        })
    }

    /// The cells of so many bytes that were accessed since this began.
    pub(crate) fn accesses(&self, offset: usize, size: usize) -> impl Iterator<Item = &Cell> {
        let bytes = if self.bytes { 1 } else { 4 };
        (offset / bytes..(offset + size).div_ceil(bytes)).filter_map(|granule| {
            let page = self.pages.get(granule / PAGE)?.as_ref()?;
            (page.generation == self.generation).then(|| &page.cells[granule % PAGE])
        })
    }

    /// The cells that were accessed since this began, with their numbers.
    pub(crate) fn touched(&self) -> impl Iterator<Item = (usize, &Cell)> {
        let pages = self.pages.iter().enumerate();
        pages.filter_map(|(number, page)| Some((number, page.as_ref()?))).flat_map(|(number, page)| {
            let cells = if page.generation == self.generation { &page.cells[..] } else { &[] };
            let touched = |(_, cell): &(usize, &Cell)| {
                cell.write_clock != 0 || cell.read_clock != 0 || cell.atomic != 0
            };
            cells.iter().enumerate().filter(touched).map(move |(at, cell)| (number * PAGE + at, cell))
        })
    }

    /// Whether its granules are bytes, not words.
    pub(crate) fn has_bytes(&self) -> bool {
        self.bytes
    }

    /// The granules of an access, as a range of cell numbers.
    #[inline]
    pub(crate) fn granules(
        &mut self,
        offset: usize,
        size: usize,
        sets: &mut ReadSets,
    ) -> std::ops::Range<usize> {
        if self.bytes {
            return offset..offset + size;
        }
        if size < 4 {
            self.split(sets);
            return offset..offset + size;
        }
        offset / 4..(offset + size) / 4
    }

    /// Goes from word to byte granules: every byte inherits its word's cell.
    #[cold]
    fn split(&mut self, sets: &mut ReadSets) {
        self.bytes = true;
        let generation = self.generation;
        for (number, page) in std::mem::take(&mut self.pages).into_iter().enumerate() {
            let Some(page) = page.filter(|page| page.generation == generation) else { continue };
            for (index, cell) in page.cells.iter().enumerate() {
                for byte in 0..4 {
                    let mut copy = *cell;
                    if copy.read_clock == SHARED && byte > 0 {
                        let set = sets.take();
                        sets.sets[set as usize] = sets.sets[cell.read_gid as usize].clone();
                        copy.read_gid = set;
                    }
                    *self.cell((number * PAGE + index) * 4 + byte) = copy;
                }
            }
            let refers = page.refers;
            for split in &mut self.pages[number * 4..number * 4 + 4] {
                split.as_mut().expect("just made").refers |= refers;
            }
        }
    }

    #[inline]
    fn page(&mut self, number: usize) -> &mut Page {
        // Asked twice, as what is found is borrowed for as long as the page that is made instead.
        if !matches!(self.pages.get(number), Some(Some(page)) if page.generation == self.generation) {
            self.make_page(number);
        }
        self.pages[number].as_mut().expect("it is there")
    }

    /// A page without accesses.
    #[inline(never)]
    fn make_page(&mut self, number: usize) {
        if number >= self.pages.len() {
            self.pages.resize_with(number + 1, || None);
        }
        let generation = self.generation;
        match &mut self.pages[number] {
            Some(page) => {
                page.cells = [Cell::default(); PAGE];
                (page.generation, page.refers) = (generation, false);
            }
            none => {
                *none = Some(Box::new(Page { generation, refers: false, cells: [Cell::default(); PAGE] }));
            }
        }
    }

    #[inline]
    pub(crate) fn cell(&mut self, granule: usize) -> &mut Cell {
        &mut self.page(granule / PAGE).cells[granule % PAGE]
    }

    /// Makes a granule refer to an atomic location.
    pub(crate) fn set_atomic(&mut self, granule: usize, location: u32) {
        let page = self.page(granule / PAGE);
        page.refers = true;
        page.cells[granule % PAGE].atomic = location + 1;
    }

    /// A plain read of a granule: checks it against the last write, and records it. Gives the number of the granule's
    /// atomic location, plus one, or zero.
    #[inline]
    pub(crate) fn read(
        &mut self,
        granule: usize,
        who: &Who<'_>,
        site: u16,
        read_only: bool,
        sets: &mut ReadSets,
    ) -> Result<u32, Conflict> {
        let page = self.page(granule / PAGE);
        let cell = &mut page.cells[granule % PAGE];
        if cell.write_clock != 0 {
            let unordered = !who.knows(cell.write_gid, cell.write_clock);
            if unordered || read_only {
                let conflict =
                    Conflict::plain(cell.write_gid, cell.write_site & !READ_ONLY, Direction::Write);
                return Err(Conflict { read_only: read_only && !unordered, ..conflict });
            }
        }
        if read_only {
            cell.write_site |= READ_ONLY;
        }
        if cell.read_clock == SHARED {
            sets.sets[cell.read_gid as usize].insert(who.gid, who.clock, site, false, who);
        } else if !cell.take_read(who, site) {
            let set = sets.take();
            let runs = &mut sets.sets[set as usize];
            if cell.read_step == 0 {
                runs.begin(cell.read_gid, cell.read_last, cell.read_clock, cell.read_site);
            } else {
                cell.apart().for_each(|gid| runs.begin(gid, gid, cell.read_clock, cell.read_site));
            }
            runs.insert(who.gid, who.clock, site, false, who);
            (cell.read_gid, cell.read_last, cell.read_step, cell.read_clock) = (set, 0, 0, SHARED);
            page.refers = true;
        }
        Ok(cell.atomic)
    }

    /// A plain write of a granule: checks it against the last write and the reads, and records it. Gives what a read
    /// gives.
    #[inline]
    pub(crate) fn write(
        &mut self,
        granule: usize,
        who: &Who<'_>,
        site: u16,
        sets: &mut ReadSets,
    ) -> Result<u32, Conflict> {
        let cell = self.cell(granule);
        if let Some(conflict) = cell.before_write(who, sets) {
            return Err(conflict);
        }
        if cell.read_clock == SHARED {
            sets.give(cell.read_gid);
        }
        (cell.read_clock, cell.read_step) = (0, 0);
        (cell.write_gid, cell.write_clock, cell.write_site) = (who.gid, who.clock, site);
        Ok(cell.atomic)
    }

    /// What a write, plain or atomic, of a granule is not ordered after.
    #[inline]
    pub(crate) fn before_write(
        &mut self,
        granule: usize,
        who: &Who<'_>,
        sets: &ReadSets,
    ) -> Option<Conflict> {
        self.cell(granule).before_write(who, sets)
    }

    /// What an atomic load of a granule is not ordered after.
    #[inline]
    pub(crate) fn before_atomic_read(&mut self, granule: usize, who: &Who<'_>) -> Option<Conflict> {
        let cell = self.cell(granule);
        (cell.write_clock != 0 && !who.knows(cell.write_gid, cell.write_clock))
            .then(|| Conflict::plain(cell.write_gid, cell.write_site & !READ_ONLY, Direction::Write))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::View;
    use crate::rng::Rng;

    const THREADS: u32 = 40;

    /// The present access.
    fn who(view: &View, gid: u32, clock: u32, floor: u32) -> Who<'_> {
        Who { gid, clock, first: 0, per_block: THREADS, floor, view }
    }

    /// Reads by lanes that come by upwards, downwards, again, warp by warp or in any order, between barriers or
    /// without, and writes: against a list of each thread's latest read since the last write.
    #[test]
    fn what_is_not_ordered_is_found_in_whatever_order_threads_come() {
        let (view, mut conflicts) = (View::default(), 0);
        for seed in 0..400 {
            let mut rng = Rng::new(seed);
            let (mut shadow, mut sets) = (Shadow::default(), ReadSets::default());
            let (mut reads, mut written, mut floor) = ([None; THREADS as usize], None, 0);
            'launch: for clock in 1..12 {
                if rng.one_in(2) {
                    floor = clock;
                }
                let (order, lines) = (rng.below(6), 1 + rng.below(2));
                // The same lane of several warps, of more or fewer of them than a cell stands for.
                let lanes = [8, 2, 20][rng.below(3) as usize];
                for step in 0..THREADS {
                    let apart = step * lanes % THREADS + step * lanes / THREADS;
                    let reversed = THREADS - 1 - apart;
                    let orders = [
                        step,
                        THREADS - 1 - step,
                        rng.below(THREADS),
                        apart,
                        reversed,
                        apart / lanes * lanes,
                    ];
                    let gid = orders[order as usize];
                    let (who, site) = (who(&view, gid, clock, floor), rng.below(lines) as u16);
                    let unknown = |(gid, clock): (u32, u32)| !who.knows(gid, clock);
                    if rng.one_in(60) {
                        let of = |gid: u32| reads[gid as usize].filter(|&(clock, _)| unknown((gid, clock)));
                        let unordered: Vec<u32> = (0..THREADS).filter(|&gid| of(gid).is_some()).collect();
                        match shadow.write(0, &who, site, &mut sets) {
                            Ok(_) => {
                                assert_eq!((&unordered, written.filter(|&w| unknown(w))), (&vec![], None));
                                (reads, written) = ([None; THREADS as usize], Some((gid, clock)));
                            }
                            Err(conflict) if conflict.direction == Direction::Write => {
                                assert!(written.is_some_and(|w| w.0 == conflict.gid && unknown(w)), "{seed}");
                                break 'launch;
                            }
                            Err(Conflict { gid, site, .. }) => {
                                assert_eq!(of(gid).map(|(_, site)| site), Some(site), "seed {seed}");
                                conflicts += 1;
                                break 'launch;
                            }
                        }
                    } else if !rng.one_in(20) {
                        let recorded = shadow.read(0, &who, site, false, &mut sets);
                        assert_eq!(recorded.is_err(), written.is_some_and(unknown), "seed {seed}");
                        if recorded.is_err() {
                            break 'launch;
                        }
                        reads[gid as usize] = Some((clock, site));
                    }
                }
            }
        }
        assert!(conflicts > 50, "only {conflicts} writes met reads");
    }
}
