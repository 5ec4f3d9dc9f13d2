//! What a call has of scratch memory.

use core::mem::size_of;

use gpu_std::memory::GlobalMut;

use super::size::{WORD, grains};
use crate::element::Element;
use crate::view::ViewMut;

/// What a call has of scratch memory: see [`Scratch::lend`](crate::Scratch::lend).
pub struct Parts<'a> {
    /// See [`ScratchSize::tickets`](crate::ScratchSize::tickets).
    pub tickets: GlobalMut<u64>,
    /// How many of them there are, perhaps more than were asked for.
    pub ticket_words: u64,
    /// See [`ScratchSize::zeros`](crate::ScratchSize::zeros).
    pub zeros: GlobalMut<u64>,
    pub(super) rest: Option<ViewMut<'a, u128>>,
}

impl<'a> Parts<'a> {
    /// The next of the arrays that were asked for, of any content.
    ///
    /// # Panics
    /// Where there is no more room: it was not asked for ([`ScratchSize::array`](crate::ScratchSize::array)).
    #[track_caller]
    pub fn array<T: Element>(&mut self, len: usize) -> ViewMut<'a, T> {
        let words = grains(len * size_of::<T>()) / WORD;
        let rest = self.rest.take().expect("it is put back below");
        if words == 0 {
            // Not where the memory may end: another buffer may begin there.
            let device = rest.device();
            self.rest = Some(rest);
            // SAFETY: it has no bytes.
            return unsafe { ViewMut::from_parts(device, self.tickets.address(), 0) };
        }
        let (array, rest) = rest.try_split_at(words).unwrap_or_else(|error| panic!("{error}"));
        self.rest = Some(rest);
        array.cast().into_slice(..len)
    }
}
