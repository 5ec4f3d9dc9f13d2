//! The calibration's launches: its only unsafe code. Each function checks that its arrays are long enough for what the
//! kernel touches with these arguments.

use gpu_calibrate_kernels as kernels;
use gpu_core::{Error, Result, Stream, View, ViewMut};
use gpu_std::launch::LaunchConfig;

/// A kernel that does nothing, by the number of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Empty {
    None,
    One,
    Three,
    Six,
    /// With one, and waiting for the kernel before by itself.
    Dependent,
}

fn long_enough(what: &'static str, expected: u64, actual: usize) -> Result<()> {
    let actual_words = actual as u64;
    if actual_words >= expected {
        return Ok(());
    }
    Err(Error::LengthMismatch { what, expected: usize::try_from(expected).unwrap_or(usize::MAX), actual })
}

/// With so many bytes of shared memory that are not used, to let fewer blocks be resident.
pub(super) fn empty(
    stream: &Stream,
    which: Empty,
    [blocks, threads]: [u32; 2],
    shared_bytes: u32,
) -> Result<()> {
    let config = LaunchConfig::linear(blocks, threads).shared(shared_bytes);
    // SAFETY: these kernels access no memory.
    unsafe {
        match which {
            Empty::None => kernels::calibrate_empty_0::launch(stream, config),
            Empty::One => kernels::calibrate_empty_1::launch(stream, config, 1),
            Empty::Three => kernels::calibrate_empty_3::launch(stream, config, 1, 2, 3),
            Empty::Six => kernels::calibrate_empty_6::launch(stream, config, 1, 2, 3, 4, 5, 6),
            Empty::Dependent => kernels::calibrate_dependent::launch(stream, config, 1),
        }
    }
}

/// A word each thread; `pass`: through shared memory, where `threads` is a power of two from 32 on that divides the
/// length.
pub(super) fn copy(
    stream: &Stream,
    pass: bool,
    threads: u32,
    input: View<'_, u32>,
    mut output: ViewMut<'_, u32>,
) -> Result<()> {
    let len = u32::try_from(input.len()).unwrap_or(u32::MAX);
    long_enough("output of a copy", len.into(), output.len())?;
    let config = LaunchConfig::linear(len.div_ceil(threads), threads);
    if pass {
        assert!(
            threads.is_power_of_two() && threads >= 32 && len.is_multiple_of(threads),
            "{threads}, {len}"
        );
        let config = config.shared(4 * threads);
        // SAFETY: a thread for each of `len` words, which both views hold; a word of shared memory a thread.
        return unsafe {
            kernels::calibrate_pass::launch(stream, config, input.as_global(), output.as_global_mut())
        };
    }
    // SAFETY: threads beyond `len` do nothing, and both views hold `len` words.
    unsafe { kernels::calibrate_copy::launch(stream, config, input.as_global(), output.as_global_mut(), len) }
}

/// `links` are indices below its length: the caller made them.
pub(super) fn chase(
    stream: &Stream,
    mut links: ViewMut<'_, u32>,
    mut cycles: ViewMut<'_, u64>,
    steps: u32,
    how: u32,
) -> Result<()> {
    long_enough("links of a chase", 1, links.len())?;
    long_enough("cycles of a chase", 2, cycles.len())?;
    let config = LaunchConfig::linear(1, 1);
    let (links, cycles) = (links.as_global_mut(), cycles.as_global_mut());
    // SAFETY: every link is an index below the length, as `Chain` makes them; two numbers are written.
    unsafe { kernels::calibrate_chase::launch(stream, config, links, cycles, 0, steps, how) }
}

pub(super) fn shared(
    stream: &Stream,
    [blocks, threads]: [u32; 2],
    mut cycles: ViewMut<'_, u64>,
    stride: u32,
    steps: u32,
) -> Result<()> {
    long_enough("cycles", blocks.into(), cycles.len())?;
    let config = LaunchConfig::linear(blocks, threads).shared(4 * (32 * stride).max(1));
    // SAFETY: a number for each block; lanes reach 31 · stride words of shared memory, which the launch has.
    unsafe { kernels::calibrate_shared::launch(stream, config, cycles.as_global_mut(), stride, steps) }
}

pub(super) fn barrier(stream: &Stream, threads: u32, mut cycles: ViewMut<'_, u64>, steps: u32) -> Result<()> {
    long_enough("cycles", 1, cycles.len())?;
    let config = LaunchConfig::linear(1, threads);
    // SAFETY: one number is written.
    unsafe { kernels::calibrate_barrier::launch(stream, config, cycles.as_global_mut(), steps) }
}

