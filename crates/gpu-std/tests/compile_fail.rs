//! Misuse that must not compile, and what the compiler says about it.

#[test]
fn misuse_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile-fail/*.rs");
}
