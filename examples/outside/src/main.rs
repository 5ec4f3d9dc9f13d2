//! Adds up a million numbers: on the GPU if there is one, and on the CPU.

use gpu_core::Device;

fn main() -> Result<(), gpu_reduce::Error> {
    let values: Vec<f32> = (1..=1_000_000).map(|i| 1.0 / i as f32).collect();

    let device = Device::best(); // the first GPU, else the CPU
    let buffer = device.upload(&values)?;
    let sum = gpu_reduce::sum(&buffer)?; // runs where the buffer lies
    println!("{sum} on {device} ({})", device.why());

    let on_cpu = gpu_reduce::sum(&values)?; // a slice lies on the CPU
    assert_eq!(sum.to_bits(), on_cpu.to_bits());
    Ok(())
}
