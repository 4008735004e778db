//! Synchronization: barriers of a block and of the grid, and what the lanes of a warp tell each other.

use super::Machine;
use super::code::Meeting;
use super::exec::Thread;
use super::grid::Block;
use super::trap::{Fault, Trap};
use super::value::RtValue;
use crate::module::Value;
use crate::op::{BarrierOp, Const, WARP, WarpOp};
use crate::types::Scalar;

/// Where a thread waits: its whole stack.
fn site(thread: &Thread) -> impl Iterator<Item = (u32, usize)> + '_ {
    thread.frames.iter().map(|frame| (frame.func.0, frame.pc))
}

fn same_site(a: &Thread, b: &Thread) -> bool {
    site(a).eq(site(b))
}

fn lane_bit(thread: &Thread) -> u32 {
    1 << (thread.number % WARP)
}

fn mask_const(mask: u32) -> Const {
    Const::Int(Scalar::U32, mask.into())
}

impl Thread {
    fn scalar(&self, value: Value) -> Result<Const, Box<Trap>> {
        let frame = self.frames.last().ok_or_else(Trap::malformed)?;
        frame.scalar(value).map_err(|_| Trap::malformed())
    }

    fn int(&self, value: Value) -> Result<i64, Box<Trap>> {
        match self.scalar(value)? {
            Const::Int(_, v) => Ok(v),
            _ => Err(Trap::malformed()),
        }
    }

    /// The meeting is over; its result, if it has one, is known.
    fn go_on(&mut self, result: Option<(Value, Const)>) {
        self.waits = None;
        if let (Some((into, value)), Some(frame)) = (result, self.frames.last_mut()) {
            frame.values[into.index()] = RtValue::Scalar(value);
        }
    }
}

/// Lanes that wait at one operation of a warp with one mask, by their position in the warp.
struct Group {
    mask: u32,
    members: Vec<usize>,
    /// The members' bits.
    lanes: u32,
    /// Do they multiply matrices?
    multiplies: bool,
}

impl Group {
    /// Have all come that must? Who has ended is not waited for, but tensor cores take whole warps.
    fn is_complete(&self, alive: u32) -> bool {
        let awaited = if self.multiplies { self.mask } else { self.mask & alive };
        awaited & !self.lanes == 0
    }
}

