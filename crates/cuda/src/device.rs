//! GPUs as devices, and what this machine has of them.

use std::ops::Deref;
use std::sync::Arc;

use weft_forks::Once;
use weft_ir::Module;
use weft_runtime::fold::{self, Form};
use weft_runtime::{
    Buffer, CompileError, CompileOptions, Device, DeviceId, DeviceInfo, DeviceKind, Event, Executable, GridShape, HostMemory, Limits,
    MemoryStats, RunError, Settings, Stream, StreamOptions,
};
use weft_thread::folds;

use crate::driver::{Choice, Driver, codes, cupti, version_text};
use crate::emit::Facts;
use crate::executable::CudaExecutable;
use crate::gpu::Gpu;
use crate::memory::{DeviceBuffer, HostBuffer};
use crate::stream::{self, CudaEvent, CudaStream, Given};
use crate::target::Target;

/// The driver and its GPUs.
#[derive(Debug)]
pub struct Platform {
    /// Where the driver is, and the newest CUDA it serves: `12.4`.
    pub driver: String,
    pub version: String,
    pub devices: Vec<Arc<CudaDevice>>,
    /// A line for each GPU that Weft does not use: why.
    pub unsupported: Vec<String>,
}

impl Platform {
    /// Loads the driver and asks for its devices. The error is one line.
    pub fn open(choice: &Choice) -> Result<Platform, String> {
        let driver = Arc::new(Driver::open(choice)?);
        let mut gpus = Vec::new();
        let mut unsupported = Vec::new();
        for (number, ordinal) in driver.device_ordinals()?.into_iter().enumerate() {
            match Gpu::open(&driver, number as u32, ordinal) {
                Ok(gpu) => gpus.push(Arc::new(gpu)),
                Err(why) => unsupported.push(format!("cuda:{number}: {why}")),
            }
        }
        for gpu in &gpus {
            gpu.set_siblings(&gpus);
        }
        Ok(Platform {
            driver: driver.path.display().to_string(),
            version: version_text(driver.version),
            devices: gpus.into_iter().map(|gpu| Arc::new(CudaDevice(gpu))).collect(),
            unsupported,
        })
    }
}

/// This machine's, loaded at the first call; the error says in one line why there is none.
pub fn platform() -> Result<&'static Platform, &'static str> {
    static PLATFORM: Once<Result<Platform, String>> = Once::new();
    let found = PLATFORM.get_or_init(|| Platform::open(&Choice::of_environment()));
    found.as_ref().map_err(String::as_str)
}

/// The GPUs that Weft runs on; none where there is no driver.
pub fn devices() -> &'static [Arc<CudaDevice>] {
    platform().map_or(&[], |platform| &platform.devices)
}

/// For people: a line for the driver and one for each GPU, or one that says why there is no CUDA.
pub fn status() -> Result<Vec<String>, String> {
    let platform = platform()?;
    let mut lines = vec![format!("driver {} (CUDA {})", platform.driver, platform.version)];
    for device in &platform.devices {
        let info = device.info();
        lines.push(format!(
            "{}: {}, {}, {} multiprocessors, {} MiB",
            info.name,
            info.description,
            info.features,
            info.cores,
            info.memory_bytes >> 20
        ));
    }
    lines.extend(platform.unsupported.iter().cloned());
    Ok(lines)
}

/// What would time the work of a profile; none where there is no GPU.
pub fn profiler() -> Option<String> {
    let gpu = devices().first()?.gpu();
    Some(cupti::outlook(&gpu.context.driver))
}

/// A GPU.
#[derive(Debug)]
pub struct CudaDevice(Arc<Gpu>);

impl CudaDevice {
    fn gpu(&self) -> &Arc<Gpu> {
        &self.0
    }

    /// What code for it is made for.
    pub fn target(&self) -> Target {
        self.gpu().target
    }

    /// Compiles for launches as they may be, relying on no other facts than these.
    pub fn compile_for(&self, module: Arc<Module>, options: CompileOptions, most: Facts) -> Result<Arc<dyn Executable>, CompileError> {
        self.compile_as(module, options, most, None)
    }

    /// The same with one form for folds, whatever the extents, for tests.
    #[doc(hidden)]
    pub fn compile_as(
        &self,
        module: Arc<Module>,
        options: CompileOptions,
        most: Facts,
        form: Option<Form>,
    ) -> Result<Arc<dyn Executable>, CompileError> {
        folds::compiled(self.gpu().clone(), module, Settings { options, most }, form)
    }
}

impl fold::Gpu for Gpu {
    type Stream = CudaStream;
    type Facts = Facts;

    fn device(self: &Arc<Self>) -> Arc<dyn Device> {
        Arc::new(CudaDevice(self.clone()))
    }

