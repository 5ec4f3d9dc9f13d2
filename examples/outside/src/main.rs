//! The sum of a slice, and of a buffer that is on a device already.

use gpu_core::Device;

fn main() -> Result<(), gpu_reduce::Error> {
    let values: Vec<f32> = (0..1_000_000).map(|i| (i % 7) as f32).collect();
    let on_host = gpu_reduce::sum(&values)?;
    let device = Device::best();
    let buffer = device.upload(&values)?;
    let on_device = gpu_reduce::sum(&buffer)?;
    println!("on the host {on_host}, on {device} {on_device} ({})", device.why());
    assert_eq!(on_host.to_bits(), on_device.to_bits());
    assert_eq!(on_device, (0..1_000_000u32).map(|i| i % 7).sum::<u32>() as f32);
    Ok(())
}
