use gpu_std::prelude::*;

#[kernel]
fn sum(x: Global<f32>) -> f32 {
    x.read(0)
}

fn main() {}
