//! What the committed PTX must look like. `gpu-builder check` sees to the rest: no stack frame, no generic access,
//! and that the text is what the sources give.

use std::borrow::Cow;
use std::path::Path;

use gpu_reduce_kernels as reduce;
use gpu_reduce_kernels::variants as stages;
use gpu_std::launch::{Image, KernelMeta};
use gpu_transpose_kernels as transpose;
use gpu_transpose_kernels::variants;

/// The lines of every image of a kernel that contain `what`.
fn lines<'a>(kernel: &'a KernelMeta, what: &'a str) -> impl Iterator<Item = (u32, usize)> + 'a {
    assert!(!kernel.images.is_empty(), "{} has no PTX", kernel.name);
    kernel.images.iter().map(move |image| {
        (image.arch, text(kernel, image).lines().filter(|line| line.contains(what)).count())
    })
}

fn text(kernel: &KernelMeta, image: &Image) -> Cow<'static, str> {
    kernel.text(image).unwrap_or_else(|| panic!("the edits of {} for {} do not fit", kernel.name, image.arch))
}

#[track_caller]
fn count(kernel: &KernelMeta, what: &str, expected: usize) {
    for (arch, actual) in lines(kernel, what) {
        assert_eq!(actual, expected, "`{what}` in {} for sm_{arch}", kernel.name);
    }
}

const SUM: KernelMeta = reduce::sum_f32::META;
const TRANSPOSE: KernelMeta = transpose::transpose_b32::META;

#[test]
fn whole_tiles_are_read_16_bytes_at_a_time() {
    // Four for whole tiles, four for the last one.
    count(&SUM, "ld.global.nc.L1::no_allocate.v4", 8);
    for what in ["ld.global.nc.L1::no_allocate.v2.b64", "ld.global.nc.L1::no_allocate.v4.b32"] {
        // Numbers of whole tiles, words of the last one.
        count(&reduce::sum_f64::META, what, 4);
    }
    for kernel in [&reduce::sum_f16::META, &reduce::sum_bf16::META] {
        count(kernel, "ld.global.nc.L1::no_allocate.v4", 8);
    }
    // The result is rounded, where it is, once.
    count(&reduce::sum_f16::META, "cvt.rn.f16.f32", 1);
    count(&TRANSPOSE, "ld.global.nc.L1::no_allocate.v4", 4);
    count(&TRANSPOSE, "st.global.cs.v4", 4);
    count(&TRANSPOSE, "ld.shared.v2.b64", 4);
    count(&TRANSPOSE, "st.shared.v2.b64", 4);
}

/// The textbook's transpositions with a tile in shared memory.
const TILED: [KernelMeta; 6] = [
    variants::transpose_shared_16::META,
    variants::transpose_shared_32::META,
    variants::transpose_shared_stores_16::META,
    variants::transpose_shared_stores_32::META,
    variants::transpose_padded_16::META,
    variants::transpose_padded_32::META,
];

/// What the textbook variants are compared by: elements one at a time, and no hint to the caches.
#[test]
fn variants_access_plain_elements() {
    let plain = [variants::transpose_naive_gather::META, variants::transpose_naive_scatter::META];
    for kernel in plain.iter().chain(&TILED) {
        count(kernel, "ld.global.nc", 0);
        count(kernel, "st.global.cs", 0);
        count(kernel, ".global.v", 0);
    }
    for kernel in &TILED {
        count(kernel, "ld.shared.b32", 1);
        count(kernel, "st.shared.b32", 1);
    }
    for kernel in [&stages::sum_last_warp_f32::META, &stages::sum_last_warp_f64::META] {
        count(kernel, "ld.global.nc", 0);
        count(kernel, ".global.v", 0);
        count(kernel, ".shared.v", 0);
        // The unrolled end of a tree: six steps, each with one between loads and stores and one after.
        count(kernel, "bar.warp.sync", 6 * 2);
    }
    for kernel in [&stages::sum_final_global_f32::META, &stages::sum_final_global_f64::META] {
        // Each running sum in global memory is read and written every time: before the loop, in it, and in the tree.
        count(kernel, "st.volatile.global", 3);
        count(kernel, "ld.volatile.global", 4);
    }
}

