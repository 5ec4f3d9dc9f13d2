//! The limits of a launch, checked before a driver or simulator sees it.

use gpu_std::launch::{KernelMeta, LaunchConfig};

use crate::error::{Error, Result};

/// The largest launch a device takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Threads of a block.
    pub threads: u32,
    /// Shared memory of a block in bytes, static and dynamic, with opt-in.
    pub shared_bytes: u32,
}

impl Limits {
    /// The limits of compute capability 9.0, which the simulator takes for its own.
    pub const SIMULATOR: Self = Self {
        grid: [0x7fff_ffff, 0xffff, 0xffff],
        block: [1024, 1024, 64],
        threads: 1024,
        shared_bytes: 227 * 1024,
    };

    /// Checks a launch of `kernel`, which needs `static_shared` bytes of shared memory whatever the launch says.
    ///
    /// # Errors
    /// [`Error::EmptyLaunch`] where a dimension is zero, [`Error::PartialCluster`] where the grid is no whole number of
    /// clusters, [`Error::LaunchLimit`] for the first limit exceeded.
    pub fn check(&self, kernel: &KernelMeta, config: &LaunchConfig, static_shared: u32) -> Result<()> {
        let LaunchConfig { grid, block, shared_bytes } = *config;
        if grid.contains(&0) || block.contains(&0) {
            return Err(Error::EmptyLaunch { kernel: kernel.name.into(), grid, block });
        }
        if !grid[0].is_multiple_of(kernel.cluster.max(1)) {
            let (kernel, cluster) = (kernel.name.into(), kernel.cluster);
            return Err(Error::PartialCluster { kernel, blocks: grid[0], cluster });
        }
        let within = |what, asked: u64, limit: u32| {
            if asked <= u64::from(limit) {
                return Ok(());
            }
            Err(Error::LaunchLimit { kernel: kernel.name.into(), what, asked, limit: limit.into() })
        };
        const GRID: [&str; 3] = ["grid size in x", "grid size in y", "grid size in z"];
        const BLOCK: [&str; 3] = ["block size in x", "block size in y", "block size in z"];
        for axis in 0..3 {
            within(GRID[axis], grid[axis].into(), self.grid[axis])?;
            within(BLOCK[axis], block[axis].into(), self.block[axis])?;
        }
        // Each is at most 1024 by now, so the product fits.
        let threads = block.iter().map(|&size| u64::from(size)).product();
        within("threads in a block (limit of the device)", threads, self.threads)?;
        within("threads in a block (limit of the kernel)", threads, kernel.max_threads)?;
        within(
            "bytes of shared memory",
            u64::from(shared_bytes) + u64::from(static_shared),
            self.shared_bytes,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static KERNEL: KernelMeta = KernelMeta {
        name: "k",
        images: &[],
        parameters: &[],
        file: "f.rs",
        line: 1,
        max_threads: 256,
        min_blocks: 0,
        cluster: 1,
        programmatic: false,
    };

    fn check(grid: [u32; 3], block: [u32; 3], shared_bytes: u32) -> Result<()> {
        Limits::SIMULATOR.check(&KERNEL, &LaunchConfig { grid, block, shared_bytes }, 16)
    }

    #[test]
    fn the_largest_launches_pass() {
        check([0x7fff_ffff, 0xffff, 0xffff], [256, 1, 1], 0).unwrap();
        check([1, 1, 1], [2, 2, 64], 227 * 1024 - 16).unwrap();
    }

    #[test]
    fn one_more_is_refused_and_named() {
        for (grid, block, shared, named, wrong, most) in [
            ([0x8000_0000, 1, 1], [1, 1, 1], 0, "grid size in x", 0x8000_0000_u64, 0x7fff_ffff_u64),
            ([1, 65536, 1], [1, 1, 1], 0, "grid size in y", 65536, 65535),
            ([1, 1, 65536], [1, 1, 1], 0, "grid size in z", 65536, 65535),
            ([1, 1, 1], [1025, 1, 1], 0, "block size in x", 1025, 1024),
            ([1, 1, 1], [1, 1, 65], 0, "block size in z", 65, 64),
            ([1, 1, 1], [1024, 2, 1], 0, "threads in a block (limit of the device)", 2048, 1024),
            ([1, 1, 1], [257, 1, 1], 0, "threads in a block (limit of the kernel)", 257, 256),
            ([1, 1, 1], [1, 1, 1], 227 * 1024 - 15, "bytes of shared memory", 227 * 1024 + 1, 227 * 1024),
            ([1, 1, 1], [1, 1, 1], u32::MAX, "bytes of shared memory", u64::from(u32::MAX) + 16, 227 * 1024),
        ] {
            match check(grid, block, shared) {
                Err(Error::LaunchLimit { kernel, what, asked, limit }) => {
                    assert_eq!((kernel.as_str(), what, asked, limit), ("k", named, wrong, most));
                }
                other => panic!("{grid:?} {block:?} {shared}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_grid_is_whole_clusters() {
        let kernel = KernelMeta { cluster: 2, ..KERNEL };
        let check = |blocks| Limits::SIMULATOR.check(&kernel, &LaunchConfig::linear(blocks, 32), 0);
        check(6).unwrap();
        assert!(matches!(check(7), Err(Error::PartialCluster { blocks: 7, cluster: 2, .. })));
    }

    #[test]
    fn a_launch_without_threads_is_empty() {
        for axis in 0..3 {
            let mut none = [1; 3];
            none[axis] = 0;
            assert!(matches!(check(none, [1; 3], 0), Err(Error::EmptyLaunch { .. })));
            assert!(matches!(check([1; 3], none, 0), Err(Error::EmptyLaunch { .. })));
        }
    }
}
