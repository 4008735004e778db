//! Tier 1: programs compiled as one loop, in the background, once what they were run for is worth it. Sizes, strides and numbers are no part of
//! what is compiled: a new shape never compiles.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};

use smallvec::SmallVec;
use weft_array::{Access, Operand, OperandPlan, Plan, plan, ufunc_loop};
use weft_ir::Scalar;
use weft_runtime::{CallOptions, CompileOptions, Executable, Launch, RunError};

use crate::error::{Error, Result};
use crate::program::{Program, Slot};
use crate::tiles::Target;
use crate::link::Recipe;
use crate::machine;

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

/// What a compiled loop depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    rank: u8,
    operands: SmallVec<[Access; 6]>,
    constants: SmallVec<[Scalar; 4]>,
    steps: Vec<(u32, SmallVec<[Slot; 3]>)>,
    result: Slot,
}

#[derive(Debug)]
enum State {
    /// Run for so many steps by tiles.
    Waiting(u64),
    Compiling,
    Ready(Arc<dyn Executable>),
    /// Its compilation failed, and tiles do it for good; why.
    Failed(String),
}

static PROGRAMS: Mutex<Option<HashMap<Key, State>>> = Mutex::new(None);
/// Compilations under way.
static BUSY: AtomicUsize = AtomicUsize::new(0);
static IDLE: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());
/// How many programs were compiled.
static COUNT: AtomicUsize = AtomicUsize::new(0);

pub fn count() -> usize {
    COUNT.load(Ordering::Relaxed)
}

/// Waits for what is compiled in the background.
pub fn finish() {
    let mut idle = IDLE.0.lock().unwrap_or_else(PoisonError::into_inner);
    while BUSY.load(Ordering::Acquire) > 0 {
        idle = IDLE.1.wait(idle).unwrap_or_else(PoisonError::into_inner);
    }
}

/// Runs the program compiled, if it is; false where tiles are to do it.
pub fn run(program: &Program, target: &Target) -> Result<bool> {
    let tiers = tiers();
    if tiers == Tiers::Tiles || program.steps.is_empty() || !program.iotas.is_empty() {
        return Ok(false);
    }
    let points: u64 = program.extents.iter().product();
    let work = points.saturating_mul(program.steps.iter().map(|step| u64::from(step.operation.cost)).sum());
    if (tiers == Tiers::Both && work < 10_000) || !is_aligned(program, target) {
        return Ok(false);
    }
    let (plan, key) = planned(program, target);
    if plan.extents.contains(&0) {
        return Ok(true);
    }
    let code = match code(key, program, work, tiers)? {
        Some(code) => code,
        None => return Ok(false),
    };
    code.run(
        Launch::Loop(plan.extents.clone()),
        &slots(program, target, &plan),
        &mut [],
        &CallOptions::default(),
    )?;
    Ok(true)
}

/// Compiled code takes elements that are aligned, which views of other types' bytes may not be.
fn is_aligned(program: &Program, target: &Target) -> bool {
    let fits = |address: u64, strides: &[i64], elem: Scalar| {
        let align = elem.size().min(8) as i64;
        address as i64 % align == 0 && strides.iter().all(|stride| stride % align == 0)
    };
    program.loads.iter().all(|load| fits(load.address(), &load.strides, load.elem)) && fits(target.address, &target.strides, target.elem)
}

/// The compiled loop, if there is one by now.
fn code(key: Key, program: &Program, work: u64, tiers: Tiers) -> Result<Option<Arc<dyn Executable>>> {
    let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    let state = programs.get_or_insert_default().entry(key.clone()).or_insert(State::Waiting(0));
    match state {
        State::Ready(code) => return Ok(Some(code.clone())),
        State::Failed(why) if tiers == Tiers::Compiled => return Err(Error::Internal(why.clone())),
        State::Compiling | State::Failed(_) => return Ok(None),
        State::Waiting(done) => {
            *done = done.saturating_add(work);
            if tiers == Tiers::Both && *done < WORTH {
                return Ok(None);
            }
        }
    }
    *state = State::Compiling;
    drop(programs);
    let recipe = Recipe::of(program);
    if tiers == Tiers::Compiled {
        return match settle(key, &recipe) {
            State::Ready(code) => Ok(Some(code)),
            State::Failed(why) => Err(Error::Internal(why)),
            State::Waiting(_) | State::Compiling => Ok(None),
        };
    }
    BUSY.fetch_add(1, Ordering::AcqRel);
    std::thread::spawn(move || {
        settle(key, &recipe);
        let _idle = IDLE.0.lock().unwrap_or_else(PoisonError::into_inner);
        BUSY.fetch_sub(1, Ordering::AcqRel);
        IDLE.1.notify_all();
    });
    Ok(None)
}

