//! A module on a GPU: its variants, compiled as launches have need of them, and its launches.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use weft_ir::{Module, Space, WARP};
use weft_passes::operands::{is_barrier, is_of_warp};
use weft_passes::{GpuOptions, lower_for_gpu};
use weft_runtime::fold::Gpu as _;
use weft_runtime::grids::{self, Grids};
use weft_runtime::profile::{self as record, Activity};
use weft_runtime::{
    CallOptions, CompileError, Executable, GridShape, Inspect, Launch, Limits, Outcome, Prepared, Resources, RunError, Settings, Stream,
    array_bytes, lock,
};
use weft_thread::{prepared, refused};

use crate::emit::{EmitError, Facts};
use crate::facts::{self, Places};
use crate::features::Features;
use crate::gpu::Gpu;
use crate::groups::Group;
use crate::live::{Live, State};
use crate::stream::{GpuStream, Step};
use crate::variant::{Key, Numbers, Params, Variant, cuts};
use crate::{profile, show};

/// Threads of a loop's blocks, and the most blocks: each thread goes on through the points from there.
const LOOP_BLOCK: u32 = 256;
const LOOP_BLOCKS: u64 = 16 << 10;
/// Variants that are kept.
const MOST_VARIANTS: usize = 256;

#[derive(Debug)]
pub struct GpuExecutable {
    gpu: Arc<Gpu>,
    /// Lowered for devices whose lanes do nothing by themselves.
    prepared: Prepared<Facts>,
    name: Arc<str>,
    /// Bytes of its own arrays in shared memory.
    own_shared: u64,
    /// Code for sizes of any number of bits asks for integers that the device has not: it is made for the sizes that there are.
    tight: AtomicBool,
    variants: Mutex<Vec<Arc<Variant>>>,
    /// Held while a variant is made, so that it is made once.
    making: Mutex<()>,
}

type Plan<'a> = grids::Plan<'a, GpuStream>;

impl GpuExecutable {
    pub fn new(gpu: Arc<Gpu>, module: Arc<Module>, settings: Settings<Facts>) -> Result<GpuExecutable, CompileError> {
        let name = Arc::from(module.entry_function().name.as_str());
        let prepared = prepared(module, gpu.id, settings, |module| {
            gpu.limits.check_own_shared_arrays(module)?;
            lowered(module, &gpu.said, 1)
        })?;
        Ok(GpuExecutable {
            own_shared: array_bytes(prepared.lowered.entry_function(), Space::Shared),
            gpu,
            prepared,
            name,
            tight: AtomicBool::new(false),
            variants: Mutex::default(),
            making: Mutex::default(),
        })
    }

    /// A variant made before.
    fn known(&self, live: &Arc<Live>, plan: &Plan<'_>, facts: Facts, classes: &[u32]) -> Option<Arc<Variant>> {
        let fits = |variant: &&Arc<Variant>| {
            let key = &variant.key;
            key.block == plan.shape.block
                && key.shared_bytes == plan.shared_bytes
                && key.facts == facts
                && key.classes[..] == *classes
                && Arc::ptr_eq(&variant.live, live)
        };
        lock(&self.variants).iter().rev().find(fits).cloned()
    }

    #[cold]
    fn make(&self, live: &Arc<Live>, key: Key) -> Result<Arc<Variant>, EmitError> {
        let _alone = lock(&self.making);
        let same = |variant: &&Arc<Variant>| variant.key == key && Arc::ptr_eq(&variant.live, live);
        if let Some(made) = lock(&self.variants).iter().find(same) {
            return Ok(made.clone());
        }
        let made = record::timed(Activity::Compile, &self.name, self.gpu.id, 0, || {
            let Prepared { module, settings, .. } = &self.prepared;
            let group = group(module, &live.features, key.block);
            let own = match group {
                1 => None,
                group => Some(lowered(module, &live.features, group)?),
            };
            let lowered = own.as_ref().unwrap_or(&self.prepared.lowered);
            Variant::new(&self.gpu, live, module, (lowered, group), key, settings.options.cache).map(Arc::new)
        })?;
        let mut variants = lock(&self.variants);
        // Those of a device that was lost are of no more use.
        variants.retain(|variant| Arc::ptr_eq(&variant.live, live));
        if variants.len() >= MOST_VARIANTS {
            variants.remove(0);
        }
        variants.push(made.clone());
        Ok(made)
    }

