//! Tier 1: programs compiled as one loop. On the CPU in the background, once what they were run for is worth it; on other devices, which have
//! no other tier, when they are first run. Sizes, strides and numbers are no part of what is compiled, but for whether neighbours are one to four
//! elements apart: a new shape never compiles.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use smallvec::SmallVec;
use weft_array::{Access, Operand, Plan, map_loop, plan};
use weft_ir::{Layout, Module, Scalar};
use weft_runtime::{CallOptions, CompileOptions, Executable, Launch, RunError};

use crate::dims::Strides;
use crate::error::{Error, Result};
use crate::form::{self, Form};
use crate::machine;
use crate::program::{Load, Program};
use crate::text::{self, Ends};
use crate::tiles::Target;
use crate::value::FoldKind;

/// Steps at points that a program was run for, before it is compiled.
const WORTH: u64 = 30_000_000;

/// Which tiers there are: `WEFT_ARRAYS_TIER` says 0 or 1, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tiers {
    Tiles,
    Compiled,
    Both,
}

fn tiers() -> Tiers {
    static TIERS: OnceLock<Tiers> = OnceLock::new();
    *TIERS.get_or_init(|| match std::env::var("WEFT_ARRAYS_TIER").as_deref() {
        Ok("0") => Tiers::Tiles,
        Ok("1") => Tiers::Compiled,
        _ => Tiers::Both,
    })
}

/// Is there a tier 0?
pub fn has_tiles() -> bool {
    tiers() != Tiers::Compiled
}

/// What compiled code depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub device: u8,
    pub rank: u8,
    pub form: Form,
    pub output: Access,
    /// What is folded, and along which axes.
    pub fold: Option<(FoldKind, u64)>,
    /// The result goes past the caches.
    pub streams: bool,
}

#[derive(Debug)]
enum State {
    /// Run for so many steps by tiles.
    Waiting(u64),
    /// In the process that came of so many forks: a child has none of its parent's threads.
    Compiling(u32),
    Ready(Arc<dyn Executable>),
    /// Its compilation failed, and tiles or the host do it for good; why.
    Failed(String),
}

static PROGRAMS: weft_forks::Mutex<Option<HashMap<Key, State>>> = weft_forks::Mutex::new(None);
/// Compilations under way.
static BUSY: AtomicUsize = AtomicUsize::new(0);
/// How many programs were compiled.
static COUNT: AtomicUsize = AtomicUsize::new(0);

pub fn count() -> usize {
    COUNT.load(Ordering::Relaxed)
}

/// In which of the processes that came of forks compilations are under way: a child has none of its parent's threads.
static BUSY_IN: AtomicU32 = AtomicU32::new(0);

/// A child of a fork has no compilations under way, whatever its parent had.
fn forget_those_of_parents() {
    let here = weft_forks::count();
    if BUSY_IN.swap(here, Ordering::AcqRel) != here {
        BUSY.store(0, Ordering::Release);
    }
}

/// Waits for what is compiled in the background.
pub fn finish() {
    forget_those_of_parents();
    // No lock: a fork may come while somebody has it.
    while BUSY.load(Ordering::Acquire) > 0 {
        thread::sleep(NAP);
    }
}

/// How long one sleeps who waits for compilations.
const NAP: Duration = Duration::from_millis(1);

/// What there is for a program.
#[derive(Debug)]
pub enum Found {
    Code(Box<Ready>),
    /// There is nothing to compute.
    Empty,
    /// Tiles, or the host, are to do it.
    Nothing,
}

/// Compiled code with its arguments.
#[derive(Debug)]
pub struct Ready {
    code: Arc<dyn Executable>,
    extents: Vec<u64>,
    slots: form::Slots,
    /// Where the addresses of operands are among the slots, and last that of the result.
    places: SmallVec<[u16; 6]>,
}

impl Ready {
    pub fn run(&self) -> Result<()> {
        let launch = Launch::Loop(self.extents.clone());
        self.code.run(launch, &self.slots, &mut [], &CallOptions::default())?;
        Ok(())
    }

    /// Has it read an operand elsewhere.
    pub fn operand(&mut self, at: usize, address: u64) {
        self.slots[usize::from(self.places[at])] = address;
    }

