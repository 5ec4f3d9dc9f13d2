//! Kernels whose time is predicted from what the simulator counts of them: every textbook variant of the workspace, and
//! the fast version beside them.

mod counting;
mod ready;

use std::fmt;

use gpu_linalg::variants::GemmVariant;
use gpu_model::literature::roofline::Demand;
use gpu_model::units::Bytes;
use gpu_stencil::variants::BlurVariant;

pub use counting::{Counted, Predicted, Simulated, side_by_side};
pub use ready::Ready;

use crate::products::{WAYS, Way};
use crate::transpositions::Transposition;
use crate::{reductions, scans};

/// An operation of the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A transposition of `f32`.
    Transpose(Transposition),
    /// A sum of `f64`.
    Sum(reductions::Summation),
    /// The fast sum of another type.
    SumOf(Element),
    /// Inclusive sums of `f32`.
    Scan(scans::Summation),
    /// A product of a matrix of [`COLUMNS`] columns and a vector, of `f32` or `f64`.
    Gemv(Way, Element),
    /// A product of two square matrices of `f32`.
    Product(GemmVariant),
    /// A Gaussian filter of this radius on `f32`.
    Blur(BlurVariant, u32),
}

/// A type of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Element {
    F32,
    F64,
    I32,
    U8,
}

impl Element {
    /// What the fast sum adds; sums of `f64` are [`Subject::Sum`].
    const SUMMED: [Self; 3] = [Self::F32, Self::I32, Self::U8];
    /// Of products with a vector.
    const MULTIPLIED: [Self; 2] = [Self::F32, Self::F64];

    fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::I32 => "i32",
            Self::U8 => "u8",
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::F64 => 8,
            Self::F32 | Self::I32 => 4,
            Self::U8 => 1,
        }
    }
}

/// Columns of the matrices that are multiplied with a vector, as the literature measured them.
pub const COLUMNS: usize = 2000;
/// Threads of a block there.
pub const THREADS: u32 = 192;
/// Radii of the Gaussian filters.
const RADII: [u32; 2] = [2, 5];
/// Their standard deviation: it changes values, not counts.
const SIGMA: f64 = 1.5;

impl Subject {
    /// All of them.
    pub fn all() -> Vec<Self> {
        let blurs = RADII
            .into_iter()
            .flat_map(|radius| BlurVariant::ALL.into_iter().map(move |variant| Self::Blur(variant, radius)));
        let transpositions = Transposition::all().into_iter().map(Self::Transpose);
        let sums = reductions::Summation::all().into_iter().map(Self::Sum);
        let sums = sums.chain(Element::SUMMED.map(Self::SumOf));
        let scans = scans::Summation::all().into_iter().map(Self::Scan);
        let gemvs = Element::MULTIPLIED
            .into_iter()
            .flat_map(|element| WAYS.into_iter().map(move |way| Self::Gemv(way, element)));
        let products = GemmVariant::ALL.into_iter().map(Self::Product);
        transpositions.chain(sums).chain(scans).chain(gemvs).chain(products).chain(blurs).collect()
    }

    /// Those that go by this name: one, as `transpose/naive_32`, or all of a kind, as `transpose`.
    ///
    /// # Errors
    /// The names there are.
    pub fn by_name(name: &str) -> Result<Vec<Self>, String> {
        let all = Self::all();
        let found: Vec<Self> =
            all.iter().copied().filter(|one| one.kind() == name || one.to_string() == name).collect();
        if found.is_empty() {
            let mut kinds: Vec<&str> = all.iter().map(|one| one.kind()).collect();
            kinds.dedup();
            let names: Vec<String> = all.iter().map(Self::to_string).collect();
            return Err(format!(
                "there is no `{name}`; there are {}, {}",
                kinds.join(", "),
                names.join(", ")
            ));
        }
        Ok(found)
    }

