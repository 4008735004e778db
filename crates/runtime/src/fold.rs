//! Folds on GPUs: loops whose points reduce index spaces of their own, in one of four forms. Which one, the extents decide at each launch;
//! the bits of reductions in the fixed order are the same. What a fold leaves stays on the device, and nothing is waited for.

use std::fmt::{self, Debug};
use std::ops::Deref;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use weft_ir::order::Stage;
use weft_ir::{Function, Module, Scalar};

use crate::hosts::{Carrier, Scratch, Staged};
use crate::{
    CallOptions, CompileError, Device, Executable, GridShape, Inspect, Launch, Outcome, Resources, RunError, Settings, Signature, Stream,
    patience,
};

/// Inner points that are worth threads of their own.
const LONG: u64 = 64;
/// Points that fill a device where each is a thread, which is the better way where memory lies along them.
const MANY: u64 = 4096;
/// Points that fill a device where each is a block of threads, and the partial results that one of fewer points has if it is worth more
/// blocks and a second stage.
const SOME: u64 = 128;
const WORTH: u64 = 16;
/// Points that are worth blocks of neighbours where memory lies along them.
const WIDE: u64 = 1024;
/// The most blocks of threads, which go on through the points from there.
const MOST_BLOCKS: u64 = 32768;

/// How the work of a fold is shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A point is a thread's.
    Threads,
    /// A point is shared by the threads of a block.
    Blocks,
    /// Neighbouring points are shared by the threads of a block.
    Columns,
    /// A point is shared by many blocks, which leave partial results; a second kernel joins them.
    Stages,
}

const FORMS: [Form; 4] = [Form::Threads, Form::Blocks, Form::Columns, Form::Stages];

/// A GPU that folds are compiled for and run on.
pub trait Gpu: Send + Sync + Debug + 'static {
    type Stream: Carrier;
    type Facts: Copy + Debug + Send + Sync + 'static;

    fn device(self: &Arc<Self>) -> Arc<dyn Device>;

    /// The stream of a call, or the default one.
    fn stream_of<'a>(self: &'a Arc<Self>, given: Option<&'a dyn Stream>) -> Result<impl Deref<Target = Self::Stream> + 'a, RunError>;

    fn compiled(self: &Arc<Self>, module: Arc<Module>, settings: Settings<Self::Facts>) -> Result<Arc<dyn Executable>, CompileError>;
}

/// Where a fold is compiled and run, and how.
#[derive(Debug)]
pub struct Workplace<G: Gpu> {
    pub gpu: Arc<G>,
    pub settings: Settings<G::Facts>,
}

impl<G: Gpu> Workplace<G> {
    pub fn compiled(&self, module: Arc<Module>) -> Result<Arc<dyn Executable>, CompileError> {
        self.gpu.compiled(module, self.settings)
    }
}

/// A kernel, compiled when a launch first needs it.
#[derive(Debug)]
pub struct Kernel {
    module: Arc<Module>,
    made: OnceLock<Result<Arc<dyn Executable>, CompileError>>,
}

impl Kernel {
    pub fn new(module: Module) -> Kernel {
        Kernel {
            module: Arc::new(module),
            made: OnceLock::new(),
        }
    }

    fn on(&self, workplace: &Workplace<impl Gpu>) -> Result<&Arc<dyn Executable>, CompileError> {
        let made = self.made.get_or_init(|| workplace.compiled(self.module.clone()));
        made.as_ref().map_err(Clone::clone)
    }
}

/// The kernels of an inner index space in two stages.
#[derive(Debug)]
pub struct Stages {
    /// The first leaves partial results, or does what there is to do at points that give none.
    pub parts: Kernel,
    pub whole: Option<Kernel>,
    /// What is reduced.
    pub scalars: Vec<Scalar>,
}

/// The kernel of blocks that have neighbouring points, how many those are, and the threads.
#[derive(Debug)]
pub struct Columns {
    pub kernel: Kernel,
    pub points: u64,
    pub threads: u32,
}

/// What a fold is made of.
pub struct Kernels {
    /// The loop as it is.
    pub points: Arc<dyn Executable>,
    pub block: Kernel,
    /// None where blocks cannot have so many threads.
    pub columns: Option<Columns>,
    /// Of each inner index space; none where there can be no stages.
    pub stages: Vec<Stages>,
    /// What the inner index spaces take in a launch with these arguments; nothing where only the points know.
    pub inner: Box<Finds>,
    /// Are the inner points what a device should have side by side, rather than the loop's?
    pub is_shared_well: bool,
    /// Should a block have neighbouring points beside their inner ones?
    pub is_in_columns_well: bool,
    /// Threads of a block, at the least and at the most.
    pub threads: [u32; 2],
}

impl Debug for Kernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernels")
            .field("block", &self.block)
            .field("stages", &self.stages)
            .finish()
    }
}

/// An inner index space of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Inner {
    pub points: u64,
    pub stage: Stage,
}

/// The inner index spaces of a launch, from its arguments.
type Finds = dyn Fn(&[u64]) -> Option<Vec<Inner>> + Send + Sync;

