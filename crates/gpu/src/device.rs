//! GPUs as devices.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use weft_ir::Module;
use weft_runtime::fold::{self, Form};
use weft_runtime::hosts::Carrier;
use weft_runtime::{
    Buffer, CompileError, CompileOptions, Device, DeviceId, DeviceInfo, Event, Executable, GridShape, HostMemory, Limits, MemoryStats,
    RunError, Settings, Stream, StreamOptions,
};
use weft_thread::folds;

use crate::emit::Facts;
use crate::executable::GpuExecutable;
use crate::features::Features;
use crate::gpu::Gpu;
use crate::memory::HostBuffer;
use crate::stream::{self, GpuEvent, GpuStream};

/// A GPU that Vulkan, Metal or DirectX 12 drives.
#[derive(Debug)]
pub struct GpuDevice(Arc<Gpu>);

impl GpuDevice {
    pub(crate) fn new(gpu: Arc<Gpu>) -> GpuDevice {
        GpuDevice(gpu)
    }

    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.0
    }

    /// What the device can do; opens it.
    pub fn features(&self) -> Result<Features, RunError> {
        Ok(self.0.live()?.features)
    }

    /// Ends the open device as a failing driver would, for tests.
    #[doc(hidden)]
    pub fn lose(&self) -> Result<(), RunError> {
        self.0.live()?.lose();
        Ok(())
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
    type Stream = GpuStream;
    type Facts = Facts;

    fn device(self: &Arc<Self>) -> Arc<dyn Device> {
        Arc::new(GpuDevice(self.clone()))
    }

    fn stream_of<'a>(self: &'a Arc<Self>, given: Option<&'a dyn Stream>) -> Result<impl Deref<Target = GpuStream> + 'a, RunError> {
        match given {
            None => Ok(&**self.default_stream()),
            Some(stream) => stream::of(self, stream),
        }
    }

    fn compiled(self: &Arc<Self>, module: Arc<Module>, settings: Settings<Facts>) -> Result<Arc<dyn Executable>, CompileError> {
        Ok(Arc::new(GpuExecutable::new(self.clone(), module, settings)?))
    }
}

impl Device for GpuDevice {
    fn id(&self) -> DeviceId {
        self.0.id
    }

    fn info(&self) -> DeviceInfo {
        self.0.info.clone()
    }

    fn limits(&self) -> &Limits {
        &self.0.limits
    }

    fn attribute(&self, _number: i32) -> Option<i32> {
        None
    }

    fn host_accessible(&self) -> bool {
        false
    }

    fn can_access_peer(&self, other: DeviceId) -> bool {
        other == self.0.id
    }

    fn enable_peer(&self, other: DeviceId) -> Result<(), RunError> {
        if other == self.0.id {
            return Ok(());
        }
        Err(RunError::Unsupported(format!("{} cannot address the memory of {other}", self.0.id)))
    }

    fn compile(&self, module: Arc<Module>, options: CompileOptions) -> Result<Arc<dyn Executable>, CompileError> {
        self.compile_for(module, options, Facts::ALL)
    }

    fn plan_forall(&self, shape: &[u64]) -> GridShape {
        self.0.limits.plan_forall(shape)
    }

    fn default_stream(&self) -> Result<Arc<dyn Stream>, RunError> {
        Ok(self.0.default_stream().clone())
    }

    /// Of one queue: priorities and blocking mean nothing.
    fn new_stream(&self, _options: StreamOptions) -> Result<Arc<dyn Stream>, RunError> {
        Ok(GpuStream::new(self.0.clone(), self.0.new_handle()))
    }

    fn external_stream(&self, raw_handle: u64) -> Result<Arc<dyn Stream>, RunError> {
        match raw_handle {
            0 => self.default_stream(),
            _ => Err(RunError::Unsupported(format!("{} has no streams of other libraries", self.0.id))),
        }
    }

    fn new_event(&self, timing: bool) -> Result<Arc<dyn Event>, RunError> {
        Ok(Arc::new(GpuEvent::new(&self.0, timing)))
    }

    fn allocate(&self, bytes: usize, stream: Option<&Arc<dyn Stream>>) -> Result<Box<dyn Buffer>, RunError> {
        let stream = fold::Gpu::stream_of(&self.0, stream.map(Arc::as_ref))?;
        Ok(Box::new(stream.allocate(bytes)?))
    }

    fn allocate_host(&self, bytes: usize, kind: HostMemory) -> Result<Box<dyn Buffer>, RunError> {
        Ok(Box::new(HostBuffer::new(&self.0, bytes, kind)?))
    }

    fn pin(&self, address: u64, bytes: usize, _mapped: bool) -> Result<Box<dyn Buffer>, RunError> {
        Ok(Box::new(HostBuffer::pin(&self.0, address, bytes)))
    }

    fn memory_stats(&self) -> Result<MemoryStats, RunError> {
        Ok(self.0.live()?.memory_stats(&self.0))
    }

    fn set_memory_limit(&self, bytes: Option<u64>) -> Result<(), RunError> {
        self.0.memory_limit.store(bytes.unwrap_or(u64::MAX), Ordering::Relaxed);
        Ok(())
    }

    fn free_all(&self) -> Result<(), RunError> {
        self.0.live()?.free_all()
    }

    fn synchronize(&self) -> Result<(), RunError> {
        self.0.synchronize()
    }

    fn take_output(&self) -> String {
        self.0.output.take()
    }
}
