//! Conversions of 16-bit floats: an instruction each (`cvt.f32.f16`, `cvt.rn.f16.f32`), but for narrowing to bf16,
//! which has one only from 8.0 on.

pub mod f16 {
    #[inline(always)]
    pub fn from_f32(value: f32) -> u16 {
        (value as f16).to_bits()
    }

    #[inline(always)]
    pub fn to_f32(bits: u16) -> f32 {
        f16::from_bits(bits) as f32
    }
}

pub mod bf16 {
    #[inline(always)]
    pub fn from_f32(value: f32) -> u16 {
        let bits = value.to_bits();
        let rounded = bits.wrapping_add(0x7fff).wrapping_add(bits >> 16 & 1);
        (if value.is_nan() { bits | 0x0040_0000 } else { rounded } >> 16) as u16
    }

    #[inline(always)]
    pub fn to_f32(bits: u16) -> f32 {
        f32::from_bits((bits as u32) << 16)
    }
}
