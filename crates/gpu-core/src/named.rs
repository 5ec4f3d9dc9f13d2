//! Enumerations whose values have names, as those of the textbook's variants.

/// All values of an enumeration, their names, and the values of the names; with where the enumeration is, for an
/// example that tests that no two have one name.
///
/// ```
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// enum Variant {
///     Naive,
///     Shared,
/// }
/// gpu_core::named! {
///     Variant in "variants", "All of them, the slowest first.";
///     Naive = "naive",
///     Shared = "shared",
/// }
/// assert_eq!(Variant::ALL.map(Variant::name), ["naive", "shared"]);
/// assert_eq!(Variant::by_name("shared"), Some(Variant::Shared));
/// assert_eq!(Variant::by_name("fast"), None);
/// assert_eq!(format!("{:>8}", Variant::Naive), "   naive");
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! named {
    ($Type:ident in $path:literal, $all:literal; $($Value:ident = $name:literal),* $(,)?) => {
        impl $Type {
            #[doc = $all]
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$Value),*];

            /// What it is called.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Value => $name,)*
                }
            }

            /// The one of a name.
            ///
            /// ```
            #[doc = concat!("use ", $path, "::", stringify!($Type), " as All;")]
            /// for value in All::ALL {
            ///     assert_eq!(All::by_name(value.name()), Some(value));
            /// }
            /// assert_eq!(All::by_name("nothing"), None);
            /// ```
            pub fn by_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.name() == name)
            }
        }

        /// Its name.
        impl ::core::fmt::Display for $Type {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
