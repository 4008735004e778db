//! A warp: 32 lanes, each with a place in the code, run together as long as they are at the same place.
//!
//! Of lanes at several places the deepest call and then the lowest address goes first, so that lanes that went ahead wait for the others
//! where the code comes together. Lanes that have waited long get their turn all the same: a lane may wait for what another does.

use super::block::Block;
use super::calls::Frame;
use super::data::combined;
use super::fault::{Fault, ILLEGAL_INSTRUCTION, LAUNCH_FAILED};
use super::inst::*;
use super::lanes::{FULL, Row, Rows, Slot, WARP, lanes, row_of};
use super::launch::Launch;

/// What a lane waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    Nothing,
    Barrier,
    Together { members: u32, class: u32 },
}

#[derive(Debug)]
pub struct Warp {
    pub number: u32,
    pub registers: Vec<Row>,
    pub preds: Vec<u32>,
    pub specials: Vec<Row>,
    pub pc: [u32; WARP],
    pub(super) base: [u32; WARP],
    pub(super) pred_base: [u32; WARP],
    pub local_base: [u32; WARP],
    pub(super) function: [u32; WARP],
    pub(super) calls: Vec<Vec<Frame>>,
    pub local: Vec<Vec<u8>>,
    /// Lanes that have not exited.
    pub live: u32,
    pub blocked: u32,
    /// Lanes that wait at a barrier of the block.
    pub at_barrier: u32,
    pub waits: [Wait; WARP],
    pub(super) carry: u32,
    schedule: Schedule,
    /// By instruction: the allocation that its last access found, looked at first the next time.
    hints: Vec<u32>,
}

/// Which lanes run next.
#[derive(Debug, Default)]
struct Schedule {
    /// Instructions so far, and how many there were when each lane last ran.
    steps: u64,
    last_run: [u64; WARP],
}

/// Lanes that run together: where they are.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    pub mask: u32,
    pub pc: u32,
    pub base: u32,
    pub pred_base: u32,
    pub function: u32,
}

/// How a run of a warp ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// No lane can go on by itself.
    Blocked,
    /// Its time was up.
    Yield,
}

/// Instructions that some lanes may run while others could.
const PATIENCE: u64 = 1 << 14;
/// What an instruction counts that lanes wait with for each other: atomics, volatile and acquiring loads, fences.
const WAITING: u64 = 256;

/// What the loop does after an instruction.
pub(super) enum Next {
    Go,
    /// Places have changed: look again who runs.
    Again,
}

impl Warp {
    pub fn new(number: u32) -> Warp {
        Warp {
            number,
            registers: Vec::new(),
            preds: Vec::new(),
            specials: (0..special::COUNT).map(|_| row_of(0)).collect(),
            pc: [0; WARP],
            base: [0; WARP],
            pred_base: [0; WARP],
            local_base: [0; WARP],
            function: [0; WARP],
            calls: vec![Vec::new(); WARP],
            local: vec![Vec::new(); WARP],
            live: 0,
            blocked: 0,
            at_barrier: 0,
            waits: [Wait::Nothing; WARP],
            carry: 0,
            schedule: Schedule::default(),
            hints: Vec::new(),
        }
    }

    /// One that has run before, if there is one.
    pub fn reused(spare: Option<Warp>, number: u32) -> Warp {
        let mut warp = spare.unwrap_or_else(|| Warp::new(number));
        warp.number = number;
        warp
    }

    /// Whether it is worth keeping: not if it needs much memory.
    pub fn modest(&self) -> bool {
        self.registers.len() <= 2048 && self.local.iter().all(|l| l.len() <= 1 << 16)
    }

