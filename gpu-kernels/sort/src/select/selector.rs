//! What is kept, and where it goes.

use core::marker::PhantomData;

use gpu_std::memory::{Element, Global, GlobalMut};
use gpu_std::unroll;
use gpu_std::warp::{self, FULL, WarpShuffleValue, shuffle_idx};

/// Where items go.
#[derive(Clone, Copy)]
pub struct Kept<T: Element> {
    /// Those that are kept.
    pub selected: GlobalMut<T>,
    /// Those that are not, if they are wanted.
    pub rejected: GlobalMut<T>,
    /// Whether they are.
    pub partition: bool,
    /// How many are kept.
    pub count: GlobalMut<u64>,
}

/// The items of a thread: those at its place and 32, 64 and so on behind it.
///
/// In a tile that is full (`WHOLE`) they are all there. Else the tile's last item stands for those that are not.
#[derive(Clone, Copy)]
pub struct Rows {
    /// The number of the tile's first item.
    pub base: u64,
    /// The thread's place in the tile.
    pub first: u32,
    /// The tile's items.
    pub left: u32,
}

impl Rows {
    /// What belongs to the thread's item `row`, of an array that has an element for each item.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
    pub fn read<E: Element, const WHOLE: bool>(self, array: Global<E>, row: usize) -> E {
        let behind = 32 * row as u32;
        if WHOLE {
            // From the thread's first item on, so that the others are at constant distances: one address for all.
            array.offset(self.base + self.first as u64).read(behind)
        } else {
            // A condition would keep the loads apart.
            array.offset(self.base).read((self.first + behind).min(self.left - 1))
        }
    }

    /// The item before each of `items`, which are the thread's; of the array's first item, itself.
    ///
    /// Neighbours have it, but for that before the warp's first.
    #[inline(always)]
    fn before<T: WarpShuffleValue, const L: usize>(self, array: Global<T>, items: [T; L]) -> [T; L] {
        let lane = warp::lane_id();
        let of_warp = self.base + (self.first - lane).min(self.left - 1) as u64;
        let mut of_first_lane = array.offset(of_warp - (of_warp > 0) as u64).read(0);
        let mut before = items;
        unroll::<L>(|row| {
            let of_others = shuffle_idx(FULL, items[row], (lane + 31) % 32);
            before[row] = if lane == 0 { of_first_lane } else { of_others };
            // In lane 0 that is the last item of the row.
            of_first_lane = of_others;
        });
        before
    }
}

/// A rule that says which items are kept, and what of them.
pub trait Selector<T: Element>: Copy {
    /// Whether it keeps each of a thread's `items`, which are those of `array` that `rows` says; of items that are not
    /// there, anything. For whole warps.
    fn keeps<const L: usize, const WHOLE: bool>(
        self,
        array: Global<T>,
        rows: Rows,
        items: [T; L],
    ) -> [bool; L];

    /// Where the numbers of kept items go, if they are wanted.
    #[inline(always)]
    fn numbers(self) -> Option<GlobalMut<u64>> {
        None
    }
}

/// Items whose flag is not zero.
#[derive(Clone, Copy)]
pub struct Flags(
    /// One an item.
    pub Global<u8>,
);

impl<T: Element> Selector<T> for Flags {
    #[inline(always)]
    fn keeps<const L: usize, const WHOLE: bool>(self, _: Global<T>, rows: Rows, _: [T; L]) -> [bool; L] {
        let mut keeps = [false; L];
        unroll::<L>(|row| keeps[row] = rows.read::<u8, WHOLE>(self.0, row) != 0);
        keeps
    }
}

/// The first item, and those that differ from the one before: those at which runs of equal items start.
#[derive(Clone, Copy)]
pub struct Unique {
    /// Where their numbers go, if they are wanted.
    pub numbers: Option<GlobalMut<u64>>,
}

impl<T: WarpShuffleValue + PartialEq> Selector<T> for Unique {
    #[inline(always)]
    fn keeps<const L: usize, const WHOLE: bool>(
        self,
        array: Global<T>,
        rows: Rows,
        items: [T; L],
    ) -> [bool; L] {
        let before = rows.before(array, items);
        let mut keeps = [false; L];
        unroll::<L>(|row| keeps[row] = before[row] != items[row]);
        keeps[0] |= rows.base + rows.first as u64 == 0;
        keeps
    }

    #[inline(always)]
    fn numbers(self) -> Option<GlobalMut<u64>> {
        self.numbers
    }
}

/// A rule about items alone.
///
/// It runs on the GPU, in the simulator and on the CPU; it is pure.
pub trait Predicate: 'static {
    /// An item.
    type Item: Element;
    /// Its name in messages.
    const NAME: &'static str;
    /// Whether the item is kept.
    fn keep(item: Self::Item) -> bool;
}

/// A predicate as a selector.
pub(super) struct By<P>(PhantomData<fn() -> P>);

impl<P> By<P> {
    pub(super) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<P> Clone for By<P> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<P> Copy for By<P> {}

impl<P: Predicate> Selector<P::Item> for By<P> {
    #[inline(always)]
    fn keeps<const L: usize, const WHOLE: bool>(
        self,
        _: Global<P::Item>,
        _: Rows,
        items: [P::Item; L],
    ) -> [bool; L] {
        let mut keeps = [false; L];
        unroll::<L>(|row| keeps[row] = P::keep(items[row]));
        keeps
    }
}
