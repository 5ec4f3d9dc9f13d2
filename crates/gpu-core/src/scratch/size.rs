//! How much scratch memory calls need.

use core::mem::size_of;

/// Parts and arrays begin at multiples of so many bytes, as allocations do.
const GRAIN: usize = 256;
/// A word of the memory.
pub(super) const WORD: usize = size_of::<u128>();

/// How much scratch memory calls need, by what it has to hold when they are made.
///
/// The functions named `…_scratch` give that of a primitive, [`ScratchSize::max`] that of several, one after the other.
///
/// ```
/// use gpu_core::ScratchSize;
/// let size = ScratchSize::new().zeros(10).array::<f32>(1000);
/// assert_eq!(size.bytes(), 256 + 4096);
/// assert_eq!(size.max(ScratchSize::new().array::<u8>(5000)).bytes(), 256 + 5120);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScratchSize {
    /// Words of 64 bits.
    pub(super) tickets: usize,
    /// Whether a launch knows only of its own tickets.
    pub(super) is_own: bool,
    /// Words of 64 bits.
    pub(super) zeros: usize,
    /// Bytes, a multiple of the grain.
    pub(super) rest: usize,
}

impl ScratchSize {
    /// Nothing.
    pub const fn new() -> Self {
        Self { tickets: 0, is_own: false, zeros: 0, rest: 0 }
    }

    /// With words of 64 bits that are zero before every launch and that every launch leaves so.
    #[must_use]
    pub const fn zeros(self, words: usize) -> Self {
        Self { zeros: words, ..self }
    }

    /// With words of 64 bits in which blocks meet as `gpu_collective::grid` says: zero at first, and left by every launch
    /// to the next one, of whatever kernel. The launch is told how many words there are,
    /// [`Parts::ticket_words`](crate::Parts::ticket_words): all of them have to be cleared when it has run 2^32 times.
    #[must_use]
    pub const fn tickets(self, words: usize) -> Self {
        Self { tickets: words, is_own: false, ..self }
    }

    /// As [`ScratchSize::tickets`] for a kernel that is not told how many words there are, and clears as many as it uses
    /// itself: where a launch before has used more, they are cleared in front of it.
    #[must_use]
    pub const fn own_tickets(self, words: usize) -> Self {
        Self { tickets: words, is_own: true, ..self }
    }

    /// With an array of `len` elements of any content, behind those so far.
    #[must_use]
    pub const fn array<T>(self, len: usize) -> Self {
        Self { rest: self.rest.saturating_add(grains(len.saturating_mul(size_of::<T>()))), ..self }
    }

    /// With what `other` has at the same time: its arrays lie behind those so far.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self { rest: self.rest.saturating_add(other.rest), ..self.max(other) }
    }

    /// Enough for both, one after the other.
    #[must_use]
    pub const fn max(self, other: Self) -> Self {
        const fn larger(a: usize, b: usize) -> usize {
            if a > b { a } else { b }
        }
        Self {
            tickets: larger(self.tickets, other.tickets),
            is_own: self.is_own && other.is_own,
            zeros: larger(self.zeros, other.zeros),
            rest: larger(self.rest, other.rest),
        }
    }

    /// Bytes in all: a multiple of 256.
    pub const fn bytes(self) -> usize {
        self.kept_bytes().saturating_add(self.rest)
    }

    /// As the length of a buffer of `u128`: see [`Scratch::from_buffer`](crate::Scratch::from_buffer).
    pub const fn words(self) -> usize {
        self.bytes().div_ceil(WORD)
    }

    /// Bytes of the tickets.
    pub(super) const fn ticket_bytes(self) -> usize {
        grains(self.tickets.saturating_mul(size_of::<u64>()))
    }

    /// Bytes of the tickets and of the zeros behind them.
    pub(super) const fn kept_bytes(self) -> usize {
        self.ticket_bytes().saturating_add(grains(self.zeros.saturating_mul(size_of::<u64>())))
    }

    /// Whether each part is as large as `other`'s.
    pub(super) const fn holds(self, other: Self) -> bool {
        self.tickets >= other.tickets && self.zeros >= other.zeros && self.rest >= other.rest
    }
}

/// As many bytes, up to the next multiple of the grain.
pub(super) const fn grains(bytes: usize) -> usize {
    bytes.div_ceil(GRAIN).saturating_mul(GRAIN)
}
