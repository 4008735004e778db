//! A launch: a kernel with its grid, and the threads of the host that work through the blocks.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::block::{Progress, Running};
use super::fault::{Fault, ILLEGAL_ADDRESS, LAUNCH_TIMEOUT};
use super::inst::{Program, Special, Width};
use super::lanes::{Row, WARP, row_of};
use super::table::Table;

/// All a kernel needs to run.
#[derive(Debug)]
pub struct Launch {
    pub program: Arc<Program>,
    pub kernel: u32,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    pub params: Vec<u8>,
    /// What memory there is when it starts.
    pub table: Arc<Table>,
    pub device: i32,
    /// Devices whose memory it may use.
    pub peers: Vec<i32>,
    pub cooperative: bool,
    /// Where the grid's barrier has its memory; 0: there is none.
    pub workspace: u64,
    pub processors: u32,
    pub id: u64,
    pub host_threads: usize,
    /// Bytes of stack of a thread (`CU_LIMIT_STACK_SIZE`).
    pub stack: usize,
    /// Instructions of a warp after which it is given up.
    pub limit: Option<u64>,
    pub counted: AtomicU64,
}

/// Host threads join in only when a launch takes this long.
const LONG: Duration = Duration::from_micros(300);

impl Launch {
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    pub fn warps(&self) -> u32 {
        self.threads().div_ceil(WARP as u32)
    }

    /// Where the system's part of shared memory begins, behind the kernel's.
    pub fn reserved_start(&self) -> u32 {
        (self.program.dynamic_shared + self.dynamic_shared).next_multiple_of(16)
    }

    /// Bytes of shared memory of a block.
    pub fn shared_bytes(&self) -> usize {
        match self.program.reserved_shared {
            0 => (self.program.dynamic_shared + self.dynamic_shared) as usize,
            reserved => (self.reserved_start() + reserved) as usize,
        }
    }

    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|e| u64::from(*e)).product()
    }

    /// The lanes of a warp that are threads of the block.
    pub fn lanes_of(&self, warp: u32) -> u32 {
        let rest = self.threads() - warp * WARP as u32;
        if rest >= 32 { u32::MAX } else { (1 << rest) - 1 }
    }

    pub fn param(&self, at: usize, width: Width) -> Result<u64, Fault> {
        let bytes = self.params.get(at..at + usize::from(width.bytes));
        let message = || {
            Fault::new(
                ILLEGAL_ADDRESS,
                format!("kernel {}: read beyond the parameters at {at}", self.name()),
            )
        };
        let bytes = bytes.ok_or_else(message)?;
        Ok(width.extend(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))))
    }

    pub fn name(&self) -> &str {
        &self.program.functions[self.kernel as usize].name
    }

    pub fn special(&self, what: Special, _warp: u32) -> u64 {
        let clock = || START.with(|start| start.elapsed().as_nanos() as u64);
        match what {
            Special::Clock32 => u64::from(clock() as u32),
            Special::ClockHigh => clock() >> 32,
            Special::Clock64 => clock(),
            Special::ReservedShared => u64::from(self.reserved_start()),
            Special::WorkspaceHigh => self.workspace >> 32,
            Special::WorkspaceLow => u64::from(self.workspace as u32),
            Special::Timer => {
                let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
                since.map_or(0, |d| d.as_nanos() as u64)
            }
        }
    }

    pub fn thread_name(&self, number: u32) -> String {
        let [nx, ny, _] = self.block;
        format!("({}, {}, {})", number % nx, number / nx % ny, number / (nx * ny))
    }

    /// Where something happened: kernel, line, thread, block.
    pub fn describe(&self, line: u32, warp: u32, mask: u32, block: Option<[u32; 3]>, message: &str) -> String {
        let thread = self.thread_name(warp * WARP as u32 + mask.trailing_zeros().min(31));
        let block = block.map_or(String::new(), |[x, y, z]| format!(" of block ({x}, {y}, {z})"));
        format!("kernel {}, PTX line {line}, thread {thread}{block}: {message}", self.name())
    }

    /// An address that leads nowhere, and what is near.
    pub fn nowhere(&self, address: u64) -> String {
        let host = if address < 1 << 47 && address > 1 << 16 {
            " (a host pointer?)"
        } else {
            ""
        };
        let near = match self.table.nearest(address) {
            Some(region) if address >= region.end() => format!("{} bytes after {}", address - region.end(), region.describe()),
            Some(region) => format!("{} bytes before {}", region.start.saturating_sub(address), region.describe()),
            None => "no allocation is near".to_owned(),
        };
        format!("0x{address:x}{host}, which is out of bounds: {near}")
    }

    /// Counts instructions against the limit.
    pub fn count(&self, instructions: u64) -> Result<(), Fault> {
        let Some(limit) = self.limit else { return Ok(()) };
        let total = self.counted.fetch_add(instructions, Ordering::Relaxed) + instructions;
        if total <= limit {
            return Ok(());
        }
        let message = format!("kernel {}: given up after {total} instructions", self.name());
        Err(Fault::new(LAUNCH_TIMEOUT, message))
    }

    /// Runs all blocks.
    pub fn run(&self) -> Result<(), Fault> {
        let crew = Crew {
            launch: self,
            next: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            fault: Mutex::new(None),
        };
        if self.cooperative {
            crew.cooperate();
        } else {
            crew.work_through();
        }
        let fault = crew.fault.into_inner().unwrap_or_else(PoisonError::into_inner);
        fault.map_or(Ok(()), Err)
    }
}

