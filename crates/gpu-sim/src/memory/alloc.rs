//! Global memory: allocations named by the upper bits of their address.

use std::sync::Arc;

use super::Region;
use crate::fault::{Direction, FaultKind, Space};

/// Bits of an address that are the offset within an allocation.
const OFFSET_BITS: u32 = 40;
const OFFSET_MASK: u64 = (1 << OFFSET_BITS) - 1;
/// What numbers allocations: the 24 bits above the offset.
const NUMBERS: u64 = (1 << (64 - OFFSET_BITS)) - 1;
/// Allocations that they can number.
const MOST: usize = NUMBERS as usize - 1;

/// All allocations of a simulator. The n-th begins at address `(n + 1) << 40`, further on where its range does: an
/// offset runs off its own allocation long before it reaches another's.
#[derive(Default)]
pub(crate) struct Heap {
    /// Numbers before the first allocation's.
    first: u64,
    /// `None` once freed.
    regions: Vec<Option<Region>>,
    used: usize,
}

impl Heap {
    /// No allocations, the first of which will have this many numbers before it.
    pub(crate) fn new(first: u64) -> Self {
        Self { first: first % NUMBERS, ..Self::default() }
    }

    /// The allocation that an address has the number of. Number 0 is no allocation's.
    #[inline]
    fn index(&self, address: u64) -> usize {
        let number = (address >> OFFSET_BITS).wrapping_sub(1);
        // Numbers go round.
        let ahead = if number >= self.first { number } else { number.wrapping_add(NUMBERS) };
        ahead.wrapping_sub(self.first) as usize
    }

    /// `written`: the zeros that memory begins with count as written.
    pub(crate) fn alloc(&mut self, bytes: usize, limit: usize, written: bool) -> Result<u64, FaultKind> {
        // The limit can have been lowered since.
        let free = limit.saturating_sub(self.used);
        let none = FaultKind::OutOfMemory { asked: bytes as u64, free: free as u64, total: limit as u64 };
        if bytes > free || bytes as u64 > OFFSET_MASK >> 1 || self.regions.len() >= MOST {
            return Err(none);
        }
        let mut region = Region::new(bytes).ok_or(none)?;
        if written {
            region.mark_range(0, bytes);
        }
        self.regions.push(Some(region));
        self.used += bytes;
        let number = (self.first + self.regions.len() as u64 - 1) % NUMBERS;
        Ok((number + 1) << OFFSET_BITS)
    }

    pub(crate) fn free(&mut self, address: u64) -> Result<(), FaultKind> {
        let index = self.index(address);
        match self.regions.get_mut(index) {
            Some(slot) if address & OFFSET_MASK == 0 && slot.is_some() => {
                self.used -= slot.take().map_or(0, |region| region.len());
                Ok(())
            }
            _ => Err(FaultKind::InvalidFree { address }),
        }
    }

    /// The region and offset of an access that lies inside a live allocation.
    #[inline]
    pub(crate) fn locate(&mut self, address: u64, bytes: usize) -> Option<(&mut Region, usize)> {
        let index = self.index(address);
        let offset = (address & OFFSET_MASK) as usize;
        let region = self.regions.get_mut(index)?.as_mut()?;
        (bytes <= region.len().checked_sub(offset)?).then_some((region, offset))
    }

    /// The same of an access by a kernel, which reaches what it was given of an allocation, where that was said.
    #[inline]
    pub(crate) fn reach(&mut self, address: u64, bytes: usize) -> Option<(&mut Region, usize)> {
        self.locate(address, bytes).filter(|(region, offset)| region.gives(*offset, bytes))
    }

    /// The next kernel is given these addresses and bytes, of the allocations that they are in, and nothing else of those.
    pub(crate) fn lend(&mut self, views: &[(u64, usize)]) {
        for &(address, bytes) in views {
            if let Some((region, offset)) = self.locate(address, bytes) {
                region.views.push((offset, offset + bytes));
            }
        }
    }