/// Memory between the kernels of an inner index space and those after it.
struct Between<B> {
    /// Given back behind all launches.
    held: Vec<Scratch<B>>,
    /// As slots of views.
    partials: Vec<u64>,
    gives: Vec<u64>,
}

type BufferOf<G> = <<G as Gpu>::Stream as Carrier>::Buffer;

/// A fold on a device.
#[derive(Debug)]
pub struct Fold<G: Gpu> {
    workplace: Workplace<G>,
    entry: Function,
    signature: Signature,
    kernels: Kernels,
    /// The one form that is used, for tests.
    only: Option<Form>,
    /// The form that was launched last.
    last: AtomicU8,
}

impl<G: Gpu> Fold<G> {
    /// `entry` is the loop.
    pub fn new(workplace: Workplace<G>, entry: &Function, signature: Signature, kernels: Kernels, only: Option<Form>) -> Fold<G> {
        Fold {
            workplace,
            entry: entry.clone(),
            signature,
            kernels,
            only,
            last: AtomicU8::new(only.unwrap_or(Form::Blocks) as u8),
        }
    }

    fn form(&self, points: u64, inner: &[Inner]) -> Form {
        let longest = inner.iter().map(|inner| inner.points).max().unwrap_or(0);
        let partials = inner.iter().map(|inner| inner.stage.partials).max().unwrap_or(0);
        let is_staged = !self.kernels.stages.is_empty();
        match () {
            () if longest < LONG => Form::Threads,
            () if points >= WIDE && self.kernels.is_in_columns_well && self.kernels.columns.is_some() => Form::Columns,
            () if points >= MANY && !self.kernels.is_shared_well => Form::Threads,
            () if points < SOME && partials >= WORTH && is_staged => Form::Stages,
            () => Form::Blocks,
        }
    }

    fn check_form(&self, form: Form, inner: &Option<Vec<Inner>>) -> Result<(), RunError> {
        let fits = match form {
            Form::Threads => true,
            Form::Blocks => inner.is_some(),
            Form::Columns => inner.is_some() && self.kernels.columns.is_some(),
            Form::Stages => inner.is_some() && !self.kernels.stages.is_empty(),
        };
        match fits {
            true => Ok(()),
            false => Err(RunError::Invalid(format!("{} has no form of {form:?}", self.entry.name))),
        }
    }

    fn in_blocks(&self, points: u64, inner: &[Inner], args: &[u64], options: &CallOptions<'_>) -> Result<(), RunError> {
        let [fewest, most] = self.kernels.threads;
        let is_small = inner.iter().all(|inner| inner.stage.partials <= 1);
        let launch = grid(points.min(MOST_BLOCKS), if is_small { fewest } else { most })?;
        let block = self.kernels.block.on(&self.workplace).map_err(RunError::Compile)?;
        block.run(launch, args, &mut [], options).map(|_| ())
    }

    fn in_columns(&self, of: &Columns, points: u64, args: &[u64], options: &CallOptions<'_>) -> Result<(), RunError> {
        let launch = grid(points.div_ceil(of.points).min(MOST_BLOCKS), of.threads)?;
        let kernel = of.kernel.on(&self.workplace).map_err(RunError::Compile)?;
        kernel.run(launch, args, &mut [], options).map(|_| ())
    }

    /// Is done unless a graph of others is to have it, which could not keep the memory in between.
    fn in_stages(&self, points: u64, inner: &[Inner], args: &[u64], options: &CallOptions<'_>) -> Result<bool, RunError> {
        let stream = self.workplace.gpu.stream_of(options.stream)?;
        let Some(memory) = self.memory(&*stream, points, inner)? else {
            return Ok(false);
        };
        let mut args = args.to_vec();
        let staged = match options.host_arrays {
            [] => None,
            arrays => Some(Staged::upload(&*stream, arrays, &mut args)?),
        };
        let options_of_stages = CallOptions {
            host_arrays: &[],
            ..*options
        };
        self.launch_stages((points, inner), &args, &memory, &options_of_stages)?;
        match staged {
            None => Ok(true),
            Some(staged) => patience::lend(options.hooks, || staged.download(&*stream)).map(|()| true),
        }
    }

    fn memory(&self, stream: &G::Stream, points: u64, inner: &[Inner]) -> Result<Option<Vec<Between<BufferOf<G>>>>, RunError> {
        let mut memory = Vec::new();
        let mut stages = self.kernels.stages.iter().zip(inner).peekable();
        while let Some((of, inner)) = stages.next() {
            let mut between = Between {
                held: Vec::new(),
                partials: Vec::new(),
                gives: Vec::new(),
            };
            let is_last = stages.peek().is_none();
            for scalar in &of.scalars {
                let (size, partials) = (scalar.size() as u64, inner.stage.partials);
                let all = points.checked_mul(partials).ok_or_else(too_many)?;
                let Some(table) = stream.scratch(bytes(all, *scalar)?)? else {
                    return Ok(None);
                };
                between.partials.extend([table.address(), points, partials, partials * size, size]);
                between.held.push(table);
                if !is_last {
                    let Some(whole) = stream.scratch(bytes(points, *scalar)?)? else {
                        return Ok(None);
                    };
                    between.gives.extend([whole.address(), points, size]);
                    between.held.push(whole);
                }
            }
            memory.push(between);
        }
        Ok(Some(memory))
    }