thread_local! {
    static START: Instant = Instant::now();
}

struct Crew<'a> {
    launch: &'a Launch,
    next: AtomicU64,
    stop: AtomicBool,
    fault: Mutex<Option<Fault>>,
}

impl Crew<'_> {
    fn constants(&self) -> Vec<Row> {
        self.launch.program.constants.iter().map(|value| row_of(*value)).collect()
    }

    fn fail(&self, fault: Fault) {
        self.stop.store(true, Ordering::Relaxed);
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Blocks one after the other, each to its end; earlier ones are always begun before later ones.
    fn work_through(&self) {
        let began = Instant::now();
        let total = self.launch.blocks();
        std::thread::scope(|scope| {
            let mut helpers = self.launch.host_threads.saturating_sub(1);
            self.take_blocks(&mut || {
                let left = total.saturating_sub(self.next.load(Ordering::Relaxed));
                if helpers > 0 && left > 0 && began.elapsed() > LONG {
                    let count = helpers.min(left as usize);
                    helpers = 0;
                    for _ in 0..count {
                        scope.spawn(|| self.take_blocks(&mut || {}));
                    }
                }
            });
        });
    }

    fn take_blocks(&self, between: &mut dyn FnMut()) {
        let total = self.launch.blocks();
        let constants = self.constants();
        let mut running = Running::new(self.launch);
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= total || self.stopped() {
                return;
            }
            running.start(self.launch, index);
            loop {
                match running.run(self.launch, &constants, 4) {
                    Ok(Progress::Finished) => break,
                    Ok(Progress::Going) if self.stopped() => return,
                    // A block may wait for what another does.
                    Ok(Progress::Going) => {
                        between();
                        std::thread::yield_now();
                    }
                    Err(fault) => return self.fail(fault),
                }
            }
            between();
        }
    }

    /// All blocks at once: each host thread takes turns with its share.
    fn cooperate(&self) {
        let total = self.launch.blocks() as usize;
        let threads = self.launch.host_threads.clamp(1, total.max(1));
        std::thread::scope(|scope| {
            for thread in 1..threads {
                scope.spawn(move || self.share(thread, threads));
            }
            self.share(0, threads);
        });
    }

    fn share(&self, thread: usize, threads: usize) {
        let constants = self.constants();
        let mine = (thread as u64..self.launch.blocks()).step_by(threads);
        let mut blocks: Vec<Running> = mine
            .map(|index| {
                let mut running = Running::new(self.launch);
                running.start(self.launch, index);
                running
            })
            .collect();
        while !blocks.is_empty() && !self.stopped() {
            let mut failed = false;
            blocks.retain_mut(|running| match running.run(self.launch, &constants, 1) {
                Ok(progress) => progress == Progress::Going,
                Err(fault) => {
                    self.fail(fault);
                    failed = true;
                    false
                }
            });
            if failed {
                return;
            }
            std::thread::yield_now();
        }
    }
}
