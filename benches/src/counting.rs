//! One launch of a case in the simulator, for what it counts: models of performance are fed with that.
//!
//! A case is launched as it is for a measurement, so whatever can be measured can be counted.

use gpu_core::Device;

use crate::error::Error;
use crate::run::measure;
use crate::session::Session;
use crate::suite::{Case, Op, Shape, Typed};

/// Launches a case once and returns the bytes that it moves at least. On a simulated device its reports are then those
/// of this launch alone.
///
/// # Errors
/// Those of the device; [`Error::NoCase`] for a first result, which is a process of its own.
pub fn count(device: &Device, case: Case) -> Result<u64, Error> {
    if case.op == Op::FirstResult {
        return Err(Error::NoCase(vec![case.name()]));
    }
    let mut session = Session::counting(device)?;
    measure::case(&mut session, case).map(|(_, _, bytes)| bytes)
}

impl Case {
    /// The same case of about so many elements: of vectors as many, of matrices and arrays of about the same ratio of
    /// their sides. Powers of two stay such, other sides keep what they leave over multiples of 64: some kernels are
    /// chosen by that. None where it has as many elements or fewer itself.
    ///
    /// ```
    /// use gpu_benches::suite::{Case, Op, Shape, Type};
    /// let shape = Shape::Matrix { rows: 16384, cols: 4096 };
    /// let case = Case { op: Op::Transpose, element: Type::F32, shape };
    /// let small = case.shrunk(1 << 16).expect("it is larger");
    /// assert_eq!(small.shape, Shape::Matrix { rows: 512, cols: 128 });
    /// assert_eq!(small.shrunk(1 << 16), None);
    /// ```
    #[must_use]
    pub fn shrunk(self, elements: usize) -> Option<Self> {
        if self.elements() <= elements {
            return None;
        }
        let ratio = elements as f64 / self.elements() as f64;
        let side = |side: usize, power: f64| {
            let smaller = side as f64 * ratio.powf(power);
            let smaller = if side.is_power_of_two() {
                smaller.log2().round().max(0.0).exp2()
            } else if smaller >= 64.0 {
                (smaller / 64.0).round() * 64.0 + (side % 64) as f64
            } else {
                smaller.round()
            };
            (smaller as usize).clamp(1, side)
        };
        let shape = match self.shape {
            Shape::Vector(_) => Shape::Vector(elements),
            Shape::Segmented(_, lengths) => Shape::Segmented(elements, lengths),
            Shape::Filtered(_, taps) => Shape::Filtered(elements, taps),
            Shape::Cube(length) => Shape::Cube(side(length, 1.0 / 3.0)),
            // Pixels of three elements stay whole.
            Shape::Matrix { rows, cols } if matches!(self.op, Op::Gaussian5Rgb | Op::Filter3Rgb) => {
                Shape::Matrix { rows: side(rows, 0.5), cols: 3 * side(cols / 3, 0.5) }
            }
            Shape::Matrix { rows, cols } => Shape::Matrix { rows: side(rows, 0.5), cols: side(cols, 0.5) },
            Shape::Array(typed) if typed.is_matrix() => {
                let [a, b, rows, cols] = typed.extents;
                Shape::Array(Typed { extents: [a, b, side(rows, 0.5), side(cols, 0.5)], ..typed })
            }
            // The axes that are innermost before and after stay as long as tiles are: they say what is adjacent.
            Shape::Array(typed) => {
                let inner = [3, usize::from(typed.axes[3])];
                let kept = if inner[0] == inner[1] { 1 } else { 2 };
                let long: usize = if kept == 1 { 256 } else { 64 };
                let others = elements / long.pow(kept);
                let short = (others as f64).powf(1.0 / f64::from(4 - kept)).round().max(1.0) as usize;
                let mut extents = typed.extents;
                for (axis, extent) in extents.iter_mut().enumerate() {
                    *extent = (*extent).min(if inner.contains(&axis) { long } else { short });
                }
                Shape::Array(Typed { extents, ..typed })
            }
        };
        Some(Self { shape, ..self })
    }
}
