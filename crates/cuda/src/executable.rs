//! A module on a GPU: its variants, compiled as launches have facts for them, and its launches.

use std::ffi::c_void;
use std::ops::Deref;
use std::ptr;
use std::sync::{Arc, OnceLock};

use weft_ir::Module;
use weft_runtime::fold::Gpu as _;
use weft_runtime::grids::{self, Grids};
use weft_runtime::profile::{self as record, Activity};
use weft_runtime::{
    CallOptions, CompileError, Executable, GridShape, Inspect, Launch, Limits, Outcome, Prepared, Resources, RunError, Settings, Stream,
};
use weft_thread::prepared;

use crate::capture::Goes;
use crate::compile;
use crate::driver::{Entered, KernelLaunch, Name};
use crate::emit::Facts;
use crate::gpu::Gpu;
use crate::stream::CudaStream;
use crate::variant::Variant;
use crate::{facts, profile};

/// The addresses of up to this many arguments are put together on the stack.
const STACK_SLOTS: usize = 96;
/// Threads of a loop's blocks.
const LOOP_BLOCK: u32 = 256;
/// Waves of blocks that a loop's grid has at the most; each thread goes on through the points from there.
const LOOP_WAVES: u64 = 4;
/// The same where a thread takes several points at a time, most often all it has to do: what starts late then finds memory busy with the rest.
const GROUP_WAVES: u64 = 32;

/// Sets of [`Facts`].
const VARIANTS: usize = 16;

#[derive(Debug)]
pub struct CudaExecutable {
    gpu: Arc<Gpu>,
    prepared: Prepared<Facts>,
    name: &'static Name,
    variants: [OnceLock<Result<Arc<Variant>, CompileError>>; VARIANTS],
    /// The same as a loop over the threads of a grid in a row, where several of them are better one thread's.
    flat: Option<Box<CudaExecutable>>,
}

type Plan<'a> = grids::Plan<'a, CudaStream>;

impl CudaExecutable {
    pub fn new(gpu: Arc<Gpu>, module: Arc<Module>, settings: Settings<Facts>) -> Result<CudaExecutable, CompileError> {
        let prepared = prepared(module, gpu.id(), settings, |module| {
            Limits::check_shared_arrays(module)?;
            compile::lowered(module)
        })?;
        let flat = match compile::in_groups(&prepared.lowered) {
            Some(flat) => {
                let flat = weft_thread::prepared(Arc::new(flat), gpu.id(), settings, |flat| Ok(flat.clone()))?;
                Some(Box::new(CudaExecutable::of(gpu.clone(), flat, None)))
            }
            None => None,
        };
        Ok(CudaExecutable::of(gpu, prepared, flat))
    }

    fn of(gpu: Arc<Gpu>, prepared: Prepared<Facts>, flat: Option<Box<CudaExecutable>>) -> CudaExecutable {
        CudaExecutable {
            gpu,
            name: Name::of(&prepared.module.entry_function().name),
            prepared,
            variants: [const { OnceLock::new() }; VARIANTS],
            flat,
        }
    }

    fn variant(&self, facts: Facts) -> Result<&Arc<Variant>, CompileError> {
        let made = self.variants[index(facts)].get_or_init(|| {
            record::timed(Activity::Compile, self.name, self.gpu.id(), 0, || {
                Variant::new(&self.gpu, &self.prepared, facts).map(Arc::new)
            })
        });
        made.as_ref().map_err(Clone::clone)
    }

    /// The variant that people are shown: that of launches along one axis where there were such, else the kernel's own.
    fn shown(&self) -> Result<&Arc<Variant>, CompileError> {
        match self.flat.as_deref().and_then(CudaExecutable::launched) {
            Some(variant) => Ok(variant),
            None => self.own(),
        }
    }

    /// The first variant launched, else the one most launches have; not that of a loop in the kernel's place.
    fn own(&self) -> Result<&Arc<Variant>, CompileError> {
        match self.launched() {
            Some(variant) => Ok(variant),
            None => self.variant(self.prepared.settings.most),
        }
    }

    fn launched(&self) -> Option<&Arc<Variant>> {
        self.variants.iter().find_map(|slot| slot.get()?.as_ref().ok())
    }

