//! What work on streams did to memory: for races between launches, copies and fills that nothing orders.
//!
//! As in `shadow`, of every granule the last write and the reads since, but by work and not by thread; atomic accesses
//! do not race with each other. What is alike for a page takes one cell.

use std::collections::HashMap;

const PAGE: usize = 1024;

/// An access by work on a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Access {
    /// Its number; zero: nobody's.
    pub(crate) work: u32,
    /// Some thread of it that did this, and where.
    pub(crate) gid: u32,
    pub(crate) site: u16,
    pub(crate) write: bool,
    pub(crate) atomic: bool,
    /// An atomic write that others may acquire.
    pub(crate) released: bool,
}

impl Access {
    /// Whether two accesses of the same bytes need an order.
    fn conflicts(&self, other: &Self) -> bool {
        self.work != 0 && (self.write || other.write) && !(self.atomic && other.atomic)
    }

    /// Whether what comes after `other` needs not look at this, which came before that.
    fn is_behind(&self, other: &Self) -> bool {
        (other.write || !self.write) && (self.atomic || !other.atomic)
    }
}

#[derive(Clone, Copy, Default)]
struct Cell {
    write: Access,
    read: Access,
}

impl Cell {
    /// Records an access; what is to be kept beside it.
    #[inline]
    fn add(&mut self, access: Access, known: impl Fn(u32) -> bool) -> [Option<Access>; 2] {
        let replaced = |old: &Access| old.work == 0 || known(old.work) && old.is_behind(&access);
        if !access.write {
            if replaced(&self.read) {
                self.read = access;
                return [None; 2];
            }
            return [Some(access), None];
        }
        let write = Some(self.write).filter(|old| !replaced(old));
        let read = Some(self.read).filter(|old| !replaced(old));
        (self.write, self.read) = (access, Access::default());
        [write, read]
    }
}

enum Page {
    /// Every granule's.
    Same(Cell),
    Each(Box<[Cell; PAGE]>),
}

impl Default for Page {
    fn default() -> Self {
        Self::Same(Cell::default())
    }
}

impl Page {
    fn get(&self, at: usize) -> &Cell {
        match self {
            Self::Same(cell) => cell,
            Self::Each(cells) => &cells[at],
        }
    }

    fn each(&mut self) -> &mut [Cell; PAGE] {
        if let Self::Same(cell) = self {
            *self = Self::Each(Box::new([*cell; PAGE]));
        }
        match self {
            Self::Each(cells) => cells,
            Self::Same(_) => unreachable!("made above"),
        }
    }
}

/// That of one region.
#[derive(Default)]
pub(crate) struct Past {
    pages: Vec<Page>,
    /// Granules are bytes, not words.
    bytes: bool,
    /// What a cell has no room for; only of pages with cells of their own.
    more: HashMap<usize, Vec<Access>>,
}

impl Past {
    pub(crate) fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Memory of the host that it takes.
    pub(crate) fn size(&self) -> usize {
        let cells = |page: &Page| if let Page::Each(_) = page { PAGE * size_of::<Cell>() } else { 0 };
        self.pages.iter().map(|page| size_of::<Page>() + cells(page)).sum()
    }

    /// Granules become bytes, where they are not.
    pub(crate) fn split(&mut self) {
        if std::mem::replace(&mut self.bytes, true) {
            return;
        }
        let quarter = |page: &Page, part: usize| match page {
            Page::Same(cell) => Page::Same(*cell),
            Page::Each(cells) => {
                let mut bytes = Box::new([Cell::default(); PAGE]);
                for (at, byte) in bytes.iter_mut().enumerate() {
                    *byte = cells[(part * PAGE + at) / 4];
                }
                Page::Each(bytes)
            }
        };
        self.pages = std::mem::take(&mut self.pages)
            .iter()
            .flat_map(|page| [0, 1, 2, 3].map(|part| quarter(page, part)))
            .collect();
        self.more = std::mem::take(&mut self.more)
            .into_iter()
            .flat_map(|(at, accesses)| [0, 1, 2, 3].map(|byte| (4 * at + byte, accesses.clone())))
            .collect();
    }

    /// The granules of so many bytes of a region of `len`.
    fn granules(&mut self, offset: usize, size: usize, len: usize) -> std::ops::Range<usize> {
        let end = offset + size;
        let whole = offset.is_multiple_of(4) && (end.is_multiple_of(4) || end == len);
        if !whole {
            self.split();
        }
        if self.bytes { offset..end } else { offset / 4..end.div_ceil(4) }
    }

    /// The granules of a granule of a shadow.
    fn of_shadow(&self, granule: usize, bytes: bool) -> std::ops::Range<usize> {
        if self.bytes && !bytes { 4 * granule..4 * granule + 4 } else { granule..granule + 1 }
    }

    fn look(&self, granule: usize, look: &mut impl FnMut(&Access) -> bool) -> Option<Access> {
        let cell = self.pages.get(granule / PAGE)?.get(granule % PAGE);
        let more = self.more.get(&granule).map_or(&[][..], Vec::as_slice);
        [&cell.write, &cell.read].into_iter().chain(more).find(|access| look(access)).copied()
    }

    /// What an access of a shadow's granule is not ordered after.
    pub(crate) fn conflict(
        &self,
        granule: usize,
        bytes: bool,
        access: &Access,
        known: impl Fn(u32) -> bool,
    ) -> Option<Access> {
        let mut conflicts = |old: &Access| old.conflicts(access) && !known(old.work);
        self.of_shadow(granule, bytes).find_map(|granule| self.look(granule, &mut conflicts))
    }

    /// A write that an atomic read of a shadow's granule may acquire from.
    pub(crate) fn released(&self, granule: usize, bytes: bool) -> Option<u32> {
        let granule = self.of_shadow(granule, bytes).start;
        self.look(granule, &mut |old| old.released).map(|access| access.work)
    }

