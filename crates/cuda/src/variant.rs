//! Variants: one compiled form of a kernel: the driver's function, how it takes its arguments, what it takes of the device.

use std::sync::{Arc, Mutex};

use weft_ir::Module;
use weft_runtime::{CompileError, Prepared, Resources, RunError, cache, lock};

use crate::capture::Kept;
use crate::compile;
use crate::driver::table::{FunctionHandle, ModuleHandle};
use crate::driver::{FunctionAttribute, Refused};
use crate::emit::{self, Emitted, Facts, Param};
use crate::gpu::{Gpu, Job};
use crate::mailbox::{Mailbox, Sites};
use crate::stream::CudaStream;
use crate::target::Target;

#[derive(Debug)]
pub struct Variant {
    gpu: Arc<Gpu>,
    pub llvm: String,
    pub ptx: String,
    pub params: Vec<Param>,
    module: ModuleHandle,
    pub function: FunctionHandle,
    pub resources: Resources,
    /// Errors and prints, if there are any.
    sites: Option<Arc<Sites>>,
    /// Barriers of the grid.
    pub grid_sync: bool,
    /// Points of a loop that a thread takes at a time.
    pub points: u32,
    /// Bytes of stack that it relies on, or 0.
    stack_bytes: u64,
    /// Dynamic shared memory that the function was made to allow.
    allowed_shared: Mutex<u32>,
    /// Where launches on each stream leave what they have for the host, by our number of it.
    mailboxes: Mutex<Vec<(u64, Arc<Mailbox>)>>,
}

impl Kept for Variant {}

impl Variant {
    /// Makes PTX of a lowered module (or finds it in the cache) and has the driver load it.
    ///
    /// What is cached is the PTX: making it is the larger part. The driver keeps the machine code that it makes of PTX in a cache of its
    /// own, which knows when an update of the driver makes it stale.
    pub fn new(gpu: &Arc<Gpu>, prepared: &Prepared<Facts>, facts: Facts) -> Result<Variant, CompileError> {
        let (lowered, options) = (&prepared.lowered, prepared.settings.options);
        let emitted = emit::emit(lowered, gpu.target, facts, options.lines)?;
        let target = compile::target_for(lowered, &emitted, gpu.target, gpu.newest_ptx)?;
        let ptx = make_ptx(&emitted.text, target, options.cache)?;
        Variant::load(gpu, &prepared.module, emitted, ptx).map_err(RunError::of_compiling)
    }

    fn load(gpu: &Arc<Gpu>, source: &Arc<Module>, emitted: Emitted, ptx: String) -> Result<Variant, RunError> {
        let context = &gpu.context;
        let _current = context.enter()?;
        let _relaxed = context.relaxed();
        let module = context.load_module(&ptx).map_err(|refused| self::refused(gpu, refused))?;
        let function = context.check(context.function(module, &emitted.entry))?;
        let get = |attribute| context.check(context.function_attribute(function, attribute));
        let resources = Resources {
            registers: get(FunctionAttribute::Registers)?,
            shared_bytes: get(FunctionAttribute::SharedBytes)?.into(),
            local_bytes: get(FunctionAttribute::LocalBytes)?.into(),
            constant_bytes: get(FunctionAttribute::ConstantBytes)?.into(),
            threads: get(FunctionAttribute::MaxThreads)?,
        };
        let sites = emitted.mailbox.then(|| {
            Arc::new(Sites {
                module: source.clone(),
                errors: emitted.error_sites,
                prints: emitted.print_sites,
            })
        });
        Ok(Variant {
            gpu: gpu.clone(),
            llvm: emitted.text,
            ptx,
            params: emitted.params,
            module,
            function,
            resources,
            sites,
            grid_sync: emitted.grid_sync,
            points: emitted.points,
            stack_bytes: emitted.stack_bytes,
            // What a function may have without being asked.
            allowed_shared: Mutex::new(gpu.limits.shared_bytes.saturating_sub(resources.shared_bytes as u32)),
            mailboxes: Mutex::default(),
        })
    }