    /// Ready to run a kernel for the first `threads` lanes.
    pub fn start(&mut self, launch: &Launch, block: [u32; 3], threads: u32) {
        let kernel = &launch.program.functions[launch.kernel as usize];
        let rows = kernel.registers as usize;
        if self.registers.len() < rows {
            self.registers.resize_with(rows, || row_of(0));
        }
        self.preds.resize(self.preds.len().max(kernel.preds as usize), 0);
        self.pc = [kernel.start; WARP];
        self.base = [0; WARP];
        self.pred_base = [0; WARP];
        self.local_base = [0; WARP];
        self.function = [launch.kernel; WARP];
        self.calls.iter_mut().for_each(Vec::clear);
        self.live = if threads >= 32 { FULL } else { (1 << threads) - 1 };
        self.blocked = 0;
        self.at_barrier = 0;
        self.waits = [Wait::Nothing; WARP];
        self.schedule.last_run = [self.schedule.steps; WARP];
        self.hints.resize(launch.program.code.len(), 0);
        for local in &mut self.local {
            local.clear();
            local.resize(kernel.frame as usize, 0xcb);
        }
        self.fill_specials(launch, block);
    }

    fn fill_specials(&self, launch: &Launch, block: [u32; 3]) {
        let [nx, ny, _] = launch.block;
        let fill = |row: u32, value: u32| self.specials[row as usize].iter().for_each(|c| c.set(u64::from(value)));
        for axis in 0..3 {
            fill(special::NTID + axis, launch.block[axis as usize]);
            fill(special::CTAID + axis, block[axis as usize]);
            fill(special::NCTAID + axis, launch.grid[axis as usize]);
        }
        fill(special::WARPID, self.number);
        fill(special::NWARPID, launch.warps());
        fill(special::DYNAMIC_SHARED, launch.dynamic_shared);
        fill(special::TOTAL_SHARED, launch.program.dynamic_shared + launch.dynamic_shared);
        fill(special::GRIDID, launch.id as u32);
        fill(special::SMID, (block[0] + block[1] + block[2]) % launch.processors);
        fill(special::NSMID, launch.processors);
        for lane in 0..WARP as u32 {
            let thread = self.number * WARP as u32 + lane;
            let set = |row: u32, value: u32| self.specials[row as usize][lane as usize].set(u64::from(value));
            set(special::TID, thread % nx);
            set(special::TID + 1, thread / nx % ny);
            set(special::TID + 2, thread / (nx * ny));
            set(special::LANEID, lane);
            set(special::MASK_EQ, 1 << lane);
            set(special::MASK_LT, (1 << lane) - 1);
            set(special::MASK_LE, (2u64 << lane).wrapping_sub(1) as u32);
            set(special::MASK_GE, FULL << lane);
            set(special::MASK_GT, ((u64::from(FULL) << lane) << 1) as u32);
        }
    }

    /// Whether lanes share their registers' place.
    pub fn same_frame(&self, mask: u32) -> bool {
        let first = mask.trailing_zeros() as usize;
        lanes(mask).all(|lane| (self.base[lane], self.pred_base[lane]) == (self.base[first], self.pred_base[first]))
    }

    pub fn ready(&self) -> u32 {
        self.live & !self.blocked
    }

    fn depth(&self, lane: usize) -> usize {
        self.calls[lane].len()
    }

    /// Who runs next, and up to where before others must be asked again.
    fn pick(&self, ready: u32) -> (Group, u32, bool) {
        let first = ready.trailing_zeros() as usize;
        let together = |leader: usize, lane: usize| {
            (self.pc[lane], self.base[lane], self.pred_base[lane]) == (self.pc[leader], self.base[leader], self.pred_base[leader])
                && self.depth(lane) == self.depth(leader)
        };
        let mut leader = first;
        let mut oldest = first;
        for lane in lanes(ready) {
            if (self.depth(lane), self.pc[leader]) > (self.depth(leader), self.pc[lane]) {
                leader = lane;
            }
            if self.schedule.last_run[lane] < self.schedule.last_run[oldest] {
                oldest = lane;
            }
        }
        let starved = self.schedule.steps - self.schedule.last_run[oldest] > PATIENCE;
        if starved {
            leader = oldest;
        }
        let mask = lanes(ready)
            .filter(|lane| together(leader, *lane))
            .fold(0, |mask, lane| mask | 1 << lane);
        let others = ready & !mask;
        let same_depth = lanes(others).filter(|lane| self.depth(*lane) == self.depth(leader));
        let limit = if starved {
            u32::MAX
        } else {
            same_depth.map(|lane| self.pc[lane]).min().unwrap_or(u32::MAX)
        };
        let group = Group {
            mask,
            pc: self.pc[leader],
            base: self.base[leader],
            pred_base: self.pred_base[leader],
            function: self.function[leader],
        };
        (group, limit, others != 0)
    }