/// `mask` is a power of two of words less one.
pub(super) fn read(
    stream: &Stream,
    [blocks, threads]: [u32; 2],
    input: View<'_, u32>,
    mut output: ViewMut<'_, u32>,
    [apart, mask, turns]: [u32; 3],
) -> Result<()> {
    assert!(
        (u64::from(mask) + 1).is_power_of_two() && mask >= 3 && apart.is_multiple_of(4),
        "{mask} {apart}"
    );
    long_enough("input of a read", u64::from(mask) + 1, input.len())?;
    long_enough("output of a read", 1, output.len())?;
    let config = LaunchConfig::linear(blocks, threads);
    let (input, output) = (input.as_global(), output.as_global_mut());
    // SAFETY: groups of four words begin at multiples of four below `mask`, so they end within the view; at most one
    // word is written.
    unsafe { kernels::calibrate_read::launch(stream, config, input, output, apart, mask, turns) }
}

/// What goes over an array once, 16 bytes a thread and turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Once {
    Read,
    Write,
    Copy,
}

/// `input` and `output` are as long, a multiple of four words.
pub(super) fn once(
    stream: &Stream,
    which: Once,
    [blocks, threads]: [u32; 2],
    input: View<'_, u32>,
    mut output: ViewMut<'_, u32>,
) -> Result<()> {
    long_enough("output", input.len() as u64, output.len())?;
    let groups = u32::try_from(input.len() / 4).unwrap_or(u32::MAX);
    let config = LaunchConfig::linear(blocks, threads);
    let (input, output) = (input.as_global(), output.as_global_mut());
    // SAFETY: only groups below `groups` are touched, which both views hold; a read writes at most one word.
    unsafe {
        match which {
            Once::Read => kernels::calibrate_read_once::launch(stream, config, input, output, groups),
            Once::Write => kernels::calibrate_write::launch(stream, config, output, groups),
            Once::Copy => kernels::calibrate_copy_wide::launch(stream, config, input, output, groups),
        }
    }
}

/// All blocks in one window of `mask` + 1 words.
pub(super) fn gather(
    stream: &Stream,
    [blocks, threads]: [u32; 2],
    input: View<'_, u32>,
    mut cycles: ViewMut<'_, u64>,
    [stride, mask, steps]: [u32; 3],
) -> Result<()> {
    long_enough("input of a gather", u64::from(mask) + 1, input.len())?;
    long_enough("cycles", blocks.into(), cycles.len())?;
    let config = LaunchConfig::linear(blocks, threads);
    let (input, cycles) = (input.as_global(), cycles.as_global_mut());
    // SAFETY: indices are masked to the window, which the view holds; a number for each block.
    unsafe { kernels::calibrate_gather::launch(stream, config, input, cycles, 0, stride, mask, steps) }
}

/// A window of `mask` + 1 words for each block, whose warps fill lines together where `stride` is a line of 32 words,
/// and write other lines where it is less.
pub(super) fn scatter(
    stream: &Stream,
    [blocks, threads]: [u32; 2],
    mut output: ViewMut<'_, u32>,
    [stride, mask, steps]: [u32; 3],
) -> Result<()> {
    long_enough("output of a scatter", u64::from(blocks) * (u64::from(mask) + 1), output.len())?;
    let config = LaunchConfig::linear(blocks, threads);
    let output = output.as_global_mut();
    let [warps, turns] = if stride < 32 { [32 * stride, 1024 * stride] } else { [1, 1024] };
    // SAFETY: indices are masked to the block's window, all of which the view holds. No two threads of at most 1024
    // write one word, as long as the window has 1024 words for each of the stride below a line.
    unsafe {
        kernels::calibrate_scatter::launch(
            stream,
            config,
            output,
            mask + 1,
            stride,
            warps,
            turns,
            mask,
            steps,
        )
    }
}

pub(super) fn issue(
    stream: &Stream,
    [blocks, threads]: [u32; 2],
    mut cycles: ViewMut<'_, u64>,
    what: u32,
    turns: u32,
) -> Result<()> {
    long_enough("cycles", blocks.into(), cycles.len())?;
    let config = LaunchConfig::linear(blocks, threads);
    // SAFETY: a number for each block.
    unsafe { kernels::calibrate_issue::launch(stream, config, cycles.as_global_mut(), what, turns, 1) }
}

pub(super) fn branches(
    stream: &Stream,
    threads: u32,
    mut cycles: ViewMut<'_, u64>,
    branches: u32,
    steps: u32,
) -> Result<()> {
    long_enough("cycles", 1, cycles.len())?;
    let config = LaunchConfig::linear(1, threads);
    // SAFETY: one number is written.
    unsafe {
        kernels::calibrate_branches::launch(stream, config, cycles.as_global_mut(), branches, steps, 1e-30)
    }
}

/// Listing 5.2, or 5.3 where `merged`; an element a thread.
pub(super) fn divergence(
    stream: &Stream,
    merged: bool,
    threads: u32,
    mut values: ViewMut<'_, f32>,
) -> Result<()> {
    let len = u32::try_from(values.len()).unwrap_or(u32::MAX);
    let config = LaunchConfig::linear(len.div_ceil(threads), threads);
    let values = values.as_global_mut();
    // SAFETY: threads beyond `len` do nothing.
    unsafe {
        if merged {
            kernels::calibrate_merged::launch(stream, config, values, len)
        } else {
            kernels::calibrate_divergent::launch(stream, config, values, len)
        }
    }
}

