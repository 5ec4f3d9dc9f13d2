use gpu_std::prelude::*;

#[derive(Clone, Copy, Parameter)]
#[repr(C)]
struct Matrix {
    elements: Global<f32>,
    rows: u32,
}

fn main() {}
