//! BSP: supersteps of computation and messages, with a barrier at the end of each.
//!
//! L. G. Valiant, *A bridging model for parallel computation*, Communications of the ACM 33(8), 1990. In a superstep
//! each component computes for w units at most and sends or receives h messages at most, each of which takes the
//! router g units. Two readings of the barrier are in use:
//!
//! ```text
//! periodic   every L units it is asked whether all are ready:    time = L · ⌈(w + g·h) / L⌉
//! additive   the barrier itself takes L units:                   time = w + g·h + L
//! ```
//!
//! ```
//! use gpu_model::literature::bsp::{Machine, Superstep};
//! let machine = Machine::new(4.0, 100.0)?;
//! let step = Superstep { work: 130.0, messages: 10.0 };
//! assert_eq!(machine.periodic(&[step])?, 200.0);
//! assert_eq!(machine.additive(&[step])?, 270.0);
//! # Ok::<(), gpu_model::Error>(())
//! ```

use crate::error::{Result, not_negative, positive};

/// A machine, in units of an operation's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// g: what the router takes for a message, per component.
    pub gap: f64,
    /// L: from one question for the barrier to the next, or what the barrier takes.
    pub period: f64,
}

/// What the component does that has most to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Superstep {
    /// w: operations.
    pub work: f64,
    /// h: messages that it sends or receives, the larger of the two.
    pub messages: f64,
}

impl Machine {
    /// A machine with this g and L.
    ///
    /// # Errors
    /// One of them is not positive.
    pub fn new(gap: f64, period: f64) -> Result<Self> {
        Ok(Self { gap: positive("gap", gap)?, period: positive("period", period)? })
    }

    fn busy(&self, step: &Superstep) -> Result<f64> {
        Ok(not_negative("work", step.work)? + self.gap * not_negative("messages", step.messages)?)
    }

    /// Time of a program whose barrier is asked for every L units. A superstep in which nothing is done takes none.
    ///
    /// # Errors
    /// Negative work or messages.
    pub fn periodic(&self, steps: &[Superstep]) -> Result<f64> {
        steps.iter().map(|step| Ok((self.busy(step)? / self.period).ceil() * self.period)).sum()
    }

    /// Time of a program whose barrier takes L units.
    ///
    /// # Errors
    /// Negative work or messages.
    pub fn additive(&self, steps: &[Superstep]) -> Result<f64> {
        steps.iter().map(|step| Ok(self.busy(step)? + self.period)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// g = 2, L = 10: 7 + 2·4 = 15, two periods: 20. 10 + 2·0 = 10, one period: 10. Together 30; additive 25 + 20 = 45.
    #[test]
    fn both_readings() {
        let machine = Machine::new(2.0, 10.0).expect("positive");
        let steps = [Superstep { work: 7.0, messages: 4.0 }, Superstep { work: 10.0, messages: 0.0 }];
        assert_eq!(machine.periodic(&steps), Ok(30.0));
        assert_eq!(machine.additive(&steps), Ok(45.0));
        assert_eq!(machine.periodic(&[]), Ok(0.0));
    }

    #[test]
    fn bad_parameters() {
        assert!(Machine::new(0.0, 10.0).is_err() && Machine::new(1.0, -1.0).is_err());
        let machine = Machine::new(2.0, 10.0).expect("positive");
        assert!(machine.additive(&[Superstep { work: -1.0, messages: 0.0 }]).is_err());
        assert!(machine.periodic(&[Superstep { work: 0.0, messages: f64::NAN }]).is_err());
    }
}
