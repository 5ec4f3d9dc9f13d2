//! Atomic and volatile accesses: what they may return, and what they order.

use std::rc::Rc;

use super::{Caller, Engine};
use crate::clock::{View, join_into};
use crate::config::Record;
use crate::device::{Ordering, Scope};
use crate::fault::{Direction, Space};
use crate::memory::history::{Location, Message};
use crate::report::Operation;

/// An atomic access, as far as its value does not matter.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub(crate) space: Space,
    pub(crate) address: u64,
    pub(crate) size: usize,
    pub(crate) ordering: Ordering,
    pub(crate) scope: Scope,
    pub(crate) caller: Caller,
    /// What it counts as.
    pub(crate) operation: Operation,
}

/// What an access does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Load,
    Store,
    Update,
}

impl Engine {
    /// Whether happens-before is watched.
    #[inline]
    pub(crate) fn watches_races(&self) -> bool {
        self.record != Record::Off
    }

    /// Checks bounds, alignment and, before a read, that the bytes are written; returns the newest value.
    fn newest_value(&mut self, target: &Target, effect: Effect) -> u64 {
        let Target { space, address, size, caller, .. } = *target;
        let direction = if effect == Effect::Load { Direction::Read } else { Direction::Write };
        let located = match space {
            Space::Global => self.heap.locate(address, size),
            Space::Shared => {
                let shared = &mut self.blocks[self.current.slot].shared;
                let fits = address.checked_add(size as u64).is_some_and(|end| end <= shared.len() as u64);
                fits.then_some((shared, address as usize))
            }
        };
        let Some((region, offset)) = located else {
            match space {
                Space::Global => self.bad_address(address, size, direction, caller),
                Space::Shared => self.bad_offset(address as u32, size, direction, caller),
            }
        };
        if offset % size != 0 {
            self.misaligned(space, address, size, direction, caller);
        }
        let written = region.is_written(offset, size);
        let mut value = [0; 8];
        value[..size].copy_from_slice(&region.bytes()[offset..offset + size]);
        if space == Space::Shared {
            // Before the bytes count as unwritten: the copy into them is what is missing.
            self.check_async(offset, size, direction, caller);
        }
        if effect != Effect::Store && !written {
            self.unwritten_atomic(target, effect);
        }
        u64::from_le_bytes(value)
    }

    /// Writes the newest value.
    fn put(&mut self, target: &Target, value: u64) {
        let region = match target.space {
            Space::Global => self.heap.locate(target.address, target.size).map(|found| found.0),
            Space::Shared => Some(&mut self.blocks[self.current.slot].shared),
        };
        let region = region.expect("checked before");
        let offset = (target.address & ((1 << 40) - 1)) as usize;
        let new = &value.to_le_bytes()[..target.size];
        let old = &mut region.bytes_mut()[offset..offset + target.size];
        self.progressed |= old != new;
        old.copy_from_slice(new);
        region.mark_written(offset, target.size);
    }

    /// Checks the access against unordered ones and records it; returns the number of its location.
    pub(crate) fn observe_atomic(&mut self, target: &Target, effect: Effect, value: u64, site: u16) -> u32 {
        let Target { space, address, size, scope, caller, .. } = *target;
        let offset = (address & ((1 << 40) - 1)) as usize;
        if space == Space::Global && effect != Effect::Load {
            self.check_sources(address, size, caller);
        }
        // Out of its region while the rest of the engine is used.
        let mut shadow = match space {
            Space::Global => {
                std::mem::take(&mut self.heap.locate(address, size).expect("checked before").0.shadow)
            }
            Space::Shared => std::mem::take(&mut self.block().shared.shadow),
        };
        let block = &self.blocks[self.current.slot];
        let who = Self::who(block, self.current, self.per_block);
        let granules = shadow.granules(offset, size, &mut self.sets);
        let write = effect != Effect::Load;
        let mut conflict = None;
        let mut plain = (0, 0);
        for granule in granules.clone() {
            conflict = conflict.or_else(|| {
                if write {
                    shadow.before_write(granule, &who, &self.sets)
                } else {
                    shadow.before_atomic_read(granule, &who)
                }
            });
            if let Some((gid, clock, _)) = shadow.cell(granule).last_write() {
                plain = (gid, clock);
            }
        }
        let block_scope = scope == Scope::Block && space == Space::Global;
        let mut index = None;
        for granule in granules.clone() {
            let Some(known) = shadow.cell(granule).atomic.checked_sub(1) else { continue };
            let location = self.locations.get(known);
            if (location.offset, location.size) == (offset, size) {
                conflict = conflict.or_else(|| location.before_atomic(&who, write, block_scope));
                index = Some(known);
            } else {
                // Atomics of other bytes, some of which are these, are no more atomic to each other than plain
                // accesses.
                conflict = conflict.or_else(|| location.before_plain(&who, write));
            }
        }
        let index = index.unwrap_or_else(|| {
            let mut fresh = Location::new(offset, size, value, plain);
            for granule in granules.clone() {
                if let Some(known) = shadow.cell(granule).atomic.checked_sub(1) {
                    fresh.inherit(self.locations.get(known));
                }
            }
            let index = self.locations.add(fresh);
            for granule in granules {
                shadow.set_atomic(granule, index);
            }
            index
        });
        let location = self.locations.get(index);
        if conflict.is_none() {
            if plain != (0, 0) {
                location.restart(value, plain);
            }
            location.note(&who, site, write, block_scope);
        }
        match space {
            Space::Global => self.heap.locate(address, size).expect("checked before").0.shadow = shadow,
            Space::Shared => self.block().shared.shadow = shadow,
        }
        if let Some(conflict) = conflict {
            let direction = if write { Direction::Write } else { Direction::Read };
            self.raise_conflict(conflict, space, address, direction, caller);
        }
        index
    }

