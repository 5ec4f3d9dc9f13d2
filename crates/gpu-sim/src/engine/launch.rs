//! A launch from beginning to end.

use std::collections::HashMap;
use std::ptr::null_mut;

use super::arrays::Arrays;
use super::block::{Block, NO_FIBER};
use super::cluster::Cluster;
use super::counts::Tally;
use super::earlier::{Earlier, Waited};
use super::fiber::{Pool, Reserved, install_hook};
use super::scheduler::{Next, Scheduler};
use super::store::Stores;
use super::{CURRENT, Current, Engine, Sites};
use crate::config::{Config, Record};
use crate::fault::{Fault, FaultDetails, FaultKind};
use crate::geometry::{Geometry, Kernel, WARP, unflatten};
use crate::memory::Region;
use crate::memory::alloc::Heap;
use crate::memory::history::Locations;
use crate::memory::shadow::ReadSets;
use crate::metrics::cache::Hierarchy;
use crate::report::Report;
use crate::rng::Rng;

/// A kernel's body, without its lifetime: the engine lives shorter than the borrow.
pub(crate) type Body = *const (dyn Fn() + Sync);

/// Puts the engine where the device functions find it, until dropped.
struct Installed;

impl Installed {
    fn new(engine: *mut Engine) -> Self {
        CURRENT.set(engine);
        Self
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        CURRENT.set(null_mut());
    }
}

/// What a kernel was compiled for.
#[derive(Clone, Copy)]
pub(crate) struct Compiled {
    /// Blocks of at most so many threads.
    pub(crate) max_threads: u32,
    /// It waits by itself for the kernel before.
    pub(crate) programmatic: bool,
    /// Clusters of so many blocks.
    pub(crate) cluster: u32,
}

