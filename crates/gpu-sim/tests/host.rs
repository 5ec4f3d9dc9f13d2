//! The host's side: memory, its faults, and simulators shared between OS threads.

mod common;

use common::*;
use gpu_sim::device::*;
use gpu_sim::{Config, FaultKind, Geometry, Kernel, Simulator};

#[test]
fn memory_is_copied_filled_and_checked() {
    let simulator = Simulator::new(Config { memory_limit: 1 << 20, ..Config::default() });
    let a = simulator.alloc(100).unwrap();
    assert_eq!(a, 1 << 40);
    let mut out = [0; 100];
    let fault = simulator.read(a, &mut out).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Unwritten { .. }), "{fault}");
    assert_eq!(fault.site.as_ref().unwrap().file, file!());
    simulator.fill(a, 100, 3).unwrap();
    simulator.write(a + 1, &[4, 5]).unwrap();
    simulator.read(a, &mut out).unwrap();
    assert_eq!(out[..4], [3, 4, 5, 3]);

    // A copy takes unwritten bytes along.
    let b = simulator.alloc(8).unwrap();
    simulator.write(b, &[9, 9, 9]).unwrap();
    simulator.copy(a, b, 8).unwrap();
    simulator.read(a, &mut out[..3]).unwrap();
    assert_eq!(out[..3], [9, 9, 9]);
    let fault = simulator.read(a, &mut out[..4]).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Unwritten { address, .. } if address == a + 3), "{fault}");

    assert!(matches!(
        simulator.write(a + 99, &[1, 2]).unwrap_err().kind,
        FaultKind::OutOfBounds { offset: 99, .. }
    ));
    assert!(matches!(simulator.free(a + 1).unwrap_err().kind, FaultKind::InvalidFree { .. }));
    simulator.free(a).unwrap();
    assert!(matches!(simulator.free(a).unwrap_err().kind, FaultKind::InvalidFree { .. }));
    assert!(matches!(simulator.read(a, &mut out).unwrap_err().kind, FaultKind::UseAfterFree { .. }));
    let fault = simulator.alloc(2 << 20).unwrap_err();
    assert_eq!(fault.kind, FaultKind::OutOfMemory { asked: 2 << 20, free: (1 << 20) - 8, total: 1 << 20 });
    assert_ne!(simulator.alloc(0).unwrap(), simulator.alloc(0).unwrap());
}

#[test]
fn a_read_of_unwritten_bytes_names_the_kernel_that_did_not_write_them() {
    let named = |name| Kernel { name, file: "kernels.rs", line: 7 };
    let simulator = Simulator::default();
    let run = |name, address: Option<u64>| {
        let kernel = || {
            if let Some(address) = address {
                global_store(address, 1u32, Store::Weak);
            }
        };
        simulator.launch(named(name), Geometry::linear(1, 1, 0), &kernel).unwrap();
    };
    let after = |address| {
        let fault = simulator.read(address, &mut [0; 8]).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::Unwritten { .. }), "{fault}");
        let kernel = fault.after.clone();
        assert!(
            fault
                .to_string()
                .ends_with(&kernel.as_ref().map_or("call".into(), |k| format!("after kernel {k}")))
        );
        kernel
    };
    run("before", None);
    let (x, y) = (simulator.alloc(8).unwrap(), simulator.alloc(8).unwrap());
    assert_eq!(after(x), None, "no kernel has run since");
    run("first", Some(x));
    run("second", None);
    assert_eq!(after(x).unwrap(), "`first` (kernels.rs:7)");
    assert_eq!(after(y).unwrap(), "`second` (kernels.rs:7)");
    run("third", Some(x));
    assert_eq!(after(x).unwrap(), "`third` (kernels.rs:7)");
    run("last", Some(x + 4));
    simulator.read(x, &mut [0; 8]).unwrap();
}

#[test]
fn blocks_beyond_the_launch_bounds_are_refused() {
    let simulator = Simulator::default();
    let launch =
        |threads| simulator.launch_bounded(KERNEL, 32, Geometry::linear(2, threads, 0), &|| ()).map(drop);
    launch(32).unwrap();
    let fault = launch(64).unwrap_err();
    let FaultKind::InvalidLaunch { what, asked: 64, limit: 32 } = fault.kind else { panic!("{fault}") };
    assert!(what.contains("launch bounds") && fault.kernel == NAME, "{fault}");
}

#[test]
fn simulators_are_shared_between_os_threads() {
    let simulator = Simulator::default();
    let counter = words(&simulator, &[0]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let simulator = simulator.clone();
            scope.spawn(move || {
                for _ in 0..10 {
                    let kernel = &|| {
                        barrier();
                        atomic_update(Space::Global, counter, Ordering::Relaxed, Scope::Device, |v: u32| {
                            Some(v + 1)
                        });
                    };
                    simulator.launch(KERNEL, Geometry::linear(4, 64, 0), kernel).unwrap();
                }
            });
        }
    });
    assert_eq!(read_words(&simulator, counter, 1), [4 * 10 * 256]);
}