    /// Takes in what a message carries: now, when the access acquires, or at the next acquire fence.
    fn receive(&mut self, message: &Message, ordering: Ordering, scope: Scope) {
        let tid = self.current.tid;
        let same_block = message.gid / self.per_block == self.blocks[self.current.slot].number;
        let news = match (same_block, scope) {
            (true, _) => &message.to_block,
            (false, Scope::Block) => &None,
            (false, _) => &message.to_device,
        };
        let Some(news) = news else { return };
        if ordering.acquires() {
            self.block().learn(tid, news);
        } else {
            join_into(&mut self.block().sync_mut(tid).pending[usize::from(!same_block)], news);
        }
    }

    /// What a store by the running thread carries, for its block and for others. An update passes on what the
    /// store it replaces carried.
    fn promises(
        &mut self,
        ordering: Ordering,
        scope: Scope,
        replaced: Option<&Message>,
    ) -> [Option<Rc<View>>; 2] {
        let tid = self.current.tid;
        let wide = scope != Scope::Block;
        let released = &self.block().sync[tid as usize].released;
        let mut carried = [released[0].clone(), if wide { released[1].clone() } else { None }];
        if ordering.releases() {
            let now = self.snapshot();
            if wide {
                carried[1] = Some(now.clone());
            }
            carried[0] = Some(now);
        }
        if let Some(replaced) = replaced {
            let same_block = replaced.gid / self.per_block == self.block().number;
            if let Some(view) = &replaced.to_device {
                join_into(&mut carried[0], view);
                join_into(&mut carried[1], view);
            }
            if let (true, Some(view)) = (same_block, &replaced.to_block) {
                join_into(&mut carried[0], view);
            }
        }
        carried
    }

    fn log_atomic(&mut self, target: &Target, site: u16) {
        self.log_if_full(target.operation, site, target.address, target.size as u32, target.caller);
    }

    /// An atomic or volatile load.
    pub(crate) fn atomic_load(&mut self, target: &Target) -> u64 {
        let newest = self.newest_value(target, Effect::Load);
        if self.scheduler.suspicious() {
            self.note_read(target.address, newest);
        }
        if !self.watches_races() {
            return newest;
        }
        let site = self.site(target.caller);
        self.log_atomic(target, site);
        let index = self.observe_atomic(target, Effect::Load, newest, site);
        let (current, per_block, stale) = (self.current, self.per_block, self.config.stale_percent);
        let lively = self.scheduler.lively();
        let block = &mut self.blocks[current.slot];
        let location = self.locations.get(index);
        let choices = location.choices(&Self::who(block, current, per_block)) as u32;
        let streak = block.sync[current.tid as usize].stale;
        let mut age = 0;
        if choices > 1 && lively && self.rng.below(100) < stale >> streak {
            age = 1 + self.rng.below(choices - 1);
        }
        let message = location.load(&Self::who(block, current, per_block), age as usize);
        if (age > 0) != (streak > 0) || age > 0 {
            block.sync_mut(current.tid).stale = if age > 0 { (streak + 1).min(7) } else { 0 };
        }
        self.receive(&message, target.ordering, target.scope);
        message.value
    }

    /// An atomic or volatile store.
    pub(crate) fn atomic_store(&mut self, target: &Target, value: u64) {
        let before = self.newest_value(target, Effect::Store);
        if self.watches_races() {
            let site = self.site(target.caller);
            self.log_atomic(target, site);
            let index = self.observe_atomic(target, Effect::Store, before, site);
            self.append(index, target, value, None);
        }
        self.put(target, value);
    }

    /// The first half of a read-modify-write: the newest value.
    pub(crate) fn update_begin(&mut self, target: &Target) -> u64 {
        let old = self.newest_value(target, Effect::Update);
        if self.scheduler.suspicious() {
            self.note_read(target.address, old);
        }
        old
    }

    /// The second half; nothing may run in between. `None` is a compare-and-swap that failed: a load.
    pub(crate) fn update_finish(&mut self, target: &Target, old: u64, new: Option<u64>) {
        if self.watches_races() {
            let site = self.site(target.caller);
            self.log_atomic(target, site);
            let effect = if new.is_some() { Effect::Update } else { Effect::Load };
            let index = self.observe_atomic(target, effect, old, site);
            let (current, per_block) = (self.current, self.per_block);
            let block = &self.blocks[current.slot];
            let location = self.locations.get(index);
            let message = location.load(&Self::who(block, current, per_block), 0);
            self.receive(&message, target.ordering, target.scope);
            if let Some(new) = new {
                self.append(index, target, new, Some(&message));
            }
        }
        if let Some(new) = new {
            self.put(target, new);
        }
    }

    /// Adds a store to a location's history.
    fn append(&mut self, index: u32, target: &Target, value: u64, replaced: Option<&Message>) {
        // The clock before the release: whoever acquires the store knows it.
        let clock = self.blocks[self.current.slot].clock(self.current.tid);
        let [to_block, to_device] = self.promises(target.ordering, target.scope, replaced);
        let message = Message { value, gid: self.current.gid, clock, to_block, to_device };
        self.locations.get(index).store(message, self.config.history);
    }
}
