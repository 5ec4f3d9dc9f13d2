//! Calls: public functions of the workspace's crates on inputs of one size that no program times.
//!
//! They launch the kernels that no variant, case or shape of the benchmarks does: other operators and types, filters of
//! other widths, shapes for which a plan takes another kernel. Example `performance_model` predicts them. They are a
//! crate of their own as a kernel is compiled where it is used: these hundreds take longer than all of that example,
//! which is built without them again and again.

mod arrays;
mod factors;
mod filters;
mod linalg;
mod reduce;
mod scan;
mod sorts;
mod sparse;
mod stencils;

use std::error::Error;
use std::fmt;

use gpu_core::Device;
use gpu_std::half::{bf16, f16};

/// Elements of a usual call: more than the whole of a GPU takes at once.
const USUAL: usize = 1 << 24;

/// What a call does once its inputs are there, and where its results go.
pub type Run = Box<dyn FnMut() -> Result<(), Box<dyn Error>>>;

/// That, or why there is none.
pub type Prepared = Result<Run, Box<dyn Error>>;

/// Its inputs of so many elements on a device.
type Ready = dyn Fn(&Device, usize) -> Prepared + Send + Sync;

/// What is simulated of a call.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Elements; the smaller one has a quarter. Of images both have the sides' ratio of the whole.
    pub elements: usize,
    /// How many blocks are simulated of it, where they do not wait for each other; else all.
    pub sample: Option<u32>,
    /// Whether what a block takes depends on how many blocks there is room for: it is cut as the whole is on a device
    /// of as small a part of the multiprocessors.
    pub is_cut: bool,
    /// With what goes through single units, where a matrix operation of a warp is so many operations of 16 bits.
    pub units: Option<f64>,
}

impl Part {
    /// All blocks of so many elements.
    pub const fn all(elements: usize) -> Self {
        Self { elements, sample: None, is_cut: false, units: None }
    }

    /// So many blocks of a launch of so many elements.
    pub const fn sample(elements: usize, blocks: u32) -> Self {
        Self { sample: Some(blocks), ..Self::all(elements) }
    }

    /// As the whole is cut on a device of as small a part of the multiprocessors.
    #[must_use]
    pub const fn cut(self) -> Self {
        Self { is_cut: true, ..self }
    }
}

/// A public function of a crate on inputs of one size.
pub struct Call {
    /// As `--kernel` takes it: the function, what is special, the type.
    pub name: String,
    /// Elements of a usual one.
    pub size: usize,
    /// Bytes that any implementation moves, of an element.
    pub bytes: f64,
    /// Operations of 32 bits that it takes at least, of an element.
    pub operations: f64,
    /// What is simulated of it.
    pub part: Part,
    ready: Box<Ready>,
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("name", &self.name).field("size", &self.size).finish_non_exhaustive()
    }
}

/// There is one of each name.
impl PartialEq for Call {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Call {
    /// A call of the usual size.
    pub fn new(
        name: String,
        bytes: f64,
        part: Part,
        ready: impl Fn(&Device, usize) -> Prepared + Send + Sync + 'static,
    ) -> Self {
        Self { name, size: USUAL, bytes, operations: 0.0, part, ready: Box::new(ready) }
    }

    /// The same of so many elements, each of which takes so many operations.
    #[must_use]
    pub fn with(self, size: usize, operations: f64) -> Self {
        Self { size, operations, ..self }
    }

    /// Its inputs of so many elements on a device.
    ///
    /// # Errors
    /// Those of the device.
    pub fn ready(&self, device: &Device, elements: usize) -> Prepared {
        (self.ready)(device, elements)
    }
}

/// All of them.
pub fn all() -> Vec<Call> {
    let of_arrays = [reduce::all(), scan::all(), sorts::all(), arrays::all()];
    let others = [filters::all(), stencils::all(), linalg::all(), factors::all(), sparse::all()];
    of_arrays.into_iter().chain(others).flatten().collect()
}

/// A matrix of so many elements that is square, or has twice as many columns as rows.
pub fn sides(elements: usize) -> [usize; 2] {
    let columns = 1_usize << elements.ilog2().div_ceil(2);
    [elements / columns, columns]
}

/// Elements of inputs: no two neighbours are alike.
trait Sample: gpu_core::Element {
    /// One of these bits.
    fn of(bits: u32) -> Self;
}

macro_rules! samples {
    ($($t:ty: $of:expr;)*) => { $(
        impl Sample for $t {
            fn of(bits: u32) -> Self {
                $of(bits)
            }
        }
    )* };
}
// Of floats between -1/2 and 1/2.
samples! {
    f32: |bits: u32| (bits >> 8) as f32 / (1 << 24) as f32 - 0.5;
    f64: |bits: u32| f64::from(bits) / (1_u64 << 32) as f64 - 0.5;
    f16: |bits: u32| f16::from_f32(f32::of(bits));
    bf16: |bits: u32| bf16::from_f32(f32::of(bits));
    u8: |bits: u32| (bits >> 24) as u8;
    i8: |bits: u32| (bits >> 24) as i8;
    u16: |bits: u32| (bits >> 16) as u16;
    i16: |bits: u32| (bits >> 16) as i16;
    u32: |bits: u32| bits;
    i32: |bits: u32| bits as i32;
    u64: |bits: u32| u64::from(bits) << 32 | u64::from(bits);
    i64: |bits: u32| i64::from(bits) << 32 | i64::from(bits);
    u128: |bits: u32| u128::from(bits) << 96 | u128::from(bits);
}

/// 32 bits from an index: MurmurHash3's finaliser.
fn hash(index: usize) -> u32 {
    let mut hash = (index as u32).wrapping_mul(0x9e37_79b9);
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

/// So many of them.
fn samples<T: Sample>(len: usize) -> Vec<T> {
    (0..len).map(|index| T::of(hash(index))).collect()
}

/// `SumOfSquares` as `sum_of_squares`, and a type without spaces: of a type's text in a table.
pub fn snake(operator: &str, of: &str) -> [String; 2] {
    let mut name = String::new();
    // As the functions are called.
    let operator = operator.replace("MinMax", "Minmax").replace("ArgM", "Argm");
    for letter in operator.chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    // Sums of 16 bits are the same function's.
    let name = name.strip_prefix("half_").unwrap_or(&name).to_owned();
    [name, of.replace(' ', "")]
}