impl Machine<'_> {
    /// The threads that wait at barriers of the block go on. In checked mode these must be all of its threads, at the same one.
    pub(super) fn meet_block(&mut self, block: &mut Block, threads: usize) -> Result<(), Box<Trap>> {
        self.all_here(block.threads(), threads)?;
        let (mut count, mut voters) = (0, 0);
        for thread in block.threads() {
            if let Some(Meeting::Reduce { value, .. }) = thread.waits {
                voters += 1;
                count += i64::from(thread.scalar(value)? == Const::Bool(true));
            }
        }
        for thread in block.threads_mut() {
            match thread.waits {
                Some(Meeting::Reduce { into, op, .. }) => {
                    let result = match op {
                        BarrierOp::Count => Const::Int(Scalar::I32, count),
                        BarrierOp::And => Const::Bool(count == voters),
                        BarrierOp::Or => Const::Bool(count > 0),
                    };
                    thread.go_on(Some((into, result)));
                }
                Some(Meeting::Barrier) => thread.go_on(None),
                _ => {}
            }
        }
        Ok(())
    }

    /// All threads of all blocks that have not ended wait at barriers of the grid. In checked mode these must be all threads.
    pub(super) fn meet_grid(&mut self, blocks: &mut [Block], threads: usize) -> Result<(), Box<Trap>> {
        self.all_here(blocks.iter().flat_map(Block::threads), threads)?;
        blocks.iter_mut().flat_map(Block::threads_mut).for_each(|thread| thread.go_on(None));
        Ok(())
    }

    fn all_here<'t>(&mut self, mut waiting: impl Iterator<Item = &'t Thread>, threads: usize) -> Result<(), Box<Trap>> {
        let (true, Some(first)) = (self.options.checked || self.options.in_step, waiting.next()) else {
            return Ok(());
        };
        let same = 1 + waiting.filter(|thread| same_site(thread, first)).count();
        if same == threads {
            return Ok(());
        }
        let fault = Fault::BarrierDivergence {
            waiting: same as u32,
            threads: threads as u32,
        };
        Err(self.waiting_fault(first, fault))
    }

    /// Lets a group of lanes that wait for each other go on. False if none does; lanes may still wait for other warps.
    pub(super) fn meet_warp(&mut self, warp: &mut [Thread]) -> Result<bool, Box<Trap>> {
        let mut groups = groups(warp)?;
        let alive = warp.iter().fold(0, |bits, thread| bits | lane_bit(thread));
        let complete = groups.iter().position(|group| group.is_complete(alive));
        let chosen = match complete {
            Some(i) => groups.swap_remove(i),
            None => match groups.into_iter().next() {
                Some(group) if self.options.checked => {
                    let fault = Fault::WarpDivergence {
                        mask: group.mask,
                        waiting: group.lanes,
                    };
                    return Err(self.waiting_fault(&warp[group.members[0]], fault));
                }
                Some(group) => group,
                None => return self.active_mask(warp),
            },
        };
        match &mut self.memory.races {
            // Tensor cores order no accesses of other lanes.
            Some(races) if !chosen.multiplies => races.next_epoch(),
            _ => {}
        }
        self.check_factors(warp, &chosen)?;
        self.check_members(warp, &chosen)?;
        let results = self.results(warp, &chosen)?;
        for (i, result) in chosen.members.iter().zip(results) {
            warp[*i].go_on(result);
        }
        Ok(true)
    }

    fn check_members(&mut self, warp: &[Thread], group: &Group) -> Result<(), Box<Trap>> {
        let stranger = group.members.iter().map(|i| &warp[*i]).find(|t| lane_bit(t) & group.mask == 0);
        match stranger {
            Some(thread) if self.options.checked => {
                let fault = Fault::NotInMask {
                    mask: group.mask,
                    lane: thread.number % WARP,
                };
                Err(self.waiting_fault(thread, fault))
            }
            _ => Ok(()),
        }
    }

    /// All lanes must give the matrices that the first gives, and sums of one shape.
    fn check_factors(&mut self, warp: &[Thread], group: &Group) -> Result<(), Box<Trap>> {
        let (true, Some((first, others))) = (self.options.checked && group.multiplies, group.members.split_first()) else {
            return Ok(());
        };
        let first = &warp[*first];
        for other in others.iter().map(|i| &warp[*i]) {
            if let Some(array) = unequal_views(first, other)? {
                let fault = Fault::UnequalViews {
                    array,
                    lanes: [first, other].map(|thread| thread.number % WARP),
                };
                return Err(self.waiting_fault(other, fault));
            }
        }
        Ok(())
    }

    /// What each member gets.
    fn results(&mut self, warp: &[Thread], group: &Group) -> Result<Vec<Option<(Value, Const)>>, Box<Trap>> {
        let mut given = [None; WARP as usize];
        for thread in group.members.iter().map(|i| &warp[*i]) {
            if let (Some(Meeting::Warp { value, .. }), true) = (thread.waits, lane_bit(thread) & group.mask != 0) {
                given[(thread.number % WARP) as usize] = Some(thread.scalar(value)?);
            }
        }
        let members = group.members.iter().map(|i| &warp[*i]);
        members.map(|thread| self.result(thread, &given)).collect()
    }

    /// What a lane gets when each lane that takes part has given a value.
    fn result(&mut self, thread: &Thread, given: &[Option<Const>; WARP as usize]) -> Result<Option<(Value, Const)>, Box<Trap>> {
        let Some(Meeting::Warp { into, op, value, lane, .. }) = thread.waits else {
            return Ok(None);
        };
        let own = thread.scalar(value)?;
        // Constants are held as bits, so that floats compare by theirs.
        let same_as = |other: Const| given.iter().flatten().all(|v| *v == other);
        let lanes = |which: &dyn Fn(Const) -> bool| bits(given.iter().map(|v| v.is_some_and(which)));
        let yes = Const::Bool(true);
        let result = match op {
            WarpOp::All => Const::Bool(same_as(yes)),
            WarpOp::Any => Const::Bool(lanes(&|v| v == yes) != 0),
            WarpOp::Equal => Const::Bool(same_as(yes) || same_as(Const::Bool(false))),
            WarpOp::Ballot => mask_const(lanes(&|v| v == yes)),
            WarpOp::MatchAny => mask_const(lanes(&|v| v == own)),
            WarpOp::MatchAll if same_as(own) => mask_const(lanes(&|_| true)),
            WarpOp::MatchAll => mask_const(0),
            WarpOp::ShuffleIdx | WarpOp::ShuffleUp | WarpOp::ShuffleDown | WarpOp::ShuffleXor => {
                let by = thread.int(lane.ok_or_else(Trap::malformed)?)? as u32 % WARP;
                let from = source(op, thread.number % WARP, by);
                match given[from as usize] {
                    Some(value) => value,
                    None if self.options.checked => return Err(self.waiting_fault(thread, Fault::ShuffleSource { lane: from })),
                    None => own,
                }
            }
        };
        Ok(Some((into, result)))
    }

    /// The lanes that wait to know who runs with them: those at the same place count as together.
    fn active_mask(&mut self, warp: &mut [Thread]) -> Result<bool, Box<Trap>> {
        let asks = |thread: &Thread| matches!(thread.waits, Some(Meeting::ActiveMask { .. }));
        let Some(first) = warp.iter().position(asks) else {
            return Ok(false);
        };
        let together: Vec<usize> = (first..warp.len()).filter(|i| same_site(&warp[first], &warp[*i])).collect();
        let mask = together.iter().fold(0, |bits, i| bits | lane_bit(&warp[*i]));
        for i in together {
            if let Some(Meeting::ActiveMask { into }) = warp[i].waits {
                warp[i].go_on(Some((into, mask_const(mask))));
            }
        }
        Ok(true)
    }
}

