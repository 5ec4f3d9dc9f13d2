//! Simulated memory: bytes, which of them were written, and who touched them last.

pub(crate) mod alloc;
pub(crate) mod cell;
pub(crate) mod history;
pub(crate) mod past;
pub(crate) mod range;
pub(crate) mod runs;
pub(crate) mod shadow;
mod zeroed;

use std::sync::Arc;

use crate::device::Bytes;
use past::Past;
use shadow::Shadow;
use zeroed::Zeroed;

/// One allocation of global memory, or the shared memory of one block.
pub(crate) struct Region {
    data: Zeroed<u8>,
    /// What of it the running kernel was given, from where to where; none where that is not said.
    views: Vec<(usize, usize)>,
    /// One bit per byte; none when all bytes are written.
    written: Option<Zeroed<u64>>,
    /// The running kernel has written some of them.
    touched: bool,
    /// The last kernel that wrote here; as long as none has, the last one that ran.
    kernel: Option<Arc<str>>,
    /// Some kernel has written here.
    of_kernel: bool,
    pub(crate) shadow: Shadow,
    /// That of the launch before, while a programmatic one runs.
    pub(crate) earlier: Shadow,
    /// What earlier work on streams did here.
    pub(crate) past: Past,
}

impl Region {
    /// `len` never-written bytes, or `None` when the system has none left.
    pub(crate) fn new(len: usize) -> Option<Self> {
        let written = Some(Zeroed::new(len.div_ceil(64))?);
        let (data, shadow) = (Zeroed::new(len)?, Shadow::default());
        Some(Self {
            data,
            views: Vec::new(),
            written,
            touched: false,
            kernel: None,
            of_kernel: false,
            shadow,
            earlier: Shadow::default(),
            past: Past::default(),
        })
    }

    /// The kernel that could have written what is unwritten.
    pub(crate) fn kernel(&self) -> Option<&str> {
        self.kernel.as_deref()
    }

    /// A launch has ended.
    pub(super) fn end_launch(&mut self, kernel: &Arc<str>) {
        let touched = std::mem::take(&mut self.touched);
        if self.written.is_some() && (touched || !self.of_kernel) {
            self.kernel = Some(kernel.clone());
            self.of_kernel |= touched;
        }
    }

    /// Whether the running kernel was given these bytes, as far as that was said.
    #[inline]
    fn gives(&self, offset: usize, bytes: usize) -> bool {
        self.views.is_empty()
            || self.views.iter().any(|&(start, end)| start <= offset && offset + bytes <= end)
    }

    /// The last view that begins at an offset or before, else the first; all of it where there are none.
    fn view_before(&self, offset: usize) -> (usize, usize) {
        let before = self.views.iter().filter(|view| view.0 <= offset).max();
        before.or_else(|| self.views.iter().min()).copied().unwrap_or((0, self.len()))
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.data.len()
    }

    /// Forgets which bytes were written (shared memory of a new block).
    pub(crate) fn unwrite(&mut self) {
        self.holes(0).fill(0);
    }

    /// Which bytes are written, `full` in each word where all are.
    fn holes(&mut self, full: u64) -> &mut [u64] {
        let words = self.len().div_ceil(64);
        self.written.get_or_insert_with(|| {
            let mut written = Zeroed::new(words).expect("a 64th of the memory that there is already");
            written.fill(full);
            written
        })
    }

    /// Whether `size` bytes at `offset` are written; `size` is a power of two up to 16 and divides `offset`.
    #[inline]
    pub(crate) fn is_written(&self, offset: usize, size: usize) -> bool {
        match &self.written {
            None => true,
            Some(written) => {
                let mask = ((1u64 << size) - 1) << (offset % 64);
                written[offset / 64] & mask == mask
            }
        }
    }

    /// Marks bytes as written by the running kernel, under the same conditions.
    #[inline]
    pub(crate) fn mark_written(&mut self, offset: usize, size: usize) {
        if let Some(written) = &mut self.written {
            written[offset / 64] |= ((1u64 << size) - 1) << (offset % 64);
            self.touched = true;
        }
    }

    /// Whether a whole range is written; returns the first byte that is not.
    pub(crate) fn first_unwritten(&self, offset: usize, len: usize) -> Option<usize> {
        let written = self.written.as_deref()?;
        let mut at = offset;
        while at < offset + len {
            let word = written[at / 64];
            if at.is_multiple_of(64) && at + 64 <= offset + len && word == u64::MAX {
                at += 64;
                continue;
            }
            if word >> (at % 64) & 1 == 0 {
                return Some(at);
            }
            at += 1;
        }
        None
    }

    /// Marks a whole range as written.
    pub(crate) fn mark_range(&mut self, offset: usize, len: usize) {
        if offset == 0 && len == self.len() {
            self.written = None;
        }
        let Some(written) = &mut self.written else { return };
        let mut at = offset;
        while at < offset + len {
            if at.is_multiple_of(64) && at + 64 <= offset + len {
                written[at / 64] = u64::MAX;
                at += 64;
            } else {
                written[at / 64] |= 1 << (at % 64);
                at += 1;
            }
        }
    }

    /// Marks one byte as written or not.
    pub(crate) fn set_written(&mut self, offset: usize, written: bool) {
        if written && self.written.is_none() {
            return;
        }
        let word = &mut self.holes(u64::MAX)[offset / 64];
        *word = *word & !(1 << (offset % 64)) | u64::from(written) << (offset % 64);
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.data
    }

    /// The bytes, to change.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.data
    }

    /// Reads `size` bytes, a power of two up to 16, that lie inside.
    #[inline]
    pub(crate) fn read(&self, offset: usize, size: usize) -> Bytes {
        fn get<const N: usize>(from: &[u8]) -> [u8; N] {
            *from.first_chunk().expect("the slice has this length")
        }
        let from = &self.data[offset..offset + size];
        match size {
            1 => from[0].into(),
            2 => u16::from_ne_bytes(get(from)).into(),
            4 => u32::from_ne_bytes(get(from)).into(),
            8 => u64::from_ne_bytes(get(from)).into(),
            _ => u128::from_ne_bytes(get(from)),
        }
    }

    /// Writes the lowest `size` bytes, to where they lie inside, and says whether that changed one.
    #[inline]
    pub(crate) fn write(&mut self, offset: usize, size: usize, bytes: Bytes) -> bool {
        fn put<const N: usize>(target: &mut [u8], new: [u8; N]) -> bool {
            let target: &mut [u8; N] = target.first_chunk_mut().expect("the slice has this length");
            let changed = *target != new;
            *target = new;
            changed
        }
        let target = &mut self.data[offset..offset + size];
        match size {
            1 => put(target, [bytes as u8]),
            2 => put(target, (bytes as u16).to_ne_bytes()),
            4 => put(target, (bytes as u32).to_ne_bytes()),
            8 => put(target, (bytes as u64).to_ne_bytes()),
            _ => put(target, bytes.to_ne_bytes()),
        }
    }
}

/// Whether an offset is a multiple of the size of an access, a power of two. A division by what the compiler does not
/// know would take as long as the rest of the access.
#[inline]
pub(crate) fn aligned(offset: usize, size: usize) -> bool {
    offset & (size - 1) == 0
}

/// The bytes of a value, folded into 64 bits: to tell values apart, not to rebuild them.
#[inline]
pub(crate) fn fold(bits: Bytes) -> u64 {
    (bits as u64).rotate_left(23).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (bits >> 64) as u64
}
