//! Layouts of bindings, and the bind groups of views, which launches of the same arrays share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use smallvec::SmallVec;
use weft_runtime::lock;

use crate::emit::ClassUse;
use crate::live::Live;
use crate::memory::Table;

/// Bind groups that are kept.
const MOST_GROUPS: usize = 2048;
/// Bytes of the memory that views without elements are bound to.
const EMPTY_BYTES: u64 = 256;

/// A piece of a block that views of a launch lie in: a class of them. Block 0 is none, for views without elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    pub block: u64,
    pub start: u64,
    pub bytes: u64,
}

impl Piece {
    pub const EMPTY: Piece = Piece {
        block: 0,
        start: 0,
        bytes: EMPTY_BYTES,
    };
}

pub type Pieces = SmallVec<[Piece; 6]>;

/// A layout for views: which classes are written. One object for each list.
#[derive(Debug)]
pub struct ViewLayout {
    pub number: u32,
    pub layout: wgpu::BindGroupLayout,
    /// With the group of parameters alone; with constants; with a mailbox and constants. Made when asked for: a device has so many bindings.
    pipelines: [OnceLock<wgpu::PipelineLayout>; 3],
}

/// Layouts that were asked for.
#[derive(Debug)]
pub struct Layouts {
    /// Parameters; with constants, where the mailbox's place is read-only; with a mailbox and constants.
    pub params: wgpu::BindGroupLayout,
    pub constants: wgpu::BindGroupLayout,
    pub mailbox: wgpu::BindGroupLayout,
    views: Mutex<HashMap<Vec<bool>, Arc<ViewLayout>>>,
    /// Bytes of parameters that commands bring along.
    immediates: u32,
}

impl Layouts {
    pub fn new(device: &wgpu::Device, immediates: u32) -> Layouts {
        // wgpu numbers the bindings of a layout from 0 on without holes, so that constants need a mailbox's place before them.
        let make = |bindings: &[bool]| {
            let entries: Vec<_> = bindings
                .iter()
                .enumerate()
                .map(|(i, &written)| entry(i as u32, written, i == 0))
                .collect();
            layout(device, &entries)
        };
        Layouts {
            params: make(&[false]),
            constants: make(&[false, false, false]),
            mailbox: make(&[false, true, false]),
            views: Mutex::default(),
            immediates,
        }
    }

    /// The layout of classes used like this.
    pub fn views(&self, device: &wgpu::Device, uses: &[ClassUse]) -> Arc<ViewLayout> {
        let written: Vec<bool> = uses.iter().map(|class| class.written).collect();
        let mut known = lock(&self.views);
        let number = known.len() as u32;
        let made = known.entry(written).or_insert_with_key(|written| {
            let entries: Vec<_> = written
                .iter()
                .enumerate()
                .map(|(i, &written)| entry(i as u32, written, false))
                .collect();
            Arc::new(ViewLayout {
                number,
                layout: layout(device, &entries),
                pipelines: Default::default(),
            })
        });
        made.clone()
    }

    /// The layout of a pipeline: that of its views, and its own with constants and a mailbox or without.
    pub fn pipeline<'v>(&self, device: &wgpu::Device, views: &'v ViewLayout, constants: bool, mailbox: bool) -> &'v wgpu::PipelineLayout {
        let (at, own) = match (mailbox, constants) {
            (true, _) => (2, &self.mailbox),
            (false, true) => (1, &self.constants),
            (false, false) => (0, &self.params),
        };
        views.pipelines[at].get_or_init(|| {
            device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &[Some(own), Some(&views.layout)],
                immediate_size: self.immediates,
            })
        })
    }
}

fn entry(binding: u32, written: bool, moves: bool) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: !written },
            has_dynamic_offset: moves,
            min_binding_size: None,
        },
        count: None,
    }
}

fn layout(device: &wgpu::Device, entries: &[wgpu::BindGroupLayoutEntry]) -> wgpu::BindGroupLayout {
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries })
}

/// A bind group of views, and its number.
#[derive(Clone, Debug)]
pub struct Group {
    pub number: u64,
    pub group: wgpu::BindGroup,
}

/// Bind groups by layout and pieces.
#[derive(Debug, Default)]
pub struct Groups {
    known: HashMap<(u32, Pieces), Group>,
    made: u64,
    /// What views without elements are bound to, by class: two bindings of one launch never share memory.
    empty: Vec<wgpu::Buffer>,
}

impl Groups {
    pub fn clear(&mut self) {
        self.known.clear();
    }

    /// The bind group of these pieces. Their blocks are in the table.
    pub fn get(&mut self, live: &Live, memory: &Table, layout: &ViewLayout, pieces: Pieces) -> Group {
        let key = (layout.number, pieces);
        if let Some(group) = self.known.get(&key) {
            return group.clone();
        }
        if self.known.len() >= MOST_GROUPS {
            self.known.clear();
        }
        self.made += 1;
        let group = Group {
            number: self.made,
            group: self.make(live, memory, layout, &key.1),
        };
        self.known.insert(key, group.clone());
        group
    }

    fn make(&mut self, live: &Live, memory: &Table, layout: &ViewLayout, pieces: &[Piece]) -> wgpu::BindGroup {
        while self.empty.len() < pieces.len() {
            self.empty.push(live.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: EMPTY_BYTES,
                usage: wgpu::BufferUsages::STORAGE,
                mapped_at_creation: false,
            }));
        }
        let entries: SmallVec<[wgpu::BindGroupEntry<'_>; 6]> = pieces
            .iter()
            .enumerate()
            .map(|(i, piece)| {
                let block = memory.find(piece.block).filter(|block| block.base == piece.block);
                wgpu::BindGroupEntry {
                    binding: i as u32,
                    resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                        buffer: block.map_or(&self.empty[i], |block| &block.buffer),
                        offset: piece.start,
                        size: wgpu::BufferSize::new(piece.bytes),
                    }),
                }
            })
            .collect();
        live.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout.layout,
            entries: &entries,
        })
    }
}