    /// `transpose`, `sum`, `sum_of`, `scan`, `gemv`, `product` or `blur`.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Transpose(_) => "transpose",
            Self::Sum(_) => "sum",
            Self::SumOf(_) => "sum_of",
            Self::Scan(_) => "scan",
            Self::Gemv(..) => "gemv",
            Self::Product(_) => "product",
            Self::Blur(..) => "blur",
        }
    }

    /// What it is one variant of: those of a family compute the same, so that one may take the place of another.
    pub fn family(self) -> String {
        match self {
            Self::SumOf(_) => self.to_string(),
            Self::Gemv(_, element) => format!("gemv of {}", element.name()),
            Self::Blur(_, radius) => format!("blur of radius {radius}"),
            _ => self.kind().to_owned(),
        }
    }

    /// The sizes of tables: rows and columns, rows of a matrix that is multiplied with a vector, or elements.
    pub fn sizes(self) -> &'static [usize] {
        match self {
            Self::Transpose(_) => &[1024, 2048, 4096],
            Self::Sum(_) | Self::SumOf(_) | Self::Scan(_) => &[1 << 20, 1 << 24],
            Self::Gemv(..) => &[4000, 20_000],
            Self::Product(_) => &[512, 1024, 2048],
            Self::Blur(..) => &[1024, 4096],
        }
    }

    /// How large it is if nobody says: the largest of the tables.
    pub fn usual_size(self) -> usize {
        self.sizes().iter().copied().max().unwrap_or(1)
    }

    /// What the work is proportional to, of blocks that grow in number.
    fn work(self, size: usize) -> f64 {
        match self {
            Self::Sum(_) | Self::SumOf(_) | Self::Scan(_) | Self::Gemv(..) => size as f64,
            Self::Transpose(_) | Self::Product(_) | Self::Blur(..) => (size as f64).powi(2),
        }
    }

    /// 32-bit operations that the variant does, where they are no sums alone; one of `f64` takes as long as two.
    fn operations(self, size: usize) -> f64 {
        match self {
            Self::Transpose(_) | Self::Sum(_) | Self::SumOf(_) | Self::Scan(_) => 0.0,
            Self::Gemv(_, element) => 2.0 * (element.bytes() / 4 * size * COLUMNS) as f64,
            Self::Product(_) => 2.0 * (size as f64).powi(3),
            Self::Blur(_, radius) => 2.0 * f64::from(2 * radius + 1).powi(2) * self.work(size),
        }
    }

    /// What any implementation has to compute, in 32-bit operations, and to read and write.
    pub fn demand(self, size: usize) -> Demand {
        let elements = self.work(size);
        let (operations, bytes) = match self {
            Self::Transpose(_) => (0.0, 8.0 * elements),
            // Additions of f64 are not 32-bit operations; that they are no limit is known from their number.
            Self::Sum(_) => (0.0, 8.0 * (elements + 1.0)),
            Self::SumOf(element) => (0.0, element.bytes() as f64 * (elements + 1.0)),
            Self::Scan(_) => (0.0, 8.0 * elements),
            Self::Gemv(_, element) => {
                let all = size * COLUMNS + size + COLUMNS;
                (self.operations(size), (element.bytes() * all) as f64)
            }
            Self::Product(_) => (self.operations(size), 12.0 * elements),
            Self::Blur(_, radius) => {
                // A Gaussian filter is separable: a row and a column of weights would do.
                (2.0 * 2.0 * f64::from(2 * radius + 1) * elements, 8.0 * elements)
            }
        };
        Demand { operations, bytes: vec![Bytes(bytes)] }
    }
}

/// Its name, with its kind.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind();
        match self {
            Self::Transpose(transposition) => write!(f, "{kind}/{transposition}"),
            Self::Sum(summation) => write!(f, "{kind}/{summation}"),
            Self::SumOf(element) => write!(f, "{kind}/{}", element.name()),
            Self::Scan(summation) => write!(f, "{kind}/{summation}"),
            Self::Gemv(way, element) => write!(f, "{kind}/{}_{}", way.name(), element.name()),
            Self::Product(GemmVariant::Naive) => write!(f, "{kind}/naive"),
            Self::Product(GemmVariant::Shared) => write!(f, "{kind}/shared"),
            Self::Product(_) => write!(f, "{kind}/registers"),
            Self::Blur(variant, radius) => write!(f, "{kind}/{}_{radius}", variant.name()),
        }
    }
}
