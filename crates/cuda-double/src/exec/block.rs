//! A block: its warps take turns; barriers open when all have come; when nobody can go on, it says who waits for what.

use std::cell::RefCell;

use super::fault::{Fault, LAUNCH_FAILED};
use super::inst::{Barrier, Op, Reduction};
use super::lanes::{Row, WARP, lanes};
use super::launch::Launch;
use super::races::Races;
use super::warp::{Stop, Wait, Warp};

/// What of a block its warps share.
#[derive(Debug, Default)]
pub struct Block {
    pub index: [u32; 3],
    pub shared: Vec<u8>,
    pub races: Races,
    /// For each barrier, the warps that arrived without waiting, and the number of threads they named.
    arrivals: [(Vec<usize>, u32); 16],
}

impl Block {
    /// `bar.arrive`: the warp is counted and goes on.
    pub fn arrived(&mut self, warp: u32, id: usize, count: u32, mask: u32, live: u32) -> Result<(), String> {
        if mask != live {
            return Err(format!("only some lanes of a warp arrive at barrier {id}"));
        }
        self.arrivals[id].0.push(warp as usize);
        self.arrivals[id].1 = count;
        Ok(())
    }
}

/// The barrier a lane waits at.
fn barrier_of(launch: &Launch, warp: &Warp, lane: usize) -> Option<Barrier> {
    match launch.program.code[warp.pc[lane] as usize].op {
        Op::Barrier(barrier) => Some(barrier),
        _ => None,
    }
}

/// A block with its warps, on its way.
#[derive(Debug)]
pub struct Running {
    block: Block,
    warps: Vec<Warp>,
}

/// Instructions a warp may run before the next has its turn.
const TURN: u64 = 1 << 14;
/// The same where blocks are likely to wait for each other.
const SHORT_TURN: u64 = 256;

/// How far a block came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Finished,
    /// It may go on when it is asked again.
    Going,
}

thread_local! {
    /// Warps of launches that are over: making their registers costs more than many a kernel.
    static SPARE: RefCell<Vec<Warp>> = const { RefCell::new(Vec::new()) };
}

/// How many are kept.
const MANY: usize = 32;

impl Drop for Running {
    fn drop(&mut self) {
        let keep = self.warps.drain(..).filter(Warp::modest);
        // At the end of a thread there is nobody to keep them for.
        _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            let room = MANY.saturating_sub(spare.len());
            spare.extend(keep.take(room));
        });
    }
}

impl Running {
    pub fn new(launch: &Launch) -> Running {
        Running {
            block: Block::default(),
            warps: SPARE.with_borrow_mut(|spare| (0..launch.warps()).map(|number| Warp::reused(spare.pop(), number)).collect()),
        }
    }

    /// Begins block number `index`, x fastest.
    pub fn start(&mut self, launch: &Launch, index: u64) {
        let [gx, gy, _] = launch.grid.map(u64::from);
        let index = [index % gx, index / gx % gy, index / (gx * gy)].map(|i| i as u32);
        let bytes = launch.shared_bytes();
        self.block.index = index;
        self.block.shared.clear();
        self.block.shared.resize(bytes, 0xcb);
        let pieces = bytes.div_ceil(launch.program.shared_granule as usize);
        self.block.races.reset(pieces, self.warps.len());
        self.block.arrivals = Default::default();
        let threads = launch.threads();
        for warp in &mut self.warps {
            warp.start(launch, index, threads - warp.number * WARP as u32);
        }
    }

    /// Gives every warp a turn, and on until the block ends or `turns` are over.
    pub fn run(&mut self, launch: &Launch, constants: &[Row], turns: u32) -> Result<Progress, Fault> {
        let turn = if launch.cooperative { SHORT_TURN } else { TURN };
        for _ in 0..turns {
            let mut moved = false;
            for warp in &mut self.warps {
                if warp.ready() == 0 {
                    continue;
                }
                moved = true;
                let stop = warp.run(launch, constants, &mut self.block, turn)?;
                launch.count(if stop == Stop::Yield { turn } else { 0 })?;
            }
            if self.warps.iter().all(|w| w.live == 0) {
                return Ok(Progress::Finished);
            }
            let opened = self.open_barriers(launch, constants)?;
            if !moved && !opened {
                return Err(self.deadlock(launch));
            }
        }
        Ok(Progress::Going)
    }

