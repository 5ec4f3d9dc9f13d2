//! What an example runs: a textbook's variant, or the fast version.

use std::fmt;

/// The textbook variants of something.
pub trait Textbook: Copy {
    /// All of them, in the order in which they are shown.
    fn all() -> Vec<Self>;
    /// The one that goes by this name.
    fn by_name(name: &str) -> Option<Self>;
    /// Its name, another one for each.
    fn label(self) -> String;
}

/// A textbook's variant, or the fast version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice<V> {
    /// A textbook variant.
    Textbook(V),
    /// The crate's own.
    Fast,
}

impl<V: Textbook> Choice<V> {
    /// All of them, the fast one last.
    pub fn all() -> Vec<Self> {
        V::all().into_iter().map(Self::Textbook).chain([Self::Fast]).collect()
    }

    /// By name: `fast`, or that of a variant.
    ///
    /// # Errors
    /// The names there are.
    pub fn by_name(name: &str) -> Result<Self, String> {
        if name == "fast" {
            return Ok(Self::Fast);
        }
        V::by_name(name).map(Self::Textbook).ok_or_else(|| {
            let names: Vec<String> = Self::all().iter().map(Self::to_string).collect();
            format!("there is no `{name}`; there are {}", names.join(", "))
        })
    }
}

/// Its name.
impl<V: Textbook> fmt::Display for Choice<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Textbook(variant) => f.pad(&variant.label()),
            Self::Fast => f.pad("fast"),
        }
    }
}
