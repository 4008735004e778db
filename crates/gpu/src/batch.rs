//! Command batches: the work that was asked for and not yet given to the device: recorded into an open encoder, submitted together.
//!
//! Small uploads, and parameters of launches that do not come along with their commands, are put into an arena of the host's, which is
//! copied to the device at the start of the batch.

use std::sync::atomic::Ordering;

use crate::live::Live;

/// Bytes of the arena, and steps after which a batch is submitted in any case, so that the device has something to do.
const ARENA: usize = 256 << 10;
const MOST_STEPS: u32 = 1024;

/// A batch that was given to the device.
#[derive(Clone, Debug)]
pub struct Ticket {
    pub number: u64,
    pub index: Option<wgpu::SubmissionIndex>,
}

#[derive(Debug)]
pub struct Batch {
    encoder: Option<wgpu::CommandEncoder>,
    /// Open while launches follow one another.
    pass: Option<wgpu::ComputePass<'static>>,
    /// What the pass has bound: the pipeline's number and that of the views' bind group.
    pipeline: u64,
    group: u64,
    arena: Vec<u8>,
    steps: u32,
    /// Of the batch that is being recorded.
    number: u64,
    last: Ticket,
}

/// A dispatch of a pipeline.
#[derive(Clone, Copy, Debug)]
pub struct Dispatch<'a> {
    pub pipeline: &'a wgpu::ComputePipeline,
    pub pipeline_number: u64,
    /// Parameters, mailbox and constants.
    pub own: &'a wgpu::BindGroup,
    pub params: Given<'a>,
    pub views: &'a wgpu::BindGroup,
    pub views_number: u64,
    pub groups: [u32; 3],
}

/// How a dispatch gets its parameters.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a> {
    /// They are in the arena, from here on.
    Arena(u32),
    /// The command brings them along.
    Along(&'a [u8]),
}

/// The number of bind groups that are made for one dispatch: never the one that is bound already.
pub const UNNUMBERED: u64 = u64::MAX;

impl Batch {
    /// Batches are numbered behind `before`.
    pub fn new(before: u64) -> Batch {
        Batch {
            encoder: None,
            pass: None,
            pipeline: 0,
            group: 0,
            arena: Vec::with_capacity(ARENA),
            steps: 0,
            number: before + 1,
            last: Ticket {
                number: before,
                index: None,
            },
        }
    }

    /// The number that work recorded now gets.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Changes with all that is recorded.
    pub fn progress(&self) -> (u64, u32) {
        (self.number, self.steps)
    }

    pub fn is_open(&self) -> bool {
        self.encoder.is_some()
    }

    /// The encoder, outside of passes.
    pub fn encoder(&mut self, live: &Live) -> &mut wgpu::CommandEncoder {
        self.close_pass();
        self.steps += 1;
        open(&mut self.encoder, live)
    }

    fn close_pass(&mut self) {
        // Dropping a pass ends it.
        self.pass = None;
        (self.pipeline, self.group) = (0, 0);
    }

    /// Sees to it that so many bytes, with what aligns them, go into one batch.
    pub fn make_room(&mut self, live: &Live, bytes: usize) {
        if self.arena.len() + bytes > ARENA {
            self.submit(live);
        }
    }

    /// Room for so many bytes of the arena. A batch whose arena is full is submitted.
    pub fn reserve(&mut self, live: &Live, bytes: usize, align: usize) -> (usize, &mut [u8]) {
        self.make_room(live, bytes + align);
        let start = self.arena.len().next_multiple_of(align);
        self.arena.resize(start + bytes, 0);
        (start, &mut self.arena[start..])
    }

    pub fn dispatch(&mut self, live: &Live, step: &Dispatch<'_>) {
        let pass = match &mut self.pass {
            Some(pass) => pass,
            empty => {
                let encoder = open(&mut self.encoder, live);
                let begun = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                empty.insert(begun.forget_lifetime())
            }
        };
        let is_new = self.pipeline != step.pipeline_number;
        if is_new {
            pass.set_pipeline(step.pipeline);
            self.pipeline = step.pipeline_number;
        }
        match step.params {
            Given::Arena(at) => pass.set_bind_group(0, step.own, &[at]),
            Given::Along(params) => {
                if is_new {
                    pass.set_bind_group(0, step.own, &[0]);
                }
                if !params.is_empty() {
                    pass.set_immediates(0, params);
                }
            }
        }
        if self.group != step.views_number || step.views_number == UNNUMBERED {
            pass.set_bind_group(1, step.views, &[]);
            self.group = step.views_number;
        }
        let [x, y, z] = step.groups;
        pass.dispatch_workgroups(x, y, z);
        self.steps += 1;
    }

    /// Submits if there is much.
    #[inline]
    pub fn submit_if_full(&mut self, live: &Live) {
        if self.steps >= MOST_STEPS {
            self.submit(live);
        }
    }

    /// Gives what there is to the device. The ticket is of the last work given.
    pub fn submit(&mut self, live: &Live) -> Ticket {
        self.close_pass();
        self.steps = 0;
        let Some(encoder) = self.encoder.take() else {
            self.arena.clear();
            return self.last.clone();
        };
        if !self.arena.is_empty() {
            let whole = self.arena.len().next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT as usize);
            self.arena.resize(whole, 0);
            live.queue.write_buffer(&live.arena, 0, &self.arena);
            self.arena.clear();
        }
        let index = live.queue.submit([encoder.finish()]);
        let (done, number) = (live.done.clone(), self.number);
        live.queue.on_submitted_work_done(move || {
            done.fetch_max(number, Ordering::Release);
        });
        self.number += 1;
        self.last = Ticket {
            number,
            index: Some(index),
        };
        self.last.clone()
    }

    /// Copies between buffers; all numbers are multiples of 4.
    pub fn copy(&mut self, live: &Live, from: (&wgpu::Buffer, u64), to: (&wgpu::Buffer, u64), bytes: u64) {
        self.encoder(live).copy_buffer_to_buffer(from.0, from.1, to.0, to.1, bytes);
    }

    /// Puts a few bytes into a buffer, in order; a multiple of 4 of them, as is the offset.
    pub fn put(&mut self, live: &Live, to: (&wgpu::Buffer, u64), bytes: &[u8]) {
        let (start, room) = self.reserve(live, bytes.len(), 8);
        room.copy_from_slice(bytes);
        self.copy(live, (&live.arena, start as u64), to, bytes.len() as u64);
    }
}

/// The device's side of the arena.
pub fn arena(device: &wgpu::Device) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: ARENA as u64,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

fn open<'a>(encoder: &'a mut Option<wgpu::CommandEncoder>, live: &Live) -> &'a mut wgpu::CommandEncoder {
    encoder.get_or_insert_with(|| {
        live.opened_batch();
        live.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
    })
}
