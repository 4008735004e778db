//! Variants: one compiled form of a kernel: its pipeline, how its parameters are put together, what it takes of the device.

use std::sync::Arc;

use smallvec::SmallVec;
use weft_ir::Module;
use weft_runtime::{Resources, RunError, ViewParam};

use crate::batch::{Dispatch, Given};
use crate::emit::{self, EmitError, Emitted, Facts, Request, Word};
use crate::facts::{Classes, Places};
use crate::gpu::Gpu;
use crate::groups::Group;
use crate::live::{Live, State};
use crate::mailbox::{Mailbox, Sites};
use crate::pipelines::{self, Code, Pipeline};

/// What code was made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub block: [u32; 3],
    pub shared_bytes: u32,
    pub facts: Facts,
    pub classes: Classes,
}

#[derive(Debug)]
pub struct Variant {
    pub key: Key,
    /// The device it was made on.
    pub live: Arc<Live>,
    pub pipeline: Pipeline,
    /// The bindings besides those of views.
    own: wgpu::BindGroup,
    words: Vec<Word>,
    /// Parameters come along with the command.
    pub immediate: bool,
    pub mailbox: Option<Arc<Mailbox>>,
    pub resources: Resources,
    /// For people: the module in naga's form, and what the driver was given.
    pub naga: String,
    pub spirv: Vec<u32>,
}

/// The numbers that parameters are made of.
#[derive(Clone, Copy, Debug)]
pub struct Numbers<'a> {
    pub slots: &'a [u64],
    pub views: &'a [ViewParam],
    pub places: &'a Places,
    pub grid: [u32; 3],
}

/// Blocks of one dispatch: how many, and the number of the first, along each axis.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    pub groups: [u32; 3],
    pub first: [u32; 3],
}

pub type Params = SmallVec<[u8; 256]>;

impl Variant {
    /// Writes a lowered module for a launch and has the driver compile it.
    /// `group`: see [`Request::group`].
    pub fn new(
        gpu: &Gpu,
        live: &Arc<Live>,
        source: &Arc<Module>,
        (lowered, group): (&Module, u32),
        key: Key,
        keep: bool,
    ) -> Result<Variant, EmitError> {
        let request = Request {
            features: &live.features,
            block: key.block,
            shared_bytes: key.shared_bytes,
            facts: key.facts,
            group,
            classes: &key.classes,
        };
        let emitted = emit::emit(lowered, &request)?;
        Variant::load(gpu, live, source, emitted, key, keep).map_err(|error| EmitError::Refused(error.of_compiling()))
    }

    fn load(gpu: &Gpu, live: &Arc<Live>, source: &Arc<Module>, emitted: Emitted, key: Key, keep: bool) -> Result<Variant, RunError> {
        let naga = format!("{:#?}", emitted.module);
        let code = pipelines::code(emitted.module, &emitted.info, &live.features, emitted.inexact).map_err(RunError::Compile)?;
        let spirv = match &code {
            Code::SpirV(words) => words.clone(),
            Code::Naga(_) => Vec::new(),
        };
        let has_constants = !emitted.constants.is_empty();
        let own = if has_constants || emitted.mailbox { 3 } else { 1 };
        check_bindings(live, emitted.classes.len() as u32, own)?;
        let pipeline = Pipeline::new(live, code, &emitted.classes, has_constants, emitted.mailbox).map_err(RunError::Compile)?;
        if keep {
            pipelines::keep(gpu, live);
        }
        let mailbox = match emitted.mailbox {
            true => Some(Mailbox::new(
                live,
                Arc::new(Sites {
                    module: source.clone(),
                    errors: emitted.error_sites,
                    prints: emitted.print_sites,
                }),
            )?),
            false => None,
        };
        let bytes = param_bytes(&emitted.words) as u64;
        let own = if has_constants || mailbox.is_some() {
            let constants = constants(live, &emitted.constants)?;
            live.full_group(bytes, mailbox.as_ref().map(|mailbox| &mailbox.buffer), &constants)
        } else {
            live.params_group(bytes)
        };
        Ok(Variant {
            live: live.clone(),
            pipeline,
            own,
            mailbox,
            resources: Resources {
                shared_bytes: emitted.shared_bytes.saturating_sub(key.shared_bytes.into()),
                constant_bytes: emitted.constants.len() as u64,
                threads: gpu.limits.threads_per_block,
                ..Resources::default()
            },
            words: emitted.words,
            immediate: emitted.immediate,
            key,
            naga,
            spirv,
        })
    }