    /// The barrier all of a warp waits at: its number and who is expected.
    fn waits_at(&self, launch: &Launch, constants: &[Row], warp: usize) -> Result<Option<(usize, Option<u32>)>, Fault> {
        let warp = &self.warps[warp];
        if warp.live == 0 || warp.at_barrier != warp.live {
            return Ok(None);
        }
        let first = warp.live.trailing_zeros() as usize;
        let Some(barrier) = barrier_of(launch, warp, first) else {
            return Ok(None);
        };
        let value = |slot| warp.read(launch, constants, first, slot);
        let found = (value(barrier.id) as usize, barrier.count.map(|c| value(c) as u32));
        for lane in lanes(warp.live) {
            if warp.pc[lane] == warp.pc[first] {
                continue;
            }
            let Some(other) = barrier_of(launch, warp, lane) else { continue };
            let value = |slot| warp.read(launch, constants, lane, slot);
            let same = (value(other.id) as usize, other.count.map(|c| value(c) as u32)) == found;
            if barrier.aligned || other.aligned || !same {
                let lines = [first, lane].map(|l| launch.program.code[warp.pc[l] as usize].line);
                let message = format!(
                    "divergent barrier: lanes of one warp wait at the barriers of lines {} and {}; all threads must come to the same one",
                    lines[0], lines[1]
                );
                return Err(warp.fault(launch, &self.block, lines[1], 1 << lane, LAUNCH_FAILED, &message));
            }
        }
        Ok(Some(found))
    }

    /// Opens the barriers at which all expected have arrived; whether any did.
    fn open_barriers(&mut self, launch: &Launch, constants: &[Row]) -> Result<bool, Fault> {
        let mut waiting = Vec::with_capacity(self.warps.len());
        for warp in 0..self.warps.len() {
            if let Some((id, count)) = self.waits_at(launch, constants, warp)? {
                waiting.push((warp, id, count));
            }
        }
        let alive = self.warps.iter().filter(|w| w.live != 0).count();
        let mut opened = false;
        for id in 0..16 {
            let here: Vec<_> = waiting.iter().filter(|(_, at, _)| *at == id).copied().collect();
            let Some((first, _, count)) = here.first().copied() else { continue };
            if let Some((other, _, other_count)) = here.iter().find(|(_, _, c)| *c != count).copied() {
                let show = |c: Option<u32>| c.map_or("all".to_owned(), |c| c.to_string());
                let message = format!(
                    "barrier {id} is waited at by warp {first} for {} threads, by warp {other} for {}",
                    show(count),
                    show(other_count)
                );
                return Err(self.complain(launch, other, &message));
            }
            let arrived = self.block.arrivals[id].0.len();
            let ready = match count {
                None => here.len() + arrived == alive.max(here.len()),
                Some(count) => (here.len() + arrived) * WARP >= count as usize,
            };
            if !ready {
                continue;
            }
            if count.is_some_and(|count| (here.len() + arrived) * WARP > count as usize) {
                let message = format!("more threads come to barrier {id} than the {} it is for", count.unwrap_or(0));
                return Err(self.complain(launch, first, &message));
            }
            self.check_lines(launch, &here)?;
            self.open(launch, constants, id, &here, count.is_none() && arrived == 0);
            opened = true;
        }
        Ok(opened)
    }

    /// A barrier for all of the block must be the same instruction for all.
    fn check_lines(&self, launch: &Launch, here: &[(usize, usize, Option<u32>)]) -> Result<(), Fault> {
        let at = |warp: usize| {
            let warp = &self.warps[warp];
            warp.pc[warp.live.trailing_zeros() as usize]
        };
        let (first, _, count) = here[0];
        let aligned = |warp: usize| {
            let warp = &self.warps[warp];
            barrier_of(launch, warp, warp.live.trailing_zeros() as usize).is_some_and(|b| b.aligned)
        };
        match here.iter().find(|(warp, ..)| at(*warp) != at(first)) {
            Some((other, ..)) if count.is_none() && aligned(first) => {
                let line = |warp: usize| launch.program.code[at(warp) as usize].line;
                let message = format!(
                    "divergent barrier: warp {first} waits at the barrier of line {}, warp {other} at that of line {}; all threads must come to the same one",
                    line(first),
                    line(*other)
                );
                Err(self.complain(launch, *other, &message))
            }
            _ => Ok(()),
        }
    }

