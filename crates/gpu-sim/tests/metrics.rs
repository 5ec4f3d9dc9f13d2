//! Metrics of small kernels whose accesses can be counted by hand.

use gpu_sim::device::{
    Box3, Load, Shuffle, Store, barrier, branch, fence_proxy, global_load, global_store, phase_arrive,
    phase_init, phase_wait, shared_load, shared_store, shuffle, tensor_load, thread_idx, warpgroup_read,
};
use gpu_sim::metrics::{Architecture, Bytes, Metrics};
use gpu_sim::{Config, Geometry, Kernel, Record, Report, Simulator};

fn simulator() -> Simulator {
    Simulator::new(Config { record: Record::Full, caches: Some(Architecture::H200), ..Config::default() })
}

fn launch(simulator: &Simulator, geometry: Geometry, body: impl Fn() + Sync) -> Report {
    let kernel = Kernel { name: "counted", file: file!(), line: line!() };
    simulator.launch(kernel, geometry, &body).unwrap()
}

/// Metrics of one warp that loads a word at `place(lane)` each.
fn pattern(place: impl Fn(u64) -> u64 + Sync) -> Metrics {
    let simulator = simulator();
    let data = simulator.alloc(1 << 16).unwrap();
    simulator.fill(data, 1 << 16, 0).unwrap();
    let report = launch(&simulator, Geometry::linear(1, 32, 0), || {
        global_load::<u32>(data + place(thread_idx()[0].into()), Load::Weak);
    });
    Metrics::new(&report)
}

#[test]
fn a_warp_moves_whole_sectors() {
    // Memory brings them in pairs.
    for (place, sectors, of_memory, efficiency) in [
        (&(|lane: u64| lane * 4) as &(dyn Fn(u64) -> u64 + Sync), 4, 4, 100.0),
        (&|lane| lane * 4 + 4, 5, 6, 80.0),
        (&|lane| lane * 8, 8, 8, 50.0),
        (&|lane| lane * 128, 32, 64, 12.5),
        (&|_| 0, 1, 2, 400.0),
    ] {
        let metrics = pattern(place);
        assert_eq!(metrics.gld_transactions, sectors);
        assert_eq!(metrics.gld_transactions_per_request, sectors as f64);
        assert_eq!(metrics.gld_efficiency, efficiency);
        assert_eq!(metrics.global_bytes(), Bytes { requested: 128, moved: sectors * 32 });
        let caches = metrics.caches.unwrap();
        assert_eq!((caches.l1_transactions, caches.dram_read_transactions), (sectors, of_memory));
    }
}

/// The tiles of the textbook: a row written, a column read, by square blocks.
#[test]
fn shared_efficiency_is_that_of_the_textbook() {
    for (block, pitch, efficiency) in
        [(16, 16, 200.0 / 9.0), (32, 32, 200.0 / 33.0), (16, 17, 50.0), (32, 33, 100.0)]
    {
        let geometry =
            Geometry { grid: [2, 1, 1], block: [block, block, 1], shared_bytes: block * pitch * 4 };
        let report = launch(&simulator(), geometry, || {
            let [x, y, _] = thread_idx();
            shared_store((y * pitch + x) * 4, x);
            barrier();
            shared_load::<u32>((x * pitch + y) * 4);
        });
        let metrics = Metrics::new(&report);
        assert!((metrics.shared_efficiency - efficiency).abs() < 1e-9, "{block} × {pitch}: {metrics:?}");
        assert_eq!((metrics.gld_efficiency, metrics.gst_efficiency), (0.0, 0.0), "of nothing");
        assert_eq!(u64::from(2 * block * block / 32), metrics.instructions.barriers);
    }
}

#[test]
fn branches_that_part_a_warp_diverge() {
    let report = launch(&simulator(), Geometry::linear(1, 64, 0), || {
        let thread = thread_idx()[0];
        branch(u32::from(thread < 32)); // parts no warp
        branch(u32::from(thread < 16)); // parts the first
    });
    let metrics = Metrics::new(&report);
    assert_eq!((metrics.divergent_branch, metrics.branch_efficiency), (1, 75.0));
    assert_eq!(metrics.instructions.control_approximate, 4);
}