/// The name of the first array that two lanes give to tensor cores and that is not one array.
fn unequal_views(a: &Thread, b: &Thread) -> Result<Option<String>, Box<Trap>> {
    let (Some(Meeting::Mma { sums, factors }), Some(a), Some(b)) = (a.waits, a.frames.last(), b.frames.last()) else {
        return Err(Trap::malformed());
    };
    let both = |value| match (a.view(value), b.view(value)) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        _ => Err(Trap::malformed()),
    };
    for factor in factors {
        let (a, b) = both(factor)?;
        if (a.buffer, a.offset, &a.shape, &a.strides) != (b.buffer, b.offset, &b.shape, &b.strides) {
            return Ok(Some(b.name().to_owned()));
        }
    }
    let (a, b) = both(sums)?;
    Ok((a.shape != b.shape).then(|| b.name().to_owned()))
}

/// The lanes that wait at operations of the warp, by place and mask.
fn groups(warp: &[Thread]) -> Result<Vec<Group>, Box<Trap>> {
    let mut groups: Vec<Group> = Vec::new();
    for (i, thread) in warp.iter().enumerate() {
        let (mask, multiplies) = match thread.waits {
            Some(Meeting::SyncWarp { mask } | Meeting::Warp { mask, .. }) => (thread.int(mask)? as u32, false),
            Some(Meeting::Mma { .. }) => (u32::MAX, true),
            _ => continue,
        };
        let known = groups
            .iter_mut()
            .find(|group| group.mask == mask && same_site(&warp[group.members[0]], thread));
        match known {
            Some(group) => {
                group.members.push(i);
                group.lanes |= lane_bit(thread);
            }
            None => groups.push(Group {
                mask,
                members: vec![i],
                lanes: lane_bit(thread),
                multiplies,
            }),
        }
    }
    Ok(groups)
}

/// The lane a shuffle reads; the own one where the warp has no such lane.
fn source(op: WarpOp, own: u32, by: u32) -> u32 {
    match op {
        WarpOp::ShuffleUp => own.checked_sub(by).unwrap_or(own),
        WarpOp::ShuffleDown if own + by < WARP => own + by,
        WarpOp::ShuffleDown => own,
        WarpOp::ShuffleXor => own ^ by,
        _ => by,
    }
}

fn bits(lanes: impl Iterator<Item = bool>) -> u32 {
    lanes.enumerate().fold(0, |bits, (lane, on)| bits | u32::from(on) << lane)
}