/// Compiles and says so to all.
fn settle(key: Key, recipe: &Recipe) -> State {
    let made = match compile(&key, recipe) {
        Ok(code) => State::Ready(code),
        Err(error) => State::Failed(error.to_string()),
    };
    COUNT.fetch_add(1, Ordering::Relaxed);
    let again = match &made {
        State::Ready(code) => State::Ready(code.clone()),
        State::Failed(why) => State::Failed(why.clone()),
        State::Waiting(_) | State::Compiling => State::Compiling,
    };
    let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    programs.get_or_insert_default().insert(key, again);
    made
}

fn compile(key: &Key, recipe: &Recipe) -> Result<Arc<dyn Executable>> {
    let module = recipe.module()?;
    let Some((&output, inputs)) = key.operands.split_last() else {
        return Err(Error::Internal("a loop without a result".into()));
    };
    let constant = |&elem: &Scalar| Access {
        elem,
        axes: 0,
        layout: weft_ir::Layout::C,
    };
    let inputs: Vec<Access> = inputs.iter().copied().chain(key.constants.iter().map(constant)).collect();
    let looped = ufunc_loop(module, key.rank, &inputs, output, None).map_err(|error| Error::Internal(error.to_string()))?;
    let options = CompileOptions {
        cache: true,
        ..CompileOptions::default()
    };
    machine::cpu()?
        .compile(Arc::new(looped), options)
        .map_err(|error| Error::Run(RunError::Compile(error)))
}

/// How the loop goes over the points, and what it is compiled for.
fn planned(program: &Program, target: &Target) -> (Plan, Key) {
    let shape = &program.extents;
    let mut operands: SmallVec<[Operand<'_>; 6]> = SmallVec::new();
    for load in &program.loads {
        operands.push(Operand {
            shape,
            strides: &load.strides,
            item: load.elem.size() as u64,
        });
    }
    operands.push(Operand {
        shape,
        strides: &target.strides,
        item: target.elem.size() as u64,
    });
    let plan = plan(shape, &operands);
    let elems = program.loads.iter().map(|load| load.elem).chain([target.elem]);
    let access = |(elem, operand): (Scalar, &OperandPlan)| Access {
        elem,
        axes: operand.axes,
        layout: operand.layout,
    };
    let key = Key {
        rank: plan.extents.len() as u8,
        operands: elems.zip(&plan.operands).map(access).collect(),
        constants: program.constants.iter().map(|(elem, _)| *elem).collect(),
        steps: program
            .steps
            .iter()
            .map(|step| (step.operation.number, step.args.clone()))
            .collect(),
        result: program.result.unwrap_or(Slot::Constant(0)),
    };
    (plan, key)
}

/// The loop's arguments: a view for each operand, the numbers as views of one element, the result's view.
fn slots(program: &Program, target: &Target, plan: &Plan) -> SmallVec<[u64; 32]> {
    let mut slots: SmallVec<[u64; 32]> = SmallVec::new();
    let mut view = |address: u64, operand: &OperandPlan| {
        slots.push(address);
        slots.extend(operand.shape.iter().copied());
        slots.extend(operand.strides.iter().map(|&s| s as u64));
    };
    let (loads, output) = plan.operands.split_at(program.loads.len());
    for (load, operand) in program.loads.iter().zip(loads) {
        view(load.address(), operand);
    }
    let none = OperandPlan {
        axes: 0,
        layout: weft_ir::Layout::C,
        shape: Vec::new(),
        strides: Vec::new(),
    };
    for (_, bits) in &program.constants {
        view(bits.as_ptr() as u64, &none);
    }
    output.iter().for_each(|operand| view(target.address, operand));
    slots
}