#[test]
fn instructions_are_counted_a_warp() {
    let simulator = simulator();
    let data = simulator.alloc(96 * 4).unwrap();
    let report = launch(&simulator, Geometry::linear(1, 96, 0), || {
        let thread = thread_idx()[0];
        let (value, _) = shuffle(u32::MAX, Shuffle::Xor, thread, 1, 32);
        global_store(data + u64::from(thread) * 4, value, Store::Weak);
    });
    let instructions = Metrics::new(&report).instructions;
    assert_eq!(
        (instructions.communication, instructions.global_stores, instructions.ldst_executed()),
        (3, 3, 3)
    );
}

#[test]
fn a_time_makes_rates_of_bytes() {
    let metrics = pattern(|lane| lane * 128);
    let rates = metrics.rates(1e-6, Some(66_900), &Architecture::H200);
    assert_eq!(rates.gld_requested_throughput.round(), 128e6);
    assert_eq!(rates.gld_throughput.round(), 1024e6);
    assert_eq!(rates.gst_throughput, 0.0);
    assert!((rates.requested_utilization - 100.0 * 128e6 / 4800e9).abs() < 1e-9);
    assert!((rates.dram_utilization.unwrap() - 100.0 * 2048e6 / 4800e9).abs() < 1e-9);
    assert!((rates.flop_sp_efficiency.unwrap() - 0.1).abs() < 1e-9);
    assert_eq!(metrics.rates(1.0, None, &Architecture::H200).flop_sp_efficiency, None);
}

#[test]
fn several_launches_add_up_and_reports_are_taken_once() {
    let simulator = simulator();
    let data = simulator.alloc(128).unwrap();
    for _ in 0..3 {
        launch(&simulator, Geometry::linear(1, 32, 0), || {
            global_store(data + u64::from(thread_idx()[0]) * 4, 1u32, Store::Weak);
        });
    }
    let reports = simulator.take_reports();
    assert_eq!(reports.len(), 3);
    let metrics = Metrics::of_all(&reports);
    assert_eq!((metrics.gst_transactions, metrics.gst_efficiency), (12, 100.0));
    assert_eq!(metrics.caches.unwrap().dram_write_transactions, 12);
    assert_eq!(simulator.take_reports(), []);
    assert_eq!(simulator.last_report(), None);
}

/// Caches cost time, so they are modelled only where asked for.
#[test]
fn without_being_asked_there_are_no_caches() {
    let simulator = Simulator::new(Config { record: Record::Full, ..Config::default() });
    let report = launch(&simulator, Geometry::linear(1, 1, 0), || {});
    assert_eq!(report.caches, None);
    assert_eq!(Metrics::new(&report).branch_efficiency, 100.0);
}

/// A box of four rows of 128 bytes that begin in the middle of a sector: each row touches five of them, goes past the
/// first-level cache, and is a pass of shared memory. A warpgroup then reads
/// two tiles, and the bytes of the second are counted.
#[test]
fn boxes_and_their_products_are_counted() {
    let simulator = simulator();
    let data = simulator.alloc(1 << 16).unwrap();
    simulator.fill(data, 1 << 16, 0).unwrap();
    let tensor = Box3 {
        address: data + 16,
        element: 4,
        extents: [32, 16, 1],
        strides: [256, 4096],
        tile: [32, 4, 1],
        swizzled: false,
    };
    let report = launch(&simulator, Geometry::linear(1, 128, 2056), || {
        let first = thread_idx()[0] == 0;
        if first {
            phase_init(2048, 1);
            fence_proxy();
        }
        barrier();
        if first {
            phase_arrive(2048, 512);
            tensor_load(0, 2048, &tensor, [0; 3]);
        }
        phase_wait(2048, 0);
        warpgroup_read("wgmma", &[(0, 512), (0, 256)], &[], |_, _| Vec::new());
    });
    let copies = report.counts.box_copies;
    assert_eq!((copies.requests, copies.sectors, copies.wavefronts, copies.bytes), (4, 20, 4, 512));
    let traffic = report.caches.unwrap();
    assert_eq!((traffic.l1_loads, traffic.l2_reads, traffic.dram_reads), (0, 20, 24));
    let products = report.counts.warpgroup_matrices;
    assert_eq!((products.requests, products.bytes), (1, 256));
}