    /// Has it write elsewhere.
    pub fn target(&mut self, address: u64) {
        if let Some(&place) = self.places.last() {
            self.slots[usize::from(place)] = address;
        }
    }
}

/// Runs the program compiled, if it is; false where tiles, or the host, are to do it.
pub fn run(program: &Program, target: &Target) -> Result<bool> {
    match find(program, target)? {
        Found::Code(code) => code.run().map(|()| true),
        Found::Empty => Ok(true),
        Found::Nothing => Ok(false),
    }
}

/// The program compiled, if it is by now.
pub fn find(program: &Program, target: &Target) -> Result<Found> {
    let device = target.device();
    let (tiers, here) = (tiers(), device == machine::CPU);
    if here && (tiers == Tiers::Tiles || program.steps.is_empty()) {
        return Ok(Found::Nothing);
    }
    let points: u64 = program.extents.iter().product();
    let work = points.saturating_mul(program.steps.iter().map(|step| u64::from(step.operation.cost)).sum());
    if (here && tiers == Tiers::Both && work < 10_000) || !is_aligned(program, target) {
        return Ok(Found::Nothing);
    }
    let mut plan = planned(program, target);
    let (extents, rank) = (plan.extents.clone(), plan.extents.len() as u8);
    if extents.contains(&0) {
        return Ok(Found::Empty);
    }
    let form = match here {
        true => form::of_close(program, target.elem, &mut plan),
        false => form::of_plan(program, target.elem, &plan),
    };
    let Some((output, form)) = form else { return Ok(Found::Nothing) };
    let key = Key {
        device,
        rank,
        form,
        output,
        fold: None,
        streams: here && streams(program, target, &plan),
    };
    let wait = if here && tiers == Tiers::Both { Some(work) } else { None };
    let code = code(&key, wait, || Job::new(&key, program))?;
    let Some(code) = code else { return Ok(Found::Nothing) };
    let mut slots = form::slots(program, &key.form, &plan.operands);
    let mut places = form::places(program, &plan.operands);
    places.push(slots.len() as u16);
    form::view(&mut slots, target.address, plan.operands.last());
    Ok(Found::Code(Box::new(Ready {
        code,
        extents,
        slots,
        places,
    })))
}

/// Bytes of a result that takes up most of a cache or more, wherever its elements come from.
const LARGE: u64 = 32 << 20;

/// Is the result one dense row that caches do not hold, in memory that is not read?
fn streams(program: &Program, target: &Target, plan: &Plan) -> bool {
    let (item, points) = (target.elem.size() as u64, plan.extents[0]);
    let bytes = points.saturating_mul(item);
    if plan.extents.len() != 1 || bytes < LARGE || plan.operands.last().is_none_or(|result| result.layout != Layout::C) {
        return false;
    }
    let (start, end) = (target.address, target.address.saturating_add(bytes));
    program.loads.iter().all(|load| !(start..end).contains(&load.address()))
}

/// Compiled code takes elements that are aligned, which views of other types' bytes may not be.
pub fn is_aligned(program: &Program, target: &Target) -> bool {
    let device = target.device();
    let fits = |load: &Load| lies_aligned(load.address(), &load.strides, load.elem, device);
    program.loads.iter().all(fits) && lies_aligned(target.address, &target.strides, target.elem, device)
}

/// Are elements aligned as compiled code of a device takes them?
pub fn lies_aligned(address: u64, strides: &[i64], elem: Scalar, device: u8) -> bool {
    // The CPU's code loads complex numbers by their parts.
    let most = if device == machine::CPU { 8 } else { 16 };
    let align = elem.size().min(most) as i64;
    address as i64 % align == 0 && strides.iter().all(|stride| stride % align == 0)
}