    /// The kernel that was given them has ended.
    pub(crate) fn take_back(&mut self, views: &[(u64, usize)]) {
        for &(address, bytes) in views {
            if let Some((region, _)) = self.locate(address, bytes) {
                region.views.clear();
            }
        }
    }

    /// Why `locate` or `reach` found nothing.
    #[cold]
    pub(crate) fn explain(&self, address: u64, bytes: usize, direction: Direction) -> FaultKind {
        let bytes = bytes as u64;
        let index = self.index(address);
        let offset = address & OFFSET_MASK;
        // The upper half of an allocation's addresses is what negative indices of the next one reach.
        if offset > OFFSET_MASK >> 1
            && let Some(Some(next)) = self.regions.get(index.wrapping_add(1))
        {
            let offset = offset as i64 - (1 << OFFSET_BITS);
            let size = next.len() as u64;
            return FaultKind::OutOfBounds { space: Space::Global, direction, address, offset, bytes, size };
        }
        match self.regions.get(index) {
            None => FaultKind::WildAddress { direction, address, bytes },
            Some(None) => FaultKind::UseAfterFree { direction, address, bytes },
            Some(Some(region)) => {
                // Of the view that is most likely meant, where that is what it leaves.
                let inside = offset.checked_add(bytes).is_some_and(|end| end <= region.len() as u64);
                let (start, end) =
                    if inside { region.view_before(offset as usize) } else { (0, region.len()) };
                FaultKind::OutOfBounds {
                    space: Space::Global,
                    direction,
                    address,
                    offset: offset as i64 - start as i64,
                    bytes,
                    size: (end - start) as u64,
                }
            }
        }
    }

    /// Starts a launch: what earlier ones accessed is void, or that of the last one is kept aside.
    pub(crate) fn begin(&mut self, generation: u32, keep: bool) {
        for region in self.regions.iter_mut().flatten() {
            if keep {
                std::mem::swap(&mut region.shadow, &mut region.earlier);
            }
            region.shadow.begin(generation);
        }
    }

    /// Ends a launch: memory with unwritten bytes remembers which kernel could have written them.
    pub(crate) fn end(&mut self, kernel: &str) {
        let kernel: Arc<str> = kernel.into();
        self.regions.iter_mut().flatten().for_each(|region| region.end_launch(&kernel));
    }

    /// All allocations, with their addresses.
    pub(crate) fn regions(&mut self) -> impl Iterator<Item = (u64, &mut Region)> {
        let first = self.first;
        let address = move |index: usize| ((first + index as u64) % NUMBERS + 1) << OFFSET_BITS;
        self.regions
            .iter_mut()
            .enumerate()
            .filter_map(move |(index, region)| Some((address(index), region.as_mut()?)))
    }

    /// Shadow pages are kept between launches only up to a bound.
    pub(crate) fn trim_shadows(&mut self, bytes: usize) {
        let mut kept = 0;
        for region in self.regions.iter_mut().flatten() {
            for shadow in [&mut region.shadow, &mut region.earlier] {
                kept += shadow.bytes();
                if kept > bytes {
                    shadow.clear();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_round_and_zero_is_nobodys() {
        for first in [0, 1, 5 << 18, NUMBERS - 2, NUMBERS - 1, NUMBERS, NUMBERS + 3] {
            let mut heap = Heap::new(first);
            let addresses: Vec<u64> = (0..5).map(|_| heap.alloc(8, 100, false).unwrap()).collect();
            for (index, &address) in addresses.iter().enumerate() {
                assert!(address != 0 && address % (1 << OFFSET_BITS) == 0);
                assert_eq!(heap.index(address), index, "{first}");
                assert!(heap.locate(address, 8).is_some());
            }
            for wild in [
                0,
                7,
                addresses[0].wrapping_sub(1 << OFFSET_BITS),
                addresses[4].wrapping_add(1 << OFFSET_BITS),
            ] {
                assert!(heap.locate(wild, 1).is_none(), "{first} {wild:#x}");
            }
        }
    }
}
