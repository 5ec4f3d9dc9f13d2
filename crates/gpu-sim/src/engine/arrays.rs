//! Arrays of shared memory: where each begins and ends.
//!
//! A block's shared memory is one piece to the hardware, and what is one past the end of an array is the first
//! element of the next. An array's number in the upper bits of its addresses tells the simulator which one is meant:
//! an access that leaves it is a fault, wherever it arrives.

use super::{Caller, Engine};
use crate::fault::{Direction, FaultKind, Space};

/// Bits of an address that are the offset in the block's shared memory: more than any GPU has.
const OFFSET_BITS: u32 = 18;
pub(crate) const OFFSET_MASK: u32 = (1 << OFFSET_BITS) - 1;
/// The most arrays that the other bits number, from one.
const MOST: usize = (1 << (32 - OFFSET_BITS)) - 1;

/// The arrays of a launch, by number: each of its threads that makes one there makes the same one.
#[derive(Default)]
pub(crate) struct Arrays {
    /// Start and end.
    known: Vec<(u32, u32)>,
}

impl Arrays {
    fn number(&mut self, start: u32, end: u32) -> Option<u32> {
        let found = self.known.iter().position(|&known| known == (start, end));
        let index = match found {
            Some(index) => index,
            None if self.known.len() < MOST => {
                self.known.push((start, end));
                self.known.len() - 1
            }
            None => return None,
        };
        Some(index as u32 + 1)
    }
}

impl Engine {
    /// The address of the array of so many bytes at an offset. One of no bytes is the rest of the memory.
    pub(crate) fn shared_array(&mut self, start: u32, bytes: u32) -> u32 {
        let end = start.checked_add(bytes).filter(|&end| end <= OFFSET_MASK);
        // Memory that offsets cannot reach, and arrays that do not fit in it, are left to the bounds of the whole.
        let few = self.geometry.shared_bytes <= OFFSET_MASK;
        match end.filter(|_| bytes > 0 && few).and_then(|end| self.arrays.number(start, end)) {
            Some(number) => number << OFFSET_BITS | start,
            None => start,
        }
    }

    /// The offset of an access to shared memory, which lies inside the memory and its array.
    #[inline]
    pub(crate) fn shared_offset(
        &mut self,
        address: u32,
        size: usize,
        direction: Direction,
        caller: Caller,
    ) -> usize {
        let (number, mut offset) = (address >> OFFSET_BITS, address);
        if number != 0
            && let Some(&(start, end)) = self.arrays.known.get(number as usize - 1)
        {
            offset = address & OFFSET_MASK;
            if offset < start || offset as usize + size > end as usize {
                self.outside_array(offset, size, direction, (start, end), caller);
            }
        }
        if offset as usize + size > self.block().shared.len() {
            self.bad_offset(offset, size, direction, caller);
        }
        offset as usize
    }

    /// Ends the launch: an access outside the array whose address it has.
    #[cold]
    #[inline(never)]
    fn outside_array(
        &mut self,
        offset: u32,
        size: usize,
        direction: Direction,
        (start, end): (u32, u32),
        caller: Caller,
    ) -> ! {
        let kind = FaultKind::OutOfBounds {
            space: Space::Shared,
            direction,
            address: offset.into(),
            offset: i64::from(offset) - i64::from(start),
            bytes: size as u64,
            size: u64::from(end - start),
        };
        self.raise(kind, caller)
    }
}
