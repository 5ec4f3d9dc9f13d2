use gpu_std::prelude::*;

#[kernel(cluster = 9)]
fn sum(y: GlobalMut<f32>) {
    y.write(0, 1.0);
}

fn main() {}
