//! Device, driver, commit and date of a result.

use std::path::Path;
use std::process::Command;

use gpu_core::{Device, Kind};

use crate::date;
use crate::error::Error;
use crate::report::Provenance;

/// Where and of what results measured now on `device` are; `commit` replaces the one found.
///
/// # Errors
/// Those of the device.
pub fn of(device: &Device, commit: Option<&str>) -> Result<Provenance, Error> {
    let driver = match device.kind() {
        Kind::Cuda => device.properties()?.driver_version.to_string(),
        _ => "none".to_owned(),
    };
    let commit = commit.map(str::to_owned).or_else(checked_out).unwrap_or_else(built_from);
    Ok(Provenance { device: device.name(), driver, commit, date: date::now() })
}

/// What is checked out where this program's sources lie, if that is this machine; `-dirty` where it was changed since.
fn checked_out() -> Option<String> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR"));
    if !sources.is_dir() {
        return None;
    }
    let output = Command::new("git")
        .current_dir(sources)
        .args(["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}

/// What the program was built from, as the build script saw it.
fn built_from() -> String {
    option_env!("GPU_BENCHES_COMMIT").unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_device_has_no_driver_and_a_given_commit_wins() {
        let provenance = of(&Device::cpu(), Some("feedbeef")).expect("the CPU has a name");
        assert_eq!((provenance.driver.as_str(), provenance.commit.as_str()), ("none", "feedbeef"));
        assert!(!provenance.device.is_empty() && provenance.date.ends_with('Z'));
        assert!(!of(&Device::cpu(), None).expect("the CPU has a name").commit.is_empty());
    }
}