/// The loads of a whole tile follow each other: no addition waits for one while another has not been asked for.
#[test]
fn loads_come_before_their_first_use() {
    for image in SUM.images {
        let ptx = text(&SUM, image);
        let wide: Vec<usize> =
            (0..).zip(ptx.lines()).filter(|(_, line)| line.contains(".v4")).map(|(at, _)| at).collect();
        let between = ptx.lines().skip(wide[0]).take(wide[3] - wide[0]);
        assert_eq!(between.filter(|line| line.contains("add.rn.f32")).count(), 0, "sm_{}", image.arch);
    }
}

/// A block's sum meets at one barrier, and that of the last block at the same one, in a second turn of a loop; the
/// tile of a transposition at one.
#[test]
fn barriers_are_neither_copied_nor_lost() {
    count(&SUM, "bar.sync", 1);
    count(&TRANSPOSE, "bar.sync", 1);
    for kernel in &TILED {
        count(kernel, "bar.sync", 1);
    }
}

#[test]
fn partial_sums_travel_in_marked_words_without_a_fence() {
    for kernel in [&SUM, &reduce::sum_f64::META, &reduce::minmax_f64::META] {
        count(kernel, "fence", 0);
        count(kernel, "membar", 0);
    }
    count(&SUM, "atom.", 1);
    for (arch, stores) in lines(&SUM, "st.relaxed.gpu.global.b64") {
        assert!(stores >= 1, "sm_{arch}");
    }
}

/// Images from 9.0 on wait for the kernel before; the others cannot, and gpu-core launches them plainly.
#[test]
fn only_images_for_hopper_wait_for_the_kernel_before() {
    for kernel in [&SUM, &TRANSPOSE] {
        for (arch, waits) in lines(kernel, "griddepcontrol.wait") {
            assert_eq!(waits, usize::from(arch >= 90), "{} for sm_{arch}", kernel.name);
        }
        for image in kernel.images.iter().filter(|image| image.arch >= 90) {
            let ptx = text(kernel, image);
            let wait = ptx.find("griddepcontrol.wait").expect("checked above");
            let first = ["ld.global", "st.global", "ld.relaxed", "st.relaxed", "atom."]
                .iter()
                .filter_map(|access| ptx.find(access))
                .min()
                .expect("a kernel accesses memory");
            assert!(wait < first, "{} for sm_{} accesses memory before it waits", kernel.name, image.arch);
        }
    }
}

/// By its version an image is chosen, before edits have a text: each file states it.
#[test]
fn images_state_their_version() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let crates = std::fs::read_dir(root.join("gpu-kernels")).unwrap().map(|entry| entry.unwrap().path());
    let mut files = 0;
    for folder in crates.chain([root.join("examples/operator/kernels")]).map(|path| path.join("ptx")) {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".ptx")) else {
                continue;
            };
            let arch = name.rsplit_once(".sm_").unwrap().1;
            let exact = arch.ends_with('a');
            let arch: u32 = arch.trim_end_matches('a').parse().unwrap();
            let image = Image { arch, exact, ptx: std::fs::read_to_string(&path).unwrap().leak() };
            let isa = image.isa().unwrap_or_else(|| panic!("{} states no version", path.display()));
            assert!(isa >= if arch >= 90 { 78 } else { 74 }, "{}: {isa}", path.display());
            files += 1;
        }
    }
    assert!(files > 1000, "{files} files");
}

/// A tensor map has more on the host than its entry takes.
#[test]
fn tensor_maps_are_passed_as_the_driver_made_them() {
    for kernel in [gpu_tensor_kernels::tensor_bf16_256::META, gpu_tensor_kernels::tensor_f16_128::META] {
        assert_eq!(kernel.parameters[..2], [128, 128], "{}", kernel.name);
        count(&kernel, "a0[128]", 1);
        count(&kernel, "a1[128]", 1);
    }
}