    pub(super) fn place(&mut self, mask: u32, pc: u32) {
        for lane in lanes(mask) {
            self.pc[lane] = pc;
        }
    }

    /// The rows of a group and its predicates.
    #[inline(always)]
    pub(super) fn rows<'a>(&'a mut self, launch: &'a Launch, constants: &'a [Row], group: &Group) -> (Rows<'a>, &'a mut [u32]) {
        let code = &launch.program.functions[group.function as usize];
        let (base, pred_base) = (group.base as usize, group.pred_base as usize);
        (
            Rows {
                frame: &self.registers[base..base + code.registers as usize],
                constants,
                specials: &self.specials,
            },
            &mut self.preds[pred_base..pred_base + code.preds as usize],
        )
    }

    /// The register or predicate file as one lane sees it.
    pub fn lane_rows<'a>(&'a mut self, launch: &'a Launch, constants: &'a [Row], lane: usize) -> (Rows<'a>, &'a mut [u32]) {
        let group = Group {
            mask: 0,
            pc: self.pc[lane],
            base: self.base[lane],
            pred_base: self.pred_base[lane],
            function: self.function[lane],
        };
        self.rows(launch, constants, &group)
    }

    /// A register as one lane sees it.
    pub fn read(&self, launch: &Launch, constants: &[Row], lane: usize, slot: Slot) -> u64 {
        let code = &launch.program.functions[self.function[lane] as usize];
        let base = self.base[lane] as usize;
        let rows = Rows {
            frame: &self.registers[base..base + code.registers as usize],
            constants,
            specials: &self.specials,
        };
        rows.get(slot, lane)
    }

    /// Runs until no lane is ready or `budget` instructions are spent.
    pub fn run(&mut self, launch: &Launch, constants: &[Row], block: &mut Block, budget: u64) -> Result<Stop, Fault> {
        let end = self.schedule.steps + budget;
        loop {
            let ready = self.ready();
            if ready == 0 {
                return Ok(Stop::Blocked);
            }
            if self.schedule.steps >= end {
                return Ok(Stop::Yield);
            }
            let (mut group, limit, others) = self.pick(ready);
            // Lanes that are given a turn for having waited get a short one: they left the others behind.
            let patience = if limit == u32::MAX { PATIENCE / 8 } else { PATIENCE };
            let until = end.min(if others { self.schedule.steps + patience } else { u64::MAX });
            while self.schedule.steps < until {
                self.schedule.steps += 1;
                match self.step(launch, constants, block, &mut group)? {
                    Next::Go if others && group.pc >= limit => {
                        self.place(group.mask, group.pc);
                        break;
                    }
                    Next::Go => {}
                    Next::Again => {
                        group.mask = 0;
                        break;
                    }
                }
            }
            self.place(group.mask, group.pc);
            // Those that wait now have run just now, whatever became of them.
            for lane in lanes(ready & !self.ready() | group.mask) {
                self.schedule.last_run[lane] = self.schedule.steps;
            }
        }
    }

    #[inline(always)]
    fn step(&mut self, launch: &Launch, constants: &[Row], block: &mut Block, group: &mut Group) -> Result<Next, Fault> {
        let program = &*launch.program;
        let inst = &program.code[group.pc as usize];
        let (rows, preds) = self.rows(launch, constants, group);
        let mask = group.mask & inst.guard.mask(preds);
        match &inst.op {
            Op::Lanes(op) => (op.run)(&rows, op, mask),
            Op::Compare {
                test,
                a,
                b,
                to,
                opposite,
                combine,
                with,
            } => {
                let raw = test(&rows, *a, *b, mask);
                let with = with.mask(preds);
                for (register, holds) in [(to, raw), (opposite, !raw)] {
                    if let Some(register) = register {
                        let value = combined(*combine, holds, with);
                        let old = &mut preds[*register as usize];
                        *old = *old & !mask | value & mask;
                    }
                }
            }
            Op::Branch { target } => {
                if mask == group.mask {
                    group.pc = *target;
                    return Ok(Next::Go);
                }
                if mask != 0 {
                    let (target, next) = (*target, group.pc + 1);
                    self.place(mask, target);
                    self.place(group.mask & !mask, next);
                    self.ran(group.mask);
                    return Ok(Next::Again);
                }
            }
            Op::Select { to, a, b, by } => {
                let by = by.mask(preds);
                let (d, a, b) = (rows.row(*to), rows.row(*a), rows.row(*b));
                for lane in lanes(mask) {
                    d[lane].set(if by >> lane & 1 == 1 { a[lane].get() } else { b[lane].get() });
                }
            }
            Op::Preds { op, to, a, b } => {
                let (a, b) = (a.mask(preds), b.mask(preds));
                let value = match op {
                    PredOp::And => a & b,
                    PredOp::Or => a | b,
                    PredOp::Xor => a ^ b,
                };
                let old = &mut preds[*to as usize];
                *old = *old & !mask | value & mask;
            }
            Op::LoadParam { offset, width, count, to } => {
                for (index, slot) in to.iter().take(usize::from(*count)).enumerate() {
                    let at = *offset as usize + index * usize::from(width.bytes);
                    let value = launch.param(at, *width)?;
                    for lane in lanes(mask) {
                        rows.set(*slot, lane, value);
                    }
                }
            }
            _ if mask == 0 => {}
            _ => return self.rare(launch, constants, block, group, mask),
        }
        group.pc += 1;
        Ok(Next::Go)
    }

    pub(super) fn ran(&mut self, mask: u32) {
        for lane in lanes(mask) {
            self.schedule.last_run[lane] = self.schedule.steps;
        }
    }

    /// Instructions that are not the bread and butter of kernels, or change who runs.
    fn rare(&mut self, launch: &Launch, constants: &[Row], block: &mut Block, group: &mut Group, mask: u32) -> Result<Next, Fault> {
        let inst = launch.program.code[group.pc as usize];
        if waits(&inst.op) {
            self.schedule.steps += WAITING - 1;
        }
        match inst.op {
            Op::Load(_) | Op::Store(_) | Op::Atomic(_) | Op::LoadFrame { .. } | Op::StoreFrame { .. } => {
                let hint = self.hints[group.pc as usize];
                self.hints[group.pc as usize] = self.memory(launch, constants, block, group, &inst, mask, hint)?;
            }
            Op::Fence => {
                block.races.tick();
                for lane in lanes(mask) {
                    block.races.fence(self.number * WARP as u32 + lane as u32);
                }
                std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
            }
            Op::Barrier(barrier) => return self.arrive(launch, constants, block, group, &barrier, mask),
            Op::Together { what, members, class } => {
                return self.together(launch, constants, block, group, &what, members, class, mask);
            }
            Op::Tensor { members, class, .. } => return self.tensor(launch, constants, block, group, members, class, mask),
            Op::Call { site } => return self.call(launch, constants, group, site, mask),
            Op::Return => {
                let next = group.pc + 1;
                self.place(group.mask & !mask, next);
                self.ran(group.mask);
                self.return_(launch, mask);
                self.settle(launch, constants, block)?;
                return Ok(Next::Again);
            }
            Op::Exit => {
                let next = group.pc + 1;
                self.place(group.mask & !mask, next);
                self.ran(group.mask);
                self.live &= !mask;
                self.settle(launch, constants, block)?;
                return Ok(Next::Again);
            }
            Op::Trap => {
                let message = "the kernel executed a trap";
                return Err(self.fault(launch, block, inst.line, mask, LAUNCH_FAILED, message));
            }
            Op::BranchTable { table, index } => {
                let table = &launch.program.tables[table as usize];
                let (rows, _) = self.rows(launch, constants, group);
                let mut targets = [0; WARP];
                for lane in lanes(mask) {
                    let index = rows.get(index, lane) as u32;
                    match table.get(index as usize) {
                        Some(target) => targets[lane] = *target,
                        None => {
                            let message = format!("brx.idx with index {index} of {} targets", table.len());
                            return Err(self.fault(launch, block, inst.line, 1 << lane, ILLEGAL_INSTRUCTION, &message));
                        }
                    }
                }
                let next = group.pc + 1;
                self.place(group.mask & !mask, next);
                for lane in lanes(mask) {
                    self.pc[lane] = targets[lane];
                }
                self.ran(group.mask);
                return Ok(Next::Again);
            }
            Op::ActiveMask { to } => {
                let (rows, _) = self.rows(launch, constants, group);
                for lane in lanes(mask) {
                    rows.set(to, lane, u64::from(mask));
                }
            }
            op => self.data(launch, constants, group, &op, mask),
        }
        group.pc += 1;
        Ok(Next::Go)
    }

    /// The end of the lane's frame in local memory.
    pub fn local_end(&self, launch: &Launch, lane: usize) -> u64 {
        u64::from(self.local_base[lane] + launch.program.functions[self.function[lane] as usize].frame)
    }

    pub fn fault(&self, launch: &Launch, block: &Block, line: u32, mask: u32, code: u32, message: &str) -> Fault {
        Fault::new(code, launch.describe(line, self.number, mask, Some(block.index), message))
    }

    /// Lets lanes go on that have waited, after the instruction they stand at.
    pub fn release(&mut self, mask: u32) {
        self.blocked &= !mask;
        self.at_barrier &= !mask;
        for lane in lanes(mask) {
            self.pc[lane] += 1;
            self.waits[lane] = Wait::Nothing;
            self.schedule.last_run[lane] = self.schedule.steps;
        }
    }

    /// The rows of a group, for what lies in other files.
    pub(super) fn group_rows<'a>(&'a mut self, launch: &'a Launch, constants: &'a [Row], group: &Group) -> (Rows<'a>, &'a mut [u32]) {
        self.rows(launch, constants, group)
    }

    /// The same for reading and writing registers alone.
    pub(super) fn shared_rows<'a>(&'a self, launch: &'a Launch, constants: &'a [Row], group: &Group) -> Rows<'a> {
        let code = &launch.program.functions[group.function as usize];
        let base = group.base as usize;
        Rows {
            frame: &self.registers[base..base + code.registers as usize],
            constants,
            specials: &self.specials,
        }
    }

    /// Marks lanes as waiting where they are.
    pub(super) fn block_at(&mut self, group: &Group, mask: u32) {
        let next = group.pc + 1;
        self.place(group.mask & !mask, next);
        self.place(mask, group.pc);
        self.ran(group.mask);
        self.blocked |= mask;
    }

    pub(super) fn skip(&mut self, group: &Group) {
        let next = group.pc + 1;
        self.place(group.mask, next);
        self.ran(group.mask);
    }
}

