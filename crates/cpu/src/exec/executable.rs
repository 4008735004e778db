//! A module on the CPU: its variants, compiled as launches ask for them, and its launches.

#![allow(unsafe_code)]

use std::ops::Range;
use std::sync::{Arc, Weak};

use weft_forks::Once;
use weft_ir::order::Cut;
use weft_ir::{Axis, Const, FuncKind, Function, Module, ReduceOp, Reduction, Scalar, Space, StmtKind, Type, eval};
use weft_llvm::Pipeline;
use weft_passes::{distances, flat, operands};
use weft_runtime::checked;
use weft_runtime::grids::joined;
use weft_runtime::profile::{self, Activity};
use weft_runtime::slots;
use weft_runtime::threads;
use weft_runtime::{
    Buffer, CallOptions, CompileError, CompileOptions, Device, DeviceId, Executable, GridShape, Hooks, Inspect, Launch, Limits, Outcome,
    Resources, RunError, array_bytes,
};

use super::code::{self, Code};
use super::context::{self, Context};
use super::cooperative;
use super::device::CpuDevice;
use super::memory::{HostBuffer, HostMemory};
use super::pool;
use super::spread::{self, Units, Work};
use super::stream;
use super::variants::{self, Form};
use crate::emit::{Target, Variant, computes_long, width};

#[derive(Debug)]
pub struct CpuExecutable {
    /// As the front end made it.
    module: Arc<Module>,
    /// After the passes.
    lowered: Module,
    options: CompileOptions,
    target: Target,
    /// Threads of a kernel that run as one gang, if a block has that many.
    width: u32,
    /// The axis that a kernel's lanes lie along, if a block has enough threads there.
    along: Axis,
    /// A kernel's gangs have to be its warps.
    has_warps: bool,
    /// Its blocks wait for each other.
    has_grid_barrier: bool,
    /// By the index of their [`Form`]; what is no kernel has the first only.
    variants: [Once<Result<Code, CompileError>>; variants::COUNT],
    /// A kernel that does little but move memory, and whose threads know but their number, as a loop: for launches along x.
    flat: Option<Flat>,
    /// For graphs, which keep the code they run.
    me: Weak<CpuExecutable>,
}

#[derive(Debug)]
struct Flat {
    lowered: Module,
    code: Once<Result<Code, CompileError>>,
}

impl Flat {
    fn of(lowered: &Module) -> Option<Flat> {
        let lowered = flat::as_loop(lowered)?;
        (!computes_long(lowered.entry_function())).then(|| Flat {
            lowered,
            code: Once::new(),
        })
    }
}

/// Threads that wait for each other lie along the first axis.
fn along(function: &Function) -> Axis {
    match function.kind {
        FuncKind::Kernel if !operands::has_barrier(&function.body.0) => distances::lane_axis(function),
        _ => Axis::X,
    }
}

impl CpuExecutable {
    pub fn new(module: Arc<Module>, options: CompileOptions, target: Target) -> Result<Arc<CpuExecutable>, CompileError> {
        let mut lowered = Module::clone(&module);
        weft_passes::lower_for_cpu(&mut lowered).map_err(|error| CompileError::Unsupported {
            message: error.message,
            span: error.span,
        })?;
        Limits::check_shared_arrays(&lowered)?;
        let width = width::choose(lowered.entry_function(), &target);
        let along = along(lowered.entry_function());
        let has_warps = operands::uses_warps(lowered.entry_function());
        let has_grid_barrier = lowered.entry_function().body.any(&mut |kind| *kind == StmtKind::GridBarrier);
        Ok(Arc::new_cyclic(|me| CpuExecutable {
            module,
            flat: Flat::of(&lowered),
            lowered,
            options,
            target,
            width,
            along,
            has_warps,
            has_grid_barrier,
            variants: [const { Once::new() }; variants::COUNT],
            me: me.clone(),
        }))
    }

    fn kind(&self) -> &FuncKind {
        &self.lowered.entry_function().kind
    }

    fn pipeline(&self) -> Pipeline {
        match self.kind() {
            FuncKind::Kernel | FuncKind::Loop { .. } => Pipeline::Gang,
            FuncKind::Host | FuncKind::Device => Pipeline::Scalar,
        }
    }

    fn form(&self, block: [u32; 3]) -> Form {
        if self.has_warps {
            return Form::of_warps(block);
        }
        match self.target.gang {
            Some(_) => Form::exactly(block, self.width, self.along),
            None => Form::of(block, self.width, self.along),
        }
    }

