//! Probing: what drivers do not say of a device, or not truly, found out by trying it: its float arithmetic ([`floats`]), whether lanes of
//! its subgroups are threads in order ([`lanes`]), and whether fences leave other threads alone ([`fences`]).

pub mod fences;
pub mod floats;
pub mod lanes;
mod rows;

use std::sync::mpsc;

use crate::emit::numbers::trial;
use crate::features::Features;
pub use trial::Trial;

/// How a module becomes what the device takes.
pub type Load<'a> = dyn Fn(naga::Module, &Features) -> Result<wgpu::ShaderModule, String> + 'a;

/// A device to try operations on.
pub struct Bench<'a> {
    pub device: &'a wgpu::Device,
    pub queue: &'a wgpu::Queue,
    pub load: &'a Load<'a>,
}

impl std::fmt::Debug for Bench<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Bench").field("device", self.device).finish_non_exhaustive()
    }
}

impl Bench<'_> {
    /// The results of each trial, as [`trial::word`]s. All of them are done by one kernel, so a wait for other work is a wait here, too.
    pub fn run(&self, features: &Features, trials: &[Trial]) -> Result<Vec<Vec<u64>>, String> {
        let module = trial::module(features, trials).ok_or("an operation that is not defined")?;
        let shader = (self.load)(module, features)?;
        let rows: Vec<usize> = trials.iter().map(Trial::rows).collect();
        let size = 8 * rows.iter().sum::<usize>() as u64;
        let most = rows.into_iter().max().unwrap_or(0) as u32;
        if most == 0 {
            return Ok(vec![Vec::new(); trials.len()]);
        }
        let words = self.execute(&shader, &trial::input(trials), size, most.div_ceil(trial::BLOCK))?;
        Ok(trial::output(trials, &words))
    }

    /// Runs a kernel that reads binding 0 and writes binding 1, of so many bytes.
    fn execute(&self, shader: &wgpu::ShaderModule, input: &[u32], size: u64, blocks: u32) -> Result<Vec<u32>, String> {
        let input: Vec<u8> = input.iter().flat_map(|word| word.to_le_bytes()).collect();
        let storage = wgpu::BufferUsages::STORAGE;
        let source = self.buffer(input.len() as u64, storage | wgpu::BufferUsages::COPY_DST);
        let results = self.buffer(size, storage | wgpu::BufferUsages::COPY_SRC);
        let host = self.buffer(size, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
        self.queue.write_buffer(&source, 0, &input);
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.dispatch(&mut encoder, shader, &source, &results, blocks);
        encoder.copy_buffer_to_buffer(&results, 0, &host, 0, size);
        self.queue.submit([encoder.finish()]);
        self.read(&host)
    }

    fn buffer(&self, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        })
    }

    fn dispatch(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        shader: &wgpu::ShaderModule,
        source: &wgpu::Buffer,
        results: &wgpu::Buffer,
        blocks: u32,
    ) {
        let entry = |binding, read_only| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let group_layout = self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &[entry(0, true), entry(1, false)],
        });
        let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&group_layout)],
            immediate_size: 0,
        });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&layout),
            module: shader,
            entry_point: Some(crate::emit::ENTRY),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &group_layout,
            entries: &[bound(0, source), bound(1, results)],
        });
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(blocks, 1, 1);
    }

    fn read(&self, host: &wgpu::Buffer) -> Result<Vec<u32>, String> {
        let (done, mapped) = mpsc::channel();
        host.slice(..).map_async(wgpu::MapMode::Read, move |result| {
            let _ = done.send(result);
        });
        self.device
            .poll(wgpu::PollType::wait_indefinitely())
            .map_err(|error| error.to_string())?;
        let result = mapped.recv().map_err(|error| error.to_string())?;
        result.map_err(|error| error.to_string())?;
        let bytes = host.slice(..).get_mapped_range().map_err(|error| error.to_string())?;
        Ok(bytes
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect())
    }
}

fn bound(binding: u32, buffer: &wgpu::Buffer) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry {
        binding,
        resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer,
            offset: 0,
            size: None,
        }),
    }
}
