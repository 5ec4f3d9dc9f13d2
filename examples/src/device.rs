//! Which device an example runs on.

use std::error::Error;

use gpu_core::{Device, Kind};

/// The device asked for by name or by the environment, else the best GPU, else the simulator: for examples whose
/// kernels are the point, which the CPU's functions do not run. Says on standard error where there is no GPU.
///
/// # Errors
/// A name that is none, or a GPU that was asked for and is not there.
pub fn gpu_or_simulator(asked: Option<&str>) -> Result<Device, Box<dyn Error>> {
    if let Some(name) = asked {
        return Ok(Device::by_name(name)?);
    }
    let best = Device::from_env()?;
    if best.kind() == Kind::Cuda || std::env::var_os("GPU_DEVICE").is_some() {
        return Ok(best);
    }
    eprintln!("No GPU ({}): the simulator instead, whose times say nothing of a GPU.", best.why());
    Ok(Device::simulator())
}
