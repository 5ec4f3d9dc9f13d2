//! What can be wrong with a description, a launch or a parameter, with the field and what stands there.

/// The result of everything that can fail here.
pub type Result<T> = core::result::Result<T, Error>;

/// What can be wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No device has this name.
    #[error("there is no device `{asked}`; there are {known}")]
    UnknownDevice {
        /// The name that was asked for.
        asked: String,
        /// Those that there are.
        known: String,
    },

    /// A description is not TOML.
    #[error("line {line}: {why}")]
    Syntax {
        /// Where, counted from 1.
        line: usize,
        /// What the parser says.
        why: String,
    },

    /// A description lacks a field.
    #[error("line {line}: `{field}` is missing")]
    MissingField {
        /// The field with its section, as in `memory.bandwidth`.
        field: String,
        /// The line of the section's heading; 1 for fields above all sections.
        line: usize,
    },

    /// A description has a field that means nothing.
    #[error("line {line}: `{field}` is no field of a device")]
    UnknownField {
        /// The field with its section.
        field: String,
        /// Where it stands.
        line: usize,
    },

    /// A value has another unit than its field, none at all, or is no number.
    #[error("line {line}: `{field}` is `{found}`, but has to be {expected}")]
    WrongUnit {
        /// The field with its section.
        field: String,
        /// Where it stands.
        line: usize,
        /// What stands there.
        found: String,
        /// What could.
        expected: String,
    },

    /// A value in a description is zero, negative or not finite.
    #[error("line {line}: `{field}` is {value}, but has to be positive and finite")]
    NotPositiveAt {
        /// The field with its section.
        field: String,
        /// Where it stands.
        line: usize,
        /// The value, in the unit that stands there.
        value: f64,
    },

    /// A parameter of a model is zero, negative or not finite.
    #[error("`{field}` is {value}, but has to be positive and finite")]
    NotPositive {
        /// The parameter.
        field: &'static str,
        /// Its value.
        value: f64,
    },

    /// A count of a model is negative or not finite.
    #[error("`{field}` is {value}, but has to be zero or more, and finite")]
    Negative {
        /// The parameter.
        field: &'static str,
        /// Its value.
        value: f64,
    },

    /// A part of a whole is not between zero and one.
    #[error("`{field}` is {value}, but has to be from 0 to 1")]
    NotAFraction {
        /// The parameter.
        field: &'static str,
        /// Its value.
        value: f64,
    },

    /// A launch asks for more than the device takes.
    #[error("`{field}` is {asked}, but {device} takes at most {limit}")]
    OverLimit {
        /// What is asked for.
        field: &'static str,
        /// How much of it.
        asked: f64,
        /// The device.
        device: String,
        /// How much it takes.
        limit: f64,
    },

    /// Two parameters contradict each other.
    #[error("`{field}` is {value}, which contradicts `{other}`, which is {other_value}")]
    Contradiction {
        /// One of them.
        field: &'static str,
        /// Its value.
        value: f64,
        /// The other.
        other: &'static str,
        /// Its value.
        other_value: f64,
    },

    /// Two values in a description contradict each other.
    #[error("line {line}: `{field}` is {value}, which contradicts `{other}`, which is {other_value}")]
    ContradictionAt {
        /// One of them, with its section.
        field: String,
        /// Where it stands.
        line: usize,
        /// Its value, in the base unit.
        value: f64,
        /// The other, with its section.
        other: String,
        /// Its value.
        other_value: f64,
    },

    /// A model needs a constant that no source gives for the device.
    #[error("the description of {device} has no `{field}`, which the model needs")]
    NotGiven {
        /// The device.
        device: String,
        /// The section or field.
        field: &'static str,
    },

    /// Processors access one cell at a time where the model forbids it.
    #[error("step {step}: {contention} processors {access} one cell, which {model} forbids")]
    Forbidden {
        /// The model, as in `EREW`.
        model: &'static str,
        /// The step, counted from 0.
        step: usize,
        /// `read` or `write`.
        access: &'static str,
        /// How many do so.
        contention: u64,
    },

    /// Processors write different values to one cell at a time where all have to write the same.
    #[error("processors write {first} and {second} to one cell at a time")]
    Disagree {
        /// One value.
        first: i64,
        /// Another.
        second: i64,
    },

    /// A value is used that no read has asked for.
    #[error("processor {processor} uses the value of read {read}, but has issued {issued}")]
    UseBeforeRead {
        /// The processor.
        processor: usize,
        /// The read, counted from 0.
        read: usize,
        /// How many it has issued by then.
        issued: usize,
    },

    /// Counts of different kernels are put together.
    #[error("counts of `{one}` and of `{other}` cannot be put together")]
    OtherKernel {
        /// One kernel.
        one: String,
        /// The other.
        other: String,
    },

    /// A launch was simulated without what a model needs of it.
    #[error("kernel `{kernel}` was simulated without {what}")]
    NotCounted {
        /// The kernel.
        kernel: String,
        /// What is missing.
        what: &'static str,
    },

    /// A table of printed numbers has a row that is not like its heading.
    #[error("table {table}, row {row}: {why}")]
    BadTable {
        /// The table.
        table: String,
        /// The row.
        row: String,
        /// What is wrong.
        why: String,
    },
}

/// `value`, if it is positive and finite.
pub(crate) fn positive(field: &'static str, value: f64) -> Result<f64> {
    if value > 0.0 && value.is_finite() { Ok(value) } else { Err(Error::NotPositive { field, value }) }
}

/// `value`, if it is zero or more, and finite.
pub(crate) fn not_negative(field: &'static str, value: f64) -> Result<f64> {
    if value >= 0.0 && value.is_finite() { Ok(value) } else { Err(Error::Negative { field, value }) }
}

/// `value`, if it is from 0 to 1.
pub(crate) fn fraction(field: &'static str, value: f64) -> Result<f64> {
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err(Error::NotAFraction { field, value }) }
}