    /// The grid that takes so many points or groups of them, in at most so many waves of blocks.
    fn loop_in_waves(&self, points: u64, block: u32, waves: u64) -> GridShape {
        let limits = &self.gpu.limits;
        let wave = u64::from(limits.multiprocessors) * u64::from(limits.threads_per_multiprocessor / block).max(1);
        let blocks = points.div_ceil(u64::from(block)).min(waves * wave);
        GridShape {
            block: [block, 1, 1],
            grid: [blocks as u32, 1, 1],
        }
    }

    /// Checks what the driver would refuse with fewer words. The context is current.
    fn prepare(&self, plan: &Plan<'_>, variant: &Variant) -> Result<KernelLaunch, RunError> {
        let GridShape { block, grid } = plan.shape;
        let threads = block.iter().product::<u32>();
        let Resources {
            registers,
            shared_bytes,
            threads: most,
            ..
        } = variant.resources;
        if threads > most {
            return Err(RunError::Invalid(format!(
                "{} uses {registers} registers a thread, so that a block may have {most} threads: got {threads}; make blocks smaller or give \
                 launch_bounds or max_registers",
                self.name as &str
            )));
        }
        if plan.shared_bytes > 0 {
            self.gpu.limits.check_shared(shared_bytes, plan.shared_bytes)?;
            variant.allow_shared(plan.shared_bytes)?;
        }
        variant.make_stack()?;
        let cooperative = plan.cooperative || variant.grid_sync;
        if cooperative {
            self.check_cooperative(variant, threads, plan)?;
        }
        Ok(KernelLaunch {
            function: variant.function,
            grid,
            block,
            shared_bytes: plan.shared_bytes,
            stream: plan.stream.handle(),
            cooperative,
        })
    }

    #[cold]
    fn check_cooperative(&self, variant: &Variant, threads: u32, plan: &Plan<'_>) -> Result<(), RunError> {
        if !self.gpu.limits.cooperative {
            return Err(RunError::Unsupported(format!("{} has no cooperative launches", self.gpu.id())));
        }
        let blocks = plan.shape.grid.iter().map(|&n| u64::from(n)).product::<u64>();
        let most = variant.resident_blocks(threads, plan.shared_bytes)?;
        if blocks > most {
            return Err(RunError::Invalid(format!(
                "a cooperative launch of {} may have {most} blocks of {threads} threads on {}: got {blocks}",
                self.name as &str,
                self.gpu.id()
            )));
        }
        Ok(())
    }

    /// A launch that leaves something for the host, or waits for its grid.
    fn start_with_extras(
        &self,
        plan: &Plan<'_>,
        (variant, goes): (&Arc<Variant>, &Goes),
        launch: &KernelLaunch,
        slots: &[u64],
    ) -> Result<(), RunError> {
        let mailbox = match goes {
            Goes::Now => variant.mailbox(plan.stream)?,
            Goes::Here(_) => variant.new_mailbox()?,
            Goes::Elsewhere => {
                return Err(RunError::Unsupported(format!(
                    "{} may raise, prints, or waits for its grid, so that only Weft's own captures take it: capture with stream.capture()",
                    self.name as &str
                )));
            }
        };
        let address = mailbox.as_ref().map(|mailbox| mailbox.address());
        let queue = |word| self.queue(plan, variant, launch, slots, [address, word]);
        match goes {
            Goes::Here(capture) => {
                let word = variant
                    .grid_sync
                    .then(|| capture.word(&self.gpu, plan.stream.number()))
                    .transpose()?;
                capture.launch(&mailbox, || queue(word))
            }
            _ if variant.grid_sync => plan
                .stream
                .waits
                .launch(&mailbox, || self.gpu.words.launch(&self.gpu, plan.stream, |word| queue(Some(word)))),
            _ => plan.stream.waits.launch(&mailbox, || queue(None)),
        }
    }