    fn stream_of<'a>(self: &'a Arc<Self>, given: Option<&'a dyn Stream>) -> Result<impl Deref<Target = CudaStream> + 'a, RunError> {
        match given {
            None => Ok(Given::Stream(self.default_stream())),
            Some(stream) => stream::of(self, stream),
        }
    }

    fn compiled(self: &Arc<Self>, module: Arc<Module>, settings: Settings<Facts>) -> Result<Arc<dyn Executable>, CompileError> {
        Ok(Arc::new(CudaExecutable::new(self.clone(), module, settings)?))
    }
}

impl Device for CudaDevice {
    fn id(&self) -> DeviceId {
        self.gpu().id()
    }

    fn info(&self) -> DeviceInfo {
        self.gpu().info.clone()
    }

    fn limits(&self) -> &Limits {
        &self.gpu().limits
    }

    fn attribute(&self, number: i32) -> Option<i32> {
        self.gpu().context.attribute(number)
    }

    fn host_accessible(&self) -> bool {
        false
    }

    fn can_access_peer(&self, other: DeviceId) -> bool {
        let gpu = self.gpu();
        other == gpu.id()
            || other.kind == DeviceKind::Cuda
                && gpu
                    .sibling(other)
                    .is_ok_and(|peer| gpu.context.can_access_peer(peer.context.ordinal).unwrap_or(false))
    }

    fn enable_peer(&self, other: DeviceId) -> Result<(), RunError> {
        let gpu = self.gpu();
        if other == gpu.id() {
            return Ok(());
        }
        if !self.can_access_peer(other) {
            return Err(RunError::Unsupported(format!("{} cannot address the memory of {other}", gpu.id())));
        }
        let peer = gpu.sibling(other)?;
        let peer_context = peer.context.handle()?;
        {
            let _current = gpu.context.enter()?;
            gpu.context.check(gpu.context.enable_peer(peer_context))?;
        }
        let _current = peer.context.enter()?;
        peer.pool.share(&peer, gpu)
    }

    fn compile(&self, module: Arc<Module>, options: CompileOptions) -> Result<Arc<dyn Executable>, CompileError> {
        self.compile_for(module, options, Facts::ALL)
    }

    /// The last axis of the shape gets the threads of warps, since it is the one along which elements are neighbours.
    fn plan_forall(&self, shape: &[u64]) -> GridShape {
        self.gpu().limits.plan_forall(shape)
    }

    fn default_stream(&self) -> Result<Arc<dyn Stream>, RunError> {
        Ok(self.gpu().default_stream().clone())
    }

    fn new_stream(&self, options: StreamOptions) -> Result<Arc<dyn Stream>, RunError> {
        Ok(CudaStream::create(self.gpu(), options)?)
    }

    fn external_stream(&self, raw_handle: u64) -> Result<Arc<dyn Stream>, RunError> {
        Ok(CudaStream::external(self.gpu(), raw_handle))
    }

    fn new_event(&self, timing: bool) -> Result<Arc<dyn Event>, RunError> {
        Ok(Arc::new(CudaEvent::create(self.gpu(), timing)?))
    }

    fn allocate(&self, bytes: usize, stream: Option<&Arc<dyn Stream>>) -> Result<Box<dyn Buffer>, RunError> {
        let stream = fold::Gpu::stream_of(self.gpu(), stream.map(Arc::as_ref))?;
        Ok(Box::new(DeviceBuffer::new(&stream, bytes)?))
    }

    fn allocate_host(&self, bytes: usize, kind: HostMemory) -> Result<Box<dyn Buffer>, RunError> {
        Ok(Box::new(HostBuffer::new(self.gpu(), bytes, kind)?))
    }

    fn pin(&self, address: u64, bytes: usize, mapped: bool) -> Result<Box<dyn Buffer>, RunError> {
        Ok(Box::new(HostBuffer::pin(self.gpu(), address, bytes, mapped)?))
    }

    fn memory_stats(&self) -> Result<MemoryStats, RunError> {
        let _current = self.gpu().context.enter()?;
        self.gpu().pool.stats(self.gpu())
    }

    fn set_memory_limit(&self, bytes: Option<u64>) -> Result<(), RunError> {
        self.gpu().pool.set_limit(bytes);
        Ok(())
    }

    fn free_all(&self) -> Result<(), RunError> {
        let _current = self.gpu().context.enter()?;
        self.gpu().pool.free_all(self.gpu())
    }

    fn synchronize(&self) -> Result<(), RunError> {
        self.gpu().synchronize()
    }

    fn take_output(&self) -> String {
        self.gpu().output.take()
    }
}

impl Driver {
    fn device_ordinals(&self) -> Result<Vec<i32>, String> {
        let count = self.device_count().or_else(|failure| match failure.code {
            codes::NO_DEVICE => Ok(0),
            _ => Err(self.describe(failure).to_string()),
        })?;
        (0..count)
            .map(|n| self.device_at(n).map_err(|failure| self.describe(failure).to_string()))
            .collect()
    }
}
