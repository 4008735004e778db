//! Loads and stores of every state space, with the checks on them.

use super::atomics;
use super::block::Block;
use super::fault::{Fault, ILLEGAL_ADDRESS, LAUNCH_FAILED, MISALIGNED};
use super::inst::*;
use super::lanes::{Row, Slot, WARP, lanes};
use super::launch::Launch;
use super::races::Touch;
use super::table::{Kind, Span};
use super::warp::{Group, Warp};
use crate::ptx::syntax::Space;

/// Where an address leads.
enum Place {
    Memory(Span),
    Shared(usize),
    Local(usize),
    /// Of the kernel's parameters.
    Param(usize),
}

/// Why an access is not allowed.
struct Refusal {
    code: u32,
    message: String,
}

fn refuse<T>(code: u32, message: String) -> Result<T, Refusal> {
    Err(Refusal { code, message })
}

impl Width {
    /// A value as it comes from memory, as the register has it.
    #[inline(always)]
    pub fn extend(self, value: u64) -> u64 {
        if !self.signed {
            return value;
        }
        let by = 64 - 8 * u32::from(self.bytes);
        let wide = ((value << by) as i64 >> by) as u64;
        if self.register >= 8 {
            wide
        } else {
            wide & ((1 << (8 * self.register)) - 1)
        }
    }
}

fn get(bytes: &[u8], at: usize, count: u8) -> u64 {
    let mut value = [0; 8];
    value[..usize::from(count)].copy_from_slice(&bytes[at..at + usize::from(count)]);
    u64::from_le_bytes(value)
}

fn put(bytes: &mut [u8], at: usize, count: u8, value: u64) {
    bytes[at..at + usize::from(count)].copy_from_slice(&value.to_le_bytes()[..usize::from(count)]);
}

/// What an instruction does to memory.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    Read,
    Write,
    Update,
}

impl Does {
    fn verb(self) -> &'static str {
        match self {
            Does::Read => "read",
            Does::Write => "write",
            Does::Update => "atomic",
        }
    }
}

/// An access of one instruction, the same for all its lanes.
#[derive(Clone, Copy)]
struct Shape {
    does: Does,
    space: Space,
    /// Bytes of all elements.
    bytes: u64,
    line: u32,
}

/// An instruction that reaches memory, and where it is executed.
struct Step<'a> {
    launch: &'a Launch,
    constants: &'a [Row],
    block: &'a mut Block,
    group: &'a Group,
    line: u32,
    mask: u32,
    /// The index of the allocation found last.
    hint: &'a mut u32,
}

impl Step<'_> {
    fn shape(&self, does: Does, space: Space, bytes: u64) -> Shape {
        Shape {
            does,
            space,
            bytes,
            line: self.line,
        }
    }
}