    fn complain(&self, launch: &Launch, warp: usize, message: &str) -> Fault {
        let warp = &self.warps[warp];
        let line = launch.program.code[warp.pc[warp.live.trailing_zeros() as usize] as usize].line;
        warp.fault(launch, &self.block, line, warp.live, LAUNCH_FAILED, message)
    }

    fn open(&mut self, launch: &Launch, constants: &[Row], id: usize, here: &[(usize, usize, Option<u32>)], whole: bool) {
        let waiting: Vec<usize> = here.iter().map(|(warp, ..)| *warp).collect();
        let arrived = std::mem::take(&mut self.block.arrivals[id].0);
        if whole {
            self.block.races.block_barrier();
        } else {
            self.block.races.warp_barrier(&arrived, &waiting);
        }
        self.reduce(launch, constants, &waiting);
        for &number in &waiting {
            let live = self.warps[number].live;
            self.warps[number].release(live);
        }
    }

    /// The results of `barrier.red` for the warps that wait.
    fn reduce(&mut self, launch: &Launch, constants: &[Row], waiting: &[usize]) {
        let (mut holds, mut lanes_in_all) = (0, 0);
        let reducing = |warp: &Warp, lane: usize| barrier_of(launch, warp, lane).filter(|b| b.reduction != Reduction::None);
        for &number in waiting {
            let warp = &mut self.warps[number];
            for lane in lanes(warp.live) {
                let Some(barrier) = reducing(warp, lane) else { continue };
                let (_, preds) = warp.lane_rows(launch, constants, lane);
                holds += barrier.value.mask(preds) >> lane & 1;
                lanes_in_all += 1;
            }
        }
        for &number in waiting {
            let warp = &mut self.warps[number];
            for lane in lanes(warp.live) {
                let Some(barrier) = reducing(warp, lane) else { continue };
                let (rows, preds) = warp.lane_rows(launch, constants, lane);
                let value = match barrier.reduction {
                    Reduction::And => holds == lanes_in_all,
                    Reduction::Or => holds > 0,
                    _ => {
                        rows.set(barrier.to, lane, u64::from(holds));
                        continue;
                    }
                };
                let old = &mut preds[barrier.to_pred as usize];
                *old = *old & !(1 << lane) | u32::from(value) << lane;
            }
        }
    }

    /// Nobody can go on: who waits for what.
    fn deadlock(&self, launch: &Launch) -> Fault {
        let mut message = "deadlock: no thread of the block can go on".to_owned();
        let (mut first, mut told) = (None, 0);
        for warp in self.warps.iter().filter(|w| w.live != 0) {
            let mut rest = warp.live;
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
                let alike = |l: &usize| warp.pc[*l] == warp.pc[lane] && warp.waits[*l] == warp.waits[lane];
                let mask = lanes(rest).filter(alike).fold(0u32, |m, l| m | 1 << l);
                rest &= !mask;
                let line = launch.program.code[warp.pc[lane] as usize].line;
                first = first.or(Some((warp, line, mask)));
                told += 1;
                if told > 8 {
                    continue;
                }
                let what = match warp.waits[lane] {
                    Wait::Together { members, .. } => format!("for lanes 0x{members:08x} of its member mask"),
                    _ => "at a barrier".to_owned(),
                };
                message += &format!("; warp {} lanes 0x{mask:08x} wait {what} (line {line})", warp.number);
            }
            let gone = !warp.live & launch.lanes_of(warp.number);
            if gone != 0 {
                message += &format!("; warp {} lanes 0x{gone:08x} have exited", warp.number);
            }
        }
        match first {
            Some((warp, line, mask)) => warp.fault(launch, &self.block, line, mask, LAUNCH_FAILED, &message),
            None => Fault::new(LAUNCH_FAILED, message),
        }
    }
}