    /// The code for a block, and whether it needs a deep stack.
    fn kernel_code(&self, block: [u32; 3], shared_bytes: u32) -> Result<(&Code, bool), RunError> {
        let form = self.form(block);
        let code = self.code(form.index(), || form.variant())?;
        Ok((code, code.is_deep(form.gangs(block), shared_bytes)?))
    }

    fn plain_code(&self) -> Result<(&Code, bool), RunError> {
        let code = self.code(0, || Variant::Plain)?;
        Ok((code, code.is_deep(0, 0)?))
    }

    fn code(&self, index: usize, variant: impl FnOnce() -> Variant) -> Result<&Code, RunError> {
        self.made(&self.variants[index], &self.lowered, variant)
    }

    fn made<'a>(
        &self,
        code: &'a Once<Result<Code, CompileError>>,
        lowered: &Module,
        variant: impl FnOnce() -> Variant,
    ) -> Result<&'a Code, RunError> {
        let make = || Code::new(code::emit(lowered, &self.target, &variant())?, self.pipeline(), self.options.cache);
        let name = &self.module.entry_function().name;
        let made = code.get_or_init(|| profile::timed(Activity::Compile, name, DeviceId::CPU, 0, make));
        made.as_ref().map_err(|error| RunError::Compile(error.clone()))
    }

    /// What `inspect` shows: the variant first launched, else one with all its lanes along x.
    fn shown(&self) -> (&Module, Variant) {
        if *self.kind() != FuncKind::Kernel {
            return (&self.lowered, Variant::Plain);
        }
        let launched = self.variants.iter().position(|slot| slot.get().is_some());
        match (launched, &self.flat) {
            (Some(index), _) => (&self.lowered, Form::from_index(index).variant()),
            (None, Some(flat)) => (&flat.lowered, Variant::Plain),
            (None, None) => (&self.lowered, self.form([self.width, 1, 1]).variant()),
        }
    }

    /// Threads of a block and blocks of the grid, if the launch may have them.
    fn check_grid(&self, shape: GridShape, shared_bytes: u32) -> Result<(u64, u64), RunError> {
        let function = self.lowered.entry_function();
        let (threads, blocks) = CpuDevice.limits().check(function, shape)?;
        if shared_bytes > 0 {
            CpuDevice
                .limits()
                .check_shared(array_bytes(function, Space::Shared), shared_bytes)?;
        }
        Ok((threads, blocks))
    }

    fn run_grid(&self, shape: GridShape, shared_bytes: u32, args: &[u64], hooks: &Hooks) -> Result<Outcome, RunError> {
        let (threads, blocks) = self.check_grid(shape, shared_bytes)?;
        if let Some(flat) = &self.flat
            && [shape.block, shape.grid].iter().all(|dims| dims[1..] == [1, 1])
        {
            return self.run_flat(flat, threads * blocks, args, hooks);
        }
        let (code, deep) = self.kernel_code(shape.block, shared_bytes)?;
        let wide = |x: [u32; 3]| x.map(i64::from);
        let ([bx, by, bz], [gx, gy, gz]) = (wide(shape.block), wide(shape.grid));
        let mut geometry = [bx, by, bz, gx, gy, gz, shared_bytes.into()];
        let context = Context::new(&code.sites, hooks);
        let call = Call {
            context: &context,
            code,
            deep,
            args: args.as_ptr(),
            extra: geometry.as_mut_ptr().cast(),
        };
        if self.has_grid_barrier {
            call.cooperate(blocks, code.stack_bytes(self.form(shape.block).gangs(shape.block), shared_bytes)?)?;
        } else {
            call.spread(blocks, threads, self.lowered.entry_function());
        }
        context.finish(|_| false)
    }

    fn run_flat(&self, flat: &Flat, threads: u64, args: &[u64], hooks: &Hooks) -> Result<Outcome, RunError> {
        let code = self.made(&flat.code, &flat.lowered, || Variant::Plain)?;
        let code = (code, code.is_deep(0, 0)?);
        over(code, &[threads], args, &mut [], hooks, |call| {
            call.spread(threads, 1, flat.lowered.entry_function())
        })
    }

    fn run_loop(&self, extents: &[u64], args: &[u64], results: &mut [u64], hooks: &Hooks) -> Result<Outcome, RunError> {
        let FuncKind::Loop { rank, reductions } = self.kind() else {
            return Err(misuse("Loop", self.kind()));
        };
        if extents.len() != usize::from(*rank) {
            return Err(RunError::Invalid(format!("a loop of rank {rank} got {} extents", extents.len())));
        }
        let signed: Vec<i64> = extents.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX)).collect();
        let space = context::Space::new(&signed);
        if reductions.iter().any(|r| r.fixed) {
            return self.run_in_order(extents, args, results, hooks, reductions);
        }
        over(self.plain_code()?, extents, args, results, hooks, |call| {
            if reductions.is_empty() {
                call.launch(space.rows, space.points_per_row());
            } else {
                // Only a launch from compiled code can combine partial results.
                call.at_once(space.rows);
            }
        })
    }

    /// A loop whose reductions have a fixed order: chunk by chunk.
    fn run_in_order(
        &self,
        extents: &[u64],
        args: &[u64],
        results: &mut [u64],
        hooks: &Hooks,
        reductions: &[Reduction],
    ) -> Result<Outcome, RunError> {
        let function = self.module.entry_function();
        let scalar = |r: &Reduction| Some((r.op, function.local_ty(r.local).scalar()?));
        let kinds: Option<Vec<(ReduceOp, Scalar)>> = reductions.iter().map(scalar).collect();
        let start = |kinds: &Vec<(ReduceOp, Scalar)>| kinds.iter().map(|(op, scalar)| op.identity(*scalar)).collect();
        let sums: Option<Vec<Const>> = kinds.as_ref().and_then(start);
        let (Some(kinds), Some(mut sums)) = (kinds, sums) else {
            return Err(RunError::Invalid(format!("{} reduces what does not combine", function.name)));
        };
        let (code, cut, mut outcome) = (self.plain_code()?, Cut::new(extents), Outcome::default());
        for chunk in 0..cut.chunks() {
            let mut part = vec![0; results.len()];
            let of_chunk = over(code, extents, args, &mut part, hooks, |call| call.part(cut.units(chunk)))?;
            outcome.output += &of_chunk.output;
            outcome.owned.extend(of_chunk.owned);
            let mut slots = part.into_iter();
            for ((op, scalar), sum) in kinds.iter().zip(&mut sums) {
                let both = eval::binary(op.binary(), *sum, slots::read(*scalar, &mut slots));
                *sum = both.ok_or_else(|| RunError::Invalid(format!("{} reduces what does not combine", function.name)))?;
            }
        }
        let mut given = Vec::new();
        sums.into_iter().for_each(|sum| slots::write(sum, &mut given));
        results.iter_mut().zip(given).for_each(|(slot, value)| *slot = value);
        Ok(outcome)
    }

    fn run_call(&self, args: &[u64], results: &mut [u64], hooks: &Hooks) -> Result<Outcome, RunError> {
        let (code, deep) = self.plain_code()?;
        let context = Context::new(&code.sites, hooks);
        let call = Call {
            context: &context,
            code,
            deep,
            args: args.as_ptr(),
            extra: results.as_mut_ptr(),
        };
        call.at_once(1);
        let result = &self.module.entry_function().result;
        context.finish(|buffer| refers(result, results, buffer).0)
    }

    fn start(&self, launch: Launch, args: &[u64], results: &mut [u64], options: &CallOptions<'_>) -> Result<Outcome, RunError> {
        if self.options.checked {
            if let Launch::Grid(shape) = &launch {
                self.check_grid(*shape, options.shared_bytes)?;
            }
            return checked::run(&self.module, &launch, args, results, options, &HostMemory);
        }
        let hooks = &options.hooks;
        match launch {
            Launch::Grid(shape) => self.run_grid(shape, options.shared_bytes, args, hooks),
            Launch::Loop(extents) => self.run_loop(&extents, args, results, hooks),
            Launch::Call => self.run_call(args, results, hooks),
        }
    }

    /// Keeps the launch for a graph if the stream captures.
    fn captured(&self, stream: &stream::CpuStream, launch: &Launch, args: &[u64], options: &CallOptions<'_>) -> bool {
        stream.keep(|| {
            let (me, launch, args) = (self.me.upgrade(), launch.clone(), args.to_vec());
            let (hooks, shared_bytes) = (options.hooks, options.shared_bytes);
            let options = move || CallOptions {
                hooks,
                shared_bytes,
                ..CallOptions::default()
            };
            Box::new(move || match &me {
                Some(me) => Ok(me.run(launch.clone(), &args, &mut [], &options())?.output),
                None => Ok(String::new()),
            })
        })
    }

    /// Refuses argument blocks of the wrong size, which compiled code would read past.
    fn check_slots(&self, launch: &Launch, args: &[u64], results: &[u64]) -> Result<(), RunError> {
        let function = self.module.entry_function();
        let skipped = match (&function.kind, launch) {
            (FuncKind::Loop { rank, .. }, Launch::Loop(_)) => usize::from(*rank),
            (FuncKind::Kernel, Launch::Grid(_)) | (FuncKind::Host, Launch::Call) => 0,
            (kind, _) => return Err(misuse(launch_name(launch), kind)),
        };
        let wanted: usize = function.params[skipped..].iter().map(|&p| function.ty(p).slots()).sum();
        if args.len() != wanted {
            return Err(RunError::Invalid(format!(
                "{} takes {wanted} argument slots, got {}",
                function.name,
                args.len()
            )));
        }
        if results.len() < function.result.slots() {
            return Err(RunError::Invalid(format!(
                "{} gives {} result slots",
                function.name,
                function.result.slots()
            )));
        }
        Ok(())
    }
}

