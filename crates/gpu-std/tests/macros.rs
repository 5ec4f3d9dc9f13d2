//! `#[kernel]` and `#[device]`: rewritten bodies mean what they meant, branches are recorded at the user's lines, and
//! the metadata is right.

mod support;

use gpu_std::prelude::*;
use support::{Array, block, simulator};

/// A bit of everything: what the rewriting touches, and what it has to leave alone.
#[device]
#[allow(clippy::redundant_pattern_matching, clippy::match_single_binding)]
fn control_flow(n: u32, maybe: Option<u32>) -> u32 {
    const TABLE: [u32; if true { 3 } else { 4 }] = [1, 2, 3];
    fn nested(x: u32) -> u32 {
        if x > 2 { x } else { 2 }
    }
    let mut total = 0;
    'outer: for (i, value) in TABLE.into_iter().enumerate() {
        for j in 0..n {
            if j == 5 {
                continue 'outer;
            } else if j > 6 {
                break 'outer;
            }
            total += value * j + i as u32;
        }
    }
    let mut rest = n;
    while rest > 3 {
        rest -= 2;
        if rest == 9 {
            continue;
        }
        total += nested(rest);
    }
    let mut stack = maybe;
    let counted = 'count: {
        while let Some(top) = stack {
            stack = top.checked_sub(1);
            if top == 100 {
                break 'count 0;
            }
            total += 1;
        }
        total
    };
    let from_loop = loop {
        total += 1;
        if total % 7 == 0 {
            break total;
        }
    };
    let chosen = match n % 5 {
        0 => 10,
        1 | 2 if total > 20 => 20,
        k @ 1..=3 => {
            let inner = |x: u32| if x > 1 { x * 2 } else { x };
            inner(k)
        }
        _ => return total,
    };
    if let Some(value) = maybe
        && value > 2
        && let Some(less) = value.checked_sub(3)
    {
        total += less;
    } else if let None = maybe {
        total += 1000;
    }
    if let Some(4) = maybe {
        total += 1;
    }
    let only = match total {
        x => x,
    };
    // SAFETY: any bits are a valid number.
    total += [if n > 1 { 1 } else { 0 }; 2][1] + unsafe { core::mem::zeroed::<u32>() };
    total + counted + from_loop + chosen + only
}

/// The same, untouched by any macro.
mod plain {
    // The text is the same by construction: a macro gives both.
    pub use super::untouched::control_flow;
}

mod untouched {
    pub fn control_flow(n: u32, maybe: Option<u32>) -> u32 {
        const TABLE: [u32; 3] = [1, 2, 3];
        let mut total = 0;
        'outer: for (i, value) in TABLE.into_iter().enumerate() {
            for j in 0..n {
                if j == 5 {
                    continue 'outer;
                } else if j > 6 {
                    break 'outer;
                }
                total += value * j + i as u32;
            }
        }
        let mut rest = n;
        while rest > 3 {
            rest -= 2;
            if rest == 9 {
                continue;
            }
            total += rest.max(2);
        }
        let mut stack = maybe;
        let counted = 'count: {
            while let Some(top) = stack {
                stack = top.checked_sub(1);
                if top == 100 {
                    break 'count 0;
                }
                total += 1;
            }
            total
        };
        let from_loop = loop {
            total += 1;
            if total % 7 == 0 {
                break total;
            }
        };
        let chosen = match n % 5 {
            0 => 10,
            1 | 2 if total > 20 => 20,
            k @ 1..=3 => {
                if k > 1 {
                    k * 2
                } else {
                    k
                }
            }
            _ => return total,
        };
        match maybe {
            Some(value) if value > 2 => total += value - 3,
            None => total += 1000,
            _ => {}
        }
        total += u32::from(maybe == Some(4)) + u32::from(n > 1);
        total + counted + from_loop + chosen + total - u32::from(n > 1)
    }
}

