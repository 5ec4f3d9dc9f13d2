use gpu_std::prelude::*;

#[kernel(launch_bounds(256, 2, 1))]
fn sum(y: GlobalMut<f32>) {
    y.write(0, 1.0);
}

fn main() {}
