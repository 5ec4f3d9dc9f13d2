//! What `#[kernel]` and `#[device]` write around branches and loops.
//!
//! In the simulator they record which way each thread went, at the line of the branch, and count iterations so that no
//! loop can hang it. On the GPU they are nothing.

#[cfg(not(target_arch = "nvptx64"))]
use gpu_sim::device;

/// `if condition`, `while condition`.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn condition(condition: bool) -> bool {
    arm(u32::from(condition));
    condition
}

/// The arm that was taken: of a `match` counted from 0, of an `if let` 1 or 0.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn arm(_arm: u32) {
    #[cfg(not(target_arch = "nvptx64"))]
    device::branch(_arm);
}

/// Once an iteration.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn tick() {
    #[cfg(not(target_arch = "nvptx64"))]
    device::loop_tick();
}

/// A `for` loop's step: records whether it goes on.
#[inline(always)]
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
pub fn next<I: Iterator>(iterator: &mut I) -> Option<I::Item> {
    let item = iterator.next();
    arm(u32::from(item.is_some()));
    item
}
