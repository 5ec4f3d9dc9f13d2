//! What the simulator counts of the textbook's correlations: where the filter is shows in the loads, and where the sum
//! is in the stores.

use gpu_core::Device;
use gpu_sim::metrics::{Architecture, Metrics};
use gpu_sim::{BlockOrder, Config, Record};
use gpu_stencil::signal::variants::{Memory, Staged, Sum};
use gpu_tests::data::floats;

/// Whole blocks of 256 outputs, and a filter that needs one piece of shared memory.
const OUTPUTS: usize = 1024;
const TAPS: usize = 48;
/// Warps.
const WARPS: u64 = OUTPUTS as u64 / 32;

fn count(memory: Memory, sum: Sum) -> Metrics {
    let device = Device::simulator_with(Config {
        record: Record::Full,
        caches: Some(Architecture::H200),
        block_order: BlockOrder::Ascending,
        vary_residency: false,
        ..Config::default()
    });
    let signal = device.upload(&floats(1, OUTPUTS + TAPS - 1)).unwrap();
    let (mut staging, mut output) = (device.alloc(TAPS).unwrap(), device.alloc(OUTPUTS).unwrap());
    let filter = Staged::new(memory, &floats(2, TAPS), &mut staging).unwrap();
    filter.correlate_into(&device.default_stream(), sum, &signal, &mut output).unwrap();
    Metrics::of_all(&device.as_simulator().unwrap().take_reports())
}

/// A warp's 32 elements of the signal are 4 sectors where they start at a multiple of 8 elements, and else 5; a tap for
/// all lanes is one.
#[test]
fn transactions_are_what_the_accesses_say() {
    let taps = TAPS as u64;
    let signal: u64 = (0..taps).map(|i| if i % 8 == 0 { 4 } else { 5 }).sum();
    for memory in Memory::ALL {
        for sum in [Sum::Output, Sum::Register] {
            let metrics = count(memory, sum);
            // The first store sets the output to 0; with the sum there every tap loads and stores it.
            let (loads, stores) = if sum == Sum::Output { (4 * taps, 4 * (taps + 1)) } else { (4, 8) };
            let filter = match memory {
                Memory::Global => WARPS * taps,
                Memory::Constant => 0,
                // Two of a block's warps copy the filter: 32 taps and 16.
                Memory::Shared => OUTPUTS as u64 / 256 * (4 + 2),
            };
            let context = format!("{memory:?}, {sum:?}");
            assert_eq!(metrics.gld_transactions, WARPS * (signal + loads) + filter, "{context}: loads");
            assert_eq!(metrics.gst_transactions, WARPS * stores, "{context}: stores");
            let shared = if memory == Memory::Shared { WARPS * taps } else { 0 };
            assert_eq!(metrics.shared_load_transactions, shared, "{context}: shared loads");
        }
    }
}

/// As the textbook found: the filter in global memory makes the most transactions of the L1, and all memories store
/// alike. That its L2 has more too is not so any more: taps and signal are in the L1 after their first use, whichever
/// memory has the filter.
#[test]
fn the_caches_see_the_filter_in_global_memory() {
    let [global, constant, shared] = Memory::ALL.map(|memory| count(memory, Sum::Register));
    assert!(global.gld_transactions > constant.gld_transactions);
    assert!(constant.gld_transactions < shared.gld_transactions);
    assert!(shared.gld_transactions < global.gld_transactions);
    assert_eq!(global.gst_transactions, constant.gst_transactions);
    assert_eq!(global.gst_transactions, shared.gst_transactions);
    let [global, constant, shared] = [global, constant, shared].map(|metrics| metrics.caches.unwrap());
    assert!(global.global_hit_rate > 90.0 && constant.global_hit_rate > 90.0, "{global:?} {constant:?}");
    assert!(
        global.l1_transactions > constant.l1_transactions && global.l1_transactions > shared.l1_transactions
    );
    assert!(global.l2_read_transactions < global.l1_transactions / 10);
}
