//! What was measured.

/// Hours of a day: the rows of a matrix of whole days.
pub const HOURS: usize = 24;
/// Hours of a week.
const WEEK: usize = 7 * HOURS;

/// Hourly temperatures of stations that took turns.
pub struct Series {
    /// In quarters of a degree, from -20 to 43.75, each fifth of them missing; the first is there.
    pub measured: Vec<f32>,
    /// Which station it was: stretches of 1 to 4999 hours, some of which begin with a gap.
    pub stations: Vec<u16>,
    /// Where weeks begin, and where the last one, which may be incomplete, ends.
    pub weeks: Vec<u32>,
}

impl Series {
    pub fn new(len: usize) -> Self {
        let quarters = |i: usize| (i as u32).wrapping_mul(2_654_435_761) >> 24;
        let value = |i: usize| if i % 5 == 3 { f32::NAN } else { quarters(i) as f32 / 4.0 - 20.0 };
        let stretch = |number: usize| std::iter::repeat_n((number % 7) as u16, 1 + number * 1231 % 4999);
        Self {
            measured: (0..len).map(value).collect(),
            stations: (0..).flat_map(stretch).take(len).collect(),
            weeks: (0..len).step_by(WEEK).chain([len]).map(|hour| hour as u32).collect(),
        }
    }

    /// Complete days.
    pub fn days(&self) -> usize {
        self.measured.len() / HOURS
    }
}