    #[inline]
    fn put(&mut self, granule: usize, access: Access, known: &impl Fn(u32) -> bool) {
        if granule / PAGE >= self.pages.len() {
            self.pages.resize_with(granule / PAGE + 1, Page::default);
        }
        let rest = self.pages[granule / PAGE].each()[granule % PAGE].add(access, known);
        if rest.iter().any(Option::is_some) || access.write && !self.more.is_empty() {
            self.put_aside(granule, access, rest, known);
        }
    }

    #[cold]
    fn put_aside(
        &mut self,
        granule: usize,
        access: Access,
        rest: [Option<Access>; 2],
        known: &impl Fn(u32) -> bool,
    ) {
        let more = self.more.entry(granule).or_default();
        more.retain(|old| !(known(old.work) && old.is_behind(&access)));
        more.extend(rest.into_iter().flatten());
        if more.is_empty() {
            self.more.remove(&granule);
        }
    }

    /// Records an access of a shadow's granule. It may not have a conflict.
    pub(crate) fn add(&mut self, granule: usize, bytes: bool, access: Access, known: impl Fn(u32) -> bool) {
        for granule in self.of_shadow(granule, bytes) {
            self.put(granule, access, &known);
        }
    }

    /// What an access of a range of a region of `len` bytes is not ordered after, with its offset.
    pub(crate) fn range_conflict(
        &mut self,
        (offset, size): (usize, usize),
        len: usize,
        access: &Access,
        known: impl Fn(u32) -> bool,
    ) -> Option<(usize, Access)> {
        if self.is_empty() {
            return None;
        }
        let granules = self.granules(offset, size, len);
        let width = if self.bytes { 1 } else { 4 };
        let mut conflicts = |old: &Access| old.conflicts(access) && !known(old.work);
        let mut at = granules.start;
        while at < granules.end {
            // Beyond the last page nothing was accessed.
            let page = self.pages.get(at / PAGE)?;
            if let Some(access) = self.look(at, &mut conflicts) {
                return Some((at * width, access));
            }
            at = if let Page::Same(_) = page { (at / PAGE + 1) * PAGE } else { at + 1 };
        }
        None
    }

    /// Records an access of a range, which may not have a conflict.
    pub(crate) fn add_range(
        &mut self,
        (offset, size): (usize, usize),
        len: usize,
        access: Access,
        known: impl Fn(u32) -> bool,
    ) {
        let granules = self.granules(offset, size, len);
        let mut at = granules.start;
        while at < granules.end {
            let number = at / PAGE;
            if number >= self.pages.len() {
                self.pages.resize_with(number + 1, Page::default);
            }
            let whole = at.is_multiple_of(PAGE) && at + PAGE <= granules.end;
            if let (true, Page::Same(cell)) = (whole, &mut self.pages[number]) {
                let mut new = *cell;
                if new.add(access, &known) == [None; 2] {
                    *cell = new;
                    at += PAGE;
                    continue;
                }
            }
            self.put(at, access, &known);
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(work: u32, write: bool) -> Access {
        Access { work, write, ..Access::default() }
    }

    #[test]
    fn reads_are_kept_until_a_write_that_knows_them() {
        let mut past = Past::default();
        past.add(3, false, access(1, true), |_| false);
        for work in [2, 3, 4] {
            assert_eq!(past.conflict(3, false, &access(work, false), |known| known == 1), None);
            past.add(3, false, access(work, false), |known| known == 1);
        }
        for missing in [2, 3, 4] {
            let found = past.conflict(3, false, &access(5, true), |known| known != missing);
            assert_eq!(found, Some(access(missing, false)));
        }
        past.add(3, false, access(5, true), |_| true);
        assert!(past.more.is_empty());
        assert_eq!(past.conflict(3, false, &access(6, false), |_| false), Some(access(5, true)));
    }

    #[test]
    fn atomics_do_not_conflict_with_each_other_but_with_the_rest() {
        let atomic = |work| Access { atomic: true, ..access(work, true) };
        let mut past = Past::default();
        for work in [1, 2, 3] {
            assert_eq!(past.conflict(0, false, &atomic(work), |_| false), None);
            past.add(0, false, atomic(work), |_| false);
        }
        for missing in [1, 2, 3] {
            let found = past.conflict(0, false, &access(9, false), |known| known != missing);
            assert_eq!(found, Some(atomic(missing)));
        }
    }

    #[test]
    fn ranges_meet_granules_of_words_and_of_bytes() {
        for (size, len) in [(40_000, 40_000), (12_345, 40_000), (4099, 4099)] {
            let mut past = Past::default();
            past.add_range((0, size), len, access(1, true), |_| false);
            let last = (size - 1) / 4;
            let unknown = |granule, bytes, past: &Past| {
                past.conflict(granule, bytes, &access(2, false), |_| false).is_some()
            };
            assert!(unknown(0, false, &past) && unknown(last, false, &past), "{size}");
            assert!(!unknown(last + 1, false, &past), "{size}");
            assert_eq!(past.range_conflict((size, 0), len, &access(2, true), |_| false), None);
            past.split();
            assert!(unknown(size - 1, true, &past), "{size}");
            let behind = past.range_conflict((size - 1, 1), len, &access(2, true), |_| false);
            assert_eq!(behind, Some((size - 1, access(1, true))));
            if size < len {
                assert!(!unknown(size, true, &past), "{size}");
                assert_eq!(past.range_conflict((size, 1), len, &access(2, true), |_| false), None);
            }
            past.add_range((0, size), len, access(3, true), |_| true);
            assert_eq!(past.range_conflict((0, len), len, &access(4, false), |known| known == 3), None);
        }
    }
}
