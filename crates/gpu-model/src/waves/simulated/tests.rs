use gpu_sim::device::{
    Load, Store, barrier, global_load, global_store, shared_load, shared_store, thread_idx,
};
use gpu_sim::{Geometry, Kernel, Simulator};
use gpu_std::half::bf16;
use gpu_std::mma::load_matrices;

use super::super::Waits;
use super::super::ptx::Latency;
use super::*;
use crate::device::Device;

const KERNEL: Kernel<'_> = Kernel { name: "counted", file: file!(), line: line!() };

/// A tile of 32 × 32 words by 1024 threads: rows are read and stored in shared memory, columns are loaded from
/// there and written by rows; then each word is stored once more, by columns.
///
/// 32 warps read a line each, of 4 sectors, and store 1 + 32 lines. Shared memory is stored in 32 passes and loaded
/// in 32 · 32, where 32 would do; 32 warps meet one barrier.
#[test]
fn a_tile() {
    let simulator = Simulator::new(config(Architecture::H200));
    let data = simulator.alloc(4096).expect("memory");
    simulator.fill(data, 4096, 0).expect("memory");
    let output = simulator.alloc(8192).expect("memory");
    let geometry = Geometry { grid: [1, 1, 1], block: [32, 32, 1], shared_bytes: 4096 };
    let report = simulator
        .launch(KERNEL, geometry, &|| {
            let [x, y, _] = thread_idx();
            let (row, column) = (u64::from(y * 32 + x) * 4, u64::from(x * 32 + y) * 4);
            shared_store(row as u32, global_load::<u32>(data + row, Load::Weak));
            barrier();
            let value: u32 = shared_load(column as u32);
            global_store(output + row, value, Store::Weak);
            global_store(output + 4096 + column, value, Store::Weak);
        })
        .expect("it is right");
    let counts = counts(&report).expect("all is recorded");
    assert_eq!((counts.blocks, counts.threads, counts.shared), (1, 1024, Bytes(4096.0)));
    assert_eq!((counts.sectors_read, counts.sectors_written), (128.0, 128.0 + 1024.0));
    assert_eq!((counts.lines, counts.lines_written), (32.0 + 32.0 + 1024.0, 32.0 + 1024.0));
    assert_eq!((counts.wavefronts, counts.wavefronts_without_conflicts), (1056.0, 64.0));
    assert_eq!((counts.memory_read, counts.memory_written), (Bytes(4096.0), Bytes(8192.0)));
    assert_eq!(counts.waits, Waits { memory: 1.0, l2: 0.0, shared: 1.0, ..Waits::default() });
    assert_eq!((counts.last, counts.chain), (Waits::default(), 0.0));
    assert_eq!((counts.instructions.memory, counts.instructions.synchronisation), (160.0, 32.0));
    assert_eq!(counts.check(), Ok(()));
}

/// A warp stores 512 bytes and loads them as four matrices, and as their transposes: an instruction and four passes
/// each, and nothing is shuffled. By the text as well, where a load of words, not executed, is another way.
#[test]
fn four_matrices_are_an_instruction() {
    let simulator = Simulator::new(config(Architecture::H200));
    let report = simulator
        .launch(KERNEL, Geometry::linear(1, 32, 512), &|| {
            let lane = thread_idx()[0];
            (0..4).for_each(|part| shared_store(128 * part + 4 * lane, lane));
            barrier();
            let tile = gpu_std::shared::dynamic().array::<bf16>(256);
            let plain = load_matrices::<bf16, false>(tile, 8 * lane);
            let transposed = load_matrices::<bf16, true>(tile, 8 * lane);
            assert_eq!(plain, [lane; 4]);
            assert_ne!(transposed, plain);
        })
        .expect("it is right");
    let text = "st.shared.b32 [a],b;\nbar.sync 0;\n@p0 bra $1;\nld.shared.b32 c,[a];\nadd.s32 c,c,c;\n$1:\n\
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {c,d,e,f},[a];\nadd.s32 d,d,e;\nret;";
    let latency = Latency::of(&Device::by_name("h200").expect("it is described")).expect("it is calibrated");
    let counts = counts_with(&report, &Text::of(text, latency)).expect("all is recorded");
    assert_eq!((counts.instructions.memory, counts.instructions.communication), (4.0 + 2.0, 0.0));
    assert_eq!((counts.wavefronts, counts.wavefronts_without_conflicts), (4.0 + 4.0 + 4.0, 12.0));
    assert_eq!(counts.instructions.arithmetic, 2.0);
}

