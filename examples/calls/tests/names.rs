//! What calls are named by. A program of its own: the crate with its tests in it would be compiled once more.

use gpu_calls::{all, sides, snake};

#[test]
fn names_are_those_of_functions() {
    assert_eq!(snake("SumOfSquares", "u8"), ["sum_of_squares", "u8"]);
    assert_eq!(snake("HalfNormL2", " f16"), ["norm_l2", "f16"]);
    assert_eq!(snake("ArgMax", "u8")[0], "argmax");
    assert_eq!(sides(1 << 20), [1024, 1024]);
    assert_eq!(sides(1 << 15), [128, 256]);
}

#[test]
fn each_has_a_name_of_its_own() {
    let all = all();
    let mut names: Vec<&str> = all.iter().map(|call| call.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert!(names.len() == all.len() && names.len() > 400, "{} of {}", names.len(), all.len());
}