/// The compiled code, if there is any by now. With a number of steps that it is run for, it is compiled in the background once these are worth
/// it, else at once.
pub fn code(key: &Key, wait: Option<u64>, job: impl FnOnce() -> Job) -> Result<Option<Arc<dyn Executable>>> {
    let mut programs = PROGRAMS.lock();
    let state = match programs.get_or_insert_default().get_mut(key) {
        Some(state) => state,
        None => programs.get_or_insert_default().entry(key.clone()).or_insert(State::Waiting(0)),
    };
    match state {
        State::Ready(code) => return Ok(Some(code.clone())),
        State::Failed(why) if wait.is_none() && key.device == machine::CPU => return Err(Error::Internal(why.clone())),
        State::Compiling(forks) if *forks == weft_forks::count() => return Ok(None),
        State::Failed(_) => return Ok(None),
        // Nobody compiles it any more.
        State::Compiling(_) => {}
        State::Waiting(done) => {
            *done = done.saturating_add(wait.unwrap_or(WORTH));
            if *done < WORTH {
                return Ok(None);
            }
        }
    }
    *state = State::Compiling(weft_forks::watch());
    drop(programs);
    let (key, job) = (key.clone(), job());
    if wait.is_none() {
        return match settle(key.clone(), job) {
            State::Ready(code) => Ok(Some(code)),
            State::Failed(why) if key.device == machine::CPU => Err(Error::Internal(why)),
            State::Failed(_) | State::Waiting(_) | State::Compiling(_) => Ok(None),
        };
    }
    forget_those_of_parents();
    BUSY.fetch_add(1, Ordering::AcqRel);
    thread::spawn(move || {
        settle(key, job);
        BUSY.fetch_sub(1, Ordering::AcqRel);
    });
    Ok(None)
}

/// Compiles and says so to all.
fn settle(key: Key, job: Job) -> State {
    let made = match job.compile(&key) {
        Ok(code) => State::Ready(code),
        Err(error) => State::Failed(error.to_string()),
    };
    COUNT.fetch_add(1, Ordering::Relaxed);
    let again = match &made {
        State::Ready(code) => State::Ready(code.clone()),
        State::Failed(why) => State::Failed(why.clone()),
        State::Waiting(_) | State::Compiling(_) => State::Compiling(weft_forks::count()),
    };
    let mut programs = PROGRAMS.lock();
    programs.get_or_insert_default().insert(key, again);
    made
}

/// What makes a kernel of a function.
type Wraps = Box<dyn FnOnce(Module) -> Result<Module> + Send>;

/// What is to be compiled: a function's text and its parameters' types, and what makes a kernel of it.
pub struct Job {
    pub text: String,
    pub types: Vec<Scalar>,
    pub kernel: Wraps,
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Job {
    /// Of a map.
    fn new(key: &Key, program: &Program) -> Job {
        let (text, types) = text::of_loop(program, &key.form.moves(), Ends::Result, machine::has_int64(key.device));
        let (rank, inputs, output) = (key.rank, key.form.inputs(&types), key.output);
        let streams = key.streams;
        let kernel = move |module| {
            let mut made = map_loop(module, rank, &inputs, &[output], None).map_err(|error| Error::Internal(error.to_string()))?;
            if let Some(entry) = made.functions.get_mut(made.entry.index()) {
                entry.flags.streams = streams;
            }
            Ok(made)
        };
        Job {
            text,
            types,
            kernel: Box::new(kernel),
        }
    }

    fn compile(self, key: &Key) -> Result<Arc<dyn Executable>> {
        let device = machine::device(key.device)?;
        let module = text::compile_for("fused", self.text, &self.types, device.limits().float64)?;
        let options = CompileOptions {
            cache: true,
            ..CompileOptions::default()
        };
        let kernel = (self.kernel)(module)?;
        device
            .compile(Arc::new(kernel), options)
            .map_err(|error| Error::Run(RunError::Compile(error)))
    }
}

/// How the loop goes over the points. Iotas are operands that move by one along their axes; the last is the result.
fn planned(program: &Program, target: &Target) -> Plan {
    let shape = &program.extents;
    let steps: SmallVec<[Strides; 2]> = program.iotas.iter().map(|iota| form::steps(iota, shape.len())).collect();
    let operand = |strides, item: usize| Operand {
        shape,
        strides,
        item: item as u64,
    };
    let loads = program.loads.iter().map(|load| operand(&load.strides[..], load.elem.size()));
    let iotas = steps.iter().map(|strides| operand(&strides[..], 1));
    let last = operand(&target.strides[..], target.elem.size());
    plan(shape, &loads.chain(iotas).chain([last]).collect::<SmallVec<[Operand<'_>; 6]>>())
}
