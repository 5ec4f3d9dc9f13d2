use gpu_std::prelude::*;

#[kernel]
async fn sum(y: GlobalMut<f32>) {
    y.write(0, 1.0);
}

fn main() {}