#[kernel]
fn all_control_flow(out: GlobalMut<u32>, maybe: u32) {
    let n = thread::index_1d();
    let maybe = if maybe == u32::MAX { None } else { Some(maybe) };
    out.write(n, control_flow(n, maybe));
}

#[test]
fn rewritten_bodies_mean_the_same() {
    let simulator = simulator(1);
    for maybe in [u32::MAX, 0, 2, 4, 17, 100, 103] {
        let out = Array::<u32>::zeroed(&simulator, 32);
        // SAFETY: one element a thread.
        unsafe { all_control_flow::launch(&simulator, block(32, 0), out.global_mut(), maybe) }.unwrap();
        for (n, value) in out.get().into_iter().enumerate() {
            let argument = (maybe != u32::MAX).then_some(maybe);
            assert_eq!(value, plain::control_flow(n as u32, argument), "n = {n}, {argument:?}");
        }
    }
}

/// One branch of each kind, on lines that the test knows relative to the kernel's first.
#[kernel]
#[rustfmt::skip]
fn recorded(out: GlobalMut<u32>) {
    let lane = thread::thread_idx_x();
    if lane < 16 { out.write(lane, 1); }
    for _ in 0..lane % 4 { out.write(lane, 2); }
    let mut i = 0;
    while i < lane { i += 9; }
    match lane { 0 => out.write(0, 5), 1 => out.write(1, 6), _ => {} }
    if let Some(half) = lane.checked_sub(20) { out.write(lane, half); }
    while let Some(more) = i.checked_sub(9) { i = more; }
    loop { i += 1; if i > lane { break; } }
}

#[test]
fn branches_are_recorded_where_the_user_wrote_them() {
    let simulator = simulator(1);
    let out = Array::<u32>::zeroed(&simulator, 32);
    // SAFETY: one element a thread.
    unsafe { recorded::launch(&simulator, block(32, 0), out.global_mut()) }.unwrap();
    let report = simulator.last_report().expect("it has run");
    let first = recorded::META.line;
    let lines: Vec<u32> = report
        .sites
        .iter()
        .filter(|site| site.operation == gpu_sim::Operation::Branch)
        .inspect(|site| assert!(site.site.file.ends_with("macros.rs"), "{}", site.site.file))
        .map(|site| site.site.line - first)
        .collect();
    // The line of the kernel's name is the first: `if`, `for`, `while`, `match`, `if let`, `while let`, `if`.
    let mut sorted = lines.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [2, 3, 5, 6, 7, 8, 9]);
    assert!(report.counts.branches.divergent > 0);
}

/// A kernel with every argument of the attribute, and documentation.
#[kernel(launch_bounds(THREADS, 2 + 2), prefix = test, programmatic)]
pub fn bounded(target: f32, config: GlobalMut<f32>) {
    config.write(thread::index_1d(), target);
}
const THREADS: u32 = 96;

/// Never run: only its metadata is looked at.
#[kernel]
#[allow(dead_code)]
fn nothing() {}

#[test]
fn metadata() {
    assert_eq!(bounded::META.name, "test_bounded");
    assert_eq!(bounded::META.parameters, [4, 8]);
    assert_eq!((bounded::META.max_threads, bounded::META.min_blocks), (96, 4));
    assert_eq!((bounded::META.programmatic, nothing::META.programmatic), (true, false));
    assert!(bounded::META.file.ends_with("macros.rs"));
    assert_eq!((nothing::META.max_threads, nothing::META.min_blocks), (1024, 0));
    assert_eq!(nothing::META.images.len(), 0);
}

