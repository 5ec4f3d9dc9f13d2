//! LogP: processors with their own memory and a network of finite capacity.
//!
//! D. E. Culler et al., *LogP: towards a realistic model of parallel computation*, PPoPP 1993. L is the latency of a
//! message at most, o what a processor is busy with sending or receiving one, g the least time between two that it
//! sends or receives, P the number of processors.
//!
//! ```text
//! one message                 o + L + o
//! n messages to one           o + (n − 1)·max(g, o) + L + o
//! a remote read               2·L + 4·o
//! in transit to one at most   ⌈L / g⌉
//! ```
//!
//! A broadcast is fastest if everybody who has the value sends it on as long as there is somebody without it.
//!
//! ```
//! use gpu_model::literature::logp::Network;
//! // The example of the paper: P = 8, L = 6, g = 4, o = 2.
//! let network = Network::new(6.0, 2.0, 4.0, 8)?;
//! assert_eq!(network.broadcast(), 24.0);
//! # Ok::<(), gpu_model::Error>(())
//! ```

use crate::error::{Result, not_negative, positive};

/// A machine, in cycles of a processor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    /// L.
    pub latency: f64,
    /// o.
    pub overhead: f64,
    /// g.
    pub gap: f64,
    /// P.
    pub processors: u32,
}

impl Network {
    /// A machine with this L, o, g and P.
    ///
    /// # Errors
    /// o is negative, or another of them is not positive.
    pub fn new(latency: f64, overhead: f64, gap: f64, processors: u32) -> Result<Self> {
        positive("processors", f64::from(processors))?;
        Ok(Self {
            latency: positive("latency", latency)?,
            overhead: not_negative("overhead", overhead)?,
            gap: positive("gap", gap)?,
            processors,
        })
    }

    /// One message, from when it is sent to when it is received.
    pub fn message(&self) -> f64 {
        2.0 * self.overhead + self.latency
    }

    /// The least time from one message of a processor to its next.
    pub fn interval(&self) -> f64 {
        self.gap.max(self.overhead)
    }

    /// `count` messages from one processor to another.
    pub fn messages(&self, count: u64) -> f64 {
        if count == 0 { 0.0 } else { self.message() + (count - 1) as f64 * self.interval() }
    }

    /// A request and its answer.
    pub fn remote_read(&self) -> f64 {
        2.0 * self.message()
    }

    /// Messages in transit to one processor at most.
    pub fn capacity(&self) -> f64 {
        (self.latency / self.gap).ceil()
    }

    /// From one processor to all, as fast as can be.
    pub fn broadcast(&self) -> f64 {
        // When each processor that has the value can send it next; the earliest of them reaches the next one.
        let mut senders = vec![0.0_f64];
        let mut end: f64 = 0.0;
        for _ in 1..self.processors {
            let earliest = senders.iter_mut().min_by(|one, other| one.total_cmp(other));
            let sender = earliest.expect("the first one has it");
            let received = *sender + self.message();
            *sender += self.interval();
            senders.push(received);
            end = end.max(received);
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paper() -> Network {
        Network::new(6.0, 2.0, 4.0, 8).expect("positive")
    }

    /// L = 6, o = 2, g = 4: a message takes 2 + 6 + 2 = 10, three take 10 + 2·4 = 18, a remote read 2·6 + 4·2 = 20, and
    /// ⌈6/4⌉ = 2 are in transit.
    #[test]
    fn messages() {
        let network = paper();
        assert_eq!([0, 1, 3].map(|count| network.messages(count)), [0.0, 10.0, 18.0]);
        assert_eq!((network.remote_read(), network.capacity()), (20.0, 2.0));
        // With L = 2 and o = 5 sending takes longer than the gap: 5 + 2 + 5 = 12, and 12 + 2·5 = 22.
        let busy = Network::new(2.0, 5.0, 4.0, 2).expect("positive");
        assert_eq!(busy.messages(3), 22.0);
    }

    /// The first sends at 0, 4, 8, 12: received at 10, 14, 18, 22. The one of 10 sends at 10 and 14: 20 and 24. That
    /// of 14 sends at 14: 24. In order: 10, 14, 18, 20, 22, 24, 24, so 7 others are reached at 24.
    #[test]
    fn broadcast() {
        assert_eq!(paper().broadcast(), 24.0);
        let reached = [1, 2, 3, 4, 5, 6].map(|processors| Network { processors, ..paper() }.broadcast());
        assert_eq!(reached, [0.0, 10.0, 14.0, 18.0, 20.0, 22.0]);
    }

    #[test]
    fn bad_parameters() {
        assert!(Network::new(0.0, 2.0, 4.0, 8).is_err());
        assert!(Network::new(6.0, -2.0, 4.0, 8).is_err());
        assert!(Network::new(6.0, 2.0, f64::NAN, 8).is_err());
        assert!(Network::new(6.0, 2.0, 4.0, 0).is_err());
        assert!(Network::new(6.0, 0.0, 4.0, 1).is_ok());
    }
}
