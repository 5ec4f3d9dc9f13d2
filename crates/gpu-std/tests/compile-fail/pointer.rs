use gpu_std::prelude::*;

#[kernel]
fn sum(x: *const f32, y: GlobalMut<f32>) {
    y.write(0, 1.0);
}

fn main() {}
