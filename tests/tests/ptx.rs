//! What the committed PTX must look like. `gpu-builder check` sees to the rest: no stack frame, no generic access, and that
//! the text is what the sources give.

use gpu_kernels::modules;
use gpu_std::launch::Module;

/// The lines of every image of a module that contain `what`.
fn lines<'a>(module: &'a Module, what: &'a str) -> impl Iterator<Item = (u32, usize)> + 'a {
    module
        .images
        .iter()
        .map(move |image| (image.arch, image.ptx.lines().filter(|line| line.contains(what)).count()))
}

#[track_caller]
fn count(module: &Module, what: &str, expected: usize) {
    for (arch, actual) in lines(module, what) {
        assert_eq!(actual, expected, "`{what}` in {} for sm_{arch}", module.name);
    }
}

#[test]
fn whole_tiles_are_read_16_bytes_at_a_time() {
    // Four for whole tiles, four for the last one.
    count(&modules::REDUCE_F32, "ld.global.nc.L1::no_allocate.v4", 8);
    count(&modules::REDUCE_F64, "ld.global.nc.L1::no_allocate.v2.b64", 8);
    // Of both kernels of the module; one of them rounds its result, once.
    count(&modules::REDUCE_F16, "ld.global.nc.L1::no_allocate.v4", 16);
    count(&modules::REDUCE_BF16, "ld.global.nc.L1::no_allocate.v4", 16);
    count(&modules::REDUCE_F16, "cvt.rn.f16.f32", 1);
    count(&modules::TRANSPOSE_B32, "ld.global.nc.L1::no_allocate.v4", 4);
    count(&modules::TRANSPOSE_B32, "st.global.cs.v4", 4);
    count(&modules::TRANSPOSE_B32, "ld.shared.v2.b64", 4);
    count(&modules::TRANSPOSE_B32, "st.shared.v2.b64", 4);
}

/// What the textbook variants are compared by: elements one at a time, and no hint to the caches.
#[test]
fn variants_access_plain_elements() {
    count(&modules::TRANSPOSE_VARIANTS, "ld.global.nc", 0);
    count(&modules::TRANSPOSE_VARIANTS, "st.global.cs", 0);
    count(&modules::TRANSPOSE_VARIANTS, ".global.v", 0);
    count(&modules::TRANSPOSE_VARIANTS, "ld.shared.b32", 6);
    count(&modules::TRANSPOSE_VARIANTS, "st.shared.b32", 6);
    for module in [&modules::REDUCE_VARIANTS, &modules::REDUCE_VARIANTS_F32] {
        count(module, "ld.global.nc", 0);
        count(module, ".global.v", 0);
        count(module, ".shared.v", 0);
        // Each running sum in global memory is read and written every time: before the loop, in it, and in the tree.
        count(module, "st.volatile.global", 3);
        count(module, "ld.volatile.global", 4);
        // Four unrolled ends of a tree: six steps, each with one between loads and stores and one after.
        count(module, "bar.warp.sync", 4 * 6 * 2);
    }
}

/// The loads of a whole tile follow each other: no addition waits for one while another has not been asked for.
#[test]
fn loads_come_before_their_first_use() {
    for image in modules::REDUCE_F32.images {
        let wide: Vec<usize> =
            (0..).zip(image.ptx.lines()).filter(|(_, line)| line.contains(".v4")).map(|(at, _)| at).collect();
        let between = image.ptx.lines().skip(wide[0]).take(wide[3] - wide[0]);
        assert_eq!(between.filter(|line| line.contains("add.rn.f32")).count(), 0, "sm_{}", image.arch);
    }
}

/// A block's sum meets at one barrier, the last block's at one more; the tile of a transposition at one.
#[test]
fn barriers_are_neither_copied_nor_lost() {
    count(&modules::REDUCE_F32, "bar.sync", 2);
    count(&modules::TRANSPOSE_B32, "bar.sync", 1);
    // One for each of the six variants with a tile.
    count(&modules::TRANSPOSE_VARIANTS, "bar.sync", 6);
}

#[test]
fn partial_sums_travel_in_marked_words_without_a_fence() {
    for module in [&modules::REDUCE_F32, &modules::REDUCE_F64, &modules::REDUCE_EXTREMES_F64] {
        count(module, "fence", 0);
        count(module, "membar", 0);
    }
    count(&modules::REDUCE_F32, "atom.", 1);
    for (arch, stores) in lines(&modules::REDUCE_F32, "st.relaxed.gpu.global.b64") {
        assert!(stores >= 1, "sm_{arch}");
    }
}

/// Images from 9.0 on wait for the kernel before; the others cannot, and gpu-core launches them plainly.
#[test]
fn only_images_for_hopper_wait_for_the_kernel_before() {
    for module in [&modules::REDUCE_F32, &modules::TRANSPOSE_B32] {
        for (arch, waits) in lines(module, "griddepcontrol.wait") {
            assert_eq!(waits, usize::from(arch >= 90), "{} for sm_{arch}", module.name);
        }
        for image in module.images.iter().filter(|image| image.arch >= 90) {
            let wait = image.ptx.find("griddepcontrol.wait").expect("checked above");
            let first = ["ld.global", "st.global", "ld.relaxed", "st.relaxed", "atom."]
                .iter()
                .filter_map(|access| image.ptx.find(access))
                .min()
                .expect("a kernel accesses memory");
            assert!(wait < first, "{} for sm_{} accesses memory before it waits", module.name, image.arch);
        }
    }
}