impl Warp {
    /// Executes a load, store or atomic; gives the index of the allocation it found, as a hint for the next time.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn memory(
        &mut self,
        launch: &Launch,
        constants: &[Row],
        block: &mut Block,
        group: &Group,
        inst: &Inst,
        mask: u32,
        mut hint: u32,
    ) -> Result<u32, Fault> {
        let mut step = Step {
            launch,
            constants,
            block,
            group,
            line: inst.line,
            mask,
            hint: &mut hint,
        };
        match inst.op {
            Op::Load(access) => self.load(&mut step, &access)?,
            Op::Store(access) => self.store(&mut step, &access)?,
            Op::Atomic(atomic) => self.atomic(&mut step, &atomic)?,
            Op::LoadFrame { offset, width, count, to } => {
                self.load_frame(launch, constants, group, offset, width, &to[..usize::from(count)], mask)
            }
            Op::StoreFrame {
                offset,
                width,
                count,
                from,
            } => {
                self.store_frame(launch, constants, group, offset, width, &from[..usize::from(count)], mask);
            }
            _ => {}
        }
        Ok(hint)
    }

    fn load(&mut self, step: &mut Step<'_>, access: &Access) -> Result<(), Fault> {
        let (count, bytes) = (usize::from(access.count), access.width.bytes);
        let shape = step.shape(Does::Read, access.address.space, u64::from(bytes) * count as u64);
        let touch = if access.strong { Touch::StrongRead } else { Touch::Read };
        let rows = self.shared_rows(step.launch, step.constants, step.group);
        let base = rows.row(access.address.base);
        step.block.races.tick();
        for lane in lanes(step.mask) {
            let address = access.address.of(base[lane].get());
            let place = self.locate(step.launch, step.block, shape, lane, address, step.hint)?;
            if let Place::Shared(at) = place {
                self.touch(step.launch, step.block, shape, lane, at, touch, None)?;
            }
            for (index, slot) in access.values.iter().enumerate().take(count) {
                let offset = index * usize::from(bytes);
                let value = match place {
                    Place::Memory(span) => span.at(offset).read(bytes),
                    Place::Shared(at) => get(&step.block.shared, at + offset, bytes),
                    Place::Local(at) => get(&self.local[lane], at + offset, bytes),
                    Place::Param(at) => get(&step.launch.params, at + offset, bytes),
                };
                rows.set(*slot, lane, access.width.extend(value));
            }
        }
        self.fence_if(access.fence, step.block, step.mask);
        Ok(())
    }

    fn store(&mut self, step: &mut Step<'_>, access: &Access) -> Result<(), Fault> {
        let (count, bytes) = (usize::from(access.count), access.width.bytes);
        let shape = step.shape(Does::Write, access.address.space, u64::from(bytes) * count as u64);
        let touch = if access.strong { Touch::StrongWrite } else { Touch::Write };
        self.fence_if(access.fence, step.block, step.mask);
        step.block.races.tick();
        // Local memory is changed while registers are read.
        let mut local = std::mem::take(&mut self.local);
        let rows = self.shared_rows(step.launch, step.constants, step.group);
        let base = rows.row(access.address.base);
        for lane in lanes(step.mask) {
            let address = access.address.of(base[lane].get());
            let place = self.locate(step.launch, step.block, shape, lane, address, step.hint)?;
            if let Place::Shared(at) = place {
                let mut all = [0; 32];
                for (index, slot) in access.values.iter().enumerate().take(count) {
                    put(&mut all, index * usize::from(bytes), bytes, rows.get(*slot, lane));
                }
                self.touch(step.launch, step.block, shape, lane, at, touch, Some(&all))?;
            }
            for (index, slot) in access.values.iter().enumerate().take(count) {
                let offset = index * usize::from(bytes);
                let value = rows.get(*slot, lane);
                match place {
                    Place::Memory(span) => span.at(offset).write(bytes, value),
                    Place::Shared(at) => put(&mut step.block.shared, at + offset, bytes, value),
                    Place::Local(at) => put(&mut local[lane], at + offset, bytes, value),
                    Place::Param(_) => {
                        return Err(self.fault(
                            step.launch,
                            step.block,
                            step.line,
                            1 << lane,
                            ILLEGAL_ADDRESS,
                            "write of a kernel parameter",
                        ));
                    }
                }
            }
        }
        self.local = local;
        Ok(())
    }

    fn atomic(&mut self, step: &mut Step<'_>, atomic: &Atomic) -> Result<(), Fault> {
        let shape = step.shape(Does::Update, atomic.address.space, u64::from(atomic.bytes));
        self.fence_if(atomic.fence, step.block, step.mask);
        step.block.races.tick();
        let rows = self.shared_rows(step.launch, step.constants, step.group);
        for lane in lanes(step.mask) {
            let address = atomic.address.of(rows.get(atomic.address.base, lane));
            let (value, swap) = (rows.get(atomic.value, lane), rows.get(atomic.swap, lane));
            let update = |old: u64, global: bool| atomics::apply(atomic, old, value, swap, global);
            let old = match self.locate(step.launch, step.block, shape, lane, address, step.hint)? {
                Place::Memory(span) => span.update(atomic.bytes, |old| update(old, true)),
                Place::Shared(at) => {
                    self.touch(step.launch, step.block, shape, lane, at, Touch::StrongWrite, None)?;
                    let old = get(&step.block.shared, at, atomic.bytes);
                    put(&mut step.block.shared, at, atomic.bytes, update(old, false));
                    old
                }
                _ => {
                    let message = "atomics are for global and shared memory";
                    return Err(self.fault(step.launch, step.block, step.line, 1 << lane, ILLEGAL_ADDRESS, message));
                }
            };
            if let Some(to) = atomic.to {
                rows.set(to, lane, old);
            }
        }
        self.fence_if(atomic.fence, step.block, step.mask);
        Ok(())
    }

    /// The 16 bytes of a row that `ldmatrix` loads for a lane.
    pub(super) fn row_of_square(
        &self,
        launch: &Launch,
        block: &mut Block,
        pc: u32,
        lane: usize,
        space: Space,
        address: u64,
    ) -> Result<[u8; 16], Fault> {
        let shape = Shape {
            does: Does::Read,
            space,
            bytes: 16,
            line: launch.program.code[pc as usize].line,
        };
        let Place::Shared(at) = self.locate(launch, block, shape, lane, address, &mut 0)? else {
            let message = "matrices are loaded from shared memory";
            return Err(self.fault(launch, block, shape.line, 1 << lane, ILLEGAL_ADDRESS, message));
        };
        self.touch(launch, block, shape, lane, at, Touch::Read, None)?;
        let mut row = [0; 16];
        row.copy_from_slice(&block.shared[at..at + 16]);
        Ok(row)
    }

    fn fence_if(&self, fence: bool, block: &mut Block, mask: u32) {
        if !fence {
            return;
        }
        block.races.tick();
        for lane in lanes(mask) {
            block.races.fence(self.number * WARP as u32 + lane as u32);
        }
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    }

    #[allow(clippy::too_many_arguments)]
    fn load_frame(&self, launch: &Launch, constants: &[Row], group: &Group, offset: u32, width: Width, to: &[Slot], mask: u32) {
        let rows = self.shared_rows(launch, constants, group);
        for lane in lanes(mask) {
            let at = (self.local_base[lane] + offset) as usize;
            for (index, slot) in to.iter().enumerate() {
                let value = get(&self.local[lane], at + index * usize::from(width.bytes), width.bytes);
                rows.set(*slot, lane, width.extend(value));
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn store_frame(&mut self, launch: &Launch, constants: &[Row], group: &Group, offset: u32, width: Width, from: &[Slot], mask: u32) {
        let mut local = std::mem::take(&mut self.local);
        let rows = self.shared_rows(launch, constants, group);
        for lane in lanes(mask) {
            let at = (self.local_base[lane] + offset) as usize;
            for (index, slot) in from.iter().enumerate() {
                put(
                    &mut local[lane],
                    at + index * usize::from(width.bytes),
                    width.bytes,
                    rows.get(*slot, lane),
                );
            }
        }
        self.local = local;
    }

    /// Where an address leads; a fault if the access is not allowed.
    #[inline(always)]
    fn locate(&self, launch: &Launch, block: &Block, shape: Shape, lane: usize, address: u64, hint: &mut u32) -> Result<Place, Fault> {
        let aligned = address & (shape.bytes - 1) == 0;
        if aligned
            && shape.space == Space::Shared
            && address < block.shared.len() as u64
            && block.shared.len() as u64 - address >= shape.bytes
        {
            return Ok(Place::Shared(address as usize));
        }
        // The usual case: the allocation this instruction found last time.
        if aligned
            && matches!(shape.space, Space::Global | Space::Generic)
            && let Some(region) = launch.table.get(*hint as usize)
            && region.device == launch.device
            && region.kind == Kind::Device
            && let Some(span) = region.span(address, shape.bytes)
        {
            return Ok(Place::Memory(span));
        }
        self.locate_slowly(launch, block, shape, lane, address, hint).map_err(|refusal| {
            let Shape { does, bytes, line, .. } = shape;
            let message = format!("{} of {bytes} bytes at {}", does.verb(), refusal.message);
            self.fault(launch, block, line, 1 << lane, refusal.code, &message)
        })
    }

    fn locate_slowly(
        &self,
        launch: &Launch,
        block: &Block,
        shape: Shape,
        lane: usize,
        address: u64,
        hint: &mut u32,
    ) -> Result<Place, Refusal> {
        let Shape { space, bytes, .. } = shape;
        let (space, offset) = match space {
            Space::Generic | Space::Param => match address {
                a if (window::SHARED..window::SHARED + window::SIZE).contains(&a) => (Space::Shared, a - window::SHARED),
                a if (window::LOCAL..window::LOCAL + window::SIZE).contains(&a) => (Space::Local, a - window::LOCAL),
                a if (window::PARAM..window::PARAM + window::SIZE).contains(&a) => (Space::Param, a - window::PARAM),
                a => (Space::Global, a),
            },
            space => (space, address),
        };
        if !address.is_multiple_of(bytes) {
            return refuse(
                MISALIGNED,
                format!("0x{address:x} ({space:?} memory): the address must be a multiple of {bytes}").to_lowercase(),
            );
        }
        let within = |size: u64| offset.checked_add(bytes).is_some_and(|end| end <= size);
        match space {
            Space::Shared if within(block.shared.len() as u64) => Ok(Place::Shared(offset as usize)),
            Space::Shared => refuse(
                ILLEGAL_ADDRESS,
                format!(
                    "offset {} of shared memory: the block has {} bytes ({} of them dynamic)",
                    offset as i64,
                    block.shared.len(),
                    launch.dynamic_shared
                ),
            ),
            Space::Local if within(self.local_end(launch, lane)) => Ok(Place::Local(offset as usize)),
            Space::Local => refuse(
                ILLEGAL_ADDRESS,
                format!(
                    "offset {} of local memory: the thread has {} bytes",
                    offset as i64,
                    self.local_end(launch, lane)
                ),
            ),
            Space::Param if within(launch.params.len() as u64) => Ok(Place::Param(offset as usize)),
            Space::Param => refuse(
                ILLEGAL_ADDRESS,
                format!(
                    "offset {} of the kernel's parameters: there are {} bytes",
                    offset as i64,
                    launch.params.len()
                ),
            ),
            _ => self.locate_global(launch, shape, space, address, hint),
        }
    }

    fn locate_global(&self, launch: &Launch, shape: Shape, space: Space, address: u64, hint: &mut u32) -> Result<Place, Refusal> {
        let index = launch.table.index(address);
        let region = index.and_then(|i| launch.table.get(i));
        let Some((index, region)) = index.zip(region).filter(|(_, r)| address < r.end()) else {
            return refuse(ILLEGAL_ADDRESS, launch.nowhere(address));
        };
        let Some(span) = region.span(address, shape.bytes) else {
            let what = if region.backing.is_none() {
                "use after free of"
            } else {
                "it reaches beyond"
            };
            return refuse(ILLEGAL_ADDRESS, format!("0x{address:x}: {what} {}", region.describe()));
        };
        if region.device != launch.device && !region.kind.host() && !launch.peers.contains(&region.device) {
            let message = format!("0x{address:x}: {}, to which this device has no peer access", region.describe());
            return refuse(ILLEGAL_ADDRESS, message);
        }
        if region.twin != 0 && region.kind != Kind::Mapped {
            let message = format!("0x{address:x}: {}, which devices have another address for", region.describe());
            return refuse(ILLEGAL_ADDRESS, message);
        }
        if region.kind == Kind::Constant && shape.does != Does::Read {
            return refuse(ILLEGAL_ADDRESS, format!("0x{address:x}: a constant cannot be written"));
        }
        if space == Space::Const && region.kind != Kind::Constant {
            return refuse(
                ILLEGAL_ADDRESS,
                format!("0x{address:x}: not constant memory, but {}", region.describe()),
            );
        }
        *hint = index as u32;
        Ok(Place::Memory(span))
    }

    /// Notes an access to shared memory and complains of a race. `written` is what is about to be written.
    #[allow(clippy::too_many_arguments)]
    fn touch(
        &self,
        launch: &Launch,
        block: &mut Block,
        shape: Shape,
        lane: usize,
        at: usize,
        touch: Touch,
        written: Option<&[u8; 32]>,
    ) -> Result<(), Fault> {
        let thread = self.number * WARP as u32 + lane as u32;
        let granule = launch.program.shared_granule as usize;
        for index in (0..shape.bytes as usize).step_by(granule) {
            let same = written.is_some_and(|w| w[index..index + granule] == block.shared[at + index..at + index + granule]);
            let Err(conflict) = block.races.touch((at + index) / granule, thread, touch, same) else {
                continue;
            };
            let message = format!(
                "data race in shared memory: {} of {} bytes at offset {at}, which thread {} has {} since the last barrier",
                shape.does.verb(),
                shape.bytes,
                launch.thread_name(conflict.thread),
                if conflict.wrote { "written" } else { "read" },
            );
            return Err(self.fault(launch, block, shape.line, 1 << lane, LAUNCH_FAILED, &message));
        }
        Ok(())
    }
}