impl Executable for CpuExecutable {
    fn run(&self, launch: Launch, args: &[u64], results: &mut [u64], options: &CallOptions<'_>) -> Result<Outcome, RunError> {
        self.check_slots(&launch, args, results)?;
        if let Some(stream) = stream::of(options.stream)
            && results.is_empty()
            && self.captured(stream, &launch, args, options)
        {
            return Ok(Outcome::default());
        }
        if profile::is_on() {
            let name = &self.module.entry_function().name;
            return profile::timed(Activity::Kernel, name, DeviceId::CPU, 0, || {
                self.start(launch, args, results, options)
            });
        }
        self.start(launch, args, results, options)
    }

    fn inspect(&self, what: Inspect) -> Result<String, CompileError> {
        if what == Inspect::Ir {
            return Ok(weft_ir::text::print(&self.module));
        }
        let (lowered, variant) = self.shown();
        let emitted = code::emit(lowered, &self.target, &variant)?;
        if what == Inspect::Llvm {
            return Ok(emitted.text);
        }
        let options = weft_llvm::Options::host(self.pipeline());
        weft_llvm::assembly(&emitted.text, &options).map_err(|error| CompileError::Internal(error.to_string()))
    }

    fn resources(&self) -> Result<Resources, RunError> {
        let bytes = |space| array_bytes(self.lowered.entry_function(), space);
        Ok(Resources {
            registers: 0,
            shared_bytes: bytes(Space::Shared),
            local_bytes: bytes(Space::Local),
            constant_bytes: self.module.constants.iter().map(|c| c.bytes.len() as u64).sum(),
            threads: CpuDevice.limits().threads_per_block,
        })
    }

