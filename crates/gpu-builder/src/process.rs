//! Starting other programs, free of what an outer cargo put into the environment.

use std::process::{Command, Output};

use crate::{Error, Result};

/// `CARGO_…` variables that a user sets to reach a registry or to shape output; all others belong to an outer cargo
/// or would change the code that is generated.
const KEPT: [&str; 8] = [
    "CARGO_HOME",
    "CARGO_HTTP_",
    "CARGO_NET_",
    "CARGO_REGISTRIES_",
    "CARGO_REGISTRY_",
    "CARGO_SOURCE_",
    "CARGO_TERM_",
    "CARGO_BUILD_JOBS",
];

/// Whether a variable of the environment is kept from the inner cargo.
fn leaks(name: &str) -> bool {
    let of_cargo = name.starts_with("CARGO") || name.starts_with("__CARGO");
    let of_rust = name.starts_with("RUSTC")
        || matches!(name, "RUSTFLAGS" | "RUSTDOCFLAGS" | "RUSTUP_TOOLCHAIN" | "MAKEFLAGS" | "MFLAGS");
    of_rust || of_cargo && !KEPT.iter().any(|kept| name.starts_with(kept))
}

/// A command without the variables by which an outer cargo, its flags, wrappers or toolchain would leak in.
pub(crate) fn clean_command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(leaks) {
            command.env_remove(name);
        }
    }
    // A toolchain that is not there is an error of ours with the mending command, not a download.
    command.env("RUSTUP_AUTO_INSTALL", "0");
    command
}

/// Runs a command to its end; anything but success is an error with what it wrote.
pub(crate) fn output(command: &mut Command) -> Result<Output> {
    let shown = display(command);
    match command.output() {
        Ok(output) if output.status.success() => Ok(output),
        Ok(output) => Err(Error::Command {
            command: shown,
            status: output.status.to_string(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }),
        Err(error) => {
            Err(Error::Command { command: shown, status: "not started".into(), stderr: error.to_string() })
        }
    }
}

/// The command line as a user would type it.
pub(crate) fn display(command: &Command) -> String {
    let mut line = command.get_program().to_string_lossy().into_owned();
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}

#[cfg(test)]
mod tests {
    use super::leaks;

    #[test]
    fn what_an_outer_cargo_sets_leaks_and_what_a_user_needs_does_not() {
        for name in [
            "CARGO",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_MAKEFLAGS",
            "CARGO_MANIFEST_DIR",
            "CARGO_PROFILE_RELEASE_LTO",
            "CARGO_TARGET_DIR",
            "CARGO_UNSTABLE_BUILD_STD",
            "RUSTC",
            "RUSTC_WRAPPER",
            "RUSTFLAGS",
            "RUSTUP_TOOLCHAIN",
        ] {
            assert!(leaks(name), "{name} must not reach the inner cargo");
        }
        for name in
            ["CARGO_HOME", "CARGO_NET_OFFLINE", "CARGO_REGISTRIES_MINE_INDEX", "PATH", "HOME", "RUSTUP_HOME"]
        {
            assert!(!leaks(name), "{name} must reach the inner cargo");
        }
    }
}