    /// The variant that people are shown: the first one launched, else one for blocks of the usual size.
    fn shown(&self) -> Result<Arc<Variant>, RunError> {
        if let Some(variant) = lock(&self.variants).first() {
            return Ok(variant.clone());
        }
        let live = self.gpu.live()?;
        let key = Key {
            block: [LOOP_BLOCK.min(self.gpu.limits.threads_per_block), 1, 1],
            shared_bytes: 0,
            facts: self.prepared.settings.most,
            classes: (0..self.prepared.views.len() as u32).collect(),
        };
        self.make(&live, key).map_err(|error| RunError::Compile(error.into()))
    }

    fn queue(&self, state: &mut State, variant: &Variant, numbers: &Numbers<'_>, group: &Group) -> Result<(), RunError> {
        for cut in cuts(numbers.grid, variant.live.features.groups) {
            variant.dispatch(state, group, cut.groups, |room| variant.fill(numbers, &cut, room))?;
        }
        if !state.last_kernel.as_ref().is_some_and(|last| Arc::ptr_eq(last, &self.name)) {
            state.last_kernel = Some(self.name.clone());
        }
        Ok(())
    }

    #[cold]
    fn capture(&self, plan: &Plan<'_>, variant: &Arc<Variant>, numbers: &Numbers<'_>, group: Group) -> Result<(), RunError> {
        let mut dispatches = Vec::new();
        for cut in cuts(numbers.grid, variant.live.features.groups) {
            let mut params = Params::new();
            params.resize(variant.param_bytes(), 0);
            variant.fill(numbers, &cut, &mut params)?;
            dispatches.push((cut.groups, params));
        }
        plan.stream.keep(Step::Launch {
            variant: variant.clone(),
            group,
            dispatches,
        });
        Ok(())
    }

    fn no_cooperation(&self) -> RunError {
        RunError::Unsupported(format!("{} has no cooperative launches", self.gpu.id))
    }
}

impl Grids for GpuExecutable {
    type Stream = GpuStream;
    type Facts = Facts;
    /// There is no such thing.
    type Current<'a> = ();

    fn prepared(&self) -> &Prepared<Facts> {
        &self.prepared
    }

    fn limits(&self) -> &Limits {
        &self.gpu.limits
    }

    fn stream<'a>(&'a self, given: Option<&'a dyn Stream>) -> Result<impl Deref<Target = GpuStream> + 'a, RunError> {
        self.gpu.stream_of(given)
    }

    fn enter(&self) -> Result<(), RunError> {
        Ok(())
    }

    /// As many blocks as keep any device busy.
    fn loop_shape(&self, points: u64) -> GridShape {
        let most = LOOP_BLOCKS.min(u64::from(self.gpu.said.groups));
        let blocks = points.div_ceil(u64::from(LOOP_BLOCK)).min(most);
        GridShape {
            block: [LOOP_BLOCK.min(self.gpu.limits.threads_per_block), 1, 1],
            grid: [blocks as u32, 1, 1],
        }
    }

