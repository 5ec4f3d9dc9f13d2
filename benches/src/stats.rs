//! What many timings of the same thing come to.

/// Median, minimum and spread of some timings, in milliseconds.
///
/// The median is what is reported: a timing is never too short, but an interrupt or a change of clock makes one too
/// long, and a mean would follow it. The spread is the median absolute deviation for the same reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The middle timing; the mean of the two middle ones where their number is even.
    pub median: f64,
    /// The shortest.
    pub min: f64,
    /// The median distance from the median.
    pub mad: f64,
    /// How many timings there were.
    pub samples: usize,
}

impl Summary {
    /// Summarises `samples`; `None` if there are none or if one of them is not a finite number.
    pub fn of(samples: &[f64]) -> Option<Self> {
        if samples.is_empty() || !samples.iter().all(|sample| sample.is_finite()) {
            return None;
        }
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let centre = median(&sorted);
        let mut distances: Vec<f64> = sorted.iter().map(|sample| (sample - centre).abs()).collect();
        distances.sort_by(f64::total_cmp);
        Some(Self { median: centre, min: sorted[0], mad: median(&distances), samples: sorted.len() })
    }
}

/// The median of sorted, non-empty values.
fn median(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) { (sorted[half - 1] + sorted[half]) / 2.0 } else { sorted[half] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_and_even_counts_and_any_order() {
        let odd = Summary::of(&[9.0, 1.0, 3.0, 2.0, 100.0]).expect("five numbers");
        assert_eq!(odd, Summary { median: 3.0, min: 1.0, mad: 2.0, samples: 5 });
        let even = Summary::of(&[4.0, 1.0, 2.0, 3.0]).expect("four numbers");
        assert_eq!(even, Summary { median: 2.5, min: 1.0, mad: 1.0, samples: 4 });
        let one = Summary::of(&[7.0]).expect("one number");
        assert_eq!(one, Summary { median: 7.0, min: 7.0, mad: 0.0, samples: 1 });
    }

    #[test]
    fn one_outlier_moves_nothing() {
        let calm = Summary::of(&[1.0, 1.1, 1.2, 1.3, 1.4]).expect("five numbers");
        let disturbed = Summary::of(&[1.0, 1.1, 1.2, 1.3, 1e6]).expect("five numbers");
        assert_eq!((calm.median, calm.min), (disturbed.median, disturbed.min));
        assert!((calm.mad - disturbed.mad).abs() < 1e-12);
    }

    #[test]
    fn nothing_and_nonsense_have_no_summary() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
        assert_eq!(Summary::of(&[1.0, f64::INFINITY]), None);
    }
}
