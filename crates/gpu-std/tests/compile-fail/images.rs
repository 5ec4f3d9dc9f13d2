use gpu_std::prelude::*;

#[kernel(images = sm_90_75)]
fn sum(y: GlobalMut<f32>) {
    y.write(0, 1.0);
}

fn main() {}
