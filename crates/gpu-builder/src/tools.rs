//! The tools of the CUDA toolkit: ptxas and nvdisasm. They need no GPU.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::process::output;
use crate::ptx::Ptx;
use crate::ptxas::{self, Usage};
use crate::{Error, Result};

/// The folders in which a tool is looked for: `CUDA_TOOLS`, `~/.cache/cuda-tools-*`, `CUDA_HOME`, `CUDA_PATH`,
/// `/usr/local/cuda`, then `PATH`.
fn folders() -> Vec<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let mut folders = Vec::new();
    folders.extend(variable("CUDA_TOOLS").map(|root| root.join("bin")));
    if let Some(home) = std::env::home_dir()
        && let Ok(cache) = std::fs::read_dir(home.join(".cache"))
    {
        let ours =
            |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("cuda-tools-"));
        let mut kept: Vec<_> = cache.flatten().map(|entry| entry.path()).filter(ours).collect();
        kept.sort();
        folders.extend(kept.iter().rev().map(|root| root.join("bin")));
    }
    folders.extend(["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable).map(|root| root.join("bin")));
    folders.push("/usr/local/cuda/bin".into());
    folders.extend(std::env::var_os("PATH").iter().flat_map(std::env::split_paths));
    folders
}

/// Where a tool is.
///
/// # Errors
/// [`Error::ToolMissing`] with the places that were searched.
pub fn find(tool: &'static str) -> Result<PathBuf> {
    let file = format!("{tool}{}", std::env::consts::EXE_SUFFIX);
    let found = folders().into_iter().map(|folder| folder.join(&file)).find(|path| path.is_file());
    found.ok_or_else(|| Error::ToolMissing {
        tool,
        searched: "CUDA_TOOLS/bin, ~/.cache/cuda-tools-*/bin, CUDA_HOME/bin, CUDA_PATH/bin, /usr/local/cuda/bin and PATH"
            .into(),
    })
}

/// What ptxas made of a text.
#[derive(Clone, Debug)]
pub enum Assembled {
    /// It assembles.
    Yes(Usage),
    /// It does not; ptxas' messages.
    No(String),
    /// This ptxas does not know the target: it is too old for it, or too new.
    UnknownTarget,
}

/// NVIDIA's assembler.
#[derive(Clone, Debug)]
pub struct Ptxas {
    path: PathBuf,
    release: String,
    version: String,
}

impl Ptxas {
    /// Finds it.
    ///
    /// # Errors
    /// [`Error::ToolMissing`]; [`Error::Command`] where it does not start.
    pub fn find() -> Result<Self> {
        let path = find("ptxas")?;
        let text = output(Command::new(&path).arg("--version"))?;
        let text = String::from_utf8_lossy(&text.stdout).into_owned();
        let release =
            text.split("release ").nth(1).and_then(|rest| rest.split(',').next()).unwrap_or("unknown");
        let version =
            text.split(", V").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap_or("unknown");
        Ok(Self { release: release.to_string(), version: version.to_string(), path })
    }

    /// `13.0.88`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// `13.0`.
    pub fn release(&self) -> &str {
        &self.release
    }

    /// Assembles a file for a target (`sm_90`) into `cubin`.
    ///
    /// # Errors
    /// [`Error::Command`] where ptxas does not start.
    pub fn assemble(&self, ptx: &Path, target: &str, cubin: &Path) -> Result<Assembled> {
        let text = std::fs::read_to_string(ptx).map_err(Error::io(ptx))?;
        let mut command = Command::new(&self.path);
        command.args(["--verbose", "--gpu-name", target, "--output-file"]).arg(cubin).arg(ptx);
        if let Some(level) = Ptx::opt_level(&text) {
            command.arg(format!("--opt-level={level}"));
        }
        let ended = command.output().map_err(|error| Error::Command {
            command: crate::process::display(&command),
            status: "not started".into(),
            stderr: error.to_string(),
        })?;
        let said =
            String::from_utf8_lossy(&ended.stderr).into_owned() + &String::from_utf8_lossy(&ended.stdout);
        Ok(if ended.status.success() {
            Assembled::Yes(ptxas::parse(&said))
        } else if said.contains("is not defined for option 'gpu-name'") {
            Assembled::UnknownTarget
        } else {
            Assembled::No(said)
        })
    }
}

/// A folder for intermediate files; removed when dropped.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Result<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("gpu-builder-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(Error::io(&path))?;
        Ok(Self(path))
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a PTX of this name.
    pub fn text(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.file(&format!("{name}.ptx"));
        std::fs::write(&path, text).map_err(Error::io(&path))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays behind lies in the system's folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Does `work` for every item on all processors; results in the items' order.
pub(crate) fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let mut results: Vec<(usize, R)> = std::thread::scope(|scope| {
        let worker = || {
            let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|index| *index < items.len());
            std::iter::from_fn(take).map(|index| (index, work(&items[index]))).collect::<Vec<_>>()
        };
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        let join = |handle: std::thread::ScopedJoinHandle<'_, _>| match handle.join() {
            Ok(results) => results,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        handles.into_iter().flat_map(join).collect()
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_results_keep_their_order() {
        let items: Vec<u32> = (0..1000).collect();
        assert_eq!(
            in_parallel(&items, |item| item * 2),
            items.iter().map(|item| item * 2).collect::<Vec<_>>()
        );
        assert!(in_parallel(&[] as &[u32], |item| *item).is_empty());
    }

    #[test]
    fn scratch_goes_away() {
        let scratch = Scratch::new().expect("a folder");
        let file = scratch.file("x");
        std::fs::write(&file, "x").expect("written");
        drop(scratch);
        assert!(!file.exists());
    }
}
