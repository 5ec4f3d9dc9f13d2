use gpu_std::launch::LaunchConfig;
use gpu_std::prelude::*;

#[kernel]
fn sum(y: GlobalMut<f32>) {
    y.write(0, 1.0);
}

fn main() {
    let simulator = gpu_sim::Simulator::default();
    let y = unsafe { GlobalMut::from_raw(1 << 40) };
    let _ = sum::launch(&simulator, LaunchConfig::linear(1, 1), y);
}
