//! The device's clock: times that work writes down when it passes a point, for events and profiles.

use std::sync::{Arc, Mutex};

use weft_forks as forks;
use weft_runtime::{RunError, lock};

use crate::batch::Batch;
use crate::live::Live;
use crate::staging::SMALL;

/// Times of a set. There are as many sets as are needed for all times that wait to be read.
const EACH: u32 = 4096;
/// wgpu puts resolved times at multiples of this.
const APART: u64 = wgpu::QUERY_RESOLVE_BUFFER_ALIGNMENT;

#[derive(Debug)]
pub struct Timestamps {
    /// Where times are put to be copied out; nothing on a device that has no such clock.
    resolved: Option<wgpu::Buffer>,
    sets: Mutex<Sets>,
    /// Nanoseconds of a tick.
    period: f64,
}

#[derive(Debug, Default)]
struct Sets {
    all: Vec<wgpu::QuerySet>,
    free: Vec<u32>,
}

impl Timestamps {
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, has: wgpu::Features) -> Timestamps {
        let has_clock = has.contains(wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS);
        let resolved = has_clock.then(|| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: SMALL,
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            })
        });
        Timestamps {
            resolved,
            sets: Mutex::default(),
            period: f64::from(queue.get_timestamp_period()),
        }
    }

    /// Has work write down the time here; nothing if the device cannot.
    pub fn write(&self, live: &Arc<Live>, batch: &mut Batch) -> Option<Timestamp> {
        self.resolved.as_ref()?;
        let mut sets = lock(&self.sets);
        if sets.free.is_empty() {
            let first = sets.all.len() as u32 * EACH;
            sets.all.push(live.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count: EACH,
            }));
            sets.free.extend((first..first + EACH).rev());
        }
        let number = sets.free.pop()?;
        batch
            .encoder(live)
            .write_timestamp(&sets.all[(number / EACH) as usize], number % EACH);
        Some(Timestamp {
            live: live.clone(),
            number,
        })
    }
}

impl Live {
    /// Nanoseconds on the device's clock. Waits for the work before.
    pub fn read_timestamps(&self, timestamps: &[&Timestamp]) -> Result<Vec<f64>, RunError> {
        let slot = self.slot(SMALL)?;
        let bytes = timestamps.len() as u64 * APART;
        let (ticket, period) = {
            let Some(resolved) = &self.timestamps.resolved else {
                return Err(self.no_clock());
            };
            let mut state = self.state();
            let encoder = state.batch.encoder(self);
            let sets = lock(&self.timestamps.sets);
            for (at, stamp) in (0..).step_by(APART as usize).zip(timestamps) {
                let (set, place) = (&sets.all[(stamp.number / EACH) as usize], stamp.number % EACH);
                encoder.resolve_query_set(set, place..place + 1, resolved, at);
            }
            encoder.copy_buffer_to_buffer(resolved, 0, &slot.buffer, 0, bytes);
            (state.batch.submit(self), self.timestamps.period)
        };
        self.open_slot(slot, &ticket, bytes, |memory| {
            let ticks = memory.chunks_exact(APART as usize).filter_map(|chunk| chunk.first_chunk());
            ticks.map(|ticks| u64::from_le_bytes(*ticks) as f64 * period).collect()
        })
    }

    pub fn no_clock(&self) -> RunError {
        RunError::Unsupported(format!("{} has no clock that programs can read", self.id))
    }
}

/// A time that was written down, until it is read for the last time.
#[derive(Debug)]
pub struct Timestamp {
    pub live: Arc<Live>,
    number: u32,
}

impl Drop for Timestamp {
    fn drop(&mut self) {
        if forks::count() == self.live.forks {
            lock(&self.live.timestamps.sets).free.push(self.number);
        }
    }
}
