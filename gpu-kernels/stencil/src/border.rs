//! What a stencil reads outside its input: SciPy's border modes, as a map of places.
//!
//! ```text
//! REFLECT    d c b a | a b c d | d c b a
//! MIRROR       d c b | a b c d | c b a
//! NEAREST      a a a | a b c d | d d d
//! WRAP         b c d | a b c d | a b c
//! CONSTANT     k k k | a b c d | k k k
//! ```

/// The input repeats, every second time backwards, its first and last element twice.
pub const REFLECT: u32 = 0;
/// The input repeats, every second time backwards, its first and last element once.
pub const MIRROR: u32 = 1;
/// The first and the last element go on.
pub const NEAREST: u32 = 2;
/// The input repeats.
pub const WRAP: u32 = 3;
/// A value of the caller's.
pub const CONSTANT: u32 = 4;

/// Which of `length` elements, at least one, stands for place `index`; negative where it is the caller's value. Any
/// `mode` above [`WRAP`] is [`CONSTANT`].
///
/// Not a `#[device]` function: the CPU references call it too. Its branches are not counted in the simulator's metrics.
#[inline(always)]
pub fn source(index: i32, length: i32, mode: u32) -> i32 {
    if index >= 0 && index < length {
        return index;
    }
    if mode == NEAREST {
        // Mutants: place 0 is inside.
        return if index < 0 { 0 } else { length - 1 };
    }
    if mode > WRAP {
        return -1;
    }
    // Without signs two lengths fit into 32 bits, whose remainder is a fraction of the instructions of 64.
    let length = length as u32;
    let period = if mode == REFLECT {
        2 * length
    } else if mode == MIRROR {
        // One element mirrors to itself.
        if length > 1 { 2 * length - 2 } else { 1 }
    } else {
        length
    };
    // No period is 0: the compiler need not look.
    // Left of the input, -1 is the period's last place: its complement counts from there.
    // Mutants: place 0 is inside.
    let from_end = index < 0;
    let rest = (if from_end { !index } else { index }) as u32 % period.max(1);
    let within = if from_end { period - 1 - rest } else { rest };
    let place = if within < length {
        within
    } else if mode == REFLECT {
        period - 1 - within
    } else {
        period - within
    };
    place as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By walking: the input written out to both sides, as the table above shows it.
    fn naive(index: i32, length: i32, mode: u32) -> i32 {
        let (mut at, mut step) = (0, 1);
        if mode == CONSTANT || mode == NEAREST {
            let inside = (0..length).contains(&index);
            return if inside {
                index
            } else if mode == CONSTANT {
                -1
            } else {
                index.clamp(0, length - 1)
            };
        }
        // From place 0 to the right; to the left every mode is what it is to the right of a reversed input.
        let reversed = index < 0;
        if reversed && mode == WRAP {
            return (length - 1) - naive(-1 - index, length, WRAP);
        }
        let far = if !reversed {
            index
        } else if mode == REFLECT {
            -1 - index
        } else {
            -index
        };
        for _ in 0..far {
            at += step;
            if at == length {
                match mode {
                    WRAP => at = 0,
                    REFLECT => (at, step) = (length - 1, -1),
                    _ => (at, step) = ((length - 2).max(0), -1),
                }
            } else if at < 0 {
                match mode {
                    REFLECT => (at, step) = (0, 1),
                    _ => (at, step) = (1.min(length - 1), 1),
                }
            }
        }
        at
    }

    #[test]
    fn every_place_near_and_far_has_its_source() {
        for mode in [REFLECT, MIRROR, NEAREST, WRAP, CONSTANT] {
            for length in 1..7 {
                for index in -25..25 {
                    assert_eq!(
                        source(index, length, mode),
                        naive(index, length, mode),
                        "mode {mode}, place {index} of {length}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_longest_inputs_do_not_overflow() {
        let length = i32::MAX;
        assert_eq!(source(-1, length, REFLECT), 0);
        assert_eq!(source(-1, length, MIRROR), 1);
        assert_eq!(source(-1, length, WRAP), length - 1);
        assert_eq!(source(i32::MIN, length, REFLECT), length - 1);
    }
}