    fn resident_blocks(&self, _threads: u32, _shared_bytes: u32) -> Result<u64, RunError> {
        Ok(cooperative::MOST_BLOCKS)
    }
}

/// Runs a loop's code over its extents, as `run` says.
fn over(
    (code, deep): (&Code, bool),
    extents: &[u64],
    args: &[u64],
    results: &mut [u64],
    hooks: &Hooks,
    run: impl FnOnce(&Call<'_>),
) -> Result<Outcome, RunError> {
    let context = Context::new(&code.sites, hooks);
    joined(extents, args, |slots| {
        run(&Call {
            context: &context,
            code,
            deep,
            args: slots.as_ptr(),
            extra: results.as_mut_ptr(),
        });
    });
    context.finish(|_| false)
}

/// One launch of compiled code.
pub(super) struct Call<'a> {
    pub context: &'a Context<'a>,
    pub code: &'a Code,
    /// Runs on a thread with a large stack.
    pub deep: bool,
    pub args: *const u64,
    pub extra: *mut u64,
}

// SAFETY: arguments and geometry are only read by compiled code; results are written by calls that run alone.
unsafe impl Sync for Call<'_> {}

impl Call<'_> {
    /// Runs units of `items` threads or points on as many threads as pay.
    pub fn launch(&self, units: u64, items: u64) {
        self.on_fitting_stack(|| spread::run(&self.code.cost, Units::new(units, items), self));
    }

    /// The same for threads of a kernel: on one thread if it must.
    fn spread(&self, units: u64, items: u64, function: &Function) {
        match function.flags.one_thread {
            true => self.on_fitting_stack(|| spread::alone(Units::new(units, items), self)),
            false => self.launch(units, items),
        }
    }

    /// Runs blocks that wait for each other.
    fn cooperate(&self, blocks: u64, stack_bytes: u64) -> Result<(), RunError> {
        let most = cooperative::MOST_BLOCKS;
        if blocks > most {
            return Err(RunError::Invalid(format!(
                "the CPU can run {most} blocks at the same time, as a barrier of the whole grid needs: got {blocks}"
            )));
        }
        if !cooperative::run(blocks, stack_bytes, self) {
            return Err(RunError::host_memory(blocks * stack_bytes));
        }
        Ok(())
    }

    /// Runs all units in one call of the code.
    fn at_once(&self, units: u64) {
        self.part(0..units);
    }

    fn part(&self, units: Range<u64>) {
        self.on_fitting_stack(|| {
            if self.code.recursive {
                self.context.guard(self.code.frame());
            }
            self.run(units);
        });
    }

    fn on_fitting_stack(&self, job: impl FnOnce() + Send) {
        if !self.deep {
            return job();
        }
        let poll = || {
            self.context.poll();
        };
        // It is the calling thread's work: its random numbers go on there, and from there.
        let lent = threads::Lent::of_this_thread();
        let mut after = None;
        let given_back = &mut after;
        let lending = move || {
            lent.put();
            job();
            *given_back = Some(threads::Lent::of_this_thread());
        };
        if !pool::on_deep_stack(poll, lending) {
            self.context.broken("the system gives no thread with a large stack");
        }
        if let Some(after) = after {
            after.put();
        }
    }
}

