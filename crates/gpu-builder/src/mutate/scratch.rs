//! A copy of the workspace in which sources are broken, and the programs that run there.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::clean_command;
use crate::{Error, Result};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Passed,
    Failed,
    /// After its time.
    Stopped,
}

/// The copy.
pub(super) struct Scratch {
    /// Its root.
    pub(super) root: PathBuf,
    target: PathBuf,
}

impl Scratch {
    /// Copies what cargo may need of a workspace: all but hidden folders and those of build outputs.
    pub(super) fn new(workspace: &Path, folder: &Path) -> Result<Self> {
        let root = folder.join("workspace");
        copy(workspace, &root, folder)?;
        Ok(Self { root, target: folder.join("target") })
    }

    pub(super) fn write(&self, file: &Path, text: &str) -> Result<()> {
        let path = self.root.join(file);
        std::fs::write(&path, text).map_err(Error::io(path))
    }

    /// A file beside the copy.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.target.with_file_name(name)
    }

    /// Builds what `cargo test` would run with these arguments; gives cargo's messages, a line of JSON each.
    pub(super) fn build(&self, arguments: &[String]) -> Result<(Ended, String)> {
        let mut command = clean_command("cargo");
        command.args(["test", "--no-run", "--message-format=json"]).args(arguments).current_dir(&self.root);
        command.env("CARGO_TARGET_DIR", &self.target).env("CARGO_INCREMENTAL", "0");
        self.run(command, Duration::MAX)
    }

    /// Runs a command; what it writes goes to a file, so that it never waits for a reader.
    pub(super) fn run(&self, mut command: Command, limit: Duration) -> Result<(Ended, String)> {
        let log = self.file("output.txt");
        let file = std::fs::File::create(&log).map_err(Error::io(&log))?;
        let errors = file.try_clone().map_err(Error::io(&log))?;
        command.stdout(file).stderr(errors);
        let ended = wait(command, limit)?;
        let output = std::fs::read(&log).map_err(Error::io(&log))?;
        Ok((ended, String::from_utf8_lossy(&output).into_owned()))
    }
}

/// Runs a command of which only the end matters.
pub(super) fn run(mut command: Command, limit: Duration) -> Result<Ended> {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    wait(command, limit)
}

/// Runs a command for so long at most, and then ends it with all it has started.
fn wait(mut command: Command, limit: Duration) -> Result<Ended> {
    command.stdin(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let shown = crate::process::display(&command);
    let failed = |error: std::io::Error| Error::Command {
        command: shown.clone(),
        status: "not run".into(),
        stderr: error.to_string(),
    };
    let begin = Instant::now();
    let mut child = command.spawn().map_err(failed)?;
    loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok(if status.success() { Ended::Passed } else { Ended::Failed });
        }
        if begin.elapsed() > limit {
            end(&mut child);
            child.wait().map_err(failed)?;
            return Ok(Ended::Stopped);
        }
        std::thread::sleep(Duration::from_millis(4));
    }
}

fn end(child: &mut Child) {
    // The group: cargo's children are what runs.
    #[cfg(unix)]
    let group = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
    #[cfg(unix)]
    if group.is_ok_and(|status| status.success()) {
        return;
    }
    // It has ended meanwhile where this fails.
    let _ = child.kill();
}

/// Copies a folder; files that are the same already keep their time, so that cargo builds nothing anew for them.
fn copy(from: &Path, to: &Path, except: &Path) -> Result<()> {
    std::fs::create_dir_all(to).map_err(Error::io(to))?;
    for entry in std::fs::read_dir(from).map_err(Error::io(from))? {
        let entry = entry.map_err(Error::io(from))?;
        let (path, name) = (entry.path(), entry.file_name());
        let target = to.join(&name);
        let skipped = name.to_string_lossy().starts_with('.') && name != ".cargo" || name == "target";
        if skipped || path == except {
            continue;
        }
        let kind = entry.file_type().map_err(Error::io(&path))?;
        if kind.is_dir() {
            copy(&path, &target, except)?;
        } else if kind.is_file() {
            let text = std::fs::read(&path).map_err(Error::io(&path))?;
            if std::fs::read(&target).ok().as_ref() != Some(&text) {
                std::fs::write(&target, text).map_err(Error::io(&target))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn what_takes_too_long_is_ended_with_its_children() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 60 & sleep 60"]);
        let begin = Instant::now();
        assert_eq!(run(command, Duration::from_millis(200)).expect("it ran"), Ended::Stopped);
        assert!(begin.elapsed() < Duration::from_secs(30));
        for (code, expected) in [("exit 0", Ended::Passed), ("exit 3", Ended::Failed)] {
            let mut command = Command::new("sh");
            command.args(["-c", code]);
            assert_eq!(run(command, Duration::from_secs(60)).expect("it ran"), expected);
        }
    }

    #[test]
    fn hidden_folders_and_outputs_are_not_copied_and_the_same_keeps_its_time() {
        let folder = std::env::temp_dir().join(format!("gpu-builder-scratch-{}", std::process::id()));
        let (from, scratch) = (folder.join("from"), folder.join("from/out"));
        for file in ["a.rs", ".cargo/config.toml", ".git/x", "target/y", "sub/b.rs", "out/z"] {
            let path = from.join(file);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, file).expect("a file");
        }
        let copied = Scratch::new(&from, &scratch).expect("a copy");
        for (file, is_there) in [
            ("a.rs", true),
            (".cargo/config.toml", true),
            ("sub/b.rs", true),
            (".git/x", false),
            ("target/y", false),
            ("out/z", false),
        ] {
            assert_eq!(copied.root.join(file).is_file(), is_there, "{file}");
        }
        let time =
            || std::fs::metadata(copied.root.join("a.rs")).and_then(|data| data.modified()).expect("a time");
        let before = time();
        std::thread::sleep(Duration::from_millis(20));
        Scratch::new(&from, &scratch).expect("a copy");
        assert_eq!(time(), before);
        copied.write(Path::new("a.rs"), "other").expect("written");
        Scratch::new(&from, &scratch).expect("a copy");
        assert_eq!(std::fs::read_to_string(copied.root.join("a.rs")).expect("text"), "a.rs");
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
