use super::*;

const LATENCY: Latency =
    Latency { single: Cycles(4.0), double: Cycles(8.0), exchange: Cycles(24.0), shared: Cycles(30.0) };

/// Two additions side by side take a cycle each; one that reads the other's result waits for it, and a store for
/// what is loaded and shuffled.
#[test]
fn a_warp_waits_for_its_registers() {
    let executed = [What::GlobalStore, What::SharedLoad].map(|what| ((what, 4), 1.0));
    let executed = [executed[0], executed[1], ((What::Shuffle, 0), 1.0)];
    let cycles = |text: &str| Text::of(text, LATENCY).executed(&executed, 1.0).cycles;
    let store = "st.global.b32 [a],b;";
    assert_eq!(cycles(&format!("add.s32 a,c,c;\nadd.s32 b,c,c;\n{store}")), 6.0);
    assert_eq!(cycles(&format!("add.s32 a,c,c;\nadd.s32 b,a,c;\n{store}")), 9.0);
    assert_eq!(cycles(&format!("ld.shared.b32 c,[p];\nshfl.sync.up.b32 b|q,c,1,0,-1;\n{store}")), 55.0);
    assert_eq!(cycles(&format!("add.f64 a,c,c;\nmov.b64 b,a;\n{store}")), 9.0);
    // A division by eight instructions, of doubles by fourteen.
    assert_eq!(cycles(&format!("div.rn.f32 b,c,c;\n{store}")), 1.0 + 8.0 * 4.0);
    assert_eq!(cycles(&format!("div.rn.f64 b,c,c;\n{store}")), 1.0 + 14.0 * 8.0);
    assert_eq!(cycles(&format!("div.approx.f32 b,c,c;\n{store}")), 5.0);
    // Of integers by 18 to 87.
    for (operation, count) in [("div.u32", 18.0), ("rem.s32", 24.0), ("rem.u64", 70.0), ("div.s64", 87.0)] {
        assert_eq!(cycles(&format!("{operation} b,c,c;\n{store}")), 1.0 + count * 4.0);
        let text = Text::of(&format!("{operation} b,c,c;\n{store}"), LATENCY);
        let found = text.executed(&executed, 1.0);
        assert_eq!((found.arithmetic, found.integers), (count, count), "{operation}");
    }
}

/// Both ways end in a store, but only one of them loads: what comes before them is executed by all 10 warps, though
/// the run behind it is not. In a loop of 40 turns the step that leads back is as often as the load, and what comes
/// before the loop once for each warp.
#[test]
fn what_leads_to_accesses_is_executed_as_often() {
    let ways = "add.s32 a,b,b;\n@p0 bra $1;\nld.global.b32 a,[d];\n$1:\nst.global.b32 [d],a;\nret;";
    let executed = [((What::GlobalLoad, 4), 0.0), ((What::GlobalStore, 4), 10.0)];
    let found = Text::of(ways, LATENCY).executed(&executed, 10.0);
    assert_eq!((found.arithmetic, found.control), (10.0, 20.0));
    let turns = "add.s32 a,b,b;\n$1:\n@p0 bra $2;\nld.shared.b32 a,[d];\nbra.uni $3;\n$2:\n\
        ld.global.b32 a,[d];\n$3:\nadd.s32 d,d,4;\n@p1 bra $1;\nst.global.b32 [d],a;\nret;";
    let executed =
        [((What::SharedLoad, 4), 0.0), ((What::GlobalLoad, 4), 400.0), ((What::GlobalStore, 4), 10.0)];
    let found = Text::of(turns, LATENCY).executed(&executed, 10.0);
    assert!((found.arithmetic - 410.0).abs() < 1e-6, "{found:?}");
    assert!(found.cycles_of_loops > 0.9 * found.cycles && found.cycles_of_loops < found.cycles, "{found:?}");
}

/// A loop of 100 turns that adds a word each waits 100 times; one that adds four at a time, 25 times.
#[test]
fn each_turn_of_a_loop_waits() {
    let turn = |loads: &[&str]| {
        let adds = loads.iter().map(|load| format!("ld.global.b32 {load},[d0];\nadd.s32 s,s,{load};\n"));
        format!("mov.b32 s,0;\n$1:\n{}@p0 bra $1;\nst.global.b32 [d1],s;", adds.collect::<String>())
    };
    let executed = [((What::GlobalLoad, 4), 100.0), ((What::GlobalStore, 4), 1.0)];
    let waits = |loads: &[&str]| Text::of(&turn(loads), LATENCY).executed(&executed, 1.0).waits;
    assert_eq!((waits(&["a"]), waits(&["a", "b", "c", "d"])), (100.0, 25.0));
}