/// How a sum of ones is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Adding {
    Register,
    Global,
    Atomic,
}

/// `times` additions of one thread, or, where they are atomic, each of so many threads adds once or more: `rounds`.
pub(super) fn add(
    stream: &Stream,
    how: Adding,
    mut output: ViewMut<'_, u32>,
    times: u32,
    rounds: u32,
) -> Result<()> {
    long_enough("output of a sum", 1, output.len())?;
    let one = LaunchConfig::linear(1, 1);
    let output = output.as_global_mut();
    // SAFETY: they access one word.
    unsafe {
        match how {
            Adding::Register => kernels::calibrate_add_register::launch(stream, one, output, times),
            Adding::Global => kernels::calibrate_add_global::launch(stream, one, output, times),
            Adding::Atomic => {
                kernels::calibrate_add_atomic::launch(stream, LaunchConfig::linear(1, times), output, rounds)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use gpu_core::Device;

    use super::*;

    /// What kernels compute, beside the clocks that they are for.
    #[test]
    fn what_the_kernels_compute() {
        let device = Device::simulator();
        let stream = device.default_stream();
        let values: Vec<u32> = (0..512).map(|index| index * 7 + 1).collect();
        let input = device.upload(&values).expect("memory");
        let mut output = device.zeroed::<u32>(512).expect("memory");
        copy(&stream, false, 100, input.view(), output.view_mut()).expect("a copy");
        assert_eq!(output.to_vec().expect("a copy"), values);
        copy(&stream, true, 128, input.view(), output.view_mut()).expect("a copy");
        let found = output.to_vec().expect("a copy");
        // Each block of 128 words is turned by 32.
        assert!((0..512).all(|at| found[at] == values[at / 128 * 128 + (at + 32) % 128]), "{found:?}");
        once(&stream, Once::Copy, [2, 64], input.view(), output.view_mut()).expect("a copy");
        assert_eq!(output.to_vec().expect("a copy"), values);
        once(&stream, Once::Write, [2, 64], input.view(), output.view_mut()).expect("zeros");
        assert!(output.to_vec().expect("zeros").iter().all(|&word| word == 0));
    }

    #[test]
    fn sums_and_branches() {
        let device = Device::simulator();
        let stream = device.default_stream();
        for (how, rounds, expected) in [
            (Adding::Register, 1, 96),
            (Adding::Global, 1, 96),
            (Adding::Atomic, 1, 96),
            (Adding::Atomic, 3, 288),
        ] {
            let mut output = device.zeroed::<u32>(1).expect("memory");
            add(&stream, how, output.view_mut(), 96, rounds).expect("a sum");
            assert_eq!(output.to_vec().expect("a sum"), [expected], "{how:?}");
        }
        // Of 100 elements of 0: 1 in the lower half of each warp and the root of the thread's number in the other; both.
        for (merged, both) in [(false, false), (true, true)] {
            let mut values = device.zeroed::<f32>(100).expect("memory");
            divergence(&stream, merged, 64, values.view_mut()).expect("it runs");
            for (at, value) in values.to_vec().expect("values").into_iter().enumerate() {
                let root = ((at % 64) as f32).sqrt();
                let expected = match (both, at % 32 < 16) {
                    (true, _) => 1.0 + root,
                    (false, true) => 1.0,
                    (false, false) => root,
                };
                assert_eq!(value, expected, "{merged} {at}");
            }
        }
        // 5 steps in a ring of 3 end at the third.
        let mut links = device.upload(&[1_u32, 2, 0]).expect("memory");
        let mut cycles = device.zeroed::<u64>(2).expect("memory");
        for how in [kernels::CHASE_CACHED, kernels::CHASE_VOLATILE, kernels::CHASE_ATOMIC] {
            chase(&stream, links.view_mut(), cycles.view_mut(), 5, how).expect("it runs");
            assert_eq!(cycles.to_vec().expect("an end")[1], 2, "{how}");
        }
    }

    #[test]
    fn arrays_that_are_too_short_are_refused() {
        let device = Device::simulator();
        let stream = device.default_stream();
        let input = device.zeroed::<u32>(64).expect("memory");
        let mut output = device.zeroed::<u32>(63).expect("memory");
        let error = copy(&stream, false, 32, input.view(), output.view_mut()).expect_err("it is short");
        assert!(matches!(error, Error::LengthMismatch { expected: 64, actual: 63, .. }), "{error}");
        let error = scatter(&stream, [2, 32], output.view_mut(), [32, 63, 1]).expect_err("it is short");
        assert!(matches!(error, Error::LengthMismatch { expected: 128, actual: 63, .. }), "{error}");
    }
}