/// The target of a launch sees the arguments' bytes in order.
#[test]
fn arguments_as_bytes() {
    use gpu_std::launch::{Invocation, LaunchConfig, LaunchTarget};
    struct Probe;
    // SAFETY: it runs nothing and returns an error.
    unsafe impl LaunchTarget for Probe {
        type Error = Vec<Vec<u8>>;
        unsafe fn launch(&self, invocation: &Invocation<'_>) -> Result<(), Self::Error> {
            assert_eq!(invocation.kernel.name, "test_bounded");
            // SAFETY: the invocation says how long each argument is.
            let bytes = |arg: &gpu_std::launch::Arg| unsafe {
                std::slice::from_raw_parts(arg.pointer.cast::<u8>(), arg.size).to_vec()
            };
            Err(invocation.args.iter().map(bytes).collect())
        }
    }
    // SAFETY: nothing is run.
    let seen = unsafe {
        bounded::launch(&Probe, LaunchConfig::linear(1, 1), 1.5, GlobalMut::from_raw(0x1234_5678_9abc_def0))
    };
    let expected = vec![1.5f32.to_ne_bytes().to_vec(), 0x1234_5678_9abc_def0u64.to_ne_bytes().to_vec()];
    assert_eq!(seen.unwrap_err(), expected);
}

/// Generic device code and methods.
struct Pair<T>(T, T);

trait Larger: Element {
    #[device]
    fn larger(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
}
impl<T: Element> Larger for T {}

impl<T: Larger> Pair<T> {
    #[device]
    fn largest(&self) -> T {
        self.0.larger(self.1)
    }

    #[device]
    const fn first(&self) -> &T {
        if size_of::<T>() > 0 { &self.0 } else { &self.1 }
    }
}

#[kernel]
fn generic(x: Global<i64>, mut y: GlobalMut<i64>) {
    let pair = Pair(x.read(0), x.read(1));
    y.write(0, pair.largest());
    y = y.offset(1);
    y.write(0, *pair.first());
}

#[test]
fn generic_device_functions() {
    let simulator = simulator(1);
    let x = Array::<i64>::new(&simulator, &[-5, 7]);
    let y = Array::<i64>::zeroed(&simulator, 2);
    // SAFETY: two elements each.
    unsafe { generic::launch(&simulator, block(1, 0), x.global(), y.global_mut()) }.unwrap();
    assert_eq!(y.get(), [7, -5]);
}

#[test]
fn unroll_runs_in_order() {
    let mut seen = Vec::new();
    gpu_std::unroll::<64>(|i| seen.push(i));
    assert_eq!(seen, (0..64).collect::<Vec<_>>());
    gpu_std::unroll::<0>(|_| unreachable!());
}

#[kernel(launch_bounds(32))]
fn one_warp(x: GlobalMut<u32>) {
    x.write(thread::thread_idx_x(), 1);
}

#[test]
fn blocks_beyond_the_launch_bounds_are_refused() {
    let simulator = simulator(1);
    let x = Array::<u32>::zeroed(&simulator, 64);
    // SAFETY: a word for every thread.
    let launch = |threads| unsafe { one_warp::launch(&simulator, block(threads, 0), x.global_mut()) };
    launch(32).unwrap();
    let fault = launch(64).unwrap_err();
    let gpu_sim::FaultKind::InvalidLaunch { what, asked: 64, limit: 32 } = fault.kind else {
        panic!("{fault}")
    };
    assert!(what.contains("launch bounds"), "{what}");
    assert_eq!(x.get()[32..], [0; 32]);
}

#[kernel(launch_bounds(32), programmatic)]
fn goes_first(x: GlobalMut<u32>, waits: u32) {
    if waits == 1 {
        thread::grid_dependency_synchronize();
    }
    x.write(thread::thread_idx_x(), waits);
}

#[test]
fn programmatic_kernels_are_launched_as_such() {
    for waits in [0, 1] {
        let simulator = simulator(1);
        let x = Array::<u32>::zeroed(&simulator, 32);
        // SAFETY: a word for every thread.
        let launch = |waits| unsafe { goes_first::launch(&simulator, block(32, 0), x.global_mut(), waits) };
        launch(1).unwrap();
        assert_eq!(launch(waits).is_ok(), waits == 1, "who does not wait races with the one before");
        assert!(simulator.take_reports().iter().all(|report| report.programmatic));
    }
}