/// The same loop by four turns at a time, and a turn at a time for what is left over: all of it is in the first. A
/// loop without the first is no such rest.
#[test]
fn what_an_unrolled_loop_leaves_over_is_nothing() {
    let four = "$1:\nld.global.b32 a,[d0];\nld.global.b32 b,[d0+4];\nld.global.b32 c,[d0+8];\n\
        ld.global.b32 d,[d0+12];\nadd.s32 s,a,b;\nadd.s32 s,s,c;\nadd.s32 s,s,d;\n@p0 bra $1;\n";
    let one =
        "$2:\n.pragma \"nounroll\";\nld.global.b32 e,[d0];\nadd.s32 s,s,e;\nadd.s32 i,i,1;\n@p1 bra $2;\n";
    let executed = [((What::GlobalLoad, 4), 100.0)];
    let found = |text: &str| Text::of(text, LATENCY).executed(&executed, 1.0);
    let both = found(&format!("{four}{one}"));
    assert_eq!(both.waits, 25.0);
    assert_eq!(found(one).waits, 100.0);
}

/// A load behind a guard, on a line with it: it counts, is waited for, and has a comparison before it.
#[test]
fn a_block_on_a_line_is_its_statements() {
    let block = "{.reg .pred p;setp.lt.u32 p,r1,r2;@p ld.global.nc.b32 r3,[d1];}";
    let lines = ".reg .pred p;\nsetp.lt.u32 p,r1,r2;\n@p ld.global.nc.b32 r3,[d1];";
    let executed = [((What::GlobalLoad, 4), 10.0), ((What::GlobalStore, 4), 10.0)];
    let found = |load: &str| {
        let text = format!("{load}\nadd.s32 r4,r3,1;\nst.global.b32 [d2],r4;");
        Text::of(&text, LATENCY).executed(&executed, 10.0)
    };
    assert_eq!(found(block), found(lines));
    assert_eq!((found(block).arithmetic, found(block).waits), (20.0, 10.0));
    // What stands in braces within a statement does not end it.
    assert_eq!(
        statements("{.reg .b32 t;mov.b64 {t,r1},d1;}").collect::<Vec<_>>(),
        [".reg .b32 t;", "mov.b64 {t,r1},d1;"]
    );
    assert_eq!(statements("add.s32 r0,r0,1;").collect::<Vec<_>>(), ["add.s32 r0,r0,1;"]);
}

#[test]
fn nothing_counted_is_nothing_computed() {
    let executed = [((What::GlobalStore, 4), 1.0)];
    let arithmetic = |text| Text::of(text, LATENCY).executed(&executed, 1.0).arithmetic;
    assert_eq!(arithmetic(""), 0.0);
    assert_eq!(arithmetic("add.s32 r0,r0,1;\nret;"), 0.0);
    assert_eq!(arithmetic("@!p1 st.global.b32 [r0],r1;\nadd.s32 r0,r0,1;"), 1.0);
}

#[test]
fn kinds_are_told_by_their_bytes() {
    let kind = |line: &str| {
        counted(&line.split([' ', ';']).next().unwrap().split(['.', ':']).collect::<Vec<_>>(), line)
    };
    for (line, expected) in [
        ("ld.global.nc.L1::no_allocate.v4.b32 {a,b,c,d},[p];", Some((What::GlobalLoad, 16))),
        ("st.global.cs.u8 [p],a;", Some((What::GlobalStore, 1))),
        ("ld.relaxed.gpu.global.b64 a,[p];", Some((What::GlobalAtomic, 8))),
        ("atom.relaxed.cta.shared.add.u32 a,[p],b;", Some((What::SharedAtomic, 4))),
        ("cp.async.cg.shared.global [a],[b],16;", Some((What::AsyncCopy, 16))),
        ("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {a,b,c,d},[p];", Some((What::SharedLoad, 16))),
        ("stmatrix.sync.aligned.m8n8.x4.shared.b16 [p],{a,b,c,d};", Some((What::SharedStore, 16))),
        ("bar.warp.sync 0xffffffff;", Some((What::Barrier, 1))),
        ("mad.lo.s32 a,b,c,d;", None),
    ] {
        assert_eq!(kind(line), expected, "{line}");
    }
}
