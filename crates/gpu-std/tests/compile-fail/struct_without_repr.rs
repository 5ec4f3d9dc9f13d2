use gpu_std::prelude::*;

#[derive(Clone, Copy, Parameter)]
struct Shape {
    rows: u32,
}

fn main() {}