impl Work for Call<'_> {
    fn run(&self, chunk: Range<u64>) -> bool {
        let run = |context: &Context<'_>| {
            // SAFETY: `check_slots` made sure that the arguments are those the code was compiled for; the addresses in them are the
            // caller's responsibility.
            unsafe { (self.code.entry)(context, self.args, self.extra, chunk.start as i64, chunk.end as i64) }
        };
        let code = match self.code.recursive && !self.context.is_guarded() {
            // One of many threads, each with a stack of its own.
            true => {
                let inner = self.context.inner();
                inner.guard(self.code.frame());
                run(&inner)
            }
            false => run(self.context),
        };
        if code != 0 && !self.context.failed() {
            self.context
                .broken(format!("compiled code failed with code {code} and recorded no error"));
        }
        !self.context.failed()
    }

    fn interrupted(&self) -> bool {
        self.context.poll()
    }
}

fn launch_name(launch: &Launch) -> &'static str {
    match launch {
        Launch::Call => "Call",
        Launch::Grid(_) => "Grid",
        Launch::Loop(_) => "Loop",
    }
}

fn misuse(launch: &str, kind: &FuncKind) -> RunError {
    RunError::Invalid(format!("a {kind:?} function cannot be launched as {launch}"))
}

/// Does a view among the results of type `ty` point into `buffer`? Also says how many slots the type took.
fn refers(ty: &Type, slots: &[u64], buffer: &HostBuffer) -> (bool, usize) {
    match ty {
        Type::View(_) => (slots.first().is_some_and(|&data| buffer.holds(data)), ty.slots()),
        Type::Tuple(items) => {
            let mut at = 0;
            let mut any = false;
            for item in items {
                let (here, took) = refers(item, slots.get(at..).unwrap_or(&[]), buffer);
                any |= here;
                at += took;
            }
            (any, at)
        }
        Type::Scalar(_) => (false, ty.slots()),
    }
}

impl HostBuffer {
    /// For the device's own allocations: what is in them is not defined, and in builds for tests no zeros.
    pub fn boxed(bytes: usize) -> Result<Box<dyn Buffer>, RunError> {
        match HostBuffer::new(bytes, false) {
            Some(buffer) => {
                if cfg!(debug_assertions) && bytes <= 1 << 20 {
                    // SAFETY: it has so many bytes, and nobody else has it yet.
                    unsafe { buffer.start().write_bytes(0xcb, bytes) };
                }
                Ok(Box::new(buffer))
            }
            None => Err(RunError::host_memory(bytes as u64)),
        }
    }
}