/// A thread adds up 16 words, each of a line of its own, in a loop: one place, and by the text a wait in each turn.
/// Of a loop that loads four words at a time, one in each of four turns.
#[test]
fn each_turn_waits_as_the_text_says() {
    let simulator = Simulator::new(config(Architecture::H200));
    let data = simulator.alloc(16 * 128).expect("memory");
    simulator.fill(data, 16 * 128, 0).expect("memory");
    let geometry = Geometry::linear(1, 1, 0);
    let report = simulator
        .launch(KERNEL, geometry, &|| {
            let sum: u32 = (0..16).map(|line| global_load::<u32>(data + line * 128, Load::Weak)).sum();
            global_store(data, sum, Store::Weak);
        })
        .expect("it is right");
    assert_eq!(counts(&report).expect("all is recorded").waits.memory, 1.0);
    let latency = Latency::of(&Device::by_name("h200").expect("it is described")).expect("it was measured");
    let waits = |turn: &str| {
        let text = format!("$1:\n{turn}@p0 bra $1;\nst.global.b32 [d1],s;");
        counts_with(&report, &Text::of(&text, latency)).expect("all is recorded").waits
    };
    let one = waits("ld.global.b32 a,[d0];\nadd.s32 s,s,a;\n");
    assert_eq!((one.memory, one.l2, one.turns), (16.0, 0.0, 15.0));
    let four = waits(
        "ld.global.b32 a,[d0];\nld.global.b32 b,[d0+128];\nld.global.b32 c,[d0+256];\n\
         ld.global.b32 d,[d0+384];\nadd.s32 s,s,a;\nadd.s32 s,s,b;\nadd.s32 s,s,c;\nadd.s32 s,s,d;\n",
    );
    assert_eq!((four.memory, four.turns), (4.0, 3.0));
}

/// A quarter of the blocks counts as much as all where all do the same; what a warp waits for stays.
#[test]
fn a_sample_of_blocks_stands_for_all() {
    let found = [None, Some(4)].map(|sample| {
        let simulator = Simulator::new(Config { sample, ..config(Architecture::H200) });
        let data = simulator.alloc(16 * 128).expect("memory");
        simulator.fill(data, 16 * 128, 0).expect("memory");
        let body = || {
            let word = data + u64::from(gpu_sim::device::block_idx()[0] * 32 + thread_idx()[0]) * 4;
            global_store(word, global_load::<u32>(word, Load::Weak), Store::Weak);
        };
        let report = simulator.launch(KERNEL, Geometry::linear(16, 32, 0), &body).expect("it is right");
        assert_eq!(report.blocks, u64::from(sample.unwrap_or(16)));
        counts(&report).expect("all is recorded")
    });
    assert_eq!((found[0].sectors_read, found[0].lines, found[0].waits.memory), (64.0, 32.0, 1.0));
    assert_eq!(found[0], found[1]);
}

/// Block 0 does 9 times what the other 15 do. By 4 blocks, of which none is the first, it is missed; by
/// all it is not, and the difference is stated: 24 lines, where 4 of 1 line are 16.
#[test]
fn the_error_of_a_sample_is_stated() {
    let run = |sample, kernel, blocks| {
        let simulator = Simulator::new(Config { sample: Some(sample), ..config(Architecture::H200) });
        let data = simulator.alloc(blocks as usize * 9 * 128).expect("memory");
        let body = || {
            let block = gpu_sim::device::block_idx()[0];
            for line in 0..if block == 0 { 9 } else { 1 } {
                let word = data + u64::from((block * 9 + line) * 32 + thread_idx()[0]) * 4;
                global_store(word, line, Store::Weak);
            }
        };
        simulator.launch(kernel, Geometry::linear(blocks, 32, 0), &body).expect("it is right")
    };
    let (all, some) = (run(16, KERNEL, 16), run(4, KERNEL, 16));
    let found = sampled(&some, &all).expect("they are of one launch");
    assert_eq!((found.counts.lines, found.smaller.lines), (24.0, 16.0));
    assert_eq!((found.error, sampled(&all, &all).expect("all ran").error), (1.0 / 3.0, 0.0));
    // What cannot be compared.
    let other = Kernel { name: "other", ..KERNEL };
    let error = sampled(&all, &run(4, other, 16));
    assert!(matches!(error, Err(Error::OtherKernel { .. })), "{error:?}");
    for report in [&some, &run(4, KERNEL, 32)] {
        let error = sampled(report, &some);
        assert!(matches!(error, Err(Error::Contradiction { .. })), "{error:?}");
    }
}

#[test]
fn a_fill_writes_its_bytes() {
    let found = fill(1 << 20);
    assert_eq!((found.blocks, found.lines_written, found.memory_written), (128, 8192.0, Bytes(1048576.0)));
    assert_eq!((found.check(), fill(0).check()), (Ok(()), Ok(())));
}

#[test]
fn what_was_not_recorded_is_missed() {
    let simulator = Simulator::new(Config { record: Record::Full, ..Config::default() });
    let report = simulator.launch(KERNEL, Geometry::linear(1, 32, 0), &|| {}).expect("it does nothing");
    let error = counts(&report).expect_err("there are no caches");
    assert_eq!(error.to_string(), "kernel `counted` was simulated without a model of the caches");
}