#[test]
fn many_large_launches_at_once_share_the_stacks() {
    std::thread::scope(|scope| {
        for seed in 0..4 {
            scope.spawn(move || {
                let simulator = Simulator::new(Config { resident_blocks: 16, ..together(seed) });
                simulator.launch(KERNEL, Geometry::linear(32, 1024, 0), &barrier).unwrap();
            });
        }
    });
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = |seed| {
        let simulator = Simulator::new(varied(seed));
        let order = words(&simulator, &[0; 97]);
        let report = simulator
            .launch(KERNEL, Geometry::linear(12, 8, 0), &|| {
                let drawn =
                    atomic_update(Space::Global, order, Ordering::Relaxed, Scope::Device, |v: u32| {
                        Some(v + 1)
                    });
                global_store(
                    order + 4 + 4 * u64::from(drawn),
                    block_idx()[0] * 8 + thread_idx()[0],
                    Store::Weak,
                );
            })
            .unwrap();
        (report, read_words(&simulator, order, 97))
    };
    let mut orders = Vec::new();
    for seed in 0..20 {
        let first = run(seed);
        assert_eq!(run(seed), first, "seed {seed}");
        orders.push(first.1);
    }
    orders.sort();
    orders.dedup();
    assert_eq!(orders.len(), 20, "different seeds take different ways");
}

#[test]
#[should_panic(expected = "outside a kernel")]
fn device_functions_panic_outside_a_kernel() {
    thread_idx();
}

#[test]
fn without_recording_the_rest_is_still_checked() {
    let config = |seed| Config { record: gpu_sim::Record::Off, ..varied(seed) };
    for seed in 0..50 {
        let simulator = Simulator::new(config(seed));
        let x = words(&simulator, &[1; 64]);
        let sum = words(&simulator, &[0]);
        let run = |body: &(dyn Fn() + Sync)| simulator.launch(KERNEL, Geometry::linear(3, 64, 256), body);
        run(&|| {
            let tid = thread_idx()[0];
            shared_store(4 * tid, global_load::<u32>(x + 4 * u64::from(tid), Load::ReadOnly));
            barrier();
            let value = shared_load::<u32>(4 * (63 - tid)) + shuffle(!0, Shuffle::Xor, 1, 1, 32).0;
            fence(Ordering::AcqRel, Scope::Device);
            atomic_update(Space::Global, sum, Ordering::AcqRel, Scope::Device, |v: u32| Some(v + value));
        })
        .unwrap();
        assert_eq!(read_words(&simulator, sum, 1), [3 * 64 * 2]);
        let kind = |body: &(dyn Fn() + Sync)| run(body).unwrap_err().kind.clone();
        let tid = || thread_idx()[0];
        let out = kind(&|| {
            global_load::<u32>(x + 8 * u64::from(tid()), Load::Weak);
        });
        assert!(matches!(out, FaultKind::OutOfBounds { .. }), "{out}");
        let unwritten = kind(&|| {
            shared_load::<u32>(0);
        });
        assert!(matches!(unwritten, FaultKind::Unwritten { .. }), "{unwritten}");
        let divergent = kind(&|| {
            if tid() != 9 {
                barrier();
            }
        });
        assert!(matches!(divergent, FaultKind::BarrierDivergence { .. }), "{divergent}");
        let spinning = kind(&|| while tid() == 7 && global_load::<u32>(x, Load::Weak) == 1 {});
        assert!(matches!(spinning, FaultKind::Livelock { .. }), "{spinning}");
    }
}

#[test]
fn volatile_accesses_of_every_size_hand_over_values() {
    passes(|seed| {
        let simulator = Simulator::new(together(seed));
        let x = words(&simulator, &[0; 8]);
        simulator.launch(KERNEL, Geometry::linear(2, 1, 0), &|| {
            if block_idx()[0] == 0 {
                global_store(x, 1u8, Store::Volatile);
                global_store(x + 2, 2u16, Store::Volatile);
                global_store(x + 8, 3u64, Store::Volatile);
                global_store(x + 16, [4u32, 5, 6, 7], Store::Volatile);
            } else {
                while global_load::<u8>(x, Load::Volatile) != 1 {}
                while global_load::<u16>(x + 2, Load::Volatile) != 2 {}
                while global_load::<u64>(x + 8, Load::Volatile) != 3 {}
                while global_load::<[u32; 4]>(x + 16, Load::Volatile) != [4, 5, 6, 7] {}
            }
        })
    });
}

#[test]
fn an_address_of_another_simulator_is_of_no_use() {
    for seed in 0..50 {
        let (one, other) = (Simulator::new(varied(seed)), Simulator::new(varied(seed)));
        let (x, y) = (words(&one, &[1; 32]), words(&other, &[2; 32]));
        let run = |simulator: &Simulator, address| {
            simulator.launch(KERNEL, Geometry::linear(1, 32, 0), &|| {
                global_load::<u32>(address + 4 * u64::from(thread_idx()[0]), Load::Weak);
            })
        };
        for (simulator, own, foreign) in [(&one, x, y), (&other, y, x)] {
            run(simulator, own).unwrap();
            run(&simulator.clone(), own).unwrap();
            let fault = run(simulator, foreign).unwrap_err();
            assert!(
                matches!(fault.kind, FaultKind::WildAddress { address, .. } if address >= foreign),
                "{fault}"
            );
            assert!(matches!(
                simulator.read(foreign, &mut [0; 4]).unwrap_err().kind,
                FaultKind::WildAddress { .. }
            ));
            assert!(matches!(simulator.free(foreign).unwrap_err().kind, FaultKind::InvalidFree { .. }));
        }
        // The next one has the addresses of the one that is gone, also where another thread ends it.
        std::thread::scope(|scope| scope.spawn(move || drop(one)).join().unwrap());
        assert_eq!(words(&Simulator::default(), &[3]), x);
    }
}