/// Runs a kernel, on the simulator with this number. The heap is given back whatever happens. `last` is the launch
/// before, if nothing came in between, and becomes this one.
pub(crate) fn launch(
    heap: &mut Heap,
    last: &mut Option<Earlier>,
    config: Config,
    (kernel, simulator): (Kernel<'_>, u64),
    (geometry, compiled): (Geometry, Compiled),
    generation: u32,
    body: &(dyn Fn() + Sync),
) -> Result<Report, Fault> {
    let fault = |kind| {
        Fault::new(FaultDetails {
            kernel: kernel.name.into(),
            kernel_site: format!("{}:{}", kernel.file, kernel.line),
            ..FaultDetails::blank(kind, config.seed)
        })
    };
    config.check().map_err(fault)?;
    geometry.check(&config, compiled.max_threads).map_err(fault)?;
    geometry.check_cluster(compiled.cluster).map_err(fault)?;
    let waited =
        last.take().filter(|_| compiled.programmatic && config.record != Record::Off).map(Waited::new);
    install_hook();
    let per_block = geometry.threads_per_block();
    let blocks = config.sample.map_or(geometry.blocks(), |sample| geometry.blocks().min(sample.max(1)));
    // Those of a cluster start together, and have a place each.
    let cluster = compiled.cluster;
    let clusters = blocks.div_ceil(cluster);
    let mut rng = Rng::new(config.seed);
    let most = (Config::MAX_RESIDENT_THREADS / per_block as usize)
        .min(config.resident_blocks)
        .min(Config::MAX_RESIDENT)
        .min(blocks as usize);
    let most = (most / cluster as usize).max(1);
    let groups = if config.vary_residency && most > 1 && rng.one_in(2) {
        1 + rng.below(most as u32) as usize
    } else {
        most
    };
    let slots = groups * cluster as usize;
    let _reserved = Reserved::new(slots * per_block as usize);
    let full = config.record.is_counted();
    let mut places = Vec::with_capacity(slots);
    for _ in 0..slots {
        let asked = u64::from(geometry.shared_bytes);
        let shared = Region::new(geometry.shared_bytes as usize)
            .ok_or_else(|| fault(FaultKind::OutOfMemory { asked, free: 0, total: asked }))?;
        places.push(Block::new(per_block, shared, full));
    }
    heap.begin(generation, waited.is_some());
    let threads = u64::from(clusters * cluster) * u64::from(per_block);
    let scheduler = Scheduler::new(&config, clusters, groups, per_block.div_ceil(WARP), threads, &mut rng);
    // SAFETY: only the lifetime is changed; the engine, the only holder, is gone before `body` is.
    let body = unsafe { std::mem::transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(body) };
    let mut engine = Engine {
        current: Current::default(),
        quantum: config.quantum.max(1),
        observe: config.record != Record::Off,
        progressed: false,
        record: config.record,
        heap: std::mem::take(heap),
        blocks: places,
        cluster,
        clusters: (0..groups).map(|_| Cluster::default()).collect(),
        simulator,
        geometry,
        arrays: Arrays::default(),
        per_block,
        coordinates: (0..per_block).map(|tid| unflatten(tid, geometry.block)).collect(),
        config: Config { quantum: config.quantum.max(1), ..config },
        rng,
        scheduler,
        parked: None,
        sources: HashMap::new(),
        flights: 0,
        stores: Stores::default(),
        stack_limit: 0,
        fiber_limit: 0,
        ended: false,
        calls_after_end: 0,
        launched_in_panic: std::thread::panicking(),
        sets: ReadSets::default(),
        locations: Locations::default(),
        waited,
        tally: Tally::new(config.caches.filter(|_| full).map(|device| Hierarchy::new(&device, &geometry))),
        sites: Sites { cache: Box::new([(0, 0); 1024]), numbers: HashMap::new(), list: vec![None] },
        kernel: (kernel.name.into(), format!("{}:{}", kernel.file, kernel.line)),
        fault: None,
        aborting: false,
        body,
    };
    let outcome = run(&mut engine, config.stack_bytes);
    if outcome.is_ok() {
        engine.check_waited();
    }
    engine.heap.end(&format!("`{}` ({})", engine.kernel.0, engine.kernel.1));
    *heap = std::mem::take(&mut engine.heap);
    outcome.map_err(|error| {
        fault(FaultKind::Panic { message: format!("no stack for a simulated thread: {error}") })
    })?;
    match engine.fault.take() {
        Some(fault) => Err(fault),
        None => {
            let report = engine.report(kernel.name, threads, compiled.programmatic);
            let Engine { kernel: (name, place), sites, sets, locations, record, .. } = engine;
            if record != Record::Off {
                let kernel = format!("`{name}` ({place})");
                let (sites, locations) = (sites.list, locations.finish());
                *last = Some(Earlier { kernel, geometry, sites, sets, locations });
            }
            Ok(report)
        }
    }
}

/// The main loop: fibers run until they suspend and say who is next. Engine and pool are reached through raw
/// pointers here, because fibers reach the engine too.
fn run(engine: &mut Engine, stack_bytes: usize) -> std::io::Result<()> {
    let engine: *mut Engine = engine;
    let mut pool = Pool::take(stack_bytes);
    let installed = Installed::new(engine);
    let engine_now = || {
        // SAFETY: the engine outlives this function, and no fiber runs while the reference is in use.
        unsafe { &mut *engine }
    };
    let mut next = engine_now().pick();
    let mut failed = None;
    while next != Next::Over {
        let fiber = match next {
            Next::Resume(fiber) => fiber,
            _ => match pool.idle() {
                Ok(fiber) => fiber,
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            },
        };
        engine_now().scheduler.switches += 1;
        pool.resume(fiber);
        next = engine_now().scheduler.next;
    }
    // After a fault, suspended threads unwind, so that their fibers are free again: ended ones are not suspended.
    engine_now().aborting = true;
    for slot in 0..engine_now().blocks.len() {
        for tid in 0..engine_now().per_block {
            let thread = &mut engine_now().blocks[slot].threads[tid as usize];
            let fiber = std::mem::replace(&mut thread.fiber, NO_FIBER);
            if fiber != NO_FIBER {
                let number = engine_now().blocks[slot].number;
                engine_now().current = Current { slot, tid, gid: number * engine_now().per_block + tid };
                pool.resume(fiber);
            }
        }
    }
    drop(installed);
    pool.give();
    failed.map_or(Ok(()), Err)
}

impl Engine {
    /// The kernel's body.
    #[inline]
    pub(crate) fn body(&self) -> Body {
        self.body
    }

    /// The fault that ended the launch.
    #[inline]
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Before a block starts in a slot: what was recorded of its predecessor's shared memory is void.
    pub(crate) fn recycle_shared(&mut self, slot: usize) {
        let Self { blocks, sets, locations, .. } = self;
        if blocks[slot].shared.len() > 0 {
            blocks[slot].shared.shadow.recycle(sets, |location| locations.free(location));
        }
    }

    fn report(&self, kernel: &str, threads: u64, programmatic: bool) -> Report {
        let (counts, sites) = self.tally.report(&self.sites.list);
        Report {
            kernel: kernel.into(),
            geometry: self.geometry,
            programmatic,
            threads,
            blocks: self.scheduler.finished_blocks,
            switches: self.scheduler.switches,
            steps: self.scheduler.steps,
            seed: self.config.seed,
            counts,
            sites,
            paths: self.tally.walks.paths(),
            caches: self.tally.traffic(),
        }
    }
}
