//! Border modes.

use gpu_stencil_kernels::border;

/// What a stencil reads outside its input, with SciPy's names and meanings.
///
/// | mode | left of the input | input | right of it | OpenCV |
/// | --- | ---: | :---: | :--- | --- |
/// | `Reflect` | `d c b a` | `a b c d` | `d c b a` | `BORDER_REFLECT` |
/// | `Mirror` | `d c b` | `a b c d` | `c b a` | `BORDER_REFLECT_101` |
/// | `Nearest` | `a a a a` | `a b c d` | `d d d d` | `BORDER_REPLICATE` |
/// | `Wrap` | `a b c d` | `a b c d` | `a b c d` | `BORDER_WRAP` |
/// | `Constant(k)` | `k k k k` | `a b c d` | `k k k k` | `BORDER_CONSTANT` |
/// | `Valid` | nothing is read there: only outputs whose neighbourhood lies in the input, so the output is smaller | | | |
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Border<T> {
    /// The input repeats, every second time backwards, its first and last element twice. SciPy's default.
    #[default]
    Reflect,
    /// The input repeats, every second time backwards, its first and last element once.
    Mirror,
    /// The first and the last element go on.
    Nearest,
    /// The input repeats.
    Wrap,
    /// This value is everywhere.
    Constant(T),
    /// Nothing is read outside: the output has only what depends on the input alone.
    Valid,
}

impl<T: Copy> Border<T> {
    /// The kernels' number of this mode, and the value outside (`zero` where there is none). [`Border::Valid`] never
    /// asks.
    pub(crate) fn code(self, zero: T) -> (u32, T) {
        match self {
            Self::Reflect => (border::REFLECT, zero),
            Self::Mirror => (border::MIRROR, zero),
            Self::Nearest => (border::NEAREST, zero),
            Self::Wrap => (border::WRAP, zero),
            Self::Constant(value) => (border::CONSTANT, value),
            Self::Valid => (border::CONSTANT, zero),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_border_carries_its_value() {
        assert_eq!(Border::Constant(7).code(0), (border::CONSTANT, 7));
        assert_eq!(Border::default().code(0), (border::REFLECT, 0));
    }
}