    fn start(&self, plan: &Plan<'_>, slots: &[u64], threads: &[u64]) -> Result<(), RunError> {
        if plan.cooperative {
            return Err(self.no_cooperation());
        }
        // Before the driver is given what it cannot have.
        self.gpu.limits.check_shared(self.own_shared, plan.shared_bytes)?;
        let Prepared { views, ints, settings, .. } = &self.prepared;
        let mut facts = facts::find(views, ints, slots, threads).and(settings.most);
        let tightened = |facts| facts::tightened(facts, views, ints, slots, threads);
        if self.tight.load(Ordering::Relaxed) {
            facts = tightened(facts);
        }
        let live = self.gpu.live()?;
        live.check()?;
        let mut state = live.state();
        let places = Places::find(&self.gpu, &live, &state.memory, views, slots)?;
        let variant = match self.known(&live, plan, facts, &places.classes) {
            Some(variant) => variant,
            None => {
                // Others go on launching while this one is compiled. The arrays stay where they are, since the caller holds them.
                drop(state);
                let mut key = Key {
                    block: plan.shape.block,
                    shared_bytes: plan.shared_bytes,
                    facts,
                    classes: places.classes.clone(),
                };
                let made = match self.make(&live, key.clone()) {
                    Err(EmitError::Wide { .. }) if facts.bits == Facts::BITS => {
                        self.tight.store(true, Ordering::Relaxed);
                        key.facts = tightened(facts);
                        self.make(&live, key)
                    }
                    made => made,
                };
                let made = made.map_err(|error| RunError::Compile(error.into()))?;
                state = live.state();
                made
            }
        };
        self.gpu.limits.check_shared(variant.resources.shared_bytes, plan.shared_bytes)?;
        let numbers = Numbers {
            slots,
            views,
            places: &places,
            grid: plan.shape.grid,
        };
        let inner = &mut *state;
        let group = inner
            .groups
            .get(&live, &inner.memory, &variant.pipeline.views, places.pieces.clone());
        if plan.stream.captures() {
            return self.capture(plan, &variant, &numbers, group);
        }
        let timer = match record::is_on() {
            true => profile::Timer::start(&live, inner),
            false => None,
        };
        self.queue(inner, &variant, &numbers, &group)?;
        if let Some(timer) = timer {
            timer.stop(inner, Activity::Kernel, &self.name, plan.stream, 0);
        }
        plan.stream.worked(inner.batch.number());
        Ok(())
    }

    /// All streams are one queue.
    fn synchronize(&self, _stream: &GpuStream) -> Result<(), RunError> {
        self.gpu.synchronize()
    }
}

impl Executable for GpuExecutable {
    fn run(&self, launch: Launch, args: &[u64], results: &mut [u64], options: &CallOptions<'_>) -> Result<Outcome, RunError> {
        self.run_entry(&launch, args, results, options)
    }

    fn inspect(&self, what: Inspect) -> Result<String, CompileError> {
        let variant = || {
            self.shown().map_err(|error| match error {
                RunError::Compile(error) => error,
                other => CompileError::Internal(other.to_string()),
            })
        };
        Ok(match what {
            Inspect::Ir => weft_ir::text::print(self.module()),
            Inspect::Llvm => variant()?.naga.clone(),
            Inspect::Asm => show::assembly(&*variant()?),
        })
    }

    fn resources(&self) -> Result<Resources, RunError> {
        Ok(self.shown()?.resources)
    }

    fn resident_blocks(&self, _threads: u32, _shared_bytes: u32) -> Result<u64, RunError> {
        Err(self.no_cooperation())
    }
}

/// Lanes that work together by themselves in blocks of a kernel.
fn group(module: &Module, features: &Features, block: [u32; 3]) -> u32 {
    let mut meets = false;
    let mut see = |kind: &_| meets |= is_of_warp(kind) || is_barrier(kind);
    module.functions.iter().for_each(|function| function.body.walk(&mut see));
    let threads: u32 = block.iter().product();
    // The threads then lie along the first axis.
    if !meets || features.group == 1 || threads > features.block[0] {
        return 1;
    }
    // A block that is one subgroup has no more of any warp.
    if threads <= features.group { WARP } else { features.group }
}

/// A module made ready for the emitter, for groups of so many lanes ([`GpuOptions::group`]).
fn lowered(module: &Module, features: &Features, group: u32) -> Result<Module, CompileError> {
    let mut module = module.clone();
    let options = GpuOptions {
        group,
        max_threads: features.threads,
    };
    lower_for_gpu(&mut module, &options).map_err(refused)?;
    Ok(module)
}