    /// Makes sure that a launch may have so much dynamic shared memory. The context is current.
    pub fn allow_shared(&self, bytes: u32) -> Result<(), RunError> {
        // Held while the driver is told: another thread must not tell it less meanwhile.
        let mut allowed = lock(&self.allowed_shared);
        if bytes <= *allowed {
            return Ok(());
        }
        let context = &self.gpu.context;
        context.check(context.set_max_dynamic_shared(self.function, bytes))?;
        *allowed = bytes;
        Ok(())
    }

    /// Makes sure that threads have the stack that the code relies on: another library may have asked for less. The context is current.
    pub fn make_stack(&self) -> Result<(), RunError> {
        match self.stack_bytes {
            0 => Ok(()),
            bytes => self.gpu.context.check(self.gpu.context.make_stack(bytes)),
        }
    }

    /// Blocks of the whole device that run at the same time. The context is current.
    pub fn resident_blocks(&self, threads: u32, shared_bytes: u32) -> Result<u64, RunError> {
        self.allow_shared(shared_bytes)?;
        let context = &self.gpu.context;
        let each = context.check(context.max_active_blocks(self.function, threads, shared_bytes))?;
        Ok(u64::from(each) * u64::from(self.gpu.limits.multiprocessors))
    }

    /// Does a launch need more than its arguments?
    pub fn has_extras(&self) -> bool {
        self.sites.is_some() || self.grid_sync
    }

    /// Where launches on a stream leave what they have for the host. The context is current.
    pub fn mailbox(&self, stream: &CudaStream) -> Result<Option<Arc<Mailbox>>, RunError> {
        if self.sites.is_none() {
            return Ok(None);
        }
        let number = stream.number();
        let mut known = lock(&self.mailboxes);
        if let Some((_, mailbox)) = known.iter().find(|(known, _)| *known == number) {
            return Ok(Some(mailbox.clone()));
        }
        let made = self.new_mailbox()?;
        // Those of streams that are gone; what their kernels still write to, the GPU holds until it is read.
        known.retain(|(stream, _)| self.gpu.has_stream(*stream));
        known.extend(made.iter().map(|mailbox| (number, mailbox.clone())));
        Ok(made)
    }

    /// One of its own, for a graph.
    pub fn new_mailbox(&self) -> Result<Option<Arc<Mailbox>>, RunError> {
        self.sites.as_ref().map(|sites| Mailbox::new(&self.gpu, sites)).transpose()
    }
}

impl Drop for Variant {
    fn drop(&mut self) {
        self.gpu.give_back(Job::Module(self.module));
    }
}

fn make_ptx(llvm: &str, target: Target, keep: bool) -> Result<String, CompileError> {
    let make = || weft_llvm::ptx(llvm, target.sm, target.ptx).map_err(|error| CompileError::Internal(error.to_string()));
    if !cache::is_wanted(keep) {
        return make();
    }
    let key = cache::Key::new("cuda-ptx")
        .with(weft_llvm::VERSION)
        .with(target.to_string())
        .with(llvm);
    if let Some(ptx) = cache::get(&key).and_then(|bytes| String::from_utf8(bytes).ok()) {
        return Ok(ptx);
    }
    let ptx = make()?;
    cache::put(&key, ptx.as_bytes());
    Ok(ptx)
}

/// A module the driver does not take. Running out of the device's memory or losing it is no fault of the code.
fn refused(gpu: &Gpu, refused: Refused) -> RunError {
    let Refused { failure, log } = refused;
    /// Errors of the code itself: `CUDA_ERROR_INVALID_IMAGE`, `…_INVALID_PTX`, `…_UNSUPPORTED_PTX_VERSION`, `…_NO_BINARY_FOR_GPU`.
    const OF_THE_CODE: [i32; 4] = [200, 209, 218, 222];
    let error = gpu.context.error(failure);
    if !OF_THE_CODE.contains(&failure.code) {
        return error;
    }
    let said = if log.is_empty() { String::new() } else { format!("\n{log}") };
    RunError::Compile(CompileError::Internal(format!(
        "the driver refuses the code for {}: {error}{said}",
        gpu.target
    )))
}