/// Whether a loop that waits for other threads is likely to hold this.
fn waits(op: &Op) -> bool {
    match op {
        Op::Atomic(_) | Op::Fence => true,
        Op::Load(access) => access.strong,
        _ => false,
    }
}

/// What `arrive` and `together` return to the loop.
pub(super) struct Blocked;

impl From<Blocked> for Next {
    fn from(_: Blocked) -> Next {
        Next::Again
    }
}

impl Warp {
    fn arrive(
        &mut self,
        launch: &Launch,
        constants: &[Row],
        block: &mut Block,
        group: &Group,
        barrier: &Barrier,
        mask: u32,
    ) -> Result<Next, Fault> {
        self.at_block_barrier(launch, constants, block, group, barrier, mask)
            .map(Next::from)
    }

    #[allow(clippy::too_many_arguments)]
    fn together(
        &mut self,
        launch: &Launch,
        constants: &[Row],
        block: &mut Block,
        group: &mut Group,
        what: &Together,
        members: Slot,
        class: u32,
        mask: u32,
    ) -> Result<Next, Fault> {
        if self.all_here(launch, constants, group, members, mask) {
            self.perform(launch, constants, block, what, mask, group.pc);
            group.pc += 1;
            return Ok(Next::Go);
        }
        self.wait_together(launch, constants, block, group, members, class, mask)
            .map(Next::from)
    }
}
