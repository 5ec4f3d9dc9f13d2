//! Failures of the CUDA driver.

use gpu_std::launch::LaunchConfig;

/// A call of the CUDA driver that failed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{call} failed: {name} ({code}): {text}{}{}", during(*.sticky, .launch.as_deref()), written(.log.as_deref()))]
#[non_exhaustive]
pub struct DriverFailure {
    /// The driver's function.
    pub call: &'static str,
    /// The result code.
    pub code: i32,
    /// The code's name, such as `CUDA_ERROR_ILLEGAL_ADDRESS`.
    pub name: String,
    /// What the driver says about it.
    pub text: String,
    /// Whether the context is unusable from now on.
    pub sticky: bool,
    /// The launch that failed. Kernels run on after their launch has returned, so a fault in one is reported by a
    /// later call; then this is the last launch before the report.
    pub launch: Option<Box<Launched>>,
    /// What the JIT compiler or the loader wrote.
    pub log: Option<String>,
}

/// A kernel and the sizes it was launched with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// The kernel.
    pub kernel: &'static str,
    /// Grid, block and shared memory.
    pub config: LaunchConfig,
}

fn during(sticky: bool, launch: Option<&Launched>) -> String {
    let Some(Launched { kernel, config }) = launch else { return String::new() };
    let which = if sticky { "last launch" } else { "launch" };
    format!(
        "; {which}: kernel `{kernel}`, grid {:?}, block {:?}, {} bytes of shared memory",
        config.grid, config.block, config.shared_bytes
    )
}

fn written(log: Option<&str>) -> String {
    log.map(|log| format!("\n{log}")).unwrap_or_default()
}
