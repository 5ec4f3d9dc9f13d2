//! Matrix operations of a warp: LLVM intrinsics, because lanes cooperate in them.

#[cfg(target_feature = "sm_90")]
#[inline(always)]
pub fn m16n8k16_f64(a: [f64; 8], b: [f64; 4], c: [f64; 4]) -> [f64; 4] {
    #[allow(improper_ctypes)]
    unsafe extern "unadjusted" {
        #[link_name = "llvm.nvvm.mma.m16n8k16.row.col.f64"]
        safe fn mma(
            a0: f64,
            a1: f64,
            a2: f64,
            a3: f64,
            a4: f64,
            a5: f64,
            a6: f64,
            a7: f64,
            b0: f64,
            b1: f64,
            b2: f64,
            b3: f64,
            c0: f64,
            c1: f64,
            c2: f64,
            c3: f64,
        ) -> (f64, f64, f64, f64);
    }
    let d = mma(
        a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], b[0], b[1], b[2], b[3], c[0], c[1], c[2], c[3],
    );
    [d.0, d.1, d.2, d.3]
}

#[cfg(not(target_feature = "sm_90"))]
#[inline(always)]
pub fn m16n8k16_f64(a: [f64; 8], b: [f64; 4], mut c: [f64; 4]) -> [f64; 4] {
    #[allow(improper_ctypes)]
    unsafe extern "unadjusted" {
        #[link_name = "llvm.nvvm.mma.m8n8k4.row.col.f64"]
        safe fn mma(a: f64, b: f64, c0: f64, c1: f64) -> (f64, f64);
    }
    // The fragments of the larger operation are those of the smaller ones, one after the other.
    crate::unroll::<4>(|k| {
        (c[0], c[1]) = mma(a[2 * k], b[k], c[0], c[1]);
        (c[2], c[3]) = mma(a[2 * k + 1], b[k], c[2], c[3]);
    });
    c
}
