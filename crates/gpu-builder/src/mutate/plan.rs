//! What a crate to be broken belongs to, and which tests are about it.

use std::path::{Path, PathBuf};

use crate::process::{clean_command, output};
use crate::{Error, Result};

/// Where everything lies.
pub(super) struct Plan {
    pub(super) workspace: PathBuf,
    pub(super) target: PathBuf,
    /// The folder of the crate.
    pub(super) krate: PathBuf,
    /// Its package.
    package: String,
    /// Test programs, by package.
    programs: Vec<(String, String)>,
}

impl Plan {
    pub(super) fn new(krate: &str) -> Result<Self> {
        let folder = Path::new(krate);
        let is_folder = folder.join("Cargo.toml").is_file();
        let mut command = clean_command("cargo");
        command.args(["metadata", "--no-deps", "--format-version", "1"]);
        if is_folder {
            command.current_dir(folder);
        }
        let text = output(&mut command)?.stdout;
        let what = "cargo metadata".to_string();
        let data: serde_json::Value =
            serde_json::from_slice(&text).map_err(|source| Error::Json { what, source })?;
        let string = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_string();
        let packages = data["packages"].as_array().cloned().unwrap_or_default();
        let root = |package: &serde_json::Value| {
            let manifest = string(&package["manifest_path"]);
            Path::new(&manifest).parent().map(Path::to_path_buf).unwrap_or_default()
        };
        let is_wanted = |package: &&serde_json::Value| match is_folder {
            true => root(package).canonicalize().ok() == folder.canonicalize().ok(),
            false => package["name"] == krate,
        };
        let Some(wanted) = packages.iter().find(is_wanted) else {
            let names: Vec<String> = packages.iter().map(|package| string(&package["name"])).collect();
            return Err(Error::NoSuchCrate { asked: krate.into(), have: names.join(", ") });
        };
        let mut programs = Vec::new();
        for package in &packages {
            for target in package["targets"].as_array().into_iter().flatten() {
                if target["kind"][0] == "test" {
                    programs.push((string(&package["name"]), string(&target["name"])));
                }
            }
        }
        let path = |value: &serde_json::Value| PathBuf::from(string(value));
        Ok(Self {
            workspace: path(&data["workspace_root"]),
            target: path(&data["target_directory"]),
            krate: root(wanted),
            package: string(&wanted["name"]),
            programs,
        })
    }

    /// What `cargo test` gets: the programs that are called like the crate's folder, or begin with its name and `_`, or
    /// those of the crate itself.
    pub(super) fn tests(&self) -> Result<Vec<String>> {
        let family = self.krate.file_name().unwrap_or_default().to_string_lossy();
        let of = |(package, program): &(String, String)| {
            ["-p".into(), package.clone(), "--test".into(), program.clone()]
        };
        // `factor`, and `factor_variants`.
        let is_of_family = |program: &str| {
            let rest = program.strip_prefix(&*family);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        let named: Vec<String> =
            self.programs.iter().filter(|(_, program)| is_of_family(program)).flat_map(of).collect();
        if !named.is_empty() {
            return Ok(named);
        }
        let own: Vec<String> =
            self.programs.iter().filter(|(package, _)| *package == self.package).flat_map(of).collect();
        if own.is_empty() {
            return Err(Error::NoTests { krate: self.krate.clone(), family: family.into_owned() });
        }
        Ok(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_its_tests_and_another_crate_its_own() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let plan = Plan::new(&format!("{root}/gpu-kernels/transpose")).expect("the crate");
        assert_eq!(plan.tests().expect("tests"), ["-p", "gpu-tests", "--test", "transpose"]);
        let plan = Plan::new(&format!("{root}/gpu-kernels/factor")).expect("the crate");
        let of_factors =
            ["-p", "gpu-tests", "--test", "factor", "-p", "gpu-tests", "--test", "factor_variants"];
        assert_eq!(plan.tests().expect("tests"), of_factors);
        let plan = Plan::new(&format!("{root}/crates/gpu-collective")).expect("the crate");
        let own = plan.tests().expect("tests");
        assert!(own.len() >= 8 && own[0] == "-p", "{own:?}");
        assert!(own.contains(&"grids".into()) && own.iter().all(|word| word != "gpu-tests"), "{own:?}");
        assert!(matches!(Plan::new("nobody"), Err(Error::NoSuchCrate { .. })));
    }
}