    /// Gives the launch to the driver. A parameter is the low bytes of its slot, so that slots' addresses are what the driver gets.
    fn queue(
        &self,
        plan: &Plan<'_>,
        variant: &Arc<Variant>,
        launch: &KernelLaunch,
        slots: &[u64],
        extras: [Option<u64>; 2],
    ) -> Result<(), RunError> {
        let mut stack = [ptr::null_mut(); STACK_SLOTS];
        let mut heap = Vec::new();
        let count = variant.params.len() + extras.len();
        let params: &mut [*mut c_void] = if count <= STACK_SLOTS {
            &mut stack[..count]
        } else {
            heap.resize(count, ptr::null_mut());
            &mut heap
        };
        for (place, param) in params.iter_mut().zip(&variant.params) {
            *place = ptr::from_ref(&slots[param.slot as usize]).cast_mut().cast();
        }
        let behind = params[variant.params.len()..].iter_mut();
        for (place, address) in behind.zip(extras.iter().flatten()) {
            *place = ptr::from_ref(address).cast_mut().cast();
        }
        let context = &self.gpu.context;
        profile::bracket(plan.stream, Activity::Kernel, self.name, 0, || {
            context.check(context.launch(launch, params))
        })?;
        context.launched(self.name);
        Ok(())
    }
}

impl Grids for CudaExecutable {
    type Stream = CudaStream;
    type Facts = Facts;
    type Current<'a> = Entered<'a>;

    fn prepared(&self) -> &Prepared<Facts> {
        &self.prepared
    }

    fn limits(&self) -> &Limits {
        &self.gpu.limits
    }

    fn stream<'a>(&'a self, given: Option<&'a dyn Stream>) -> Result<impl Deref<Target = CudaStream> + 'a, RunError> {
        self.gpu.stream_of(given)
    }

    fn enter(&self) -> Result<Entered<'_>, RunError> {
        self.gpu.context.enter()
    }

    /// As many blocks as keep the device busy.
    fn loop_shape(&self, points: u64) -> GridShape {
        self.loop_in_waves(points, LOOP_BLOCK, LOOP_WAVES)
    }

    fn start(&self, plan: &Plan<'_>, slots: &[u64], threads: &[u64]) -> Result<(), RunError> {
        if let Some(flat) = &self.flat
            && is_row(plan.shape)
            && !plan.cooperative
        {
            return grids::joined(&threads[..1], slots, |slots| flat.start(plan, slots, &threads[..1]));
        }
        let Prepared { views, ints, settings, .. } = &self.prepared;
        let facts = facts::find(views, ints, slots, threads).and(settings.most);
        let variant = self.variant(facts).map_err(RunError::Compile)?;
        let shape = match variant.points {
            1 => plan.shape,
            each => self.loop_in_waves(threads[0].div_ceil(each.into()), plan.shape.block[0], GROUP_WAVES),
        };
        let plan = &Plan { shape, ..*plan };
        let launch = self.prepare(plan, variant)?;
        let goes = self.gpu.goes(launch.stream)?;
        if variant.has_extras() {
            self.start_with_extras(plan, (variant, &goes), &launch, slots)?;
        } else {
            self.queue(plan, variant, &launch, slots, [None; 2])?;
        }
        match goes {
            Goes::Now => {}
            Goes::Here(capture) => capture.keep(variant.clone()),
            Goes::Elsewhere => self.gpu.keep_for_good(variant.clone()),
        }
        Ok(())
    }

    fn synchronize(&self, stream: &CudaStream) -> Result<(), RunError> {
        stream.synchronize()
    }
}

impl Executable for CudaExecutable {
    fn run(&self, launch: Launch, args: &[u64], results: &mut [u64], options: &CallOptions<'_>) -> Result<Outcome, RunError> {
        self.run_entry(&launch, args, results, options)
    }

    fn inspect(&self, what: Inspect) -> Result<String, CompileError> {
        Ok(match what {
            Inspect::Ir => weft_ir::text::print(self.module()),
            Inspect::Llvm => self.shown()?.llvm.clone(),
            Inspect::Asm => self.shown()?.ptx.clone(),
        })
    }

    fn resources(&self) -> Result<Resources, RunError> {
        Ok(self.shown().map_err(RunError::Compile)?.resources)
    }

    fn resident_blocks(&self, threads: u32, shared_bytes: u32) -> Result<u64, RunError> {
        // Of the kernel itself, which launches have that must be resident.
        let variant = self.own().map_err(RunError::Compile)?;
        let _current = self.gpu.context.enter()?;
        variant.resident_blocks(threads, shared_bytes)
    }
}

fn is_row(GridShape { block, grid }: GridShape) -> bool {
    [block[1], block[2], grid[1], grid[2]] == [1; 4]
}

fn index(facts: Facts) -> usize {
    usize::from(facts.narrow) | usize::from(facts.aligned) << 1 | usize::from(facts.disjoint) << 2 | usize::from(facts.small) << 3
}