    /// The parameter block of a dispatch.
    pub fn fill(&self, numbers: &Numbers<'_>, cut: &Cut, into: &mut [u8]) -> Result<(), RunError> {
        let slot = |slot: u32| numbers.slots.get(slot as usize).copied().unwrap_or(0);
        for (word, place) in self.words.iter().zip(into.chunks_exact_mut(4)) {
            let value = match *word {
                Word::GridDim(axis) => numbers.grid[usize::from(axis)],
                Word::FirstBlock(axis) => cut.first[usize::from(axis)],
                Word::Low(n) => slot(n) as u32,
                Word::Zero => 0,
                Word::High(n) => (slot(n) >> 32) as u32,
                Word::Single(n) => (f64::from_bits(slot(n)) as f32).to_bits(),
                Word::Offset { view, unit } => offset(numbers, view as usize, unit)?,
                Word::Stride { slot: n, unit } => whole(slot(n) as i64, unit)?,
            };
            place.copy_from_slice(&value.to_le_bytes());
        }
        Ok(())
    }

    pub fn param_bytes(&self) -> usize {
        match self.immediate {
            true => 4 * self.words.len(),
            false => param_bytes(&self.words),
        }
    }

    /// Records a dispatch with the parameters that `fill` writes.
    #[inline]
    pub fn dispatch<E>(
        &self,
        state: &mut State,
        views: &Group,
        groups: [u32; 3],
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.immediate {
            let mut params = Params::from_elem(0, self.param_bytes());
            fill(&mut params)?;
            self.record(state, Given::Along(&params), views, groups);
            return Ok(());
        }
        let (at, room) = state.batch.reserve(&self.live, self.param_bytes(), self.live.alignment as usize);
        fill(room)?;
        self.record(state, Given::Arena(at as u32), views, groups);
        Ok(())
    }

    fn record(&self, state: &mut State, params: Given<'_>, views: &Group, groups: [u32; 3]) {
        let live = &*self.live;
        state.batch.dispatch(
            live,
            &Dispatch {
                pipeline: &self.pipeline.pipeline,
                pipeline_number: self.pipeline.number,
                own: &self.own,
                params,
                views: &views.group,
                views_number: views.number,
                groups,
            },
        );
        if let Some(mailbox) = &self.mailbox {
            mailbox.used(&mut state.mailboxes);
        }
        state.batch.submit_if_full(live);
    }
}

/// Refuses arrays in more pieces of memory than a kernel has bindings for besides `own` of ours.
fn check_bindings(live: &Live, pieces: u32, own: u32) -> Result<(), RunError> {
    let most = live.features.bindings.saturating_sub(own);
    if pieces <= most {
        return Ok(());
    }
    Err(RunError::Unsupported(format!(
        "the arrays of the launch lie in {pieces} pieces of memory, and a kernel of {} reaches {most}: put some of them into one array",
        live.id
    )))
}

fn param_bytes(words: &[Word]) -> usize {
    (4 * words.len()).next_multiple_of(16).max(16)
}

/// Where a view starts in its binding.
fn offset(numbers: &Numbers<'_>, view: usize, unit: u32) -> Result<u32, RunError> {
    let piece = numbers.places.pieces[numbers.places.classes[view] as usize];
    if piece.block == 0 {
        return Ok(0);
    }
    let data = numbers.slots.get(numbers.views[view].slot as usize).copied().unwrap_or(0);
    whole(data.wrapping_sub(piece.block + piece.start) as i64, unit)
}

fn whole(bytes: i64, unit: u32) -> Result<u32, RunError> {
    let unit = i64::from(unit.max(1));
    if bytes % unit != 0 {
        return Err(RunError::Invalid(format!(
            "an array's elements lie {bytes} bytes apart or from the start of its memory, which is no multiple of {unit}"
        )));
    }
    Ok((bytes / unit) as u32)
}

fn constants(live: &Live, bytes: &[u8]) -> Result<wgpu::Buffer, RunError> {
    let size = bytes.len().next_multiple_of(16).max(16);
    let buffer = live.buffer(size as u64, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST)?;
    let mut padded = bytes.to_vec();
    padded.resize(size, 0);
    live.queue.write_buffer(&buffer, 0, &padded);
    Ok(buffer)
}

/// The dispatches of a grid, none of which has more than `most` blocks along an axis.
pub fn cuts(grid: [u32; 3], most: u32) -> impl Iterator<Item = Cut> {
    let along = move |axis: usize| (0..grid[axis]).step_by(most.max(1) as usize);
    along(2).flat_map(move |z| {
        along(1).flat_map(move |y| {
            along(0).map(move |x| {
                let first = [x, y, z];
                Cut {
                    first,
                    groups: std::array::from_fn(|axis| (grid[axis] - first[axis]).min(most)),
                }
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_cover_the_grid_once() {
        for grid in [[1, 1, 1], [10, 3, 2], [11, 4, 5], [4, 8, 1]] {
            let mut seen = std::collections::HashSet::new();
            for Cut { groups, first } in cuts(grid, 4) {
                assert!(groups.iter().all(|&n| 0 < n && n <= 4));
                for z in 0..groups[2] {
                    for y in 0..groups[1] {
                        for x in 0..groups[0] {
                            assert!(seen.insert([first[0] + x, first[1] + y, first[2] + z]));
                        }
                    }
                }
            }
            assert_eq!(seen.len() as u32, grid.iter().product::<u32>());
        }
        assert_eq!(cuts([65535, 1, 1], 65535).count(), 1);
    }
}
