//! Compute pipelines: from a naga module to what the driver runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use naga::valid::{ModuleInfo, ValidationFlags};
use weft_ir::Span;
use weft_runtime::{CompileError, cache};

use crate::emit::ClassUse;
use crate::features::{Features, Platform};
use crate::gpu::Gpu;
use crate::groups::ViewLayout;
use crate::hal;
use crate::live::Live;
use crate::spirv;

/// Code in the form a device takes it.
#[derive(Debug)]
pub enum Code {
    SpirV(Vec<u32>),
    Naga(Box<naga::Module>),
}

/// A pipeline and how its arguments are bound.
#[derive(Debug)]
pub struct Pipeline {
    /// No other pipeline of the process has it; never 0.
    pub number: u64,
    pub pipeline: wgpu::ComputePipeline,
    pub views: Arc<ViewLayout>,
}

/// Checks a module that was written here, not by the emitter.
pub fn validate(module: &naga::Module, features: &Features) -> Result<ModuleInfo, CompileError> {
    features
        .validator(ValidationFlags::all())
        .validate(module)
        .map_err(|error| CompileError::Internal(format!("{:?}", error.into_inner())))
}

/// `inexact`: float arithmetic may be fused and reordered.
pub fn code(module: naga::Module, info: &ModuleInfo, features: &Features, inexact: bool) -> Result<Code, CompileError> {
    if features.platform != Platform::Vulkan {
        return Ok(Code::Naga(Box::new(module)));
    }
    spirv::write(&module, info, features, inexact)
        .map(Code::SpirV)
        .map_err(CompileError::Internal)
}

impl Code {
    pub fn load(self, device: &wgpu::Device) -> wgpu::ShaderModule {
        match self {
            Code::SpirV(words) => hal::spirv_module(device, &words),
            Code::Naga(module) => hal::naga_module(device, *module),
        }
    }
}

impl Pipeline {
    /// `constants`, `mailbox`: is there such a binding?
    pub fn new(live: &Live, code: Code, uses: &[ClassUse], constants: bool, mailbox: bool) -> Result<Pipeline, CompileError> {
        static MADE: AtomicU64 = AtomicU64::new(1);
        let views = live.layouts.views(&live.device, uses);
        let (pipeline, error) = live.scoped(|| {
            let layout = live.layouts.pipeline(&live.device, &views, constants, mailbox);
            let module = code.load(&live.device);
            live.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: None,
                layout: Some(layout),
                module: &module,
                entry_point: Some(crate::emit::ENTRY),
                compilation_options: wgpu::PipelineCompilationOptions {
                    zero_initialize_workgroup_memory: false,
                    ..Default::default()
                },
                cache: live.pipelines.as_ref(),
            })
        });
        match error {
            None => Ok(Pipeline {
                number: MADE.fetch_add(1, Ordering::Relaxed),
                pipeline,
                views,
            }),
            Some(error) => Err(CompileError::Unsupported {
                message: format!("the driver of {} does not take the kernel: {error}", live.id),
                span: Span::NONE,
            }),
        }
    }
}

impl Live {
    /// The bind group of parameters alone, of so many bytes.
    pub fn params_group(&self, bytes: u64) -> wgpu::BindGroup {
        own_group(self, &self.layouts.params, &[(&self.arena, bytes)])
    }

    /// That with constants, and a mailbox if there is one.
    pub fn full_group(&self, bytes: u64, mailbox: Option<&wgpu::Buffer>, constants: &wgpu::Buffer) -> wgpu::BindGroup {
        let layout = match mailbox {
            Some(_) => &self.layouts.mailbox,
            None => &self.layouts.constants,
        };
        // Read-only, constants may stand where the mailbox would be.
        let second = mailbox.unwrap_or(constants);
        let parts = [(&self.arena, bytes), (second, second.size()), (constants, constants.size())];
        own_group(self, layout, &parts)
    }
}

fn own_group(live: &Live, layout: &wgpu::BindGroupLayout, parts: &[(&wgpu::Buffer, u64)]) -> wgpu::BindGroup {
    let entries: Vec<_> = (0..)
        .zip(parts)
        .map(|(binding, &(buffer, bytes))| wgpu::BindGroupEntry {
            binding,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer,
                offset: 0,
                size: wgpu::BufferSize::new(bytes),
            }),
        })
        .collect();
    live.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout,
        entries: &entries,
    })
}

/// A key for what depends on the device and its driver.
pub fn driver_key(kind: &str, gpu: &Gpu) -> cache::Key {
    let info = gpu.adapter.get_info();
    cache::Key::new(kind)
        .with(&info.name)
        .with(info.vendor.to_le_bytes())
        .with(info.device.to_le_bytes())
        .with(&info.driver)
        .with(&info.driver_info)
}

/// The driver's cache with what was kept of it.
pub fn open(gpu: &Gpu, device: &wgpu::Device) -> wgpu::PipelineCache {
    hal::pipeline_cache(device, cache::get(&driver_key("gpu-pipelines", gpu)).as_deref())
}

/// Keeps what the driver made.
pub fn keep(gpu: &Gpu, live: &Live) {
    if let Some(data) = live.pipelines.as_ref().and_then(wgpu::PipelineCache::get_data) {
        cache::put(&driver_key("gpu-pipelines", gpu), &data);
    }
}
