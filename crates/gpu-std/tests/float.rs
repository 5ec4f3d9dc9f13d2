//! Float operations on the host: the rules that the GPU keeps too.

use gpu_std::float::{abs, max, min, mul_add, sqrt};

#[test]
fn minimum_and_maximum() {
    let ordered = [f32::NEG_INFINITY, -1.0, -0.0, 0.0, 1e-40, 2.5, f32::INFINITY];
    for (i, &a) in ordered.iter().enumerate() {
        for (j, &b) in ordered.iter().enumerate() {
            assert_eq!(min(a, b).to_bits(), ordered[i.min(j)].to_bits(), "min({a}, {b})");
            assert_eq!(max(a, b).to_bits(), ordered[i.max(j)].to_bits(), "max({a}, {b})");
            let (c, d) = (f64::from(a), f64::from(b));
            assert_eq!(min(c, d).to_bits(), f64::from(ordered[i.min(j)]).to_bits(), "min({c}, {d})");
            assert_eq!(max(c, d).to_bits(), f64::from(ordered[i.max(j)]).to_bits(), "max({c}, {d})");
        }
        assert!(min(a, f32::NAN).is_nan() && min(f32::NAN, a).is_nan());
        assert!(max(a, f32::NAN).is_nan() && max(f32::NAN, a).is_nan());
    }
}

#[test]
fn one_rounding() {
    let (a, b) = (1.0 + f32::EPSILON, 1.0 - f32::EPSILON);
    assert_eq!(mul_add(a, b, -1.0), -f32::EPSILON * f32::EPSILON);
    assert_ne!(mul_add(a, b, -1.0), a * b - 1.0);
    assert_eq!(sqrt(2.0f64), 2.0f64.sqrt());
    assert_eq!(abs(-0.0f32).to_bits(), 0);
}
