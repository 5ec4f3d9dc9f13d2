use gpu_std::prelude::*;

#[kernel]
fn sum(x: &[f32], y: GlobalMut<f32>) {
    y.write(0, x[0]);
}

fn main() {}
