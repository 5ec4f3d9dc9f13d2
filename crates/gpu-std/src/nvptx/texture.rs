//! Reads of textures: `tex` with a handle in a register (unified mode).
//!
//! The level of detail is not computed from neighbouring lanes here, so lanes need not read together, and duplicating
//! or moving a read does no harm: `pure`, as nothing writes a texture while a kernel runs.

macro_rules! reads {
    ($name:ident, $type:literal, $register:ident) => {
        pub mod $name {
            use core::arch::asm;

            #[inline(always)]
            pub fn read_1d(texture: u64, x: f32) -> [$name; 4] {
                let (a, b, c, d): ($name, $name, $name, $name);
                // SAFETY: whoever made the texture vouched for the handle.
                unsafe {
                    asm!(concat!("tex.1d.v4.", $type, ".f32 {{{}, {}, {}, {}}}, [{}, {{{}}}];"),
                        out($register) a, out($register) b, out($register) c, out($register) d,
                        in(reg64) texture, in(reg32) x, options(pure, nomem, nostack, preserves_flags));
                }
                [a, b, c, d]
            }

            #[inline(always)]
            pub fn read_2d(texture: u64, x: f32, y: f32) -> [$name; 4] {
                let (a, b, c, d): ($name, $name, $name, $name);
                // SAFETY: as above.
                unsafe {
                    asm!(concat!("tex.2d.v4.", $type, ".f32 {{{}, {}, {}, {}}}, [{}, {{{}, {}}}];"),
                        out($register) a, out($register) b, out($register) c, out($register) d,
                        in(reg64) texture, in(reg32) x, in(reg32) y,
                        options(pure, nomem, nostack, preserves_flags));
                }
                [a, b, c, d]
            }

            #[inline(always)]
            pub fn read_3d(texture: u64, x: f32, y: f32, z: f32) -> [$name; 4] {
                let (a, b, c, d): ($name, $name, $name, $name);
                // Three coordinates are the first of four.
                // SAFETY: as above.
                unsafe {
                    asm!(concat!("tex.3d.v4.", $type, ".f32 {{{}, {}, {}, {}}}, [{}, {{{}, {}, {}, {}}}];"),
                        out($register) a, out($register) b, out($register) c, out($register) d,
                        in(reg64) texture, in(reg32) x, in(reg32) y, in(reg32) z, in(reg32) z,
                        options(pure, nomem, nostack, preserves_flags));
                }
                [a, b, c, d]
            }
        }
    };
}
reads!(f32, "f32", reg32);
reads!(u32, "u32", reg32);
