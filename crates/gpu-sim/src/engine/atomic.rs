//! Atomic and volatile accesses: what they may return, and what they order.

use std::rc::Rc;

use super::access::Access;
use super::counts::Event;
use super::path::STORES;
use super::{Caller, Engine};
use crate::clock::{View, join_into};
use crate::config::Record;
use crate::device::{Ordering, Scope};
use crate::fault::{Direction, Space};
use crate::memory::aligned;
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
            Space::Global => self.heap.reach(address, size),
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
        if !aligned(offset, size) {
            self.misaligned(space, address, size, direction, caller);
        }
        let written = region.is_written(offset, size);
        let value = region.read(offset, size) as u64;
        if space == Space::Shared {
            // Before the bytes count as unwritten: the copy into them is what is missing.
            self.check_async(self.current.slot, offset, size, direction, caller);
        }
        if effect != Effect::Store && !written {
            self.unwritten_atomic(target, effect);
        }
        value
    }

    /// Writes the newest value.
    fn put(&mut self, target: &Target, value: u64) {
        let region = match target.space {
            Space::Global => self.heap.locate(target.address, target.size).map(|found| found.0),
            Space::Shared => Some(&mut self.blocks[self.current.slot].shared),
        };
        let region = region.expect("checked before");
        let offset = (target.address & ((1 << 40) - 1)) as usize;
        self.progressed |= region.write(offset, target.size, value.into());
        region.mark_written(offset, target.size);
    }

    /// Checks the access against unordered ones and records it; returns the number of its location.
    pub(crate) fn observe_atomic(&mut self, target: &Target, effect: Effect, value: u64, site: u16) -> u32 {
        let Target { space, address, size, scope, caller, .. } = *target;
        let offset = (address & ((1 << 40) - 1)) as usize;
        if space == Space::Global {
            let access = if effect == Effect::Load { Access::Read } else { Access::Write };
            if effect != Effect::Load {
                self.check_sources(address, size, caller);
            }
            self.check_earlier(address, size, access, true, caller);
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
            Space::Global => {
                self.heap.locate(address, size).expect("checked before").0.shadow.put_back(shadow);
            }
            Space::Shared => self.block().shared.shadow.put_back(shadow),
        }
        if let Some(conflict) = conflict {
            let direction = if write { Direction::Write } else { Direction::Read };
            self.raise_conflict(conflict, space, address, direction, caller);
        }
        index
    }

    /// Takes in what a message of a location carries: now, when the access acquires, or at the next acquire, by a
    /// fence or by a load of the location. An acquiring load also takes in what the thread read there before.
    fn receive(&mut self, index: u32, message: &Message, ordering: Ordering, scope: Scope) {
        let tid = self.current.tid;
        if ordering.acquires() {
            let [own, foreign] = self.block().sync[tid as usize].read_at.get(index);
            let foreign = foreign.filter(|_| scope != Scope::Block);
            for view in own.into_iter().chain(foreign) {
                self.block().learn(tid, &view);
            }
        }
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
            let state = self.block().sync_mut(tid);
            join_into(&mut state.pending[usize::from(!same_block)], news);
            state.read_at.add(index, usize::from(!same_block), news);
        }
    }

    /// What a store by the running thread to a location carries, for its block and for others: what it released
    /// there, now or before, and at its fences. An update passes on what the store it replaces carried.
    fn promises(
        &mut self,
        index: u32,
        ordering: Ordering,
        scope: Scope,
        replaced: Option<&Message>,
    ) -> [Option<Rc<View>>; 2] {
        let tid = self.current.tid;
        let wide = scope != Scope::Block;
        let state = &self.block().sync[tid as usize];
        let mut carried = state.released.clone();
        if ordering.releases() {
            let now = self.snapshot();
            let released = &mut self.block().sync_mut(tid).released_at;
            // What it released before is part of it.
            released.set(index, 0, &now);
            if wide {
                released.set(index, 1, &now);
                carried[1] = Some(now.clone());
            }
            carried[0] = Some(now);
        } else {
            for (carried, view) in carried.iter_mut().zip(state.released_at.get(index)) {
                if let Some(view) = view {
                    join_into(carried, &view);
                }
            }
        }
        if !wide {
            carried[1] = None;
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

    /// `extra` tells a store, for which nobody waits.
    fn log_atomic(&mut self, target: &Target, site: u16, extra: u32) {
        if self.record.is_counted() {
            let Target { operation, address, size, .. } = *target;
            self.log_event(Event { site, operation, size: size as u8, extra, address });
        }
    }

    /// The running thread's warp has read a message of another block, and is one hop behind that. An update comes
    /// behind the one that it replaces, but does not wait for it.
    fn follow(&mut self, message: &Message, effect: Effect) {
        let (per_block, warp) = (self.per_block, self.warp());
        let block = self.block();
        if message.hops > 0 && message.gid / per_block != block.number {
            let hops = &mut block.warps[warp].hops;
            *hops = (*hops).max(message.hops - u32::from(effect == Effect::Update));
        }
    }

    /// An atomic or volatile load.
    pub(crate) fn atomic_load(&mut self, target: &Target) -> u64 {
        let newest = self.newest_value(target, Effect::Load);
        self.polls(target.caller, target.address, newest);
        if self.scheduler.suspicious() {
            self.note_read(target.address, newest);
        }
        if !self.watches_races() {
            return newest;
        }
        let site = self.site(target.caller);
        self.log_atomic(target, site, 0);
        let index = self.observe_atomic(target, Effect::Load, newest, site);
        let (current, per_block) = (self.current, self.per_block);
        let block = &mut self.blocks[current.slot];
        let location = self.locations.get(index);
        let choices = location.choices(&Self::who(block, current, per_block)) as u32;
        let mut age = 0;
        if choices > 1 && self.reads_stale(index) {
            // What is nearly the newest hides most: half of the time that.
            age = if self.rng.one_in(2) { 1 } else { 1 + self.rng.below(choices - 1) };
        }
        self.has_read(index, choices > 1, age > 0);
        let block = &self.blocks[current.slot];
        let message = self.locations.get(index).load(&Self::who(block, current, per_block), age as usize);
        self.follow(&message, Effect::Load);
        self.receive(index, &message, target.ordering, target.scope);
        message.value
    }

    /// Whether the running thread, which may, is to read something older than the newest value: the more of that in a
    /// row, the less. What goes wrong with two words that belong together goes wrong where one is old and the other is
    /// not: so rather not where it has just read another location's old value, and rather so where its newest.
    fn reads_stale(&mut self, index: u32) -> bool {
        let state = &self.blocks[self.current.slot].sync[self.current.tid as usize];
        let percent = self.config.stale_percent.min(100);
        let percent = match state.chosen {
            Some((location, true)) if location != index => percent >> 1,
            Some((location, false)) if location != index => percent + 3 * percent / 8,
            _ => percent >> (state.stale / 2),
        };
        self.scheduler.lively() && self.rng.below(100) < percent
    }

    /// Of a read: whether there was a choice, and whether it was of something older than the newest value.
    fn has_read(&mut self, index: u32, had_choice: bool, stale: bool) {
        let tid = self.current.tid;
        let block = self.block();
        let streak = block.sync[tid as usize].stale;
        if had_choice || streak > 0 {
            let state = block.sync_mut(tid);
            state.stale = if stale { (streak + 1).min(14) } else { 0 };
            if had_choice {
                state.chosen = Some((index, stale));
            }
        }
    }

    /// An atomic or volatile store.
    pub(crate) fn atomic_store(&mut self, target: &Target, value: u64) {
        let before = self.newest_value(target, Effect::Store);
        self.goes_on();
        let mut age = 0;
        if self.watches_races() {
            let site = self.site(target.caller);
            self.log_atomic(target, site, STORES);
            let index = self.observe_atomic(target, Effect::Store, before, site);
            age = self.order_of_write(index);
            self.append(index, target, value, None, age);
        }
        // Memory holds what is last in the modification order.
        if age == 0 {
            self.put(target, value);
        }
    }

    /// Where a write of the running thread comes in the modification order of a location: before how many of the
    /// newest stores. Nothing orders it after those.
    fn order_of_write(&mut self, index: u32) -> usize {
        if !self.locations.get(index).has_past() || !self.scheduler.lively() {
            return 0;
        }
        if self.rng.below(100) >= self.config.stale_percent {
            return 0;
        }
        let who = Self::who(&self.blocks[self.current.slot], self.current, self.per_block);
        self.locations.get(index).place(&who, |choices| self.rng.below(choices))
    }

    /// The first half of a read-modify-write: the value it reads, and before how many of the newest stores that was.
    pub(crate) fn update_begin(&mut self, target: &Target) -> (u64, usize) {
        let mut old = self.newest_value(target, Effect::Update);
        if self.scheduler.suspicious() {
            self.note_read(target.address, old);
        }
        let mut age = 0;
        if self.watches_races()
            && let Some(index) = self.past_of(target)
            && self.reads_stale(index)
        {
            let who = Self::who(&self.blocks[self.current.slot], self.current, self.per_block);
            age = self.locations.get(index).place(&who, |choices| self.rng.below(choices));
            old = self.locations.get(index).value(age);
        }
        (old, age)
    }

    /// The location of an access, if it has stores before the newest.
    fn past_of(&mut self, target: &Target) -> Option<u32> {
        let offset = (target.address & ((1 << 40) - 1)) as usize;
        let shadow = match target.space {
            Space::Global => &mut self.heap.locate(target.address, target.size)?.0.shadow,
            Space::Shared => &mut self.blocks[self.current.slot].shared.shadow,
        };
        let first = shadow.granules(offset, target.size, &mut self.sets).start;
        let cell = *shadow.cell(first);
        let index = cell.atomic.checked_sub(1)?;
        let location = self.locations.get(index);
        let plain = cell.last_write().map_or((0, 0), |(gid, clock, _)| (gid, clock));
        let same = (location.offset, location.size) == (offset, target.size);
        (same && location.has_past() && location.is_current(plain)).then_some(index)
    }

    /// The second half; nothing may run in between. `None` is a compare-and-swap that failed: a load.
    pub(crate) fn update_finish(&mut self, target: &Target, (old, age): (u64, usize), new: Option<u64>) {
        match new {
            Some(_) => self.goes_on(),
            None => self.polls(target.caller, target.address, old),
        }
        if self.watches_races() {
            let site = self.site(target.caller);
            self.log_atomic(target, site, 0);
            let effect = if new.is_some() { Effect::Update } else { Effect::Load };
            let index = self.observe_atomic(target, effect, old, site);
            let (current, per_block) = (self.current, self.per_block);
            let block = &self.blocks[current.slot];
            let location = self.locations.get(index);
            let message = location.load(&Self::who(block, current, per_block), age);
            self.has_read(index, age > 0, age > 0);
            self.follow(&message, effect);
            self.receive(index, &message, target.ordering, target.scope);
            if let Some(new) = new {
                self.append(index, target, new, Some(&message), age);
            }
        }
        if let (Some(new), 0) = (new, age) {
            self.put(target, new);
        }
    }

    /// Adds a store to a location's history, before the `age` newest.
    fn append(&mut self, index: u32, target: &Target, value: u64, replaced: Option<&Message>, age: usize) {
        // The clock before the release: whoever acquires the store knows it.
        let clock = self.blocks[self.current.slot].clock(self.current.tid);
        let [to_block, to_device] = self.promises(index, target.ordering, target.scope, replaced);
        let update = replaced.is_some();
        let warp = self.warp();
        let hops = 1 + self.block().warps[warp].hops;
        let message = Message { value, gid: self.current.gid, clock, update, hops, to_block, to_device };
        self.locations.get(index).store(message, age, self.config.history);
    }
}
