use gpu_std::prelude::*;

#[derive(Clone, Copy, Parameter)]
#[repr(C, align(32))]
struct Shape {
    rows: u32,
}

fn main() {}