    fn launch_stages(
        &self,
        (points, inner): (u64, &[Inner]),
        args: &[u64],
        memory: &[Between<BufferOf<G>>],
        options: &CallOptions<'_>,
    ) -> Result<(), RunError> {
        let threads = self.kernels.threads[1];
        let mut given = Vec::new();
        for ((stages, Inner { stage, .. }), between) in self.kernels.stages.iter().zip(inner).zip(memory) {
            let counts = [u64::from(stage.blocks), stage.partials, stage.chunk];
            let args = [args, &counts, &given, &between.partials, &between.gives].concat();
            let run = |kernel: &Kernel, blocks| {
                let kernel = kernel.on(&self.workplace).map_err(RunError::Compile)?;
                kernel.run(grid(blocks, threads)?, &args, &mut [], options)
            };
            run(&stages.parts, points.checked_mul(stage.blocks.into()).ok_or_else(too_many)?)?;
            if let Some(whole) = &stages.whole {
                run(whole, points)?;
            }
            given.extend(&between.gives);
        }
        Ok(())
    }

    /// The kernels of the form launched last.
    fn shown(&self) -> Result<Vec<&Arc<dyn Executable>>, CompileError> {
        let stages = || {
            self.kernels
                .stages
                .iter()
                .flat_map(|stages| [Some(&stages.parts), stages.whole.as_ref()])
        };
        match FORMS[usize::from(self.last.load(Ordering::Relaxed))] {
            Form::Threads => Ok(vec![&self.kernels.points]),
            Form::Blocks => Ok(vec![self.kernels.block.on(&self.workplace)?]),
            Form::Columns => self.kernels.columns.iter().map(|of| of.kernel.on(&self.workplace)).collect(),
            Form::Stages => stages().flatten().map(|kernel| kernel.on(&self.workplace)).collect(),
        }
    }

    fn first_shown(&self) -> Result<&Arc<dyn Executable>, RunError> {
        let shown = self.shown().map_err(RunError::Compile)?;
        Ok(shown.first().copied().unwrap_or(&self.kernels.points))
    }
}

impl<G: Gpu> Executable for Fold<G> {
    fn run(&self, launch: Launch, args: &[u64], results: &mut [u64], options: &CallOptions<'_>) -> Result<Outcome, RunError> {
        self.signature.check(&self.entry, &launch, args, results)?;
        let Launch::Loop(extents) = &launch else {
            return Err(RunError::Invalid(format!("a loop cannot be launched as {launch:?}")));
        };
        let points = extents.iter().fold(1u64, |points, &n| points.saturating_mul(n));
        if points == 0 {
            return Ok(Outcome::default());
        }
        let inner = (self.kernels.inner)(args);
        let form = self
            .only
            .unwrap_or_else(|| inner.as_ref().map_or(Form::Threads, |inner| self.form(points, inner)));
        self.check_form(form, &inner)?;
        let inner = inner.unwrap_or_default();
        let with_extents = [args, extents].concat();
        self.last.store(form as u8, Ordering::Relaxed);
        match form {
            Form::Threads => return self.kernels.points.run(launch, args, results, options),
            Form::Stages if self.in_stages(points, &inner, &with_extents, options)? => {}
            Form::Columns if let Some(of) = &self.kernels.columns => self.in_columns(of, points, &with_extents, options)?,
            Form::Blocks | Form::Columns | Form::Stages => self.in_blocks(points, &inner, &with_extents, options)?,
        }
        Ok(Outcome::default())
    }

    fn inspect(&self, what: Inspect) -> Result<String, CompileError> {
        if what == Inspect::Ir {
            return self.kernels.points.inspect(what);
        }
        let texts = self.shown()?.into_iter().map(|kernel| kernel.inspect(what));
        Ok(texts.collect::<Result<Vec<_>, _>>()?.join("\n"))
    }

    fn resources(&self) -> Result<Resources, RunError> {
        self.first_shown()?.resources()
    }

    fn resident_blocks(&self, threads: u32, shared_bytes: u32) -> Result<u64, RunError> {
        self.first_shown()?.resident_blocks(threads, shared_bytes)
    }
}

fn grid(blocks: u64, threads: u32) -> Result<Launch, RunError> {
    Ok(Launch::Grid(GridShape {
        block: [threads, 1, 1],
        grid: [u32::try_from(blocks).map_err(|_| too_many())?, 1, 1],
    }))
}

fn bytes(count: u64, scalar: Scalar) -> Result<usize, RunError> {
    let bytes = usize::try_from(count.max(1)).ok().and_then(|n| n.checked_mul(scalar.size()));
    bytes.ok_or_else(too_many)
}

fn too_many() -> RunError {
    RunError::Invalid("an index space of too many points".into())
}
